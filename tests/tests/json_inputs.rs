//! 32 replies that hold JSON with a slip, in the plain dialect: each is read right, or refused with its place; what
//! breaks off is refused.

use std::error::Error as _;

use imp::{Chat, Json, OutputSignature, ParseError, ReadError, Signature};
use imp_tests::plain::{data, json, output, read_x};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Input {
    name: String,
    #[serde(rename = "input")]
    text: String,
    /// `null`: it cannot be told which value is meant.
    want: Value,
    /// Other values that are right too.
    also: Vec<Value>,
}

impl Input {
    fn is_truncated(&self) -> bool {
        self.name.starts_with("truncated")
    }

    fn is_right(&self, read: &Value) -> bool {
        !self.is_truncated() && (same(read, &self.want) || self.also.iter().any(|value| same(read, value)))
    }
}

/// Equal, and `1` is `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn inputs() -> Vec<Input> {
    let inputs: Vec<Input> =
        serde_json::from_str(include_str!("../data/json_inputs.json")).expect("the inputs are JSON");
    assert_eq!(inputs.len(), 32);
    inputs
}

#[derive(Debug, Signature)]
struct AnyValue {
    x: Value,
}

#[derive(Debug, Signature)]
struct AnyObject {
    x: Map<String, Value>,
}

#[derive(Debug, Signature)]
struct AnyList {
    x: Vec<Value>,
}

fn section(text: &str) -> String {
    format!("[[ ## x ## ]]\n{text}\n\n[[ ## completed ## ]]")
}

/// What is wrong with a reading, if anything is.
fn wrong(input: &Input, way: &str, read: Result<Value, ParseError>) -> Option<String> {
    let what = match read {
        Ok(value) if input.is_right(&value) => return None,
        Ok(value) => format!("read {value}"),
        Err(error) if places(&error).is_empty() => format!("no place: {error:?}"),
        Err(error) => {
            let reply = error.reply();
            // At the end of a reply that breaks off there is nothing to point at.
            let shown = |span: &std::ops::Range<usize>| {
                reply.get(span.clone()).is_some_and(|text| !text.is_empty() || input.is_truncated())
            };
            if places(&error).iter().all(shown) && error.syntax().is_some() == error.source().is_some() {
                return None;
            }
            format!("no place in the reply: {error:?}")
        }
    };
    Some(format!("{} {way}: {:?}\n  {what}", input.name, input.text))
}

fn places(error: &ParseError) -> Vec<std::ops::Range<usize>> {
    let fields = error.failures().iter().map(|failure| failure.span.clone());
    fields.chain(error.syntax().map(ReadError::span)).collect()
}

fn chat<O: OutputSignature>(input: &Input) -> Result<O, ParseError> {
    Chat::new().parse(section(&input.text).as_str())
}

/// As an output of a Chat reply: of Rust's types for any object and any list, and of the described ones.
#[test]
fn as_an_output() {
    let mut failed = Vec::new();
    for input in inputs() {
        let (typed, ty) = match &input.want {
            Value::Array(_) => (chat::<AnyList>(&input).map(|outputs| outputs.x.into()), "array"),
            _ => (chat::<AnyObject>(&input).map(|outputs| outputs.x.into()), "object"),
        };
        failed.extend(wrong(&input, ty, typed));
        let described = read_x(&output(&ty.into()), &input.text);
        failed.extend(wrong(&input, "described", described));
        // Where anything is welcome, a text that is no JSON is the value, all of it (Imp §8.4).
        match chat::<AnyValue>(&input).map(|outputs| outputs.x) {
            Ok(Value::String(text)) if text == input.text => {}
            read => failed.extend(wrong(&input, "any", read)),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// As a whole reply to the JSON adapter whose outputs are the object's keys, of any type and of the values' own.
#[test]
fn as_a_reply() {
    let mut failed = Vec::new();
    let mut right = 0;
    for input in inputs() {
        let none = Map::new();
        let want = input.want.as_object().unwrap_or(&none);
        // A list is no reply; `x` is in none of them.
        let keys = if want.is_empty() { vec![("x", &Value::Null)] } else { named(want) };
        for own in [false, true] {
            let outputs: Vec<Value> = keys
                .iter()
                .map(|(key, value)| {
                    let ty = if own { type_of(value) } else { "any" };
                    // A null is an absent output (Imp §8.3).
                    let ty = if value.is_null() { json!({ "optional": ty }) } else { ty.into() };
                    json!({ "name": key, "type": ty })
                })
                .collect();
            let spec = data(&json!({ "inputs": [{ "name": "question" }], "outputs": outputs }));
            let read = Json::new().read_fields(&spec, &input.text).map(|fields| json(&fields));
            if want.is_empty() {
                assert!(read.is_err(), "{} {read:?}", input.name);
                continue;
            }
            right += usize::from(read.is_ok());
            failed.extend(wrong(&input, if own { "typed" } else { "any" }, read));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // Not by refusing everything.
    assert!(right >= 2 * 14, "{right} were read");
}

/// As an output inside a reply to the JSON adapter.
#[test]
fn as_an_output_in_a_reply() {
    let mut failed = Vec::new();
    for input in inputs() {
        let reply = format!("{{\"x\": {}}}", input.text);
        let read = Json::new().parse::<AnyValue>(reply.as_str()).map(|outputs| outputs.x);
        failed.extend(wrong(&input, "any", read));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The lines and columns of an error are the reply's own, what stands before the object included.
#[test]
fn the_place_is_in_the_reply() {
    let spec = data(&json!({ "inputs": [{ "name": "question" }], "outputs": [{ "name": "a" }] }));
    for (reply, place, rest) in [
        ("{\"a\": happy}", "line 1, column 7:", "happy}"),
        ("Sure:\n```json\n{\n  \"é\": 1,\n  \"a\": happy\n}\n```", "line 5, column 8:", "happy\n}\n```"),
        ("So, \"é\": {a: 1}", "line 1, column 11:", "a: 1}"),
    ] {
        let error = Json::new().read_fields(&spec, reply).unwrap_err();
        let syntax = error.syntax().expect("it has a place");
        assert!(syntax.message().contains(place), "{reply}\n{syntax}");
        assert_eq!(&reply[syntax.span()], rest);
        assert!(error.retry_message().contains(place), "{}", error.retry_message());
    }
}

fn named(object: &Map<String, Value>) -> Vec<(&str, &Value)> {
    object.iter().map(|(key, value)| (key.as_str(), value)).collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "any",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde_json::json;

use super::*;
use crate::meta::{Side, schema_for};

fn tree_of(schema: &serde_json::Value) -> TypeTree {
    TypeTree::compile(schema).unwrap()
}

fn write(form: Form, dialect: Dialect, tree: &TypeTree, call: impl FnOnce(&mut FieldWriter<'_>)) -> String {
    let mut out = String::new();
    call(&mut FieldWriter::new(&mut out, form, dialect, tree, dialect == Dialect::Plain));
    out
}

fn typed<T: Serialize + JsonSchema>(form: Form, dialect: Dialect, value: &T) -> String {
    let tree = tree_of(&schema_for::<T>(Side::Output));
    write(form, dialect, &tree, |field| field.value(value).unwrap())
}

fn plain<T: Serialize + JsonSchema>(value: &T) -> String {
    typed(Form::Section, Dialect::Plain, value)
}

fn dspy<T: Serialize + JsonSchema>(value: &T) -> String {
    typed(Form::Section, Dialect::Dspy, value)
}

fn described(schema: &serde_json::Value, form: Form, dialect: Dialect, value: &Value) -> String {
    write(form, dialect, &tree_of(schema), |field| field.data(value).unwrap())
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Atlas,
    Level(u8),
    At { x: f32 },
    Two(u8, bool),
}

#[derive(Serialize, JsonSchema)]
enum Word {
    #[serde(rename = "null")]
    Null,
    #[serde(rename = " padded ")]
    Padded,
}

#[derive(Serialize, JsonSchema)]
struct Point {
    z: f64,
    a: Option<u8>,
    by_name: HashMap<String, Vec<u8>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "the variants are there for the schema")]
enum Either {
    N(f64),
    S(String),
}

#[test]
fn values_are_written_as_section_two_says() {
    for (text, want) in [
        (plain(&" padded\ntext "), " padded\ntext "),
        (plain(&""), ""),
        (plain(&None::<u8>), "null"),
        (plain(&true), "true"),
        (plain(&-42), "-42"),
        (plain(&i128::MIN), "-170141183460469231731687303715884105728"),
        (plain(&u64::MAX), "18446744073709551615"),
        (plain(&1e6), "1000000.0"),
        (plain(&1e16), "1e+16"),
        (plain(&0.1_f32), "0.1"),
        (plain(&f64::NAN), "nan"),
        (plain(&f64::NEG_INFINITY), "-inf"),
        (plain(&vec![f64::NAN]), "[null]"),
        (plain(&'x'), "x"),
        (plain(&' '), "\" \""),
        (plain(&Team::Atlas), "atlas"),
        (plain(&Team::Level(3)), r#"{"level": 3}"#),
        (plain(&Team::At { x: 0.1 }), r#"{"at": {"x": 0.1}}"#),
        (plain(&Team::Two(1, true)), r#"{"two": [1, true]}"#),
        (plain(&("a", 1, [Some(2.5), None])), r#"["a", 1, [2.5, null]]"#),
        (plain(&vec!["a \"b\"", "ü\u{1}\u{7f}\u{2028}"]), "[\"a \\\"b\\\"\", \"ü\\u0001\u{7f}\u{2028}\"]"),
        (plain(&Vec::<u8>::new()), "[]"),
        (plain(&BTreeMap::<String, u8>::new()), "{}"),
        (plain(&json!({"a": [1, 2.5, null, true, "x"]})), r#"{"a": [1, 2.5, null, true, "x"]}"#),
        (plain(&json!([{"é": "ü"}, {"n": 1e-7}])), r#"[{"é": "ü"}, {"n": 1e-07}]"#),
        (dspy(&true), "True"),
        (dspy(&Some(false)), "False"),
        (dspy(&None::<bool>), "None"),
        (dspy(&vec![Some(true), None]), "[true, null]"),
        (dspy(&f64::INFINITY), "inf"),
    ] {
        assert_eq!(text, want);
    }
}

#[test]
fn two_hundred_documents_are_not_cut() {
    let documents: Vec<String> = (0..200).map(|at| format!("document {at}")).collect();
    assert_eq!(serde_json::from_str::<Vec<String>>(&plain(&documents)).unwrap(), documents);
}

#[test]
fn entries_of_maps_are_sorted_and_fields_of_structs_are_not() {
    let mut by_name = HashMap::new();
    for name in ["b", "a\"", "a", "ä", "", "a\n", "a\u{1f}x"] {
        by_name.insert(name.to_owned(), vec![1, 2]);
    }
    let point = Point { z: 1.0, a: None, by_name };
    assert_eq!(
        plain(&point),
        "{\"z\": 1.0, \"a\": null, \"by_name\": {\"\": [1, 2], \"a\": [1, 2], \"a\\n\": [1, 2], \
         \"a\\u001fx\": [1, 2], \"a\\\"\": [1, 2], \"b\": [1, 2], \"ä\": [1, 2]}}"
    );
    let nested = json!({"b": {"d": 1, "c": {}}, "a": 0});
    assert_eq!(plain(&nested), r#"{"a": 0, "b": {"c": {}, "d": 1}}"#);
    assert_eq!(dspy(&nested), r#"{"b": {"d": 1, "c": {}}, "a": 0}"#);
    assert_eq!(typed(Form::Json, Dialect::Plain, &nested), r#"{"a":0,"b":{"c":{},"d":1}}"#);
    let calls = json!([{"name": "look", "arguments": {}}]);
    assert_eq!(plain(&calls), r#"[{"arguments": {}, "name": "look"}]"#);
}

#[test]
fn keys_may_be_numbers_and_booleans_but_not_lists() {
    assert_eq!(plain(&BTreeMap::from([(10, 'a'), (9, 'b')])), r#"{"10": "a", "9": "b"}"#);
    assert_eq!(dspy(&BTreeMap::from([(true, 1)])), r#"{"true": 1}"#);
    let tree = tree_of(&json!({}));
    let mut out = "before".to_owned();
    let mut field = FieldWriter::new(&mut out, Form::Section, Dialect::Plain, &tree, true);
    let error = field.value(&BTreeMap::from([(vec![1], 1)])).unwrap_err();
    assert_eq!(error.to_string(), "a map's key must be a text, a number or a boolean");
    assert_eq!(out, "before");
}

#[test]
fn json_is_compact_in_one_dialect_and_indented_in_the_other() {
    let value = json!({"a": [1, {}, []], "b": 1e6, "c": "x"});
    assert_eq!(typed(Form::Json, Dialect::Plain, &value), r#"{"a":[1,{},[]],"b":1.0e6,"c":"x"}"#);
    assert_eq!(
        typed(Form::Json, Dialect::Dspy, &value),
        "{\n    \"a\": [\n      1,\n      {},\n      []\n    ],\n    \"b\": 1000000.0,\n    \"c\": \"x\"\n  }"
    );
    assert_eq!(typed(Form::Json, Dialect::Dspy, &true), "true");
    assert_eq!(typed(Form::Json, Dialect::Dspy, &None::<u8>), "null");
    assert_eq!(typed(Form::Json, Dialect::Plain, &"a\nb"), r#""a\nb""#);
    assert_eq!(typed(Form::Json, Dialect::Dspy, &f64::NAN), "null");
}

#[test]
fn what_would_read_back_differently_is_a_json_string() {
    for (text, want) in [
        (plain(&Some("null")), r#""null""#),
        (plain(&Some(" null ")), r#"" null ""#),
        (plain(&Some("None")), "None"),
        (plain(&Some("")), ""),
        (plain(&Some("\"quoted\"")), r#""\"quoted\"""#),
        (plain(&Some("\"half")), "\"half"),
        (plain(&"null"), "null"),
        (plain(&"\"quoted\""), "\"quoted\""),
        (plain(&Some(Word::Null)), r#""null""#),
        (plain(&Word::Null), "null"),
        (plain(&Some(Word::Padded)), r#"" padded ""#),
        (plain(&json!("5")), r#""5""#),
        (plain(&json!("five")), "five"),
        (plain(&json!("")), r#""""#),
        (plain(&json!("[[ ## a ## ]]")), r#""[\u005b ## a ## ]]""#),
        (plain(&Either::S("5".into())), r#""5""#),
        (plain(&Either::S("true story".into())), "true story"),
        (plain(&Either::N(5.0)), "5.0"),
        (dspy(&Some("null")), "null"),
        (dspy(&json!("5")), "5"),
    ] {
        assert_eq!(text, want);
    }
}

#[test]
fn marker_lines_are_escaped_in_texts() {
    assert_eq!(plain(&"a\n[[ ## b ## ]]"), "a\n\\[[ ## b ## ]]");
    assert_eq!(plain(&vec![vec![1, 2]]), "[[1, 2]]");
    assert_eq!(dspy(&"a\n[[ ## b ## ]]"), "a\n[[ ## b ## ]]");
}

#[test]
fn numbers_and_raw_values_of_serde_json_are_json() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::RawValue")]
    struct Raw {
        #[serde(rename = "$serde_json::private::RawValue")]
        json: &'static str,
    }
    let raw = Raw { json: r#"{"z":  [1.50]}"# };
    let tree = tree_of(&json!({}));
    let text = |value: &dyn Fn(&mut FieldWriter<'_>)| write(Form::Section, Dialect::Plain, &tree, value);
    assert_eq!(text(&|field| field.value(&raw).unwrap()), r#"{"z":  [1.50]}"#);
    assert_eq!(text(&|field| field.value(&[&raw]).unwrap()), r#"[{"z":  [1.50]}]"#);
    assert_eq!(plain(&json!(1.5).as_number().unwrap().clone()), "1.5");
    assert_eq!(to_value(&raw).unwrap(), json!({"z": [1.5]}).into());
}

#[test]
fn presence_says_whether_there_was_a_value() {
    let tree = tree_of(&json!({}));
    let presence = |call: &dyn Fn(&mut FieldWriter<'_>)| {
        let mut out = String::new();
        let mut field = FieldWriter::new(&mut out, Form::Section, Dialect::Plain, &tree, true);
        call(&mut field);
        field.presence()
    };
    assert_eq!(presence(&|_| {}), Presence::Absent);
    assert_eq!(presence(&|field| field.value(&()).unwrap()), Presence::Null);
    assert_eq!(presence(&|field| field.value(&Some(None::<u8>)).unwrap()), Presence::Null);
    assert_eq!(presence(&|field| field.data(&Value::Null).unwrap()), Presence::Null);
    assert_eq!(presence(&|field| field.value(&[0]).unwrap()), Presence::Present);
    assert_eq!(presence(&|field| field.data(&"".into()).unwrap()), Presence::Present);
}

#[test]
fn lists_on_text_fields_are_in_guillemets() {
    let text = json!({"type": "string"});
    for (value, want) in [
        (json!([]), "N/A"),
        (json!(["a"]), "«a»"),
        (json!(["a", "b\rc"]), "[1] «a»\n[2] «b\rc»"),
        (json!(["ends\n", "x » y"]), "[1] «««\n    ends\n    \n»»»\n[2] «««\n    x » y\n»»»"),
        (json!([["a"], null]), r#"[["a"], null]"#),
    ] {
        for dialect in [Dialect::Plain, Dialect::Dspy] {
            assert_eq!(described(&text, Form::Section, dialect, &value.clone().into()), want);
        }
    }
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(described(&list, Form::Section, Dialect::Plain, &json!(["a"]).into()), r#"["a"]"#);
    assert_eq!(described(&text, Form::Json, Dialect::Dspy, &json!(["a"]).into()), "[\n    \"a\"\n  ]");
}

#[test]
fn objects_get_their_defaults_and_maps_in_their_place_do_not() {
    let schema = json!({
        "type": "object", "title": "Address",
        "properties": {
            "street": {"type": "string"},
            "score": {"type": "number", "default": 0.0},
            "country": {"type": "string", "default": "DE"},
            "code": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
        },
        "required": ["street"],
    });
    let write = |value| described(&schema, Form::Section, Dialect::Dspy, &Value::from(value));
    assert_eq!(
        write(json!({"country": "AT", "street": "S", "score": 3})),
        r#"{"street": "S", "score": 3.0, "country": "AT", "code": null}"#
    );
    assert_eq!(write(json!({"street": "S", "x": 3})), r#"{"street": "S", "x": 3}"#);
}

#[test]
fn dates_are_spelt_as_the_dialect_does() {
    let time = json!({"type": "string", "format": "date-time"});
    let value = Value::from("2024-05-06T07:08:09.2+00:00");
    assert_eq!(described(&time, Form::Section, Dialect::Dspy, &value), "2024-05-06T07:08:09.200000Z");
    assert_eq!(described(&time, Form::Section, Dialect::Plain, &value), "2024-05-06T07:08:09.2+00:00");
    let list = json!({"type": "array", "items": time});
    assert_eq!(
        write(Form::Section, Dialect::Dspy, &tree_of(&list), |field| {
            field.value(&["2020-01-01T00:00:00+00:00", "later"]).unwrap();
        }),
        r#"["2020-01-01T00:00:00Z", "later"]"#
    );
}

#[test]
fn a_value_that_is_nested_too_deeply_is_refused() {
    let mut value = Value::Null;
    for _ in 0..200 {
        value = Value::List(vec![value]);
    }
    let tree = tree_of(&json!({}));
    let mut out = String::new();
    let mut field = FieldWriter::new(&mut out, Form::Section, Dialect::Plain, &tree, true);
    assert!(field.data(&value).is_err());
    assert_eq!(out, "");
}

#[test]
fn data_keeps_what_json_would_lose() {
    #[derive(Serialize)]
    struct All {
        small: f32,
        big: i128,
        nan: f64,
        unit: (),
    }
    let value = to_value(&All { small: 0.1, big: i128::MAX, nan: f64::INFINITY, unit: () }).unwrap();
    let map = value.as_map().unwrap();
    assert_eq!(map.get("small"), Some(&Value::Float(0.1)));
    assert_eq!(map.get("big"), Some(&Value::Int(i128::MAX)));
    assert_eq!(map.get("nan"), Some(&Value::Float(f64::INFINITY)));
    assert_eq!(map.get("unit"), Some(&Value::Null));
    assert!(to_value(&u128::MAX).is_err());
}

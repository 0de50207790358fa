//! No public pure function panics, whatever it is given.

use imp::{
    Adapter, Chat, Demo, Dialect, Fields, FormatOptions, Json as JsonAdapter, Missing, SignatureSpec, Value,
    Xml,
};
use imp_tests::generate::{Described, Rng, Types, any_json, any_value, hostile, noise, text};
use serde_json::Value as Json;

/// A text with a few of its characters gone, doubled, or replaced.
fn mutated(rng: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.below(4) {
        if chars.is_empty() {
            break;
        }
        let at = rng.below(chars.len());
        match rng.below(4) {
            0 => {
                chars.remove(at);
            }
            1 => chars.insert(at, chars[at]),
            2 => {
                let sign = ['[', ']', '{', '"', ',', ':', 'é', '\u{0}', '\\', '\n', '-', '>'];
                chars[at] = sign[rng.below(sign.len())];
            }
            _ => chars.truncate(at),
        }
    }
    chars.into_iter().collect()
}

/// A JSON value with some of its parts replaced by anything.
fn distorted(rng: &mut Rng, json: &Json, depth: usize) -> Json {
    if rng.once_in(12) {
        return any_json(rng, 2);
    }
    match json {
        Json::Array(items) if depth > 0 => items.iter().map(|item| distorted(rng, item, depth - 1)).collect(),
        Json::Object(map) if depth > 0 => {
            let entries = map.iter().map(|(key, value)| {
                let key = if rng.once_in(20) { text(rng) } else { key.clone() };
                (key, distorted(rng, value, depth - 1))
            });
            Json::Object(entries.collect())
        }
        json => json.clone(),
    }
}

/// Everything that can be done with a signature and texts.
fn exercise(rng: &mut Rng, spec: &SignatureSpec) {
    let values = |rng: &mut Rng| -> Fields {
        let names: Vec<String> =
            spec.inputs().chain(spec.outputs()).map(|field| field.name().to_owned()).collect();
        names.into_iter().filter_map(|name| (!rng.once_in(5)).then(|| (name, any_value(rng, 3)))).collect()
    };
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        let chat = Chat::new().dialect(dialect);
        let options = FormatOptions::new()
            .demo(Demo::from_fields(values(rng)))
            .response_instruction(rng.once_in(2))
            .omit_empty_request(rng.once_in(2));
        let _ = chat.messages(spec, &values(rng), &options);
        let answer = chat.assistant_content(spec, &values(rng), Missing::Say("none")).unwrap_or_default();
        for reply in [answer.clone(), mutated(rng, &answer), hostile(rng), noise(rng)] {
            if let Err(error) = chat.read_fields(spec, &reply) {
                let _ = error.retry_message();
                for failure in error.failures() {
                    assert!(
                        reply.get(failure.span.clone()).is_some(),
                        "{failure:?} is no place in {reply:?}"
                    );
                }
            }
        }
        let _ = chat.read_fields(spec, any_value(rng, 3));
        let _ = chat.read_fields(spec, Value::from(values(rng).into_map()));
        let others: [Box<dyn Adapter>; 2] =
            [Box::new(JsonAdapter::new().dialect(dialect)), Box::new(Xml::new().dialect(dialect))];
        for adapter in others {
            let _ = (adapter.messages(spec, &values(rng), &options), adapter.output_form(spec));
            let answer =
                adapter.assistant_content(spec, &values(rng), Missing::Say("none")).unwrap_or_default();
            for reply in [answer.clone(), mutated(rng, &answer), noise(rng)] {
                let _ = adapter.sections(spec, &reply);
            }
        }
    }
    let _ = serde_json::to_string(spec);
    let _ = spec.clone().with_instructions(noise(rng)).with_description(text(rng), noise(rng));
}

#[test]
fn lines() {
    let valid = r#"intent, plan: str "the plan" -> team: enum[atlas,beacon], scores: array[array[float]], why: short_span"#;
    let (mut good, mut bad) = (0, 0);
    for seed in 0..6000 {
        let mut rng = Rng::new(seed);
        let line = match rng.below(4) {
            0 => noise(&mut rng),
            1 => hostile(&mut rng),
            _ => mutated(&mut rng, valid),
        };
        match SignatureSpec::parse(&line) {
            Ok(spec) => {
                good += 1;
                if good % 4 == 0 {
                    exercise(&mut rng, &spec);
                }
            }
            Err(error) => {
                bad += 1;
                assert!(error.position().is_none_or(|at| at <= line.chars().count()), "{line:?}\n{error}");
            }
        }
    }
    assert!(good > 300 && bad > 300, "{good} good and {bad} bad lines");
}

#[test]
fn data() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..2500 {
        let mut rng = Rng::new(seed);
        let described = Described::any(&mut rng, Types::All).json;
        let json = match rng.below(3) {
            0 => described,
            1 => distorted(&mut rng, &described, 8),
            _ => any_json(&mut rng, 4),
        };
        match SignatureSpec::from_json(&json) {
            Ok(spec) => {
                good += 1;
                exercise(&mut rng, &spec);
            }
            Err(_) => bad += 1,
        }
        // The same through serde, from a text that may be cut short.
        let _ = serde_json::from_str::<SignatureSpec>(&mutated(&mut rng, &json.to_string()));
    }
    assert!(good > 500 && bad > 500, "{good} good and {bad} bad signatures");
}

const WORDS: [&str; 20] = [
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "enum",
    "const",
    "$ref",
    "$defs",
    "required",
    "format",
    "minimum",
    "maxLength",
    "pattern",
    "prefixItems",
    "additionalProperties",
    "default",
    "description",
    "multipleOf",
];

fn schema(rng: &mut Rng, depth: usize) -> Json {
    if depth == 0 || rng.once_in(4) {
        return any_json(rng, 1);
    }
    let mut map = serde_json::Map::new();
    for _ in 0..rng.below(4) {
        let word = rng.pick(&WORDS);
        let value = match word {
            "type" => {
                (*rng.pick(&["string", "integer", "number", "object", "array", "null", "boolean"])).into()
            }
            "$ref" => (*rng.pick(&["#", "#/$defs/a", "#/$defs/b", "#/definitions/a"])).into(),
            "properties" | "$defs" => {
                serde_json::json!({ "a": schema(rng, depth - 1), "b": schema(rng, depth - 1) })
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                (0..rng.below(4)).map(|_| schema(rng, depth - 1)).collect()
            }
            "items" | "additionalProperties" => schema(rng, depth - 1),
            "pattern" => hostile(rng).into(),
            _ => any_json(rng, 1),
        };
        map.insert(word.to_owned(), value);
    }
    Json::Object(map)
}

/// JSON Schemas given as types.
#[test]
fn schemas() {
    let mut good = 0;
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let ty = schema(&mut rng, 4);
        let json = serde_json::json!({ "outputs": [{ "name": "x", "type": { "schema": ty } }] });
        if let Ok(spec) = SignatureSpec::from_json(&json) {
            good += 1;
            exercise(&mut rng, &spec);
        }
    }
    assert!(good > 500, "{good} good schemas");
}

/// Depth is bounded everywhere.
#[test]
fn deep_nesting() {
    let spec = imp_tests::plain::line("q -> x: object, y: array, s");
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{'a':", "}]"), ("(", ")")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        for text in [deep.clone(), open.repeat(100_000)] {
            let reply = format!("[[ ## x ## ]]\n{text}\n[[ ## y ## ]]\n{text}\n[[ ## s ## ]]\n{text}");
            assert!(Chat::new().read_fields(&spec, &reply).is_err());
            let _ = serde_json::from_str::<Value>(&text);
        }
    }
    let mut value = Value::Null;
    for _ in 0..1000 {
        value = Value::List(vec![value]);
    }
    let fields = Fields::from([("x", value.clone()), ("y", value.clone()), ("s", value)]);
    let _ = Chat::new().assistant_content(&spec, &fields, Missing::LeaveOut);
    let nested =
        |count: usize, inner: Json, wrap: fn(Json) -> Json| (0..count).fold(inner, |json, _| wrap(json));
    let list = nested(100, "int".into(), |ty| serde_json::json!({ "list": ty }));
    let schema = nested(600, Json::Bool(true), |ty| serde_json::json!({ "type": "array", "items": ty }));
    let union =
        nested(600, Json::Bool(true), |ty| serde_json::json!({ "anyOf": [ty, { "type": "integer" }] }));
    for ty in [list, serde_json::json!({ "schema": schema }), serde_json::json!({ "schema": union })] {
        assert!(
            SignatureSpec::from_json(&serde_json::json!({ "outputs": [{ "name": "x", "type": ty }] }))
                .is_err()
        );
    }
    // Where no type is.
    let deep = nested(1000, Json::Null, |json| Json::Array(vec![json]));
    for key in ["default", "enum", "x-of-somebody", "$defs"] {
        let field = serde_json::json!({ "name": "x", "type": { "schema": { "type": "array", key: [deep.clone()] } } });
        let error = SignatureSpec::from_json(&serde_json::json!({ "outputs": [field] })).unwrap_err();
        assert!(error.to_string().contains("is nested more than"), "{key}: {error}");
    }
    // As deep as may be, and a type that contains itself.
    let default = nested(100, Json::Null, |json| Json::Array(vec![json]));
    let deep = nested(
        120,
        serde_json::json!({ "type": "string", "default": default }),
        |ty| serde_json::json!({ "type": "array", "items": ty }),
    );
    for ty in [deep, serde_json::json!({ "type": "array", "items": { "$ref": "#" } })] {
        let field = serde_json::json!({ "name": "x", "type": { "schema": ty } });
        let spec = SignatureSpec::from_json(&serde_json::json!({ "outputs": [field] })).unwrap();
        exercise(&mut Rng::new(1), &spec);
    }
    let default = nested(600, Json::Null, |json| Json::Array(vec![json]));
    let field = serde_json::json!({ "name": "x", "type": "array", "default": default });
    assert!(SignatureSpec::from_json(&serde_json::json!({ "outputs": [field] })).is_err());
    for count in [100, 20_000] {
        let line = format!("q -> x: {}int{}", "array[".repeat(count), "]".repeat(count));
        assert!(SignatureSpec::parse(&line).is_err());
        assert!(SignatureSpec::parse(&line[..line.len() - count]).is_err());
    }
}

#[test]
fn values_and_fields() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..5000 {
        let mut rng = Rng::new(seed);
        let value = any_value(&mut rng, 4);
        let written = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value, "seed {seed}");
        let broken = mutated(&mut rng, &written);
        match serde_json::from_str::<Fields>(&broken) {
            Ok(fields) => {
                good += 1;
                assert_eq!(
                    serde_json::to_value(&fields).unwrap(),
                    serde_json::from_str::<Json>(&broken).unwrap()
                );
            }
            Err(_) => bad += 1,
        }
    }
    assert!(good > 50 && bad > 50, "{good} good and {bad} bad texts");
}

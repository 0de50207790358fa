#![allow(clippy::float_cmp, reason = "what is read is the float exactly")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::dialect::Dialect::{self, Dspy, Plain};
use crate::meta::{Side, schema_for};
use crate::types::{AnswerShape, Number, Pattern};

fn options(dialect: Dialect) -> ReadOptions {
    ReadOptions { dialect, unescape: dialect == Plain }
}

fn tree<T: JsonSchema>() -> TypeTree {
    TypeTree::compile(&schema_for::<T>(Side::Output)).unwrap()
}

fn text(text: &str) -> Source<'_> {
    Source::Text(text.into())
}

fn quoted(json: &str) -> Source<'_> {
    Source::Json(json.into())
}

fn typed<T: DeserializeOwned + JsonSchema>(dialect: Dialect, source: &Source<'_>) -> Result<T, ReadError> {
    read(source, &tree::<T>(), None, options(dialect))
}

fn plain<T: DeserializeOwned + JsonSchema>(section: &str) -> Result<T, ReadError> {
    typed(Plain, &text(section))
}

fn dspy<T: DeserializeOwned + JsonSchema>(section: &str) -> Result<T, ReadError> {
    typed(Dspy, &text(section))
}

fn described(schema: &serde_json::Value, dialect: Dialect, source: &Source<'_>) -> Result<Value, ReadError> {
    read_value(source, &TypeTree::compile(schema).unwrap(), None, options(dialect))
}

fn message<T: Debug>(result: Result<T, ReadError>) -> String {
    result.unwrap_err().to_string()
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Entity {
    name: String,
    #[serde(default)]
    count: Option<u32>,
    score: f64,
}

#[derive(Debug, PartialEq, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Atlas,
    HarborMaster,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    N(f64),
    S(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Rect { width: u8, height: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    New(u8),
    Pair(u8, String),
    Full { a: u8 },
}

fn entity(name: &str, count: Option<u32>, score: f64) -> Entity {
    Entity { name: name.to_owned(), count, score }
}

#[test]
fn a_string_is_the_text_as_it_is() {
    for given in ["Paris", "\"Paris\"", "42", "null", "{\"a\": 1}", "a\n\nb", "", "C:\\x", "'x'"] {
        assert_eq!(plain::<String>(given).unwrap(), given);
        assert_eq!(dspy::<String>(given).unwrap(), given);
    }
    assert_eq!(plain::<String>("a\n\\[[ ## b ## ]]").unwrap(), "a\n[[ ## b ## ]]");
    assert_eq!(dspy::<String>("a\n\\[[ ## b ## ]]").unwrap(), "a\n\\[[ ## b ## ]]");
}

/// Row 34 of the table of spec/imp.md.
#[test]
fn a_string_given_other_json_is_its_text() {
    for (json, want) in [
        ("\"a\\nb\"", "a\nb"),
        ("\"null\"", "null"),
        ("123", "123"),
        ("1e6", "1000000.0"),
        ("true", "true"),
        ("[1, 2,3]", "[1, 2, 3]"),
        (r#"{"a":true,"b":["x","y"]}"#, r#"{"a": true, "b": ["x", "y"]}"#),
    ] {
        assert_eq!(typed::<String>(Plain, &quoted(json)).unwrap(), want);
        let schema = json!({"type": "string"});
        assert_eq!(described(&schema, Plain, &quoted(json)).unwrap(), Value::from(want));
    }
    assert_eq!(message(typed::<String>(Plain, &quoted("null"))), "expected string");
    assert_eq!(typed::<Option<String>>(Plain, &quoted("null")).unwrap(), None);
}

/// Rows 36 to 39, and 65 for a number in a JSON reply.
#[test]
fn texts_are_taken_for_what_the_type_asks() {
    assert_eq!(plain::<u8>(" 42\n").unwrap(), 42);
    assert_eq!(plain::<i64>("-9223372036854775808").unwrap(), i64::MIN);
    assert_eq!(plain::<i128>("170141183460469231731687303715884105727").unwrap(), i128::MAX);
    assert_eq!(plain::<u128>("340282366920938463463374607431768211455").unwrap(), u128::MAX);
    assert_eq!(plain::<f64>("3.25").unwrap(), 3.25);
    assert_eq!(plain::<f64>("42").unwrap(), 42.0);
    assert_eq!(plain::<f32>("0.1").unwrap(), 0.1);
    assert!(plain::<bool>("Yes").unwrap());
    assert!(!plain::<bool>("false").unwrap());
    assert_eq!(plain::<Vec<u8>>("[1, 2, 3]").unwrap(), [1, 2, 3]);
    assert_eq!(typed::<f64>(Plain, &quoted("\"0.95\"")).unwrap(), 0.95);
    assert_eq!(typed::<Vec<u8>>(Plain, &quoted("\"[1]\"")).unwrap(), [1]);
    for given in ["atlas", "'atlas'", "\"atlas\"", "Literal[atlas]", "str[atlas]", " atlas "] {
        assert_eq!(plain::<Team>(given).unwrap(), Team::Atlas);
        assert_eq!(dspy::<Team>(given).unwrap(), Team::Atlas);
    }
    let object = json!({"type": "object"});
    assert_eq!(described(&object, Plain, &text("{'key': 'value'}")).unwrap(), json!({"key": "value"}).into());
    assert_eq!(plain::<char>("x").unwrap(), 'x');
    assert_eq!(plain::<char>("\" \"").unwrap(), ' ');
    assert_eq!(plain::<()>("null").unwrap(), ());
    assert_eq!(plain::<IpAddr>("127.0.0.1").unwrap(), IpAddr::from([127, 0, 0, 1]));
    assert_eq!(plain::<IpAddr>("\"127.0.0.1\"").unwrap(), IpAddr::from([127, 0, 0, 1]));
}

#[test]
fn what_a_text_is_not_is_said_in_the_words_of_the_spec() {
    for (got, want) in [
        (message(plain::<u8>("not a number")), "expected integer"),
        (message(plain::<u8>("3.0")), "expected integer"),
        (message(plain::<u8>("")), "expected integer"),
        (message(plain::<u8>("256")), "must be <= 255"),
        (message(plain::<u8>("-1")), "must be >= 0"),
        (message(plain::<f64>("85%")), "expected number"),
        (message(plain::<f64>("nan")), "expected number"),
        (message(plain::<f32>("1e39")), "expected number"),
        (message(plain::<bool>("maybe")), "expected boolean"),
        (message(plain::<bool>("on")), "expected boolean"),
        (message(plain::<Team>("invalid")), r#"must be one of ["atlas", "harbor_master"]"#),
        (message(plain::<Vec<u8>>("one, two")), "expected array"),
        (message(plain::<Vec<u8>>("{}")), "expected array"),
        (message(plain::<Entity>("not json or literal")), "expected object"),
        (message(plain::<Entity>(r#"["a", 1, 2]"#)), "expected object"),
        (message(plain::<Entity>(r#"{"name": "a"}"#)), "score is required"),
        (message(plain::<Vec<u8>>("[1, \"2\"]")), "[1]: expected integer"),
        (message(plain::<Vec<u8>>("[1, 2")), "expected array, but at line 1, column 6: the text breaks off"),
        (message(plain::<(u8, u8)>("[1, 2, 3]")), "there are more items than the type has"),
        (message(plain::<()>("nothing")), "expected null"),
        (message(dspy::<u8>("3.5")), "expected integer"),
        (message(dspy::<u8>("true")), "expected integer"),
        (message(dspy::<u8>("1,000")), "expected integer"),
        (message(dspy::<bool>("2")), "expected boolean"),
    ] {
        assert_eq!(got, want);
    }
}

#[test]
fn one_dialect_reads_as_pydantic_does() {
    for given in ["3.0", "3.", "\"3\"", "'3'", " \" 3 \" ", "3e0", "003", "+3"] {
        assert_eq!(dspy::<u8>(given).unwrap(), 3, "{given}");
    }
    for given in ["on", "T", "y", "1.0", "\"true\"", "TRUE"] {
        assert!(dspy::<bool>(given).unwrap(), "{given}");
    }
    assert_eq!(dspy::<f64>(".5").unwrap(), 0.5);
    assert!(dspy::<f64>("NaN").unwrap().is_nan());
    assert_eq!(dspy::<f64>("-Infinity").unwrap(), f64::NEG_INFINITY);
    assert_eq!(dspy::<Vec<i8>>("[\"1\", 2.0, +3]").unwrap(), [1, 2, 3]);
    assert_eq!(dspy::<Vec<bool>>("[yes, no, 1, \"off\"]").unwrap(), [true, false, true, false]);
    assert_eq!(dspy::<Vec<f64>>("[\"0.5\", 1, 2e3, .5]").unwrap(), [0.5, 1.0, 2000.0, 0.5]);
    assert_eq!(
        dspy::<Vec<Entity>>("Here it is:\n```json\n[{name: 'a', \"score\": \"1\",}] // done\n```").unwrap(),
        [entity("a", None, 1.0)]
    );
    assert_eq!(dspy::<Vec<Team>>("[atlas, harbor_master]").unwrap(), [Team::Atlas, Team::HarborMaster]);
    assert_eq!(dspy::<Vec<String>>("[New York, San José]").unwrap(), ["New York", "San José"]);
    assert_eq!(dspy::<Vec<String>>("[“a”, “b”]").unwrap(), ["a", "b"]);
}

/// §10 and rows 67, 73 to 78: what the plain dialect forgives, and no more.
#[test]
fn tolerant_literals_are_read_as_section_ten_says() {
    let map = |given: &str| plain::<BTreeMap<String, serde_json::Value>>(given);
    for (given, want) in [
        (
            r"{'answer': 'Paris', 'n': [True, False, None, 007,],}",
            json!({"answer": "Paris", "n": [true, false, null, 7]}),
        ),
        ("{'answer': 'café — 東京 🎉'}", json!({"answer": "café — 東京 🎉"})),
        (r"{'answer': 'caf\u00e9'}", json!({"answer": "café"})),
        (r"{'answer': '\ud83d\ude00'}", json!({"answer": "😀"})),
        (
            r"{'a': '\d+', 'b': 'C:\path', 'c': '\q', 'd': 'a\/b'}",
            json!({"a": "\\d+", "b": "C:\\path", "c": "\\q", "d": "a\\/b"}),
        ),
        (r"{'a': '\xe9'}", json!({"a": "é"})),
        (r"{'a': '\a\v\0', 'b': '\U0001f600'}", json!({"a": "\\a\\v\\0", "b": "\\U0001f600"})),
        (
            r#"{'a': "it's", 'b': 'it\'s', 'c': 'say \"hi\"'}"#,
            json!({"a": "it's", "b": "it's", "c": "say \"hi\""}),
        ),
        // Backslashes mean something else in a text that is no strict JSON, before the slip too.
        (r#"{"a": "x\\\\y", "b": "\f", "c": 'z'}"#, json!({"a": "x\\y", "b": "\\f", "c": "z"})),
        (r#"{"a": "x\\\\y", "b": "\f", "c": "z"}"#, json!({"a": "x\\\\y", "b": "\u{c}", "c": "z"})),
        ("{'a': 'line  \n'}", json!({"a": "line"})),
        ("{\"a\": \"tab\there\"}", json!({"a": "tab\there"})),
    ] {
        assert_eq!(serde_json::to_value(map(given).unwrap()).unwrap(), want, "{given}");
    }
    for given in [
        "```json\n{\"a\": 1}\n```",
        "Sure: {\"a\": 1}",
        "{\"a\": 1} done",
        "{a: 1}",
        "{\"a\": 1 // one\n}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": .5}",
        "{\"a\": word}",
        "{\"a\": 1}}",
        "{\"a\": 1,,}",
        "{,}",
        r"{'a': '\ud83d'}",
        "{\"a\": NaN}",
        "{“a”: 1}",
    ] {
        assert!(map(given).is_err(), "{given}");
    }
}

#[test]
fn null_is_no_value_of_an_optional_type() {
    for dialect in [Plain, Dspy] {
        assert_eq!(typed::<Option<u8>>(dialect, &text(" null ")).unwrap(), None);
        assert_eq!(typed::<Option<u8>>(dialect, &text("7")).unwrap(), Some(7));
        assert_eq!(typed::<Option<String>>(dialect, &text("null")).unwrap(), None);
        assert_eq!(typed::<Option<String>>(dialect, &text("None")).unwrap().as_deref(), Some("None"));
        assert_eq!(typed::<Option<String>>(dialect, &text("")).unwrap().as_deref(), Some(""));
        assert_eq!(typed::<Option<String>>(dialect, &text("\"x\"")).unwrap().as_deref(), Some("\"x\""));
        assert_eq!(typed::<Option<Vec<u8>>>(dialect, &quoted("null")).unwrap(), None);
        assert!(typed::<Option<u8>>(dialect, &text("")).is_err());
        assert!(typed::<u8>(dialect, &text("null")).is_err());
        let optional = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        assert_eq!(described(&optional, dialect, &text("null")).unwrap(), Value::Null);
        assert_eq!(described(&optional, dialect, &text("7")).unwrap(), Value::Int(7));
    }
    assert_eq!(dspy::<Option<Vec<u8>>>("None").unwrap(), None);
    assert!(plain::<Option<Vec<u8>>>("None").is_err());
    assert_eq!(plain::<Option<Team>>("atlas").unwrap(), Some(Team::Atlas));
}

#[test]
fn every_kind_of_type_is_read() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Wide {
        a: (u8, Option<String>, [bool; 2]),
        b: HashMap<i16, BTreeMap<bool, char>>,
        #[serde(rename = "type", alias = "kind")]
        c: External,
        d: Vec<External>,
        e: Option<Box<Wide>>,
        f: serde_json::Value,
        g: Newtype,
        h: (),
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Newtype(Vec<u64>);
    let given = r#"{"a": [1, null, [true, false]], "b": {"-3": {"true": "x"}}, "type": "Unit",
        "d": [{"New": 1}, {"Pair": [2, "y"]}, {"Full": {"a": 3}}, {"Unit": null}],
        "e": null, "f": {"z": [1.5, 18446744073709551615]}, "g": [18446744073709551615], "h": null}"#;
    let want = Wide {
        a: (1, None, [true, false]),
        b: HashMap::from([(-3, BTreeMap::from([(true, 'x')]))]),
        c: External::Unit,
        d: vec![External::New(1), External::Pair(2, "y".into()), External::Full { a: 3 }, External::Unit],
        e: None,
        f: json!({"z": [1.5, u64::MAX]}),
        g: Newtype(vec![u64::MAX]),
        h: (),
    };
    assert_eq!(plain::<Wide>(given).unwrap(), want);
    assert_eq!(dspy::<Wide>(given).unwrap(), want);
    assert_eq!(plain::<External>("{\"Full\": {\"a\": 3}}").unwrap(), External::Full { a: 3 });
    assert_eq!(plain::<External>("Unit").unwrap(), External::Unit);
    assert_eq!(message(plain::<External>("{\"Full\": [3]}")), "Full: expected object");
    assert_eq!(plain::<serde_json::Number>("1.5").unwrap(), serde_json::Number::from_f64(1.5).unwrap());
}

#[test]
fn a_raw_value_of_serde_json_is_the_text_of_a_value() {
    // What serde_json's own type does, without the feature that a build may not have.
    struct Raw(String);
    impl<'de> Deserialize<'de> for Raw {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Raw;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("any JSON")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                    assert_eq!(map.next_key::<String>()?.as_deref(), Some(de::RAW));
                    map.next_value().map(Raw)
                }
            }
            deserializer.deserialize_newtype_struct(de::RAW, Visitor)
        }
    }
    #[derive(Deserialize)]
    struct Holder {
        raw: Raw,
    }
    let tree = TypeTree::compile(&json!({})).unwrap();
    let holder: Holder = read(&text(r#"{"raw": {"z":  [1.50]}}"#), &tree, None, options(Plain)).unwrap();
    assert_eq!(holder.raw.0, r#"{"z":  [1.50]}"#);
    let raw: Raw = read(&text(" [1.50] "), &tree, None, options(Plain)).unwrap();
    assert_eq!(raw.0, "[1.50]");
    let raw: Raw = read(&text("a text"), &tree, None, options(Plain)).unwrap();
    assert_eq!(raw.0, "\"a text\"");
}

#[test]
fn types_that_serde_buffers_keep_their_directions() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Flat {
        #[serde(flatten)]
        inner: Inner,
        name: String,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Inner {
        on: bool,
        count: u64,
    }
    assert_eq!(
        dspy::<Flat>(r#"{"name": "x", "on": "yes", "count": "3"}"#).unwrap(),
        Flat { inner: Inner { on: true, count: 3 }, name: "x".into() }
    );
    assert_eq!(dspy::<Shape>(r#"{"radius": "2", "kind": "circle"}"#).unwrap(), Shape::Circle { radius: 2.0 });
    assert_eq!(
        message(plain::<Vec<Shape>>(r#"[{"kind": "rect", "width": 1, "height": "x"}]"#)),
        "[0].height: expected integer"
    );
    for (given, want) in [
        ("5", Either::N(5.0)),
        ("\"5\"", Either::S("5".into())),
        ("85%", Either::S("85%".into())),
        ("some text", Either::S("some text".into())),
        ("", Either::S(String::new())),
        ("{\"a\": 1}", Either::S("{\"a\": 1}".into())),
    ] {
        assert_eq!(dspy::<Either>(given).unwrap(), want, "{given}");
        assert_eq!(plain::<Either>(given).unwrap(), want, "{given}");
    }
    assert_eq!(plain::<serde_json::Value>("[1, 'x']").unwrap(), json!([1, "x"]));
    assert_eq!(plain::<serde_json::Value>("some text").unwrap(), json!("some text"));
    assert_eq!(plain::<serde_json::Value>("\"5\"").unwrap(), json!("5"));
    assert_eq!(typed::<serde_json::Value>(Plain, &quoted("\"5\"")).unwrap(), json!("5"));
    assert_eq!(typed::<serde_json::Value>(Dspy, &quoted("\"5\"")).unwrap(), json!(5));
    assert!(plain::<Shape>("a circle of radius 2").is_err());
}

#[test]
fn of_two_equal_keys_the_last_counts() {
    let given = r#"{"name": "a", "score": 1, "name": "b"}"#;
    assert_eq!(plain::<Entity>(given).unwrap(), entity("b", None, 1.0));
    assert_eq!(plain::<BTreeMap<String, u8>>(r#"{"a": 1, "a": 2}"#).unwrap()["a"], 2);
    assert_eq!(described(&json!({}), Plain, &text(given)).unwrap(), json!({"name": "b", "score": 1}).into());
}

#[test]
fn failures_name_their_path_and_their_bytes() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Report {
        #[allow(dead_code, reason = "only its absence is looked at")]
        sections: Vec<Section>,
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Section {
        #[allow(dead_code, reason = "only its absence is looked at")]
        score: u8,
    }
    let given = r#" {"sections": [{"score": 1}, {"score": [2]}]}"#;
    let error = plain::<Report>(given).unwrap_err();
    assert_eq!(
        (error.path(), error.message(), error.expected()),
        (".sections[1].score", "expected integer", "integer")
    );
    assert_eq!(&given[error.span()], "[2]");
    let error = plain::<Report>(r#"{"sections": [{"score": 1}, {}]}"#).unwrap_err();
    assert_eq!((error.path(), error.message()), (".sections[1]", "score is required"));
    let given = r#"{"sections": [{"score": 1}, {"score" 2}]}"#;
    let error = plain::<Report>(given).unwrap_err();
    assert_eq!(error.message(), "expected object, but at line 1, column 38: there is no colon behind a key");
    assert_eq!(&given[error.span()], "2}]}");
    let given = "  nothing ";
    assert_eq!(&given[plain::<u8>(given).unwrap_err().span()], "nothing");
    let schema = schema_for::<Report>(Side::Output);
    let given = r#"{"sections": [{"score": true}]}"#;
    let error = described(&schema, Plain, &text(given)).unwrap_err();
    assert_eq!((error.path(), &given[error.span()]), (".sections[0].score", "true"));
    assert_eq!(error.to_string(), "sections[0].score: expected integer");
}

#[test]
fn bounds_are_checked_at_the_root_and_inside() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Rated {
        #[schemars(range(min = 1, max = 5))]
        stars: u8,
        #[schemars(length(min = 2), regex(pattern = "^[a-z]+$"))]
        tag: String,
    }
    let given = |stars: u8, tag: &str| format!("[{{\"stars\": {stars}, \"tag\": \"{tag}\"}}]");
    assert_eq!(plain::<Vec<Rated>>(&given(5, "ab")).unwrap(), [Rated { stars: 5, tag: "ab".into() }]);
    assert_eq!(message(plain::<Vec<Rated>>(&given(6, "ab"))), "[0].stars: must be <= 5");
    assert_eq!(message(plain::<Vec<Rated>>(&given(1, "a"))), "[0].tag: length must be >= 2");
    assert_eq!(message(plain::<Vec<Rated>>(&given(1, "AB"))), "[0].tag: must match ^[a-z]+$");
    let schema = schema_for::<Vec<Rated>>(Side::Output);
    assert_eq!(message(described(&schema, Dspy, &text(&given(6, "ab")))), "[0].stars: must be <= 5");

    let root = |checks: Checks| {
        move |given: &str| -> String {
            let read_typed = read::<f64>(&text(given), &tree::<f64>(), Some(&checks), options(Plain));
            let schema = TypeTree::compile(&json!({"type": "number"})).unwrap();
            let read_data = read_value(&text(given), &schema, Some(&checks), options(Plain));
            assert_eq!(read_typed.as_ref().err(), read_data.as_ref().err());
            read_typed.err().map_or_else(String::new, |error| error.message().to_owned())
        }
    };
    let number = root(Checks {
        minimum: Some(Number::Int(1)),
        multiple_of: Some(Number::Float(0.5)),
        ..Checks::default()
    });
    assert_eq!(
        (number("0.5"), number("1.3"), number("1.5")),
        ("must be >= 1".into(), "must be a multiple of 0.5".into(), String::new())
    );
    let any = root(Checks { inf_nan: Some(true), ..Checks::default() });
    assert_eq!(any("nan"), "");

    let words = Checks { answer_shape: Some(AnswerShape::YesNo), ..Checks::default() };
    let read_words =
        |given: &str| read::<String>(&text(given), &tree::<String>(), Some(&words), options(Plain));
    assert_eq!(read_words("yes").unwrap(), "yes");
    assert_eq!(message(read_words("perhaps")), "must be exactly yes or no");
    let short = Checks { max_length: Some(1), pattern: Pattern::new("x").ok(), ..Checks::default() };
    let list = read::<Vec<u8>>(&text("[1, 2]"), &tree::<Vec<u8>>(), Some(&short), options(Plain));
    assert_eq!(message(list), "length must be <= 1");
    let optional = read::<Option<u8>>(&text("null"), &tree::<Option<u8>>(), Some(&short), options(Plain));
    assert_eq!(optional.unwrap(), None);
}

#[test]
fn objects_without_a_type_come_in_the_order_of_the_reply() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer"}, "b": {"type": "number"},
            "c": {"type": "string", "default": "x"}, "d": {"anyOf": [{"type": "date"}, {"type": "null"}]},
        },
        "required": ["a", "b"],
    });
    let value = described(&schema, Plain, &text(r#"{"b": 1, "z": 0, "a": 2}"#)).unwrap();
    let entries: Vec<_> = value.as_map().unwrap().iter().map(|(key, value)| (key, value.clone())).collect();
    assert_eq!(
        entries,
        [("b", Value::Float(1.0)), ("a", Value::Int(2)), ("c", Value::from("x")), ("d", Value::Null)]
    );
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!(described(&map, Plain, &text(r#"{"z": 0}"#)).unwrap(), json!({"z": 0}).into());
    assert_eq!(
        described(&json!({"type": "integer"}), Plain, &text("123456789012345678901234567890")).unwrap(),
        Value::Int(123_456_789_012_345_678_901_234_567_890)
    );
}

#[test]
fn described_types_are_read_in_both_dialects() {
    let choice = json!({"enum": ["low", 2, true], "title": "X"});
    let named = json!({"enum": [1, "two"], "x-imp-names": ["ONE", "TWO"], "title": "N"});
    let union = json!({"anyOf": [{"type": "integer"}, {"type": "string"}]});
    let text_first = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    let time = json!({"type": "string", "format": "date-time"});
    let code = json!({"x-imp-kind": "code", "x-imp-language": "rust"});
    for (schema, given, plain, dspy) in [
        (&choice, "Literal['low']", Some(json!("low")), Some(json!("low"))),
        (&choice, "2", Some(json!(2)), Some(json!(2))),
        (&choice, "True", Some(json!(true)), Some(json!(true))),
        (&choice, "3", None, None),
        (&named, "ONE", Some(json!(1)), Some(json!(1))),
        (&named, "1", Some(json!(1)), Some(json!(1))),
        (&named, "'two'", Some(json!("two")), Some(json!("two"))),
        (&union, "5", Some(json!(5)), Some(json!(5))),
        (&union, "5.5", Some(json!("5.5")), Some(json!("5.5"))),
        (&text_first, "5", Some(json!("5")), Some(json!(5))),
        (
            &time,
            "2024-01-02T03:04:05Z",
            Some(json!("2024-01-02T03:04:05Z")),
            Some(json!("2024-01-02T03:04:05+00:00")),
        ),
        (&time, "2024-01-02", None, Some(json!("2024-01-02T00:00:00"))),
        (&time, "now", None, None),
        (&code, "```rust\nfn a() {}\n```", Some(json!("fn a() {}")), Some(json!("fn a() {}"))),
        (&code, "use ```x``` here", Some(json!("x")), Some(json!("x"))),
        (&code, "fn a() {}", Some(json!("fn a() {}")), Some(json!("fn a() {}"))),
    ] {
        assert_eq!(described(schema, Plain, &text(given)).ok(), plain.map(Value::from), "{given}");
        assert_eq!(described(schema, Dspy, &text(given)).ok(), dspy.map(Value::from), "{given}");
    }
    assert_eq!(message(described(&code, Plain, &quoted("123"))), "expected code");
    assert_eq!(message(described(&choice, Plain, &text("x"))), r#"must be one of ["low", 2, true]"#);
}

#[test]
fn tool_calls_come_in_many_shapes() {
    let schema = json!({"x-imp-kind": "tool_calls"});
    let want: Value = json!({"tool_calls": [{"name": "look", "args": {"q": "x"}}]}).into();
    for given in [
        r#"{"tool_calls": [{"name": "look", "args": {"q": "x"}}]}"#,
        r#"[{"name": "look", "arguments": {"q": "x"}}]"#,
        r#"{"name": "look", "args": "{'q': 'x'}"}"#,
        r#"[{"function": {"name": "look", "arguments": "{\"q\": \"x\"}"}}]"#,
    ] {
        assert_eq!(described(&schema, Dspy, &text(given)).unwrap(), want, "{given}");
    }
    for given in ["none", "", r#"{"tool_calls": {}}"#, r#"[{"q": 1}]"#, r#"[{"name": "a", "args": "b"}]"#] {
        assert!(described(&schema, Dspy, &text(given)).is_err(), "{given}");
    }
}

/// In DSPy's dialect; `None` stands for the text itself.
#[test]
fn where_anything_is_welcome_json_is_looked_for() {
    let tree = tree::<serde_json::Value>();
    for (given, want) in [
        ("+5", Some("5")),
        ("007", None),
        (".5", Some("0.5")),
        ("```json\n[1]\n```", Some("[1]")),
        ("Here: {\"a\": 1}.", Some("{\"a\": 1}")),
        ("- [ ] todo", None),
        ("[x](y)", Some("[\"x\"]")),
        ("see [x](y)", None),
        ("[1] and [2]", None),
        ("[1, 2", Some("[1, 2]")),
        ("{\"a\": [1", Some("{\"a\": [1]}")),
        ("[\"a", None),
        ("{\"a\":", None),
    ] {
        let value = read_value(&text(given), &tree, None, options(Dspy)).unwrap();
        let json = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap().into();
        let want: Value = want.map_or_else(|| given.into(), json);
        assert_eq!(value, want, "{given}");
        assert_eq!(
            read::<serde_json::Value>(&text(given), &tree, None, options(Dspy)).map(Value::from),
            Ok(want),
            "{given}"
        );
    }
}

#[test]
fn an_end_marker_that_is_not_quite_right_may_follow_a_value() {
    for (marker, fits) in [
        ("[[ ## completed # ]]", true),
        ("[ ## completed ## ]]", true),
        ("[[## completed ##]]", true),
        ("[[ ## compl", true),
        ("[[ ##", true),
        // The value behind it would be lost.
        ("[[ ## source # ]]\n0", false),
        ("[[ ##source ## ]]\n0", false),
        ("[[ ## co", true),
        ("[[ ## co ]]\n0", false),
    ] {
        assert_eq!(described::json(&format!("[1]\n\n{marker}"), Dspy).is_ok(), fits, "{marker}");
    }
}

#[test]
fn a_character_too_many_between_items_is_passed_over() {
    for (given, want) in [
        ("{'a': [1]], 'b': [2]}", Some("{\"a\": [1], \"b\": [2]}")),
        ("{\"a\":: 1}", Some("{\"a\": 1}")),
        ("[{\"a\": 1}}, 2]", Some("[{\"a\": 1}, 2]")),
        ("[1, 2}", None),
        ("{\"a\": [1, 2}", None),
        ("{\"a\": 1]", None),
        ("[1, 2}}, 3]", None),
    ] {
        let json = described::json(given, Dspy).ok();
        assert_eq!(json, want.map(|json| described::json(json, Plain).unwrap()), "{given}");
        assert!(described::json(given, Plain).is_err());
    }
}

#[test]
fn a_reply_that_is_an_object_is_cut_into_entries() {
    let list = |entries: &[Entry<'_>]| {
        let list = entries.iter().map(|entry| format!("{}={}", entry.key, entry.value.text()));
        list.collect::<Vec<_>>().join("|")
    };
    let cut = |dialect, text: &str| entries(text, options(dialect)).map(|entries| list(&entries)).ok();
    for (given, want) in [
        (r#"{"a": 1, "b": {"c": []}}"#, "a=1|b={\"c\": []}"),
        ("Sure: {'a': '}', } and more", "a='}'"),
        (r#"{"a": "x\\\\y", 'b': 1}"#, "a=\"x\\\\y\"|b=1"),
        ("[{\"a\": 1}, {\"a\": 2}]", "a=1"),
        ("{}", ""),
    ] {
        assert_eq!(cut(Plain, given).unwrap(), want);
    }
    assert_eq!(cut(Dspy, r#""{\"a\": 1}""#).unwrap(), "a=1");
    assert_eq!(cut(Dspy, "```json\n{a: Paris}").unwrap(), "a=Paris");
    assert!(cut(Dspy, "{\"a\": 1}\n{\"a\": 2}").is_none());
    assert_eq!(cut(Dspy, "{'a': None}\n\n[ ## completed ## ]]").unwrap(), "a=null");
    // The object that an output is, is not the reply's.
    assert!(cut(Dspy, "\"a\": {}}").is_none());
    // What was whole, and the key whose value was not.
    for (given, whole, key) in [
        ("prose", None, None),
        ("{", Some(""), None),
        ("{\"a\": 1, \"b", Some("a=1"), None),
        ("{\"a\": 1, \"b\":", Some("a=1"), Some("b")),
        ("{\"a\": 1, \"b\": [tru", Some("a=1"), Some("b")),
        // A number or a word at the very end may be half of one.
        ("{\"a\": \"x\", \"b\": 1", Some("a=\"x\""), Some("b")),
        ("{\"a\": \"x\"", Some("a=\"x\""), None),
    ] {
        for dialect in [Plain, Dspy] {
            let broken = entries(given, options(dialect)).unwrap_err();
            assert_eq!(broken.begins.then(|| list(&broken.entries)).as_deref(), whole, "{given}");
            assert_eq!(broken.cut.as_ref().map(|(key, _)| &**key), key, "{given}");
        }
    }
    let text = "x {\"a\": [1]}";
    let entry = &entries(text, options(Plain)).unwrap()[0];
    assert_eq!(&text[entry.span.clone()], "[1]");
}

/// Law 6: what was written is read back.
#[test]
fn what_goes_out_comes_back() {
    fn check<T: Serialize + DeserializeOwned + JsonSchema + PartialEq + Debug>(value: T) {
        let tree = tree::<T>();
        let mut out = String::new();
        let form = crate::text::write::Form::Section;
        crate::text::write::FieldWriter::new(&mut out, form, Plain, &tree, true).value(&value).unwrap();
        let read = read::<T>(&text(out.trim()), &tree, None, options(Plain));
        assert_eq!(read.unwrap(), value, "{out}");
        drop(value);
    }
    for given in [
        "a",
        "null",
        "\"null\"",
        "\"\\\"null\\\"\"",
        "None",
        "5",
        "[1]",
        "",
        "'x'",
        "[[ ## a ## ]]",
        "\\[[##x",
        "\"a\" b",
    ] {
        check(given.to_owned());
        check(Some(given.to_owned()));
        check(Either::S(given.to_owned()));
        check(json!(given));
        check(vec![given.to_owned()]);
        check(json!({given: [given, null]}));
    }
    check(Either::N(5.0));
    check(None::<String>);
    check(Some(Team::Atlas));
    check(vec![External::Unit, External::Pair(1, "x".into())]);
    check(External::New(3));
    check(' ');
    check(Some('\n'));
    check('"');
    check(json!(" padded "));
    check(json!([1, -2.5, true, null]));
    check(f64::MAX);
    check(0.1_f32);
    check(u128::MAX);
    check(BTreeMap::from([(-1_i8, true)]));
    check(Shape::Rect { width: 1, height: 2 });
}

#[test]
fn hostile_texts_end_in_time() {
    type Any = serde_json::Value;
    let long = |unit: &str, bytes: usize| unit.repeat(bytes / unit.len());
    let mut texts = vec![
        long("[", 100_000),
        long("{\"a\":", 500_000),
        long("\"", 1_000_000),
        long("\\", 1_000_000),
        long("[[ ## ", 600_000),
        long("'", 300_000),
        long("/*", 300_000),
        long("```", 300_000),
        long("{", 100_000),
        long("<", 100_000),
        "\"a\"/t".to_owned(),
        "{\"ratio\": \"3\"/4}".to_owned(),
    ];
    texts.push(format!("[{}", long("\"a\" ", 400_000)));
    texts.push(format!("[{}]", long("a ", 400_000)));
    texts.push(format!("[{}]", long("1 ", 400_000)));
    texts.push(format!("[1{}]", long(" ", 400_000)));
    texts.push(format!("[1,{}]", long(",", 400_000)));
    texts.push(format!("{{\"a\": \"{}\"}}", long("\\u00e9", 600_000)));
    for text in &texts {
        for dialect in [Plain, Dspy] {
            let _ = typed::<Any>(dialect, &Source::Text(text.as_str().into()));
            let _ = typed::<Vec<Vec<Entity>>>(dialect, &Source::Text(text.as_str().into()));
            let _ = typed::<BTreeMap<String, String>>(dialect, &Source::Json(text.as_str().into()));
            let _ = described(&json!({"type": "object"}), dialect, &Source::Text(text.as_str().into()));
            let _ = entries(text, options(dialect));
        }
    }
}

#[test]
fn depth_is_bounded_for_what_consumes_no_text_too() {
    // serde follows a newtype around an `Option` of itself without a step in the text; its type is refused
    // when a spec is built, so a tree of another type stands in.
    #[derive(Debug, Deserialize)]
    struct Chain(#[allow(dead_code, reason = "never read")] Option<Box<Chain>>);
    let endless = read::<Chain>(&text("1"), &tree::<serde_json::Value>(), None, options(Plain));
    assert!(message(endless).contains("128 levels"));
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(plain::<serde_json::Value>(&nested(128)).unwrap().is_array());
    assert!(described(&json!({"type": "array"}), Plain, &text(&nested(129))).is_err());
}

/// A small generator of pseudo-random numbers: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

const SEEDS: &[&str] = &[
    r#"{"name": "a\u00e9\n", "count": 3, "score": -1.5e3}"#,
    r#"[{"name": "x", "score": 0}, {"name": "\"q\"", "count": null, "score": 1E2}]"#,
    r#"{"kind": "circle", "radius": 2.5}"#,
    r#"{"Full": {"a": 3}}"#,
    r#"{"Pair": [1, "\\\\ \/ \f"]}"#,
    r#"[1, -0, 0.1, 18446744073709551616, 1e400, [], {}, "\ud83d\ude00", true, null]"#,
    r#"{"1": {"true": "x"}, "-2": {}}"#,
    "\"atlas\"",
];

const PIECES: &[&str] = &[
    ",", ":", "\"", "'", "[", "]", "{", "}", "\\", "0", "9", ".", "e", "-", " ", "\n", "\t", "null", "True",
    "\\u00e9", "\\ud83d", "/", "//", "/*", "#", "a", "é", "“", "NaN", "1", "\\\\", "```", ";",
];

fn mutate(random: &mut Random) -> String {
    let mut text = SEEDS[random.below(SEEDS.len())].to_owned();
    for _ in 0..random.below(5) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = places[random.below(places.len())];
        match random.below(4) {
            0 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
            1 => {
                if let Some(c) = text[at..].chars().next() {
                    text.replace_range(at..at + c.len_utf8(), "");
                }
            }
            2 => text.truncate(at),
            _ => {
                let end = places[random.below(places.len())];
                let part = text[at.min(end)..at.max(end)].to_owned();
                text.insert_str(at, &part);
            }
        }
    }
    text
}

/// Whatever `serde_json` reads is read to the same value, with nothing forgiven.
#[test]
fn the_reader_is_a_superset_of_strict_json() {
    fn check<T: DeserializeOwned + PartialEq + Debug>(text: &str) {
        let Ok(want) = serde_json::from_str::<T>(text) else { return };
        let mut outcomes = Vec::new();
        for dialect in [Plain, Dspy] {
            let mut parser = Parser::new(text, Slips::of(dialect), dialect);
            let got = T::deserialize(&mut parser);
            let finished = got.and_then(|got| parser.finish().map(|()| got));
            match finished {
                Ok(got) => outcomes.push((got, parser.receipts.slips)),
                Err(failure) => panic!("{failure}: {text}"),
            }
        }
        for (got, slips) in outcomes {
            assert_eq!((&got, slips), (&want, Slips::NONE), "{text}");
        }
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..12_000 {
        let text = mutate(&mut random);
        check::<serde_json::Value>(&text);
        // A derived struct that serde_json reads from a list is the one thing that is refused.
        if !text.trim_start().starts_with('[') {
            check::<Entity>(&text);
            check::<External>(&text);
        }
        check::<HashMap<i64, HashMap<bool, char>>>(&text);
        check::<Vec<Option<f64>>>(&text);
        check::<Team>(&text);
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    fn try_read<T: DeserializeOwned>(tree: &TypeTree, source: &Source<'_>, dialect: Dialect) {
        if let Err(error) = read::<T>(source, tree, None, options(dialect)) {
            assert!(source.text().get(error.span()).is_some());
        }
    }
    let (entities, shape, either) = (tree::<Vec<Entity>>(), tree::<Option<Shape>>(), tree::<Either>());
    let (external, any) = (tree::<External>(), tree::<serde_json::Value>());
    let list = TypeTree::compile(&json!({"type": "array", "items": {"type": "integer"}})).unwrap();
    let mut random = Random(42);
    for _ in 0..10_000 {
        let mut given = mutate(&mut random);
        if random.below(4) == 0 {
            given = (0..random.below(24)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        }
        for dialect in [Plain, Dspy] {
            for source in [text(&given), quoted(&given)] {
                try_read::<Vec<Entity>>(&entities, &source, dialect);
                try_read::<Option<Shape>>(&shape, &source, dialect);
                try_read::<Either>(&either, &source, dialect);
                try_read::<External>(&external, &source, dialect);
                try_read::<serde_json::Value>(&any, &source, dialect);
                for tree in [&entities, &shape, &either, &list, &any] {
                    if let Err(error) = read_value(&source, tree, None, options(dialect)) {
                        assert!(given.get(error.span()).is_some());
                    }
                }
            }
            let _ = entries(&given, options(dialect));
        }
    }
}

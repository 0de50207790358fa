//! Signatures described at run time that cannot be meant: each is an error that names the field, what is wrong and what
//! to do.

use imp::{Chat, SignatureSpec};
use serde_json::{Value as Json, json};

fn output(mut field: Json) -> Result<SignatureSpec, imp::SpecError> {
    field["name"] = "v".into();
    SignatureSpec::from_json(&json!({ "outputs": [field] }))
}

#[test]
fn schemas_promise_only_what_is_enforced() {
    for (schema, keyword) in [
        (json!({"type": "integer", "not": {"const": 3}}), "`not`"),
        (json!({"allOf": [{"type": "integer"}, {"type": "integer", "minimum": 1}]}), "`allOf`"),
        (json!({"type": "integer", "if": {}, "then": {}}), "`if`"),
        (json!({"type": "array", "items": {"type": "array", "contains": {"const": 1}}}), "`contains`"),
        (json!({"type": "object", "dependentRequired": {"a": ["b"]}}), "`dependentRequired`"),
        (json!({"type": "object", "propertyNames": {"maxLength": 1}}), "`propertyNames`"),
        (json!({"type": "object", "unevaluatedProperties": false}), "`unevaluatedProperties`"),
        (json!(false), "`false`"),
        (json!({"type": "int"}), "`type`"),
        (json!({"type": "integer", "minimum": "x"}), "`minimum`"),
        (json!({"type": "integer", "minimum": 4, "maximum": 1}), "`minimum` and `maximum`"),
        (json!({"type": "boolean", "minimum": 1}), "`minimum`"),
        (json!({"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}), "`a`"),
    ] {
        let error = output(json!({"type": {"schema": schema}})).expect_err(&schema.to_string());
        assert_eq!(error.field(), Some("v"), "{error}");
        assert!(error.to_string().contains(keyword) && error.to_string().contains(": "), "{schema}: {error}");
    }
}

#[test]
fn what_a_schema_promises_is_enforced() {
    let numbers = json!({"type": "array", "items": {"type": "number"}, "uniqueItems": true});
    let keyed = json!({"type": "object", "patternProperties": {"^[a-z]$": {"type": "integer"}}, "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}});
    let few = json!({"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1});
    let bounded = json!({"allOf": [{"type": "integer", "minimum": 3}]});
    for (schema, good, bad) in [
        (
            json!({"type": "array", "uniqueItems": true}),
            r#"[1, "1", [1], {}]"#,
            "[{\"a\": 1, \"b\": 2}, {\"b\": 2, \"a\": 1}]",
        ),
        (numbers, "[1, 2]", "[1, 2, 1.0]"),
        (keyed, r#"{"a": 1}"#, r#"{"A": 1}"#),
        (open, r#"{"a": "x", "b": 1}"#, r#"{"a": "x", "b": "y"}"#),
        (few, r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#),
        (bounded, "3", "2"),
    ] {
        let spec =
            output(json!({"type": {"schema": schema}})).unwrap_or_else(|error| panic!("{schema}: {error}"));
        let read = |value: &str| {
            Chat::new().read_fields(&spec, &format!("[[ ## v ## ]]\n{value}\n\n[[ ## completed ## ]]"))
        };
        assert!(read(good).is_ok(), "{schema}: {:?}", read(good).err());
        assert!(read(bad).is_err(), "{schema}: {:?}", read(bad));
    }
    let open = output(
        json!({"type": {"schema": {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}}}),
    )
    .unwrap();
    let read = Chat::new().read_fields(&open, "[[ ## v ## ]]\n{\"b\": 1}").unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), json!({"v": {"b": 1}}));
}

#[test]
fn nonsense_is_refused() {
    for (field, part) in [
        (json!({"type": "int", "default": "x"}), "the default cannot be: expected integer"),
        (
            json!({"type": "int", "default": 9, "constraints": {"le": 4}}),
            "the default cannot be: must be <= 4",
        ),
        (json!({"type": {"literal": ["a", "b"]}, "default": "c"}), "the default cannot be: must be one of"),
        (json!({"type": "str", "default": null}), "the default cannot be: expected string"),
        (
            json!({"type": {"list": "int"}, "default": [1, "x"]}),
            "the default cannot be: [1]: expected integer",
        ),
        (
            json!({"type": {"object": {"name": "O", "fields": [{"name": "f", "type": "int", "default": "x"}]}}}),
            "the default of `f` cannot be: expected integer",
        ),
        (json!({"type": "str", "constraints": {"ge": 1}}), "this type has no bound `ge`: leave it out"),
        (json!({"type": "int", "constraints": {"min_length": 1}}), "no bound `min_length`"),
        (json!({"type": "bool", "constraints": {"pattern": "a"}}), "no bound `pattern`"),
        (json!({"type": "int", "constraints": {"allow_inf_nan": true}}), "no bound `allow_inf_nan`"),
        (json!({"type": "date", "constraints": {"max_length": 3}}), "no bound `max_length`"),
        (json!({"type": "int", "answer_shape": "yes_no"}), "no answer shape"),
        (json!({"type": "int", "constraints": {"multiple_of": 0}}), "`multiple_of` is not above 0"),
        (json!({"type": "int", "constraints": {"ge": 4, "le": 1}}), "between the bounds `ge` and `le`"),
        (json!({"type": "float", "constraints": {"gt": 1, "le": 1.0}}), "between the bounds `gt` and `le`"),
        (json!({"type": "int", "constraints": {"gt": 1, "lt": 1}}), "between the bounds `gt` and `lt`"),
        (
            json!({"type": "int", "constraints": {"ge": 9_007_199_254_740_993_i64, "le": 9_007_199_254_740_992_i64}}),
            "between the bounds `ge` and `le`",
        ),
        (
            json!({"type": "str", "constraints": {"min_length": 4, "max_length": 1}}),
            "`min_length` is greater",
        ),
        (
            json!({"type": {"enum": {"name": "E", "members": [["A", 1], ["B", 1.0]]}}}),
            "two members have the value 1",
        ),
        (json!({"type": {"literal": ["a", "b", "a"]}}), "the member \"a\" twice"),
        (json!({"type": "enum[a, a]"}), "the member \"a\" is there twice"),
    ] {
        let error = output(field.clone()).expect_err(&field.to_string());
        assert_eq!(error.field(), Some("v"), "{error}");
        assert!(error.to_string().contains(part), "{field}: {error}");
    }
    for text in ["a ->", "->", "", "a -> b: enum[]", "a -> b: enum[x]]"] {
        assert!(SignatureSpec::parse(text).is_err(), "{text}");
    }
}

/// A float bound beyond 2^53 is the number that it is, not the nearest float of the value.
#[test]
fn bounds_are_compared_exactly() {
    let spec = output(json!({"type": "int", "constraints": {"le": 9_007_199_254_740_992.0}})).unwrap();
    let read = |value: &str| Chat::new().read_fields(&spec, &format!("[[ ## v ## ]]\n{value}"));
    assert!(read("9007199254740992").is_ok());
    assert!(read("9007199254740993").is_err());
}

/// All of a long signature is there.
#[test]
fn long_signatures_are_read() {
    let members: Vec<String> = (0..20_000).map(|at| format!("m{at}")).collect();
    let spec = SignatureSpec::parse(&format!("a -> b: enum[{}]", members.join(", "))).unwrap();
    let field = spec.outputs().next().unwrap();
    assert_eq!(field.schema()["enum"], json!(members));
    let spec = SignatureSpec::parse(&format!("{} -> b", members.join(", "))).unwrap();
    assert!(spec.inputs().map(imp::FieldSpec::name).eq(&members));
}

#[test]
fn misspelt_inputs_are_named() {
    let spec = SignatureSpec::parse("question, context -> answer").unwrap();
    let format = |fields: imp::Fields| {
        let error = imp::Adapter::messages(&Chat::new(), &spec, &fields, &imp::FormatOptions::new());
        error.map(|_| ()).map_err(|error| error.to_string())
    };
    for (fields, error) in [
        (
            imp::Fields::from([("qestion", "x"), ("context", "y"), ("zzz", "z")]),
            "these inputs have no value: question; these names are no inputs: qestion (did you mean `question`?), zzz",
        ),
        (imp::Fields::from([("context", "y")]), "these inputs have no value: question"),
    ] {
        assert_eq!(format(fields).unwrap_err(), error);
    }
    // What is given besides is ignored, as in DSPy.
    assert!(format(imp::Fields::from([("question", "x"), ("context", "y"), ("zzz", "z")])).is_ok());
}

#[test]
fn messages_are_bounded() {
    let long = "x".repeat(1_000_000);
    let errors = [
        SignatureSpec::parse(&format!("a -> b: {long}")),
        SignatureSpec::parse(&format!("a -> {long}: y")),
        SignatureSpec::parse(&format!("a -> b: enum[{long}")),
        SignatureSpec::parse(&format!("{long}, -> b")),
        output(json!({"type": long})),
        output(json!({"default": 1, "type": {"literal": [long]}})),
        output(json!({"constraints": {"pattern": format!("({long}")}})),
        output(json!({"type": {"schema": {long.as_str(): 1}}})),
        SignatureSpec::from_json(&json!({"outputs": [{"name": format!("{long} ")}]})),
    ];
    for error in errors {
        let text = error.unwrap_err().to_string();
        assert!(text.len() < 4000 && text.contains("xxx"), "{} bytes", text.len());
    }
    let spec = output(json!({"type": {"literal": [long]}})).unwrap();
    let error = Chat::new().read_fields(&spec, &format!("[[ ## v ## ]]\n{long}y")).unwrap_err();
    assert!(error.to_string().len() < 4000 && error.to_string().contains("characters left out"), "{error}");
    assert_eq!(error.failures()[0].value.len(), long.len() + 1);
    assert!(error.failures()[0].message.len() > long.len());
}

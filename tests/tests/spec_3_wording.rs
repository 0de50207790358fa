//! spec/imp.md §3: what a type is called in lists, reminders and templates. Rows 1, 6 to 8, 11 to 16.

use imp_tests::plain::{data, line, output, request, system};
use serde_json::{Value as Json, json};

/// One type's words: the type or field, its label, what it is formatted as, and the note behind `the value you produce `.
type Words<'a> = (&'a str, Json, &'a str, Option<&'a str>, Option<&'a str>);

fn check(table: &[Words<'_>]) {
    for (row, field, label, requirement, note) in table {
        let spec = output(field);
        let system = system(&spec);
        let entry = format!("Your output fields are:\n1. `x` ({label}):");
        assert!(system.contains(&entry), "row {row}: {field}: no {entry:?} in\n{system}");
        let placeholder = match note {
            None => "[[ ## x ## ]]\n{x}\n\n".to_owned(),
            Some(note) => format!("[[ ## x ## ]]\n{{x}}        # note: the value you produce {note}\n\n"),
        };
        assert!(system.contains(&placeholder), "row {row}: {field}: no {placeholder:?} in\n{system}");
        let reminder = match requirement {
            None => "starting with the field `[[ ## x ## ]]`, and then ending".to_owned(),
            Some(requirement) => {
                format!(
                    "starting with the field `[[ ## x ## ]]` (must be formatted as {requirement}), and then ending"
                )
            }
        };
        let request = request(&spec, &json!({ "q": "?" }));
        assert!(request.contains(&reminder), "row {row}: {field}: no {reminder:?} in\n{request}");
    }
}

const NUMBER: Option<&str> = Some("must be a single number");

#[test]
fn every_type() {
    let object = Some(r#"must adhere to the JSON schema: {"type": "object", "additionalProperties": true}"#);
    let array = Some(r#"must adhere to the JSON schema: {"type": "array", "items": {}}"#);
    check(&[
        ("§3", json!("string"), "string", None, None),
        ("§3", json!("reasoning"), "string", None, None),
        ("13", json!("integer"), "integer", Some("an integer"), Some("must be a single integer")),
        ("13", json!("float"), "number", Some("a number"), NUMBER),
        ("13", json!("number"), "number", Some("a number"), NUMBER),
        ("13", json!("boolean"), "true or false", Some("true or false"), Some("must be true or false")),
        ("§3", json!("datetime"), "ISO 8601 date and time", Some("an ISO 8601 date and time"), None),
        ("§3", json!("object"), "object", Some("an object"), object),
        ("§3", json!("map"), "object", Some("an object"), object),
        ("§3", json!("array"), "list", Some("a list"), array),
        (
            "6, 7, 8",
            json!("enum[atlas,harbor,beacon,quill]"),
            "one of: atlas, harbor, beacon, quill",
            Some("one of: atlas, harbor, beacon, quill"),
            Some("must exactly match (no extra characters) one of: atlas; harbor; beacon; quill"),
        ),
        (
            "14",
            json!({ "type": "code", "language": "elixir" }),
            "code in elixir",
            Some("code in elixir"),
            None,
        ),
        ("§3", json!("null"), "null", Some("null"), None),
        ("§3", json!({ "union": ["str", "int"] }), "string or integer", Some("a string or an integer"), None),
        (
            "§3",
            json!({ "type": "union", "constraints": { "any_of": [{ "type": "boolean" }, { "type": "enum[a, b]" }] } }),
            "true or false or one of: a, b",
            Some("true or false or one of: a, b"),
            None,
        ),
        (
            "§3 optional",
            json!({ "optional": "int" }),
            "integer",
            Some("an integer"),
            Some("must be a single integer"),
        ),
    ]);
}

/// Plurals, and the schema of the items.
#[test]
fn lists() {
    for (item, plural, schema) in [
        ("string", "strings", r#"{"type": "string"}"#),
        ("integer", "integers", r#"{"type": "integer"}"#),
        ("float", "numbers", r#"{"type": "number"}"#),
        ("number", "numbers", r#"{"type": "number"}"#),
        ("boolean", "true-or-false values", r#"{"type": "boolean"}"#),
        ("datetime", "ISO 8601 dates and times", r#"{"type": "string"}"#),
        ("object", "objects", r#"{"type": "object", "additionalProperties": true}"#),
        ("enum[a, b]", "values, each one of: a, b", r#"{"type": "string", "enum": ["a", "b"]}"#),
        ("array", "lists", r#"{"type": "array", "items": {}}"#),
        ("array[integer]", "lists of integers", r#"{"type": "array", "items": {"type": "integer"}}"#),
        (
            "array[enum[a, b]]",
            "lists of values, each one of: a, b",
            r#"{"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}"#,
        ),
    ] {
        check(&[(
            "§3",
            json!(format!("array[{item}]")),
            &format!("list of {plural}"),
            Some(&format!("a list of {plural}")),
            Some(&format!(r#"must adhere to the JSON schema: {{"type": "array", "items": {schema}}}"#)),
        )]);
    }
}

#[test]
fn a_list_of_a_union_joins_plurals() {
    let system = system(&output(&json!({ "list": { "union": ["str", "int"] } })));
    assert!(system.contains("1. `x` (list of strings or integers):\n"), "{system}");
}

/// Members are written raw, unless they would be misread; quotes in them are not escaped.
#[test]
fn enum_members() {
    for (row, field, label, note) in [
        ("15", json!({ "literal": ["she's here", "three\""] }), "she's here, three\"", "she's here; three\""),
        ("16", json!({ "literal": [1, "bar"] }), "1, bar", "1; bar"),
        (
            "16",
            json!({ "type": "string", "constraints": { "enum": [true, 3, "foo"] } }),
            "true, 3, foo",
            "true; 3; foo",
        ),
        (
            "§3",
            json!({ "literal": ["", " a", "b,c", "d;e", "f g"] }),
            r#""", " a", "b,c", "d;e", f g"#,
            r#"""; " a"; "b,c"; "d;e"; f g"#,
        ),
    ] {
        check(&[(
            row,
            field,
            &format!("one of: {label}"),
            Some(&format!("one of: {label}")),
            Some(&format!("must exactly match (no extra characters) one of: {note}")),
        )]);
    }
    // Only a string has the words of an enum.
    let integer = json!({ "type": "integer", "constraints": { "enum": [1, 2] } });
    check(&[("§3", integer, "integer", Some("an integer"), Some("must be a single integer"))]);
}

#[test]
fn an_input_has_a_label_and_no_note() {
    for ty in ["int", "float", "bool", "object", "array[int]", "enum[a, b]"] {
        let spec = data(&json!({ "inputs": [{ "name": "i", "type": ty }], "outputs": [{ "name": "x" }] }));
        let system = system(&spec);
        assert!(system.contains("\n[[ ## i ## ]]\n{i}\n\n"), "{system}");
        assert!(!system.contains("# note:"), "{system}");
    }
}

/// Rows 11 and 12: the list and the reminder of eight typed outputs.
#[test]
fn rows_11_and_12_eight_outputs() {
    let spec = line(
        "q -> a: integer, b: boolean, c: float, d: array[string], e: array[array[integer]], f: object, g: datetime, h",
    );
    let list = "Your output fields are:\n\
        1. `a` (integer): \n\
        2. `b` (true or false): \n\
        3. `c` (number): \n\
        4. `d` (list of strings): \n\
        5. `e` (list of lists of integers): \n\
        6. `f` (object): \n\
        7. `g` (ISO 8601 date and time): \n\
        8. `h` (string):\n\
        All interactions";
    let system = system(&spec);
    assert!(system.contains(list), "{system}");
    assert_eq!(
        request(&spec, &json!({ "q": "?" })),
        "[[ ## q ## ]]\n?\n\n\
         Respond with the corresponding output fields, starting with the field `[[ ## a ## ]]` (must be \
         formatted as an integer), then `[[ ## b ## ]]` (must be formatted as true or false), then \
         `[[ ## c ## ]]` (must be formatted as a number), then `[[ ## d ## ]]` (must be formatted as a list of \
         strings), then `[[ ## e ## ]]` (must be formatted as a list of lists of integers), then \
         `[[ ## f ## ]]` (must be formatted as an object), then `[[ ## g ## ]]` (must be formatted as an ISO \
         8601 date and time), then `[[ ## h ## ]]`, and then ending with the marker for \
         `[[ ## completed ## ]]`."
    );
}

//! spec/imp.md §§8.4 and 8.5: what a section's text is, and what is wrong with it. Rows 36 to 38.
//!
//! `float` and `number` are one type here, which is called `number`.

use imp_tests::plain::{output, read_json, read_x};
use serde_json::{Value as Json, json};

/// Reads each text as the type, to a value or to the message behind `- x`. One that ends in `…` goes on with what is
/// wrong with the text, in our own words.
fn check(table: &[(&str, Json, &str, Result<Json, &str>)]) {
    let mut wrong = Vec::new();
    for (row, field, text, expected) in table {
        let read = read_x(&output(field), text).map_err(|error| {
            let message = error.to_string();
            let line = message.strip_prefix("Validation failed. Retry with corrected output:\n- x");
            line.unwrap_or(&message).to_owned()
        });
        let expected = expected.clone().map_err(str::to_owned);
        let same = match (&read, &expected) {
            (Err(read), Err(expected)) => match expected.strip_suffix('…') {
                Some(start) => read.starts_with(start),
                None => read == expected,
            },
            (read, expected) => read == expected,
        };
        if !same {
            wrong.push(format!("row {row}: {field} {text:?}\n  read     {read:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scalars() {
    check(&[
        ("§8.4 string", json!("str"), "as \"it\" is", Ok(json!("as \"it\" is"))),
        ("§8.4 string", json!("str"), "\"quoted\"", Ok(json!("\"quoted\""))),
        ("§8.4 string", json!("str"), "null", Ok(json!("null"))),
        ("§8.4 string", json!("str"), "{\"a\": 1}", Ok(json!("{\"a\": 1}"))),
        ("§8.4 reasoning", json!("reasoning"), "  first\n\nthen ", Ok(json!("first\n\nthen"))),
        ("36", json!("int"), "42", Ok(json!(42))),
        ("§8.4 integer", json!("int"), " -7 ", Ok(json!(-7))),
        ("§8.4 integer", json!("int"), "+7", Ok(json!(7))),
        ("§8.4 integer", json!("int"), "3.0", Err(": expected integer")),
        ("§8.4 integer", json!("int"), "forty two", Err(": expected integer")),
        ("§8.4 integer", json!("int"), "42 items", Err(": expected integer")),
        ("§8.4 integer", json!("int"), "", Err(": expected integer")),
        ("36", json!("float"), "3.25", Ok(json!(3.25))),
        ("§8.4 float", json!("float"), "42", Ok(json!(42.0))),
        ("§8.4 float", json!("number"), "1e-3", Ok(json!(0.001))),
        ("§8.4 float", json!("float"), "85%", Err(": expected number")),
        ("36", json!("bool"), "true", Ok(json!(true))),
        ("36", json!("bool"), "false", Ok(json!(false))),
        ("§8.4 boolean", json!("bool"), " TRUE ", Ok(json!(true))),
        ("§8.4 boolean", json!("bool"), "Yes", Ok(json!(true))),
        ("§8.4 boolean", json!("bool"), "1", Ok(json!(true))),
        ("§8.4 boolean", json!("bool"), "no", Ok(json!(false))),
        ("§8.4 boolean", json!("bool"), "0", Ok(json!(false))),
        ("§8.4 boolean", json!("bool"), "maybe", Err(": expected boolean")),
        ("§8.4 datetime", json!("datetime"), "2024-11-27T14:00:00", Ok(json!("2024-11-27T14:00:00"))),
        (
            "§8.4 datetime",
            json!("datetime"),
            "2024-11-27T14:00:00+01:00",
            Ok(json!("2024-11-27T14:00:00+01:00")),
        ),
        ("§8.4 datetime", json!("datetime"), "yesterday", Err(": expected datetime")),
    ]);
}

#[test]
fn row_37_enums() {
    let ty = || json!("enum[option1, option2]");
    let wrong = Err(": must be one of [\"option1\", \"option2\"]");
    check(&[
        ("37", ty(), "option1", Ok(json!("option1"))),
        ("37", ty(), "'option1'", Ok(json!("option1"))),
        ("37", ty(), "\"option1\"", Ok(json!("option1"))),
        ("37", ty(), "Literal[option1]", Ok(json!("option1"))),
        ("37", ty(), "str[option1]", Ok(json!("option1"))),
        ("§8.4 both", ty(), "Literal['option2']", Ok(json!("option2"))),
        ("§8.4 trim", ty(), "  option2 \n", Ok(json!("option2"))),
        ("37", ty(), "invalid", wrong.clone()),
        ("§8.4 one pair", ty(), "''option1''", wrong.clone()),
        ("§8.4 length", ty(), "'", wrong.clone()),
        ("§8.4 mixed", ty(), "'option1\"", wrong),
        ("§8.4 a quote is a member's", json!({ "literal": ["'a'", "b"] }), "'a'", Ok(json!("'a'"))),
    ]);
}

/// Row 38 and §10: lists and objects are JSON, or what a tolerant reader takes for it; never a guess.
#[test]
fn row_38_lists_and_objects() {
    let object = || json!("object");
    let array = || json!("array");
    let (no_object, no_array) = (Err(": expected object"), Err(": expected array"));
    let (bad_object, bad_array) =
        (Err(": expected object, but at line 1, …"), Err(": expected array, but at line 1, …"));
    check(&[
        ("36", json!("array[int]"), "[1, 2, 3]", Ok(json!([1, 2, 3]))),
        ("38", object(), "{'key': 'value'}", Ok(json!({ "key": "value" }))),
        ("38", object(), "not json or literal", no_object.clone()),
        (
            "§10 words",
            array(),
            "[True, False, None, true, false, null]",
            Ok(json!([true, false, null, true, false, null])),
        ),
        ("§10 comma", object(), "{'a': [1, 2,], \"b\": -1.5e3,}", Ok(json!({ "a": [1, 2], "b": -1500.0 }))),
        ("§10 blanks", array(), " [\t1 ,\r\n 2 ] ", Ok(json!([1, 2]))),
        ("73", object(), "{'answer': 'café — 東京 🎉'}", Ok(json!({ "answer": "café — 東京 🎉" }))),
        ("74", object(), "{'answer': 'caf\\u00e9'}", Ok(json!({ "answer": "café" }))),
        ("75", object(), "{'answer': '\\ud83d\\ude00'}", Ok(json!({ "answer": "😀" }))),
        ("75", object(), "{'answer': '\\ud83d'}", bad_object.clone()),
        (
            "76",
            array(),
            "['\\d+', 'C:\\path', '\\q', 'a\\/b']",
            Ok(json!(["\\d+", "C:\\path", "\\q", "a\\/b"])),
        ),
        ("77", array(), "['\\xe9']", Ok(json!(["é"]))),
        ("§10 keys", object(), "{key: 1}", bad_object.clone()),
        ("§10 the whole text", object(), "Here: {\"a\": 1}", no_object.clone()),
        ("§10 cut", object(), "{\"a\": 1", bad_object),
        ("§10 cut", array(), "[1, 2", bad_array),
        ("§8.5", array(), "{\"a\": 1}", no_array),
        ("§8.5", object(), "[1]", no_object),
    ]);
}

#[test]
fn code_is_taken_out_of_its_fence() {
    let ty = || json!({ "type": "code", "language": "elixir" });
    check(&[
        ("87", ty(), "```elixir\nIO.puts(:ok)\n```", Ok(json!("IO.puts(:ok)"))),
        ("§8.4 text around", ty(), "Here:\n```\nIO.puts(:ok)\n```\nDone.", Ok(json!("IO.puts(:ok)"))),
        ("§8.4 inline", ty(), "```IO.puts(:ok)```", Ok(json!("IO.puts(:ok)"))),
        ("§8.4 none", ty(), "IO.puts(:ok)", Ok(json!("IO.puts(:ok)"))),
    ]);
    let spec = output(&ty());
    let error = read_json(&spec, json!({ "x": 123 })).unwrap_err();
    assert!(error.to_string().ends_with("\n- x: expected code"), "row 87: {error}");
    assert_eq!(read_json(&spec, json!({ "x": { "code": "1 + 1" } })).unwrap(), json!({ "x": "1 + 1" }));
}

/// The first branch that holds wins; what none takes is an error.
#[test]
fn unions() {
    let ty = || json!({ "union": ["int", "bool", "enum[a, b]"] });
    check(&[
        ("§8.4 union", ty(), "7", Ok(json!(7))),
        ("§8.4 union", ty(), "yes", Ok(json!(true))),
        ("§8.4 union", ty(), "'b'", Ok(json!("b"))),
        ("§8.5 union", ty(), "c", Err(": did not match any allowed type")),
        ("§8.4 text", json!({ "union": ["int", "str"] }), "4.5 of them", Ok(json!("4.5 of them"))),
        ("§8.4 optional", json!({ "optional": "int" }), "null", Ok(json!(null))),
        ("§8.4 optional", json!({ "optional": "int" }), "5", Ok(json!(5))),
    ]);
}

#[test]
fn bounds() {
    let with = |ty: &str, constraints: Json| json!({ "type": ty, "constraints": constraints });
    check(&[
        ("§8.5", with("int", json!([["ge", 1], ["le", 4]])), "4", Ok(json!(4))),
        ("§8.5", with("int", json!([["ge", 1], ["le", 4]])), "0", Err(": must be >= 1")),
        ("§8.5", with("int", json!([["ge", 1], ["le", 4]])), "5", Err(": must be <= 4")),
        ("§8.5", with("float", json!([["gt", 0], ["lt", 5]])), "0", Err(": must be > 0")),
        ("§8.5", with("float", json!([["gt", 0], ["lt", 5]])), "5.0", Err(": must be < 5")),
        ("§8.5", with("int", json!([["multiple_of", 3]])), "7", Err(": must be a multiple of 3")),
        ("§8.5", with("int", json!([["multiple_of", 3]])), "9", Ok(json!(9))),
        (
            "§8.5",
            with("str", json!([["min_length", 2], ["max_length", 5]])),
            "a",
            Err(": length must be >= 2"),
        ),
        (
            "§8.5",
            with("str", json!([["min_length", 2], ["max_length", 5]])),
            "abcdef",
            Err(": length must be <= 5"),
        ),
        ("§8.5", with("str", json!([["pattern", "^[a-z]+$"]])), "A1", Err(": must match ^[a-z]+$")),
        ("§8.5", with("array[int]", json!([["min_length", 1]])), "[]", Err(": length must be >= 1")),
        ("§3", json!({ "type": "integer", "constraints": { "enum": [1, 2] } }), "2", Ok(json!(2))),
        (
            "§3",
            json!({ "type": "integer", "constraints": { "enum": [1, 2] } }),
            "3",
            Err(": must be one of [1, 2]"),
        ),
    ]);
}

/// Items are reported as `NAME[0]`, properties as `NAME.prop`.
#[test]
fn paths() {
    let report = json!({ "object": { "name": "Report", "fields": [
        { "name": "title", "type": "str" },
        { "name": "sections", "type": { "list": { "object": { "name": "Section", "fields": [
            { "name": "score", "type": "float", "constraints": [["ge", 0]] },
        ] } } } },
    ] } });
    check(&[
        ("§8.5 item", json!("array[int]"), "[1, \"two\", 3]", Err("[1]: expected integer")),
        ("§8.5 item", json!("array[array[int]]"), "[[1], [2, true]]", Err("[1][1]: expected integer")),
        (
            "§8.5 property",
            report.clone(),
            r#"{"title": "t", "sections": [{"score": 1}, {"score": "high"}]}"#,
            Err(".sections[1].score: expected number"),
        ),
        (
            "§8.5 bound",
            report.clone(),
            r#"{"title": "t", "sections": [{"score": -1}]}"#,
            Err(".sections[0].score: must be >= 0"),
        ),
        ("§8.5 required", report, r#"{"sections": []}"#, Err(": title is required")),
    ]);
}

#[test]
fn answer_shapes() {
    let yes_no = Err(": must be exactly yes or no");
    let numeric = Err(": must be only the numeric answer span, with no words or explanation");
    let short = Err(": must be a concise exact answer span");
    check(&[
        ("§8.5", json!("yes_no"), "yes", Ok(json!("yes"))),
        ("§8.5", json!("yes_no"), "maybe", yes_no.clone()),
        ("§8.5", json!("yes_no"), "yes, it is", yes_no),
        ("§8.5", json!("numeric_span"), "-$1,234.50%", Ok(json!("-$1,234.50%"))),
        ("§8.5", json!("numeric_span"), "42", Ok(json!("42"))),
        ("§8.5", json!("numeric_span"), "about 42", numeric.clone()),
        ("§8.5", json!("numeric_span"), "42 km", numeric),
        ("§8.5", json!("short_span"), "The Treaty of Westphalia", Ok(json!("The Treaty of Westphalia"))),
        (
            "§8.5",
            json!("short_span"),
            "one two three four five six seven eight nine ten eleven twelve thirteen",
            short.clone(),
        ),
        ("§8.5", json!("short_span"), "two\nlines", short.clone()),
        ("§8.5", json!("short_span"), "this; that", short),
    ]);
}

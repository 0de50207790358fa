//! spec/imp.md §2: what values look like in a prompt. Rows 31 to 33 of the behaviour table.

use imp_tests::plain::{assistant, data, line, user, written};
use serde_json::{Value as Json, json};

fn check(table: &[(&str, Json, Json, &str)]) {
    for (row, ty, value, text) in table {
        assert_eq!(written(ty, value), *text, "row {row}: {ty} {value}");
    }
}

#[test]
fn values_as_text() {
    check(&[
        ("§2 string", json!("str"), json!("  as it is \n\n"), "  as it is \n\n"),
        ("§2 string", json!("str"), json!("say \"no\" \\ \u{2028} é"), "say \"no\" \\ \u{2028} é"),
        ("§2 boolean", json!("bool"), json!(true), "true"),
        ("§2 boolean", json!("bool"), json!(false), "false"),
        ("§2 integer", json!("int"), json!(-17), "-17"),
        ("§2 integer", json!("int"), json!(u64::MAX), "18446744073709551615"),
        ("§2 choice", json!("enum[atlas, beacon]"), json!("beacon"), "beacon"),
        ("§2 naive date and time", json!("datetime"), json!("2024-11-27T14:00:00"), "2024-11-27T14:00:00"),
        ("§2 date and time", json!("datetime"), json!("2024-11-27T14:00:00Z"), "2024-11-27T14:00:00Z"),
        (
            "§2 date and time",
            json!("datetime"),
            json!("2024-11-27T14:00:00+02:00"),
            "2024-11-27T14:00:00+02:00",
        ),
        ("§2 code", json!({ "code": "elixir" }), json!("IO.puts(:ok)"), "IO.puts(:ok)"),
        ("§2.1 code", json!({ "code": "elixir" }), json!("```elixir\nIO.puts(:ok)\n```"), "IO.puts(:ok)"),
        (
            "§2 call demo",
            json!("array"),
            json!([{ "name": "look", "arguments": {} }]),
            r#"[{"arguments": {}, "name": "look"}]"#,
        ),
        (
            "§2 escapes",
            json!("array"),
            json!(["\"\\/\t\n\u{1}\u{7f}é\u{2028}"]),
            "[\"\\\"\\\\/\\t\\n\\u0001\u{7f}é\u{2028}\"]",
        ),
        (
            "§2 map order",
            json!("object"),
            json!({ "b": 1, "a": 2, "É": 3, "B": 4 }),
            r#"{"B": 4, "a": 2, "b": 1, "É": 3}"#,
        ),
        (
            "31",
            json!("object"),
            json!({ "a": [1, 2.5, null, true, "x"] }),
            r#"{"a": [1, 2.5, null, true, "x"]}"#,
        ),
        ("32 a", json!("array"), json!([{ "b": "atom" }]), r#"[{"b": "atom"}]"#),
        ("32 b", json!("object"), json!({ "é": "ü" }), r#"{"é": "ü"}"#),
        ("32 c", json!("object"), json!({ "n": 1.0e-7 }), r#"{"n": 1e-07}"#),
    ]);
}

/// Python's `repr`, alone and inside JSON.
#[test]
fn floats() {
    for (value, text) in [
        (1_000_000.0, "1000000.0"),
        (1.0e15, "1000000000000000.0"),
        (9_999_999_999_999_998.0, "9999999999999998.0"),
        (1.0e16, "1e+16"),
        (1.234_5e20, "1.2345e+20"),
        (1.0e-5, "1e-05"),
        (0.0001, "0.0001"),
        (0.000_123, "0.000123"),
        (1.0e-7, "1e-07"),
        (1.5e-10, "1.5e-10"),
        (1.0e100, "1e+100"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5.0e-324, "5e-324"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (0.1, "0.1"),
        (2.5, "2.5"),
        (3.0, "3.0"),
    ] {
        assert_eq!(written(&json!("float"), &json!(value)), text);
        assert_eq!(written(&json!("array[float]"), &json!([value])), format!("[{text}]"));
    }
}

#[test]
fn null_is_written_in_an_answer_only() {
    let spec = data(&json!({
        "inputs": [{ "name": "a", "type": { "optional": "str" } }, { "name": "b" }],
        "outputs": [{ "name": "x", "type": { "optional": "int" } }],
    }));
    assert_eq!(user(&spec, &json!({ "a": null, "b": "here" })), "[[ ## b ## ]]\nhere");
    assert_eq!(user(&spec, &json!({ "b": "here" })), "[[ ## b ## ]]\nhere");
    assert_eq!(assistant(&spec, &json!({ "x": null })), "[[ ## x ## ]]\nnull\n\n[[ ## completed ## ]]\n");
}

#[test]
fn row_33_nothing_is_cut_short() {
    let documents: Vec<String> =
        (0..200).map(|n| format!("document {n}: {}", "long ".repeat(n % 50))).collect();
    let expected = documents.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
    assert_eq!(written(&json!("array[string]"), &json!(documents)), format!("[{expected}]"));
}

/// §2.1, 3: lists of strings on a text field, which can be referred to by number.
#[test]
fn lists_on_text_fields() {
    for ty in ["str", "reasoning"] {
        for (list, text) in [
            (json!([]), "N/A"),
            (json!(["one"]), "«one»"),
            (json!(["one", "two"]), "[1] «one»\n[2] «two»"),
            (json!(["a\nb"]), "«««\n    a\n    b\n»»»"),
            (
                json!(["say «no»", "two", "x\n\n y"]),
                "[1] «««\n    say «no»\n»»»\n[2] «two»\n[3] «««\n    x\n    \n     y\n»»»",
            ),
            (json!(["only »"]), "«««\n    only »\n»»»"),
            (json!(["one", 2]), r#"["one", 2]"#),
        ] {
            assert_eq!(written(&json!(ty), &list), text, "{ty} {list}");
        }
    }
    for ty in [json!("array"), json!("array[string]"), json!("enum[one, two]")] {
        assert_eq!(written(&ty, &json!(["one", "two"])), r#"["one", "two"]"#, "{ty}");
        assert_eq!(written(&ty, &json!([])), "[]", "{ty}");
    }
}

/// §2.1: a section a field, a blank line between them, and an empty text is an empty line.
#[test]
fn input_sections() {
    let spec = line("a, b, history -> x");
    for (inputs, text) in [
        (
            json!({ "b": "2", "a": "1", "history": "h" }),
            "[[ ## a ## ]]\n1\n\n[[ ## b ## ]]\n2\n\n[[ ## history ## ]]\nh",
        ),
        (json!({ "a": "", "b": "2" }), "[[ ## a ## ]]\n\n\n[[ ## b ## ]]\n2"),
        (json!({ "a": "" }), "[[ ## a ## ]]\n"),
        (json!({}), ""),
    ] {
        assert_eq!(user(&spec, &inputs), text, "{inputs}");
    }
}

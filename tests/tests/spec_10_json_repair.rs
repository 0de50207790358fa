//! spec/imp.md §10: JSON that is not quite JSON. Rows 38 and 73 to 78, each as a reply to the JSON adapter, as an output
//! inside one, and as the text of a section.

use imp::{Json, ParseErrorKind};
use imp_tests::plain::{data, json, line, output, read_x};
use serde_json::{Value, json};

/// The object that a text is, by each way to it; `None` where it cannot be read. They must agree.
fn decode(text: &str) -> Option<Value> {
    let object = output(&"object".into());
    let whole = read_x(&object, text).ok();
    let inside = Json::new()
        .read_fields(&object, &format!("{{'x': {text}}}"))
        .ok()
        .map(|fields| json(&fields)["x"].take());
    let reply = Json::new().read_fields(
        &data(
            &json!({ "inputs": [{ "name": "question" }], "outputs": [{ "name": "answer", "type": "any" }] }),
        ),
        text,
    );
    if let Err(error) = &reply
        && error.kind() == ParseErrorKind::Malformed
    {
        assert!(error.syntax().is_some(), "{error:?}");
    }
    let reply = reply.ok().map(|fields| json(&fields));
    let answer = |value: &Value| value.get("answer").cloned();
    assert_eq!(whole.as_ref().and_then(answer), reply.as_ref().and_then(answer), "{text}");
    if !text.contains('\\') {
        assert_eq!(whole, inside, "{text}");
    }
    whole
}

/// What the content of the string in `'` is, in `{'answer': '…'}`.
fn tolerant(content: &str) -> Option<Value> {
    decode(&format!("{{'answer': '{content}'}}")).map(|mut object| object["answer"].take())
}

#[test]
fn rows_73_to_78_escapes() {
    let mut wrong = Vec::new();
    for (row, content, expected) in [
        ("73", "café — 東京 🎉", Some("café — 東京 🎉")),
        ("74", r"caf\u00e9", Some("café")),
        ("75", r"\ud83d\ude00", Some("😀")),
        ("75", r"\ud83d", None),
        ("75", r"\ude00", None),
        ("75", r"\ud83d\n", None),
        ("75", r"\ud83d\ud83d", None),
        ("76", r"\d+", Some(r"\d+")),
        ("76", r"C:\path", Some(r"C:\path")),
        ("76", r"\q", Some(r"\q")),
        ("76", r"a\/b", Some(r"a\/b")),
        ("77", r"\xe9", Some("é")),
        ("78", r"\a\v\0", Some(r"\a\v\0")),
        ("78", r"\U0001f600", Some(r"\U0001f600")),
        ("§10", r"\N{BULLET}", Some(r"\N{BULLET}")),
        ("§10", r"\f", Some(r"\f")),
        ("§10", r"\t\n\r\b.", Some("\t\n\r\u{8}.")),
        ("§10 closing quote", r"it\'s", Some("it's")),
        ("§10 other quote", r#"\"a\""#, Some("\"a\"")),
        ("§10 other quote", r"\“a\”", Some("“a”")),
        ("§10 plain other quote", "say \"hi\"", Some("say \"hi\"")),
        ("§10 two backslashes", r"a\\b", Some(r"a\b")),
        ("§10 further backslashes", r"a\\\\b", Some(r"a\b")),
        ("§10 further backslashes", r"a\\\\\n", Some(r"a\n")),
        ("§10 a quote behind them", r"a\\\'b", Some(r"a\'b")),
        ("§10 malformed", r"\u12", Some(r"\u12")),
        ("§10 malformed", r"\u12g4", Some(r"\u12g4")),
        ("§10 malformed", r"\x1", Some(r"\x1")),
        ("§10 backslash and newline", "a\\\nb", Some("a\\\nb")),
        ("§10 trailing newline", "line \t\n", Some("line")),
        ("§10 trailing newline", "line \\n", Some("line")),
        ("§10 trailing blank", "line ", Some("line ")),
        ("§10 white space", "a\tb\nc", Some("a\tb\nc")),
        ("§10 cut", r"a\", None),
    ] {
        let read = tolerant(content);
        if read != expected.map(Value::from) {
            wrong.push(format!("row {row} {content:?}\n  read     {read:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Strict JSON comes first and has its own escapes.
#[test]
fn strict_json_is_read_as_strict_json() {
    for (content, expected) in [
        (r"a\/b", "a/b"),
        (r"\f", "\u{c}"),
        (r"a\\\\b", r"a\\b"),
        (r"line \n", "line \n"),
        (r"\\\\", r"\\"),
        (r#"\\\""#, "\\\""),
        (r"\ud83d\ude00", "😀"),
    ] {
        let text = format!("{{\"answer\": \"{content}\"}}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["answer"], expected);
        assert_eq!(decode(&text).unwrap()["answer"], expected, "{content}");
    }
    // The same content in a text that is not strict has the tolerant ones.
    let text = r#"{"answer": "a\/b\\\\c", "n": 1,}"#;
    assert_eq!(decode(text), Some(json!({ "answer": r"a\/b\c", "n": 1 })));
}

#[test]
fn literals() {
    for (text, expected) in [
        (
            "{'a': True, 'b': False, 'c': None, 'd': true, 'e': false, 'f': null}",
            Some(json!({ "a": true, "b": false, "c": null, "d": true, "e": false, "f": null })),
        ),
        ("{'a': [1, 2,], 'b': {'c': 3,},}", Some(json!({ "a": [1, 2], "b": { "c": 3 } }))),
        (
            "{'a': -1, 'b': 1.5, 'c': -1.5e3, 'd': 1E+2}",
            Some(json!({ "a": -1, "b": 1.5, "c": -1500.0, "d": 100.0 })),
        ),
        ("{\t'a'\r\n:\n1 , \"b\" : 2 }", Some(json!({ "a": 1, "b": 2 }))),
        ("  {'a': 1}\n", Some(json!({ "a": 1 }))),
        ("{'answer': 'x', 'answer': 'y'}", Some(json!({ "answer": "y" }))),
        ("{'key': 'value'}", Some(json!({ "key": "value" }))),
        ("{}", Some(json!({}))),
        ("{,}", None),
        ("{'a': [,]}", None),
        ("{'a': [1,,2]}", None),
        ("{'a' 1}", None),
        ("{'a': 1 'b': 2}", None),
        ("{'a': 1; 'b': 2}", None),
        ("{a: 1}", None),
        ("{1: 2}", None),
        ("{'a': happy}", None),
        ("{'a': TRUE}", None),
        ("{'a': Nonesuch}", None),
        ("{'a': .5}", None),
        ("{'a': +1}", None),
        ("{'a': 1.}", None),
        ("{'a': 1e}", None),
        ("{'a': 0x10}", None),
        ("{'a': 1_000}", None),
        ("{'a': 1,204}", None),
        ("{'a': NaN}", None),
        ("{'a': Infinity}", None),
        ("{'a': (1, 2)}", None),
        ("{'a', 'b'}", None),
        ("{“a”: 1}", None),
        ("{'a': 1 // one\n}", None),
        ("{'a': 1 # one\n}", None),
        ("{'a': /* one */ 1}", None),
        ("{'a': 1", None),
        ("{'a': 'x", None),
        ("{'a': [1}", None),
        ("{'a': \"x'}", None),
        ("not json or literal", None),
    ] {
        assert_eq!(decode(text), expected, "{text}");
    }
}

/// Only the first `{` is tried, up to where it is balanced; brackets in strings of either kind do not count.
#[test]
fn the_first_object_of_a_reply() {
    for (reply, expected) in [
        (r#"So: {"answer": "x"} and {"answer": "y"}"#, Some("x")),
        (r"So: {'answer': 'a } b'} }", Some("a } b")),
        (r#"{"answer": "it's {"} {"answer": "y"}"#, Some("it's {")),
        (r"{'answer': 'say \'}\' twice'} }", Some("say '}' twice")),
        (r#"[{"answer": "x"}, {"answer": "y"}]"#, Some("x")),
        (r#"{no} {"answer": "x"}"#, None),
        (r#"{{"answer": "x"}}"#, None),
        (r#"{"question": {"answer": "x"}}"#, None),
        ("answer: x", None),
    ] {
        let read = Json::new().read_fields(&line("question -> answer"), reply).ok();
        let answer = read.map(|fields| json(&fields)["answer"].clone());
        assert_eq!(answer, expected.map(Value::from), "{reply}");
    }
}

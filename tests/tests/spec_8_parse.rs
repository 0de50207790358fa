//! spec/imp.md §§8.1 to 8.3 and 8.6: what a reply is, where its sections are, what is missing. Rows 34 to 35, 39 to 48
//! and 52 to 59.

use imp::{Chat, Fields, ParseError, ParseErrorKind, Reply, SignatureSpec};
use imp_tests::plain::{data, fields, line, output, read, read_json};
use serde_json::json;

fn none_of(names: &str) -> String {
    format!("The response has none of the requested output fields: {names}.")
}

fn missing(error: &ParseError, message: &str, names: &[&str]) {
    assert_eq!(error.kind(), ParseErrorKind::MissingFields);
    assert_eq!(error.to_string(), message);
    assert_eq!(error.missing(), names);
    assert_eq!(error.adapter(), "chat");
}

/// §8.1: the forms of a reply.
#[test]
fn accepted_replies() {
    let spec = line("q -> a, n: int");
    let expected = json!({ "a": "x", "n": 2 });
    assert_eq!(read(&spec, "[[ ## a ## ]]\nx\n[[ ## n ## ]]\n2").unwrap(), expected);
    assert_eq!(read_json(&spec, json!({ "n": 2, "z": 0, "a": "x" })).unwrap(), expected);
    // An answer is returned as it is, even if the signature has other fields.
    let answer = Fields::from([("other", "y")]);
    assert_eq!(Chat::new().read_fields(&spec, Reply::Outputs(answer.clone())).unwrap(), answer);
    for (reply, what) in [
        (json!([{ "a": "x" }]), "a list"),
        (json!(null), "nothing"),
        (json!(3), "a value"),
        (json!(true), "a value"),
    ] {
        let error = read_json(&spec, reply).unwrap_err();
        assert_eq!(error.kind(), ParseErrorKind::UnsupportedOutput);
        assert_eq!(error.to_string(), format!("The LM returned {what}, which is not a completion."));
    }
}

/// §8.2: where sections begin and end.
#[test]
fn sections() {
    let spec = line("q -> a, b");
    let quoted = |text: &str| json!({ "a": text, "b": "2" });
    for (row, reply, expected) in [
        ("§8.2", "[[ ## a ## ]]\n1\n\n[[ ## b ## ]]\n2\n\n[[ ## completed ## ]]", quoted("1")),
        ("§8.2 order", "[[ ## b ## ]]\n2\n[[ ## a ## ]]\n1", quoted("1")),
        (
            "§8.2 line ends",
            "[[ ## a ## ]]\r\none\rtwo\r\nthree\n\r\n[[ ## b ## ]]\r2",
            quoted("one\ntwo\nthree"),
        ),
        (
            "§8.2 lines are \\n, \\r, \\r\\n",
            "[[ ## a ## ]]\nx\u{2028}[[ ## b ## ]]\n[[ ## b ## ]]\n2",
            quoted("x\u{2028}[[ ## b ## ]]"),
        ),
        ("§8.2 first line", "[[ ## a ## ]]   x  \n  y\n[[ ## b ## ]] 2", quoted("x\n  y")),
        ("§8.2 before", "Sure!\n\n[[ ## a ## ]]\n1\n[[ ## b ## ]]\n2", quoted("1")),
        (
            "§8.2 other names",
            "[[ ## a ## ]]\n1\n[[ ## A ## ]]\n0\n[[ ## b ## ]]\n2\n[[ ## c ## ]]\n3",
            quoted("1"),
        ),
        ("§8.2 first wins", "[[ ## a ## ]]\n1\n[[ ## a ## ]]\n0\n[[ ## b ## ]]\n2", quoted("1")),
        ("§8.2 first wins", "[[ ## a ## ]]\n\n[[ ## a ## ]]\n0\n[[ ## b ## ]]\n2", quoted("")),
        ("§8.2 end of line", "[[ ## a ## ]]\nx [[ ## b ## ]]\n[[ ## b ## ]]\n2", quoted("x [[ ## b ## ]]")),
        (
            "§8.2 no marker",
            "[[ ## a ## ]]\nx\n[[ ## b ]]\n[[## b ## ]]\n[[ ## b-c ## ]]\n[[ ## b ## ]]\n2",
            quoted("x\n[[ ## b ]]\n[[## b ## ]]\n[[ ## b-c ## ]]"),
        ),
        // DSPy leaves `]] 1` here; the marker is cut off where it was found.
        ("§8.2 leading blanks", "  [[ ## a ## ]] 1\n\t[[ ## b ## ]]\n2", quoted("1")),
        ("44", "[[ ## a ## ]] result\n[[ ## b ## ]]\n2", quoted("result")),
        (
            "42",
            "[[ ## a ## ]]The Conversation[[ ## completed ## ]]\n[[ ## b ## ]]\n2",
            quoted("The Conversation[[ ## completed ## ]]"),
        ),
    ] {
        assert_eq!(read(&spec, reply).unwrap(), expected, "row {row}: {reply:?}");
    }
    let word = data(&json!({ "outputs": [{ "name": "größe_2" }] }));
    assert_eq!(read(&word, "[[ ## größe_2 ## ]]\n1").unwrap(), json!({ "größe_2": "1" }));
}

#[test]
fn row_40_two_outputs() {
    let spec = line("q -> answer, score: float");
    assert_eq!(
        read(&spec, "[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\n1.0").unwrap(),
        json!({ "answer": "Paris", "score": 1.0 })
    );
}

#[test]
fn row_41_a_bare_object() {
    let spec = line("q -> answer, score: float");
    let error = read(&spec, r#"{"answer": "Paris", "score": 1.0}"#).unwrap_err();
    missing(&error, &none_of("answer, score"), &["answer", "score"]);
}

#[test]
fn rows_42_and_44_one_line() {
    let spec = line("q -> answer");
    assert_eq!(
        read(&spec, "[[ ## answer ## ]]The Conversation[[ ## completed ## ]]").unwrap(),
        json!({ "answer": "The Conversation[[ ## completed ## ]]" })
    );
    assert_eq!(
        read(&line("q -> solution"), "[[ ## solution ## ]] result").unwrap(),
        json!({ "solution": "result" })
    );
}

#[test]
fn row_43_half_a_marker() {
    let spec = line("q -> reasoning, answer");
    let error = read(&spec, "[[ ## reasoning ## ]]\nr\n[[ ## answer ]]\nParis").unwrap_err();
    assert_eq!(error.fields(), &fields(&json!({ "reasoning": "r\n[[ ## answer ]]\nParis" })));
    missing(&error, "The response is missing required output fields: answer.", &["answer"]);
}

/// Values of another JSON type on a text output.
#[test]
fn row_34_text_of_other_values() {
    let spec = line("q -> answer");
    for (value, text) in [
        (json!(123), "123"),
        (json!(true), "true"),
        (json!([1, 2, 3]), "[1, 2, 3]"),
        (json!({ "a": true, "b": ["x", "y"] }), r#"{"a": true, "b": ["x", "y"]}"#),
        (json!(1_000_000.0), "1000000.0"),
    ] {
        assert_eq!(read_json(&spec, json!({ "answer": value })).unwrap(), json!({ "answer": text }));
    }
}

#[test]
fn row_35_null() {
    let both =
        data(&json!({ "outputs": [{ "name": "answer", "type": { "optional": "str" } }, { "name": "b" }] }));
    assert_eq!(
        read_json(&both, json!({ "answer": null, "b": "" })).unwrap(),
        json!({ "answer": null, "b": "" })
    );
    let error = read_json(&both, json!({ "answer": "x", "b": null })).unwrap_err();
    missing(&error, "The response is missing required output fields: b.", &["b"]);
    // A null counts as absent, and a reply without any output is an error whatever is optional.
    let error = read_json(&both, json!({ "answer": null, "b": null })).unwrap_err();
    missing(&error, &none_of("answer, b"), &["answer", "b"]);
}

fn with_defaults() -> SignatureSpec {
    data(&json!({ "outputs": [
        { "name": "answer" },
        { "name": "note", "default": "none" },
        { "name": "tags", "type": "array[string]", "default": ["x"] },
        { "name": "maybe", "type": { "optional": "str" } },
        { "name": "null_default", "type": { "optional": "int" }, "default": null },
    ] }))
}

#[test]
fn rows_45_to_47_defaults() {
    let spec = with_defaults();
    let filled =
        json!({ "answer": "Paris", "note": "none", "tags": ["x"], "maybe": null, "null_default": null });
    assert_eq!(read(&spec, "[[ ## answer ## ]]\nParis").unwrap(), filled, "row 45");
    let falsy = json!({ "answer": "", "note": "", "tags": [], "maybe": null, "null_default": 0 });
    assert_eq!(read_json(&spec, falsy.clone()).unwrap(), falsy, "row 46");
    let text = "[[ ## answer ## ]]\n[[ ## note ## ]]\n[[ ## tags ## ]]\n[]\n[[ ## null_default ## ]]\n0";
    assert_eq!(read(&spec, text).unwrap(), falsy, "row 46");
    let error = read(&spec, "[[ ## note ## ]]\nx\n[[ ## tags ## ]]\n[]").unwrap_err();
    assert_eq!(error.fields().get("note"), Some(&"x".into()));
    missing(&error, "The response is missing required output fields: answer.", &["answer"]);
}

#[test]
fn row_48_other_formats() {
    for (outputs, names) in [
        (json!([{ "name": "a" }, { "name": "b", "type": "int" }]), "a, b"),
        (
            json!([{ "name": "a", "type": { "optional": "str" } }, { "name": "b", "type": { "optional": "int" } }]),
            "a, b",
        ),
        (json!([{ "name": "a", "default": "x" }]), "a"),
    ] {
        let spec = data(&json!({ "inputs": [{ "name": "q" }], "outputs": outputs }));
        for reply in ["The answer is 3.", r#"{"a": "x", "b": 3}"#, "<a>\nx\n</a>\n<b>3</b>", "{}", "", "  \n"]
        {
            let error = read(&spec, reply).unwrap_err();
            assert_eq!(error.reply(), reply);
            missing(&error, &none_of(names), &names.split(", ").collect::<Vec<_>>());
        }
    }
}

#[test]
fn rows_52_and_53_partial_replies() {
    let reply = "[[ ## answer ## ]]\nParis";
    let error = read(&line("q -> reasoning, answer"), reply).unwrap_err();
    assert_eq!(error.fields(), &fields(&json!({ "answer": "Paris" })));
    missing(&error, "The response is missing required output fields: reasoning.", &["reasoning"]);
    let spec = data(&json!({ "outputs": [
        { "name": "reasoning", "type": { "optional": "str" } }, { "name": "answer" }, { "name": "source", "default": "unknown" },
    ] }));
    assert_eq!(
        read(&spec, reply).unwrap(),
        json!({ "reasoning": null, "answer": "Paris", "source": "unknown" })
    );
}

fn step(text_field: bool) -> SignatureSpec {
    data(&json!({
        "inputs": [{ "name": "q" }],
        "outputs": [
            { "name": "next_thought", "type": { "optional": "str" }, "text_field": text_field },
            { "name": "tool_calls", "type": "array", "default": [] },
        ],
    }))
}

#[test]
fn rows_54_to_57_text_field() {
    for (row, reply, thought) in [
        ("54", "I should look it up.", "I should look it up."),
        ("55", "\n  First line.\n\nSecond line.  \n", "First line.\n\nSecond line."),
        ("56", "Well.\n[[ ## next_thought ## ]]\nLook it up.", "Look it up."),
        (
            "§8.2",
            "3 < 4, and [[ ## next_thought ]] is no marker",
            "3 < 4, and [[ ## next_thought ]] is no marker",
        ),
        ("§8.2 another tag", "<b>Look</b> <next_thoughts>", "<b>Look</b> <next_thoughts>"),
        ("§8.2 another key", r#"{"thought": "x"}"#, r#"{"thought": "x"}"#),
    ] {
        let expected = json!({ "next_thought": thought, "tool_calls": [] });
        assert_eq!(read(&step(true), reply).unwrap(), expected, "row {row}: {reply:?}");
    }
    // A step that said nothing has the defaults, where there are any.
    for reply in ["   \n  ", ""] {
        let nothing = json!({ "next_thought": null, "tool_calls": [] });
        assert_eq!(read(&step(true), reply).unwrap(), nothing, "row 57: {reply:?}");
        let required = data(&json!({ "outputs": [{ "name": "a", "text_field": true }] }));
        let error = read(&required, reply).unwrap_err();
        missing(&error, "The response is missing required output fields: a.", &["a"]);
    }
    for reply in [
        "<next_thought>Look</next_thought>",
        "<next_thought/>",
        "so: {\"next_thought\": \"x\"}",
        "{'tool_calls': []}",
    ] {
        let error = read(&step(true), reply).unwrap_err();
        missing(&error, &none_of("next_thought, tool_calls"), &["next_thought", "tool_calls"]);
    }
    // Row 60's Chat part: an empty object is not a step that said nothing.
    let error = read_json(&step(true), json!({})).unwrap_err();
    missing(&error, &none_of("next_thought, tool_calls"), &["next_thought", "tool_calls"]);
}

#[test]
fn row_59_no_text_field() {
    let error = read(&step(false), "I should look it up.").unwrap_err();
    missing(&error, &none_of("next_thought, tool_calls"), &["next_thought", "tool_calls"]);
}

#[test]
fn row_39_a_wrong_value() {
    let spec = line("q -> note, answer: int");
    let reply = "[[ ## note ## ]]\nn\n[[ ## answer ## ]]\nnot a number";
    let error = read(&spec, reply).unwrap_err();
    assert_eq!(error.kind(), ParseErrorKind::InvalidFields);
    assert_eq!(
        error.to_string(),
        "Validation failed. Retry with corrected output:\n- answer: expected integer"
    );
    assert_eq!(error.fields(), &fields(&json!({ "note": "n" })));
    let [failure] = error.failures() else { panic!("{:?}", error.failures()) };
    assert_eq!((failure.field.as_str(), failure.path.as_str()), ("answer", "answer"));
    assert_eq!((failure.expected.as_str(), failure.value.as_str()), ("integer", "not a number"));
    assert_eq!(&reply[failure.span.clone()], "not a number");
}

/// §8.3: all wrong outputs of a reply are reported together, in the order of the signature; what is missing comes first.
#[test]
fn wrong_values_together() {
    let spec = line("q -> a: int, b: boolean, c: float, d");
    let error = read(&spec, "[[ ## c ## ]]\nz\n[[ ## b ## ]]\ny?\n[[ ## a ## ]]\nx\n[[ ## d ## ]]\nfine")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Validation failed. Retry with corrected output:\n- a: expected integer\n- b: expected boolean\n- c: expected number"
    );
    assert_eq!(error.fields(), &fields(&json!({ "d": "fine" })));
    let error = read(&spec, "[[ ## b ## ]]\ny?\n[[ ## d ## ]]\nfine").unwrap_err();
    assert_eq!(error.failures().len(), 1);
    missing(&error, "The response is missing required output fields: a, c.", &["a", "c"]);
}

/// What an error shows of a value is where it stands in the reply, in bytes.
#[test]
fn spans_are_places_in_the_reply() {
    let spec = output(&json!("array[int]"));
    for (reply, value) in
        [("é\n[[ ## x ## ]] \n\n [1, \"two\"]", "\"two\""), ("[[ ## x ## ]] nothing", "nothing")]
    {
        let error = read(&spec, reply).unwrap_err();
        let [failure] = error.failures() else { panic!("{:?}", error.failures()) };
        assert_eq!(failure.value, value);
        assert_eq!(&reply[failure.span.clone()], value);
    }
}

#[test]
fn a_map_is_read_by_the_same_rules() {
    let spec =
        data(&json!({ "outputs": [{ "name": "a", "type": "int" }, { "name": "t", "type": "enum[x, y]" }] }));
    for (reply, expected) in [
        (json!({ "a": 1, "t": "x" }), Ok(json!({ "a": 1, "t": "x" }))),
        (json!({ "a": "1", "t": " 'y' " }), Ok(json!({ "a": 1, "t": "y" }))),
        (json!({ "a": "one", "t": "x" }), Err("- a: expected integer")),
        (json!({ "a": 1, "t": "z" }), Err("- t: must be one of [\"x\", \"y\"]")),
    ] {
        let read = read_json(&spec, reply.clone());
        match (read, expected) {
            (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{reply}"),
            (Err(error), Err(line)) => {
                assert_eq!(
                    error.to_string(),
                    format!("Validation failed. Retry with corrected output:\n{line}"),
                    "{reply}"
                );
            }
            (read, expected) => panic!("{reply}: {read:?} instead of {expected:?}"),
        }
    }
}

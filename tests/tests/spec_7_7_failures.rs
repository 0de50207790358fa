//! spec/imp.md §7.7: failures in the words that a model reads. Rows 91 to 100.

use imp::{ArgumentError, Denial, Map, ToolCalls, ToolFailure, ToolResult, Value};
use serde_json::{Value as Json, json};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn other(reason: Json) -> ToolFailure {
    ToolFailure::Other(reason.into())
}

fn mcp(result: &Json) -> ToolFailure {
    ToolFailure::from_mcp(result)
}

fn cases() -> Vec<(ToolFailure, &'static str)> {
    vec![
        // 91
        (
            ToolFailure::MissingOutputs { names: names(&["answer", "note"]) },
            "Error: submit is missing: answer, note",
        ),
        // 92
        (
            ToolFailure::InvalidOutputs { reason: "answer_is_not_a_number".into() },
            "Error: submit outputs were not accepted: answer is not a number",
        ),
        (ToolFailure::InvalidSubmit { received: Value::Null }, "Error: submit needs a map of outputs"),
        // 93
        (other(json!({"reason": "too_many_results", "limit": 20})), "Error: too many results (limit 20)"),
        (other(json!({"reason": "the file was not found"})), "Error: the file was not found"),
        // 94
        (ToolFailure::failed("read", "no such file"), "Error: read failed: no such file"),
        // 95
        (ToolFailure::unknown_tool("frobnicate"), "Error: there is no tool named frobnicate."),
        // 96
        (
            ToolFailure::MissingArguments { names: names(&["uri", "text"]) },
            "Error: missing required arguments: uri, text",
        ),
        // 97
        (
            ToolFailure::InvalidArguments {
                errors: vec![
                    ArgumentError::new("limit", "must be <= 100"),
                    ArgumentError::new("kind", "expected string"),
                ],
            },
            "Error: invalid arguments: limit must be <= 100; kind expected string",
        ),
        // 98
        (
            ToolFailure::denied("update_seen", Denial::Person),
            "Error: update_seen was not allowed; the person declined it.",
        ),
        (ToolFailure::denied("post", Denial::Policy), "Error: post is not allowed."),
        (
            ToolFailure::denied("post", Denial::Other(json!({"reason": "rate", "limit": "3 a day"}).into())),
            "Error: post was not allowed: rate (limit 3 a day)",
        ),
        // 99
        (
            mcp(&json!({"content": [{"type": "text", "text": "error: write outcome unknown; look first"}]})),
            "error: write outcome unknown; look first",
        ),
        // 100
        (
            mcp(&json!({"content": [
                {"type": "text", "text": "not posted"}, {"type": "image", "data": "…"},
                {"type": "text", "text": "the thread is locked"},
            ]})),
            "Error: not posted\nthe thread is locked",
        ),
        (mcp(&json!({"content": [], "structuredContent": {"code": 4}})), r#"Error: {"code":4}"#),
        (mcp(&json!({})), "The tool reported an error without saying what it was."),
        (ToolFailure::malformed_call("x"), "Error: the tool call could not be read."),
        (
            ToolFailure::TimedOut { name: "save".into() },
            "Error: save timed out, so it may have been carried out.",
        ),
        (
            ToolFailure::Stopped { name: "save".into() },
            "Error: save stopped before answering, so it may have been carried out.",
        ),
        (ToolFailure::Threw { name: "save".into() }, "Error: save failed: it threw instead of returning."),
        (other(json!("not_connected")), "Error: not connected"),
        (other(json!("The disk is full; free_space is 0.")), "Error: The disk is full; free_space is 0."),
        (other(json!([1, {"a": 2}])), r#"Error: [1,{"a":2}]"#),
        (other(json!({"reason": {"reason": "deep"}})), r#"Error: {"reason":"deep"}"#),
    ]
}

#[test]
fn a_failure_reads_as_words() {
    for (failure, expected) in cases() {
        assert_eq!(failure.to_string(), expected);
    }
}

/// The record keeps the structure, also as JSON: only the prompt is words.
#[test]
fn a_stored_failure_is_the_same_failure() {
    for (failure, expected) in cases() {
        let result = ToolResult::failed("c1", "t", &failure);
        assert!(result.is_error);
        assert_eq!(result.failure().as_ref(), Some(&failure));
        let mut calls = ToolCalls::default();
        calls.results = Some(vec![result]);
        let json = serde_json::to_string(&calls).unwrap();
        let stored: ToolCalls = serde_json::from_str(&json).unwrap();
        let again = stored.results.iter().flatten().next().and_then(ToolResult::failure);
        assert_eq!(again.map(|failure| failure.to_string()).as_deref(), Some(expected), "{json}");
    }
    assert_eq!(ToolResult::new("c1", "t", "fine").failure(), None);
}

/// What another program stored is shown as well as it can be.
#[test]
fn a_foreign_failure_is_not_lost() {
    for (value, expected) in [
        (json!({"error": "unknown_tool"}), r#"Error: {"error":"unknown_tool"}"#),
        (
            json!({"error": "schema_validation", "errors": [1]}),
            r#"Error: {"error":"schema_validation","errors":[1]}"#,
        ),
        (json!({"error": 5}), r#"Error: {"error":5}"#),
        (json!("boom"), "Error: boom"),
        (json!(null), "Error: null"),
    ] {
        assert_eq!(ToolFailure::from_value(&value.clone().into()).to_string(), expected);
        assert_eq!(ToolFailure::from_value(&value.clone().into()).to_value(), value.into());
    }
    let map =
        Map::from([("error", Value::from("tool_denied")), ("name", "t".into()), ("reason", "policy".into())]);
    assert_eq!(ToolFailure::from_value(&map.into()), ToolFailure::denied("t", Denial::Policy));
}

//! spec/imp.md §7.7: what a model sees of the results of tools. Rows 91 to 101.

use imp::{
    Adapter, Chat, Content, Fields, FormatOptions, History, Message, Role, ToolCall, ToolCalls, ToolFailure,
    ToolResult, Turn, Value,
};
use imp_tests::plain::{line, with_history};
use serde_json::{Value as Json, json};

fn history(name: &str, value: Value, is_error: bool) -> History {
    let mut calls: ToolCalls = vec![ToolCall::new("c1", name, imp::Map::new())].into();
    let mut result = ToolResult::new("c1", name, value);
    result.is_error = is_error;
    calls.results = Some(vec![result]);
    History::from_iter([Turn::from([("question", "q")]).tool_calls(calls)])
}

fn sent(history: &History, options: &FormatOptions) -> Vec<Message> {
    let spec = with_history(&line("question -> answer"));
    let turns: Vec<Value> = history.turns().iter().cloned().map(Value::from).collect();
    let inputs = Fields::from([("question", Value::from("next")), ("history", turns.into())]);
    Chat::new().messages(&spec, &inputs, options).unwrap()
}

fn shown(name: &str, value: impl Into<Value>, is_error: bool) -> String {
    let messages = sent(&history(name, value.into(), is_error), &FormatOptions::new());
    let tool = messages.iter().find(|message| message.role == Role::Tool).unwrap();
    tool.text().into_owned()
}

/// A success is its value as text, however it looks.
#[test]
fn successes() {
    for (value, text) in [
        (json!("BEAM"), "BEAM"),
        (json!(""), ""),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!(1e16), "1e+16"),
        (json!({ "b": [1, 2.0], "a": "x" }), r#"{"a": "x", "b": [1, 2.0]}"#),
        (json!({ "error": "not one" }), r#"{"error": "not one"}"#),
    ] {
        assert_eq!(shown("look", value, false), text);
    }
}

#[test]
fn rows_91_to_98_failures() {
    let failures: [(Json, &str); 11] = [
        (
            json!({ "error": "missing_output_fields", "names": ["answer", "note"] }),
            "Error: submit is missing: answer, note",
        ),
        (
            json!({ "error": "invalid_submit_outputs", "reason": "answer_is_not_a_number" }),
            "Error: submit outputs were not accepted: answer is not a number",
        ),
        (
            json!({ "error": "invalid_submit_arguments", "received": null }),
            "Error: submit needs a map of outputs",
        ),
        (json!({ "reason": "too_many_results", "limit": 20 }), "Error: too many results (limit 20)"),
        (json!({ "reason": "the file was not found" }), "Error: the file was not found"),
        (
            json!({ "error": "tool_error", "name": "read", "message": "no such file" }),
            "Error: read failed: no such file",
        ),
        (
            json!({ "error": "unknown_tool", "name": "frobnicate" }),
            "Error: there is no tool named frobnicate.",
        ),
        (
            json!({ "error": "missing_required", "names": ["uri", "text"] }),
            "Error: missing required arguments: uri, text",
        ),
        (
            json!({ "error": "schema_validation", "errors": [
                { "field": "limit", "message": "must be <= 100" }, { "field": "kind", "message": "expected string" },
            ] }),
            "Error: invalid arguments: limit must be <= 100; kind expected string",
        ),
        (
            json!({ "error": "tool_denied", "name": "update_seen", "reason": "client_denied" }),
            "Error: update_seen was not allowed; the person declined it.",
        ),
        (
            json!({ "error": "tool_denied", "name": "post", "reason": "policy" }),
            "Error: post is not allowed.",
        ),
    ];
    for (failure, text) in failures {
        assert_eq!(shown("look", failure.clone(), true), text);
        assert_eq!(ToolFailure::from_value(&failure.into()).to_string(), text);
    }
}

#[test]
fn rows_99_and_100_what_another_program_reports() {
    for (texts, text) in [
        (&["error: write outcome unknown; look first"][..], "error: write outcome unknown; look first"),
        (&["not posted", "the thread is locked"], "Error: not posted\nthe thread is locked"),
    ] {
        let blocks: Vec<Json> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        let failure = ToolFailure::from_mcp(&json!({ "isError": true, "content": blocks }));
        assert_eq!(shown("post", failure.to_value(), true), text);
    }
}

#[test]
fn row_101_a_result_renderer() {
    let full = "x".repeat(10_000);
    let options = FormatOptions::new().tool_result_renderer(|context| {
        let result = context.result();
        let Content::Text(text) = context.default_result() else { return context.default_result() };
        format!(
            "{}:{}:{}{}",
            result.name,
            result.call_id,
            text.len(),
            if result.is_error { ":error" } else { "" }
        )
        .into()
    });
    let history = history("look", full.as_str().into(), false);
    let sent_text = |history: &History| {
        let messages = sent(history, &options);
        messages.iter().find(|message| message.role == Role::Tool).map(|message| message.text().into_owned())
    };
    assert_eq!(sent_text(&history).as_deref(), Some("look:c1:10000"));
    let kept = history.turns()[0].get("tool_call_results").and_then(Value::as_list).unwrap();
    assert_eq!(kept[0].as_map().and_then(|result| result.get("value")), Some(&full.as_str().into()));
    // Errors reach it too.
    let failed = self::history("look", "not_connected".into(), true);
    assert_eq!(sent_text(&failed).as_deref(), Some("look:c1:20:error"));
    assert_eq!(shown("look", "not_connected", true), "Error: not connected");
}

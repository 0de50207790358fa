//! The check of request bodies can fail: each body here is one that OpenAI answers with status 400.

mod common;

use common::openai_schema::violations;
use serde_json::{Value as Json, json};

fn with(field: &str, value: Json) -> Json {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Ahoy"}]});
    body[field] = value;
    body
}

fn tool(name: &str) -> Json {
    json!([{"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}])
}

fn strict(schema: &Json) -> Json {
    json!({"type": "json_schema", "json_schema": {"name": "out", "strict": true, "schema": schema}})
}

#[test]
fn good_bodies_pass() {
    let call = json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let cases = [
        with("temperature", json!(0.2)),
        with("stop", json!(["a"])),
        with("tools", tool("f")),
        with(
            "messages",
            json!([{"role": "user", "content": [{"type": "text", "text": "a"}], "name": "alice"}]),
        ),
        with(
            "messages",
            json!([{"role": "user", "content": "a"}, call, {"role": "tool", "tool_call_id": "c1", "content": "1"}]),
        ),
        with(
            "response_format",
            strict(&json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": ["a"], "additionalProperties": false})),
        ),
    ];
    for body in cases {
        assert_eq!(violations(&body), [""; 0], "{body}");
    }
}

#[test]
fn bad_bodies_do_not() {
    let user = json!({"role": "user", "content": "a"});
    let call = json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let mut both = with("tools", tool("f"));
    both["tool_choice"] = json!({"type": "function", "function": {"name": "g"}});
    let cases = [
        (json!({"messages": [user]}), "model"),
        (with("messages", json!([])), "/messages"),
        (with("temperature", json!("hot")), "/temperature"),
        (with("temperature", json!(3)), "/temperature"),
        (with("response_format", json!({"type": "xml"})), "/response_format"),
        (with("top_k", json!(4)), "unknown field `top_k`"),
        (with("messages", json!([{"role": "user", "content": "a", "name": "Zoë from Oban"}])), "is no name"),
        (with("messages", json!([{"role": "user", "content": "a", "mood": "good"}])), "unknown key `mood`"),
        (with("messages", json!([{"role": "assistant", "content": null}])), "neither content nor calls"),
        (with("messages", json!([user, call])), "were not answered"),
        (with("messages", json!([user, call, user])), "were not answered"),
        (
            with("messages", json!([user, {"role": "tool", "tool_call_id": "c1", "content": "1"}])),
            "no open call",
        ),
        (with("tools", tool("a b")), "is no name of a tool"),
        (with("tool_choice", json!("required")), "without tools"),
        (both, "names `g`"),
        (
            with("response_format", strict(&json!({"type": "object", "properties": {}}))),
            "additionalProperties",
        ),
        (
            with(
                "response_format",
                strict(&json!({"type": "array", "items": {"type": "object",
                "properties": {"a": {}}, "required": [], "additionalProperties": false}})),
            ),
            "does not require `a`",
        ),
    ];
    for (body, expected) in cases {
        let found = violations(&body);
        assert!(found.iter().any(|text| text.contains(expected)), "{body}: {found:?}");
    }
}

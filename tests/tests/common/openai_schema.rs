//! Whether OpenAI would take a request body: its published schema, and the rules it does not
//! state there but answers with status 400.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

static SCHEMA: LazyLock<Json> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../schemas/openai_request.json")).expect("the schema is JSON")
});

static VALIDATOR: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&SCHEMA).expect("the schema is a JSON Schema"));

/// The fields that the schema names at the top level; it allows others, OpenAI does not.
static FIELDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut fields = BTreeSet::new();
    collect(&SCHEMA["$defs"]["CreateChatCompletionRequest"], &mut fields);
    fields
});

fn collect(schema: &Json, fields: &mut BTreeSet<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        collect(SCHEMA.pointer(target.trim_start_matches('#')).expect("a reference has a target"), fields);
    }
    fields.extend(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(part, fields);
    }
}

/// Everything that is wrong with a request body, in words; empty if nothing is.
pub fn violations(body: &Json) -> Vec<String> {
    let mut found: Vec<String> =
        VALIDATOR.iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if let Some(fields) = body.as_object() {
        found.extend(
            fields
                .keys()
                .filter(|name| !FIELDS.contains(*name))
                .map(|name| format!("unknown field `{name}`")),
        );
    }
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    check_messages(messages, &mut found);
    check_tools(body, &mut found);
    check_format(&body["response_format"], &mut found);
    found
}

/// Letters, digits, `_` and `-`, at most 64.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn check_messages(messages: &[Json], found: &mut Vec<String>) {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let mut wrong = |what: String| found.push(format!("message {at}: {what}"));
        let role = message["role"].as_str().unwrap_or_default();
        let known: &[&str] = match role {
            "assistant" => &["role", "content", "name", "tool_calls", "refusal", "audio", "function_call"],
            "tool" => &["role", "content", "tool_call_id"],
            _ => &["role", "content", "name"],
        };
        for key in message.as_object().map(Map::keys).into_iter().flatten() {
            if !known.contains(&key.as_str()) {
                wrong(format!("unknown key `{key}`"));
            }
        }
        if let Some(name) = message["name"].as_str()
            && !is_name(name)
        {
            wrong(format!("`{name}` is no name"));
        }
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                wrong(format!("no open call has the id `{id}`"));
            }
            continue;
        }
        if !open.is_empty() {
            wrong(format!("calls {open:?} were not answered"));
            open.clear();
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        for call in calls {
            open.insert(call["id"].as_str().unwrap_or_default());
            let name = call["function"]["name"].as_str().unwrap_or_default();
            if !is_name(name) {
                wrong(format!("`{name}` is no name of a tool"));
            }
        }
        let content = &message["content"];
        let says = content.as_str().is_some() || content.as_array().is_some_and(|parts| !parts.is_empty());
        if role == "assistant" && calls.is_empty() && !says {
            wrong("neither content nor calls".to_owned());
        }
    }
    if !open.is_empty() {
        found.push(format!("calls {open:?} were not answered"));
    }
}

fn check_tools(body: &Json, found: &mut Vec<String>) {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    for (tool, name) in tools.iter().zip(&names) {
        if !is_name(name) {
            found.push(format!("`{name}` is no name of a tool"));
        }
        if tool["function"]["strict"] == true {
            check_strict(&tool["function"]["parameters"], name, found);
        }
    }
    let choice = &body["tool_choice"];
    if !choice.is_null() && tools.is_empty() {
        found.push("`tool_choice` without tools".to_owned());
    }
    if let Some(name) = choice["function"]["name"].as_str()
        && !names.contains(&name)
    {
        found.push(format!("`tool_choice` names `{name}`, which is no tool here"));
    }
}

fn check_format(format: &Json, found: &mut Vec<String>) {
    if let Some(name) = format["json_schema"]["name"].as_str()
        && !is_name(name)
    {
        found.push(format!("`{name}` is no name of a response format"));
    }
    if format["json_schema"]["strict"] == true {
        check_strict(&format["json_schema"]["schema"], "response_format", found);
    }
}

/// A strict schema must forbid further properties and require all that it has, at every depth.
fn check_strict(schema: &Json, place: &str, found: &mut Vec<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        if schema["additionalProperties"] != false {
            found.push(format!("{place}: a strict schema without `\"additionalProperties\": false`"));
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        for name in properties.keys().filter(|name| !required.contains(&name.as_str())) {
            found.push(format!("{place}: a strict schema that does not require `{name}`"));
        }
    }
    let below = |key: &str| schema[key].as_object().into_iter().flatten().map(|(_, schema)| schema);
    let beside = |key: &str| schema[key].as_array().into_iter().flatten();
    for schema in below("properties").chain(below("$defs")).chain(beside("anyOf")).chain(schema.get("items"))
    {
        check_strict(schema, place, found);
    }
}

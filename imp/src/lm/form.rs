//! Requests and replies as JSON: the key of a cache, and what it weighs.

use serde_json::{Map, Value as Json, json};

use super::{Choice, Completion, Config, FinishReason, Request, ResponseFormat, ToolChoice, Usage};
use crate::message::{Content, Message, Part, ToolCall};

/// All that a model is sent of a request. What is unset is left out; the timeout is, too, since it is not sent.
pub(super) fn request(request: &Request) -> Json {
    let mut out = Map::new();
    out.insert("messages".to_owned(), request.messages.iter().map(message).collect());
    let config = config(&request.config);
    if !config.is_empty() {
        out.insert("config".to_owned(), config.into());
    }
    let format = request.response_format.as_ref().map(|format| match format {
        ResponseFormat::JsonObject => json!("json_object"),
        ResponseFormat::JsonSchema { name, schema, strict } => {
            json!({"name": name, "schema": **schema, "strict": strict})
        }
    });
    put(&mut out, "response_format", format);
    if !request.tools.is_empty() {
        out.insert("tools".to_owned(), data(&request.tools));
    }
    out.into()
}

fn put(out: &mut Map<String, Json>, name: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        out.insert(name.to_owned(), value.into());
    }
}

/// JSON has no word for the other floats, and one that is not finite is not one that is not set.
fn float(value: f64) -> Json {
    serde_json::Number::from_f64(value).map_or_else(|| value.to_string().into(), Json::Number)
}

/// A whole number that `serde_json`'s values cannot hold makes the value its text.
fn data(value: &impl serde::Serialize) -> Json {
    serde_json::to_value(value).or_else(|_| serde_json::to_string(value).map(Json::from)).unwrap_or_default()
}

fn config(config: &Config) -> Map<String, Json> {
    let mut out = Map::new();
    put(&mut out, "temperature", config.temperature.map(float));
    put(&mut out, "max_tokens", config.max_tokens);
    put(&mut out, "top_p", config.top_p.map(float));
    put(&mut out, "stop", config.stop.clone());
    put(&mut out, "seed", config.seed);
    put(&mut out, "n", config.n);
    put(&mut out, "reasoning_effort", config.reasoning_effort.clone());
    let choice = config.tool_choice.as_ref().map(|choice| match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Named(name) => json!({ "name": name }),
    });
    put(&mut out, "tool_choice", choice);
    put(&mut out, "parallel_tool_calls", config.parallel_tool_calls);
    if !config.extra.is_empty() {
        out.insert("extra".to_owned(), config.extra.clone().into());
    }
    out
}

fn message(message: &Message) -> Json {
    let mut out = Map::new();
    out.insert("role".to_owned(), message.role.as_str().into());
    let content = match &message.content {
        Content::Text(text) => text.as_str().into(),
        Content::Parts(parts) => parts.iter().map(part).collect(),
    };
    out.insert("content".to_owned(), content);
    put(&mut out, "name", message.name.clone());
    if !message.tool_calls.is_empty() {
        out.insert("tool_calls".to_owned(), message.tool_calls.iter().map(tool_call).collect());
    }
    put(&mut out, "tool_call_id", message.tool_call_id.clone());
    put(&mut out, "reasoning_content", message.reasoning_content.clone());
    put(&mut out, "reasoning_details", message.reasoning_details.as_ref().map(data));
    out.into()
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => json!({ "text": text.as_str() }),
        Part::Image(image) => json!({"image": {"url": image.url(), "detail": image.detail_level()}}),
        Part::Audio(audio) => json!({"audio": {"data": audio.data(), "format": audio.format()}}),
        Part::File(file) => {
            json!({"file": {"data": file.data(), "id": file.id(), "filename": file.filename()}})
        }
    }
}

fn tool_call(call: &ToolCall) -> Json {
    let mut out = Map::new();
    out.insert("id".to_owned(), call.id.clone().into());
    out.insert("name".to_owned(), call.name.clone().into());
    out.insert("arguments".to_owned(), data(&call.arguments));
    put(&mut out, "malformed", call.malformed.as_ref().map(data));
    out.into()
}

/// A completion; [`read_completion`] gives it back.
pub(super) fn completion(completion: &Completion) -> Json {
    let mut out = Map::new();
    out.insert("choices".to_owned(), completion.choices.iter().map(choice).collect());
    out.insert("usage".to_owned(), usage(completion.usage));
    put(&mut out, "model", completion.model.clone());
    put(&mut out, "id", completion.id.clone());
    put(&mut out, "request_id", completion.request_id.clone());
    out.into()
}

fn choice(choice: &Choice) -> Json {
    let mut out = Map::new();
    put(&mut out, "text", choice.text.clone());
    put(&mut out, "reasoning", choice.reasoning.clone());
    if !choice.citations.is_empty() {
        out.insert("citations".to_owned(), data(&choice.citations));
    }
    if !choice.tool_calls.is_empty() {
        out.insert("tool_calls".to_owned(), choice.tool_calls.iter().map(tool_call).collect());
    }
    put(&mut out, "finish_reason", finish_reason(&choice.finish_reason));
    out.into()
}

fn finish_reason(reason: &FinishReason) -> Option<Json> {
    Some(match reason {
        FinishReason::Unstated => return None,
        FinishReason::Other(word) => json!({ "other": word }),
        reason => reason.as_str().into(),
    })
}

fn usage(usage: Usage) -> Json {
    let mut out = Map::new();
    for (name, tokens) in USAGE.iter().zip([
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.reasoning_tokens,
    ]) {
        if tokens > 0 {
            out.insert((*name).to_owned(), tokens.into());
        }
    }
    out.into()
}

const USAGE: [&str; 4] = ["input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"];

//! A reply to a completion.

use serde_json::Value as Json;

use super::super::json::text_at;
use crate::lm::wire::fault::{about, excerpt, fault, not_json, request_id};
use crate::lm::wire::json;
use crate::lm::{Choice, Completion, FinishReason, Headers, LmError, LmErrorKind, Usage};
use crate::message::ToolCall;
use crate::{Citation, Value};

/// The completion in a whole reply of `…/chat/completions`.
///
/// Only what is needed is read: fields that are unknown, missing or odd elsewhere do no harm.
///
/// ```
/// use imp::lm::{Headers, wire::openai::decode};
/// use imp::{FinishReason, LmErrorKind};
///
/// let body = br#"{"choices": [{"message": {"content": "Ahoy"}, "finish_reason": "stop"}]}"#;
/// let completion = decode(200, &Headers::new(), body)?;
/// assert_eq!(completion.text(), Some("Ahoy"));
/// assert_eq!(completion.choices[0].finish_reason, FinishReason::Stop);
///
/// let error = decode(400, &Headers::new(), br#"{"error": {"message": "no such model", "code": 400}}"#).unwrap_err();
/// assert_eq!(error.kind(), LmErrorKind::BadRequest);
/// assert_eq!(error.to_string(), "provider 400: no such model");
/// # Ok::<(), imp::LmError>(())
/// ```
///
/// # Errors
///
/// * any kind, for a status other than 2xx or an error in the body;
/// * [`ContentFilter`](LmErrorKind::ContentFilter) if the provider's filter stopped the reply;
/// * [`Refusal`](LmErrorKind::Refusal) if the model refused in the field for that, and said nothing else;
/// * [`CutOff`](LmErrorKind::CutOff) if a tool call broke off at the limit of tokens;
/// * [`Malformed`](LmErrorKind::Malformed) for anything that is no reply, such as an HTML page.
///
/// Those about a reply that was there have it as their [`completion`](LmError::completion).
pub fn decode(status: u16, headers: &Headers, body: &[u8]) -> Result<Completion, LmError> {
    let json = json::parse(body);
    if !(200..300).contains(&status) {
        return Err(fault(status, headers, json.as_ref().ok(), body));
    }
    let json = match json {
        Ok(json) => json,
        Err(error) => {
            return Err(not_json(status, headers, body, error));
        }
    };
    let Some(choices) = json.get("choices").and_then(Json::as_array) else {
        return Err(if is_fault(&json) {
            fault(status, headers, Some(&json), body)
        } else {
            let text = format!("the reply has no `choices`; it starts: {}", excerpt(body));
            malformed(status, headers, text)
        });
    };
    let completion = Completion {
        usage: json.get("usage").map(usage).unwrap_or_default(),
        model: text_at(&json, "model"),
        id: text_at(&json, "id"),
        ..Completion::default()
    };
    // An error beside choices, or in one of them: what came before it is not whole.
    let inner = choices.iter().find(|choice| is_fault(choice));
    if let Some(json) = inner.or(is_fault(&json).then_some(&json)) {
        let error = fault(status, headers, Some(json), body);
        return Err(match complete(choices, completion, status, headers) {
            Ok(completion) => error.with_completion(completion),
            Err(read) => match read.completion() {
                Some(completion) => error.with_completion(completion.clone()),
                None => error,
            },
        });
    }
    complete(choices, completion, status, headers)
}

/// Reads the choices into the completion.
pub(super) fn complete(
    choices: &[Json],
    mut completion: Completion,
    status: u16,
    headers: &Headers,
) -> Result<Completion, LmError> {
    completion.request_id = request_id(headers).map(str::to_owned);
    let mut trouble = None;
    for choice in choices {
        let (choice, found) = read_choice(choice);
        completion.choices.push(choice);
        trouble = trouble.or(found);
    }
    if completion.choices.is_empty() {
        trouble = Some(Trouble::NoChoices);
    }
    match trouble {
        None => Ok(completion),
        Some(trouble) => Err(trouble.error(status, headers, completion)),
    }
}

fn malformed(status: u16, headers: &Headers, text: String) -> LmError {
    about(LmErrorKind::Malformed, status, headers, text)
}

/// `"error": null` is no error, nor is an empty one.
pub(super) fn is_fault(json: &Json) -> bool {
    match json.get("error") {
        None | Some(Json::Null | Json::Bool(false)) => {
            json.get("object").and_then(Json::as_str) == Some("error")
        }
        Some(Json::Object(error)) => !error.is_empty(),
        Some(Json::String(error)) => !error.is_empty(),
        Some(_) => true,
    }
}

/// What keeps a choice from being an answer.
enum Trouble {
    NoChoices,
    NoMessage,
    Filtered(Option<String>),
    Refused(String),
    Failed,
    /// A tool call that the limit of tokens cut: the tool's name, and the start of its arguments.
    Call {
        name: String,
        arguments: String,
    },
}

impl Trouble {
    fn error(self, status: u16, headers: &Headers, completion: Completion) -> LmError {
        let (kind, text, said) = match self {
            Trouble::NoChoices => {
                (LmErrorKind::Malformed, "the reply has an empty list of choices".to_owned(), None)
            }
            Trouble::NoMessage => {
                (LmErrorKind::Malformed, "the reply has a choice without a message".to_owned(), None)
            }
            Trouble::Filtered(said) => (
                LmErrorKind::ContentFilter,
                match &said {
                    Some(said) => format!("the provider's content filter stopped the reply: {said}"),
                    None => "the provider's content filter stopped the reply".to_owned(),
                },
                said,
            ),
            Trouble::Refused(said) => {
                (LmErrorKind::Refusal, format!("the model refused: {said}"), Some(said))
            }
            Trouble::Failed => {
                (LmErrorKind::Other, "the reply ended with the finish reason `error`".to_owned(), None)
            }
            Trouble::Call { name, arguments } => (
                LmErrorKind::CutOff,
                format!(
                    "the call of `{name}` broke off at the limit of tokens, raise `max_tokens`: {arguments}"
                )
                .trim_end_matches(": ")
                .to_owned(),
                None,
            ),
        };
        let mut error = about(kind, status, headers, text).with_completion(completion);
        if let Some(said) = said {
            error = error.with_provider_message(said);
        }
        error
    }
}

fn read_choice(json: &Json) -> (Choice, Option<Trouble>) {
    let reason = text_at(json, "finish_reason").unwrap_or_default();
    // Gemini's words are in upper case; `model_length` is Mistral's.
    let finish_reason = match reason.to_lowercase().as_str() {
        "" => FinishReason::Unstated,
        "stop" | "end_turn" | "eos" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason),
    };
    let mut choice = Choice { finish_reason, ..Choice::default() };
    let Some(message) = json.get("message").filter(|message| message.is_object()) else {
        let filtered = choice.finish_reason == FinishReason::ContentFilter;
        return (choice, Some(if filtered { Trouble::Filtered(None) } else { Trouble::NoMessage }));
    };
    let mut refusal = text_at(message, "refusal");
    match message.get("content") {
        Some(Json::String(text)) => choice.text = Some(text.clone()),
        Some(Json::Array(parts)) => read_parts(parts, &mut choice, &mut refusal),
        _ => {}
    }
    choice.reasoning =
        text_at(message, "reasoning_content").or_else(|| text_at(message, "reasoning")).or(choice.reasoning);
    if let Some(annotations) = message.get("annotations").and_then(Json::as_array) {
        choice.citations = annotations.iter().filter_map(read_citation).collect();
    }
    let mut trouble = None;
    if let Some(calls) = message.get("tool_calls").and_then(Json::as_array) {
        let at_limit = choice.finish_reason == FinishReason::Length;
        for call in calls {
            match read_call(call, at_limit) {
                Ok(call) => choice.tool_calls.push(call),
                Err((name, arguments)) => {
                    trouble = trouble.or(Some(Trouble::Call { name, arguments }));
                }
            }
        }
    }
    // The older form, of one call without an id.
    if let Some(call) =
        message.get("function_call").filter(|call| call.is_object() && choice.tool_calls.is_empty())
    {
        choice.tool_calls.push(ToolCall::from_value(&Value::from(serde_json::json!({"function": call}))));
    }
    let silent =
        choice.text.as_deref().is_none_or(|text| text.trim().is_empty()) && choice.tool_calls.is_empty();
    let trouble = match (&choice.finish_reason, refusal) {
        (FinishReason::ContentFilter, refusal) => Some(Trouble::Filtered(refusal)),
        (FinishReason::Other(reason), _) if reason == "error" => Some(Trouble::Failed),
        (_, Some(refusal)) if silent && trouble.is_none() => Some(Trouble::Refused(refusal)),
        _ => trouble,
    };
    (choice, trouble)
}

/// Content as a list: texts are joined, thinking (Mistral's) is the reasoning.
pub(super) fn read_parts(parts: &[Json], choice: &mut Choice, refusal: &mut Option<String>) {
    for part in parts {
        let kind = part.get("type").and_then(Json::as_str).unwrap_or_default();
        if let Some(text) = part.as_str() {
            choice.text.get_or_insert_default().push_str(text);
        } else if let Some(text) = part.get("text").and_then(Json::as_str) {
            choice.text.get_or_insert_default().push_str(text);
        } else if let Some(text) = part.get("refusal").and_then(Json::as_str) {
            refusal.get_or_insert_default().push_str(text);
        } else if kind == "thinking" {
            let reasoning = choice.reasoning.get_or_insert_default();
            match part.get("thinking") {
                Some(Json::String(text)) => reasoning.push_str(text),
                Some(Json::Array(parts)) => {
                    for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                        reasoning.push_str(text);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A source that the text cites: OpenAI's `url_citation`, to which OpenRouter adds the source's words. Some servers
/// leave the inner object out. An annotation that names no source, as of an uploaded file, is none.
fn read_citation(json: &Json) -> Option<Citation> {
    let kind = json.get("type").and_then(Json::as_str).unwrap_or_default();
    let inner = json.get(kind).filter(|inner| inner.is_object()).unwrap_or(json);
    let place = |key: &str| inner.get(key).and_then(Json::as_u64).and_then(|at| u32::try_from(at).ok());
    let mut citation = Citation::new();
    citation.quote = text_at(inner, "content");
    citation.title = text_at(inner, "title");
    citation.url = text_at(inner, "url");
    citation.start = place("start_index");
    citation.end = place("end_index");
    (citation.url.is_some() || citation.title.is_some()).then_some(citation)
}

/// A tool call; its name and the start of its arguments if the limit of tokens cut it. One that cannot be read is
/// kept as malformed: what the model wrote beside it counts all the same.
fn read_call(json: &Json, at_limit: bool) -> Result<ToolCall, (String, String)> {
    let call = ToolCall::from_value(&Value::from(json.clone()));
    let text = json.get("function").unwrap_or(json).get("arguments").and_then(Json::as_str);
    // At the limit, no text is one that was about to begin.
    let cut = at_limit && (call.malformed.is_some() || text.is_some_and(|text| text.trim().is_empty()));
    if cut {
        Err((call.name, text.map(|text| excerpt(text.as_bytes())).unwrap_or_default()))
    } else {
        Ok(call)
    }
}

pub(super) fn usage(json: &Json) -> Usage {
    let detail = |place: &str, key: &str| json.get(place).map_or(0, |place| count(place, &[key]));
    Usage {
        input_tokens: count(json, &["prompt_tokens", "input_tokens"]),
        output_tokens: count(json, &["completion_tokens", "output_tokens"]),
        cached_tokens: detail("prompt_tokens_details", "cached_tokens"),
        reasoning_tokens: detail("completion_tokens_details", "reasoning_tokens"),
    }
}

/// The first of the keys that has a number; some servers count in floats.
fn count(json: &Json, keys: &[&str]) -> u64 {
    let number = keys.iter().find_map(|key| {
        let number = json.get(key)?;
        // A float becomes the nearest count; `as` saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        number.as_u64().or_else(|| number.as_f64().map(|number| number as u64))
    });
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Map;

    fn read(body: &Json) -> Result<Completion, LmError> {
        decode(200, &Headers::new(), body.to_string().as_bytes())
    }

    fn choice(message: &Json, finish: &str) -> Json {
        json!({"choices": [{"message": message, "finish_reason": finish}]})
    }

    #[test]
    fn whole_reply() {
        let body = json!({
            "id": "chatcmpl-1", "model": "gpt-4.1-mini-2025", "object": "chat.completion", "top_p": {"value": 1},
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": "a", "refusal": null}, "finish_reason": "stop"},
                {"index": 1, "message": {"role": "assistant", "content": "b"}, "finish_reason": "length"},
            ],
            "usage": {"prompt_tokens": 9, "completion_tokens": 12.0, "total_tokens": 21,
                "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}},
        });
        let headers = [("x-request-id", "req_1")].into_iter().collect();
        let completion = decode(200, &headers, body.to_string().as_bytes()).unwrap();
        let expected = Completion {
            choices: vec![Choice::new("a"), Choice::new("b").finish_reason(FinishReason::Length)],
            usage: Usage { input_tokens: 9, output_tokens: 12, cached_tokens: 4, reasoning_tokens: 3 },
            model: Some("gpt-4.1-mini-2025".into()),
            id: Some("chatcmpl-1".into()),
            request_id: Some("req_1".into()),
            ..Completion::default()
        };
        assert_eq!(completion, expected);
    }

    #[test]
    fn messages() {
        let call = |id, name, arguments| ToolCall::new(id, name, arguments);
        let x1 = || Map::from([("x", Value::from(1))]);
        let function = |arguments: Json| {
            json!({"content": null, "tool_calls":
            [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}]})
        };
        let calls = |arguments| Choice::default().tool_calls([call("c1", "f", arguments)]);
        let cases = [
            (json!({"content": "hi"}), Choice::new("hi")),
            (json!({"content": ""}), Choice::new("")),
            (json!({"content": null}), Choice::default()),
            (json!({}), Choice::default()),
            (json!({"content": 5}), Choice::default()),
            (json!({"content": null, "reasoning_content": "hm"}), Choice::default().reasoning("hm")),
            (json!({"content": "hi", "reasoning": "hm"}), Choice::new("hi").reasoning("hm")),
            (json!({"content": "hi", "reasoning": "", "reasoning_content": null}), Choice::new("hi")),
            (json!({"content": "hi", "refusal": "", "tool_calls": null}), Choice::new("hi")),
            (json!({"content": "hi", "annotations": null}), Choice::new("hi")),
            (json!({"content": "hi", "annotations": []}), Choice::new("hi")),
            (
                json!({"content": "hi", "annotations": [
                    {"type": "url_citation", "url_citation": {"start_index": 1, "end_index": 2, "url": "http://a", "title": "A"}},
                    {"type": "url_citation", "url_citation": {"url": "http://b", "content": "the words", "start_index": -1}},
                    {"type": "url_citation", "url": "http://c"},
                    {"type": "file", "file": {"hash": "1", "name": "a.pdf", "content": []}},
                    {"type": "url_citation"}, {"type": "url_citation", "url_citation": {"url": ""}}, null, 3,
                ]}),
                Choice::new("hi").citations([
                    Citation::new().title("A").url("http://a").answer_span(1, 2),
                    Citation::new().url("http://b").quote("the words"),
                    Citation::new().url("http://c"),
                ]),
            ),
            (json!({"content": "hi", "refusal": "but no"}), Choice::new("hi")),
            (
                json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "?"}]}),
                Choice::new("ab"),
            ),
            (
                json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]}),
                Choice::new("a").reasoning("hm"),
            ),
            (function(json!("{\"x\":1}")), calls(x1())),
            (function(json!({"x": 1})), calls(x1())),
            (function(json!("\"{\\\"x\\\":1}\"")), calls(x1())),
            (function(json!("[1]")), calls(Map::from([("value", vec![Value::from(1)])]))),
            (function(json!("null")), calls(Map::new())),
            (function(json!("")), calls(Map::new())),
            (function(json!(null)), calls(Map::new())),
            (
                json!({"content": "hi", "tool_calls": [{"function": {"name": "f"}}, {"id": null, "function": {"name": "f"}}]}),
                Choice::new("hi").tool_calls([call("", "f", Map::new()), call("", "f", Map::new())]),
            ),
        ];
        for (message, expected) in cases {
            let completion = read(&choice(&message, "stop")).unwrap();
            assert_eq!(completion.choices, [expected.finish_reason(FinishReason::Stop)], "{message}");
            assert_eq!(completion.usage, Usage::default());
        }
    }

    #[test]
    fn finish_reasons() {
        let cases = [
            (json!("stop"), FinishReason::Stop),
            (json!("length"), FinishReason::Length),
            (json!("tool_calls"), FinishReason::ToolCalls),
            (
                json!("insufficient_system_resource"),
                FinishReason::Other("insufficient_system_resource".into()),
            ),
            (json!(null), FinishReason::Unstated),
            (json!(7), FinishReason::Unstated),
        ];
        for (word, expected) in cases {
            let body = json!({"choices": [{"message": {"content": "x"}, "finish_reason": word}]});
            assert_eq!(read(&body).unwrap().choices[0].finish_reason, expected);
        }
    }

    #[test]
    fn troubles() {
        use LmErrorKind::*;
        let call = |arguments: &str| {
            json!({"content": null, "tool_calls":
            [{"id": "c", "function": {"name": "f", "arguments": arguments}}]})
        };
        let cases = [
            (json!({"choices": []}), Malformed, "the reply has an empty list of choices"),
            (json!({"choices": [{}]}), Malformed, "the reply has a choice without a message"),
            (
                json!({"choices": null}),
                Malformed,
                r#"the reply has no `choices`; it starts: {"choices":null}"#,
            ),
            (json!([]), Malformed, "the reply has no `choices`; it starts: []"),
            (
                choice(&json!({"content": null}), "content_filter"),
                ContentFilter,
                "the provider's content filter stopped the reply",
            ),
            (
                choice(&json!({"content": "The par", "refusal": "no"}), "content_filter"),
                ContentFilter,
                "the provider's content filter stopped the reply: no",
            ),
            (
                choice(&json!({"content": null, "refusal": "I can't"}), "stop"),
                Refusal,
                "the model refused: I can't",
            ),
            (
                choice(&json!({"content": [{"type": "refusal", "refusal": "I can't"}]}), "stop"),
                Refusal,
                "the model refused: I can't",
            ),
            (
                choice(&json!({"content": "x"}), "error"),
                Other,
                "the reply ended with the finish reason `error`",
            ),
            (
                choice(&call("{\"x\": "), "length"),
                CutOff,
                "the call of `f` broke off at the limit of tokens, raise `max_tokens`: {\"x\":",
            ),
            (
                choice(&call(""), "length"),
                CutOff,
                "the call of `f` broke off at the limit of tokens, raise `max_tokens`",
            ),
            (
                json!({"choices": [{"error": {"code": 502, "message": "broke"}, "message": {"content": "x"}}]}),
                Overloaded,
                "provider 502: broke",
            ),
            (
                json!({"choices": [], "error": {"code": 429, "message": "slow"}}),
                RateLimit,
                "provider 429: slow",
            ),
            (json!({"object": "error", "message": "bad", "code": 400}), BadRequest, "provider 400: bad"),
        ];
        for (body, kind, text) in cases {
            let error = read(&body).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, text), "{body}");
        }
        assert!(read(&json!({"error": null, "choices": [{"message": {"content": "x"}}]})).is_ok());
    }

    #[test]
    fn a_stopped_reply_is_not_lost() {
        let mut body = choice(&json!({"content": "The par"}), "content_filter");
        body["usage"] = json!({"prompt_tokens": 3, "completion_tokens": 2});
        let error = read(&body).unwrap_err();
        let completion = error.completion().unwrap();
        assert_eq!((completion.text(), completion.usage), (Some("The par"), Usage::new(3, 2)));
    }

    #[test]
    fn no_json() {
        let headers = [("Content-Type", "text/html")].into_iter().collect();
        let error = decode(200, &headers, b"<html>\n <h1>Sign in</h1>").unwrap_err();
        assert_eq!(error.kind(), LmErrorKind::Malformed);
        assert_eq!(
            error.to_string(),
            "the reply is not JSON but text/html; it starts: <html> <h1>Sign in</h1>"
        );
        let deep = "[".repeat(100_000);
        for body in [&b"{"[..], b"{\"choices\": [{\"message\": {\"content\": \"Ah"] {
            assert_eq!(decode(200, &Headers::new(), body).unwrap_err().kind(), LmErrorKind::CutOff);
        }
        for body in [&b""[..], b"data: {}", b"\xff", deep.as_bytes()] {
            assert_eq!(decode(200, &Headers::new(), body).unwrap_err().kind(), LmErrorKind::Malformed);
        }
    }
}

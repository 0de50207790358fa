//! A reply to a completion.

use serde_json::Value as Json;

use super::super::json::text_at;
use crate::Citation;
use crate::lm::wire::fault::{about, excerpt, fault, not_json, request_id};
use crate::lm::wire::json;
use crate::lm::{Choice, Completion, FinishReason, Headers, LmError, LmErrorKind, Usage};
use crate::message::ToolCall;
use crate::value::{Map, Value};

/// The completion in a whole reply of `…/v1/messages`.
///
/// The texts are joined; thinking is the reasoning; calls of the provider's own tools and their results are passed
/// over. Tokens that were written to the provider's cache or read from it count as input.
///
/// ```
/// use imp::FinishReason;
/// use imp::lm::{Headers, wire::anthropic::decode};
///
/// let body = br#"{"content": [{"type": "text", "text": "Ahoy"}], "stop_reason": "end_turn"}"#;
/// let completion = decode(200, &Headers::new(), body)?;
/// assert_eq!(completion.text(), Some("Ahoy"));
/// assert_eq!(completion.choices[0].finish_reason, FinishReason::Stop);
/// # Ok::<(), imp::LmError>(())
/// ```
///
/// # Errors
///
/// * any kind, for a status other than 2xx or an error in the body;
/// * [`Refusal`](LmErrorKind::Refusal) if the stop reason is `refusal`;
/// * [`CutOff`](LmErrorKind::CutOff) if the body ends too early;
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
        Err(error) => return Err(not_json(status, headers, body, error)),
    };
    let blocks = match json.get("content") {
        Some(Json::Array(blocks)) => blocks,
        _ if is_fault(&json) => return Err(fault(status, headers, Some(&json), body)),
        _ => {
            let text = format!("the reply has no `content`; it starts: {}", excerpt(body));
            return Err(about(LmErrorKind::Malformed, status, headers, text));
        }
    };
    let mut read = Reading::default();
    for block in blocks {
        read.block(block);
    }
    let mut completion =
        Completion { id: text_at(&json, "id"), model: text_at(&json, "model"), ..Completion::default() };
    if let Some(usage) = json.get("usage") {
        let mut counts = Counts::default();
        counts.update(usage);
        completion.usage = counts.usage();
    }
    read.complete(json.get("stop_reason").and_then(Json::as_str), completion, status, headers)
}

/// `{"type": "error", "error": {…}}`; some gateways leave the type out.
pub(super) fn is_fault(json: &Json) -> bool {
    json.get("type").and_then(Json::as_str) == Some("error")
        || json.get("error").is_some_and(|error| !error.is_null())
}

/// A choice on its way.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) choice: Choice,
    /// How many the text has.
    characters: usize,
}

impl Reading {
    /// A block that is there as a whole.
    pub(super) fn block(&mut self, block: &Json) {
        let text = |key: &str| block.get(key).and_then(Json::as_str);
        match text("type") {
            Some("text") => {
                let whole = self.choice.text.get_or_insert_default();
                let added = text("text").unwrap_or_default();
                whole.push_str(added);
                let start = self.characters;
                let end = start + added.chars().count();
                self.characters = end;
                let citations = block.get("citations").and_then(Json::as_array).into_iter().flatten();
                self.choice.citations.extend(citations.filter_map(|json| citation(json, start, end)));
            }
            Some("thinking") => {
                self.choice.reasoning.get_or_insert_default().push_str(text("thinking").unwrap_or_default());
            }
            Some("tool_use") => {
                let (id, name) = (text("id").unwrap_or_default(), text("name").unwrap_or_default());
                self.choice.tool_calls.push(call(id, name, block.get("input")));
            }
            _ => {}
        }
    }

    pub(super) fn complete(
        mut self,
        stop_reason: Option<&str>,
        mut completion: Completion,
        status: u16,
        headers: &Headers,
    ) -> Result<Completion, LmError> {
        self.choice.reasoning = self.choice.reasoning.filter(|text| !text.is_empty());
        self.choice.finish_reason = match stop_reason {
            None | Some("") => FinishReason::Unstated,
            Some("end_turn" | "stop_sequence" | "stop") => FinishReason::Stop,
            Some("max_tokens" | "model_context_window_exceeded" | "length") => FinishReason::Length,
            Some("tool_use" | "tool_calls") => FinishReason::ToolCalls,
            Some(other) => FinishReason::Other(other.to_owned()),
        };
        // At the limit, a call without arguments is one whose arguments were about to come.
        let cut = match (&self.choice.finish_reason, self.choice.tool_calls.last()) {
            (FinishReason::Length, Some(call)) if call.malformed.is_some() => {
                self.choice.tool_calls.pop().map(|call| call.name)
            }
            _ => None,
        };
        completion.request_id = request_id(headers).map(str::to_owned);
        completion.choices = vec![self.choice];
        let error = |kind, text: String| about(kind, status, headers, text);
        if let Some(name) = cut {
            let text = format!("the call of `{name}` broke off at the limit of tokens, raise `max_tokens`");
            return Err(error(LmErrorKind::CutOff, text).with_completion(completion));
        }
        if stop_reason == Some("refusal") {
            let said = completion.text().unwrap_or_default().to_owned();
            let text = match said.trim() {
                "" => "the model refused".to_owned(),
                said => format!("the model refused: {said}"),
            };
            return Err(error(LmErrorKind::Refusal, text)
                .with_provider_message(said)
                .with_completion(completion));
        }
        Ok(completion)
    }
}

/// A source of the text between two places. One that names no source is none.
fn citation(json: &Json, start: usize, end: usize) -> Option<Citation> {
    let number = |key: &str| json.get(key).and_then(Json::as_u64).and_then(|at| u32::try_from(at).ok());
    let mut citation = Citation::new();
    citation.quote = text_at(json, "cited_text");
    citation.title = text_at(json, "document_title").or_else(|| text_at(json, "title"));
    citation.url = text_at(json, "url").or_else(|| text_at(json, "source"));
    citation.document = number("document_index");
    citation.start = u32::try_from(start).ok();
    citation.end = u32::try_from(end).ok();
    citation.source_start = number("start_char_index");
    citation.source_end = number("end_char_index");
    let named = citation.url.is_some() || citation.title.is_some() || citation.document.is_some();
    named.then_some(citation)
}

/// A call; malformed if its input is no object.
pub(super) fn call(id: &str, name: &str, input: Option<&Json>) -> ToolCall {
    let value = input.map(|input| Value::from(input.clone()));
    match value {
        None | Some(Value::Null) => ToolCall::new(id, name, Map::new()),
        Some(Value::Map(arguments)) => ToolCall::new(id, name, arguments),
        Some(other) => {
            let mut call = ToolCall::new(id, name, Map::new());
            call.malformed = Some(other);
            call
        }
    }
}

/// Counted tokens; a stream counts again and again, and the last count of each kind holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    input: u64,
    written: u64,
    cached: u64,
    output: u64,
}

impl Counts {
    pub(super) fn update(&mut self, usage: &Json) {
        for (key, count) in [
            ("input_tokens", &mut self.input),
            ("cache_creation_input_tokens", &mut self.written),
            ("cache_read_input_tokens", &mut self.cached),
            ("output_tokens", &mut self.output),
        ] {
            if let Some(number) = usage.get(key).and_then(Json::as_u64) {
                *count = number;
            }
        }
    }

    pub(super) fn usage(self) -> Usage {
        let input = self.input.saturating_add(self.written).saturating_add(self.cached);
        Usage { cached_tokens: self.cached, ..Usage::new(input, self.output) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Json) -> Result<Completion, LmError> {
        decode(200, &Headers::new(), body.to_string().as_bytes())
    }

    #[test]
    fn whole_reply() {
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "a"},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
                {"type": "text", "text": "b", "citations": [
                    {"type": "char_location", "cited_text": "B.", "document_index": 0, "document_title": "D",
                        "start_char_index": 4, "end_char_index": 6},
                    {"type": "from_the_future"},
                ]},
                {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "x"}},
                {"type": "from_the_future"},
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 5, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 11, "output_tokens": 3},
        });
        let headers = [("request-id", "req_1")].into_iter().collect();
        let completion = decode(200, &headers, body.to_string().as_bytes()).unwrap();
        let choice = Choice::new("ab")
            .reasoning("hm")
            .citations([Citation::new()
                .quote("B.")
                .title("D")
                .document(0)
                .answer_span(1, 2)
                .source_span(4, 6)])
            .tool_calls([ToolCall::new("t1", "find", Map::from([("q", Value::from("x"))]))])
            .finish_reason(FinishReason::ToolCalls);
        assert_eq!(completion.choices, [choice]);
        assert_eq!(completion.usage, Usage { cached_tokens: 11, ..Usage::new(23, 3) });
        assert_eq!(
            (completion.id.as_deref(), completion.request_id.as_deref()),
            (Some("msg_1"), Some("req_1"))
        );
    }

    #[test]
    fn stop_reasons_and_troubles() {
        let says = |reason: &str| json!({"content": [{"type": "text", "text": "x"}], "stop_reason": reason});
        for (reason, expected) in [
            ("end_turn", FinishReason::Stop),
            ("stop_sequence", FinishReason::Stop),
            ("max_tokens", FinishReason::Length),
            ("pause_turn", FinishReason::Other("pause_turn".into())),
            ("", FinishReason::Unstated),
        ] {
            assert_eq!(read(&says(reason)).unwrap().choices[0].finish_reason, expected);
        }
        assert_eq!(read(&json!({"content": [], "stop_reason": "end_turn"})).unwrap().choices[0].text, None);
        for (body, kind) in [
            (says("refusal"), LmErrorKind::Refusal),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
                LmErrorKind::Overloaded,
            ),
            (json!({"hello": 1}), LmErrorKind::Malformed),
            (json!([]), LmErrorKind::Malformed),
        ] {
            assert_eq!(read(&body).unwrap_err().kind(), kind, "{body}");
        }
        assert_eq!(decode(200, &Headers::new(), b"{\"content\": [").unwrap_err().kind(), LmErrorKind::CutOff);
    }
}

//! The chunks of a streamed reply.

use serde_json::{Map as JsonMap, Value as Json, json};

use super::super::json::text_at;
use super::decode::{self, is_fault, read_parts};
use crate::lm::wire::fault::fault;
use crate::lm::wire::sse::Event;
use crate::lm::wire::stream::{Delta, values};
use crate::lm::{Choice, Completion, Headers, LmError, Usage};

/// Puts the chunks together. At the end each choice is read as one of a whole reply is, so both mean the same.
#[derive(Debug, Clone, Default)]
pub(in crate::lm::wire) struct Assembler {
    choices: Vec<Growing>,
    usage: Option<Usage>,
    model: Option<String>,
    id: Option<String>,
    done: bool,
}

/// The most choices of a reply, and the most calls of a choice.
const MANY: usize = 10_000;

/// A choice so far.
#[derive(Debug, Clone, Default)]
struct Growing {
    /// The provider's number of it.
    index: u64,
    text: Option<String>,
    reasoning: String,
    refusal: String,
    annotations: Vec<Json>,
    calls: Vec<GrowingCall>,
    finish_reason: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct GrowingCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Assembler {
    pub(in crate::lm::wire) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the provider said that every choice is whole.
    pub(in crate::lm::wire) fn is_whole(&self) -> bool {
        let ended = self.choices.iter().all(|choice| choice.finish_reason.is_some());
        self.done || (!self.choices.is_empty() && ended)
    }

    /// The stream's own end mark came.
    pub(in crate::lm::wire) fn end(&mut self) {
        self.done = true;
    }

    pub(in crate::lm::wire) fn event(
        &mut self,
        event: &Event,
        status: u16,
        headers: &Headers,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), LmError> {
        for chunk in values(event, status, headers)? {
            self.chunk(&chunk, deltas);
            let choices = chunk.get("choices").and_then(Json::as_array);
            let inner = choices.and_then(|choices| choices.iter().find(|choice| is_fault(choice)));
            let failed = is_fault(&chunk) || (event.name == "error" && choices.is_none());
            if let Some(json) = inner.or(failed.then_some(&chunk)) {
                return Err(fault(status, headers, Some(json), event.data.as_bytes()));
            }
        }
        self.done = event.data.lines().any(|line| line.trim() == "[DONE]");
        Ok(())
    }

    fn chunk(&mut self, chunk: &Json, deltas: &mut Vec<Delta>) {
        // Groq's older form has it one level down.
        let usage = [chunk.get("usage"), chunk.get("x_groq").and_then(|groq| groq.get("usage"))];
        if let Some(usage) = usage.into_iter().flatten().find(|usage| usage.is_object()) {
            self.usage = Some(decode::usage(usage));
        }
        self.model = self.model.take().or_else(|| text_at(chunk, "model"));
        self.id = self.id.take().or_else(|| text_at(chunk, "id"));
        for (at, choice) in chunk.get("choices").and_then(Json::as_array).into_iter().flatten().enumerate() {
            let index = choice.get("index").and_then(Json::as_u64).unwrap_or(at as u64);
            let known = self.choices.iter().position(|known| known.index == index);
            // Looking for one costs as many steps as there are: no reply has so many.
            if known.is_none() && self.choices.len() >= MANY {
                continue;
            }
            let at = known.unwrap_or_else(|| {
                self.choices.push(Growing { index, ..Growing::default() });
                self.choices.len() - 1
            });
            if let Some(growing) = self.choices.get_mut(at) {
                // Some servers send the whole message where a delta is due.
                if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
                    growing.add(at, delta, deltas);
                }
                if let Some(reason) = text_at(choice, "finish_reason") {
                    growing.finish_reason = Some(reason);
                }
            }
        }
    }

    pub(in crate::lm::wire) fn finish(self, status: u16, headers: &Headers) -> Result<Completion, LmError> {
        // In the order in which they appeared, as in the deltas.
        let choices: Vec<_> = self.choices.into_iter().map(Growing::whole).collect();
        let completion = Completion {
            usage: self.usage.unwrap_or_default(),
            model: self.model,
            id: self.id,
            ..Completion::default()
        };
        decode::complete(&choices, completion, status, headers)
    }
}

impl Growing {
    fn add(&mut self, choice: usize, delta: &Json, deltas: &mut Vec<Delta>) {
        let reasoning = text_at(delta, "reasoning_content").or_else(|| text_at(delta, "reasoning"));
        let mut read = Choice { reasoning, ..Choice::default() };
        let mut refusal = text_at(delta, "refusal");
        match delta.get("content") {
            Some(Json::String(text)) => read.text = Some(text.clone()),
            Some(Json::Array(parts)) => read_parts(parts, &mut read, &mut refusal),
            _ => {}
        }
        if let Some(text) = read.reasoning.filter(|text| !text.is_empty()) {
            self.reasoning.push_str(&text);
            deltas.push(Delta::Reasoning { choice, text });
        }
        if let Some(text) = read.text {
            self.text.get_or_insert_default().push_str(&text);
            if !text.is_empty() {
                deltas.push(Delta::Text { choice, text });
            }
        }
        self.refusal.push_str(&refusal.unwrap_or_default());
        self.annotations
            .extend(delta.get("annotations").and_then(Json::as_array).into_iter().flatten().cloned());
        for call in delta.get("tool_calls").and_then(Json::as_array).into_iter().flatten() {
            deltas.push(self.add_call(choice, call));
        }
        if let Some(function) = delta.get("function_call").filter(|function| function.is_object()) {
            deltas.push(self.add_call(choice, &json!({"index": 0, "function": function})));
        }
    }

    fn add_call(&mut self, choice: usize, json: &Json) -> Delta {
        let function = json.get("function").unwrap_or(json);
        let index = json.get("index").and_then(Json::as_u64);
        let id = text_at(json, "id").unwrap_or_default();
        let name = text_at(function, "name").unwrap_or_default();
        let arguments = match function.get("arguments") {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(json) => json.to_string(),
        };
        // Some servers leave the number out, or count every call as the first: another id with a name is another call.
        let known = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id),
            None if !name.is_empty() => None,
            None => self.calls.len().checked_sub(1),
        };
        let same =
            |call: &GrowingCall| id.is_empty() || name.is_empty() || call.id.is_empty() || call.id == id;
        let known = known.filter(|at| self.calls.get(*at).is_some_and(same));
        let at = known.unwrap_or_else(|| {
            if self.calls.len() < MANY {
                self.calls.push(GrowingCall { index, ..GrowingCall::default() });
            }
            self.calls.len().saturating_sub(1)
        });
        let mut delta = (String::new(), String::new());
        if let Some(call) = self.calls.get_mut(at) {
            // Both come once; some servers repeat them with every piece.
            if call.id.is_empty() {
                call.id.clone_from(&id);
                delta.0 = id;
            }
            if call.name.is_empty() {
                call.name.clone_from(&name);
                delta.1 = name;
            }
            call.arguments.push_str(&arguments);
        }
        Delta::ToolCall { choice, call: at, id: delta.0, name: delta.1, arguments }
    }

    /// The choice as a whole reply would have it.
    fn whole(self) -> Json {
        let mut message = JsonMap::new();
        message.insert("content".to_owned(), self.text.map_or(Json::Null, Json::String));
        for (key, text) in [("reasoning_content", self.reasoning), ("refusal", self.refusal)] {
            message.insert(key.to_owned(), Json::String(text));
        }
        message.insert("annotations".to_owned(), Json::Array(self.annotations));
        let calls = self
            .calls
            .into_iter()
            .map(|call| json!({"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}));
        message.insert("tool_calls".to_owned(), Json::Array(calls.collect()));
        json!({"message": message, "finish_reason": self.finish_reason})
    }
}

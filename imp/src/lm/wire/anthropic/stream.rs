//! The events of a streamed reply.

use serde_json::{Value as Json, json};

use super::super::json::text_at;
use super::decode::{Counts, Reading, call, is_fault};
use crate::lm::wire::fault::fault;
use crate::lm::wire::sse::Event;
use crate::lm::wire::stream::{Delta, values};
use crate::lm::{Completion, Headers, LmError};

/// Puts the events together. A block is read when it is whole, as one of a whole reply is.
#[derive(Debug, Clone, Default)]
pub(in crate::lm::wire) struct Assembler {
    blocks: Vec<Growing>,
    counts: Counts,
    model: Option<String>,
    id: Option<String>,
    stop_reason: Option<String>,
    done: bool,
}

#[derive(Debug, Clone, Default)]
struct Growing {
    /// The provider's number of it.
    index: u64,
    /// As the block's start has it.
    start: Json,
    /// What was added to its text, its thinking or its input.
    added: String,
}

impl Growing {
    fn kind(&self) -> &str {
        self.start.get("type").and_then(Json::as_str).unwrap_or_default()
    }
}

impl Assembler {
    pub(in crate::lm::wire) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the provider said that the reply is whole.
    pub(in crate::lm::wire) fn is_whole(&self) -> bool {
        self.done || self.stop_reason.is_some()
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
        for json in values(event, status, headers)? {
            if is_fault(&json) || event.name == "error" {
                return Err(fault(status, headers, Some(&json), event.data.as_bytes()));
            }
            self.json(&json, deltas);
        }
        Ok(())
    }

    fn json(&mut self, json: &Json, deltas: &mut Vec<Delta>) {
        let index = || json.get("index").and_then(Json::as_u64).unwrap_or_default();
        match json.get("type").and_then(Json::as_str) {
            Some("message_start") => {
                let message = json.get("message").unwrap_or(json);
                self.id = text_at(message, "id");
                self.model = text_at(message, "model");
                self.counts.update(message.get("usage").unwrap_or(&Json::Null));
            }
            Some("content_block_start") => {
                let start = json.get("content_block").cloned().unwrap_or_default();
                let begun = text_at(&start, "text").or_else(|| text_at(&start, "thinking"));
                self.blocks.push(Growing { index: index(), start, added: String::new() });
                let at = self.blocks.len() - 1;
                if self.blocks.last().is_some_and(|block| block.kind() == "tool_use") {
                    deltas.extend(self.delta(at, String::new(), true));
                } else if let Some(text) = begun {
                    deltas.extend(self.delta(at, text, false));
                }
            }
            Some("content_block_delta") => {
                let index = index();
                let delta = json.get("delta").unwrap_or(&Json::Null);
                let added = ["text", "thinking", "partial_json"].iter().find_map(|key| text_at(delta, key));
                if let Some(citation) = delta.get("citation") {
                    let block = self.blocks.iter_mut().rfind(|block| block.index == index);
                    if let Some(map) = block.and_then(|block| block.start.as_object_mut()) {
                        let known = map.entry("citations").or_insert_with(|| json!([]));
                        if let Some(known) = known.as_array_mut() {
                            known.push(citation.clone());
                        } else {
                            *known = json!([citation]);
                        }
                    }
                }
                let Some(added) = added else { return };
                let known = self.blocks.iter().rposition(|block| block.index == index);
                let at = known.unwrap_or_else(|| {
                    // A server that sends no starts: the delta says what its block is.
                    let kind = if delta.get("thinking").is_some() { "thinking" } else { "text" };
                    self.blocks.push(Growing { index, start: json!({"type": kind}), added: String::new() });
                    self.blocks.len() - 1
                });
                if let Some(block) = self.blocks.get_mut(at) {
                    block.added.push_str(&added);
                }
                deltas.extend(self.delta(at, added, false));
            }
            Some("message_delta") => {
                let reason = json.get("delta").and_then(|delta| text_at(delta, "stop_reason"));
                self.stop_reason = reason.or(self.stop_reason.take());
                self.counts.update(json.get("usage").unwrap_or(&Json::Null));
            }
            Some("message_stop") => self.done = true,
            _ => {}
        }
    }

    /// What is told of a piece of a block.
    fn delta(&self, at: usize, text: String, start: bool) -> Option<Delta> {
        let block = self.blocks.get(at)?;
        match block.kind() {
            "text" => Some(Delta::Text { choice: 0, text }),
            "thinking" => Some(Delta::Reasoning { choice: 0, text }),
            "tool_use" => {
                let before = self.blocks.get(..at).unwrap_or_default();
                let told = |key: &str| text_at(&block.start, key).filter(|_| start).unwrap_or_default();
                Some(Delta::ToolCall {
                    choice: 0,
                    call: before.iter().filter(|block| block.kind() == "tool_use").count(),
                    id: told("id"),
                    name: told("name"),
                    arguments: text,
                })
            }
            _ => None,
        }
    }

    pub(in crate::lm::wire) fn finish(self, status: u16, headers: &Headers) -> Result<Completion, LmError> {
        let mut read = Reading::default();
        for block in self.blocks {
            let kind = block.kind().to_owned();
            if kind == "tool_use" {
                let id = text_at(&block.start, "id").unwrap_or_default();
                let name = text_at(&block.start, "name").unwrap_or_default();
                // Without a piece, the start's own input holds: some servers send it whole.
                let input = if block.added.trim().is_empty() {
                    block.start.get("input").cloned()
                } else {
                    Some(
                        super::super::json::parse(block.added.as_bytes())
                            .unwrap_or(Json::String(block.added)),
                    )
                };
                read.choice.tool_calls.push(call(&id, &name, input.as_ref()));
                continue;
            }
            let mut whole = block.start;
            for key in ["text", "thinking"] {
                if kind == key {
                    let text = text_at(&whole, key).unwrap_or_default() + &block.added;
                    if let Some(map) = whole.as_object_mut() {
                        map.insert(key.to_owned(), text.into());
                    }
                }
            }
            read.block(&whole);
        }
        let completion = Completion {
            usage: self.counts.usage(),
            model: self.model,
            id: self.id,
            ..Completion::default()
        };
        read.complete(self.stop_reason.as_deref(), completion, status, headers)
    }
}

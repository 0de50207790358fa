//! The conversation so far as messages (DSPy's `format_conversation_history`, Imp §7.6).

use std::marker::PhantomData;

use crate::adapter::Adapter;
use crate::adapter::assembly::rendered_user_content;
use crate::adapter::exchange::{Exchange, Results};
use crate::adapter::guidance::Guidance;
use crate::adapter::messages::{INCOMPLETE_DEMO, NOT_SUPPLIED, rendered_outputs};
use crate::adapter::options::{FormatOptions, Missing};
use crate::adapter::record::Record;
use crate::adapter::renderer::{NoteContext, captured};
use crate::adapter::step::{Restricted, Step};
use crate::dialect::Dialect;
use crate::error::FormatError;
use crate::history::{ASSISTANT_NAME, History, THOUGHT, Turn, USER_NAME};
use crate::message::{Content, Message, Part};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::scan::trim;
use crate::text::write::{JsonWriter, Layout, escape_markers};
use crate::tool_calls::ToolResult;
use crate::tool_failure::ToolFailure;
use crate::value::{Map, Value};

/// What follows a step of a submit loop that only says something: the text reached nobody.
///
/// The words are part of the conversation, so that each request is the one before it and the newest exchange.
pub const UNSENT_NOTE: &str =
    "That text was not sent. It stays here as your own note. Call a tool, or call `submit` to finish.";

/// The tool that ends a loop, as it is recorded.
const SUBMIT: &str = "submit";

/// Whether there is a conversation already.
pub(crate) fn is_given(spec: &SignatureSpec, inputs: &dyn Record) -> Result<bool, FormatError> {
    Ok(histories(spec, inputs)?.iter().any(|history| !history.is_empty()))
}

fn histories(spec: &SignatureSpec, inputs: &dyn Record) -> Result<Vec<History>, FormatError> {
    let mut all = Vec::new();
    for (index, field) in spec.inputs.iter().enumerate().filter(|(_, field)| field.is_history()) {
        match captured(field, inputs, index)? {
            None | Some(Value::Null) => {}
            Some(value) => all.push(
                History::from_value(value)
                    .map_err(|error| FormatError::Other(format!("the input `{}`: {error}", field.name)))?,
            ),
        }
    }
    Ok(all)
}

/// The messages of all turns.
pub(crate) fn messages<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    options: &FormatOptions,
) -> Result<Vec<Message>, FormatError> {
    let mut messages = Vec::new();
    let Some(visible) = spec.visible() else { return Ok(messages) };
    let turns = Turns::new(adapter, &visible.spec, options);
    for history in histories(spec, inputs)? {
        for turn in history.turns() {
            turns.turn(turn, &mut messages)?;
        }
    }
    Ok(messages)
}

/// The messages of a demo of a tool loop, and whether it is complete; nothing if it shows nothing.
pub(crate) fn demo<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    guidance: &Guidance,
    turn: &Turn,
    options: &FormatOptions,
) -> Result<Option<(Vec<Message>, bool)>, FormatError> {
    let spec = spec.visible().map_or(spec, |visible| &visible.spec);
    let turns = Turns::new(adapter, spec, options);
    let exchange = Exchange::of(turn, spec);
    let step = Step { turn, spec, guidance: Some(guidance), exchange: exchange.as_ref() };
    let given = |fields: &[std::sync::Arc<FieldSpec>]| {
        let keys = fields.iter().filter(|field| step.value(field).is_some()).count();
        let values = fields.iter().filter(|field| step.value(field).is_some_and(|value| !value.is_null()));
        (keys, values.count() == fields.len())
    };
    let ((inputs, whole_inputs), (outputs, whole_outputs)) = (given(&spec.inputs), given(&spec.outputs));
    let task = guidance.outputs.iter().filter(|field| turn.get(&field.name).is_some()).count();
    let has_calls = exchange.as_ref().is_some_and(|exchange| !exchange.calls.is_empty());
    if inputs == 0 || (outputs == 0 && task == 0 && !has_calls) {
        return Ok(None);
    }
    let whole = whole_inputs && (whole_outputs || (turns.is_native && (task > 0 || has_calls)));
    let prefix = if whole { "" } else { INCOMPLETE_DEMO };
    let mut messages = Vec::new();
    let user = rendered_user_content(adapter, spec, &step, (prefix, ""), options)?;
    messages.push(Message::user(user));
    match &exchange {
        Some(exchange) if turns.is_native && has_calls => {
            turns.native(&step, exchange.clone(), &mut messages)?;
        }
        _ if turns.adapter.has_plain_turns(options) => {
            turns.say(&step, turns.said(&step), &mut messages);
        }
        _ => {
            let missing = Missing::Say(NOT_SUPPLIED);
            let said = rendered_outputs(adapter, spec, &step, missing, options)?;
            messages.push(Message::assistant(said));
        }
    }
    Ok(Some((messages, whole)))
}

struct Turns<'a, A: ?Sized> {
    adapter: &'a A,
    spec: &'a SignatureSpec,
    options: &'a FormatOptions,
    guidance: Option<&'a Guidance>,
    /// Whether calls are the provider's own.
    is_native: bool,
}

impl<'a, A: Adapter + ?Sized> Turns<'a, A> {
    fn new(adapter: &'a A, spec: &'a SignatureSpec, options: &'a FormatOptions) -> Self {
        let guidance = options.guidance.as_deref();
        let is_native = options.native_tool_calls.unwrap_or_else(|| match guidance {
            Some(guidance) => guidance.calls_are_native(),
            None => !spec.outputs.iter().any(|field| field.is_tool_calls()),
        });
        Turns { adapter, spec, options, guidance, is_native }
    }

    fn is_plain(&self) -> bool {
        self.adapter.dialect() == Dialect::Plain
    }

    /// The messages of one turn.
    fn turn(&self, turn: &Turn, messages: &mut Vec<Message>) -> Result<(), FormatError> {
        let exchange = Exchange::of(turn, self.spec);
        let step = Step { turn, spec: self.spec, guidance: self.guidance, exchange: exchange.as_ref() };
        self.asked(&step, messages)?;
        match &exchange {
            // A loop's steps are what the provider saw, in either dialect.
            Some(exchange) if self.is_native && (self.is_plain() || self.guidance.is_some()) => {
                self.native(&step, exchange.clone(), messages)?;
            }
            Some(exchange) if self.is_native => self.native_as_dspy(&step, exchange, messages)?,
            Some(exchange) => self.written(&step, exchange, messages)?,
            None => self.answered(&step, messages)?,
        }
        if let Some(render) = &self.options.renderers.note {
            let context = NoteContext { spec: self.spec, turn, of: PhantomData };
            if let Some(note) = render(&context).filter(|note| !note.is_empty()) {
                messages.push(Message::user(self.escaped(note)));
            }
        }
        Ok(())
    }

    /// The user's side of a turn.
    fn asked(&self, step: &Step<'_>, messages: &mut Vec<Message>) -> Result<(), FormatError> {
        // A field of that name holds a conversation, whatever its type (Imp §7.6).
        let shown = |field: &FieldSpec| !(self.is_plain() && field.name == "history");
        let inputs = Restricted(step, &shown);
        let content = rendered_user_content(self.adapter, self.spec, &inputs, ("", ""), self.options)?;
        if content.is_blank() {
            return Ok(());
        }
        let reminder = self.adapter.output_requirements(self.spec);
        let content = if self.options.history_reminder && !reminder.is_empty() {
            rendered_user_content(self.adapter, self.spec, &inputs, ("", &reminder), self.options)?
        } else {
            content
        };
        messages.push(self.named(Message::user(content), step, USER_NAME));
        Ok(())
    }

    /// The message with the name that the turn has for it, unless the signature has a field of that name.
    fn named(&self, message: Message, step: &Step<'_>, key: &str) -> Message {
        match step.turn.extra(key).filter(|_| !self.spec.declares(key)) {
            Some(name) => message.named(name),
            None => message,
        }
    }

    fn escaped(&self, mut text: String) -> String {
        if self.adapter.escapes_markers() {
            escape_markers(&mut text, 0);
        }
        text
    }

    /// The assistant's message of a turn, with what the turn keeps for it.
    fn assistant(&self, step: &Step<'_>, content: String) -> Message {
        let mut message = self.named(Message::assistant(content), step, ASSISTANT_NAME);
        let (reasoning, details) = step.turn.kept_reasoning();
        message.reasoning_content = reasoning.map(str::to_owned);
        message.reasoning_details = details.cloned();
        message
    }

    /// A text that the assistant said, without sections; nothing if it is blank.
    fn say(&self, step: &Step<'_>, text: String, messages: &mut Vec<Message>) {
        if !trim(&text).is_empty() {
            messages.push(self.assistant(step, self.escaped(text)));
        }
    }

    /// What the model said in a step of a loop: its thought, or else its answer.
    fn said(&self, step: &Step<'_>) -> String {
        if let Some(thought) = step.turn.get(THOUGHT).filter(|thought| !thought.is_null()) {
            return plain(thought);
        }
        match step.text_output().and_then(|field| step.turn.get(&field.name)) {
            Some(text) => plain(text),
            None => self.submitted(step),
        }
    }

    /// The task's outputs that a turn of a submit loop has beside no call: as a submit's arguments are shown.
    fn submitted(&self, step: &Step<'_>) -> String {
        let outputs = self.guidance.iter().flat_map(|guidance| guidance.output_names());
        let given = outputs.filter_map(|name| Some((name, step.turn.get(name)?.clone())));
        let given: Map = given.filter(|(_, value)| !value.is_null()).collect();
        if given.is_empty() { String::new() } else { answer(&given) }
    }

    /// A turn without tool calls.
    fn answered(&self, step: &Step<'_>, messages: &mut Vec<Message>) -> Result<(), FormatError> {
        if let Some(guidance) = self.guidance {
            // A step of a loop that ends with a text is said as such, whatever the adapter: it is no request
            // for outputs that is answered here.
            if self.adapter.has_plain_turns(self.options) || guidance.is_native_text_loop() {
                let said = self.said(step);
                let is_note = self.is_unsent(step);
                self.say(step, said, messages);
                if is_note {
                    messages.push(Message::user(UNSENT_NOTE));
                }
                return Ok(());
            }
        }
        let shown = |field: &FieldSpec| !step.holds_calls(field);
        self.sections(step, &shown, messages)
    }

    /// The outputs that a turn recorded, in the adapter's format; nothing if there is none.
    fn sections(
        &self,
        step: &Step<'_>,
        shown: &dyn Fn(&FieldSpec) -> bool,
        messages: &mut Vec<Message>,
    ) -> Result<(), FormatError> {
        if let Some(content) = self.outputs(step, shown)? {
            messages.push(self.assistant(step, content));
        }
        Ok(())
    }

    fn outputs(
        &self,
        step: &Step<'_>,
        shown: &dyn Fn(&FieldSpec) -> bool,
    ) -> Result<Option<String>, FormatError> {
        let mut outputs = self.spec.outputs.iter();
        if !outputs.any(|field| shown(field) && step.value(field).is_some()) {
            return Ok(None);
        }
        let record = Restricted(step, shown);
        let content = rendered_outputs(self.adapter, self.spec, &record, Missing::LeaveOut, self.options)?;
        Ok((!trim(&content).is_empty()).then_some(content))
    }

    /// Whether a step only said something, in a loop whose texts reach nobody.
    fn is_unsent(&self, step: &Step<'_>) -> bool {
        let is_submit_loop = self.guidance.is_some_and(|guidance| guidance.submit.is_some());
        is_submit_loop
            && self.is_native
            && step.turn.extra(THOUGHT).is_some_and(|thought| !trim(thought).is_empty())
            && self.submitted(step).is_empty()
    }

    /// A turn whose calls are the provider's own.
    fn native(
        &self,
        step: &Step<'_>,
        exchange: Exchange,
        messages: &mut Vec<Message>,
    ) -> Result<(), FormatError> {
        let exchange = exchange.paired();
        let (exchange, answer) = match self.guidance {
            Some(guidance) if guidance.submit.is_none() => without_submit(exchange),
            _ => (exchange, None),
        };
        let mut content = match self.guidance {
            Some(_) => self.escaped(said_beside(step)),
            // A predictor that names an output for calls keeps its other outputs.
            None if step.turn.get(THOUGHT).is_none() => {
                let shown = |field: &FieldSpec| {
                    !step.holds_calls(field) && step.value(field).is_some_and(|value| !value.is_null())
                };
                self.outputs(step, &shown)?.unwrap_or_default()
            }
            None => self.escaped(step.turn.get(THOUGHT).map(plain).unwrap_or_default()),
        };
        let answer = answer.map(|answer| self.escaped(answer));
        let mut last = None;
        match answer {
            None if exchange.calls.is_empty() && trim(&content).is_empty() => {
                content = self.escaped(self.submitted(step));
            }
            Some(answer) if exchange.calls.is_empty() && trim(&content).is_empty() => content = answer,
            Some(answer) if exchange.calls.is_empty() => content = format!("{content}\n\n{answer}"),
            answer => last = answer,
        }
        let is_note = exchange.calls.is_empty() && last.is_none() && self.is_unsent(step);
        if !exchange.calls.is_empty() || !trim(&content).is_empty() {
            let mut message = self.assistant(step, content);
            message.tool_calls.clone_from(&exchange.calls);
            messages.push(message);
        }
        let results = Results { adapter: self.adapter, options: self.options };
        let mut images = Vec::new();
        for result in exchange.results.iter().flatten() {
            let (content, attached) = results.content(result);
            messages.push(Message::tool(result.call_id.as_str(), content));
            images.extend(attached);
        }
        messages.extend(images);
        if !exchange.orphans.is_empty() {
            messages.push(Message::user(results.written(&exchange.orphans)?));
        }
        if let Some(answer) = last {
            messages.push(self.named(Message::assistant(answer), step, ASSISTANT_NAME));
        }
        if is_note {
            messages.push(Message::user(UNSENT_NOTE));
        }
        Ok(())
    }

    /// The same in DSPy's prompts: the other outputs in the adapter's format, and the calls only if each has
    /// its result.
    fn native_as_dspy(
        &self,
        step: &Step<'_>,
        exchange: &Exchange,
        messages: &mut Vec<Message>,
    ) -> Result<(), FormatError> {
        let shown = |field: &FieldSpec| {
            !field.is_tool_calls() && step.value(field).is_some_and(|value| !value.is_null())
        };
        let content = self.outputs(step, &shown)?;
        let results = exchange.results.as_deref().filter(|results| {
            let ids = exchange.calls.iter().map(|call| call.id.as_str());
            ids.clone().all(|id| !id.is_empty())
                && ids.eq(results.iter().map(|result| result.call_id.as_str()))
        });
        // An empty list of calls is no call: providers refuse one.
        if content.is_some() || results.is_some_and(|results| !results.is_empty()) {
            let mut message = self.assistant(step, content.unwrap_or_default());
            if results.is_some() {
                message.tool_calls.clone_from(&exchange.calls);
            }
            messages.push(message);
        }
        for result in results.into_iter().flatten() {
            let mut text = String::new();
            push_value(&mut text, &result.value, false);
            messages.push(Message::tool(result.call_id.as_str(), text).named(result.name.as_str()));
        }
        Ok(())
    }

    /// A turn whose calls the model wrote: they stand in its outputs, and the results are the user's.
    fn written(
        &self,
        step: &Step<'_>,
        exchange: &Exchange,
        messages: &mut Vec<Message>,
    ) -> Result<(), FormatError> {
        let is_plain = self.is_plain();
        let mut outputs = self.spec.outputs.iter().filter(|field| !step.holds_calls(field));
        let said_nothing =
            !outputs.any(|field| step.value(field).is_some_and(|value| !is_plain || !value.is_null()));
        if !(is_plain && exchange.calls.is_empty() && said_nothing) {
            self.sections(step, &|_| true, messages)?;
        }
        let results = Results { adapter: self.adapter, options: self.options };
        match &exchange.results {
            Some(given) if !is_plain => messages.push(Message::user(results.as_dspy(given)?)),
            Some(given) if !given.is_empty() => {
                messages.push(Message::user(results.written(given)?));
                messages.extend(given.iter().filter_map(|result| results.content(result).1));
            }
            _ => {}
        }
        Ok(())
    }
}

/// What was said beside calls: the thought, or the text of the answer; no outputs of a submit.
fn said_beside(step: &Step<'_>) -> String {
    match step.turn.get(THOUGHT) {
        Some(thought) => plain(thought),
        None => {
            step.text_output().and_then(|field| step.turn.get(&field.name)).map(plain).unwrap_or_default()
        }
    }
}

/// The exchange without its calls of `submit`, and the answer of the last one that was accepted. A call in a loop that
/// has no such tool stays: the model reads that there is none. Every call has its result, in order.
fn without_submit(exchange: Exchange) -> (Exchange, Option<String>) {
    let is_unknown = |result: &ToolResult| matches!(result.failure(), Some(ToolFailure::UnknownTool { .. }));
    let mut last = None;
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for (call, result) in exchange.calls.into_iter().zip(exchange.results.unwrap_or_default()) {
        if call.name != SUBMIT || is_unknown(&result) {
            calls.push(call);
            results.push(result);
        } else if !result.is_error {
            last = Some(answer(&call.arguments));
        }
    }
    let mut orphans = exchange.orphans;
    orphans.retain(|result| result.name != SUBMIT);
    (Exchange { calls, results: Some(results), orphans }, last)
}

/// The arguments of a submit as an answer: the one text, else compact JSON.
fn answer(arguments: &Map) -> String {
    let mut entries = arguments.iter();
    match (entries.next(), entries.next()) {
        (Some((_, Value::String(text))), None) => text.clone(),
        _ => serde_json::to_string(arguments).unwrap_or_default(),
    }
}

/// A value as plain text (Imp §2): a text as it is, the rest as JSON.
fn plain(value: &Value) -> String {
    let mut text = String::new();
    if !value.is_null() {
        push_value(&mut text, value, true);
    }
    text
}

/// Writes a value as text; maps sorted by their keys, or as they are.
pub(crate) fn push_value(out: &mut String, value: &Value, sorted: bool) {
    use serde::Serialize as _;
    match value {
        Value::String(text) => out.push_str(text),
        value => {
            // What cannot be written is a map whose keys are no text, and `Value` has none.
            let _ = value.serialize(JsonWriter::new(out, Layout::Line, sorted));
        }
    }
}

/// The parts of a content with text in front.
pub(crate) fn with_label(label: String, parts: Vec<Part>) -> Content {
    let mut all = vec![Part::Text(label.into())];
    all.extend(parts);
    Content::Parts(all)
}

//! One request of a loop, its fallback, and what the reply says.

use crate::adapter::Adapter;
use crate::adapter::options::FormatOptions;
use crate::adapter::read::{RawReply, Read, Syntax, read_with};
use crate::adapter::record::{Outputs, Record};
use crate::error::{ParseError, WriteError};
use crate::fields::Fields;
use crate::lm::{Choice, Completion, Config, FinishReason, LmError, LmErrorKind, Request};
use crate::message::ToolCall;
use crate::program::error::Error;
use crate::program::formatter::Formatter;
use crate::program::trace;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::scan::trim;
use crate::text::think;
use crate::text::write::FieldWriter;
use crate::tool_calls;
use crate::tool_definition::ToolDefinition;
use crate::value::Value;

use super::event::Event;
use super::plan::Plan;
use super::run::Run;

/// What a reply says.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// The text; none if it is blank.
    pub(super) text: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    /// What the provider asks to be given back.
    pub(super) reasoning: Option<String>,
    pub(super) finish_reason: FinishReason,
}

/// The inputs of a step, of which any may be missing: it goes on with what was said before.
pub(super) struct StepInputs(pub(super) Fields);

impl Record for StepInputs {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        self.0.write(index, field, out)
    }

    fn is_complete(&self) -> bool {
        true
    }

    fn user_name(&self) -> Option<&str> {
        self.0.user_name()
    }
}

/// What a request is made of.
pub(super) struct Asked<'a> {
    pub(super) spec: &'a SignatureSpec,
    pub(super) options: &'a FormatOptions,
    pub(super) main: &'a Formatter,
    pub(super) fallback: Option<&'a Formatter>,
    pub(super) inputs: Fields,
    pub(super) config: Config,
    pub(super) tools: Vec<ToolDefinition>,
}

/// How a reply is read by an adapter.
type Reading<'a, T> = &'a (dyn Fn(&dyn Adapter, &Choice) -> Result<T, ParseError> + Send + Sync);

impl<O: Outputs> Run<'_, O> {
    /// Sends a request, and the fallback's if the reply cannot be read.
    pub(super) async fn send<T>(&mut self, asked: Asked<'_>, read: Reading<'_, T>) -> Result<T, Error> {
        let inputs = StepInputs(asked.inputs);
        let capabilities = self.core.lm.capabilities();
        let make = |formatter: &Formatter| -> Result<Request, Error> {
            let config = asked.config.clone();
            let mut request = formatter
                .request(asked.spec, &inputs, asked.options, config, capabilities)
                .map_err(Error::format)?;
            request.tools.clone_from(&asked.tools);
            Ok(request)
        };
        let request = make(asked.main)?;
        let completion = self.complete(&request).await?;
        let error = match read_first(&*asked.main.adapter, &request, &completion, read)? {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        let failed = |usage| Error::parse(error.clone(), 0, request.messages.clone(), completion, usage);
        let Some(fallback) = asked.fallback else { return Err(failed(self.usage)) };
        trace::falls_back(asked.main.adapter.name(), fallback.adapter.name(), &error);
        let second = make(fallback)?;
        let completion_of_second = self.complete(&second).await?;
        match read_first(&*fallback.adapter, &second, &completion_of_second, read)? {
            Ok(read) => Ok(read),
            // The first error says what the model made of the format that the caller chose.
            Err(_) => Err(failed(self.usage)),
        }
    }

    async fn complete(&mut self, request: &Request) -> Result<Completion, Error> {
        let step = self.step;
        self.emit(&Event::Requested { step, request });
        match self.core.lm.complete(request).await {
            Ok(completion) => {
                self.usage += completion.usage;
                self.emit(&Event::Replied { step, completion: &completion });
                Ok(completion)
            }
            Err(error) => Err(Error::model(error, request.messages.clone(), self.usage)),
        }
    }

    /// Asks for a step.
    pub(super) async fn ask(&mut self, config: Config, tools: Vec<ToolDefinition>) -> Result<Said, Error> {
        let (plan, core) = (self.plan, self.core);
        let salvage = core.salvage;
        loop {
            let asked = Asked {
                spec: &plan.step,
                options: &plan.options,
                main: &plan.main,
                fallback: plan.fallback.as_ref(),
                inputs: self.step_inputs(),
                config: self.timed(config.clone()),
                tools: tools.clone(),
            };
            let read = |adapter: &dyn Adapter, choice: &Choice| said(plan, adapter, choice, salvage);
            match self.send(asked, &read).await {
                Err(error) if is_too_long(&error) && self.omit_more() => {}
                result => return result,
            }
        }
    }

    /// What a step is given: the conversation, and the inputs if they have not been said yet.
    fn step_inputs(&self) -> Fields {
        let mut inputs = if self.unspent { self.inputs.clone() } else { Fields::new() };
        if let Some(name) = self.user_name.as_deref().filter(|_| self.unspent) {
            inputs.insert(crate::history::USER_NAME, name);
        }
        inputs.insert(self.plan.history.as_str(), self.shown_history());
        if self.plan.written.is_some() {
            inputs.insert("tools", self.plan.listing.clone());
        }
        inputs
    }
}

fn read_first<T>(
    adapter: &dyn Adapter,
    request: &Request,
    completion: &Completion,
    read: Reading<'_, T>,
) -> Result<Result<T, ParseError>, Error> {
    let Some(choice) = completion.choices.first() else {
        return Err(Error::completions(1, 0, request.messages.clone(), completion.usage));
    };
    if choice.finish_reason == FinishReason::ContentFilter {
        let message = "the provider's content filter stopped the completion: change the request";
        let error = LmError::new(LmErrorKind::ContentFilter, message).with_completion(completion.clone());
        return Err(Error::model(error, request.messages.clone(), completion.usage));
    }
    Ok(read(adapter, choice))
}

/// Whether the messages were longer than the model can take.
pub(super) fn is_too_long(error: &Error) -> bool {
    error.as_model().is_some_and(|error| error.kind() == LmErrorKind::ContextWindowExceeded)
}

fn said(plan: &Plan, adapter: &dyn Adapter, choice: &Choice, salvage: bool) -> Result<Said, ParseError> {
    let (text, calls) = match &plan.written {
        None => (native_text(plan, adapter, choice, salvage)?, choice.tool_calls.clone()),
        Some(field) => written(plan, field, adapter, choice, salvage)?,
    };
    Ok(Said {
        text: text.filter(|text| !trim(text).is_empty()),
        calls,
        reasoning: choice.reasoning.clone(),
        finish_reason: choice.finish_reason.clone(),
    })
}

/// The text of a reply whose calls are the provider's.
fn native_text(
    plan: &Plan,
    adapter: &dyn Adapter,
    choice: &Choice,
    salvage: bool,
) -> Result<Option<String>, ParseError> {
    let text = choice.text.as_deref().unwrap_or_default();
    let has_calls = !choice.tool_calls.is_empty();
    if trim(text).is_empty() && (has_calls || adapter.syntax() != Syntax::Json) {
        return Ok(None);
    }
    // A text that was cut off is the text that there is; why it ended is told beside it.
    let read = read_with::<Fields, _>(adapter, &plan.step, RawReply::new(text).salvage(salvage));
    match read.map(Read::into_inner) {
        Ok(fields) => Ok(text_of(plan, &fields)),
        Err(_) if has_calls => {
            let (from, _) = think::take(text, &[], &|_| None);
            Ok(Some(trim(text.get(from..).unwrap_or_default()).to_owned()))
        }
        Err(error) => Err(error),
    }
}

fn text_of(plan: &Plan, fields: &Fields) -> Option<String> {
    fields.get(&plan.text).and_then(Value::as_str).map(str::to_owned)
}

/// The text and the calls of a reply that has them in its outputs.
fn written(
    plan: &Plan,
    field: &str,
    adapter: &dyn Adapter,
    choice: &Choice,
    salvage: bool,
) -> Result<(Option<String>, Vec<ToolCall>), ParseError> {
    let text = choice.text.as_deref().unwrap_or_default();
    if let Some(calls) = bare_calls(plan, text) {
        return Ok((None, calls));
    }
    let reply = RawReply::new(text).ending(&choice.finish_reason).salvage(salvage);
    let fields = read_with::<Fields, _>(adapter, &plan.step, reply)?.into_inner();
    let calls = match fields.get(field) {
        Some(value @ Value::List(items)) => {
            tool_calls::read_all(value).unwrap_or_else(|| items.iter().map(ToolCall::from_value).collect())
        }
        _ => Vec::new(),
    };
    Ok((text_of(plan, &fields), calls))
}

/// A reply that is nothing but calls of offered tools, one object behind the other: where calls are written that
/// is what is meant.
fn bare_calls(plan: &Plan, text: &str) -> Option<Vec<ToolCall>> {
    let text = trim(text);
    if !text.starts_with('{') {
        return None;
    }
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let call = ToolCall::from_value(&value.ok()?);
        let is_offered = plan.roster.iter().any(|tool| tool.name() == call.name);
        if call.malformed.is_some() || !is_offered {
            return None;
        }
        calls.push(call);
    }
    Some(calls)
}

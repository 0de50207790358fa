//! Programs: format, ask the model, read the reply.

mod builder;
pub(crate) mod call;
pub(crate) mod chain_of_thought;
pub(crate) mod error;
pub(crate) mod formatter;
mod native;
pub(crate) mod predict;
pub(crate) mod prediction;
pub(crate) mod trace;
pub(crate) mod two_step;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::adapter::chat::Chat;
use crate::adapter::demo::Demo;
use crate::adapter::options::FormatOptions;
use crate::adapter::read::{Ending, HowRead, RawReply, Read, read_with};
use crate::adapter::record::{Outputs, Record};
use crate::error::{FormatError, ParseError, SpecError, WriteError};
use crate::lm::{Completion, Config, FinishReason, LanguageModel, Request, Usage};
use crate::message::Message;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::{FieldWriter, Presence};

use error::Error;
use formatter::Formatter;
use native::Native;
use prediction::{Exchange, Prediction};

/// A completion that is to differ from its siblings needs some heat; below this it is raised (Imp §13.5).
const LEAST_HEAT_FOR_SEVERAL: f64 = 0.15;
const HEAT_FOR_SEVERAL: f64 = 0.7;

/// What every program is made of: a signature, a model, an adapter and settings. It knows no Rust type.
#[derive(Clone)]
pub(crate) struct Program {
    /// An error waits here for the first call, so that making a program needs no `?`.
    spec: Result<Arc<SignatureSpec>, SpecError>,
    lm: Arc<dyn LanguageModel>,
    main: Formatter,
    /// Asked once if a reply of the main adapter cannot be read.
    fallback: Option<Formatter>,
    options: FormatOptions,
    config: Config,
    retries: usize,
    salvage: bool,
    /// The signature as a model sees it that calls tools itself; made at the first call.
    native: OnceLock<Option<Arc<Native>>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("spec", &self.spec)
            .field("model", &self.lm.model())
            .field("adapter", &self.main.adapter)
            .field("fallback", &self.fallback.as_ref().map(|fallback| &fallback.adapter))
            .field("options", &self.options)
            .field("config", &self.config)
            .field("retries", &self.retries)
            .field("salvage", &self.salvage)
            .finish_non_exhaustive()
    }
}

/// What a call may change for itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    config: Config,
    retries: Option<usize>,
    fallback: Option<bool>,
    salvage: Option<bool>,
}

impl Program {
    pub(crate) fn new(spec: Result<Arc<SignatureSpec>, SpecError>, lm: Arc<dyn LanguageModel>) -> Self {
        let dialect = spec.as_ref().ok().and_then(|spec| spec.dialect).unwrap_or_default();
        let adapter: Arc<dyn Adapter> = Arc::new(Chat::new().dialect(dialect));
        Program {
            spec,
            lm,
            fallback: adapter.fallback().map(Formatter::new),
            main: Formatter::new(adapter),
            options: FormatOptions::default(),
            config: Config::default(),
            retries: 0,
            salvage: true,
            native: OnceLock::new(),
        }
    }

    /// The program after a change of what the messages are rendered from.
    fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.native = OnceLock::new();
        self.main.reset();
        self.fallback.iter_mut().for_each(Formatter::reset);
        self
    }

    pub(crate) fn adapter(mut self, adapter: impl Adapter + 'static) -> Self {
        self.fallback = adapter.fallback().map(Formatter::new);
        self.main = Formatter::new(Arc::new(adapter));
        self
    }

    pub(crate) fn fallback(mut self, yes: bool) -> Self {
        self.fallback = self.main.adapter.fallback().filter(|_| yes).map(Formatter::new);
        self
    }

    pub(crate) fn demo(self, demo: Demo) -> Self {
        self.changed(|program| program.options.demos.push(demo))
    }

    pub(crate) fn config(mut self, config: Config) -> Self {
        self.config = config.or(std::mem::take(&mut self.config));
        self
    }

    pub(crate) fn retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    pub(crate) fn salvage(mut self, yes: bool) -> Self {
        self.salvage = yes;
        self
    }

    /// The program with another spec, made from a copy of the one it has.
    pub(crate) fn with_spec(
        self,
        change: impl FnOnce(SignatureSpec) -> Result<SignatureSpec, SpecError>,
    ) -> Self {
        self.changed(|program| {
            if let Ok(spec) = &program.spec {
                program.spec = change(SignatureSpec::clone(spec)).map(Arc::new);
            }
        })
    }

    pub(crate) fn spec(&self) -> Result<&Arc<SignatureSpec>, &SpecError> {
        self.spec.as_ref()
    }

    /// The view of the signature for native tool calls, if it has tools and the model calls them.
    fn native(&self, spec: &SignatureSpec) -> Option<&Native> {
        let made = self.native.get_or_init(|| {
            let tools = self.lm.capabilities().tools;
            tools.then(|| Native::new(spec, &self.options).map(Arc::new)).flatten()
        });
        made.as_deref()
    }

    /// The messages of a call.
    pub(crate) fn messages(&self, inputs: &dyn Record) -> Result<Vec<Message>, FormatError> {
        let spec = self.spec.as_ref().map_err(Clone::clone)?;
        if let Some(native) = self.native(spec) {
            return native.messages(&self.main, &WithDefaults(inputs));
        }
        self.main.messages(spec, &WithDefaults(inputs), &self.options)
    }

    /// A whole call: the adapter's request, its retries, and the fallback's one request.
    pub(crate) async fn run<O: Outputs>(
        &self,
        inputs: &(dyn Record + Sync),
        overrides: Overrides,
    ) -> Result<Prediction<O>, Error> {
        let spec = self.spec.as_ref().map_err(|error| Error::signature(error.clone()))?;
        let config = heated(overrides.config.or(self.config.clone()));
        let capabilities = self.lm.capabilities();
        let native = self.native(spec);
        let request = |formatter: &Formatter| {
            let (inputs, config) = (WithDefaults(inputs), config.clone());
            match native {
                Some(native) => native.request(formatter, spec, &inputs, config, capabilities),
                None => formatter.request(spec, &inputs, &self.options, config, capabilities),
            }
        };
        let mut usage = Usage::default();

        let mut first = request(&self.main).map_err(Error::format)?;
        let originals = first.messages.len();
        let salvage = overrides.salvage.unwrap_or(self.salvage);
        let mut left = overrides.retries.unwrap_or(self.retries);
        let failed = loop {
            match self.attempt(spec, &*self.main.adapter, first, salvage, &mut usage).await? {
                Ok(prediction) => return Ok(prediction),
                Err(failed) if left == 0 => break failed,
                Err(failed) => {
                    left -= 1;
                    // The original messages and the latest error; never a growing transcript.
                    first = failed.request;
                    first.messages.truncate(originals);
                    first.messages.push(Message::user(failed.error.retry_message()));
                }
            }
        };

        let fallback = self.fallback.as_ref().filter(|_| overrides.fallback.unwrap_or(true));
        let Some(fallback) = fallback else { return Err(failed.into_error(usage)) };
        trace::falls_back(self.main.adapter.name(), fallback.adapter.name(), &failed.error);
        let second = request(fallback).map_err(Error::format)?;
        match self.attempt(spec, &*fallback.adapter, second, salvage, &mut usage).await? {
            Ok(prediction) => Ok(prediction),
            // The first error says what the model made of the format that the caller chose.
            Err(_) => Err(failed.into_error(usage)),
        }
    }

    /// One request and the reading of its reply. The outer error is final; the inner one says that the
    /// reply could not be read.
    async fn attempt<O: Outputs>(
        &self,
        spec: &SignatureSpec,
        adapter: &dyn Adapter,
        request: Request,
        salvage: bool,
        usage: &mut Usage,
    ) -> Result<Result<Prediction<O>, Unread>, Error> {
        let asked = request.config.n.unwrap_or(1).max(1) as usize;
        let completion = match self.lm.complete(&request).await {
            Ok(completion) => completion,
            Err(error) => return Err(Error::model(error, request.messages, *usage)),
        };
        *usage += completion.usage;
        if completion.choices.len() < asked {
            return Err(Error::completions(asked, completion.choices.len(), request.messages, *usage));
        }
        let mut outputs = Vec::with_capacity(asked);
        let mut first = None;
        for (at, choice) in completion.choices.iter().take(asked).enumerate() {
            let reply = RawReply::new(choice.text.as_deref().unwrap_or_default());
            let reply = reply.ending(&choice.finish_reason).salvage(salvage);
            let read = match self.native(spec) {
                Some(native) => native.read::<O>(adapter, spec, choice, reply),
                None => read_with::<O, _>(adapter, spec, reply).map(Read::into_parts),
            };
            match read {
                Ok((read, how, reasoning)) => {
                    outputs.push(read);
                    first.get_or_insert((how, reasoning));
                }
                Err(error) => return Ok(Err(Unread { error, at, request, completion })),
            }
        }
        let (how, reasoning) = first.unwrap_or((HowRead::Exact, None));
        trace::read(adapter.name(), how);
        let exchange = Exchange {
            messages: request.messages,
            completion,
            usage: *usage,
            adapter: adapter.name(),
            how,
            reasoning,
        };
        Prediction::new(outputs, exchange).map(Ok)
    }
}

/// A reply that could not be read.
struct Unread {
    error: ParseError,
    /// Which completion it was, from 0.
    at: usize,
    request: Request,
    completion: Completion,
}

impl Unread {
    fn into_error(self, usage: Usage) -> Error {
        Error::parse(self.error, self.at, self.request.messages, self.completion, usage)
    }
}

impl From<&FinishReason> for Ending {
    fn from(reason: &FinishReason) -> Self {
        match reason {
            FinishReason::Stop | FinishReason::ToolCalls => Ending::Stopped,
            FinishReason::Length => Ending::CutOff,
            FinishReason::ContentFilter | FinishReason::Other(_) | FinishReason::Unstated => Ending::Unknown,
        }
    }
}

fn heated(mut config: Config) -> Config {
    if config.n.is_some_and(|n| n > 1) && config.temperature.is_none_or(|heat| heat <= LEAST_HEAT_FOR_SEVERAL)
    {
        config.temperature = Some(HEAT_FOR_SEVERAL);
    }
    config
}

/// Inputs in which an absent field has its default.
struct WithDefaults<'r>(&'r dyn Record);

impl Record for WithDefaults<'_> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        self.0.write(index, field, out)?;
        match (&field.default, out.presence()) {
            (Some(default), Presence::Absent) => out.data(default),
            _ => Ok(()),
        }
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn user_name(&self) -> Option<&str> {
        self.0.user_name()
    }
}

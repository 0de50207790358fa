//! Programs: format, ask the model, read the reply.

pub(crate) mod call;
pub(crate) mod chain_of_thought;
pub(crate) mod error;
pub(crate) mod predict;
pub(crate) mod prediction;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::adapter::chat::{Chat, read_reply};
use crate::adapter::demo::Demo;
use crate::adapter::options::FormatOptions;
use crate::adapter::record::{Outputs, Record};
use crate::error::{FormatError, SpecError, WriteError};
use crate::lm::{Completion, Config, LanguageModel, Request, Usage};
use crate::message::Message;
use crate::reply::Reply;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::{FieldWriter, Presence};

use error::Error;
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
    adapter: Arc<dyn Adapter>,
    options: FormatOptions,
    config: Config,
    retries: usize,
    /// The system message and the demos, rendered once.
    prefix: OnceLock<Arc<[Message]>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("spec", &self.spec)
            .field("model", &self.lm.model())
            .field("adapter", &self.adapter)
            .field("options", &self.options)
            .field("config", &self.config)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

/// What a call may change for itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides {
    config: Config,
    retries: Option<usize>,
}

impl Program {
    pub(crate) fn new(spec: Result<Arc<SignatureSpec>, SpecError>, lm: Arc<dyn LanguageModel>) -> Self {
        let dialect = spec.as_ref().ok().and_then(|spec| spec.dialect).unwrap_or_default();
        Program {
            spec,
            lm,
            adapter: Arc::new(Chat::new().dialect(dialect)),
            options: FormatOptions::default(),
            config: Config::default(),
            retries: 0,
            prefix: OnceLock::new(),
        }
    }

    /// The program after a change of what the prefix is rendered from.
    fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.prefix = OnceLock::new();
        self
    }

    pub(crate) fn adapter(self, adapter: impl Adapter + 'static) -> Self {
        self.changed(|program| program.adapter = Arc::new(adapter))
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

    fn prefix(&self, spec: &SignatureSpec) -> Result<Arc<[Message]>, FormatError> {
        if let Some(prefix) = self.prefix.get() {
            return Ok(prefix.clone());
        }
        let mut messages = self.adapter.prefix(spec, &self.options)?;
        for message in &mut messages {
            message.share();
        }
        Ok(self.prefix.get_or_init(|| messages.into()).clone())
    }

    /// The messages of a call.
    pub(crate) fn messages(&self, inputs: &dyn Record) -> Result<Vec<Message>, FormatError> {
        let spec = self.spec.as_ref().map_err(Clone::clone)?;
        let inputs = WithDefaults(inputs);
        let prefix = self.prefix(spec)?;
        let mut messages = Vec::with_capacity(prefix.len() + 1);
        messages.extend_from_slice(&prefix);
        messages.extend(self.adapter.request(spec, &inputs, &self.options)?);
        Ok(messages)
    }

    /// A whole call.
    pub(crate) async fn run<O: Outputs>(
        &self,
        inputs: &(dyn Record + Sync),
        overrides: Overrides,
    ) -> Result<Prediction<O>, Error> {
        let spec = self.spec.as_ref().map_err(|error| Error::signature(error.clone()))?;
        let messages = self.messages(inputs).map_err(Error::format)?;
        let config = heated(overrides.config.or(self.config.clone()));
        let asked = config.n.unwrap_or(1).max(1) as usize;
        let mut request = Request::new(messages).config(config);
        let first = request.messages.len();
        let mut usage = Usage::default();
        let mut left = overrides.retries.unwrap_or(self.retries);
        loop {
            let completion = match self.lm.complete(&request).await {
                Ok(completion) => completion,
                Err(error) => return Err(Error::model(error, request.messages, usage)),
            };
            usage += completion.usage.clone();
            if completion.choices.len() < asked {
                let got = completion.choices.len();
                return Err(Error::completions(asked, got, request.messages, usage));
            }
            match self.read(spec, &completion, asked) {
                Ok(outputs) => {
                    let exchange = Exchange {
                        messages: request.messages,
                        completion,
                        usage,
                        adapter: self.adapter.name(),
                    };
                    return Prediction::new(outputs, exchange);
                }
                Err((at, error)) if left == 0 => {
                    return Err(Error::parse(error, at, request.messages, completion, usage));
                }
                Err((_, error)) => {
                    left -= 1;
                    // The original messages and the latest error; never a growing transcript.
                    request.messages.truncate(first);
                    request.messages.push(Message::user(error.retry_message()));
                }
            }
        }
    }

    /// Reads the choices; an error says which one could not be read.
    fn read<O: Outputs>(
        &self,
        spec: &SignatureSpec,
        completion: &Completion,
        asked: usize,
    ) -> Result<Vec<O>, (usize, crate::error::ParseError)> {
        let choices = completion.choices.iter().take(asked).enumerate();
        choices
            .map(|(at, choice)| {
                let text = choice.text.as_deref().unwrap_or_default();
                read_reply(&*self.adapter, spec, Reply::Text(text)).map_err(|error| (at, error))
            })
            .collect()
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
}

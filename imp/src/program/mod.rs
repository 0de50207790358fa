//! Programs: format, ask the model, read the reply.

mod builder;
pub(crate) mod call;
pub(crate) mod chain_of_thought;
pub(crate) mod error;
pub(crate) mod formatter;
mod learn;
mod native;
pub(crate) mod native_output;
pub(crate) mod predict;
pub(crate) mod prediction;
pub(crate) mod stream;
pub(crate) mod trace;
pub(crate) mod two_step;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::adapter::beside::together;
use crate::adapter::chat::Chat;
use crate::adapter::demo::Demo;
use crate::adapter::options::FormatOptions;
use crate::adapter::read::{Ending, HowRead, RawReply, Read, read_beside};
use crate::adapter::record::{Outputs, Record};
use crate::error::{FormatError, ParseError, ParseErrorKind, SpecError, WriteError};
use crate::lm::{Capabilities, Completion, Config, FinishReason, LanguageModel, LmErrorKind, Request, Usage};
use crate::message::Message;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::{FieldWriter, Presence};

use error::Error;
use formatter::Formatter;
use learn::{Learner, Lesson, Outcome, Start};
use native::Native;
use native_output::{Natives, Reduced, with_effort};
use prediction::{Exchange, Prediction};
use stream::{Item, Sink};

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
    /// What may be taken natively.
    natives: Natives,
    /// The program without the outputs that are taken natively, for each set of them but none.
    reduced: [OnceLock<Option<Arc<Reduced>>>; Natives::SETS - 1],
    /// Shared by the clones; `None` if nothing is to be learnt.
    learner: Option<Arc<Learner>>,
}

/// What a call asks for: the whole signature, or what is left of it without what is taken natively.
#[derive(Clone, Copy)]
struct Asked<'p> {
    whole: &'p SignatureSpec,
    /// The whole without tools and their calls, if the model calls them itself.
    base: &'p SignatureSpec,
    spec: &'p SignatureSpec,
    options: &'p FormatOptions,
    main: &'p Formatter,
    fallback: Option<&'p Formatter>,
    natives: Natives,
    reduced: Option<&'p Reduced>,
    native: Option<&'p Native>,
}

impl Asked<'_> {
    /// The places of the outputs that the model is asked for in the whole signature.
    fn places(&self) -> Vec<usize> {
        let base = match self.native {
            Some(native) => native.places(self.whole),
            None => (0..self.whole.outputs.len()).collect::<Vec<_>>(),
        };
        match self.reduced {
            Some(reduced) => reduced.kept().filter_map(|at| base.get(at).copied()).collect(),
            None => base,
        }
    }
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
            .field("natives", &self.natives)
            .field("learns", &self.learner.is_some())
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
    user_name: Option<String>,
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
            natives: Natives::ALL,
            reduced: Default::default(),
            learner: Some(Arc::new(Learner::new(learn::AFTER))),
        }
    }

    /// The program after a change of what the messages are rendered from, or of how replies are read: nothing that
    /// was rendered or learnt before holds.
    fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.native = OnceLock::new();
        self.main.reset();
        self.fallback.iter_mut().for_each(Formatter::reset);
        self.reduced = Default::default();
        self.learner = self.learner.map(|learner| Arc::new(learner.anew()));
        self
    }

    pub(crate) fn adapter(self, adapter: impl Adapter + 'static) -> Self {
        self.changed(|program| {
            program.fallback = adapter.fallback().map(Formatter::new);
            program.main = Formatter::new(Arc::new(adapter));
        })
    }

    pub(crate) fn fallback(self, yes: bool) -> Self {
        self.changed(|program| {
            program.fallback = program.main.adapter.fallback().filter(|_| yes).map(Formatter::new);
        })
    }

    pub(crate) fn with_natives(mut self, natives: Natives) -> Self {
        self.natives = natives;
        self
    }

    pub(crate) fn learn(mut self, yes: bool) -> Self {
        let learner = self.learner.take().or_else(|| Some(Arc::new(Learner::new(learn::AFTER))));
        self.learner = learner.filter(|_| yes);
        self
    }

    pub(crate) fn learn_after(mut self, calls: u32) -> Self {
        self.learner = Some(Arc::new(Learner::new(calls)));
        self
    }

    pub(crate) fn demo(self, demo: Demo) -> Self {
        self.changed(|program| program.options.demos.push(demo))
    }

    /// Other options; the demos that they have stand behind the program's.
    pub(crate) fn options(self, options: FormatOptions) -> Self {
        self.changed(|program| {
            let mut demos = std::mem::take(&mut program.options.demos);
            demos.extend(options.demos.iter().cloned());
            program.options = FormatOptions { demos, ..options };
        })
    }

    pub(crate) fn config(mut self, config: Config) -> Self {
        self.config = config.or(std::mem::take(&mut self.config));
        self
    }

    pub(crate) fn retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    pub(crate) fn salvage(self, yes: bool) -> Self {
        self.changed(|program| program.salvage = yes)
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
    fn native(&self, whole: &SignatureSpec) -> Option<&Native> {
        let made = self.native.get_or_init(|| {
            let tools = self.lm.capabilities().tools;
            tools.then(|| Native::new(whole, &self.options).map(Arc::new)).flatten()
        });
        made.as_deref()
    }

    /// Tools and their calls are taken out first, then what the completion gives beside its text.
    fn asked<'p>(&'p self, whole: &'p SignatureSpec, config: &Config) -> Asked<'p> {
        let native = self.native(whole);
        let (base, options) = match native {
            Some(native) => (&native.spec, &native.options),
            None => (whole, &self.options),
        };
        let natives = self.natives.of_call(base, self.lm.capabilities(), config);
        let made = natives.index().checked_sub(1).and_then(|at| self.reduced.get(at)).and_then(|made| {
            let new = || Reduced::new(base, natives, options, &self.main, self.fallback.as_ref());
            made.get_or_init(|| new().map(Arc::new)).as_deref()
        });
        let asked = Asked {
            whole,
            base,
            spec: base,
            options,
            main: &self.main,
            fallback: self.fallback.as_ref(),
            natives: Natives::default(),
            reduced: None,
            native,
        };
        match made {
            Some(reduced) => Asked {
                spec: &reduced.spec,
                options: &reduced.options,
                main: &reduced.main,
                fallback: reduced.fallback.as_ref(),
                natives,
                reduced: Some(reduced),
                ..asked
            },
            None => asked,
        }
    }

    /// The messages of a call.
    pub(crate) fn messages(&self, inputs: &dyn Record) -> Result<Vec<Message>, FormatError> {
        let spec = self.spec.as_ref().map_err(Clone::clone)?;
        let asked = self.asked(spec, &self.config);
        let inputs = WithDefaults(inputs);
        match asked.native {
            Some(native) => asked.main.messages(asked.spec, &native.inputs(&inputs), asked.options),
            None => asked.main.messages(asked.spec, &inputs, asked.options),
        }
    }

    /// A whole call: the adapter's request, its retries, and the fallback's one request; or, once the program has
    /// learnt that the fallback is what the model keeps to, the fallback's request, the adapter's and its retries.
    ///
    /// With a `sink` the model is asked to stream, and once anything was shown nothing is asked again.
    pub(crate) async fn run<'p, O: Outputs>(
        &'p self,
        inputs: &(dyn Record + Sync),
        overrides: Overrides,
        sink: Option<Arc<Sink<'p>>>,
    ) -> Result<Prediction<O>, Error> {
        let spec = self.spec.as_ref().map_err(|error| Error::signature(error.clone()))?;
        let mut config = heated(overrides.config.or(self.config.clone()));
        let asked = self.asked(spec, &config);
        if asked.natives.reasoning {
            config = with_effort(config);
        }
        let salvage = overrides.salvage.unwrap_or(self.salvage);
        let capabilities = self.lm.capabilities();
        let turn =
            Turn { asked, inputs, config, capabilities, salvage, user_name: overrides.user_name, sink };
        let mut usage = Usage::default();

        let main = asked.main.adapter.name();
        let fallback = asked.fallback.filter(|_| overrides.fallback.unwrap_or(true));
        let lesson = self.lesson(asked);
        let mut started = fallback.filter(|_| lesson.start() == Start::Fallback);
        if let Some(fallback) = started {
            match self.begin(&turn, fallback, &mut usage).await? {
                Begun::Read(prediction) => {
                    lesson.report(Outcome::Kept);
                    return Ok(prediction);
                }
                Begun::Unread => {}
                Begun::Unsent => started = None,
            }
        }

        let mut first = turn.request(asked.main).map_err(Error::format)?;
        let originals = first.messages.len();
        let retries = overrides.retries.unwrap_or(self.retries);
        let mut left = retries;
        let failed = loop {
            match self.attempt::<O>(&turn, asked.main, first, &mut usage).await? {
                Ok(prediction) => {
                    if left == retries && prediction.is_exact() {
                        lesson.report(Outcome::Exact);
                    } else if started.is_some() {
                        lesson.report(Outcome::WentBack);
                    }
                    return Ok(match started {
                        Some(fallback) => prediction.started_by(fallback.adapter.name(), true),
                        None => prediction,
                    });
                }
                Err(failed) if left == 0 || turn.is_visible() => break failed,
                Err(failed) => {
                    left -= 1;
                    // The original messages and the latest error; never a growing transcript.
                    first = failed.request;
                    first.messages.truncate(originals);
                    first.messages.push(Message::user(failed.error.retry_message()));
                }
            }
        };

        // What the call started with has been asked.
        let fallback = fallback.filter(|_| started.is_none() && !turn.is_visible());
        let Some(fallback) = fallback else { return Err(failed.into_error(usage)) };
        trace::falls_back(main, fallback.adapter.name(), &failed.error);
        let second = turn.request(fallback).map_err(Error::format)?;
        let Ok(prediction) = self.attempt::<O>(&turn, fallback, second, &mut usage).await? else {
            lesson.report(Outcome::Neither);
            // The first error says what the model made of the format that the caller chose.
            return Err(failed.into_error(usage));
        };
        // Also where the reply was cut off: a format that the limit of tokens is too short for costs as much.
        lesson.report(Outcome::FellBack);
        Ok(prediction.started_by(main, false))
    }

    /// What the program knows of its model. A call without a fallback has a lesson too: that the adapter works.
    fn lesson<'p>(&'p self, asked: Asked<'p>) -> Lesson<'p> {
        Lesson {
            learner: self.learner.as_deref().filter(|_| asked.fallback.is_some()),
            model: self.lm.model(),
            natives: asked.natives,
            chosen: asked.main.adapter.name(),
            fallback: asked.fallback.map_or("", |fallback| fallback.adapter.name()),
        }
    }

    /// The request of a call that starts with its fallback.
    async fn begin<'p, O: Outputs>(
        &'p self,
        turn: &Turn<'_, 'p>,
        fallback: &'p Formatter,
        usage: &mut Usage,
    ) -> Result<Begun<O>, Error> {
        let (adapter, chosen) = (fallback.adapter.name(), turn.asked.main.adapter.name());
        // Whatever is wrong with the values is said of the chosen format.
        let Ok(request) = turn.request(fallback) else { return Ok(Begun::Unsent) };
        trace::starts(adapter, chosen);
        match self.attempt::<O>(turn, fallback, request, usage).await {
            Ok(Ok(prediction)) => Ok(Begun::Read(prediction.started_by(adapter, true))),
            Ok(Err(unread)) if turn.is_visible() => Err(unread.into_error(*usage)),
            Ok(Err(unread)) => {
                trace::falls_back(adapter, chosen, &unread.error);
                Ok(Begun::Unread)
            }
            // What the provider does not take in this form it may take in the other.
            Err(error)
                if !turn.is_visible()
                    && error.as_model().is_some_and(|error| is_of_the_form(error.kind())) =>
            {
                Ok(Begun::Unread)
            }
            Err(error) => Err(error),
        }
    }

    /// One request and the reading of its reply. The outer error is final; the inner one says that the
    /// reply could not be read.
    async fn attempt<'p, O: Outputs>(
        &'p self,
        turn: &Turn<'_, 'p>,
        formatter: &'p Formatter,
        request: Request,
        usage: &mut Usage,
    ) -> Result<Result<Prediction<O>, Unread>, Error> {
        let Turn { asked, salvage, .. } = turn;
        let adapter = &*formatter.adapter;
        let wanted = request.config.n.unwrap_or(1).max(1) as usize;
        let completion = match &turn.sink {
            None => self.lm.complete(&request).await,
            Some(sink) => {
                sink.give(Item::Request {
                    adapter,
                    asked: asked.spec,
                    whole: asked.whole,
                    places: asked.places(),
                })
                .await;
                sink.ask(&*self.lm, &request).await
            }
        };
        let completion = match completion {
            Ok(completion) => completion,
            Err(error) => return Err(Error::model(error, request.messages, *usage)),
        };
        *usage += completion.usage;
        if completion.choices.len() < wanted {
            return Err(Error::completions(wanted, completion.choices.len(), request.messages, *usage));
        }
        let mut outputs = Vec::with_capacity(wanted);
        let mut first = None;
        let mut salvaged = false;
        for (at, choice) in completion.choices.iter().take(wanted).enumerate() {
            let reply = RawReply::new(choice.text.as_deref().unwrap_or_default());
            let reply = reply.ending(&choice.finish_reason).salvage(*salvage);
            let beside = asked.reduced.map(|reduced| reduced.beside(asked.base, choice));
            let read = match asked.native {
                Some(native) => native.read::<O>(adapter, asked.whole, asked.spec, choice, reply, beside),
                None => read_beside::<O, _>(adapter, asked.spec, reply, beside).map(Read::into_parts),
            };
            match read {
                Ok((read, how, block)) => {
                    outputs.push(read);
                    salvaged |= matches!(how, HowRead::Salvaged { .. });
                    first.get_or_insert_with(|| {
                        (how, together(choice.reasoning.as_deref(), block.as_deref()))
                    });
                }
                // The text itself was read: asked once more, the model would answer as it did.
                Err(error) if error.kind() == ParseErrorKind::NativeReasoningMissing => {
                    return Err(Unread { error, at, request, completion }.into_error(*usage));
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
            started: adapter.name(),
            learnt: false,
            how,
            salvaged,
            reasoning,
        };
        Prediction::new(outputs, exchange).map(Ok)
    }
}

/// One call: what is asked for, and with which settings.
struct Turn<'t, 'p> {
    asked: Asked<'p>,
    inputs: &'t (dyn Record + Sync),
    config: Config,
    capabilities: Capabilities,
    salvage: bool,
    user_name: Option<String>,
    sink: Option<Arc<Sink<'p>>>,
}

impl Turn<'_, '_> {
    fn is_visible(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| sink.is_visible())
    }

    fn request(&self, formatter: &Formatter) -> Result<Request, FormatError> {
        let Turn { asked, config, .. } = self;
        let inputs = WithDefaults(self.inputs);
        let named = self.user_name.as_ref().map(|name| asked.options.clone().user_name(name));
        let options = named.as_ref().unwrap_or(asked.options);
        let request = |inputs: &dyn Record| {
            formatter.request(asked.spec, inputs, options, config.clone(), self.capabilities)
        };
        match asked.native {
            Some(native) => {
                let tools = native.tools(asked.whole, &inputs)?;
                let mut request = request(&native.inputs(&inputs))?;
                if asked.spec.outputs.is_empty() {
                    request.response_format = None;
                }
                request.tools = tools;
                Ok(request)
            }
            None => request(&inputs),
        }
    }
}

/// How a call began that started with its fallback.
enum Begun<O> {
    Read(Prediction<O>),
    Unread,
    Unsent,
}

/// Whether another form of the same question may not meet the error.
fn is_of_the_form(kind: LmErrorKind) -> bool {
    matches!(kind, LmErrorKind::BadRequest | LmErrorKind::ContextWindowExceeded)
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

//! One call of a loop, before it is sent.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use crate::adapter::messages::check_inputs;
use crate::adapter::record::{Outputs, Record};
use crate::adapter::renderer::captured;
use crate::error::FormatError;
use crate::fields::Fields;
use crate::history::{History, Turn};
use crate::lm::{BoxFuture, Config, Usage};
use crate::program::error::Error;
use crate::value::Value;

use super::Core;
use super::event::{Event, Observer};
use super::plan::Plan;
use super::prediction::{ReActError, ReActPrediction};
use super::run::Run;

/// A call of a [`ReAct`](crate::ReAct) that is about to be made: awaited it runs, and until then it takes
/// settings of its own.
///
/// Dropping its future cancels it; [`on_event`](Self::on_event) is then told the history until there.
///
/// ```
/// use imp::{Config, Fields, ReAct, Script, SignatureSpec};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = ReAct::from_spec(SignatureSpec::parse("question -> answer")?, Script::new(["Paris"]), []);
/// let question = Fields::from([("question", "The capital of France?")]);
/// let done = agent.call(&question).user_name("alice").max_iters(3).config(Config::new().temperature(0.0)).await?;
/// assert_eq!(done.history().turns()[0].get("user_name"), Some(&"alice".into()));
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[must_use = "a call is not sent until it is awaited: add `.await`, or `.blocking()`"]
pub struct ReActCall<'c, O> {
    core: &'c Core,
    inputs: &'c (dyn Record + Sync),
    history: History,
    user_name: Option<String>,
    config: Config,
    max_iters: Option<usize>,
    note: Option<String>,
    deadline: Option<Instant>,
    observers: Vec<Observer>,
    outputs: PhantomData<fn() -> O>,
}

impl<'c, O: Outputs> ReActCall<'c, O> {
    pub(super) fn new(core: &'c Core, inputs: &'c (dyn Record + Sync)) -> Self {
        ReActCall {
            core,
            inputs,
            history: History::new(),
            user_name: None,
            config: Config::new(),
            max_iters: None,
            note: None,
            deadline: None,
            observers: core.observers.clone(),
            outputs: PhantomData,
        }
    }

    /// What was said before: the [`history`](crate::ReActPrediction::history) of an earlier call, or one of
    /// your own. It stands behind those that the inputs hold.
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// The participant's name on the message with the inputs; it is kept in the history. See
    /// [`name`](crate::name).
    pub fn user_name(mut self, name: impl Into<String>) -> Self {
        self.user_name = Some(name.into());
        self
    }

    /// Settings for this call; what they leave unset is the program's. `tool_choice` and `n` are refused.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config.or(self.config);
        self
    }

    /// How many steps this call has at most. The default is the program's.
    pub fn max_iters(mut self, steps: usize) -> Self {
        self.max_iters = Some(steps);
        self
    }

    /// The note before the last request of this call, in the place of the program's; an empty one is none.
    pub fn last_request_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// When the loop ends at the latest: no request begins behind it, and one that has begun is given no longer than
    /// that. A tool that is running is not stopped; give it a [timeout](crate::Tool::timeout). The default is never.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Watches this call; see [`Event`].
    pub fn on_event(mut self, observe: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.observers.push(Arc::new(observe));
        self
    }

    /// Makes the call on this thread and waits for its end.
    ///
    /// # Errors
    ///
    /// As for the call itself.
    #[cfg(feature = "blocking")]
    pub fn blocking(self) -> Result<ReActPrediction<O>, ReActError>
    where
        O: Send,
    {
        crate::lm::block_on(self.into_future())
    }

    async fn run(self) -> Result<ReActPrediction<O>, ReActError> {
        let history = self.history.clone();
        let run = self.prepared().map_err(|error| ReActError::new(error, None, history))?;
        run.run().await
    }

    /// Everything that can be refused is, before any request.
    fn prepared(self) -> Result<Run<'c, O>, Error> {
        let core = self.core;
        let plan: &Plan = core.plan().map_err(Error::signature)?;
        let task = core.task.as_ref().map_err(|error| Error::signature(error.clone()))?;
        let config = self.config.or(core.config.clone());
        check_config(&config).map_err(|message| Error::format(FormatError::Other(message)))?;

        let mut prior: Vec<Turn> = Vec::new();
        let mut inputs = Fields::new();
        for (index, field) in task.inputs.iter().enumerate() {
            let value = captured(field, self.inputs, index).map_err(Error::format)?;
            match value.or_else(|| field.default.clone()) {
                None | Some(Value::Null) => {}
                Some(value) if field.is_history() => {
                    let history = History::from_value(value).map_err(|error| {
                        Error::format(FormatError::Other(format!("the input `{}`: {error}", field.name)))
                    })?;
                    prior.extend(history.turns().iter().cloned());
                }
                Some(value) => {
                    inputs.insert(field.name.as_str(), value);
                }
            }
        }
        prior.extend(self.history.turns().iter().cloned());
        // Where there is a conversation already, all that the step needs may be in it.
        if prior.is_empty() {
            check_inputs(&*core.adapter, task, self.inputs).map_err(Error::format)?;
        }
        let given = || self.inputs.user_name().filter(|_| !task.declares(crate::history::USER_NAME));
        let user_name = self.user_name.or_else(|| given().map(str::to_owned));
        Ok(Run {
            core,
            plan,
            unspent: true,
            inputs,
            user_name: user_name.filter(|name| !name.is_empty()),
            prior,
            own: Vec::new(),
            open: None,
            config,
            max_iters: self.max_iters.unwrap_or(core.max_iters),
            note: self.note.or_else(|| core.note.clone()),
            deadline: self.deadline,
            observers: self.observers,
            usage: Usage::default(),
            step: 0,
            projection: None,
            unexecuted: Vec::new(),
            ended: false,
            outputs: PhantomData,
        })
    }
}

/// What of the settings is the loop's own.
fn check_config(config: &Config) -> Result<(), String> {
    let extra = ["tools", "tool_choice"].into_iter().find(|key| config.extra.contains_key(*key));
    if let Some(key) = extra.or(config.tool_choice.is_some().then_some("tool_choice")) {
        return Err(format!("`{key}` is set by the loop: leave it out of the config"));
    }
    if config.n.is_some_and(|n| n > 1) {
        return Err("a step of a loop has one completion: leave `n` out of the config".to_owned());
    }
    Ok(())
}

impl<O> fmt::Debug for ReActCall<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReActCall")
            .field("history", &self.history)
            .field("config", &self.config)
            .field("max_iters", &self.max_iters)
            .finish_non_exhaustive()
    }
}

impl<'c, O: Outputs + Send + 'c> IntoFuture for ReActCall<'c, O> {
    type Output = Result<ReActPrediction<O>, ReActError>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

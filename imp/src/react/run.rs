//! A loop while it runs: its state, and one step after the other (Imp §14.4).

use std::time::{Duration, Instant};

use crate::adapter::record::Outputs;
use crate::fields::Fields;
use crate::history::{History, Turn};
use crate::lm::{Config, LmErrorKind, ToolChoice, Usage};
use crate::message::ToolCall;
use crate::program::error::{Error, ErrorKind};
use crate::tool_calls::{ToolCalls, ToolResult};
use crate::tool_definition::ToolDefinition;
use crate::tool_failure::ToolFailure;
use crate::value::Value;

use super::Core;
use super::act::Acted;
use super::ask::{Said, is_too_long};
use super::event::{Event, Observer};
use super::outputs;
use super::plan::{Ends, Plan};
use super::prediction::{Cause, ContextProjection, Details, ReActError, ReActPrediction, Termination};

/// Steps in a row that may only say something before a loop that ends by a tool is interrupted.
const QUIET_STEPS: usize = 2;

/// The state of one call.
pub(super) struct Run<'r, O: Outputs> {
    pub(super) core: &'r Core,
    pub(super) plan: &'r Plan,
    /// The task's inputs that have a value.
    pub(super) inputs: Fields,
    /// Whether they have not been said yet.
    pub(super) unspent: bool,
    pub(super) user_name: Option<String>,
    /// What was given to the call.
    pub(super) prior: Vec<Turn>,
    /// What has been recorded since.
    pub(super) own: Vec<Turn>,
    /// The step whose tools are being called.
    pub(super) open: Option<Open>,
    pub(super) config: Config,
    pub(super) max_iters: usize,
    pub(super) note: Option<String>,
    pub(super) deadline: Option<Instant>,
    pub(super) observers: Vec<Observer>,
    pub(super) usage: Usage,
    pub(super) step: usize,
    pub(super) projection: Option<ContextProjection>,
    pub(super) unexecuted: Vec<ToolCall>,
    pub(super) ended: bool,
    pub(super) outputs: std::marker::PhantomData<fn() -> O>,
}

/// A step whose tools are being called.
pub(super) struct Open {
    pub(super) turn: Turn,
    pub(super) calls: Vec<ToolCall>,
    pub(super) results: Vec<ToolResult>,
    /// Whether the call behind the last result is running.
    pub(super) running: bool,
}

impl Open {
    pub(super) fn into_turn(self) -> Turn {
        let mut calls = ToolCalls::from(self.calls);
        calls.results = Some(self.results);
        self.turn.tool_calls(calls)
    }
}

/// What interrupted a loop, with the error if it was one.
pub(super) struct Interruption {
    pub(super) cause: Cause,
    pub(super) error: Option<Error>,
}

pub(super) type Ended<O> = Result<ReActPrediction<O>, ReActError>;

impl<O: Outputs> Run<'_, O> {
    /// Runs the loop to its end.
    pub(super) async fn run(mut self) -> Ended<O> {
        let mut quiet = 0;
        let cause = loop {
            if self.step >= self.max_iters {
                break Cause::MaxIters;
            }
            if self.is_late() {
                return Ok(self.incomplete(Cause::DeadlineExceeded, None, None));
            }
            let said = match self.ask(self.step_config(), self.roster()).await {
                Ok(said) => said,
                Err(error) => return self.interrupted_by(error).await,
            };
            if said.calls.is_empty() {
                if self.plan.ends == Ends::Text {
                    return self.answered(said, Termination::Answered, None);
                }
                quiet += 1;
                let is_silent = said.text.is_none();
                self.record_text(said);
                // A loop without `submit` has no note that answers a text, so nothing would follow it.
                if is_silent || quiet == QUIET_STEPS || self.plan.ends == Ends::Tools {
                    self.step += 1;
                    break Cause::EmptyToolCalls;
                }
            } else {
                quiet = 0;
                if let Acted::Ended { outputs, reason, by } = self.act(said, &|_| true).await {
                    return Ok(self.finished(outputs, reason, by, None));
                }
            }
            self.step += 1;
        };
        self.last_request(Interruption { cause, error: None }).await
    }

    /// A step that failed: a last request follows unless it cannot help (Imp §14.5).
    async fn interrupted_by(mut self, error: Error) -> Ended<O> {
        if is_safety(&error) {
            return Err(self.failed(error, None));
        }
        if is_too_long(&error) {
            return Ok(self.incomplete(Cause::ContextWindowExceeded, Some(error), None));
        }
        let cause = match error.kind() {
            ErrorKind::Parse { .. } => Cause::ParseError,
            _ => Cause::PredictionError,
        };
        self.step += 1;
        self.last_request(Interruption { cause, error: Some(error) }).await
    }

    /// The text of a step is the answer.
    pub(super) fn answered(
        &mut self,
        said: Said,
        reason: Termination,
        interruption: Option<Interruption>,
    ) -> Ended<O> {
        let Said { text, reasoning, finish_reason, .. } = said;
        let task = match &self.core.task {
            Ok(task) => task,
            Err(error) => return Err(self.failed(Error::signature(error.clone()), None)),
        };
        let value = text.as_deref().map_or(Value::Null, Value::from);
        let mut turn = self.turn(reasoning).with(self.plan.text.as_str(), value);
        if let Some(name) = &self.core.assistant_name {
            turn = turn.assistant_name(name.as_str());
        }
        self.push(turn);
        let read = outputs::text::<O>(task, self.core.dialect(), &self.plan.text, text.as_deref());
        let outputs = match read {
            Ok(outputs) => outputs,
            Err(error) => {
                let error = Error::format(crate::error::FormatError::Other(error.to_string()));
                return Err(self.failed(error, interruption.and_then(|interruption| interruption.error)));
            }
        };
        let mut prediction = self.finished(outputs, reason, None, interruption);
        prediction.details.finish_reason = Some(finish_reason);
        Ok(prediction)
    }

    /// Records what a step said that called nothing.
    pub(super) fn record_text(&mut self, said: Said) {
        if said.text.is_none() && !self.unspent {
            return;
        }
        let mut turn = self.turn(said.reasoning);
        if let Some(text) = said.text {
            turn = turn.thought(text);
        }
        self.push(turn.tool_calls(no_calls()));
    }

    /// A turn of the present step, with the inputs if they have not been said yet.
    pub(super) fn turn(&mut self, reasoning: Option<String>) -> Turn {
        let mut turn = Turn::new();
        if std::mem::take(&mut self.unspent) {
            for (name, value) in self.inputs.iter() {
                turn = turn.with(name, value.clone());
            }
            if let Some(name) = &self.user_name {
                turn = turn.user_name(name.as_str());
            }
        }
        match reasoning.filter(|reasoning| !reasoning.is_empty()) {
            Some(reasoning) => turn.reasoning(reasoning),
            None => turn,
        }
    }

    pub(super) fn push(&mut self, turn: Turn) {
        self.emit(&Event::Recorded { step: self.step, turn: &turn });
        self.own.push(turn);
    }

    pub(super) fn emit(&self, event: &Event<'_>) {
        for observe in &self.observers {
            observe(event);
        }
    }

    pub(super) fn roster(&self) -> Vec<ToolDefinition> {
        if self.plan.written.is_some() { Vec::new() } else { self.plan.roster.clone() }
    }

    /// The settings of an ordinary step.
    pub(super) fn step_config(&self) -> Config {
        let mut config = self.config.clone();
        if self.plan.written.is_some() {
            config.tool_choice = None;
            config.parallel_tool_calls = None;
        } else {
            let is_forced = self.core.force_calls && self.plan.ends != Ends::Text;
            config.tool_choice = Some(if is_forced { ToolChoice::Required } else { ToolChoice::Auto });
        }
        config
    }

    /// Settings that keep to the deadline.
    pub(super) fn timed(&self, mut config: Config) -> Config {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            config.timeout = Some(config.timeout.map_or(left, |timeout| timeout.min(left)));
        }
        config
    }

    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn history(&mut self) -> History {
        let prior = std::mem::take(&mut self.prior);
        prior.into_iter().chain(std::mem::take(&mut self.own)).collect()
    }

    fn details(&mut self, termination: Termination, interruption: Option<Interruption>) -> Box<Details> {
        self.ended = true;
        let history = self.history();
        self.emit(&Event::Ended { reason: termination, history: &history });
        let (cause, initial) = interruption.map(|by| (by.cause, by.error)).unzip();
        Box::new(Details {
            termination,
            cause,
            initial: initial.flatten(),
            last: None,
            finished_by: None,
            unexecuted: std::mem::take(&mut self.unexecuted),
            projection: self.projection,
            finish_reason: None,
            history,
            usage: self.usage,
        })
    }

    pub(super) fn finished(
        &mut self,
        outputs: O,
        reason: Termination,
        by: Option<String>,
        interruption: Option<Interruption>,
    ) -> ReActPrediction<O> {
        let mut details = self.details(reason, interruption);
        details.finished_by = by;
        ReActPrediction { outputs: Some(outputs), details }
    }

    pub(super) fn incomplete(
        &mut self,
        cause: Cause,
        initial: Option<Error>,
        last: Option<Error>,
    ) -> ReActPrediction<O> {
        let interruption = Interruption { cause, error: initial };
        let mut details = self.details(Termination::Incomplete, Some(interruption));
        details.last = last;
        ReActPrediction { outputs: None, details }
    }

    pub(super) fn failed(&mut self, error: Error, initial: Option<Error>) -> ReActError {
        self.ended = true;
        let history = self.history();
        self.emit(&Event::Failed { history: &history });
        ReActError::new(error.with_usage(self.usage), initial, history)
    }
}

/// The future was dropped: what has happened until then is told, with the tool that was running.
impl<O: Outputs> Drop for Run<'_, O> {
    fn drop(&mut self) {
        if self.ended || std::thread::panicking() {
            return;
        }
        if let Some(mut open) = self.open.take() {
            let running = open.calls.get(open.results.len()).filter(|_| open.running);
            if let Some(call) = running {
                let failure = ToolFailure::Stopped { name: call.name.clone() };
                open.results.push(ToolResult::failed(call.id.as_str(), call.name.as_str(), &failure));
            }
            self.own.push(open.into_turn());
        }
        let history = self.history();
        self.emit(&Event::Cancelled { history: &history });
    }
}

/// A record of no call, which says that the turn is a step of a loop.
pub(super) fn no_calls() -> ToolCalls {
    ToolCalls { results: Some(Vec::new()), ..ToolCalls::default() }
}

/// Whether a failure must end the loop at once: what the provider's filter stopped is not asked for again.
pub(super) fn is_safety(error: &Error) -> bool {
    error.as_model().is_some_and(|error| error.kind() == LmErrorKind::ContentFilter)
}

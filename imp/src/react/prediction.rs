//! What a loop ends with.

use std::fmt;

use crate::history::History;
use crate::lm::{FinishReason, Usage};
use crate::message::ToolCall;
use crate::program::error::Error;

/// Why a loop ended with a prediction (Imp §14.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Termination {
    /// A step of a loop that ends with a text called no tool.
    Answered,
    /// The model called `submit`, and its outputs were accepted.
    Submitted,
    /// A tool that may end the loop did.
    FinishedByTool,
    /// The last request of an interrupted loop brought a text.
    LastText,
    /// The last request of an interrupted loop brought a `submit`.
    ForcedSubmit,
    /// The outputs were taken from the history, by a request without tools.
    Extracted,
    /// There are no outputs.
    Incomplete,
}

impl Termination {
    /// The reason in snake case, as Imp spells it: `answered`, `submit`, `finished_by_tool`, …
    pub fn as_str(self) -> &'static str {
        match self {
            Termination::Answered => "answered",
            Termination::Submitted => "submit",
            Termination::FinishedByTool => "finished_by_tool",
            Termination::LastText => "last_text",
            Termination::ForcedSubmit => "forced_submit",
            Termination::Extracted => "extracted",
            Termination::Incomplete => "incomplete",
        }
    }
}

/// What interrupted a loop (Imp §14.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// There were as many steps as allowed.
    MaxIters,
    /// A reply could not be read, nor could the fallback's.
    ParseError,
    /// A request could not be made, or the model's client failed.
    PredictionError,
    /// The model called no tool in a loop that ends by one.
    EmptyToolCalls,
    /// The time was up.
    DeadlineExceeded,
    /// The messages are longer than the model can take, and no more of the earlier history can be left out.
    ContextWindowExceeded,
}

impl Cause {
    /// The cause in snake case, as Imp spells it: `max_iters`, `parse_error`, …
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::MaxIters => "max_iters",
            Cause::ParseError => "parse_error",
            Cause::PredictionError => "prediction_error",
            Cause::EmptyToolCalls => "empty_tool_calls",
            Cause::DeadlineExceeded => "deadline_exceeded",
            Cause::ContextWindowExceeded => "context_window_exceeded",
        }
    }
}

/// What of the earlier history the model was not shown, because its context was full (Imp §14.8). The returned
/// history has it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ContextProjection {
    /// How many turns of the history that was given to the call were left out.
    pub omitted_turns: usize,
    /// How many groups of turns that is: a group ends with a turn that has all outputs.
    pub omitted_groups: usize,
    /// How many requests were sent again with less history.
    pub recovery_requests: usize,
}

/// What a loop ended with: the outputs, if there are any, and how they came about.
///
/// ```
/// use imp::{Fields, ReAct, Script, SignatureSpec, Termination};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = ReAct::from_spec(SignatureSpec::parse("question -> answer")?, Script::new(["Paris"]), []);
/// let done = agent.call(&Fields::from([("question", "The capital of France?")])).await?;
/// assert_eq!(done.termination(), Termination::Answered);
/// assert_eq!(done.outputs().and_then(|outputs| outputs.get("answer")), Some(&"Paris".into()));
/// assert_eq!(done.history().len(), 1);
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Clone)]
pub struct ReActPrediction<O> {
    pub(super) outputs: Option<O>,
    pub(super) details: Box<Details>,
}

#[derive(Debug, Clone)]
pub(super) struct Details {
    pub(super) termination: Termination,
    pub(super) cause: Option<Cause>,
    pub(super) initial: Option<Error>,
    pub(super) last: Option<Error>,
    pub(super) finished_by: Option<String>,
    pub(super) unexecuted: Vec<ToolCall>,
    pub(super) projection: Option<ContextProjection>,
    pub(super) finish_reason: Option<FinishReason>,
    pub(super) history: History,
    pub(super) usage: Usage,
}

impl<O> ReActPrediction<O> {
    /// The outputs; none if the loop is incomplete.
    pub fn outputs(&self) -> Option<&O> {
        self.outputs.as_ref()
    }

    /// The outputs alone; none if the loop is incomplete.
    pub fn into_outputs(self) -> Option<O> {
        self.outputs
    }

    /// Whether there are outputs: always, unless the loop ended with [`Termination::Incomplete`].
    pub fn is_complete(&self) -> bool {
        self.outputs.is_some()
    }

    /// The whole conversation: what was given to the call, and its steps. It is the next call's history.
    pub fn history(&self) -> &History {
        &self.details.history
    }

    /// Why the loop ended.
    pub fn termination(&self) -> Termination {
        self.details.termination
    }

    /// What interrupted the loop, if anything did.
    pub fn cause(&self) -> Option<Cause> {
        self.details.cause
    }

    /// The error that interrupted the loop, if it was one.
    pub fn initial_error(&self) -> Option<&Error> {
        self.details.initial.as_ref()
    }

    /// The error of the last request or of the extraction, if there was one.
    pub fn last_error(&self) -> Option<&Error> {
        self.details.last.as_ref()
    }

    /// The tool that ended the loop, if one did.
    pub fn finished_by_tool(&self) -> Option<&str> {
        self.details.finished_by.as_deref()
    }

    /// The calls of the last request, which nobody ran.
    pub fn unexecuted_tool_calls(&self) -> &[ToolCall] {
        &self.details.unexecuted
    }

    /// What of the earlier history the model was not shown, if its context was full.
    pub fn context_projection(&self) -> Option<&ContextProjection> {
        self.details.projection.as_ref()
    }

    /// Why the model stopped in the reply that is the answer: of a text only, [`Termination::Answered`] and
    /// [`Termination::LastText`].
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.details.finish_reason.as_ref()
    }

    /// The tokens of all requests of the call.
    pub fn usage(&self) -> &Usage {
        &self.details.usage
    }
}

impl<O: fmt::Debug> fmt::Debug for ReActPrediction<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReActPrediction")
            .field("outputs", &self.outputs)
            .field("termination", &self.details.termination)
            .field("cause", &self.details.cause)
            .field("history", &self.details.history)
            .finish_non_exhaustive()
    }
}

/// A loop that failed, with its history.
///
/// ```
/// use imp::{Fields, LmErrorKind, ReAct, Script, SignatureSpec};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let nothing: [&str; 0] = [];
/// let agent = ReAct::from_spec(SignatureSpec::parse("question -> answer")?, Script::new(nothing), []);
/// let failed = agent.call(&Fields::from([("question", "Why?")])).await.unwrap_err();
/// assert_eq!(failed.error().as_model().map(|error| error.kind()), Some(LmErrorKind::Other));
/// assert_eq!(failed.history().len(), 0);
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Debug, Clone)]
pub struct ReActError(Box<Failed>);

#[derive(Debug, Clone)]
struct Failed {
    error: Error,
    initial: Option<Error>,
    history: History,
}

impl ReActError {
    pub(super) fn new(error: Error, initial: Option<Error>, history: History) -> Self {
        ReActError(Box::new(Failed { error, initial, history }))
    }

    /// What failed; its usage is that of all requests of the call.
    pub fn error(&self) -> &Error {
        &self.0.error
    }

    /// What failed, alone.
    pub fn into_error(self) -> Error {
        self.0.error
    }

    /// The error that had interrupted the loop, if the last request failed too.
    pub fn initial_error(&self) -> Option<&Error> {
        self.0.initial.as_ref()
    }

    /// The whole conversation until then: what was given to the call, and its steps.
    pub fn history(&self) -> &History {
        &self.0.history
    }
}

impl fmt::Display for ReActError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.error.fmt(f)
    }
}

impl std::error::Error for ReActError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Display shows the inner error's own text, so its source is the next one.
        self.0.error.source()
    }
}

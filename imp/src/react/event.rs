//! What a loop says of itself while it runs.

use std::sync::Arc;

use crate::history::{History, Turn};
use crate::lm::{Completion, Request};
use crate::message::ToolCall;
use crate::tool_calls::ToolResult;

use super::prediction::Termination;

/// Something that happened in a loop; see [`ReAct::on_event`](crate::ReAct::on_event).
///
/// Steps are counted from 0. The last request of an interrupted loop has the number after the last step's.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use imp::{Event, Fields, ReAct, Script, SignatureSpec};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let log = seen.clone();
/// let agent = ReAct::from_spec(SignatureSpec::parse("question -> answer")?, Script::new(["Paris"]), [])
///     .on_event(move |event| {
///         if let Ok(mut log) = log.lock() {
///             log.push(match event {
///                 Event::Requested { .. } => "request",
///                 Event::Replied { .. } => "reply",
///                 Event::Recorded { .. } => "turn",
///                 Event::Ended { .. } => "end",
///                 _ => "other",
///             });
///         }
///     });
/// agent.call(&Fields::from([("question", "The capital of France?")])).await?;
/// assert_eq!(*seen.lock().unwrap(), ["request", "reply", "turn", "end"]);
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A request is about to be sent; a step that falls back sends two.
    Requested {
        /// The step.
        step: usize,
        /// The request.
        request: &'e Request,
    },
    /// The model has answered.
    Replied {
        /// The step.
        step: usize,
        /// The whole reply.
        completion: &'e Completion,
    },
    /// A tool is about to be called.
    Calling {
        /// The step.
        step: usize,
        /// The call, with its id.
        call: &'e ToolCall,
    },
    /// A call has its result.
    Called {
        /// The step.
        step: usize,
        /// What the call gave, or why it gave nothing.
        result: &'e ToolResult,
    },
    /// Something was recorded, behind all that was recorded before.
    Recorded {
        /// The step.
        step: usize,
        /// The new turn of the history.
        turn: &'e Turn,
    },
    /// The loop has ended with a prediction.
    Ended {
        /// Why.
        reason: Termination,
        /// The whole history, with what was given to the call.
        history: &'e History,
    },
    /// The loop has ended with an error.
    Failed {
        /// The whole history, with what was given to the call.
        history: &'e History,
    },
    /// The call's future was dropped before the loop had ended. A tool that was running then may have done what
    /// it does; its result says so.
    Cancelled {
        /// The whole history, with what was given to the call and the step that was not finished.
        history: &'e History,
    },
}

pub(crate) type Observer = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

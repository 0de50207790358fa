//! What a tool's function says went wrong.

use std::fmt;

use crate::tool_failure::{Denial, ToolFailure};
use crate::value::Value;

/// What a tool's function says went wrong.
///
/// A tool's function may return any error that is `Display`: the model then reads `NAME failed: ` and its text. This
/// type is for a tool that knows more: that its time was up, or that somebody refused.
///
/// ```
/// use imp::{ToolError, ToolErrorKind};
///
/// let error = ToolError::timed_out();
/// assert_eq!(error.kind(), ToolErrorKind::TimedOut);
/// assert_eq!(error.failure("save").to_string(), "Error: save timed out, so it may have been carried out.");
/// assert_eq!(ToolError::new("disk full").failure("save").to_string(), "Error: save failed: disk full");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError(Box<Repr>);

#[derive(Debug, Clone, PartialEq)]
struct Repr {
    kind: ToolErrorKind,
    message: String,
    reason: Option<Value>,
}

/// The kinds of [`ToolError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The tool failed.
    Failed,
    /// The time was up; what the tool does may have been done.
    TimedOut,
    /// The tool ended without an answer; what it does may have been done.
    Stopped,
    /// Somebody refused; nothing was done.
    Denied,
    /// A report in another program's words, such as an MCP server's.
    Reported,
    /// A reason as data.
    Other,
}

impl ToolError {
    fn of(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        ToolError(Box::new(Repr { kind, message: message.into(), reason: None }))
    }

    /// The tool failed.
    pub fn new(message: impl Into<String>) -> Self {
        ToolError::of(ToolErrorKind::Failed, message)
    }

    /// The time was up.
    pub fn timed_out() -> Self {
        ToolError::of(ToolErrorKind::TimedOut, "timed out")
    }

    /// The tool ended without an answer, as when its process died.
    pub fn stopped() -> Self {
        ToolError::of(ToolErrorKind::Stopped, "stopped before answering")
    }

    /// Somebody refused, and this is why.
    pub fn denied(reason: impl Into<String>) -> Self {
        ToolError::of(ToolErrorKind::Denied, reason)
    }

    /// A report in another program's words: the model reads them as they are, behind `Error: ` unless they
    /// begin with "error" themselves.
    pub fn reported(message: impl Into<String>) -> Self {
        ToolError::of(ToolErrorKind::Reported, message)
    }

    /// A reason as data: a word in snake case, or an object with `reason` and perhaps `limit`.
    pub fn with_reason(reason: impl Into<Value>) -> Self {
        let reason = reason.into();
        let message = ToolFailure::Other(reason.clone()).words();
        ToolError(Box::new(Repr { kind: ToolErrorKind::Other, message, reason: Some(reason) }))
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ToolErrorKind {
        self.0.kind
    }

    /// The failure of a call of the tool `name` that ended with this error.
    pub fn failure(self, name: &str) -> ToolFailure {
        let Repr { kind, message, reason } = *self.0;
        let name = name.to_owned();
        match kind {
            ToolErrorKind::Failed => ToolFailure::Failed { name, message },
            ToolErrorKind::TimedOut => ToolFailure::TimedOut { name },
            ToolErrorKind::Stopped => ToolFailure::Stopped { name },
            ToolErrorKind::Denied => ToolFailure::Denied { name, reason: Denial::Other(message.into()) },
            ToolErrorKind::Reported => ToolFailure::Reported { message },
            ToolErrorKind::Other => ToolFailure::Other(reason.unwrap_or_else(|| message.into())),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ToolError {}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        ToolError::new(message)
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        ToolError::new(message)
    }
}

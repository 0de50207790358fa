//! A call that failed.

use std::fmt;

use crate::error::{FormatError, ParseError, SpecError};
use crate::fields::Fields;
use crate::lm::{Completion, LmError, Usage};
use crate::message::Message;

/// A call that failed, with everything that was known by then.
#[derive(Debug, Clone)]
pub struct Error(Box<Repr>);

#[derive(Debug, Clone)]
struct Repr {
    kind: ErrorKind,
    messages: Vec<Message>,
    completion: Option<Completion>,
    usage: Usage,
}

/// What failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The signature cannot be described; nothing was sent.
    Signature(SpecError),
    /// The values cannot be made into messages; nothing was sent.
    Format(FormatError),
    /// The model's client failed.
    Model(LmError),
    /// The reply could not be read.
    Parse {
        /// Why.
        error: ParseError,
        /// Which completion of a call with `n > 1`, from 0.
        completion_index: usize,
    },
    /// The model returned fewer completions than it was asked for.
    Completions {
        /// How many it was asked for.
        asked: usize,
        /// How many there were.
        got: usize,
    },
}

impl Error {
    fn new(kind: ErrorKind, messages: Vec<Message>, completion: Option<Completion>, usage: Usage) -> Self {
        Error(Box::new(Repr { kind, messages, completion, usage }))
    }

    pub(crate) fn signature(error: SpecError) -> Self {
        Error::new(ErrorKind::Signature(error), Vec::new(), None, Usage::default())
    }

    pub(crate) fn format(error: FormatError) -> Self {
        match error {
            FormatError::Spec(error) => Error::signature(error),
            error => Error::new(ErrorKind::Format(error), Vec::new(), None, Usage::default()),
        }
    }

    pub(crate) fn model(error: LmError, messages: Vec<Message>, usage: Usage) -> Self {
        Error::new(ErrorKind::Model(error), messages, None, usage)
    }

    pub(crate) fn parse(
        error: ParseError,
        completion_index: usize,
        messages: Vec<Message>,
        completion: Completion,
        usage: Usage,
    ) -> Self {
        Error::new(ErrorKind::Parse { error, completion_index }, messages, Some(completion), usage)
    }

    pub(crate) fn completions(asked: usize, got: usize, messages: Vec<Message>, usage: Usage) -> Self {
        Error::new(ErrorKind::Completions { asked, got }, messages, None, usage)
    }

    /// The same with the tokens of more requests than its own.
    pub(crate) fn with_usage(mut self, usage: Usage) -> Self {
        self.0.usage = usage;
        self
    }

    /// What failed.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The messages of the last request; empty if nothing was sent.
    pub fn messages(&self) -> &[Message] {
        &self.0.messages
    }

    /// The completion that could not be read, if there was one.
    pub fn completion(&self) -> Option<&Completion> {
        self.0.completion.as_ref()
    }

    /// The reply that could not be read, if there was one.
    pub fn reply(&self) -> Option<&str> {
        self.as_parse().map(ParseError::reply)
    }

    /// The outputs that were read before it failed.
    pub fn fields(&self) -> Option<&Fields> {
        self.as_parse().map(ParseError::fields)
    }

    /// The parse error, if it is one.
    pub fn as_parse(&self) -> Option<&ParseError> {
        match &self.0.kind {
            ErrorKind::Parse { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The client's error, if it is one.
    pub fn as_model(&self) -> Option<&LmError> {
        match &self.0.kind {
            ErrorKind::Model(error) => Some(error),
            _ => None,
        }
    }

    /// The tokens of all requests of the call.
    pub fn usage(&self) -> &Usage {
        &self.0.usage
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::Signature(error) => error.fmt(f),
            ErrorKind::Format(error) => error.fmt(f),
            ErrorKind::Model(error) => error.fmt(f),
            ErrorKind::Parse { error, completion_index: 0 } => error.fmt(f),
            ErrorKind::Parse { error, completion_index } => {
                write!(f, "completion {completion_index}: {error}")
            }
            ErrorKind::Completions { asked, got } => {
                write!(f, "the model was asked for {asked} completions and returned {got}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Display shows the inner error's own text, so its source is the next one.
        match &self.0.kind {
            ErrorKind::Signature(error) => error.source(),
            ErrorKind::Format(error) => error.source(),
            ErrorKind::Model(error) => error.source(),
            ErrorKind::Parse { error, .. } => error.source(),
            ErrorKind::Completions { .. } => None,
        }
    }
}

//! An answer with how it came about.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::adapter::read::HowRead;
use crate::citations::Citation;
use crate::error::ParseError;
use crate::lm::{Completion, FinishReason, Usage};
use crate::message::Message;
use crate::reply::Reply;

use super::error::Error;

/// The outputs of a call, and the exchange that they were read from.
///
/// It derefs to the output struct: `prediction.team` is the struct's field. Everything else is a method,
/// so that no field of the struct is shadowed.
#[derive(Clone)]
pub struct Prediction<O> {
    outputs: O,
    /// The further completions of a call with `n > 1`.
    others: Vec<O>,
    exchange: Box<Exchange>,
}

/// What was sent and what came back.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) messages: Vec<Message>,
    pub(crate) completion: Completion,
    pub(crate) usage: Usage,
    pub(crate) adapter: &'static str,
    /// The adapter of the call's first request, and whether the program has learnt to start with it.
    pub(crate) started: &'static str,
    pub(crate) learnt: bool,
    pub(crate) how: HowRead,
    /// Whether any completion was salvaged.
    pub(crate) salvaged: bool,
    pub(crate) reasoning: Option<String>,
}

impl<O> Prediction<O> {
    pub(crate) fn new(outputs: Vec<O>, exchange: Exchange) -> Result<Self, Error> {
        let mut outputs = outputs.into_iter();
        match outputs.next() {
            Some(first) => {
                Ok(Prediction { outputs: first, others: outputs.collect(), exchange: Box::new(exchange) })
            }
            None => Err(Error::completions(1, 0, exchange.messages, exchange.usage)),
        }
    }

    /// The same as the prediction of a call that began with another request.
    pub(crate) fn started_by(mut self, adapter: &'static str, learnt: bool) -> Self {
        self.exchange.started = adapter;
        self.exchange.learnt = learnt;
        self
    }

    /// The error of a reply that was read, and is refused all the same.
    pub(crate) fn refused(self, error: ParseError) -> Error {
        Error::parse(error, 0, self.exchange.messages, self.exchange.completion, self.exchange.usage)
    }

    /// Whether no completion was salvaged.
    pub(crate) fn is_exact(&self) -> bool {
        !self.exchange.salvaged
    }

    /// The output struct alone.
    pub fn into_inner(self) -> O {
        self.outputs
    }

    /// All completions of a call with `n > 1`, in the provider's order; else the one.
    pub fn completions(&self) -> impl Iterator<Item = &O> {
        std::iter::once(&self.outputs).chain(&self.others)
    }

    /// The messages of the last request.
    pub fn messages(&self) -> &[Message] {
        &self.exchange.messages
    }

    /// The reply as the model wrote it.
    pub fn reply(&self) -> &str {
        self.exchange.completion.text().unwrap_or_default()
    }

    /// The completion as the client returned it.
    pub fn completion(&self) -> &Completion {
        &self.exchange.completion
    }

    /// Why the model stopped, if the provider said so.
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.exchange.completion.choices.first().map(|choice| &choice.finish_reason)
    }

    /// The tokens of all requests of the call.
    pub fn usage(&self) -> &Usage {
        &self.exchange.usage
    }

    /// The name of the adapter that read the reply: `chat`.
    pub fn adapter(&self) -> &str {
        self.exchange.adapter
    }

    /// The name of the adapter that the call's first request was made with: another one than [`adapter`](Self::adapter)
    /// if the call fell back.
    pub fn started_with(&self) -> &str {
        self.exchange.started
    }

    /// Whether the call started with the fallback of the program's adapter, because that is what the program has
    /// learnt of the model; see [`Predict::learn`](crate::Predict::learn).
    pub fn is_learnt(&self) -> bool {
        self.exchange.learnt
    }

    /// How the reply was read: exactly, or salvaged. Of a call with `n > 1` the first.
    pub fn how_read(&self) -> HowRead {
        self.exchange.how
    }

    /// What the model reasoned apart from its answer, if it did: the completion's native reasoning, the think block in
    /// front of the answer, or both, with a blank line between. Of a call with `n > 1` the first.
    pub fn reasoning(&self) -> Option<&str> {
        self.exchange.reasoning.as_deref()
    }

    /// The sources that the completion names beside its text. Of a call with `n > 1` the first.
    pub fn citations(&self) -> &[Citation] {
        self.exchange.completion.choices.first().map_or(&[], |choice| &choice.citations)
    }
}

impl<O> Deref for Prediction<O> {
    type Target = O;
    fn deref(&self) -> &O {
        &self.outputs
    }
}

impl<O> DerefMut for Prediction<O> {
    fn deref_mut(&mut self) -> &mut O {
        &mut self.outputs
    }
}

impl<O: fmt::Debug> fmt::Debug for Prediction<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prediction")
            .field("outputs", &self.outputs)
            .field("others", &self.others)
            .field("adapter", &self.exchange.adapter)
            .field("usage", &self.exchange.usage)
            .finish_non_exhaustive()
    }
}

impl<O> From<Prediction<O>> for Reply<'_, O> {
    fn from(prediction: Prediction<O>) -> Self {
        Reply::Outputs(prediction.outputs)
    }
}

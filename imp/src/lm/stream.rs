//! A reply while it is written.

use std::fmt;

use super::wire::{self, Delta};
use super::{BoxFuture, Completion, LmError};

/// What comes of a streamed reply: deltas, then the whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// More of the reply.
    Delta(Delta),
    /// The whole reply; nothing comes after it.
    Done(Completion),
}

/// Where a stream's events come from. Implement it to stream from a model of your own.
pub trait CompletionSource: Send {
    /// The next event; `None` after [`StreamEvent::Done`] or an error.
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>>;
}

/// A reply while it is written; dropping it cancels the call.
///
/// ```
/// use imp::lm::wire::Delta;
/// use imp::lm::{LanguageModel, StreamEvent};
/// use imp::{Message, Request, Script};
///
/// # async fn run() -> Result<(), imp::LmError> {
/// let model = Script::new(["Ahoy"]);
/// let request = Request::new([Message::user("Hello")]);
/// let mut stream = model.stream(&request).await?;
/// let mut shown = String::new();
/// while let Some(event) = stream.next().await {
///     match event? {
///         StreamEvent::Delta(Delta::Text { text, .. }) => shown.push_str(&text),
///         StreamEvent::Done(completion) => assert_eq!(completion.text(), Some(&*shown)),
///         _ => {}
///     }
/// }
/// assert_eq!(shown, "Ahoy");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
pub struct CompletionStream<'a>(Box<dyn CompletionSource + 'a>);

impl<'a> CompletionStream<'a> {
    /// A stream of a source's events.
    pub fn new(source: impl CompletionSource + 'a) -> Self {
        CompletionStream(Box::new(source))
    }

    /// A stream of a reply that is there as a whole.
    pub fn whole(completion: Completion) -> Self {
        let deltas = wire::whole(&completion).into_iter().map(StreamEvent::Delta);
        let mut events: Vec<_> = deltas.chain([StreamEvent::Done(completion)]).map(Ok).collect();
        events.reverse();
        CompletionStream::new(Listed(events))
    }

    /// The next event; `None` at the end. An error ends the stream, and carries what was read.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, LmError>> {
        self.0.next().await
    }

    /// Waits for the whole reply.
    ///
    /// # Errors
    ///
    /// As [`LanguageModel::complete`](super::LanguageModel::complete).
    pub async fn finish(mut self) -> Result<Completion, LmError> {
        while let Some(event) = self.next().await {
            if let StreamEvent::Done(completion) = event? {
                return Ok(completion);
            }
        }
        Err(LmError::new(super::LmErrorKind::CutOff, "the stream ended without a reply"))
    }
}

impl fmt::Debug for CompletionStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompletionStream")
    }
}

/// Events in reverse.
struct Listed(Vec<Result<StreamEvent, LmError>>);

impl CompletionSource for Listed {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>> {
        let next = self.0.pop();
        Box::pin(std::future::ready(next))
    }
}

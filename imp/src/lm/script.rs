//! A model that says what it is told to.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::stream::{CompletionSource, CompletionStream, StreamEvent};
use super::wire::Delta;
use super::{
    BoxFuture, Capabilities, Choice, Completion, FinishReason, LanguageModel, LmError, LmErrorKind, Request,
};
use crate::message::ToolCall;

/// A model for tests and docs: it answers from a list, or from a function of the request, and
/// keeps every request.
///
/// Clones share the list and the kept requests, so one clone goes into a program and the other
/// stays with the test.
///
/// ```
/// use imp::lm::ScriptReply;
/// use imp::{Completion, LanguageModel, LmError, LmErrorKind, Message, Request, Script};
///
/// # async fn run() -> Result<(), LmError> {
/// let script = Script::new([
///     ScriptReply::from("It is sunny."),
///     ScriptReply::from(LmError::new(LmErrorKind::RateLimit, "too many requests")),
/// ]);
/// let request = Request::new([Message::user("What is the weather?")]);
///
/// let completion = script.complete(&request).await?;
/// assert_eq!(completion.text(), Some("It is sunny."));
///
/// let error = script.complete(&request).await.unwrap_err();
/// assert_eq!(error.kind(), LmErrorKind::RateLimit);
///
/// assert_eq!(script.requests(), [request.clone(), request]);
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Clone)]
pub struct Script {
    shared: Arc<Shared>,
    model: Arc<str>,
    capabilities: Capabilities,
    pieces: Option<Pieces>,
}

/// Cuts a reply into the pieces in which it arrives.
type Cutter = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// How a streamed reply is cut.
#[derive(Clone)]
enum Pieces {
    Characters(usize),
    Function(Arc<Cutter>),
}

struct Shared {
    replies: Replies,
    requests: Mutex<Vec<Request>>,
}

enum Replies {
    List(Mutex<VecDeque<ScriptReply>>),
    Function(Box<dyn Fn(&Request) -> ScriptReply + Send + Sync>),
}

/// One answer of a [`Script`]: made from a text, a [`Choice`], a [`ToolCall`] or several, a [`Completion`], an
/// [`LmError`], or a `Result` of the last two.
#[derive(Debug, Clone)]
pub struct ScriptReply(Result<Completion, LmError>);

impl From<&str> for ScriptReply {
    fn from(text: &str) -> Self {
        ScriptReply(Ok(text.into()))
    }
}

impl From<String> for ScriptReply {
    fn from(text: String) -> Self {
        ScriptReply(Ok(text.into()))
    }
}

impl From<Completion> for ScriptReply {
    fn from(completion: Completion) -> Self {
        ScriptReply(Ok(completion))
    }
}

impl From<Choice> for ScriptReply {
    fn from(choice: Choice) -> Self {
        ScriptReply(Ok(Completion::new([choice])))
    }
}

impl From<Vec<ToolCall>> for ScriptReply {
    /// Calls of tools, without a text.
    fn from(calls: Vec<ToolCall>) -> Self {
        Choice::default().tool_calls(calls).finish_reason(FinishReason::ToolCalls).into()
    }
}

impl From<ToolCall> for ScriptReply {
    /// One call of a tool, without a text.
    fn from(call: ToolCall) -> Self {
        vec![call].into()
    }
}

impl From<LmError> for ScriptReply {
    fn from(error: LmError) -> Self {
        ScriptReply(Err(error))
    }
}

impl From<Result<Completion, LmError>> for ScriptReply {
    fn from(result: Result<Completion, LmError>) -> Self {
        ScriptReply(result)
    }
}

impl Script {
    /// A model that gives these replies in order, then an error that says that it has no more.
    pub fn new<R: Into<ScriptReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        let list = replies.into_iter().map(Into::into).collect();
        Script::with(Replies::List(Mutex::new(list)))
    }

    /// A model that answers by a function of the request.
    ///
    /// ```
    /// use imp::Script;
    ///
    /// let echo = Script::from_fn(|request| match request.messages.last() {
    ///     Some(message) => message.text().into_owned(),
    ///     None => String::new(),
    /// });
    /// # let _ = echo;
    /// ```
    pub fn from_fn<R: Into<ScriptReply>>(reply: impl Fn(&Request) -> R + Send + Sync + 'static) -> Self {
        Script::with(Replies::Function(Box::new(move |request| reply(request).into())))
    }

    fn with(replies: Replies) -> Self {
        Script {
            shared: Arc::new(Shared { replies, requests: Mutex::default() }),
            model: Arc::from("script"),
            capabilities: Capabilities::default(),
            pieces: None,
        }
    }

    /// The same script, called `model` instead of `script`.
    pub fn named(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = model.into();
        self
    }

    /// The same script with other capabilities than the default.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The same script whose replies, where they are streamed, come in pieces of `characters`; in one piece by default.
    /// Nothing is cut into pieces of 0.
    ///
    /// ```
    /// use imp::lm::wire::Delta;
    /// use imp::lm::{LanguageModel, StreamEvent};
    /// use imp::{Message, Request, Script};
    ///
    /// # async fn run() -> Result<(), imp::LmError> {
    /// let script = Script::new(["Ahoy"]).chunked(3);
    /// let request = Request::new([Message::user("Hello")]);
    /// let mut stream = script.stream(&request).await?;
    /// let first = stream.next().await.transpose()?;
    /// assert_eq!(first, Some(StreamEvent::Delta(Delta::Text { choice: 0, text: "Aho".into() })));
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn chunked(mut self, characters: usize) -> Self {
        self.pieces = (characters > 0).then_some(Pieces::Characters(characters));
        self
    }

    /// The same script whose replies, where they are streamed, come in the pieces that `cut` makes of a text. Pieces that
    /// are not the text, put together, are those of a stream that broke off: after them comes an error.
    pub fn cut(mut self, cut: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> Self {
        self.pieces = Some(Pieces::Function(Arc::new(cut)));
        self
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    fn reply(&self, request: &Request) -> Result<Completion, LmError> {
        let asked = {
            let mut requests = lock(&self.shared.requests);
            requests.push(request.clone());
            requests.len()
        };
        match &self.shared.replies {
            Replies::Function(reply) => reply(request).0,
            Replies::List(list) => match lock(list).pop_front() {
                Some(reply) => reply.0,
                None => Err(LmError::new(
                    LmErrorKind::Other,
                    format!(
                        "the script has no reply left for request {asked}: give it one more, or use `Script::from_fn`"
                    ),
                )),
            },
        }
    }
}

/// A panic elsewhere leaves the list as it was: the lock is only held to push or pop.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LanguageModel for Script {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(async move { self.reply(request) })
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<CompletionStream<'a>, LmError>> {
        Box::pin(async move {
            let reply = self.reply(request)?;
            Ok(match &self.pieces {
                None => CompletionStream::whole(reply),
                Some(pieces) => CompletionStream::new(Cut {
                    whole: CompletionStream::whole(reply),
                    pieces,
                    waiting: VecDeque::new(),
                    broken: false,
                }),
            })
        })
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}

/// A reply whose texts come in pieces.
struct Cut<'a> {
    whole: CompletionStream<'a>,
    pieces: &'a Pieces,
    waiting: VecDeque<Delta>,
    /// The pieces were not the whole.
    broken: bool,
}

impl Cut<'_> {
    fn cut(&self, text: &str) -> Vec<String> {
        match self.pieces {
            Pieces::Function(cut) => cut(text),
            Pieces::Characters(count) => {
                let mut pieces = Vec::new();
                let mut rest = text;
                while !rest.is_empty() {
                    let end = rest.char_indices().nth(*count).map_or(rest.len(), |(at, _)| at);
                    let (piece, behind) = rest.split_at(end);
                    pieces.push(piece.to_owned());
                    rest = behind;
                }
                pieces
            }
        }
    }

    async fn step(&mut self) -> Option<Result<StreamEvent, LmError>> {
        loop {
            if let Some(delta) = self.waiting.pop_front() {
                return Some(Ok(StreamEvent::Delta(delta)));
            }
            if self.broken {
                let cut_off = LmError::new(LmErrorKind::CutOff, "the script's stream broke off");
                self.broken = false;
                self.whole = CompletionStream::new(Ended);
                return Some(Err(cut_off));
            }
            let delta = match self.whole.next().await? {
                Ok(StreamEvent::Delta(delta)) => delta,
                other => return Some(other),
            };
            let (Delta::Text { text, .. }
            | Delta::Reasoning { text, .. }
            | Delta::ToolCall { arguments: text, .. }) = &delta;
            let pieces = self.cut(text);
            self.broken = pieces.concat() != *text;
            for (at, piece) in pieces.into_iter().enumerate() {
                let mut part = delta.clone();
                match &mut part {
                    Delta::Text { text, .. } | Delta::Reasoning { text, .. } => *text = piece,
                    Delta::ToolCall { id, name, arguments, .. } => {
                        *arguments = piece;
                        if at > 0 {
                            id.clear();
                            name.clear();
                        }
                    }
                }
                self.waiting.push_back(part);
            }
        }
    }
}

impl CompletionSource for Cut<'_> {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>> {
        Box::pin(self.step())
    }
}

/// A stream that is over.
struct Ended;

impl CompletionSource for Ended {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>> {
        Box::pin(std::future::ready(None))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Script");
        out.field("model", &self.model).field("requests", &lock(&self.shared.requests).len());
        if let Replies::List(list) = &self.shared.replies {
            out.field("replies_left", &lock(list).len());
        }
        out.finish_non_exhaustive()
    }
}

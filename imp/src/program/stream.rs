//! A typed call whose answer comes while it is written.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use crate::adapter::Adapter;
use crate::adapter::read::HowRead;
use crate::adapter::record::{OutputFields, Outputs, Record};
use crate::adapter::stream_reader::{FieldId, ReadEvent, StreamReader};
use crate::field::Field;
use crate::lm::wire::Delta;
use crate::lm::{BoxFuture, Completion, LanguageModel, LmError, LmErrorKind, Request, StreamEvent};
use crate::spec::SignatureSpec;

use super::error::Error;
use super::prediction::Prediction;
use super::{Overrides, Program};

/// What comes of a streamed call, with what is certain of its outputs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum PredictionEvent<O> {
    /// More of an output that is a text.
    Delta {
        /// The output: `field == Route::FIELDS.reply`.
        field: FieldId,
        /// What is added to its text; never empty.
        text: String,
    },
    /// The output is whole; [`PredictionStream::get`] has its value. It comes once for every output.
    Field(FieldId),
    /// More of what the model reasons apart from its answer.
    Reasoning(String),
    /// The start of a native tool call, or more of its arguments.
    ToolCall {
        /// Which of the calls, from 0.
        call: usize,
        /// The call's id, at the start; empty later, or if there is none.
        id: String,
        /// The tool's name, at the start; empty later.
        name: String,
        /// What is added to the text of its arguments, which is JSON when it is whole.
        arguments: String,
    },
    /// The reply could not be read, and is asked for again: the reasoning that came belongs to no answer. It comes only
    /// while nothing of an output was given out.
    Again,
    /// The whole answer, as [`call`](crate::Predict::call) gives it; nothing comes after it.
    Done(Prediction<O>),
}

/// A call whose answer comes while it is written: [`Predict::stream`](crate::Predict::stream), or
/// [`Call::stream`](crate::Call::stream) with a call's own settings.
///
/// It is sent when the first event is asked for. Dropping it cancels the request. An error ends it.
///
/// * Nothing is taken back: the deltas of an output, joined, are its text in the answer.
/// * Retries and the fallback run while nothing of an output was given out. After that a reply that cannot be read is an
///   [`Error`] with the reply, the messages and what was read of it.
/// * A reply that breaks off is an error too; [`get`](Self::get), [`text`](Self::text) and
///   [`snapshot`](Self::snapshot) have what came of it.
/// * Of several completions the first is shown; `Done` has all.
///
/// ```
/// use imp::{Predict, PredictionEvent, Script, Signature};
///
/// #[derive(Signature)]
/// #[signature(output = Route)]
/// struct Ticket {
///     ticket: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Route {
///     priority: u8,
///     reply: String,
/// }
///
/// # async fn run() -> Result<(), imp::Error> {
/// let model = Script::new(["[[ ## priority ## ]]\n2\n\n[[ ## reply ## ]]\nWe are on it."]).chunked(4);
/// let predict = Predict::<Ticket>::new(model);
/// let ticket = Ticket { ticket: "I was charged twice.".into() };
/// let mut events = predict.stream(&ticket);
/// let mut shown = String::new();
/// while let Some(event) = events.next().await {
///     match event? {
///         PredictionEvent::Field(field) if field == Route::FIELDS.priority => {
///             assert_eq!(events.get(Route::FIELDS.priority), Some(&2));
///         }
///         PredictionEvent::Delta { field, text } if field == Route::FIELDS.reply => shown.push_str(&text),
///         PredictionEvent::Done(route) => assert_eq!(route.reply, shown),
///         _ => {}
///     }
/// }
/// assert_eq!(shown, "We are on it.");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[must_use = "a stream does nothing until its events are asked for: `while let Some(event) = events.next().await`"]
pub struct PredictionStream<'c, O: Outputs> {
    state: State<'c, O>,
    /// Where the call leaves what comes.
    sink: Arc<Sink<'c>>,
    reader: Option<StreamReader<'c, O>>,
    events: VecDeque<PredictionEvent<O>>,
    /// The answer, until it is given out.
    done: Option<Prediction<O>>,
    /// Whether reasoning was given out that an answer has to be told from.
    reasoned: bool,
}

type Running<'c, O> = BoxFuture<'c, Result<Prediction<O>, Error>>;

enum State<'c, O> {
    Before { program: &'c Program, inputs: &'c (dyn Record + Sync), overrides: Box<Overrides> },
    Running(Running<'c, O>),
    Over,
}

impl<'c, O: Outputs + Send + 'c> PredictionStream<'c, O> {
    pub(super) fn new(program: &'c Program, inputs: &'c (dyn Record + Sync), overrides: Overrides) -> Self {
        PredictionStream {
            state: State::Before { program, inputs, overrides: Box::new(overrides) },
            sink: Arc::default(),
            reader: None,
            events: VecDeque::new(),
            done: None,
            reasoned: false,
        }
    }

    /// The next event; `None` after [`Done`](PredictionEvent::Done) or an error.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<PredictionEvent<O>, Error>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same for whoever polls: the signature of `futures::Stream` but for the pin, for
    /// `futures::stream::poll_fn(move |context| events.poll_next(context))`.
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<PredictionEvent<O>, Error>>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(done) = self.done.take() {
                return Poll::Ready(Some(Ok(PredictionEvent::Done(done))));
            }
            match self.state {
                State::Over => return Poll::Ready(None),
                State::Running(_) => {}
                State::Before { .. } => {
                    let State::Before { program, inputs, overrides } =
                        std::mem::replace(&mut self.state, State::Over)
                    else {
                        return Poll::Ready(None);
                    };
                    let sink = self.sink.clone();
                    self.state = State::Running(Box::pin(program.run(inputs, *overrides, Some(sink))));
                }
            }
            let State::Running(call) = &mut self.state else { return Poll::Ready(None) };
            let polled = call.as_mut().poll(context);
            // What came before the end comes first.
            if let Some(item) = self.sink.take() {
                self.see(item);
            }
            match polled {
                Poll::Ready(ended) => {
                    self.state = State::Over;
                    match ended.and_then(|prediction| self.settle(prediction)) {
                        Ok(prediction) => self.done = Some(prediction),
                        Err(error) => {
                            self.events.clear();
                            return Poll::Ready(Some(Err(error)));
                        }
                    }
                }
                // The call waits until what it left is taken, and was polled with a waker for everything else.
                Poll::Pending if self.sink.is_waiting() => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn see(&mut self, item: Item<'c>) {
        let delta = match item {
            Item::Request { adapter, asked, whole, places } => {
                self.reader = Some(StreamReader::mapped(adapter, asked, whole, places));
                if std::mem::take(&mut self.reasoned) {
                    self.events.push_back(PredictionEvent::Again);
                }
                return;
            }
            Item::Delta(delta) => delta,
        };
        match delta {
            Delta::Text { choice: 0, text } => {
                let Some(reader) = &mut self.reader else { return };
                self.events.extend(reader.push(&text).into_iter().map(PredictionEvent::from));
                if reader.is_visible() {
                    self.sink.show();
                }
            }
            Delta::Reasoning { choice: 0, text } => {
                self.reasoned = true;
                self.events.push_back(PredictionEvent::Reasoning(text));
            }
            Delta::ToolCall { choice: 0, call, id, name, arguments } => {
                self.sink.show();
                self.events.push_back(PredictionEvent::ToolCall { call, id, name, arguments });
            }
            _ => {}
        }
    }

    /// What was not certain before comes in front of the answer.
    fn settle(&mut self, prediction: Prediction<O>) -> Result<Prediction<O>, Error> {
        let Some(reader) = &mut self.reader else { return Ok(prediction) };
        let how: HowRead = prediction.how_read();
        match reader.settle(&prediction, how) {
            Ok(events) => {
                self.events.extend(events.into_iter().map(PredictionEvent::from));
                Ok(prediction)
            }
            Err(error) => Err(prediction.refused(error)),
        }
    }

    /// The value of an output that is whole, from its [`Field`](PredictionEvent::Field) event on. Once `Done` was
    /// given out, the prediction has it.
    pub fn get<S: ?Sized, T: 'static>(&self, field: Field<S, T>) -> Option<&T>
    where
        O: OutputFields<S> + 'static,
    {
        if let Some(value) = self.reader.as_ref().and_then(|reader| reader.get(field)) {
            return Some(value);
        }
        Outputs::field(&**self.done.as_ref()?, O::BEFORE + field.index())?.downcast_ref()
    }

    /// What has come of an output that is a text, so far; empty for any other.
    pub fn text<S: ?Sized, T: ?Sized>(&self, field: Field<S, T>) -> &str
    where
        O: OutputFields<S>,
    {
        self.reader.as_ref().map_or("", |reader| reader.text(field))
    }

    /// The outputs so far, as the companion in which every field is optional: what is whole, and the texts that are
    /// still growing. It is made anew each time.
    pub fn snapshot(&self) -> O::Partial {
        self.reader.as_ref().map(StreamReader::snapshot).unwrap_or_default()
    }

    /// The text of one output as it comes, until it is whole; then the other events go on. Events of other outputs that
    /// come before are passed over.
    ///
    /// ```
    /// # use imp::{Predict, Script, Signature};
    /// # #[derive(Signature)]
    /// # #[signature(output = Answer)]
    /// # struct Question { question: String }
    /// # #[derive(Signature)]
    /// # struct Answer { answer: String }
    /// # async fn run() -> Result<(), imp::Error> {
    /// let predict = Predict::<Question>::new(Script::new(["[[ ## answer ## ]]\nParis"]));
    /// let question = Question { question: "What is the capital of France?".into() };
    /// let mut events = predict.stream(&question);
    /// let mut answer = events.field(Answer::FIELDS.answer);
    /// while let Some(text) = answer.next().await {
    ///     print!("{}", text?);
    /// }
    /// let prediction = events.finish().await?;
    /// assert_eq!(prediction.answer, "Paris");
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn field<S: ?Sized, T: ?Sized>(&mut self, field: Field<S, T>) -> FieldText<'_, 'c, O>
    where
        O: OutputFields<S>,
    {
        FieldText { events: self, index: O::BEFORE + field.index(), ended: false }
    }

    /// Waits for the whole answer; the events that are left are passed over.
    ///
    /// # Errors
    ///
    /// As for the call itself.
    pub async fn finish(mut self) -> Result<Prediction<O>, Error> {
        while let Some(event) = self.next().await {
            if let PredictionEvent::Done(prediction) = event? {
                return Ok(prediction);
            }
        }
        let over =
            LmError::new(LmErrorKind::Other, "the stream's answer, or its error, was given out already");
        Err(Error::model(over, Vec::new(), crate::lm::Usage::default()))
    }

    /// The same events for a thread without an async runtime.
    #[cfg(feature = "blocking")]
    pub fn blocking(self) -> BlockingStream<'c, O>
    where
        O::Partial: Send,
    {
        BlockingStream(self)
    }
}

impl<O> From<ReadEvent> for PredictionEvent<O> {
    fn from(event: ReadEvent) -> Self {
        match event {
            ReadEvent::Delta { field, text } => PredictionEvent::Delta { field, text },
            ReadEvent::Field(field) => PredictionEvent::Field(field),
        }
    }
}

impl<O: Outputs> fmt::Debug for PredictionStream<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PredictionStream").field("reader", &self.reader).finish_non_exhaustive()
    }
}

/// The text of one output as it comes: [`PredictionStream::field`].
#[derive(Debug)]
pub struct FieldText<'s, 'c, O: Outputs> {
    events: &'s mut PredictionStream<'c, O>,
    index: usize,
    ended: bool,
}

impl<'c, O: Outputs + Send + 'c> FieldText<'_, 'c, O> {
    /// More of the text; `None` once the output is whole, or after an error.
    pub async fn next(&mut self) -> Option<Result<String, Error>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The same for whoever polls.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<String, Error>>> {
        while !self.ended {
            // The answer stays where it is: a field that was whole before is over then.
            if self.events.events.is_empty() && self.events.done.is_some() {
                break;
            }
            match self.events.poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(PredictionEvent::Delta { field, text })))
                    if field.index() == self.index =>
                {
                    return Poll::Ready(Some(Ok(text)));
                }
                Poll::Ready(Some(Ok(PredictionEvent::Field(field)))) if field.index() == self.index => break,
                Poll::Ready(Some(Ok(PredictionEvent::Done(prediction)))) => {
                    self.events.done = Some(prediction);
                    break;
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => break,
            }
        }
        self.ended = true;
        Poll::Ready(None)
    }
}

/// The events of a streamed call for a thread without an async runtime: [`PredictionStream::blocking`].
#[cfg(feature = "blocking")]
#[derive(Debug)]
pub struct BlockingStream<'c, O: Outputs>(PredictionStream<'c, O>);

#[cfg(feature = "blocking")]
impl<'c, O: Outputs> std::ops::Deref for BlockingStream<'c, O> {
    type Target = PredictionStream<'c, O>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[cfg(feature = "blocking")]
impl<'c, O> Iterator for BlockingStream<'c, O>
where
    O: Outputs<Partial: Send> + Send + 'c,
{
    type Item = Result<PredictionEvent<O>, Error>;
    fn next(&mut self) -> Option<Self::Item> {
        crate::lm::block_on(self.0.next())
    }
}

/// What a call leaves for its stream.
pub(crate) enum Item<'c> {
    /// A request is about to be sent.
    Request {
        adapter: &'c dyn Adapter,
        asked: &'c SignatureSpec,
        whole: &'c SignatureSpec,
        /// The places of what is asked for in the whole.
        places: Vec<usize>,
    },
    Delta(Delta),
}

/// Between a call and its stream: one item at a time, so that the call never runs ahead of what is shown.
#[derive(Default)]
pub(crate) struct Sink<'c> {
    item: Mutex<Slot<'c>>,
    visible: AtomicBool,
}

#[derive(Default)]
struct Slot<'c> {
    item: Option<Item<'c>>,
    /// Whether the call was stopped for the item to be taken.
    waiting: bool,
}

impl<'c> Sink<'c> {
    fn lock(&self) -> MutexGuard<'_, Slot<'c>> {
        self.item.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Item<'c>> {
        self.lock().item.take()
    }

    /// Whether the call is to be polled again at once.
    fn is_waiting(&self) -> bool {
        std::mem::take(&mut self.lock().waiting)
    }

    fn show(&self) {
        self.visible.store(true, Ordering::Relaxed);
    }

    /// Whether anything of an output was given out: then nothing is asked again.
    pub(super) fn is_visible(&self) -> bool {
        self.visible.load(Ordering::Relaxed)
    }

    /// Leaves an item, and waits until it is taken.
    pub(super) async fn give(&self, item: Item<'c>) {
        let mut item = Some(item);
        poll_fn(|_| {
            let mut slot = self.lock();
            if let Some(item) = item.take() {
                *slot = Slot { item: Some(item), waiting: true };
                return Poll::Pending;
            }
            if slot.item.is_some() {
                slot.waiting = true;
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Asks the model, and leaves each delta.
    pub(super) async fn ask(&self, lm: &dyn LanguageModel, request: &Request) -> Result<Completion, LmError> {
        let mut stream = lm.stream(request).await?;
        while let Some(event) = stream.next().await {
            match event? {
                StreamEvent::Delta(delta) => self.give(Item::Delta(delta)).await,
                StreamEvent::Done(completion) => return Ok(completion),
            }
        }
        Err(LmError::new(LmErrorKind::CutOff, "the stream ended without a reply"))
    }
}

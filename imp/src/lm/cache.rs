//! A model that answers what it was asked before from memory.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::flight::{Flight, Landed};
use super::{
    BoxFuture, Capabilities, Completion, CompletionSource, CompletionStream, FinishReason, LanguageModel,
    LmError, Request, StreamEvent, Usage, form,
};

/// A model in front of another one that keeps its completions in memory and gives them again for an equal request.
///
/// Nothing is cached unless a model is put into one. Clones share what is kept.
///
/// * **Equal** are requests of which all that is sent is equal, to the letter: messages, settings, extra fields, tools,
///   response format. The whole request is compared, no hash of it. Only the
///   [`timeout`](crate::Config::timeout) does not count.
/// * **A completion from the cache** is [marked](Completion#structfield.cached) and has no usage, so sums over
///   predictions say what was paid. Everything else is as it was, also the provider's id.
/// * **Errors** are not kept, nor is what the provider's content filter stopped.
/// * **Equal requests at once** are sent once, and all callers wait for the one reply; the tokens are the usage of one of
///   them. If a caller goes away the others still get it; the request is cancelled when all of them have. If it
///   fails, the caller that saw it has the error, and each of the others asks for itself. Requests with different
///   timeouts are not waited for together.
/// * **Streams** are answered from the cache too, in one piece. One that is not there is passed through, waits for no
///   other, and is kept once it has come to its end.
/// * **The bounds** are 1,000 completions and 64 MiB, requests included. What was not used for the longest time goes first.
///
/// A reply that a program could not read is kept like any other: [`forget`](Self::forget) it, or ask with another
/// [`seed`](crate::Config::seed). A program's own retries send another request.
///
/// ```
/// use imp::lm::Cache;
/// use imp::{LanguageModel, Message, Request, Script, Usage};
///
/// # async fn run() -> Result<(), imp::LmError> {
/// let script = Script::new(["Ahoy"]);
/// let model = Cache::new(script.clone()).max_entries(100);
/// let request = Request::new([Message::user("Hello")]);
///
/// let first = model.complete(&request).await?;
/// let again = model.complete(&request).await?;
/// assert_eq!(again.text(), Some("Ahoy"));
/// assert_eq!((first.cached, again.cached), (false, true));
/// assert_eq!(again.usage, Usage::default());
/// assert_eq!(script.requests().len(), 1);
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
pub struct Cache<L> {
    store: Arc<Store>,
    model: Arc<L>,
}

impl<L> Clone for Cache<L> {
    fn clone(&self) -> Self {
        Cache { store: Arc::clone(&self.store), model: Arc::clone(&self.model) }
    }
}

/// What the clones of a cache share.
struct Store {
    state: Mutex<State>,
}

struct State {
    max_entries: usize,
    max_bytes: usize,
    entries: HashMap<Arc<str>, Entry>,
    /// The keys by when they were last used.
    order: BTreeMap<u64, Arc<str>>,
    used: u64,
    bytes: usize,
    /// What is being asked for.
    flights: HashMap<FlightKey, Flight>,
}

struct Entry {
    completion: Arc<Completion>,
    used: u64,
    bytes: usize,
}

/// Who waits together: as long as the first, the last has waited no longer than it may.
type FlightKey = (Arc<str>, Option<Duration>);

impl Store {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing of others runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &str) -> Option<Arc<Completion>> {
        self.lock().get(key)
    }

    fn keep(&self, key: &Arc<str>, completion: &Completion) {
        if completion.choices.iter().any(|choice| choice.finish_reason == FinishReason::ContentFilter) {
            return;
        }
        let mut kept = completion.clone();
        kept.usage = Usage::default();
        kept.cached = true;
        let bytes = key.len() + form::completion(&kept).to_string().len();
        self.lock().insert(key, Entry { completion: Arc::new(kept), used: 0, bytes });
    }
}

impl State {
    fn get(&mut self, key: &str) -> Option<Arc<Completion>> {
        let entry = self.entries.get_mut(key)?;
        self.used += 1;
        if let Some(key) = self.order.remove(&entry.used) {
            self.order.insert(self.used, key);
        }
        entry.used = self.used;
        Some(Arc::clone(&entry.completion))
    }

    fn insert(&mut self, key: &Arc<str>, mut entry: Entry) {
        self.remove(key);
        // One that does not fit drives out nothing.
        if entry.bytes > self.max_bytes {
            return;
        }
        self.used += 1;
        entry.used = self.used;
        self.bytes += entry.bytes;
        self.order.insert(self.used, Arc::clone(key));
        self.entries.insert(Arc::clone(key), entry);
        self.shrink();
    }

    fn remove(&mut self, key: &str) -> bool {
        let Some(entry) = self.entries.remove(key) else { return false };
        self.order.remove(&entry.used);
        self.bytes -= entry.bytes;
        true
    }

    fn shrink(&mut self) {
        while self.entries.len() > self.max_entries || self.bytes > self.max_bytes {
            let Some(oldest) = self.order.values().next().cloned() else { return };
            self.remove(&oldest);
        }
    }
}

fn key(request: &Request) -> Arc<str> {
    form::request(request).to_string().into()
}

impl<L: LanguageModel> Cache<L> {
    /// A cache in front of `model`.
    pub fn new(model: L) -> Self {
        let state = State {
            max_entries: 1_000,
            max_bytes: 64 * 1024 * 1024,
            entries: HashMap::new(),
            order: BTreeMap::new(),
            used: 0,
            bytes: 0,
            flights: HashMap::new(),
        };
        Cache { store: Arc::new(Store { state: Mutex::new(state) }), model: Arc::new(model) }
    }

    /// Sets how many completions are kept, for all clones. The default is 1,000; with 0 nothing is kept, and equal
    /// requests at once are still sent once.
    pub fn max_entries(self, entries: usize) -> Self {
        let mut state = self.store.lock();
        state.max_entries = entries;
        state.shrink();
        drop(state);
        self
    }

    /// Sets how many bytes are kept, for all clones: those of the requests and completions as JSON. The default is
    /// 64 MiB.
    pub fn max_bytes(self, bytes: usize) -> Self {
        let mut state = self.store.lock();
        state.max_bytes = bytes;
        state.shrink();
        drop(state);
        self
    }

    /// How many completions are kept.
    pub fn len(&self) -> usize {
        self.store.lock().entries.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes are kept: those of the requests and completions as JSON.
    pub fn bytes(&self) -> usize {
        self.store.lock().bytes
    }

    /// Forgets the completion of a request; says whether there was one.
    pub fn forget(&self, request: &Request) -> bool {
        let key = key(request);
        self.store.lock().remove(&key)
    }

    /// Forgets every completion.
    pub fn clear(&self) {
        let mut state = self.store.lock();
        state.entries.clear();
        state.order.clear();
        state.bytes = 0;
    }
}

/// A place in a flight, which it leaves when it is dropped.
struct Seat<'a> {
    store: &'a Store,
    key: FlightKey,
    flight: Option<Flight>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let Some(flight) = self.flight.take() else { return };
        let mut state = self.store.lock();
        // The map has one of them, and nobody can take another while it is locked.
        let left = state.flights.get(&self.key).filter(|known| known.is(&flight) && flight.riders() == 2);
        let last = if left.is_some() { state.flights.remove(&self.key) } else { None };
        drop(state);
        // What is dropped here is the model's: it may do anything, but not under the lock.
        drop((last, flight));
    }
}

impl<L: LanguageModel + 'static> Cache<L> {
    async fn ask(&self, request: &Request) -> Result<Completion, LmError> {
        let key = key(request);
        let started = Instant::now();
        let seat = {
            let mut state = self.store.lock();
            if let Some(kept) = state.get(&key) {
                drop(state);
                return Ok(Completion::clone(&kept));
            }
            let flight_key = (Arc::clone(&key), request.config.timeout);
            let flight = state.flights.entry(flight_key.clone()).or_insert_with(|| {
                let (model, request) = (Arc::clone(&self.model), request.clone());
                // It begins when it is first polled, which is not here.
                Flight::new(Box::pin(async move { model.complete(&request).await }))
            });
            Seat { store: &self.store, key: flight_key, flight: Some(flight.clone()) }
        };
        let Some(flight) = &seat.flight else { return self.model.complete(request).await };
        match flight.ride().await {
            Landed::Pilot(result) => {
                if let Ok(completion) = &result {
                    self.store.keep(&key, completion);
                }
                // Whoever comes now finds it in the store, or asks anew.
                let mut state = self.store.lock();
                let ours = state.flights.get(&seat.key).is_some_and(|known| known.is(flight));
                let ours = if ours { state.flights.remove(&seat.key) } else { None };
                drop(state);
                drop(ours);
                flight.land(result.as_ref().ok());
                result
            }
            Landed::Passenger(Some(completion)) => Ok(completion),
            Landed::Passenger(None) => {
                drop(seat);
                let mut request = request.clone();
                // What was waited is part of the call.
                if let Some(timeout) = &mut request.config.timeout {
                    let left = timeout.saturating_sub(started.elapsed());
                    *timeout = left.max(Duration::from_millis(1));
                }
                let completion = self.model.complete(&request).await?;
                self.store.keep(&key, &completion);
                Ok(completion)
            }
        }
    }
}

impl<L: LanguageModel + 'static> LanguageModel for Cache<L> {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(self.ask(request))
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<CompletionStream<'a>, LmError>> {
        Box::pin(async move {
            let key = key(request);
            if let Some(kept) = self.store.get(&key) {
                return Ok(CompletionStream::whole(Completion::clone(&kept)));
            }
            let stream = self.model.stream(request).await?;
            Ok(CompletionStream::new(Keeping { stream, store: &self.store, key }))
        })
    }

    fn model(&self) -> &str {
        self.model.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }
}

impl<L: LanguageModel> fmt::Debug for Cache<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.store.lock();
        f.debug_struct("Cache")
            .field("model", &self.model.model())
            .field("entries", &state.entries.len())
            .field("bytes", &state.bytes)
            .field("max_entries", &state.max_entries)
            .field("max_bytes", &state.max_bytes)
            .finish_non_exhaustive()
    }
}

/// A stream that is kept when it is whole.
struct Keeping<'a> {
    stream: CompletionStream<'a>,
    store: &'a Store,
    key: Arc<str>,
}

impl CompletionSource for Keeping<'_> {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>> {
        Box::pin(async move {
            let event = self.stream.next().await;
            if let Some(Ok(StreamEvent::Done(completion))) = &event {
                self.store.keep(&self.key, completion);
            }
            event
        })
    }
}

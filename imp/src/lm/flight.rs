//! One future that several tasks wait for.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};

use super::{BoxFuture, Completion, LmError};

/// A request on its way for all who wait for it. No task owns it: whoever is polled moves it on, so that none is
/// stranded where another is cancelled, or held and never polled again. It needs no runtime.
#[derive(Clone)]
pub(super) struct Flight(Arc<Inner>);

struct Inner {
    /// Locked while it is polled; `None` once it has an end.
    future: Mutex<Option<BoxFuture<'static, Result<Completion, LmError>>>>,
    tower: Arc<Tower>,
}

/// There is no completion. The error is the caller's who saw it.
struct Failed;

/// Who waits, and what came of it.
#[derive(Default)]
struct Tower(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: Vec<(u64, Waker)>,
    /// Those of them that found it being polled.
    missed: Vec<u64>,
    next: u64,
    landed: Option<Result<Arc<Completion>, Failed>>,
}

impl Tower {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing of others runs while it is held, but for wakers' clones.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_all(&self) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for (_, waker) in waiting {
            waker.wake();
        }
    }

    /// Wakes those that came while it was polled. What woke it then may not have woken them.
    fn wake_missed(&self) {
        let woken: Vec<Waker> = {
            let mut state = self.lock();
            let missed = std::mem::take(&mut state.missed);
            let of_missed = state.waiting.iter().filter(|(seat, _)| missed.contains(seat));
            of_missed.map(|(_, waker)| waker.clone()).collect()
        };
        for waker in woken {
            waker.wake();
        }
    }

    fn land(&self, completion: Option<&Completion>) {
        let mut cached = completion.cloned();
        if let Some(completion) = &mut cached {
            completion.usage = super::Usage::default();
            completion.cached = true;
        }
        self.lock().landed.get_or_insert(cached.map(Arc::new).ok_or(Failed));
        self.wake_all();
    }
}

/// What the future wakes: everyone, as anyone may be the one that is not polled again.
impl Wake for Tower {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}

impl Flight {
    pub(super) fn new(future: BoxFuture<'static, Result<Completion, LmError>>) -> Self {
        Flight(Arc::new(Inner { future: Mutex::new(Some(future)), tower: Arc::default() }))
    }

    pub(super) fn is(&self, other: &Flight) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Waits for its end.
    pub(super) fn ride(&self) -> Riding {
        Riding { flight: self.clone(), seat: None }
    }

    /// How many handles there are.
    pub(super) fn riders(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Gives the others what came of it; a failure is not told, but that it was one.
    pub(super) fn land(&self, completion: Option<&Completion>) {
        self.0.tower.land(completion);
    }
}

/// What a wait ended with.
pub(super) enum Landed {
    /// The future's own result, which one of those who wait is given. The others wait until it is
    /// [landed](Flight::land).
    Pilot(Result<Completion, LmError>),
    /// The completion of another's request; `None` if that failed.
    Passenger(Option<Completion>),
}

/// Waits for a flight.
pub(super) struct Riding {
    flight: Flight,
    seat: Option<u64>,
}

impl Riding {
    fn listen(&mut self, waker: &Waker) -> Option<Landed> {
        let mut state = self.flight.0.tower.lock();
        if let Some(landed) = &state.landed {
            return Some(Landed::Passenger(landed.as_deref().ok().cloned()));
        }
        let seat = *self.seat.get_or_insert_with(|| {
            state.next += 1;
            state.next
        });
        let new = waker.clone();
        let known = state.waiting.iter_mut().find(|(waiting, _)| *waiting == seat);
        let old = if let Some((_, known)) = known {
            Some(std::mem::replace(known, new))
        } else {
            state.waiting.push((seat, new));
            None
        };
        // Dropping a waker may drop a task, which must not find the lock taken.
        drop(state);
        drop(old);
        None
    }
}

impl Future for Riding {
    type Output = Landed;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Landed> {
        // Before the future is tried, so that no end is missed.
        if let Some(landed) = self.listen(context.waker()) {
            return Poll::Ready(landed);
        }
        let inner = Arc::clone(&self.flight.0);
        if let Some(seat) = self.seat {
            inner.tower.lock().missed.push(seat);
        }
        let mut future = match inner.future.try_lock() {
            Ok(future) => future,
            // Another thread polls it, and wakes this one when it leaves.
            Err(TryLockError::WouldBlock) => return Poll::Pending,
            // It panicked in another's hands.
            Err(TryLockError::Poisoned(_)) => return Poll::Ready(Landed::Passenger(None)),
        };
        inner.tower.lock().missed.retain(|missed| Some(*missed) != self.seat);
        // It has an end that is about to be told.
        let Some(polled) = future.as_mut() else { return Poll::Pending };
        let mut polling = Polling { tower: &inner.tower, panics: true };
        let waker = Waker::from(Arc::clone(&inner.tower));
        let result = polled.as_mut().poll(&mut Context::from_waker(&waker));
        polling.panics = false;
        if result.is_ready() {
            *future = None;
        }
        drop(future);
        drop(polling);
        result.map(Landed::Pilot)
    }
}

/// A poll of the future by one of those who wait.
struct Polling<'a> {
    tower: &'a Tower,
    panics: bool,
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        if self.panics {
            // The panic is its caller's; the others ask for themselves.
            self.tower.land(None);
        } else {
            self.tower.wake_missed();
        }
    }
}

impl Drop for Riding {
    fn drop(&mut self) {
        let Some(seat) = self.seat else { return };
        let mut state = self.flight.0.tower.lock();
        let at = state.waiting.iter().position(|(waiting, _)| *waiting == seat);
        let waker = at.map(|at| state.waiting.swap_remove(at));
        drop(state);
        drop(waker);
    }
}

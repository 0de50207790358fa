//! Keeps what a user's function does inside its call: panics, and time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::lm::BoxFuture;

/// A panic's message; `None` if it had none.
pub(super) type Panicked = Option<String>;

/// Calls a function and catches its panic. A program that aborts on panic (`panic = "abort"`) still does.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    // What the function was working on is not looked at again.
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> Panicked {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
}

/// The future with its panics as errors.
pub(super) async fn contained<T>(mut future: BoxFuture<'_, T>) -> Result<T, Panicked> {
    std::future::poll_fn(|context| match caught(|| future.as_mut().poll(context)) {
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// The future's value, or `None` once the time is up; the future is then dropped.
pub(super) async fn within<T>(limit: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    let Some(limit) = limit else { return Some(future.await) };
    let mut future = std::pin::pin!(future);
    let mut alarm = Alarm::new(limit);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Pin::new(&mut alarm).poll(context).map(|()| None),
    })
    .await
}

/// Ready once a time has passed. It has a thread of its own, which sleeps: no runtime is asked for, since none may
/// be there, and what is there may have no clock. The thread ends with the alarm.
struct Alarm {
    at: Option<Instant>,
    shared: Option<Arc<Shared>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waker: Option<Waker>,
    over: bool,
}

impl Alarm {
    fn new(limit: Duration) -> Self {
        // A limit beyond what the clock can count is none.
        Alarm { at: Instant::now().checked_add(limit), shared: None }
    }
}

/// The lock is held for a moment, and nothing in it can panic.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        if Instant::now() >= at {
            return Poll::Ready(());
        }
        if let Some(shared) = &self.shared {
            lock(&shared.state).waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        let shared = Arc::new(Shared::default());
        lock(&shared.state).waker = Some(context.waker().clone());
        let theirs = shared.clone();
        let started = std::thread::Builder::new().name("imp-alarm".to_owned()).spawn(move || theirs.wait(at));
        self.shared = Some(shared);
        // Without a thread there is no alarm, and no answer that can be waited for safely.
        if started.is_ok() { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Shared {
    fn wait(&self, at: Instant) {
        let mut state = lock(&self.state);
        loop {
            let left = at.saturating_duration_since(Instant::now());
            if state.over {
                return;
            }
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            lock(&shared.state).over = true;
            shared.changed.notify_one();
        }
    }
}

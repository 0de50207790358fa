//! At most so many requests at once.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Places for requests in flight, given out about in the order of asking. It needs no runtime.
#[derive(Debug)]
pub(super) struct Slots {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Who waits, by number.
    waiting: VecDeque<(u64, Waker)>,
    next: u64,
}

impl Slots {
    /// So many places; one at least, or nothing would ever be sent.
    pub(super) fn new(places: usize) -> Arc<Self> {
        let state = State { free: places.max(1), waiting: VecDeque::new(), next: 0 };
        Arc::new(Slots { state: Mutex::new(state) })
    }

    /// Waits for a place; it is free again when the value is dropped.
    pub(super) fn take(self: &Arc<Self>) -> Taking {
        Taking { slots: Arc::clone(self), number: None, done: false }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_next(&self) {
        let next = {
            let mut state = self.lock();
            if state.free > 0 { state.waiting.pop_front() } else { None }
        };
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}

/// A place on its way.
#[derive(Debug)]
pub(super) struct Taking {
    slots: Arc<Slots>,
    number: Option<u64>,
    done: bool,
}

impl Future for Taking {
    type Output = Slot;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Slot> {
        let slots = Arc::clone(&self.slots);
        let mut state = slots.lock();
        let number = *self.number.get_or_insert_with(|| {
            state.next += 1;
            state.next
        });
        let queued = state.waiting.iter().position(|(waiting, _)| *waiting == number);
        if state.free > 0 {
            if let Some(at) = queued {
                state.waiting.remove(at);
            }
            state.free -= 1;
            drop(state);
            self.done = true;
            return Poll::Ready(Slot(slots));
        }
        match queued.and_then(|at| state.waiting.get_mut(at)) {
            Some((_, waker)) => waker.clone_from(context.waker()),
            None => state.waiting.push_back((number, context.waker().clone())),
        }
        Poll::Pending
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        if let Some(number) = self.number {
            self.slots.lock().waiting.retain(|(waiting, _)| *waiting != number);
        }
        // It may have been woken for a place that it no longer wants.
        self.slots.wake_next();
    }
}

/// A place; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Slot(Arc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.lock().free += 1;
        self.0.wake_next();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn poll(taking: &mut Taking, woken: &Arc<Woken>) -> Option<Slot> {
        let waker = Waker::from(Arc::clone(woken));
        match Pin::new(taking).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_place_goes_from_one_to_the_next() {
        let slots = Slots::new(1);
        let woken: [Arc<Woken>; 3] = Default::default();
        let mut takings = [slots.take(), slots.take(), slots.take()];
        let first = poll(&mut takings[0], &woken[0]).unwrap();
        assert!(poll(&mut takings[1], &woken[1]).is_none());
        assert!(poll(&mut takings[2], &woken[2]).is_none());
        drop(first);
        assert_eq!(woken[1].0.load(Ordering::SeqCst), 1);
        // The one that was woken goes away: the next is told.
        let [_, second, mut third] = takings;
        drop(second);
        assert_eq!(woken[2].0.load(Ordering::SeqCst), 1);
        assert!(poll(&mut third, &woken[2]).is_some());
        assert!(poll(&mut slots.take(), &woken[0]).is_some());
    }
}

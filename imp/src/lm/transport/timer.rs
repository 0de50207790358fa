//! A timer for any executor.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Waits so long; a thread of its own wakes the task.
pub(super) async fn sleep(time: Duration) {
    let until = Instant::now() + time;
    let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
    let mut started = false;
    std::future::poll_fn(move |context| {
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        *waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
        if !std::mem::replace(&mut started, true) {
            let waker = Arc::clone(&waker);
            let wake = move || {
                std::thread::sleep(time);
                let waker = waker.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(waker) = waker {
                    waker.wake();
                }
            };
            // Without a thread the task's own must wait.
            if std::thread::Builder::new().spawn(wake).is_err() {
                std::thread::sleep(time);
                return Poll::Ready(());
            }
        }
        Poll::Pending
    })
    .await;
}

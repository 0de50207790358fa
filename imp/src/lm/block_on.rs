//! Waiting for a call without a runtime of one's own.

/// Runs a future to its end on the calling thread.
///
/// For a program without an async runtime. With the feature `reqwest` the future runs in a tokio
/// runtime that all such calls share, so that connections stay open between them; without it no
/// tokio is needed.
///
/// Inside a tokio runtime, where waiting is not allowed, the future runs on a thread of its own, and the
/// calling thread waits for that: `.await` it there instead.
///
/// ```
/// use imp::{Completion, LanguageModel, Message, Request, Script};
///
/// let script = Script::new(["Ahoy"]);
/// let completion = imp::lm::block_on(script.complete(&Request::new([Message::user("Hello")])))?;
/// assert_eq!(completion.text(), Some("Ahoy"));
/// # Ok::<(), imp::LmError>(())
/// ```
///
/// # Panics
///
/// Only if the future does.
pub fn block_on<F>(future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    run(future)
}

#[cfg(feature = "reqwest")]
fn run<F>(future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    use std::sync::OnceLock;

    use tokio::runtime::{Builder, Handle, Runtime};

    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build().ok());
    let Some(runtime) = runtime else {
        // The system has no room for a runtime. The future is polled all the same: one that needs no network
        // completes, and the `reqwest` transport says that it has no runtime.
        return park(future);
    };
    if Handle::try_current().is_err() {
        return runtime.block_on(future);
    }
    std::thread::scope(|scope| match scope.spawn(|| runtime.block_on(future)).join() {
        Ok(output) => output,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

#[cfg(not(feature = "reqwest"))]
fn run<F: Future>(future: F) -> F::Output {
    park(future)
}

/// Polls, and sleeps until woken.
fn park<F: Future>(future: F) -> F::Output {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{self, Thread};

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
        fn wake_by_ref(self: &Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    /// Is pending once, and woken from another thread.
    async fn late() -> u8 {
        let mut asked = false;
        std::future::poll_fn(move |context| {
            if asked {
                return Poll::Ready(7);
            }
            asked = true;
            let waker = context.waker().clone();
            std::thread::spawn(move || waker.wake());
            Poll::Pending
        })
        .await
    }

    #[test]
    fn waits() {
        assert_eq!(super::block_on(late()), 7);
        assert_eq!(super::park(late()), 7);
    }

    #[cfg(feature = "reqwest")]
    #[test]
    fn waits_inside_a_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(async { super::block_on(late()) }), 7);
    }
}

//! A cache in front of a model: what is asked again, what is not, and who waits for whom.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use imp::lm::{BoxFuture, Cache, CompletionStream, StreamEvent, block_on};
use imp::{
    Capabilities, Choice, Completion, Config, FinishReason, LanguageModel, LmError, LmErrorKind, Message,
    Predict, Request, Script, Signature, Usage,
};

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)])
}

/// Answers with how often it was asked, when it is let.
#[derive(Clone, Default)]
struct Gate {
    asked: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    open: Arc<Mutex<Option<Result<(), ()>>>>,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

impl Gate {
    fn open(&self, result: Result<(), ()>) {
        *self.open.lock().unwrap() = Some(result);
        for waker in self.wakers.lock().unwrap().drain(..) {
            waker.wake();
        }
    }
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl LanguageModel for Gate {
    fn complete<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(async move {
            let _dropped = Dropped(Arc::clone(&self.dropped));
            let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            let opened = poll_fn(|context| {
                let open = *self.open.lock().unwrap();
                if open.is_none() {
                    self.wakers.lock().unwrap().push(context.waker().clone());
                }
                open.map_or(Poll::Pending, Poll::Ready)
            });
            match opened.await {
                Ok(()) => {
                    let mut usage = Usage::default();
                    (usage.input_tokens, usage.output_tokens) = (5, 2);
                    let mut completion = Completion::from(asked.to_string());
                    completion.usage = usage;
                    Ok(completion)
                }
                Err(()) => Err(LmError::new(LmErrorKind::Overloaded, "busy")),
            }
        })
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<CompletionStream<'a>, LmError>> {
        Box::pin(async move { Ok(CompletionStream::whole(self.complete(request).await?)) })
    }

    fn model(&self) -> &'static str {
        "gate"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn an_equal_request_is_answered_from_memory_and_costs_nothing() {
    let gate = Gate::default();
    gate.open(Ok(()));
    let model = Cache::new(gate.clone());
    let first = block_on(model.complete(&ask("a"))).unwrap();
    let again = block_on(model.clone().complete(&ask("a"))).unwrap();
    assert_eq!((first.text(), again.text()), (Some("1"), Some("1")));
    assert_eq!((first.cached, again.cached), (false, true));
    assert_eq!((first.usage.output_tokens, again.usage), (2, Usage::default()));
    // Anything that is sent tells requests apart.
    let mut warmer = ask("a");
    warmer.config.temperature = Some(0.5);
    let mut named = ask("a");
    named.messages[0].name = Some("alice".into());
    for (count, other) in [ask("b"), warmer, named].iter().enumerate() {
        let other = block_on(model.complete(other)).unwrap();
        assert_eq!((other.text(), other.cached), (Some((count + 2).to_string().as_str()), false));
    }
    assert!(model.forget(&ask("a")) && !model.forget(&ask("a")));
    assert!(!block_on(model.complete(&ask("a"))).unwrap().cached);
}

#[test]
fn the_least_used_goes_first_and_one_that_does_not_fit_drives_out_nothing() {
    let model = Cache::new(Script::from_fn(|request: &Request| request.messages[0].text().into_owned()))
        .max_entries(2);
    let cached = |text: &str| block_on(model.complete(&ask(text))).unwrap().cached;
    assert!(!cached("a") && !cached("b") && cached("a") && !cached("c"));
    assert_eq!(model.len(), 2);
    assert!(cached("a") && cached("c") && !cached("b"));
    let bytes = model.bytes();
    let model = model.clone().max_bytes(bytes);
    assert!(!block_on(model.complete(&ask(&"long ".repeat(bytes)))).unwrap().cached);
    assert_eq!((model.len(), model.bytes()), (2, bytes));
    model.clear();
    assert!(model.is_empty() && model.bytes() == 0);
}

#[test]
fn what_failed_or_was_filtered_is_asked_again() {
    let mut filtered = Choice::new("…");
    filtered.finish_reason = FinishReason::ContentFilter;
    let replies: Vec<imp::lm::ScriptReply> =
        vec![LmError::new(LmErrorKind::Overloaded, "busy").into(), filtered.into(), "fine".into()];
    let model = Cache::new(Script::new(replies));
    assert_eq!(block_on(model.complete(&ask("a"))).unwrap_err().kind(), LmErrorKind::Overloaded);
    assert!(model.is_empty());
    block_on(model.complete(&ask("a"))).unwrap();
    assert!(model.is_empty());
    assert_eq!(block_on(model.complete(&ask("a"))).unwrap().text(), Some("fine"));
    assert_eq!(block_on(model.complete(&ask("a"))).unwrap().text(), Some("fine"));
}

#[test]
fn equal_requests_at_once_are_sent_once() {
    let gate = Gate::default();
    let model = Cache::new(gate.clone());
    let request = ask("a");
    let (mut one, mut two) = (pin!(model.complete(&request)), pin!(model.complete(&request)));
    assert!(poll(one.as_mut()).is_pending() && poll(two.as_mut()).is_pending());
    gate.open(Ok(()));
    // The second moves it on though the first began it.
    let Poll::Ready(second) = poll(two.as_mut()) else { panic!("not woken") };
    let Poll::Ready(first) = poll(one.as_mut()) else { panic!("not told") };
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!((first.text(), second.text()), (Some("1"), Some("1")));
    assert_eq!(gate.asked.load(Ordering::Relaxed), 1);
    // The tokens are counted once.
    assert_eq!(first.usage.output_tokens + second.usage.output_tokens, 2);
}

#[test]
fn a_cancelled_first_strands_nobody_and_the_last_to_leave_cancels() {
    let gate = Gate::default();
    let model = Cache::new(gate.clone());
    let request = ask("a");
    let mut one = Box::pin(model.complete(&request));
    let mut two = Box::pin(model.complete(&request));
    assert!(poll(one.as_mut()).is_pending() && poll(two.as_mut()).is_pending());
    drop(one);
    assert_eq!(gate.dropped.load(Ordering::Relaxed), 0);
    gate.open(Ok(()));
    let Poll::Ready(Ok(completion)) = poll(two.as_mut()) else { panic!("stranded") };
    assert_eq!(completion.text(), Some("1"));

    *gate.open.lock().unwrap() = None;
    let other = ask("b");
    let mut alone = Box::pin(model.complete(&other));
    assert!(poll(alone.as_mut()).is_pending());
    let before = gate.dropped.load(Ordering::Relaxed);
    drop(alone);
    assert_eq!(gate.dropped.load(Ordering::Relaxed), before + 1);
}

#[test]
fn a_failure_is_one_callers_and_the_others_ask_for_themselves() {
    let gate = Gate::default();
    let model = Cache::new(gate.clone());
    let request = ask("a");
    let (mut one, mut two) = (pin!(model.complete(&request)), pin!(model.complete(&request)));
    assert!(poll(one.as_mut()).is_pending() && poll(two.as_mut()).is_pending());
    gate.open(Err(()));
    let Poll::Ready(Err(error)) = poll(one.as_mut()) else { panic!("no error") };
    assert_eq!(error.kind(), LmErrorKind::Overloaded);
    gate.open(Ok(()));
    let Poll::Ready(Ok(completion)) = poll(two.as_mut()) else { panic!("poisoned") };
    assert_eq!(completion.text(), Some("2"));
}

#[test]
fn a_stream_is_kept_when_it_is_whole_and_only_then() {
    let script = Script::new(["one", "two"]).chunked(1);
    let model = Cache::new(script.clone());
    let request = ask("a");
    let read = |most: usize| {
        block_on(async {
            let mut stream = model.stream(&request).await.unwrap();
            let mut done = None;
            for _ in 0..most {
                match stream.next().await {
                    Some(Ok(StreamEvent::Done(completion))) => done = Some(completion),
                    Some(event) => drop(event.unwrap()),
                    None => break,
                }
            }
            done.map(|completion| (completion.text().map(str::to_owned), completion.cached))
        })
    };
    assert_eq!(read(1), None);
    assert!(model.is_empty());
    assert_eq!(read(99), Some((Some("two".to_owned()), false)));
    assert_eq!(read(99), Some((Some("two".to_owned()), true)));
    assert_eq!(script.requests().len(), 2);
}

/// Answer.
#[derive(Signature)]
#[signature(output = Answer)]
struct Question {
    question: String,
}

#[derive(Debug, Signature)]
struct Answer {
    answer: String,
}

#[test]
fn a_program_asks_a_cached_model_once() {
    let script = Script::new(["[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]"]);
    let predict = Predict::<Question>::new(Cache::new(script.clone()));
    for _ in 0..3 {
        let answer = block_on(async { predict.call(&Question { question: "?".into() }).await }).unwrap();
        assert_eq!(answer.answer, "Paris");
    }
    assert_eq!(script.requests().len(), 1);
    let mut config = Config::default();
    config.seed = Some(7);
    let error = block_on(async { predict.call(&Question { question: "?".into() }).config(config).await });
    assert!(error.is_err(), "another seed is another request, and the script has no answer to it");
}

//! A program that learns which of its two adapters a model keeps to: how many requests a call makes, and what is said
//! about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use imp::lm::{BoxFuture, ScriptReply};
use imp::{
    Adapter, Capabilities, ChainOfThought, Chat, Choice, Completion, Config, Dialect, ErrorKind, Fields,
    Json, LanguageModel, LmError, LmErrorKind, Predict, Request, Script, Signature, TwoStep, Xml,
};
use imp_tests::plain::{demo, line};
use serde_json::json;

const SECTIONS: &str = "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]";
const DECORATED: &str = "**[[ ## answer ## ]]**\nParis\n\n**[[ ## completed ## ]]**";
const OBJECT: &str = r#"{"answer": "Paris"}"#;
const PROSE: &str = "I would rather not say.";

fn question() -> Fields {
    Fields::from([("question", "What is the capital of France?")])
}

fn predict(script: &Script) -> Predict<Fields> {
    Predict::from_spec(line("question -> answer"), script.clone())
}

/// Whether a request asks for JSON.
fn wants_json(request: &Request) -> bool {
    let last = request.messages.iter().rev().find(|message| message.text().contains("Respond"));
    last.is_some_and(|message| message.text().contains("JSON object"))
}

/// A model that answers what the two formats are set to.
fn model(sections: &'static str, object: &'static str) -> Script {
    Script::from_fn(move |request| if wants_json(request) { object } else { sections })
}

/// A model whose answers can be changed on the way.
#[derive(Clone)]
struct Mutable(Arc<Mutex<(ScriptReply, ScriptReply)>>);

impl Mutable {
    fn new(sections: impl Into<ScriptReply>, object: impl Into<ScriptReply>) -> (Self, Script) {
        let replies = Mutable(Arc::new(Mutex::new((sections.into(), object.into()))));
        let own = replies.clone();
        let script = Script::from_fn(move |request| {
            let (sections, object) = own.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if wants_json(request) { object } else { sections }
        });
        (replies, script)
    }

    fn set(&self, sections: impl Into<ScriptReply>, object: impl Into<ScriptReply>) {
        *self.0.lock().unwrap() = (sections.into(), object.into());
    }
}

/// How many requests one call makes, and in which forms: `c` for sections, `j` for JSON.
async fn forms(program: &Predict<Fields>, script: &Script) -> String {
    let before = script.requests().len();
    let _ = program.call(&question()).await;
    let form = |request: &Request| if wants_json(request) { 'j' } else { 'c' };
    script.requests()[before..].iter().map(form).collect()
}

/// The same for several calls.
async fn all_forms(program: &Predict<Fields>, script: &Script, calls: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..calls {
        all.push(forms(program, script).await);
    }
    all
}

async fn learnt(script: &Script) -> Predict<Fields> {
    let program = predict(script);
    assert_eq!(all_forms(&program, script, 3).await, ["cj", "cj", "cj"]);
    program
}

/// Three calls of two requests, then one request a call; the twentieth of those tries again, then the fortieth.
#[tokio::test]
async fn a_model_that_keeps_to_json() {
    let script = model(PROSE, OBJECT);
    let program = learnt(&script).await;
    let made = all_forms(&program, &script, 200).await;
    for (call, forms) in (1..).zip(&made) {
        let tried = [20, 60, 140].contains(&call);
        assert_eq!(forms, if tried { "cj" } else { "j" }, "call {call}");
    }
}

#[tokio::test]
async fn what_the_prediction_says() {
    let script = model(PROSE, OBJECT);
    let program = predict(&script);
    let inputs = question();
    for call in 1..=5 {
        let answer = program.call(&inputs).await.unwrap();
        let learnt = call > 3;
        assert_eq!(answer.get("answer"), Some(&"Paris".into()));
        assert_eq!((answer.adapter(), answer.is_learnt()), ("json", learnt), "call {call}");
        assert_eq!(answer.started_with(), if learnt { "json" } else { "chat" }, "call {call}");
        assert_eq!(answer.messages(), script.requests().last().unwrap().messages);
    }
    let kept = model(SECTIONS, PROSE);
    let answer = predict(&kept).call(&inputs).await.unwrap();
    assert_eq!((answer.adapter(), answer.started_with(), answer.is_learnt()), ("chat", "chat", false));
}

/// A row of failures ends with an exact reply, and with a call in which neither format could be read; not with one that
/// was salvaged or brought by a retry, nor with an error of the model.
#[tokio::test]
async fn what_counts() {
    let cut = || {
        let choice = Choice::new("[[ ## answer ## ]]\nPar").finish_reason(imp::FinishReason::Length);
        ScriptReply::from(Completion::new([choice]))
    };
    let busy = || ScriptReply::from(LmError::new(LmErrorKind::Overloaded, "busy"));
    for (sections, object, expected) in [
        (SECTIONS.into(), OBJECT.into(), "cj"),
        (ScriptReply::from(PROSE), ScriptReply::from(PROSE), "cj"),
        (DECORATED.into(), OBJECT.into(), "j"),
        (busy(), OBJECT.into(), "j"),
        (PROSE.into(), busy(), "j"),
    ] {
        let told = format!("{sections:?}");
        let (replies, script) = Mutable::new(PROSE, OBJECT);
        let program = predict(&script);
        assert_eq!(all_forms(&program, &script, 2).await, ["cj", "cj"]);
        replies.set(sections, object);
        forms(&program, &script).await;
        replies.set(PROSE, OBJECT);
        assert_eq!(forms(&program, &script).await, "cj");
        assert_eq!(forms(&program, &script).await, expected, "{told}");
    }
    // A salvaged reply is no failure either; one that was cut off is.
    for (sections, learns) in [(ScriptReply::from(DECORATED), false), (cut(), true)] {
        let (_, script) = Mutable::new(sections, OBJECT);
        let program = predict(&script);
        let made = all_forms(&program, &script, 6).await;
        assert_eq!(made.iter().any(|forms| forms.starts_with('j')), learns, "{made:?}");
    }
}

/// With salvage off the same replies are failures.
#[tokio::test]
async fn without_salvage() {
    let script = model(DECORATED, OBJECT);
    let program = predict(&script).salvage(false);
    assert_eq!(all_forms(&program, &script, 5).await, ["cj", "cj", "cj", "j", "j"]);
}

#[tokio::test]
async fn it_goes_back_when_the_first_works_again() {
    let (replies, script) = Mutable::new(PROSE, OBJECT);
    let program = learnt(&script).await;
    assert_eq!(all_forms(&program, &script, 19).await, ["j"; 19]);
    replies.set(SECTIONS, OBJECT);
    assert_eq!(all_forms(&program, &script, 4).await, ["c"; 4]);
    // It learns anew, from the start.
    replies.set(PROSE, OBJECT);
    assert_eq!(all_forms(&program, &script, 5).await, ["cj", "cj", "cj", "j", "j"]);
}

/// A try whose reply was salvaged proves nothing.
#[tokio::test]
async fn a_salvaged_try() {
    let (replies, script) = Mutable::new(PROSE, OBJECT);
    let program = learnt(&script).await;
    assert_eq!(all_forms(&program, &script, 19).await, ["j"; 19]);
    replies.set(DECORATED, OBJECT);
    assert_eq!(all_forms(&program, &script, 3).await, ["c", "j", "j"]);
}

/// No answer is lost: the chosen adapter follows, once, and an exact reply of it undoes what was learnt.
#[tokio::test]
async fn the_learnt_one_fails() {
    let (replies, script) = Mutable::new(PROSE, OBJECT);
    let program = learnt(&script).await;
    replies.set(SECTIONS, PROSE);
    let answer = program.call(&question()).await.unwrap();
    assert_eq!((answer.adapter(), answer.started_with(), answer.is_learnt()), ("chat", "json", true));
    assert_eq!(script.requests().len(), 8);
    assert_eq!(forms(&program, &script).await, "c");

    // Three that could only be salvaged do, too.
    replies.set(PROSE, OBJECT);
    assert_eq!(all_forms(&program, &script, 4).await, ["cj", "cj", "cj", "j"]);
    replies.set(DECORATED, PROSE);
    assert_eq!(all_forms(&program, &script, 4).await, ["jc", "jc", "jc", "c"]);
}

/// Of two errors that of the chosen format, with all tokens; what was learnt stays.
#[tokio::test]
async fn both_fail() {
    let used = |text: &str, usage| ScriptReply::from(Completion::from(text).with_usage(usage));
    let (replies, script) = Mutable::new(PROSE, OBJECT);
    let program = learnt(&script).await;
    replies.set(used(PROSE, imp::Usage::new(10, 1)), used("{", imp::Usage::new(20, 2)));
    let error = program.call(&question()).await.unwrap_err();
    assert_eq!(error.as_parse().map(imp::ParseError::adapter), Some("chat"));
    assert_eq!((error.reply(), *error.usage()), (Some(PROSE), imp::Usage::new(30, 3)));
    assert_eq!(error.messages(), program.messages(&question()).unwrap());
    assert_eq!(script.requests().len(), 8);
    replies.set(PROSE, OBJECT);
    assert_eq!(forms(&program, &script).await, "j");
}

/// A request that the provider does not take in this form is no lost answer; any other error is the call's.
#[tokio::test]
async fn errors_of_the_model() {
    for (kind, expected) in [
        (LmErrorKind::BadRequest, "jc"),
        (LmErrorKind::ContextWindowExceeded, "jc"),
        (LmErrorKind::RateLimit, "j"),
        (LmErrorKind::Auth, "j"),
    ] {
        let (replies, script) = Mutable::new(PROSE, OBJECT);
        let program = learnt(&script).await;
        replies.set(DECORATED, LmError::new(kind, "no"));
        assert_eq!(forms(&program, &script).await, expected, "{kind:?}");
        let result = program.call(&question()).await;
        match result {
            Ok(answer) => assert_eq!((answer.adapter(), expected), ("chat", "jc")),
            Err(error) => assert_eq!(error.as_model().map(LmError::kind), Some(kind)),
        }
    }
}

/// `fallback(false)` never starts with it, on a call and on a program; its exact reply counts.
#[tokio::test]
async fn without_a_fallback() {
    let (replies, script) = Mutable::new(PROSE, OBJECT);
    let program = learnt(&script).await;
    let error = program.call(&question()).fallback(false).await.unwrap_err();
    assert_eq!((error.reply(), script.requests().len()), (Some(PROSE), 7));
    assert_eq!(forms(&program, &script).await, "j");
    replies.set(SECTIONS, OBJECT);
    program.call(&question()).fallback(false).await.unwrap();
    assert_eq!(forms(&program, &script).await, "c", "undone");

    let script = model(PROSE, OBJECT);
    let program = predict(&script).fallback(false);
    assert_eq!(all_forms(&program, &script, 5).await, ["c"; 5]);
    let script = model(PROSE, PROSE);
    let program = predict(&script).adapter(Json::new());
    assert_eq!(all_forms(&program, &script, 5).await, ["j"; 5], "there is none");
}

/// Retries stay with the chosen adapter, before the fallback or behind it: as many requests as without learning.
#[tokio::test]
async fn with_retries() {
    let (replies, script) = Mutable::new(PROSE, OBJECT);
    let program = predict(&script).retries(2);
    assert_eq!(all_forms(&program, &script, 4).await, ["cccj", "cccj", "cccj", "j"]);
    replies.set(PROSE, PROSE);
    assert_eq!(forms(&program, &script).await, "jccc");
    let error = program.call(&question()).await.unwrap_err();
    assert_eq!(error.as_parse().map(imp::ParseError::adapter), Some("chat"));

    // A reply that a retry brought is neither a failure nor proof.
    let script = Script::new(["one", SECTIONS, "two", OBJECT, "three", OBJECT, "four", OBJECT, OBJECT]);
    let program = predict(&script).salvage(false);
    program.call(&question()).retries(1).await.unwrap();
    assert_eq!(all_forms(&program, &script, 4).await, ["cj", "cj", "cj", "j"]);
}

/// Several completions are one call: one of them that cannot be read sends all through the fallback.
#[tokio::test]
async fn several_completions() {
    let both =
        |one: &str, two: &str| ScriptReply::from(Completion::new([Choice::new(one), Choice::new(two)]));
    let (replies, script) = Mutable::new(both(SECTIONS, PROSE), both(OBJECT, OBJECT));
    let program = predict(&script).config(Config::new().n(2));
    assert_eq!(all_forms(&program, &script, 4).await, ["cj", "cj", "cj", "j"]);
    assert_eq!(program.call(&question()).await.unwrap().completions().count(), 2);
    // One that was salvaged keeps the other from being proof.
    assert_eq!(all_forms(&program, &script, 17).await, ["j"; 17]);
    replies.set(both(SECTIONS, DECORATED), both(OBJECT, OBJECT));
    assert_eq!(all_forms(&program, &script, 2).await, ["c", "j"]);
    // Fewer than were asked for is the model's failure, whatever was learnt.
    replies.set(both(SECTIONS, SECTIONS), OBJECT);
    let error = program.call(&question()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Completions { asked: 2, got: 1 }), "{error:?}");
}

#[tokio::test]
async fn the_switches() {
    let script = model(PROSE, OBJECT);
    let program = predict(&script).learn(false);
    assert_eq!(all_forms(&program, &script, 5).await, ["cj"; 5]);
    let program = program.learn(true);
    assert_eq!(all_forms(&program, &script, 4).await, ["cj", "cj", "cj", "j"]);
    let off = program.clone().learn(false);
    assert_eq!(forms(&off, &script).await, "cj");
    assert_eq!(forms(&program, &script).await, "j");
    let program = predict(&script).learn_after(1);
    assert_eq!(all_forms(&program, &script, 3).await, ["cj", "j", "j"]);
    let program = predict(&script).learn_after(0);
    assert_eq!(all_forms(&program, &script, 3).await, ["cj", "j", "j"], "at least one");
}

/// Clones share what is learnt; a program that is changed starts anew and leaves the others theirs.
#[tokio::test]
async fn clones_and_changes() {
    let script = model(PROSE, OBJECT);
    let program = learnt(&script).await;
    let clone = program.clone().config(Config::new().temperature(0.5)).retries(1);
    assert_eq!(forms(&clone, &script).await, "j");
    let example = || demo(&json!({ "question": "Of Spain?", "answer": "Madrid" }));
    for (changed, expected) in [
        (program.clone().adapter(Chat::new()), "cj"),
        (program.clone().adapter(Xml::new()), "cj"),
        (program.clone().instructions("Answer in one word."), "cj"),
        (program.clone().with_demo(example()), "cj"),
        (program.clone().salvage(false), "cj"),
        (program.clone().fallback(true), "cj"),
        (program.clone(), "j"),
    ] {
        assert_eq!(forms(&changed, &script).await, expected, "{changed:?}");
    }
    // Learnt from a clone.
    let one = predict(&script);
    let other = one.clone();
    assert_eq!(all_forms(&one, &script, 2).await, ["cj", "cj"]);
    assert_eq!(all_forms(&other, &script, 2).await, ["cj", "j"]);
    assert_eq!(forms(&one, &script).await, "j");
}

/// One model that answers as another does, behind one client: each is learnt apart.
struct Switch {
    model: AtomicUsize,
    script: Script,
}

impl LanguageModel for Switch {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        self.script.complete(request)
    }

    fn model(&self) -> &str {
        ["small", "large"][self.model.load(Ordering::Relaxed)]
    }
}

#[tokio::test]
async fn two_models() {
    let script = model(PROSE, OBJECT);
    let client = Arc::new(Switch { model: AtomicUsize::new(0), script: script.clone() });
    let program = Predict::from_spec(line("question -> answer"), client.clone());
    assert_eq!(all_forms(&program, &script, 4).await, ["cj", "cj", "cj", "j"]);
    client.model.store(1, Ordering::Relaxed);
    assert_eq!(all_forms(&program, &script, 4).await, ["cj", "cj", "cj", "j"]);
    client.model.store(0, Ordering::Relaxed);
    assert_eq!(forms(&program, &script).await, "j");
    // Two programs know nothing of each other.
    assert_eq!(forms(&predict(&script), &script).await, "cj");
}

/// A model that lets others go on before it answers.
struct Slow(Script);

impl LanguageModel for Slow {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(async move {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            self.0.complete(request).await
        })
    }

    fn model(&self) -> &'static str {
        "slow"
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

async fn at_once(program: &Predict<Fields>, calls: usize) {
    let tasks: Vec<_> = (0..calls)
        .map(|_| {
            let program = program.clone();
            tokio::spawn(async move {
                let answer = program.call(&question()).await.unwrap();
                assert_eq!(answer.get("answer"), Some(&"Paris".into()));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Fifty calls that all start before one has ended learn nothing in time; the next fifty make one request each, but for
/// the one that tries.
#[tokio::test]
async fn fifty_at_once() {
    let script = model(PROSE, OBJECT);
    let program = Predict::from_spec(line("question -> answer"), Slow(script.clone()));
    at_once(&program, 50).await;
    assert_eq!(script.requests().len(), 100);
    at_once(&program, 50).await;
    let later = script.requests().split_off(100);
    assert_eq!((later.len(), later.iter().filter(|request| wants_json(request)).count()), (51, 50));
}

/// The same on several threads, where the order is nobody's: no answer is lost, and hardly a request is made twice.
#[test]
fn on_threads() {
    let script = model(PROSE, OBJECT);
    let program = Predict::from_spec(line("question -> answer"), Slow(script.clone()));
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(at_once(&program, 5));
                runtime.block_on(at_once(&program, 20));
            });
        }
    });
    // Each thread may start its first calls before any has ended; of the calls after that a few try again.
    let second = script.requests().len() - 200;
    assert!((3..=40 + 8).contains(&second), "{second}");
}

/// A call that is dropped on the way leaves nothing held.
#[tokio::test]
async fn a_dropped_call() {
    let script = model(PROSE, OBJECT);
    let program = Predict::from_spec(line("question -> answer"), Slow(script.clone()));
    for _ in 0..30 {
        let inputs = question();
        let mut call = program.call(&inputs).into_future();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
    }
    assert_eq!(script.requests().len(), 0);
    at_once(&program, 1).await;
    assert_eq!(script.requests().len(), 2);
}

/// Any adapter with a fallback, and every kind of program.
#[tokio::test]
async fn every_program() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Question {
        question: String,
    }
    #[derive(Debug, Signature)]
    struct Answer {
        answer: String,
    }
    let asked = Question { question: "?".into() };
    let reasoned = r#"{"reasoning": "It is known.", "answer": "Paris"}"#;
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        let script = model(PROSE, OBJECT);
        let program = Predict::<Question>::new(script.clone()).adapter(Xml::new().dialect(dialect));
        let mut requests = Vec::new();
        for _ in 0..4 {
            let answer = program.call(&asked).await.unwrap();
            requests.push((answer.started_with().to_owned(), script.requests().len()));
        }
        let xml = || Xml::new().name().to_owned();
        assert_eq!(requests, [(xml(), 2), (xml(), 4), (xml(), 6), ("json".to_owned(), 7)]);
    }
    let script = model(PROSE, reasoned);
    let program = ChainOfThought::<Question>::new(script.clone()).unwrap();
    for _ in 0..4 {
        program.call(&asked).await.unwrap();
    }
    assert_eq!(script.requests().len(), 7);
    // The extraction learns; the first step has nothing to learn.
    for (learn, requests) in [(true, 7), (false, 8)] {
        let (thinker, reader) = (model(PROSE, PROSE), model(PROSE, OBJECT));
        let program = TwoStep::<Question>::new(thinker.clone(), reader.clone()).learn(learn);
        for _ in 0..4 {
            program.call(&asked).await.unwrap();
        }
        assert_eq!((thinker.requests().len(), reader.requests().len()), (4, requests));
    }
}

//! Typed streams: events of a call while its reply is written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use imp::lm::wire::Delta;
use imp::lm::{BoxFuture, CompletionSource, CompletionStream, ScriptReply, StreamEvent, block_on};
use imp::{
    Adapter, ChainOfThought, Chat, Choice, Completion, Ending, Error, ErrorKind, Fields, LanguageModel,
    LmError, LmErrorKind, ParseError, Predict, Prediction, PredictionEvent, ReadEvent, Reasoned, Request,
    Script, Section, Signature, SignatureSpec, StreamReader, Tool, ToolCall, ToolCalls,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Route the ticket.
#[derive(Signature)]
#[signature(output = Route)]
struct Ticket {
    ticket: String,
}

#[derive(Debug, Clone, PartialEq, Signature)]
struct Route {
    team: Team,
    #[field(default = "none")]
    note: String,
    reply: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Billing,
    Platform,
}

const REPLY: &str = "[[ ## team ## ]]\nbilling\n\n[[ ## reply ## ]]\nWe are — sorry.\n\\[[ ## x ## ]] [1]\nBye.\n\n[[ ## completed ## ]]\n";
const TEXT: &str = "We are — sorry.\n[[ ## x ## ]] [1]\nBye.";

fn ticket() -> Ticket {
    Ticket { ticket: "charged twice".into() }
}

fn predict(model: impl LanguageModel + 'static) -> Predict<Ticket> {
    Predict::new(model).adapter(Chat::new())
}

/// What a stream said: texts by field, the fields that were whole, the other events in words, and how it ended.
#[derive(Debug, Default)]
struct Said {
    texts: std::collections::BTreeMap<String, String>,
    whole: Vec<String>,
    log: Vec<String>,
    end: Option<Result<Prediction<Route>, Error>>,
}

fn run(mut events: imp::PredictionStream<'_, Route>) -> Said {
    let mut said = Said::default();
    block_on(async {
        while let Some(event) = events.next().await {
            match event {
                Ok(PredictionEvent::Delta { field, text }) => {
                    assert!(!text.is_empty());
                    said.log.push(format!("{}+", field.name()));
                    said.texts.entry(field.name().to_owned()).or_default().push_str(&text);
                    if field == Route::FIELDS.reply {
                        assert_eq!(events.text(Route::FIELDS.reply), said.texts["reply"]);
                    }
                }
                Ok(PredictionEvent::Field(field)) => {
                    if field == Route::FIELDS.team {
                        assert_eq!(events.get(Route::FIELDS.team), Some(&Team::Billing));
                    }
                    if field == Route::FIELDS.reply {
                        assert_eq!(events.get(Route::FIELDS.reply), said.texts.get("reply"));
                    }
                    said.log.push(field.name().to_owned());
                    said.whole.push(field.name().to_owned());
                }
                Ok(PredictionEvent::Reasoning(text)) => said.log.push(format!("reasoning {text}")),
                Ok(PredictionEvent::Again) => said.log.push("again".into()),
                Ok(PredictionEvent::Done(prediction)) => {
                    assert!(said.end.is_none());
                    said.end = Some(Ok(prediction));
                }
                Ok(other) => panic!("{other:?}"),
                Err(error) => said.end = Some(Err(error)),
            }
        }
        assert!(events.next().await.is_none());
    });
    said
}

#[test]
fn every_cut_gives_what_the_call_gives() {
    let whole = block_on(predict(Script::new([REPLY])).call(&ticket()).into_future()).unwrap();
    assert_eq!(whole.reply, TEXT);
    for size in 0..=REPLY.chars().count() {
        let script = Script::new([REPLY]).chunked(size);
        let said = run(predict(script.clone()).stream(&ticket()));
        let done = said.end.unwrap().unwrap();
        assert_eq!(said.texts["reply"], TEXT, "pieces of {size}");
        assert_eq!(said.texts["note"], "none");
        let mut fields = said.whole;
        fields.sort();
        assert_eq!(fields, ["note", "reply", "team"]);
        assert_eq!(format!("{done:?}"), format!("{whole:?}"));
        assert_eq!(
            (done.messages(), done.completion(), done.how_read()),
            (whole.messages(), whole.completion(), whole.how_read())
        );
        assert_eq!(script.requests().len(), 1);
    }
    for at in (0..REPLY.len()).filter(|at| REPLY.is_char_boundary(*at)) {
        let script = Script::new([REPLY]).cut(move |text| vec![text[..at].into(), text[at..].into()]);
        let said = run(predict(script).stream(&ticket()));
        assert_eq!(said.texts["reply"], TEXT, "cut at {at}");
        assert_eq!(said.end.unwrap().unwrap().into_inner(), whole.clone().into_inner());
    }
}

#[test]
fn what_is_certain_comes_before_the_end() {
    let chat = Chat::new();
    let mut reader = StreamReader::<Route>::new(&chat).unwrap();
    assert_eq!(reader.push("[[ ## team ## ]]\nbilling\n\n[[ ## re"), []);
    let events = reader.push("ply ## ]]\nWe are");
    assert!(matches!(&events[..], [ReadEvent::Field(team), ReadEvent::Delta { field, text }]
        if *team == Route::FIELDS.team && *field == Route::FIELDS.reply && text == "We are"));
    assert_eq!(reader.get(Route::FIELDS.team), Some(&Team::Billing));
    assert_eq!(reader.get(Route::FIELDS.reply), None);
    assert_eq!(reader.partial().reply, None);
    let snapshot = reader.snapshot();
    assert_eq!((snapshot.team, snapshot.reply.as_deref()), (Some(Team::Billing), Some("We are")));
    let (rest, route) = reader.finish(Ending::Stopped).unwrap();
    assert_eq!(
        route.into_inner(),
        Route { team: Team::Billing, note: "none".into(), reply: "We are".into() }
    );
    // The default's text, that it is whole, and the reply.
    assert_eq!(rest.len(), 3, "{rest:?}");
}

#[test]
fn reasoning_in_front_and_a_fence_around_are_waited_with() {
    for (reply, text) in [
        (
            "<think>\n[[ ## reply ## ]]\nno\n</think>\n[[ ## team ## ]]\nbilling\n[[ ## reply ## ]]\nyes",
            "yes",
        ),
        ("```\n[[ ## team ## ]]\nbilling\n[[ ## reply ## ]]\nyes\n```", "yes"),
        ("[[ ## team ## ]]\nbilling\n[[ ## reply ## ]]\nyes [[ ## completed ## ]]", "yes"),
    ] {
        for size in 1..9 {
            let said = run(predict(Script::new([reply]).chunked(size)).stream(&ticket()));
            assert_eq!(said.texts["reply"], text, "{reply}");
            assert_eq!(said.end.unwrap().unwrap().reply, text);
        }
    }
}

#[test]
fn an_adapter_without_an_incremental_reading_says_everything_at_the_end() {
    #[derive(Debug)]
    struct Plain(Chat);
    impl Adapter for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }
        fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
            self.0.sections(spec, reply)
        }
    }
    let predict = Predict::<Ticket>::new(Script::new([REPLY]).chunked(3)).adapter(Plain(Chat::new()));
    let said = run(predict.stream(&ticket()));
    assert_eq!(said.log, ["team", "note+", "note", "reply+", "reply"]);
    assert_eq!(said.texts["reply"], TEXT);
}

#[test]
fn the_fallback_runs_while_nothing_was_shown_and_not_after() {
    let json = r#"{"team": "billing", "reply": "yes"}"#;
    let script = Script::new(["I do not know.", json]).chunked(4);
    let said = run(predict(script.clone()).stream(&ticket()));
    assert_eq!(said.end.unwrap().unwrap().adapter(), "json");
    assert_eq!((said.texts["reply"].as_str(), script.requests().len()), ("yes", 2));

    // A wrong value is not shown, so that it can be asked for again; nor is anything behind it.
    let wrong = "[[ ## team ## ]]\nunknown\n[[ ## reply ## ]]\nyes, surely";
    let script = Script::new([wrong, json]).chunked(4);
    let said = run(predict(script.clone()).stream(&ticket()));
    assert!(said.end.unwrap().is_ok());
    assert_eq!((said.texts["reply"].as_str(), script.requests().len()), ("yes", 2));

    let half = "[[ ## reply ## ]]\nWe are on it\n[[ ## team ## ]]\nunknown";
    let script = Script::new([half, json]).chunked(4);
    let said = run(predict(script.clone()).call(&ticket()).retries(2).stream());
    let error = said.end.unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
    assert_eq!(said.texts["reply"], "We are on it");
    assert_eq!(error.reply(), Some(half));
    assert_eq!(error.fields().unwrap().get("reply"), Some(&"We are on it".into()));
    assert_eq!((error.messages().is_empty(), script.requests().len()), (false, 1));
}

#[test]
fn reasoning_is_told_and_does_not_keep_a_reply_from_being_asked_for_again() {
    let first = Choice::new("what?").reasoning("hm");
    let second = Choice::new(REPLY).reasoning("aha");
    let script = Script::new([first, second]);
    let said = run(predict(script).call(&ticket()).retries(1).stream());
    assert_eq!(said.log[..3], ["reasoning hm", "again", "reasoning aha"]);
    assert_eq!(said.end.unwrap().unwrap().reasoning(), Some("aha"));
}

#[test]
fn a_stream_that_breaks_off_is_an_error_and_what_was_read_is_kept() {
    let script = Script::new([REPLY]).cut(|text| vec![text[..60].into()]);
    let predict = predict(script);
    let ticket = ticket();
    let mut events = predict.stream(&ticket);
    let error = block_on(async {
        loop {
            match events.next().await.unwrap() {
                Ok(PredictionEvent::Done(_)) => panic!("a part is not the whole"),
                Ok(_) => {}
                Err(error) => break error,
            }
        }
    });
    assert_eq!(error.as_model().map(LmError::kind), Some(LmErrorKind::CutOff));
    assert!(!error.messages().is_empty());
    assert_eq!(events.get(Route::FIELDS.team), Some(&Team::Billing));
    assert!(
        TEXT.starts_with(events.text(Route::FIELDS.reply)) && !events.text(Route::FIELDS.reply).is_empty()
    );
    assert_eq!(events.snapshot().reply.as_deref(), Some(events.text(Route::FIELDS.reply)));
    assert!(block_on(events.next()).is_none());
}

/// A model whose stream never ends, and which says when it is dropped.
#[derive(Default)]
struct Endless {
    dropped: Arc<AtomicBool>,
    asked: Arc<Mutex<usize>>,
}

struct Source {
    dropped: Arc<AtomicBool>,
    asked: Arc<Mutex<usize>>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
    }
}

impl CompletionSource for Source {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>> {
        let mut asked = self.asked.lock().unwrap();
        *asked += 1;
        let text = if *asked == 1 { "[[ ## reply ## ]]\nWe" } else { " and we" }.to_owned();
        Box::pin(std::future::ready(Some(Ok(StreamEvent::Delta(Delta::Text { choice: 0, text })))))
    }
}

impl LanguageModel for Endless {
    fn complete<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(std::future::pending())
    }

    fn stream<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<CompletionStream<'a>, LmError>> {
        let source = Source { dropped: self.dropped.clone(), asked: self.asked.clone() };
        Box::pin(std::future::ready(Ok(CompletionStream::new(source))))
    }

    fn model(&self) -> &'static str {
        "endless"
    }
}

#[test]
fn the_model_is_not_read_ahead_and_dropping_cancels() {
    let model = Endless::default();
    let (dropped, asked) = (model.dropped.clone(), model.asked.clone());
    let predict = predict(model);
    let ticket = ticket();
    let mut events = predict.stream(&ticket);
    assert_eq!(*asked.lock().unwrap(), 0);
    for _ in 0..3 {
        assert!(block_on(events.next()).unwrap().is_ok());
    }
    assert_eq!(*asked.lock().unwrap(), 3);
    assert!(!dropped.load(Ordering::Relaxed));
    drop(events);
    assert!(dropped.load(Ordering::Relaxed));
}

#[test]
fn one_field_is_a_stream_of_its_text() {
    let predict = predict(Script::new([REPLY]).chunked(5));
    let ticket = ticket();
    let mut events = predict.stream(&ticket);
    block_on(async {
        let mut reply = events.field(Route::FIELDS.reply);
        let mut text = String::new();
        while let Some(piece) = reply.next().await {
            text.push_str(&piece.unwrap());
        }
        assert_eq!(text, TEXT);
        // What was passed over is had by its value.
        assert_eq!(events.get(Route::FIELDS.team), Some(&Team::Billing));
        let mut again = events.field(Route::FIELDS.reply);
        assert!(again.next().await.is_none());
        assert_eq!(events.finish().await.unwrap().reply, TEXT);
    });
}

#[test]
fn the_reasoning_of_a_chain_of_thought_streams_too() {
    let reply = format!("[[ ## reasoning ## ]]\nMoney.\n\n{REPLY}");
    let predict =
        ChainOfThought::<Ticket>::new(Script::new([reply]).chunked(3)).unwrap().adapter(Chat::new());
    let ticket = ticket();
    let mut events = predict.stream(&ticket);
    block_on(async {
        let mut text = String::new();
        let mut reasoning = events.field(Reasoned::<Route>::REASONING);
        while let Some(piece) = reasoning.next().await {
            text.push_str(&piece.unwrap());
        }
        assert_eq!(text, "Money.");
        assert_eq!(events.get(Reasoned::<Route>::REASONING).map(String::as_str), Some("Money."));
        let mut reply = events.field(Route::FIELDS.reply);
        while let Some(piece) = reply.next().await {
            piece.unwrap();
        }
        assert_eq!(events.text(Route::FIELDS.reply), TEXT);
        assert_eq!(events.get(Route::FIELDS.team), Some(&Team::Billing));
        assert_eq!(events.finish().await.unwrap().team, Team::Billing);
    });
}

#[test]
fn a_described_signature_streams() {
    let spec = SignatureSpec::parse("ticket -> team, reply").unwrap();
    let script = Script::new([REPLY]).chunked(2);
    let predict = Predict::from_spec(spec, script).adapter(Chat::new());
    let inputs = Fields::from([("ticket", "…")]);
    let mut events = predict.stream(&inputs);
    let mut text = String::new();
    block_on(async {
        while let Some(event) = events.next().await {
            match event.unwrap() {
                PredictionEvent::Delta { field, text: piece } if field.name() == "reply" => {
                    text.push_str(&piece);
                }
                PredictionEvent::Field(field) if field.name() == "reply" => {
                    assert_eq!(events.snapshot().get("reply"), Some(&TEXT.into()));
                }
                _ => {}
            }
        }
    });
    assert_eq!(text, TEXT);
}

#[derive(Signature)]
#[signature(output = Step)]
struct Task {
    task: String,
    tools: Vec<Tool>,
}

#[derive(Debug, Signature)]
struct Step {
    calls: ToolCalls,
}

#[test]
fn native_tool_calls_stream_and_are_the_output() {
    let tool = Tool::raw("find", "Finds.", serde_json::json!({"type": "object"}), |_| async {
        Ok::<_, std::convert::Infallible>("")
    });
    let call = ToolCall::new("c1", "find", imp::Map::from([("q", "invoice")]));
    let script = Script::new([ScriptReply::from(call)]).chunked(4);
    let predict = Predict::<Task>::new(script);
    let task = Task { task: "t".into(), tools: vec![tool] };
    let mut events = predict.stream(&task);
    let (mut names, mut written, mut done) = (String::new(), String::new(), false);
    block_on(async {
        while let Some(event) = events.next().await {
            match event.unwrap() {
                PredictionEvent::ToolCall { call: 0, name, arguments, .. } => {
                    names.push_str(&name);
                    written.push_str(&arguments);
                }
                PredictionEvent::Field(field) => {
                    assert_eq!(
                        events.get(Step::FIELDS.calls).map(|calls| calls.calls.len()),
                        Some(1),
                        "{field:?}"
                    );
                }
                PredictionEvent::Done(step) => {
                    assert_eq!(step.calls.calls.len(), 1);
                    done = true;
                }
                other => panic!("{other:?}"),
            }
        }
    });
    assert_eq!((names.as_str(), written.as_str(), done), ("find", r#"{"q":"invoice"}"#, true));
}

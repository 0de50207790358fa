//! spec/imp.md §13.7: the one request through the JSON adapter when a reply could not be read. Rows 60, 64, 67 to 69,
//! 71, 72, 157 and 158; the rest of the flow of a call is in `predict.rs`.

use imp::{
    Adapter, Capabilities, ChainOfThought, Chat, Choice, Completion, Config, Dialect, ErrorKind, Fields,
    FormatOptions, Json, LmError, LmErrorKind, ParseErrorKind, Predict, ResponseFormat, Script, Signature,
    SignatureSpec, Usage, Xml, lm::ScriptReply,
};
use imp_tests::plain::{data, demo, fields, json, line};
use serde_json::json;

const PARIS: &str = r#"{"answer": "Paris"}"#;

fn question() -> Fields {
    Fields::from([("question", "What is the capital of France?")])
}

fn predict(script: &Script) -> Predict<Fields> {
    Predict::from_spec(line("question -> answer"), script.clone()).salvage(false)
}

fn used(reply: impl Into<Completion>, input: u64, output: u64) -> ScriptReply {
    ScriptReply::from(reply.into().with_usage(Usage::new(input, output)))
}

/// Rows 67 and 69: two requests, the answer is the second's, and the tokens are those of both.
#[tokio::test]
async fn rows_67_69_the_second_answers() {
    let script = Script::new([used("{'answer': 'Paris'}", 30, 5), used("{'answer': 'Paris'}", 40, 6)]);
    let answer = predict(&script).call(&question()).await.unwrap();
    assert_eq!(answer.get("answer"), Some(&"Paris".into()));
    assert_eq!((answer.adapter(), answer.reply()), ("json", "{'answer': 'Paris'}"));
    assert_eq!(*answer.usage(), Usage::new(70, 11));
    assert_eq!(answer.completion().usage, Usage::new(40, 6), "the completion keeps its own");
    let requests = script.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(answer.messages(), requests[1].messages);
}

/// The adapter that was chosen answers if it can.
#[tokio::test]
async fn the_first_answers() {
    let script = Script::new(["[[ ## answer ## ]]\nParis", "<answer>Paris</answer>", PARIS]);
    for (calls, (program, name)) in [
        (predict(&script).adapter(Chat::new()), "chat"),
        (predict(&script).adapter(Xml::new()), "xml"),
        (predict(&script).adapter(Json::new()), "json"),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = program.call(&question()).await.unwrap();
        assert_eq!((answer.adapter(), script.requests().len()), (name, calls + 1));
    }
}

/// Chat and XML fall back, in their own dialect; JSON has nothing to fall back to.
#[tokio::test]
async fn who_falls_back() {
    let sentence = "Respond with a JSON object in the following order of fields: `answer`.";
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        let script = Script::from_fn(|_| "neither sections, nor tags, nor an object");
        let inputs = question();
        for (program, calls) in [
            (predict(&script).adapter(Chat::new().dialect(dialect)), 2),
            (predict(&script).adapter(Xml::new().dialect(dialect)), 2),
            (predict(&script).adapter(Json::new().dialect(dialect)), 1),
        ] {
            let before = script.requests().len();
            program.call(&inputs).await.unwrap_err();
            let requests = script.requests();
            assert_eq!(requests.len() - before, calls, "{program:?}");
            let last = &requests.last().unwrap().messages;
            assert!(last.last().unwrap().text().ends_with(sentence), "{last:?}");
            let alone = Json::new().dialect(dialect);
            let own = alone.messages(&line("question -> answer"), &inputs, &FormatOptions::new()).unwrap();
            assert_eq!(*last, own);
        }
    }
}

/// Row 71: an error of the model's is no reply that could not be read. One of the second request is returned as itself.
#[tokio::test]
async fn row_71_never_on_an_error_of_the_model() {
    for kind in [LmErrorKind::RateLimit, LmErrorKind::Malformed, LmErrorKind::Other] {
        let error = || LmError::new(kind, "the model's own words");
        let first = Script::new([ScriptReply::from(error()), PARIS.into()]);
        let second = Script::new([used("prose", 7, 2), error().into(), PARIS.into()]);
        for (script, calls, usage) in [(first, 1, Usage::default()), (second, 2, Usage::new(7, 2))] {
            let error = predict(&script).call(&question()).await.unwrap_err();
            let inner = error.as_model().unwrap_or_else(|| panic!("{error:?}"));
            assert_eq!((inner.kind(), inner.to_string()), (kind, "the model's own words".to_owned()));
            assert_eq!(script.requests().len(), calls);
            assert_eq!(error.messages(), script.requests()[calls - 1].messages);
            assert_eq!(*error.usage(), usage);
        }
    }
}

/// Nor on values that cannot be sent, nor on completions that are not there.
#[tokio::test]
async fn never_on_another_failure() {
    let script = Script::from_fn(|_| PARIS);
    let error = predict(&script).call(&Fields::new()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Format(_)), "{error:?}");
    assert_eq!(script.requests().len(), 0);

    let script = Script::from_fn(|_| Completion::new([Choice::new("prose")]));
    let error = predict(&script).config(Config::new().n(2)).call(&question()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Completions { asked: 2, got: 1 }), "{error:?}");
    assert_eq!(script.requests().len(), 1);
}

/// Every way in which a reply cannot be read: no format, an output that is missing or wrong, nothing at all (row 72), and
/// row 64, in which all outputs could be left out.
#[tokio::test]
async fn rows_64_72_on_any_parse_failure() {
    let spec = |ty: &str| {
        data(
            &json!({ "inputs": [{ "name": "question" }], "outputs": [{ "name": "answer" }, { "name": "n", "type": ty }] }),
        )
    };
    let optional = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [{ "name": "answer", "default": "none" }, { "name": "n", "type": { "optional": "int" } }],
    }));
    let right = r#"{"answer": "Paris", "n": 3}"#;
    for (spec, reply) in [
        (spec("int"), "It is Paris."),
        (spec("int"), "[[ ## answer ## ]]\nParis"),
        (spec("int"), "[[ ## answer ## ]]\nParis\n[[ ## n ## ]]\nmany"),
        (spec("int"), right),
        (spec("int"), ""),
        (spec("int"), "  \n"),
        (optional.clone(), "It is Paris."),
        (optional, right),
    ] {
        let script = Script::new([reply, right]);
        let answer = Predict::from_spec(spec, script.clone()).salvage(false).call(&question()).await.unwrap();
        assert_eq!(json(&answer), json!({ "answer": "Paris", "n": 3 }), "{reply:?}");
        assert_eq!((answer.adapter(), script.requests().len()), ("json", 2), "{reply:?}");
    }
    // A completion without a text.
    let script = Script::new([Completion::new([Choice::default()]), PARIS.into()]);
    assert_eq!(predict(&script).call(&question()).await.unwrap().adapter(), "json");
}

/// Row 60: an empty object is no step that said nothing, so the fallback is asked; it cannot read it either.
#[tokio::test]
async fn row_60_an_empty_object() {
    let spec = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [
            { "name": "next_thought", "type": { "optional": "str" } },
            { "name": "tool_calls", "type": "array", "default": [] },
        ],
        "text_field": "next_thought",
    }));
    for adapter in [None, Some(Json::new())] {
        let script = Script::from_fn(|_| r#"{"tool_calls": null}"#);
        let program = Predict::from_spec(spec.clone(), script.clone());
        let calls = if adapter.is_some() { 1 } else { 2 };
        let program = match adapter {
            Some(json) => program.adapter(json),
            None => program,
        };
        let error = program.call(&question()).await.unwrap_err();
        let parse = error.as_parse().unwrap();
        assert_eq!(parse.kind(), ParseErrorKind::MissingFields);
        assert_eq!(parse.missing(), ["next_thought", "tool_calls"]);
        assert_eq!(script.requests().len(), calls);
    }
}

/// Of two errors the first is returned, with what was sent and what came back; the tokens are those of both requests.
#[tokio::test]
async fn of_two_errors_the_first() {
    for (first, second) in [
        ("nonsense", "more nonsense"),
        ("[[ ## answer ## ]]\nParis", r#"{"n": "many"}"#),
        ("[[ ## n ## ]]\nmany", "{"),
    ] {
        let script = Script::new([used(first, 10, 1), used(second, 20, 2)]);
        let program = Predict::from_spec(line("question -> answer, n: int"), script.clone());
        let error = program.call(&question()).await.unwrap_err();
        let expected = Chat::new().read_fields(program.spec().unwrap(), first).unwrap_err();
        assert_eq!(error.to_string(), expected.to_string());
        assert_eq!(error.as_parse().map(imp::ParseError::adapter), Some("chat"));
        assert_eq!(error.reply(), Some(first));
        assert_eq!(error.fields(), Some(expected.fields()));
        assert_eq!(error.messages(), program.messages(&question()).unwrap());
        assert_eq!(error.completion().and_then(Completion::text), Some(first));
        assert_eq!(*error.usage(), Usage::new(30, 3));
        assert_eq!(script.requests().len(), 2);
    }
}

/// Row 68: the switch, on the program and on a call.
#[tokio::test]
async fn row_68_the_switch() {
    for (program, call, calls) in [
        (None, None, 2),
        (Some(true), None, 2),
        (Some(false), None, 1),
        (None, Some(false), 1),
        (None, Some(true), 2),
        (Some(true), Some(false), 1),
        // A program without a fallback has none in a call either.
        (Some(false), Some(true), 1),
    ] {
        let script = Script::from_fn(|_| "nonsense");
        let mut predict = predict(&script);
        if let Some(yes) = program {
            predict = predict.fallback(yes);
        }
        let inputs = question();
        let mut asked = predict.call(&inputs);
        if let Some(yes) = call {
            asked = asked.fallback(yes);
        }
        assert_eq!(asked.await.unwrap_err().reply(), Some("nonsense"));
        assert_eq!(script.requests().len(), calls, "{program:?} {call:?}");
    }
    let script = Script::from_fn(|_| "nonsense");
    let back = predict(&script).fallback(false).fallback(true);
    back.call(&question()).await.unwrap_err();
    assert_eq!(script.requests().len(), 2, "the last word on a program counts");
}

/// Row 157: the second request has the same instructions, demos, defaults and settings, in the JSON adapter's form.
#[tokio::test]
async fn row_157_the_same_question() {
    let spec = data(&json!({
        "inputs": [{ "name": "question" }, { "name": "language", "default": "English" }],
        "outputs": [{ "name": "answer" }, { "name": "confidence", "type": "float" }],
    }));
    let whole = json!({ "question": "Sky?", "language": "English", "answer": "Blue", "confidence": 0.9 });
    let half = json!({ "question": "Grass?", "answer": "Green" });
    let script = Script::from_fn(|_| "nonsense");
    let program = Predict::from_spec(spec.clone(), script.clone())
        .instructions("Answer in one word.")
        .with_demo(demo(&whole))
        .with_demo(demo(&half))
        .config(Config::new().temperature(0.3).max_tokens(50).extra("top_k", 4));
    let call = Config::new().seed(7).stop(["END"]);
    program.call(&question()).config(call).await.unwrap_err();

    let requests = script.requests();
    let [first, second] = &requests[..] else { panic!("{requests:?}") };
    let spec: SignatureSpec = spec.with_instructions("Answer in one word.");
    let options = FormatOptions::new().demo(demo(&whole)).demo(demo(&half));
    let inputs = fields(&json!({ "question": "What is the capital of France?", "language": "English" }));
    assert_eq!(first.messages, Chat::new().messages(&spec, &inputs, &options).unwrap());
    assert_eq!(second.messages, Json::new().messages(&spec, &inputs, &options).unwrap());
    assert_eq!(second.messages.len(), 6);
    assert_eq!(second.messages[4].text(), "{\n  \"answer\": \"Blue\",\n  \"confidence\": 0.9\n}");

    assert_eq!(first.config, second.config);
    let sent = Config::new().temperature(0.3).max_tokens(50).extra("top_k", 4).seed(7).stop(["END"]);
    assert_eq!(first.config, sent);
    assert_eq!(first.response_format, None);
    assert!(matches!(second.response_format, Some(ResponseFormat::JsonSchema { .. })));
}

/// Row 69: a form is asked for only if the model takes it, and never over the caller's own.
#[tokio::test]
async fn row_69_response_format() {
    let all = Capabilities::default();
    let own = Config::new().extra("response_format", json!({ "type": "text" }));
    for (capabilities, config, format) in [
        (all, Config::new(), "schema"),
        (all.json_schema(false), Config::new(), "object"),
        (all.json_schema(false).json_object(false), Config::new(), "none"),
        (all, own, "none"),
    ] {
        let script = Script::new(["nonsense", PARIS]).with_capabilities(capabilities);
        predict(&script).config(config.clone()).call(&question()).await.unwrap();
        let requests = script.requests();
        assert_eq!(requests[0].response_format, None);
        let sent = match requests[1].response_format {
            Some(ResponseFormat::JsonSchema { .. }) => "schema",
            Some(ResponseFormat::JsonObject) => "object",
            _ => "none",
        };
        assert_eq!(sent, format);
        // Nothing of how the program works goes to the model.
        assert_eq!(requests[1].config, config);
    }
}

/// Row 157 with several completions: one that cannot be read sends all of them through the fallback.
#[tokio::test]
async fn several_completions() {
    let choices =
        |texts: &[&str]| Completion::new(texts.iter().map(|text| Choice::new(*text)).collect::<Vec<_>>());
    let script = Script::new([
        choices(&["[[ ## answer ## ]]\nParis", "nonsense"]),
        choices(&[PARIS, r#"{"answer": "Lyon"}"#]),
    ]);
    let answer = predict(&script).config(Config::new().n(2)).call(&question()).await.unwrap();
    let answers: Vec<_> = answer.completions().filter_map(|fields| fields.get("answer").cloned()).collect();
    assert_eq!(answers, [imp::Value::from("Paris"), "Lyon".into()]);
    assert_eq!(answer.adapter(), "json");
    let requests = script.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!((request.config.n, request.config.temperature), (Some(2), Some(0.7)));
    }

    let script = Script::new([
        choices(&["[[ ## answer ## ]]\nParis", "nonsense"]),
        choices(&["more nonsense", PARIS]),
    ]);
    let error = predict(&script).config(Config::new().n(2)).call(&question()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Parse { completion_index: 1, .. }), "{error:?}");
    assert_eq!(error.reply(), Some("nonsense"));
}

/// Retries stay with the adapter that was chosen; the fallback is the last request, and asks as if it was the first.
#[tokio::test]
async fn retries_come_first() {
    let script = Script::new(["one", "two", "three", PARIS]);
    let program = predict(&script).retries(2);
    let answer = program.call(&question()).await.unwrap();
    assert_eq!(answer.adapter(), "json");
    let requests = script.requests();
    let chat = program.messages(&question()).unwrap();
    assert_eq!(requests.len(), 4);
    assert_eq!(requests[0].messages, chat);
    assert_eq!(requests[2].messages.len(), chat.len() + 1);
    assert_eq!(requests[3].messages.len(), chat.len(), "nothing of what went wrong");

    let script = Script::new(["one", "two", "three", "four"]);
    let error = predict(&script).retries(1).call(&question()).await.unwrap_err();
    assert_eq!(error.reply(), Some("two"), "the latest of the chosen adapter's");
    assert_eq!(script.requests().len(), 3);
}

#[derive(Signature)]
#[signature(output = Answer)]
struct Question {
    question: String,
}

#[derive(Debug, Signature)]
struct Answer {
    answer: String,
    #[field(min = 0, max = 1)]
    confidence: f64,
}

/// Typed programs and chains of thought fall back alike.
#[tokio::test]
async fn typed() {
    let asked = Question { question: "What is the capital of France?".into() };
    let reply = r#"{"reasoning": "It is well known.", "answer": "Paris", "confidence": 0.9}"#;
    let script = Script::new(["Paris, I am quite sure.", reply]);
    let answer = Predict::<Question>::new(script.clone()).call(&asked).await.unwrap();
    assert_eq!((answer.answer.as_str(), answer.confidence, answer.adapter()), ("Paris", 0.9, "json"));

    let script = Script::new(["Paris, I am quite sure.", reply]);
    let answer = ChainOfThought::<Question>::new(script.clone()).unwrap().call(&asked).await.unwrap();
    assert_eq!((answer.reasoning.as_str(), answer.answer.as_str()), ("It is well known.", "Paris"));
    assert_eq!((answer.adapter(), script.requests().len()), ("json", 2));

    // A bound that is broken is a reply that cannot be read.
    let script = Script::new(["[[ ## answer ## ]]\nParis\n[[ ## confidence ## ]]\n90", reply]);
    let answer = Predict::<Question>::new(script).call(&asked).await.unwrap();
    assert_eq!((answer.confidence, answer.adapter()), (0.9, "json"));
}

/// Row 158: what a subscriber of `tracing` sees.
#[tokio::test]
async fn row_158_tracing() {
    // For all threads, each with its own events: a subscriber of one thread misses those whose callsite another thread
    // met first.
    listen();
    for (replies, expected) in [
        (vec!["nonsense", PARIS], vec!["INFO chat>json", "DEBUG json"]),
        (vec!["nonsense", "nonsense"], vec!["INFO chat>json"]),
        (vec!["[[ ## answer ## ]]\nParis"], vec!["DEBUG chat"]),
    ] {
        let script = Script::new(replies);
        let _ = predict(&script).call(&question()).await;
        assert_eq!(EVENTS.take(), expected);
    }
}

/// And of a program that learns: that it does, every call that begins so, and that it begins as chosen again.
#[tokio::test]
async fn tracing_of_what_is_learnt() {
    listen();
    let sections = "[[ ## answer ## ]]\nParis";
    let program = predict(&Script::new(["one", PARIS, PARIS, "two", sections])).learn_after(1);
    for _ in 0..3 {
        program.call(&question()).await.unwrap();
    }
    let fell = ["INFO chat>json", "DEBUG json", "INFO json"];
    let kept = ["DEBUG json", "DEBUG json"];
    let went_back = ["DEBUG json", "INFO json>chat", "DEBUG chat", "INFO chat"];
    assert_eq!(EVENTS.take(), [&fell[..], &kept, &went_back].concat());
}

/// Keeps the events of `imp`: level, adapter, and the one that is fallen back to.
struct Events;

/// The subscriber is everyone's, set by whichever test comes first.
fn listen() {
    let _ = tracing::subscriber::set_global_default(Events);
}

thread_local! {
    static EVENTS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl tracing::Subscriber for Events {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "imp"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        #[derive(Default)]
        struct Adapters {
            failed: String,
            fallback: String,
        }

        impl tracing::field::Visit for Adapters {
            fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
                match field.name() {
                    "adapter" => value.clone_into(&mut self.failed),
                    "fallback_adapter" => self.fallback = format!(">{value}"),
                    _ => {}
                }
            }

            fn record_debug(&mut self, _: &tracing::field::Field, _: &dyn std::fmt::Debug) {}
        }

        let mut adapters = Adapters::default();
        event.record(&mut adapters);
        let line = format!("{} {}{}", event.metadata().level(), adapters.failed, adapters.fallback);
        EVENTS.with_borrow_mut(|events| events.push(line));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

//! spec/imp.md §13: the flow of a call. Rows 67 to 69, 71 and 72, and cases AP001, AP003, AP005, AP007 and AP009.

use imp::{
    Choice, Completion, Config, Error, ErrorKind, FieldFailure, Fields, FormatError, LmError, LmErrorKind,
    Message, ParseErrorKind, Predict, Role, Script, Usage, lm::ScriptReply,
};
use imp_tests::plain::{data, demo, fields, line};
use serde_json::json;

const PARIS: &str = "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]";

fn question() -> Fields {
    Fields::from([("question", "What is the capital of France?")])
}

/// A program of a line, without a fallback, and its model.
fn program(text: &str, script: &Script) -> Predict<Fields> {
    Predict::from_spec(line(text), script.clone()).fallback(false)
}

fn parse_error(error: &Error) -> (ParseErrorKind, String) {
    error.as_parse().map_or_else(|| panic!("{error:?}"), |error| (error.kind(), error.to_string()))
}

#[tokio::test]
async fn one_call() {
    let script = Script::new([Completion::from(PARIS).with_usage(Usage::new(30, 5))]);
    let predict = program("question -> answer", &script);
    let answer = predict.call(&question()).await.unwrap();
    assert_eq!(answer.get("answer"), Some(&"Paris".into()));
    assert_eq!(answer.reply(), PARIS);
    assert_eq!(answer.adapter(), "chat");
    assert_eq!(*answer.usage(), Usage::new(30, 5));
    let [request] = &script.requests()[..] else { panic!("{:?}", script.requests()) };
    assert_eq!(request.messages, predict.messages(&question()).unwrap());
    assert_eq!(request.messages, answer.messages());
    assert_eq!(request.config, Config::new());
    assert_eq!(request.response_format, None);
}

/// §13.1: nothing is sent without the inputs that are needed; absent ones have their defaults; others are ignored.
#[tokio::test]
async fn inputs() {
    let spec = data(&json!({
        "inputs": [{ "name": "a" }, { "name": "b", "type": "int", "default": 7 }, { "name": "c", "type": { "optional": "str" } }],
        "outputs": [{ "name": "answer" }],
    }));
    let script = Script::from_fn(|_| PARIS);
    let predict = Predict::from_spec(spec, script.clone());
    for given in [json!({}), json!({ "b": 1 }), json!({ "A": "x" })] {
        let error = predict.call(&fields(&given)).await.unwrap_err();
        let ErrorKind::Format(FormatError::MissingInputs(names)) = error.kind() else { panic!("{error:?}") };
        assert_eq!(names, &["a"]);
        assert!(error.messages().is_empty());
    }
    assert_eq!(script.requests().len(), 0);
    for (given, sections) in [
        (json!({ "a": "x" }), "[[ ## a ## ]]\nx\n\n[[ ## b ## ]]\n7\n\nRespond"),
        (json!({ "a": "x", "b": 1, "z": "ignored" }), "[[ ## a ## ]]\nx\n\n[[ ## b ## ]]\n1\n\nRespond"),
        (json!({ "a": null, "c": "y" }), "[[ ## b ## ]]\n7\n\n[[ ## c ## ]]\ny\n\nRespond"),
    ] {
        predict.call(&fields(&given)).await.unwrap();
        let requests = script.requests();
        let sent = requests.last().and_then(|request| request.messages.last()).unwrap().text().into_owned();
        assert!(sent.starts_with(sections), "{given}\n{sent}");
    }
}

/// Row 67, and row 69: a reply that is no sections is asked for once more, as JSON; what was sent and read is the second.
#[tokio::test]
async fn rows_67_and_69_fallback() {
    let script = Script::new(["{'answer': 'Paris'}", r#"{"answer": "Paris"}"#]);
    let predict = Predict::from_spec(line("question -> answer"), script.clone());
    let answer = predict.call(&question()).await.unwrap();
    assert_eq!(answer.get("answer"), Some(&"Paris".into()));
    assert_eq!(answer.reply(), r#"{"answer": "Paris"}"#);
    assert_eq!(answer.adapter(), "json");
    assert_eq!(script.requests().len(), 2);
    assert_eq!(script.requests()[1].messages, answer.messages());
}

/// Row 68 and AP005: without the fallback one call is made, and the error names the field.
#[tokio::test]
async fn row_68_ap005_no_fallback() {
    for reply in ["nonsense", "The answer is Paris.", "{'answer': 'Paris'}"] {
        let script = Script::from_fn(move |_| reply);
        let by_program = Predict::from_spec(line("question -> answer"), script.clone()).fallback(false);
        let by_call = Predict::from_spec(line("question -> answer"), script.clone());
        let inputs = question();
        for call in [by_program.call(&inputs), by_call.call(&inputs).fallback(false)] {
            let error = call.await.unwrap_err();
            let message = "The response has none of the requested output fields: answer.";
            assert_eq!(parse_error(&error), (ParseErrorKind::MissingFields, message.to_owned()));
            assert_eq!(error.to_string(), message);
            assert_eq!(error.reply(), Some(reply));
        }
        assert_eq!(script.requests().len(), 2, "one for each call");
    }
}

/// If the fallback cannot be read either, the first error is returned with the first messages and the first reply.
#[tokio::test]
async fn the_first_error_is_returned() {
    let script = Script::new(["nonsense", "more nonsense"]);
    let predict = Predict::from_spec(line("question -> answer"), script.clone());
    let error = predict.call(&question()).await.unwrap_err();
    assert_eq!(error.reply(), Some("nonsense"));
    assert_eq!(error.messages(), predict.messages(&question()).unwrap());
    assert_eq!(script.requests().len(), 2);
}

/// Row 71: the model's own error is returned as it is, without another request.
#[tokio::test]
async fn row_71_model_error() {
    let script = Script::new([LmError::new(LmErrorKind::RateLimit, "slow down")]);
    let predict = Predict::from_spec(line("question -> answer"), script.clone()).retries(3);
    let error = predict.call(&question()).await.unwrap_err();
    let inner = error.as_model().unwrap();
    assert_eq!((inner.kind(), inner.to_string()), (LmErrorKind::RateLimit, "slow down".to_owned()));
    assert_eq!(error.messages().len(), 2);
    assert_eq!(script.requests().len(), 1);
}

/// Row 72: no text, or an empty one, is an error.
#[tokio::test]
async fn row_72_no_completion() {
    for completion in [
        Completion::new([Choice::default()]),
        Completion::from(""),
        Completion::from("  \n"),
        Completion::new([]),
    ] {
        let script = Script::new([completion.clone()]);
        let error = program("question -> reasoning, answer", &script).call(&question()).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Parse { .. } | ErrorKind::Completions { .. }),
            "{completion:?}"
        );
    }
}

/// §13.7: a retry is the original messages and one user message with the latest error; never a growing transcript.
#[tokio::test]
async fn retries() {
    let script = Script::new([
        "[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\nhigh",
        "[[ ## score ## ]]\n0.5",
        "[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\n0.5",
    ]);
    let predict = program("question -> answer, score: float", &script).retries(5);
    let answer = predict.call(&question()).await.unwrap();
    assert_eq!(answer.get("score"), Some(&0.5.into()));

    let originals = predict.messages(&question()).unwrap();
    let requests = script.requests();
    assert_eq!(requests.len(), 3, "it stops at the first success");
    assert_eq!(requests[0].messages, originals);
    for (request, latest) in requests[1..].iter().zip([
        "Validation failed. Retry with corrected output:\n- score: expected number",
        "The response is missing required output fields: answer.",
    ]) {
        let (last, before) = request.messages.split_last().unwrap();
        assert_eq!(before, originals);
        assert_eq!(last.role, Role::User);
        assert!(last.text().starts_with(latest), "{}", last.text());
    }
}

#[tokio::test]
async fn the_last_error_of_the_retries_is_returned() {
    let reply = |n: usize| format!("[[ ## n ## ]]\nnumber {n}");
    for (program_retries, call_retries, calls) in
        [(0, None, 1), (2, None, 3), (2, Some(0), 1), (0, Some(1), 2)]
    {
        let script = Script::new(
            (0..10).map(reply).map(|reply| Completion::from(reply).with_usage(Usage::new(10, 2))),
        );
        let predict = program("question -> n: int", &script).retries(program_retries);
        let inputs = question();
        let call = predict.call(&inputs);
        let error = match call_retries {
            Some(retries) => call.retries(retries),
            None => call,
        }
        .await
        .unwrap_err();
        assert_eq!(script.requests().len(), calls);
        assert_eq!(error.reply(), Some(reply(calls - 1).as_str()));
        assert_eq!(error.messages(), script.requests().last().unwrap().messages);
        assert_eq!(*error.usage(), Usage::new(10 * calls as u64, 2 * calls as u64));
    }
}

/// §13.5: several completions need heat, are all read, and must all be there.
#[tokio::test]
async fn several_completions() {
    for (temperature, n, sent) in [
        (None, Some(3), Some(0.7)),
        (Some(0.0), Some(2), Some(0.7)),
        (Some(0.15), Some(2), Some(0.7)),
        (Some(0.16), Some(2), Some(0.16)),
        (Some(1.0), Some(2), Some(1.0)),
        (None, Some(1), None),
        (Some(0.0), None, Some(0.0)),
    ] {
        let script = Script::from_fn(|request| {
            let choices =
                (0..request.config.n.unwrap_or(1)).map(|at| Choice::new(format!("[[ ## answer ## ]]\n{at}")));
            Completion::new(choices.collect::<Vec<_>>())
        });
        let mut config = Config::new();
        config.n = n;
        config.temperature = temperature;
        let answer = program("question -> answer", &script).config(config).call(&question()).await.unwrap();
        assert_eq!(script.requests()[0].config.temperature, sent, "{temperature:?} {n:?}");
        let read: Vec<_> = answer.completions().filter_map(|fields| fields.get("answer").cloned()).collect();
        let expected: Vec<_> = (0..n.unwrap_or(1)).map(|at| imp::Value::from(at.to_string())).collect();
        assert_eq!(read, expected);
    }
}

#[tokio::test]
async fn any_bad_completion_fails_the_call() {
    let choices = [Choice::new("[[ ## n ## ]]\n1"), Choice::new("[[ ## n ## ]]\nmany")];
    let script = Script::new([Completion::new(choices)]);
    let error = program("question -> n: int", &script)
        .config(Config::new().n(2))
        .call(&question())
        .await
        .unwrap_err();
    let ErrorKind::Parse { completion_index: 1, .. } = error.kind() else { panic!("{error:?}") };
    assert_eq!(error.reply(), Some("[[ ## n ## ]]\nmany"));

    let script = Script::new([Completion::new([Choice::new(PARIS)]).with_usage(Usage::new(3, 4))]);
    let predict = Predict::from_spec(line("question -> answer"), script.clone()).retries(2);
    let error = predict.call(&question()).config(Config::new().n(3)).await.unwrap_err();
    let ErrorKind::Completions { asked: 3, got: 1, .. } = error.kind() else { panic!("{error:?}") };
    assert_eq!((script.requests().len(), *error.usage()), (1, Usage::new(3, 4)));
}

/// A call's settings stand over the program's, which stay where the call says nothing.
#[tokio::test]
async fn settings() {
    let script = Script::from_fn(|_| PARIS);
    let predict = program("question -> answer", &script)
        .config(Config::new().temperature(0.3).max_tokens(50).extra("top_k", 4))
        .config(Config::new().seed(1));
    predict.call(&question()).config(Config::new().temperature(0.9).extra("min_p", 0.1)).await.unwrap();
    predict.call(&question()).await.unwrap();
    let program = Config::new().temperature(0.3).max_tokens(50).extra("top_k", 4).seed(1);
    let configs: Vec<_> = script.requests().into_iter().map(|request| request.config).collect();
    assert_eq!(configs, [program.clone().temperature(0.9).extra("min_p", 0.1), program]);
}

/// Demos, instructions and descriptions of a program are in every request, however they were set.
#[tokio::test]
async fn demos_and_instructions() {
    let script = Script::from_fn(|_| PARIS);
    let plain = program("question -> answer", &script);
    let before = plain.messages(&question()).unwrap();
    let changed = plain
        .clone()
        .instructions("Answer in one word.")
        .with_demo(demo(&json!({ "question": "Colour of the sky?", "answer": "Blue" })));
    changed.call(&question()).await.unwrap();
    let sent = &script.requests()[0].messages;
    assert_eq!(sent.len(), 4);
    assert!(sent[0].text().ends_with("\n        Answer in one word."));
    assert_eq!(sent[1], Message::user("[[ ## question ## ]]\nColour of the sky?"));
    assert_eq!(sent[2], Message::assistant("[[ ## answer ## ]]\nBlue\n\n[[ ## completed ## ]]\n"));
    assert_eq!(sent[3], before[1]);
    assert_eq!(plain.messages(&question()).unwrap(), before, "the first program is as it was");
}

#[tokio::test]
async fn ap001_a_parse_error_carries_what_was_known() {
    let reply = "[[ ## answer ## ]]\nWren\n\n[[ ## n ## ]]\nmany";
    let script = Script::new([Completion::from(reply).with_usage(Usage::new(20, 9))]);
    let predict = program("question -> answer, n: int", &script);
    let error = predict.call(&question()).await.unwrap_err();
    assert_eq!(error.reply(), Some(reply));
    assert_eq!(error.fields(), Some(&Fields::from([("answer", "Wren")])));
    assert_eq!(error.messages(), predict.messages(&question()).unwrap());
    assert_eq!(*error.usage(), Usage::new(20, 9));
    assert_eq!(error.completion().and_then(Completion::text), Some(reply));
    let parse = error.as_parse().unwrap();
    assert_eq!((parse.adapter(), parse.kind()), ("chat", ParseErrorKind::InvalidFields));
    let [FieldFailure { field, value, expected, .. }] = parse.failures() else { panic!("{parse:?}") };
    assert_eq!((field.as_str(), value.as_str(), expected.as_str()), ("n", "many", "integer"));
}

/// A fault of the caller's own code is returned as it is: it is no reply that could not be read.
#[tokio::test]
async fn ap003_a_fault_is_no_parse_failure() {
    use imp::{Adapter, Chat, ParseError, Record, Section, SignatureSpec};

    #[derive(Debug)]
    struct Faulty;

    impl Adapter for Faulty {
        fn name(&self) -> &'static str {
            "faulty"
        }
        fn user_content(
            &self,
            _: &SignatureSpec,
            _: &dyn Record,
            _: &str,
            _: &str,
        ) -> Result<imp::Content, FormatError> {
            Err(FormatError::Other("the template is gone".to_owned()))
        }
        fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
            Chat::new().sections(spec, reply)
        }
    }

    let script = Script::from_fn(|_| PARIS);
    let predict = Predict::from_spec(line("question -> answer"), script.clone()).adapter(Faulty).retries(2);
    let error = predict.call(&question()).await.unwrap_err();
    let ErrorKind::Format(FormatError::Other(message)) = error.kind() else { panic!("{error:?}") };
    assert_eq!(message, "the template is gone");
    assert_eq!(script.requests().len(), 0);
}

#[tokio::test]
async fn ap007_a_retry_says_what_was_wrong() {
    let script = Script::new(["[[ ## n ## ]]\nmany", "[[ ## n ## ]]\n3"]);
    let predict = Predict::from_spec(line("question -> n: int"), script.clone());
    let answer = predict.call(&question()).retries(1).await.unwrap();
    assert_eq!(answer.get("n"), Some(&3.into()));
    let second = script.requests()[1].messages.last().unwrap().text().into_owned();
    assert!(second.contains("many") && second.contains("integer"), "{second}");

    // Off by default.
    let script = Script::from_fn(|_| "[[ ## n ## ]]\nmany");
    program("question -> n: int", &script).call(&question()).await.unwrap_err();
    assert_eq!(script.requests().len(), 1);
}

/// A client cannot return a text where a list of replies is due: `LanguageModel::complete` returns a [`Completion`], which
/// a text becomes only as one choice that holds all of it.
#[tokio::test]
async fn ap009_a_text_is_one_whole_reply() {
    let completion = Completion::from("hello");
    assert_eq!(completion.choices.len(), 1);
    let script = Script::new([ScriptReply::from(completion)]);
    let error = program("question -> answer", &script).call(&question()).await.unwrap_err();
    assert_eq!(error.reply(), Some("hello"));
}

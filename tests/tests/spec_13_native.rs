//! spec/imp.md §13.2: outputs that the provider gives beside the text of its reply, and what is said where there is no
//! such thing.

use imp::lm::ScriptReply;
use imp::{
    Adapter, Capabilities, ChainOfThought, Chat, Choice, Citation, Citations, Completion, Config, Demo,
    Dialect, Fields, FinishReason, HowRead, Json, NativeOutput, ParseErrorKind, Predict, Reasoning, Request,
    ResponseFormat, Script, Signature, SignatureSpec, SingleField, TwoStep, Usage, Xml,
};
use imp_tests::plain::{data, json, line};
use serde_json::json;

/// Judge the case.
#[derive(Signature)]
#[signature(output = Verdict)]
struct Case {
    facts: String,
}

#[derive(Debug, PartialEq, Signature)]
struct Verdict {
    guilty: bool,
    why: Reasoning,
    /// In years.
    sentence: u8,
}

const SECTIONS: &str = "[[ ## guilty ## ]]\ntrue\n\n[[ ## sentence ## ]]\n3\n\n[[ ## completed ## ]]";
const OBJECT: &str = r#"{"guilty": true, "sentence": 3}"#;
const WHY: &str = "Nobody else had a key.";

fn case() -> Case {
    Case { facts: "The door was locked.".into() }
}

fn all() -> Capabilities {
    Capabilities::default().native_reasoning(true).native_citations(true)
}

fn script(replies: impl IntoIterator<Item = Choice>) -> Script {
    let replies: Vec<_> = replies.into_iter().map(|choice| Completion::new([choice])).collect();
    Script::new(replies).with_capabilities(all())
}

fn last(script: &Script) -> Request {
    script.requests().pop().unwrap()
}

fn sent(script: &Script) -> String {
    last(script)
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect::<Vec<_>>()
        .join("\n---\n")
}

fn verdict() -> Verdict {
    Verdict { guilty: true, why: WHY.into(), sentence: 3 }
}

/// The output is not asked for, its value is the completion's, and the others are at their places.
#[tokio::test]
async fn reasoning() {
    let script = script([Choice::new(SECTIONS).reasoning(WHY)]);
    let program = Predict::<Case>::new(script.clone());
    let answer = program.call(&case()).await.unwrap();
    assert_eq!(*answer, verdict());
    assert_eq!((answer.reasoning(), answer.how_read()), (Some(WHY), HowRead::Exact));
    let request = last(&script);
    assert_eq!(request.messages, program.messages(&case()).unwrap());
    assert_eq!(request.config, Config::new().reasoning_effort("low"));
    let rest = data(&json!({
        "instructions": "Judge the case.",
        "inputs": [{ "name": "facts" }],
        "outputs": [{ "name": "guilty", "type": "bool" }, { "name": "sentence", "type": "int", "desc": "In years." }],
    }));
    let inputs = Fields::from([("facts", "The door was locked.")]);
    assert_eq!(request.messages, Chat::new().messages(&rest, &inputs, &imp::FormatOptions::new()).unwrap());
}

/// Where the model has none, or is told not to reason, it is text as any other.
#[tokio::test]
async fn as_text() {
    let whole = format!("[[ ## why ## ]]\nMotive.\n\n{SECTIONS}");
    let no_effort = || Config::new().reasoning_effort("none");
    let null = || Config::new().extra("reasoning_effort", json!(null));
    let word = || Config::new().extra("reasoning_effort", "none");
    for (capabilities, config, native) in [
        (Capabilities::default(), Config::new(), None),
        (all().native_reasoning(false), Config::new().reasoning_effort("high"), None),
        (all(), no_effort(), None),
        (all(), null(), None),
        (all(), word(), None),
        (all(), null().reasoning_effort("high"), None),
        (all(), Config::new(), Some([].to_vec())),
        (all(), Config::new(), Some([NativeOutput::Citations].to_vec())),
    ] {
        let script = Script::new([Completion::new([Choice::new(&whole).reasoning("Its own.")])])
            .with_capabilities(capabilities);
        let mut program = Predict::<Case>::new(script.clone()).config(config.clone());
        if let Some(native) = native {
            program = program.native(native);
        }
        let answer = program.call(&case()).await.unwrap();
        assert_eq!((&*answer.why, answer.reasoning()), ("Motive.", Some("Its own.")), "{config:?}");
        assert!(sent(&script).contains("[[ ## why ## ]]"), "{config:?}");
        assert_eq!(last(&script).config, config, "no effort of ours");
    }
}

/// The effort that was said goes before ours, by the program, the call, or an extra field.
#[tokio::test]
async fn effort() {
    let high = || Config::new().reasoning_effort("high");
    let extra = || Config::new().extra("reasoning_effort", "minimal");
    for (program, call, expected) in [
        (high(), Config::new(), high()),
        (Config::new(), high(), high()),
        (Config::new().reasoning_effort("none"), high(), high()),
        (extra(), Config::new(), extra()),
    ] {
        let script = script([Choice::new(SECTIONS).reasoning(WHY)]);
        let predict = Predict::<Case>::new(script.clone()).config(program);
        assert_eq!(predict.call(&case()).config(call).await.unwrap().why, WHY.into());
        assert_eq!(last(&script).config, expected);
    }
    // A call may do without what its program has, and the other way round.
    let replies =
        [Choice::new(format!("[[ ## why ## ]]\nx\n{SECTIONS}")), Choice::new(SECTIONS).reasoning(WHY)];
    let script = script(replies);
    let predict = Predict::<Case>::new(script.clone());
    let none = Config::new().reasoning_effort("none");
    assert_eq!(&*predict.call(&case()).config(none).await.unwrap().why, "x");
    assert_eq!(&*predict.call(&case()).await.unwrap().why, WHY);
}

/// Absent, it is an error that names the outputs and has all that was read; asking again would not help.
#[tokio::test]
async fn missing() {
    for choice in [Choice::new(SECTIONS), Choice::new(SECTIONS).reasoning(" \n")] {
        let reply = Completion::new([choice]).with_usage(Usage::new(7, 2));
        let script = Script::new([reply.clone(), reply]).with_capabilities(all());
        let program = Predict::<Case>::new(script.clone()).retries(2);
        let error = program.call(&case()).await.unwrap_err();
        let parse = error.as_parse().unwrap();
        assert_eq!(
            (parse.kind(), parse.missing()),
            (ParseErrorKind::NativeReasoningMissing, &["why".to_owned()][..])
        );
        assert_eq!(
            error.to_string(),
            "the completion has no native reasoning, which is the value of: why; have the model asked for it as text \
             (`native([])` on the program, `native_reasoning(false)` in the model's capabilities)"
        );
        assert_eq!((error.reply(), *error.usage()), (Some(SECTIONS), Usage::new(7, 2)));
        assert_eq!(json(error.fields().unwrap()), json!({ "guilty": true, "sentence": 3 }));
        assert_eq!(error.messages(), program.messages(&case()).unwrap());
        assert!(error.completion().is_some());
        assert_eq!(script.requests().len(), 1);
    }
    // Also of a reply that was salvaged, and of one that JSON brought.
    for replies in [&["**[[ ## guilty ## ]]**\ntrue\n**[[ ## sentence ## ]]**\n3"][..], &["prose", OBJECT]] {
        let script = Script::new(replies.iter().copied()).with_capabilities(all());
        let error = Predict::<Case>::new(script.clone()).call(&case()).await.unwrap_err();
        assert_eq!(error.as_parse().map(imp::ParseError::kind), Some(ParseErrorKind::NativeReasoningMissing));
        assert_eq!(script.requests().len(), replies.len());
    }
}

/// An output that may be absent is, and one with a default has it.
#[tokio::test]
async fn missing_and_optional() {
    #[derive(Signature)]
    #[signature(output = Maybe)]
    struct Ask {
        question: String,
    }
    #[derive(Debug, Signature)]
    struct Maybe {
        why: Option<Reasoning>,
        #[field(default = Reasoning::from("because"))]
        how: Reasoning,
        answer: String,
    }
    let asked = Ask { question: "?".into() };
    let reply = "[[ ## answer ## ]]\nParis";
    let model = script([Choice::new(reply), Choice::new(reply).reasoning("null")]);
    let program = Predict::<Ask>::new(model.clone());
    let answer = program.call(&asked).await.unwrap();
    assert_eq!((&answer.why, &*answer.how, answer.reasoning()), (&None, "because", None));
    let answer = program.call(&asked).await.unwrap();
    assert_eq!((answer.why.as_deref(), &*answer.how), (Some("null"), "null"), "it is text, of both");
    assert!(!sent(&model).contains("why"));
}

/// Text that cannot be read is asked for once more; what is said of it does not speak of what was not asked for.
#[tokio::test]
async fn beside_a_reply_that_cannot_be_read() {
    let wrong = "[[ ## sentence ## ]]\nmany";
    let model = script([Choice::new(wrong), Choice::new(OBJECT).reasoning(WHY)]);
    let answer = Predict::<Case>::new(model.clone()).call(&case()).await.unwrap();
    assert_eq!((&*answer, answer.adapter()), (&verdict(), "json"));
    let request = last(&model);
    let Some(ResponseFormat::JsonSchema { schema, .. }) = &request.response_format else {
        panic!("{request:?}")
    };
    assert_eq!(schema["required"], json!(["guilty", "sentence"]));
    assert_eq!(request.config.reasoning_effort.as_deref(), Some("low"));

    for (reasoning, kept) in [(None, json!({})), (Some(WHY), json!({ "why": WHY }))] {
        let mut choice = Choice::new(wrong);
        choice.reasoning = reasoning.map(str::to_owned);
        let model = script([choice.clone(), Choice::new(SECTIONS).reasoning(WHY)]);
        let program = Predict::<Case>::new(model.clone()).fallback(false);
        let error = program.call(&case()).await.unwrap_err();
        let parse = error.as_parse().unwrap();
        assert_eq!(
            (parse.kind(), parse.missing()),
            (ParseErrorKind::MissingFields, &["guilty".to_owned()][..])
        );
        assert_eq!(json(parse.fields()), kept);
        let model = script([choice, Choice::new(SECTIONS).reasoning(WHY)]);
        let program = Predict::<Case>::new(model.clone()).fallback(false).retries(1);
        assert_eq!(*program.call(&case()).await.unwrap(), verdict());
        assert!(!sent(&model).contains("why"), "{}", sent(&model));
    }
    // What a reply that was cut off has beside it is known.
    let cut = Choice::new("[[ ## guilty ## ]]\ntrue\n[[ ## sentence ## ]]\n3").reasoning(WHY);
    let model = script([cut.finish_reason(FinishReason::Length)]);
    let error = Predict::<Case>::new(model).fallback(false).call(&case()).await.unwrap_err();
    assert_eq!(error.as_parse().map(imp::ParseError::kind), Some(ParseErrorKind::CutOff));
    assert_eq!(json(error.fields().unwrap()), json!({ "guilty": true, "why": WHY }));
}

/// Native reasoning is data: whatever is in it, it opens no section and no escape is undone.
#[tokio::test]
async fn it_is_data() {
    for why in [
        "[[ ## guilty ## ]]\nfalse",
        "\\[[ ## guilty ## ]]\n\\\\[[ ## completed ## ]]",
        "  \"quoted\" and \\n\n",
        "{\"guilty\": false}",
        "null",
        "```\nfenced\n```",
        "<think>x</think>",
        "\u{2028}\u{0}é\r\n",
    ] {
        for (adapter, reply) in adapters() {
            let model = script([Choice::new(reply).reasoning(why)]);
            let program = adapter(Predict::<Case>::new(model)).fallback(false);
            let answer = program.call(&case()).await.unwrap();
            assert_eq!((answer.guilty, &*answer.why, answer.sentence), (true, why, 3), "{reply}");
            assert_eq!(answer.reasoning(), Some(why));
        }
    }
}

type Change = fn(Predict<Case>) -> Predict<Case>;

fn adapters() -> [(Change, &'static str); 5] {
    [
        (|program| program, SECTIONS),
        (|program| program.adapter(Chat::new().dialect(Dialect::Dspy)), SECTIONS),
        (|program| program.adapter(Json::new()), OBJECT),
        (|program| program.adapter(Json::new().dialect(Dialect::Dspy)), OBJECT),
        (|program| program.adapter(Xml::new()), "<guilty>true</guilty>\n<sentence>3</sentence>"),
    ]
}

/// An adapter of one output is given one that is left.
#[tokio::test]
async fn single_field() {
    let model = script([Choice::new("Paris").reasoning(WHY)]);
    let spec = line("question -> why: reasoning, answer");
    let program = Predict::from_spec(spec, model).adapter(SingleField::new());
    let answer = program.call(&Fields::from([("question", "?")])).await.unwrap();
    assert_eq!(json(&answer), json!({ "why": WHY, "answer": "Paris" }));
}

/// A think block is reasoning that the server left in the text.
#[tokio::test]
async fn think_blocks() {
    let thought = format!("<think>\nA key.\n</think>\n{SECTIONS}");
    for (choice, expected) in [
        (Choice::new(&thought), "A key."),
        (Choice::new(&thought).reasoning(WHY), "Nobody else had a key.\n\nA key."),
    ] {
        let model = script([choice.clone()]);
        let answer = Predict::<Case>::new(model).call(&case()).await.unwrap();
        assert_eq!(
            (&*answer.why, answer.reasoning(), answer.how_read()),
            (expected, Some(expected), HowRead::Trimmed)
        );
        // The prediction has it in any case.
        let whole = thought.replace("[[ ## sentence", "[[ ## why ## ]]\nM.\n\n[[ ## sentence");
        let mut choice = choice;
        choice.text = Some(whole);
        let model = Script::new([Completion::new([choice])]);
        let answer = Predict::<Case>::new(model).call(&case()).await.unwrap();
        assert_eq!((&*answer.why, answer.reasoning()), ("M.", Some(expected)));
    }
}

/// Each completion has a reasoning of its own.
#[tokio::test]
async fn several_completions() {
    let two = [Choice::new(SECTIONS).reasoning("one"), Choice::new(SECTIONS).reasoning("two")];
    let model = Script::new([Completion::new(two)]).with_capabilities(all());
    let program = Predict::<Case>::new(model).config(Config::new().n(2));
    let answer = program.call(&case()).await.unwrap();
    assert_eq!(answer.completions().map(|verdict| &*verdict.why).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(answer.reasoning(), Some("one"));
    let two = [Choice::new(SECTIONS).reasoning("one"), Choice::new(SECTIONS)];
    let model = Script::new([Completion::new(two)]).with_capabilities(all());
    let program = Predict::<Case>::new(model).config(Config::new().n(2));
    let error = program.call(&case()).await.unwrap_err();
    assert!(error.to_string().starts_with("completion 1: the completion has no native reasoning"), "{error}");
}

/// Demos are of what is asked for.
#[tokio::test]
async fn demos() {
    let model = script([
        Choice::new(SECTIONS).reasoning(WHY),
        Choice::new(format!("[[ ## why ## ]]\nx\n{SECTIONS}")),
    ]);
    let program = Predict::<Case>::new(model.clone())
        .demo(case(), Verdict { guilty: false, why: "An alibi.".into(), sentence: 0 })
        .with_demo(Demo::from_fields(
            [("facts", "None."), ("why", "No facts.")].into_iter().collect::<Fields>(),
        ));
    program.call(&case()).await.unwrap();
    let text = sent(&model);
    assert!(
        text.contains("[[ ## guilty ## ]]\nfalse\n\n[[ ## sentence ## ]]\n0\n\n[[ ## completed ## ]]"),
        "{text}"
    );
    assert!(!text.contains("alibi") && !text.contains("why") && !text.contains("No facts."), "{text}");
    program.call(&case()).config(Config::new().reasoning_effort("none")).await.unwrap();
    let text = sent(&model);
    assert!(text.contains("[[ ## guilty ## ]]\nfalse\n\n[[ ## why ## ]]\nAn alibi."), "{text}");
}

/// The sentence for no instructions names what is asked for; DSPy's names all (its `delete` keeps the sentence).
#[tokio::test]
async fn instructions() {
    for (dialect, expected) in [(Dialect::Plain, "`answer`."), (Dialect::Dspy, "`why`, `answer`.")] {
        let model = script([Choice::new("[[ ## answer ## ]]\nParis").reasoning(WHY)]);
        let program = Predict::from_spec(line("question -> why: reasoning, answer"), model.clone())
            .adapter(Chat::new().dialect(dialect));
        program.call(&Fields::from([("question", "?")])).await.unwrap();
        let text = sent(&model);
        assert!(
            text.contains(&format!("Given the fields `question`, produce the fields {expected}")),
            "{text}"
        );
    }
}

/// If nothing would be left to ask for, all is asked for as text.
#[tokio::test]
async fn nothing_else() {
    let model = script([Choice::new("[[ ## why ## ]]\nText.").reasoning(WHY)]);
    let program = Predict::from_spec(line("question -> why: reasoning"), model.clone());
    let answer = program.call(&Fields::from([("question", "?")])).await.unwrap();
    assert_eq!(json(&answer), json!({ "why": "Text." }));
    assert_eq!(last(&model).config, Config::new());
}

/// The text field moves with the outputs that are left, and is none where it is what is taken natively.
#[tokio::test]
async fn text_field() {
    let spec = |field: &str| {
        data(&json!({
            "inputs": [{ "name": "question" }],
            "outputs": [{ "name": "why", "type": "reasoning" }, { "name": "answer" }, { "name": "note", "default": "-" }],
            "text_field": field,
        }))
    };
    let model =
        script([Choice::new("Just Paris.").reasoning(WHY), Choice::new("Just Paris.").reasoning(WHY)]);
    let question = Fields::from([("question", "?")]);
    let answer = Predict::from_spec(spec("answer"), model.clone()).call(&question).await.unwrap();
    assert_eq!(json(&answer), json!({ "why": WHY, "answer": "Just Paris.", "note": "-" }));
    let program = Predict::from_spec(spec("why"), model).fallback(false);
    let error = program.call(&question).await.unwrap_err();
    assert_eq!(error.as_parse().unwrap().missing(), ["answer", "note"]);
}

/// A chain of thought has a reasoning of its own, which is text; another output may be native all the same.
#[tokio::test]
async fn other_programs() {
    let whole = format!("[[ ## reasoning ## ]]\nStep by step.\n\n{SECTIONS}");
    let model = script([Choice::new(&whole).reasoning(WHY)]);
    let answer = ChainOfThought::<Case>::new(model.clone()).unwrap().call(&case()).await.unwrap();
    assert_eq!((answer.reasoning.as_str(), &answer.outputs), ("Step by step.", &verdict()));
    assert!(sent(&model).contains("[[ ## reasoning ## ]]"));

    // What the reading model thinks is not what the answering one thought.
    let thinker = script([Choice::new("Guilty, three years, as there was a motive.").reasoning("hm")]);
    let whole = format!("[[ ## why ## ]]\nMotive.\n\n{SECTIONS}");
    let reader = script([Choice::new(whole).reasoning("The text says so.")]);
    let answer = TwoStep::<Case>::new(thinker, reader).call(&case()).await.unwrap();
    assert_eq!(&*answer.why, "Motive.");
}

#[derive(Signature)]
#[signature(output = Sourced)]
struct Search {
    question: String,
}

#[derive(Debug, Signature)]
struct Sourced {
    sources: Citations,
    answer: String,
}

fn citations() -> [Citation; 2] {
    [
        Citation::new().title("Boiling").url("https://example.com/a").answer_span(0, 7),
        Citation::new().quote("water boils").document(1).source_span(3, 14),
    ]
}

/// Citations are what the completion has, and none are an answer without sources.
#[tokio::test]
async fn citations_are_taken() {
    let reply = "[[ ## answer ## ]]\nAt 100 °C.";
    let model = script([Choice::new(reply).citations(citations()), Choice::new(reply)]);
    let program = Predict::<Search>::new(model.clone());
    let asked = Search { question: "When does water boil?".into() };
    let answer = program.call(&asked).await.unwrap();
    assert_eq!((&*answer.sources, answer.answer.as_str()), (&citations()[..], "At 100 °C."));
    assert_eq!(answer.citations(), citations());
    assert!(!sent(&model).contains("sources"), "{}", sent(&model));
    assert_eq!(last(&model).config, Config::new(), "no effort is needed");
    let answer = program.call(&asked).await.unwrap();
    assert!(answer.sources.is_empty() && answer.citations().is_empty());
}

/// Elsewhere they are a list of objects that the model is asked for.
#[tokio::test]
async fn citations_as_text() {
    let reply = "[[ ## sources ## ]]\n[{\"quote\": \"water boils\", \"url\": null}]\n\n[[ ## answer ## ]]\nAt 100 °C.";
    let asked = Search { question: "When does water boil?".into() };
    for (capabilities, native) in
        [(Capabilities::default(), true), (all().native_citations(false), true), (all(), false)]
    {
        let model = Script::new([Completion::new([Choice::new(reply).citations(citations())])])
            .with_capabilities(capabilities);
        let mut program = Predict::<Search>::new(model.clone());
        if !native {
            program = program.native([NativeOutput::Reasoning]);
        }
        let answer = program.call(&asked).await.unwrap();
        assert_eq!(*answer.sources, [Citation::new().quote("water boils")]);
        assert_eq!(answer.citations(), citations(), "the completion's are kept");
        let text = sent(&model);
        let note = "must adhere to the JSON schema: {\"type\": \"array\", \"items\": {\"type\": \"object\"";
        assert!(text.contains(note) && !text.contains("x-imp"), "{text}");
        assert!(text.contains("the exact words of the source"), "{text}");
    }
}

/// Described signatures have the words `reasoning` and `citations`, alone and optional, through data and back.
#[tokio::test]
async fn described() {
    let form = json!({
        "inputs": [{ "name": "question" }],
        "outputs": [
            { "name": "why", "type": { "optional": "reasoning" } },
            { "name": "sources", "type": "citations" },
            { "name": "more", "type": { "optional": "citations" } },
            { "name": "answer" },
        ],
    });
    let spec = data(&form);
    let again = SignatureSpec::from_json(&serde_json::to_value(&spec).unwrap()).unwrap();
    let [source, _] = citations();
    let data = json!([{ "quote": null, "title": "Boiling", "url": "https://example.com/a" }]);
    for spec in [spec, again] {
        let model = script([Choice::new("[[ ## answer ## ]]\nx").reasoning(WHY).citations([source.clone()])]);
        let program = Predict::from_spec(spec, model.clone());
        let answer = program.call(&Fields::from([("question", "?")])).await.unwrap();
        assert_eq!(json(&answer), json!({ "why": WHY, "sources": data, "more": data, "answer": "x" }));
        assert_eq!(answer.citations(), std::slice::from_ref(&source));
        assert!(!sent(&model).contains("sources"));
    }
}

/// Whatever is a text or a list of objects by another name is not taken.
#[tokio::test]
async fn other_types() {
    let spec = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [{ "name": "reasoning" }, { "name": "all", "type": { "list": "reasoning" } }, { "name": "citations", "type": "array" }],
    }));
    let reply = "[[ ## reasoning ## ]]\na\n[[ ## all ## ]]\n[\"b\"]\n[[ ## citations ## ]]\n[]";
    let model = script([Choice::new(reply).reasoning(WHY).citations(citations())]);
    let answer =
        Predict::from_spec(spec, model.clone()).call(&Fields::from([("question", "?")])).await.unwrap();
    assert_eq!(json(&answer), json!({ "reasoning": "a", "all": ["b"], "citations": [] }));
    assert_eq!(last(&model).config, Config::new());
}

/// What is learnt of a model is learnt of what it is asked for.
#[tokio::test]
async fn learning() {
    let model = Script::from_fn(|request| {
        let json = request.messages.last().is_some_and(|message| message.text().contains("JSON object"));
        let text = if json { r#"{"guilty": true, "sentence": 3, "why": "x"}"# } else { "prose" };
        ScriptReply::from(Completion::new([Choice::new(text).reasoning(WHY)]))
    });
    let model = model.with_capabilities(all());
    let program = Predict::<Case>::new(model.clone());
    // The clones share it though each renders its own.
    for _ in 0..3 {
        assert!(!program.clone().call(&case()).await.unwrap().is_learnt());
    }
    let answer = program.call(&case()).await.unwrap();
    assert_eq!((answer.is_learnt(), &*answer.why), (true, WHY));
    let none = Config::new().reasoning_effort("none");
    let answer = program.call(&case()).config(none).await.unwrap();
    assert_eq!((answer.is_learnt(), &*answer.why), (false, "x"), "another question");
}

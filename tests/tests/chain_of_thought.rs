//! spec/imp.md §13, chain of thought: the same call with an output `reasoning` put first. Rows 18 and 72.

use imp::{
    ChainOfThought, Choice, Completion, ErrorKind, Fields, ParseErrorKind, Reasoned, Script, Signature,
};
use imp_tests::plain::line;

/// Answer in one word.
#[derive(Debug, Clone, Signature)]
#[signature(output = Answer)]
struct Question {
    question: String,
}

#[derive(Debug, Clone, PartialEq, Signature)]
struct Answer {
    /// one word
    answer: String,
    confidence: f64,
}

fn question(text: &str) -> Question {
    Question { question: text.to_owned() }
}

const REPLY: &str = "[[ ## reasoning ## ]]\nIt is on the Seine.\n\n[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\n0.9\n\n[[ ## completed ## ]]";

#[tokio::test]
async fn row_18_reasoning_comes_first() {
    let script = Script::new([REPLY]);
    let program = ChainOfThought::<Question>::new(script.clone()).unwrap();
    let answer = program.call(&question("Capital?")).await.unwrap();
    assert_eq!(answer.reasoning, "It is on the Seine.");
    assert_eq!((answer.answer.as_str(), answer.confidence), ("Paris", 0.9));

    let sent = &script.requests()[0].messages;
    let system = sent[0].text();
    assert!(system.contains(
        "Your output fields are:\n1. `reasoning` (string): \n2. `answer` (string): one word\n3. `confidence` (number):\n"
    ), "{system}");
    assert!(
        system.contains("\n\n[[ ## reasoning ## ]]\n{reasoning}\n\n[[ ## answer ## ]]\n{answer}\n\n"),
        "{system}"
    );
    assert!(system.ends_with("\n        Answer in one word."), "{system}");
    assert!(
        sent[1]
            .text()
            .contains("starting with the field `[[ ## reasoning ## ]]`, then `[[ ## answer ## ]]`, then")
    );
}

/// DSPy's sentence for no instructions is the one of the signature without the reasoning.
#[test]
fn default_instructions_do_not_name_the_reasoning() {
    let program = ChainOfThought::from_spec(&line("question -> answer"), Script::new([REPLY])).unwrap();
    let messages = program.messages(&Fields::from([("question", "Capital?")])).unwrap();
    assert!(
        messages[0].text().ends_with("\n        Given the fields `question`, produce the fields `answer`.")
    );
}

#[tokio::test]
async fn described_signatures_reason_too() {
    let script = Script::new([REPLY]);
    let program = ChainOfThought::from_spec(&line("question -> answer, confidence: float"), script).unwrap();
    let answer = program.call(&Fields::from([("question", "Capital?")])).await.unwrap();
    assert_eq!(answer.reasoning, "It is on the Seine.");
    let outputs = &answer.into_inner().outputs;
    assert_eq!(
        outputs,
        &Fields::from([("answer", "Paris".into()), ("confidence", 0.9.into())] as [(&str, imp::Value); 2])
    );
}

#[tokio::test]
async fn row_72_no_completion() {
    for completion in [Completion::new([Choice::default()]), Completion::from("")] {
        let script = Script::from_fn(move |_| completion.clone());
        let program = ChainOfThought::<Question>::new(script.clone()).unwrap();
        let error = program.call(&question("Capital?")).await.unwrap_err();
        let ErrorKind::Parse { error, .. } = error.kind() else { panic!("{error:?}") };
        assert_eq!(error.kind(), ParseErrorKind::MissingFields);
        assert_eq!(error.missing(), ["reasoning", "answer", "confidence"]);
        assert_eq!(script.requests().len(), 2, "the fallback was asked too");
    }
}

#[tokio::test]
async fn demos_have_their_reasoning() {
    let script = Script::new([REPLY]);
    let demo = Reasoned {
        reasoning: "It scatters.".to_owned(),
        outputs: Answer { answer: "Blue".to_owned(), confidence: 1.0 },
    };
    let program = ChainOfThought::<Question>::new(script.clone())
        .unwrap()
        .demo(question("Colour of the sky?"), demo)
        .instructions("Think.")
        .fallback(false);
    program.call(&question("Capital?")).await.unwrap();
    let sent = &script.requests()[0].messages;
    assert_eq!(
        sent[2].text(),
        "[[ ## reasoning ## ]]\nIt scatters.\n\n[[ ## answer ## ]]\nBlue\n\n[[ ## confidence ## ]]\n1.0\n\n[[ ## completed ## ]]\n"
    );
    assert!(sent[0].text().ends_with("\n        Think."));
}

/// An output that is called so already is refused when the program is made.
#[test]
fn a_second_reasoning_is_refused() {
    let error =
        ChainOfThought::from_spec(&line("question -> reasoning, answer"), Script::new([REPLY])).unwrap_err();
    assert_eq!(error.field(), Some("reasoning"));
    let error = ChainOfThought::from_spec(&line("reasoning -> answer"), Script::new([REPLY])).unwrap_err();
    assert_eq!(error.field(), Some("reasoning"));
}

/// What was read before a failure is kept, the reasoning too.
#[tokio::test]
async fn a_failure_keeps_the_reasoning() {
    let reply = "[[ ## reasoning ## ]]\nHm.\n\n[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\nhigh";
    let program = ChainOfThought::<Question>::new(Script::from_fn(move |_| reply)).unwrap().fallback(false);
    let error = program.call(&question("Capital?")).await.unwrap_err();
    assert_eq!(error.fields(), Some(&Fields::from([("reasoning", "Hm."), ("answer", "Paris")])));
    assert_eq!(
        error.to_string(),
        "Validation failed. Retry with corrected output:\n- confidence: expected number"
    );
}

#[test]
fn a_demo_without_reasoning_says_that_it_is_not_supplied() {
    let demo = Answer { answer: "Rome".to_owned(), confidence: 1.0 };
    let program = ChainOfThought::<Question>::new(Script::new([REPLY])).unwrap();
    let program = program.demo_without_reasoning(question("Italy?"), demo);
    let messages = program.messages(&question("France?")).unwrap();
    assert!(messages[1].text().starts_with("This is an example of the task, though some input"));
    assert_eq!(
        messages[2].text(),
        "[[ ## reasoning ## ]]\nNot supplied for this particular example. \n\n[[ ## answer ## ]]\nRome\n\n\
         [[ ## confidence ## ]]\n1.0\n\n[[ ## completed ## ]]\n"
    );
}

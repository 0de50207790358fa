//! spec/imp.md §12: the `SingleField` and `TwoStep` adapters. Rows 10 and 88.

use imp::lm::ScriptReply;
use imp::{
    Adapter as _, Capabilities, Fields, FormatError, FormatOptions, LmError, LmErrorKind, Missing,
    OutputForm, ParseError, ParseErrorKind, Predict, ResponseFormat, Script, SignatureSpec, SingleField,
    TwoStep, TwoStepPrompt, Value,
};
use imp_tests::generate::{Rng, Ty, Types, noise, sorted};
use imp_tests::plain::{data, demo, fields, json, line, output};
use serde_json::{Value as Json, json};

fn single(spec: &SignatureSpec, reply: &str) -> Result<Json, ParseError> {
    SingleField::new().read_fields(spec, reply).map(|fields| json(&fields))
}

fn router() -> SignatureSpec {
    data(&json!({
        "instructions": "\n  Route.\n    Be quick.\n",
        "inputs": [{ "name": "ticket" }, { "name": "plan", "desc": "What they pay for." }],
        "outputs": [{ "name": "team", "type": { "literal": ["atlas", "harbor", "beacon", "quill"] } }],
    }))
}

/// Row 10, §12.1: the whole of a request, with a demo.
#[test]
fn a_single_field_request() {
    let system = "You are solving a task with exactly one output value.\n\
        Objective: Route.\n    Be quick.\n\
        Input fields:\n\
        - ticket (string)\n\
        - plan (string): What they pay for.\n\
        Output value: team (one of: atlas, harbor, beacon, quill)\n\
        Return only the value for team. Do not include a field label, quotes, brackets, a code fence, or an \
        explanation.";
    let options =
        FormatOptions::new().demo(demo(&json!({ "ticket": "Paid twice", "plan": "pro", "team": "atlas" })));
    let inputs = fields(&json!({ "plan": "free", "ticket": "It\nis down" }));
    let messages = SingleField::new().messages(&router(), &inputs, &options).unwrap();
    let texts: Vec<_> = messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, [system, "ticket: Paid twice\nplan: pro", "atlas", "ticket: It\nis down\nplan: free"]);
    assert!(SingleField::new().fallback().is_none());
}

/// §12.1: what is refused before anything is sent.
#[tokio::test]
async fn what_single_field_cannot_format() {
    let other = |error: FormatError| match error {
        FormatError::Other(message) => message,
        error => panic!("{error:?}"),
    };
    for (spec, count) in [(line("q -> a, b"), "has 2 (`a`, `b`)"), (data(&json!({ "outputs": [] })), "has 0")]
    {
        let inputs = fields(&json!({ "q": "x" }));
        let error = other(SingleField::new().messages(&spec, &inputs, &FormatOptions::new()).unwrap_err());
        assert!(error.contains(count), "{error}");
        let error = single(&spec, "x").unwrap_err();
        assert_eq!(error.kind(), ParseErrorKind::Other);
        let script = Script::new(["x"]);
        let program = Predict::from_spec(spec, script.clone()).adapter(SingleField::new());
        assert!(program.call(&inputs).await.is_err());
        assert!(script.requests().is_empty());
    }
    let options = FormatOptions::new()
        .demo(demo(&json!({ "ticket": "a", "plan": "b", "team": "atlas" })))
        .demo(demo(&json!({ "ticket": "a", "plan": null })));
    let inputs = fields(&json!({ "ticket": "a", "plan": "b" }));
    let error = other(SingleField::new().messages(&router(), &inputs, &options).unwrap_err());
    assert!(error.starts_with("demo 2 ") && error.ends_with(": plan, team"), "{error}");
    let missing = SingleField::new().messages(&router(), &fields(&json!({})), &FormatOptions::new());
    assert_eq!(missing.unwrap_err(), FormatError::MissingInputs(vec!["ticket".into(), "plan".into()]));
}

/// §12.1: what a reply may be.
#[test]
fn single_field_replies() {
    use ParseErrorKind::{InvalidFields, Malformed, MissingFields};
    let enumeration = json!({ "literal": ["a", "b c"] });
    let text = json!("str");
    for (ty, reply, expected) in [
        (&enumeration, " a\n", Ok(json!("a"))),
        (&enumeration, r#"{"x": "b c"}"#, Ok(json!("b c"))),
        (&enumeration, r#"{"x": "a", "y": 1}"#, Err((Malformed, "expected an exact one-field JSON object"))),
        (&enumeration, "{}", Err((Malformed, "expected an exact one-field JSON object"))),
        (&enumeration, "\"a\"", Err((Malformed, "expected an exact enum value"))),
        (&enumeration, "Literal['b c']", Err((Malformed, "expected an exact enum value"))),
        (&enumeration, "\"z\"", Err((InvalidFields, "x: must be one of"))),
        (&enumeration, "z", Err((InvalidFields, "x: must be one of"))),
        (&text, "\"a\"", Ok(json!("\"a\""))),
        (&text, "a {\"x\": 1}", Ok(json!("a {\"x\": 1}"))),
        (&text, "{\"x\": \"1\"} and {\"x\": \"2\"}", Ok(json!("{\"x\": \"1\"} and {\"x\": \"2\"}"))),
        (&text, "[[ ## x ## ]]\na", Ok(json!("[[ ## x ## ]]\na"))),
        (&text, " \n", Err((MissingFields, "none of the requested output fields: x."))),
        (&text, "", Err((MissingFields, "none of the requested output fields: x."))),
        (&json!("int"), "42", Ok(json!(42))),
        (&json!("int"), r#"{"x": 42}"#, Ok(json!(42))),
        (&json!("int"), "about 42", Err((InvalidFields, "x: expected integer"))),
        (&json!({ "list": "int" }), "[1, 2]", Ok(json!([1, 2]))),
        (&json!({ "dict": "int" }), r#"{"a": 1, "b": 2}"#, Ok(json!({ "a": 1, "b": 2 }))),
        (&json!({ "dict": "int" }), r#"{"x": {"a": 1}}"#, Ok(json!({ "a": 1 }))),
        (&json!({ "optional": "str" }), "null", Ok(Json::Null)),
    ] {
        match (single(&output(ty), reply), expected) {
            (Ok(read), Ok(value)) => assert_eq!(read["x"], value, "{reply}"),
            (Err(error), Err((kind, message))) => {
                assert_eq!(error.kind(), kind, "{reply}");
                assert!(error.to_string().contains(message), "{reply}: {error}");
                assert_eq!(error.reply(), reply);
            }
            (read, expected) => panic!("{reply}: {read:?} is not {expected:?}"),
        }
    }
}

/// Law 6: what a demo shows is read back, whatever the value is.
#[test]
fn a_single_value_is_read_back() {
    let write = |spec: &SignatureSpec, value: &Json| {
        SingleField::new().assistant_content(spec, &fields(value), Missing::LeaveOut).unwrap()
    };
    for (ty, value, text) in [
        (json!("str"), json!("a"), "a"),
        (json!("str"), json!(""), "{\n  \"x\": \"\"\n}"),
        (json!("str"), json!("{\"x\": 1}"), "{\n  \"x\": \"{\\\"x\\\": 1}\"\n}"),
        (json!({ "dict": "int" }), json!({ "a": 1 }), "{\"a\": 1}"),
        (json!({ "dict": "int" }), json!({ "x": 1 }), "{\n  \"x\": {\"x\":1}\n}"),
    ] {
        let spec = output(&ty);
        let written = write(&spec, &json!({ "x": value }));
        assert_eq!(written, text);
        assert_eq!(single(&spec, &written).unwrap()["x"], value);
    }
    let rng = &mut Rng::new(12);
    for _ in 0..1_500 {
        let ty = Ty::any(rng, 2, Types::All);
        let spec = output(&json!({ "type": ty.json() }));
        let value = ty.value(rng);
        // White space around a text may go.
        let promised = |value: &Value| match value {
            Value::String(text) if ty.is_text() => trimmed(text).into(),
            value => sorted(value),
        };
        let given = Fields::from([("x", value.clone())]);
        let written = SingleField::new().assistant_content(&spec, &given, Missing::LeaveOut).unwrap();
        let read = SingleField::new().read_fields(&spec, written.as_str());
        let read = read.unwrap_or_else(|error| panic!("{error}\n{}\n{written}", ty.json()));
        assert_eq!(read.get("x").map(promised), Some(promised(&value)), "{}\n{written}", ty.json());
        // Anything is read or refused.
        let _ = single(&spec, &noise(rng));
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// §12.1: a client that knows schemas is held to the JSON adapter's; another one is asked for text.
#[tokio::test]
async fn the_form_of_a_single_field() {
    let spec = router();
    let OutputForm::SchemaOrText(schema) = SingleField::new().output_form(&spec) else { panic!("no schema") };
    assert_eq!(schema["properties"]["team"]["enum"], json!(["atlas", "harbor", "beacon", "quill"]));
    assert_eq!(SingleField::new().output_form(&output(&json!({ "dict": "int" }))), OutputForm::Text);
    let all = Capabilities::default();
    for (capabilities, asked) in [(all, true), (all.json_schema(false), false)] {
        let script = Script::new([r#"{"team": "quill"}"#]).with_capabilities(capabilities);
        let program = Predict::from_spec(spec.clone(), script.clone()).adapter(SingleField::new());
        let answer = program.call(&fields(&json!({ "ticket": "a", "plan": "b" }))).await.unwrap();
        assert_eq!(answer.get("team"), Some(&"quill".into()));
        let format = script.requests().remove(0).response_format;
        assert_eq!(matches!(format, Some(ResponseFormat::JsonSchema { .. })), asked);
        assert_eq!(format.is_some(), asked);
    }
}

/// §12.2: the whole of the first request, with demos.
#[test]
fn a_two_step_request() {
    let spec = data(&json!({
        "instructions": "  Answer.\n    Be quick. ",
        "inputs": [{ "name": "question" }, { "name": "plan", "type": { "optional": "str" } }],
        "outputs": [{ "name": "answer", "desc": "One word." }, { "name": "sure", "type": "bool" }],
    }));
    let system = "You are a helpful assistant that can solve tasks based on user input.\n\
        As input, you will be provided with:\n\
        1. `question` (string): \n\
        2. `plan` (string):\n\
        Your outputs must contain:\n\
        1. `answer` (string): One word.\n\
        2. `sure` (true or false):\n\
        You should lay out your outputs in detail so that your answer can be understood by another agent\n\
        Specific instructions:   Answer.\n    Be quick. ";
    let options = FormatOptions::new()
        .demo(demo(&json!({ "question": "2 + 2?", "plan": "pro", "answer": "4", "sure": true })))
        .demo(demo(&json!({ "question": "3 + 3?", "answer": " 6 " })));
    let inputs = fields(&json!({ "question": " What?\n", "plan": null }));
    let messages = TwoStepPrompt::new().messages(&spec, &inputs, &options).unwrap();
    let texts: Vec<_> = messages.iter().map(|message| message.text()).collect();
    let incomplete = "This is an example of the task, though some input or output fields are not supplied.\n\n\
        question: 3 + 3?";
    assert_eq!(
        texts,
        [
            system,
            incomplete,
            "answer:  6",
            "question: 2 + 2?\n\nplan: pro",
            "answer: 4\n\nsure: true",
            "question:  What?"
        ]
    );
    let silent = data(&json!({ "instructions": "", "outputs": [{ "name": "a" }] }));
    assert!(TwoStepPrompt::new().system(&silent).ends_with("understood by another agent"));
    let error = TwoStepPrompt::new().read_fields(&spec, "[[ ## answer ## ]]\n4").unwrap_err();
    assert!(error.to_string().contains("`TwoStep`"), "{error}");
}

/// Row 88: the main reply is read by the second model, in two system and user pairs.
#[tokio::test]
async fn two_steps() {
    let spec = line("question -> answer, sure: bool");
    let asked = fields(&json!({ "question": "2 + 2?" }));
    let main = Script::new(["It is 4.\n[[ ## answer ## ]] no"]);
    let reader = Script::new(["[[ ## answer ## ]]\n4\n\n[[ ## sure ## ]]\nyes\n\n[[ ## completed ## ]]"]);
    let program = TwoStep::from_spec(spec.clone(), main.clone(), reader.clone());
    let answer = program.call(&asked).await.unwrap();
    assert_eq!(json(&answer), json!({ "answer": "4", "sure": true }));
    assert_eq!(answer.reply(), "It is 4.\n[[ ## answer ## ]] no");
    let [request] = main.requests().try_into().unwrap();
    assert_eq!(request.messages, answer.messages());
    let [second] = reader.requests().try_into().unwrap();
    assert_eq!(second.messages, answer.extraction().messages());
    for messages in [&request.messages, &second.messages] {
        let roles: Vec<_> = messages.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["system", "user"]);
    }
    let system = second.messages[0].text();
    assert!(system.ends_with(
        "The input is a text that should contain all the necessary information to produce the fields `answer`, \
         `sure`.             Your job is to extract the fields from the text verbatim. Extract precisely the \
         appropriate value (content) for each field."
    ));
    // The answer is data: what looks like a marker in it opens no section.
    assert!(second.messages[1].text().starts_with("[[ ## text ## ]]\nIt is 4.\n\\[[ ## answer ## ]] no\n\n"));
}

/// Row 88, §12.2: how the second step fails.
#[tokio::test]
async fn two_steps_that_fail() {
    let spec = line("question -> answer, sure: bool");
    let asked = fields(&json!({ "question": "2 + 2?" }));
    // Chat, then JSON, then the error of the first.
    for (replies, kind, calls) in [
        (["nothing", "nothing"], ParseErrorKind::MissingFields, 2),
        (["[[ ## answer ## ]]\n4\n[[ ## sure ## ]]\nperhaps", "{}"], ParseErrorKind::InvalidFields, 2),
    ] {
        let reader = Script::new(replies);
        let program = TwoStep::from_spec(spec.clone(), Script::new(["It is 4."]), reader.clone());
        let error = program.call(&asked).await.unwrap_err();
        assert!(error.to_string().starts_with("Failed to parse response from the original completion: "));
        assert_eq!(error.as_parse().unwrap().kind(), kind);
        assert_eq!(error.reply(), Some(replies[0]));
        assert_eq!(error.completion().unwrap().text(), Some("It is 4."));
        assert!(error.messages()[1].text().starts_with("question: 2 + 2?"));
        assert_eq!(reader.requests().len(), calls);
    }
    let program = TwoStep::from_spec(
        spec.clone(),
        Script::new(["It is 4."]),
        Script::new(["nothing", r#"{"answer": "4", "sure": true}"#]),
    );
    assert_eq!(json(&program.call(&asked).await.unwrap()), json!({ "answer": "4", "sure": true }));
    // The extraction model's own failure is returned as that.
    let refused = || ScriptReply::from(LmError::new(LmErrorKind::Auth, "no key"));
    let program = TwoStep::from_spec(spec.clone(), Script::new(["It is 4."]), Script::new([refused()]));
    assert_eq!(program.call(&asked).await.unwrap_err().as_model().unwrap().kind(), LmErrorKind::Auth);
    let reader = Script::new(["never asked"]);
    let program = TwoStep::from_spec(spec.clone(), Script::new([refused()]), reader.clone());
    assert!(program.call(&asked).await.unwrap_err().as_model().is_some());
    assert!(reader.requests().is_empty());
    // A retry asks the first model again, with the error.
    let main = Script::new(["Hm.", "It is 4."]);
    let reader = Script::new(["nothing", "nothing", "[[ ## answer ## ]]\n4\n[[ ## sure ## ]]\nyes"]);
    let program = TwoStep::from_spec(spec, main.clone(), reader).retries(1);
    assert_eq!(program.call(&asked).await.unwrap().get("answer"), Some(&"4".into()));
    let [_, again] = main.requests().try_into().unwrap();
    assert!(again.messages[2].text().starts_with("Failed to parse response"));
}

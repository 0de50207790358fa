//! spec/imp.md §7.8: the names of participants. Rows 167 to 170.

use imp::{
    Adapter, Chat, Fields, FormatOptions, Message, Predict, Script, Signature, Turn, Value, Xml, name,
};
use imp_tests::plain::{data, fields, line, with_history};
use serde_json::{Value as Json, json};

fn names(messages: &[Message]) -> Vec<Option<&str>> {
    messages.iter().map(|message| message.name.as_deref()).collect()
}

fn adapters() -> [Box<dyn Adapter>; 4] {
    [
        Box::new(Chat::new()),
        Box::new(imp::Json::new()),
        Box::new(Xml::new()),
        Box::new(imp::SingleField::new()),
    ]
}

fn named() -> Json {
    json!({
        "question": "q2",
        "user_name": "alice",
        "history": [{ "question": "q1", "answer": "a1", "user_name": "bob", "assistant_name": "desk" }],
    })
}

#[test]
fn row_167_turns_and_the_request_are_named() {
    let spec = with_history(&line("question -> answer"));
    for adapter in adapters() {
        let messages = adapter.messages(&spec, &fields(&named()), &FormatOptions::new()).unwrap();
        assert_eq!(names(&messages), [None, Some("bob"), Some("desk"), Some("alice")], "{}", adapter.name());
        let texts: String = messages.iter().map(|message| message.text().into_owned()).collect();
        assert!(!["alice", "bob", "desk", "name"].iter().any(|word| texts.contains(word)), "{texts}");
        // But for the names, it is what is sent without them.
        let mut without = named();
        without.as_object_mut().unwrap().remove("user_name");
        for key in ["user_name", "assistant_name"] {
            without["history"][0].as_object_mut().unwrap().remove(key);
        }
        let plain = adapter.messages(&spec, &fields(&without), &FormatOptions::new()).unwrap();
        assert_eq!(names(&plain), [None; 4]);
        assert!(messages.iter().zip(&plain).all(|(a, b)| a.content == b.content));
    }
}

#[test]
fn row_167_by_option_for_a_struct() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    struct Question {
        question: String,
    }
    #[derive(Debug, Signature)]
    struct Answer {
        answer: String,
    }
    let question = Question { question: "q".into() };
    let options = FormatOptions::new().user_name("Zoë K.").assistant_name("desk");
    let messages = Chat::new().format_with(&question, &options).unwrap();
    assert_eq!(names(&messages), [None, Some("Zoë K.")], "as it is given");
    let answer = Answer { answer: "a".into() };
    let training = Chat::new().finetune(&question, &answer, &options).unwrap();
    assert_eq!(names(&training), [None, Some("Zoë K."), Some("desk")]);
    let turn = Turn::of(&question, &answer).unwrap().user_name("alice");
    assert_eq!(turn.get("user_name"), Some(&"alice".into()));
    assert_eq!(name::legal("Zoë K."), "Zo__K_");
}

#[tokio::test]
async fn row_167_in_a_program() {
    let script = Script::new(["no sections", "{\"answer\": \"a\"}"]);
    let predict =
        Predict::from_spec(with_history(&line("question -> answer")), script.clone()).salvage(false);
    predict.call(&fields(&named())).await.unwrap();
    let requests = script.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(names(&request.messages), [None, Some("bob"), Some("desk"), Some("alice")]);
    }
}

#[test]
fn row_168_what_is_no_name() {
    let spec = with_history(&line("question -> answer"));
    for no_name in [json!(""), json!(7), json!(null), json!(["alice"])] {
        let mut inputs = named();
        inputs["user_name"] = no_name.clone();
        inputs["history"][0]["user_name"] = no_name.clone();
        inputs["history"][0]["assistant_name"] = no_name;
        let messages = Chat::new().messages(&spec, &fields(&inputs), &FormatOptions::new()).unwrap();
        assert_eq!(names(&messages), [None; 4]);
    }
    let options = FormatOptions::new().user_name("");
    let messages = Chat::new().messages(&spec, &fields(&json!({ "question": "q" })), &options).unwrap();
    assert_eq!(names(&messages), [None; 2]);
}

#[test]
fn row_169_a_declared_field_stays_a_field() {
    let spec = data(&json!({
        "inputs": [{ "name": "question" }, { "name": "user_name" }, { "name": "history", "type": "history" }],
        "outputs": [{ "name": "answer" }],
    }));
    let messages = Chat::new().messages(&spec, &fields(&named()), &FormatOptions::new()).unwrap();
    // Each key by itself: the turn's `assistant_name` is no field here.
    assert_eq!(names(&messages), [None, None, Some("desk"), None]);
    assert!(messages[1].text().contains("[[ ## user_name ## ]]\nbob"));
    assert!(messages[3].text().contains("[[ ## user_name ## ]]\nalice"));
    // An output of that name is a field too.
    let spec = with_history(&line("question -> answer, assistant_name"));
    let messages = Chat::new().messages(&spec, &fields(&named()), &FormatOptions::new()).unwrap();
    assert_eq!(names(&messages), [None, Some("bob"), None, Some("alice")]);
    assert!(messages[2].text().contains("[[ ## assistant_name ## ]]\ndesk"));
}

#[test]
fn row_170_notes_and_results_are_never_named() {
    let spec = with_history(&line("question -> answer"));
    let image = imp::Part::Image(imp::Image::from_url("https://example.org/a.png"));
    let turn = Turn::from([("question", "q1")])
        .user_name("bob")
        .assistant_name("desk")
        .with("tool_calls", Value::from(json!([{ "id": "c1", "name": "look", "arguments": {} }])))
        .with(
            "tool_call_results",
            vec![Value::Map(imp::Map::from([
                ("call_id", Value::from("c1")),
                ("name", "look".into()),
                ("value", vec![Value::Part(Box::new(image))].into()),
            ]))],
        );
    let inputs = Fields::from([("question", Value::from("q2")), ("history", vec![turn.into()].into())]);
    let options = FormatOptions::new().history_note_renderer::<Fields>(|_| Some("a note".to_owned()));
    let messages = Chat::new().messages(&spec, &inputs, &options).unwrap();
    assert_eq!(names(&messages), [None, Some("bob"), Some("desk"), None, None, None, None]);
    assert_eq!(messages[5].text(), "a note");
}

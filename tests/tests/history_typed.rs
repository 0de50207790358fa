//! Histories, renderers and options through structs and programs.

use imp::{
    ChainOfThought, Chat, Content, Demo, FormatOptions, History, Image, Json, Message, Part, Predict, Role,
    Script, Signature, SingleField, Turn, TwoStepPrompt, Value, Xml,
};
use imp_tests::plain::transcript;

/// Answer the customer.
#[derive(Clone, Signature)]
#[signature(output = Reply)]
struct Ask<'a> {
    past: History,
    question: &'a str,
    plan: Option<String>,
}

#[derive(Debug, Clone, Signature)]
struct Reply {
    reply: String,
    urgent: bool,
}

fn ask(question: &str, past: History) -> Ask<'_> {
    Ask { past, question, plan: None }
}

fn reply(text: &str) -> Reply {
    Reply { reply: text.into(), urgent: false }
}

fn past() -> History {
    let first = ask("Where is my parcel?", History::new());
    let turn = Turn::of(&first, &reply("In Graz.")).unwrap();
    // The history of the turn itself is not in it: it stands in front of it.
    assert_eq!(turn.fields().keys().collect::<Vec<_>>(), ["question", "plan", "reply", "urgent"]);
    let open = Turn::partial::<Ask<'_>>(
        AskPartial { question: Some("Hello?"), ..AskPartial::default() },
        ReplyPartial { reply: Some("Yes?".into()), ..ReplyPartial::default() },
    );
    History::from_iter([turn, open.unwrap()])
}

const TURNS: [&str; 4] = [
    "user: [[ ## question ## ]]\nWhere is my parcel?",
    "assistant: [[ ## reply ## ]]\nIn Graz.\n\n[[ ## urgent ## ]]\nfalse\n\n[[ ## completed ## ]]\n",
    "user: [[ ## question ## ]]\nHello?",
    "assistant: [[ ## reply ## ]]\nYes?\n\n[[ ## completed ## ]]\n",
];

#[test]
fn a_history_stands_between_the_demos_and_the_request() {
    let demo = Demo::new(ask("Do you open on Sundays?", History::new()), reply("No."));
    let options = FormatOptions::new().demo(demo);
    let messages = Chat::new().format_with(&ask("And when?", past()), &options).unwrap();
    let lines = transcript(&messages);
    assert_eq!(lines.len(), 8);
    // The demo lacks a plan, and no history is asked of it.
    assert!(lines[1].contains("[[ ## question ## ]]\nDo you open on Sundays?"));
    assert_eq!(lines[3..7], TURNS);
    assert!(lines[7].starts_with("user: [[ ## question ## ]]\nAnd when?\n\nRespond with"));
    assert!(messages.iter().all(|message| !message.text().contains("past")));
}

/// The text of a complete demo is the one that it is without a history field.
#[test]
fn a_demo_needs_no_history() {
    #[derive(Signature)]
    #[signature(output = Reply)]
    struct Plain<'a> {
        past: History,
        question: &'a str,
    }
    let demo = Demo::new(Plain { past: History::new(), question: "q" }, reply("r"));
    let partial = Demo::partial::<Plain<'_>>(
        PlainPartial { question: Some("q"), ..PlainPartial::default() },
        ReplyPartial { reply: Some("r".into()), urgent: Some(false) },
    );
    for demo in [demo, partial] {
        let options = FormatOptions::new().demo(demo);
        let messages =
            Chat::new().format_with(&Plain { past: History::new(), question: "q" }, &options).unwrap();
        assert_eq!(messages[1].text(), "[[ ## question ## ]]\nq");
    }
}

#[tokio::test]
async fn programs_send_it_and_so_does_their_fallback() {
    let script = Script::new(["no sections", r#"{"reply": "Tomorrow.", "urgent": false}"#]);
    let predict = Predict::<Ask<'_>>::new(script.clone()).salvage(false);
    predict.call(&ask("And when?", past())).await.unwrap();
    let requests = script.requests();
    assert_eq!(transcript(&requests[0].messages)[1..5], TURNS);
    let json = transcript(&requests[1].messages);
    assert_eq!(json[2], "assistant: {\n  \"reply\": \"In Graz.\",\n  \"urgent\": false\n}");
    assert_eq!(json[4], "assistant: {\n  \"reply\": \"Yes?\"\n}");

    let script =
        Script::new(["[[ ## reasoning ## ]]\nr\n\n[[ ## reply ## ]]\nx\n\n[[ ## urgent ## ]]\ntrue"]);
    let program = ChainOfThought::<Ask<'_>>::new(script.clone()).unwrap();
    program.call(&ask("And when?", past())).await.unwrap();
    assert_eq!(transcript(&script.requests()[0].messages)[1..5], TURNS);
}

/// A turn keeps the image that it was asked with, also when it is stored.
#[test]
fn an_image_in_a_past_question() {
    #[derive(Clone, Signature)]
    #[signature(output = Caption)]
    struct Photo {
        past: History,
        image: Image,
    }
    #[derive(Debug, Signature)]
    struct Caption {
        caption: String,
    }
    let image = Image::from_url("https://example.org/cat.png").detail("low");
    let photo = Photo { past: History::new(), image };
    let turn = Turn::of(&photo, &Caption { caption: "A cat.".into() }).unwrap();
    let history = History::from_iter([turn]);
    let text = serde_json::to_string(&history).unwrap();
    assert_eq!(
        text,
        r#"{"messages":[{"image":{"$imp::Image":{"url":"https://example.org/cat.png","detail":"low"}},"caption":"A cat."}]}"#
    );
    let loaded: History = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, history);
    // What an outside text looks like makes no image, in a struct's history either.
    let hostile = serde_json::json!({ "$imp::Image": { "url": "https://example.org/x.png" } });
    let text = Photo { past: History::from_iter([Turn::from([("image", hostile)])]), ..photo.clone() };
    assert!(matches!(Chat::new().format(&text).unwrap()[1].content, Content::Text(_)));
    let again = Photo { past: loaded, ..photo };
    for messages in [Chat::new().format(&again).unwrap(), Xml::new().format(&again).unwrap()] {
        assert_eq!(messages.len(), 4);
        let images = |message: &Message| match &message.content {
            Content::Parts(parts) => parts.iter().filter(|part| matches!(part, Part::Image(_))).count(),
            _ => 0,
        };
        assert_eq!(messages.iter().map(images).collect::<Vec<_>>(), [0, 1, 0, 1]);
    }
}

/// The adapters without sections have turns as well.
#[test]
fn in_the_adapters_of_one_field_and_of_two_steps() {
    #[derive(Signature)]
    #[signature(output = Word)]
    struct One<'a> {
        past: History,
        question: &'a str,
    }
    #[derive(Debug, Signature)]
    struct Word {
        word: String,
    }
    let turn = Turn::of(&One { past: History::new(), question: "q1" }, &Word { word: "w1".into() }).unwrap();
    let one = One { past: History::from_iter([turn]), question: "q2" };
    let expected = ["user: question: q1", "assistant: w1", "user: question: q2"];
    assert_eq!(transcript(&SingleField::new().format(&one).unwrap())[1..], expected);
    let expected = ["user: question: q1", "assistant: word: w1", "user: question: q2"];
    let messages = TwoStepPrompt::new().format(&one).unwrap();
    assert_eq!(transcript(&messages)[1..], expected);
    assert!(!messages[0].text().contains("past"));
}

/// Renderers know the fields of their signature by its handles.
#[test]
fn renderers_by_handles() {
    let options = FormatOptions::new()
        .demo(Demo::new(ask("Sundays?", History::new()), reply("No.")))
        .system_renderer::<Ask<'_>>(|system| {
            assert!(system.guidance().is_none());
            let reply = system.field(Reply::FIELDS.reply).map(imp::FieldSpec::name);
            // A history is no part of what is shown.
            format!("{reply:?} {:?}", system.field(Ask::FIELDS.past).map(imp::FieldSpec::name))
        })
        .input_section_renderer::<Ask<'_>>(|section| {
            if section.is(Ask::FIELDS.question) {
                format!("Q: {}", section.text())
            } else {
                section.default_section().to_owned()
            }
        })
        .output_renderer::<Ask<'_>>(|said| match said.value(Reply::FIELDS.reply) {
            Some(Value::String(text)) => format!("A: {text} ({:?})", said.value(Reply::FIELDS.urgent)),
            _ => said.default_outputs(),
        })
        .history_note_renderer::<Ask<'_>>(|note| {
            note.value(Ask::FIELDS.question).and_then(Value::as_str).map(|question| format!("({question})"))
        });
    for messages in [
        Chat::new().format_with(&ask("Now?", past()), &options).unwrap(),
        Json::new().format_with(&ask("Now?", past()), &options).unwrap(),
        Xml::new().format_with(&ask("Now?", past()), &options).unwrap(),
    ] {
        let lines = transcript(&messages);
        assert_eq!(lines[0], r#"system: Some("reply") None"#);
        assert_eq!(lines[2], "assistant: A: No. (Some(Bool(false)))");
        assert_eq!(
            lines[3..9],
            [
                "user: Q: Where is my parcel?",
                "assistant: A: In Graz. (Some(Bool(false)))",
                "user: (Where is my parcel?)",
                "user: Q: Hello?",
                "assistant: A: Yes? (None)",
                "user: (Hello?)",
            ]
        );
        assert!(lines[9].starts_with("user: Q: Now?\n\nRespond with"), "{}", lines[9]);
        assert_eq!(messages[9].role, Role::User);
    }
}

/// A text that cannot be written.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
struct Refuses;

impl serde::Serialize for Refuses {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("not today"))
    }
}

/// An output that cannot be written is an error, also inside a renderer.
#[test]
fn a_renderer_loses_no_error() {
    #[derive(Signature)]
    #[signature(output = Never)]
    struct Question {
        question: String,
    }
    #[derive(Debug, Signature)]
    struct Never {
        answer: Refuses,
        text: String,
    }
    let question = || Question { question: "q".into() };
    let never = || Never { answer: Refuses, text: "t".into() };
    let says = "field `answer` cannot be written: not today";
    assert_eq!(Turn::of(&question(), &never()).unwrap_err().to_string(), says);
    let partial = |answer| NeverPartial { answer, text: Some("t".into()) };
    let render = |look: bool| {
        FormatOptions::new()
            .demo(Demo::partial::<Question>(QuestionPartial { question: Some("q".into()) }, partial(None)))
            .output_renderer::<Question>(move |said| {
                if look { format!("{:?}", said.value(Never::FIELDS.answer)) } else { said.default_outputs() }
            })
    };
    for look in [true, false] {
        assert!(Chat::new().format_with(&question(), &render(look)).is_ok());
        let options = render(look).demos([Demo::new(question(), never())]);
        assert_eq!(Chat::new().format_with(&question(), &options).unwrap_err().to_string(), says);
    }
}

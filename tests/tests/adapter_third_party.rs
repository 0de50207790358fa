//! An adapter that is written elsewhere: it says how a reply is cut, changes what it wants to change, and shares the
//! rest of the assembly.

use imp::{
    Adapter, Chat, Demo, FieldSpec, Fields, FormatError, FormatOptions, Missing, ParseError, ParseErrorKind,
    Predict, Presence, Record, Script, Section, SignatureSpec, Text,
};
use imp_tests::plain::line;

/// Replies are lines `name: value`; all else is the Chat adapter's.
#[derive(Debug)]
struct Lines;

impl Adapter for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn output_requirements(&self, spec: &SignatureSpec) -> Text {
        let names: Vec<String> = spec.outputs().map(|field| format!("`{}: …`", field.name())).collect();
        format!("Respond with the lines {}.", names.join(", ")).into()
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        cut(self.name(), spec, reply)
    }
}

/// The same with another frame around every value, in what is sent too.
#[derive(Debug)]
struct Framed;

impl Adapter for Framed {
    fn name(&self) -> &'static str {
        "framed"
    }

    fn section(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        let start = out.len();
        out.push_str(field.name());
        out.push_str(": ");
        let presence = self.value(field, record, index, out)?;
        if presence == Presence::Absent {
            out.truncate(start);
        }
        Ok(presence)
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        cut(self.name(), spec, reply)
    }
}

fn cut<'r>(
    adapter: &'static str,
    spec: &SignatureSpec,
    reply: &'r str,
) -> Result<Vec<Section<'r>>, ParseError> {
    if !reply.contains(':') {
        return Err(ParseError::new(ParseErrorKind::Malformed, adapter, reply, "no line has a colon"));
    }
    let section = |field: &FieldSpec| {
        let head = format!("{}: ", field.name());
        let mut start = 0;
        for line in reply.split_inclusive('\n') {
            if let Some(value) = line.strip_prefix(&head) {
                return Section::text(value.trim_end(), start + head.len());
            }
            start += line.len();
        }
        Section::default()
    };
    Ok(spec.outputs().map(section).collect())
}

fn inputs() -> Fields {
    Fields::from([("question", "What is the capital of France?")])
}

fn demo() -> Demo {
    Demo::from_fields(Fields::from([
        ("question", "2 + 2?".into()),
        ("answer", "4".into()),
        ("score", 1.0.into()),
    ] as [(&str, imp::Value); 3]))
}

#[test]
fn it_shares_the_assembly() {
    let spec = line("question -> answer, score: float");
    let options = FormatOptions::new().demo(demo());
    let ours = Lines.messages(&spec, &inputs(), &options).unwrap();
    let chat = Chat::new().messages(&spec, &inputs(), &options).unwrap();
    assert_eq!(ours[..3], chat[..3]);
    assert_eq!(
        ours[3].text(),
        "[[ ## question ## ]]\nWhat is the capital of France?\n\nRespond with the lines `answer: …`, `score: …`."
    );

    let framed = Framed.messages(&spec, &inputs(), &options).unwrap();
    assert_eq!(framed[0], chat[0]);
    assert_eq!(framed[1].text(), "question: 2 + 2?");
    assert_eq!(framed[2].text(), "answer: 4\n\nscore: 1.0\n\n[[ ## completed ## ]]\n");
    assert!(
        framed[3]
            .text()
            .starts_with("question: What is the capital of France?\n\nRespond with the corresponding")
    );
}

#[tokio::test]
async fn it_runs_in_a_program() {
    let script = Script::new(["answer: Paris\nscore: 0.9", "answer: Paris\nscore: high", "no idea"]);
    let predict = Predict::from_spec(line("question -> answer, score: float"), script.clone()).adapter(Lines);

    let answer = predict.call(&inputs()).await.unwrap();
    assert_eq!(answer.adapter(), "lines");
    assert_eq!(answer.get("answer"), Some(&"Paris".into()));
    assert_eq!(answer.get("score"), Some(&0.9.into()));
    assert!(script.requests()[0].messages[1].text().ends_with("`score: …`."));

    let error = predict.call(&inputs()).await.unwrap_err();
    let parse = error.as_parse().unwrap();
    assert_eq!(parse.adapter(), "lines");
    assert_eq!(error.fields(), Some(&Fields::from([("answer", "Paris")])));
    assert_eq!(&parse.reply()[parse.failures()[0].span.clone()], "high");

    let error = predict.call(&inputs()).await.unwrap_err();
    assert_eq!(error.as_parse().map(ParseError::kind), Some(ParseErrorKind::Malformed));
    assert_eq!(script.requests().len(), 3, "an adapter has no fallback unless it names one");
}

/// An adapter is a trait object, and its parts can be called one by one.
#[test]
fn it_is_an_object() {
    let adapter: Box<dyn Adapter> = Box::new(Framed);
    let spec = line("question -> answer");
    let outputs = Fields::from([("answer", "x")]);
    let content = adapter.assistant_content(&spec, &outputs, Missing::LeaveOut).unwrap();
    assert_eq!(content, "answer: x\n\n[[ ## completed ## ]]\n");
    let parts =
        [adapter.field_description(&spec), adapter.field_structure(&spec), adapter.task_description(&spec)];
    assert_eq!(adapter.system(&spec).as_str(), parts.join("\n"));
}

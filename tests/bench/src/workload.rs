//! The workloads: values, replies and the pieces of work that are measured.
#![expect(clippy::missing_panics_doc, reason = "a workload that is wrong is a bug of this crate")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use imp::lm::BoxFuture;
use imp::{
    Adapter, Chat, Completion, Demo, Dialect, Fields, FormatOptions, History, Json, LanguageModel, LmError,
    Message, OutputSignature, Predict, Request, Signature, SignatureSpec, Turn, Value, Xml,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, PrettyFormatter};
use serde_json::{Value as Data, json};

use crate::hostile;
use crate::types::{
    Analysis, Article, CitedAnswer, Claim, Documents, LongQuestion, Passages, Question, Review, ShortAnswer,
    Size,
};

/// A piece of work, and the name under which its cost is printed.
pub struct Op {
    /// Whose work it is: ours, or that of what we are compared with.
    pub who: &'static str,
    /// The name of the values and replies.
    pub workload: String,
    /// The name of what is done.
    pub op: String,
    /// Through derived structs, not through a described signature.
    pub typed: bool,
    /// The bytes of the messages that are made, or of the reply that is read.
    pub bytes: usize,
    /// Does it once.
    pub run: Box<dyn Fn() + Send + Sync>,
}

/// Values of a signature, and replies to them.
#[derive(Debug)]
pub struct Workload<I: Signature> {
    /// The name under which it is printed.
    pub name: &'static str,
    /// What the request is made of.
    pub inputs: I,
    /// Inputs and outputs of each demo.
    pub demos: Vec<(I, I::Output)>,
    /// The signature as data, of which the untyped half is made.
    pub described: Data,
    /// What the replies say.
    pub output: Option<I::Output>,
    /// The reply in sections.
    pub chat: String,
    /// The reply as a JSON object.
    pub json: String,
}

/// What is asked of the values of a workload.
pub trait Inputs: Signature<Output: Answer> + Clone + Serialize + Send + Sync + 'static {}
impl<I: Signature<Output: Answer> + Clone + Serialize + Send + Sync + 'static> Inputs for I {}

/// What is asked of its outputs.
pub trait Answer:
    OutputSignature + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}
impl<O: OutputSignature + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> Answer
    for O
{
}

/// JSON with the spacing of Python's `json.dumps`.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W) -> std::io::Result<()> {
        out.write_all(b": ")
    }
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    value.serialize(&mut serializer).expect("a workload can be written");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// A reply in sections: texts bare, a yes or no as Python writes it, the rest as JSON.
fn in_sections(output: &impl Serialize) -> String {
    let data = serde_json::to_value(output).expect("a workload can be written");
    let mut out = String::new();
    for (name, value) in data.as_object().into_iter().flatten() {
        let value = match value {
            Data::String(text) => text.clone(),
            Data::Bool(yes) => if *yes { "True" } else { "False" }.to_owned(),
            value => written(value, Spaced),
        };
        let _ = write!(out, "[[ ## {name} ## ]]\n{value}\n\n");
    }
    out.push_str("[[ ## completed ## ]]\n");
    out
}

fn fields(value: &impl Serialize) -> Fields {
    let data = serde_json::to_value(value).expect("a workload can be written");
    data.as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), Value::from(value.clone())))
        .collect()
}

fn described(name: &str) -> Data {
    let all: Data = serde_json::from_str(include_str!("signatures.json")).expect("the signatures are JSON");
    all[name].clone()
}

impl<I: Inputs> Workload<I> {
    fn new(name: &'static str, signature: &str, inputs: I, output: I::Output, compact: bool) -> Self {
        let json = if compact { written(&output, Spaced) } else { written(&output, PrettyFormatter::new()) };
        Workload {
            name,
            inputs,
            demos: Vec::new(),
            described: described(signature),
            chat: in_sections(&output),
            json,
            output: Some(output),
        }
    }

    /// The same with a comma behind the last item of a nested list.
    fn sloppy(mut self, name: &'static str) -> Self {
        let ending = "}]}], \"word_count\"";
        for reply in [&mut self.chat, &mut self.json] {
            let at = reply.find(ending).expect("the reply has a list at the end of an object");
            reply.insert(at + 1, ',');
        }
        self.name = name;
        self
    }

    /// The described signature of the same fields.
    pub fn spec(&self) -> SignatureSpec {
        SignatureSpec::from_json(&self.described).expect("the signature is right")
    }

    /// The messages, typed.
    pub fn messages(&self, dialect: Dialect) -> Vec<Message> {
        Chat::new().dialect(dialect).format_with(&self.inputs, &self.options()).expect("it can be formatted")
    }

    /// The messages, by the described signature.
    pub fn messages_untyped(&self, dialect: Dialect) -> Vec<Message> {
        Chat::new()
            .dialect(dialect)
            .messages(&self.spec(), &fields(&self.inputs), &self.options_untyped())
            .expect("it can be formatted")
    }

    fn options(&self) -> FormatOptions {
        let demos = self.demos.iter().cloned();
        FormatOptions::new().demos(demos.map(|(inputs, outputs)| Demo::new(inputs, outputs)))
    }

    fn options_untyped(&self) -> FormatOptions {
        let demos = self.demos.iter().map(|(inputs, outputs)| {
            let all = fields(inputs).into_map().into_iter().chain(fields(outputs).into_map());
            Demo::from_fields(all.collect::<Fields>())
        });
        FormatOptions::new().demos(demos)
    }

    /// The workload as data, for programs in other languages.
    pub fn data(&self) -> Data {
        let demo = |(inputs, outputs): &(I, I::Output)| json!({ "inputs": inputs, "outputs": outputs });
        json!({
            "name": self.name,
            "signature": self.described,
            "inputs": self.inputs,
            "demos": self.demos.iter().map(demo).collect::<Vec<_>>(),
            "chat_completion": self.chat,
            "json_completion": self.json,
        })
    }

    /// Formatting, typed and not, in both dialects.
    fn format_ops(&self, ops: &mut Vec<Op>) {
        for (prefix, dialect) in DIALECTS {
            let op = format!("{prefix}chat_format");
            let chat = Chat::new().dialect(dialect);
            let bytes = self.messages(dialect).iter().map(|message| message.text().len()).sum();
            let (inputs, options, adapter) = (self.inputs.clone(), self.options(), chat.clone());
            ops.push(Op::new(self.name, op.clone(), true, bytes, move || {
                black_box(adapter.format_with(black_box(&inputs), &options).expect("it can be formatted"));
            }));
            let (spec, inputs, options) = (self.spec(), fields(&self.inputs), self.options_untyped());
            ops.push(Op::new(self.name, op, false, bytes, move || {
                black_box(chat.messages(&spec, black_box(&inputs), &options).expect("it can be formatted"));
            }));
        }
    }

    /// Reading, typed and not, in both dialects.
    fn parse_ops(&self, ops: &mut Vec<Op>) {
        for (prefix, dialect) in DIALECTS {
            let (chat, json, xml) =
                (Chat::new().dialect(dialect), Json::new().dialect(dialect), Xml::new().dialect(dialect));
            // A reply in XML is what the adapter itself would write.
            let in_xml = self.output.as_ref().map(|output| {
                let options = FormatOptions::new();
                let messages = xml.finetune(&self.inputs, output, &options).expect("it can be formatted");
                messages.last().map(|message| message.text().into_owned()).unwrap_or_default()
            });
            self.parse_op(ops, format!("{prefix}chat_parse"), chat, &self.chat);
            self.parse_op(ops, format!("{prefix}json_parse"), json, &self.json);
            if let Some(reply) = in_xml {
                self.parse_op(ops, format!("{prefix}xml_parse"), xml, &reply);
            }
        }
    }

    fn parse_op(&self, ops: &mut Vec<Op>, op: String, adapter: impl Adapter + Clone + 'static, reply: &str) {
        let (text, of) = (reply.to_owned(), adapter.clone());
        let spec = I::Output::output_spec().expect("the signature is right");
        ops.push(Op::new(self.name, op.clone(), true, reply.len(), move || {
            let read: Result<I::Output, _> = imp::read_reply(&of, spec, black_box(&*text).into());
            black_box(right(read));
        }));
        let (text, spec) = (reply.to_owned(), self.spec());
        ops.push(Op::new(self.name, op, false, reply.len(), move || {
            let read: Result<Fields, _> = imp::read_reply(&adapter, &spec, black_box(&*text).into());
            black_box(right(read));
        }));
    }

    /// Plain `serde_json` on the same JSON into the same type.
    fn serde_op(&self, ops: &mut Vec<Op>) {
        let text = self.json.clone();
        ops.push(Op {
            who: "serde_json",
            ..Op::new(self.name, "json_parse".to_owned(), true, text.len(), move || {
                black_box(serde_json::from_str::<I::Output>(black_box(&text)).expect("the reply is JSON"));
            })
        });
    }

    /// Typed and in the plain dialect only: the peers have neither another dialect nor data.
    fn typed_ops(&self, ops: &mut Vec<Op>) {
        let bytes = self.messages(Dialect::Plain).iter().map(|message| message.text().len()).sum();
        let (inputs, options) = (self.inputs.clone(), self.options());
        ops.push(Op::new(self.name, "plain_chat_format".to_owned(), true, bytes, move || {
            let messages = Chat::new().format_with(black_box(&inputs), &options);
            black_box(messages.expect("it can be formatted"));
        }));
        let reply = self.chat.clone();
        ops.push(Op::new(self.name, "plain_chat_parse".to_owned(), true, reply.len(), move || {
            black_box(right(Chat::new().parse::<I::Output>(black_box(reply.as_str()))));
        }));
    }

    /// What a program adds: demos that are rendered once, and the whole call of a model that answers at once.
    fn program_ops(&self, ops: &mut Vec<Op>) {
        let mut program = Predict::<I>::new(Fixed(self.chat.as_str().into()));
        for (inputs, outputs) in &self.demos {
            program = program.demo(inputs.clone(), outputs.clone());
        }
        let bytes = self.messages(Dialect::Plain).iter().map(|message| message.text().len()).sum();
        let (inputs, of) = (self.inputs.clone(), program.clone());
        ops.push(Op::new(self.name, "plain_chat_format_rendered".to_owned(), true, bytes, move || {
            black_box(of.messages(black_box(&inputs)).expect("it can be formatted"));
        }));
        let inputs = self.inputs.clone();
        ops.push(Op::new(self.name, "plain_call".to_owned(), true, bytes + self.chat.len(), move || {
            black_box(right(now(program.call(black_box(&inputs)).into_future())));
        }));
    }
}

impl Op {
    fn new(
        workload: &str,
        op: String,
        typed: bool,
        bytes: usize,
        run: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Op { who: "imp", workload: workload.to_owned(), op, typed, bytes, run: Box::new(run) }
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Op").field("workload", &self.workload).field("op", &self.op).finish_non_exhaustive()
    }
}

/// DSPy's dialect has the bare names, as it is the one that can be compared.
const DIALECTS: [(&str, Dialect); 2] = [("", Dialect::Dspy), ("plain_", Dialect::Plain)];

/// A model that gives the same answer at once, and keeps nothing.
struct Fixed(Arc<str>);

impl LanguageModel for Fixed {
    fn complete<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(async { Ok(Completion::from(&*self.0)) })
    }

    fn model(&self) -> &'static str {
        "fixed"
    }
}

/// What was read. An error has the whole reply, which nobody wants to see.
fn right<T, E>(read: Result<T, E>) -> T {
    let Ok(read) = read else { panic!("a reply that is right was not read") };
    read
}

/// The result of a future that never waits.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("the model answers at once"),
    }
}

const LARGE: Size = Size { sections: 15, findings: 6, body: 432, evidence: 216 };
const MEGABYTE: Size = Size { sections: 190, findings: 8, body: 444, evidence: 222 };
const LINES: usize = 5369;

/// One in, one out.
pub fn small() -> Workload<Question> {
    let question = Question { question: "What is the capital of Austria?".to_owned() };
    Workload::new("small", "small", question, ShortAnswer { answer: "Vienna".to_owned() }, false)
}

/// Three in, four out, three demos.
pub fn medium() -> Workload<Passages> {
    let output = CitedAnswer::new(7, 11, 0.95, Claim::Opinion);
    let mut medium = Workload::new("medium", "medium", Passages::new(9), output, false);
    let demos = [(0.25, Claim::Fact), (0.35, Claim::Opinion), (0.45, Claim::Unknown)];
    medium.demos = (0..)
        .zip(demos)
        .map(|(at, (confidence, kind))| {
            let last = 4 + i64::try_from(at).unwrap_or_default();
            (Passages::new(at), CitedAnswer::new(at, last, confidence, kind))
        })
        .collect();
    medium
}

/// Nested structs, ten demos, a conversation of twenty turns, a reply of 64 KB.
pub fn large() -> Workload<Documents> {
    let mut large = megabytes("large", LARGE);
    let turn = Size { sections: 1, findings: 1, body: 120, evidence: 60 };
    let turns = (0..20).map(|at| {
        let inputs = fields(&Documents::new(at, History::new())).into_map();
        let said = inputs.into_iter().filter(|(name, _)| name != "history");
        Turn::from(said.chain(fields(&Review::new(at, turn)).into_map()).collect::<Fields>())
    });
    let history = turns.fold(History::new(), History::with);
    let demo = Size { sections: 1, findings: 2, body: 160, evidence: 80 };
    large.inputs = Documents::new(99, history);
    large.demos = (0..10).map(|at| (Documents::new(at, History::new()), Review::new(at, demo))).collect();
    large
}

/// The signature of [`large`] with another reply.
fn megabytes(name: &'static str, size: Size) -> Workload<Documents> {
    Workload::new(name, "large", Documents::new(99, History::new()), Review::new(3, size), true)
}

/// One text of a megabyte.
pub fn xl_text() -> Workload<LongQuestion> {
    text_of("xl_text_1mb", LINES)
}

fn text_of(name: &'static str, lines: usize) -> Workload<LongQuestion> {
    let question = LongQuestion { question: "Tell me everything.".to_owned() };
    Workload::new(name, "text", question, ShortAnswer::long(lines), false)
}

/// Nested structs of a megabyte.
pub fn xl_typed() -> Workload<Documents> {
    megabytes("xl_typed_1mb", MEGABYTE)
}

/// What the two peers in Rust were measured on: three in, four out, three demos.
pub fn article() -> Workload<Article> {
    #[derive(Deserialize)]
    struct Example {
        #[serde(flatten)]
        inputs: Article,
        #[serde(flatten)]
        outputs: Analysis,
    }
    let data: Data =
        serde_json::from_str(include_str!("../../data/medium.json")).expect("the workload is JSON");
    let inputs: Article = serde_json::from_value(data["inputs"].clone()).expect("the inputs are right");
    let demos: Vec<Example> = serde_json::from_value(data["demos"].clone()).expect("the demos are right");
    Workload {
        name: "article",
        inputs,
        demos: demos.into_iter().map(|demo| (demo.inputs, demo.outputs)).collect(),
        described: Data::Null,
        output: None,
        chat: data["reply"].as_str().expect("it has a reply").to_owned(),
        json: String::new(),
    }
}

/// One in, one out, as the peers had it.
pub fn capital() -> Workload<Question> {
    let question = Question { question: "What is the capital of France?".to_owned() };
    Workload::new("capital", "small", question, ShortAnswer { answer: "Paris".to_owned() }, false)
}

/// The workloads as data: those that DSPy is measured on.
pub fn data() -> Data {
    json!([
        small().data(),
        medium().data(),
        large().data(),
        megabytes("large_sloppy", LARGE).sloppy("large_sloppy").data(),
        xl_text().data(),
        xl_typed().data(),
        xl_typed().sloppy("xl_sloppy_1mb").data(),
    ])
}

/// All that is measured.
pub fn ops() -> Vec<Op> {
    let mut ops = Vec::new();
    let (small, medium, large) = (small(), medium(), large());
    small.format_ops(&mut ops);
    small.parse_ops(&mut ops);
    medium.format_ops(&mut ops);
    medium.parse_ops(&mut ops);
    large.format_ops(&mut ops);
    large.parse_ops(&mut ops);
    large.serde_op(&mut ops);
    without_xml(megabytes("large_sloppy", LARGE).sloppy("large_sloppy")).parse_ops(&mut ops);
    xl_text().parse_ops(&mut ops);
    // In XML a reply may have 10,000 elements.
    let xl = without_xml(xl_typed());
    xl.parse_ops(&mut ops);
    xl.serde_op(&mut ops);
    without_xml(xl.sloppy("xl_sloppy_1mb")).parse_ops(&mut ops);
    let capital = capital();
    capital.typed_ops(&mut ops);
    capital.program_ops(&mut ops);
    let article = article();
    article.typed_ops(&mut ops);
    article.program_ops(&mut ops);
    growth_ops(&mut ops);
    hostile_ops(&mut ops);
    ops
}

/// The workload without the reply in XML, which has no commas that could be too many.
fn without_xml<I: Inputs>(mut workload: Workload<I>) -> Workload<I> {
    workload.output = None;
    workload
}

/// Replies of 1, 4 and 16 MB, whose cost should grow as they do.
fn growth_ops(ops: &mut Vec<Op>) {
    for (text, nested, times) in
        [("text_1mb", "nested_1mb", 1), ("text_4mb", "nested_4mb", 4), ("text_16mb", "nested_16mb", 16)]
    {
        let of = text_of(text, times * LINES);
        of.parse_op(ops, "plain_chat_parse".to_owned(), Chat::new(), &of.chat);
        let of = megabytes(nested, Size { sections: times * MEGABYTE.sections, ..MEGABYTE });
        of.parse_op(ops, "plain_chat_parse".to_owned(), Chat::new(), &of.chat);
    }
}

/// Replies that are made to be slow: read strictly and as programs read, into a text and into a struct.
fn hostile_ops(ops: &mut Vec<Op>) {
    for (size, bytes) in [("1mb", 1 << 20), ("4mb", 4 << 20)] {
        for (name, reply) in hostile::replies(bytes) {
            let workload = format!("{name}_{size}");
            let text = Arc::new(reply);
            let reply = text.clone();
            ops.push(Op::new(&workload, "plain_chat_parse".to_owned(), true, reply.len(), move || {
                let _ = black_box(Chat::new().parse::<ShortAnswer>(black_box(reply.as_str())));
            }));
            let reply = text.clone();
            ops.push(Op::new(&workload, "plain_chat_read".to_owned(), true, reply.len(), move || {
                let _ = black_box(Chat::new().read::<Analysis>(black_box(reply.as_str())));
            }));
            let reply = text.clone();
            ops.push(Op::new(&workload, "plain_json_read".to_owned(), true, reply.len(), move || {
                let _ = black_box(Json::new().read::<Analysis>(black_box(reply.as_str())));
            }));
            ops.push(Op::new(&workload, "plain_xml_read".to_owned(), true, text.len(), move || {
                let _ = black_box(Xml::new().read::<Analysis>(black_box(text.as_str())));
            }));
        }
    }
}

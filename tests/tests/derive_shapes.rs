//! The shapes of structs that the derive takes, and what it writes about them.

#![allow(dead_code, reason = "many structs are only described")]

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;

use imp::__private::{Bound, FieldMeta, RecordMeta};
use imp::{AnswerShape, Constraint, Describe, Dialect, Inputs, Outputs, PartOf, Signature, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const fn meta<S: Describe>() -> RecordMeta {
    S::META
}

fn names<S: Describe>() -> Vec<&'static str> {
    meta::<S>().fields.iter().map(|field| field.name).collect()
}

fn field<S: Describe>(name: &str) -> FieldMeta {
    *meta::<S>().fields.iter().find(|field| field.name == name).expect(name)
}

/// The default as JSON; `None` if there is none.
fn default<S: Describe>(name: &str) -> Option<serde_json::Value> {
    let value: Value = field::<S>(name).default?().expect("a default that can be written");
    Some(serde_json::to_value(value).expect("plain data"))
}

fn bounds<S: Describe>(name: &str) -> Vec<String> {
    field::<S>(name)
        .constraints
        .iter()
        .map(|(constraint, bound)| format!("{constraint:?} {bound:?}"))
        .collect()
}

#[derive(Debug, PartialEq, Signature)]
struct Answer {
    answer: String,
}

#[derive(Signature)]
#[signature(output = Answer)]
struct Borrowed<'a, 'b: 'a> {
    question: &'a str,
    context: &'b str,
    parts: &'a [&'b str],
    note: Cow<'a, str>,
    #[field(default = "none")]
    hint: &'b str,
    seen: &'a HashMap<String, u8>,
}

#[test]
fn borrowed_inputs() {
    let (question, seen) = ("why?".to_owned(), HashMap::new());
    let partial = BorrowedPartial {
        question: Some(&question),
        context: Some("static"),
        parts: Some(&["a"]),
        note: Some(Cow::Borrowed(&question)),
        seen: Some(&seen),
        ..Default::default()
    };
    let whole = partial.complete().expect("all but the default");
    assert_eq!((whole.question, whole.hint), ("why?", "none"));
    assert_eq!(Borrowed::FIELDS.parts.name(), "parts");
    assert_eq!(default::<Borrowed<'_, '_>>("hint"), Some(json!("none")));
}

#[derive(Signature)]
#[signature(output = Reply<Vec<T>>)]
struct Generic<'a, T: Serialize + JsonSchema + 'a, U = u8, const N: usize = 2>
where
    U: Clone + Serialize + JsonSchema,
    Vec<T>: OwnedJson,
{
    about: &'a T,
    other: &'a [T],
    more: Vec<U>,
    #[field(default = N)]
    count: usize,
    #[field(default)]
    hints: Vec<T>,
}

trait OwnedJson: Serialize + for<'de> Deserialize<'de> + JsonSchema {}
impl<T: Serialize + for<'de> Deserialize<'de> + JsonSchema> OwnedJson for T {}

#[derive(Debug, Signature)]
struct Reply<T> {
    /// What it is about.
    about: T,
    list: Vec<T>,
    maybe: Option<T>,
    #[field(default)]
    sure: bool,
}

#[test]
fn generic_structs() {
    let about = "x".to_owned();
    let partial =
        GenericPartial { about: Some(&about), other: Some(&[]), more: Some(vec![1]), ..Default::default() };
    let whole: Generic<'_, String, u8, 3> = partial.complete().expect("the rest has defaults");
    assert_eq!((whole.about.as_str(), whole.count), ("x", 3));
    assert_eq!(names::<Generic<'_, String>>(), ["about", "other", "more", "count", "hints"]);
    assert_eq!(Generic::<'_, u8>::FIELDS.more.index(), 2);
    assert_eq!(default::<Generic<'_, u8, u8, 7>>("count"), Some(json!(7)));
}

#[derive(Signature)]
#[signature(output = Reply<T>)]
struct Clash<T: OwnedJson> {
    list: T,
}

#[test]
fn a_name_on_both_sides_of_generic_structs() {
    let error = <Clash<u8> as Signature>::spec().expect_err("`list` is on both sides");
    assert_eq!(error.field(), Some("list"));
}

fn is_output<S: PartOf<I>, I>() -> bool {
    S::IS_OUTPUT
}

#[test]
fn sides() {
    assert!(!is_output::<Generic<'_, u8>, Generic<'_, u8>>());
    assert!(is_output::<Reply<Vec<u8>>, Generic<'_, u8>>());
    assert!(is_output::<Answer, Borrowed<'_, '_>>());
    assert!(is_output::<Answer, Empty>());
}

fn partial_of<I: Inputs>() -> &'static str
where
    I::Output: Outputs,
{
    std::any::type_name::<<I::Output as Outputs>::Partial>()
}

#[test]
fn companions_are_reached_by_the_traits() {
    assert!(partial_of::<Empty>().ends_with("AnswerPartial"));
    assert!(partial_of::<Named>().ends_with("Draft"));
}

#[derive(Signature)]
#[signature(output = Answer)]
struct Empty {}

#[derive(Signature)]
#[signature(output = Renamed, fields = Handles, partial = NamedDraft)]
struct Named {
    question: String,
}

#[derive(Debug, Signature)]
#[signature(partial = Draft)]
struct Renamed {
    reply: String,
}

#[test]
fn names_of_the_generated_structs() {
    let handles: Handles = Named::FIELDS;
    assert_eq!(handles.question.name(), "question");
    assert_eq!(
        NamedDraft { question: None }.complete().err().map(|e| e.names().to_vec()),
        Some(vec!["question"])
    );
    assert_eq!(format!("{:?}", Draft { reply: Some("x".into()) }), "Draft { reply: Some(\"x\") }");
    assert!(names::<Empty>().is_empty());
    assert!(EmptyPartial {}.complete().is_ok());
}

#[derive(Signature)]
struct Many {
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: i8,
    f: i16,
    g: i32,
    h: i64,
    i: f32,
    j: f64,
    k: bool,
    l: char,
    m: String,
    n: Option<String>,
    o: Vec<u8>,
    p: (u8, String),
    q: [u8; 3],
}

#[test]
fn many_fields() {
    assert_eq!(names::<Many>().concat(), "abcdefghijklmnopq");
    let missing =
        ManyPartial { c: Some(3), ..Default::default() }.complete().err().expect("most are missing");
    assert_eq!(missing.names().concat(), "abdefghijklmopq");
}

/// First line.
///
///   Indented.
#[doc = concat!("By ", "concat.")]
#[derive(Signature)]
#[signature(output = Described, instructions = concat!("Do ", "it."), dialect = dspy)]
struct Documented {
    /// One.
    /// Two.
    #[doc(alias = "hidden")]
    a: String,
    #[doc = include_str!("derive_shapes.txt")]
    b: String,
    #[field(desc = "Wins.")]
    /// Loses.
    c: String,
    d: String,
}

const WORDS: &str = "constant words";

#[derive(Signature)]
struct Described {
    #[field(desc = WORDS, answer_shape = short_span, text_field)]
    answer: String,
    #[schemars(description = "from schemars")]
    other: String,
}

#[test]
fn docs_and_words() {
    let all = meta::<Documented>();
    assert_eq!(all.docs, " First line.\n\n   Indented.\nBy concat.\n");
    assert_eq!(
        (all.name, all.instructions, all.dialect),
        ("Documented", Some("Do it."), Some(Dialect::Dspy))
    );
    let texts: Vec<_> = all.fields.iter().map(|field| (field.docs, field.desc)).collect();
    assert_eq!(
        texts,
        [(" One.\n Two.\n", None), ("From a file.\n\n", None), (" Loses.\n", Some("Wins.")), ("", None)]
    );
    let answer = field::<Described>("answer");
    assert_eq!((answer.desc, answer.text_field), (Some(WORDS), true));
    assert_eq!(answer.answer_shape, Some(AnswerShape::ShortSpan));
    let other = field::<Described>("other");
    assert_eq!((other.desc, other.text_field, other.answer_shape), (Some("from schemars"), false, None));
}

const LEAST: u8 = 2;
const MOST: f64 = 2.5;

mod limits {
    pub(crate) const ITEMS: usize = 4;
}

#[derive(Signature)]
struct Bounded {
    #[field(min = 1, max = 4)]
    a: u8,
    #[field(ge = -1, le = 1.5)]
    b: f64,
    #[field(minimum = LEAST, maximum = MOST)]
    c: Option<f32>,
    #[field(gt = 0, lt = 1_000, multiple_of = 0.5)]
    d: f64,
    #[field(min_length = 1, max_length = limits::ITEMS, pattern = "^a")]
    e: String,
    #[field(allow_inf_nan)]
    f: f64,
    #[field(allow_inf_nan = false)]
    g: Option<f32>,
    #[schemars(range(min = 1, max = 2), length(equal = 3))]
    #[field(max = 9)]
    h: Text,
    #[schemars(length(min = 1), regex(pattern = "x+"))]
    i: Option<Box<str>>,
    #[field(max_length = 2)]
    j: BTreeSet<u8>,
    #[field(min = 0xff, max = 300 + 1_i64)]
    k: std::num::NonZeroU16,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Text(String);

impl imp::TextType for Text {}
impl imp::LengthType for Text {}
impl imp::NumericType for Text {}

#[test]
fn bounds_in_declared_order() {
    for (name, expected) in [
        ("a", &["Ge Int(1)", "Le Int(4)"][..]),
        ("b", &["Ge Int(-1)", "Le Float(1.5)"]),
        ("c", &["Ge Int(2)", "Le Float(2.5)"]),
        ("d", &["Gt Int(0)", "Lt Int(1000)", "MultipleOf Float(0.5)"]),
        ("e", &["MinLength Int(1)", "MaxLength Int(4)", "Pattern Text(\"^a\")"]),
        ("f", &["AllowInfNan Bool(true)"]),
        ("g", &["AllowInfNan Bool(false)"]),
        ("h", &["Le Int(9)", "Ge Int(1)", "MinLength Int(3)", "MaxLength Int(3)"]),
        ("i", &["MinLength Int(1)", "Pattern Text(\"x+\")"]),
        ("j", &["MaxLength Int(2)"]),
        ("k", &["Ge Int(255)", "Le Int(301)"]),
    ] {
        assert_eq!(bounds::<Bounded>(name), expected, "{name}");
    }
    let kinds = field::<Bounded>("a").constraints;
    assert!(matches!(kinds, [(Constraint::Ge, Bound::Int(1)), (Constraint::Le, Bound::Int(4))]));
}

#[derive(Signature)]
#[serde(rename_all = "camelCase")]
struct Wire {
    due_date: String,
    #[serde(rename = "who", alias = "person", alias = "author")]
    sent_by: String,
    #[field(rename = "what")]
    #[serde(rename = "never", borrow)]
    subject: String,
    #[serde(default = "two")]
    copies: u8,
    #[serde(default)]
    tags: Vec<String>,
    #[schemars(title = "T", example = 3)]
    priority: u8,
}

fn two() -> u8 {
    2
}

#[test]
fn serde_and_schemars_are_honoured() {
    assert_eq!(names::<Wire>(), ["dueDate", "who", "what", "copies", "tags", "priority"]);
    assert_eq!(Wire::FIELDS.due_date.name(), "dueDate");
    assert_eq!(field::<Wire>("who").aliases, ["person", "author"]);
    assert!(field::<Wire>("what").aliases.is_empty());
    assert_eq!(default::<Wire>("copies"), Some(json!(2)));
    assert_eq!(default::<Wire>("tags"), Some(json!([])));
    assert_eq!(default::<Wire>("priority"), None);
}

#[derive(Signature)]
#[signature(output = Answer)]
#[serde(default)]
#[derive(Serialize, Deserialize)]
struct Settings {
    language: String,
    #[field(default = 3)]
    tries: u8,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { language: "en".to_owned(), tries: 1 }
    }
}

#[test]
fn a_struct_wide_default() {
    let settings = SettingsPartial::default().complete().expect("everything has a default");
    assert_eq!((&*settings.language, settings.tries), ("en", 3));
    assert_eq!(default::<Settings>("language"), Some(json!("en")));
    assert_eq!(default::<Settings>("tries"), Some(json!(3)));
}

#[derive(Debug, PartialEq, Signature)]
#[signature(output = Answer)]
struct Defaults {
    #[field(default = "free")]
    string: String,
    #[field(default = "boxed")]
    boxed: Box<str>,
    #[field(default = "cow")]
    cow: Cow<'static, str>,
    #[field(default = "some")]
    option: Option<String>,
    #[field(default = "into".into())]
    own: std::path::PathBuf,
    #[field(default = [1, 2, 3])]
    array: [u8; 3],
    #[field(default = { let a = 1; a + 1 })]
    block: u8,
    #[field(default = HashMap::<String, u8>::from([("a".to_owned(), 1)]), desc = "a map")]
    map: HashMap<String, u8>,
    #[field(default = -1)]
    negative: i8,
    #[field(default = Self::preferred(), min = 1)]
    method: u8,
    #[field(default = if LEAST > 1 { "big" } else { "small" }.to_owned())]
    conditional: String,
    #[field(default = [1, 2].iter().map(|n| n * 2).sum())]
    closure: u8,
    #[field(default = 1..3)]
    range: std::ops::Range<u8>,
    plain: Option<u8>,
    alias: Maybe,
}

type Maybe = Option<bool>;

impl Defaults {
    fn preferred() -> u8 {
        9
    }
}

#[test]
fn defaults_of_every_form() {
    let expected = Defaults {
        string: "free".to_owned(),
        boxed: "boxed".into(),
        cow: "cow".into(),
        option: Some("some".to_owned()),
        own: "into".into(),
        array: [1, 2, 3],
        block: 2,
        map: HashMap::from([("a".to_owned(), 1)]),
        negative: -1,
        method: 9,
        conditional: "big".to_owned(),
        closure: 6,
        range: 1..3,
        plain: None,
        alias: None,
    };
    assert_eq!(DefaultsPartial::default().complete(), Ok(expected));
    assert_eq!(default::<Defaults>("map"), Some(json!({"a": 1})));
    assert_eq!(field::<Defaults>("map").desc, Some("a map"));
    assert_eq!(default::<Defaults>("plain"), None);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Signature)]
struct Tree {
    name: String,
    kids: Vec<Self>,
    parent: Option<Box<Self>>,
}

#[test]
fn a_struct_of_itself() {
    let leaf = || Tree { name: "leaf".to_owned(), kids: vec![], parent: None };
    let partial =
        TreePartial { name: Some("root".to_owned()), kids: Some(vec![leaf()]), ..Default::default() };
    let tree = partial.complete().expect("all fields");
    assert_eq!(tree.kids, [leaf()]);
    assert!((field::<Tree>("kids").schema)().to_string().contains("Tree"));
}

#[test]
fn a_given_value_wins_over_the_default() {
    let given = SettingsPartial { tries: Some(7), language: None };
    assert_eq!(given.complete().map(|settings| settings.tries), Ok(7));
    // An `Option` field that is given as `None` stays it, whatever its default.
    let given = DefaultsPartial { option: Some(None), ..Default::default() };
    assert_eq!(given.complete().map(|all| all.option), Ok(None));
}

#[derive(Signature)]
#[signature(output = Answer)]
struct Short<'a> {
    text: &'a str,
}

fn shortened(_: &str) -> imp::Field<Short<'_>, &str> {
    Short::<'static>::FIELDS.text
}

fn is_plain<T: Copy + Send + Sync + Eq + std::hash::Hash + Debug + 'static>(_: T) {}

#[test]
fn handles_are_plain_values() {
    is_plain(Many::FIELDS.a);
    // Covariant: a handle of a longer lifetime is one of a shorter.
    let text = names::<Many>().concat();
    assert_eq!(shortened(&text), Short::FIELDS.text);
    assert_eq!(format!("{:?}", Named::FIELDS), "Handles { question: Field(\"question\") }");
}

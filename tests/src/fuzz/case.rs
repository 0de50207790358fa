//! What a fuzzer's bytes mean to the targets that read replies.

use std::borrow::Cow;
use std::sync::LazyLock;

use imp::{Dialect, SignatureSpec};
use serde_json::json;

use crate::generate::Ty;
use crate::plain::data;

/// A signature with the types of its outputs.
pub(super) struct Signature {
    pub(super) spec: SignatureSpec,
    pub(super) outputs: Vec<(&'static str, Ty)>,
}

/// A reply to a signature, in a dialect.
///
/// The first byte chooses: of `0` to `9` the even ones are the plain dialect, the odd ones DSPy's, for each signature
/// in turn, and so on with the letters. What is left is the reply; a newline in front of it is not part of it.
pub(super) struct Case<'b> {
    pub(super) signature: &'static Signature,
    pub(super) dialect: Dialect,
    pub(super) reply: Cow<'b, str>,
}

impl<'b> Case<'b> {
    /// `None` for no bytes at all.
    pub(super) fn new(bytes: &'b [u8]) -> Option<Self> {
        let (choice, reply) = bytes.split_first()?;
        let choice = usize::from(choice.wrapping_sub(b'0'));
        let signature = SIGNATURES.get(choice / 2 % SIGNATURES.len())?;
        let dialect = if choice % 2 == 0 { Dialect::Plain } else { Dialect::Dspy };
        let reply = String::from_utf8_lossy(reply.strip_prefix(b"\n").unwrap_or(reply));
        Some(Case { signature, dialect, reply })
    }
}

fn optional(ty: Ty) -> Ty {
    Ty::Optional(Box::new(ty))
}

fn list(ty: Ty) -> Ty {
    Ty::List(Box::new(ty))
}

fn map(ty: Ty) -> Ty {
    Ty::Dict(Box::new(ty))
}

fn object(name: &str, fields: &[(&str, Ty)]) -> Ty {
    Ty::Object(name.to_owned(), fields.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect())
}

const TEXT: Ty = Ty::Text("str");

/// Small ones that have every type between them; new ones go to the end, as the corpus counts them.
static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let team = Ty::Literal(vec![json!("atlas"), json!("atlas two"), json!("harbor")]);
    let level = Ty::Enum(
        "Level".to_owned(),
        vec![("LOW".to_owned(), json!(1)), ("HIGH".to_owned(), json!(2)), ("NONE".to_owned(), json!("none"))],
    );
    let item = object("Item", &[("sku", TEXT), ("count", Ty::Int), ("size", optional(Ty::Float))]);
    let sides = [
        vec![("answer", TEXT)],
        vec![("team", team), ("priority", Ty::Int), ("reply", TEXT), ("note", optional(TEXT))],
        vec![("answer", TEXT), ("score", Ty::Float), ("sure", Ty::Bool)],
        vec![("plan", TEXT), ("action", TEXT), ("params", map(Ty::Any))],
        vec![("tags", list(TEXT)), ("items", list(item.clone())), ("first", optional(item))],
        vec![("code", Ty::Code), ("when", Ty::Time("datetime")), ("day", optional(Ty::Time("date")))],
        vec![("any", Ty::Any), ("either", Ty::Union(vec![Ty::Int, list(Ty::Int), TEXT])), ("level", level)],
        vec![
            ("reasoning", Ty::Text("reasoning")),
            ("out_0", optional(Ty::Int)),
            ("out_1", map(list(Ty::Float))),
        ],
    ];
    sides
        .into_iter()
        .map(|outputs| {
            let fields: Vec<_> =
                outputs.iter().map(|(name, ty)| json!({ "name": name, "type": ty.json() })).collect();
            let spec = data(&json!({ "inputs": [{ "name": "question" }], "outputs": fields }));
            Signature { spec, outputs }
        })
        .collect()
});

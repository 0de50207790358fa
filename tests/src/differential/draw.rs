//! Random signatures and replies: well-formed ones, some with a slip of the pen, some hostile.

use std::fmt::Write as _;

use imp::{Map, Value};
use serde_json::{Value as Json, json};

use crate::generate::{self, Rng, Ty, Types};

/// How many replies a signature gets.
pub const REPLIES: usize = 10;

/// A signature with replies.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The signature in the language of the corpus.
    pub signature: Json,
    /// The outputs by name.
    pub outputs: Vec<(String, Ty)>,
    /// The replies.
    pub replies: Vec<String>,
}

/// So many draws, in batches, from the batch that holds the draw of that number.
pub fn batches(first: u64, count: usize) -> impl Iterator<Item = Batch> {
    let from = first / REPLIES as u64;
    (0..count.div_ceil(REPLIES) as u64).map(move |at| batch(&mut Rng::new(from + at)))
}

fn batch(rng: &mut Rng) -> Batch {
    let count = 1 + rng.below(4);
    let outputs: Vec<(String, Ty)> =
        (0..count).map(|at| (format!("out_{at}"), known(Ty::any(rng, 2, Types::All), true))).collect();
    let fields: Vec<Json> =
        outputs.iter().map(|(name, ty)| json!({ "name": name, "type": ty.json() })).collect();
    let signature = json!({ "inputs": [{ "name": "question", "type": "str" }], "outputs": fields });
    let replies = (0..REPLIES).map(|_| reply(rng, &outputs)).collect();
    Batch { signature, outputs, replies }
}

/// The type without what the corpus has no word for; a reasoning is a field of its own.
fn known(ty: Ty, is_field: bool) -> Ty {
    let inner = |ty: Box<Ty>| Box::new(known(*ty, false));
    match ty {
        Ty::Text(_) if !is_field => Ty::Text("str"),
        Ty::Code => Ty::Text("str"),
        Ty::Optional(ty) => Ty::Optional(inner(ty)),
        Ty::List(ty) => Ty::List(inner(ty)),
        Ty::Dict(ty) => Ty::Dict(inner(ty)),
        Ty::Object(name, fields) => {
            Ty::Object(name, fields.into_iter().map(|(name, ty)| (name, known(ty, false))).collect())
        }
        ty => ty,
    }
}

fn reply(rng: &mut Rng, outputs: &[(String, Ty)]) -> String {
    // Of twenty replies thirteen are as asked for, four are written otherwise, two are broken, one is hostile.
    let kind = rng.below(20);
    let mut out = String::new();
    for (name, ty) in outputs {
        let value = if kind == 19 { ty.value(rng) } else { value(rng, ty) };
        let mut text = written(rng, &value);
        if (13..17).contains(&kind) && !ty.is_text() && rng.once_in(outputs.len()) {
            text = otherwise(rng, &text);
        }
        let _ = write!(out, "[[ ## {name} ## ]]\n{text}\n\n");
    }
    out.push_str("[[ ## completed ## ]]\n");
    match kind {
        17 | 18 => broken(rng, out),
        19 => {
            let places: Vec<usize> = out.char_indices().map(|(at, _)| at).collect();
            let at = places[rng.below(places.len())];
            out.insert_str(at, &generate::hostile(rng));
            out
        }
        _ => out,
    }
}

/// A value whose texts are ordinary words.
fn value(rng: &mut Rng, ty: &Ty) -> Value {
    const TEXTS: [&str; 14] = [
        "yes",
        "It depends.",
        "Zürich, CH",
        "a: b",
        "it's fine",
        "say \"hi\"",
        "https://example.org/a#b",
        "C:\\dir",
        "line one\nline two",
        "{braces} [1]",
        "東京 🎉",
        "- one\n- two",
        "x = f(1, 2)",
        "no",
    ];
    match ty {
        Ty::Text(_) => rng.pick(&TEXTS).into(),
        Ty::Any => match rng.below(4) {
            0 => rng.pick(&TEXTS).into(),
            1 => generate::int(rng).into(),
            2 => rng.once_in(2).into(),
            _ => Value::List(vec![1.into(), "two".into(), Value::Null]),
        },
        Ty::Optional(_) if rng.once_in(3) => Value::Null,
        Ty::Optional(inner) => value(rng, inner),
        Ty::List(inner) => (0..rng.below(4)).map(|_| value(rng, inner)).collect::<Vec<_>>().into(),
        Ty::Dict(inner) => {
            const KEYS: [&str; 5] = ["a", "key", "two words", "é", "it's"];
            (0..rng.below(4)).map(|_| (rng.pick(&KEYS).to_owned(), value(rng, inner))).collect::<Map>().into()
        }
        Ty::Object(_, fields) => {
            fields.iter().map(|(name, ty)| (name.clone(), value(rng, ty))).collect::<Map>().into()
        }
        Ty::Union(branches) => {
            let at = rng.below(branches.len());
            value(rng, &branches[at])
        }
        ty => ty.value(rng),
    }
}

/// A value as a model writes it: a text as it stands, anything else as JSON.
fn written(rng: &mut Rng, value: &Value) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    match (&json, rng.below(4)) {
        (Json::String(text), _) => text.clone(),
        (Json::Bool(true), 0 | 1) => "True".to_owned(),
        (Json::Bool(false), 0 | 1) => "False".to_owned(),
        (Json::Null, 0) => "None".to_owned(),
        (json, 1) => serde_json::to_string_pretty(json).unwrap_or_default(),
        (json, _) => json.to_string(),
    }
}

/// The same in a spelling that was not asked for.
fn otherwise(rng: &mut Rng, text: &str) -> String {
    match rng.below(9) {
        0 => format!("```json\n{text}\n```"),
        1 => format!("```\n{text}\n```"),
        2 => format!("\"{text}\""),
        3 => format!("  {text}  "),
        4 => text.replace("\":", "\" : ").replace(',', " ,"),
        5 => text.replace("true", "True").replace("false", "False").replace("null", "None"),
        6 => match text.rfind([']', '}']) {
            Some(at) if at > 1 => format!("{},{}", &text[..at], &text[at..]),
            _ => text.to_owned(),
        },
        7 => format!("Here it is: {text}"),
        _ => text.to_uppercase(),
    }
}

/// The same with a character lost, doubled or added, or cut off.
fn broken(rng: &mut Rng, mut text: String) -> String {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = places[rng.below(places.len())];
    match rng.below(4) {
        0 => {
            text.remove(at);
        }
        1 => text
            .insert_str(at, rng.pick(&["\"", "'", ",", ":", "{", "}", "[", "]", "\\", "x", "1", "\n", " "])),
        2 => {
            let c = text[at..].chars().next().unwrap_or(' ');
            text.insert(at, c);
        }
        _ => text.truncate(at),
    }
    text
}

//! Replies with slips, read by `imp`, by `jsonrepair-rs`, and by Python's `json_repair` 0.64.6.
//!
//! Its answers are lines that `scripts/record_json_repair.py` writes.

use std::collections::{BTreeMap, BTreeSet};

use imp::{Chat, Dialect, Fields, Json, ParseError, SignatureSpec};
use serde_json::{Value, json};

use crate::mutation::{AROUND, COMMENTS, KEYS, Mutant, Slip};
use crate::plain::{data, json, output};

/// Equal values are written alike: 1 is 1.0.
fn plain(value: Value) -> Value {
    match value {
        #[allow(clippy::cast_possible_truncation, reason = "it is a whole number")]
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                json!(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(map) => map.into_iter().map(|(key, item)| (key, plain(item))).collect(),
        value => value,
    }
}

/// What `json_repair` made of a mutant.
fn recorded(mutant: &Mutant, line: &str) -> Option<Value> {
    let document = plain(mutant.document.clone());
    if line == "!" {
        return None;
    }
    if line.is_empty() {
        return Some(document);
    }
    match serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}\n{error}")) {
        Value::Array(parts) => {
            let [Value::Object(changed), Value::Array(removed)] = &parts[..] else { panic!("{line}") };
            let Value::Object(mut object) = document else { panic!("a document is an object") };
            object.extend(changed.clone());
            object.retain(|key, _| !removed.iter().any(|removed| removed == key));
            Some(plain(object.into()))
        }
        mut other => Some(plain(other["is"].take())),
    }
}

fn jsonrepair(text: &str) -> Option<Value> {
    let repaired = jsonrepair_rs::jsonrepair(text).ok()?;
    serde_json::from_str(&repaired).ok().map(plain)
}

fn outputs() -> SignatureSpec {
    let outputs: Vec<Value> = KEYS
        .iter()
        .map(|(key, ty)| match *key {
            "note" => json!({ "name": key, "type": { "optional": ty } }),
            _ => json!({ "name": key, "type": ty }),
        })
        .collect();
    data(&json!({ "inputs": [{ "name": "question" }], "outputs": outputs }))
}

/// What a value says: its letters and digits in order, without what only spells it.
fn letters_of(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => push_letters(text, out),
        Value::Array(items) => items.iter().for_each(|item| letters_of(item, out)),
        Value::Object(map) => {
            // An output that is absent says nothing.
            for (key, item) in map.iter().filter(|(_, item)| !item.is_null()) {
                push_letters(key, out);
                letters_of(item, out);
            }
        }
        value => push_letters(&value.to_string(), out),
    }
}

/// What a reply says, without what was put around its object and between its tokens.
fn letters_of_reply(text: &str) -> String {
    let text = AROUND.iter().chain(&COMMENTS).fold(text.to_owned(), |text, piece| text.replace(piece, ""));
    let mut unescaped = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.as_str().starts_with(['n', 't', 'r', 'b', '\\']) {
            chars.next();
        } else {
            unescaped.push(c);
        }
    }
    let mut out = String::new();
    push_letters(&unescaped, &mut out);
    for (python, json) in [("True", "true"), ("False", "false"), ("None", "null")] {
        out = out.replace(python, json);
    }
    out
}

fn push_letters(text: &str, out: &mut String) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '.' && chars.as_str().starts_with('0') && out.ends_with(|c: char| c.is_ascii_digit()) {
            // 3.0 is 3.
            chars.next();
        } else if c.is_alphanumeric() {
            out.push(c);
        }
    }
}

/// A value with its empty strings in lists taken out and its texts changed.
fn changed(value: &Value, keep_empty: bool, text: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(content) => text(content).into(),
        Value::Array(items) => {
            let items = items.iter().filter(|item| keep_empty || **item != "");
            items.map(|item| changed(item, keep_empty, text)).collect()
        }
        Value::Object(map) => {
            map.iter().map(|(key, item)| (text(key), changed(item, keep_empty, text))).collect()
        }
        value => value.clone(),
    }
}

// Why a value of ours is right where an oracle has another.
/// What the reply was made from.
pub const DOCUMENT: &str = "it is the document";
/// Strict JSON is read as such.
pub const STRICT: &str = "it is what strict JSON says";
/// Each letter and digit of the reply is in the value and none else; a slip in what a text says is a slip of the model.
pub const SAYS_THE_SAME: &str = "it says what the reply says, nothing more or less";
/// §10; jsonrepair takes it away.
pub const BACKSLASH: &str = "a backslash that escapes nothing stays";
/// `json_repair` leaves it out.
pub const EMPTY: &str = "an empty string in a list stays";
/// §10; jsonrepair has a text.
pub const ZEROS: &str = "a number with zeros before it is a number";
/// jsonrepair puts them into one list.
pub const PROSE: &str = "the prose around an object is no item of a list";
/// Only where the reply can mean two things.
pub const SECOND_OPINION: &str = "the other oracle says the same";
/// Each oracle garbles another part of the reply.
pub const EACH_ENTRY: &str = "each entry is the document's or an oracle's";

/// One reply and what each makes of it, in one way of reading.
struct Case<'m> {
    mutant: &'m Mutant,
    document: Option<Value>,
    strict: Option<Value>,
    /// jsonrepair-rs and `json_repair`.
    oracles: [Option<Value>; 2],
    /// The same, whether or not the types take it.
    untyped: [Option<Value>; 2],
}

impl Case<'_> {
    /// Why a value of ours is the right one where an oracle has another. The first reasons that fit prove it.
    fn reason(&self, ours: &Value, theirs: &Value) -> Option<&'static str> {
        let is = |value: &Option<Value>| value.as_ref() == Some(ours);
        let mut letters = String::new();
        letters_of(ours, &mut letters);
        let no_backslash = |text: &str| text.replace('\\', "");
        let no_zeros = |text: &str| match text.trim_start_matches('0') {
            number if number.starts_with(|c: char| c.is_ascii_digit()) => number.to_owned(),
            _ => text.to_owned(),
        };
        let texts = |value: &Value, text: &dyn Fn(&str) -> String| changed(value, true, text);
        Some(match () {
            () if is(&self.document) => DOCUMENT,
            () if is(&self.strict) => STRICT,
            () if letters == letters_of_reply(&self.mutant.text) => SAYS_THE_SAME,
            () if texts(ours, &no_backslash) == texts(theirs, &no_backslash) => BACKSLASH,
            () if changed(ours, false, &str::to_owned) == changed(theirs, false, &str::to_owned) => EMPTY,
            () if spelled(ours) == texts(&spelled(theirs), &no_zeros) => ZEROS,
            () if theirs.is_array() => PROSE,
            () if self.oracles.iter().any(is) => SECOND_OPINION,
            () if self.each_part_has_a_source(ours) => EACH_ENTRY,
            () => return None,
        })
    }

    fn each_part_has_a_source(&self, ours: &Value) -> bool {
        let oracles = self.oracles.iter().chain(&self.untyped).flatten();
        let mut sources: Vec<&Value> = self.document.iter().chain(oracles).collect();
        let inside: Vec<&Value> = sources.iter().filter_map(|source| source.as_array()).flatten().collect();
        sources.extend(inside);
        ours.as_object().is_some_and(|map| {
            map.iter().all(|(key, item)| {
                item.is_null() || sources.iter().any(|source| source.get(key) == Some(item))
            })
        })
    }
}

/// The numbers of an object as texts.
fn spelled(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), spelled(item))).collect(),
        Value::Number(number) => number.to_string().into(),
        value => value.clone(),
    }
}

/// How one dialect reads mutants, in two ways.
#[derive(Debug, Clone)]
pub struct Report {
    dialect: Dialect,
    spec: SignatureSpec,
    object: SignatureSpec,
    counts: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Report {
    /// The report of a dialect, of no mutant so far.
    pub fn new(dialect: Dialect) -> Self {
        let object = output(&"object".into());
        Report { dialect, spec: outputs(), object, counts: BTreeMap::new(), wrong: Vec::new() }
    }

    /// Reads a mutant and compares; `line` is what `json_repair` made of it.
    ///
    /// # Panics
    ///
    /// The line is none of the script's.
    pub fn compare(&mut self, mutant: &Mutant, line: &str) {
        let dialect = self.dialect;
        let (chat, adapter) = (Chat::new().dialect(dialect), Json::new().dialect(dialect));
        let read = |fields: Result<Fields, ParseError>| fields.ok().map(|fields| plain(json(&fields)));
        let oracles = [jsonrepair(&mutant.text), recorded(mutant, line)];
        let raw = Case {
            mutant,
            document: Some(plain(mutant.document.clone())),
            strict: serde_json::from_str(&mutant.text).ok().map(plain),
            untyped: oracles.clone(),
            oracles,
        };
        let must = |is_output: bool, case: &Case<'_>| {
            let forgiven = must_forgive(dialect, is_output, &mutant.slips);
            // Strict JSON is read as such, whatever it was made from.
            case.strict.clone().or_else(|| case.document.clone().filter(|_| forgiven))
        };

        // As an output that may be any object.
        let section = format!("[[ ## x ## ]]\n{}", mutant.text);
        let ours = read(chat.read_fields(&self.object, &section)).map(|mut outputs| outputs["x"].take());
        let is_object = |value: &Value| value.is_object();
        self.add("an output", ours.as_ref(), must(true, &raw).filter(is_object).as_ref(), &raw);

        // As a whole reply with typed outputs; what the others have goes through the same types.
        let spec = &self.spec;
        let typed =
            |value: &Option<Value>| value.clone().and_then(|value| read(adapter.read_fields(spec, value)));
        let case = Case {
            mutant,
            document: typed(&raw.document),
            strict: typed(&raw.strict),
            oracles: raw.oracles.each_ref().map(typed),
            untyped: raw.untyped.clone(),
        };
        let ours = read(adapter.read_fields(spec, &mutant.text));
        self.add("a reply", ours.as_ref(), must(false, &case).as_ref(), &case);
    }

    /// How often each thing was seen.
    pub fn counts(&self) -> &BTreeMap<String, usize> {
        &self.counts
    }

    /// Each value that nothing shows to be right, with its reply and what the oracles made of that.
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }

    /// The reasons for which a value of ours was the right one where an oracle has another.
    pub fn reasons(&self) -> BTreeSet<&str> {
        self.counts.keys().filter_map(|what| what.splitn(3, ": ").nth(2)).collect()
    }

    fn add(&mut self, way: &str, ours: Option<&Value>, must_be: Option<&Value>, case: &Case<'_>) {
        if must_be.is_some_and(|value| ours != Some(value)) {
            self.push_wrong(&format!("{way}, not what it must be"), ours, case);
        }
        // What arrived of a reply that breaks off is no value.
        let cut = case.mutant.slips.iter().all(|slip| slip.keeps_meaning() || *slip == Slip::Cut);
        if cut && ours.is_some() && ours != case.document.as_ref() {
            self.push_wrong(&format!("{way}, of which a part is gone"), ours, case);
        }
        let Some(ours) = ours else {
            let known = case.oracles.iter().all(|oracle| oracle.is_some() && *oracle == case.document);
            let known = if known { ", though both oracles have the document" } else { "" };
            return self.count(format!("{way}: refused{known}"));
        };
        for (name, theirs) in ["jsonrepair", "json_repair"].into_iter().zip(&case.oracles) {
            if theirs.as_ref() == Some(ours) {
                self.count(format!("{way}: {name} has the same"));
                continue;
            }
            let reason = case.reason(ours, theirs.as_ref().unwrap_or(&Value::Null));
            if reason.is_none() {
                self.push_wrong(way, Some(ours), case);
            }
            let has = if theirs.is_some() { "another" } else { "none" };
            self.count(format!("{way}: {name} has {has}: {}", reason.unwrap_or("WRONG")));
        }
    }

    fn count(&mut self, what: String) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn push_wrong(&mut self, way: &str, ours: Option<&Value>, case: &Case<'_>) {
        let [js, py] = &case.oracles;
        let Mutant { slips, text, .. } = case.mutant;
        self.wrong.push(format!(
            "{way} {slips:?}\n  {text:?}\n  ours {ours:?}\n  jsonrepair  {js:?}\n  json_repair {py:?}"
        ));
    }
}

/// Whether a dialect must read the document out of a reply with these slips.
fn must_forgive(dialect: Dialect, is_output: bool, slips: &[Slip]) -> bool {
    use Slip::{Fence, Prose, PythonWords, SingleQuotes, TrailingComma};
    slips.iter().all(|slip| match dialect {
        Dialect::Plain => {
            matches!(slip, SingleQuotes | TrailingComma | PythonWords)
                || !is_output && matches!(slip, Fence | Prose)
        }
        Dialect::Dspy => slip.keeps_meaning(),
    })
}

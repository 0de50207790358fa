//! Replies that hold JSON, and what goes wrong with them: seeded, so that the answers of a repairer in another language
//! can be recorded (`scripts/record_json_repair.py`).

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::generate::Rng;

/// How many mutants have a recorded answer.
pub const MUTANTS: usize = 10_000;

/// The keys of every document, with the type of each; the last may be absent.
pub const KEYS: [(&str, &str); 6] = [
    ("answer", "str"),
    ("count", "int"),
    ("score", "float"),
    ("urgent", "bool"),
    ("tags", "array[str]"),
    ("note", "str"),
];

/// Comments, as they are put between tokens.
pub const COMMENTS: [&str; 3] = ["// see above\n", "# it's a \"guess\"\n", "/* {a: 1} */"];

/// What is put around an object; the longer of two that begin alike is first.
pub const AROUND: [&str; 9] = [
    "```json\n",
    "```JSON\n",
    "```\n",
    "\n```",
    "Here is the JSON:\n\n",
    "\n\nI hope that helps.",
    "Sure, it's this: ",
    " (as asked).",
    "```",
];

/// One thing that was done to a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slip {
    /// It ends in the middle.
    Cut,
    /// A piece stands there twice.
    Doubled,
    /// A character is missing.
    Deleted,
    /// A character is too much.
    Inserted,
    /// Its strings are in `'`.
    SingleQuotes,
    /// Its strings are in `“` and `”`.
    SmartQuotes,
    /// A comma stands before a closing bracket.
    TrailingComma,
    /// A comment stands between two tokens.
    Comment,
    /// `True`, `False` and `None`.
    PythonWords,
    /// Its keys have no quotes.
    BareKeys,
    /// A code fence is around it.
    Fence,
    /// Prose is around it.
    Prose,
}

impl Slip {
    const ALL: [Slip; 12] = [
        Slip::Cut,
        Slip::Doubled,
        Slip::Deleted,
        Slip::Inserted,
        Slip::SingleQuotes,
        Slip::SmartQuotes,
        Slip::TrailingComma,
        Slip::Comment,
        Slip::PythonWords,
        Slip::BareKeys,
        Slip::Fence,
        Slip::Prose,
    ];

    /// Whether the reply can still mean the document only.
    pub fn keeps_meaning(self) -> bool {
        self > Slip::Inserted
    }
}

/// A reply with slips, and what it was made from.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// The document that was meant.
    pub document: Json,
    /// The reply.
    pub text: String,
    /// What was done to it.
    pub slips: Vec<Slip>,
}

/// So many mutants from the one of that number, always the same.
pub fn mutants(first: u64, count: usize) -> impl Iterator<Item = Mutant> {
    (0..count as u64).map(move |at| mutant(&mut Rng::new(first + at)))
}

const WORDS: [&str; 28] = [
    "yes",
    "It depends.",
    "Zürich, CH",
    "a: b",
    "it's fine",
    "say \"hi\"",
    "https://example.org/a#b",
    "C:\\dir",
    "\\d+",
    "line one\nline two",
    "tab\there",
    "{braces}",
    "[1]",
    "a, b; c",
    "true",
    "None",
    "42",
    "-1.5e3",
    "",
    " ",
    "東京 🎉",
    "é",
    "```py\nx = 1\n```",
    "# heading",
    "// remark",
    "“quoted”",
    "null",
    "a } b",
];

fn word(rng: &mut Rng) -> Json {
    rng.pick(&WORDS.each_ref().map(|word| *word)).into()
}

fn document(rng: &mut Rng) -> Json {
    let mut map = Map::new();
    for (key, ty) in KEYS {
        if key == "note" && rng.once_in(2) {
            continue;
        }
        let value = match ty {
            "int" => json!(i64::try_from(rng.below(2000)).unwrap_or(0) - 500),
            "float" => {
                rng.pick(&[&json!(0.5), &json!(-1.25), &json!(1e-7), &json!(3.0), &json!(120.0)]).clone()
            }
            "bool" => json!(rng.once_in(2)),
            "str" => word(rng),
            _ => (0..rng.below(4)).map(|_| word(rng)).collect(),
        };
        map.insert(key.to_owned(), value);
    }
    // A key that is no output, with a value that has brackets of its own.
    if rng.once_in(3) {
        map.insert("extra".to_owned(), json!({ "a": [null, word(rng)], "b": {} }));
    }
    Json::Object(map)
}

/// How the tokens of a document are spelled.
#[derive(Debug, Clone, Copy)]
struct Style {
    open: &'static str,
    close: &'static str,
    python: bool,
    bare_keys: bool,
    /// Between a key and its value, and between items.
    colon: &'static str,
    comma: &'static str,
    indent: bool,
}

fn write(out: &mut String, value: &Json, style: Style, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        if style.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
    };
    match value {
        Json::String(text) => quoted(out, text, style),
        Json::Bool(true) if style.python => out.push_str("True"),
        Json::Bool(false) if style.python => out.push_str("False"),
        Json::Null if style.python => out.push_str("None"),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { style.comma } else { "" });
                line(out, depth + 1);
                write(out, item, style, depth + 1);
            }
            if !items.is_empty() {
                line(out, depth);
            }
            out.push(']');
        }
        Json::Object(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                out.push_str(if at > 0 { style.comma } else { "" });
                line(out, depth + 1);
                if style.bare_keys {
                    out.push_str(key);
                } else {
                    quoted(out, key, style);
                }
                out.push_str(style.colon);
                write(out, item, style, depth + 1);
            }
            if !map.is_empty() {
                line(out, depth);
            }
            out.push('}');
        }
        value => {
            let _ = write!(out, "{value}");
        }
    }
}

/// A string as a model would write it in these quotes: its own are escaped, others are not.
fn quoted(out: &mut String, text: &str, style: Style) {
    out.push_str(style.open);
    let json = Json::from(text).to_string();
    let content = &json[1..json.len() - 1];
    match style.open {
        "\"" => out.push_str(content),
        "'" => out.push_str(&content.replace("\\\"", "\"").replace('\'', "\\'")),
        _ => out.push_str(&content.replace('“', "\\“").replace('”', "\\”")),
    }
    out.push_str(style.close);
}

/// A place of the text that is a border of two characters.
fn place(rng: &mut Rng, text: &str) -> usize {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.get(rng.below(places.len())).copied().unwrap_or(0)
}

/// The places between tokens: where a structural character of strict JSON stands outside strings.
fn tokens(text: &str, style: Style) -> Vec<(usize, char)> {
    let mut inside = false;
    let mut escaped = false;
    let mut places = Vec::new();
    for (at, c) in text.char_indices() {
        if inside {
            let ends = !escaped && style.close.starts_with(c);
            escaped = !escaped && c == '\\';
            inside = !ends;
        } else if style.open.starts_with(c) {
            inside = true;
        } else if "{}[],".contains(c) {
            places.push((at, c));
        }
    }
    places
}

fn mutant(rng: &mut Rng) -> Mutant {
    let document = document(rng);
    let mut slips: Vec<Slip> = (0..=rng.below(3)).map(|_| Slip::ALL[rng.below(Slip::ALL.len())]).collect();
    slips.sort_unstable();
    slips.dedup();
    // What makes one spelling goes before what breaks it.
    slips.reverse();
    let has = |slip: Slip| slips.contains(&slip);
    let (open, close) = match () {
        () if has(Slip::SingleQuotes) => ("'", "'"),
        () if has(Slip::SmartQuotes) => ("“", "”"),
        () => ("\"", "\""),
    };
    let (colon, comma, indent) = [(": ", ", ", false), (":", ",", false), (": ", ",", true)][rng.below(3)];
    let style = Style {
        open,
        close,
        python: has(Slip::PythonWords),
        bare_keys: has(Slip::BareKeys),
        colon,
        comma,
        indent,
    };
    let mut text = String::new();
    write(&mut text, &document, style, 0);
    if has(Slip::TrailingComma) {
        let ends: Vec<usize> = tokens(&text, style)
            .iter()
            .filter(|(at, c)| "]}".contains(*c) && !text[..*at].trim_end().ends_with(['[', '{']))
            .map(|(at, _)| *at)
            .collect();
        text.insert(ends[rng.below(ends.len())], ',');
    }
    if has(Slip::Comment) {
        let commas: Vec<usize> =
            tokens(&text, style).iter().filter(|(_, c)| "{[,".contains(*c)).map(|(at, _)| at + 1).collect();
        let comment = rng.pick(&COMMENTS);
        text.insert_str(commas[rng.below(commas.len())], comment);
    }
    if has(Slip::Fence) {
        text = format!("{}\n{text}\n```", rng.pick(&["```json", "```", "```JSON"]));
    }
    if has(Slip::Prose) {
        text = match rng.below(3) {
            0 => format!("Here is the JSON:\n\n{text}"),
            1 => format!("{text}\n\nI hope that helps."),
            _ => format!("Sure, it's this: {text} (as asked)."),
        };
    }
    if has(Slip::Inserted) {
        let at = place(rng, &text);
        text.insert_str(
            at,
            rng.pick(&["\"", "'", ",", ":", "{", "}", "[", "]", "\\", "x", "1", "\n", " ", "/"]),
        );
    }
    if has(Slip::Deleted) {
        let at = place(rng, &text);
        text.remove(at);
    }
    if has(Slip::Doubled) && !text.is_empty() {
        let (a, b) = (place(rng, &text), place(rng, &text));
        let piece = text[a.min(b)..a.max(b)].to_owned();
        text.insert_str(a.max(b), &piece);
    }
    if has(Slip::Cut) {
        let at = place(rng, &text);
        text.truncate(at);
    }
    if open == "'" {
        slips.retain(|slip| *slip != Slip::SmartQuotes);
    }
    Mutant { document, text, slips }
}

//! Law 6 for derived structs: what is written of a struct is read back as the same struct, in both dialects.

use std::collections::{BTreeMap, BTreeSet};

use imp::{Adapter as _, Chat, Dialect, Missing, OutputSignature, Signature};
use imp_tests::generate::{Rng, float, int, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Team {
    Atlas,
    BigHarbor,
    #[serde(rename = "null")]
    Null,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Inner {
    title: String,
    score: Option<f64>,
    team: Team,
    #[serde(default)]
    tags: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Shape {
    Point,
    Circle(f64),
    Pair(i64, String),
    Named { inner: Inner },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Event {
    Opened { by: String },
    Closed { reason: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Number(i64),
    Flag(bool),
    Items(Vec<i64>),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Meters(f64);

/// Texts and values that are read as they are in every dialect.
#[derive(Debug, Clone, PartialEq, Signature)]
struct Plainly {
    text: String,
    byte: u8,
    wide: i64,
    number: f64,
    small: f32,
    flag: bool,
    team: Team,
    inner: Inner,
    list: Vec<Inner>,
    words: Vec<String>,
    map: BTreeMap<String, Vec<i64>>,
    keyed: BTreeMap<u16, String>,
    pair: (i64, String),
    meters: Meters,
    maybe_number: Option<i64>,
    maybe_inner: Option<Inner>,
    boxed: Box<Inner>,
}

/// Values whose bare text could be read as another value.
#[derive(Debug, Clone, PartialEq, Signature)]
struct Quoted {
    maybe: Option<String>,
    letter: char,
    maybe_letter: Option<char>,
    maybe_team: Option<Team>,
    any: serde_json::Value,
    either: Either,
    maybe_either: Option<Either>,
    shape: Shape,
    event: Event,
    events: Vec<Event>,
}

fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_matches(blank).to_owned()
}

fn blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn maybe<T>(rng: &mut Rng, make: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    if rng.once_in(3) { None } else { Some(make(rng)) }
}

fn several<T, C: FromIterator<T>>(rng: &mut Rng, make: impl Fn(&mut Rng) -> T) -> C {
    (0..rng.below(4)).map(|_| make(rng)).collect()
}

fn team(rng: &mut Rng) -> Team {
    [Team::Atlas, Team::BigHarbor, Team::Null][rng.below(3)].clone()
}

fn inner(rng: &mut Rng) -> Inner {
    Inner { title: text(rng), score: maybe(rng, float), team: team(rng), tags: several(rng, text) }
}

fn letter(rng: &mut Rng) -> char {
    ['a', ' ', '"', '\\', '[', '\n', 'é', '🎉', '\u{2028}', '\0', '0', '\t'][rng.below(12)]
}

fn either(rng: &mut Rng) -> Either {
    match rng.below(6) {
        0 => Either::Number(int(rng)),
        1 => Either::Flag(rng.once_in(2)),
        2 => Either::Items(several(rng, int)),
        3 => Either::Text(
            ["yes", "1", "-7", "true", "TRUE", "[1]", "1.5", "\"x\"", "null", ""][rng.below(10)].to_owned(),
        ),
        _ => Either::Text(text(rng)),
    }
}

fn event(rng: &mut Rng) -> Event {
    if rng.once_in(2) { Event::Opened { by: text(rng) } } else { Event::Closed { reason: maybe(rng, text) } }
}

fn plainly(rng: &mut Rng) -> Plainly {
    Plainly {
        text: clean(&text(rng)),
        byte: u8::try_from(rng.below(256)).unwrap(),
        wide: int(rng),
        number: float(rng),
        small: f32::from_bits(u32::try_from(rng.below(0x7f80_0000)).unwrap()),
        flag: rng.once_in(2),
        team: team(rng),
        inner: inner(rng),
        list: several(rng, inner),
        words: several(rng, text),
        map: several(rng, |rng| (text(rng), several(rng, int))),
        keyed: several(rng, |rng| (u16::try_from(rng.below(9)).unwrap(), text(rng))),
        pair: (int(rng), text(rng)),
        meters: Meters(float(rng)),
        maybe_number: maybe(rng, int),
        maybe_inner: maybe(rng, inner),
        boxed: Box::new(inner(rng)),
    }
}

fn quoted(rng: &mut Rng) -> Quoted {
    Quoted {
        maybe: maybe(rng, |rng| clean(&text(rng))),
        letter: letter(rng),
        maybe_letter: maybe(rng, letter),
        maybe_team: maybe(rng, team),
        any: imp_tests::generate::any_json(rng, 3),
        either: either(rng),
        maybe_either: maybe(rng, either),
        shape: match rng.below(4) {
            0 => Shape::Point,
            1 => Shape::Circle(float(rng)),
            2 => Shape::Pair(int(rng), text(rng)),
            _ => Shape::Named { inner: inner(rng) },
        },
        event: event(rng),
        events: several(rng, event),
    }
}

fn round_trip<O>(chat: &Chat, make: fn(&mut Rng) -> O, skip: fn(&str) -> bool)
where
    O: OutputSignature + PartialEq + std::fmt::Debug,
{
    let spec = O::output_spec().unwrap();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for seed in 0..1500 {
        let value = make(&mut Rng::new(seed));
        let written = chat.assistant_content(spec, &value, Missing::LeaveOut).unwrap();
        if skip(&written) {
            continue;
        }
        tried += 1;
        match chat.parse::<O>(&written) {
            Ok(read) if read == value => {}
            Ok(read) => wrong
                .push(format!("seed {seed}\n  given {value:?}\n  read  {read:?}\n--- written\n{written}")),
            Err(error) => wrong.push(format!("seed {seed}: {error}\n--- written\n{written}")),
        }
    }
    assert!(tried > 300, "only {tried} values were tried");
    let some: Vec<_> = wrong.iter().take(4).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {tried} values did not come back\n{}", wrong.len(), some.join("\n\n"));
}

#[test]
fn plain_values_come_back() {
    round_trip(&Chat::new(), plainly, |_| false);
}

#[test]
fn plain_quoted_values_come_back() {
    round_trip(&Chat::new(), quoted, |_| false);
}

/// DSPy's lines end at characters that JSON leaves as they are; what has one of them is DSPy's to lose.
#[test]
fn dspy_values_come_back() {
    let chat = Chat::new().dialect(Dialect::Dspy).escape_markers(true);
    round_trip(&chat, plainly, |written| {
        written.contains(|c| {
            matches!(c, '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
        })
    });
}

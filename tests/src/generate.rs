//! Seeded generators of signatures, values and hostile texts, for the property tests.
//!
//! A test runs a fixed number of seeds, so that a failure names the one that shows it.

use imp::{Map, Value};
use serde_json::{Value as Json, json};

/// A small pseudo-random generator (SplitMix64): the same seed gives the same data everywhere.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The generator of one seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        usize::try_from(self.bits() % end).unwrap_or(0)
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the items.
    ///
    /// # Panics
    ///
    /// There is none.
    pub fn pick<'t, T: ?Sized>(&mut self, items: &'t [&'t T]) -> &'t T {
        items[self.below(items.len())]
    }
}

/// Pieces of ordinary text.
const PLAIN: [&str; 24] = [
    "a", "b", "word", "Zürich", "東京", "🎉", "0", "-1", "3.5", " ", " ", "  ", "\n", "\n\n", "\t", ".",
    ", ", ": ", "'", "it's", "e\u{301}", "x = 1", "- ", "# ",
];

/// Pieces that mean something to some format, or that only look as if.
const HOSTILE: [&str; 64] = [
    "[[ ## completed ## ]]",
    "\n[[ ## completed ## ]]\n",
    "\n[[ ## x ## ]]\n",
    "\n  [[ ## x ## ]] y",
    "\n\t[[ ## out_0 ## ]]\n",
    "[[ ## out_0 ## ]]",
    "\n[[ ## out_1 ## ]]\n",
    "\r[[ ## out_0 ## ]]",
    "\r\n[[ ## out_1 ## ]]\r\n",
    "\u{2028}[[ ## out_0 ## ]]",
    "\u{2029}[[ ## out_1 ## ]]\n",
    "\u{85}[[ ## out_0 ## ]]",
    "\u{b}[[ ## out_0 ## ]]",
    "\u{c}[[ ## out_0 ## ]]",
    "\u{1c}[[ ## out_0 ## ]]",
    "\u{1f}[[ ## out_0 ## ]]",
    "\n\u{200b}[[ ## out_0 ## ]]\n",
    "\n\u{feff}[[ ## out_0 ## ]]\n",
    "\n\u{2060}[[ ## out_0 ## ]]\n",
    "\n\u{a0}[[ ## out_0 ## ]]\n",
    "\n\u{3000}[[ ## out_0 ## ]]\n",
    "\n［［ ＃＃ out_0 ＃＃ ］］\n",
    "\n[[ ＃＃ out_0 ＃＃ ]]\n",
    "\n[[##out_0##]]\n",
    "\n[[  ##  out_0  ##  ]]\n",
    "\n[[ ## out_0 ]]\n",
    "\n[[ ## out_0",
    " ## ]]\n",
    "\n[[\n## out_0 ## ]]",
    "\n[[ [[ ## out_0 ## ]] ## ]]\n",
    "\n[[[ ## out_0 ## ]]]\n",
    "\n**[[ ## out_0 ## ]]**\n",
    "\n### [[ ## out_0 ## ]]\n",
    "\n\\[[ ## out_0 ## ]]\n",
    "\n\\\\[[ ## completed ## ]]\n",
    "\n \\\\\\[[ ## x ## ]]",
    "\\",
    "\\\\",
    "[[",
    "]]",
    "##",
    "\r",
    "\r\n",
    "\u{2028}",
    "\u{b}",
    "\u{0}",
    "\u{7f}",
    "\u{200b}",
    "\u{202e}",
    "null",
    "None",
    "\"null\"",
    "\"",
    "\"\"",
    "true",
    "{\"out_0\": 1}",
    "[1, 2]",
    "<out_0>",
    "</out_0>",
    "<think>",
    "</think>\n",
    "```",
    "\n```json\n",
    "«»",
];

/// A text: empty, ordinary or hostile.
pub fn text(rng: &mut Rng) -> String {
    match rng.below(8) {
        0 => String::new(),
        1..=3 => pieces(rng, &PLAIN),
        _ => hostile(rng),
    }
}

/// A text in which pieces of formats stand between ordinary ones.
pub fn hostile(rng: &mut Rng) -> String {
    let mut out = String::new();
    for _ in 0..=rng.below(6) {
        out.push_str(if rng.once_in(3) { rng.pick(&PLAIN) } else { rng.pick(&HOSTILE) });
    }
    out
}

fn pieces(rng: &mut Rng, from: &[&str]) -> String {
    (0..=rng.below(8)).map(|_| rng.pick(from)).collect()
}

/// Any characters at all.
pub fn noise(rng: &mut Rng) -> String {
    (0..rng.below(40))
        .filter_map(|_| match rng.below(4) {
            0 => char::from_u32(u32::try_from(rng.below(0x11_0000)).ok()?),
            _ => char::from_u32(u32::try_from(rng.below(0x80)).ok()?),
        })
        .collect()
}

/// Which types a signature has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Types {
    /// All of them.
    All,
    /// Those whose values read as they are written where nothing is quoted: no union, nothing of any type, no
    /// text or choice that may be none.
    Unquoted,
}

/// A described type with its values.
#[derive(Debug, Clone)]
pub enum Ty {
    /// A text, as the type of this name.
    Text(&'static str),
    /// Source code.
    Code,
    /// A whole number.
    Int,
    /// Any number.
    Float,
    /// A truth value.
    Bool,
    /// A date and time, or a date.
    Time(&'static str),
    /// Any value.
    Any,
    /// One of some values.
    Literal(Vec<Json>),
    /// One of some named values.
    Enum(String, Vec<(String, Json)>),
    /// A value or null.
    Optional(Box<Ty>),
    /// A list.
    List(Box<Ty>),
    /// A map from text.
    Dict(Box<Ty>),
    /// A named object.
    Object(String, Vec<(String, Ty)>),
    /// One of several types.
    Union(Vec<Ty>),
}

impl Ty {
    /// A type, at most `depth` levels deep.
    pub fn any(rng: &mut Rng, depth: usize, types: Types) -> Ty {
        let scalars = 10;
        let kinds = if depth == 0 { scalars } else { scalars + 6 };
        match rng.below(kinds) {
            0 | 1 => Ty::Text("str"),
            2 => Ty::Text("reasoning"),
            3 => Ty::Int,
            4 => Ty::Float,
            5 => Ty::Bool,
            6 => Ty::Time(["datetime", "date"][rng.below(2)]),
            7 if types == Types::All => Ty::Any,
            8 => Ty::Literal(members(rng, types)),
            9 => {
                let values = members(rng, types);
                let name = format!("Enum{}", rng.below(1 << 30));
                Ty::Enum(
                    name,
                    values.into_iter().enumerate().map(|(at, value)| (format!("M{at}"), value)).collect(),
                )
            }
            10 => match Ty::any(rng, depth - 1, types) {
                // A null in a null has no spelling of its own.
                inner @ (Ty::Optional(_) | Ty::Any) => inner,
                inner if types == Types::Unquoted && inner.is_bare() => inner,
                inner => Ty::Optional(Box::new(inner)),
            },
            11 | 12 => Ty::List(Box::new(Ty::any(rng, depth - 1, types).inside())),
            13 => Ty::Dict(Box::new(Ty::any(rng, depth - 1, types).inside())),
            14 => {
                let name = format!("Object{}", rng.below(1 << 30));
                let fields =
                    (0..=rng.below(3)).map(|at| (format!("f{at}"), Ty::any(rng, depth - 1, types).inside()));
                Ty::Object(name, fields.collect())
            }
            15 if types == Types::All => {
                // In an order in which no branch takes what another one writes: a text takes every text (§8.4), and
                // `1` is a truth value too.
                let mut branches = vec![Ty::Int, Ty::Bool, Ty::List(Box::new(Ty::Int)), Ty::Text("str")];
                for _ in 0..rng.below(3) {
                    branches.remove(rng.below(branches.len()));
                }
                Ty::Union(branches)
            }
            _ => Ty::Code,
        }
    }

    /// The type as a part of another one.
    fn inside(self) -> Ty {
        match self {
            Ty::Text(_) | Ty::Code => Ty::Text("str"),
            ty => ty,
        }
    }

    fn is_bare(&self) -> bool {
        matches!(self, Ty::Text(_) | Ty::Code | Ty::Literal(_) | Ty::Enum(..))
    }

    /// The type in the language of described signatures.
    pub fn json(&self) -> Json {
        match self {
            Ty::Text(word) | Ty::Time(word) => json!(word),
            Ty::Code => json!({ "code": "python" }),
            Ty::Int => json!("int"),
            Ty::Float => json!("float"),
            Ty::Bool => json!("bool"),
            Ty::Any => json!("any"),
            Ty::Literal(members) => json!({ "literal": members }),
            Ty::Enum(name, members) => json!({ "enum": { "name": name, "members": members } }),
            Ty::Optional(inner) => json!({ "optional": inner.json() }),
            Ty::List(inner) => json!({ "list": inner.json() }),
            Ty::Dict(inner) => json!({ "dict": inner.json() }),
            Ty::Object(name, fields) => {
                let fields: Vec<Json> =
                    fields.iter().map(|(name, ty)| json!({ "name": name, "type": ty.json() })).collect();
                json!({ "object": { "name": name, "fields": fields } })
            }
            Ty::Union(branches) => json!({ "union": branches.iter().map(Ty::json).collect::<Vec<_>>() }),
        }
    }

    /// Whether a field of this type is text as it stands.
    pub fn is_text(&self) -> bool {
        match self {
            Ty::Text(_) | Ty::Code => true,
            Ty::Optional(inner) => inner.is_text(),
            _ => false,
        }
    }

    /// A value of the type.
    pub fn value(&self, rng: &mut Rng) -> Value {
        match self {
            Ty::Text(_) => text(rng).into(),
            // A fence in it would be taken off, as the format says.
            Ty::Code => text(rng).replace('`', "").into(),
            Ty::Int => int(rng).into(),
            Ty::Float => float(rng).into(),
            Ty::Bool => rng.once_in(2).into(),
            Ty::Time("date") => rng.pick(&["2024-02-29", "0001-01-01", "9999-12-31"]).into(),
            Ty::Time(_) => rng
                .pick(&[
                    "2024-11-27T14:00:00",
                    "2024-11-27T14:00:00Z",
                    "2024-11-27T14:00:00.120000",
                    "1999-12-31T23:59:59.000001-05:30",
                ])
                .into(),
            Ty::Any => any_value(rng, 3),
            Ty::Literal(members) => members[rng.below(members.len())].clone().into(),
            Ty::Enum(_, members) => members[rng.below(members.len())].1.clone().into(),
            Ty::Optional(_) if rng.once_in(3) => Value::Null,
            Ty::Optional(inner) => inner.value(rng),
            Ty::List(inner) => {
                let items: Vec<Value> = (0..rng.below(4)).map(|_| inner.value(rng)).collect();
                items.into()
            }
            Ty::Dict(inner) => {
                let entries: Map = (0..rng.below(4)).map(|_| (text(rng), inner.value(rng))).collect();
                entries.into()
            }
            Ty::Object(_, fields) => {
                let entries: Map = fields.iter().map(|(name, ty)| (name.clone(), ty.value(rng))).collect();
                entries.into()
            }
            Ty::Union(branches) => branches[rng.below(branches.len())].value(rng),
        }
    }
}

/// Members of a choice: no two that one text could mean.
fn members(rng: &mut Rng, types: Types) -> Vec<Json> {
    let mut all = vec![
        json!("red"),
        json!("dark blue"),
        json!("she's"),
        json!("three\""),
        json!("a, b"),
        json!("Ä"),
        json!(7),
        json!(-12),
    ];
    if types == Types::All {
        all.extend([json!(" padded "), json!(""), json!("null"), json!("[[ ## out_0 ## ]]")]);
    }
    for at in (1..all.len()).rev() {
        all.swap(at, rng.below(at + 1));
    }
    all.truncate(1 + rng.below(4));
    all
}

/// A whole number, often at an edge.
pub fn int(rng: &mut Rng) -> i64 {
    match rng.below(4) {
        0 => [0, 1, -1, i64::MAX, i64::MIN, 1 << 53][rng.below(6)],
        1 => i64::from_ne_bytes(rng.bits().to_ne_bytes()),
        _ => i64::try_from(rng.below(2000)).unwrap_or(0) - 1000,
    }
}

/// A finite float, often at an edge.
pub fn float(rng: &mut Rng) -> f64 {
    let edges = [0.0, -0.0, 1.0, 1e16, 1e-5, 0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e22, 123_456.789];
    let value = match rng.below(3) {
        0 => edges[rng.below(edges.len())],
        1 => f64::from_bits(rng.bits()),
        _ => f64::from(i32::try_from(rng.below(20_000)).unwrap_or(0) - 10_000) / 8.0,
    };
    if value.is_finite() { value } else { 0.5 }
}

/// A value without a type.
pub fn any_value(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => rng.once_in(2).into(),
        2 => int(rng).into(),
        3 => float(rng).into(),
        4 => text(rng).into(),
        5 => (0..rng.below(4)).map(|_| any_value(rng, depth - 1)).collect::<Vec<_>>().into(),
        _ => (0..rng.below(4)).map(|_| (text(rng), any_value(rng, depth - 1))).collect::<Map>().into(),
    }
}

/// Any JSON.
pub fn any_json(rng: &mut Rng, depth: usize) -> Json {
    serde_json::to_value(any_value(rng, depth)).unwrap_or(Json::Null)
}

/// A signature with inputs `in_0`, … and outputs `out_0`, …, as data, and the types of its fields.
#[derive(Debug, Clone)]
pub struct Described {
    /// What `SignatureSpec::from_json` reads.
    pub json: Json,
    /// The inputs by name.
    pub inputs: Vec<(String, Ty)>,
    /// The outputs by name.
    pub outputs: Vec<(String, Ty)>,
}

impl Described {
    /// A signature of up to three inputs and four outputs.
    pub fn any(rng: &mut Rng, types: Types) -> Described {
        let side = |rng: &mut Rng, word: &str, count: usize| -> Vec<(String, Ty)> {
            (0..count).map(|at| (format!("{word}_{at}"), Ty::any(rng, 2, types))).collect()
        };
        let (inputs, outputs) = (rng.below(4), 1 + rng.below(4));
        let inputs = side(rng, "in", inputs);
        let outputs = side(rng, "out", outputs);
        let fields = |rng: &mut Rng, side: &[(String, Ty)]| -> Vec<Json> {
            side.iter()
                .map(|(name, ty)| {
                    let mut field = json!({ "name": name, "type": ty.json() });
                    if rng.once_in(3) {
                        field["desc"] = text(rng).into();
                    }
                    field
                })
                .collect()
        };
        let mut json = json!({ "inputs": fields(rng, &inputs), "outputs": fields(rng, &outputs) });
        if rng.once_in(2) {
            json["instructions"] = text(rng).into();
        }
        Described { json, inputs, outputs }
    }

    /// Values of one side.
    pub fn values(rng: &mut Rng, side: &[(String, Ty)]) -> imp::Fields {
        side.iter().map(|(name, ty)| (name.clone(), ty.value(rng))).collect()
    }
}

/// The value with the entries of its maps in the order of their keys, so that two can be compared.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::List(items) => items.iter().map(sorted).collect::<Vec<_>>().into(),
        Value::Map(map) => {
            let mut entries: Vec<(&str, Value)> =
                map.iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            entries.into_iter().collect::<Map>().into()
        }
        value => value.clone(),
    }
}

//! A signature as a line of text: `intent -> team: enum[atlas, beacon], score: float "0 to 1"`.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::data::Types;
use crate::error::SpecError;
use crate::nearest::nearest;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::types::AnswerShape;

/// Types nested deeper than this are refused, so that reading them needs little stack.
const DEPTH: usize = 32;

/// How many characters of a line an error shows on each side of its place.
const WINDOW: usize = 200;

/// The words of types, as they may be written, and what they are in the language of
/// [`described`](super::data).
const TYPES: [(&str, &str); 14] = [
    ("string", "str"),
    ("str", "str"),
    ("integer", "int"),
    ("int", "int"),
    ("float", "float"),
    ("number", "float"),
    ("boolean", "bool"),
    ("bool", "bool"),
    ("datetime", "datetime"),
    ("object", "object"),
    ("map", "object"),
    ("dict", "object"),
    ("array", "array"),
    // Not in Imp: the type language has it, and a described reasoning field is common.
    ("reasoning", "reasoning"),
];

const SHAPES: [(&str, AnswerShape); 3] = [
    ("yes_no", AnswerShape::YesNo),
    ("short_span", AnswerShape::ShortSpan),
    ("numeric_span", AnswerShape::NumericSpan),
];

/// The signature that a text describes (§1.1).
pub(crate) fn parse(text: &str) -> Result<SignatureSpec, SpecError> {
    let arrows = outside(text, "->");
    let (inputs, outputs) = match arrows.as_slice() {
        [arrow] => (0..*arrow, arrow + 2..text.len()),
        [] => {
            return Err(invalid(
                text,
                text.len(),
                "there is no `->` between the inputs and the outputs",
                None,
            ));
        }
        [_, second, ..] => return Err(invalid(text, *second, "there is a second `->`", None)),
    };
    let mut types = Types::default();
    let inputs = fields(text, inputs, &mut types)?;
    let outputs = fields(text, outputs, &mut types)?;
    if outputs.is_empty() {
        return Err(invalid(
            text,
            text.len(),
            "there is no output behind the `->`",
            Some("name what the model shall answer, as in `question -> answer`".to_owned()),
        ));
    }
    SignatureSpec::build(String::new(), None, inputs, outputs, None, None)
}

/// A type as it was written, in the type language.
pub(crate) struct Written {
    pub(crate) ty: Json,
    pub(crate) shape: Option<AnswerShape>,
}

/// What is wrong with a written type.
pub(crate) struct Unknown {
    /// The byte at which it starts.
    at: usize,
    message: String,
    suggestion: Option<String>,
}

impl Unknown {
    /// The error of a type that stands alone, without a signature around it.
    pub(crate) fn into_message(self) -> String {
        match self.suggestion {
            Some(suggestion) => format!("{}: {suggestion}", self.message),
            None => self.message,
        }
    }
}

/// The characters of a text with their places, those in quotes left out, and how many brackets are open
/// behind each of them.
///
/// A `"` quotes anywhere, a `'` only at the start of a member: `enum[it's, 'a, b']`. `inside` says that the
/// text is what brackets enclose.
fn bare(text: &str, inside: bool) -> impl Iterator<Item = (usize, char, usize)> {
    let (mut quote, mut escaped, mut depth, mut starts) = (None, false, 0usize, inside);
    text.char_indices().filter_map(move |(at, c)| {
        if let Some(open) = quote {
            if !escaped && c == open {
                quote = None;
            }
            escaped = !escaped && c == '\\';
            return None;
        }
        match c {
            '"' => quote = Some(c),
            '\'' if starts && (inside || depth > 0) => quote = Some(c),
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        starts = matches!(c, '[' | ',' | '|') || (starts && c.is_whitespace());
        Some((at, c, depth))
    })
}

/// The bytes at which `needle` stands outside quotes and brackets.
fn outside(text: &str, needle: &str) -> Vec<usize> {
    let found = bare(text, false).filter(|&(at, _, depth)| depth == 0 && text[at..].starts_with(needle));
    found.map(|(at, ..)| at).collect()
}

fn fields(
    text: &str,
    side: std::ops::Range<usize>,
    types: &mut Types,
) -> Result<Vec<Arc<FieldSpec>>, SpecError> {
    let part = &text[side.clone()];
    if part.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut fields = Vec::new();
    let mut start = 0;
    for end in outside(part, ",").into_iter().chain([part.len()]) {
        fields.push(Arc::new(field(text, side.start + start, &part[start..end], types)?));
        start = end + 1;
    }
    Ok(fields)
}

/// The field that `part` describes, which starts at the byte `start` of the text.
fn field(text: &str, start: usize, part: &str, types: &mut Types) -> Result<FieldSpec, SpecError> {
    if part.trim().is_empty() {
        return Err(invalid(text, start, "a field without a name", None));
    }
    let start = start + (part.len() - part.trim_start().len());
    let part = part.trim();
    let (name, rest) = match part.split_once(':') {
        // The colon of a description is none.
        Some((name, rest)) if !name.contains('"') => (name.trim_end(), Some(rest)),
        _ => (part, None),
    };
    if name.is_empty() {
        return Err(invalid(text, start, "a field without a name", None));
    }
    if rest.is_none() && name.contains('"') {
        let at = start + name.find('"').unwrap_or(0);
        return Err(invalid(
            text,
            at,
            "a description needs a type before it",
            Some("write `name: string \"…\"`".to_owned()),
        ));
    }
    let mut chars = name.chars();
    let ascii = chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !ascii {
        return Err(invalid(
            text,
            start,
            &format!("invalid field name \"{name}\""),
            Some("a name is a letter or `_`, then letters, digits and `_`".to_owned()),
        ));
    }
    let Some(rest) = rest else {
        return types.field(name, &json!("str"), None).map_err(|error| error.at(chars_before(text, start)));
    };
    let rest_start = start + (part.len() - rest.len());
    let (written, description) = description(text, rest_start, rest)?;
    let at = rest_start + (written.len() - written.trim_start().len());
    if written.trim().is_empty() {
        return Err(invalid(text, at, &format!("field `{name}` has no type behind the colon"), None));
    }
    let written = parse_type(written.trim())
        .map_err(|unknown| invalid(text, at + unknown.at, &unknown.message, unknown.suggestion))?;
    let mut field = types.field(name, &written.ty, written.shape)?;
    field.description = description;
    Ok(field)
}

/// A field's type and the description in quotes behind it.
fn description<'t>(text: &str, start: usize, rest: &'t str) -> Result<(&'t str, Option<String>), SpecError> {
    let Some(open) = outside_quote(rest) else { return Ok((rest, None)) };
    let mut description = String::new();
    let mut chars = rest[open + 1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'n')) => description.push('\n'),
                Some((_, escaped)) => description.push(escaped),
                None => break,
            },
            '"' => {
                let after = &rest[open + 1 + at + 1..];
                if !after.trim().is_empty() {
                    let at = open + 1 + at + 1 + (after.len() - after.trim_start().len());
                    return Err(invalid(
                        text,
                        start + at,
                        "there is something behind the description",
                        Some("fields are separated by commas".to_owned()),
                    ));
                }
                return Ok((&rest[..open], Some(description)));
            }
            c => description.push(c),
        }
    }
    Err(invalid(text, start + open, "the description is not closed", Some("add a `\"`".to_owned())))
}

/// The first quote that is not inside brackets.
fn outside_quote(text: &str) -> Option<usize> {
    bare(text, false).find(|&(_, c, depth)| c == '"' && depth == 0).map(|(at, ..)| at)
}

/// The members of an enum: bare, or in quotes of either kind, in which a backslash keeps the next character.
/// An error has the byte of `inner` at which it is.
fn members(inner: &str) -> Result<Vec<String>, (usize, String, Option<String>)> {
    let mut members = Vec::new();
    let mut seen = HashSet::new();
    let mut start = 0;
    let ends =
        bare(inner, true).filter(|&(_, c, depth)| depth == 0 && matches!(c, ',' | '|')).map(|(at, ..)| at);
    for end in ends.chain([inner.len()]) {
        let part = &inner[start..end];
        let at = start + (part.len() - part.trim_start().len());
        start = end + 1;
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        let member = match part.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            Some(quote) => quoted(part, quote).map_err(|(message, remedy)| (at, message, Some(remedy)))?,
            None => part.to_owned(),
        };
        if !seen.insert(member.clone()) {
            return Err((
                at,
                format!("the member {member:?} is there twice"),
                Some("remove one of them".to_owned()),
            ));
        }
        members.push(member);
    }
    Ok(members)
}

/// The content of a member in quotes.
fn quoted(part: &str, quote: char) -> Result<String, (String, String)> {
    let mut member = String::new();
    let mut chars = part.chars();
    chars.next();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => member.push('\n'),
                Some(escaped) => member.push(escaped),
                None => break,
            },
            c if c == quote && chars.as_str().is_empty() => return Ok(member),
            c if c == quote => {
                return Err((
                    "there is something behind the quotes of a member".to_owned(),
                    "members are separated by commas; write a quote in quotes as `\\\"`".to_owned(),
                ));
            }
            c => member.push(c),
        }
    }
    Err(("the quotes of a member are not closed".to_owned(), format!("add a `{quote}`")))
}

/// The type that `text` names.
pub(crate) fn parse_type(text: &str) -> Result<Written, Unknown> {
    written(text, 0, 0)
}

fn written(text: &str, at: usize, depth: usize) -> Result<Written, Unknown> {
    let plain = |ty: Json| Ok(Written { ty, shape: None });
    let fault = |message: String, suggestion: Option<String>| Unknown { at, message, suggestion };
    let unknown = |suggestion: Option<String>| fault(format!("unknown field type \"{text}\""), suggestion);
    if depth > DEPTH {
        return Err(fault(format!("the type is nested more than {DEPTH} deep"), None));
    }
    if let Some((_, ty)) = TYPES.iter().find(|(word, _)| *word == text) {
        return plain(json!(ty));
    }
    if let Some((_, shape)) = SHAPES.iter().find(|(word, _)| *word == text) {
        return Ok(Written { ty: json!("str"), shape: Some(*shape) });
    }
    let (word, inner) = match text.find('[') {
        Some(open) => {
            let close = bare(text, false).find(|&(at, _, depth)| at > open && depth == 0).map(|(at, ..)| at);
            let Some(close) = close else {
                // An odd quote takes the bracket for a part of the text that it opens.
                let quote = text
                    .ends_with(']')
                    .then(|| text.contains('"'))
                    .map(|double| if double { '"' } else { '\'' });
                let remedy = match quote {
                    Some(quote) => format!("the quotes of a member are not closed: add a `{quote}`"),
                    None => "add a `]`".to_owned(),
                };
                return Err(fault(format!("the type \"{text}\" is not closed"), Some(remedy)));
            };
            let behind = &text[close + 1..];
            if !behind.is_empty() {
                return Err(Unknown {
                    at: at + close + 1 + (behind.len() - behind.trim_start().len()),
                    message: format!("there is something behind the type \"{}\"", &text[..=close]),
                    suggestion: Some(if behind.trim_start().starts_with(']') {
                        "remove the `]`".to_owned()
                    } else {
                        "fields are separated by commas, and a description stands in quotes".to_owned()
                    }),
                });
            }
            (&text[..open], Some(&text[open + 1..close]))
        }
        None => (text, None),
    };
    match (word, inner) {
        ("array", Some(inner)) => {
            let inner_at = at + "array[".len() + (inner.len() - inner.trim_start().len());
            let items = written(inner.trim(), inner_at, depth + 1)?;
            if items.shape.is_some() {
                return Err(Unknown {
                    at: inner_at,
                    message: format!(
                        "\"{}\" is for a whole field, not for the items of an array",
                        inner.trim()
                    ),
                    suggestion: Some("did you mean \"array[string]\"?".to_owned()),
                });
            }
            plain(json!({ "list": items.ty }))
        }
        ("enum" | "class", Some(inner)) => {
            let members = members(inner).map_err(|(place, message, suggestion)| Unknown {
                at: at + word.len() + 1 + place,
                message,
                suggestion,
            })?;
            if members.is_empty() {
                return Err(fault(
                    format!("\"{text}\" has no members"),
                    Some(format!("write them as in \"{word}[a, b]\"")),
                ));
            }
            plain(json!({ "literal": members }))
        }
        ("enum" | "class", None) => Err(unknown(Some(format!("did you mean \"{word}[a, b]\"?")))),
        ("list" | "List", inner) => {
            let instead = match inner {
                Some(inner) => {
                    format!("array[{}]", inner.replace("list[", "array[").replace("List[", "array["))
                }
                None => "array".to_owned(),
            };
            Err(unknown(Some(format!(
                "did you mean \"{instead}\"? (Imp uses array[...] where DSPy uses list[...])"
            ))))
        }
        ("Literal", Some(inner)) => {
            let members: Vec<&str> =
                inner.split(',').map(|member| member.trim().trim_matches(['\'', '"'])).collect();
            Err(unknown(Some(format!("did you mean \"enum[{}]\"?", members.join(", ")))))
        }
        (word, _) => {
            let known = TYPES.iter().map(|(word, _)| *word).chain(SHAPES.iter().map(|(word, _)| *word));
            let near = nearest(word, known.chain(["enum", "class"]));
            let near = near.map(|near| match (near, inner) {
                ("array", Some(inner)) => format!("array[{inner}]"),
                ("enum" | "class", Some(inner)) => format!("{near}[{inner}]"),
                (near, _) => near.to_owned(),
            });
            Err(unknown(near.map(|near| format!("did you mean \"{near}\"?"))))
        }
    }
}

fn chars_before(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.chars().count())
}

/// The error at the byte `at`: its place, the line of the text, a caret, and what to do.
fn invalid(text: &str, at: usize, message: &str, suggestion: Option<String>) -> SpecError {
    let position = chars_before(text, at);
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    // Of a long line the part around the place.
    let before = &text[line_start..at];
    let skip = before.chars().count().saturating_sub(WINDOW);
    let before: String = before.chars().skip(skip).collect();
    let behind: String = text[at..].lines().next().unwrap_or("").chars().take(WINDOW).collect();
    let (line, blanks) = (format!("{before}{behind}"), " ".repeat(before.chars().count()));
    let mut full = format!("invalid signature at position {position}: {message}\n{line}\n{blanks}^");
    if let Some(suggestion) = suggestion {
        full.push('\n');
        full.push_str(&suggestion);
    }
    SpecError::new(full).at(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::field_list::field_list;
    use crate::dialect::Dialect;

    #[test]
    fn texts_become_signatures() {
        for (text, inputs, outputs) in [
            ("question -> answer", "1. `question` (string):", "1. `answer` (string):"),
            (
                r#"a,b : int->c: array[array[float]] , d:enum[x, y |z,] "which, \"one\"""#,
                "1. `a` (string): \n2. `b` (integer):",
                "1. `c` (list of lists of numbers): \n2. `d` (one of: x, y, z): which, \"one\"",
            ),
            (
                "-> a: bool, b: number, c: datetime, d: dict, e: array, f: class[p|q]",
                "",
                "1. `a` (true or false): \n2. `b` (number): \n3. `c` (ISO 8601 date and time): \n\
                 4. `d` (object): \n5. `e` (list): \n6. `f` (one of: p, q):",
            ),
            (
                r#"q -> a: yes_no, b: numeric_span "how -> many""#,
                "1. `q` (string):",
                "1. `a` (string): Must be exactly yes or no.\n2. `b` (string): how -> many Must be only the \
                 numeric answer span, with no words or explanation.",
            ),
        ] {
            let spec = parse(text).unwrap();
            assert_eq!(field_list(&spec.inputs, Dialect::Plain, true), inputs, "{text}");
            assert_eq!(field_list(&spec.outputs, Dialect::Plain, true), outputs, "{text}");
        }
    }

    #[test]
    fn members_may_be_quoted() {
        for (text, members) in [
            (r#"-> a: enum["x, y", z]"#, r#"["x, y","z"]"#),
            ("-> a: enum['a','b]', 'c, d'] \"what\"", r#"["a","b]","c, d"]"#),
            (r#"-> a: enum["say \"a\"", it's, '']"#, r#"["say \"a\"","it's",""]"#),
            ("-> a: array[enum[ \"b|c\" | d ]], e", r#"["b|c","d"]"#),
        ] {
            let spec = parse(text).unwrap();
            let schema = spec.outputs[0].schema();
            let found = schema.get("items").unwrap_or(schema)["enum"].to_string();
            assert_eq!(found, members, "{text}");
        }
    }

    #[test]
    fn a_fault_is_shown_at_its_place() {
        for (text, error) in [
            (
                "ä -> b",
                "invalid signature at position 0: invalid field name \"ä\"\nä -> b\n^\n\
                 a name is a letter or `_`, then letters, digits and `_`",
            ),
            (
                "q -> n: intger",
                "invalid signature at position 8: unknown field type \"intger\"\nq -> n: intger\n        ^\n\
                 did you mean \"integer\"?",
            ),
            (
                "q -> n: list[list[str]]",
                "invalid signature at position 8: unknown field type \"list[list[str]]\"\n\
                 q -> n: list[list[str]]\n        ^\ndid you mean \"array[array[str]]\"? (Imp uses array[...] \
                 where DSPy uses list[...])",
            ),
            (
                "q -> n: array[ flot ]",
                "invalid signature at position 15: unknown field type \"flot\"\nq -> n: array[ flot ]\n\
                 \u{20}              ^\ndid you mean \"float\"?",
            ),
            (
                "q -> n: qqqqqqq",
                "invalid signature at position 8: unknown field type \"qqqqqqq\"\nq -> n: qqqqqqq\n        ^",
            ),
            ("q, -> n", "invalid signature at position 2: a field without a name\nq, -> n\n  ^"),
            (
                "q -> n \"text\"",
                "invalid signature at position 7: a description needs a type before it\nq -> n \"text\"\n\
                 \u{20}      ^\nwrite `name: string \"…\"`",
            ),
            (
                "q",
                "invalid signature at position 1: there is no `->` between the inputs and the outputs\nq\n ^",
            ),
            ("a -> b -> c", "invalid signature at position 7: there is a second `->`\na -> b -> c\n       ^"),
            (
                "a -> b: str \"x",
                "invalid signature at position 12: the description is not closed\na -> b: str \"x\n\
                 \u{20}           ^\nadd a `\"`",
            ),
            (
                "a -> b: Literal['x', 'y']",
                "invalid signature at position 8: unknown field type \"Literal['x', 'y']\"\n\
                 a -> b: Literal['x', 'y']\n        ^\ndid you mean \"enum[x, y]\"?",
            ),
            (
                "a -> b: enum[x, y, x]",
                "invalid signature at position 19: the member \"x\" is there twice\na -> b: enum[x, y, x]\n\
                 \u{20}                  ^\nremove one of them",
            ),
            (
                "a -> b: enum[x]]",
                "invalid signature at position 15: there is something behind the type \"enum[x]\"\n\
                 a -> b: enum[x]]\n               ^\nremove the `]`",
            ),
            (
                "a -> b: enum[x]y",
                "invalid signature at position 15: there is something behind the type \"enum[x]\"\n\
                 a -> b: enum[x]y\n               ^\n\
                 fields are separated by commas, and a description stands in quotes",
            ),
            (
                "a -> b: enum['x, y]",
                "invalid signature at position 8: the type \"enum['x, y]\" is not closed\n\
                 a -> b: enum['x, y]\n        ^\nthe quotes of a member are not closed: add a `'`",
            ),
            (
                "a -> b: enum['x'y]",
                "invalid signature at position 13: there is something behind the quotes of a member\n\
                 a -> b: enum['x'y]\n             ^\n\
                 members are separated by commas; write a quote in quotes as `\\\"`",
            ),
            (
                "a ->",
                "invalid signature at position 4: there is no output behind the `->`\na ->\n    ^\n\
                 name what the model shall answer, as in `question -> answer`",
            ),
            ("a -> a", "field `a`: the name is both an input's and an output's: rename one of them"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), error, "{text}");
        }
    }

    #[test]
    fn no_text_panics() {
        let alphabet = ["a", ":", "->", ",", "[", "]", "\"", "\\", " ", "array", "enum", "é", "\n", "|"];
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..seed % 12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(alphabet[(seed >> 33) as usize % alphabet.len()]);
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let _ = parse(&text);
        }
        let deep = format!("a -> b: {}str{}", "array[".repeat(5000), "]".repeat(5000));
        assert!(parse(&deep).unwrap_err().to_string().contains("nested more than 32 deep"));
    }
}

//! The value of a text.
//!
//! A text is read once, from front to back, as the type asks: [`parser`] knows JSON and what is forgiven,
//! [`de`] lets serde ask for what is inside it, [`top`] for what a section says as a whole. Values without a
//! Rust type are read by [`described`] and made to fit by [`conform`].

pub(crate) mod arguments;
mod check;
mod conform;
mod de;
pub(crate) mod denial;
mod described;
mod failure;
mod forgive;
mod from_value;
pub(crate) mod loose;
mod parser;
pub(crate) mod partial;
pub(crate) mod scalar;
mod top;

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;

use self::failure::{Failure, Step, Why};
use self::forgive::Slips;
use self::parser::Parser;
pub use crate::error::ReadError;
use crate::types::{Checks, Kind, Type, TypeTree};
use crate::value::Value;

/// What an output was written as.
#[derive(Debug, Clone)]
pub enum Source<'r> {
    /// The text of a section.
    Text(Cow<'r, str>),
    /// A JSON value.
    Json(Cow<'r, str>),
}

impl Source<'_> {
    /// The text as written.
    pub fn text(&self) -> &str {
        match self {
            Source::Text(text) | Source::Json(text) => text,
        }
    }
}

/// What is forgiven when a text is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    pub(crate) dialect: crate::dialect::Dialect,
    /// Whether escaped marker lines are read back.
    pub(crate) unescape: bool,
}

/// A source, as far as it can be told without a type.
#[derive(Debug)]
struct Input<'a> {
    given: Given<'a>,
    unescape: bool,
}

#[derive(Debug)]
enum Given<'a> {
    /// The text of a section.
    Text(&'a str),
    /// The content of a JSON string.
    Quoted(Cow<'a, str>),
    /// Any other JSON.
    Json(&'a str),
}

impl<'a> Input<'a> {
    fn new(source: &'a Source<'_>, options: ReadOptions) -> Result<Self, Failure> {
        let given = match source {
            Source::Text(text) => Given::Text(text),
            Source::Json(text) => {
                let mut parser = Parser::new(text, Slips::of(options.dialect), options.dialect);
                match parser.peek()? {
                    parser::Peek::String => {
                        let content = parser.string()?;
                        parser.finish()?;
                        Given::Quoted(content)
                    }
                    parser::Peek::Bare => match parser.bare_value()? {
                        Value::String(content) => Given::Quoted(content.into()),
                        _ => Given::Json(text),
                    },
                    parser::Peek::Number => match parser.number() {
                        Ok(Err(text)) => Given::Quoted(text),
                        _ => Given::Json(text),
                    },
                    _ => Given::Json(text),
                }
            }
        };
        Ok(Input { given, unescape: options.unescape })
    }
}

/// Reads a value of `T` whose type is `tree`; `checks` are the bounds of the field itself.
///
/// # Errors
///
/// The text is no value of the type, or breaks a bound.
pub(crate) fn read<T: DeserializeOwned>(
    source: &Source<'_>,
    tree: &TypeTree,
    checks: Option<&Checks>,
    options: ReadOptions,
) -> Result<T, ReadError> {
    let input = Input::new(source, options).map_err(|failure| error(source, options, &failure))?;
    let mut reading = top::Reading::new(&input, tree, checks, options.dialect);
    let mut result = T::deserialize(reading.top());
    // Each further attempt has its own reason, and the first that succeeds counts.
    while let Some(next) = reading.next(result.as_ref().err()) {
        result = match next {
            top::Next::Text => T::deserialize(reading.top()).or(result),
            top::Next::Value(value) => T::deserialize(from_value::FromValue(value)).or(result),
        };
    }
    let result = match result {
        Ok(value) => reading.check().map(|()| value),
        Err(failure) => Err(reading.failure(failure)),
    };
    result.map_err(|failure| error(source, options, &failure))
}

/// Reads a value without a Rust type, as `tree` directs.
///
/// The properties of objects come in the order of the reply, those that have a default and are absent behind
/// them; keys that an object does not have are dropped.
///
/// # Errors
///
/// The text is no value of the type, or breaks a bound.
pub(crate) fn read_value(
    source: &Source<'_>,
    tree: &TypeTree,
    checks: Option<&Checks>,
    options: ReadOptions,
) -> Result<Value, ReadError> {
    let read = || {
        let input = Input::new(source, options)?;
        let value = described::read(&input, tree, checks, options.dialect, false)?;
        if let Some(checks) = checks {
            check::value(&value, checks)?;
        }
        Ok(value)
    };
    read().map_err(|failure| error(source, options, &failure))
}

/// Whether a value that was not read, a default, is one of the type `ty` within the bounds of its field.
///
/// # Errors
///
/// Why it is not, with the place inside it.
pub(crate) fn check_value(
    value: &Value,
    tree: &TypeTree,
    ty: &Type,
    checks: Option<&Checks>,
) -> Result<(), String> {
    let dialect = crate::dialect::Dialect::Plain;
    // A number that is not finite can be given where none can be read.
    let conform = conform::Conform { tree, dialect, typed: false, inf_nan: true };
    let fit = conform.value(value, ty).and_then(|fit| match checks {
        Some(checks) => check::value(&fit.value, checks),
        None => Ok(()),
    });
    fit.map_err(|failure| match failure.path() {
        path if path.is_empty() => failure.message().to_owned(),
        path => format!("{}: {}", path.trim_start_matches('.'), failure.message()),
    })
}

/// One entry of a reply that is a JSON object.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) value: Source<'a>,
    /// Where the value is in the reply.
    pub(crate) span: Range<usize>,
}

/// An object that could not be read to its end.
#[derive(Debug)]
pub(crate) struct BrokenObject<'a> {
    /// Whether there is one at all.
    pub(crate) begins: bool,
    /// What was whole.
    pub(crate) entries: Vec<Entry<'a>>,
    /// The key whose value was not, and what is wrong with that.
    pub(crate) cut: Option<(Cow<'a, str>, ReadError)>,
    /// Where it breaks, and why.
    pub(crate) error: ReadError,
}

/// The entries of the JSON object in a text, what is around it aside (§9.3, §10).
///
/// The first `{` begins the object. Of two equal keys both are given, in order; the last counts.
///
/// # Errors
///
/// There is no object in the text, or it is broken beyond what the dialect forgives.
pub(crate) fn entries(text: &str, options: ReadOptions) -> Result<Vec<Entry<'_>>, Box<BrokenObject<'_>>> {
    let dspy = options.dialect == crate::dialect::Dialect::Dspy;
    if dspy {
        // An object inside a JSON string is looked for there.
        if let Some(content) = described::quoted(text) {
            let whole = 0..text.len();
            let detached =
                |list: Vec<Entry<'_>>| list.into_iter().map(|entry| entry.detached(&whole)).collect();
            return match entries(&content, options) {
                Ok(list) => Ok(detached(list)),
                Err(broken) => Err(Box::new(BrokenObject {
                    begins: broken.begins,
                    error: ReadError { span: whole.clone(), ..broken.error },
                    entries: detached(broken.entries),
                    cut: broken.cut.map(|(key, error)| {
                        (key.into_owned().into(), ReadError { span: whole.clone(), ..error })
                    }),
                })),
            };
        }
    }
    // DSPy reads on in front of a value; the object that a value is, is not the one that is meant.
    let is_value = |start: &usize| dspy && is_behind_key(text.get(..*start).unwrap_or_default());
    let failed = |failure| error(&Source::Text(text.into()), options, &failure);
    let Some(start) = object_start(text, options.dialect).filter(|start| !is_value(start)) else {
        let error = failed(Failure::expected("object"));
        return Err(Box::new(BrokenObject { begins: false, entries: Vec::new(), cut: None, error }));
    };
    let read = |loose| {
        let mut parser =
            Parser::new(text, Slips::of(options.dialect), options.dialect).with_loose_escapes(loose);
        parser.pos = start;
        let (mut list, mut open) = (Vec::new(), None);
        let result = parser.entries(&mut list, &mut open).and_then(|()| {
            // Behind the object of a list, or in the plain dialect, nothing matters.
            if dspy && !text.trim_start().starts_with('[') { parser.finish() } else { Ok(()) }
        });
        (list, open, result, parser.must_repeat())
    };
    let first = read(false);
    let repeat = first.3;
    let (list, open, result, _) = if repeat { read(true) } else { first };
    let mut entries = Vec::with_capacity(list.len());
    for (key, span) in list {
        let value = entry_source(text.get(span.clone()).unwrap_or_default(), repeat, options.dialect);
        entries.push(Entry { key, value, span });
    }
    let Err(failure) = result else { return Ok(entries) };
    // A number or a word at the very end may be half of one.
    let half = entries.last().is_some_and(|entry| {
        entry.span.end >= text.trim_end().len() && !entry.value.text().ends_with(['"', '\'', ']', '}'])
    });
    let half = if half { entries.pop().map(|entry| (entry.key, entry.span.start)) } else { None };
    let cut = half.or(open).map(|(key, start)| {
        let span = start..text.trim_end().len().max(start);
        let message = failure.message().to_owned();
        (key, ReadError { message, expected: String::new(), path: String::new(), span })
    });
    let error = failed(described::broken_json(text, failure, "object"));
    Err(Box::new(BrokenObject { begins: true, entries, cut, error }))
}

/// Whether a text ends with a key in quotes and its colon.
fn is_behind_key(text: &str) -> bool {
    let key = text.trim_end().strip_suffix(':').map(str::trim_end);
    key.is_some_and(|key| key.ends_with(['"', '\'']))
}

/// The place of the first `{`. What is thought before the answer is no part of it: an object in there would be
/// a wrong answer.
fn object_start(text: &str, dialect: crate::dialect::Dialect) -> Option<usize> {
    let thinks = dialect == crate::dialect::Dialect::Plain && text.trim_start().starts_with("<think>");
    let end = "</think>";
    let from = if thinks { text.find(end)? + end.len() } else { 0 };
    text.get(from..)?.find('{').map(|at| from + at)
}

/// The value of an entry; `respell` if backslashes mean in it what §10 says.
fn entry_source(text: &str, respell: bool, dialect: crate::dialect::Dialect) -> Source<'_> {
    Source::Json(match text {
        "None" => Cow::Borrowed("null"),
        text if respell => described::respelt(text, dialect),
        text => Cow::Borrowed(text),
    })
}

impl Entry<'_> {
    fn detached(self, span: &Range<usize>) -> Entry<'static> {
        Entry {
            key: self.key.into_owned().into(),
            value: Source::Json(self.value.text().to_owned().into()),
            span: span.clone(),
        }
    }
}

/// Whether a text field that may be none would not read the bare text as the text itself.
pub(crate) fn is_quoted_text(text: &str) -> bool {
    described::optional_text(text) != text || text.trim() == "null" || described::quoted(text).is_some()
}

/// The JSON list or object that a whole text says, in strict JSON.
pub(crate) fn container(text: &str, dialect: crate::dialect::Dialect) -> Option<Cow<'_, str>> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return Some(Cow::Borrowed(text));
    }
    described::json(text, dialect).ok().map(|value| super::write::json_text(&value).into())
}

/// The content of a text that is one JSON string as a whole.
pub(crate) fn quoted(text: &str) -> Option<String> {
    described::quoted(text)
}

/// Whether a text on a field that is more than a text would not be read as that text (law 6).
pub(crate) fn must_quote(text: &str, tree: &TypeTree) -> bool {
    described::must_quote(text, tree)
}

/// Whether a text is a value of its own where anything is welcome.
pub(crate) fn is_value(text: &str) -> bool {
    !matches!(described::any(text, crate::dialect::Dialect::Plain), Value::String(read) if read == text)
}

/// Whether a text would be read otherwise where anything is welcome: as a value, without its outer white
/// space, or as a section.
fn is_ambiguous(text: &str) -> bool {
    text.trim().len() != text.len()
        || text.is_empty()
        // The lines of a section end with `\n` alone once it is read.
        || text.contains('\r')
        || super::write::has_markers(text)
        || is_value(text)
}

/// The failure with its place in the source, which is looked for only now.
#[cold]
fn error(source: &Source<'_>, options: ReadOptions, failure: &Failure) -> ReadError {
    let text = source.text();
    let whole = {
        let start = text.len() - text.trim_start().len();
        start..text.trim_end().len().max(start)
    };
    // Places in the content of a JSON string are not places in its source.
    let in_string = matches!(source, Source::Json(_)) && !text.trim_start().starts_with(['{', '[']);
    let span = match failure.why() {
        _ if in_string => None,
        Why::Syntax => failure.position().map(|at| at.min(whole.end)..whole.end),
        _ => locate(text, failure, options),
    };
    let span = span.filter(|span| text.get(span.clone()).is_some());
    ReadError {
        message: failure.message().to_owned(),
        expected: failure.expected_word().to_owned(),
        path: failure.path(),
        span: span.unwrap_or(whole),
    }
}

/// The bytes of the value that a failure's path leads to.
fn locate(text: &str, failure: &Failure, options: ReadOptions) -> Option<Range<usize>> {
    if !failure.is_nested() {
        return None;
    }
    let mut parser = Parser::new(text, Slips::of(options.dialect), options.dialect);
    parser.find_container();
    for step in failure.steps() {
        parser.blank().ok()?;
        let mut index = 0;
        let mut found = None;
        match step {
            Step::Index(wanted) => {
                parser.open().ok()?;
                while found.is_none() && parser.more(b']', index == 0).ok()? {
                    if index == *wanted {
                        found = Some(parser.pos);
                    } else {
                        parser.skip().ok()?;
                    }
                    index += 1;
                }
            }
            Step::Key(wanted) => {
                parser.open().ok()?;
                // Of two equal keys the last counts.
                while parser.more(b'}', index == 0).ok()? {
                    index += 1;
                    let key = parser.key().ok()?;
                    parser.colon().ok()?;
                    parser.blank().ok()?;
                    if key == wanted.as_str() {
                        found = Some(parser.pos);
                    }
                    if parser.skip().is_err() {
                        break;
                    }
                }
            }
        }
        parser.pos = found?;
    }
    let start = parser.pos;
    parser.skip().ok()?;
    Some(start..parser.pos)
}

/// Whether a type is read from JSON alone.
fn is_container(kind: &Kind) -> bool {
    matches!(kind, Kind::List { .. } | Kind::Tuple(_) | Kind::Map { .. } | Kind::Object(_) | Kind::ToolCalls)
}

#[cfg(test)]
mod tests;

//! The value of a field without a Rust type.

use super::conform::{Conform, without_fence};
use super::failure::{Failure, Why};
use super::forgive::Slips;
use super::parser::Parser;
use super::scalar::{self, Number};
use super::{Given, Input};
use crate::dialect::Dialect;
use crate::types::{Checks, Kind, Type, TypeTree};
use crate::value::{Map, Value};

/// Reads any JSON of a whole text, with what the dialect forgives.
pub(super) fn json(text: &str, dialect: Dialect) -> Result<Value, Failure> {
    let read = |loose| {
        let mut parser = Parser::new(text, Slips::of(dialect), dialect).with_loose_escapes(loose);
        parser.find_container();
        let value = parser.value().and_then(|value| parser.finish().map(|()| value));
        (value, parser.must_repeat())
    };
    match read(false) {
        (_, true) => read(true).0,
        (value, false) => value,
    }
}

/// A JSON value of a text in which backslashes mean what §10 says, in strict JSON.
pub(super) fn respelt(text: &str, dialect: Dialect) -> std::borrow::Cow<'_, str> {
    let mut parser = Parser::new(text, Slips::of(dialect), dialect).with_loose_escapes(true);
    match parser.value().and_then(|value| spelt(&value)) {
        Ok(json) => json.into(),
        Err(_) => text.into(),
    }
}

/// The JSON of a value as section 2 writes it.
fn spelt(value: &Value) -> Result<String, Failure> {
    let mut out = String::new();
    let json = super::super::write::JsonWriter::new(&mut out, super::super::write::Layout::Line, false);
    serde::Serialize::serialize(value, json).map_err(serde::de::Error::custom)?;
    Ok(out)
}

/// The object that a text says.
pub(super) fn object(text: &str) -> Option<Map> {
    match json(text, Dialect::Dspy) {
        Ok(Value::Map(map)) => Some(map),
        _ => None,
    }
}

/// Reads a field's value as its type asks.
pub(super) fn read(
    input: &Input<'_>,
    tree: &TypeTree,
    checks: Option<&Checks>,
    dialect: Dialect,
    typed: bool,
) -> Result<Value, Failure> {
    let inf_nan = checks.is_some_and(|checks| checks.inf_nan == Some(true));
    let reader = Reader { conform: Conform { tree, dialect, typed, inf_nan }, dialect };
    let ty = tree.present(&tree.root);
    match &input.given {
        Given::Text(text) => {
            if tree.nullable() && is_null(text, ty, tree, dialect) {
                return Ok(Value::Null);
            }
            if input.unescape && tree.is_bare_text() {
                let text = super::super::write::unescape_markers(text);
                return reader.text(&text, ty, Origin::Section);
            }
            reader.text(text, ty, Origin::Section)
        }
        Given::Quoted(text) => {
            // DSPy reads what a JSON string says, but for a text.
            if dialect == Dialect::Dspy
                && tree.nullable()
                && !takes_text(tree, ty)
                && is_null(text, ty, tree, dialect)
            {
                return Ok(Value::Null);
            }
            reader.text(text, ty, Origin::JsonString)
        }
        Given::Json(text) => match json(text, dialect)? {
            value
                if matches!(ty.kind, Kind::String) && !value.is_null() && takes_json_text(tree, dialect) =>
            {
                spelt(&value).map(Value::String)
            }
            value => reader.conform.value(&value, &tree.root).map(|fit| fit.value),
        },
    }
}

/// Whether a text field takes JSON that is no string. DSPy's does, but for one that may be none.
pub(super) fn takes_json_text(tree: &TypeTree, dialect: Dialect) -> bool {
    dialect == Dialect::Plain || !tree.nullable()
}

/// The text of a JSON value on a text field (§8.4): what section 2 writes for it.
pub(super) fn json_text(text: &str, dialect: Dialect) -> Result<String, Failure> {
    match json(text, dialect)? {
        Value::Null => Err(Failure::expected("string")),
        value => spelt(&value),
    }
}

/// Whether a text must be written in quotes, on a field that is more than a text, in the plain dialect.
pub(super) fn must_quote(text: &str, tree: &TypeTree) -> bool {
    let dialect = Dialect::Plain;
    let reader = Reader { conform: Conform { tree, dialect, typed: false, inf_nan: false }, dialect };
    match &tree.present(&tree.root).kind {
        Kind::Union { branches, .. } => reader.must_quote(text, branches),
        _ => super::is_ambiguous(text),
    }
}

/// Whether a section says that there is no value: `null`, and in DSPy's dialect `None` where it is no text.
pub(super) fn is_null(text: &str, ty: &Type, tree: &TypeTree, dialect: Dialect) -> bool {
    match text.trim() {
        "null" => true,
        "None" => dialect == Dialect::Dspy && !takes_text(tree, ty),
        _ => false,
    }
}

/// Whether a type has a branch that any text is one of.
pub(super) fn takes_text(tree: &TypeTree, ty: &Type) -> bool {
    match &tree.resolve(ty).kind {
        Kind::String | Kind::Reasoning | Kind::Any | Kind::Opaque => true,
        Kind::Union { branches, .. } => {
            branches.iter().any(|branch| matches!(tree.resolve(branch).kind, Kind::String))
        }
        _ => false,
    }
}

/// Whether a text stays a text: DSPy looks for JSON in no union of a text and none.
pub(super) fn keeps_text(tree: &TypeTree, ty: &Type, dialect: Dialect) -> bool {
    dialect == Dialect::Dspy
        && tree.nullable()
        && matches!(ty.kind, Kind::Union { .. })
        && takes_text(tree, ty)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The text of a section.
    Section,
    /// The content of a JSON string.
    JsonString,
}

#[derive(Clone, Copy)]
struct Reader<'t> {
    conform: Conform<'t>,
    dialect: Dialect,
}

impl<'t> Reader<'t> {
    fn text(self, text: &str, ty: &'t Type, origin: Origin) -> Result<Value, Failure> {
        let ty = self.conform.tree.resolve(ty);
        let value = self.kind(text, ty, origin)?;
        if let Some(checks) = &ty.checks {
            super::check::value(&value, checks)?;
        }
        Ok(value)
    }

    fn kind(self, text: &str, ty: &'t Type, origin: Origin) -> Result<Value, Failure> {
        let tree = self.conform.tree;
        match &ty.kind {
            Kind::String | Kind::Reasoning => {
                if origin == Origin::Section && tree.nullable() {
                    return Ok(Value::String(optional_text(text)));
                }
                Ok(Value::from(text))
            }
            Kind::Code { .. } => Ok(Value::from(without_fence(text))),
            Kind::Choice(choice) => {
                match scalar::member(choice, text, self.dialect, origin == Origin::Section) {
                    Some(member) => Ok(member.value.clone()),
                    None => Err(Failure::new(Why::Type, scalar::one_of_members(choice))),
                }
            }
            _ if self.dialect == Dialect::Dspy => self.dspy(text, ty, origin),
            Kind::Any if origin == Origin::JsonString => Ok(Value::from(text)),
            Kind::Any | Kind::Opaque | Kind::History => Ok(any(text, self.dialect)),
            Kind::Union { branches, .. } => self.plain_union(text, branches, origin),
            _ => self.plain(text, ty),
        }
    }

    /// §8.4: the first branch in order that the text is one of; but a reading that is forgiving (`1` for true,
    /// `5` for a float) goes behind one that is exact, so that what was written is read back.
    fn plain_union(self, text: &str, branches: &'t [Type], origin: Origin) -> Result<Value, Failure> {
        let tree = self.conform.tree;
        let mut first = None;
        for branch in branches {
            let ty = tree.resolve(branch);
            let value = match (&ty.kind, origin) {
                (Kind::Null, Origin::JsonString) => continue,
                // A text would take anything that a branch in front of it has taken already.
                (Kind::String | Kind::Any, _) if first.is_some() => continue,
                // Quoted because the bare text would have been read otherwise; other quotes are its own.
                (Kind::String, Origin::Section) => match quoted(text) {
                    Some(content) if self.must_quote(&content, branches) => Ok(Value::String(content)),
                    _ => Ok(Value::from(text)),
                },
                _ => self.text(text, branch, origin),
            };
            match value {
                // Exactly what this value is written as.
                Ok(value) if is_spelling(&value, text.trim()) => return Ok(value),
                Ok(value) => {
                    first.get_or_insert(value);
                }
                Err(_) => {}
            }
        }
        first.ok_or_else(|| Failure::new(Why::Type, "did not match any allowed type"))
    }

    /// Whether a text of a union is written in quotes: the bare text could be read as something else, by
    /// these branches or by serde's. The depth is bounded, as each level of quotes doubles the backslashes.
    fn must_quote(self, text: &str, branches: &'t [Type]) -> bool {
        super::is_ambiguous(text)
            || !matches!(self.plain_union(text, branches, Origin::Section), Ok(Value::String(read)) if read == text)
    }

    fn plain(self, text: &str, ty: &'t Type) -> Result<Value, Failure> {
        let trimmed = text.trim();
        match &ty.kind {
            Kind::Null if trimmed == "null" => Ok(Value::Null),
            Kind::Null => Err(Failure::expected("null")),
            Kind::Integer => match scalar::integer(trimmed, self.dialect) {
                Some(Number::Int(value)) => Ok(Value::Int(value)),
                _ => Err(Failure::expected("integer")),
            },
            Kind::Number => {
                let words = self.conform.inf_nan
                    || ty.checks.as_ref().is_some_and(|checks| checks.inf_nan == Some(true));
                match scalar::float(trimmed, self.dialect, words) {
                    Some(value) => Ok(Value::Float(value)),
                    None => Err(Failure::expected("number")),
                }
            }
            Kind::Boolean => match scalar::boolean(trimmed, self.dialect) {
                Some(value) => Ok(Value::Bool(value)),
                None => Err(Failure::expected("boolean")),
            },
            // As it stands, else as the content of its quotes.
            Kind::Date | Kind::DateTime => {
                let read = |text: &str| self.conform.value(&Value::from(text), ty).map(|fit| fit.value);
                read(trimmed).or_else(|failure| match literal(trimmed) {
                    Some(content) => read(content.trim()),
                    None => Err(failure),
                })
            }
            _ => self.container(text, ty),
        }
    }

    fn container(self, text: &str, ty: &'t Type) -> Result<Value, Failure> {
        match json(text, self.dialect) {
            Ok(value) => self.conform.value(&value, ty).map(|fit| fit.value),
            Err(failure) => Err(not_json(text, failure, word(ty))),
        }
    }

    /// DSPy's `parse_value`: what the text says as JSON or as a Python literal, as pydantic's lax mode takes it.
    fn dspy(self, text: &str, ty: &'t Type, origin: Origin) -> Result<Value, Failure> {
        let tree = self.conform.tree;
        let as_text = matches!(ty.kind, Kind::Union { .. }) && takes_text(tree, ty);
        if keeps_text(tree, ty, self.dialect) {
            let text = if origin == Origin::Section { optional_text(text) } else { text.to_owned() };
            return Ok(Value::String(text));
        }
        if matches!(ty.kind, Kind::Any | Kind::Opaque | Kind::History) {
            return Ok(any_of(text, ty, self.dialect));
        }
        let read = if as_text { Ok(any(text, self.dialect)) } else { candidate(text) };
        let value = match read {
            Ok(value) => value,
            Err(failure) => return Err(not_json(text, failure, word(ty))),
        };
        // The null branch of an optional type takes part.
        let fit = self
            .conform
            .value(&value, if std::ptr::eq(ty, tree.present(&tree.root)) { &tree.root } else { ty });
        match fit {
            Ok(fit) => Ok(fit.value),
            // No branch takes what the text says, but one takes any text.
            Err(_) if as_text => Ok(Value::from(text)),
            Err(failure) => Err(failure),
        }
    }
}

/// Whether a text is exactly what a scalar is written as; anything else is taken as it is read.
fn is_spelling(value: &Value, text: &str) -> bool {
    match value {
        Value::Bool(value) => text == if *value { "true" } else { "false" },
        Value::Float(_) => !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b'+'),
        _ => true,
    }
}

/// A text that is broken JSON, or none at all: then the type is all that needs saying.
pub(super) fn not_json(text: &str, failure: Failure, word: &'static str) -> Failure {
    if failure.why() == Why::Syntax && !text.trim_start().starts_with(['{', '[']) {
        return Failure::expected(word).at(0);
    }
    broken_json(text, failure, word)
}

/// JSON that begins as it should and is broken further on: says where in the text.
pub(super) fn broken_json(text: &str, failure: Failure, word: &'static str) -> Failure {
    if failure.why() != Why::Syntax {
        return failure;
    }
    let at = failure.position().unwrap_or(0);
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let message = format!("expected {word}, but at line {line}, column {column}: {}", failure.message());
    Failure::new(Why::Syntax, message).with_expected(word).at(at)
}

/// The word for a type in a message.
pub(super) fn word(ty: &Type) -> &'static str {
    match ty.kind {
        Kind::List { .. } | Kind::Tuple(_) => "array",
        Kind::Map { .. } | Kind::Object(_) => "object",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::DateTime => "datetime",
        Kind::Date => "date",
        Kind::ToolCalls => "tool_calls",
        Kind::Null => "null",
        Kind::Code { .. } => "code",
        Kind::String | Kind::Reasoning => "string",
        _ => "value",
    }
}

/// What a text says where anything is welcome: JSON if it is that as a whole, else the text. DSPy takes
/// JSON out of a fence and out of prose too.
pub(super) fn any(text: &str, dialect: Dialect) -> Value {
    let trimmed = text.trim();
    let dspy = dialect == Dialect::Dspy;
    let value = match trimmed.as_bytes().first() {
        Some(b'{' | b'[') => json(trimmed, dialect).ok(),
        // A string with more behind it is a text that begins with a quote.
        Some(b'"') => quoted(trimmed).map(Value::String),
        Some(b'\'') if dspy => literal(trimmed).map(Value::String),
        Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b't' | b'f' | b'n' | b'T' | b'F' | b'N' | b'I') if dspy => {
            python_scalar(trimmed)
        }
        Some(b'0'..=b'9' | b'-' | b't' | b'f' | b'n') => strict(trimmed),
        _ => None,
    };
    let value = value.or_else(|| if dspy { in_prose(trimmed) } else { None });
    value.unwrap_or_else(|| Value::from(text))
}

/// The same for a value of `ty`. Where anything is welcome DSPy closes a container that breaks off behind an
/// item.
pub(super) fn any_of(text: &str, ty: &Type, dialect: Dialect) -> Value {
    let value = any(text, dialect);
    let closes = dialect == Dialect::Dspy
        && matches!(ty.kind, Kind::Any | Kind::Opaque | Kind::History)
        && text.trim_start().starts_with(['{', '['])
        && matches!(value, Value::String(_));
    if !closes {
        return value;
    }
    let mut parser = Parser::new(text.trim(), Slips::of(dialect), dialect);
    parser.closes_at_end = true;
    match parser.value() {
        Ok(whole) if parser.rest().is_empty() => whole,
        _ => value,
    }
}

/// The one list or object in a text with a fence or with words around it: strict JSON with something in it, so
/// that a bracket that is only punctuation stays that.
fn in_prose(text: &str) -> Option<Value> {
    let start = text.find(['{', '['])?;
    let mut parser = Parser::new(text, Slips::NONE, Dialect::Plain);
    parser.pos = start;
    let value = match parser.value().ok()? {
        Value::List(items) if items.is_empty() => return None,
        Value::Map(map) if map.is_empty() => return None,
        value => value,
    };
    (!parser.rest().contains(['{', '['])).then_some(value)
}

/// Reads a whole text of strict JSON.
fn strict(text: &str) -> Option<Value> {
    let mut parser = Parser::new(text, Slips::NONE, Dialect::Plain);
    let value = parser.value().ok()?;
    parser.finish().ok().map(|()| value)
}

fn python_word(text: &str) -> Option<Value> {
    match text {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        "None" | "null" => Some(Value::Null),
        _ => None,
    }
}

/// A number or a word as Python reads it, which takes `+5` and `.5` for numbers and `007` for none.
fn python_scalar(text: &str) -> Option<Value> {
    match text {
        "NaN" | "Infinity" | "-Infinity" => return scalar::not_finite(text).map(Value::Float),
        _ => {}
    }
    let digits = text.trim_start_matches(['-', '+']);
    let zeros = digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    match scalar::number(text, Dialect::Dspy) {
        Some(number) => (!zeros).then(|| super::parser::number_value(number)),
        None => python_word(text),
    }
}

/// What a text says where JSON is wanted, in DSPy's dialect.
fn candidate(text: &str) -> Result<Value, Failure> {
    let dialect = Dialect::Dspy;
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '[']) {
        return json(trimmed, dialect);
    }
    if let Some(content) = literal(trimmed) {
        return Ok(Value::String(content));
    }
    if let Some(number) = scalar::number(trimmed, dialect) {
        return Ok(super::parser::number_value(number));
    }
    if let Some(value) = python_word(trimmed) {
        return Ok(value);
    }
    if trimmed.contains(['{', '[']) {
        return json(text, dialect);
    }
    Ok(Value::from(text))
}

/// The content of a text that is one JSON string as a whole.
pub(super) fn quoted(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() > 1 && text.starts_with('"') && text.ends_with('"'))
        .then(|| serde_json::from_str(text).ok())?
}

/// The content of a text that is one string as a whole, in quotes of either kind.
pub(super) fn literal(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['"', '\'']) || text.len() < 2 {
        return None;
    }
    let mut parser = Parser::new(text, Slips::of(Dialect::Plain), Dialect::Plain);
    let content = parser.string().ok()?.into_owned();
    parser.finish().ok().map(|()| content)
}

/// The text of an optional text field. One that is quoted because its bare text would be read differently
/// (law 6) loses its quotes; any other quotes are the text's own.
pub(super) fn optional_text(text: &str) -> String {
    match quoted(text) {
        Some(content) if content.trim() == "null" || quoted(&content).is_some() => content,
        _ => text.to_owned(),
    }
}

//! serde's side of the reader: what a field's text says as a whole.

use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, Visitor};

use super::de::{RAW, RawAccess, visit_integer};
use super::failure::{Failure, Why};
use super::forgive::Slips;
use super::parser::{DEPTH, Parser, Piece};
use super::scalar::{self, Number};
use super::{Given, Input, check, described, is_container};
use crate::dialect::Dialect;
use crate::types::{Checks, Kind, Type, TypeTree};
use crate::value::Value;

/// The reading of one field, over all its attempts.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    input: &'a Input<'a>,
    tree: &'a TypeTree,
    /// What a value that is not null is.
    ty: &'a Type,
    checks: Option<&'a Checks>,
    dialect: Dialect,
    attempt: Attempt,
    /// Whether the text is no strict JSON and has escapes that mean something else then (§10).
    must_repeat: bool,
    /// Whether a type that is no `String` was given the text, which may be in quotes.
    gave_text: bool,
    /// The content of the text's quotes.
    content: String,
    /// The bounds were checked where the value was read.
    checked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Attempt {
    First,
    /// With the escapes of §10.
    Loose,
    /// With the content of the text's quotes in place of the text.
    Unquoted,
    /// As the schema says.
    Schema,
}

/// A further attempt.
pub(super) enum Next {
    Text,
    Value(Value),
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        input: &'a Input<'a>,
        tree: &'a TypeTree,
        checks: Option<&'a Checks>,
        dialect: Dialect,
    ) -> Self {
        Reading {
            input,
            tree,
            ty: tree.present(&tree.root),
            checks,
            dialect,
            attempt: Attempt::First,
            must_repeat: false,
            gave_text: false,
            content: String::new(),
            checked: false,
        }
    }

    pub(super) fn top(&mut self) -> Top<'_, 'a> {
        Top { reading: self, room: DEPTH, optional: false }
    }

    /// The next attempt, if the last one leaves something to try.
    pub(super) fn next(&mut self, failure: Option<&Failure>) -> Option<Next> {
        if self.attempt == Attempt::First && self.must_repeat {
            self.attempt = Attempt::Loose;
            return Some(Next::Text);
        }
        let failure = failure?;
        if self.attempt < Attempt::Unquoted && self.gave_text && failure.why() == Why::Foreign {
            if let Given::Text(text) = self.input.given {
                if let Some(content) = described::literal(text) {
                    self.attempt = Attempt::Unquoted;
                    self.content = content;
                    return Some(Next::Text);
                }
            }
        }
        // The members of a choice have other spellings than those that serde knows: names, wrappers.
        let is_choice = matches!(self.ty.kind, Kind::Choice(_));
        if self.attempt < Attempt::Schema
            && (is_choice || matches!(failure.why(), Why::Foreign | Why::Duplicate))
        {
            self.attempt = Attempt::Schema;
            return described::read(self.input, self.tree, self.checks, self.dialect, true)
                .ok()
                .map(Next::Value);
        }
        None
    }

    /// The bounds of a value that was read.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.checked || (!self.tree.checked && self.checks.is_none()) {
            return Ok(());
        }
        let text = match &self.input.given {
            Given::Text(text) | Given::Json(text) => text,
            Given::Quoted(text) => &**text,
        };
        // Once more without a type: the value itself is serde's and cannot be looked into.
        let value = if is_container(&self.ty.kind) {
            described::json(text, self.dialect)
        } else {
            Ok(described::any(text, self.dialect))
        };
        let Ok(value) = value else { return Ok(()) };
        if let Some(checks) = self.checks {
            check::value(&value, checks)?;
        }
        check::nested(self.tree, &self.tree.root, &value)
    }

    /// The failure as the user sees it.
    pub(super) fn failure(&self, failure: Failure) -> Failure {
        // serde's buffer hid the place and the reason; the schema may still know them.
        if matches!(failure.why(), Why::Foreign) {
            if let Err(better) = described::read(self.input, self.tree, self.checks, self.dialect, true) {
                if better.steps().count() > failure.steps().count() {
                    return better;
                }
            }
        }
        failure
    }

    fn parser(&self, text: &'a str) -> Parser<'a> {
        Parser::new(text, Slips::of(self.dialect), self.dialect)
            .with_loose_escapes(self.attempt == Attempt::Loose)
    }
}

/// A field's text as a whole.
pub(super) struct Top<'r, 'a> {
    reading: &'r mut Reading<'a>,
    /// How many levels of `Some` and newtypes may still be opened.
    room: u8,
    /// Whether the value is inside a `Some`.
    optional: bool,
}

impl<'a> Top<'_, 'a> {
    /// The text that a scalar is told by; `None` for JSON that is no string.
    fn scalar_text(&self) -> Option<&'a str> {
        match &self.reading.input.given {
            Given::Text(text) => Some(text.trim()),
            Given::Quoted(text) => Some(text.trim()),
            Given::Json(_) => None,
        }
    }

    /// A scalar's text without the quotes that DSPy's reading takes off.
    fn unquoted(&self, text: &'a str) -> Cow<'a, str> {
        if self.reading.dialect == Dialect::Dspy && text.starts_with(['"', '\'']) {
            if let Some(content) = described::literal(text) {
                return Cow::Owned(content.trim().to_owned());
            }
        }
        Cow::Borrowed(text)
    }

    /// Reads JSON from the text with `read`, which may be called for a value of the type `word` only.
    fn json<R>(
        &mut self,
        word: &'static str,
        read: impl FnOnce(&mut Parser<'a>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let text: &'a str = match &self.reading.input.given {
            Given::Text(text) | Given::Json(text) => text,
            Given::Quoted(text) => text,
        };
        let mut parser = self.reading.parser(text);
        parser.find_container();
        let result = read(&mut parser).and_then(|value| parser.finish().map(|()| value));
        self.reading.must_repeat |= parser.must_repeat();
        result.map_err(|failure| described::not_json(text, failure, word))
    }

    /// Checks the bounds of a value that was read here, once and for all.
    fn bounds(&mut self, value: &Value) -> Result<(), Failure> {
        self.reading.checked = true;
        let reading = &*self.reading;
        for checks in [reading.checks, reading.ty.checks.as_deref()].into_iter().flatten() {
            check::value(value, checks)?;
        }
        Ok(())
    }

    fn is_checked(&self) -> bool {
        self.reading.checks.is_some() || self.reading.ty.checks.is_some()
    }

    #[allow(clippy::cast_precision_loss, reason = "a bound beyond 128 bits does not exist")]
    fn integer(&mut self) -> Result<Number, Failure> {
        let number = if let Some(text) = self.scalar_text() {
            scalar::integer(&self.unquoted(text), self.reading.dialect)
        } else {
            self.json("integer", |parser| {
                serde::Deserialize::deserialize(parser).map(|int| Some(Number::Int(int)))
            })?
        };
        let number = number.ok_or_else(|| Failure::expected("integer"))?;
        if self.is_checked() {
            self.bounds(&match number {
                Number::Int(value) => Value::Int(value),
                Number::Big(value) => Value::Float(value as f64),
                Number::Float(value) => Value::Float(value),
            })?;
        }
        Ok(number)
    }

    fn float(&mut self) -> Result<f64, Failure> {
        let number = match self.scalar_text() {
            Some(text) => {
                let says =
                    |checks: Option<&Checks>| checks.is_some_and(|checks| checks.inf_nan == Some(true));
                let reading = &*self.reading;
                let words = reading.dialect == Dialect::Dspy
                    || says(reading.checks)
                    || says(reading.ty.checks.as_deref());
                scalar::float(&self.unquoted(text), reading.dialect, words)
            }
            None => self.json("number", |parser| serde::Deserialize::deserialize(parser).map(Some))?,
        };
        let number = number.ok_or_else(|| Failure::expected("number"))?;
        if self.is_checked() {
            self.bounds(&Value::Float(number))?;
        }
        Ok(number)
    }

    /// The text of a `String`.
    fn string(&mut self) -> Result<Cow<'a, str>, Failure> {
        let reading = &*self.reading;
        let tree = reading.tree;
        let text: Cow<'a, str> = match &reading.input.given {
            Given::Quoted(text) => Cow::Borrowed(text),
            Given::Json(text)
                if text.trim() == "null" || !described::takes_json_text(tree, reading.dialect) =>
            {
                return Err(Failure::expected("string"));
            }
            Given::Json(text) => Cow::Owned(described::json_text(text, reading.dialect)?),
            Given::Text(text) => {
                let text: Cow<'a, str> = if reading.input.unescape && tree.is_bare_text() {
                    super::super::write::unescape_markers(text)
                } else {
                    Cow::Borrowed(text)
                };
                match &reading.ty.kind {
                    // `Code` takes its fence off itself; twice would be one too many.
                    Kind::Code { .. } => text,
                    // In a type that is more than a text a quoted one is a text for certain.
                    Kind::Any | Kind::Opaque | Kind::Union { .. } => {
                        described::quoted(&text).map_or(text, Cow::Owned)
                    }
                    _ if self.optional || tree.nullable() => match described::optional_text(&text) {
                        read if *read == *text => text,
                        read => Cow::Owned(read),
                    },
                    _ => text,
                }
            }
        };
        Ok(text)
    }

    /// Checks the bounds of a text that was read here, once and for all.
    fn text_bounds(&mut self, text: &str) -> Result<(), Failure> {
        if self.is_checked() {
            self.reading.checked = true;
            let reading = &*self.reading;
            for checks in [reading.checks, reading.ty.checks.as_deref()].into_iter().flatten() {
                check::text(text, checks)?;
            }
        }
        Ok(())
    }

    /// The text for a type that reads itself from one: a date, an address.
    fn foreign_text(&mut self) -> Result<Cow<'a, str>, Failure> {
        if self.reading.attempt == Attempt::Unquoted {
            return Ok(Cow::Owned(self.reading.content.clone()));
        }
        self.reading.gave_text = true;
        self.string()
    }

    fn enter(&mut self) -> Result<(), Failure> {
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(Failure::new(Why::Syntax, "the value is nested more than 128 levels deep")),
        }
    }
}

fn visit_text<'de, V: Visitor<'de>>(text: Cow<'_, str>, visitor: V) -> Result<V::Value, Failure> {
    match text {
        Cow::Borrowed(text) => visitor.visit_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty => $visit:ident),* $(,)?) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
            let number = self.integer()?;
            visit_integer!(number, visitor, $type, $visit)
        }
    )*};
}

impl<'a> Deserializer<'a> for Top<'_, 'a> {
    type Error = Failure;

    integers! {
        deserialize_i8: i8 => visit_i8, deserialize_i16: i16 => visit_i16, deserialize_i32: i32 => visit_i32,
        deserialize_i64: i64 => visit_i64, deserialize_i128: i128 => visit_i128, deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16, deserialize_u32: u32 => visit_u32, deserialize_u64: u64 => visit_u64,
    }

    fn deserialize_u128<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        if matches!(self.reading.input.given, Given::Json(_)) {
            // Above `i128::MAX` too.
            return self.json("integer", |parser| parser.deserialize_u128(visitor));
        }
        let number = self.integer()?;
        visit_integer!(number, visitor, u128, visit_u128)
    }

    /// A type that does not say what it wants gets JSON if the text is that, else the text if the type may be
    /// one.
    fn deserialize_any<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let reading = &*self.reading;
        if let Kind::Code { .. } = reading.ty.kind {
            // A text whatever it says; in JSON also an object with the key `code` (§8.4).
            return match &reading.input.given {
                Given::Json(text) if !text.trim_start().starts_with('{') => Err(Failure::expected("code")),
                Given::Json(_) => self.json("code", |parser| parser.deserialize_any(visitor)),
                Given::Text(_) | Given::Quoted(_) => visit_text(self.string()?, visitor),
            };
        }
        let (text, wants_text): (&'a str, bool) = match &reading.input.given {
            Given::Json(text) => (text, false),
            Given::Quoted(text) => {
                // JSON's own string: a text, unless DSPy's reading looks into it.
                let dspy = reading.dialect == Dialect::Dspy || is_container(&reading.ty.kind);
                if !dspy {
                    return visitor.visit_str(text);
                }
                (text, described::takes_text(reading.tree, reading.ty))
            }
            Given::Text(text) => (text, described::takes_text(reading.tree, reading.ty)),
        };
        let choice = matches!(&reading.ty.kind, Kind::Union { branches, .. }
            if branches.iter().any(|branch| matches!(reading.tree.resolve(branch).kind, Kind::Choice(_) | Kind::Date | Kind::DateTime)));
        if !wants_text && !choice {
            return self.json(described::word(reading.ty), |parser| parser.deserialize_any(visitor));
        }
        let is_section = matches!(reading.input.given, Given::Text(_));
        if is_section && described::keeps_text(reading.tree, reading.ty, reading.dialect) {
            return visitor.visit_str(text);
        }
        // Whether the text is JSON must be known before the visitor is used up.
        let value = described::any_of(text, reading.ty, reading.dialect);
        match value {
            Value::String(read) if read == text => visitor.visit_str(text),
            Value::String(read) => visitor.visit_string(read),
            value => super::from_value::FromValue(value).deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let value = match self.scalar_text() {
            Some(text) => scalar::boolean(&self.unquoted(text), self.reading.dialect),
            None => self.json("boolean", |parser| serde::Deserialize::deserialize(parser).map(Some))?,
        };
        match value {
            Some(value) => visitor.visit_bool(value),
            None => Err(Failure::expected("boolean")),
        }
    }

    fn deserialize_f32<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let double = self.float()?;
        // From its own digits, so that it is rounded once.
        #[allow(clippy::cast_possible_truncation, reason = "checked below")]
        let single = self.scalar_text().and_then(|text| text.parse().ok()).unwrap_or(double as f32);
        if single.is_infinite() && double.is_finite() {
            return Err(Failure::expected("number"));
        }
        visitor.visit_f32(single)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let value = self.float()?;
        visitor.visit_f64(value)
    }

    fn deserialize_char<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let text = self.foreign_text()?;
        // The bounds that a schema gives to a character are the character's own.
        self.reading.checked = self.reading.checks.is_none();
        if text.chars().nth(1).is_some() {
            // A blank one can only be said in quotes.
            if let Some(content) = described::quoted(&text).filter(|content| content.chars().count() == 1) {
                return visitor.visit_string(content);
            }
            let trimmed = text.trim();
            if trimmed.chars().count() == 1 {
                return visitor.visit_str(trimmed);
            }
        }
        visit_text(text, visitor)
    }

    fn deserialize_str<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let text = self.foreign_text()?;
        self.text_bounds(&text)?;
        visit_text(text, visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let text = self.string()?;
        self.text_bounds(&text)?;
        visit_text(text, visitor)
    }

    fn deserialize_bytes<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        let reading = &*self.reading;
        let none = match &reading.input.given {
            Given::Text(text) => described::is_null(text, reading.ty, reading.tree, reading.dialect),
            Given::Json(text) => is_json_null(text),
            Given::Quoted(text) => {
                // DSPy reads what a JSON string says, but for a text.
                reading.dialect == Dialect::Dspy
                    && !described::takes_text(reading.tree, reading.ty)
                    && matches!(text.trim(), "null" | "None")
            }
        };
        if none {
            return visitor.visit_none();
        }
        self.enter()?;
        self.optional = true;
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Failure> {
        let reading = &*self.reading;
        let null = match &reading.input.given {
            Given::Text(text) => described::is_null(text, reading.ty, reading.tree, reading.dialect),
            Given::Json(text) => is_json_null(text),
            Given::Quoted(_) => false,
        };
        if null { visitor.visit_unit() } else { Err(Failure::expected("null")) }
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if name == RAW {
            let text: Piece<'_> = match &self.reading.input.given {
                Given::Json(text) => Cow::Borrowed(*text),
                Given::Text(text) => raw(text, self.reading.dialect),
                Given::Quoted(text) => raw(text, self.reading.dialect),
            };
            return visitor.visit_map(RawAccess(Some(text)));
        }
        self.enter()?;
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        self.json("array", |parser| parser.deserialize_seq(visitor))
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'a>>(mut self, visitor: V) -> Result<V::Value, Failure> {
        self.json("object", |parser| parser.deserialize_map(visitor))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        mut self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let text: &'a str = match &self.reading.input.given {
            // The blanks in JSON's own string are the member's, if it has any.
            Given::Quoted(text) => text,
            Given::Text(text) => text.trim(),
            Given::Json(_) => {
                return self.json("object", |parser| parser.deserialize_enum(name, names, visitor));
            }
        };
        match scalar::find(text, &names.iter().copied()).and_then(|place| names.get(place)) {
            Some(name) => visitor.visit_enum(StrDeserializer::new(name)),
            None if text.contains('{') => {
                self.json("object", |parser| parser.deserialize_enum(name, names, visitor))
            }
            None => Err(Failure::new(Why::Type, scalar::one_of(names.iter().copied()))),
        }
    }

    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }
}

/// Whether JSON is null, in Python's spelling too: the reader of the reply it is from has forgiven that.
fn is_json_null(text: &str) -> bool {
    matches!(text.trim(), "null" | "None")
}

/// The JSON that a text is, or the JSON string that says it.
fn raw(text: &str, dialect: Dialect) -> Piece<'_> {
    let trimmed = text.trim();
    if serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok() {
        return Cow::Borrowed(trimmed);
    }
    serde_json::to_string(&described::any(text, dialect)).map_or(Cow::Borrowed("null"), Cow::Owned)
}

//! The text of a value.

mod data;
mod escape;
mod json;
mod parts;
mod python;
mod tools;
mod top;
mod value;
mod xml;

use serde::Serialize;

use super::number::{Float, push_float};
use crate::dialect::Dialect;
use crate::error::WriteError;
use crate::message::Part;
use crate::types::{Checks, Kind, TypeTree};
use crate::value::Value;

pub(crate) use escape::{
    certain_unescaped, escape_markers, has_markers, is_escaped_opening, unescape_markers,
};
pub(crate) use json::{JsonWriter, Layout};
pub(crate) use value::to_value;

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the text of a section: strings and numbers bare, the rest JSON on one line.
    Section,
    /// As a value inside a JSON object that is written as the dialect's JSON adapter does: compact in the
    /// plain one (spec/imp.md §9.1), indented by two spaces in DSPy's.
    Json,
    /// As a whole XML element, lists and objects as elements inside it (spec/imp.md §11).
    Xml,
}

/// Whether a field that was written had a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It had none, and nothing was written.
    Absent,
    /// It was null.
    Null,
    /// It had one.
    Present,
}

/// A value as JSON text on one line.
pub(crate) fn json_text(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// How deep a [`Value`] may be nested to be written; the reader's own limit.
const DEPTH: usize = 128;

/// Writes one field into a message.
///
/// A [`Record`](crate::Record) gets one for each of its fields: it gives the value with
/// [`value`](FieldWriter::value), or says that there is none with [`absent`](FieldWriter::absent).
#[derive(Debug)]
pub struct FieldWriter<'a> {
    out: &'a mut String,
    form: Form,
    dialect: Dialect,
    tree: &'a TypeTree,
    /// Whether lines that could be taken for a marker are escaped.
    escape: bool,
    /// The name of the element; in XML only.
    tag: &'a str,
    presence: Presence,
    /// Where images, audios and files go, with the text between them; nowhere by default.
    parts: Option<&'a mut Vec<Part>>,
    /// Where the value goes instead of the message; nowhere by default.
    captured: Option<&'a mut Option<Value>>,
    not_finite: NotFinite,
}

/// What becomes of a number that is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotFinite {
    /// Written as it can be: a word in a section, null in JSON.
    Written,
    /// Written so that it is read back: in JSON as a word in quotes.
    Kept,
    /// Refused, since the field would not be read back.
    Refused,
}

fn not_finite() -> WriteError {
    WriteError::new(
        "a number that is not finite could not be read back: give a finite one, or allow it with `allow_inf_nan`",
    )
}

impl<'a> FieldWriter<'a> {
    pub(crate) fn new(
        out: &'a mut String,
        form: Form,
        dialect: Dialect,
        tree: &'a TypeTree,
        escape: bool,
    ) -> Self {
        FieldWriter {
            out,
            form,
            dialect,
            tree,
            escape,
            tag: "",
            presence: Presence::Absent,
            parts: None,
            captured: None,
            not_finite: NotFinite::Written,
        }
    }

    /// Keeps the field's value as data, and writes nothing.
    pub(crate) fn capturing(out: &'a mut String, tree: &'a TypeTree, value: &'a mut Option<Value>) -> Self {
        let writer = FieldWriter::new(out, Form::Section, Dialect::Plain, tree, false);
        FieldWriter { captured: Some(value), ..writer }
    }

    fn capture(&mut self, value: Value) {
        self.presence = if value.is_null() { Presence::Null } else { Presence::Present };
        if let Some(captured) = &mut self.captured {
            **captured = Some(value);
        }
    }

    /// Writes the field as the XML element `tag`; for a type whose values are lists or objects.
    pub(crate) fn xml(out: &'a mut String, dialect: Dialect, tree: &'a TypeTree, tag: &'a str) -> Self {
        FieldWriter { tag, ..FieldWriter::new(out, Form::Xml, dialect, tree, false) }
    }

    /// Makes sure that what is written can be read back as an output of `checks`. DSPy writes what it does.
    pub(crate) fn as_output(&mut self, checks: Option<&Checks>) {
        let allows = |checks: Option<&Checks>| checks.is_some_and(|checks| checks.inf_nan == Some(true));
        let own = self.tree.present(&self.tree.root).checks.as_deref();
        self.not_finite = match self.dialect {
            Dialect::Dspy => NotFinite::Written,
            Dialect::Plain if allows(checks) || allows(own) => NotFinite::Kept,
            Dialect::Plain => NotFinite::Refused,
        };
    }

    /// A float that stands alone.
    fn float(&mut self, value: Float) -> Result<(), WriteError> {
        let floats = self.layout().floats();
        match (self.form, self.not_finite) {
            (_, NotFinite::Refused) if !value.is_finite() => return Err(not_finite()),
            // Beside a section the one place where `nan` and `inf` can be said.
            (Form::Json, NotFinite::Kept) if !value.is_finite() => {
                self.presence = Presence::Present;
                self.out.push('"');
                push_float(self.out, value, floats);
                self.out.push('"');
            }
            (Form::Section, _) => {
                self.presence = Presence::Present;
                push_float(self.out, value, floats);
            }
            _ => self.json().float(value)?,
        }
        Ok(())
    }

    /// The same with a place for images, audios and files.
    pub(crate) fn with_parts(mut self, parts: &'a mut Vec<Part>) -> Self {
        self.parts = Some(parts);
        self
    }

    /// The field has no value: nothing is written. This is the default.
    pub fn absent(&mut self) {
        self.presence = Presence::Absent;
    }

    /// Writes the field's value.
    ///
    /// A string is written as it is, a number in digits (a float as Python's `repr` spells it), anything
    /// else as JSON. Nothing is lost: where the bare text of a string would be read back as another value
    /// (the text `null` in an `Option<String>`), the plain dialect writes a JSON string.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses, or a map has keys that are no text.
    pub fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        if self.captured.is_some() {
            self.capture(to_value(value)?);
            return Ok(());
        }
        let dated = self.dialect == Dialect::Dspy && self.tree.dated;
        if self.form == Form::Xml || dated || self.tree.own || self.tree.parts {
            // DSPy spells dates its own way, and a serializer cannot see that a text is one; what an XML
            // element looks like depends on the value's type; of tool calls only a part is shown; a content part has
            // no text.
            let value = to_value(value)?;
            return self.data(&value);
        }
        let start = self.out.len();
        let result = value.serialize(top::TopWriter { field: self, optional: false });
        self.finish(start, result)
    }

    /// Writes a value without a Rust type as its field's type asks: a list of texts on a text field in
    /// guillemets (§2.1.3), the absent properties of an object with their defaults, dates as the dialect
    /// spells them.
    ///
    /// # Errors
    ///
    /// The value is nested too deeply.
    pub(crate) fn data(&mut self, value: &Value) -> Result<(), WriteError> {
        if self.captured.is_some() {
            self.capture(value.clone());
            return Ok(());
        }
        let listed = if self.tree.own { tools::listed(self.tree, value, self.dialect) } else { None };
        let value = listed.as_ref().unwrap_or(value);
        if self.form == Form::Xml && self.not_finite != NotFinite::Written && !is_finite(value, 0) {
            return Err(not_finite());
        }
        // A text or a number is none, and most values are one.
        if matches!(value, Value::List(_) | Value::Map(_) | Value::Part(_)) && parts::has_part(value) {
            return parts::write(self, value);
        }
        let start = self.out.len();
        let result = if self.form == Form::Xml { xml::write(self, value) } else { data::write(self, value) };
        self.finish(start, result)
    }

    fn finish(&mut self, start: usize, result: Result<(), WriteError>) -> Result<(), WriteError> {
        if result.is_err() {
            self.out.truncate(start);
        } else if self.escape && self.form == Form::Section && !self.tree.is_bare_text() {
            // Only JSON is left in which there can be any: a text with a marker was quoted.
            escape::escape_json(self.out, start, self.dialect == Dialect::Dspy);
        }
        result
    }

    pub(crate) fn presence(&self) -> Presence {
        self.presence
    }

    fn layout(&self) -> Layout {
        match (self.form, self.dialect) {
            (Form::Section | Form::Xml, _) => Layout::Line,
            (Form::Json, Dialect::Plain) => Layout::Compact,
            (Form::Json, Dialect::Dspy) => Layout::Indented,
        }
    }

    /// A writer of JSON at the end of the message.
    fn json(&mut self) -> JsonWriter<'_> {
        self.presence = Presence::Present;
        let layout = self.layout();
        let strict = self.not_finite != NotFinite::Written;
        JsonWriter::new(self.out, layout, self.dialect == Dialect::Plain).strict(strict)
    }

    fn null(&mut self) {
        self.presence = Presence::Null;
        self.out.push_str(match (self.form, self.dialect) {
            (Form::Section, Dialect::Dspy) => "None",
            _ => "null",
        });
    }

    fn bool(&mut self, value: bool) {
        self.presence = Presence::Present;
        self.out.push_str(match (self.form, self.dialect, value) {
            (Form::Section, Dialect::Dspy, true) => "True",
            (Form::Section, Dialect::Dspy, false) => "False",
            (_, _, true) => "true",
            (_, _, false) => "false",
        });
    }

    /// A text that stands alone; `optional` where the value said that it could have been none.
    fn text(&mut self, text: &str, optional: bool) {
        self.presence = Presence::Present;
        // Code is its source, without the fence that a model or a file put around it (§2.1).
        let is_code = matches!(self.tree.present(&self.tree.root).kind, Kind::Code { .. });
        let is_answer = (self.dialect == Dialect::Plain).then_some(self.not_finite != NotFinite::Written);
        let text = if is_code { crate::code::shown(text, is_answer) } else { text };
        let is_bare = self.tree.is_bare_text();
        // DSPy quotes nothing; where its prompts are not asked for to the byte, a choice that would be lost is.
        let is_choice = matches!(self.tree.present(&self.tree.root).kind, Kind::Choice(_));
        let may_quote = self.dialect == Dialect::Plain || (self.escape && is_choice);
        if self.form == Form::Json
            || (may_quote && self.must_quote(text, optional))
            || (self.escape && !is_bare && has_markers(text))
        {
            super::json::push_string(self.out, text);
            return;
        }
        let start = self.out.len();
        self.out.push_str(text);
        if self.escape && is_bare {
            escape_markers(self.out, start);
        }
    }

    /// Whether the bare text would be read back as something else (law 6).
    ///
    /// A field that is a text is read as it is, so nothing is quoted there. In an optional one the word
    /// `null` means no value, and so a text that looks like a quoted one must be quoted too.
    fn must_quote(&self, text: &str, optional: bool) -> bool {
        let trimmed = text.trim();
        let ty = self.tree.present(&self.tree.root);
        let optional = optional || self.tree.nullable();
        match ty.kind {
            Kind::String | Kind::Reasoning => optional && super::read::is_quoted_text(text),
            Kind::Choice(_) => trimmed.len() != text.len() || text.is_empty() || (optional && text == "null"),
            Kind::Any | Kind::Opaque | Kind::Union { .. } => super::read::must_quote(text, self.tree),
            _ => optional && trimmed == "null",
        }
    }

    fn char(&mut self, value: char, optional: bool) {
        let mut bytes = [0; 4];
        let text = &*value.encode_utf8(&mut bytes);
        if self.form == Form::Section && (value.is_whitespace() || value.is_control()) {
            self.presence = Presence::Present;
            super::json::push_string(self.out, text);
        } else {
            self.text(text, optional);
        }
    }
}

/// Whether every number in a value is finite; what is nested too deeply is refused anyway.
fn is_finite(value: &Value, depth: usize) -> bool {
    match value {
        Value::Float(value) => value.is_finite(),
        Value::List(items) => depth > DEPTH || items.iter().all(|item| is_finite(item, depth + 1)),
        Value::Map(map) => depth > DEPTH || map.iter().all(|(_, value)| is_finite(value, depth + 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;

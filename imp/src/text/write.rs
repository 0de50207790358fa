//! The text of a value.

use serde::Serialize;

use crate::dialect::Dialect;
use crate::error::WriteError;
use crate::types::TypeTree;
use crate::value::Value;

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the text of a section: strings and numbers bare, the rest JSON on one line.
    Section,
    /// As a value inside a JSON object.
    Json,
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

/// A value as JSON text.
pub(crate) fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Writes one field into a message.
#[derive(Debug)]
pub struct FieldWriter<'a> {
    out: &'a mut String,
    form: Form,
    dialect: Dialect,
    tree: &'a TypeTree,
    /// Whether lines that could be taken for a marker are escaped.
    escape: bool,
    presence: Presence,
}

impl<'a> FieldWriter<'a> {
    pub(crate) fn new(
        out: &'a mut String,
        form: Form,
        dialect: Dialect,
        tree: &'a TypeTree,
        escape: bool,
    ) -> Self {
        FieldWriter { out, form, dialect, tree, escape, presence: Presence::Absent }
    }

    /// The field has no value: nothing is written. This is the default.
    pub fn absent(&mut self) {
        self.presence = Presence::Absent;
    }

    /// Writes the field's value.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    pub fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        let value: Value = serde_json::to_value(value).map_err(|e| WriteError::new(e.to_string()))?.into();
        self.data(&value)
    }

    /// Writes a value without a Rust type as its field's type asks.
    ///
    /// # Errors
    ///
    /// None of today's values is refused.
    pub(crate) fn data(&mut self, value: &Value) -> Result<(), WriteError> {
        let _ = (self.form, self.dialect, self.tree, self.escape);
        self.presence = if value.is_null() { Presence::Null } else { Presence::Present };
        match value {
            Value::String(text) => self.out.push_str(text),
            value => {
                self.out.push_str(&serde_json::to_string(value).map_err(|e| WriteError::new(e.to_string()))?)
            }
        }
        Ok(())
    }

    pub(crate) fn presence(&self) -> Presence {
        self.presence
    }
}

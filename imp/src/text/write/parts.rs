//! A value that is, or contains, an image, an audio or a file (Imp §2.1).

use super::escape::escape_json;
use super::json::{JsonWriter, Layout};
use super::{DEPTH, FieldWriter, Presence};
use crate::dialect::Dialect;
use crate::error::WriteError;
use crate::message::Part;
use crate::value::Value;

/// Whether there is a part in the value.
pub(super) fn has_part(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Part(_) => return true,
            Value::List(items) => open.extend(items),
            Value::Map(map) => open.extend(map.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    false
}

/// Writes the parts one after another; where there is more than parts, as JSON with the parts in their places.
pub(super) fn write(field: &mut FieldWriter<'_>, value: &Value) -> Result<(), WriteError> {
    let (dialect, escape) = (field.dialect, field.escape);
    let Some(parts) = field.parts.as_deref_mut() else {
        return Err(WriteError::new(
            "an image, an audio or a file can only stand in the content of a user message: give it to an input",
        ));
    };
    field.presence = Presence::Present;
    let mut pieces = Pieces { parts, text: String::new(), dialect, escape };
    match value {
        Value::List(items) if items.iter().all(|item| matches!(item, Value::Part(_))) => {
            items.iter().try_for_each(|item| pieces.value(item, 0))?;
        }
        value => pieces.value(value, 0)?,
    }
    pieces.flush();
    Ok(())
}

struct Pieces<'p> {
    parts: &'p mut Vec<Part>,
    text: String,
    dialect: Dialect,
    escape: bool,
}

impl Pieces<'_> {
    fn flush(&mut self) {
        if self.text.is_empty() {
            return;
        }
        if self.escape {
            escape_json(&mut self.text, 0, self.dialect == Dialect::Dspy);
        }
        self.parts.push(Part::Text(std::mem::take(&mut self.text).into()));
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<(), WriteError> {
        if depth > DEPTH {
            return Err(WriteError::new("the value is nested too deeply"));
        }
        match value {
            Value::Part(part) => {
                self.flush();
                self.parts.push(Part::clone(part));
            }
            Value::List(items) => {
                self.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.text.push_str(", ");
                    }
                    self.value(item, depth + 1)?;
                }
                self.text.push(']');
            }
            Value::Map(map) => {
                self.text.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    if at > 0 {
                        self.text.push_str(", ");
                    }
                    super::super::json::push_string(&mut self.text, key);
                    self.text.push_str(": ");
                    self.value(value, depth + 1)?;
                }
                self.text.push('}');
            }
            value => {
                let writer = JsonWriter::new(&mut self.text, Layout::Line, false);
                serde::Serialize::serialize(value, writer)?;
            }
        }
        Ok(())
    }
}

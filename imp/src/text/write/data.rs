//! A value without a Rust type, written as the type of its field asks.

use super::super::datetime;
use super::super::number::Float;
use super::json::JsonWriter;
use super::{DEPTH, FieldWriter, Form, Presence};
use crate::dialect::Dialect;
use crate::error::WriteError;
use crate::types::{Kind, Object, Type, TypeTree};
use crate::value::{Map, Value};
use crate::{history, tool_calls};

pub(super) fn write(field: &mut FieldWriter<'_>, value: &Value) -> Result<(), WriteError> {
    let tree = field.tree;
    let dialect = field.dialect;
    let ty = tree.present(&tree.root);
    match value {
        Value::Null => field.null(),
        Value::Bool(value) => field.bool(*value),
        Value::Int(value) => {
            field.presence = Presence::Present;
            super::super::number::push_int(field.out, value);
        }
        Value::Float(value) => field.float(Float::Double(*value))?,
        Value::String(text) => match date(text, ty, dialect) {
            Some(date) => field.text(&date, false),
            None => field.text(text, false),
        },
        Value::List(items) if field.form == Form::Section && tree.is_text() => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            match texts {
                Some(texts) => {
                    field.presence = Presence::Present;
                    let start = field.out.len();
                    quoted_list(field.out, &texts);
                    if field.escape {
                        super::escape_markers(field.out, start);
                    }
                }
                None => json(tree, dialect, value, None, &mut field.json())?,
            }
        }
        // A part in the place of a text: the writer has refused it or placed it before.
        Value::List(_) | Value::Map(_) | Value::Part(_) => {
            json(tree, dialect, value, Some(&tree.root), &mut field.json())?;
        }
    }
    Ok(())
}

/// DSPy's way to show texts one can refer to: `[1] «a»`, `[2] «b»`.
fn quoted_list(out: &mut String, texts: &[&str]) {
    if texts.is_empty() {
        out.push_str("N/A");
    }
    for (at, text) in texts.iter().enumerate() {
        if texts.len() > 1 {
            if at > 0 {
                out.push('\n');
            }
            super::super::number::push_int(out, format_args!("[{}] ", at + 1));
        }
        if text.contains(['\n', '«', '»']) {
            out.push_str("«««");
            for line in text.split('\n') {
                out.push_str("\n    ");
                out.push_str(line);
            }
            out.push_str("\n»»»");
        } else {
            out.push('«');
            out.push_str(text);
            out.push('»');
        }
    }
}

/// A date or time as the dialect spells it, if that is not how it was given.
pub(super) fn date(text: &str, ty: &Type, dialect: Dialect) -> Option<String> {
    match (dialect, &ty.kind) {
        (Dialect::Dspy, Kind::DateTime) => datetime::DateTime::parse(text).map(datetime::DateTime::to_json),
        _ => None,
    }
}

/// Writes a value of the type `ty`, if that is known.
fn json(
    tree: &TypeTree,
    dialect: Dialect,
    value: &Value,
    ty: Option<&Type>,
    out: &mut JsonWriter<'_>,
) -> Result<(), WriteError> {
    Writer { tree, dialect, inside: false }.value(value, ty, out, 0)
}

#[derive(Clone, Copy)]
struct Writer<'t> {
    tree: &'t TypeTree,
    dialect: Dialect,
    /// Whether the value is a property of an object, whose values have the property's type for certain.
    inside: bool,
}

impl<'t> Writer<'t> {
    fn value(
        self,
        value: &Value,
        ty: Option<&'t Type>,
        out: &mut JsonWriter<'_>,
        depth: usize,
    ) -> Result<(), WriteError> {
        if depth > DEPTH {
            return Err(WriteError::new("the value is nested too deeply"));
        }
        let ty = ty.map(|ty| branch(self.tree, self.tree.present(ty), value));
        let shown = match ty.map(|ty| &ty.kind) {
            Some(Kind::History) => history::shown(value),
            Some(Kind::ToolCalls) => tool_calls::shown(value),
            _ => None,
        };
        if let Some(shown) = shown {
            return self.value(&shown, None, out, depth);
        }
        match value {
            Value::Null => out.out().push_str("null"),
            Value::Bool(value) => out.out().push_str(if *value { "true" } else { "false" }),
            #[allow(clippy::cast_precision_loss, reason = "a number property holds a float")]
            Value::Int(value) if self.inside && ty.is_some_and(|ty| matches!(ty.kind, Kind::Number)) => {
                out.float(Float::Double(*value as f64))?;
            }
            Value::Int(value) => super::super::number::push_int(out.out(), value),
            Value::Float(value) => out.float(Float::Double(*value))?,
            Value::String(text) => match ty.and_then(|ty| date(text, ty, self.dialect)) {
                Some(date) => out.string(&date),
                None => out.string(text),
            },
            Value::List(items) => {
                out.open('[');
                for (at, item) in items.iter().enumerate() {
                    let ty = ty.and_then(|ty| match &ty.kind {
                        Kind::List { items, .. } => items.as_deref(),
                        Kind::Tuple(items) => items.get(at),
                        _ => None,
                    });
                    out.separate(at == 0);
                    self.value(item, ty, out, depth + 1)?;
                }
                out.close(']', items.is_empty());
            }
            Value::Map(map) => match ty.map(|ty| &ty.kind) {
                Some(Kind::Object(object)) if is_instance(map, object) => {
                    self.object(map, object, out, depth)?;
                }
                Some(Kind::Map { values, .. }) => self.map(map, values.as_deref(), out, depth)?,
                _ => self.map(map, None, out, depth)?,
            },
            Value::Part(_) => return Err(WriteError::new("a content part has no text")),
        }
        Ok(())
    }

    fn object(
        self,
        map: &Map,
        object: &'t Object,
        out: &mut JsonWriter<'_>,
        depth: usize,
    ) -> Result<(), WriteError> {
        out.open('{');
        let mut first = true;
        for property in &object.properties {
            let default = match property.ty.default.as_ref() {
                Some(default) if !property.required => Some(default),
                _ => None,
            };
            let Some(value) = map.get(&property.name).or(default) else { continue };
            out.separate(std::mem::take(&mut first));
            out.string(&property.name);
            out.colon();
            Writer { inside: true, ..self }.value(value, Some(&property.ty), out, depth + 1)?;
        }
        out.close('}', first);
        Ok(())
    }

    fn map(
        self,
        map: &Map,
        values: Option<&'t Type>,
        out: &mut JsonWriter<'_>,
        depth: usize,
    ) -> Result<(), WriteError> {
        let mut entries: Vec<(&str, &Value)> = map.iter().collect();
        if self.dialect == Dialect::Plain {
            entries.sort_by_key(|(key, _)| *key);
        }
        out.open('{');
        for (at, (key, value)) in entries.iter().enumerate() {
            out.separate(at == 0);
            out.string(key);
            out.colon();
            self.value(value, values, out, depth + 1)?;
        }
        out.close('}', entries.is_empty());
        Ok(())
    }
}

/// The branch of a union that an object is of: the first whose properties it has.
pub(super) fn branch<'t>(tree: &'t TypeTree, ty: &'t Type, value: &Value) -> &'t Type {
    let (Kind::Union { branches, .. }, Value::Map(map)) = (&ty.kind, value) else { return ty };
    let fits = |ty: &&Type| matches!(&ty.kind, Kind::Object(object) if fits(tree, map, object));
    branches.iter().map(|branch| tree.resolve(branch)).find(fits).unwrap_or(ty)
}

/// Whether a map has the properties that an object must have, and no other keys.
pub(super) fn fits(tree: &TypeTree, map: &Map, object: &Object) -> bool {
    is_instance(map, object)
        && object.properties.iter().all(|property| match map.get(&property.name) {
            Some(value) => match &tree.resolve(&property.ty).kind {
                Kind::Choice(choice) => choice.members.iter().any(|member| member.value == *value),
                _ => true,
            },
            None => !property.required,
        })
}

/// Whether a map has no keys beside the object's: else it is a map that was given in the object's place,
/// and is written as it is.
pub(super) fn is_instance(map: &Map, object: &Object) -> bool {
    map.keys().all(|key| object.properties.iter().any(|property| property.name == key))
}

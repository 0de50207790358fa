//! A value as an XML element.

use super::super::json::push_string;
use super::super::number::{Float, Floats, push_float, push_int};
use super::super::xml::{self, Quotes};
use super::data::{branch, date, fits, is_instance};
use super::{FieldWriter, Form, Presence, data};
use crate::dialect::Dialect;
use crate::error::WriteError;
use crate::types::{Kind, Object, Type, TypeTree};
use crate::value::{Map, Value};

/// The name of a list's elements.
const ITEM: &str = "item";

/// The name of an element whose key is no name.
const ENTRY: &str = "entry";

pub(super) fn write(field: &mut FieldWriter<'_>, value: &Value) -> Result<(), WriteError> {
    // DSPy shows its own types as texts here too.
    let is_own = field.dialect == Dialect::Dspy && field.tree.is_tools();
    if matches!(value, Value::List(_) | Value::Map(_)) && !is_own {
        field.presence = Presence::Present;
        let (tree, dialect) = (field.tree, field.dialect);
        let mut writer = Writer { tree, dialect, out: field.out };
        return writer.element(Tag { name: field.tag, key: None }, value, Some(&tree.root), false, 1);
    }
    // A list that is none, or a text in its place, stands alone as in any other section.
    let tag = field.tag;
    field.out.push('<');
    field.out.push_str(tag);
    field.out.push_str(">\n");
    let start = field.out.len();
    field.form = Form::Section;
    let result = data::write(field, value);
    field.form = Form::Xml;
    if field.dialect == Dialect::Plain {
        xml::escape(field.out, start, xml::push_exact);
    }
    field.out.push_str("\n</");
    field.out.push_str(tag);
    field.out.push('>');
    result
}

struct Writer<'t, 'o> {
    tree: &'t TypeTree,
    dialect: Dialect,
    out: &'o mut String,
}

#[derive(Clone, Copy)]
struct Tag<'k> {
    name: &'k str,
    /// The key of an entry whose key is no name.
    key: Option<&'k str>,
}

impl<'t> Writer<'t, '_> {
    /// Writes `<tag>`, the value and `</tag>`. `inside` says that it is a property of an object, whose values
    /// have the property's type for certain.
    fn element(
        &mut self,
        tag: Tag<'_>,
        value: &Value,
        place: Option<&'t Type>,
        inside: bool,
        depth: usize,
    ) -> Result<(), WriteError> {
        if depth > xml::DEPTH {
            return Err(WriteError::new(format!(
                "the value is nested too deeply: XML replies have at most {} levels",
                xml::DEPTH
            )));
        }
        self.out.push('<');
        self.out.push_str(tag.name);
        if let Some(key) = tag.key {
            let quotes = match self.dialect {
                Dialect::Plain => Quotes::Double,
                Dialect::Dspy => Quotes::Python,
            };
            self.out.push_str(" key=");
            xml::push_attribute(self.out, key, quotes);
        }
        if self.is_empty_element(value, place) {
            self.out.push_str(" />");
            return Ok(());
        }
        self.out.push('>');
        let ty = place.map(|ty| self.branch(ty, value));
        match value {
            Value::Null => {}
            Value::Bool(value) => self.out.push_str(match (self.dialect, value) {
                (Dialect::Dspy, true) => "True",
                (Dialect::Dspy, false) => "False",
                (Dialect::Plain, true) => "true",
                (Dialect::Plain, false) => "false",
            }),
            #[allow(clippy::cast_precision_loss, reason = "a number property holds a float")]
            Value::Int(value) if inside && ty.is_some_and(|ty| matches!(ty.kind, Kind::Number)) => {
                push_float(self.out, Float::Double(*value as f64), Floats::Python);
            }
            Value::Int(value) => push_int(self.out, value),
            Value::Float(value) => push_float(self.out, Float::Double(*value), Floats::Python),
            Value::String(text) => match ty.and_then(|ty| date(text, ty, self.dialect)) {
                Some(date) => xml::push_text(self.out, &date),
                None => self.text(text, place),
            },
            Value::List(items) if items.is_empty() => self.out.push_str("[]"),
            Value::Map(map) if map.is_empty() && !self.is_empty("{}", place) => self.out.push_str("{}"),
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    let ty = ty.and_then(|ty| match &ty.kind {
                        Kind::List { items, .. } => items.as_deref(),
                        Kind::Tuple(items) => items.get(at),
                        _ => None,
                    });
                    self.element(Tag { name: ITEM, key: None }, item, ty, false, depth + 1)?;
                }
            }
            Value::Map(map) => match ty.map(|ty| &ty.kind) {
                Some(Kind::Object(object)) if is_instance(map, object) => self.object(map, object, depth)?,
                Some(Kind::Map { values, .. }) => self.map(map, values.as_deref(), depth)?,
                _ => self.map(map, None, depth)?,
            },
            Value::Part(_) => return Err(WriteError::new("a content part has no text")),
        }
        self.out.push_str("</");
        self.out.push_str(tag.name);
        self.out.push('>');
        Ok(())
    }

    /// Whether a value is an element without an end tag. JSON has no word for what is not finite, and neither
    /// has DSPy's XML.
    fn is_empty_element(&self, value: &Value, place: Option<&Type>) -> bool {
        match value {
            Value::Null => true,
            Value::Float(value) => !value.is_finite(),
            Value::List(items) => items.is_empty() && self.is_empty("[]", place),
            _ => false,
        }
    }

    /// Whether an element without content is the value `json`; DSPy does not ask.
    fn is_empty(&self, json: &str, place: Option<&Type>) -> bool {
        self.dialect == Dialect::Dspy || xml::scalar(self.tree, place, "", self.dialect) == json
    }

    /// Writes a text so that it is read as that text: as a JSON string where it would not be (law 6).
    fn text(&mut self, text: &str, place: Option<&Type>) {
        let is_text = place.is_some_and(|ty| is_text(self.tree.present(ty)));
        if self.dialect == Dialect::Dspy {
            return xml::push_text(self.out, text);
        }
        let wanted = json_string(if is_text { text.trim() } else { text });
        let reads_as = |text: &str| xml::scalar(self.tree, place, text, self.dialect) == wanted;
        if !reads_as(text.trim()) && reads_as(&wanted) {
            xml::push_text(self.out, &wanted);
        } else if is_text {
            xml::push_text(self.out, text);
        } else {
            xml::push_exact(self.out, text);
        }
    }

    /// The type that a value in a place has: of a union the branch that a reader takes.
    fn branch(&self, place: &'t Type, value: &Value) -> &'t Type {
        let ty = self.tree.present(place);
        match (&ty.kind, value, self.dialect) {
            (Kind::Union { branches, .. }, Value::List(_) | Value::Map(_), Dialect::Plain) => {
                let mut branches = branches.iter().map(|branch| self.tree.present(branch));
                let fits = |ty: &&Type| match (&ty.kind, value) {
                    (Kind::Object(object), Value::Map(map)) => fits(self.tree, map, object),
                    (Kind::Map { .. }, Value::Map(_))
                    | (Kind::List { .. } | Kind::Tuple(_), Value::List(_)) => true,
                    _ => false,
                };
                branches.find(fits).unwrap_or(ty)
            }
            _ => branch(self.tree, ty, value),
        }
    }

    fn object(&mut self, map: &Map, object: &'t Object, depth: usize) -> Result<(), WriteError> {
        for property in &object.properties {
            let default = property.ty.default.as_ref().filter(|_| !property.required);
            if let Some(value) = map.get(&property.name).or(default) {
                self.entry(&property.name, value, Some(&property.ty), true, depth)?;
            }
        }
        Ok(())
    }

    fn map(&mut self, map: &Map, values: Option<&'t Type>, depth: usize) -> Result<(), WriteError> {
        if let (Dialect::Plain, None, 1, Some(item)) = (self.dialect, values, map.len(), map.get(ITEM)) {
            // Without a type a single `<item>` is a list.
            return self.element(Tag { name: ENTRY, key: Some(ITEM) }, item, None, false, depth + 1);
        }
        let mut entries: Vec<(&str, &Value)> = map.iter().collect();
        if self.dialect == Dialect::Plain {
            entries.sort_by_key(|(key, _)| *key);
        }
        for (key, value) in entries {
            self.entry(key, value, values, false, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        key: &str,
        value: &Value,
        ty: Option<&'t Type>,
        inside: bool,
        depth: usize,
    ) -> Result<(), WriteError> {
        let tag = if xml::is_name(key) {
            Tag { name: key, key: None }
        } else {
            Tag { name: ENTRY, key: Some(key) }
        };
        self.element(tag, value, ty, inside, depth + 1)
    }
}

/// Whether a text of the type loses the white space around it, and the difference between line ends.
fn is_text(ty: &Type) -> bool {
    matches!(ty.kind, Kind::String | Kind::Reasoning | Kind::Code { .. })
}

fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

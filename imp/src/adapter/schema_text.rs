//! JSON Schemas as prompts print them.
//!
//! Both texts are made from the compiled type, never from the schema that a type came with, so
//! that a Rust struct and the same type described as data give the same bytes. In the DSPy dialect
//! the text is what pydantic's `json_schema()` gives (titles, `$defs`) with DSPy's order of keys;
//! in the plain one it has no titles and formats, and a named type stands where it is used.

use std::collections::BTreeSet;

use serde::Serialize as _;
use std::sync::Arc;

use crate::dialect::Dialect;
use crate::spec::FieldSpec;
use crate::text::write::{JsonWriter, Layout};
use crate::types::{Checks, Choice, Kind, Number, Object, Type, TypeTree};
use crate::value::{Map, Value};

/// The schema of the type, on one line with Python's spacing.
pub(crate) fn schema_text(tree: &TypeTree, dialect: Dialect) -> String {
    let mut printer = Printer::new(tree, dialect);
    let mut schema = match tree.root.kind {
        // A type that contains itself has to stay among the definitions.
        Kind::Ref(at) if !printer.recursive.contains(&at) => printer.definition(at),
        _ => printer.node(&tree.root, Place::Other),
    };
    if !printer.defs.is_empty() {
        schema.insert("$defs", std::mem::take(&mut printer.defs));
    }
    let mut text = String::new();
    let schema = Value::Map(schema);
    match dialect {
        Dialect::Plain => write_json(&mut text, &schema),
        Dialect::Dspy => write_json(&mut text, &type_first(schema)),
    }
    text
}

/// The schema of an object with these fields by the rules of OpenAI's strict mode: every property is
/// required, other ones are refused, and what may be left out may be null. `None` if a type cannot be put
/// that way, as a map with arbitrary keys cannot.
pub(crate) fn strict_schema(title_of_all: &str, fields: &[Arc<FieldSpec>], dialect: Dialect) -> Option<Map> {
    let mut properties = Map::new();
    let mut defs = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for field in fields {
        let mut printer = Printer { strict: true, ..Printer::new(&field.tree, dialect) };
        let mut schema = match (&field.tree.root.kind, dialect) {
            (
                Kind::Object(Object { name, .. }) | Kind::Choice(Choice { name: Some(name), .. }),
                Dialect::Dspy,
            ) => {
                // pydantic keeps every named type among the definitions.
                let def = printer.node(&field.tree.root, Place::Other);
                printer.defs.insert(name.as_str(), def);
                Map::from([("$ref", format!("#/$defs/{name}"))])
            }
            _ => printer.node(&field.tree.root, Place::Property(&field.name)),
        };
        if printer.open {
            return None;
        }
        if dialect == Dialect::Plain {
            schema.insert("title", title(&field.name));
        } else if let Some(default) = &field.default {
            schema.insert("default", default.clone());
        }
        for (name, def) in std::mem::take(&mut printer.defs) {
            // Two types of one name in two fields: one of them would be lost.
            if defs.get(&name).is_some_and(|known| *known != def) {
                return None;
            }
            defs.insert(name, def);
        }
        properties.insert(field.name.as_str(), schema);
        required.push(field.name.as_str().into());
    }
    let mut map = typed("object");
    map.insert("title", title_of_all);
    map.insert("additionalProperties", false);
    map.insert("properties", properties);
    map.insert("required", required);
    if !defs.is_empty() {
        map.insert("$defs", defs);
    }
    Some(map)
}

/// The schema of an item, as §3 of the plain words has it: a union of simple types is a string there.
pub(crate) fn is_simple(tree: &TypeTree, ty: &Type) -> bool {
    matches!(
        tree.resolve(ty).kind,
        Kind::Null
            | Kind::String
            | Kind::Integer
            | Kind::Number
            | Kind::Boolean
            | Kind::DateTime
            | Kind::Date
            | Kind::Choice(_)
            | Kind::Reasoning
    )
}

/// What a node is the type of: pydantic gives properties a title.
#[derive(Clone, Copy)]
enum Place<'a> {
    Property(&'a str),
    /// An item of the list that is the field's type, or of a list in it.
    Item,
    Other,
}

struct Printer<'t> {
    tree: &'t TypeTree,
    dialect: Dialect,
    defs: Map,
    seen: BTreeSet<usize>,
    /// The definitions that contain themselves.
    recursive: BTreeSet<usize>,
    /// By the rules of OpenAI's strict mode.
    strict: bool,
    /// Whether something was met that the strict mode cannot express.
    open: bool,
}

impl<'t> Printer<'t> {
    fn new(tree: &'t TypeTree, dialect: Dialect) -> Self {
        Printer {
            tree,
            dialect,
            defs: Map::new(),
            seen: BTreeSet::new(),
            recursive: recursive(tree),
            strict: false,
            open: false,
        }
    }
}

impl Printer<'_> {
    fn dspy(&self) -> bool {
        self.dialect == Dialect::Dspy
    }

    /// The schema of a definition, as it stands among `$defs` or at the root.
    fn definition(&mut self, at: usize) -> Map {
        match self.tree.defs.get(at) {
            Some((_, ty)) => self.node(ty, Place::Other),
            None => Map::new(),
        }
    }

    fn reference(&mut self, at: usize) -> Map {
        if !self.dspy() && !self.recursive.contains(&at) {
            return self.definition(at);
        }
        let name = self.tree.defs.get(at).map_or("", |(name, _)| name);
        if self.seen.insert(at) {
            let schema = self.definition(at);
            self.defs.insert(name, schema);
        }
        Map::from([("$ref", format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1")))])
    }

    /// One of DSPy's own types: a definition, unless it is the field's type itself.
    fn builtin(&mut self, name: &str, schema: Map) -> Map {
        if matches!(self.tree.root.kind, Kind::ToolCalls | Kind::History) {
            return schema;
        }
        self.defs.insert(name, schema);
        Map::from([("$ref", format!("#/$defs/{name}"))])
    }

    fn node(&mut self, ty: &Type, place: Place<'_>) -> Map {
        let mut map = self.kind(ty, place);
        match place {
            Place::Property(name) if self.dspy() && has_title(ty) => map.insert("title", title(name)),
            _ => None,
        };
        if let Some(description) = &ty.description {
            map.insert("description", description.as_str());
        }
        // OpenAI's strict mode is documented to refuse defaults; DSPy sends them all the same.
        if let Some(default) = ty.default.as_ref().filter(|_| self.dspy() || !self.strict) {
            map.insert("default", default.clone());
        }
        if let Some(checks) = &ty.checks {
            bounds(&mut map, checks, &ty.kind);
        }
        map
    }

    fn kind(&mut self, ty: &Type, place: Place<'_>) -> Map {
        let inner = if matches!(place, Place::Item) { Place::Item } else { Place::Other };
        self.open |= match &ty.kind {
            Kind::Map { .. } | Kind::Opaque | Kind::ToolCalls | Kind::History => true,
            // What has no type is refused too, but for DSPy, which sends it.
            Kind::Any | Kind::Tuple(_) => !self.dspy(),
            _ => false,
        };
        match &ty.kind {
            Kind::Any => Map::new(),
            Kind::Null => typed("null"),
            Kind::String => {
                let mut map = typed("string");
                // A `Uuid` or a `Url` says so; dates have kinds of their own.
                let format = ty.schema.get("format").and_then(|format| format.as_str());
                if let Some(format) = format.filter(|_| self.dspy()) {
                    map.insert("format", format);
                }
                map
            }
            Kind::Reasoning if self.dspy() => self.builtin("Reasoning", reasoning_schema()),
            Kind::Reasoning | Kind::Code { .. } => typed("string"),
            Kind::Part(_) => typed("object"),
            Kind::Integer => typed("integer"),
            Kind::Number => typed("number"),
            Kind::Boolean => typed("boolean"),
            Kind::DateTime => self.dated("date-time"),
            Kind::Date => self.dated("date"),
            Kind::Choice(choice) => self.choice(choice),
            Kind::List { items, unique } => {
                let mut map = typed("array");
                map.insert(
                    "items",
                    items.as_ref().map_or_else(Map::new, |items| self.node(items, Place::Item)),
                );
                if *unique {
                    map.insert("uniqueItems", true);
                }
                map
            }
            Kind::Tuple(items) => {
                let mut map = typed("array");
                let count = i128::try_from(items.len()).unwrap_or(i128::MAX);
                let items =
                    items.iter().map(|item| Value::Map(self.node(item, Place::Other))).collect::<Vec<_>>();
                map.insert("prefixItems", items);
                map.insert("minItems", count);
                map.insert("maxItems", count);
                map
            }
            Kind::Map { values, .. } => {
                let mut map = typed("object");
                match values.as_ref().filter(|values| !matches!(values.kind, Kind::Any)) {
                    Some(values) => {
                        let values = self.node(values, Place::Other);
                        map.insert("additionalProperties", values);
                    }
                    None => {
                        map.insert("additionalProperties", true);
                    }
                }
                map
            }
            Kind::Object(object) => self.object(object),
            // §3: an item that is a union of simple types is called a string.
            Kind::Union { branches, tagged: false }
                if !self.dspy()
                    && !self.strict
                    && matches!(place, Place::Item)
                    && branches.iter().filter(|branch| !matches!(branch.kind, Kind::Null)).count() > 1
                    && branches.iter().all(|branch| is_simple(self.tree, branch)) =>
            {
                typed("string")
            }
            Kind::Union { branches, tagged } => {
                let mut printed: Vec<Value> = Vec::with_capacity(branches.len());
                for branch in branches {
                    let branch = Value::Map(self.node(branch, inner));
                    // Two Rust types can be one to JSON: `u8` and `u16`.
                    if !printed.contains(&branch) {
                        printed.push(branch);
                    }
                }
                Map::from([(if *tagged && !self.strict { "oneOf" } else { "anyOf" }, printed)])
            }
            Kind::Ref(at) => self.reference(*at),
            Kind::ToolCalls => self.tool_calls(),
            Kind::History => self.builtin("History", history_schema()),
            Kind::Opaque => match Value::from((*ty.schema).clone()) {
                Value::Map(map) => map
                    .into_iter()
                    .filter(|(key, _)| !key.starts_with("x-imp-") && key != "$schema")
                    .collect(),
                // The schema `false`: nothing fits.
                _ => Map::from([("not", Map::new())]),
            },
        }
    }

    fn dated(&self, format: &str) -> Map {
        let mut map = typed("string");
        if self.dspy() {
            map.insert("format", format);
        }
        map
    }

    fn choice(&self, choice: &Choice) -> Map {
        let values = || choice.members.iter().map(|member| member.value.clone());
        let mut map = Map::new();
        let described = choice.members.iter().any(|member| member.description.is_some());
        if !self.dspy() && !self.strict && described {
            let members: Vec<Value> = choice
                .members
                .iter()
                .map(|member| {
                    let mut map = same_type(std::iter::once(&member.value)).map_or_else(Map::new, typed);
                    map.insert("const", member.value.clone());
                    if let Some(description) = &member.description {
                        map.insert("description", description.as_str());
                    }
                    Value::Map(map)
                })
                .collect();
            map.insert("oneOf", members);
            return map;
        }
        if let Some(word) = same_type(choice.members.iter().map(|member| &member.value)) {
            map.insert("type", word);
        }
        match (&choice.name, choice.members.as_slice()) {
            (None, [only]) if self.dspy() => map.insert("const", only.value.clone()),
            _ => map.insert("enum", values().collect::<Vec<_>>()),
        };
        if let Some(name) = choice.name.as_ref().filter(|_| self.dspy()) {
            map.insert("title", name.as_str());
        }
        map
    }

    fn object(&mut self, object: &Object) -> Map {
        let mut map = typed("object");
        let mut properties = Map::new();
        for property in &object.properties {
            let schema = self.node(&property.ty, Place::Property(&property.name));
            properties.insert(property.name.as_str(), schema);
        }
        map.insert("properties", properties);
        let required: Vec<Value> = object
            .properties
            .iter()
            .filter(|property| property.required || self.strict)
            .map(|property| property.name.as_str().into())
            .collect();
        if !required.is_empty() {
            map.insert("required", required);
        }
        if object.closed || self.strict {
            map.insert("additionalProperties", false);
        }
        if self.dspy() {
            map.insert("title", object.name.as_str());
        }
        map
    }

    fn tool_calls(&mut self) -> Map {
        let dspy = self.dspy();
        let titled = |mut map: Map, title: &str| {
            if dspy {
                map.insert("title", title);
            }
            map
        };
        let mut args = typed("object");
        args.insert("additionalProperties", true);
        let mut call = typed("object");
        call.insert(
            "properties",
            Map::from([("name", titled(typed("string"), "Name")), ("args", titled(args, "Args"))]),
        );
        call.insert("required", vec![Value::from("name"), Value::from("args")]);
        let call = titled(call, "ToolCall");
        let item = if dspy {
            self.defs.insert("ToolCall", call);
            Map::from([("$ref", "#/$defs/ToolCall")])
        } else {
            call
        };
        let mut calls = typed("array");
        calls.insert("items", item);
        let mut map = typed("object");
        map.insert("properties", Map::from([("tool_calls", titled(calls, "Tool Calls"))]));
        map.insert("required", vec![Value::from("tool_calls")]);
        let map = titled(map, "ToolCalls");
        if dspy { self.builtin("ToolCalls", map) } else { map }
    }
}

fn typed(word: &str) -> Map {
    Map::from([("type", word)])
}

fn reasoning_schema() -> Map {
    let mut content = typed("string");
    content.insert("title", "Content");
    let mut map = typed("object");
    map.insert("properties", Map::from([("content", content)]));
    map.insert("required", vec![Value::from("content")]);
    map.insert("title", "Reasoning");
    map
}

fn history_schema() -> Map {
    let mut turn = typed("object");
    turn.insert("additionalProperties", true);
    let mut turns = typed("array");
    turns.insert("items", turn);
    turns.insert("title", "Messages");
    let mut map = typed("object");
    map.insert("properties", Map::from([("messages", turns)]));
    map.insert("required", vec![Value::from("messages")]);
    map.insert("additionalProperties", false);
    map.insert("title", "History");
    map
}

/// The JSON type that all the values have, if they have one.
fn same_type<'v>(values: impl Iterator<Item = &'v Value>) -> Option<&'static str> {
    let mut words = values.map(|value| match value {
        Value::String(_) => Some("string"),
        Value::Int(_) => Some("integer"),
        Value::Float(_) => Some("number"),
        Value::Bool(_) => Some("boolean"),
        Value::Null | Value::List(_) | Value::Map(_) | Value::Part(_) => None,
    });
    let first = words.next().flatten()?;
    words.all(|word| word == Some(first)).then_some(first)
}

/// pydantic's rule: whatever is a reference, or "reference or null", has a title of its own.
fn has_title(ty: &Type) -> bool {
    match &ty.kind {
        Kind::Ref(_) | Kind::Reasoning | Kind::ToolCalls | Kind::History => false,
        Kind::Union { branches, tagged: false } => {
            let mut present = branches.iter().filter(|branch| !matches!(branch.kind, Kind::Null));
            match (present.next(), present.next()) {
                (Some(only), None) => has_title(only),
                _ => true,
            }
        }
        _ => true,
    }
}

/// `unit_price` as pydantic titles it, `Unit Price`: Python's `title()`, with blanks for `_`.
fn title(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut inside = false;
    for c in name.chars() {
        let cased = c.is_lowercase() || c.is_uppercase();
        match (cased, inside) {
            (true, true) => out.extend(c.to_lowercase()),
            (true, false) => out.extend(c.to_uppercase()),
            (false, _) => out.push(if c == '_' { ' ' } else { c }),
        }
        inside = cased;
    }
    out.trim().to_owned()
}

fn number(number: Number) -> Value {
    match number {
        Number::Int(value) => Value::Int(value),
        Number::Float(value) => Value::Float(value),
    }
}

fn bounds(map: &mut Map, checks: &Checks, kind: &Kind) {
    for (key, bound) in [
        ("minimum", checks.minimum),
        ("maximum", checks.maximum),
        ("exclusiveMinimum", checks.exclusive_minimum),
        ("exclusiveMaximum", checks.exclusive_maximum),
        ("multipleOf", checks.multiple_of),
    ] {
        if let Some(bound) = bound {
            map.insert(key, number(bound));
        }
    }
    let (least, most) = match kind {
        Kind::List { .. } => ("minItems", "maxItems"),
        Kind::Map { .. } => ("minProperties", "maxProperties"),
        _ => ("minLength", "maxLength"),
    };
    for (key, bound) in [(least, checks.min_length), (most, checks.max_length)] {
        if let Some(bound) = bound {
            map.insert(key, i128::try_from(bound).unwrap_or(i128::MAX));
        }
    }
    if let Some(pattern) = &checks.pattern {
        map.insert("pattern", pattern.source.as_str());
    }
}

/// The definitions from which a way leads back to them.
fn recursive(tree: &TypeTree) -> BTreeSet<usize> {
    (0..tree.defs.len()).filter(|&at| reaches(tree, at)).collect()
}

fn reaches(tree: &TypeTree, start: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        let Some((_, ty)) = tree.defs.get(at) else { continue };
        let mut found = false;
        ty.each_ref(false, &mut |next, _| {
            found |= next == start;
            if seen.insert(next) {
                open.push(next);
            }
        });
        if found {
            return true;
        }
    }
    false
}

/// DSPy's order of keys: `type`, then the others sorted, at every depth (names of properties and
/// keys of defaults too).
fn type_first(value: Value) -> Value {
    match value {
        Value::Map(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|(a, _), (b, _)| (a != "type", a).cmp(&(b != "type", b)));
            Value::Map(entries.into_iter().map(|(key, value)| (key, type_first(value))).collect())
        }
        Value::List(items) => Value::List(items.into_iter().map(type_first).collect()),
        value => value,
    }
}

/// A value as Python's `json.dumps(…, ensure_ascii=False)` writes it.
pub(crate) fn write_json(out: &mut String, value: &Value) {
    // A `Value` has nothing that JSON cannot carry.
    let _ = value.serialize(JsonWriter::new(out, Layout::Line, false));
}

/// A float as Python's `repr` writes it.
pub(crate) fn python_float(value: f64) -> String {
    let mut text = String::new();
    match value {
        f64::INFINITY => text.push_str("inf"),
        f64::NEG_INFINITY => text.push_str("-inf"),
        value if value.is_nan() => text.push_str("nan"),
        value => write_json(&mut text, &Value::Float(value)),
    }
    text
}

//! A value that was read without a type, made one of a type.
//!
//! This is how values without a Rust type are read, and the second reading of those whose type serde lost
//! in a buffer (untagged, tagged and flattened ones).

use std::collections::HashSet;

use super::super::datetime::{Date, DateTime};
use super::check;
use super::failure::{Failure, Step, Why};
use super::scalar::{self, Number};
use crate::code::without_fence;
use crate::dialect::Dialect;
use crate::tool_calls;
use crate::types::{Choice, Kind, Object, Pattern, Type, TypeTree};
use crate::value::{Map, Value};

/// How well a value fits: a union takes the branch that it fits best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exactness {
    /// A value of a neighbouring type was taken.
    Lax,
    /// An integer for a float.
    Strict,
    Exact,
}

/// A value of the type.
#[derive(Debug)]
pub(super) struct Fit {
    pub(super) value: Value,
    exactness: Exactness,
    /// How many properties of objects were given.
    given: Option<usize>,
}

impl Fit {
    fn exact(value: Value) -> Fit {
        Fit { value, exactness: Exactness::Exact, given: None }
    }

    fn lax(value: Value) -> Fit {
        Fit { exactness: Exactness::Lax, ..Fit::exact(value) }
    }

    /// Takes over how well a value inside fits.
    fn absorb(&mut self, inner: &Fit) {
        self.exactness = self.exactness.min(inner.exactness);
        if let Some(given) = inner.given {
            *self.given.get_or_insert(0) += given;
        }
    }
}

/// Makes values conform to the types of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conform<'t> {
    pub(super) tree: &'t TypeTree,
    pub(super) dialect: Dialect,
    /// Whether a Rust type will read the result: it knows its defaults and its further names itself.
    pub(super) typed: bool,
    /// Whether the field allows numbers that are not finite.
    pub(super) inf_nan: bool,
}

impl<'t> Conform<'t> {
    fn is_lax(self) -> bool {
        self.dialect == Dialect::Dspy
    }

    /// `value` as one of `ty`; in DSPy's dialect as pydantic's lax mode does it.
    pub(super) fn value(self, value: &Value, ty: &'t Type) -> Result<Fit, Failure> {
        let place = ty;
        let ty = self.tree.resolve(place);
        let fit = self.kind(value, ty)?;
        for checks in
            [&place.checks, &ty.checks].into_iter().skip(usize::from(std::ptr::eq(place, ty))).flatten()
        {
            check::value(&fit.value, checks)?;
        }
        Ok(fit)
    }

    fn kind(self, value: &Value, ty: &'t Type) -> Result<Fit, Failure> {
        match &ty.kind {
            Kind::Any | Kind::Opaque | Kind::History => Ok(Fit::exact(value.clone())),
            // Never made from text.
            Kind::Part(_) => {
                Err(Failure::expected("no value: an image, an audio or a file is an input's only"))
            }
            Kind::Null => match value {
                Value::Null => Ok(Fit::exact(Value::Null)),
                _ => Err(Failure::expected("null")),
            },
            Kind::String => match value {
                Value::String(_) => Ok(Fit::exact(value.clone())),
                _ => Err(Failure::expected("string")),
            },
            Kind::Integer => self.integer(value),
            Kind::Number => self.number(value, ty),
            Kind::Boolean => self.boolean(value),
            Kind::DateTime => self.date_time(value),
            Kind::Date => match value {
                Value::String(text) => match Date::parse(text.trim()) {
                    Some(date) => Ok(Fit::lax(Value::String(date.to_iso()))),
                    None => Err(Failure::expected("date")),
                },
                _ => Err(Failure::expected("date")),
            },
            Kind::Choice(choice) => self.choice(value, choice),
            Kind::List { items, unique } => {
                let fit = self.list(value, items.as_deref())?;
                if *unique {
                    self.all_different(&fit.value)?;
                }
                Ok(fit)
            }
            Kind::Tuple(types) => self.tuple(value, types),
            Kind::Map { values, keys, .. } => {
                self.keys(value, keys.as_deref())?;
                self.map(value, values.as_deref())
            }
            Kind::Object(object) => self.object(value, object),
            Kind::Union { branches, .. } => self.union(value, branches),
            // `resolve` leaves no reference.
            Kind::Ref(_) => Err(Failure::new(Why::Type, "the type refers to itself")),
            Kind::Reasoning => match value {
                Value::String(_) => Ok(Fit::exact(value.clone())),
                Value::Map(map) => match map.get("content") {
                    Some(Value::String(text)) => Ok(Fit::lax(Value::from(text.as_str()))),
                    _ => Err(Failure::expected("string")),
                },
                _ => Err(Failure::expected("string")),
            },
            Kind::Code { .. } => match value {
                Value::String(text) => Ok(Fit::exact(Value::from(without_fence(text)))),
                Value::Map(map) => match map.get("code") {
                    Some(Value::String(text)) => Ok(Fit::lax(Value::from(without_fence(text)))),
                    _ => Err(Failure::expected("code")),
                },
                _ => Err(Failure::expected("code")),
            },
            Kind::ToolCalls if self.is_lax() => dspy_calls(value).map(Fit::lax),
            Kind::ToolCalls => plain_calls(value).map(Fit::lax),
        }
    }

    fn integer(self, value: &Value) -> Result<Fit, Failure> {
        let lax = match value {
            Value::Int(_) => return Ok(Fit::exact(value.clone())),
            Value::Float(value) => scalar::whole(*value),
            Value::String(text) => match scalar::integer(text.trim(), self.dialect) {
                Some(Number::Int(value)) => Some(value),
                _ => None,
            },
            _ => None,
        };
        match lax {
            Some(value) if self.is_lax() => Ok(Fit::lax(Value::Int(value))),
            _ => Err(Failure::expected("integer")),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a float was asked for")]
    fn number(self, value: &Value, ty: &Type) -> Result<Fit, Failure> {
        let fit = match value {
            Value::Float(_) => Fit::exact(value.clone()),
            Value::Int(value) => {
                Fit { exactness: Exactness::Strict, ..Fit::exact(Value::Float(*value as f64)) }
            }
            Value::String(text) if self.is_lax() => match scalar::float(text.trim(), self.dialect, true) {
                Some(value) => Fit::lax(Value::Float(value)),
                None => return Err(Failure::expected("number")),
            },
            _ => return Err(Failure::expected("number")),
        };
        let allowed = self.is_lax()
            || self.inf_nan
            || ty.checks.as_ref().is_some_and(|checks| checks.inf_nan == Some(true));
        match fit.value {
            Value::Float(value) if !value.is_finite() && !allowed => Err(Failure::expected("number")),
            _ => Ok(fit),
        }
    }

    fn boolean(self, value: &Value) -> Result<Fit, Failure> {
        let lax = match value {
            Value::Bool(_) => return Ok(Fit::exact(value.clone())),
            Value::Int(value @ (0 | 1)) => Some(*value == 1),
            Value::Float(value) => scalar::as_truth(*value),
            Value::String(text) => scalar::boolean(text.trim(), self.dialect),
            _ => None,
        };
        match lax {
            Some(value) if self.is_lax() => Ok(Fit::lax(Value::Bool(value))),
            _ => Err(Failure::expected("boolean")),
        }
    }

    fn date_time(self, value: &Value) -> Result<Fit, Failure> {
        let Value::String(text) = value else { return Err(Failure::expected("datetime")) };
        let text = text.trim();
        let time = DateTime::parse(text).ok_or_else(|| Failure::expected("datetime"))?;
        match self.dialect {
            // A typed one reads the text itself, and may be stricter than pydantic.
            Dialect::Dspy => Ok(Fit::lax(Value::String(time.to_iso()))),
            // A day alone is no time (§8.4); else the text stays as it is.
            Dialect::Plain if text.contains(':') => Ok(Fit::lax(Value::from(text))),
            Dialect::Plain => Err(Failure::expected("datetime")),
        }
    }

    fn choice(self, value: &Value, choice: &Choice) -> Result<Fit, Failure> {
        let member = scalar::equal(choice, value).or_else(|| match value {
            // A text for a member that is no text, as `"2"` for 2.
            Value::String(text) if self.is_lax() && choice.name.is_none() => choice
                .members
                .iter()
                .find(|member| spelt(&member.value).is_some_and(|spelt| spelt == text.trim())),
            _ => None,
        });
        match member {
            Some(member) if choice.name.is_some() => Ok(Fit::lax(member.value.clone())),
            Some(member) => Ok(Fit::exact(member.value.clone())),
            None => Err(Failure::new(Why::Type, scalar::one_of_members(choice))),
        }
    }

    fn list(self, value: &Value, items: Option<&'t Type>) -> Result<Fit, Failure> {
        let Value::List(given) = value else { return Err(Failure::expected("array")) };
        let Some(ty) = items else { return Ok(Fit::exact(value.clone())) };
        let mut fit = Fit::exact(Value::Null);
        let mut list = Vec::with_capacity(given.len());
        for (at, item) in given.iter().enumerate() {
            let item = self.value(item, ty).map_err(|failure| failure.inside(Step::Index(at)))?;
            fit.absorb(&item);
            list.push(item.value);
        }
        fit.value = Value::List(list);
        Ok(fit)
    }

    /// A set of Rust takes an item that is there twice once; a described list has to be one without.
    fn all_different(self, list: &Value) -> Result<(), Failure> {
        let Value::List(items) = list else { return Ok(()) };
        let mut seen = HashSet::new();
        match items.iter().position(|item| !self.typed && !seen.insert(spelling(item))) {
            Some(at) => Err(Failure::new(Why::Bound, "the item is there twice").inside(Step::Index(at))),
            None => Ok(()),
        }
    }

    /// The keys of Rust's maps are serde's to check.
    fn keys(self, value: &Value, keys: Option<&Pattern>) -> Result<(), Failure> {
        let (Value::Map(map), Some(keys), false) = (value, keys, self.typed) else { return Ok(()) };
        match map.iter().find(|(key, _)| !keys.regex.is_match(key)) {
            Some((key, _)) => {
                Err(Failure::new(Why::Bound, format!("the key `{key}` must match {}", keys.source)))
            }
            None => Ok(()),
        }
    }

    fn tuple(self, value: &Value, types: &'t [Type]) -> Result<Fit, Failure> {
        let Value::List(given) = value else { return Err(Failure::expected("array")) };
        if given.len() != types.len() {
            let failure =
                Failure::new(Why::Type, format!("expected {} items, found {}", types.len(), given.len()));
            return Err(failure.with_expected("array"));
        }
        let mut fit = Fit::exact(Value::Null);
        let mut list = Vec::with_capacity(given.len());
        for (at, (item, ty)) in given.iter().zip(types).enumerate() {
            let item = self.value(item, ty).map_err(|failure| failure.inside(Step::Index(at)))?;
            fit.absorb(&item);
            list.push(item.value);
        }
        fit.value = Value::List(list);
        Ok(fit)
    }

    fn map(self, value: &Value, values: Option<&'t Type>) -> Result<Fit, Failure> {
        let Value::Map(given) = value else { return Err(Failure::expected("object")) };
        let Some(ty) = values else { return Ok(Fit::exact(value.clone())) };
        let mut fit = Fit::exact(Value::Null);
        let mut map = Map::new();
        for (key, value) in given.iter() {
            let value = self.value(value, ty).map_err(|failure| failure.inside(Step::Key(key.to_owned())))?;
            fit.absorb(&value);
            map.insert(key, value.value);
        }
        fit.value = Value::Map(map);
        Ok(fit)
    }

    /// The properties in the order of the reply, without the keys that the object does not have; then the
    /// defaults of those that are absent.
    fn object(self, value: &Value, object: &'t Object) -> Result<Fit, Failure> {
        let Value::Map(given) = value else { return Err(Failure::expected("object")) };
        let mut fit = Fit { given: Some(0), ..Fit::lax(Value::Null) };
        let mut map = Map::new();
        for (key, value) in given.iter() {
            let Some(property) = object.properties.iter().find(|property| property.name == key) else {
                if object.closed {
                    return Err(Failure::new(Why::Type, format!("unknown property `{key}`")));
                }
                if self.typed {
                    map.insert(key, value.clone());
                } else if let Some(ty) = &object.additional {
                    let inner =
                        self.value(value, ty).map_err(|failure| failure.inside(Step::Key(key.to_owned())))?;
                    map.insert(key, inner.value);
                }
                continue;
            };
            let inner = self
                .value(value, &property.ty)
                .map_err(|failure| failure.inside(Step::Key(key.to_owned())))?;
            fit.absorb(&inner);
            *fit.given.get_or_insert(0) += 1;
            map.insert(key, inner.value);
        }
        for property in &object.properties {
            if map.contains_key(&property.name) {
                continue;
            }
            if property.required {
                return Err(Failure::new(Why::Type, format!("{} is required", property.name)));
            }
            if self.typed {
                continue;
            }
            if let Some(default) = &property.ty.default {
                map.insert(property.name.as_str(), default.clone());
            } else if self.tree.is_nullable(&property.ty) {
                map.insert(property.name.as_str(), Value::Null);
            }
        }
        fit.value = Value::Map(map);
        Ok(fit)
    }

    /// pydantic's smart mode: the first branch that fits exactly, else the one of which most properties are
    /// given, else the one that fits best, else the first. Exact branches go before forgiving ones.
    fn union(self, value: &Value, branches: &'t [Type]) -> Result<Fit, Failure> {
        let mut best: Option<Fit> = None;
        let mut failures = Vec::new();
        for branch in branches {
            let ty = self.tree.resolve(branch);
            if matches!(ty.kind, Kind::Null) {
                if value.is_null() {
                    return Ok(Fit::exact(Value::Null));
                }
                continue;
            }
            if is_other_tag(self.tree, ty, value) {
                continue;
            }
            let fit = match self.value(value, branch) {
                Ok(fit) => fit,
                Err(failure) => {
                    failures.push((has_kind(self.tree, branch, value), failure));
                    continue;
                }
            };
            if fit.exactness == Exactness::Exact && fit.given.is_none() {
                return Ok(fit);
            }
            let better = best.as_ref().is_none_or(|best| match (best.given, fit.given) {
                (Some(old), Some(new)) if old != new => old < new,
                _ => best.exactness < fit.exactness,
            });
            if better {
                best = Some(fit);
            }
        }
        best.ok_or_else(|| no_branch(failures))
    }
}

/// Of the failures of a union's branches the one that helps: that of the only branch which the value could be.
fn no_branch(failures: Vec<(bool, Failure)>) -> Failure {
    if let [(_, failure)] = failures.as_slice() {
        return failure.clone();
    }
    let mut likely = failures.into_iter().filter(|(likely, _)| *likely).map(|(_, failure)| failure);
    match (likely.next(), likely.next()) {
        (Some(failure), None) => failure,
        _ => Failure::new(Why::Type, "did not match any allowed type"),
    }
}

/// The text of a value that is no text, as a prompt shows it.
fn spelt(value: &Value) -> Option<String> {
    match value {
        Value::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
        Value::Int(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Whether an object's property that can have but one value has another here.
fn is_other_tag(tree: &TypeTree, ty: &Type, value: &Value) -> bool {
    let (Kind::Object(object), Value::Map(map)) = (&ty.kind, value) else { return false };
    object.properties.iter().any(|property| {
        match (&tree.resolve(&property.ty).kind, map.get(&property.name)) {
            (Kind::Choice(choice), Some(value)) => {
                choice.members.len() == 1 && scalar::equal(choice, value).is_none()
            }
            _ => false,
        }
    })
}

/// One text for each value: 1 is 1.0, and the order of keys does not matter.
fn spelling(value: &Value) -> String {
    match value {
        Value::Float(float) => scalar::whole(*float).map_or_else(|| float.to_string(), |int| int.to_string()),
        Value::List(items) => format!("[{}]", items.iter().map(spelling).collect::<Vec<_>>().join(",")),
        Value::Map(map) => {
            let mut entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{key:?}:{}", spelling(value))).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(","))
        }
        Value::String(text) => format!("{text:?}"),
        value => super::super::write::json_text(value),
    }
}

/// Whether a value could be of a type, by its kind alone.
pub(super) fn has_kind(tree: &TypeTree, ty: &Type, value: &Value) -> bool {
    let ty = tree.resolve(ty);
    match (&ty.kind, value) {
        (Kind::Any | Kind::Opaque | Kind::History, _)
        | (Kind::Null, Value::Null)
        | (
            Kind::String | Kind::Date | Kind::DateTime | Kind::Reasoning | Kind::Code { .. },
            Value::String(_),
        )
        | (Kind::Integer, Value::Int(_))
        | (Kind::Number, Value::Int(_) | Value::Float(_))
        | (Kind::Boolean, Value::Bool(_))
        | (Kind::List { .. } | Kind::Tuple(_) | Kind::ToolCalls, Value::List(_))
        | (Kind::Map { .. } | Kind::Reasoning | Kind::Code { .. } | Kind::ToolCalls, Value::Map(_)) => true,
        (Kind::Object(object), Value::Map(map)) => {
            !is_other_tag(tree, ty, value)
                && object
                    .properties
                    .iter()
                    .all(|property| !property.required || map.contains_key(&property.name))
        }
        (Kind::Choice(choice), value) => scalar::equal(choice, value).is_some(),
        (Kind::Union { branches, .. }, value) => branches.iter().any(|branch| has_kind(tree, branch, value)),
        _ => false,
    }
}

/// The tool calls that a value says, in any of the shapes that models write (§14.9). A call that cannot be
/// understood stays one, which never runs.
fn plain_calls(value: &Value) -> Result<Value, Failure> {
    let calls = tool_calls::read_all(value).ok_or_else(|| Failure::expected("tool_calls"))?;
    let mut data = tool_calls::data(&calls);
    if let (Value::Map(data), Some(results)) =
        (&mut data, value.as_map().and_then(|map| map.get("tool_call_results")))
    {
        data.insert("tool_call_results", results.clone());
    }
    Ok(data)
}

/// The tool calls that a value says, in any of the shapes that DSPy takes: the list alone, an object with
/// `tool_calls`, one call; with `args` or `arguments`, or a provider's `function`.
fn dspy_calls(value: &Value) -> Result<Value, Failure> {
    let wrong = || Failure::expected("tool_calls");
    let is_call = |map: &Map| {
        (map.contains_key("name") && (map.contains_key("args") || map.contains_key("arguments")))
            || map.contains_key("function")
    };
    let mut out = Map::new();
    let calls = match value {
        Value::List(items) if items.iter().all(|item| item.as_map().is_some_and(is_call)) => items.as_slice(),
        Value::Map(map) => match map.get("tool_calls") {
            Some(Value::List(items)) => items.as_slice(),
            Some(_) => return Err(wrong().inside(Step::Key("tool_calls".to_owned()))),
            None if is_call(map) => std::slice::from_ref(value),
            None => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let mut list = Vec::with_capacity(calls.len());
    for (at, call) in calls.iter().enumerate() {
        let call = call.as_map().ok_or_else(wrong).and_then(tool_call);
        list.push(Value::Map(call.map_err(|failure| failure.inside(Step::Index(at)))?));
    }
    out.insert("tool_calls", list);
    if let Some(results) = value.as_map().and_then(|map| map.get("tool_call_results")) {
        out.insert("tool_call_results", results.clone());
    }
    Ok(Value::Map(out))
}

fn tool_call(map: &Map) -> Result<Map, Failure> {
    let (name, args) = match map.get("function") {
        Some(Value::Map(function)) => {
            (function.get("name").or_else(|| map.get("name")), function.get("arguments"))
        }
        Some(_) => return Err(Failure::expected("object").inside(Step::Key("function".to_owned()))),
        None => (map.get("name"), map.get("args").or_else(|| map.get("arguments"))),
    };
    let Some(Value::String(name)) = name else {
        return Err(Failure::expected("string").inside(Step::Key("name".to_owned())));
    };
    let args = match args {
        Some(Value::Map(args)) => args.clone(),
        Some(Value::String(text)) => match super::described::object(text) {
            Some(args) => args,
            None => return Err(Failure::expected("object").inside(Step::Key("args".to_owned()))),
        },
        _ => Map::new(),
    };
    let mut call = Map::new();
    match map.get("id").filter(|id| !id.is_null()).or_else(|| map.get("call_id")) {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) => {
            if !id.is_empty() {
                call.insert("id", id.as_str());
            }
        }
        Some(_) => return Err(Failure::expected("string").inside(Step::Key("id".to_owned()))),
    }
    call.insert("name", name.as_str());
    call.insert("args", args);
    // A call that a provider's reply held and nobody could read is still none.
    if let Some(received) = map.get("malformed") {
        call.insert("malformed", received.clone());
    }
    Ok(call)
}

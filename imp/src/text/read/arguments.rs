//! The arguments of a tool, checked against its schema before it runs (Imp §16.1).

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::conform::Conform;
use super::{ReadOptions, Source, is_container, read};
use crate::dialect::Dialect;
use crate::types::{Kind, Type, TypeTree};
use crate::value::{Map, Value};

/// What is wrong with the arguments of a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Wrong {
    /// Arguments that must be there are not, in the order of the schema.
    Missing(Vec<String>),
    /// Arguments are not what the schema says: the way to each and what is wrong.
    Invalid(Vec<(String, String)>),
}

/// The arguments as the schema asks: a list or an object that came as JSON text is what it says.
///
/// # Errors
///
/// Required arguments that are absent or null, else everything that is wrong with those that are there.
pub(crate) fn check(tree: &TypeTree, given: &Map) -> Result<Map, Wrong> {
    let conform = Conform { tree, dialect: Dialect::Plain, typed: true, inf_nan: false };
    let Kind::Object(object) = &tree.resolve(&tree.root).kind else {
        // A tool without arguments: what a model sends all the same is nothing to it.
        if matches!(tree.resolve(&tree.root).kind, Kind::Null) {
            return Ok(Map::new());
        }
        // A schema that does not list the arguments.
        let value = Value::Map(given.clone());
        return match conform.value(&value, &tree.root) {
            Ok(fit) => Ok(fit.value.as_map().unwrap_or(given).clone()),
            Err(failure) => Err(Wrong::Invalid(vec![(place(&failure.path()), failure.message().to_owned())])),
        };
    };
    let is_missing = |name: &str, ty: &Type| match given.get(name) {
        None => true,
        Some(Value::Null) => !tree.is_nullable(ty),
        Some(_) => false,
    };
    let missing: Vec<String> = object
        .properties
        .iter()
        .filter(|property| property.required && is_missing(&property.name, &property.ty))
        .map(|property| property.name.clone())
        .collect();
    if !missing.is_empty() {
        return Err(Wrong::Missing(missing));
    }
    let mut checked = Map::new();
    let mut wrong = Vec::new();
    for property in &object.properties {
        let Some(value) = given.get(&property.name) else { continue };
        // A null in the place of what may be left out is left out.
        if value.is_null() && !tree.is_nullable(&property.ty) {
            continue;
        }
        match conform.value(&decoded(tree, &property.ty, value), &property.ty) {
            Ok(fit) => {
                checked.insert(property.name.as_str(), fit.value);
            }
            Err(failure) => {
                wrong.push((format!("{}{}", property.name, failure.path()), failure.message().to_owned()));
            }
        }
    }
    for (key, value) in given.iter() {
        if object.properties.iter().any(|property| property.name == key) {
            continue;
        }
        if object.closed {
            wrong.push((key.to_owned(), "is not a parameter".to_owned()));
        } else {
            checked.insert(key, value.clone());
        }
    }
    if wrong.is_empty() { Ok(checked) } else { Err(Wrong::Invalid(wrong)) }
}

/// A list or an object that came as JSON text, where the schema wants one and no text: some models encode
/// twice.
fn decoded<'v>(tree: &TypeTree, ty: &Type, value: &'v Value) -> Cow<'v, Value> {
    let Value::String(text) = value else { return Cow::Borrowed(value) };
    if !is_container(&tree.present(ty).kind) || !text.trim_start().starts_with(['{', '[']) {
        return Cow::Borrowed(value);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(inner @ (Value::List(_) | Value::Map(_))) => Cow::Owned(inner),
        _ => Cow::Borrowed(value),
    }
}

/// The arguments as a Rust type; checked before, so what is wrong still is the type's own matter.
///
/// # Errors
///
/// The way to the value that is wrong, and what is wrong with it.
pub(crate) fn typed<T: DeserializeOwned>(tree: &TypeTree, arguments: &Map) -> Result<T, (String, String)> {
    let json = match tree.resolve(&tree.root).kind {
        Kind::Null => "null".to_owned(),
        _ => serde_json::to_string(arguments).unwrap_or_default(),
    };
    let options = ReadOptions { dialect: Dialect::Plain, unescape: false };
    read(&Source::Json(json.into()), tree, None, options).map_err(|error| (place(&error.path), error.message))
}

/// The way to a value inside the arguments, by the name of one.
fn place(path: &str) -> String {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() { "arguments".to_owned() } else { path.to_owned() }
}

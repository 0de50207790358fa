//! Data as Python's `repr` writes it: how DSPy shows the arguments of a tool.

use std::fmt::Write as _;

use super::super::number::{Float, Floats, push_float};
use super::DEPTH;
use crate::value::Value;

/// Writes a value; what is nested too deeply is `...`, as Python writes what it does not follow.
pub(super) fn push_repr(out: &mut String, value: &Value, depth: usize) {
    if depth > DEPTH {
        out.push_str("...");
        return;
    }
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
        Value::Int(value) => {
            let _ = write!(out, "{value}");
        }
        Value::Float(value) => push_float(out, Float::Double(*value), Floats::Python),
        Value::String(text) => push_text(out, text),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push_repr(out, item, depth + 1);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push_text(out, key);
                out.push_str(": ");
                push_repr(out, value, depth + 1);
            }
            out.push('}');
        }
        Value::Part(_) => out.push_str("..."),
    }
}

/// Single quotes, unless they are in the text and double ones are not.
fn push_text(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_python_does() {
        for (json, expected) in [
            (serde_json::json!({"a": [1, 2.0, true, null], "é": {}}), "{'a': [1, 2.0, True, None], 'é': {}}"),
            (serde_json::json!("it's"), "\"it's\""),
            (serde_json::json!("it's \"so\""), "'it\\'s \"so\"'"),
            (serde_json::json!("a\\b\n\u{1}"), "'a\\\\b\\n\\x01'"),
            (serde_json::json!([]), "[]"),
        ] {
            let mut out = String::new();
            push_repr(&mut out, &json.into(), 0);
            assert_eq!(out, expected);
        }
    }
}

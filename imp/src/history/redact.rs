//! A history without what looks like a secret.

use super::turn::{REASONING, REASONING_DETAILS, Turn};
use crate::value::{Map, Value};

const REDACTED: &str = "[REDACTED]";

/// Parts of a key, in lower case and without `_` and `-`, whose value is a secret.
const SECRET_PARTS: [&str; 10] = [
    "apikey",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "privatekey",
    "accesskey",
    "authorization",
    "credential",
    "cookie",
];

/// What API keys and tokens begin with, and how long one is at least.
const TOKENS: [(&str, usize); 16] = [
    ("sk-", 11),
    ("pk-", 19),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 20),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 20),
    ("AIza", 30),
    ("hf_", 20),
    ("eyJ", 40),
];

pub(super) fn turn(turn: &Turn) -> Turn {
    let entry = |(key, value): (&str, &Value)| {
        // A provider refuses its own reasoning if one byte of it is another.
        let kept = key == REASONING || key == REASONING_DETAILS;
        (key.to_owned(), if kept { value.clone() } else { entry(key, value) })
    };
    turn.fields().iter().map(entry).collect::<Map>().into()
}

fn entry(key: &str, value: &Value) -> Value {
    if is_secret(key) && !value.is_null() { REDACTED.into() } else { self::value(value) }
}

fn value(value: &Value) -> Value {
    match value {
        Value::String(text) => self::text(text).into(),
        Value::List(items) => Value::List(items.iter().map(self::value).collect()),
        Value::Map(map) => {
            Value::Map(map.iter().map(|(key, value)| (key.to_owned(), entry(key, value))).collect())
        }
        other => other.clone(),
    }
}

fn is_secret(key: &str) -> bool {
    let key: String =
        key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect::<String>().to_lowercase();
    // `token` but not `tokens`, which are counted.
    key.ends_with("token") || SECRET_PARTS.iter().any(|part| key.contains(part))
}

fn text(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '+' | '/');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut bearer = false;
    while !rest.is_empty() {
        let from = rest.find(is_part).unwrap_or(rest.len());
        let (between, tail) = rest.split_at(from);
        let (word, tail) = tail.split_at(tail.find(|c| !is_part(c)).unwrap_or(tail.len()));
        out.push_str(between);
        // What ends a sentence is no part of a token.
        let token = word.trim_end_matches('.');
        let secret = (bearer && between == " " && token.len() >= 16)
            || TOKENS.iter().any(|(start, len)| token.len() >= *len && token.starts_with(start));
        if secret {
            out.push_str(REDACTED);
            out.push_str(word.get(token.len()..).unwrap_or_default());
        } else {
            out.push_str(word);
        }
        bearer = word.eq_ignore_ascii_case("bearer");
        rest = tail;
    }
    out
}

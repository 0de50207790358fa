//! What holds of every reading, whatever the adapter.

use imp::{Adapter, Fields, Map, Missing, ParseError, Reply, Value, read_reply};

use super::case::Signature;
use crate::generate::{Ty, sorted};

/// Values that can be compared: the order of a map's entries says nothing.
pub(super) fn values(fields: &Fields) -> Value {
    sorted(&fields.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect::<Map>().into())
}

/// Whether two values are the same; NaN is NaN.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        (a, b) => a == b,
    }
}

/// Whether a value is of a type, judged without the reader's own schema.
fn fits(ty: &Ty, value: &Value) -> bool {
    match (ty, value) {
        (Ty::Text(_) | Ty::Code | Ty::Time(_), Value::String(_))
        | (Ty::Int, Value::Int(_))
        | (Ty::Float, Value::Float(_))
        | (Ty::Bool, Value::Bool(_))
        | (Ty::Any, _)
        | (Ty::Optional(_), Value::Null) => true,
        (Ty::Literal(members), value) => members.iter().any(|member| Value::from(member.clone()) == *value),
        (Ty::Enum(_, members), value) => {
            members.iter().any(|(_, member)| Value::from(member.clone()) == *value)
        }
        (Ty::Optional(inner), value) => fits(inner, value),
        (Ty::List(inner), Value::List(items)) => items.iter().all(|item| fits(inner, item)),
        (Ty::Dict(inner), Value::Map(map)) => map.iter().all(|(_, item)| fits(inner, item)),
        (Ty::Object(_, fields), Value::Map(map)) => {
            fields.iter().all(|(name, ty)| match map.get(name) {
                Some(value) => fits(ty, value),
                None => matches!(ty, Ty::Optional(_) | Ty::Any),
            }) && map.keys().all(|key| fields.iter().any(|(name, _)| name == key))
        }
        (Ty::Union(branches), value) => branches.iter().any(|branch| fits(branch, value)),
        _ => false,
    }
}

/// Every output is there, is no other, and is of its type.
pub(super) fn well_typed(signature: &Signature, fields: &Fields, reply: &str) {
    for (name, ty) in &signature.outputs {
        let fits = match fields.get(name) {
            Some(value) => fits(ty, value),
            None => matches!(ty, Ty::Optional(_) | Ty::Any),
        };
        assert!(fits, "`{name}` is not of {ty:?} in {fields:?}\n{reply:?}");
    }
    let known = |name: &str| signature.outputs.iter().any(|(known, _)| *known == name);
    assert!(fields.iter().all(|(name, _)| known(name)), "{fields:?} has another output\n{reply:?}");
}

/// What was read is read again where it is written as an assistant's message.
pub(super) fn comes_back(adapter: &dyn Adapter, signature: &Signature, fields: &Fields, reply: &str) {
    let written = adapter
        .assistant_content(&signature.spec, fields, Missing::LeaveOut)
        .unwrap_or_else(|error| panic!("{error}: {fields:?}\n{reply:?}"));
    let again = read_reply::<Fields, _>(adapter, &signature.spec, Reply::Text(&written))
        .unwrap_or_else(|error| panic!("{error}: {fields:?}\n{written:?}\n{reply:?}"));
    assert!(
        same(&values(&again), &values(fields)),
        "{fields:?} comes back as {again:?}\n{written:?}\n{reply:?}"
    );
}

/// An error names places that are there, and is no longer than a screen takes.
pub(super) fn sound_error(error: &ParseError, reply: &str) {
    assert_eq!(error.reply(), reply);
    short(&error.to_string(), reply);
    let _ = error.retry_message();
    for failure in error.failures() {
        assert!(reply.get(failure.span.clone()).is_some(), "{failure:?} is no place in {reply:?}");
    }
    if let Some(syntax) = error.syntax() {
        assert!(reply.get(syntax.span()).is_some(), "{syntax:?} is no place in {reply:?}");
        short(&syntax.to_string(), reply);
    }
}

/// A message shows the start and the end of what is long.
pub(super) fn short(message: &str, about: &str) {
    let lines = message.lines().count();
    assert!(!message.is_empty() && lines <= 402, "{lines} lines about {about:?}");
    if let Some(line) = message.lines().find(|line| line.chars().count() > 1300) {
        panic!("a line of {} characters: {line}", line.chars().count());
    }
}

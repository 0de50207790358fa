//! Whether what is said of the front of a reply is the front of what the whole says.

use imp::{Fields, Value};

/// Whether `front` is the front of `whole`: equal up to its end, where a text, a list or a map may be shorter. With
/// `waits` a text may be so anywhere: the end of one may have to wait for that of the reply.
pub fn is_front(front: &Value, whole: &Value, last: bool, waits: bool) -> bool {
    match (front, whole) {
        (Value::String(front), Value::String(whole)) => {
            front == whole || ((last || waits) && whole.starts_with(front.as_str()))
        }
        (Value::List(front), Value::List(whole)) => {
            let open = |at| last && at + 1 == front.len();
            (front.len() == whole.len() || (last && front.len() < whole.len()))
                && front.iter().zip(whole).enumerate().all(|(at, (a, b))| is_front(a, b, open(at), waits))
        }
        (Value::Map(front), Value::Map(whole)) => {
            let open = |at| last && at + 1 == front.len();
            (front.len() == whole.len() || (last && front.len() < whole.len()))
                && front
                    .iter()
                    .zip(whole.iter())
                    .enumerate()
                    .all(|(at, ((key, a), (same, b)))| key == same && is_front(a, b, open(at), waits))
        }
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (front, whole) => front == whole,
    }
}

/// The same for the fields of a reply, whose order is the signature's.
pub fn are_front(front: &Fields, whole: &Fields, waits: bool) -> bool {
    front.iter().all(|(name, value)| whole.get(name).is_some_and(|whole| is_front(value, whole, true, waits)))
}

/// Whether two keys of a map are one where the white space at their end is cut off: of two equal keys the last
/// counts, which no front can know.
pub fn has_twins(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(has_twins),
        Value::Map(map) => {
            let keys: std::collections::BTreeSet<_> = map.keys().map(str::trim_end).collect();
            keys.len() < map.len() || map.iter().any(|(_, value)| has_twins(value))
        }
        _ => false,
    }
}

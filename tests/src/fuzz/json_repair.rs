//! JSON, and what is nearly JSON.

use std::sync::LazyLock;

use imp::{Adapter as _, Chat, Dialect, Fields, Json as JsonAdapter, Missing, SignatureSpec, Value};
use serde_json::{Map, Value as Json, json};

use super::check::{same, sound_error, values};
use crate::plain::{data, output};

/// Both readers have a limit, which is 128 or so, outer containers included.
const DEEPEST: usize = 120;

struct Specs {
    /// Any object.
    object: SignatureSpec,
    /// Outputs as entries of one.
    entries: SignatureSpec,
}

static SPECS: LazyLock<Specs> = LazyLock::new(|| Specs {
    object: output(&"object".into()),
    entries: data(&json!({ "inputs": [{ "name": "q" }], "outputs": [
        { "name": "answer", "type": { "optional": "str" } },
        { "name": "map", "type": { "optional": { "dict": "any" } } },
    ] })),
});

/// A text as an object: what strict JSON reads is read to the same value, and what is read is read again where it is
/// written as strict JSON.
///
/// # Panics
///
/// Something is wrong.
pub fn json_repair(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let strict: Option<Map<String, Json>> = serde_json::from_str(&text).ok();
    let section = format!("[[ ## x ## ]]\n{text}\n\n[[ ## completed ## ]]");
    for dialect in [Dialect::Plain, Dialect::Dspy] {
        let chat = Chat::new().dialect(dialect);
        let adapter = JsonAdapter::new().dialect(dialect);
        let object = chat.read_fields(&SPECS.object, &section);
        match (&object, &strict) {
            (Err(error), None) => sound_error(error, &section),
            (Err(error), Some(strict)) => {
                assert!(depth(strict.values()) > DEEPEST, "{dialect:?} refuses JSON: {error}\n{text}");
            }
            (Ok(fields), _) => {
                let read = fields.get("x").unwrap_or(&Value::Null);
                if let Some(strict) = &strict {
                    let strict = Json::Object(strict.clone());
                    assert!(is(&strict, read), "{dialect:?}: {strict:?} is read as {read:?}\n{text}");
                }
                again(&chat, fields, &text);
            }
        }
        let entries = adapter.read_fields(&SPECS.entries, &*text);
        if let Err(error) = &entries {
            sound_error(error, &text);
        }
        if let (Ok(fields), Some(strict)) = (&entries, &strict) {
            for (name, value) in fields.iter().filter(|(_, value)| value.as_map().is_some()) {
                let strict = strict.get(name).unwrap_or(&Json::Null);
                assert!(is(strict, value), "{dialect:?}: {strict:?} is read as {value:?}\n{text}");
            }
        }
    }
}

/// What was read is written as strict JSON, which is read alike by all.
fn again(chat: &Chat, fields: &Fields, text: &str) {
    let written = chat
        .assistant_content(&SPECS.object, fields, Missing::LeaveOut)
        .unwrap_or_else(|error| panic!("{error}: {fields:?}\n{text}"));
    let back = chat
        .read_fields(&SPECS.object, &written)
        .unwrap_or_else(|error| panic!("{error}: {fields:?}\n{written}\n{text}"));
    assert!(same(&values(fields), &values(&back)), "{fields:?} comes back as {back:?}\n{text}");
}

/// Whether a value is what strict JSON says.
fn is(strict: &Json, value: &Value) -> bool {
    match (strict, value) {
        (Json::Array(strict), Value::List(items)) => {
            strict.len() == items.len() && strict.iter().zip(items).all(|(strict, item)| is(strict, item))
        }
        (Json::Object(strict), Value::Map(map)) => {
            let found = |key, item| strict.get(key).is_some_and(|strict| is(strict, item));
            strict.len() == map.len() && map.iter().all(|(key, item)| found(key, item))
        }
        // serde_json has no whole numbers of more than 64 bits.
        #[expect(clippy::cast_precision_loss, reason = "that is what `serde_json` does")]
        (Json::Number(number), Value::Int(int)) if number.is_f64() => {
            i64::try_from(*int).is_err() && number.as_f64() == Some(*int as f64)
        }
        (strict, value) => same(&Value::from(strict.clone()), value),
    }
}

fn depth<'j>(values: impl Iterator<Item = &'j Json>) -> usize {
    let below = values.map(|value| match value {
        Json::Array(items) => depth(items.iter()),
        Json::Object(map) => depth(map.values()),
        _ => 0,
    });
    1 + below.max().unwrap_or(0)
}

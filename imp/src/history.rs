//! The type of an input that holds a conversation.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::types::key;
use crate::value::{Map, Value};

/// The one key of a history as data.
const TURNS: &str = "messages";

/// The turns of a conversation, each the values of fields by their names (DSPy's `dspy.History`).
///
/// As JSON it is `{"messages": [turn…]}`; a list of turns alone is read too.
///
/// ```
/// use imp::{History, Map};
///
/// let mut history = History::new();
/// history.push([("question", "Where is my parcel?"), ("answer", "In Graz.")]);
/// let json = r#"{"messages":[{"question":"Where is my parcel?","answer":"In Graz."}]}"#;
/// assert_eq!(serde_json::to_string(&history)?, json);
/// assert_eq!(serde_json::from_str::<History>(json)?.turns().len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    turns: Vec<Map>,
}

impl History {
    /// A history without turns.
    pub fn new() -> Self {
        History::default()
    }

    /// Adds a turn behind the others.
    pub fn push(&mut self, turn: impl Into<Map>) {
        self.turns.push(turn.into());
    }

    /// The turns, the oldest first.
    pub fn turns(&self) -> &[Map] {
        &self.turns
    }
}

impl<T: Into<Map>> FromIterator<T> for History {
    fn from_iter<I: IntoIterator<Item = T>>(turns: I) -> Self {
        History { turns: turns.into_iter().map(Into::into).collect() }
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [(TURNS, &self.turns)].into_iter().collect::<std::collections::BTreeMap<_, _>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let turns = match Value::deserialize(deserializer)? {
            Value::List(turns) => turns,
            Value::Map(map) => match map.into_iter().find(|(key, _)| key == TURNS) {
                Some((_, Value::List(turns))) => turns,
                _ => return Err(D::Error::custom("a history has its turns in `messages`, a list")),
            },
            other => {
                return Err(D::Error::custom(format!("a history is a list of turns, not {}", other.kind())));
            }
        };
        turns
            .into_iter()
            .map(|turn| match turn {
                Value::Map(turn) => Ok(turn),
                other => {
                    Err(D::Error::custom(format!("a turn is an object of fields, not {}", other.kind())))
                }
            })
            .collect()
    }
}

/// A history without a Rust type as prompts show it: a bare list of turns under its key.
pub(crate) fn shown(value: &Value) -> Option<Value> {
    match value {
        Value::List(_) => Some(Value::Map(Map::from([(TURNS, value.clone())]))),
        _ => None,
    }
}

pub(crate) fn schema() -> Json {
    json!({
        "type": "object",
        "properties": { TURNS: { "type": "array", "items": { "type": "object" } } },
        "required": [TURNS],
        key::KIND: "history",
    })
}

impl JsonSchema for History {
    fn schema_name() -> Cow<'static, str> {
        "History".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema().try_into().unwrap_or_default()
    }
}

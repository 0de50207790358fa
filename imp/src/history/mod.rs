//! The type of an input that holds a conversation.

mod data;
mod redact;
mod turn;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::types::key;
use crate::value::{Map, Value};

pub use turn::Turn;

pub(crate) use data::map_from_data;
pub(crate) use turn::{ASSISTANT_NAME, CALLS, NAME, RESULTS, THOUGHT, USER_NAME};

/// The key of a history's turns as data.
const TURNS: &str = "messages";

/// The turns of a conversation (DSPy's `dspy.History`, Imp's `Imp.History`).
///
/// As the type of an input it is no section of the prompt: its turns are messages that stand between the demos
/// and the request, and the next call's history is this one and a turn more.
///
/// ```
/// use imp::{Chat, History, Role, Signature, Turn};
///
/// #[derive(Clone, Signature)]
/// #[signature(output = Answer)]
/// struct Question {
///     question: String,
///     history: History,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
/// }
///
/// let first = Question { question: "Where is my parcel?".into(), history: History::new() };
/// let answer = Answer { answer: "In Graz.".into() };
/// let history = History::from_iter([Turn::of(&first, &answer)?]);
///
/// let messages = Chat::new().format(&Question { question: "And when?".into(), history })?;
/// let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
/// assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
/// assert_eq!(messages[1].text(), "[[ ## question ## ]]\nWhere is my parcel?");
/// assert_eq!(messages[2].text(), "[[ ## answer ## ]]\nIn Graz.\n\n[[ ## completed ## ]]\n");
/// assert!(!messages[0].text().contains("history"));
/// # Ok::<(), imp::FormatError>(())
/// ```
///
/// # As data
///
/// As JSON it is `{"messages": [turn…]}`, where a turn is an object of the values of its fields; a list of turns
/// alone is read too. Nothing is lost on the way, an image neither.
///
/// ```
/// use imp::History;
///
/// let mut history = History::new();
/// history.push([("question", "Where is my parcel?"), ("answer", "In Graz.")]);
/// let json = r#"{"messages":[{"question":"Where is my parcel?","answer":"In Graz."}]}"#;
/// assert_eq!(serde_json::to_string(&history)?, json);
/// assert_eq!(serde_json::from_str::<History>(json)?, history);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    turns: Vec<Turn>,
}

impl History {
    /// A history without turns.
    pub fn new() -> Self {
        History::default()
    }

    /// Adds a turn behind the others.
    pub fn push(&mut self, turn: impl Into<Turn>) {
        self.turns.push(turn.into());
    }

    /// The same history and one more turn.
    pub fn with(mut self, turn: impl Into<Turn>) -> Self {
        self.push(turn);
        self
    }

    /// The turns, the oldest first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// How many turns there are.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// Whether there is no turn.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The history as data for a store: `{"type": "history", "messages": [turn…]}` (Imp §18).
    /// [`load`](Self::load) makes it a history again.
    ///
    /// ```
    /// use imp::History;
    ///
    /// let mut history = History::new();
    /// history.push([("question", "2 + 2?"), ("answer", "4")]);
    /// let dump = history.dump()?;
    /// assert_eq!(dump["type"], "history");
    /// assert_eq!(History::load(&dump)?, history);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A number that JSON cannot hold: an integer of more than 64 bits.
    pub fn dump(&self) -> Result<Json, serde_json::Error> {
        Ok(json!({ "type": "history", TURNS: serde_json::to_value(&self.turns)? }))
    }

    /// The history that [`dump`](Self::dump) wrote; the key `type` may be missing.
    ///
    /// # Errors
    ///
    /// The data is no history.
    pub fn load(data: &Json) -> Result<History, serde_json::Error> {
        History::deserialize(data)
    }

    /// The history in which `[REDACTED]` stands for what looks like a secret: the values of keys such as
    /// `api_key` and `password`, and the API keys and tokens in texts. The structure stays.
    ///
    /// It finds the usual forms and no others: what it leaves is not proven harmless. What a provider asks to be
    /// sent back unchanged, `reasoning_content` and `reasoning_details`, stays.
    ///
    /// ```
    /// use imp::History;
    ///
    /// let mut history = History::new();
    /// history.push([("question", "My key is sk-0123456789abcdef, why?"), ("api_key", "x"), ("answer", "Hm.")]);
    /// let turn = &history.redact().turns()[0].clone();
    /// assert_eq!(turn.get("question"), Some(&"My key is [REDACTED], why?".into()));
    /// assert_eq!(turn.get("api_key"), Some(&"[REDACTED]".into()));
    /// assert_eq!(turn.get("answer"), Some(&"Hm.".into()));
    /// ```
    pub fn redact(&self) -> History {
        self.turns.iter().map(redact::turn).collect()
    }

    /// A history given as data, in a described signature. Its values are what they are: nothing in it is read as
    /// an image.
    pub(crate) fn from_value(value: Value) -> Result<History, String> {
        let turns = match value {
            Value::List(turns) => turns,
            Value::Map(map) => match map.into_iter().find(|(key, _)| key == TURNS) {
                Some((_, Value::List(turns))) => turns,
                _ => return Err(format!("a history has its turns in `{TURNS}`, a list")),
            },
            other => return Err(format!("a history is a list of turns, not {}", other.kind())),
        };
        let turn = |turn| match turn {
            Value::Map(turn) => Ok(Turn::from(turn)),
            other => Err(format!("a turn is an object of fields, not {}", other.kind())),
        };
        turns.into_iter().map(turn).collect()
    }
}

impl<T: Into<Turn>> FromIterator<T> for History {
    fn from_iter<I: IntoIterator<Item = T>>(turns: I) -> Self {
        History { turns: turns.into_iter().map(Into::into).collect() }
    }
}

impl<T: Into<Turn>> Extend<T> for History {
    fn extend<I: IntoIterator<Item = T>>(&mut self, turns: I) {
        self.turns.extend(turns.into_iter().map(Into::into));
    }
}

/// The turns as a list: the value of a history in a signature that is described at run time.
impl From<History> for Value {
    fn from(history: History) -> Self {
        Value::List(history.turns.into_iter().map(Value::from).collect())
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [(TURNS, &self.turns)].into_iter().collect::<std::collections::BTreeMap<_, _>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let history = History::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)?;
        Ok(history.turns.into_iter().map(|turn| map_from_data(turn.into_fields())).collect())
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

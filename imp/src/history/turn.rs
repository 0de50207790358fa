//! One turn of a conversation.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::data::{MapAsData, map_from_data};
use crate::fields::Fields;
use crate::tool_calls::ToolCalls;
use crate::value::{Map, Value};

/// The durable keys of what is no field (Imp §§7.6, 7.8, 14.7).
pub(crate) const USER_NAME: &str = "user_name";
pub(crate) const ASSISTANT_NAME: &str = "assistant_name";
pub(crate) const THOUGHT: &str = "next_thought";
pub(crate) const CALLS: &str = "tool_calls";
pub(crate) const RESULTS: &str = "tool_call_results";
pub(super) const REASONING: &str = "reasoning_content";
pub(super) const REASONING_DETAILS: &str = "reasoning_details";

/// The name by which a turn announces itself to the writer, which takes it as it is. No text can be it.
pub(crate) const NAME: &str = "$imp::Turn";

/// One turn of a [`History`](crate::History): what was asked, what was answered, and which tools were called.
///
/// Its fields are values by name, so that a turn can be stored and be formatted for another signature than the
/// one that it was made for. It is made from the structs:
///
/// ```
/// use imp::{Signature, Turn};
///
/// #[derive(Signature)]
/// #[signature(output = Route)]
/// struct Ticket {
///     ticket: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Route {
///     team: String,
///     reply: String,
/// }
///
/// let ticket = Ticket { ticket: "My card was charged twice.".into() };
/// let route = Route { team: "atlas".into(), reply: "We refund it.".into() };
/// let turn = Turn::of(&ticket, &route)?.user_name("alice");
/// assert_eq!(turn.get("team"), Some(&"atlas".into()));
///
/// // What a turn does not have is left out of the prompt. A misspelt field does not compile.
/// let open = Turn::partial::<Ticket>(
///     TicketPartial { ticket: Some("Hello?".into()) },
///     RoutePartial::default(),
/// )?;
/// assert_eq!(open.get("reply"), None);
/// # Ok::<(), imp::FormatError>(())
/// ```
///
/// or from data, for a signature that is described at run time:
///
/// ```
/// use imp::Turn;
///
/// let turn = Turn::from([("question", "2 + 2?"), ("answer", "4")]);
/// assert_eq!(turn.fields().len(), 2);
/// ```
///
/// # Tools
///
/// A step of a tool loop has what the model said, the calls, and their results. A model that calls tools
/// natively sees them as such; one that cannot sees them written.
///
/// ```
/// use imp::{Chat, Fields, Adapter, FormatOptions, Map, Role, SignatureSpec, ToolCall, ToolCalls, ToolResult, Turn};
///
/// let mut calls: ToolCalls = vec![ToolCall::new("c1", "lookup", Map::from([("word", "imp")]))].into();
/// calls.results = Some(vec![ToolResult::new("c1", "lookup", "a small devil")]);
/// let turn = Turn::from([("question", "What is an imp?")]).thought("Let me look.").tool_calls(calls);
///
/// let spec = SignatureSpec::from_json(&serde_json::json!({
///     "inputs": [{"name": "question"}, {"name": "history", "type": "history"}],
///     "outputs": [{"name": "answer"}],
/// }))?;
/// let inputs = Fields::from([("question", "And?".into()), ("history", imp::Value::from(vec![turn.into()]))]);
/// let messages = Chat::new().messages(&spec, &inputs, &FormatOptions::new())?;
/// assert_eq!(messages[2].text(), "Let me look.");
/// assert_eq!(messages[2].tool_calls[0].name, "lookup");
/// assert_eq!((messages[3].role, &*messages[3].text()), (Role::Tool, "a small devil"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn(Map);

impl Turn {
    /// A turn in which nothing was said.
    pub fn new() -> Self {
        Turn::default()
    }

    /// The participant's name on the turn's user message; an empty one names nothing. See [`name`](crate::name).
    pub fn user_name(self, name: impl Into<String>) -> Self {
        self.with(USER_NAME, name.into())
    }

    /// The participant's name on the turn's assistant message; an empty one names nothing.
    pub fn assistant_name(self, name: impl Into<String>) -> Self {
        self.with(ASSISTANT_NAME, name.into())
    }

    /// What the model said beside its tool calls: `next_thought`.
    pub fn thought(self, text: impl Into<String>) -> Self {
        self.with(THOUGHT, text.into())
    }

    /// The tool calls of the turn, with their results: `tool_calls` and `tool_call_results`. Without calls it is
    /// a step in which the model called nothing.
    pub fn tool_calls(self, calls: impl Into<ToolCalls>) -> Self {
        let calls = calls.into();
        let results = calls.results.iter().flatten().map(|result| Value::Map(result.to_map()));
        let results = Value::List(results.collect());
        let calls = Value::List(calls.calls.iter().map(|call| Value::Map(call.to_map())).collect());
        self.with(CALLS, calls).with(RESULTS, results)
    }

    /// What the model reasoned, for a provider that asks for it back: `reasoning_content`, as it is.
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.with(REASONING, text.into())
    }

    /// The provider's own record of the reasoning: `reasoning_details`, as it is.
    pub fn reasoning_details(self, details: impl Into<Value>) -> Self {
        self.with(REASONING_DETAILS, details.into())
    }

    /// The same turn with one field more, or another value of it.
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(field, value);
        self
    }

    /// What was recorded of a field; a null is a value.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field)
    }

    /// All that was recorded, in order.
    pub fn fields(&self) -> &Map {
        &self.0
    }

    /// The same, owned.
    pub fn into_fields(self) -> Map {
        self.0
    }

    /// A text that is no field of the signature, if it is not empty.
    pub(crate) fn extra(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    pub(crate) fn kept_reasoning(&self) -> (Option<&str>, Option<&Value>) {
        let details = self.0.get(REASONING_DETAILS).filter(|details| !details.is_null());
        (self.0.get(REASONING).and_then(Value::as_str), details)
    }
}

impl From<Map> for Turn {
    fn from(fields: Map) -> Self {
        Turn(fields)
    }
}

impl From<Fields> for Turn {
    fn from(fields: Fields) -> Self {
        Turn(fields.into_map())
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Turn {
    fn from(fields: [(K, V); N]) -> Self {
        Turn(fields.into())
    }
}

impl From<Turn> for Value {
    fn from(turn: Turn) -> Self {
        Value::Map(turn.0)
    }
}

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NAME, &MapAsData(&self.0))
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Map(map) => Ok(Turn(map_from_data(map))),
            other => Err(D::Error::custom(format!("a turn is an object of fields, not {}", other.kind()))),
        }
    }
}

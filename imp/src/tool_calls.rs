//! The type of a field that holds tool calls.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::message::ToolCall;
use crate::types::key;
use crate::value::{Map, Value};

const CALLS: &str = "tool_calls";
const RESULTS: &str = "tool_call_results";

/// The tools that a model asks to be run, and what came of them (DSPy's `dspy.ToolCalls`).
///
/// As data it is `{"tool_calls": [{"id", "name", "args"}…], "tool_call_results": [result…]}`, without the ids
/// that are empty and without the results where there are none. Prompts show the names and arguments of the
/// calls and nothing else, as DSPy's do.
///
/// ```
/// use imp::{Chat, Signature, ToolCalls};
///
/// #[derive(Signature)]
/// struct Step {
///     calls: ToolCalls,
/// }
///
/// let reply = "[[ ## calls ## ]]\n[{\"name\": \"search\", \"args\": {\"query\": \"cats\"}}]";
/// let step: Step = Chat::new().parse(reply)?;
/// assert_eq!(step.calls.calls[0].name, "search");
/// assert_eq!(step.calls.results, None);
/// # Ok::<(), imp::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolCalls {
    /// The calls in order; the id of one is empty if it has none.
    pub calls: Vec<ToolCall>,
    /// What the calls gave; `None` before they were run.
    pub results: Option<Vec<ToolResult>>,
}

/// What a tool call gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call; empty if it has none.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// What the tool returned, or what it said went wrong.
    pub value: Value,
    /// Whether the call failed; it did not by default.
    pub is_error: bool,
}

impl ToolResult {
    /// The result of a call that did not fail.
    pub fn new(call_id: impl Into<String>, name: impl Into<String>, value: impl Into<Value>) -> Self {
        ToolResult { call_id: call_id.into(), name: name.into(), value: value.into(), is_error: false }
    }
}

impl ToolResult {
    /// The result as data.
    pub(crate) fn to_map(&self) -> Map {
        let mut map = Map::new();
        if !self.call_id.is_empty() {
            map.insert("call_id", self.call_id.as_str());
        }
        map.insert("name", self.name.as_str());
        map.insert("value", self.value.clone());
        map.insert("is_error", self.is_error);
        map
    }
}

impl ToolCall {
    /// The call as data.
    pub(crate) fn to_map(&self) -> Map {
        let mut map = Map::new();
        if !self.id.is_empty() {
            map.insert("id", self.id.as_str());
        }
        map.insert("name", self.name.as_str());
        map.insert("arguments", self.arguments.clone());
        map
    }
}

impl From<Vec<ToolCall>> for ToolCalls {
    fn from(calls: Vec<ToolCall>) -> Self {
        ToolCalls { calls, results: None }
    }
}

impl FromIterator<ToolCall> for ToolCalls {
    fn from_iter<I: IntoIterator<Item = ToolCall>>(calls: I) -> Self {
        calls.into_iter().collect::<Vec<_>>().into()
    }
}

#[derive(Serialize)]
struct Data<'a> {
    tool_calls: Vec<CallData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_results: Option<&'a [ToolResult]>,
}

#[derive(Serialize)]
struct CallData<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    name: &'a str,
    args: &'a Map,
}

impl Serialize for ToolCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let calls = self.calls.iter();
        let calls = calls.map(|call| CallData { id: &call.id, name: &call.name, args: &call.arguments });
        Data { tool_calls: calls.collect(), tool_call_results: self.results.as_deref() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCalls {
    /// Reads the one form that this type is written in. A field reads all others that DSPy takes too: where
    /// this fails, the reader makes them this one.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::Map(data) = Value::deserialize(deserializer)? else {
            return Err(D::Error::custom("tool calls are an object with `tool_calls`"));
        };
        let mut calls = None;
        let mut results = None;
        for (key, value) in data {
            match (key.as_str(), value) {
                (CALLS, Value::List(given)) => {
                    let given = given.into_iter().map(call);
                    calls = Some(given.collect::<Result<Vec<_>, _>>().map_err(D::Error::custom)?);
                }
                (RESULTS, Value::Null) => {}
                (RESULTS, Value::List(given)) => {
                    let given = given.into_iter().map(result);
                    results = Some(given.collect::<Result<Vec<_>, _>>().map_err(D::Error::custom)?);
                }
                (RESULTS, _) => return Err(D::Error::custom("the results of tool calls are a list")),
                _ => {}
            }
        }
        let calls = calls.ok_or_else(|| D::Error::custom("tool calls are a list in `tool_calls`"))?;
        Ok(ToolCalls { calls, results })
    }
}

fn call(value: Value) -> Result<ToolCall, &'static str> {
    let Value::Map(data) = value else { return Err("a tool call is an object with `name` and `args`") };
    let (mut id, mut name, mut args) = (String::new(), None, None);
    for (key, value) in data {
        match (key.as_str(), value) {
            ("id", Value::String(text)) => id = text,
            ("id", Value::Null) => {}
            ("name", Value::String(text)) => name = Some(text),
            ("args", Value::Map(map)) => args = Some(map),
            // An id under another name, or none at all.
            ("id" | "call_id", _) => return Err("the `id` of a tool call is a text"),
            _ => {}
        }
    }
    let name = name.ok_or("a tool call has a `name`, a text")?;
    let arguments = args.ok_or("a tool call has `args`, an object")?;
    Ok(ToolCall { id, name, arguments })
}

fn result(value: Value) -> Result<ToolResult, &'static str> {
    let Value::Map(data) = value else { return Err("a result is an object with `name` and `value`") };
    let mut result = ToolResult::new("", "", Value::Null);
    let (mut named, mut valued) = (false, false);
    for (key, value) in data {
        match (key.as_str(), value) {
            ("call_id", Value::String(text)) => result.call_id = text,
            ("name", Value::String(text)) => (result.name, named) = (text, true),
            ("value", value) => (result.value, valued) = (value, true),
            ("is_error", Value::Bool(is_error)) => result.is_error = is_error,
            ("call_id", Value::Null) => {}
            ("call_id" | "name" | "is_error", _) => return Err("a part of a result has another type"),
            _ => {}
        }
    }
    if named && valued { Ok(result) } else { Err("a result has a `name`, a text, and a `value`") }
}

/// Tool calls without a Rust type as prompts show them: the names and arguments of the calls.
pub(crate) fn shown(value: &Value) -> Option<Value> {
    let calls = match value {
        Value::List(calls) => calls.as_slice(),
        Value::Map(map) => map.get(CALLS)?.as_list()?,
        _ => return None,
    };
    let call = |call: &Value| {
        let call = call.as_map()?;
        let part = |key| Some((key, call.get(key)?.clone()));
        Some(Value::Map([part("name")?, part("args")?].into_iter().collect()))
    };
    let calls = calls.iter().map(call).collect::<Option<Vec<_>>>()?;
    Some(Value::Map(Map::from([(CALLS, calls)])))
}

pub(crate) fn schema() -> Json {
    json!({
        "type": "object",
        "properties": { CALLS: { "type": "array", "items": {
            "type": "object",
            "properties": { "name": { "type": "string" }, "args": { "type": "object" } },
            "required": ["name", "args"],
        } } },
        "required": [CALLS],
        key::KIND: "tool_calls",
    })
}

impl JsonSchema for ToolCalls {
    fn schema_name() -> Cow<'static, str> {
        "ToolCalls".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema().try_into().unwrap_or_default()
    }
}

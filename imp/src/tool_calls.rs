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
        if let Some(malformed) = &self.malformed {
            map.insert("malformed", malformed.clone());
        }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<&'a Value>,
}

impl<'a> From<&'a ToolCall> for CallData<'a> {
    fn from(call: &'a ToolCall) -> Self {
        CallData { id: &call.id, name: &call.name, args: &call.arguments, malformed: call.malformed.as_ref() }
    }
}

impl Serialize for ToolCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let calls = self.calls.iter().map(CallData::from).collect();
        Data { tool_calls: calls, tool_call_results: self.results.as_deref() }.serialize(serializer)
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
    let (mut id, mut name, mut args, mut malformed) = (String::new(), None, None, None);
    for (key, value) in data {
        match (key.as_str(), value) {
            ("id", Value::String(text)) => id = text,
            ("id", Value::Null) => {}
            ("name", Value::String(text)) => name = Some(text),
            ("args", Value::Map(map)) => args = Some(map),
            ("malformed", received) => malformed = Some(received),
            // An id under another name, or none at all.
            ("id" | "call_id", _) => return Err("the `id` of a tool call is a text"),
            _ => {}
        }
    }
    let name = name.ok_or("a tool call has a `name`, a text")?;
    let arguments = args.ok_or("a tool call has `args`, an object")?;
    Ok(ToolCall { malformed, ..ToolCall::new(id, name, arguments) })
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

/// The calls that a value says, in any of the shapes that models write (Imp §14.9): a list, an object with
/// `tool_calls` (which may be wrapped once more), one call alone. `None` if it is none of these.
pub(crate) fn read_all(value: &Value) -> Option<Vec<ToolCall>> {
    let inside = |map: &'_ Map| map.get(CALLS).cloned();
    match value {
        Value::Map(map) => match inside(map) {
            Some(Value::Map(inner)) => match inner.get(CALLS) {
                Some(calls @ Value::List(_)) => list(calls),
                Some(_) => None,
                None => is_call(&inner).then(|| vec![ToolCall::from_value(&Value::Map(inner))]),
            },
            Some(calls) => list(&calls),
            None => is_call(map).then(|| vec![ToolCall::from_value(value)]),
        },
        calls => list(calls),
    }
}

fn list(calls: &Value) -> Option<Vec<ToolCall>> {
    let calls = calls.as_list()?;
    let is_object = |call: &Value| matches!(call, Value::Map(_));
    calls.iter().all(is_object).then(|| calls.iter().map(ToolCall::from_value).collect())
}

/// The keys of a call: of its name, and of its arguments.
const NAMES: [&str; 3] = ["name", "recipient_name", "tool"];
const ARGUMENTS: [&str; 3] = ["arguments", "args", "parameters"];

/// Whether an object was meant to be a call.
fn is_call(map: &Map) -> bool {
    let has = |keys: [&str; 3]| keys.iter().any(|key| map.contains_key(key));
    map.contains_key("function") || has(NAMES) || has(ARGUMENTS)
}

impl ToolCall {
    /// The call that a value says, in any of the shapes that models write (Imp §14.9): OpenAI's
    /// `{"id", "function": {"name", "arguments"}}`, or flat with the name under `name`, `recipient_name` or `tool` and the
    /// arguments under `arguments`, `args` or `parameters`. A `functions.` in front of a flat name is taken off, and
    /// arguments that are JSON in a text are read.
    ///
    /// What is no call is one that is [malformed](Self#structfield.malformed), so that it never runs and is not
    /// lost.
    ///
    /// ```
    /// use imp::ToolCall;
    /// use serde_json::json;
    ///
    /// let call = ToolCall::from_value(&json!({"recipient_name": "functions.submit", "parameters": {"answer": 4}}).into());
    /// assert_eq!((&*call.name, call.arguments.get("answer")), ("submit", Some(&4.into())));
    ///
    /// let nothing = ToolCall::from_value(&json!({"command": "cat", "args": ["x"]}).into());
    /// assert!(nothing.malformed.is_some());
    /// ```
    pub fn from_value(value: &Value) -> ToolCall {
        let malformed = |id: &str, name: &str| ToolCall {
            malformed: Some(value.clone()),
            ..ToolCall::new(id, name, Map::new())
        };
        let Value::Map(map) = value else { return malformed("", "") };
        let first = |keys: &[&str]| keys.iter().find_map(|key| map.get(key).filter(|value| !value.is_null()));
        let id = first(&["id", "call_id"]).and_then(Value::as_str).unwrap_or_default();
        let (name, arguments) = match map.get("function") {
            Some(Value::Map(function)) => {
                let name = function.get("name").or_else(|| map.get("name")).and_then(Value::as_str);
                (name, ARGUMENTS.iter().find_map(|key| function.get(key)))
            }
            Some(_) => return malformed(id, ""),
            None => {
                let name = first(&NAMES).and_then(Value::as_str);
                (name.map(|name| name.strip_prefix("functions.").unwrap_or(name)), first(&ARGUMENTS))
            }
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else { return malformed(id, "") };
        match read_arguments(arguments) {
            Some(arguments) => ToolCall::new(id, name, arguments),
            None => malformed(id, name),
        }
    }
}

/// The arguments of a call: an object, JSON in a text, nothing for none. Anything else is an object with it as
/// its `value`; a text that is no JSON is not understood.
pub(crate) fn read_arguments(arguments: Option<&Value>) -> Option<Map> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let value = match arguments {
        None | Some(Value::Null) => return Some(Map::new()),
        // Several servers send no text for a call without arguments.
        Some(Value::String(text)) if text.trim().is_empty() => return Some(Map::new()),
        Some(Value::String(text)) => match read(text)? {
            // Some models encode twice.
            Value::String(inner) => read(&inner).unwrap_or(Value::String(inner)),
            value => value,
        },
        Some(value) => value.clone(),
    };
    Some(match value {
        Value::Null => Map::new(),
        Value::Map(map) => map,
        value => Map::from([("value", value)]),
    })
}

/// Calls as the data that [`ToolCalls`] is read from.
pub(crate) fn data(calls: &[ToolCall]) -> Value {
    let call = |call: &ToolCall| {
        let mut map = Map::new();
        if !call.id.is_empty() {
            map.insert("id", call.id.as_str());
        }
        map.insert("name", call.name.as_str());
        map.insert("args", call.arguments.clone());
        if let Some(received) = &call.malformed {
            map.insert("malformed", received.clone());
        }
        Value::Map(map)
    };
    Value::Map(Map::from([(CALLS, calls.iter().map(call).collect::<Vec<_>>())]))
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

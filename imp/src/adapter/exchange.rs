//! The tool calls of a stored turn and their results, in whatever shape they were stored.

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use crate::adapter::Adapter;
use crate::adapter::history::{push_value, with_label};
use crate::adapter::options::FormatOptions;
use crate::adapter::renderer::ToolResultContext;
use crate::error::{FormatError, SpecError};
use crate::fields::Fields;
use crate::history::{CALLS, RESULTS, Turn};
use crate::message::{Content, Message, Part, ToolCall};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::escape_markers;
use crate::tool_calls::ToolResult;
use crate::tool_failure::ToolFailure;
use crate::types::Kind;
use crate::value::{Map, Value};

/// The calls of a turn.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) calls: Vec<ToolCall>,
    /// `None` if none were recorded.
    pub(crate) results: Option<Vec<ToolResult>>,
    /// Results of no call.
    pub(crate) orphans: Vec<ToolResult>,
}

/// The durable keys under which calls are stored; the second is that of a task whose own output is called like
/// the first.
const KEYS: [&str; 2] = ["agent_tool_calls", CALLS];

/// What a call without a name is called.
const MALFORMED: &str = "malformed_call";

impl Exchange {
    /// The calls of a turn, if it has any record of them.
    pub(crate) fn of(turn: &Turn, spec: &SignatureSpec) -> Option<Self> {
        let wrapped = |value: &Value| value.as_map().is_some_and(|map| map.get(CALLS).is_some());
        let is_field = |name: &str| {
            let mut fields = spec.inputs.iter().chain(&spec.outputs);
            fields.find(|field| field.name == name).map(|field| &**field)
        };
        let stored = KEYS
            .iter()
            .find_map(|key| turn.get(key).filter(|value| value.as_list().is_some() || wrapped(value)));
        let stored = stored.or_else(|| {
            // A field that holds calls, of this signature or of the one that the turn was made for. What an input
            // says is never a call.
            let mut entries = turn.fields().iter();
            let (_, value) = entries.find(|(name, value)| match is_field(name) {
                Some(field) => field.is_tool_calls() && (wrapped(value) || value.as_list().is_some()),
                None => wrapped(value),
            })?;
            Some(value)
        })?;
        let inner = match stored {
            Value::Map(map) => map.get(CALLS).unwrap_or(&Value::Null),
            other => other,
        };
        let calls = inner.as_list().unwrap_or_default().iter().filter_map(call).collect();
        let inside = stored.as_map().and_then(|map| map.get(RESULTS));
        let results = inside.or_else(|| turn.get(RESULTS)).and_then(|results| match results {
            Value::List(list) => Some(list.as_slice()),
            Value::Map(map) => map.get(RESULTS)?.as_list(),
            _ => None,
        });
        let results = results.map(|results| results.iter().filter_map(result).collect());
        Some(Exchange { calls, results, orphans: Vec::new() })
    }

    /// The same in which every call has exactly one result, with its id: providers refuse anything else. A call
    /// without a result is left out, a result without a call is an orphan.
    pub(crate) fn paired(self) -> Self {
        let mut results: Vec<Option<ToolResult>> =
            self.results.unwrap_or_default().into_iter().map(Some).collect();
        // The places of the results of each id and, where they have none, of each tool.
        let mut places: HashMap<(String, String), VecDeque<usize>> = HashMap::new();
        for (at, result) in results.iter().enumerate() {
            let Some(result) = result else { continue };
            let name = if result.call_id.is_empty() { result.name.clone() } else { String::new() };
            places.entry((result.call_id.clone(), name)).or_default().push_back(at);
        }
        let mut take = |id: &str, name: &str| {
            let at = places.get_mut(&(id.to_owned(), name.to_owned()))?.pop_front()?;
            results.get_mut(at)?.take()
        };
        let (mut calls, mut paired) = (Vec::new(), Vec::new());
        let mut taken = HashMap::new();
        for mut call in self.calls {
            let found = if call.id.is_empty() {
                take("", &call.name).or_else(|| take("", ""))
            } else {
                take(&call.id, "")
            };
            let Some(mut result) = found else { continue };
            let base = if call.id.is_empty() { format!("call_{}", call.name) } else { call.id };
            call.id = distinct(&base, &mut taken);
            result.call_id.clone_from(&call.id);
            calls.push(call);
            paired.push(result);
        }
        let orphans = results.into_iter().flatten().collect();
        Exchange { calls, results: Some(paired), orphans }
    }

    /// The calls as the value of a field in which the model writes them.
    pub(crate) fn written(&self, field: &FieldSpec) -> Value {
        let is_list = matches!(field.tree.present(&field.tree.root).kind, Kind::List { .. });
        let arguments = if is_list { "arguments" } else { "args" };
        let call = |call: &ToolCall| {
            Value::Map(Map::from([
                ("name", Value::from(call.name.as_str())),
                (arguments, call.arguments.clone().into()),
            ]))
        };
        let calls = Value::List(self.calls.iter().map(call).collect());
        if is_list { calls } else { Value::Map(Map::from([(CALLS, calls)])) }
    }
}

/// An id that no call before has: the id itself, or with a number behind it.
fn distinct(base: &str, taken: &mut HashMap<String, usize>) -> String {
    let mut id = base.to_owned();
    while taken.contains_key(&id) {
        let count = taken.entry(base.to_owned()).or_insert(1);
        *count += 1;
        id = format!("{base}_{count}");
    }
    taken.insert(id.clone(), 1);
    id
}

/// A call in any of the shapes that models and providers have for it (Imp §14.9).
fn call(value: &Value) -> Option<ToolCall> {
    let map = value.as_map()?;
    let text = |keys: &[&str]| keys.iter().find_map(|key| map.get(key)?.as_str()).unwrap_or_default();
    let function = map.get("function").and_then(Value::as_map);
    let name = if let Some(function) = function {
        function.get("name")?.as_str()?
    } else {
        let name = text(&["name", "recipient_name", "tool"]);
        name.strip_prefix("functions.").unwrap_or(name)
    };
    let malformed = map.get("malformed").filter(|written| !written.is_null());
    let name = match (name, malformed) {
        ("", None) => return None,
        // A call that could not be read has a result that says so, and providers take no call without a name.
        ("", Some(_)) => MALFORMED,
        (name, _) => name,
    };
    let given = match function {
        Some(function) => function.get("arguments"),
        None => ["arguments", "args", "parameters"].iter().find_map(|key| map.get(key)),
    };
    let arguments = match given {
        Some(Value::Map(arguments)) if arguments.is_empty() && malformed.is_some() => {
            Map::from([("value", malformed.cloned())])
        }
        Some(Value::Map(arguments)) => arguments.clone(),
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Map(arguments)) => arguments,
            Ok(other) => Map::from([("value", other)]),
            Err(_) => Map::from([("value", text.as_str())]),
        },
        None | Some(Value::Null) => Map::new(),
        Some(other) => Map::from([("value", other.clone())]),
    };
    Some(ToolCall::new(text(&["id", "call_id"]), name, arguments))
}

fn result(value: &Value) -> Option<ToolResult> {
    let map = value.as_map()?;
    let text = |keys: &[&str]| keys.iter().find_map(|key| map.get(key)?.as_str()).unwrap_or_default();
    let mut value = ["value", "result"].iter().find_map(|key| map.get(key)).cloned();
    let error = map.get("is_error").or_else(|| map.get("error")).cloned().unwrap_or_default();
    let is_error = match &error {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        _ => true,
    };
    if value.as_ref().is_none_or(Value::is_null) && !matches!(error, Value::Null | Value::Bool(_)) {
        value = Some(error);
    }
    let mut result = ToolResult::new(text(&["call_id", "id"]), text(&["name"]), value.unwrap_or_default());
    result.is_error = is_error;
    Some(result)
}

/// How results are shown.
pub(crate) struct Results<'a, A: ?Sized> {
    pub(crate) adapter: &'a A,
    pub(crate) options: &'a FormatOptions,
}

impl<A: Adapter + ?Sized> Results<'_, A> {
    /// The content of the tool message, and the user message with the result's images, if it has any.
    pub(crate) fn content(&self, result: &ToolResult) -> (String, Option<Message>) {
        let default = || content_of(result);
        let content = match &self.options.renderers.tool_result {
            None => default(),
            Some(render) => render(&ToolResultContext { result, default: &default }),
        };
        let parts = match content {
            Content::Text(text) => return (self.escaped(text.into_string()), None),
            Content::Parts(parts) => parts,
        };
        let (texts, images): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| matches!(part, Part::Text(_)));
        let texts: Vec<&str> = texts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let text = texts.join("\n");
        if images.is_empty() {
            return (self.escaped(text), None);
        }
        let text = if text.is_empty() { images_follow(&result.call_id) } else { text };
        let label = self.escaped(image_label(result));
        (self.escaped(text), Some(Message::user(with_label(label, images))))
    }

    fn escaped(&self, mut text: String) -> String {
        if self.adapter.escapes_markers() {
            escape_markers(&mut text, 0);
        }
        text
    }

    /// The results as a user message's section.
    pub(crate) fn written(&self, results: &[ToolResult]) -> Result<String, FormatError> {
        let shown = |result: &ToolResult| {
            let is_rendered = result.is_error || self.options.renderers.tool_result.is_some();
            let mut map = result.to_map();
            if is_rendered || has_parts(&result.value) {
                let default = content_of(result);
                let text = match &self.options.renderers.tool_result {
                    None => default,
                    Some(render) => render(&ToolResultContext { result, default: &|| content_of(result) }),
                };
                map.insert("value", text.text().as_ref());
            }
            Value::Map(map)
        };
        self.section(Value::List(results.iter().map(shown).collect()))
    }

    /// The same as DSPy writes it.
    pub(crate) fn as_dspy(&self, results: &[ToolResult]) -> Result<String, FormatError> {
        let results: Vec<Value> = results
            .iter()
            .map(|result| {
                Value::Map(Map::from([
                    ("call_id", Value::from(result.call_id.as_str())),
                    ("name", result.name.as_str().into()),
                    ("value", result.value.clone()),
                    ("is_error", result.is_error.into()),
                ]))
            })
            .collect();
        self.section(Value::Map(Map::from([(RESULTS, results)])))
    }

    fn section(&self, value: Value) -> Result<String, FormatError> {
        static FIELD: LazyLock<Result<FieldSpec, SpecError>> =
            LazyLock::new(|| FieldSpec::new(RESULTS, serde_json::json!(true), Vec::new(), None));
        let field = FIELD.as_ref().map_err(Clone::clone)?;
        let mut out = String::new();
        let record = Fields::from([(RESULTS, value)]);
        self.adapter.section(field, &record, 0, &mut out)?;
        Ok(out)
    }
}

/// What a result's images are called.
fn image_label(result: &ToolResult) -> String {
    format!("Images from the result of `{}` (call `{}`):", result.name, result.call_id)
}

/// The text of a result that is images only.
fn images_follow(id: &str) -> String {
    format!("The images of this result (call `{id}`) follow.")
}

fn has_parts(value: &Value) -> bool {
    match value {
        Value::Part(_) => true,
        Value::List(items) => items.iter().any(|item| matches!(item, Value::Part(_))),
        _ => false,
    }
}

/// What the model sees of a result: text, or parts if it is a list of texts and images.
fn content_of(result: &ToolResult) -> Content {
    let part = |value: &Value| match value {
        Value::Part(part) => Some(Part::clone(part)),
        Value::String(text) => Some(Part::Text(text.as_str().into())),
        _ => None,
    };
    if !result.is_error && has_parts(&result.value) {
        let items = match &result.value {
            Value::List(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        if let Some(parts) = items.iter().map(part).collect::<Option<Vec<_>>>() {
            return Content::Parts(parts);
        }
    }
    if result.is_error {
        return ToolFailure::from_value(&result.value).to_string().into();
    }
    let mut text = String::new();
    push_value(&mut text, &result.value, true);
    text.into()
}

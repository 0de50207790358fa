//! Why a tool call gave no result, as data and in the words that a model reads (Imp §7.7).

use std::fmt;

use crate::tool_calls::ToolResult;
use crate::value::{Map, Value};

/// Why a tool call gave no result.
///
/// A failure is a result that the model reads: it never ends a loop. The record keeps it as data
/// ([`to_value`](Self::to_value)), a prompt shows it in words ([`words`](Self::words)).
///
/// ```
/// use imp::{ToolFailure, ToolResult};
///
/// let failure = ToolFailure::unknown_tool("frobnicate");
/// assert_eq!(failure.to_string(), "Error: there is no tool named frobnicate.");
///
/// let result = ToolResult::failed("call_0_0", "frobnicate", &failure);
/// assert!(result.is_error);
/// assert_eq!(result.failure(), Some(failure));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolFailure {
    /// There is no tool of that name.
    UnknownTool {
        /// The name that was called.
        name: String,
    },
    /// What the model wrote is no tool call; nothing was run.
    MalformedCall {
        /// What it wrote.
        received: Value,
    },
    /// Arguments that the tool must have are not there.
    MissingArguments {
        /// Their names, in the order of the schema.
        names: Vec<String>,
    },
    /// Arguments are not what the tool's schema asks for.
    InvalidArguments {
        /// What is wrong, in the order of the schema.
        errors: Vec<ArgumentError>,
    },
    /// The call was not allowed; nothing was run.
    Denied {
        /// The tool's name.
        name: String,
        /// Who refused, and why.
        reason: Denial,
    },
    /// The tool said that it failed, or panicked.
    Failed {
        /// The tool's name.
        name: String,
        /// What it said.
        message: String,
    },
    /// The time was up. What the tool does may have been done.
    TimedOut {
        /// The tool's name.
        name: String,
    },
    /// The tool ended without an answer. What it does may have been done.
    Stopped {
        /// The tool's name.
        name: String,
    },
    /// The tool panicked without a message.
    Threw {
        /// The tool's name.
        name: String,
    },
    /// `submit` was called without all of the outputs.
    MissingOutputs {
        /// The outputs that are missing, in the order of the signature.
        names: Vec<String>,
    },
    /// The outputs of a `submit` were read and refused.
    InvalidOutputs {
        /// Why: a text, or data as [`Other`](Self::Other) has it.
        reason: Value,
    },
    /// The arguments of a `submit` are no object.
    InvalidSubmit {
        /// What they are.
        received: Value,
    },
    /// What a tool of another program reported, in its own words: an MCP server's error.
    Reported {
        /// The words.
        message: String,
    },
    /// Any other reason: a text, a word in snake case, or an object with `reason` and perhaps `limit`.
    Other(Value),
}

/// One argument that is not what the schema asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentError {
    /// The argument, with the way to the value inside it: `limit`, `rows[2].price`.
    pub field: String,
    /// What is wrong: `expected string`, `must be <= 100`.
    pub message: String,
}

impl ArgumentError {
    /// An error of a field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        ArgumentError { field: field.into(), message: message.into() }
    }
}

/// Who refused a call, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Denial {
    /// The program's policy.
    Policy,
    /// A person who was asked.
    Person,
    /// Another reason: a text, a word in snake case, or an object with `reason`.
    Other(Value),
}

/// What a failure begins with in a prompt.
const PREFIX: &str = "Error: ";

/// What an MCP server's error says that says nothing.
const SILENT: &str = "The tool reported an error without saying what it was.";

impl ToolFailure {
    /// There is no tool of that name.
    pub fn unknown_tool(name: impl Into<String>) -> Self {
        ToolFailure::UnknownTool { name: name.into() }
    }

    /// What the model wrote is no tool call.
    pub fn malformed_call(received: impl Into<Value>) -> Self {
        ToolFailure::MalformedCall { received: received.into() }
    }

    /// The tool `name` failed and said so.
    pub fn failed(name: impl Into<String>, message: impl Into<String>) -> Self {
        ToolFailure::Failed { name: name.into(), message: message.into() }
    }

    /// The call of the tool `name` was not allowed.
    pub fn denied(name: impl Into<String>, reason: Denial) -> Self {
        ToolFailure::Denied { name: name.into(), reason }
    }

    /// The error in the result of an MCP tool: the text of its text blocks, one on a line; where there is none,
    /// its structured content as JSON.
    ///
    /// ```
    /// use imp::ToolFailure;
    /// use serde_json::json;
    ///
    /// let result = json!({"isError": true, "content": [
    ///     {"type": "text", "text": "not posted"}, {"type": "text", "text": "the thread is locked"},
    /// ]});
    /// let failure = ToolFailure::from_mcp(&result);
    /// assert_eq!(failure.to_string(), "Error: not posted\nthe thread is locked");
    /// ```
    pub fn from_mcp(result: &serde_json::Value) -> Self {
        let blocks =
            result.get("content").and_then(serde_json::Value::as_array).map_or(&[][..], Vec::as_slice);
        let texts: Vec<&str> = blocks
            .iter()
            .filter_map(|block| block.get("text")?.as_str())
            .filter(|text| !text.is_empty())
            .collect();
        let structured = result.get("structuredContent").filter(|content| !content.is_null());
        let message = match (texts.is_empty(), structured) {
            (false, _) => texts.join("\n"),
            (true, Some(content)) => content.to_string(),
            (true, None) => SILENT.to_owned(),
        };
        ToolFailure::Reported { message }
    }

    /// Whether the tool may have done what it does, although it gave no result: it was started, and nobody
    /// knows how far it came.
    pub fn may_have_run(&self) -> bool {
        matches!(
            self,
            ToolFailure::TimedOut { .. }
                | ToolFailure::Stopped { .. }
                | ToolFailure::Threw { .. }
                | ToolFailure::Failed { .. }
                | ToolFailure::Reported { .. }
        )
    }

    /// The failure in words, without the `Error: ` before them.
    pub fn words(&self) -> String {
        match self {
            ToolFailure::UnknownTool { name } => format!("there is no tool named {name}."),
            ToolFailure::MalformedCall { .. } => "the tool call could not be read.".to_owned(),
            ToolFailure::MissingArguments { names } => {
                format!("missing required arguments: {}", names.join(", "))
            }
            ToolFailure::InvalidArguments { errors } => {
                let errors: Vec<String> =
                    errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect();
                format!("invalid arguments: {}", errors.join("; "))
            }
            ToolFailure::Denied { name, reason } => match reason {
                Denial::Policy => format!("{name} is not allowed."),
                Denial::Person => format!("{name} was not allowed; the person declined it."),
                Denial::Other(reason) => format!("{name} was not allowed: {}", words_of(reason)),
            },
            ToolFailure::Failed { name, message } => format!("{name} failed: {message}"),
            ToolFailure::TimedOut { name } => format!("{name} timed out, so it may have been carried out."),
            ToolFailure::Stopped { name } => {
                format!("{name} stopped before answering, so it may have been carried out.")
            }
            ToolFailure::Threw { name } => format!("{name} failed: it threw instead of returning."),
            ToolFailure::MissingOutputs { names } => format!("submit is missing: {}", names.join(", ")),
            ToolFailure::InvalidOutputs { reason } => {
                format!("submit outputs were not accepted: {}", words_of(reason))
            }
            ToolFailure::InvalidSubmit { .. } => "submit needs a map of outputs".to_owned(),
            ToolFailure::Reported { message } => message.clone(),
            ToolFailure::Other(reason) => words_of(reason),
        }
    }

    /// The failure as data: an object whose `error` says what it is, beside what is known of it.
    pub fn to_value(&self) -> Value {
        let entry = |error: &str, rest: &[(&str, Value)]| {
            let mut map = Map::from([("error", error)]);
            for (key, value) in rest {
                map.insert(*key, value.clone());
            }
            Value::Map(map)
        };
        let named = |error: &str, name: &str| entry(error, &[("name", name.into())]);
        let texts = |names: &[String]| Value::List(names.iter().map(|name| name.as_str().into()).collect());
        match self {
            ToolFailure::UnknownTool { name } => named("unknown_tool", name),
            ToolFailure::MalformedCall { received } => {
                entry("malformed_tool_call", &[("received", received.clone())])
            }
            ToolFailure::MissingArguments { names } => entry("missing_required", &[("names", texts(names))]),
            ToolFailure::InvalidArguments { errors } => {
                let error = |error: &ArgumentError| {
                    Value::Map(Map::from([
                        ("field", error.field.as_str()),
                        ("message", error.message.as_str()),
                    ]))
                };
                entry("schema_validation", &[("errors", errors.iter().map(error).collect::<Vec<_>>().into())])
            }
            ToolFailure::Denied { name, reason } => {
                let reason = match reason {
                    Denial::Policy => "policy".into(),
                    Denial::Person => "client_denied".into(),
                    Denial::Other(reason) => reason.clone(),
                };
                entry("tool_denied", &[("name", name.as_str().into()), ("reason", reason)])
            }
            ToolFailure::Failed { name, message } => {
                entry("tool_error", &[("name", name.as_str().into()), ("message", message.as_str().into())])
            }
            ToolFailure::TimedOut { name } => named("tool_timeout", name),
            ToolFailure::Stopped { name } => named("tool_stopped", name),
            ToolFailure::Threw { name } => named("tool_threw", name),
            ToolFailure::MissingOutputs { names } => {
                entry("missing_output_fields", &[("names", texts(names))])
            }
            ToolFailure::InvalidOutputs { reason } => {
                entry("invalid_submit_outputs", &[("reason", reason.clone())])
            }
            ToolFailure::InvalidSubmit { received } => {
                entry("invalid_submit_arguments", &[("received", received.clone())])
            }
            ToolFailure::Reported { message } => entry("reported", &[("message", message.as_str().into())]),
            ToolFailure::Other(reason) => reason.clone(),
        }
    }

    /// The failure that a stored result holds. What is none of [`to_value`](Self::to_value)'s forms is
    /// [`Other`](Self::Other), so that nothing is lost.
    pub fn from_value(value: &Value) -> Self {
        read(value).unwrap_or_else(|| ToolFailure::Other(value.clone()))
    }
}

impl fmt::Display for ToolFailure {
    /// The failure as a prompt shows it: `Error: ` and the words, but for a report that says so itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words();
        match self {
            ToolFailure::Reported { .. } if says_error(&words) || words == SILENT => f.write_str(&words),
            _ => write!(f, "{PREFIX}{words}"),
        }
    }
}

impl std::error::Error for ToolFailure {}

fn says_error(words: &str) -> bool {
    words.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"))
}

/// A reason in words: a text as it is, a word in snake case with blanks, an object by its `reason`.
fn words_of(reason: &Value) -> String {
    match reason {
        Value::String(text) if is_word(text) => text.replace('_', " "),
        Value::String(text) => text.clone(),
        Value::Map(map) => match map.get("reason") {
            Some(reason) => {
                // One level: what a reason holds is a text.
                let words = match reason {
                    Value::Map(_) => shown(reason),
                    reason => words_of(reason),
                };
                match map.get("limit") {
                    Some(limit) => format!("{words} (limit {})", shown(limit)),
                    None => words,
                }
            }
            None => shown(reason),
        },
        other => shown(other),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Whether a text is a word for programs, such as `not_connected`.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn read(value: &Value) -> Option<ToolFailure> {
    let map = value.as_map()?;
    let text = |key: &str| Some(map.get(key)?.as_str()?.to_owned());
    let data = |key: &str| map.get(key).cloned();
    let texts = |key: &str| {
        map.get(key)?
            .as_list()?
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    };
    let known = match map.get("error")?.as_str()? {
        "unknown_tool" => ToolFailure::UnknownTool { name: text("name")? },
        "malformed_tool_call" => ToolFailure::MalformedCall { received: data("received")? },
        "missing_required" => ToolFailure::MissingArguments { names: texts("names")? },
        "schema_validation" => {
            let error = |error: &Value| {
                let map = error.as_map()?;
                Some(ArgumentError::new(map.get("field")?.as_str()?, map.get("message")?.as_str()?))
            };
            let errors = map.get("errors")?.as_list()?.iter().map(error).collect::<Option<_>>()?;
            ToolFailure::InvalidArguments { errors }
        }
        "tool_denied" => {
            let reason = match map.get("reason")? {
                Value::String(word) if word == "policy" => Denial::Policy,
                Value::String(word) if word == "client_denied" => Denial::Person,
                other => Denial::Other(other.clone()),
            };
            ToolFailure::Denied { name: text("name")?, reason }
        }
        "tool_error" => ToolFailure::Failed { name: text("name")?, message: text("message")? },
        "tool_timeout" => ToolFailure::TimedOut { name: text("name")? },
        "tool_stopped" => ToolFailure::Stopped { name: text("name")? },
        "tool_threw" => ToolFailure::Threw { name: text("name")? },
        "missing_output_fields" => ToolFailure::MissingOutputs { names: texts("names")? },
        "invalid_submit_outputs" => ToolFailure::InvalidOutputs { reason: data("reason")? },
        "invalid_submit_arguments" => ToolFailure::InvalidSubmit { received: data("received")? },
        "reported" => ToolFailure::Reported { message: text("message")? },
        _ => return None,
    };
    Some(known)
}

impl ToolResult {
    /// The result of a call that failed: `value` is the failure as data.
    pub fn failed(call_id: impl Into<String>, name: impl Into<String>, failure: &ToolFailure) -> Self {
        ToolResult { is_error: true, ..ToolResult::new(call_id, name, failure.to_value()) }
    }

    /// Why the call failed, if it did.
    pub fn failure(&self) -> Option<ToolFailure> {
        self.is_error.then(|| ToolFailure::from_value(&self.value))
    }
}

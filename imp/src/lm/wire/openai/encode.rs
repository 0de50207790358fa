//! A request to a body.

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use super::calls::{self, Sent};
use crate::lm::{Capabilities, LmError, LmErrorKind, Request, ResponseFormat, ToolChoice};
use crate::message::{Content, Message, Part, Role};
use crate::tool_definition::ToolDefinition;

/// The body of a `POST` to `…/chat/completions`.
///
/// What the capabilities deny is not sent, and what the request does not set is not there. A tool call without
/// an id gets one, and one whose id is there already gets another (`ID_2`), with its result: in the body only.
///
/// ```
/// use imp::lm::wire::openai::encode;
/// use imp::{Capabilities, Config, Message, Request};
///
/// let request = Request::new([Message::user("Ahoy").named("alice")]).config(Config::new().max_tokens(9));
/// let body = encode(&request, "gpt-4.1-mini", Capabilities::default())?;
/// assert_eq!(
///     String::from_utf8_lossy(&body),
///     r#"{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Ahoy","name":"alice"}],"max_tokens":9}"#,
/// );
/// # Ok::<(), imp::LmError>(())
/// ```
///
/// # Errors
///
/// [`Other`](LmErrorKind::Other) if a value cannot be written as JSON, or the request makes the model call a tool
/// that it does not offer.
pub fn encode(request: &Request, model: &str, capabilities: Capabilities) -> Result<Vec<u8>, LmError> {
    if let Some(ToolChoice::Named(name)) = &request.config.tool_choice {
        let offered = request.tools.iter().any(|tool| tool.name() == name);
        if !offered && !request.tools.is_empty() && capabilities.tools && capabilities.forced_tool_choice {
            let message = format!("`tool_choice` names `{name}`, which is no tool of the request: offer it");
            return Err(LmError::new(LmErrorKind::Other, message));
        }
    }
    serde_json::to_vec(&Body { request, model, capabilities }).map_err(|error| {
        LmError::new(LmErrorKind::Other, "the request cannot be written as JSON").with_source(error)
    })
}

struct Body<'a> {
    request: &'a Request,
    model: &'a str,
    capabilities: Capabilities,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Body { request, model, capabilities } = *self;
        let config = &request.config;
        let mut map = serializer.serialize_map(None)?;
        // A field of the caller's own takes the place of ours: the same key twice is no JSON that
        // servers agree on.
        macro_rules! put {
            ($name:literal, $value:expr) => {
                if let Some(value) = $value {
                    if !config.extra.contains_key($name) {
                        map.serialize_entry($name, &value)?;
                    }
                }
            };
        }
        put!("model", Some(model));
        put!("messages", Some(Messages { messages: &request.messages, names: capabilities.names }));
        put!("temperature", config.temperature);
        put!("top_p", config.top_p);
        if capabilities.max_completion_tokens {
            put!("max_completion_tokens", config.max_tokens);
        } else {
            put!("max_tokens", config.max_tokens);
        }
        put!("n", config.n);
        put!("stop", config.stop.as_ref());
        put!("seed", config.seed);
        put!("reasoning_effort", config.reasoning_effort.as_ref().filter(|_| capabilities.reasoning_effort));
        if capabilities.tools && !request.tools.is_empty() {
            put!("tools", Some(request.tools.iter().map(OneTool::from).collect::<Vec<_>>()));
            put!("tool_choice", config.tool_choice.as_ref().map(|choice| Choice::new(choice, capabilities)));
            put!("parallel_tool_calls", config.parallel_tool_calls);
        }
        put!("response_format", format(request.response_format.as_ref(), capabilities));
        for (name, value) in &config.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OneTool<'a> {
    Function { function: Definition<'a> },
}

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a serde_json::Value,
}

impl<'a> From<&'a ToolDefinition> for OneTool<'a> {
    fn from(tool: &'a ToolDefinition) -> Self {
        let (name, description) = (tool.name(), tool.description());
        OneTool::Function { function: Definition { name, description, parameters: tool.parameters() } }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, function: ChosenTool<'a> },
}

#[derive(Serialize)]
struct ChosenTool<'a> {
    name: &'a str,
}

impl<'a> Choice<'a> {
    fn new(choice: &'a ToolChoice, capabilities: Capabilities) -> Self {
        match choice {
            ToolChoice::Named(name) if capabilities.forced_tool_choice => {
                Choice::Named { r#type: "function", function: ChosenTool { name } }
            }
            ToolChoice::Required if capabilities.forced_tool_choice => Choice::Word("required"),
            ToolChoice::None => Choice::Word("none"),
            ToolChoice::Auto | ToolChoice::Required | ToolChoice::Named(_) => Choice::Word("auto"),
        }
    }
}

fn format(format: Option<&ResponseFormat>, capabilities: Capabilities) -> Option<Format<'_>> {
    match format? {
        ResponseFormat::JsonSchema { name, schema, strict } if capabilities.json_schema => {
            Some(Format::JsonSchema { json_schema: Named { name, schema, strict: *strict } })
        }
        ResponseFormat::JsonSchema { .. } | ResponseFormat::JsonObject => {
            capabilities.json_object.then_some(Format::JsonObject)
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: Named<'a> },
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    schema: &'a serde_json::Value,
    strict: bool,
}

struct Messages<'a> {
    messages: &'a [Message],
    names: bool,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.messages.len()))?;
        let sent = calls::sent(self.messages);
        for (message, sent) in self.messages.iter().zip(&sent) {
            list.serialize_element(&OneMessage { message, sent, names: self.names })?;
        }
        list.end()
    }
}

struct OneMessage<'a> {
    message: &'a Message,
    sent: &'a Sent<'a>,
    names: bool,
}

impl Serialize for OneMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.message;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", message.role.as_str())?;
        match &message.content {
            // An assistant that only calls tools says nothing, which is `null` on this wire.
            Content::Text(text) if text.is_empty() && !message.tool_calls.is_empty() => {
                map.serialize_entry("content", &())?;
            }
            Content::Text(text) => map.serialize_entry("content", text)?,
            Content::Parts(parts) => {
                let parts: Vec<_> = parts.iter().map(OnePart::from).collect();
                map.serialize_entry("content", &parts)?;
            }
        }
        if let Some(name) = &message.name {
            // A tool message has no name here: the call it answers has it.
            if self.names && message.role != Role::Tool {
                map.serialize_entry("name", name)?;
            }
        }
        if !self.sent.calls.is_empty() {
            map.serialize_entry("tool_calls", &self.sent.calls)?;
        }
        if let Some(id) = &self.sent.answers {
            map.serialize_entry("tool_call_id", id)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OnePart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
    InputAudio { input_audio: InputAudio<'a> },
    File { file: Document<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

#[derive(Serialize)]
struct InputAudio<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<&'a str>,
}

impl<'a> From<&'a Part> for OnePart<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Text(text) => OnePart::Text { text },
            Part::Image(image) => {
                OnePart::ImageUrl { image_url: ImageUrl { url: image.url(), detail: image.detail_level() } }
            }
            Part::Audio(audio) => {
                OnePart::InputAudio { input_audio: InputAudio { data: audio.data(), format: audio.format() } }
            }
            Part::File(file) => OnePart::File {
                file: Document { file_id: file.id(), filename: file.filename(), file_data: file.data() },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::lm::Config;
    use crate::{Map, ToolCall, Value};

    fn body(request: &Request, capabilities: Capabilities) -> Json {
        let bytes = encode(request, "m", capabilities).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn messages() {
        let mut calls = Message::assistant("");
        calls.tool_calls =
            vec![ToolCall::new("c1", "find", Map::from([("q", Value::from("x")), ("n", 2.into())]))];
        let mut both = calls.clone();
        both.content = "Let me see.".into();
        let mut parts = Message::user("");
        parts.content = Content::Parts(vec![Part::Text("a".into()), Part::Text("b".into())]);
        let call = json!([{"type": "function", "id": "c1",
            "function": {"name": "find", "arguments": r#"{"q":"x","n":2}"#}}]);
        let cases = [
            (Message::system("s"), json!({"role": "system", "content": "s"})),
            (Message::user("").named("zo e"), json!({"role": "user", "content": "", "name": "zo e"})),
            (
                Message::assistant("ok").named("bot"),
                json!({"role": "assistant", "content": "ok", "name": "bot"}),
            ),
            (calls, json!({"role": "assistant", "content": null, "tool_calls": call})),
            (both, json!({"role": "assistant", "content": "Let me see.", "tool_calls": call})),
            (
                Message::tool("c1", "42").named("find"),
                json!({"role": "tool", "content": "42", "tool_call_id": "c1"}),
            ),
            (
                parts,
                json!({"role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            ),
        ];
        for (message, mut expected) in cases {
            let request = Request::new([message]);
            assert_eq!(body(&request, Capabilities::default())["messages"][0], expected);
            if let Some(map) = expected.as_object_mut() {
                map.remove("name");
            }
            assert_eq!(body(&request, Capabilities::default().names(false))["messages"][0], expected);
        }
    }

    #[test]
    fn settings() {
        let all = Capabilities::default();
        let object = ResponseFormat::JsonObject;
        let schema = ResponseFormat::json_schema("out", json!({"type": "object"}), true);
        let request = |config: Config| Request::new([]).config(config);
        let cases = [
            (request(Config::new()), all, json!({})),
            (
                request(Config::new().temperature(0.2).top_p(0.9)),
                all,
                json!({"temperature": 0.2, "top_p": 0.9}),
            ),
            (request(Config::new().max_tokens(5)), all, json!({"max_tokens": 5})),
            (
                request(Config::new().max_tokens(5)),
                all.max_completion_tokens(true),
                json!({"max_completion_tokens": 5}),
            ),
            (
                request(Config::new().n(2).seed(-7).stop(["a", "b"])),
                all,
                json!({"n": 2, "seed": -7, "stop": ["a", "b"]}),
            ),
            (request(Config::new().reasoning_effort("low")), all, json!({"reasoning_effort": "low"})),
            (request(Config::new().reasoning_effort("low")), all.reasoning_effort(false), json!({})),
            (request(Config::new().timeout(std::time::Duration::from_secs(1))), all, json!({})),
            (
                request(Config::new().temperature(0.2).extra("temperature", 1).extra("top_k", 40)),
                all,
                json!({"temperature": 1, "top_k": 40}),
            ),
            (
                request(Config::new()).response_format(object.clone()),
                all,
                json!({"response_format": {"type": "json_object"}}),
            ),
            (request(Config::new()).response_format(object), all.json_object(false), json!({})),
            (
                request(Config::new()).response_format(schema.clone()),
                all,
                json!({"response_format": {"type": "json_schema",
                    "json_schema": {"name": "out", "schema": {"type": "object"}, "strict": true}}}),
            ),
            (
                request(Config::new()).response_format(schema.clone()),
                all.json_schema(false),
                json!({"response_format": {"type": "json_object"}}),
            ),
            (
                request(Config::new()).response_format(schema),
                all.json_schema(false).json_object(false),
                json!({}),
            ),
        ];
        for (request, capabilities, expected) in cases {
            let mut got = body(&request, capabilities);
            let map = got.as_object_mut().unwrap();
            assert_eq!(map.shift_remove("model"), Some("m".into()));
            assert_eq!(map.shift_remove("messages"), Some(json!([])));
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn no_key_is_there_twice() {
        let config = Config::new().max_tokens(5).extra("max_tokens", 6).extra("model", "other");
        let bytes = encode(&Request::new([]).config(config), "m", Capabilities::default()).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), r#"{"messages":[],"max_tokens":6,"model":"other"}"#);
    }
}

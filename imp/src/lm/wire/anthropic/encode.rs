//! A request to a body.

use std::borrow::Cow;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::lm::wire::openai::calls::{self, Sent};
use crate::lm::{Capabilities, LmError, LmErrorKind, Request, ToolChoice};
use crate::message::{Content, Message, Part, Role};

/// The limit of output tokens of a request that sets none: this wire must have one.
pub const DEFAULT_MAX_TOKENS: u32 = 4096;

/// The body of a `POST` to `…/v1/messages`.
///
/// What the wire has no field for is not sent: names, `n`, `seed`, a response format. The system messages at the
/// start become `system`; one further on becomes part of a user message. Messages of one side in a row become one,
/// tool results are the user's, and empty texts are left out, as the API demands. A reasoning effort is sent as
/// `output_config.effort`. Without `max_tokens` the limit is [`DEFAULT_MAX_TOKENS`].
///
/// ```
/// use imp::lm::wire::anthropic::encode;
/// use imp::{Capabilities, Message, Request};
///
/// let request = Request::new([Message::system("Be brief."), Message::user("Ahoy").named("alice")]);
/// let body = encode(&request, "claude-sonnet-4-5", Capabilities::default())?;
/// assert_eq!(
///     String::from_utf8_lossy(&body),
///     r#"{"model":"claude-sonnet-4-5","system":"Be brief.","messages":[{"role":"user","content":"Ahoy"}],"max_tokens":4096}"#,
/// );
/// # Ok::<(), imp::LmError>(())
/// ```
///
/// # Errors
///
/// [`BadRequest`](LmErrorKind::BadRequest) for what the wire cannot carry: a recording, a file that is neither PDF
/// nor text; [`Other`](LmErrorKind::Other) if the request makes the model call a tool that it does not offer.
pub fn encode(request: &Request, model: &str, capabilities: Capabilities) -> Result<Vec<u8>, LmError> {
    encode_as(request, model, capabilities, false)
}

/// The same for a reply that comes as a stream.
///
/// # Errors
///
/// As [`encode`].
pub fn encode_stream(request: &Request, model: &str, capabilities: Capabilities) -> Result<Vec<u8>, LmError> {
    encode_as(request, model, capabilities, true)
}

fn encode_as(
    request: &Request,
    model: &str,
    capabilities: Capabilities,
    stream: bool,
) -> Result<Vec<u8>, LmError> {
    let config = &request.config;
    let mut body = JsonMap::new();
    let mut put = |name: &str, value: Option<Json>| {
        // A field of the caller's own takes the place of ours.
        if let Some(value) = value.filter(|_| !config.extra.contains_key(name)) {
            body.insert(name.to_owned(), value);
        }
    };
    let (system, messages) = conversation(&request.messages)?;
    put("model", Some(model.into()));
    put("system", (!system.is_empty()).then(|| system.into()));
    put("messages", Some(messages));
    put("max_tokens", Some(config.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS).into()));
    put("temperature", config.temperature.map(Json::from));
    put("top_p", config.top_p.map(Json::from));
    put("stop_sequences", config.stop.as_ref().map(|stop| json!(stop)));
    let effort = config.reasoning_effort.as_ref().filter(|_| capabilities.reasoning_effort);
    put("output_config", effort.map(|effort| json!({"effort": effort})));
    if capabilities.tools && !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let mut json = json!({"name": tool.name(), "input_schema": tool.parameters()});
            if let (Some(map), false) = (json.as_object_mut(), tool.description().is_empty()) {
                map.insert("description".to_owned(), tool.description().into());
            }
            json
        });
        put("tools", Some(tools.collect()));
        put("tool_choice", tool_choice(request, capabilities)?);
    }
    if stream {
        body.insert("stream".to_owned(), true.into());
    }
    body.extend(config.extra.clone());
    serde_json::to_vec(&body).map_err(|error| {
        LmError::new(LmErrorKind::Other, "the request cannot be written as JSON").with_source(error)
    })
}

fn tool_choice(request: &Request, capabilities: Capabilities) -> Result<Option<Json>, LmError> {
    let forced = capabilities.forced_tool_choice;
    let one = request.config.parallel_tool_calls == Some(false);
    let mut choice = match &request.config.tool_choice {
        None if !one => return Ok(None),
        Some(ToolChoice::Required) if forced => json!({"type": "any"}),
        Some(ToolChoice::Named(name)) if forced => {
            if !request.tools.iter().any(|tool| tool.name() == name) {
                let text = format!("`tool_choice` names `{name}`, which is no tool of the request: offer it");
                return Err(LmError::new(LmErrorKind::Other, text));
            }
            json!({"type": "tool", "name": name})
        }
        Some(ToolChoice::None) => return Ok(Some(json!({"type": "none"}))),
        _ => json!({"type": "auto"}),
    };
    if let (true, Some(map)) = (one, choice.as_object_mut()) {
        map.insert("disable_parallel_tool_use".to_owned(), true.into());
    }
    Ok(Some(choice))
}

/// What the system says at the start, and the turns of the two sides.
fn conversation(messages: &[Message]) -> Result<(String, Json), LmError> {
    let leading = messages.iter().take_while(|message| message.role == Role::System).count();
    let (first, rest) = messages.split_at(leading);
    let texts: Vec<_> = first.iter().map(Message::text).filter(|text| !text.trim().is_empty()).collect();
    let mut turns: Vec<(&str, Vec<Json>)> = Vec::new();
    for (message, sent) in rest.iter().zip(calls::sent(rest)) {
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = blocks(message, &sent)?;
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    // An assistant's turn at the end is the start of the reply, and may not end in white space.
    if let Some(("assistant", blocks)) = turns.last_mut() {
        if let Some(Json::String(text)) = blocks.last_mut().and_then(|block| block.get_mut("text")) {
            text.truncate(text.trim_end().len());
        }
    }
    let turns = turns.into_iter().map(|(role, blocks)| {
        // One text needs no block around it.
        let text = match blocks.as_slice() {
            [block] => block.get("text").filter(|_| block.get("type") == Some(&"text".into())).cloned(),
            _ => None,
        };
        json!({"role": role, "content": text.unwrap_or(Json::Array(blocks))})
    });
    Ok((texts.join("\n\n"), turns.collect()))
}

fn blocks(message: &Message, sent: &Sent<'_>) -> Result<Vec<Json>, LmError> {
    let mut blocks = Vec::new();
    match &message.content {
        Content::Text(text) => blocks.extend(text_block(text)),
        Content::Parts(parts) => {
            for part in parts {
                blocks.extend(part_block(part)?);
            }
        }
    }
    if let Some(id) = &sent.answers {
        let content = match &message.content {
            Content::Text(text) => Json::from(text.as_str()),
            Content::Parts(_) => Json::Array(blocks),
        };
        return Ok(vec![json!({"type": "tool_result", "tool_use_id": legal(id), "content": content})]);
    }
    for sent in &sent.calls {
        let input = match &sent.call().malformed {
            // What could not be read is no object of its own.
            Some(malformed) => json!({"received": malformed}),
            None => json!(sent.call().arguments),
        };
        blocks.push(json!({"type": "tool_use", "id": legal(sent.id()), "name": sent.name(), "input": input}));
    }
    Ok(blocks)
}

/// The API refuses texts of white space only.
fn text_block(text: &str) -> Option<Json> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn part_block(part: &Part) -> Result<Option<Json>, LmError> {
    let unsent = |what: &str| {
        Err(LmError::new(
            LmErrorKind::BadRequest,
            format!("Anthropic's Messages take {what}: send it as text"),
        ))
    };
    match part {
        Part::Text(text) => Ok(text_block(text)),
        Part::Image(image) => {
            let source = match data_url(image.url()) {
                Some((media_type, data)) => json!({"type": "base64", "media_type": media_type, "data": data}),
                None => json!({"type": "url", "url": image.url()}),
            };
            Ok(Some(json!({"type": "image", "source": source})))
        }
        Part::Audio(_) => unsent("no recording"),
        Part::File(file) => {
            let source = match (file.id(), file.data().map(|data| data_url(data).unwrap_or(("", data)))) {
                (Some(id), _) => json!({"type": "file", "file_id": id}),
                (None, Some(("" | "application/pdf", data))) => {
                    json!({"type": "base64", "media_type": "application/pdf", "data": data})
                }
                _ => return unsent("PDF documents only"),
            };
            let mut block = json!({"type": "document", "source": source});
            if let (Some(name), Some(map)) =
                (file.filename().filter(|name| !name.is_empty()), block.as_object_mut())
            {
                map.insert("title".to_owned(), name.into());
            }
            Ok(Some(block))
        }
    }
}

/// Media type and base64 data of a `data:` address.
fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// An id of the letters that the API takes.
fn legal(id: &str) -> Cow<'_, str> {
    let taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.chars().all(taken) && !id.is_empty() {
        return Cow::Borrowed(id);
    }
    let id: String = id.chars().map(|c| if taken(c) { c } else { '_' }).collect();
    Cow::Owned(if id.is_empty() { "call".to_owned() } else { id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::Config;
    use crate::message::ToolCall;
    use crate::{Audio, File, Image, Map, ToolDefinition, Value};

    fn body(request: &Request, capabilities: Capabilities) -> Json {
        serde_json::from_slice(&encode(request, "m", capabilities).unwrap()).unwrap()
    }

    fn calling(ids: &[&str], text: &str) -> Message {
        let mut message = Message::assistant(text);
        message.tool_calls =
            ids.iter().map(|id| ToolCall::new(*id, "find", Map::from([("q", Value::from("x"))]))).collect();
        message
    }

    #[test]
    fn conversations() {
        let mut parts = Message::user("");
        parts.content = Content::Parts(vec![
            Part::Text("Look:".into()),
            Part::Image(Image::from_url("https://h/a.png")),
            Part::Image(Image::from_bytes("image/png", b"abc")),
            Part::File(File::from_bytes("a.pdf", "application/pdf", b"abc")),
            Part::File(File::from_id("file-1")),
        ]);
        let used = |id: &str| json!({"type": "tool_use", "id": id, "name": "find", "input": {"q": "x"}});
        let result =
            |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
        let text = |text: &str| json!({"type": "text", "text": text});
        let cases = [
            (
                vec![Message::system("a"), Message::system(" "), Message::system("b"), Message::user("c")],
                json!("a\n\nb"),
                json!([{"role": "user", "content": "c"}]),
            ),
            (
                vec![Message::user("a").named("zoe"), Message::user("b"), Message::assistant("c \n")],
                Json::Null,
                json!([{"role": "user", "content": [text("a"), text("b")]}, {"role": "assistant", "content": "c"}]),
            ),
            (
                vec![Message::user("a"), Message::assistant(""), Message::system("now"), Message::user("b")],
                Json::Null,
                json!([{"role": "user", "content": [text("a"), text("now"), text("b")]}]),
            ),
            (
                vec![
                    Message::user("a"),
                    calling(&["c1", "c1"], "hm"),
                    Message::tool("c1", "one").named("find"),
                    Message::tool("c1", ""),
                    Message::user("b"),
                ],
                Json::Null,
                json!([
                    {"role": "user", "content": "a"},
                    {"role": "assistant", "content": [text("hm"), used("c1"), used("c1_2")]},
                    {"role": "user", "content": [result("c1", "one"), result("c1_2", ""), text("b")]},
                ]),
            ),
            (
                vec![calling(&["functions.find:0"], ""), Message::tool("functions.find:0", "1")],
                Json::Null,
                json!([
                    {"role": "assistant", "content": [used("functions_find_0")]},
                    {"role": "user", "content": [result("functions_find_0", "1")]},
                ]),
            ),
            (
                vec![parts],
                Json::Null,
                json!([{"role": "user", "content": [
                    text("Look:"),
                    {"type": "image", "source": {"type": "url", "url": "https://h/a.png"}},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}},
                    {"type": "document", "title": "a.pdf",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "YWJj"}},
                    {"type": "document", "source": {"type": "file", "file_id": "file-1"}},
                ]}]),
            ),
        ];
        for (messages, system, expected) in cases {
            let got = body(&Request::new(messages), Capabilities::default());
            assert_eq!(got.get("system").unwrap_or(&Json::Null), &system);
            assert_eq!(got["messages"], expected);
        }
    }

    #[test]
    fn settings() {
        let all = Capabilities::default();
        let tool = || ToolDefinition::new("find", "Finds.", json!({"type": "object"})).unwrap();
        let tools = json!([{"name": "find", "description": "Finds.", "input_schema": {"type": "object"}}]);
        let request = |config: Config| Request::new([]).config(config);
        let cases = [
            (request(Config::new().n(2).seed(1)), all, json!({"max_tokens": 4096})),
            (
                request(Config::new().max_tokens(5).temperature(0.5).stop(["x"]).extra("top_k", 4)),
                all,
                json!({"max_tokens": 5, "temperature": 0.5, "stop_sequences": ["x"], "top_k": 4}),
            ),
            (request(Config::new().extra("max_tokens", 7)), all, json!({"max_tokens": 7})),
            (
                request(Config::new().reasoning_effort("low")),
                all,
                json!({"max_tokens": 4096, "output_config": {"effort": "low"}}),
            ),
            (
                request(Config::new().reasoning_effort("low")),
                all.reasoning_effort(false),
                json!({"max_tokens": 4096}),
            ),
            (
                request(Config::new().parallel_tool_calls(false)).tools([tool()]),
                all,
                json!({"max_tokens": 4096, "tools": tools,
                    "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
            ),
            (request(Config::new()).tools([tool()]), all.tools(false), json!({"max_tokens": 4096})),
        ];
        for (request, capabilities, expected) in cases {
            let mut got = body(&request, capabilities);
            let map = got.as_object_mut().unwrap();
            assert_eq!((map.remove("model"), map.remove("messages")), (Some("m".into()), Some(json!([]))));
            assert_eq!(got, expected);
        }
        let choices = [
            (ToolChoice::Auto, true, json!({"type": "auto"})),
            (ToolChoice::Required, true, json!({"type": "any"})),
            (ToolChoice::named("find"), true, json!({"type": "tool", "name": "find"})),
            (ToolChoice::None, true, json!({"type": "none"})),
            (ToolChoice::Required, false, json!({"type": "auto"})),
            (ToolChoice::named("find"), false, json!({"type": "auto"})),
        ];
        for (choice, forced, expected) in choices {
            let request = request(Config::new().tool_choice(choice)).tools([tool()]);
            assert_eq!(body(&request, all.forced_tool_choice(forced))["tool_choice"], expected);
        }
    }

    #[test]
    fn what_cannot_be_sent() {
        for (part, word) in [
            (Part::Audio(Audio::from_bytes("wav", b"a")), "no recording"),
            (Part::File(File::from_bytes("a.bin", "application/zip", b"a")), "PDF documents only"),
        ] {
            let mut message = Message::user("");
            message.content = Content::Parts(vec![part]);
            let error = encode(&Request::new([message]), "m", Capabilities::default()).unwrap_err();
            assert_eq!(error.kind(), LmErrorKind::BadRequest);
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

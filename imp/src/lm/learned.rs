//! What a server was found not to take.

use std::sync::atomic::{AtomicU8, Ordering};

use super::{Capabilities, LmError, LmErrorKind, Request};

/// What a client found its server not to take, shared by its clones.
#[derive(Debug, Default)]
pub(super) struct Learned(AtomicU8);

/// One or several things that a server does not take, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused(u8);

impl Refused {
    const JSON_SCHEMA: u8 = 1;
    const JSON_OBJECT: u8 = 2;
    const TOOLS: u8 = 4;
    const FORCED_TOOL_CHOICE: u8 = 8;
    const NAMES: u8 = 16;
    const REASONING_EFFORT: u8 = 32;
    const STREAM_USAGE: u8 = 64;
    /// The token limit has the other name.
    const LIMIT_WORD: u8 = 128;

    /// What is left of the capabilities without it.
    pub(super) fn apply(self, mut capabilities: Capabilities) -> Capabilities {
        let has = |bit| self.0 & bit != 0;
        capabilities.json_schema &= !has(Refused::JSON_SCHEMA);
        capabilities.json_object &= !has(Refused::JSON_OBJECT);
        capabilities.tools &= !has(Refused::TOOLS);
        capabilities.forced_tool_choice &= !has(Refused::FORCED_TOOL_CHOICE);
        capabilities.names &= !has(Refused::NAMES);
        capabilities.reasoning_effort &= !has(Refused::REASONING_EFFORT);
        capabilities.stream_usage &= !has(Refused::STREAM_USAGE);
        capabilities.max_completion_tokens ^= has(Refused::LIMIT_WORD);
        capabilities
    }

    /// The repeated request goes without any format: a server that knows no schemas may know no JSON mode either.
    pub(super) fn without_formats(self) -> Self {
        let formats = Refused::JSON_SCHEMA | Refused::JSON_OBJECT;
        Refused(if self.0 & formats == 0 { self.0 } else { self.0 | formats })
    }
}

impl Learned {
    pub(super) fn get(&self) -> Refused {
        Refused(self.0.load(Ordering::Relaxed))
    }

    /// Keeps it for the requests to come; of several tasks that find the same at once the first is enough.
    pub(super) fn add(&self, refused: Refused) {
        self.0.fetch_or(refused.0, Ordering::Relaxed);
    }
}

/// What the server refused, if it is a thing that the request had and can do without. The wordings are those of
/// OpenAI, OpenRouter, Groq, Mistral, xAI, Gemini, vLLM, Ollama, llama.cpp and gateways.
pub(super) fn refused(
    error: &LmError,
    request: &Request,
    capabilities: Capabilities,
    streamed: bool,
) -> Option<Refused> {
    // A key, a rate or a length is never a matter of what the server can do.
    let status = error.status()?;
    let kind = matches!(error.kind(), LmErrorKind::BadRequest | LmErrorKind::Overloaded);
    if !kind || !matches!(status, 400 | 404 | 405 | 415 | 422 | 500 | 501) {
        return None;
    }
    let said = error.provider_message()?.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let refusing = any(&[
        "not support",
        "unsupported",
        "n't support",
        "no endpoints found that support",
        "unrecognized",
        "unknown",
        "not permitted",
        "not allowed",
        "not available",
        "unavailable",
        "not enabled",
        "not implemented",
        "cannot be used",
        "requires --jinja",
        "extra inputs",
        "extra_forbidden",
        "additional properties",
        "unexpected keyword",
        "invalid parameter",
        "invalid value",
        "is not valid",
        "must be 'text'",
    ]);
    let has_name = request.messages.iter().any(|message| message.name.is_some()) && capabilities.names;
    let name_words = any(&["'name'", "`name`", "\"name\"", ".name", "property name", "field name"]);
    // A text of another form than is wanted says nothing about what the server can do, unless it is a message's name,
    // which can be left out. A tool's name has such a form, too.
    if any(&["not match pattern", "not match '^", "should match pattern", "must match pattern"]) {
        return (has_name && name_words && said.contains("messages")).then_some(Refused(Refused::NAMES));
    }
    if !refusing {
        return None;
    }
    let config = &request.config;
    let schema_words =
        ["json_schema", "json schema", "structured output", "structured-output", "structured_output"];
    let format_words =
        ["response_format", "response format", "json mode", "json_object", "json object", "json-mode"];
    let forced =
        matches!(config.tool_choice, Some(super::ToolChoice::Required | super::ToolChoice::Named(_)));
    let has_tools = !request.tools.is_empty() && capabilities.tools;
    let has_format =
        request.response_format.is_some() && (capabilities.json_schema || capabilities.json_object);
    let limit = if capabilities.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    let bits = if has_format && any(&schema_words) && capabilities.json_schema {
        Refused::JSON_SCHEMA
    } else if has_format && any(&format_words) {
        // A schema that was refused in these words leaves the plain mode open, one that had none does not.
        Refused::JSON_SCHEMA | Refused::JSON_OBJECT
    } else if has_tools
        && forced
        && capabilities.forced_tool_choice
        && any(&["tool_choice", "tool choice", "toolchoice"])
    {
        Refused::FORCED_TOOL_CHOICE
    } else if has_tools && any(&["tool use", "tool call", "tools", "function call", "functions", "tool_use"])
    {
        Refused::TOOLS
    } else if config.reasoning_effort.is_some()
        && capabilities.reasoning_effort
        && any(&["reasoning_effort", "reasoning effort", "reasoning.effort", "output_config", "effort"])
    {
        Refused::REASONING_EFFORT
    } else if config.max_tokens.is_some() && said.contains(limit) {
        Refused::LIMIT_WORD
    } else if streamed && capabilities.stream_usage && any(&["stream_options", "include_usage"]) {
        Refused::STREAM_USAGE
    } else if has_name && name_words {
        Refused::NAMES
    } else {
        return None;
    };
    Some(Refused(bits))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lm::{Config, ResponseFormat, ToolChoice};
    use crate::{Message, ToolDefinition};

    fn full() -> Request {
        let tool = ToolDefinition::new("find", "", json!({})).unwrap();
        Request::new([Message::user("x").named("zoe")])
            .config(Config::new().max_tokens(5).reasoning_effort("low").tool_choice(ToolChoice::Required))
            .response_format(ResponseFormat::json_schema("out", json!({}), true))
            .tools([tool])
    }

    #[test]
    fn wordings() {
        let all = Capabilities::default();
        let formats = Refused::JSON_SCHEMA | Refused::JSON_OBJECT;
        let cases = [
            (400, "model: x/y does not support feature: structured-outputs", Some(Refused::JSON_SCHEMA)),
            (
                400,
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                Some(Refused::JSON_SCHEMA),
            ),
            (400, "This response_format type is unavailable now", Some(formats)),
            (400, "'response_format.type' must be 'text', is not supported", Some(formats)),
            (400, "This model does not support response format `json_schema`.", Some(Refused::JSON_SCHEMA)),
            (
                404,
                "No endpoints found that support tool use. To learn more about provider routing",
                Some(Refused::TOOLS),
            ),
            (
                404,
                "No endpoints found that support the provided 'tool_choice' value.",
                Some(Refused::FORCED_TOOL_CHOICE),
            ),
            (400, "registry.ollama.ai/library/gemma:2b does not support tools", Some(Refused::TOOLS)),
            (500, "tools param requires --jinja flag", Some(Refused::TOOLS)),
            (
                400,
                "'messages.0' : for 'role:user' the following must be satisfied[('messages.0' : property 'name' is unsupported)]",
                Some(Refused::NAMES),
            ),
            (400, "Invalid 'messages[1].name': string does not match pattern.", Some(Refused::NAMES)),
            (400, "'zoë k' does not match '^[a-zA-Z0-9_-]{1,64}$' - 'messages.0.name'", Some(Refused::NAMES)),
            (422, "messages.0.user.name: String should match pattern '^[a-z]+$'", Some(Refused::NAMES)),
            (400, "Invalid 'tools[0].function.name': string does not match pattern.", None),
            (
                400,
                "Unrecognized request argument supplied: reasoning_effort",
                Some(Refused::REASONING_EFFORT),
            ),
            (
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(Refused::LIMIT_WORD),
            ),
            (422, "Extra inputs are not permitted: stream_options", Some(Refused::STREAM_USAGE)),
            (400, "temperature: range: 0..1", None),
            (404, "model `x` is unknown", None),
            (401, "tools are not supported", None),
            (429, "response_format is not supported", None),
            (503, "tools are unavailable", None),
        ];
        for (status, said, expected) in cases {
            let kind = match status {
                401 => LmErrorKind::Auth,
                429 => LmErrorKind::RateLimit,
                500.. => LmErrorKind::Overloaded,
                _ => LmErrorKind::BadRequest,
            };
            let error = LmError::new(kind, "x").with_status(status).with_provider_message(said);
            assert_eq!(refused(&error, &full(), all, true), expected.map(Refused), "{said}");
            let plain = Request::new([Message::user("x")]);
            assert_eq!(refused(&error, &plain, all, false), None, "{said}");
        }
    }
}

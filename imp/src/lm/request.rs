//! What is sent to a model.

use std::sync::Arc;
use std::time::Duration;

use super::ToolChoice;
use crate::{Message, ToolDefinition};

/// One request to a model: the messages, and how to answer them.
///
/// ```
/// use imp::{Config, Message, Request, ResponseFormat};
///
/// let request = Request::new([Message::user("Name a colour, as JSON.")])
///     .config(Config::new().temperature(0.2).max_tokens(100))
///     .response_format(ResponseFormat::JsonObject);
/// assert_eq!(request.config.max_tokens, Some(100));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Request {
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// Sampling settings, limits, and fields for this provider only; all unset by default.
    pub config: Config,
    /// The form that the provider must hold the reply to; none by default.
    pub response_format: Option<ResponseFormat>,
    /// The tools that the model may call, in the order in which it sees them; none by default. A client
    /// whose capabilities deny tools sends none.
    pub tools: Vec<ToolDefinition>,
}

impl Request {
    /// A request with messages and no settings.
    pub fn new(messages: impl Into<Vec<Message>>) -> Self {
        Request { messages: messages.into(), ..Request::default() }
    }

    /// The same request with these settings.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The same request with a form for the reply.
    pub fn response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// The same request with these tools.
    ///
    /// ```
    /// use imp::{Message, Request, ToolDefinition};
    ///
    /// let now = ToolDefinition::new("now", "The time.", serde_json::json!({}))?;
    /// let request = Request::new([Message::user("What time is it?")]).tools([now]);
    /// assert_eq!(request.tools[0].name(), "now");
    /// # Ok::<(), imp::ToolDefinitionError>(())
    /// ```
    pub fn tools(mut self, tools: impl Into<Vec<ToolDefinition>>) -> Self {
        self.tools = tools.into();
        self
    }
}

/// Settings of a request. What is not set is not sent, so the provider's default holds.
///
/// ```
/// use imp::Config;
///
/// let program = Config::new().temperature(0.7).max_tokens(400);
/// let call = Config::new().temperature(0.0).seed(7);
/// let both = call.or(program);
/// assert_eq!(both.temperature, Some(0.0));
/// assert_eq!(both.max_tokens, Some(400));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Config {
    /// How freely to choose among likely tokens; most providers take 0 to 2.
    pub temperature: Option<f64>,
    /// The most tokens to write.
    pub max_tokens: Option<u32>,
    /// The share of probability to choose from, 0 to 1.
    pub top_p: Option<f64>,
    /// Texts at which to stop writing; they are not part of the reply.
    pub stop: Option<Vec<String>>,
    /// The same seed makes some providers give the same reply again.
    pub seed: Option<i64>,
    /// How many completions to write.
    pub n: Option<u32>,
    /// How long the whole call may take; the client's own limit by default.
    pub timeout: Option<Duration>,
    /// How long a reasoning model may think, in the provider's words: `low`, `medium`, `high`, …
    pub reasoning_effort: Option<String>,
    /// Whether the model may, must or must not call a tool; sent only beside tools.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may call several tools in one reply; sent only beside tools.
    pub parallel_tool_calls: Option<bool>,
    /// Further fields of the request's body, as they are. One that has the name of a field that
    /// the client would send takes its place.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Config {
    /// Settings with nothing set.
    pub fn new() -> Self {
        Config::default()
    }

    /// These settings, and those of `defaults` where these are unset. Extra fields are merged by
    /// name.
    pub fn or(self, defaults: Config) -> Self {
        let mut extra = defaults.extra;
        extra.extend(self.extra);
        Config {
            temperature: self.temperature.or(defaults.temperature),
            max_tokens: self.max_tokens.or(defaults.max_tokens),
            top_p: self.top_p.or(defaults.top_p),
            stop: self.stop.or(defaults.stop),
            seed: self.seed.or(defaults.seed),
            n: self.n.or(defaults.n),
            timeout: self.timeout.or(defaults.timeout),
            reasoning_effort: self.reasoning_effort.or(defaults.reasoning_effort),
            tool_choice: self.tool_choice.or(defaults.tool_choice),
            parallel_tool_calls: self.parallel_tool_calls.or(defaults.parallel_tool_calls),
            extra,
        }
    }

    /// Sets [`temperature`](Self#structfield.temperature).
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets [`max_tokens`](Self#structfield.max_tokens).
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets [`top_p`](Self#structfield.top_p).
    pub fn top_p(mut self, share: f64) -> Self {
        self.top_p = Some(share);
        self
    }

    /// Sets [`stop`](Self#structfield.stop).
    pub fn stop<S: Into<String>>(mut self, texts: impl IntoIterator<Item = S>) -> Self {
        self.stop = Some(texts.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`seed`](Self#structfield.seed).
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets [`n`](Self#structfield.n).
    pub fn n(mut self, completions: u32) -> Self {
        self.n = Some(completions);
        self
    }

    /// Sets [`timeout`](Self#structfield.timeout).
    pub fn timeout(mut self, total: Duration) -> Self {
        self.timeout = Some(total);
        self
    }

    /// Sets [`reasoning_effort`](Self#structfield.reasoning_effort).
    pub fn reasoning_effort(mut self, effort: impl Into<String>) -> Self {
        self.reasoning_effort = Some(effort.into());
        self
    }

    /// Sets [`tool_choice`](Self#structfield.tool_choice).
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Sets [`parallel_tool_calls`](Self#structfield.parallel_tool_calls).
    pub fn parallel_tool_calls(mut self, several: bool) -> Self {
        self.parallel_tool_calls = Some(several);
        self
    }

    /// Adds one field to [`extra`](Self#structfield.extra).
    ///
    /// ```
    /// use imp::Config;
    ///
    /// let config = Config::new().extra("top_k", 40);
    /// assert_eq!(config.extra["top_k"], 40);
    /// ```
    pub fn extra(mut self, name: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }
}

/// The form that the provider holds a reply to.
///
/// ```
/// use imp::ResponseFormat;
///
/// let schema = serde_json::json!({"type": "object", "properties": {"hex": {"type": "string"}}});
/// let format = ResponseFormat::json_schema("colour", schema, false);
/// assert!(matches!(format, ResponseFormat::JsonSchema { strict: false, .. }));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResponseFormat {
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// What the schema is called: letters, digits, `_` and `-`, at most 64.
        name: String,
        /// The JSON Schema; shared, as every request of a program has the same.
        schema: Arc<serde_json::Value>,
        /// Whether the provider must hold to it exactly. OpenAI then takes a subset of JSON Schema only:
        /// every property required, no other properties.
        strict: bool,
    },
}

impl ResponseFormat {
    /// A [`ResponseFormat::JsonSchema`].
    pub fn json_schema(
        name: impl Into<String>,
        schema: impl Into<Arc<serde_json::Value>>,
        strict: bool,
    ) -> Self {
        ResponseFormat::JsonSchema { name: name.into(), schema: schema.into(), strict }
    }
}

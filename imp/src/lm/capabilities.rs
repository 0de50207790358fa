//! What a model and its server take.

/// What a model and its server take, as plain data.
///
/// A client sends nothing that its capabilities deny, and an adapter chooses by them before it
/// asks. They are settings, not discoveries: set them where a server differs from the default.
///
/// ```
/// use imp::Capabilities;
///
/// let small_server = Capabilities::default().json_schema(false).names(false);
/// assert!(!small_server.json_schema);
/// assert!(small_server.json_object);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
// Independent switches, each a thing that a server takes or does not: no state machine hides here.
#[allow(clippy::struct_excessive_bools)]
pub struct Capabilities {
    /// A response format with a JSON Schema. `true` by default; where it is not, JSON without a
    /// schema is asked for instead.
    pub json_schema: bool,
    /// A response format of any JSON object. `true` by default; where it is not, no format is sent.
    pub json_object: bool,
    /// Native tool calls. `true` by default.
    pub tools: bool,
    /// Making the model call a tool. `true` by default.
    pub forced_tool_choice: bool,
    /// A participant's name on a message. `true` by default; where it is not, names are left out.
    pub names: bool,
    /// The limit of output tokens is called `max_completion_tokens`. `false` by default (it is
    /// called `max_tokens`); `true` for [`OpenAi`](crate::OpenAi) at OpenAI's own address, whose
    /// newer models refuse the old word.
    pub max_completion_tokens: bool,
    /// A setting for how long to reason. `true` by default; it is sent only if the request has it.
    pub reasoning_effort: bool,
    /// The completion has the model's own reasoning beside its text, as DeepSeek, OpenRouter, vLLM and llama.cpp give
    /// it. `false` by default: an output of type [`Reasoning`](crate::Reasoning) is then asked for as text. Where it is
    /// `true` the output is not asked for, and the request has a reasoning effort: set
    /// [`reasoning_effort`](Self#structfield.reasoning_effort) to `false` for a server that does not take one.
    pub native_reasoning: bool,
    /// The completion has the sources of an answer beside its text, as OpenAI's models with web search give them.
    /// `false` by default: an output of type [`Citations`](crate::Citations) is then asked for as text. Where it is
    /// `true` the output is not asked for.
    pub native_citations: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Capabilities {
            json_schema: true,
            json_object: true,
            tools: true,
            forced_tool_choice: true,
            names: true,
            max_completion_tokens: false,
            reasoning_effort: true,
            native_reasoning: false,
            native_citations: false,
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        impl Capabilities {$(
            $(#[$doc])*
            pub fn $name(mut self, takes: bool) -> Self {
                self.$name = takes;
                self
            }
        )*}
    };
}

setters! {
    /// Sets [`json_schema`](Self#structfield.json_schema).
    json_schema,
    /// Sets [`json_object`](Self#structfield.json_object).
    json_object,
    /// Sets [`tools`](Self#structfield.tools).
    tools,
    /// Sets [`forced_tool_choice`](Self#structfield.forced_tool_choice).
    forced_tool_choice,
    /// Sets [`names`](Self#structfield.names).
    names,
    /// Sets [`max_completion_tokens`](Self#structfield.max_completion_tokens).
    max_completion_tokens,
    /// Sets [`reasoning_effort`](Self#structfield.reasoning_effort).
    reasoning_effort,
    /// Sets [`native_reasoning`](Self#structfield.native_reasoning).
    native_reasoning,
    /// Sets [`native_citations`](Self#structfield.native_citations).
    native_citations,
}

//! Whether a model may, must or must not call a tool.

/// Whether a model may, must or must not call a tool.
///
/// Set it with [`Config::tool_choice`](crate::Config::tool_choice). It is sent only beside tools, and only what
/// the model's [capabilities](crate::Capabilities) allow: a server that cannot be made to call a tool gets
/// [`Auto`](ToolChoice::Auto).
///
/// ```
/// use imp::{Config, ToolChoice};
///
/// let config = Config::new().tool_choice(ToolChoice::named("submit")).parallel_tool_calls(false);
/// assert_eq!(config.tool_choice, Some(ToolChoice::Named("submit".into())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides. This is what providers do by default.
    Auto,
    /// The model must call a tool, whichever.
    Required,
    /// The model must call the tool of this name.
    Named(String),
    /// The model must not call a tool. Some models then write the call as text, so a loop does better with
    /// [`Auto`](ToolChoice::Auto) and calls that it leaves unanswered (Imp §19).
    None,
}

impl ToolChoice {
    /// A [`ToolChoice::Named`].
    pub fn named(tool: impl Into<String>) -> Self {
        ToolChoice::Named(tool.into())
    }
}

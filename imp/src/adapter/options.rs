//! What a caller can say about the messages.

use crate::adapter::demo::Demo;

/// How a request is made from values (Imp §6).
///
/// ```
/// use imp::{Demo, Fields, FormatOptions};
///
/// let demo = Demo::from_fields(Fields::from([("question", "2 + 2?"), ("answer", "4")]));
/// let options = FormatOptions::new().demo(demo).response_instruction(false);
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
pub struct FormatOptions {
    pub(crate) demos: Vec<Demo>,
    pub(crate) response_instruction: bool,
    pub(crate) omit_empty_request: bool,
}

impl Default for FormatOptions {
    fn default() -> Self {
        FormatOptions { demos: Vec::new(), response_instruction: true, omit_empty_request: false }
    }
}

impl FormatOptions {
    /// No demos, and a sentence at the end of the request that says how to answer.
    pub fn new() -> Self {
        FormatOptions::default()
    }

    /// One more demo.
    pub fn demo(mut self, demo: Demo) -> Self {
        self.demos.push(demo);
        self
    }

    /// More demos.
    pub fn demos(mut self, demos: impl IntoIterator<Item = Demo>) -> Self {
        self.demos.extend(demos);
        self
    }

    /// Whether the request ends with the sentence that says how to answer. The default is yes.
    pub fn response_instruction(mut self, yes: bool) -> Self {
        self.response_instruction = yes;
        self
    }

    /// Whether a request that would be blank is left out. The default is no.
    pub fn omit_empty_request(mut self, yes: bool) -> Self {
        self.omit_empty_request = yes;
        self
    }
}

/// What stands for an output without a value in an assistant's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing<'a> {
    /// Nothing: the section is left out.
    LeaveOut,
    /// A text.
    Say(&'a str),
}

/// What form an adapter asks the provider to hold the reply to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutputForm {
    /// Text, in the adapter's own format.
    Text,
    /// Any JSON object.
    Object,
    /// A JSON object that fits a schema, which keeps to the rules of OpenAI's strict mode; any JSON object
    /// from a provider that knows no schemas.
    Schema(serde_json::Value),
    /// The same, but text from a provider that knows no schemas: for a prompt that asks for no JSON.
    SchemaOrText(serde_json::Value),
}

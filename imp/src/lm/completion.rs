//! What a model answers.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::{Citation, ToolCall};

/// A model's whole reply to one request.
///
/// ```
/// use imp::Completion;
///
/// let completion = Completion::from("Sunny.");
/// assert_eq!(completion.text(), Some("Sunny."));
/// assert_eq!(completion.usage.input_tokens, 0);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Completion {
    /// The completions: one, or as many as the request's `n` asked for.
    pub choices: Vec<Choice>,
    /// The tokens that the provider counted.
    pub usage: Usage,
    /// The model that answered, where the provider says.
    pub model: Option<String>,
    /// The provider's id of the reply.
    pub id: Option<String>,
    /// The provider's id of the request (from a header), for its support.
    pub request_id: Option<String>,
    /// Whether it comes from a [`Cache`](super::Cache) on this side: it cost nothing, so its usage is empty. `false` by
    /// default.
    pub cached: bool,
}

impl Completion {
    /// A completion of these choices, and nothing else.
    pub fn new(choices: impl Into<Vec<Choice>>) -> Self {
        Completion { choices: choices.into(), ..Completion::default() }
    }

    /// The same completion with counted tokens.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The first choice's text.
    pub fn text(&self) -> Option<&str> {
        self.choices.first()?.text.as_deref()
    }
}

impl<T: Into<String>> From<T> for Completion {
    /// One choice with this text, that ended by itself.
    fn from(text: T) -> Self {
        Completion::new([Choice::new(text)])
    }
}

/// One of a completion's choices.
///
/// ```
/// use imp::{Choice, FinishReason};
///
/// let cut = Choice::new("The answer").finish_reason(FinishReason::Length);
/// assert_eq!(cut.text.as_deref(), Some("The answer"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Choice {
    /// What the model wrote. `None` if the provider sent none, as beside tool calls.
    pub text: Option<String>,
    /// What the model thought, where the provider shows it apart from the text.
    pub reasoning: Option<String>,
    /// The sources that the text cites, where the provider names them apart from it.
    pub citations: Vec<Citation>,
    /// The tools that the model wants called.
    pub tool_calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub finish_reason: FinishReason,
}

impl Choice {
    /// A choice with a text that ended by itself.
    pub fn new(text: impl Into<String>) -> Self {
        Choice { text: Some(text.into()), finish_reason: FinishReason::Stop, ..Choice::default() }
    }

    /// The same choice with a reasoning.
    pub fn reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = Some(reasoning.into());
        self
    }

    /// The same choice with these citations.
    pub fn citations(mut self, citations: impl Into<Vec<Citation>>) -> Self {
        self.citations = citations.into();
        self
    }

    /// The same choice with these tool calls.
    pub fn tool_calls(mut self, calls: impl Into<Vec<ToolCall>>) -> Self {
        self.tool_calls = calls.into();
        self
    }

    /// The same choice with another finish reason.
    pub fn finish_reason(mut self, reason: FinishReason) -> Self {
        self.finish_reason = reason;
        self
    }
}

/// Why a model stopped.
///
/// A stop by a content filter has a variant for models that report it beside a text; the clients
/// here make it an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done, or came to one of the stop texts.
    Stop,
    /// It came to the limit of tokens: the text is not whole.
    Length,
    /// It wants tools called.
    ToolCalls,
    /// The provider's content filter stopped it.
    ContentFilter,
    /// The provider's own word.
    Other(String),
    /// The provider did not say. This is the default.
    #[default]
    Unstated,
}

impl FinishReason {
    /// The reason in snake case: `stop`, `length`, `tool_calls`, `content_filter`, or the provider's own word; empty
    /// where the provider did not say.
    ///
    /// ```
    /// use imp::FinishReason;
    ///
    /// assert_eq!(FinishReason::ToolCalls.as_str(), "tool_calls");
    /// assert_eq!(FinishReason::Other("paused".into()).as_str(), "paused");
    /// ```
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Other(word) => word,
            FinishReason::Unstated => "",
        }
    }
}

/// Counted tokens; zero where the provider does not say.
///
/// ```
/// use imp::Usage;
///
/// let total: Usage = [Usage::new(10, 2), Usage::new(30, 5)].into_iter().sum();
/// assert_eq!(total, Usage::new(40, 7));
/// assert_eq!(total.total_tokens(), 47);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt, with those read from a cache.
    pub input_tokens: u64,
    /// Tokens of the reply, with those of reasoning.
    pub output_tokens: u64,
    /// Those of the prompt that were read from the provider's cache.
    pub cached_tokens: u64,
    /// Those of the reply that were spent on reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// So many tokens in and out.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    /// Tokens in and out together.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Add for Usage {
    type Output = Usage;
    fn add(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(all: I) -> Usage {
        all.fold(Usage::default(), Add::add)
    }
}

//! Typed calls to language models.

mod message;
mod types;
mod value;

pub mod lm;

pub use lm::{
    Capabilities, Choice, Completion, Config, FinishReason, LanguageModel, LmError, LmErrorKind, OpenAi,
    Request, ResponseFormat, Script, Usage,
};
pub use message::{Content, Message, Part, Role, Text, ToolCall};
pub use value::{Map, Value};

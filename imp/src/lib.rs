//! Typed calls to language models.

mod message;
mod types;
mod value;

pub mod lm;

pub use message::{Content, Message, Part, Role, Text, ToolCall};
pub use value::{Map, Value};

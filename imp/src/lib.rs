//! Typed calls to language models.

// The derive names this crate as `::imp`, also in its own tests.
#[cfg(test)]
extern crate self as imp;

mod adapter;
mod bounds;
mod described;
mod dialect;
mod error;
mod field;
mod fields;
mod message;
mod meta;
mod nearest;
mod program;
mod reply;
mod spec;
mod spec_text;
mod text;
mod types;
mod value;
mod variants;

pub mod lm;

#[doc(hidden)]
pub mod __private;

pub use adapter::Adapter;
pub use adapter::chat::Chat;
pub use adapter::demo::Demo;
pub use adapter::json::Json;
pub use adapter::options::{FormatOptions, Missing, OutputForm};
pub use adapter::record::{
    Describe, FieldReader, InputType, Inputs, OutputSignature, OutputType, Outputs, PartOf, Record, Section,
    Signature,
};
pub use adapter::typed::read_reply;
pub use adapter::xml::Xml;
pub use bounds::{FloatType, LengthType, NumericType, TextType};
pub use dialect::Dialect;
pub use error::{
    FieldFailure, FormatError, MissingFields, ParseError, ParseErrorKind, SpecError, WriteError,
};
pub use field::Field;
pub use fields::Fields;
#[doc = include_str!("derive.md")]
pub use imp_derive::Signature;
pub use lm::{
    Capabilities, Choice, Completion, Config, FinishReason, LanguageModel, LmError, LmErrorKind, OpenAi,
    Request, ResponseFormat, Script, Usage,
};
pub use message::{Content, Message, Part, Role, Text, ToolCall};
pub use program::call::Call;
pub use program::chain_of_thought::{ChainOfThought, Reasoned};
pub use program::error::{Error, ErrorKind};
pub use program::predict::Predict;
pub use program::prediction::Prediction;
pub use reply::Reply;
pub use spec::{Constraint, FieldSpec, SignatureSpec};
pub use text::read::{ReadError, ReadOptions, Source};
pub use text::write::{FieldWriter, Presence};
pub use types::AnswerShape;
pub use value::{Map, Value};

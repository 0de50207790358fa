//! Typed calls to language models.

// The derive names this crate as `::imp`, also in its own tests.
#[cfg(test)]
extern crate self as imp;

mod adapter;
mod bounds;
mod dialect;
mod error;
mod field;
mod fields;
mod message;
mod meta;
mod spec;
mod text;
mod types;
mod value;

pub mod lm;

#[doc(hidden)]
pub mod __private;

pub use adapter::record::{
    Describe, FieldReader, InputType, Inputs, OutputSignature, OutputType, Outputs, PartOf, Record, Section,
    Signature,
};
pub use bounds::{FloatType, LengthType, NumericType, TextType};
pub use dialect::Dialect;
pub use error::{
    FieldFailure, FormatError, MissingFields, ParseError, ParseErrorKind, SpecError, WriteError,
};
pub use field::Field;
pub use fields::Fields;
#[doc = include_str!("derive.md")]
pub use imp_derive::Signature;
pub use message::{Content, Message, Part, Role, Text, ToolCall};
pub use spec::{Constraint, FieldSpec, SignatureSpec};
pub use text::read::{ReadError, ReadOptions, Source};
pub use text::write::FieldWriter;
pub use types::AnswerShape;
pub use value::{Map, Value};

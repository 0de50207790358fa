//! Typed calls to language models: two annotated structs become a prompt, and the reply becomes a struct.
//!
//! ```
//! use imp::{Predict, Script, Signature};
//!
//! /// Answer in one word.
//! #[derive(Signature)]
//! #[signature(output = Answer)]
//! struct Question {
//!     question: String,
//! }
//!
//! #[derive(Debug, Signature)]
//! struct Answer {
//!     answer: String,
//!     /// How sure you are.
//!     #[field(min = 0, max = 1)]
//!     confidence: f64,
//! }
//!
//! # async fn run() -> Result<(), imp::Error> {
//! // In a service: `Predict::<Question>::new(OpenAi::from_env()?)`.
//! let model = Script::new(["[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\n0.9"]);
//! let predict = Predict::<Question>::new(model);
//! let answer = predict.call(&Question { question: "The capital of France?".into() }).await?;
//! assert_eq!(answer.answer, "Paris");
//! # Ok(())
//! # }
//! # let mut run = std::pin::pin!(run());
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
//! ```
//!
//! | to | see |
//! | --- | --- |
//! | declare a signature, and every attribute | [`derive@Signature`] |
//! | describe one at run time, by text or by data | [`SignatureSpec`], [`Fields`] |
//! | make messages and read replies without a model | [`Chat`], [`Json`], [`Xml`], [`SingleField`] |
//! | show an answer while it is written | [`Predict::stream`], [`PredictionStream`], [`StreamReader`] |
//! | call a model | [`Predict`], [`ChainOfThought`], [`TwoStep`], [`Prediction`] |
//! | give an image, a recording, a document | [`Image`], [`Audio`], [`File`] |
//! | ask for source code | [`Code`], [`language`] |
//! | let a model call tools until it has the answer | [`ReAct`], [`ReActPrediction`], [`Event`] |
//! | take a model's own reasoning or sources | [`Reasoning`], [`Citations`], [`NativeOutput`] |
//! | let a model call functions | [`Tool`], [`macro@tool`], [`ToolSet`], [`ToolCalls`] |
//! | remember a conversation | [`History`], [`Turn`] |
//! | say who speaks | [`name`] |
//! | change the words of a prompt | [`FormatOptions`] and its renderers |
//! | choose a model, or bring your own | [`OpenAi`], [`LanguageModel`], [`lm`] |
//! | test without a model | [`Script`] |
//! | not pay twice for the same request | [`lm::Cache`] |
//! | see what went wrong | [`Error`], [`ParseError`], [`FormatError`], [`SpecError`], [`LmError`] |
//! | write an adapter of your own | [`Adapter`] |
//!
//! Everything up to [`Chat`] is pure: no I/O, no clock, no randomness. The HTTP clients sit behind the
//! features `reqwest` (the default) and `ureq`.

// The derive names this crate as `::imp`, also in its own tests.
#[cfg(test)]
extern crate self as imp;

mod adapter;
mod blank;
mod bounded;
mod bounds;
mod citations;
mod code;
mod describe;
mod dialect;
mod docs;
mod error;
mod fence;
mod field;
mod fields;
mod history;
mod limits;
mod media;
mod message;
mod meta;
mod nearest;
mod program;
mod react;
mod reasoning;
mod reply;
mod spec;
mod text;
mod tool;
mod tool_calls;
mod tool_definition;
mod tool_failure;
mod types;
mod value;
mod variants;

pub mod language;
pub mod lm;
pub mod name;

#[doc(hidden)]
pub mod __private;

pub use adapter::Adapter;
pub use adapter::chat::Chat;
pub use adapter::demo::Demo;
pub use adapter::guidance::{Guidance, LoopLayout};
pub use adapter::history::UNSENT_NOTE;
pub use adapter::incremental::{Certain, Incremental};
pub use adapter::json::Json;
pub use adapter::options::{AgentLine, FormatOptions, Missing, OutputForm};
pub use adapter::read::{Ending, HowRead, RawReply, Read, Syntax, read_with};
pub use adapter::record::{
    Describe, FieldReader, InputType, Inputs, OutputFields, OutputSignature, OutputType, Outputs, PartOf,
    Record, Section, Signature,
};
pub use adapter::renderer::{NoteContext, OutputContext, SectionContext, SystemContext, ToolResultContext};
pub use adapter::single_field::SingleField;
pub use adapter::stream_reader::{FieldId, ReadEvent, StreamReader};
pub use adapter::two_step::TwoStepPrompt;
pub use adapter::typed::read_reply;
pub use adapter::xml::Xml;
pub use bounds::{FloatType, LengthType, NumericType, TextType};
pub use citations::{Citation, Citations};
pub use code::Code;
pub use dialect::Dialect;
pub use error::{
    FieldFailure, FormatError, MissingFields, ParseError, ParseErrorKind, SpecError, WriteError,
};
pub use field::Field;
pub use fields::Fields;
pub use history::{History, Turn};
#[doc = include_str!("derive.md")]
pub use imp_derive::Signature;
#[doc = include_str!("tool.md")]
pub use imp_derive::tool;
pub use lm::{
    Capabilities, Choice, Completion, Config, FinishReason, LanguageModel, LmError, LmErrorKind, OpenAi,
    Request, ResponseFormat, Script, ToolChoice, Usage,
};
pub use media::{Audio, File, Image, MediaError, MediaErrorKind};
pub use message::{Content, Message, Part, Role, Text, ToolCall};
pub use program::call::Call;
pub use program::chain_of_thought::{ChainOfThought, Reasoned};
pub use program::error::{Error, ErrorKind};
pub use program::native_output::NativeOutput;
pub use program::predict::Predict;
pub use program::prediction::Prediction;
#[cfg(feature = "blocking")]
pub use program::stream::BlockingStream;
pub use program::stream::{FieldText, PredictionEvent, PredictionStream};
pub use program::two_step::{TwoStep, TwoStepPrediction};
pub use react::call::ReActCall;
pub use react::event::Event;
pub use react::prediction::{Cause, ContextProjection, ReActError, ReActPrediction, Termination};
pub use react::{Finish, ReAct};
pub use reasoning::Reasoning;
pub use reply::Reply;
pub use spec::{Constraint, FieldSpec, SignatureSpec};
pub use text::read::{ReadError, ReadOptions, Source};
pub use text::write::{FieldWriter, Presence};
pub use tool::{
    Approval, Tool, ToolArguments, ToolError, ToolErrorKind, ToolPolicy, ToolReturn, ToolSet, ToolSetError,
};
pub use tool_calls::{ToolCalls, ToolResult};
pub use tool_definition::{ToolDefinition, ToolDefinitionError};
pub use tool_failure::{ArgumentError, Denial, ToolFailure};
pub use types::AnswerShape;
pub use value::{Map, Value};

#[doc = include_str!("../docs/how-a-reply-is-read.md")]
pub mod how_a_reply_is_read {}

/// The README's programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

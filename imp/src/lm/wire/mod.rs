//! The providers' formats, as pure functions: a request to a body, a reply to a completion.
//!
//! Use them with an HTTP stack of your own, or to see what a client sends.

pub mod anthropic;
mod fault;
mod json;
pub mod openai;
pub mod sse;
mod stream;

pub(super) use stream::whole;
pub use stream::{Delta, StreamDecoder};

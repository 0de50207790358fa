//! The providers' formats, as pure functions: a request to a body, a reply to a completion.
//!
//! Use them with an HTTP stack of your own, or to see what a client sends.

pub mod openai;

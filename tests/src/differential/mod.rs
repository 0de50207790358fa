//! What other readers make of random replies, and why `imp` is right where it does not do the same.

pub mod draw;
pub mod json;
pub mod parse;
mod quirks;

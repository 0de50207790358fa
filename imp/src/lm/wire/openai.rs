//! OpenAI's chat completions, which many servers speak, each with an accent of its own.

pub(super) mod calls;
mod decode;
mod encode;
mod stream;

pub use decode::decode;
pub use encode::{encode, encode_stream};
pub(super) use stream::Assembler;

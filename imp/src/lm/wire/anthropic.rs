//! Anthropic's Messages.

mod decode;
mod encode;
mod stream;

pub use decode::decode;
pub use encode::{DEFAULT_MAX_TOKENS, encode, encode_stream};
pub(super) use stream::Assembler;

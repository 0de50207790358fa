//! OpenAI's chat completions, which many servers speak, each with an accent of its own.

mod calls;
mod decode;
mod encode;
mod fault;

pub use decode::decode;
pub use encode::encode;

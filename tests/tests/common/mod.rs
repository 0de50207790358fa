//! What several test files need. Each uses a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod anthropic_schema;
pub mod openai_schema;
pub mod server;

//! Integration tests of `imp` and the programs that check it.

pub mod generate;
pub mod plain;

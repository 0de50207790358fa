//! What the tests of `imp` share: the conformance corpus and the program that runs it, generators of
//! random signatures and values, and shorthands.

pub mod conformance;
pub mod generate;
pub mod mutation;
pub mod plain;

//! What the tests of `imp` share: the conformance corpus and the program that runs it, generators of random data, and
//! shorthands of the plain dialect.

pub mod conformance;
pub mod generate;
pub mod plain;

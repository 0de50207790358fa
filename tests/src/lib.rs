//! What the tests of `imp` share: the conformance corpus, the cases and the programs that run them, generators of
//! random signatures and values, and shorthands.

pub mod cases;
pub mod conformance;
pub mod differential;
pub mod fronts;
pub mod fuzz;
pub mod generate;
pub mod golden;
pub mod loops;
pub mod mutation;
pub mod plain;
pub mod transcripts;

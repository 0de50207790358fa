//! What the tests of `imp` share: the conformance corpus and the program that runs it.

pub mod conformance;

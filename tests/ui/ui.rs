//! What the compiler says of mistakes: `TOPIC/BEHAVIOUR.rs` with its `.stderr`.
//!
//! `TRYBUILD=overwrite cargo test -p imp-tests-ui` writes the messages anew: read them in the diff.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("*/*.rs");
}

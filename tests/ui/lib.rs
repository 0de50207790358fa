//! What the compiler says of mistakes: the cases stand beside this file, the test is `ui.rs`.

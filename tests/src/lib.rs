//! Integration tests of `imp` and the programs that check it.

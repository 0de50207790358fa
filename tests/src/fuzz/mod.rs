//! Fuzz targets: each takes any bytes and panics where something is wrong.
//!
//! They are plain functions, so that `tests/fuzz_corpus.rs` runs them without a fuzzer, over the corpus and over
//! mutations of it; the fuzzer (`tests/fuzz`, `scripts/fuzz.sh`) runs the same functions for hours.

mod case;
mod chat_parse;
mod check;
mod derive_tokens;
mod json_repair;
mod partial_reply;
mod salvage;
mod signature_line;
mod sse;
mod xml_parse;

pub use chat_parse::chat_parse;
pub use derive_tokens::derive_tokens;
pub use json_repair::json_repair;
pub use partial_reply::partial_reply;
pub use salvage::salvage;
pub use signature_line::signature_line;
pub use sse::sse;
pub use xml_parse::xml_parse;

/// A fuzz target by its name, which is that of its corpus, too.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 8] = [
    ("chat_parse", chat_parse),
    ("derive_tokens", derive_tokens),
    ("json_repair", json_repair),
    ("partial_reply", partial_reply),
    ("salvage", salvage),
    ("signature_line", signature_line),
    ("sse", sse),
    ("xml_parse", xml_parse),
];

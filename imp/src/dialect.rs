//! Which wording a prompt has.

use serde::{Deserialize, Serialize};

/// The wording of prompts and the few readings in which the wordings differ.
///
/// ```
/// use imp::Dialect;
///
/// assert_eq!(Dialect::default(), Dialect::Plain);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Plain words: `string`, `number`, `one of: a, b`. This is the default.
    #[default]
    Plain,
    /// DSPy's words, byte for byte those of its version 3.4.0: `str`, `float`,
    /// `Literal['a', 'b']`. A prompt that was tuned in DSPy runs unchanged.
    Dspy,
}

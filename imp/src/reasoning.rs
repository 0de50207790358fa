//! The type of a field that holds a model's reasoning.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::types::key;

/// The text in which a model reasons (DSPy's `dspy.Reasoning`).
///
/// Use it for an output that a provider may give as the model's native reasoning: where
/// [`Capabilities::native_reasoning`](crate::Capabilities#structfield.native_reasoning) says so, programs do not ask
/// for it, and it is what the completion has; see [`NativeOutput`](crate::NativeOutput). Elsewhere it is read and
/// written as a `String` is. It derefs to its text. [`ChainOfThought`](crate::ChainOfThought) adds a reasoning of its
/// own, which is text with every model.
///
/// ```
/// use imp::{Chat, Reasoning, Signature};
///
/// #[derive(Signature)]
/// struct Verdict {
///     why: Reasoning,
///     guilty: bool,
/// }
///
/// let reply = "[[ ## why ## ]]\nNobody else had a key.\n\n[[ ## guilty ## ]]\ntrue";
/// let verdict: Verdict = Chat::new().parse(reply)?;
/// assert!(verdict.why.contains("key"));
/// # Ok::<(), imp::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Reasoning(pub String);

impl Deref for Reasoning {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Reasoning {
    fn from(text: &str) -> Self {
        Reasoning(text.to_owned())
    }
}

impl From<String> for Reasoning {
    fn from(text: String) -> Self {
        Reasoning(text)
    }
}

impl From<Reasoning> for String {
    fn from(reasoning: Reasoning) -> Self {
        reasoning.0
    }
}

pub(crate) fn schema() -> Json {
    json!({ "type": "string", key::KIND: "reasoning" })
}

impl JsonSchema for Reasoning {
    fn schema_name() -> Cow<'static, str> {
        "Reasoning".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema().try_into().unwrap_or_default()
    }
}

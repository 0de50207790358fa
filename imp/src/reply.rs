//! What a parse takes.

use crate::fields::Fields;
use crate::value::Value;

/// A reply in any of the forms that a parse takes (Imp §8.1).
///
/// ```
/// use imp::{Chat, Signature};
///
/// #[derive(Debug, PartialEq, Signature)]
/// struct Answer {
///     answer: String,
/// }
///
/// let chat = Chat::new();
/// let from_text: Answer = chat.parse("[[ ## answer ## ]]\nParis")?;
/// let from_map: Answer = chat.parse(serde_json::json!({"answer": "Paris"}))?;
/// assert_eq!(from_text, from_map);
/// let error = chat.parse::<Answer>(serde_json::json!(["Paris"])).unwrap_err();
/// assert_eq!(error.to_string(), "The LM returned a list, which is not a completion.");
/// # Ok::<(), imp::ParseError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reply<'r, O> {
    /// A completion's text.
    Text(&'r str),
    /// Values by name; names that are no output are ignored.
    Fields(Fields),
    /// An answer that has been read already; it is returned as it is.
    Outputs(O),
    /// Something that is no completion, in words.
    Other(&'static str),
}

impl<'r, O> From<&'r str> for Reply<'r, O> {
    fn from(text: &'r str) -> Self {
        Reply::Text(text)
    }
}

impl<'r, O> From<&'r String> for Reply<'r, O> {
    fn from(text: &'r String) -> Self {
        Reply::Text(text)
    }
}

impl<O> From<serde_json::Value> for Reply<'_, O> {
    fn from(value: serde_json::Value) -> Self {
        Reply::from(Value::from(value))
    }
}

impl<O> From<Value> for Reply<'_, O> {
    fn from(value: Value) -> Self {
        match value {
            Value::Map(map) => Reply::Fields(map.into()),
            Value::List(_) => Reply::Other("a list"),
            Value::Null => Reply::Other("nothing"),
            _ => Reply::Other("a value"),
        }
    }
}

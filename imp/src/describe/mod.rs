//! Signatures described at run time: from a line of text or from data, and back to data.
//!
//! Above the text floor, since a default is checked by the reader that reads replies.

mod data;
mod line;
mod rules;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value as Json;

use crate::error::SpecError;
use crate::spec::SignatureSpec;

impl SignatureSpec {
    /// The signature that a line of text describes: `inputs -> outputs`, each field being `name`,
    /// `name: type` or `name: type "description"` (§1.1).
    ///
    /// Types are `string` (the default), `integer`, `number`, `boolean`, `datetime`, `object`, `array`,
    /// `array[T]`, `enum[a, b]`, `yes_no`, `short_span` and `numeric_span`; Python's `str`, `int`,
    /// `float`, `bool`, `map`, `dict` and `class[a, b]` mean the same.
    ///
    /// ```
    /// use imp::SignatureSpec;
    ///
    /// let spec = SignatureSpec::parse(r#"intent -> team: enum[atlas, beacon], score: float "0 to 1""#)?;
    /// assert_eq!(spec.outputs().map(|field| field.name()).collect::<Vec<_>>(), ["team", "score"]);
    ///
    /// let error = SignatureSpec::parse("intent -> score: flaot").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "invalid signature at position 17: unknown field type \"flaot\"\n\
    ///      intent -> score: flaot\n\
    ///      \u{20}                ^\n\
    ///      did you mean \"float\"?",
    /// );
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is no signature; the error shows the place and, for a word it does not know, the
    /// nearest one that it does.
    pub fn parse(text: &str) -> Result<SignatureSpec, SpecError> {
        line::parse(text)
    }

    /// The signature that a piece of data describes.
    ///
    /// The form is `{"name", "instructions", "inputs": [field…], "outputs": [field…]}`, a field being
    /// `{"name", "type", "desc", "default", "constraints"}`, of which only the name is needed. A type is
    /// a word (`"str"`, `"int"`, `"float"`, `"bool"`, `"datetime"`, `"date"`, `"any"`, `"reasoning"`, `"citations"`,
    /// those of [`parse`](SignatureSpec::parse), …) or one of `{"optional": T}`, `{"list": T}`,
    /// `{"dict": T}`, `{"literal": [value…]}`, `{"enum": {"name", "members": [[name, value]…]}}`,
    /// `{"object": {"name", "fields": [field…], "doc"}}`, `{"union": [T…]}` and `{"schema": JSON Schema}`.
    ///
    /// ```
    /// use imp::SignatureSpec;
    /// use serde_json::json;
    ///
    /// let spec = SignatureSpec::from_json(&json!({
    ///     "inputs": [{"name": "ticket"}],
    ///     "outputs": [
    ///         {"name": "priority", "type": "int", "constraints": [["ge", 1], ["le", 4]]},
    ///         {"name": "duplicate_of", "type": {"optional": "str"}, "desc": "the number of a ticket"},
    ///     ],
    /// }))?;
    /// assert_eq!(spec.outputs().len(), 2);
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A key, a type or a bound that is not known (with the nearest one that is), a name that cannot
    /// be one, two fields of one name.
    pub fn from_json(json: &Json) -> Result<SignatureSpec, SpecError> {
        data::spec_of(json)
    }
}

/// As [`SignatureSpec::from_json`] reads it.
impl Serialize for SignatureSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        data::json_of(self).serialize(serializer)
    }
}

/// As [`SignatureSpec::from_json`] reads it.
impl<'de> Deserialize<'de> for SignatureSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        SignatureSpec::from_json(&json).map_err(de::Error::custom)
    }
}

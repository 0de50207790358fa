//! Source code as a field's type.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fence::protected;
pub(crate) use crate::fence::{shown, without_fence};
use crate::language::{Language, Python};
use crate::types::key;

/// Source code in a language: the type of an input or an output (DSPy's `Code`).
///
/// The prompt says which language it is and that a Markdown code block is welcome. A reply's fence is taken
/// off when it is read, and so is an input's when it is written (Imp §§2.1 and 8.4). Inside JSON an object
/// with the key `code` is taken too.
///
/// A fence is one of Markdown: one inside a comment is code. Source that would lose a fence of its own when it is
/// read back is serialised inside a longer one.
///
/// ```
/// use imp::language::Rust;
/// use imp::{Chat, Code, Signature};
///
/// #[derive(Signature)]
/// #[signature(output = Program)]
/// struct Task<'a> {
///     task: &'a str,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Program {
///     code: Code<Rust>,
/// }
///
/// let messages = Chat::new().format(&Task { task: "Say hello" })?;
/// assert!(messages[0].text().contains("1. `code` (code in rust):"));
///
/// let reply = "[[ ## code ## ]]\n```rust\nfn main() {}\n```";
/// let program: Program = Chat::new().parse(reply)?;
/// assert_eq!(program.code.source(), "fn main() {}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Code<L = Python> {
    source: String,
    // A function's result, so that the language decides nothing about threads.
    language: PhantomData<fn() -> L>,
}

impl<L> Code<L> {
    /// The source as it is.
    pub fn new(source: impl Into<String>) -> Self {
        Code { source: source.into(), language: PhantomData }
    }

    /// The source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The source as a `String`.
    pub fn into_source(self) -> String {
        self.source
    }
}

impl<L: Language> Code<L> {
    /// What prompts call the language.
    pub const LANGUAGE: &'static str = L::NAME;
}

impl<L> Deref for Code<L> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.source
    }
}

impl<L> AsRef<str> for Code<L> {
    fn as_ref(&self) -> &str {
        &self.source
    }
}

impl<L> From<String> for Code<L> {
    fn from(source: String) -> Self {
        Code::new(source)
    }
}

impl<L> From<&str> for Code<L> {
    fn from(source: &str) -> Self {
        Code::new(source)
    }
}

impl<L> fmt::Display for Code<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

// By hand: a derive would ask all of these of the language.
impl<L> fmt::Debug for Code<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Code").field(&self.source).finish()
    }
}

impl<L> Clone for Code<L> {
    fn clone(&self) -> Self {
        Code::new(self.source.clone())
    }
}

impl<L> Default for Code<L> {
    fn default() -> Self {
        Code::new("")
    }
}

impl<L> PartialEq for Code<L> {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl<L> Eq for Code<L> {}

impl<L> PartialOrd for Code<L> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<L> Ord for Code<L> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.source.cmp(&other.source)
    }
}

impl<L> Hash for Code<L> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}

impl<L> Serialize for Code<L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Code with a fence in it would be read back as what is in that.
        match protected(&self.source) {
            Some(fenced) => serializer.serialize_str(&fenced),
            None => serializer.serialize_str(&self.source),
        }
    }
}

impl<'de, L> Deserialize<'de> for Code<L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CodeVisitor).map(Code::new)
    }
}

struct CodeVisitor;

impl<'de> Visitor<'de> for CodeVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("code")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(without_fence(text).to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<String, E> {
        let code = without_fence(&text);
        if code.len() == text.len() { Ok(text) } else { Ok(code.to_owned()) }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut code: Option<String> = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "code" {
                code = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        code.map(|code| without_fence(&code).to_owned()).ok_or_else(|| de::Error::missing_field("code"))
    }
}

impl<L: Language> JsonSchema for Code<L> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Code_{}", L::NAME).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({ "type": "string" });
        schema.insert(key::KIND.to_owned(), "code".into());
        schema.insert(key::LANGUAGE.to_owned(), L::NAME.into());
        schema
    }
}

//! Messages: what an adapter makes and a model client sends.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::blank::trim;
use crate::media::{Audio, File, Image};
use crate::value::{Map, Value};

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The instructions.
    System,
    /// The caller.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// The word on the wire: `system`, `user`, `assistant` or `tool`.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// A text that is owned or shared: a signature's system message is rendered once and every
/// request holds the same allocation.
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Owned(String),
    Shared(Arc<str>),
}

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Owned(text) => text,
            Repr::Shared(text) => text,
        }
    }

    fn share(&mut self) {
        if let Repr::Owned(text) = &mut self.0 {
            self.0 = Repr::Shared(std::mem::take(text).into());
        }
    }

    /// The text as a `String`, copied only if it is shared.
    pub fn into_string(self) -> String {
        match self.0 {
            Repr::Owned(text) => text,
            Repr::Shared(text) => text.as_ref().to_owned(),
        }
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(Repr::Owned(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(Repr::Owned(text.to_owned()))
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Self {
        Text(Repr::Shared(text))
    }
}

impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Text::from)
    }
}

/// What a message says: one text, or parts of several kinds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// One text.
    Text(Text),
    /// Parts in order.
    Parts(Vec<Part>),
}

impl Content {
    /// The texts of the content, joined without a separator; borrowed where there is one text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Content::Text(text) => Cow::Borrowed(text),
            Content::Parts(parts) => match parts.as_slice() {
                [Part::Text(text)] => Cow::Borrowed(text),
                parts => {
                    Cow::Owned(parts.iter().filter_map(|part| part.as_text().map(Text::as_str)).collect())
                }
            },
        }
    }

    /// Whether nothing is said but white space.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Content::Text(text) => trim(text).is_empty(),
            Content::Parts(parts) => {
                parts.iter().all(|part| part.as_text().is_some_and(|text| trim(text).is_empty()))
            }
        }
    }
}

impl<T: Into<Text>> From<T> for Content {
    fn from(text: T) -> Self {
        Content::Text(text.into())
    }
}

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// A text.
    Text(Text),
    /// An image.
    Image(Image),
    /// A recording.
    Audio(Audio),
    /// A document.
    File(File),
}

impl Part {
    fn as_text(&self) -> Option<&Text> {
        match self {
            Part::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// One message of a conversation.
///
/// ```
/// use imp::{Message, Role};
///
/// let message = Message::user("Where is my parcel?").named("alice");
/// assert_eq!(message.role, Role::User);
/// assert_eq!(message.text(), "Where is my parcel?");
/// assert_eq!(message.name.as_deref(), Some("alice"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// What it says.
    pub content: Content,
    /// The participant's name, passed through as given; none by default.
    pub name: Option<String>,
    /// The tool calls of an assistant message; none by default.
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call that a tool message answers; none by default.
    pub tool_call_id: Option<String>,
    /// What the model reasoned before an assistant message, for a provider that asks for it back; none by
    /// default.
    pub reasoning_content: Option<String>,
    /// The provider's own record of that reasoning, as it came; none by default.
    pub reasoning_details: Option<Value>,
}

impl Message {
    /// A message with a role and a content, and nothing else.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Message {
            role,
            content: content.into(),
            name: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            reasoning_content: None,
            reasoning_details: None,
        }
    }

    /// A system message.
    pub fn system(content: impl Into<Content>) -> Self {
        Message::new(Role::System, content)
    }

    /// A user message.
    pub fn user(content: impl Into<Content>) -> Self {
        Message::new(Role::User, content)
    }

    /// An assistant message.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// A tool message: the result of the call with the id `call`.
    pub fn tool(call: impl Into<String>, content: impl Into<Content>) -> Self {
        Message { tool_call_id: Some(call.into()), ..Message::new(Role::Tool, content) }
    }

    /// The same message with a participant's name, sent as it is given: OpenAI takes letters, digits, `_` and `-`, which
    /// [`name::legal`](crate::name::legal) gives. A client whose server refuses it asks again without names.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Makes the texts shared, so that a copy of the message copies no text.
    pub(crate) fn share(&mut self) {
        match &mut self.content {
            Content::Text(text) => text.share(),
            Content::Parts(parts) => {
                for part in parts {
                    // The others are shared from the start.
                    if let Part::Text(text) = part {
                        text.share();
                    }
                }
            }
        }
    }

    /// The texts of the content, joined.
    pub fn text(&self) -> Cow<'_, str> {
        self.content.text()
    }
}

/// A model's request to run a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's id of the call, which its result repeats.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments by name.
    pub arguments: Map,
    /// What the model wrote, if it could not be read as a call: then it never runs, and its result says
    /// so. None by default.
    pub malformed: Option<Value>,
}

impl ToolCall {
    /// A call of the tool `name`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Map) -> Self {
        ToolCall { id: id.into(), name: name.into(), arguments, malformed: None }
    }
}

//! The types of a field that holds the sources of an answer.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::types::key;

/// The sources that an answer cites (DSPy's `dspy.Citations`).
///
/// Use it for an output that a provider may give beside the text of the answer, as OpenAI's models with web
/// search and Anthropic's with documents do: where [`Capabilities::native_citations`] says so, the model is
/// not asked for it, and it is what the completion has in [`Choice::citations`], which may be nothing. Elsewhere
/// it is a list of objects like any other. It derefs to its citations.
///
/// ```
/// use imp::{Chat, Citations, Signature};
///
/// #[derive(Signature)]
/// struct Answer {
///     answer: String,
///     sources: Citations,
/// }
///
/// let reply = "[[ ## answer ## ]]\nAt 100 °C.\n\n[[ ## sources ## ]]\n[{\"quote\": \"Water boils at 100 °C\"}]";
/// let answer: Answer = Chat::new().parse(reply)?;
/// assert_eq!(answer.sources[0].quote.as_deref(), Some("Water boils at 100 °C"));
/// assert_eq!(answer.sources[0].url, None);
/// # Ok::<(), imp::ParseError>(())
/// ```
///
/// [`Capabilities::native_citations`]: crate::Capabilities::native_citations
/// [`Choice::citations`]: crate::Choice::citations
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Citations(pub Vec<Citation>);

/// One source that an answer cites; what is not known is `None`.
///
/// A model that is asked for it in words is asked for the quote, the title and the address: places it would
/// have to count.
///
/// ```
/// use imp::Citation;
///
/// let citation = Citation::new().title("Boiling").url("https://example.com/boiling").answer_span(0, 10);
/// assert_eq!((citation.start, citation.end), (Some(0), Some(10)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Citation {
    /// The words of the source (Anthropic's `cited_text`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The source's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The source's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Which of the request's documents it is, from 0 (Anthropic's `document_index`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<u32>,
    /// Where in the answer's text it belongs, in characters (OpenAI's `start_index`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// Up to where in the answer's text it belongs, in characters (OpenAI's `end_index`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
    /// Where in the source the words stand, in characters (Anthropic's `start_char_index`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_start: Option<u32>,
    /// Up to where in the source the words stand, in characters (Anthropic's `end_char_index`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_end: Option<u32>,
}

impl Citation {
    /// A citation of which nothing is known yet.
    pub fn new() -> Self {
        Citation::default()
    }

    /// The same with the words of the source.
    pub fn quote(mut self, words: impl Into<String>) -> Self {
        self.quote = Some(words.into());
        self
    }

    /// The same with the source's title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with the source's address.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// The same with the place of the document in the request, from 0.
    pub fn document(mut self, index: u32) -> Self {
        self.document = Some(index);
        self
    }

    /// The same with its place in the answer, in characters.
    pub fn answer_span(mut self, start: u32, end: u32) -> Self {
        (self.start, self.end) = (Some(start), Some(end));
        self
    }

    /// The same with the place of its words in the source, in characters.
    pub fn source_span(mut self, start: u32, end: u32) -> Self {
        (self.source_start, self.source_end) = (Some(start), Some(end));
        self
    }
}

impl Deref for Citations {
    type Target = [Citation];
    fn deref(&self) -> &[Citation] {
        &self.0
    }
}

impl From<Vec<Citation>> for Citations {
    fn from(citations: Vec<Citation>) -> Self {
        Citations(citations)
    }
}

impl FromIterator<Citation> for Citations {
    fn from_iter<I: IntoIterator<Item = Citation>>(citations: I) -> Self {
        Citations(citations.into_iter().collect())
    }
}

impl IntoIterator for Citations {
    type Item = Citation;
    type IntoIter = std::vec::IntoIter<Citation>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'c> IntoIterator for &'c Citations {
    type Item = &'c Citation;
    type IntoIter = std::slice::Iter<'c, Citation>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

pub(crate) const KIND: &str = "citations";

/// Whether a schema is that of citations.
pub(crate) fn is(schema: &Json) -> bool {
    schema.get(key::KIND).and_then(Json::as_str) == Some(KIND)
}

// A list of objects to everything but the programs, which ask for the key.
pub(crate) fn schema() -> Json {
    let text = || json!({ "type": ["string", "null"] });
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "quote": { "type": ["string", "null"], "description": "the exact words of the source" },
                "title": text(),
                "url": text(),
            },
        },
        key::KIND: KIND,
    })
}

impl JsonSchema for Citations {
    fn schema_name() -> Cow<'static, str> {
        "Citations".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema().try_into().unwrap_or_default()
    }
}

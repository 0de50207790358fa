//! The Chat adapter: `[[ ## field ## ]]` sections (DSPy's ChatAdapter, Imp §§7 and 8).

use std::sync::Arc;

use crate::adapter::complete::complete;
use crate::adapter::json::Json;
use crate::adapter::options::FormatOptions;
use crate::adapter::record::{OutputSignature, Outputs, Section, Signature};
use crate::adapter::{Adapter, assembly};
use crate::dialect::Dialect;
use crate::error::{FormatError, ParseError, ParseErrorKind};
use crate::fields::Fields;
use crate::message::{Message, Text};
use crate::reply::Reply;
use crate::spec::{FieldSpec, SignatureSpec, Slot};
use crate::text::scan::{self, Lines, trim};
use crate::text::write::json_text;

/// The adapter that writes and reads `[[ ## field ## ]]` sections.
///
/// The two halves are useful alone, with no model in sight:
///
/// ```
/// use imp::{Chat, Signature};
///
/// /// Answer in one word.
/// #[derive(Signature)]
/// #[signature(output = Answer)]
/// struct Question<'a> {
///     question: &'a str,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
///     confidence: f64,
/// }
///
/// let chat = Chat::new();
/// let messages = chat.format(&Question { question: "What is the capital of France?" })?;
/// assert!(messages[1].text().starts_with("[[ ## question ## ]]\nWhat is the capital of France?\n\n"));
///
/// let reply = "[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\n0.9\n\n[[ ## completed ## ]]";
/// let answer: Answer = chat.parse(reply)?;
/// assert_eq!(answer.answer, "Paris");
/// assert_eq!(answer.confidence, 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chat {
    dialect: Dialect,
    escape: bool,
}

impl Default for Chat {
    fn default() -> Self {
        Chat::new()
    }
}

impl Chat {
    /// The adapter in the plain dialect.
    pub fn new() -> Self {
        Chat { dialect: Dialect::Plain, escape: true }
    }

    /// The same in another dialect. Escaping of marker lines is on in the plain dialect and off in
    /// DSPy's, whose prompts have no escapes.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self.escape = dialect == Dialect::Plain;
        self
    }

    /// Whether a line in a text value that could be taken for a marker gets a backslash before its `[[`,
    /// which is taken off again when a reply is read. Without it a text from outside can open a section.
    pub fn escape_markers(mut self, yes: bool) -> Self {
        self.escape = yes;
        self
    }

    /// The messages of a request, without demos.
    ///
    /// # Errors
    ///
    /// The signature cannot be described, or a value's own `Serialize` refuses.
    pub fn format<I: Signature>(&self, inputs: &I) -> Result<Vec<Message>, FormatError> {
        self.format_with(inputs, &FormatOptions::default())
    }

    /// The messages of a request, with options.
    ///
    /// # Errors
    ///
    /// As for [`format`](Chat::format).
    pub fn format_with<I: Signature>(
        &self,
        inputs: &I,
        options: &FormatOptions,
    ) -> Result<Vec<Message>, FormatError> {
        let spec = I::spec().map_err(Clone::clone)?;
        self.messages(spec, inputs, options)
    }

    /// The messages of a training example: the request and the assistant's answer to it (DSPy's
    /// `format_finetune_data`).
    ///
    /// # Errors
    ///
    /// As for [`format`](Chat::format); an output without a value.
    pub fn finetune<I: Signature>(
        &self,
        inputs: &I,
        outputs: &I::Output,
        options: &FormatOptions,
    ) -> Result<Vec<Message>, FormatError> {
        let spec = I::spec().map_err(Clone::clone)?;
        self.finetune_messages(spec, inputs, outputs, options)
    }

    /// Reads a reply into the output struct: a text, a map of fields, or an answer that is there already
    /// and is returned as it is.
    ///
    /// This is the exact reading of the specification and nothing else.
    ///
    /// # Errors
    ///
    /// A [`ParseError`] that carries the reply, the outputs that were read, and what was wrong with each
    /// of the others.
    pub fn parse<'r, O: OutputSignature>(&self, reply: impl Into<Reply<'r, O>>) -> Result<O, ParseError> {
        let spec = O::output_spec()
            .map_err(|error| ParseError::new(ParseErrorKind::Other, self.name(), "", error.to_string()))?;
        read_reply(self, spec, reply.into())
    }

    /// Reads a reply of a described signature.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Chat::parse).
    pub fn read_fields<'r>(
        &self,
        spec: &SignatureSpec,
        reply: impl Into<Reply<'r, Fields>>,
    ) -> Result<Fields, ParseError> {
        read_reply(self, spec, reply.into())
    }

    fn lines(&self) -> Lines {
        match self.dialect {
            Dialect::Plain => Lines::Plain,
            Dialect::Dspy => Lines::Python,
        }
    }
}

/// Reads any form of reply with an adapter.
pub(crate) fn read_reply<O: Outputs, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: Reply<'_, O>,
) -> Result<O, ParseError> {
    match reply {
        Reply::Outputs(outputs) => Ok(outputs),
        Reply::Text(text) => complete(adapter, spec, text, &adapter.sections(spec, text)?),
        Reply::Fields(fields) => {
            // The map as text is what an error shows.
            let text = serde_json::to_string(&fields).unwrap_or_default();
            let sections = fields_as_sections(spec, &fields);
            complete(adapter, spec, &text, &sections)
        }
        Reply::Other(what) => Err(ParseError::new(
            ParseErrorKind::UnsupportedOutput,
            adapter.name(),
            "",
            format!("The LM returned {what}, which is not a completion."),
        )),
    }
}

/// The values of a map as the sections of a reply: JSON, one for each output.
pub(crate) fn fields_as_sections(spec: &SignatureSpec, fields: &Fields) -> Vec<Section<'static>> {
    let section = |field: &Arc<FieldSpec>| {
        let mut names = std::iter::once(&field.name).chain(&field.aliases);
        names.find_map(|name| fields.get(name)).map(|value| Section::json(json_text(value), 0))
    };
    spec.outputs.iter().map(|field| section(field).unwrap_or_default()).collect()
}

impl Adapter for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn escapes_markers(&self) -> bool {
        self.escape
    }

    fn system(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::ChatSystemPlain,
            Dialect::Dspy => Slot::ChatSystemDspy,
        };
        spec.rendered.get(slot, || assembly::system(self, spec)).into()
    }

    fn output_requirements(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::ChatRequirementsPlain,
            Dialect::Dspy => Slot::ChatRequirementsDspy,
        };
        spec.rendered.get(slot, || assembly::output_requirements(spec, self.dialect)).into()
    }

    fn fallback(&self) -> Option<Arc<dyn Adapter>> {
        Some(Arc::new(Json::new().dialect(self.dialect)))
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        let mut sections = vec![Section::default(); spec.outputs.len()];
        let mut markers = scan::markers(reply, self.lines()).peekable();
        if markers.peek().is_none() {
            if let Some(at) = spec.text_field.filter(|_| is_prose(spec, reply)) {
                let text = trim(reply);
                sections[at] =
                    Section::text(text, reply.len() - reply.trim_start_matches(scan::is_blank).len());
            }
            return Ok(sections);
        }
        while let Some(marker) = markers.next() {
            let to = markers.peek().map_or(reply.len(), |next| next.line);
            let Some(at) = spec.outputs.iter().position(|field| is_called(field, marker.name)) else {
                continue;
            };
            // The first section of a name wins, even an empty one.
            if !sections[at].is_given() {
                let (text, start) = scan::section(reply, marker.end, to, self.lines());
                sections[at] = Section::text(text, start);
            }
        }
        Ok(sections)
    }
}

fn is_called(field: &FieldSpec, name: &str) -> bool {
    field.name == name || field.aliases.iter().any(|alias| alias == name)
}

/// Whether a reply without markers is the text field's text: it is not blank, and nothing in it looks like
/// another format's way to give an output (Imp §8.2).
fn is_prose(spec: &SignatureSpec, reply: &str) -> bool {
    let names = spec.outputs.iter().map(|field| field.name.as_str());
    !trim(reply).is_empty() && !scan::has_tag(reply, names.clone()) && !scan::has_key(reply, names)
}

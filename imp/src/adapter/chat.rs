//! The Chat adapter: `[[ ## field ## ]]` sections (DSPy's ChatAdapter, Imp §§7 and 8).

use std::sync::Arc;

use crate::adapter::incremental::{self, Incremental};
use crate::adapter::json::Json;
use crate::adapter::options::FormatOptions;
use crate::adapter::read::Syntax;
use crate::adapter::record::Section;
use crate::adapter::typed::typed_methods;
use crate::adapter::{Adapter, assembly, messages, plain_loop};
use crate::dialect::Dialect;
use crate::error::ParseError;
use crate::message::Text;
use crate::spec::{SignatureSpec, Slot};
use crate::text::scan::{self, Lines, trim};

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

    pub(crate) fn lines(&self) -> Lines {
        match self.dialect {
            Dialect::Plain => Lines::Plain,
            Dialect::Dspy => Lines::Python,
        }
    }
}

typed_methods!(Chat);

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

    fn system_for(&self, spec: &SignatureSpec, options: &FormatOptions) -> Text {
        let Some(guidance) = options.guidance.as_deref() else { return self.system(spec) };
        match guidance.submit_tool() {
            Some(submit) if guidance.is_plain_loop() => {
                plain_loop::submit_loop(spec, guidance, submit, &options.agent_line, self.dialect).into()
            }
            _ if guidance.is_native_text_loop() => {
                plain_loop::text_loop(self, spec, guidance, &options.agent_line).into()
            }
            _ => messages::guided_system(self, spec, guidance, options),
        }
    }

    fn has_plain_turns(&self, options: &FormatOptions) -> bool {
        let guidance = options.guidance.as_deref();
        guidance.is_some_and(|guidance| guidance.is_plain_loop() || guidance.is_native_text_loop())
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

    fn syntax(&self) -> Syntax {
        Syntax::Markers
    }

    fn incremental(&self, spec: &SignatureSpec) -> Option<Box<dyn Incremental>> {
        Some(Box::new(incremental::chat::Scanner::new(self.clone(), spec)))
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
            let Some(at) = spec.outputs.iter().position(|field| field.is_called(marker.name)) else {
                continue;
            };
            // The first section of a name wins, even an empty one.
            if !sections[at].is_given(self.dialect) {
                let (text, start) = scan::section(reply, marker.end, to, self.lines());
                sections[at] = Section::text(text, start);
            }
        }
        Ok(sections)
    }
}

/// Whether a reply without markers is the text field's text: it is not blank, and nothing in it looks like
/// another format's way to give an output (Imp §8.2).
pub(crate) fn is_prose(spec: &SignatureSpec, reply: &str) -> bool {
    let names = spec.outputs.iter().map(|field| field.name.as_str());
    !trim(reply).is_empty() && !scan::has_tag(reply, &names) && !scan::has_key(reply, &names)
}

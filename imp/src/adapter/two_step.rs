//! The prompt of the first of two steps: an answer in the model's own words (Imp §12.2).

use crate::adapter::assembly::Sections;
use crate::adapter::field_list::field_list;
use crate::adapter::messages::Shown;
use crate::adapter::options::{FormatOptions, Missing};
use crate::adapter::record::{Record, Section};
use crate::adapter::typed::typed_methods;
use crate::adapter::{Adapter, assembly, messages};
use crate::dialect::Dialect;
use crate::error::{FormatError, ParseError, ParseErrorKind};
use crate::message::{Content, Message, Text};
use crate::spec::{FieldSpec, SignatureSpec, Slot};
use crate::text::write::Presence;

/// The adapter that asks for an answer in the model's own words.
///
/// It formats only: its replies are free text, which a second model reads. [`TwoStep`](crate::TwoStep) is the
/// program that does both; the adapter alone is for looking at the messages, or for sending them oneself
/// (DSPy's `TwoStepAdapter`).
///
/// ```
/// use imp::{Signature, TwoStepPrompt};
///
/// /// Answer in one word.
/// #[derive(Signature)]
/// #[signature(output = Answer)]
/// struct Question {
///     question: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
/// }
///
/// let messages = TwoStepPrompt::new().format(&Question { question: "The capital of France?".into() })?;
/// assert_eq!(
///     messages[0].text(),
///     "You are a helpful assistant that can solve tasks based on user input.\n\
///      As input, you will be provided with:\n\
///      1. `question` (string):\n\
///      Your outputs must contain:\n\
///      1. `answer` (string):\n\
///      You should lay out your outputs in detail so that your answer can be understood by another agent\n\
///      Specific instructions: Answer in one word.",
/// );
/// assert_eq!(messages[1].text(), "question: The capital of France?");
/// # Ok::<(), imp::FormatError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TwoStepPrompt {
    dialect: Dialect,
}

impl TwoStepPrompt {
    /// The adapter in the plain dialect.
    pub fn new() -> Self {
        TwoStepPrompt::default()
    }

    /// The same with the types' words of another dialect.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}

typed_methods!(TwoStepPrompt);

impl Adapter for TwoStepPrompt {
    fn name(&self) -> &'static str {
        "two_step"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// There are no markers.
    fn escapes_markers(&self) -> bool {
        false
    }

    fn strips_messages(&self) -> bool {
        true
    }

    fn field_description(&self, spec: &SignatureSpec) -> String {
        format!(
            "As input, you will be provided with:\n{}\nYour outputs must contain:\n{}",
            field_list(&spec.inputs, self.dialect, true),
            field_list(&spec.outputs, self.dialect, true)
        )
    }

    fn field_structure(&self, _: &SignatureSpec) -> String {
        "You should lay out your outputs in detail so that your answer can be understood by another agent"
            .into()
    }

    /// The instructions as they are; nothing if they are empty.
    fn task_description(&self, spec: &SignatureSpec) -> String {
        let instructions = spec.instructions();
        if instructions.is_empty() {
            return String::new();
        }
        format!("Specific instructions: {instructions}")
    }

    fn system(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::TwoStepSystemPlain,
            Dialect::Dspy => Slot::TwoStepSystemDspy,
        };
        let render = || {
            let mut out = format!(
                "You are a helpful assistant that can solve tasks based on user input.\n{}\n{}",
                self.field_description(spec),
                self.field_structure(spec)
            );
            let task = self.task_description(spec);
            if !task.is_empty() {
                out.push('\n');
                out.push_str(&task);
            }
            out
        };
        spec.rendered.get(slot, render).into()
    }

    /// A block `name: value`.
    fn section(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        assembly::labelled(self, field, record, index, out)
    }

    fn user_content(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        prefix: &str,
        suffix: &str,
    ) -> Result<Content, FormatError> {
        assembly::sections(self, spec, inputs, Sections::labelled("\n\n"), prefix, suffix)
    }

    /// Outputs without a value are skipped, in incomplete demos too.
    fn assistant_content(
        &self,
        spec: &SignatureSpec,
        outputs: &dyn Record,
        _: Missing<'_>,
    ) -> Result<String, FormatError> {
        let mut out = String::with_capacity(256);
        for (index, field) in spec.outputs.iter().enumerate() {
            let start = out.len();
            if start > 0 {
                out.push_str("\n\n");
            }
            if self.section(field, outputs, index, &mut out)? == Presence::Absent {
                out.truncate(start);
            }
        }
        assembly::trim_in_place(&mut out);
        Ok(out)
    }

    /// Nothing: the system message has said it.
    fn output_requirements(&self, _: &SignatureSpec) -> Text {
        "".into()
    }

    fn request(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Option<Message>, FormatError> {
        messages::check_inputs(self, spec, inputs)?;
        let shown = Shown::of(spec, inputs);
        let content = assembly::rendered_user_content(self, shown.spec, &shown, ("", ""), options)?;
        Ok(Some(messages::asked(content, spec, inputs, options)))
    }

    fn sections<'r>(&self, _: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        Err(ParseError::new(
            ParseErrorKind::Other,
            self.name(),
            reply,
            "an answer in free text is read by a second model: use the program `TwoStep`, which has one",
        ))
    }
}

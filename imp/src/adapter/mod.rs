//! Adapters: a signature and its values become messages, a reply becomes values.
//!
//! Pure: no I/O, no clock, no randomness.

pub(crate) mod assembly;
pub(crate) mod beside;
pub(crate) mod chat;
pub(crate) mod complete;
pub(crate) mod demo;
pub(crate) mod exchange;
pub(crate) mod field_list;
pub(crate) mod guidance;
pub(crate) mod history;
pub(crate) mod incremental;
pub(crate) mod instructions;
pub(crate) mod json;
pub(crate) mod left_out;
pub(crate) mod messages;
pub(crate) mod options;
pub(crate) mod partial;
pub(crate) mod plain_loop;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod renderer;
pub(crate) mod salvage;
pub(crate) mod schema_text;
pub(crate) mod single_field;
pub(crate) mod step;
pub(crate) mod stream_reader;
pub(crate) mod turn;
pub(crate) mod two_step;
pub(crate) mod typed;
pub(crate) mod words;
pub(crate) mod xml;

use std::fmt;
use std::sync::Arc;

use crate::dialect::Dialect;
use crate::error::{FieldFailure, FormatError, ParseError};
use crate::message::{Content, Message, Text};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::Presence;

use incremental::Incremental;
use options::{FormatOptions, Missing, OutputForm};
use read::Syntax;
use record::{Record, Section};

/// A format of prompts and replies.
///
/// [`Chat`](crate::Chat) is the one to use; implement this for a format of your own. Only
/// [`name`](Adapter::name) and [`sections`](Adapter::sections) must be written: every part of a
/// prompt has a default, which is the Chat adapter's, so that an adapter changes what it wants to
/// change and shares the rest of the assembly.
///
/// The parts are those of DSPy's `Adapter` (`format_field_description`, `format_field_structure`,
/// `format_task_description`, `format_user_message_content`, `format_assistant_message_content`,
/// `user_message_output_requirements`, `parse`).
pub trait Adapter: fmt::Debug + Send + Sync {
    /// A short name for errors and traces: `chat`.
    fn name(&self) -> &'static str;

    /// The wording of the prompts. The default is [`Dialect::Plain`].
    fn dialect(&self) -> Dialect {
        Dialect::Plain
    }

    /// Whether lines in text values that could be taken for a marker are escaped, and read back.
    /// The default is yes in the plain dialect and no in DSPy's, whose prompts have no escapes.
    fn escapes_markers(&self) -> bool {
        self.dialect() == Dialect::Plain
    }

    /// Whether white space around a user message is cut off. The default is no in the plain dialect and yes
    /// in DSPy's.
    fn strips_messages(&self) -> bool {
        self.dialect() == Dialect::Dspy
    }

    /// The lists of the input and output fields with their types and descriptions.
    fn field_description(&self, spec: &SignatureSpec) -> String {
        assembly::field_description(spec, self.dialect())
    }

    /// How messages are structured: a template with a placeholder for each field.
    fn field_structure(&self, spec: &SignatureSpec) -> String {
        assembly::field_structure(spec, self.dialect())
    }

    /// The sentence with the signature's instructions.
    fn task_description(&self, spec: &SignatureSpec) -> String {
        assembly::task_description(spec, self.dialect())
    }

    /// The system message: description, structure and task, a line each.
    fn system(&self, spec: &SignatureSpec) -> Text {
        assembly::system(self, spec).into()
    }

    /// The system message of a request with options: with the guidance of a tool loop, if there is one. By
    /// default the guidance stands behind the instructions, as in DSPy.
    fn system_for(&self, spec: &SignatureSpec, options: &FormatOptions) -> Text {
        match options.guidance.as_deref() {
            None => self.system(spec),
            Some(guidance) => messages::guided_system(self, spec, guidance, options),
        }
    }

    /// Whether the assistant's messages of demos and stored turns are plain text, because the model's replies
    /// are: in a tool loop that needs no sections. The default is no.
    fn has_plain_turns(&self, options: &FormatOptions) -> bool {
        let _ = options;
        false
    }

    /// Writes the value of one field, the text of its section, and says whether there is one. An adapter
    /// whose [`section`](Adapter::section) has another frame writes the frame and calls this.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn value(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        assembly::value(self, field, record, index, out)
    }

    /// Writes the section of one field: its marker, and its value on the next line. Nothing is written
    /// for a field without a value.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn section(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        assembly::section(self, field, record, index, out)
    }

    /// The content of a user message: `prefix`, the sections of the inputs, `suffix`; each may be empty.
    /// An image, an audio or a file makes it a list of parts.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn user_content(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        prefix: &str,
        suffix: &str,
    ) -> Result<Content, FormatError> {
        assembly::user_content(self, spec, inputs, prefix, suffix)
    }

    /// The content of an assistant message: the sections of the outputs and the end marker.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn assistant_content(
        &self,
        spec: &SignatureSpec,
        outputs: &dyn Record,
        missing: Missing<'_>,
    ) -> Result<String, FormatError> {
        assembly::assistant_content(self, spec, outputs, missing)
    }

    /// The sentence at the end of a request that says how to answer; empty for none.
    fn output_requirements(&self, spec: &SignatureSpec) -> Text {
        assembly::output_requirements(spec, self.dialect()).into()
    }

    /// The messages that stand before every request: the system message and the demos. A program asks
    /// for them once.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` of a demo refuses.
    fn prefix(&self, spec: &SignatureSpec, options: &FormatOptions) -> Result<Vec<Message>, FormatError> {
        messages::prefix(self, spec, options)
    }

    /// The messages of the conversation so far: the turns of every input that is a [`History`](crate::History).
    /// They stand between the prefix and the request.
    ///
    /// # Errors
    ///
    /// An input that should hold a history holds something else.
    fn history(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Vec<Message>, FormatError> {
        history::messages(self, spec, inputs, options)
    }

    /// The user message with the inputs; `None` if it is blank and the options leave blank ones out.
    ///
    /// # Errors
    ///
    /// A required input has no value, or a value's own `Serialize` refuses.
    fn request(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Option<Message>, FormatError> {
        messages::request(self, spec, inputs, options)
    }

    /// All messages of a request: the prefix, the conversation so far, and the inputs.
    ///
    /// # Errors
    ///
    /// As for [`prefix`](Adapter::prefix), [`history`](Adapter::history) and [`request`](Adapter::request).
    fn messages(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Vec<Message>, FormatError> {
        let mut messages = self.prefix(spec, options)?;
        messages.extend(self.history(spec, inputs, options)?);
        messages.extend(self.request(spec, inputs, options)?);
        Ok(messages)
    }

    /// The messages of a training example: the request and the assistant's answer to it (DSPy's
    /// `format_finetune_data`).
    ///
    /// # Errors
    ///
    /// As for [`messages`](Adapter::messages); an output without a value.
    fn finetune_messages(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        outputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Vec<Message>, FormatError> {
        messages::finetune(self, spec, inputs, outputs, options)
    }

    /// How a reply marks its outputs, for a lenient reading of one that is not exactly of the format. The
    /// default is [`Syntax::Other`]: such a reply is never salvaged.
    fn syntax(&self) -> Syntax {
        Syntax::Other
    }

    /// The form that the provider is asked to hold the reply to. The default is [`OutputForm::Text`].
    fn output_form(&self, spec: &SignatureSpec) -> OutputForm {
        let _ = spec;
        OutputForm::Text
    }

    /// The adapter to ask once more with if a reply cannot be read; none by default.
    fn fallback(&self) -> Option<Arc<dyn Adapter>> {
        None
    }

    /// The message of an error about outputs that are there and wrong; there is at least one. The default is
    /// a line for each.
    fn failure_message(&self, failures: &[FieldFailure]) -> String {
        complete::failure_message(failures)
    }

    /// A reading of a reply that is still being written; `None`, which is the default, if nothing can be said of one
    /// before it ends.
    fn incremental(&self, spec: &SignatureSpec) -> Option<Box<dyn Incremental>> {
        let _ = spec;
        None
    }

    /// Cuts a reply into one section for each output, in the order of the signature. An output that the
    /// reply does not give has an empty [`Section`]; a reply without any is no error here.
    ///
    /// # Errors
    ///
    /// The reply is not of the adapter's format at all.
    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError>;
}

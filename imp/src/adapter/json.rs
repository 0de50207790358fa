//! The JSON adapter: sections in, one JSON object out (DSPy's JSONAdapter, Imp §9).

use std::fmt::Write as _;

use crate::adapter::complete::{NO_OBJECT, broken};
use crate::adapter::field_list::field_list;
use crate::adapter::messages::Shown;
use crate::adapter::options::{FormatOptions, Missing, OutputForm};
use crate::adapter::read::Syntax;
use crate::adapter::record::{Answer, Record, Section};
use crate::adapter::schema_text::strict_schema;
use crate::adapter::typed::typed_methods;
use crate::adapter::{Adapter, assembly, messages};
use crate::dialect::Dialect;
use crate::error::{FormatError, ParseError, ParseErrorKind};
use crate::message::{Content, Message, Part, Text};
use crate::spec::{SignatureSpec, Slot};
use crate::text::json::push_string;
use crate::text::read::{self, Entry, ReadOptions};
use crate::text::scan::trim;
use crate::text::write::{FieldWriter, Form, Presence};

/// The adapter that asks for the outputs as one JSON object.
///
/// Inputs keep the Chat adapter's sections. It is what a program falls back to when a reply in sections
/// cannot be read, and the one to start with for a model that is held to a schema.
#[derive(Debug, Clone, Default)]
pub struct Json {
    dialect: Dialect,
}

impl Json {
    /// The adapter in the plain dialect.
    pub fn new() -> Self {
        Json::default()
    }

    /// The same in another dialect.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}

typed_methods!(Json);

impl Adapter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Both dialects strip (Imp since 0.6).
    fn strips_messages(&self) -> bool {
        true
    }

    fn field_description(&self, spec: &SignatureSpec) -> String {
        // Without the answer shapes' sentences (Imp §4).
        format!(
            "Your input fields are:\n{}\nYour output fields are:\n{}",
            field_list(&spec.inputs, self.dialect, false),
            field_list(&spec.outputs, self.dialect, false)
        )
    }

    fn field_structure(&self, spec: &SignatureSpec) -> String {
        let mut out = String::from(
            "All interactions will be structured in the following way, with the appropriate values filled \
             in.\n\nInputs will have the following structure:\n\n",
        );
        for field in &spec.inputs {
            let _ = write!(out, "[[ ## {0} ## ]]\n{{{0}}}\n\n", field.name);
        }
        out.push_str("Outputs will be a JSON object with the following fields.\n\n");
        object(&mut out, |out, entry| {
            for field in &spec.outputs {
                entry(out, &field.name);
                push_string(out, &assembly::placeholder(field, self.dialect));
            }
        });
        trim(&out).to_owned()
    }

    fn system(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::JsonSystemPlain,
            Dialect::Dspy => Slot::JsonSystemDspy,
        };
        let render = || {
            // Not trimmed at the end, in either dialect.
            let (fields, structure) = (self.field_description(spec), self.field_structure(spec));
            format!("{fields}\n{structure}\n{}", self.task_description(spec))
        };
        spec.rendered.get(slot, render).into()
    }

    fn assistant_content(
        &self,
        spec: &SignatureSpec,
        outputs: &dyn Record,
        missing: Missing<'_>,
    ) -> Result<String, FormatError> {
        let outputs = Answer(outputs);
        let mut out = String::with_capacity(256);
        let mut result = Ok(());
        object(&mut out, |out, entry| {
            for (index, field) in spec.outputs.iter().enumerate() {
                let start = out.len();
                entry(out, &field.name);
                let mut writer = FieldWriter::new(out, Form::Json, self.dialect, &field.tree, false);
                if let Err(error) = outputs.write(index, field, &mut writer) {
                    result = Err(FormatError::Value { field: field.name.clone(), error });
                    return;
                }
                match (writer.presence(), missing) {
                    (Presence::Absent, Missing::Say(text)) => push_string(out, text),
                    (Presence::Absent, Missing::LeaveOut) => out.truncate(start),
                    _ => {}
                }
            }
        });
        result.map(|()| out)
    }

    fn output_requirements(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::JsonRequirementsPlain,
            Dialect::Dspy => Slot::JsonRequirementsDspy,
        };
        let render = || {
            // All that is wanted are tool calls, which the provider asks for in its own way.
            if spec.outputs.is_empty() && self.dialect == Dialect::Plain {
                return String::new();
            }
            let mut out = String::from("Respond with a JSON object in the following order of fields: ");
            assembly::push_fields(&mut out, spec, self.dialect, |out, name| {
                let _ = write!(out, "`{name}`");
            });
            out.push('.');
            out
        };
        spec.rendered.get(slot, render).into()
    }

    /// The sentence stands at the end of every request: the options that leave it out are the Chat
    /// adapter's (Imp §9.1).
    fn request(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Option<Message>, FormatError> {
        messages::check_inputs(self, spec, inputs)?;
        let shown = Shown::of(spec, inputs);
        let requirements = self.output_requirements(shown.spec);
        let content =
            |suffix| assembly::rendered_user_content(self, shown.spec, &shown, ("", suffix), options);
        if requirements.is_empty() || !spec.inputs.iter().any(|field| field.tree.parts) {
            return Ok(Some(messages::asked(content(&requirements)?, spec, inputs, options)));
        }
        // Beside parts the sentence is one of its own (Imp §9.1).
        let content = match content("")? {
            Content::Parts(mut parts) => {
                parts.push(Part::Text(format!("\n\n{requirements}").into()));
                Content::Parts(parts)
            }
            Content::Text(text) if text.is_empty() => requirements.into(),
            Content::Text(text) => format!("{text}\n\n{requirements}").into(),
        };
        Ok(Some(messages::asked(content, spec, inputs, options)))
    }

    fn output_form(&self, spec: &SignatureSpec) -> OutputForm {
        let title = match self.dialect {
            Dialect::Plain => "Outputs",
            Dialect::Dspy => "DSPyProgramOutputs",
        };
        let schema = strict_schema(title, &spec.outputs, self.dialect);
        match schema.map(serde_json::to_value) {
            Some(Ok(schema)) => OutputForm::Schema(schema),
            _ => OutputForm::Object,
        }
    }

    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        // What JSON holds is never escaped, whatever the dialect: no line of it can be a marker.
        let options = ReadOptions { dialect: self.dialect, unescape: false };
        let place = |key: &str| spec.outputs.iter().position(|field| field.is_called(key));
        let cut = |entries: Vec<Entry<'r>>| {
            let mut sections = vec![Section::default(); spec.outputs.len()];
            for entry in entries {
                // Of two equal keys the last counts, as everywhere in JSON.
                if let Some(at) = place(&entry.key) {
                    sections[at] =
                        Section { source: Some(entry.value), start: entry.span.start, made_from: None };
                }
            }
            sections
        };
        match read::entries(reply, options) {
            Ok(entries) => Ok(cut(entries)),
            Err(object) if !object.begins => {
                let error = ParseError::new(ParseErrorKind::Malformed, self.name(), reply, NO_OBJECT);
                Err(error.with_syntax(object.error))
            }
            Err(object) => {
                let mut sections = cut(object.entries);
                let open = object.cut.and_then(|(key, error)| Some((place(&key)?, error)));
                if let Some((at, _)) = open {
                    sections[at] = Section::default();
                }
                Err(broken(self, spec, reply, &sections, open).with_syntax(object.error))
            }
        }
    }

    fn escapes_markers(&self) -> bool {
        // In the inputs, which keep the Chat adapter's sections; the outputs are JSON.
        self.dialect == Dialect::Plain
    }
}

/// Writes a JSON object with two blanks of indentation. `write` gets a function that starts an entry with
/// its key; an entry that is taken off again leaves no trace.
fn object(out: &mut String, write: impl FnOnce(&mut String, &dyn Fn(&mut String, &str))) {
    out.push('{');
    let start = out.len();
    let entry = |out: &mut String, key: &str| {
        out.push_str(if out.len() == start { "\n  " } else { ",\n  " });
        push_string(out, key);
        out.push_str(": ");
    };
    write(out, &entry);
    out.push_str(if out.len() == start { "}" } else { "\n}" });
}

//! Native tool calls: the fields that are taken out of a prompt when the model calls tools itself, and filled from
//! its reply (Imp §13.3).

use std::collections::HashSet;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::adapter::beside::Beside;
use crate::adapter::complete::complete;
use crate::adapter::demo::Demo;
use crate::adapter::options::FormatOptions;
use crate::adapter::read::{HowRead, RawReply, Read, read_beside};
use crate::adapter::record::{FieldReader, Outputs, Record};
use crate::adapter::typed::fields_as_sections;
use crate::error::{FormatError, ParseError, ParseErrorKind, WriteError};
use crate::fields::Fields;
use crate::lm::Choice;
use crate::message::ToolCall;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::read::ReadOptions;
use crate::text::scan::trim;
use crate::text::think;
use crate::text::write::{FieldWriter, Presence};
use crate::tool_calls;
use crate::tool_definition::ToolDefinition;
use crate::value::Value;

/// A signature with tools as an input and tool calls as an output, as a model sees it that calls tools itself:
/// without both.
#[derive(Debug)]
pub(super) struct Native {
    /// What is formatted.
    pub(super) spec: SignatureSpec,
    /// The same options, with demos of what is formatted.
    pub(super) options: FormatOptions,
    /// The inputs that are formatted, by their places in the whole signature.
    inputs: Arc<[usize]>,
    /// The input that holds the tools.
    tools: usize,
    /// The output that the calls fill.
    calls: usize,
}

impl Native {
    /// `None` if the signature has not both fields.
    pub(super) fn new(spec: &SignatureSpec, options: &FormatOptions) -> Option<Native> {
        let tools = spec.inputs.iter().position(|field| field.tree.is_tools())?;
        let calls = spec.outputs.iter().position(|field| field.tree.is_tool_calls())?;
        // The default sentence names all fields, as it does in DSPy.
        let mut formatted = spec.clone().with_instructions(spec.instructions());
        formatted.inputs.remove(tools);
        formatted.outputs.remove(calls);
        formatted.text_field = match spec.text_field {
            Some(at) if at == calls => None,
            at => at.map(|at| at - usize::from(at > calls)),
        };
        let kept = |count: usize, gone: usize| (0..count).filter(|at| *at != gone).collect::<Arc<[usize]>>();
        let inputs = kept(spec.inputs.len(), tools);
        let outputs = kept(spec.outputs.len(), calls);
        let mut options = options.clone();
        // There is no output left to say anything about.
        options.response_instruction &= !formatted.outputs.is_empty();
        for demo in &mut options.demos {
            *demo = Demo {
                inputs: Arc::new(Kept { record: demo.inputs.clone(), places: inputs.clone() }),
                outputs: Arc::new(Kept { record: demo.outputs.clone(), places: outputs.clone() }),
                fields: demo.fields.clone(),
            };
        }
        Some(Native { spec: formatted, options, inputs, tools, calls })
    }

    /// The places of the outputs that are formatted in the whole signature.
    pub(super) fn places(&self, whole: &SignatureSpec) -> Vec<usize> {
        (0..whole.outputs.len()).filter(|at| *at != self.calls).collect()
    }

    /// The inputs that are formatted.
    pub(super) fn inputs<'r>(&self, inputs: &'r dyn Record) -> impl Record + use<'r> {
        Kept { record: inputs, places: self.inputs.clone() }
    }

    /// The tools of a call: the value of the input that is not formatted.
    pub(super) fn tools(
        &self,
        whole: &SignatureSpec,
        inputs: &dyn Record,
    ) -> Result<Vec<ToolDefinition>, FormatError> {
        let Some(field) = whole.inputs.get(self.tools) else { return Ok(Vec::new()) };
        let (mut text, mut value) = (String::new(), None);
        let mut writer = FieldWriter::capturing(&mut text, &field.tree, &mut value);
        let wrong = |error| FormatError::Value { field: field.name.clone(), error };
        inputs.write(self.tools, field, &mut writer).map_err(wrong)?;
        if writer.presence() == Presence::Absent && !field.is_optional() && field.default.is_none() {
            return Err(FormatError::MissingInputs(vec![field.name.clone()]));
        }
        let tools = match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::List(tools)) => tools,
            Some(tool) => vec![tool],
        };
        let mut names = HashSet::new();
        let mut definitions = Vec::with_capacity(tools.len());
        for tool in tools {
            let definition = serde_json::to_value(&tool)
                .and_then(serde_json::from_value::<ToolDefinition>)
                .map_err(|error| wrong(WriteError::new(error.to_string())))?;
            if !names.insert(definition.name().to_owned()) {
                let message = format!("two tools are called `{}`: rename one", definition.name());
                return Err(wrong(WriteError::new(message)));
            }
            definitions.push(definition);
        }
        Ok(definitions)
    }

    /// Reads a completion: its text by the adapter, its calls as they are. Calls count even beside a text that cannot
    /// be read (§8.1): it is then the signature's text, if that has one.
    ///
    /// `spec` is what the text was asked for, and `beside` what else stands in the completion.
    pub(super) fn read<O: Outputs>(
        &self,
        adapter: &dyn Adapter,
        whole: &SignatureSpec,
        spec: &SignatureSpec,
        choice: &Choice,
        reply: RawReply<'_>,
        beside: Option<Beside<'_>>,
    ) -> Result<(O, HowRead, Option<String>), ParseError> {
        let text = choice.text.as_deref().unwrap_or_default();
        let read = if self.spec.outputs.is_empty() {
            Ok((Fields::new(), HowRead::Exact, None))
        } else {
            read_beside::<Fields, _>(adapter, spec, reply, beside.clone()).map(Read::into_parts)
        };
        let (fields, how, reasoning) = match read {
            Ok(read) => read,
            Err(error) if choice.tool_calls.is_empty() || error.kind() == ParseErrorKind::CutOff => {
                return Err(error);
            }
            Err(_) => {
                let (from, reasoning) = think::take(text, &[], &|_| None);
                let mut fields = self.said(trim(text.get(from..).unwrap_or_default()));
                if let Some(mut beside) = beside {
                    beside.think(reasoning.as_deref());
                    for (name, value) in beside.values() {
                        fields.insert(name, value);
                    }
                }
                (fields, HowRead::Trimmed, reasoning)
            }
        };
        let outputs = self.filled(adapter, whole, text, fields, &choice.tool_calls)?;
        Ok((outputs, how, reasoning))
    }

    /// A text beside calls as the one output that is a text.
    fn said(&self, prose: &str) -> Fields {
        let is_text = |field: &&Arc<FieldSpec>| field.tree.is_text() && field.checks.is_none();
        let field = match (self.spec.text_field, self.spec.outputs.as_slice()) {
            (Some(at), outputs) => outputs.get(at),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        match field.filter(is_text) {
            Some(field) if !prose.is_empty() => Fields::from([(field.name.clone(), prose)]),
            _ => Fields::new(),
        }
    }

    /// The outputs, from the values that are known and the calls.
    fn filled<O: Outputs>(
        &self,
        adapter: &dyn Adapter,
        whole: &SignatureSpec,
        text: &str,
        mut fields: Fields,
        calls: &[ToolCall],
    ) -> Result<O, ParseError> {
        if let Some(field) = whole.outputs.get(self.calls) {
            fields.insert(field.name.clone(), tool_calls::data(calls));
        }
        let sections = fields_as_sections(whole, &fields);
        // What was escaped in the text is read already.
        let options = ReadOptions { dialect: adapter.dialect(), unescape: false };
        let mut reader = FieldReader::new(whole, &sections, options);
        match O::read(&mut reader) {
            Some(outputs) => Ok(outputs),
            None => complete(adapter, whole, text, &sections),
        }
    }
}

/// A record of which only some fields are there, at other places.
struct Kept<R> {
    record: R,
    places: Arc<[usize]>,
}

impl<R: AsRecord> Record for Kept<R> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        match self.places.get(index) {
            Some(place) => self.record.as_record().write(*place, field, out),
            None => Ok(()),
        }
    }

    fn is_complete(&self) -> bool {
        self.record.as_record().is_complete()
    }

    fn user_name(&self) -> Option<&str> {
        self.record.as_record().user_name()
    }
}

/// A record that is borrowed for a call, or shared by the demos.
trait AsRecord {
    fn as_record(&self) -> &dyn Record;
}

impl AsRecord for &dyn Record {
    fn as_record(&self) -> &dyn Record {
        *self
    }
}

impl AsRecord for Arc<dyn Record + Send + Sync> {
    fn as_record(&self) -> &dyn Record {
        &**self
    }
}

//! The step of a loop as a signature, its roster of tools, and what its prompts say (Imp §§14.1–14.3).

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::adapter::Adapter;
use crate::adapter::guidance::Guidance;
use crate::adapter::options::FormatOptions;
use crate::dialect::Dialect;
use crate::error::SpecError;
use crate::history::{CALLS, THOUGHT};
use crate::program::chain_of_thought::with_reasoning;
use crate::program::formatter::Formatter;
use crate::spec::{Constraint, FieldSpec, SignatureSpec};
use crate::tool::{Tool, ToolSet, tidy};
use crate::tool_definition::ToolDefinition;
use crate::value::Value;

use super::Core;

/// The tool that ends a loop with the outputs.
pub(super) const SUBMIT: &str = "submit";
const TOOLS: &str = "tools";

const CALLS_DESCRIPTION: &str = "The tools to call, as a JSON list in which each call has `name` and \
     `arguments`. Example: [{\"name\": \"search\", \"arguments\": {\"query\": \"cats\"}}]";

/// What the extraction is told, behind the task's instructions; the line breaks belong to it.
const EXTRACTION: &str = "\
Produce the final outputs only from the original inputs and successful tool
results recorded in `history`. A proposed tool call, model reasoning, a
malformed call, or an error result is not evidence that an action happened.
Never claim that an action or verification succeeded unless `history`
contains its successful result. If the requested outcome is not established,
report that limitation honestly in the declared output fields. No tools are
available during this extraction step.";

/// How a loop ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// With a step that calls nothing: its text is the one output.
    Text,
    /// With a call of `submit`.
    Submit,
    /// With a call of a tool of the caller's.
    Tools,
}

/// What is made once of a loop and its model.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) ends: Ends,
    /// The step as a signature.
    pub(super) step: SignatureSpec,
    /// The input that holds the conversation.
    pub(super) history: String,
    /// The output of the text.
    pub(super) text: String,
    /// The output in which calls are written, if the model cannot call tools.
    pub(super) written: Option<String>,
    pub(super) options: FormatOptions,
    pub(super) main: Formatter,
    pub(super) fallback: Option<Formatter>,
    pub(super) tools: ToolSet,
    /// What the model is offered, `submit` last.
    pub(super) roster: Vec<ToolDefinition>,
    /// The same in words, as the value of the input `tools`.
    pub(super) listing: Value,
    /// The input that a note stands in.
    pub(super) first_input: Option<String>,
    pub(super) extraction: Extraction,
}

/// The request that takes the outputs from the history.
#[derive(Debug)]
pub(super) struct Extraction {
    pub(super) spec: SignatureSpec,
    pub(super) options: FormatOptions,
    pub(super) main: Formatter,
    pub(super) fallback: Option<Formatter>,
}

/// Whether a task's answer is one text without any bound.
fn is_one_text(task: &SignatureSpec) -> bool {
    let [only] = task.outputs.as_slice() else { return false };
    let ty = only.tree.present(&only.tree.root);
    only.tree.is_text()
        && only.constraints.is_empty()
        && only.checks.is_none()
        && only.answer_shape.is_none()
        && ty.checks.is_none()
}

impl Plan {
    pub(super) fn new(core: &Core) -> Result<Plan, SpecError> {
        let task = core.task.as_ref().map_err(Clone::clone)?;
        let fault = |message: String| SpecError::new(message);
        let tools = ToolSet::new(core.tools.iter().cloned()).map_err(|error| fault(error.to_string()))?;
        check(core, task, &tools)?;
        let ends = if !core.finish_tools.is_empty() {
            Ends::Tools
        } else if is_one_text(task) {
            Ends::Text
        } else {
            Ends::Submit
        };
        let mut roster = tools.definitions();
        if ends == Ends::Submit {
            roster.push(submit(task)?);
        }

        let native = core.lm.capabilities().tools;
        let visible = || task.inputs.iter().filter(|field| !field.is_history());
        let mut inputs: Vec<Arc<FieldSpec>> = visible().cloned().collect();
        let free = |name: &str| !task.declares(name);
        let history = if visible().any(|field| field.name == "history") || !is_free_output(task, "history") {
            "conversation"
        } else {
            "history"
        };
        let history_field = Arc::new(FieldSpec::new(history, crate::history::schema(), Vec::new(), None)?);
        inputs.push(history_field.clone());

        let mut outputs = Vec::new();
        let text = match (ends, task.outputs.as_slice()) {
            (Ends::Text, [only]) => FieldSpec { default: Some(Value::Null), ..FieldSpec::clone(only) },
            _ => optional(FieldSpec::new(THOUGHT, json!({ "type": "string" }), Vec::new(), None)?),
        };
        let text_name = text.name.clone();
        outputs.push(Arc::new(text));
        let mut written = None;
        if !native {
            let name = if free(CALLS) { CALLS } else { "agent_tool_calls" };
            let mut calls = FieldSpec::new(name, json!({ "type": "array" }), Vec::new(), None)?;
            calls.description = Some(CALLS_DESCRIPTION.to_owned());
            calls.default = Some(Value::List(Vec::new()));
            outputs.push(Arc::new(calls));
            written = Some(name.to_owned());
            let listed = json!({ "type": "array", "items": { "type": "string" } });
            inputs.push(Arc::new(FieldSpec::new(TOOLS, listed, Vec::new(), None)?));
        }
        let step = SignatureSpec::build(
            task.name.clone(),
            Some(task.instructions().into_owned()),
            inputs,
            outputs,
            Some(0),
            task.dialect,
        )?;

        let mut guidance = Guidance::of(task).layout(core.layout);
        guidance = guidance.tools(roster.iter().map(|tool| tool.name().to_owned()));
        match ends {
            Ends::Text => {}
            Ends::Submit => guidance = guidance.submit(SUBMIT),
            Ends::Tools => guidance = guidance.finish_tools(core.finish_tools.iter().cloned()),
        }
        if let Some(written) = &written {
            guidance = guidance.written_calls(written.clone());
        }
        let options = core
            .options
            .clone()
            .guidance(guidance)
            .response_instruction(false)
            .omit_empty_request(true)
            .history_reminder(false);
        let (main, fallback) = core.formatters();
        let listing = roster.iter().map(|tool| Value::from(tool.listing())).collect::<Vec<_>>();
        Ok(Plan {
            ends,
            step,
            history: history.to_owned(),
            text: text_name,
            written,
            options,
            main,
            fallback,
            tools,
            roster,
            listing: Value::List(listing),
            first_input: visible().next().map(|field| field.name.clone()),
            extraction: Extraction::new(core, task, history_field, native)?,
        })
    }

    /// Whether a call of this tool may end the loop by the rule of the loop itself.
    pub(super) fn is_ending(&self, core: &Core, name: &str) -> bool {
        match self.ends {
            Ends::Text => false,
            Ends::Submit => name == SUBMIT,
            Ends::Tools => core.finish_tools.iter().any(|tool| tool == name),
        }
    }
}

fn is_free_output(task: &SignatureSpec, name: &str) -> bool {
    task.outputs.iter().all(|field| field.name != name)
}

fn optional(field: FieldSpec) -> FieldSpec {
    FieldSpec { default: Some(Value::Null), ..field }
}

/// The names that mean something in a loop.
fn check(core: &Core, task: &SignatureSpec, tools: &ToolSet) -> Result<(), SpecError> {
    let fault = |message: String| Err(SpecError::new(message));
    if tools.get(SUBMIT).is_some() {
        return fault("`submit` is the tool that ends a loop: rename the tool".to_owned());
    }
    if task.declares(TOOLS) {
        return fault("`tools` is the step's list of tools: rename that field".to_owned());
    }
    for (name, _) in &core.finishers {
        if name == SUBMIT {
            return fault("`finish_on` names `submit`, which ends the loop already".to_owned());
        }
    }
    let named = core.finishers.iter().map(|(name, _)| ("finish_on", name));
    for (what, name) in named.chain(core.finish_tools.iter().map(|name| ("finish_tools", name))) {
        if tools.get(name).is_none() {
            let known: Vec<&str> = tools.iter().map(Tool::name).collect();
            return fault(format!(
                "`{what}` names no tool: `{name}`; {}",
                crate::nearest::remedy(name, &known)
            ));
        }
    }
    Ok(())
}

/// The tool whose parameters are the outputs, all of which are required (Imp §14.1).
fn submit(task: &SignatureSpec) -> Result<ToolDefinition, SpecError> {
    let mut properties = JsonMap::new();
    let mut defs = JsonMap::new();
    let mut required = Vec::new();
    for field in &task.outputs {
        let mut schema = match tidy(field.schema.clone()) {
            Json::Object(schema) => schema,
            _ => JsonMap::new(),
        };
        // A type that contains itself refers to the root.
        if let Some(Json::Object(own)) = schema.remove("$defs") {
            defs.extend(own);
        }
        for (constraint, bound) in &field.constraints {
            let key = match constraint {
                Constraint::Ge => "minimum",
                Constraint::Le => "maximum",
                Constraint::MinLength => "minLength",
                Constraint::MaxLength => "maxLength",
                Constraint::Pattern => "pattern",
                _ => continue,
            };
            if let Ok(bound) = serde_json::to_value(bound) {
                // Narrower than what the type itself says: `u8` ends at 255.
                schema.insert(key.to_owned(), bound);
            }
        }
        if let Some(description) = field.description().filter(|text| !text.trim().is_empty()) {
            schema.insert("description".to_owned(), description.into());
        }
        properties.insert(field.name.clone(), Json::Object(schema));
        required.push(Json::from(field.name.as_str()));
    }
    let mut parameters = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if let (Json::Object(map), false) = (&mut parameters, defs.is_empty()) {
        map.insert("$defs".to_owned(), Json::Object(defs));
    }
    ToolDefinition::new(SUBMIT, "Submit the final outputs for the task.", parameters)
        .map_err(|error| SpecError::new(error.to_string()))
}

impl Extraction {
    fn new(
        core: &Core,
        task: &SignatureSpec,
        history: Arc<FieldSpec>,
        native: bool,
    ) -> Result<Extraction, SpecError> {
        let instructions = format!("{}\n\n{EXTRACTION}", task.instructions());
        let mut spec = with_reasoning(task)?.with_instructions(instructions.trim());
        spec.inputs.retain(|field| !field.is_history());
        spec.inputs.push(history);
        let options = FormatOptions { demos: Vec::new(), guidance: None, ..core.options.clone() }
            .native_tool_calls(native);
        let (main, fallback) = core.formatters();
        Ok(Extraction { spec, options, main, fallback })
    }
}

impl Core {
    fn formatters(&self) -> (Formatter, Option<Formatter>) {
        let fallback = self.adapter.fallback().filter(|_| self.fallback).map(Formatter::new);
        (Formatter::new(self.adapter.clone()), fallback)
    }

    /// The dialect in which outputs are read.
    pub(super) fn dialect(&self) -> Dialect {
        self.adapter.dialect()
    }
}

/// The adapter that a signature starts with.
pub(super) fn default_adapter(task: Result<&Arc<SignatureSpec>, &SpecError>) -> Arc<dyn Adapter> {
    let dialect = task.ok().and_then(|spec| spec.dialect).unwrap_or_default();
    Arc::new(crate::adapter::chat::Chat::new().dialect(dialect))
}

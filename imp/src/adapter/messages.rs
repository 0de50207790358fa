//! The messages of a request: what stands before it, and what it is.

use std::collections::HashSet;
use std::marker::PhantomData;

use crate::adapter::Adapter;
use crate::adapter::assembly::{instructions, presence, rendered_user_content, supplied};
use crate::adapter::guidance::Guidance;
use crate::adapter::history;
use crate::adapter::options::{FormatOptions, Missing};
use crate::adapter::record::Record;
use crate::adapter::renderer::{Fault, OutputContext, SystemContext};
use crate::dialect::Dialect;
use crate::error::{FormatError, WriteError};
use crate::fields::Fields;
use crate::history::{Turn, USER_NAME};
use crate::message::{Content, Message, Text};
use crate::nearest::nearest;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::scan::trim;
use crate::text::write::{FieldWriter, Presence};

/// What an incomplete demo's user message starts with (DSPy).
pub(crate) const INCOMPLETE_DEMO: &str =
    "This is an example of the task, though some input or output fields are not supplied.";

/// What stands for a missing output of an incomplete demo (DSPy); the blank at the end is DSPy's.
pub(crate) const NOT_SUPPLIED: &str = "Not supplied for this particular example. ";

/// A record whose inputs are those of a signature without its histories.
pub(crate) struct Shown<'a> {
    /// The signature without its histories.
    pub(crate) spec: &'a SignatureSpec,
    record: &'a dyn Record,
    /// The place of each of its inputs in the record; the same if there is no history.
    places: Option<&'a [usize]>,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(spec: &'a SignatureSpec, record: &'a dyn Record) -> Self {
        match spec.visible() {
            None => Shown { spec, record, places: None },
            Some(visible) => Shown { spec: &visible.spec, record, places: Some(&visible.places) },
        }
    }
}

impl Record for Shown<'_> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        let place = self.places.and_then(|places| places.get(index)).copied().unwrap_or(index);
        self.record.write(place, field, out)
    }

    fn is_complete(&self) -> bool {
        self.record.is_complete()
    }

    fn user_name(&self) -> Option<&str> {
        self.record.user_name()
    }
}

/// The signature that the system message and the demos show: without histories, which DSPy lists.
fn described(spec: &SignatureSpec, dialect: Dialect) -> &SignatureSpec {
    match (dialect, spec.visible()) {
        (Dialect::Plain, Some(visible)) => &visible.spec,
        _ => spec,
    }
}

pub(crate) fn prefix<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    options: &FormatOptions,
) -> Result<Vec<Message>, FormatError> {
    let mut messages = Vec::with_capacity(2 + 2 * options.demos.len());
    messages.push(Message::system(rendered_system(adapter, spec, options)));
    demos(adapter, spec, options, &mut messages)?;
    Ok(messages)
}

/// The system message, which a renderer of the caller's may write.
pub(crate) fn rendered_system<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    options: &FormatOptions,
) -> Text {
    let described = described(spec, adapter.dialect());
    let default = || adapter.system_for(described, options);
    match &options.renderers.system {
        None => default(),
        Some(render) => render(&SystemContext {
            spec: Shown::of(spec, &Fields::new()).spec,
            guidance: options.guidance.as_deref(),
            default: &default,
            of: PhantomData,
        })
        .into(),
    }
}

/// The system message with what a tool loop says of itself: the lines stand behind the instructions, and the
/// sum is cleaned as one (Imp §§5, 7.4).
pub(crate) fn guided_system<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    guidance: &Guidance,
    options: &FormatOptions,
) -> Text {
    let lines = guidance.lines(&options.agent_line, adapter.dialect(), false);
    adapter.system(&guided(spec, adapter.dialect(), &lines))
}

/// The signature with lines behind its instructions.
pub(crate) fn guided(spec: &SignatureSpec, dialect: Dialect, lines: &str) -> SignatureSpec {
    let instructions = instructions(spec, dialect);
    spec.clone().with_instructions(trim(&format!("{instructions}\n{lines}")))
}

/// The assistant's message of a demo or of a stored turn, which a renderer of the caller's may write.
pub(crate) fn rendered_outputs<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    outputs: &dyn Record,
    missing: Missing<'_>,
    options: &FormatOptions,
) -> Result<String, FormatError> {
    let default = || adapter.assistant_content(spec, outputs, missing);
    let Some(render) = &options.renderers.output else { return default() };
    let fault = Fault::default();
    let text =
        render(&OutputContext { spec, outputs, missing, default: &default, fault: &fault, of: PhantomData });
    match fault.into_inner() {
        None => Ok(text),
        Some(error) => Err(error),
    }
}

/// The user message of the request; `None` if it is blank and blank ones are left out.
pub(crate) fn request<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    options: &FormatOptions,
) -> Result<Option<Message>, FormatError> {
    check_inputs(adapter, spec, inputs)?;
    let shown = Shown::of(spec, inputs);
    let suffix = options.response_instruction.then(|| adapter.output_requirements(shown.spec));
    let suffix = suffix.as_deref().unwrap_or_default();
    let content = rendered_user_content(adapter, shown.spec, &shown, ("", suffix), options)?;
    let blank = options.omit_empty_request && content.is_blank();
    Ok((!blank).then(|| asked(content, spec, inputs, options)))
}

/// The request's user message, with the participant's name.
pub(crate) fn asked(
    content: Content,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    options: &FormatOptions,
) -> Message {
    let message = Message::user(content);
    let given = || inputs.user_name().filter(|_| !spec.declares(USER_NAME));
    match options.user_name.as_deref().or_else(given) {
        Some(name) if !name.is_empty() => message.named(name),
        _ => message,
    }
}

/// An input without a value is an error unless it is optional or has a default. A derived struct has all
/// of its values, so this costs a walk over the fields of a described signature only.
pub(crate) fn check_inputs<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
) -> Result<(), FormatError> {
    if inputs.is_complete() {
        return Ok(());
    }
    let mut missing = Vec::new();
    let mut scratch = String::new();
    for (index, field) in spec.inputs.iter().enumerate().filter(|(_, field)| !field.is_history()) {
        let presence = presence(adapter, field, inputs, index, &mut scratch)?;
        if presence == Presence::Absent && !field.is_optional() && field.default.is_none() {
            missing.push(field.name.clone());
        }
    }
    // Where there is a conversation already, all that the request needs may be in it.
    if missing.is_empty() || history::is_given(spec, inputs)? {
        return Ok(());
    }
    let known: HashSet<&str> = spec.inputs.iter().map(|field| field.name.as_str()).collect();
    let unknown: Vec<(String, Option<String>)> = inputs
        .given_names()
        .into_iter()
        .filter(|name| !known.contains(name) && *name != USER_NAME)
        .map(|name| {
            // A value that is there under its own name is not the one that was meant.
            let near = nearest(name, missing.iter().map(String::as_str));
            (name.to_owned(), near.map(str::to_owned))
        })
        .collect();
    Err(if unknown.is_empty() {
        FormatError::MissingInputs(missing)
    } else {
        FormatError::UnknownInputs { missing, unknown }
    })
}

/// The demos as messages: incomplete ones first, each group in the given order.
fn demos<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    options: &FormatOptions,
    messages: &mut Vec<Message>,
) -> Result<(), FormatError> {
    let mut complete = Vec::new();
    let described = described(spec, adapter.dialect());
    for demo in &options.demos {
        if let (Some(guidance), Some(fields)) = (options.guidance.as_deref(), &demo.fields) {
            let turn = Turn::from(Fields::clone(fields));
            if let Some((made, whole)) = history::demo(adapter, spec, guidance, &turn, options)? {
                if whole { complete.extend(made) } else { messages.extend(made) }
            }
            continue;
        }
        let shown = Shown::of(spec, &*demo.inputs);
        let counted = supplied(adapter, &shown.spec.inputs, &shown)?;
        let outputs = supplied(adapter, &spec.outputs, &*demo.outputs)?;
        // A history does not count: no demo need have one.
        let whole = counted.values == shown.spec.inputs.len() && outputs.values == spec.outputs.len();
        if !whole && (counted.keys == 0 || outputs.keys == 0) {
            continue;
        }
        let (group, prefix) = if whole { (&mut complete, "") } else { (&mut *messages, INCOMPLETE_DEMO) };
        let inputs: &dyn Record = match adapter.dialect() {
            Dialect::Plain => &shown,
            Dialect::Dspy => &*demo.inputs,
        };
        group.push(Message::user(rendered_user_content(adapter, described, inputs, (prefix, ""), options)?));
        let missing = Missing::Say(NOT_SUPPLIED);
        group.push(Message::assistant(rendered_outputs(
            adapter,
            described,
            &*demo.outputs,
            missing,
            options,
        )?));
    }
    messages.append(&mut complete);
    Ok(())
}

/// The messages of a training example: the request and the answer to it.
pub(crate) fn finetune<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    outputs: &dyn Record,
    options: &FormatOptions,
) -> Result<Vec<Message>, FormatError> {
    let missing = spec.outputs.len() - supplied(adapter, &spec.outputs, outputs)?.keys;
    if missing > 0 {
        return Err(FormatError::Other(format!(
            "a training example needs every output, and {missing} of {} have no value",
            spec.outputs.len()
        )));
    }
    let mut messages = adapter.messages(spec, inputs, options)?;
    let answer = Message::assistant(adapter.assistant_content(spec, outputs, Missing::LeaveOut)?);
    messages.push(match options.assistant_name.as_deref() {
        Some(name) if !name.is_empty() => answer.named(name),
        _ => answer,
    });
    Ok(messages)
}

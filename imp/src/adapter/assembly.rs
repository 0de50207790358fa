//! The parts of a message, which adapters share: they differ in these only.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::adapter::field_list::field_list;
use crate::adapter::instructions::objective_text;
use crate::adapter::options::{FormatOptions, Missing};
use crate::adapter::record::{Answer, Record};
use crate::adapter::renderer::{SectionContext, SectionRenderer};
use crate::dialect::Dialect;
use crate::error::FormatError;
use crate::message::{Content, Part};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::scan::{is_blank, trim};
use crate::text::write::{FieldWriter, Form, Presence};

pub(crate) fn field_description(spec: &SignatureSpec, dialect: Dialect) -> String {
    format!(
        "Your input fields are:\n{}\nYour output fields are:\n{}",
        field_list(&spec.inputs, dialect, true),
        field_list(&spec.outputs, dialect, true)
    )
}

pub(crate) fn field_structure(spec: &SignatureSpec, dialect: Dialect) -> String {
    let mut out = String::from(
        "All interactions will be structured in the following way, with the appropriate values filled in.\n",
    );
    // DSPy joins the two groups by blank lines, an empty one too.
    let empty = if dialect == Dialect::Dspy { "\n\n" } else { "" };
    for field in &spec.inputs {
        let _ = write!(out, "\n[[ ## {0} ## ]]\n{{{0}}}\n", field.name);
    }
    if spec.inputs.is_empty() {
        out.push_str(empty);
    }
    for field in &spec.outputs {
        let _ = write!(out, "\n[[ ## {0} ## ]]\n{1}\n", field.name, placeholder(field, dialect));
    }
    if spec.outputs.is_empty() {
        out.push_str(empty);
    }
    out.push_str("\n[[ ## completed ## ]]");
    out
}

/// What stands for an output's value in a template, with the note on its form.
pub(crate) fn placeholder(field: &FieldSpec, dialect: Dialect) -> String {
    match dialect.note(field) {
        Some(note) => format!("{{{}}}        # note: the value you produce {note}", field.name),
        None => format!("{{{}}}", field.name),
    }
}

pub(crate) fn task_description(spec: &SignatureSpec, dialect: Dialect) -> String {
    let objective = objective_text(&instructions(spec, dialect));
    format!("In adhering to this structure, your objective is: {objective}")
}

/// The instructions of a signature. DSPy takes empty ones for none; Imp leaves the objective empty.
pub(crate) fn instructions(spec: &SignatureSpec, dialect: Dialect) -> Cow<'_, str> {
    let instructions = spec.instructions();
    if dialect == Dialect::Dspy && instructions.is_empty() {
        return spec.default_instructions().into();
    }
    instructions
}

pub(crate) fn system<A: Adapter + ?Sized>(adapter: &A, spec: &SignatureSpec) -> String {
    let text = format!(
        "{}\n{}\n{}",
        adapter.field_description(spec),
        adapter.field_structure(spec),
        adapter.task_description(spec)
    );
    match adapter.dialect() {
        // Imp trims the whole, DSPy does not.
        Dialect::Plain => trim(&text).to_owned(),
        Dialect::Dspy => text,
    }
}

pub(crate) fn section<A: Adapter + ?Sized>(
    adapter: &A,
    field: &FieldSpec,
    record: &dyn Record,
    index: usize,
    out: &mut String,
) -> Result<Presence, FormatError> {
    let start = out.len();
    out.push_str("[[ ## ");
    out.push_str(&field.name);
    out.push_str(" ## ]]\n");
    let presence = adapter.value(field, record, index, out)?;
    if presence == Presence::Absent {
        out.truncate(start);
    }
    Ok(presence)
}

/// Writes the value of one field as the text of a section.
pub(crate) fn value<A: Adapter + ?Sized>(
    adapter: &A,
    field: &FieldSpec,
    record: &dyn Record,
    index: usize,
    out: &mut String,
) -> Result<Presence, FormatError> {
    let mut writer =
        FieldWriter::new(out, Form::Section, adapter.dialect(), &field.tree, adapter.escapes_markers());
    record
        .write(index, field, &mut writer)
        .map_err(|error| FormatError::Value { field: field.name.clone(), error })?;
    Ok(writer.presence())
}

/// Whether a field has a value. The text goes to `scratch`.
pub(crate) fn presence<A: Adapter + ?Sized>(
    adapter: &A,
    field: &FieldSpec,
    record: &dyn Record,
    index: usize,
    scratch: &mut String,
) -> Result<Presence, FormatError> {
    scratch.clear();
    if field.tree.parts {
        return value_with_parts(adapter, field, record, index, scratch, &mut Vec::new());
    }
    value(adapter, field, record, index, scratch)
}

/// Writes the value of one field, its images, audios and files to `parts`, with the text between them.
fn value_with_parts<A: Adapter + ?Sized>(
    adapter: &A,
    field: &FieldSpec,
    record: &dyn Record,
    index: usize,
    out: &mut String,
    parts: &mut Vec<Part>,
) -> Result<Presence, FormatError> {
    let mut writer =
        FieldWriter::new(out, Form::Section, adapter.dialect(), &field.tree, adapter.escapes_markers())
            .with_parts(parts);
    record
        .write(index, field, &mut writer)
        .map_err(|error| FormatError::Value { field: field.name.clone(), error })?;
    Ok(writer.presence())
}

/// Which fields of one side have a value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Supplied {
    /// Fields that are there, null or not.
    pub(crate) keys: usize,
    /// Fields that are there and not null.
    pub(crate) values: usize,
}

/// Counts the fields of one side that have a value.
pub(crate) fn supplied<A: Adapter + ?Sized>(
    adapter: &A,
    fields: &[Arc<FieldSpec>],
    record: &dyn Record,
) -> Result<Supplied, FormatError> {
    let mut supplied = Supplied::default();
    let mut scratch = String::new();
    for (index, field) in fields.iter().enumerate() {
        let presence = presence(adapter, field, record, index, &mut scratch)?;
        supplied.keys += usize::from(presence != Presence::Absent);
        supplied.values += usize::from(presence == Presence::Present);
    }
    Ok(supplied)
}

/// The fields that have no value, though they must have one or are not null.
pub(crate) fn without_value<A: Adapter + ?Sized>(
    adapter: &A,
    fields: &[Arc<FieldSpec>],
    record: &dyn Record,
) -> Result<Vec<String>, FormatError> {
    let mut names = Vec::new();
    let mut scratch = String::new();
    for (index, field) in fields.iter().enumerate() {
        match presence(adapter, field, record, index, &mut scratch)? {
            Presence::Present => {}
            Presence::Null if field.is_optional() => {}
            _ => names.push(field.name.clone()),
        }
    }
    Ok(names)
}

/// Writes `name: value`, the frame of the adapters whose prompts have no markers.
pub(crate) fn labelled<A: Adapter + ?Sized>(
    adapter: &A,
    field: &FieldSpec,
    record: &dyn Record,
    index: usize,
    out: &mut String,
) -> Result<Presence, FormatError> {
    let start = out.len();
    out.push_str(&field.name);
    out.push_str(": ");
    let presence = adapter.value(field, record, index, out)?;
    if presence == Presence::Absent {
        out.truncate(start);
    }
    Ok(presence)
}

/// How the sections of a user message stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sections {
    /// What is between them.
    separator: &'static str,
    /// What is around the name of a field with parts, in every adapter with such sections (Imp §2.1).
    header: (&'static str, &'static str),
}

/// Sections with markers, a blank line apart.
const MARKED: Sections = Sections { separator: "\n\n", header: ("[[ ## ", " ## ]]\n") };

impl Sections {
    /// Values behind their names.
    pub(crate) fn labelled(separator: &'static str) -> Self {
        Sections { separator, header: ("", ": ") }
    }
}

pub(crate) fn user_content<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    prefix: &str,
    suffix: &str,
) -> Result<Content, FormatError> {
    sections(adapter, spec, inputs, MARKED, prefix, suffix)
}

/// The content of a user message, in which a renderer of the caller's may write the sections.
pub(crate) fn rendered_user_content<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    (prefix, suffix): (&str, &str),
    options: &FormatOptions,
) -> Result<Content, FormatError> {
    match &options.renderers.section {
        None => adapter.user_content(spec, inputs, prefix, suffix),
        renderer => content(adapter, spec, inputs, MARKED, (prefix, suffix), renderer.as_deref()),
    }
}

/// The content of a user message: one text, or parts if there is an image, an audio or a file.
pub(crate) fn sections<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    sections: Sections,
    prefix: &str,
    suffix: &str,
) -> Result<Content, FormatError> {
    content(adapter, spec, inputs, sections, (prefix, suffix), None)
}

/// Puts what a renderer makes of a section in its place.
fn render_section<A: Adapter + ?Sized>(
    adapter: &A,
    (field, index): (&FieldSpec, usize),
    inputs: &dyn Record,
    render: &SectionRenderer,
    (out, start): (&mut String, usize),
) -> Result<(), FormatError> {
    let default = out.split_off(start);
    let mut value = String::new();
    adapter.value(field, inputs, index, &mut value)?;
    let context = SectionContext { field, value: &value, default: &default, of: PhantomData };
    out.push_str(&render(&context));
    Ok(())
}

fn content<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    inputs: &dyn Record,
    sections: Sections,
    (prefix, suffix): (&str, &str),
    renderer: Option<&SectionRenderer>,
) -> Result<Content, FormatError> {
    let mut out = String::with_capacity(256 + prefix.len() + suffix.len());
    let mut parts = Vec::new();
    out.push_str(prefix);
    for (index, field) in spec.inputs.iter().enumerate() {
        let start = out.len();
        if start > 0 || !parts.is_empty() {
            out.push_str(sections.separator);
        }
        let before = out.len();
        let mut pieces = Vec::new();
        let presence = if field.tree.parts {
            let (before, after) = sections.header;
            out.push_str(before);
            out.push_str(&field.name);
            out.push_str(after);
            value_with_parts(adapter, field, inputs, index, &mut out, &mut pieces)?
        } else {
            adapter.section(field, inputs, index, &mut out)?
        };
        // A null renders nothing in the plain dialect (Imp §2.1) and `None` in DSPy's.
        let shown = match adapter.dialect() {
            Dialect::Plain => presence == Presence::Present,
            Dialect::Dspy => presence != Presence::Absent,
        };
        if let Some(render) = renderer.filter(|_| shown && !field.tree.parts) {
            render_section(adapter, (field, index), inputs, render, (&mut out, before))?;
        }
        if !shown || out.len() == before && pieces.is_empty() {
            out.truncate(start);
            continue;
        }
        for piece in pieces {
            match piece {
                Part::Text(text) => out.push_str(&text),
                part => {
                    if !out.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut out).into()));
                    }
                    parts.push(part);
                }
            }
        }
    }
    if !suffix.is_empty() {
        // Without stripping it is appended as it is: a message without inputs starts with the two line
        // ends (Imp §7.2).
        if !out.is_empty() || !parts.is_empty() || !adapter.strips_messages() {
            out.push_str("\n\n");
        }
        out.push_str(suffix);
    }
    if parts.is_empty() {
        if adapter.strips_messages() {
            trim_in_place(&mut out);
        }
        return Ok(out.into());
    }
    if adapter.strips_messages() {
        out.truncate(out.trim_end_matches(is_blank).len());
        if let Some(Part::Text(first)) = parts.first_mut() {
            *first = first.trim_start_matches(is_blank).into();
        }
    }
    if !out.is_empty() {
        parts.push(Part::Text(out.into()));
    }
    Ok(Content::Parts(parts))
}

pub(crate) fn assistant_content<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    outputs: &dyn Record,
    missing: Missing<'_>,
) -> Result<String, FormatError> {
    let mut out = String::with_capacity(256);
    let outputs = &Answer(outputs);
    for (index, field) in spec.outputs.iter().enumerate() {
        let start = out.len();
        if start > 0 {
            out.push_str("\n\n");
        }
        let presence = adapter.section(field, outputs, index, &mut out)?;
        match (presence, missing) {
            (Presence::Absent, Missing::Say(text)) => {
                let _ = write!(out, "[[ ## {} ## ]]\n{text}", field.name);
            }
            (Presence::Absent, Missing::LeaveOut) => out.truncate(start),
            _ => {}
        }
    }
    trim_in_place(&mut out);
    out.push_str("\n\n[[ ## completed ## ]]\n");
    Ok(out)
}

pub(crate) fn trim_in_place(text: &mut String) {
    text.truncate(text.trim_end_matches(is_blank).len());
    let leading = text.len() - text.trim_start_matches(is_blank).len();
    if leading > 0 {
        text.drain(..leading);
    }
}

pub(crate) fn output_requirements(spec: &SignatureSpec, dialect: Dialect) -> String {
    let mut out = String::from("Respond with the corresponding output fields, starting with the field ");
    push_fields(&mut out, spec, dialect, |out, name| {
        let _ = write!(out, "`[[ ## {name} ## ]]`");
    });
    out.push_str(", and then ending with the marker for `[[ ## completed ## ]]`.");
    out
}

/// Writes the outputs one after the other, each with what it must be formatted as.
pub(crate) fn push_fields(
    out: &mut String,
    spec: &SignatureSpec,
    dialect: Dialect,
    push_name: impl Fn(&mut String, &str),
) {
    for (at, field) in spec.outputs.iter().enumerate() {
        if at > 0 {
            out.push_str(", then ");
        }
        push_name(out, &field.name);
        if let Some(reminder) = dialect.reminder(&field.tree) {
            let _ = write!(out, " ({reminder})");
        }
    }
}

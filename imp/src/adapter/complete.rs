//! From sections to values: defaults, what is missing, what is wrong (Imp §8.3).

use crate::adapter::Adapter;
use crate::adapter::beside::Beside;
use crate::adapter::record::{FieldReader, Outputs, Section};
use crate::dialect::Dialect;
use crate::error::{FieldFailure, ParseError, ParseErrorKind};
use crate::fields::Fields;
use crate::spec::SignatureSpec;
use crate::text::read::{ReadError, ReadOptions};
use crate::text::scan::{self, trim};

/// Reads all outputs of a reply that `adapter` has cut into `sections`.
pub(crate) fn complete<O: Outputs, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
    sections: &[Section<'_>],
) -> Result<O, ParseError> {
    complete_beside(adapter, spec, reply, sections, None)
}

/// The same for a reply of which some outputs stand beside its text.
pub(crate) fn complete_beside<O: Outputs, A: Adapter + ?Sized>(
    adapter: &A,
    asked: &SignatureSpec,
    reply: &str,
    sections: &[Section<'_>],
    beside: Option<&Beside<'_>>,
) -> Result<O, ParseError> {
    let options = ReadOptions { dialect: adapter.dialect(), unescape: adapter.escapes_markers() };
    if let Some(error) = none_of_them(adapter, asked, reply, sections) {
        return Err(error);
    }
    let joined = beside.map(|beside| beside.sections(sections));
    let sections = joined.as_deref().unwrap_or(sections);
    let spec = beside.map_or(asked, |beside| beside.spec);
    let mut reader = FieldReader::new(spec, sections, options);
    let outputs = O::read(&mut reader);
    let (mut failures, mut missing) = reader.into_failures();
    match outputs {
        Some(outputs) if failures.is_empty() && missing.is_empty() => Ok(outputs),
        _ => {
            let mut reader = FieldReader::new(spec, sections, options);
            let fields = reader.known();
            for failure in &mut failures {
                place(failure, spec, reply, sections);
            }
            // What the model was not asked for is not what it is told of; it is the error if nothing else is.
            let unasked = |at: &usize| beside.is_some_and(|beside| beside.is_beside(*at));
            if failures.is_empty() && !missing.is_empty() && missing.iter().all(unasked) {
                return Err(no_native_reasoning(adapter, spec, reply, fields, &missing));
            }
            missing.retain(|at| !unasked(at));
            Err(wrong(adapter, spec, reply, fields, failures, &missing))
        }
    }
}

fn no_native_reasoning<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
    fields: Fields,
    missing: &[usize],
) -> ParseError {
    let names = names_at(spec, missing);
    let message = format!(
        "the completion has no native reasoning, which is the value of: {}; have the model asked for it as text \
         (`native([])` on the program, `native_reasoning(false)` in the model's capabilities)",
        names.join(", ")
    );
    ParseError::new(ParseErrorKind::NativeReasoningMissing, adapter.name(), reply, message)
        .with_missing(names)
        .with_fields(fields)
}

fn names_at(spec: &SignatureSpec, places: &[usize]) -> Vec<String> {
    places.iter().filter_map(|at| spec.outputs.get(*at)).map(|field| field.name.clone()).collect()
}

/// Moves a failure's span from the section's text to the reply: the lines of a section are joined anew, so
/// that a reply with `\r\n` has its places elsewhere. What is not in the reply, as a value of a map is not,
/// has all of it.
fn place(failure: &mut FieldFailure, spec: &SignatureSpec, reply: &str, sections: &[Section<'_>]) {
    let index = spec.outputs.iter().position(|field| field.name == failure.field);
    let section = index.and_then(|index| sections.get(index));
    let place = |section: &Section<'_>| {
        if let Some(bytes) = &section.made_from {
            return Some(bytes.clone());
        }
        let raw = reply.get(section.start..)?;
        let text = section.source.as_ref()?.text();
        let at = |end: usize| scan::place(raw, text, end.checked_sub(section.start)?);
        Some(section.start + at(failure.span.start)?..section.start + at(failure.span.end)?)
    };
    failure.span = section.and_then(place).unwrap_or(0..reply.len());
}

/// The message about a reply that is no JSON object (§9.3).
pub(crate) const NO_OBJECT: &str = "LM response cannot be serialized to a JSON object.";

/// The error of a reply whose object is broken or breaks off: what was whole in it is read, and `cut` is the
/// output that was not.
///
/// In DSPy's dialect, which closes what breaks off, the outputs that are missing or wrong are the error.
pub(crate) fn broken<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
    sections: &[Section<'_>],
    cut: Option<(usize, ReadError)>,
) -> ParseError {
    let options = ReadOptions { dialect: adapter.dialect(), unescape: false };
    let mut reader = FieldReader::new(spec, sections, options);
    let mut fields = reader.known();
    let (mut failures, mut missing) = reader.into_failures();
    for failure in &mut failures {
        place(failure, spec, reply, sections);
    }
    if let Some((index, error)) = cut {
        if let Some(field) = spec.outputs.get(index) {
            missing.retain(|at| *at != index);
            fields = fields.into_map().into_iter().filter(|(name, _)| *name != field.name).collect();
            failures.push(FieldFailure::new(&field.name, error, reply, 0));
        }
    }
    let error = wrong(adapter, spec, reply, fields, failures, &missing);
    if adapter.dialect() == Dialect::Dspy && !(error.missing().is_empty() && error.failures().is_empty()) {
        return error;
    }
    error.malformed(NO_OBJECT)
}

/// A reply with none of the outputs is an error even if all are optional or have defaults; but a blank
/// reply of a signature with a text field is a step that said nothing. In DSPy's dialect it is one like any
/// other: the defaults are filled in.
fn none_of_them<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
    sections: &[Section<'_>],
) -> Option<ParseError> {
    let mut given = sections.iter().zip(&spec.outputs);
    if given.any(|(section, field)| section.given(adapter.dialect(), field).is_some())
        || spec.outputs.is_empty()
    {
        return None;
    }
    if adapter.dialect() == Dialect::Dspy || (spec.text_field.is_some() && trim(reply).is_empty()) {
        return None;
    }
    let names: Vec<_> = spec.outputs.iter().map(|field| field.name.clone()).collect();
    let message = format!("The response has none of the requested output fields: {}.", names.join(", "));
    Some(ParseError::new(ParseErrorKind::MissingFields, adapter.name(), reply, message).with_missing(names))
}

/// Imp's message about outputs that are wrong (§8.3).
pub(crate) fn failure_message(failures: &[FieldFailure]) -> String {
    let mut message = String::from("Validation failed. Retry with corrected output:");
    for failure in failures {
        message.push_str("\n- ");
        message.push_str(&failure.path);
        message.push_str(": ");
        message.push_str(&failure.message);
    }
    message
}

fn wrong<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
    fields: Fields,
    failures: Vec<FieldFailure>,
    missing: &[usize],
) -> ParseError {
    let names = names_at(spec, missing);
    let error = if names.is_empty() {
        let message = adapter.failure_message(&failures);
        ParseError::new(ParseErrorKind::InvalidFields, adapter.name(), reply, message)
    } else {
        let message = format!("The response is missing required output fields: {}.", names.join(", "));
        ParseError::new(ParseErrorKind::MissingFields, adapter.name(), reply, message).with_missing(names)
    };
    error.with_fields(fields).with_failures(failures)
}

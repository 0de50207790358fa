//! Renderers: a caller's own words in the places of an adapter's (Imp §6).
//!
//! A renderer is a closure that gets a context and returns a text. The context knows what would stand there
//! otherwise, as the *formatting* adapter writes it: the JSON fallback of a Chat program hands the JSON
//! adapter's rendering to the same closure.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::adapter::guidance::Guidance;
use crate::adapter::options::Missing;
use crate::adapter::record::{PartOf, Record};
use crate::error::{FormatError, WriteError};
use crate::field::Field;
use crate::fields::Fields;
use crate::history::Turn;
use crate::message::{Content, Text};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::{FieldWriter, Presence};
use crate::tool_calls::ToolResult;
use crate::value::Value;

/// A part of a prompt that may fail to be written: the first failure is kept for the caller of the renderer.
pub(crate) type Fault = RefCell<Option<FormatError>>;

type Marker<I> = PhantomData<fn() -> *const I>;

/// What a [`system_renderer`](crate::FormatOptions::system_renderer) gets.
pub struct SystemContext<'a, I: ?Sized> {
    pub(crate) spec: &'a SignatureSpec,
    pub(crate) guidance: Option<&'a Guidance>,
    pub(crate) default: &'a dyn Fn() -> Text,
    pub(crate) of: Marker<I>,
}

impl<I: ?Sized> SystemContext<'_, I> {
    /// The system message that would be sent, as the formatting adapter writes it.
    pub fn default_system(&self) -> String {
        (self.default)().into_string()
    }

    /// The signature that is formatted, without its histories.
    pub fn spec(&self) -> &SignatureSpec {
        self.spec
    }

    /// The tool loop, if this is a step of one.
    pub fn guidance(&self) -> Option<&Guidance> {
        self.guidance
    }

    /// The description of one field; `None` if this request does not show it.
    pub fn field<S: PartOf<I>, T: ?Sized>(&self, field: Field<S, T>) -> Option<&FieldSpec> {
        find(self.spec, field.name()).map(|(field, _)| field)
    }
}

/// What an [`output_renderer`](crate::FormatOptions::output_renderer) gets: the outputs of a demo or of a stored
/// turn.
pub struct OutputContext<'a, I: ?Sized> {
    pub(crate) spec: &'a SignatureSpec,
    pub(crate) outputs: &'a dyn Record,
    pub(crate) missing: Missing<'a>,
    pub(crate) default: &'a dyn Fn() -> Result<String, FormatError>,
    pub(crate) fault: &'a Fault,
    pub(crate) of: Marker<I>,
}

impl<I: ?Sized> OutputContext<'_, I> {
    /// The assistant's message that would be sent, as the formatting adapter writes it.
    pub fn default_outputs(&self) -> String {
        kept(self.fault, (self.default)())
    }

    /// What stands for an output without a value; `None` if it is left out.
    pub fn missing(&self) -> Option<&str> {
        match self.missing {
            Missing::LeaveOut => None,
            Missing::Say(text) => Some(text),
        }
    }

    /// The signature that is formatted, without its histories.
    pub fn spec(&self) -> &SignatureSpec {
        self.spec
    }

    /// The value of an output; `None` if it has none, or if this request does not show it.
    pub fn value<S: PartOf<I>, T: ?Sized>(&self, field: Field<S, T>) -> Option<Value> {
        self.look_up(field.name())
    }

    fn look_up(&self, name: &str) -> Option<Value> {
        let (field, index) = find(self.spec, name)?;
        kept(self.fault, captured(field, self.outputs, index))
    }
}

impl OutputContext<'_, Fields> {
    /// The value of an output of a signature that is described at run time.
    pub fn named(&self, name: &str) -> Option<Value> {
        self.look_up(name)
    }
}

/// What an [`input_section_renderer`](crate::FormatOptions::input_section_renderer) gets: one input with a value.
pub struct SectionContext<'a, I: ?Sized> {
    pub(crate) field: &'a FieldSpec,
    pub(crate) value: &'a str,
    pub(crate) default: &'a str,
    pub(crate) of: Marker<I>,
}

impl<I: ?Sized> SectionContext<'_, I> {
    /// The section that would be sent, as the formatting adapter writes it.
    pub fn default_section(&self) -> &str {
        self.default
    }

    /// The value's text, as it stands in the section: lines that could be taken for a marker are escaped.
    pub fn text(&self) -> &str {
        self.value
    }

    /// The input.
    pub fn field(&self) -> &FieldSpec {
        self.field
    }

    /// Whether it is this input.
    pub fn is<S: PartOf<I>, T: ?Sized>(&self, field: Field<S, T>) -> bool {
        !S::IS_OUTPUT && self.field.name() == field.name()
    }
}

/// What a [`tool_result_renderer`](crate::FormatOptions::tool_result_renderer) gets: the result of one tool call.
pub struct ToolResultContext<'a> {
    pub(crate) result: &'a ToolResult,
    pub(crate) default: &'a dyn Fn() -> Content,
}

impl ToolResultContext<'_> {
    /// The result, whole, with the call's id and the tool's name.
    pub fn result(&self) -> &ToolResult {
        self.result
    }

    /// What would be sent: a text, or parts if there are images.
    pub fn default_result(&self) -> Content {
        (self.default)()
    }
}

/// What a [`history_note_renderer`](crate::FormatOptions::history_note_renderer) gets: one stored turn.
pub struct NoteContext<'a, I: ?Sized> {
    pub(crate) spec: &'a SignatureSpec,
    pub(crate) turn: &'a Turn,
    pub(crate) of: Marker<I>,
}

impl<I: ?Sized> NoteContext<'_, I> {
    /// The turn.
    pub fn turn(&self) -> &Turn {
        self.turn
    }

    /// The signature that is formatted, without its histories.
    pub fn spec(&self) -> &SignatureSpec {
        self.spec
    }

    /// What the turn recorded of a field.
    pub fn value<S: PartOf<I>, T: ?Sized>(&self, field: Field<S, T>) -> Option<&Value> {
        self.turn.get(field.name())
    }
}

macro_rules! debug {
    ($($name:ident $(<$i:ident>)?),*) => {$(
        impl$(<$i: ?Sized>)? fmt::Debug for $name<'_ $(, $i)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

debug!(SystemContext<I>, OutputContext<I>, SectionContext<I>, ToolResultContext, NoteContext<I>);

pub(crate) type SystemRenderer = dyn Fn(&SystemContext<'_, ()>) -> String + Send + Sync;
pub(crate) type OutputRenderer = dyn Fn(&OutputContext<'_, ()>) -> String + Send + Sync;
pub(crate) type SectionRenderer = dyn Fn(&SectionContext<'_, ()>) -> String + Send + Sync;
pub(crate) type ToolResultRenderer = dyn Fn(&ToolResultContext<'_>) -> Content + Send + Sync;
pub(crate) type NoteRenderer = dyn Fn(&NoteContext<'_, ()>) -> Option<String> + Send + Sync;

/// The renderers of a set of options. Contexts are of no signature here: the closures that are kept put the
/// signature of the caller's closure in.
#[derive(Clone, Default)]
pub(crate) struct Renderers {
    pub(crate) system: Option<Arc<SystemRenderer>>,
    pub(crate) output: Option<Arc<OutputRenderer>>,
    pub(crate) section: Option<Arc<SectionRenderer>>,
    pub(crate) tool_result: Option<Arc<ToolResultRenderer>>,
    pub(crate) note: Option<Arc<NoteRenderer>>,
}

impl fmt::Debug for Renderers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = [
            ("system", self.system.is_some()),
            ("output", self.output.is_some()),
            ("section", self.section.is_some()),
            ("tool_result", self.tool_result.is_some()),
            ("note", self.note.is_some()),
        ];
        f.debug_set().entries(set.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name)).finish()
    }
}

/// The field of that name, and its place on its side.
fn find<'s>(spec: &'s SignatureSpec, name: &str) -> Option<(&'s FieldSpec, usize)> {
    let side = |fields: &'s [Arc<FieldSpec>]| {
        fields.iter().enumerate().find(|(_, field)| field.name == name).map(|(at, field)| (&**field, at))
    };
    side(&spec.outputs).or_else(|| side(&spec.inputs))
}

/// The value of one field, without its Rust type.
pub(crate) fn captured(
    field: &FieldSpec,
    record: &dyn Record,
    index: usize,
) -> Result<Option<Value>, FormatError> {
    let wrong = |error: WriteError| FormatError::Value { field: field.name.clone(), error };
    let mut value = None;
    let mut scratch = String::new();
    let mut writer = FieldWriter::capturing(&mut scratch, &field.tree, &mut value);
    record.write(index, field, &mut writer).map_err(wrong)?;
    let presence = writer.presence();
    Ok(value.filter(|_| presence != Presence::Absent))
}

/// The result, or nothing and its error in its place.
fn kept<T: Default>(fault: &Fault, result: Result<T, FormatError>) -> T {
    result.unwrap_or_else(|error| {
        fault.borrow_mut().get_or_insert(error);
        T::default()
    })
}

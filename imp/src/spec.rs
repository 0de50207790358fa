//! What adapters know of a signature: names, types, descriptions, instructions.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;

use crate::dialect::Dialect;
use crate::error::SpecError;
use crate::meta::RecordMeta;
use crate::types::{AnswerShape, Checks, TypeTree};
use crate::value::Value;

/// The description of a signature, from which every prompt is rendered.
///
/// A derive makes one for its structs, [`SignatureSpec::parse`] makes one from a text and
/// [`SignatureSpec::from_json`] from data; adapters cannot tell them apart.
#[derive(Clone)]
pub struct SignatureSpec {
    pub(crate) name: String,
    /// `None` stands for the default sentence.
    pub(crate) instructions: Option<String>,
    pub(crate) inputs: Vec<Arc<FieldSpec>>,
    pub(crate) outputs: Vec<Arc<FieldSpec>>,
    /// The output that a reply without any marker is, if there is one.
    pub(crate) text_field: Option<usize>,
    /// The dialect that the derive's attribute asks for.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) rendered: Rendered,
}

/// One field of a [`SignatureSpec`].
#[derive(Debug, Clone)]
pub struct FieldSpec {
    pub(crate) name: String,
    /// Other names under which a reply may give the field.
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) schema: Json,
    pub(crate) tree: TypeTree,
    /// The value of an absent field. A default of null is a default too.
    pub(crate) default: Option<Value>,
    /// The bounds of the field itself, in the order in which they were declared.
    pub(crate) constraints: Vec<(Constraint, Value)>,
    /// The same, ready to be checked.
    pub(crate) checks: Option<Box<Checks>>,
    pub(crate) answer_shape: Option<AnswerShape>,
}

/// The system messages that have been rendered, one for each adapter and dialect: static text is
/// rendered once and shared. A clone starts empty, since it is about to be changed.
#[derive(Default)]
pub(crate) struct Rendered {
    slots: [OnceLock<Arc<str>>; 8],
}

impl Rendered {
    /// The text in the slot of an adapter, rendered by `render` the first time.
    pub(crate) fn get(&self, slot: usize, render: impl FnOnce() -> String) -> Arc<str> {
        match self.slots.get(slot) {
            Some(slot) => slot.get_or_init(|| render().into()).clone(),
            None => render().into(),
        }
    }
}

impl Clone for Rendered {
    fn clone(&self) -> Self {
        Rendered::default()
    }
}

/// A bound of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constraint {
    /// Greater than.
    Gt,
    /// Greater than or equal to.
    Ge,
    /// Less than.
    Lt,
    /// Less than or equal to.
    Le,
    /// The least length: of a text in characters, of a list in items.
    MinLength,
    /// The greatest length: of a text in characters, of a list in items.
    MaxLength,
    /// A multiple of the given number.
    MultipleOf,
    /// Whether `inf`, `-inf` and `nan` are allowed.
    AllowInfNan,
    /// A regular expression that is found in the text.
    Pattern,
}

impl fmt::Debug for SignatureSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |fields: &[Arc<FieldSpec>]| fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        f.debug_struct("SignatureSpec")
            .field("name", &self.name)
            .field("instructions", &self.instructions)
            .field("inputs", &names(&self.inputs))
            .field("outputs", &names(&self.outputs))
            .finish_non_exhaustive()
    }
}

impl SignatureSpec {
    /// The signature's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The inputs in declared order.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &FieldSpec> {
        self.inputs.iter().map(|field| &**field)
    }

    /// The outputs in declared order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &FieldSpec> {
        self.outputs.iter().map(|field| &**field)
    }
}

impl FieldSpec {
    /// The name in prompts and replies.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description, if there is one.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The JSON Schema of the field's type.
    pub fn schema(&self) -> &Json {
        &self.schema
    }

    /// The value of an absent field, if it has one.
    pub fn default(&self) -> Option<&Value> {
        self.default.as_ref()
    }

    /// Whether the field may be absent or null.
    pub fn is_optional(&self) -> bool {
        self.tree.nullable()
    }
}

impl SignatureSpec {
    /// The spec of a derived output struct: a signature without inputs.
    pub(crate) fn outputs_from_meta(meta: &RecordMeta) -> Result<SignatureSpec, SpecError> {
        let _ = meta;
        Err(SpecError::new("not yet"))
    }

    /// The spec of a derived input struct and of its output's.
    pub(crate) fn from_meta(meta: &RecordMeta, outputs: &SignatureSpec) -> Result<SignatureSpec, SpecError> {
        let _ = (meta, outputs);
        Err(SpecError::new("not yet"))
    }
}

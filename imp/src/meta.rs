//! A derived struct as data, and the schemas of its types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

use crate::dialect::Dialect;
use crate::spec::Constraint;
use crate::types::AnswerShape;
use crate::value::Value;

/// Which side of a call a struct is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The inputs.
    Input,
    /// The outputs.
    Output,
}

/// A derived struct as data.
#[derive(Debug, Clone, Copy)]
pub struct RecordMeta {
    /// The struct's name.
    pub name: &'static str,
    /// The doc comment as written: every line with a `\n` behind it.
    pub docs: &'static str,
    /// `instructions = "…"`.
    pub instructions: Option<&'static str>,
    /// `dialect = …`.
    pub dialect: Option<Dialect>,
    /// The fields in declared order.
    pub fields: &'static [FieldMeta],
}

/// A field of a derived struct as data.
#[derive(Debug, Clone, Copy)]
pub struct FieldMeta {
    /// The name in prompts and replies.
    pub name: &'static str,
    /// `alias = "…"`.
    pub aliases: &'static [&'static str],
    /// The doc comment as written: every line with a `\n` behind it.
    pub docs: &'static str,
    /// `desc = "…"`.
    pub desc: Option<&'static str>,
    /// The bounds in declared order.
    pub constraints: &'static [(Constraint, Bound)],
    /// `answer_shape = "…"`.
    pub answer_shape: Option<AnswerShape>,
    /// `text_field`.
    pub text_field: bool,
    /// The schema of the field's type.
    pub schema: fn() -> Json,
    /// The default as a value, if there is one.
    pub default: Option<fn() -> Result<Value, String>>,
}

/// The value of a bound in an attribute.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// A whole number.
    Int(i128),
    /// Another number.
    Float(f64),
    /// A pattern.
    Text(&'static str),
    /// A switch.
    Bool(bool),
}

/// The JSON Schema of `T`, with named types in `$defs`, as it is written or as it is read.
pub(crate) fn schema_for<T: JsonSchema + ?Sized>(side: Side) -> Json {
    let settings = match side {
        Side::Input => SchemaSettings::draft2020_12().for_serialize(),
        Side::Output => SchemaSettings::draft2020_12().for_deserialize(),
    };
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

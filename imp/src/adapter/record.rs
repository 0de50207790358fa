//! The traits by which values of structs cross the border: what `#[derive(Signature)]` implements.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::dialect::Dialect;
use crate::error::{FieldFailure, SpecError, WriteError};
use crate::fields::Fields;
use crate::history::USER_NAME;
use crate::meta::{RecordMeta, Side, schema_for};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::read::{self, ReadError, ReadOptions, Source};
use crate::text::write::{FieldWriter, to_value};
use crate::types::Kind;
use crate::value::Value;
use crate::variants::declare_order;

/// The values of one side of a call: of the inputs or of the outputs.
///
/// Adapters write a prompt from two of these and know no struct. The derive implements it for its
/// structs and their companions, `imp` for [`Fields`](crate::Fields).
pub trait Record {
    /// Writes the field at `index`, whose description is `field`. A field without a value is
    /// [absent](FieldWriter::absent).
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError>;

    /// Whether every field has a value by its type, so that none need be looked for. The default is no.
    fn is_complete(&self) -> bool {
        false
    }

    /// The name of the participant whose inputs these are, beside the fields: the key `user_name` of
    /// [`Fields`](crate::Fields). A signature that declares a field of that name does not ask. The default is none.
    fn user_name(&self) -> Option<&str> {
        None
    }

    /// The names under which values are given, where they are not known to be the signature's: an error
    /// about a missing value says which of them are no fields. The default is none.
    fn given_names(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// The outputs of an answer that is shown to a model: they have to be read back (law 6).
pub(crate) struct Answer<'r>(pub(crate) &'r dyn Record);

impl Record for Answer<'_> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        out.as_output(field.checks.as_deref());
        self.0.write(index, field, out)
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn given_names(&self) -> Vec<&str> {
        self.0.given_names()
    }

    fn user_name(&self) -> Option<&str> {
        self.0.user_name()
    }
}

/// A [`Record`] that is the inputs of a call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the input of a signature",
    label = "this struct names no output",
    note = "add `#[signature(output = …)]` to the struct that derives `Signature`"
)]
pub trait Inputs: Record {
    /// What the call answers with.
    type Output: Outputs;
    /// The companion struct in which every field is optional.
    type Partial: Record;
}

/// A [`Record`] that can be read from a reply.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the output of a signature",
    label = "not an output struct",
    note = "an output is a struct that derives `Signature`, without `output = …`: for one text, `struct Answer {{ answer: String }}`"
)]
pub trait Outputs: Record + Sized {
    /// The companion struct in which every field is optional.
    type Partial: Record + Default;

    /// Reads every field; the reader keeps what was wrong, and `None` says that something was.
    fn read(reader: &mut FieldReader<'_>) -> Option<Self>;

    /// Reads the fields that are there and right.
    fn read_partial(reader: &mut FieldReader<'_>) -> Self::Partial;

    /// Reads the field at `index` into its place in `partial`, and says whether it is there and right: how the companion
    /// grows while a reply is written.
    fn read_field(reader: &mut FieldReader<'_>, index: usize, partial: &mut Self::Partial) -> bool;

    /// The field at `index`. What has no Rust type of its own for its fields has none here, which is the default.
    fn field(&self, index: usize) -> Option<&dyn Any>
    where
        Self: 'static,
    {
        let _ = index;
        None
    }

    /// The field at `index` of the companion, if it has a value; as for [`field`](Self::field).
    fn partial_field(partial: &Self::Partial, index: usize) -> Option<&dyn Any>
    where
        Self: 'static,
    {
        let _ = (partial, index);
        None
    }
}

/// Outputs that the fields of the struct `S` are among: what a [`Field`](crate::Field) handle must be of, to name an
/// output of a reply.
#[diagnostic::on_unimplemented(
    message = "this field handle is of `{S}`, and the outputs are `{Self}`",
    label = "a handle of another struct",
    note = "use the handles of the struct that the reply is read as: `{Self}::FIELDS`"
)]
pub trait OutputFields<S: ?Sized>: Outputs {
    /// How many outputs stand before the struct's own.
    const BEFORE: usize;
}

#[diagnostic::do_not_recommend]
impl<O: OutputSignature> OutputFields<O> for O {
    const BEFORE: usize = 0;
}

/// What a derived struct says of itself.
pub trait Describe {
    /// The metadata that the derive wrote.
    #[doc(hidden)]
    const META: RecordMeta;
}

/// An input struct that derives `Signature`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the input of a signature",
    label = "this struct names no output",
    note = "add `#[signature(output = …)]` to the struct that derives `Signature`"
)]
pub trait Signature: Inputs + Describe {
    /// The description of the signature, made at the first use.
    ///
    /// # Errors
    ///
    /// What only the schemas show: a pattern that is no regular expression, a type that cannot be
    /// read safely, a name that both generic structs have.
    fn spec() -> Result<&'static Arc<SignatureSpec>, &'static SpecError>;
}

/// An output struct that derives `Signature`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the output of a signature",
    label = "not an output struct",
    note = "an output is a struct that derives `Signature`, without `output = …`: for one text, `struct Answer {{ answer: String }}`"
)]
pub trait OutputSignature: Outputs + Describe {
    /// The description of the outputs alone: a signature without inputs.
    ///
    /// # Errors
    ///
    /// As for [`Signature::spec`].
    fn output_spec() -> Result<&'static Arc<SignatureSpec>, &'static SpecError>;
}

/// Says that the struct `Self` is the input or the output of the signature `I`: what a
/// [`Field`](crate::Field) handle must be of, to name a field of `I`.
#[diagnostic::on_unimplemented(
    message = "this field handle is of `{Self}`, which is no part of the signature `{I}`",
    label = "a handle of another signature",
    note = "use the handles of the signature's own structs: `{I}::FIELDS` or those of its output"
)]
pub trait PartOf<I: ?Sized> {
    /// Whether `Self` is the output.
    const IS_OUTPUT: bool;
}

/// A type that an input field may have: `Serialize` and `JsonSchema`.
// No supertraits: rustc would report each of them on its own (several errors for one bad type).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of an input field",
    label = "this type has no JSON Schema or cannot be serialised",
    note = "an input field's type implements `serde::Serialize` and `schemars::JsonSchema`: derive both; other crates have them as features"
)]
pub trait InputType {
    /// The JSON Schema of the type as it is written.
    fn schema() -> Json;

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn write(&self, out: &mut FieldWriter<'_>) -> Result<(), WriteError>;

    /// The value without its Rust type.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn to_value(&self) -> Result<Value, WriteError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + ?Sized> InputType for T {
    fn schema() -> Json {
        schema_for::<T>(Side::Input)
    }

    fn to_value(&self) -> Result<Value, WriteError> {
        to_value(self)
    }

    fn write(&self, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        out.value(self)
    }
}

/// A type that an output field may have: `Serialize`, `DeserializeOwned` and `JsonSchema`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of an output field",
    label = "this type has no JSON Schema, or cannot be serialised or deserialised",
    note = "an output field's type implements `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema`: derive all three; other crates have them as features"
)]
pub trait OutputType: Sized {
    /// The JSON Schema of the type as it is read.
    fn schema() -> Json;

    /// Writes the value.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn write(&self, out: &mut FieldWriter<'_>) -> Result<(), WriteError>;

    /// The value without its Rust type.
    ///
    /// # Errors
    ///
    /// The value's own `Serialize` refuses.
    fn to_value(&self) -> Result<Value, WriteError>;

    /// Reads the value of the field `field`.
    ///
    /// # Errors
    ///
    /// The text is no value of this type, or breaks a bound of the field.
    fn read(source: &Source<'_>, field: &FieldSpec, options: ReadOptions) -> Result<Self, ReadError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> OutputType for T {
    fn schema() -> Json {
        let mut schema = schema_for::<T>(Side::Output);
        declare_order::<T>(&mut schema);
        schema
    }

    fn to_value(&self) -> Result<Value, WriteError> {
        to_value(self)
    }

    fn write(&self, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        out.value(self)
    }

    fn read(source: &Source<'_>, field: &FieldSpec, options: ReadOptions) -> Result<Self, ReadError> {
        read::read(source, &field.tree, field.checks.as_deref(), options)
    }
}

/// One output's part of a reply.
#[derive(Debug, Clone, Default)]
pub struct Section<'r> {
    /// What was written there; `None` if the reply has no such part.
    pub source: Option<Source<'r>>,
    /// Where it starts in the reply, in bytes.
    pub start: usize,
    /// The bytes of the reply that it was made from, if it does not stand there as it is.
    pub made_from: Option<Range<usize>>,
}

impl<'r> Section<'r> {
    /// The text `text` that starts at the byte `start` of the reply.
    pub fn text(text: impl Into<Cow<'r, str>>, start: usize) -> Self {
        Section { source: Some(Source::Text(text.into())), start, made_from: None }
    }

    /// The JSON value `json` that starts at the byte `start` of the reply.
    pub fn json(json: impl Into<Cow<'r, str>>, start: usize) -> Self {
        Section { source: Some(Source::Json(json.into())), start, made_from: None }
    }

    /// The same for a source that was made from `bytes` of the reply and does not stand there as it is:
    /// whatever is wrong with it is somewhere in them.
    pub fn made_from(mut self, bytes: Range<usize>) -> Self {
        self.start = bytes.start;
        self.made_from = Some(bytes);
        self
    }

    /// Whether the output is given in the dialect: a JSON null counts as absent in the plain one (§8.3),
    /// and is a value in DSPy's. Where the output's type is any, null is a value in both; that is for
    /// whoever knows the type.
    pub fn is_given(&self, dialect: Dialect) -> bool {
        self.source.as_ref().is_some_and(|source| dialect == Dialect::Dspy || !is_null(source))
    }

    /// What is given for `field`.
    pub(crate) fn given(&self, dialect: Dialect, field: &FieldSpec) -> Option<&Source<'r>> {
        let any = || matches!(field.tree.resolve(&field.tree.root).kind, Kind::Any);
        self.source.as_ref().filter(|_| self.is_given(dialect) || any())
    }
}

fn is_null(source: &Source<'_>) -> bool {
    matches!(source, Source::Json(text) if text.trim() == "null")
}

/// Reads the fields of an [`Outputs`] from the sections of a reply, and keeps what was wrong.
#[derive(Debug)]
pub struct FieldReader<'r> {
    spec: &'r SignatureSpec,
    sections: &'r [Section<'r>],
    /// The output of the first of the sections.
    first: usize,
    options: ReadOptions,
    /// Added to every index: the outputs of an inner struct stand behind those of the outer one.
    base: usize,
    failures: Vec<FieldFailure>,
    missing: Vec<usize>,
}

impl<'r> FieldReader<'r> {
    pub(crate) fn new(spec: &'r SignatureSpec, sections: &'r [Section<'r>], options: ReadOptions) -> Self {
        FieldReader { spec, sections, first: 0, options, base: 0, failures: Vec::new(), missing: Vec::new() }
    }

    /// A reader of the one output at `index`.
    pub(crate) fn one(
        spec: &'r SignatureSpec,
        index: usize,
        section: &'r Section<'r>,
        options: ReadOptions,
    ) -> Self {
        FieldReader { first: index, ..FieldReader::new(spec, std::slice::from_ref(section), options) }
    }

    fn section(&self, index: usize) -> Option<&'r Section<'r>> {
        self.sections.get(index.checked_sub(self.first)?)
    }

    /// Reads with `read` a struct whose fields stand behind the first `count` of this one.
    pub fn after<T>(&mut self, count: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.base += count;
        let result = read(self);
        self.base -= count;
        result
    }

    /// Reads the output at `index`: its section, else null if it is optional.
    pub fn field<T: OutputType>(&mut self, index: usize) -> Option<T> {
        let (field, given) = self.place(index)?;
        let result = match given {
            Some(source) => T::read(source, field, self.options),
            None if field.is_optional() => T::read(&NULL, field, self.options),
            None => {
                self.missing.push(self.base + index);
                return None;
            }
        };
        self.keep(index, result)
    }

    /// Reads the output at `index`: its section, else `default()`.
    pub fn field_or<T: OutputType>(&mut self, index: usize, default: impl FnOnce() -> T) -> Option<T> {
        let (field, given) = self.place(index)?;
        match given {
            Some(source) => {
                let result = T::read(source, field, self.options);
                self.keep(index, result)
            }
            None => Some(default()),
        }
    }

    /// Reads the output at `index` if its section is there and right.
    pub fn partial<T: OutputType>(&mut self, index: usize) -> Option<T> {
        let (field, given) = self.place(index)?;
        T::read(given?, field, self.options).ok()
    }

    fn place(&self, index: usize) -> Option<(&'r FieldSpec, Option<&'r Source<'r>>)> {
        let index = self.base + index;
        let field = self.spec.outputs.get(index)?;
        let section = self.section(index);
        Some((field, section.and_then(|section| section.given(self.options.dialect, field))))
    }

    fn keep<T>(&mut self, index: usize, result: Result<T, ReadError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(index, error);
                None
            }
        }
    }

    // Not generic, so that it is compiled once.
    fn fail(&mut self, index: usize, error: ReadError) {
        let index = self.base + index;
        let (Some(field), Some(section)) = (self.spec.outputs.get(index), self.section(index)) else {
            return;
        };
        let text = section.source.as_ref().map_or("", Source::text);
        self.failures.push(FieldFailure::new(&field.name, error, text, section.start));
    }

    /// The outputs that are right, and the defaults of those that are absent: what an error carries.
    pub(crate) fn known(&mut self) -> Fields {
        let mut fields = Fields::new();
        for index in 0..self.spec.outputs.len() {
            if let (Some(value), Some(field)) = (self.data(index), self.spec.outputs.get(index)) {
                fields.insert(field.name.clone(), value);
            }
        }
        fields
    }

    /// The outputs that are there and right, without defaults.
    pub(crate) fn given(&mut self) -> Fields {
        Fields::read_partial(self)
    }

    /// What was wrong: the outputs that were there and wrong, and the places of those that are missing.
    pub(crate) fn into_failures(self) -> (Vec<FieldFailure>, Vec<usize>) {
        (self.failures, self.missing)
    }
}

const NULL: Source<'static> = Source::Json(Cow::Borrowed("null"));

impl Record for Fields {
    fn write(&self, _: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        if let Some(value) = self.get(&field.name) {
            return out.data(value);
        }
        out.absent();
        Ok(())
    }

    fn user_name(&self) -> Option<&str> {
        self.get(USER_NAME)?.as_str()
    }

    fn given_names(&self) -> Vec<&str> {
        self.iter().map(|(name, _)| name).collect()
    }
}

impl Inputs for Fields {
    type Output = Fields;
    type Partial = Fields;
}

impl Outputs for Fields {
    type Partial = Fields;

    fn read(reader: &mut FieldReader<'_>) -> Option<Self> {
        let mut fields = Fields::new();
        let mut complete = true;
        for (index, field) in reader.spec.outputs.iter().skip(reader.base).enumerate() {
            match reader.data(index) {
                Some(value) => {
                    fields.insert(field.name.clone(), value);
                }
                None => complete = false,
            }
        }
        complete.then_some(fields)
    }

    fn read_partial(reader: &mut FieldReader<'_>) -> Self {
        let mut fields = Fields::new();
        for (field, section) in reader.spec.outputs.iter().zip(reader.sections).skip(reader.base) {
            let read =
                |source| read::read_value(source, &field.tree, field.checks.as_deref(), reader.options).ok();
            if let Some(value) = section.given(reader.options.dialect, field).and_then(read) {
                fields.insert(field.name.clone(), value);
            }
        }
        fields
    }

    fn read_field(reader: &mut FieldReader<'_>, index: usize, partial: &mut Self) -> bool {
        let Some((field, Some(source))) = reader.place(index) else { return false };
        let read = read::read_value(source, &field.tree, field.checks.as_deref(), reader.options);
        read.is_ok_and(|value| {
            partial.insert(field.name.clone(), value);
            true
        })
    }
}

impl FieldReader<'_> {
    /// Reads the output at `index` without a Rust type: its section, else its default, else null if it is
    /// optional.
    fn data(&mut self, index: usize) -> Option<Value> {
        let (field, given) = self.place(index)?;
        match (given, &field.default) {
            (Some(source), _) => {
                let result = read::read_value(source, &field.tree, field.checks.as_deref(), self.options);
                self.keep(index, result)
            }
            (None, Some(default)) => Some(default.clone()),
            (None, None) if field.is_optional() => Some(Value::Null),
            (None, None) => {
                self.missing.push(self.base + index);
                None
            }
        }
    }
}

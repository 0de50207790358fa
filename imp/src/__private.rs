//! What the derive's expansion names. No stability promise: `imp-derive` is pinned.

pub use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::limits::Message;
use crate::text::read::check_value;

pub use schemars;
pub use serde;
pub use serde_json::Value as Json;

pub use crate::adapter::record::{
    Describe, FieldReader, InputType, Inputs, OutputSignature, OutputType, Outputs, PartOf, Record, Signature,
};
pub use crate::bounds::{FloatType, LengthType, NumericType, TextType};
pub use crate::dialect::Dialect;
pub use crate::error::{MissingFields, SpecError, WriteError};
pub use crate::field::Field;
pub use crate::limits::{Limits, Numbers, Unlimited, check_bound, check_range};
pub use crate::meta::{Bound, FieldMeta, RecordMeta};
pub use crate::spec::{Constraint, FieldSpec, SignatureSpec};
pub use crate::text::write::FieldWriter;
pub use crate::types::AnswerShape;
pub use crate::value::Value;

/// What [`Signature::spec`] returns.
pub type SpecRef = Result<&'static Arc<SignatureSpec>, &'static SpecError>;

type Built = Result<Arc<SignatureSpec>, SpecError>;

/// The place of the spec of a struct without type parameters: a `static` in the impl.
#[derive(Debug)]
pub struct SpecCell(OnceLock<Built>);

impl SpecCell {
    /// An empty cell.
    #[allow(clippy::new_without_default, reason = "only a static makes one")]
    pub const fn new() -> Self {
        SpecCell(OnceLock::new())
    }

    /// The spec of the signature `I`, built the first time.
    ///
    /// # Errors
    ///
    /// As for [`Signature::spec`].
    pub fn signature<I: Signature>(&'static self) -> Result<&'static Arc<SignatureSpec>, &'static SpecError>
    where
        I::Output: OutputSignature,
    {
        self.0.get_or_init(build_signature::<I>).as_ref()
    }

    /// The spec of the outputs `O`, built the first time.
    ///
    /// # Errors
    ///
    /// As for [`Signature::spec`].
    pub fn outputs<O: OutputSignature>(
        &'static self,
    ) -> Result<&'static Arc<SignatureSpec>, &'static SpecError> {
        self.0.get_or_init(build_outputs::<O>).as_ref()
    }
}

fn build_signature<I: Signature>() -> Built
where
    I::Output: OutputSignature,
{
    let outputs = I::Output::output_spec().map_err(Clone::clone)?;
    let spec = SignatureSpec::from_meta(&I::META, outputs)?;
    check_defaults(&spec.inputs)?;
    Ok(Arc::new(spec))
}

fn build_outputs<O: OutputSignature>() -> Built {
    let spec = SignatureSpec::outputs_from_meta(&O::META)?;
    check_defaults(&spec.outputs)?;
    Ok(Arc::new(spec))
}

/// A default is of the field's type, but nothing has asked yet whether it is within the bounds.
fn check_defaults(fields: &[Arc<FieldSpec>]) -> Result<(), SpecError> {
    for field in fields {
        // Without bounds there is nothing to ask: a type's own form is serde's affair.
        let bounded = field.checks.is_some() || !field.constraints.is_empty();
        let Some(default) = field.default.as_ref().filter(|_| bounded) else { continue };
        check_value(default, &field.tree, &field.tree.root, field.checks.as_deref()).map_err(|message| {
            let message = format!("the default is out of bounds, it {message}: change it or the bound");
            SpecError::of_field(&field.name, message)
        })?;
    }
    Ok(())
}

/// The specs of structs with type parameters, by type. A `static` inside a generic function would be
/// one for all types.
fn by_type(key: std::any::TypeId, build: fn() -> Built) -> &'static Built {
    static SPECS: RwLock<Option<HashMap<std::any::TypeId, &'static Built>>> = RwLock::new(None);
    let find = |specs: &Option<HashMap<_, &'static Built>>| {
        specs.as_ref().and_then(|specs| specs.get(&key).copied())
    };
    if let Some(found) = find(&SPECS.read().unwrap_or_else(PoisonError::into_inner)) {
        return found;
    }
    // Built without the lock: building an input's spec builds its output's.
    let new = build();
    let mut specs = SPECS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = find(&specs) {
        return found;
    }
    let leaked: &'static Built = Box::leak(Box::new(new));
    specs.get_or_insert_default().insert(key, leaked);
    leaked
}

/// [`SpecCell::signature`] for a struct with type parameters.
///
/// # Errors
///
/// As for [`Signature::spec`].
pub fn generic_signature<I: Signature>() -> Result<&'static Arc<SignatureSpec>, &'static SpecError>
where
    I::Output: OutputSignature,
{
    by_type(typeid::of::<I>(), build_signature::<I>).as_ref()
}

/// [`SpecCell::outputs`] for a struct with type parameters.
///
/// # Errors
///
/// As for [`Signature::spec`].
pub fn generic_outputs<O: OutputSignature>() -> Result<&'static Arc<SignatureSpec>, &'static SpecError> {
    by_type(typeid::of::<O>(), build_outputs::<O>).as_ref()
}

// ---------------------------------------------------------------------------------------------------
// Fields: the operations of a type, and what stands in for them.
//
// `In::<T>::write(…)` is the inherent function below if `T: InputType`, else the one of the trait
// `Unusable`, which does nothing. So a field type that is none is reported once, by the where clause that
// the derive writes for it, and not again by every line of the expansion that uses the field. Where the
// trait is the usual case, its function's name is one that no trait of the user's has.

/// The operations of an input field's type.
#[derive(Debug)]
pub struct In<T>(PhantomData<fn() -> T>);

/// The operations of an output field's type.
#[derive(Debug)]
pub struct Out<T>(PhantomData<fn() -> T>);

/// The operations of an output field that borrows, which is reported otherwise: none.
#[derive(Debug)]
pub struct Neither<T>(PhantomData<fn() -> T>);

type Written = Result<(), WriteError>;

#[allow(clippy::missing_errors_doc, reason = "the errors of the traits' own functions")]
impl<T: InputType> In<T> {
    pub fn schema() -> Json {
        T::schema()
    }

    pub fn default_of<S: FieldDefault<INDEX, T>, const INDEX: usize>() -> Result<Value, String> {
        S::get().to_value().map_err(|error| error.to_string())
    }

    pub fn write(value: &T, out: &mut FieldWriter<'_>) -> Written {
        value.write(out)
    }

    pub fn write_some(value: &Option<T>, out: &mut FieldWriter<'_>) -> Written {
        if let Some(value) = value {
            return value.write(out);
        }
        out.absent();
        Ok(())
    }
}

#[allow(clippy::missing_errors_doc, reason = "the errors of the traits' own functions")]
impl<T: OutputType> Out<T> {
    pub fn schema() -> Json {
        T::schema()
    }

    pub fn default_of<S: FieldDefault<INDEX, T>, const INDEX: usize>() -> Result<Value, String> {
        S::get().to_value().map_err(|error| error.to_string())
    }

    pub fn write(value: &T, out: &mut FieldWriter<'_>) -> Written {
        value.write(out)
    }

    pub fn write_some(value: &Option<T>, out: &mut FieldWriter<'_>) -> Written {
        if let Some(value) = value {
            return value.write(out);
        }
        out.absent();
        Ok(())
    }

    pub fn read(reader: &mut FieldReader<'_>, index: usize) -> Option<T> {
        reader.field(index)
    }

    pub fn read_or<S: FieldDefault<INDEX, T>, const INDEX: usize>(reader: &mut FieldReader<'_>) -> Option<T> {
        reader.field_or(INDEX, S::get)
    }

    pub fn read_some(reader: &mut FieldReader<'_>, index: usize) -> Option<T> {
        reader.partial(index)
    }

    pub fn read_one(reader: &mut FieldReader<'_>, index: usize, field: &mut Option<T>) -> bool {
        *field = reader.partial(index);
        field.is_some()
    }

    pub fn any(field: &T) -> Option<&dyn Any>
    where
        T: 'static,
    {
        Some(field)
    }

    pub fn any_some(field: &Option<T>) -> Option<&dyn Any>
    where
        T: 'static,
    {
        field.as_ref().map(|value| value as &dyn Any)
    }
}

/// What [`In`] and [`Out`] do for a type that is none.
#[allow(clippy::missing_errors_doc, unused_variables, reason = "nothing is done")]
pub trait Unusable<T> {
    fn schema() -> Json {
        Json::Null
    }

    fn default_of<S: FieldDefault<INDEX, T>, const INDEX: usize>() -> Result<Value, String> {
        Ok(Value::Null)
    }

    fn write(value: &T, out: &mut FieldWriter<'_>) -> Written {
        Ok(())
    }

    fn write_some(value: &Option<T>, out: &mut FieldWriter<'_>) -> Written {
        Ok(())
    }

    fn read(reader: &mut FieldReader<'_>, index: usize) -> Option<T> {
        None
    }

    fn read_or<S: FieldDefault<INDEX, T>, const INDEX: usize>(reader: &mut FieldReader<'_>) -> Option<T> {
        None
    }

    fn read_some(reader: &mut FieldReader<'_>, index: usize) -> Option<T> {
        None
    }

    fn read_one(reader: &mut FieldReader<'_>, index: usize, field: &mut Option<T>) -> bool {
        false
    }

    fn any(field: &T) -> Option<&dyn Any> {
        None
    }

    fn any_some(field: &Option<T>) -> Option<&dyn Any> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<T> Unusable<T> for In<T> {}

#[diagnostic::do_not_recommend]
impl<T> Unusable<T> for Out<T> {}

#[diagnostic::do_not_recommend]
impl<T> Unusable<T> for Neither<T> {}

/// The default of the field at `INDEX`, written once in the expansion: a wrong type is one error.
pub trait FieldDefault<const INDEX: usize, T> {
    fn get() -> T;
}

/// The default of a field whose attribute says `default` alone.
pub fn default_of_type<T: OwnDefault>() -> T {
    T::own_default()
}

/// A type with a default of its own: what is `Default`, with our words for what is not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default of its own",
    label = "there is no default for the field",
    note = "implement `Default` for `{Self}`, or write the value: `default = …`"
)]
pub trait OwnDefault {
    fn own_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OwnDefault for T {
    fn own_default() -> T {
        T::default()
    }
}

/// A string literal as the default of a field of type `T`: the text types take it as it is. The other
/// types get it unchanged from [`Literal`], so that the compiler says what it expected.
#[derive(Debug)]
pub struct Text<T>(PhantomData<fn() -> T>);

pub trait Literal {
    fn __text(text: &'static str) -> &'static str {
        text
    }
}

#[diagnostic::do_not_recommend]
impl<T> Literal for Text<T> {}

macro_rules! texts {
    ($($ty:ty)*) => {
        $(impl Text<$ty> {
            pub fn __text(text: &'static str) -> $ty {
                text.into()
            }
        })*
    };
}

texts!(String Box<str> Arc<str> std::rc::Rc<str>);

impl<'a> Text<std::borrow::Cow<'a, str>> {
    pub fn __text(text: &'static str) -> std::borrow::Cow<'a, str> {
        text.into()
    }
}

impl Text<Option<String>> {
    #[allow(clippy::unnecessary_wraps, reason = "the field's type")]
    pub fn __text(text: &'static str) -> Option<String> {
        Some(text.to_owned())
    }
}

/// A doc comment as the description of a tool.
pub fn tool_description(docs: &str) -> String {
    crate::docs::clean_docs(docs)
}

// ---------------------------------------------------------------------------------------------------
// Companions.

/// The value of a field that was not given: nothing, or `None` for an `Option`.
#[derive(Debug)]
pub struct Absent<T>(PhantomData<fn() -> T>);

impl<T> Absent<Option<T>> {
    #[allow(clippy::option_option, reason = "the field itself is an option")]
    pub fn __value(self) -> Option<Option<T>> {
        Some(None)
    }
}

pub trait Required<T>: Sized {
    fn __value(self) -> Option<T> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<T> Required<T> for Absent<T> {}

/// A companion's field, or else what `absent` makes of it.
pub fn or_absent<T>(field: Option<T>, absent: impl FnOnce(Absent<T>) -> Option<T>) -> Option<T> {
    field.or_else(|| absent(Absent(PhantomData)))
}

/// A companion's field, or else its default.
pub fn or_default<S: FieldDefault<INDEX, T>, const INDEX: usize, T>(field: Option<T>) -> Option<T> {
    field.or_else(|| Some(S::get()))
}

/// The names of the fields that are missing.
pub fn missing(fields: &[(&'static str, bool)]) -> MissingFields {
    MissingFields::__new(fields.iter().filter(|(_, missing)| *missing).map(|(name, _)| *name).collect())
}

/// A companion's field for `Debug`: with its value if that is `Debug`, else only whether it is there.
/// Nothing is asked of the types of a signature's fields, so `Debug` may not be.
#[allow(missing_debug_implementations, reason = "only called")]
pub struct Shown<'a, T>(pub &'a Option<T>);

impl<'a, T: fmt::Debug> Shown<'a, T> {
    pub fn __shown(&self) -> &'a dyn fmt::Debug {
        self.0
    }
}

pub trait Hidden {
    fn __shown(&self) -> &'static dyn fmt::Debug;
}

#[diagnostic::do_not_recommend]
impl<T> Hidden for Shown<'_, T> {
    fn __shown(&self) -> &'static dyn fmt::Debug {
        if self.0.is_some() { &Word("Some(_)") } else { &Word("None") }
    }
}

struct Word(&'static str);

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// `Debug` of a companion.
///
/// # Errors
///
/// The formatter's own.
pub fn debug(f: &mut fmt::Formatter<'_>, name: &str, fields: &[(&str, &dyn fmt::Debug)]) -> fmt::Result {
    let mut all = f.debug_struct(name);
    for (name, field) in fields {
        all.field(name, field);
    }
    all.finish()
}

// ---------------------------------------------------------------------------------------------------
// Metadata, built in const.

impl RecordMeta {
    pub const fn new(name: &'static str, docs: &'static str, fields: &'static [FieldMeta]) -> Self {
        RecordMeta { name, docs, instructions: None, dialect: None, fields }
    }

    pub const fn instructions(mut self, instructions: &'static str) -> Self {
        self.instructions = Some(instructions);
        self
    }

    pub const fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }
}

impl FieldMeta {
    pub const fn new(name: &'static str, docs: &'static str, schema: fn() -> Json) -> Self {
        FieldMeta {
            name,
            aliases: &[],
            docs,
            desc: None,
            constraints: &[],
            answer_shape: None,
            text_field: false,
            schema,
            default: None,
        }
    }

    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub const fn desc(mut self, desc: &'static str) -> Self {
        self.desc = Some(desc);
        self
    }

    pub const fn answer_shape(mut self, shape: AnswerShape) -> Self {
        self.answer_shape = Some(shape);
        self
    }

    pub const fn text_field(mut self) -> Self {
        self.text_field = true;
        self
    }

    pub const fn default(mut self, default: fn() -> Result<Value, String>) -> Self {
        self.default = Some(default);
        self
    }
}

/// A bound that is a constant and no literal, whose type says what it is.
#[derive(Debug)]
pub struct Number<T>(T);

/// The value of a bound, which the compiler is asked for.
pub const fn number<T: BoundNumber>(value: T) -> Number<T> {
    Number(value)
}

/// A type of constants that bounds may be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a bound",
    label = "this is no number",
    note = "a bound is a number or a constant of an integer's or a float's type, except for `u128`"
)]
pub trait BoundNumber: Copy {}

/// Stands in for [`Number::bound`] where there is none: the type is reported once.
pub trait NoNumber: Sized {
    fn bound(self) -> Bound {
        Bound::Int(0)
    }
}

#[diagnostic::do_not_recommend]
impl<T> NoNumber for Number<T> {}

macro_rules! numbers {
    ($($ty:ty: $kind:ident,)*) => {
        $(
        #[diagnostic::do_not_recommend]
        impl BoundNumber for $ty {}

        impl Number<$ty> {
            #[allow(trivial_numeric_casts, clippy::cast_lossless, clippy::cast_possible_wrap, reason = "const")]
            pub const fn bound(self) -> Bound {
                Bound::$kind(self.0 as _)
            }
        })*
    };
}

// No u128: what is beyond i128 is no bound.
numbers! {
    i8: Int, i16: Int, i32: Int, i64: Int, i128: Int, isize: Int,
    u8: Int, u16: Int, u32: Int, u64: Int, usize: Int, f32: Float, f64: Float,
}

// ---------------------------------------------------------------------------------------------------
// A name on both sides.

/// The metadata of `T`, or nothing if `T` is no struct that derives `Signature`: then that is the error.
#[derive(Debug)]
pub struct Described<T>(PhantomData<fn() -> T>);

impl<T: Describe> Described<T> {
    pub const META: Option<&'static RecordMeta> = Some(&T::META);
}

pub trait Undescribed {
    const META: Option<&'static RecordMeta> = None;
}

#[diagnostic::do_not_recommend]
impl<T> Undescribed for Described<T> {}

/// Refuses the input `name` of the struct `input` if the output struct has a field of that name.
///
/// # Panics
///
/// It has: at compile time, since the derive calls this in a const item.
// The caller is the field's name in the user's struct, and with `track_caller` the error is there alone.
#[track_caller]
pub const fn only_input(input: &str, name: &str, output: Option<&RecordMeta>) {
    let Some(output) = output else { return };
    let mut at = 0;
    while at < output.fields.len() {
        if same(output.fields[at].name, name) {
            let message = Message::new()
                .with("field `")
                .with(name)
                .with("` is in both `")
                .with(input)
                .with("` and `")
                .with(output.name)
                .with("`: a name is an input or an output, rename one of them");
            panic!("{}", message.text());
        }
        at += 1;
    }
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn names_are_compared_whole() {
        for (left, right, expected) in
            [("a", "a", true), ("", "", true), ("a", "ab", false), ("ab", "a", false), ("ab", "ac", false)]
        {
            assert_eq!(same(left, right), expected, "{left} {right}");
        }
    }
}

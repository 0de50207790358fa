//! What the derive's expansion names. No stability promise: `imp-derive` is pinned.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

pub use serde_json::Value as Json;

pub use crate::adapter::record::{
    Describe, FieldReader, InputType, Inputs, OutputSignature, OutputType, Outputs, PartOf, Record, Signature,
};
pub use crate::dialect::Dialect;
pub use crate::error::{MissingFields, SpecError, WriteError};
pub use crate::field::Field;
pub use crate::meta::{Bound, FieldMeta, RecordMeta, Side, default_value, schema_for};
pub use crate::spec::{Constraint, FieldSpec, SignatureSpec};
pub use crate::text::write::FieldWriter;
pub use crate::types::AnswerShape;
pub use crate::value::Value;

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
    SignatureSpec::from_meta(&I::META, outputs).map(Arc::new)
}

fn build_outputs<O: OutputSignature>() -> Built {
    SignatureSpec::outputs_from_meta(&O::META).map(Arc::new)
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
    let built = build();
    let mut specs = SPECS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = find(&specs) {
        return found;
    }
    let leaked: &'static Built = Box::leak(Box::new(built));
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

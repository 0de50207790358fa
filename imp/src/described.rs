//! Signatures as data.
use crate::error::SpecError;
use crate::spec::SignatureSpec;
use serde_json::Value as Json;
pub(crate) fn spec_of(_: &Json) -> Result<SignatureSpec, SpecError> {
    Err(SpecError::new("not yet"))
}
pub(crate) fn json_of(_: &SignatureSpec) -> Result<Json, SpecError> {
    Err(SpecError::new("not yet"))
}

//! Signatures as a line of text.
use crate::error::SpecError;
use crate::spec::SignatureSpec;
pub(crate) fn parse(_: &str) -> Result<SignatureSpec, SpecError> {
    Err(SpecError::new("not yet"))
}

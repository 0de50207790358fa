//! The schema that a provider is asked to hold a reply to.

use serde_json::Value as Json;

use crate::dialect::Dialect;
use crate::spec::SignatureSpec;

/// The schema of the outputs by the rules of OpenAI's strict mode; `None` if they cannot be put that way.
pub(crate) fn provider_schema(spec: &SignatureSpec, dialect: Dialect) -> Option<Json> {
    let _ = (spec, dialect);
    None
}

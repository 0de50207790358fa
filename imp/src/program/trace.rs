//! What programs tell `tracing`, where the feature is on.

use crate::adapter::read::HowRead;
use crate::error::ParseError;

/// A reply was read by `adapter`.
pub(crate) fn read(adapter: &str, how: HowRead) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "imp", adapter, ?how, salvaged = matches!(how, HowRead::Salvaged { .. }), "reply read");
    #[cfg(not(feature = "tracing"))]
    let _ = (adapter, how);
}

/// A reply of `failed` could not be read, and `adapter` is asked with.
pub(crate) fn falls_back(failed: &str, adapter: &str, error: &ParseError) {
    #[cfg(feature = "tracing")]
    tracing::info!(target: "imp", adapter = failed, fallback_adapter = adapter, %error, "reply not read, falling back");
    #[cfg(not(feature = "tracing"))]
    let _ = (failed, adapter, error);
}

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

/// Calls of `model` are to start with `fallback`.
pub(super) fn learns(model: &str, chosen: &str, fallback: &str) {
    #[cfg(feature = "tracing")]
    tracing::info!(target: "imp", model, adapter = fallback, instead_of = chosen, "calls start with the fallback");
    #[cfg(not(feature = "tracing"))]
    let _ = (model, chosen, fallback);
}

/// Calls of `model` are to start with `chosen` again.
pub(super) fn forgets(model: &str, chosen: &str, fallback: &str) {
    #[cfg(feature = "tracing")]
    tracing::info!(target: "imp", model, adapter = chosen, instead_of = fallback, "calls start as chosen again");
    #[cfg(not(feature = "tracing"))]
    let _ = (model, chosen, fallback);
}

/// A call starts with `adapter`, as the program has learnt, and not with `chosen`.
pub(super) fn starts(adapter: &str, chosen: &str) {
    #[cfg(feature = "tracing")]
    tracing::debug!(target: "imp", adapter, instead_of = chosen, "starting with the adapter that works");
    #[cfg(not(feature = "tracing"))]
    let _ = (adapter, chosen);
}

//! Adapters: a signature and its values become messages, a reply becomes values.

pub(crate) mod record;

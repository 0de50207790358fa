//! Adapters: a signature and its values become messages, a reply becomes values.

pub(crate) mod field_list;
pub(crate) mod instructions;
pub(crate) mod record;
pub(crate) mod schema_text;
pub(crate) mod words;

//! The quirks of DSPy by what shows them: a type, the text of a section, and what each made of it.

use imp::Value;

use crate::generate::Ty;

/// What was made of an output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Read {
    /// It has no section.
    Absent,
    /// Its section was refused.
    Error,
    /// A value.
    Value(Value),
}

/// An output that `imp` and DSPy read differently.
#[derive(Debug)]
#[allow(dead_code, reason = "the reply and the name are for the text of a failure")]
pub(super) struct Field<'t> {
    pub(super) reply: &'t str,
    pub(super) name: &'t str,
    pub(super) ty: &'t Ty,
    /// Its section, as DSPy cuts it.
    pub(super) text: Option<&'t str>,
    /// Whether Python reads the section as a literal.
    pub(super) python: bool,
    pub(super) ours: &'t Read,
    pub(super) theirs: &'t Read,
}

/// The first quirk that explains the difference.
pub(super) fn of(_: &Field<'_>) -> Option<&'static str> {
    None
}

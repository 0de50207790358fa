//! Typed handles: how a field is named without a string.

use std::fmt;
use std::marker::PhantomData;

/// A field of the struct `S` with the type `T`.
///
/// The derive makes one for each field, as `Ticket::FIELDS.plan`, so that a misspelt name does not
/// compile. Everything that needs a name takes a handle.
pub struct Field<S: ?Sized, T: ?Sized> {
    index: usize,
    name: &'static str,
    // A function's result keeps the handle covariant, `Send` and `Sync` whatever `S` and `T` are.
    of: PhantomData<fn() -> (*const S, *const T)>,
}

impl<S: ?Sized, T: ?Sized> Field<S, T> {
    /// For the derive only.
    #[doc(hidden)]
    pub const fn __new(index: usize, name: &'static str) -> Self {
        Field { index, name, of: PhantomData }
    }

    /// The field's name in prompts and replies.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The field's place among the fields of its struct, from 0.
    pub const fn index(&self) -> usize {
        self.index
    }
}

/// The field's name, so that a handle can stand wherever a name can.
impl<S: ?Sized, T: ?Sized> AsRef<str> for Field<S, T> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl<S: ?Sized, T: ?Sized> Clone for Field<S, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized, T: ?Sized> Copy for Field<S, T> {}

impl<S: ?Sized, T: ?Sized> fmt::Debug for Field<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Field").field(&self.name).finish()
    }
}

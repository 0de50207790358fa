//! Typed handles: how a field is named without a string.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// A handle: the field of the struct `S` whose type is `T`.
///
/// [`#[derive(Signature)]`](derive@crate::Signature) makes one for each field, as
/// `Ticket::FIELDS.plan`. Whatever needs a field's name takes a handle, so that a misspelt name does
/// not compile, and a handle of another struct does not either.
///
/// ```
/// use imp::{Field, Signature};
///
/// #[derive(Signature)]
/// struct Route {
///     team: String,
///     #[field(rename = "answer")]
///     reply: String,
/// }
///
/// let reply: Field<Route, String> = Route::FIELDS.reply;
/// assert_eq!(reply.name(), "answer");
/// assert_eq!(reply.index(), 1);
/// ```
///
/// The handles of a generic struct need its parameters: `Ask::<u8>::FIELDS.question`.
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

    /// The field's name in prompts and replies: the Rust name, or what a `rename` makes of it.
    ///
    /// ```
    /// # use imp::Signature;
    /// #[derive(Signature)]
    /// struct Sorted {
    ///     r#type: String,
    /// }
    ///
    /// assert_eq!(Sorted::FIELDS.r#type.name(), "type");
    /// ```
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The field's place among the fields of its struct, from 0.
    ///
    /// ```
    /// # use imp::Signature;
    /// #[derive(Signature)]
    /// struct Sorted {
    ///     kind: String,
    ///     reason: String,
    /// }
    ///
    /// assert_eq!(Sorted::FIELDS.reason.index(), 1);
    /// ```
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

// By the place alone: two handles of one type are of one struct.
impl<S: ?Sized, T: ?Sized> PartialEq for Field<S, T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<S: ?Sized, T: ?Sized> Eq for Field<S, T> {}

impl<S: ?Sized, T: ?Sized> Hash for Field<S, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

impl<S: ?Sized, T: ?Sized> fmt::Debug for Field<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Field").field(&self.name).finish()
    }
}

//! Which types may have which bounds: what `#[field(min = 1)]` asks of the field's type.
//!
//! Marker traits, so that a bound which can never hold is an error of the compiler at its word. They
//! say nothing about how a bound is checked: that goes by the JSON Schema of the type.

use std::borrow::Cow;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::num;
use std::rc::Rc;
use std::sync::Arc;

/// A type that may have the bounds `min`, `max`, `gt`, `lt` and `multiple_of`: a number.
///
/// Implemented for integers, floats, and `Option`s, references and boxes of them. A newtype over a
/// number is written as that number, so say it:
///
/// ```
/// use imp::{NumericType, Signature};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct Percent(u8);
///
/// impl NumericType for Percent {}
///
/// #[derive(Signature)]
/// struct Forecast {
///     #[field(max = 100)]
///     rain: Percent,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have the bounds of a number",
    label = "`{Self}` is no number",
    note = "`min`, `max`, `gt`, `lt` and `multiple_of` are for integers, floats and `Option`s of them; for a newtype over a number implement `imp::NumericType`"
)]
pub trait NumericType {}

/// A type that may have the switch `allow_inf_nan`: a float.
///
/// Implemented for `f32`, `f64`, and `Option`s, references and boxes of them; implement it for a newtype
/// over a float.
///
/// ```
/// use imp::Signature;
///
/// #[derive(Signature)]
/// struct Reading {
///     #[field(allow_inf_nan)]
///     volts: f64,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have the switch `allow_inf_nan`",
    label = "`{Self}` is no float",
    note = "only floats can be infinite or not a number; for a newtype over a float implement `imp::FloatType`"
)]
pub trait FloatType {}

/// A type that may have `pattern`, `answer_shape` and `text_field`: a text.
///
/// Implemented for `String`, `str`, and `Option`s, references, boxes and `Cow`s of them; implement it for
/// a newtype over a text.
///
/// ```
/// use imp::Signature;
///
/// #[derive(Signature)]
/// struct Order {
///     #[field(pattern = "^[A-Z]{2}[0-9]+$")]
///     number: String,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have what only a text can have",
    label = "`{Self}` is no text",
    note = "`text_field`, `pattern` and `answer_shape` are for `String` and `Option<String>`; for a newtype over a text implement `imp::TextType`"
)]
pub trait TextType {}

/// A type that may have the bounds `min_length` and `max_length`: a text (in characters) or a list (in
/// items).
///
/// Implemented for what is a [`TextType`], for `Vec`, slices, arrays, sets and the like, and for `Option`s,
/// references and boxes of them; implement it for a newtype over one.
///
/// ```
/// use imp::Signature;
///
/// #[derive(Signature)]
/// struct Summary {
///     #[field(max_length = 3)]
///     points: Vec<String>,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have `min_length` or `max_length`",
    label = "`{Self}` is neither a text nor a list",
    note = "lengths are for `String`, `Vec`, sets and `Option`s of them; for a newtype over one implement `imp::LengthType`"
)]
pub trait LengthType {}

macro_rules! mark {
    ($($marker:ident: $($ty:ty),* ;)*) => {
        $($(
            #[diagnostic::do_not_recommend]
            impl $marker for $ty {}
        )*)*
    };
}

macro_rules! through_pointers {
    ($($marker:ident)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<T: $marker> $marker for Option<T> {}
            #[diagnostic::do_not_recommend]
            impl<T: $marker + ?Sized> $marker for &T {}
            #[diagnostic::do_not_recommend]
            impl<T: $marker + ?Sized> $marker for Box<T> {}
            #[diagnostic::do_not_recommend]
            impl<T: $marker + ?Sized> $marker for Rc<T> {}
            #[diagnostic::do_not_recommend]
            impl<T: $marker + ?Sized> $marker for Arc<T> {}
            #[diagnostic::do_not_recommend]
            impl<T: $marker + ToOwned + ?Sized> $marker for Cow<'_, T> {}
        )*
    };
}

through_pointers!(NumericType FloatType TextType LengthType);

mark! {
    NumericType:
        i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64, serde_json::Number,
        num::NonZeroI8, num::NonZeroI16, num::NonZeroI32, num::NonZeroI64, num::NonZeroI128,
        num::NonZeroIsize, num::NonZeroU8, num::NonZeroU16, num::NonZeroU32, num::NonZeroU64,
        num::NonZeroU128, num::NonZeroUsize;
    FloatType: f32, f64;
    TextType: str, String;
    LengthType: str, String;
}

macro_rules! lists {
    ($($ty:ident $(<$hasher:ident>)?)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<T $(, $hasher)?> LengthType for $ty<T $(, $hasher)?> {}
        )*
    };
}

lists!(Vec VecDeque LinkedList BinaryHeap BTreeSet HashSet<S>);

#[diagnostic::do_not_recommend]
impl<T> LengthType for [T] {}

#[diagnostic::do_not_recommend]
impl<T, const N: usize> LengthType for [T; N] {}

//! Which types may have which bounds: what `#[field(min = 1)]` asks of the field's type.
//!
//! Marker traits, so that a bound which can never hold is an error of the compiler at its word. They
//! say nothing about how a bound is checked: that goes by the JSON Schema of the type, which is asked once
//! more when the spec is made: a newtype may say anything of itself, and a type parameter nothing.

use std::borrow::Cow;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::num;
use std::rc::Rc;
use std::sync::Arc;

use crate::spec::{Constraint, leaves_nothing};
use crate::types::{Checks, Kind, Number, Type, implied};

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

/// Refuses the bounds that a field declares if its type is none that has such, is narrower than they are, or
/// leaves nothing of them.
///
/// # Errors
///
/// A text that names the bound and the remedy.
pub(crate) fn check_declared(
    declared: impl Iterator<Item = Constraint>,
    checks: &Checks,
    ty: &Type,
) -> Result<(), String> {
    for constraint in declared {
        if let Some(what) = misplaced(constraint, &ty.kind) {
            return Err(format!("the bound `{constraint}` is for {what}: remove it or change the type"));
        }
    }
    let none = Checks::default();
    let own = ty.checks.as_deref().unwrap_or(&none);
    let implied = ty.schema.as_object().filter(|_| matches!(ty.kind, Kind::Integer)).and_then(implied);
    let low = own.minimum.or(implied.map(|(low, _)| Number::Int(low)));
    let high = own.maximum.or(implied.map(|(_, high)| Number::Int(high)));
    let bounds = [
        (Constraint::Ge, checks.minimum),
        (Constraint::Gt, checks.exclusive_minimum),
        (Constraint::Le, checks.maximum),
        (Constraint::Lt, checks.exclusive_maximum),
    ];
    for (constraint, bound) in bounds {
        let Some(bound) = bound else { continue };
        let beyond = |low: Option<Number>, high: Option<Number>| match (low, high) {
            (Some(low), Some(high)) => leaves_nothing(low, high, false),
            _ => false,
        };
        // `lt = 256` says of a byte what is true of it.
        let bound = match (bound, constraint) {
            (Number::Int(value), Constraint::Gt) => Number::Int(value.saturating_add(1)),
            (Number::Int(value), Constraint::Lt) => Number::Int(value.saturating_sub(1)),
            (bound, _) => bound,
        };
        if beyond(low, Some(bound)) || beyond(Some(bound), high) {
            return Err(format!(
                "the bound `{constraint}` is outside of what the field's type has: change the bound or the type"
            ));
        }
    }
    for (constraint, bound) in
        [(Constraint::MinLength, checks.min_length), (Constraint::MaxLength, checks.max_length)]
    {
        let Some(bound) = bound else { continue };
        if own.min_length.is_some_and(|least| bound < least)
            || own.max_length.is_some_and(|most| bound > most)
        {
            return Err(format!(
                "the bound `{constraint}` is outside of the lengths that the field's type has: change the bound or \
                 the type"
            ));
        }
    }
    Ok(())
}

/// What has such a bound, if a type of this kind has not. A kind that could be anything is left alone.
fn misplaced(constraint: Constraint, kind: &Kind) -> Option<&'static str> {
    let number = matches!(kind, Kind::Integer | Kind::Number);
    let text =
        matches!(kind, Kind::String | Kind::Reasoning | Kind::Code { .. } | Kind::Date | Kind::DateTime);
    let many = matches!(kind, Kind::List { .. } | Kind::Tuple(_) | Kind::Map { .. });
    if !(number || text || many || matches!(kind, Kind::Boolean | Kind::Object(_))) {
        return None;
    }
    match constraint {
        Constraint::MinLength | Constraint::MaxLength => (!text && !many).then_some("a text or a list"),
        Constraint::Pattern => (!text).then_some("a text"),
        Constraint::AllowInfNan => (!matches!(kind, Kind::Number)).then_some("a float"),
        _ => (!number).then_some("a number"),
    }
}

//! What the derive asks of bounds when it is compiled: whether the field's type has such numbers at all, and
//! whether any number is left. Const, since it asks in const items; what they cannot see is checked once more
//! when the spec is made.

use std::marker::PhantomData;

use crate::meta::{Bound, FieldMeta, RecordMeta};
use crate::spec::Constraint;

/// The least and the greatest number of a type.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    low: Bound,
    high: Bound,
}

/// The numbers of a field's type.
#[derive(Debug)]
pub struct Numbers<T>(PhantomData<fn() -> T>);

/// What is no number of the standard library's has no limits that are known here.
pub trait Unlimited {
    /// None.
    const __LIMITS: Option<Limits> = None;
}

#[diagnostic::do_not_recommend]
impl<T> Unlimited for Numbers<T> {}

macro_rules! limits {
    ($($ty:ty: $kind:ident $low:expr, $high:expr;)*) => {
        $(
            impl Numbers<$ty> {
                /// The type's.
                #[allow(clippy::cast_lossless, clippy::cast_possible_wrap, trivial_numeric_casts, reason = "const")]
                pub const __LIMITS: Option<Limits> =
                    Some(Limits { low: Bound::$kind($low as _), high: Bound::$kind($high as _) });
            }

            impl Numbers<Option<$ty>> {
                /// The type's.
                pub const __LIMITS: Option<Limits> = Numbers::<$ty>::__LIMITS;
            }
        )*
    };
}

macro_rules! integers {
    ($($ty:ident $non_zero:ident)*) => {
        limits!($(
            $ty: Int $ty::MIN, $ty::MAX;
            std::num::$non_zero: Int $ty::MIN, $ty::MAX;
        )*);
    };
}

integers! {
    i8 NonZeroI8 i16 NonZeroI16 i32 NonZeroI32 i64 NonZeroI64 isize NonZeroIsize
    u8 NonZeroU8 u16 NonZeroU16 u32 NonZeroU32 u64 NonZeroU64 usize NonZeroUsize
}

limits! {
    // What is beyond i128 is no bound.
    u128: Int 0, i128::MAX;
    i128: Int i128::MIN, i128::MAX;
    f32: Float f32::MIN, f32::MAX;
}

/// Refuses the bound at `at` of the field at `field` if the field's type has no such number. `word` is what
/// the attribute calls it.
///
/// # Panics
///
/// It has not: at compile time, since the derive calls this in a const item.
// The caller is the word in the user's struct, and with `track_caller` the error is there alone.
#[track_caller]
pub const fn check_bound(meta: &RecordMeta, field: usize, at: usize, word: &str, limits: Option<Limits>) {
    if field >= meta.fields.len() || at >= meta.fields[field].constraints.len() {
        return;
    }
    let FieldMeta { name, constraints, .. } = &meta.fields[field];
    let (constraint, bound) = constraints[at];
    if matches!(constraint, Constraint::MinLength | Constraint::MaxLength) {
        if !matches!(bound, Bound::Int(0..)) {
            let message = Message::new().with("`").with(word).with("` of `").with(name);
            panic!("{}", message.with("` is a length: give a whole number from 0").text());
        }
        return;
    }
    if let Bound::Float(value) = bound {
        if !value.is_finite() {
            let message = Message::new().with("`").with(word).with("` of `").with(name);
            panic!("{}", message.with("` is no finite number: give one").text());
        }
    }
    if matches!(constraint, Constraint::MultipleOf) && !less(Bound::Int(0), bound) {
        let message = Message::new().with("`").with(word).with("` of `").with(name);
        panic!("{}", message.with("` is not above 0: give a number above 0").text());
    }
    let Some(limits) = limits else { return };
    if outside(constraint, bound, limits) {
        let message = Message::new().with("`").with(word);
        let message = match bound {
            Bound::Int(value) => message.with(" = ").number(value),
            _ => message,
        };
        let message = message.with("` is outside of the type of `").with(name).with("`");
        let message = match (limits.low, limits.high) {
            (Bound::Int(low), Bound::Int(high)) => {
                message.with(", which is from ").number(low).with(" to ").number(high)
            }
            _ => message,
        };
        panic!("{}", message.with(": change the number or the type").text());
    }
}

/// Refuses the bounds of the field at `field` if no number is within all of them.
///
/// # Panics
///
/// As for [`check_bound`].
#[track_caller]
pub const fn check_range(meta: &RecordMeta, field: usize, limits: Option<Limits>) {
    if field >= meta.fields.len() {
        return;
    }
    let FieldMeta { name, constraints, .. } = &meta.fields[field];
    // One that is outside of the type is reported already.
    let mut at = 0;
    while at < constraints.len() {
        let (constraint, bound) = constraints[at];
        if let Some(limits) = limits {
            if outside(constraint, bound, limits) {
                return;
            }
        }
        at += 1;
    }
    if is_empty(constraints, limits) {
        let message = Message::new().with("no number satisfies all bounds of `").with(name);
        panic!("{}", message.with("`: change one").text());
    }
}

/// Whether the type has no number at or next to the bound, or none beyond it.
const fn outside(constraint: Constraint, bound: Bound, limits: Limits) -> bool {
    let Limits { low, high } = limits;
    match constraint {
        Constraint::Ge | Constraint::Le => less(bound, low) || less(high, bound),
        Constraint::Gt => less(bound, beside(low, -1)) || !less(bound, high),
        Constraint::Lt => less(beside(high, 1), bound) || !less(low, bound),
        Constraint::MultipleOf => less(high, bound),
        _ => false,
    }
}

/// The next whole number: `gt = -1` says of an unsigned number what is true of it.
const fn beside(bound: Bound, step: i128) -> Bound {
    match bound {
        Bound::Int(value) => Bound::Int(value.saturating_add(step)),
        other => other,
    }
}

const fn is_empty(constraints: &[(Constraint, Bound)], limits: Option<Limits>) -> bool {
    if let Some(Limits { low: Bound::Int(low), high: Bound::Int(high) }) = limits {
        return holds_no_integer(constraints, low, high);
    }
    let mut one = 0;
    while one < constraints.len() {
        let mut other = 0;
        while other < constraints.len() {
            let ((below, low), (above, high)) = (constraints[one], constraints[other]);
            let empty = match (below, above) {
                (Constraint::Ge, Constraint::Le) | (Constraint::MinLength, Constraint::MaxLength) => {
                    less(high, low)
                }
                (Constraint::Ge | Constraint::Gt, Constraint::Lt) | (Constraint::Gt, Constraint::Le) => {
                    !less(low, high)
                }
                _ => false,
            };
            if empty {
                return true;
            }
            other += 1;
        }
        one += 1;
    }
    false
}

const fn holds_no_integer(constraints: &[(Constraint, Bound)], mut low: i128, mut high: i128) -> bool {
    let mut of = 1;
    let mut at = 0;
    while at < constraints.len() {
        // A bound that is no whole number, rare at an integer, is left to the check of the values.
        if let (constraint, Bound::Int(value)) = constraints[at] {
            match constraint {
                Constraint::Ge if value > low => low = value,
                Constraint::Gt if value >= low => low = value.saturating_add(1),
                Constraint::Le if value < high => high = value,
                Constraint::Lt if value <= high => high = value.saturating_sub(1),
                Constraint::MultipleOf if value > 0 => of = value,
                _ => {}
            }
        }
        at += 1;
    }
    // The first multiple from `low` on.
    let rest = low.rem_euclid(of);
    let first = if rest == 0 { Some(low) } else { low.checked_add(of - rest) };
    match first {
        Some(first) => first > high,
        None => true,
    }
}

#[allow(clippy::cast_precision_loss, reason = "only where one of the two is a float anyway")]
const fn less(left: Bound, right: Bound) -> bool {
    match (left, right) {
        (Bound::Int(left), Bound::Int(right)) => left < right,
        (Bound::Int(left), Bound::Float(right)) => (left as f64) < right,
        (Bound::Float(left), Bound::Int(right)) => left < right as f64,
        (Bound::Float(left), Bound::Float(right)) => left < right,
        _ => false,
    }
}

/// A text that is put together in const, where there is no allocation.
pub(crate) struct Message {
    bytes: [u8; 256],
    len: usize,
}

impl Message {
    pub(crate) const fn new() -> Self {
        Message { bytes: [0; 256], len: 0 }
    }

    pub(crate) const fn with(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() {
            self = self.byte(text[at]);
            at += 1;
        }
        self
    }

    const fn byte(mut self, byte: u8) -> Self {
        if self.len < self.bytes.len() {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        self
    }

    const fn number(mut self, value: i128) -> Self {
        if value < 0 {
            self = self.byte(b'-');
        }
        let mut rest = value.unsigned_abs();
        let mut digits = [0; 40];
        let mut count = 0;
        while count == 0 || rest > 0 {
            digits[count] = b'0' + (rest % 10) as u8;
            rest /= 10;
            count += 1;
        }
        while count > 0 {
            count -= 1;
            self = self.byte(digits[count]);
        }
        self
    }

    pub(crate) const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // Cut inside of a character, which takes a name of hundreds.
            Err(_) => "a field of this struct has a mistake",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Constraint::{Ge, Gt, Le, Lt, MaxLength, MinLength, MultipleOf};

    const fn int(value: i128) -> Bound {
        Bound::Int(value)
    }

    #[test]
    fn a_message_is_cut_and_stays_text() {
        let long = "ä".repeat(200);
        for (parts, expected) in [
            (vec!["field `", "reply", "`"], "field `reply`".to_owned()),
            (vec![&long[..]], "ä".repeat(128)),
            (vec!["x", &long[..]], "a field of this struct has a mistake".to_owned()),
        ] {
            let message = parts.iter().fold(Message::new(), |message, part| message.with(part));
            assert_eq!(message.text(), expected);
        }
        for value in [0, 7, -1, 255, i128::MIN, i128::MAX] {
            assert_eq!(Message::new().number(value).text(), value.to_string());
        }
    }

    #[test]
    fn bounds_outside_of_a_type() {
        let byte = Numbers::<u8>::__LIMITS.unwrap();
        for (constraint, inside, out) in [
            (Ge, &[0, 255][..], &[-1, 256][..]),
            (Le, &[0, 255], &[-1, 256]),
            (Gt, &[-1, 0, 254], &[-2, 255]),
            (Lt, &[1, 255, 256], &[0, 257]),
            (MultipleOf, &[1, 255], &[256]),
        ] {
            assert!(inside.iter().all(|&value| !outside(constraint, int(value), byte)), "{constraint}");
            assert!(out.iter().all(|&value| outside(constraint, int(value), byte)), "{constraint}");
        }
        assert!(outside(Le, Bound::Float(255.5), byte) && !outside(Le, Bound::Float(0.5), byte));
        let single = Numbers::<Option<f32>>::__LIMITS.unwrap();
        assert!(outside(Le, Bound::Float(1e39), single) && !outside(Le, Bound::Float(1e38), single));
        assert!(Numbers::<String>::__LIMITS.is_none() && Numbers::<f64>::__LIMITS.is_none());
    }

    #[test]
    fn bounds_that_leave_nothing() {
        let byte = Numbers::<u8>::__LIMITS;
        let wide = Numbers::<i128>::__LIMITS;
        for (bounds, limits, expected) in [
            (&[(Gt, int(1)), (Lt, int(3))][..], byte, false),
            (&[(Gt, int(1)), (Lt, int(2))], byte, true),
            (&[(Gt, int(1)), (Lt, int(2))], None, false),
            (&[(Ge, int(6)), (Le, int(9)), (MultipleOf, int(5))], byte, true),
            (&[(Ge, int(6)), (Le, int(10)), (MultipleOf, int(5))], byte, false),
            (&[(Ge, int(-9)), (Le, int(-6)), (MultipleOf, int(5))], wide, true),
            (&[(Ge, int(-9)), (Le, int(-5)), (MultipleOf, int(5))], wide, false),
            (&[(Gt, int(i128::MAX - 1))], wide, false),
            (&[(Ge, int(i128::MAX)), (MultipleOf, int(2))], wide, true),
            (&[(Ge, Bound::Float(0.5)), (Le, Bound::Float(0.25))], None, true),
            (&[(Ge, Bound::Float(0.5)), (Le, Bound::Float(0.5))], None, false),
            (&[(Ge, Bound::Float(0.5)), (Lt, Bound::Float(0.5))], None, true),
            (&[(MaxLength, int(2)), (MinLength, int(3))], None, true),
            (&[(MaxLength, int(3)), (MinLength, int(3))], None, false),
        ] {
            assert_eq!(is_empty(bounds, limits), expected, "{bounds:?}");
        }
    }
}

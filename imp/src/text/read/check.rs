//! The bounds of a value.

use std::cmp::Ordering;

use super::super::number::{Float, Floats, push_float};
use super::failure::{Failure, Step, Why};
use crate::types::{AnswerShape, Checks, Kind, Number, Type, TypeTree};
use crate::value::Value;

fn broken(message: String) -> Failure {
    Failure::new(Why::Bound, message)
}

fn spelt(bound: Number) -> String {
    match bound {
        Number::Int(value) => value.to_string(),
        Number::Float(value) => {
            let mut text = String::new();
            push_float(&mut text, Float::Double(value), Floats::Python);
            text
        }
    }
}

fn is_multiple(value: Number, of: Number) -> bool {
    match (value, of) {
        (_, Number::Int(0)) => true,
        (Number::Int(value), Number::Int(of)) => value.checked_rem(of).is_none_or(|rest| rest == 0),
        _ => {
            // As pydantic: a rest within a billionth of the value is none.
            let (value, of) = (value.as_f64(), of.as_f64());
            let rest = (value % of).abs();
            let tolerance = value.abs() / 1e9;
            rest <= tolerance || (rest - of.abs()).abs() <= tolerance
        }
    }
}

fn number(value: Number, checks: &Checks) -> Result<(), Failure> {
    let finite = value.as_f64().is_finite();
    if !finite && checks.inf_nan == Some(false) {
        return Err(broken("must be a finite number".to_owned()));
    }
    // NaN is in no order, and so breaks every bound.
    let rules = [
        (checks.exclusive_minimum, ">", Ordering::is_gt as fn(Ordering) -> bool),
        (checks.minimum, ">=", Ordering::is_ge),
        (checks.exclusive_maximum, "<", Ordering::is_lt),
        (checks.maximum, "<=", Ordering::is_le),
    ];
    for (bound, sign, holds) in rules {
        if let Some(bound) = bound {
            if !value.compare(bound).is_some_and(holds) {
                return Err(broken(format!("must be {sign} {}", spelt(bound))));
            }
        }
    }
    match checks.multiple_of {
        Some(of) if !is_multiple(value, of) => Err(broken(format!("must be a multiple of {}", spelt(of)))),
        _ => Ok(()),
    }
}

fn length(length: usize, checks: &Checks) -> Result<(), Failure> {
    match (checks.min_length, checks.max_length) {
        (Some(min), _) if length < min => Err(broken(format!("length must be >= {min}"))),
        (_, Some(max)) if length > max => Err(broken(format!("length must be <= {max}"))),
        _ => Ok(()),
    }
}

/// A text's own bounds. Its length is counted in characters, where Imp counts bytes: a limit of five is five
/// letters in every script.
pub(super) fn text(text: &str, checks: &Checks) -> Result<(), Failure> {
    if checks.min_length.is_some() || checks.max_length.is_some() {
        length(text.chars().count(), checks)?;
    }
    if let Some(pattern) = &checks.pattern {
        if !pattern.regex.is_match(text) {
            return Err(broken(format!("must match {}", pattern.source)));
        }
    }
    match checks.answer_shape {
        Some(shape) if !has_shape(text, shape) => Err(broken(
            match shape {
                AnswerShape::YesNo => "must be exactly yes or no",
                AnswerShape::NumericSpan => {
                    "must be only the numeric answer span, with no words or explanation"
                }
                AnswerShape::ShortSpan => "must be a concise exact answer span",
            }
            .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// §8.5.
fn has_shape(text: &str, shape: AnswerShape) -> bool {
    let trimmed = text.trim();
    match shape {
        AnswerShape::YesNo => trimmed.eq_ignore_ascii_case("yes") || trimmed.eq_ignore_ascii_case("no"),
        AnswerShape::NumericSpan => {
            let number = trimmed.strip_prefix('-').unwrap_or(trimmed);
            let number = number.strip_prefix('$').unwrap_or(number);
            let number = number.strip_suffix('%').unwrap_or(number);
            let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
            !whole.is_empty()
                && whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
                && !fraction.is_empty()
                && fraction.bytes().all(|byte| byte.is_ascii_digit())
        }
        AnswerShape::ShortSpan => {
            let words = trimmed.split_whitespace().count();
            (1..=12).contains(&words) && !trimmed.contains(['\n', ';'])
        }
    }
}

/// A value's own bounds, whatever is inside it.
pub(super) fn value(value: &Value, checks: &Checks) -> Result<(), Failure> {
    match value {
        Value::Int(value) => number(Number::Int(*value), checks),
        Value::Float(value) => number(Number::Float(*value), checks),
        Value::String(value) => text(value, checks),
        Value::List(items) => length(items.len(), checks),
        Value::Map(map) => length(map.len(), checks),
        Value::Null | Value::Bool(_) | Value::Part(_) => Ok(()),
    }
}

/// The bounds of everything in a value that its type can be followed into.
///
/// A type that serde read already is right but for its bounds, so what does not fit here (a renamed key, a
/// union's other branch) is passed over.
pub(super) fn nested(tree: &TypeTree, ty: &Type, value: &Value) -> Result<(), Failure> {
    let given = value;
    let place = ty;
    let ty = tree.resolve(place);
    for checks in [&place.checks, &ty.checks].into_iter().skip(usize::from(std::ptr::eq(place, ty))).flatten()
    {
        self::value(given, checks)?;
    }
    match (&ty.kind, given) {
        (Kind::List { items: Some(ty), .. }, Value::List(items)) => {
            for (at, item) in items.iter().enumerate() {
                nested(tree, ty, item).map_err(|failure| failure.inside(Step::Index(at)))?;
            }
        }
        (Kind::Tuple(types), Value::List(items)) => {
            for (at, (ty, item)) in types.iter().zip(items).enumerate() {
                nested(tree, ty, item).map_err(|failure| failure.inside(Step::Index(at)))?;
            }
        }
        (Kind::Map { values: Some(ty), .. }, Value::Map(map)) => {
            for (key, value) in map.iter() {
                nested(tree, ty, value).map_err(|failure| failure.inside(Step::Key(key.to_owned())))?;
            }
        }
        (Kind::Object(object), Value::Map(map)) => {
            for property in &object.properties {
                if let Some(value) = map.get(&property.name) {
                    nested(tree, &property.ty, value)
                        .map_err(|failure| failure.inside(Step::Key(property.name.clone())))?;
                }
            }
        }
        (Kind::Union { branches, .. }, value) => {
            let mut first = None;
            for branch in branches {
                if !super::conform::has_kind(tree, branch, value) {
                    continue;
                }
                match nested(tree, branch, value) {
                    Ok(()) => return Ok(()),
                    Err(failure) => {
                        first.get_or_insert(failure);
                    }
                }
            }
            if let Some(failure) = first {
                return Err(failure);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Pattern;

    fn message(given: impl Into<Value>, checks: &Checks) -> Option<String> {
        value(&given.into(), checks).err().map(|failure| failure.to_string())
    }

    #[test]
    fn bounds_are_said_as_section_eight_says() {
        let bounds =
            Checks { minimum: Some(Number::Int(1)), maximum: Some(Number::Int(4)), ..Checks::default() };
        let open = Checks {
            exclusive_minimum: Some(Number::Int(0)),
            exclusive_maximum: Some(Number::Float(0.5)),
            ..Checks::default()
        };
        let steps = Checks { multiple_of: Some(Number::Int(3)), ..Checks::default() };
        let tenths = Checks { multiple_of: Some(Number::Float(0.1)), ..Checks::default() };
        let finite = Checks { inf_nan: Some(false), ..Checks::default() };
        for (given, checks, want) in [
            (Value::from(0), &bounds, Some("must be >= 1")),
            (Value::from(5), &bounds, Some("must be <= 4")),
            (Value::from(4.5), &bounds, Some("must be <= 4")),
            (Value::from(f64::NAN), &bounds, Some("must be >= 1")),
            (Value::from(4), &bounds, None),
            (Value::Null, &bounds, None),
            (Value::from(0), &open, Some("must be > 0")),
            (Value::from(0.5), &open, Some("must be < 0.5")),
            (Value::from(0.25), &open, None),
            (Value::from(7), &steps, Some("must be a multiple of 3")),
            (Value::from(-6), &steps, None),
            (Value::from(0.3), &tenths, None),
            (Value::from(0.35), &tenths, Some("must be a multiple of 0.1")),
            (Value::from(f64::INFINITY), &finite, Some("must be a finite number")),
        ] {
            assert_eq!(message(given, checks).as_deref(), want);
        }
    }

    #[test]
    fn lengths_are_in_characters_and_items() {
        let checks = Checks { min_length: Some(2), max_length: Some(3), ..Checks::default() };
        assert_eq!(message("ü", &checks).as_deref(), Some("length must be >= 2"));
        assert_eq!(message("üüü", &checks), None);
        assert_eq!(message("abcd", &checks).as_deref(), Some("length must be <= 3"));
        assert_eq!(message(vec![Value::Null], &checks).as_deref(), Some("length must be >= 2"));
        let checks = Checks { pattern: Some(Pattern::new("^[A-Z]+$").unwrap()), ..Checks::default() };
        assert_eq!(message("a", &checks).as_deref(), Some("must match ^[A-Z]+$"));
        assert_eq!(message("A", &checks), None);
    }

    #[test]
    fn answers_have_the_shape_that_was_asked_for() {
        use AnswerShape::{NumericSpan, ShortSpan, YesNo};
        for (text, shape, holds) in [
            ("yes", YesNo, true),
            ("No", YesNo, true),
            ("yes, it is", YesNo, false),
            ("-$1,204.50%", NumericSpan, true),
            ("42", NumericSpan, true),
            ("42 apples", NumericSpan, false),
            ("4.", NumericSpan, false),
            ("", NumericSpan, false),
            ("the Free State of Bavaria", ShortSpan, true),
            ("", ShortSpan, false),
            ("a\nb", ShortSpan, false),
            ("a; b", ShortSpan, false),
            ("1 2 3 4 5 6 7 8 9 10 11 12 13", ShortSpan, false),
        ] {
            assert_eq!(has_shape(text, shape), holds, "{text}");
        }
    }
}

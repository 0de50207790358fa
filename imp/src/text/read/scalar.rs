//! Words and numbers that stand alone, and which texts are one.

use crate::dialect::Dialect;
use crate::types::{Choice, Member};
use crate::value::Value;

/// A number as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    /// An integer above `i128::MAX`.
    Big(u128),
    Float(f64),
}

/// The shape of a text that is a number, by its bytes: `str::parse` takes too much for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// Neither a point nor an exponent.
    whole: bool,
    /// There is a digit on both sides of the point, or no point.
    closed: bool,
}

fn shape(text: &str) -> Option<Shape> {
    fn digits(rest: &mut &[u8]) -> usize {
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        *rest = rest.get(count..).unwrap_or_default();
        count
    }
    fn eat(rest: &mut &[u8], wanted: &[u8]) -> bool {
        let found = rest.first().is_some_and(|byte| wanted.contains(byte));
        *rest = rest.get(usize::from(found)..).unwrap_or_default();
        found
    }
    let mut rest = text.as_bytes();
    eat(&mut rest, b"+-");
    let integer = digits(&mut rest);
    let point = eat(&mut rest, b".");
    let fraction = if point { digits(&mut rest) } else { 0 };
    let exponent = eat(&mut rest, b"eE");
    if exponent {
        eat(&mut rest, b"+-");
        if digits(&mut rest) == 0 {
            return None;
        }
    }
    (rest.is_empty() && integer + fraction > 0)
        .then_some(Shape { whole: !point && !exponent, closed: !point || (integer > 0 && fraction > 0) })
}

/// The number that a whole text is, in the shapes of the dialect: the plain one takes no `.5` and no `5.`.
///
/// A float too big for 64 bits is no number: infinity was not said.
pub(crate) fn number(text: &str, dialect: Dialect) -> Option<Number> {
    let shape = shape(text)?;
    if !shape.closed && dialect == Dialect::Plain {
        return None;
    }
    if shape.whole {
        if let Ok(value) = text.parse::<i128>() {
            return Some(Number::Int(value));
        }
        if let Ok(value) = text.parse::<u128>() {
            return Some(Number::Big(value));
        }
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Number::Float)
}

/// Whether a text is shaped like a number with digits on both sides of its point.
pub(crate) fn number_is_closed(text: &str) -> bool {
    shape(text).is_some_and(|shape| shape.closed)
}

/// The word for a float that is no finite number.
pub(crate) fn not_finite(text: &str) -> Option<f64> {
    let (sign, word) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, text.get(1..)?),
        Some(b'+') => (1.0, text.get(1..)?),
        _ => (1.0, text),
    };
    if word.eq_ignore_ascii_case("nan") {
        Some(f64::NAN)
    } else if word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity") {
        Some(sign * f64::INFINITY)
    } else {
        None
    }
}

/// The integer that a float is, within the 64 bits beyond which pydantic takes none.
#[allow(clippy::cast_possible_truncation, reason = "checked: whole and within 64 bits")]
pub(crate) fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0).then_some(value as i128)
}

/// The integer that a whole text is: in the plain dialect digits alone, in DSPy's also `3.0` and `1e3`.
pub(crate) fn integer(text: &str, dialect: Dialect) -> Option<Number> {
    match (number(text, dialect)?, dialect) {
        (Number::Float(value), Dialect::Dspy) => whole(value).map(Number::Int),
        // Digits that do not fit come as a float: no integer of ours.
        (Number::Float(_), Dialect::Plain) => None,
        (number, _) => Some(number),
    }
}

/// The float that a whole text is; words for what is not finite where they are allowed.
#[allow(clippy::cast_precision_loss, reason = "a float was asked for")]
pub(crate) fn float(text: &str, dialect: Dialect, words: bool) -> Option<f64> {
    match number(text, dialect) {
        Some(Number::Float(value)) => Some(value),
        // From the text, so that an integer is rounded once.
        Some(Number::Int(_) | Number::Big(_)) => text.parse().ok(),
        None if words => not_finite(text),
        None => None,
    }
}

/// The truth value that a text is: §8.4's words in the plain dialect, pydantic's in DSPy's.
pub(crate) fn boolean(text: &str, dialect: Dialect) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(&["true", "yes", "1"]) {
        return Some(true);
    }
    if is(&["false", "no", "0"]) {
        return Some(false);
    }
    if dialect == Dialect::Plain {
        return None;
    }
    if is(&["on", "t", "y"]) {
        return Some(true);
    }
    if is(&["off", "f", "n"]) {
        return Some(false);
    }
    match number(text, dialect)? {
        Number::Float(value) => as_truth(value),
        _ => None,
    }
}

/// 1.0 and 0.0, which pydantic takes for truth values.
#[allow(clippy::float_cmp, reason = "exactly these two")]
pub(crate) fn as_truth(value: f64) -> Option<bool> {
    (value == 1.0 || value == 0.0).then_some(value == 1.0)
}

/// What is inside one wrapper `Literal[…]` or `str[…]` and one pair of quotes (§8.4).
pub(crate) fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let inner = ["Literal[", "str["].iter().find_map(|open| text.strip_prefix(open)?.strip_suffix(']'));
    let text = inner.unwrap_or(text);
    ['"', '\''].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// The place of the one of `names` that a text is: exactly, or trimmed, or inside a wrapper and quotes.
pub(crate) fn find<'n>(text: &str, names: &(impl Iterator<Item = &'n str> + Clone)) -> Option<usize> {
    let place = |wanted: &str| names.clone().position(|name| name == wanted);
    let trimmed = text.trim();
    place(text).or_else(|| place(trimmed)).or_else(|| place(unwrapped(text))).or_else(|| {
        // A name that cannot stand bare is written as a JSON string.
        let name: String = trimmed.starts_with('"').then(|| serde_json::from_str(trimmed).ok())??;
        place(&name)
    })
}

/// The member that a text is: by value, by name, by the spelling of a value that is no text.
///
/// `bare` is false for a JSON string, which DSPy does not take for the number of a named enum's member.
pub(crate) fn member<'c>(choice: &'c Choice, text: &str, dialect: Dialect, bare: bool) -> Option<&'c Member> {
    let members = &choice.members;
    let texts = members.iter().map(|member| member.value.as_str().unwrap_or("\0"));
    let names = members.iter().map(|member| member.name.as_deref().unwrap_or("\0"));
    let place = find(text, &texts).or_else(|| choice.name.as_ref().and_then(|_| find(text, &names)));
    if let Some(place) = place {
        return members.get(place);
    }
    if choice.name.is_some() && !bare {
        return None;
    }
    let text = unwrapped(text);
    let given = match number(text, dialect) {
        Some(Number::Int(value)) => Value::Int(value),
        Some(Number::Float(value)) => Value::Float(value),
        Some(Number::Big(_)) => return None,
        None => match text {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            _ => return None,
        },
    };
    equal(choice, &given)
}

/// The member that a value is equal to; `1.0` is equal to 1, `true` is not.
pub(crate) fn equal<'c>(choice: &'c Choice, given: &Value) -> Option<&'c Member> {
    choice.members.iter().find(|member| match (&member.value, given) {
        (Value::Int(value), Value::Float(given)) => whole(*given) == Some(*value),
        (Value::Float(value), Value::Int(given)) => whole(*value) == Some(*given),
        (value, given) => value == given,
    })
}

/// `must be one of ["a", "b"]`.
pub(crate) fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut message = "must be one of [".to_owned();
    for (at, name) in names.enumerate() {
        if at > 0 {
            message.push_str(", ");
        }
        super::super::json::push_string(&mut message, name);
    }
    message.push(']');
    message
}

/// `must be one of ["a", 2]`.
pub(crate) fn one_of_members(choice: &Choice) -> String {
    let values: Vec<&Value> = choice.members.iter().map(|member| &member.value).collect();
    let mut message = "must be one of ".to_owned();
    let json = super::super::write::JsonWriter::new(&mut message, super::super::write::Layout::Line, false);
    match serde::Serialize::serialize(&values, json) {
        Ok(()) => message,
        Err(_) => "must be one of the declared values".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_by_their_bytes() {
        use Dialect::{Dspy, Plain};
        for (text, plain, dspy) in [
            ("42", Some(42.0), Some(42.0)),
            ("-7", Some(-7.0), Some(-7.0)),
            ("+5", Some(5.0), Some(5.0)),
            ("007", Some(7.0), Some(7.0)),
            ("2E10", Some(2e10), Some(2e10)),
            ("-2.5e-3", Some(-2.5e-3), Some(-2.5e-3)),
            (".5", None, Some(0.5)),
            ("5.", None, Some(5.0)),
            ("1e-400", Some(0.0), Some(0.0)),
            ("1e309", None, None),
            ("inf", None, None),
            ("NaN", None, None),
            ("", None, None),
            (".", None, None),
            ("e5", None, None),
            ("1e", None, None),
            ("1 000", None, None),
            ("1_000", None, None),
            ("1,000", None, None),
            ("1.5.2", None, None),
            ("--1", None, None),
            ("４２", None, None),
            ("85%", None, None),
            ("0x1F", None, None),
        ] {
            assert_eq!(float(text, Plain, false), plain, "{text}");
            assert_eq!(float(text, Dspy, false), dspy, "{text}");
        }
    }

    #[test]
    fn integers_are_digits_and_in_one_dialect_whole_floats() {
        for (text, plain, dspy) in [
            ("42", Some(42), Some(42)),
            ("+5", Some(5), Some(5)),
            ("3.0", None, Some(3)),
            ("42.", None, Some(42)),
            ("1e3", None, Some(1000)),
            ("3.5", None, None),
            ("1e20", None, None),
            ("123456789012345678901234567890", Some(123_456_789_012_345_678_901_234_567_890), None),
        ] {
            let int = |number| match number {
                Some(Number::Int(value)) => Some(value),
                _ => None,
            };
            assert_eq!(int(integer(text, Dialect::Plain)), plain);
            assert_eq!(int(integer(text, Dialect::Dspy)), dspy.or(plain));
        }
        assert_eq!(integer(&u128::MAX.to_string(), Dialect::Plain), Some(Number::Big(u128::MAX)));
        assert_eq!(integer(&"9".repeat(60), Dialect::Dspy), None);
    }

    #[test]
    fn truth_has_more_words_in_one_dialect() {
        for (text, plain, dspy) in [
            ("TRUE", Some(true), Some(true)),
            ("Yes", Some(true), Some(true)),
            ("1", Some(true), Some(true)),
            ("no", Some(false), Some(false)),
            ("0", Some(false), Some(false)),
            ("on", None, Some(true)),
            ("f", None, Some(false)),
            ("1.0", None, Some(true)),
            ("0.0", None, Some(false)),
            ("2", None, None),
            ("maybe", None, None),
            ("", None, None),
        ] {
            assert_eq!(
                (boolean(text, Dialect::Plain), boolean(text, Dialect::Dspy)),
                (plain, dspy),
                "{text}"
            );
        }
    }

    #[test]
    fn a_choice_may_be_wrapped_once_and_quoted_once() {
        let names = ["option1", "it's", "", " padded ", "Literal[x]", "'q'"];
        for (text, place) in [
            ("option1", Some(0)),
            ("  option1\n", Some(0)),
            ("'option1'", Some(0)),
            ("\"option1\"", Some(0)),
            ("Literal[option1]", Some(0)),
            ("str[\"option1\"]", Some(0)),
            ("Literal['option1']", Some(0)),
            ("it's", Some(1)),
            ("\"it's\"", Some(1)),
            ("", Some(2)),
            ("\" padded \"", Some(3)),
            ("Literal[x]", Some(4)),
            ("'q'", Some(5)),
            ("q", None),
            ("Option1", None),
            ("'option1\"", None),
            ("Literal[ option1 ]", None),
            ("invalid", None),
            ("'", None),
        ] {
            assert_eq!(find(text, &names.iter().copied()), place, "{text}");
        }
        assert_eq!(one_of(["a", "b\""].into_iter()), "must be one of [\"a\", \"b\\\"\"]");
    }
}

//! Numbers as text: how they are spelt, and which texts are spelt like one.

use std::fmt::Write as _;

/// The shortest digits of a finite float and the place of its decimal point: `0.DIGITS × 10^place`.
struct Digits {
    buffer: [u8; 24],
    len: usize,
    place: i32,
    negative: bool,
}

impl Digits {
    /// Reads Rust's own `{:e}` form, which has the shortest digits that give the float back.
    fn of(scientific: &str) -> Digits {
        let mut digits = Digits { buffer: [0; 24], len: 0, place: 0, negative: false };
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        for byte in mantissa.bytes() {
            match byte {
                b'-' => digits.negative = true,
                b'0'..=b'9' => {
                    if let Some(slot) = digits.buffer.get_mut(digits.len) {
                        *slot = byte;
                        digits.len += 1;
                    }
                }
                _ => {}
            }
        }
        digits.place = exponent.parse::<i32>().unwrap_or(0) + 1;
        digits
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(self.buffer.get(..self.len).unwrap_or_default()).unwrap_or_default()
    }
}

/// A small text on the stack, so that a float's digits need no allocation.
struct Small {
    bytes: [u8; 40],
    len: usize,
}

impl Small {
    fn as_str(&self) -> &str {
        std::str::from_utf8(self.bytes.get(..self.len).unwrap_or_default()).unwrap_or_default()
    }
}

impl std::fmt::Write for Small {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let place = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

fn digits(value: impl std::fmt::LowerExp) -> Digits {
    let mut text = Small { bytes: [0; 40], len: 0 };
    // Forty bytes hold the longest form, `-2.2250738585072014e-308`.
    let _ = write!(text, "{value:e}");
    Digits::of(text.as_str())
}

/// How floats are spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Floats {
    /// As Python's `repr` spells them: `1000000.0`, `1e+16`, `1e-05`.
    Python,
    /// As Erlang's shortest form spells them: `1.0e6`, `1.0e-5`. Imp's JSON adapter writes them so.
    Erlang,
}

/// A float that may be of 32 bits, whose own shortest digits are not those of the same `f64`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Float {
    Single(f32),
    Double(f64),
}

impl Float {
    pub(crate) fn is_finite(self) -> bool {
        match self {
            Float::Single(value) => value.is_finite(),
            Float::Double(value) => value.is_finite(),
        }
    }

    /// The float as an `f64` with the same shortest digits.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Float::Double(value) => value,
            Float::Single(value) if value.is_finite() => {
                let mut text = Small { bytes: [0; 40], len: 0 };
                let _ = write!(text, "{value:e}");
                text.as_str().parse().unwrap_or_else(|_| f64::from(value))
            }
            Float::Single(value) => f64::from(value),
        }
    }
}

/// Writes a float; `nan`, `inf` and `-inf` where it is not finite, as Python's `str` does.
pub(crate) fn push_float(out: &mut String, value: Float, floats: Floats) {
    if !value.is_finite() {
        let value = value.as_f64();
        out.push_str(if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        });
        return;
    }
    let digits = match value {
        Float::Single(value) => digits(value),
        Float::Double(value) => digits(value),
    };
    if digits.negative {
        out.push('-');
    }
    match floats {
        Floats::Python => push_python(out, digits.as_str(), digits.place),
        Floats::Erlang => {
            // From 2^53 on not every integer is a float, so the digits may not be all of them.
            let exact = value.as_f64().abs() < 9_007_199_254_740_992.0;
            push_erlang(out, digits.as_str(), digits.place, exact);
        }
    }
}

/// `CPython`'s `repr`: fixed notation where -4 < place <= 16.
fn push_python(out: &mut String, digits: &str, place: i32) {
    if place > -4 && place <= 16 {
        push_fixed(out, digits, place);
        return;
    }
    push_mantissa(out, digits, "");
    let exponent = place - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "e{sign}{:02}", exponent.abs());
}

/// Erlang's `io_lib_format:fwrite_g`: whichever notation is shorter, fixed where both are as long.
fn push_erlang(out: &mut String, digits: &str, place: i32, exact: bool) {
    let len = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let exponent = place - 1;
    let cost = {
        let mut text = Small { bytes: [0; 40], len: 0 };
        let _ = write!(text, "{exponent}");
        i32::try_from(text.len).unwrap_or(4) + if len == 1 { 3 } else { 2 }
    };
    let fixed = match place {
        place if place < 0 => 2 - place <= cost,
        place if place >= len && place > 0 => exact && place - len + 2 <= cost,
        _ => true,
    };
    if fixed {
        push_fixed(out, digits, place);
    } else {
        push_mantissa(out, digits, ".0");
        let _ = write!(out, "e{exponent}");
    }
}

fn push_fixed(out: &mut String, digits: &str, place: i32) {
    let zeros = |count: usize| std::iter::repeat_n('0', count);
    match usize::try_from(place) {
        Err(_) | Ok(0) => {
            out.push_str("0.");
            out.extend(zeros(usize::try_from(-place).unwrap_or(0)));
            out.push_str(digits);
        }
        Ok(place) if place >= digits.len() => {
            out.push_str(digits);
            out.extend(zeros(place - digits.len()));
            out.push_str(".0");
        }
        Ok(place) => {
            let (whole, rest) = digits.split_at(place);
            out.push_str(whole);
            out.push('.');
            out.push_str(rest);
        }
    }
}

fn push_mantissa(out: &mut String, digits: &str, alone: &str) {
    let (first, rest) = digits.split_at(1.min(digits.len()));
    out.push_str(first);
    if rest.is_empty() {
        out.push_str(alone);
    } else {
        out.push('.');
        out.push_str(rest);
    }
}

/// Writes an integer.
pub(crate) fn push_int(out: &mut String, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(value: f64) -> String {
        let mut out = String::new();
        push_float(&mut out, Float::Double(value), Floats::Python);
        out
    }

    fn erlang(value: f64) -> String {
        let mut out = String::new();
        push_float(&mut out, Float::Double(value), Floats::Erlang);
        out
    }

    #[test]
    fn floats_are_spelt_as_python_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (1_000_000.0, "1000000.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e16, "1.5e+16"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e-7, "1e-07"),
            (1e22, "1e+22"),
            (1e100, "1e+100"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(python(value), text);
        }
    }

    #[test]
    fn floats_are_spelt_as_erlang_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (1000.0, "1.0e3"),
            (1_000_000.0, "1.0e6"),
            (12345.0, "12345.0"),
            (0.1, "0.1"),
            (0.01, "0.01"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.00001, "1.0e-5"),
            (2.5, "2.5"),
            (1e-7, "1.0e-7"),
            (1.5e300, "1.5e300"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(erlang(value), text);
        }
    }

    #[test]
    fn a_float_of_32_bits_keeps_its_own_digits() {
        let mut out = String::new();
        push_float(&mut out, Float::Single(0.1), Floats::Python);
        assert_eq!(out, "0.1");
        assert_eq!(python(Float::Single(0.1).as_f64()), "0.1");
        assert_eq!(python(Float::Single(f32::MAX).as_f64()), "3.4028235e+38");
    }
}

//! The numbers of bounds: `4`, `-0.5`, `24 * 60`, a constant.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{BinOp, Expr, Lit, UnOp};

use crate::attr::BoundValue;
use crate::types::ungroup;

/// A number that is written in the attribute.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Written {
    Int(i128),
    Float(f64),
}

/// Why an expression is no written number.
enum Otherwise {
    /// It names a constant or calls something: the compiler knows its value.
    Constant,
    /// It is one that no compiler would take.
    Wrong(syn::Error),
}

/// A number: a literal, arithmetic of literals, or a constant expression.
///
/// Arithmetic is worked out here: without any name in it, an expression such as `3 + 1` has no type of which
/// the compiler could be asked.
pub(crate) fn number(tokens: TokenStream, example: &str) -> syn::Result<BoundValue> {
    let tokens = without_braces(tokens);
    // What syn cannot parse without its large half, a block or an `if`, is a constant expression too.
    let Ok(expr) = syn::parse2::<Expr>(tokens.clone()) else { return Ok(BoundValue::Number(tokens)) };
    match written(&expr, example) {
        Ok(Written::Int(value)) => Ok(BoundValue::Int(value)),
        Ok(Written::Float(value)) if value.is_finite() => Ok(BoundValue::Float(value)),
        Ok(Written::Float(_)) => Err(wrong(&expr, example)),
        Err(Otherwise::Constant) => Ok(BoundValue::Number(tokens)),
        Err(Otherwise::Wrong(error)) => Err(error),
    }
}

/// A length: a whole number that is not negative, or a constant expression.
pub(crate) fn length(tokens: &TokenStream, example: &str) -> syn::Result<BoundValue> {
    let wrong = || syn::Error::new_spanned(tokens, "a length is a whole number from 0");
    match number(tokens.clone(), example)? {
        BoundValue::Int(value) if value < 0 => Err(wrong()),
        BoundValue::Float(_) => Err(wrong()),
        value => Ok(value),
    }
}

/// What is inside a block that is nothing but one expression.
fn without_braces(tokens: TokenStream) -> TokenStream {
    let mut all = tokens.clone().into_iter();
    match (all.next(), all.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => {
            match syn::parse2::<Expr>(group.stream()) {
                Ok(_) => group.stream(),
                Err(_) => tokens,
            }
        }
        _ => tokens,
    }
}

fn wrong(expr: &Expr, example: &str) -> syn::Error {
    syn::Error::new_spanned(expr, format_args!("expected a number: `{example}`"))
}

// As deep as syn has gone to parse it.
fn written(expr: &Expr, example: &str) -> Result<Written, Otherwise> {
    let wrong = || Otherwise::Wrong(wrong(expr, example));
    match ungroup(expr) {
        Expr::Paren(inner) => written(&inner.expr, example),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse().map(Written::Int).map_err(|_| wrong()),
            Lit::Float(float) => float.base10_parse().map(Written::Float).map_err(|_| wrong()),
            _ => Err(wrong()),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            // `i128::MIN` has no positive twin.
            if let Some(least) = least(&unary.expr) {
                return Ok(Written::Int(least));
            }
            match written(&unary.expr, example)? {
                Written::Int(value) => value.checked_neg().map(Written::Int).ok_or_else(wrong),
                Written::Float(value) => Ok(Written::Float(-value)),
            }
        }
        Expr::Unary(unary) => match written(&unary.expr, example) {
            Err(otherwise) => Err(otherwise),
            Ok(_) => Err(wrong()),
        },
        Expr::Binary(binary) => {
            let (left, right) = (written(&binary.left, example), written(&binary.right, example));
            let (left, right) = match (left, right) {
                (Ok(left), Ok(right)) => (left, right),
                (Err(Otherwise::Wrong(error)), _) | (_, Err(Otherwise::Wrong(error))) => {
                    return Err(Otherwise::Wrong(error));
                }
                _ => return Err(Otherwise::Constant),
            };
            calculated(&binary.op, left, right).ok_or_else(|| {
                let message = format!("this arithmetic gives no number: write the number, `{example}`");
                Otherwise::Wrong(syn::Error::new_spanned(expr, message))
            })
        }
        Expr::Reference(_) | Expr::Tuple(_) => Err(wrong()),
        _ => Err(Otherwise::Constant),
    }
}

fn least(operand: &Expr) -> Option<i128> {
    match ungroup(operand) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => format!("-{}", int.base10_digits()).parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// As Rust calculates; `None` where it does not.
fn calculated(op: &BinOp, left: Written, right: Written) -> Option<Written> {
    match (left, right) {
        (Written::Int(left), Written::Int(right)) => {
            let by = || u32::try_from(right).ok();
            let value = match op {
                BinOp::Add(_) => left.checked_add(right),
                BinOp::Sub(_) => left.checked_sub(right),
                BinOp::Mul(_) => left.checked_mul(right),
                BinOp::Div(_) => left.checked_div(right),
                BinOp::Rem(_) => left.checked_rem(right),
                BinOp::Shl(_) => left.checked_mul(2_i128.checked_pow(by()?)?),
                BinOp::Shr(_) => left.checked_shr(by()?),
                BinOp::BitAnd(_) => Some(left & right),
                BinOp::BitOr(_) => Some(left | right),
                BinOp::BitXor(_) => Some(left ^ right),
                _ => None,
            };
            value.map(Written::Int)
        }
        (Written::Float(left), Written::Float(right)) => {
            let value = match op {
                BinOp::Add(_) => left + right,
                BinOp::Sub(_) => left - right,
                BinOp::Mul(_) => left * right,
                BinOp::Div(_) => left / right,
                BinOp::Rem(_) => left % right,
                _ => return None,
            };
            value.is_finite().then_some(Written::Float(value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_numbers() {
        use BoundValue::{Float, Int, Number};
        for (text, expected) in [
            ("4", Some(Int(4))),
            ("-4", Some(Int(-4))),
            ("- -4", Some(Int(4))),
            ("0x10_u8", Some(Int(16))),
            ("1_000", Some(Int(1000))),
            ("-170141183460469231731687303715884105728", Some(Int(i128::MIN))),
            ("170141183460469231731687303715884105728", None),
            ("0.5", Some(Float(0.5))),
            ("1e999", None),
            ("3 + 1", Some(Int(4))),
            ("(24 * 60) - 1", Some(Int(1439))),
            ("1 << 10", Some(Int(1024))),
            ("1 << 200", None),
            ("{ 3 }", Some(Int(3))),
            ("7 / 2", Some(Int(3))),
            ("7 / 0", None),
            ("1.0 / 4.0", Some(Float(0.25))),
            ("1.0 / 0.0", None),
            ("1 + 0.5", None),
            ("1 == 1", None),
            ("\"4\"", None),
            ("true", None),
            ("!4", None),
            ("&4", None),
            ("MOST", Some(Number(TokenStream::new()))),
            ("MOST + 1", Some(Number(TokenStream::new()))),
            ("MOST + \"1\"", None),
            ("-MOST", Some(Number(TokenStream::new()))),
            ("u8::MAX as i64", Some(Number(TokenStream::new()))),
            ("if A { 1 } else { 2 }", Some(Number(TokenStream::new()))),
        ] {
            let tokens: TokenStream = text.parse().expect(text);
            let same = match (number(tokens, "max = 1").ok(), expected) {
                (Some(Int(value)), Some(Int(expected))) => value == expected,
                (Some(Float(value)), Some(Float(expected))) => value.to_bits() == expected.to_bits(),
                (Some(Number(_)), Some(Number(_))) | (None, None) => true,
                _ => false,
            };
            assert!(same, "{text}");
        }
    }
}

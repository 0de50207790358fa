//! Bounds that only the type's schema, or a value, shows to be wrong: refused when the spec is made, with the
//! field's name and a remedy. What a const item sees is in `ui/bound`.

use imp::{LengthType, NumericType, OutputSignature, Signature, TextType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Percent(#[schemars(range(min = 0, max = 100))] u8);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Byte(u8);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Code(#[schemars(length(min = 2, max = 4))] String);

impl NumericType for Percent {}
impl NumericType for Byte {}
impl NumericType for Code {}
impl TextType for Byte {}
impl LengthType for Byte {}
impl LengthType for Code {}

/// The error of the outputs `$ty $field` with the attribute.
macro_rules! error {
    ($(#[$meta:meta])* $ty:ty) => {{
        #[derive(Signature)]
        #[allow(dead_code, reason = "only described")]
        struct Answer {
            $(#[$meta])*
            value: $ty,
        }
        Answer::output_spec().err().map(ToString::to_string)
    }};
}

const OPEN: &str = "(";
const NINE: u8 = 9;

fn nine() -> u8 {
    NINE
}

#[test]
fn a_bound_that_the_type_cannot_have() {
    let outside = "the bound `le` is outside of what the field's type has: change the bound or the type";
    let lengths = "the bound `max_length` is outside of the lengths that the field's type has: change the bound or the \
                   type";
    for (error, expected) in [
        (
            error!(
                #[field(max = 300)]
                Byte
            ),
            Some(outside),
        ),
        (
            error!(
                #[field(max = 255)]
                Byte
            ),
            None,
        ),
        (
            error!(
                #[field(lt = 256)]
                Byte
            ),
            None,
        ),
        (
            error!(
                #[field(max = 101)]
                Percent
            ),
            Some(outside),
        ),
        (error!(#[field(max = 101)] Option<Percent>), Some(outside)),
        (
            error!(
                #[field(max = 50)]
                Percent
            ),
            None,
        ),
        (
            error!(
                #[field(max_length = 5)]
                Code
            ),
            Some(lengths),
        ),
        (
            error!(
                #[field(max_length = 3)]
                Code
            ),
            None,
        ),
        (
            error!(
                #[field(max_length = 2)]
                [u8; 3]
            ),
            Some(lengths),
        ),
        (
            error!(
                #[field(max = 1)]
                Code
            ),
            Some("the bound `le` is for a number: remove it or change the type"),
        ),
        (
            error!(
                #[field(pattern = "a")]
                Byte
            ),
            Some("the bound `pattern` is for a text: remove it or change the type"),
        ),
        (
            error!(
                #[field(min_length = 1)]
                Byte
            ),
            Some("the bound `min_length` is for a text or a list: remove it or change the type"),
        ),
    ] {
        let expected = expected.map(|expected| format!("field `value`: {expected}"));
        assert_eq!(error, expected);
    }
    let error = error!(
        #[field(pattern = OPEN)]
        String
    )
    .unwrap_or_default();
    assert!(error.starts_with("field `value`: the pattern `(` cannot be used: "), "{error}");
}

#[test]
fn a_default_outside_of_its_bounds() {
    let broken = |why: &str| {
        Some(format!("field `value`: the default is out of bounds, it {why}: change it or the bound"))
    };
    for (error, expected) in [
        (
            error!(
                #[field(default = nine(), max = 4)]
                u8
            ),
            broken("must be <= 4"),
        ),
        (
            error!(
                #[field(default = nine(), max = 9)]
                u8
            ),
            None,
        ),
        (
            error!(
                #[field(default, min = 1)]
                u8
            ),
            broken("must be >= 1"),
        ),
        (error!(#[field(default, min = 1)] Option<u8>), None),
        (error!(#[field(default = Some(NINE), max = 4)] Option<u8>), broken("must be <= 4")),
        (error!(#[field(default, min_length = 1)] Vec<u8>), broken("length must be >= 1")),
        (
            error!(
                #[field(default = "no".repeat(2), max_length = 3)]
                String
            ),
            broken("length must be <= 3"),
        ),
        (
            error!(
                #[field(default = "maybe", answer_shape = yes_no)]
                String
            ),
            broken("must be exactly yes or no"),
        ),
        (
            error!(
                #[field(default = f64::NAN, allow_inf_nan = false)]
                f64
            ),
            broken("must be a finite number"),
        ),
        (
            error!(
                #[field(default = f64::NAN)]
                f64
            ),
            None,
        ),
        (
            error!(
                #[field(default = f64::NAN, allow_inf_nan)]
                f64
            ),
            None,
        ),
        (
            error!(
                #[field(default = f64::INFINITY, min = 1)]
                f64
            ),
            None,
        ),
    ] {
        assert_eq!(error, expected);
    }
}

/// No const item can name a type parameter.
#[test]
fn a_bound_on_a_type_parameter() {
    #[derive(Signature)]
    #[signature(output = Answer)]
    #[allow(dead_code, reason = "only described")]
    struct Ask<T> {
        #[field(min = 0, max = 300)]
        about: T,
    }

    #[derive(Signature)]
    #[allow(dead_code, reason = "only described")]
    struct Answer {
        answer: String,
    }

    fn error<T>() -> Option<String>
    where
        Ask<T>: Signature,
    {
        <Ask<T> as Signature>::spec().err().map(ToString::to_string)
    }

    let outside =
        "field `about`: the bound `le` is outside of what the field's type has: change the bound or the type";
    let no_number = "field `about`: the bound `ge` is for a number: remove it or change the type";
    assert_eq!(error::<u16>(), None);
    assert_eq!(error::<f64>(), None);
    assert_eq!(error::<u8>().as_deref(), Some(outside));
    assert_eq!(error::<Option<u8>>().as_deref(), Some(outside));
    assert_eq!(error::<String>().as_deref(), Some(no_number));
    assert_eq!(error::<bool>().as_deref(), Some(no_number));
    assert_eq!(error::<Vec<u8>>().as_deref(), Some(no_number));
}

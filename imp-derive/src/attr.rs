//! The attributes of the derive: `#[signature(…)]` on the struct, `#[field(…)]` on a field.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, LitStr, Path, Token, Type};

use crate::case::RenameRule;
use crate::errors::Errors;
use crate::foreign;
use crate::number::{length, number};
use crate::suggest;
use crate::words::{self, Vocabulary};

const RECORD: Vocabulary = Vocabulary {
    attribute: "#[signature(…)]",
    words: &["output", "instructions", "dialect", "rename_all", "partial", "fields", "crate"],
    aliases: &[
        ("outputs", "output"),
        ("out", "output"),
        ("instruction", "instructions"),
        ("doc", "instructions"),
        ("description", "instructions"),
        ("desc", "instructions"),
        ("prompt", "instructions"),
        ("companion", "partial"),
        ("handles", "fields"),
    ],
    hints: &[
        ("rename", "a struct's own name is in no prompt"),
        ("name", "a struct's own name is in no prompt"),
        ("inputs", "the struct that names its `output = …` is the input"),
        ("model", "a program is given its model: `Predict::<Struct>::new(model)`"),
        ("demos", "a program is given its demos: see `Predict`"),
        ("input", "the struct that names its `output = …` is the input"),
        ("default", "defaults are written on the fields: `#[field(default = …)]`"),
        ("text_field", "it is written on the field: `#[field(text_field)]`"),
    ],
};

const FIELD: Vocabulary = Vocabulary {
    attribute: "#[field(…)]",
    words: &[
        "desc",
        "default",
        "rename",
        "text_field",
        "min",
        "ge",
        "minimum",
        "max",
        "le",
        "maximum",
        "gt",
        "lt",
        "multiple_of",
        "min_length",
        "max_length",
        "pattern",
        "allow_inf_nan",
        "answer_shape",
    ],
    aliases: &[
        ("description", "desc"),
        ("describe", "desc"),
        ("hint", "desc"),
        ("doc", "desc"),
        ("name", "rename"),
        ("regex", "pattern"),
        ("exclusive_min", "gt"),
        ("exclusive_minimum", "gt"),
        ("exclusive_max", "lt"),
        ("exclusive_maximum", "lt"),
        ("min_len", "min_length"),
        ("max_len", "max_length"),
        ("min_items", "min_length"),
        ("max_items", "max_length"),
        ("shape", "answer_shape"),
        ("text", "text_field"),
    ],
    hints: &[
        ("input", "the struct that names its `output = …` is the input"),
        ("output", "the output is a struct of its own, named by `#[signature(output = …)]` on the input"),
        ("optional", "make the field's type an `Option`"),
        ("required", "every field is, unless its type is an `Option` or it has a `default`"),
        ("choices", "make the field's type an enum"),
        ("enum", "make the field's type an enum"),
        ("values", "make the field's type an enum"),
        ("type", "the field's own type says it"),
        ("prefix", "a field is introduced by its name: write `rename = \"…\"` for another"),
        ("flatten", "every field of a signature has a section of its own: write the inner fields here"),
        ("one_of", "make the field's type an enum"),
        ("alias", "write `#[serde(alias = \"…\")]`"),
        ("range", "write `min = …, max = …`"),
        ("length", "write `min_length = …, max_length = …`"),
        ("skip", "every field of a signature is in its prompt"),
    ],
};

const DIALECTS: [(&str, &str); 2] = [("plain", "Plain"), ("dspy", "Dspy")];

const SHAPES: [(&str, &str); 3] =
    [("yes_no", "YesNo"), ("short_span", "ShortSpan"), ("numeric_span", "NumericSpan")];

/// What was written at a word.
pub(crate) struct Set<T> {
    pub(crate) word: Ident,
    pub(crate) value: T,
}

/// Keeps the value of a word that may be written once.
fn set<T>(slot: &mut Option<Set<T>>, word: &Ident, value: T, errors: &mut Errors) {
    if slot.is_some() {
        errors.at(word.span(), format_args!("`{}` is given twice: remove one", word.unraw()));
    } else {
        *slot = Some(Set { word: word.clone(), value });
    }
}

/// What the attributes of a struct say.
#[derive(Default)]
pub(crate) struct RecordAttrs {
    pub(crate) output: Option<Set<Type>>,
    pub(crate) instructions: Option<Set<TokenStream>>,
    /// The variant of `Dialect`.
    pub(crate) dialect: Option<Set<Ident>>,
    pub(crate) rename_all: Option<Set<(LitStr, RenameRule)>>,
    pub(crate) partial: Option<Set<Ident>>,
    pub(crate) fields: Option<Set<Ident>>,
    pub(crate) krate: Option<Set<Path>>,
    /// serde's `default`: the whole struct's.
    pub(crate) default: Option<TokenStream>,
}

impl RecordAttrs {
    pub(crate) fn from_syn(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut own = RecordAttrs::default();
        for attr in attrs {
            if attr.path().is_ident("signature") {
                words::each_word(attr, errors, |word, input, errors| own.word(word, input, errors));
            } else if attr.path().is_ident("field") {
                errors.on(
                    attr.path(),
                    "`#[field(…)]` belongs on a field: on the struct write `#[signature(…)]`",
                );
            }
        }
        // Second, so that what is written in our own words wins.
        foreign::record(attrs, &mut own, errors);
        own
    }

    fn word(&mut self, word: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        match RECORD.resolve(word, errors) {
            Some("output") => {
                if input.peek(Token![=]) && input.peek2(LitStr) {
                    input.parse::<Token![=]>()?;
                    let text: LitStr = input.parse()?;
                    let message = format!("expected `output = {}`: a struct, without quotes", text.value());
                    return Err(syn::Error::new(text.span(), message));
                }
                set(&mut self.output, word, words::value(word, "output = Struct", input)?, errors);
            }
            Some("instructions") => {
                let text = words::text_expr(word, "instructions = \"…\"", input)?;
                set(&mut self.instructions, word, text, errors);
            }
            Some("dialect") => {
                let variant = choice(word, "dialect = plain", &DIALECTS, input)?;
                set(&mut self.dialect, word, variant, errors);
            }
            Some("rename_all") => {
                let text = words::text(word, "rename_all = \"…\"", input)?;
                let rule = rename_rule(&text)?;
                set(&mut self.rename_all, word, (text, rule), errors);
            }
            Some("partial") => {
                set(&mut self.partial, word, words::value(word, "partial = Name", input)?, errors);
            }
            Some("fields") => {
                set(&mut self.fields, word, words::value(word, "fields = Name", input)?, errors);
            }
            Some("crate") => {
                let path = words::value_with(word, "crate = path", input, Path::parse_mod_style)?;
                set(&mut self.krate, word, path, errors);
            }
            _ => words::skip(input),
        }
        Ok(())
    }
}

/// The rule that `rename_all = "…"` names.
pub(crate) fn rename_rule(text: &LitStr) -> syn::Result<RenameRule> {
    let value = text.value();
    RenameRule::named(&value).ok_or_else(|| {
        let names = RenameRule::names();
        let message = match suggest::nearest(&value, names.iter().copied()) {
            Some(near) => format!("unknown case `{value}`: did you mean `{near}`?"),
            None => format!("unknown case `{value}`: expected {}", suggest::list(&names)),
        };
        syn::Error::new(text.span(), message)
    })
}

/// What the attributes of a field say.
#[derive(Default)]
pub(crate) struct FieldAttrs {
    pub(crate) desc: Option<Set<TokenStream>>,
    pub(crate) default: Option<Set<Default>>,
    pub(crate) rename: Option<Set<LitStr>>,
    pub(crate) text_field: Option<Set<()>>,
    pub(crate) bounds: Vec<Bound>,
    /// The variant of `AnswerShape`.
    pub(crate) answer_shape: Option<Set<Ident>>,
    pub(crate) aliases: Vec<LitStr>,
}

/// The default of a field.
pub(crate) enum Default {
    /// `default`: the type's own.
    OfType,
    /// `default = expression`.
    Expr(TokenStream),
}

/// A bound of a field.
pub(crate) struct Bound {
    pub(crate) constraint: Constraint,
    pub(crate) word: Ident,
    pub(crate) value: BoundValue,
}

/// The variants of the runtime's enum of that name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Constraint {
    Gt,
    Ge,
    Lt,
    Le,
    MinLength,
    MaxLength,
    MultipleOf,
    AllowInfNan,
    Pattern,
}

impl Constraint {
    /// Whether its value is a number.
    pub(crate) fn is_numeric(self) -> bool {
        !matches!(self, Constraint::AllowInfNan | Constraint::Pattern)
    }
}

/// The value of a bound.
pub(crate) enum BoundValue {
    Int(i128),
    Float(f64),
    /// A constant expression that is a number.
    Number(TokenStream),
    Text(TokenStream),
    Bool(bool),
}

impl FieldAttrs {
    pub(crate) fn from_syn(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut own = FieldAttrs::default();
        for attr in attrs {
            if attr.path().is_ident("field") {
                words::each_word(attr, errors, |word, input, errors| own.word(word, input, errors));
            } else if attr.path().is_ident("signature") {
                errors.on(
                    attr.path(),
                    "`#[signature(…)]` belongs on the struct: on a field write `#[field(…)]`",
                );
            } else if let Some(role) = ["input", "output"].iter().find(|role| attr.path().is_ident(role)) {
                // As DSPy and others have it.
                errors.on(
                    attr.path(),
                    format_args!(
                        "a field has no role of its own: inputs and outputs are two structs, and \
                         `#[signature(output = …)]` on the input names the other; remove `#[{role}]`"
                    ),
                );
            }
        }
        // Second, so that what is written in our own words wins.
        foreign::field(attrs, &mut own, errors);
        own
    }

    fn word(&mut self, word: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let Some(meant) = FIELD.resolve(word, errors) else {
            words::skip(input);
            return Ok(());
        };
        match meant {
            "desc" => {
                let text = words::text_expr(word, "desc = \"…\"", input)?;
                set(&mut self.desc, word, text, errors);
            }
            "default" => {
                let default = if words::flag(word, input).is_ok() {
                    Default::OfType
                } else {
                    Default::Expr(words::any_expr(word, "default = …", input)?)
                };
                set(&mut self.default, word, default, errors);
            }
            "rename" => set(&mut self.rename, word, words::text(word, "rename = \"…\"", input)?, errors),
            "text_field" => {
                words::flag(word, input)?;
                set(&mut self.text_field, word, (), errors);
            }
            "answer_shape" => {
                let shape = choice(word, "answer_shape = yes_no", &SHAPES, input)?;
                set(&mut self.answer_shape, word, shape, errors);
            }
            _ => {
                let bound = bound(meant, word, input)?;
                match self.bounds.iter().find(|other| other.constraint == bound.constraint) {
                    Some(other) if other.word == *word => {
                        errors.at(word.span(), format_args!("`{word}` is given twice: remove one"));
                    }
                    Some(other) => {
                        let other = &other.word;
                        errors.at(
                            word.span(),
                            format_args!("`{word}` is the same bound as `{other}`: remove one"),
                        );
                    }
                    None => self.bounds.push(bound),
                }
            }
        }
        Ok(())
    }
}

fn bound(meant: &str, word: &Ident, input: ParseStream<'_>) -> syn::Result<Bound> {
    let constraint = match meant {
        "gt" => Constraint::Gt,
        "lt" => Constraint::Lt,
        "min" | "ge" | "minimum" => Constraint::Ge,
        "max" | "le" | "maximum" => Constraint::Le,
        "multiple_of" => Constraint::MultipleOf,
        "min_length" => Constraint::MinLength,
        "max_length" => Constraint::MaxLength,
        "allow_inf_nan" => Constraint::AllowInfNan,
        _ => Constraint::Pattern,
    };
    let example = |value: &str| format!("{} = {value}", word.unraw());
    let value = match constraint {
        Constraint::Pattern => BoundValue::Text(words::text_expr(word, &example("\"…\""), input)?),
        Constraint::AllowInfNan if words::flag(word, input).is_ok() => BoundValue::Bool(true),
        Constraint::AllowInfNan => {
            BoundValue::Bool(words::value::<syn::LitBool>(word, &example("true"), input)?.value)
        }
        Constraint::MinLength | Constraint::MaxLength => {
            let example = example("3");
            length(&words::any_expr(word, &example, input)?, &example)?
        }
        _ => {
            let example = example("1");
            number(words::any_expr(word, &example, input)?, &example)?
        }
    };
    Ok(Bound { constraint, word: word.clone(), value })
}

/// `word = choice`, also as a string: the variant that it names.
fn choice(
    word: &Ident,
    example: &str,
    choices: &[(&str, &str)],
    input: ParseStream<'_>,
) -> syn::Result<Ident> {
    // A string is fine too: `dialect = "plain"`.
    let (text, span) = words::value_with(word, example, input, |input| {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            return Ok((text.value(), text.span()));
        }
        input.call(Ident::parse_any).map(|name| (name.to_string(), name.span()))
    })?;
    if let Some((_, variant)) = choices.iter().find(|(name, _)| *name == text) {
        return Ok(Ident::new(variant, span));
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let message = match suggest::nearest(&text, names.iter().copied()) {
        Some(near) => format!("unknown value `{text}`: did you mean `{near}`?"),
        None => format!("unknown value `{text}`: expected {}", suggest::list(&names)),
    };
    Err(syn::Error::new(span, message))
}

//! serde's and schemars' attributes on a signature's struct and on its own fields.
//!
//! The derive cannot see whether the struct derives serde's and schemars' traits too, so nobody else may
//! look at these words: each is honoured, refused, or of no consequence here, and none is ignored.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, LitStr, Token};

use crate::attr::{self, Bound, BoundValue, Constraint, Default, FieldAttrs, RecordAttrs, Set};
use crate::errors::Errors;
use crate::number::{length, number};
use crate::words::{self, Vocabulary};

const ON_STRUCT: [Crate; 2] = [
    Crate {
        name: "serde",
        known: Vocabulary {
            attribute: "#[serde(…)]",
            words: &[
                "rename",
                "rename_all",
                "default",
                "deny_unknown_fields",
                "bound",
                "crate",
                "expecting",
                "from",
                "into",
                "remote",
                "tag",
                "content",
                "transparent",
                "try_from",
                "untagged",
            ],
            aliases: &[],
            hints: &[],
        },
        refused: &[Refusal { words: SHAPES, because: FIELD_BY_FIELD }],
    },
    Crate {
        name: "schemars",
        known: Vocabulary {
            attribute: "#[schemars(…)]",
            words: &[
                "rename",
                "rename_all",
                "default",
                "deny_unknown_fields",
                "bound",
                "crate",
                "deprecated",
                "description",
                "example",
                "extend",
                "inline",
                "title",
                "transform",
                "from",
                "into",
                "remote",
                "tag",
                "content",
                "transparent",
                "try_from",
                "untagged",
            ],
            aliases: &[],
            hints: &[],
        },
        refused: &[Refusal { words: SHAPES, because: FIELD_BY_FIELD }],
    },
];

const ON_FIELD: [Crate; 2] = [
    Crate {
        name: "serde",
        known: Vocabulary {
            attribute: "#[serde(…)]",
            words: &[
                "rename",
                "alias",
                "default",
                "borrow",
                "bound",
                "deserialize_with",
                "flatten",
                "getter",
                "serialize_with",
                "skip",
                "skip_deserializing",
                "skip_serializing",
                "skip_serializing_if",
                "with",
            ],
            aliases: &[],
            hints: &[],
        },
        refused: &[CONVERSIONS, SKIPS, FLATTEN],
    },
    Crate {
        name: "schemars",
        known: Vocabulary {
            attribute: "#[schemars(…)]",
            words: &[
                "rename",
                "alias",
                "default",
                "description",
                "length",
                "range",
                "regex",
                "borrow",
                "bound",
                "deprecated",
                "example",
                "title",
                "contains",
                "deserialize_with",
                "email",
                "extend",
                "flatten",
                "getter",
                "inner",
                "ip",
                "ipv4",
                "ipv6",
                "required",
                "schema_with",
                "serialize_with",
                "skip",
                "skip_deserializing",
                "skip_serializing",
                "skip_serializing_if",
                "transform",
                "url",
                "with",
            ],
            aliases: &[],
            hints: &[],
        },
        refused: &[
            CONVERSIONS,
            SKIPS,
            FLATTEN,
            Refusal {
                words: &[
                    "contains",
                    "email",
                    "extend",
                    "inner",
                    "ip",
                    "ipv4",
                    "ipv6",
                    "required",
                    "transform",
                    "url",
                ],
                because: "put it on the field's own type, a struct or a newtype",
            },
        ],
    },
];

const SHAPES: &[&str] = &["from", "into", "remote", "tag", "content", "transparent", "try_from", "untagged"];
const FIELD_BY_FIELD: &str = "a signature's struct is written and read field by field: remove it";

const CONVERSIONS: Refusal = Refusal {
    words: &["deserialize_with", "getter", "schema_with", "serialize_with", "with"],
    because: "make the field's type a newtype that implements `Serialize`, `Deserialize` and `JsonSchema` so",
};

const SKIPS: Refusal = Refusal {
    words: &["skip", "skip_deserializing", "skip_serializing", "skip_serializing_if"],
    because: "every field of a signature is in its prompt: remove it, or move the field out of the struct",
};

const FLATTEN: Refusal = Refusal {
    words: &["flatten"],
    because: "every field of a signature has a section of its own: write the inner fields here, or remove it",
};

struct Crate {
    name: &'static str,
    known: Vocabulary,
    refused: &'static [Refusal],
}

/// Words that cannot be honoured, and what to do instead.
struct Refusal {
    words: &'static [&'static str],
    because: &'static str,
}

impl Crate {
    fn refusal(&self, meant: &str, word: &Ident) -> Option<syn::Error> {
        let refusal = self.refused.iter().find(|refusal| refusal.words.contains(&meant))?;
        let (name, because) = (self.name, refusal.because);
        let message = format!("`#[{name}({meant})]` cannot be honoured in a signature: {because}");
        Some(syn::Error::new(word.span(), message))
    }

    /// Calls `each` with every word that is neither unknown nor refused; what it leaves of a word is skipped.
    fn read(
        &self,
        attrs: &[Attribute],
        errors: &mut Errors,
        mut each: impl FnMut(&str, &Ident, ParseStream<'_>) -> syn::Result<()>,
    ) {
        for attr in attrs.iter().filter(|attr| attr.path().is_ident(self.name)) {
            words::each_word(attr, errors, |word, input, errors| {
                if let Some(meant) = self.known.resolve(word, errors) {
                    match self.refusal(meant, word) {
                        Some(error) => errors.push(error),
                        None => each(meant, word, input)?,
                    }
                }
                words::skip(input);
                Ok(())
            });
        }
    }
}

/// What serde's and schemars' attributes say of a struct, where our own say nothing.
pub(crate) fn record(attrs: &[Attribute], own: &mut RecordAttrs, errors: &mut Errors) {
    for from in &ON_STRUCT {
        from.read(attrs, errors, |meant, word, input| {
            match meant {
                "rename_all" => {
                    let text = one_text(word, "rename_all", input)?;
                    let rule = attr::rename_rule(&text)?;
                    keep(&mut own.rename_all, word, (text, rule));
                }
                "default" => {
                    let all = match default(word, input)? {
                        Default::OfType => quote!(<Self as ::core::default::Default>::default()),
                        Default::Expr(path) => path,
                    };
                    own.default.get_or_insert(all);
                }
                "description" => {
                    keep(&mut own.instructions, word, words::text_expr(word, "description = \"…\"", input)?);
                }
                _ => {}
            }
            Ok(())
        });
    }
}

/// What serde's and schemars' attributes say of a field, where our own say nothing.
pub(crate) fn field(attrs: &[Attribute], own: &mut FieldAttrs, errors: &mut Errors) {
    for from in &ON_FIELD {
        from.read(attrs, errors, |meant, word, input| {
            match meant {
                "rename" => keep(&mut own.rename, word, one_text(word, "rename", input)?),
                "alias" => own.aliases.push(words::text(word, "alias = \"…\"", input)?),
                "default" => keep(&mut own.default, word, default(word, input)?),
                "description" => {
                    keep(&mut own.desc, word, words::text_expr(word, "description = \"…\"", input)?);
                }
                "range" => words::each_inner_word(input, |inner, input| {
                    let example = format!("{inner} = 1");
                    let constraint = range_of(inner)?;
                    let value = words::any_expr(inner, &example, input)?;
                    bound(own, constraint, inner, number(value, &example)?);
                    Ok(())
                })?,
                "length" => words::each_inner_word(input, |inner, input| {
                    let example = format!("{inner} = 3");
                    let constraints = length_of(inner)?;
                    let value = words::any_expr(inner, &example, input)?;
                    for constraint in constraints {
                        bound(own, *constraint, inner, length(&value, &example)?);
                    }
                    Ok(())
                })?,
                "regex" => words::each_inner_word(input, |inner, input| {
                    if inner != "pattern" {
                        return Err(words::wanted(inner.span(), "pattern = \"…\""));
                    }
                    let text = words::text_expr(inner, "pattern = \"…\"", input)?;
                    bound(own, Constraint::Pattern, inner, BoundValue::Text(text));
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        });
    }
}

fn keep<T>(slot: &mut Option<Set<T>>, word: &Ident, value: T) {
    slot.get_or_insert(Set { word: word.clone(), value });
}

fn bound(own: &mut FieldAttrs, constraint: Constraint, word: &Ident, value: BoundValue) {
    if own.bounds.iter().all(|bound| bound.constraint != constraint) {
        own.bounds.push(Bound { constraint, word: word.clone(), value });
    }
}

fn range_of(word: &Ident) -> syn::Result<Constraint> {
    match &*word.to_string() {
        "min" => Ok(Constraint::Ge),
        "max" => Ok(Constraint::Le),
        _ => Err(syn::Error::new(
            word.span(),
            format_args!("unknown word `{word}` in `range(…)`: expected `min` or `max`"),
        )),
    }
}

fn length_of(word: &Ident) -> syn::Result<&'static [Constraint]> {
    match &*word.to_string() {
        "min" => Ok(&[Constraint::MinLength]),
        "max" => Ok(&[Constraint::MaxLength]),
        "equal" => Ok(&[Constraint::MinLength, Constraint::MaxLength]),
        _ => Err(syn::Error::new(
            word.span(),
            format_args!("unknown word `{word}` in `length(…)`: expected `min`, `max` or `equal`"),
        )),
    }
}

/// `rename = "…"`, but not `rename(serialize = "…", deserialize = "…")`.
fn one_text(word: &Ident, name: &str, input: ParseStream<'_>) -> syn::Result<LitStr> {
    if input.peek(syn::token::Paren) {
        return Err(syn::Error::new(
            word.span(),
            format_args!("a field of a signature has one name for writing and reading: `{name} = \"…\"`"),
        ));
    }
    words::text(word, &format!("{name} = \"…\""), input)
}

/// `default`, or `default = "path::of::a::function"`.
fn default(word: &Ident, input: ParseStream<'_>) -> syn::Result<Default> {
    if !input.peek(Token![=]) {
        return Ok(Default::OfType);
    }
    let text = words::text(word, "default = \"function\"", input)?;
    let path: syn::ExprPath =
        text.parse().map_err(|_| words::wanted(text.span(), "default = \"function\""))?;
    let call: TokenStream = quote!(#path());
    Ok(Default::Expr(call))
}

//! The words of `#[tool(…)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, LitStr, Path};

use crate::errors::Errors;
use crate::words::{self, Vocabulary};

const WORDS: Vocabulary = Vocabulary {
    attribute: "#[tool(…)]",
    words: &["name", "description", "crate"],
    aliases: &[("rename", "name"), ("desc", "description"), ("doc", "description"), ("about", "description")],
    hints: &[
        ("timeout", "set it on the tool: `look_tool().timeout(…)`"),
        ("strict", "the arguments are always checked before the function runs"),
    ],
};

/// What `#[tool(…)]` says.
#[derive(Default)]
pub(super) struct ToolAttrs {
    pub(super) name: Option<LitStr>,
    pub(super) description: Option<TokenStream>,
    pub(super) krate: Option<Path>,
}

impl ToolAttrs {
    pub(super) fn from_tokens(tokens: &TokenStream, errors: &mut Errors) -> Self {
        let mut attrs = ToolAttrs::default();
        if tokens.is_empty() {
            return attrs;
        }
        // The words are read as those of any other attribute.
        let attribute = match Attribute::parse_outer.parse2(quote!(#[tool(#tokens)])) {
            Ok(attributes) => attributes.into_iter().next(),
            Err(error) => {
                errors.push(error);
                None
            }
        };
        let Some(attribute) = attribute else { return attrs };
        words::each_word(&attribute, errors, |word, input, errors| {
            let twice = |errors: &mut Errors| {
                errors.at(word.span(), format_args!("`{word}` is given twice: remove one"));
            };
            match WORDS.resolve(word, errors) {
                Some("name") => {
                    let name = words::text(word, "name = \"look_up\"", input)?;
                    if attrs.name.replace(name).is_some() {
                        twice(errors);
                    }
                }
                Some("description") => {
                    let text = words::text_expr(word, "description = \"Look up …\"", input)?;
                    if attrs.description.replace(text).is_some() {
                        twice(errors);
                    }
                }
                Some("crate") => {
                    let path = words::value(word, "crate = path::to::imp", input)?;
                    if attrs.krate.replace(path).is_some() {
                        twice(errors);
                    }
                }
                _ => words::skip(input),
            }
            Ok(())
        });
        attrs
    }
}

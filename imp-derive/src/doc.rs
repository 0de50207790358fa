//! Doc comments as data: the instructions of a signature and the descriptions of its fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, Meta};

use crate::types::ungroup;

/// The doc comment of a struct or of a field.
pub(crate) struct Docs<'a>(Vec<(&'a Attribute, &'a Expr)>);

impl<'a> Docs<'a> {
    pub(crate) fn from_syn(attrs: &'a [Attribute]) -> Self {
        let docs = attrs.iter().filter_map(|attr| match &attr.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => Some((attr, ungroup(&meta.value))),
            _ => None,
        });
        Docs(docs.collect())
    }

    /// The text, every line with a `\n` behind it, as an expression: `include_str!` and `concat!` in a
    /// `#[doc = …]` stay what they are. The runtime cleans it when the spec is built.
    pub(crate) fn text(&self) -> TokenStream {
        if self.0.is_empty() {
            return quote!("");
        }
        let lines = self.0.iter().map(|(_, line)| line);
        quote!(::core::concat!(#(#lines, "\n"),*))
    }

    /// The attributes as written, for the field's twins in the generated structs; `otherwise` if there
    /// are none, since `missing_docs` looks at those too.
    pub(crate) fn or(&self, otherwise: &str) -> TokenStream {
        if self.0.is_empty() {
            return quote!(#[doc = #otherwise]);
        }
        self.0.iter().map(|(attr, _)| attr.to_token_stream()).collect()
    }
}

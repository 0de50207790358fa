//! The path of the crate `imp`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// `::imp`, or what `crate = …` says.
pub(crate) struct ImpPath<'a>(pub(crate) Option<&'a syn::Path>);

impl ToTokens for ImpPath<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self.0 {
            Some(path) => path.to_tokens(tokens),
            None => tokens.extend(quote!(::imp)),
        }
    }
}

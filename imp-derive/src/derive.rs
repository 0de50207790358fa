//! `#[derive(Signature)]`, from tokens to tokens.

use proc_macro2::TokenStream;
use quote::quote;

use crate::ast::Record;
use crate::errors::Errors;
use crate::{check, expand, fallback};

/// What a struct that derives `Signature` expands to, with an error for each mistake in it.
pub(crate) fn signature(input: &syn::DeriveInput) -> TokenStream {
    let mut errors = Errors::new();
    let record = Record::from_syn(input, &mut errors);
    check::check(&record, &mut errors);
    let code = if record.is_struct { expand::expand(&record) } else { fallback::expand(&record) };
    // With errors too: what uses the struct should not complain as well.
    let errors = errors.to_tokens();
    quote!(#errors #code)
}

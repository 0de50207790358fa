//! `#[tool]` on an async function or method.

mod attr;
mod expand;
mod function;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use attr::ToolAttrs;
use function::Function;

/// The function as it was written, and beside it one that makes a tool of it.
pub(crate) fn tool(words: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let attrs = ToolAttrs::from_tokens(words, &mut errors);
    let function = match Function::from_tokens(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            let errors = errors.to_tokens();
            return quote!(#errors #item);
        }
    };
    function.check(&attrs, &mut errors);
    let code = expand::expand(&function, &attrs, !errors.is_empty());
    let errors = errors.to_tokens();
    quote!(#errors #code)
}

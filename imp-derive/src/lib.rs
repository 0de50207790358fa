//! The derive and the attribute of `imp`, and nothing else: use them as `imp::Signature` and `imp::tool`, where they
//! are documented.

mod ast;
mod attr;
mod case;
mod check;
mod derive;
mod doc;
mod errors;
mod expand;
mod fallback;
mod foreign;
mod imp_path;
mod number;
mod suggest;
mod tool;
mod types;
mod words;

use proc_macro::TokenStream;

// The documentation is at the re-export, `imp::Signature`: rustdoc puts both texts on one page.
#[allow(missing_docs, clippy::missing_docs_in_private_items)]
// `input` and `output` are no attributes of ours; registered, their error says what to do.
#[proc_macro_derive(Signature, attributes(signature, field, serde, schemars, input, output))]
pub fn derive_signature(input: TokenStream) -> TokenStream {
    derive::signature(&syn::parse_macro_input!(input as syn::DeriveInput)).into()
}

// Documented at its re-export, too.
#[allow(missing_docs, clippy::missing_docs_in_private_items)]
#[proc_macro_attribute]
pub fn tool(words: TokenStream, item: TokenStream) -> TokenStream {
    tool::tool(&words.into(), &item.into()).into()
}

//! The derive's own sources as ordinary functions: a crate of macros runs inside the compiler only, and a test or a
//! fuzzer wants to give it tokens of its own.

#[path = "../../imp-derive/src/ast.rs"]
mod ast;
#[path = "../../imp-derive/src/attr.rs"]
mod attr;
#[path = "../../imp-derive/src/case.rs"]
mod case;
#[path = "../../imp-derive/src/check.rs"]
mod check;
#[path = "../../imp-derive/src/derive.rs"]
mod derive;
#[path = "../../imp-derive/src/doc.rs"]
mod doc;
#[path = "../../imp-derive/src/errors.rs"]
mod errors;
#[path = "../../imp-derive/src/expand.rs"]
mod expand;
#[path = "../../imp-derive/src/fallback.rs"]
mod fallback;
#[path = "../../imp-derive/src/foreign.rs"]
mod foreign;
#[path = "../../imp-derive/src/imp_path.rs"]
mod imp_path;
#[path = "../../imp-derive/src/number.rs"]
mod number;
#[path = "../../imp-derive/src/suggest.rs"]
mod suggest;
#[path = "../../imp-derive/src/tool/mod.rs"]
mod tool;
#[path = "../../imp-derive/src/types.rs"]
mod types;
#[path = "../../imp-derive/src/words.rs"]
mod words;

use proc_macro2::TokenStream;

/// What `#[derive(Signature)]` makes of an item.
///
/// # Errors
///
/// The tokens are no item that can derive anything; the compiler would have said so.
pub fn signature(item: TokenStream) -> syn::Result<TokenStream> {
    Ok(derive::signature(&syn::parse2(item)?))
}

/// What `#[tool(words)]` makes of an item.
pub fn tool(words: &TokenStream, item: &TokenStream) -> TokenStream {
    tool::tool(words, item)
}

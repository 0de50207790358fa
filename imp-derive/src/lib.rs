//! The derive of `imp`.

use proc_macro::TokenStream;

/// Derives `Signature`; documented at the re-export in `imp`.
#[proc_macro_derive(Signature, attributes(signature, field, serde, schemars))]
pub fn derive_signature(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

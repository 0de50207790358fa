//! The function that makes a tool of a function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::attr::ToolAttrs;
use super::function::Function;
use crate::doc::Docs;
use crate::imp_path::ImpPath;

/// For `async fn look(query: String) -> Found { … }`:
///
/// ```ignore
/// async fn look(query: String) -> Found { … }
///
/// fn look_tool() -> ::imp::Tool {
///     #[derive(Deserialize, JsonSchema)]
///     struct Arguments { query: String }
///     ::imp::Tool::new("look", "…", |arguments: Arguments| async move { look(arguments.query).await })
/// }
/// ```
///
/// A method's is `fn look_tool(self: &Arc<Self>) -> ::imp::Tool`, whose tool holds the `Arc`.
pub(super) fn expand(function: &Function, attrs: &ToolAttrs, broken: bool) -> TokenStream {
    let imp = ImpPath(attrs.krate.as_ref());
    let (name, _) = function.name(attrs);
    let (vis, ident) = (&function.vis, &function.ident);
    let maker = format_ident!("{}_tool", ident);
    let receiver = function.receiver.as_ref().map(|_| quote!(self: &::std::sync::Arc<Self>));
    let doc = format!("The tool `{name}`, which calls [`{ident}`]({}).", link(function));
    let head = quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #maker(#receiver) -> #imp::Tool
    };
    if broken {
        // What uses the tool should not complain as well.
        return quote!(#function #head { ::core::panic!() });
    }
    let description = attrs.description.as_ref().map_or_else(
        || {
            let docs = Docs::from_syn(&function.attrs).text();
            quote!(#imp::__private::tool_description(#docs))
        },
        |text| quote!(::std::string::String::from(#text)),
    );
    // A constant of the user's would be a pattern, also at this span.
    let [this, arguments] = ["__this", "__arguments"].map(|name| Ident::new(name, Span::mixed_site()));
    let (serde, schemars) = (path(&imp, "serde"), path(&imp, "schemars"));
    let fields = function.params.iter().map(super::function::Param::field);
    let values = function.params.iter().map(|param| {
        let field = &param.ident;
        quote!(#arguments.#field)
    });
    let unused = function.params.is_empty().then(|| quote!(let _ = #arguments;));
    let call = match &function.receiver {
        None => quote!(#ident(#(#values),*)),
        Some(receiver) if receiver.by_reference => quote!(Self::#ident(&#this, #(#values),*)),
        Some(_) => quote!(Self::#ident(#this, #(#values),*)),
    };
    let method = function.receiver.as_ref();
    let kept = method.map(|_| quote!(let #this = ::std::sync::Arc::clone(self);));
    let again = method.map(|_| quote!(let #this = ::std::sync::Arc::clone(&#this);));
    quote! {
        #function
        #head {
            #[derive(#imp::__private::serde::Deserialize, #imp::__private::schemars::JsonSchema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            struct __Arguments { #(#fields),* }
            #kept
            #imp::Tool::new(#name, #description, move |#arguments: __Arguments| {
                #again
                #unused
                async move { #call.await }
            })
        }
    }
}

/// The path of a crate behind `imp`, as the derives of that crate want it.
fn path(imp: &ImpPath<'_>, name: &str) -> String {
    let imp: String = imp.to_token_stream().to_string().split_whitespace().collect();
    format!("{imp}::__private::{name}")
}

/// Where rustdoc finds the function.
fn link(function: &Function) -> String {
    match function.receiver {
        Some(_) => format!("Self::{}", function.ident),
        None => function.ident.to_string(),
    }
}

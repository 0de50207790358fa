//! The function that `#[tool]` stands on, as far as it matters: syn's own parser of functions is in its large half.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Generics, LitStr, Token, Type, Visibility, WhereClause};

use super::attr::ToolAttrs;
use crate::errors::Errors;

/// An async function or method.
pub(super) struct Function {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    is_async: bool,
    /// `async`, and what else stands before `fn`.
    qualifiers: TokenStream,
    /// `const`, `unsafe`, `extern "C"`.
    other: TokenStream,
    fn_token: Token![fn],
    pub(super) ident: Ident,
    generics: Generics,
    pub(super) receiver: Option<Receiver>,
    pub(super) params: Vec<Param>,
    output: TokenStream,
    body: Group,
}

/// `self` in one of its forms.
pub(super) struct Receiver {
    tokens: TokenStream,
    /// Whether the method is given a reference, as `&self`.
    pub(super) by_reference: bool,
    /// Whether it can be called through an `Arc` again and again.
    is_shared: bool,
}

/// An argument.
pub(super) struct Param {
    pub(super) attrs: Vec<Attribute>,
    mutability: Option<Token![mut]>,
    pub(super) ident: Ident,
    pub(super) ty: Type,
}

/// The attributes that are about the argument's field in the struct that the arguments are read into.
fn is_of_field(attr: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name))
}

impl Function {
    pub(super) fn from_tokens(tokens: TokenStream) -> syn::Result<Self> {
        Function::parse.parse2(tokens)
    }

    /// A tool is async, has no parameters of its own, and arguments that own their data.
    pub(super) fn check(&self, attrs: &ToolAttrs, errors: &mut Errors) {
        if !self.is_async {
            errors.at(self.fn_token.span, "a tool is async: write `async fn`");
        }
        if !self.other.is_empty() {
            errors.on(&self.other, "a tool is an ordinary function: remove this");
        }
        if !self.generics.params.is_empty() {
            errors.on(
                &self.generics,
                "a tool has one schema, so its function has no parameters of type or lifetime: write the type",
            );
        }
        if let Some(receiver) = self.receiver.as_ref().filter(|receiver| !receiver.is_shared) {
            errors.on(
                &receiver.tokens,
                "a tool is called many times, also at once: take `&self` or `self: Arc<Self>`",
            );
        }
        for param in &self.params {
            match &param.ty {
                Type::Reference(_) => errors.on(
                    &param.ty,
                    "an argument of a tool owns its data: write `String`, `Vec<…>`, or the type itself",
                ),
                Type::ImplTrait(_) => {
                    errors
                        .on(&param.ty, "a tool has one schema, so its arguments have types: write the type");
                }
                _ => {}
            }
        }
        let (name, span) = self.name(attrs);
        if !is_name(&name) {
            errors.at(
                span,
                format_args!(
                    "`{name}` cannot be the name of a tool: providers take letters, digits, `_` and `-`, at most \
                     64 of them{}",
                    if attrs.name.is_some() { "" } else { "; write `#[tool(name = \"…\")]`" }
                ),
            );
        }
    }

    /// The tool's name, and where it is written.
    pub(super) fn name(&self, attrs: &ToolAttrs) -> (String, Span) {
        match &attrs.name {
            Some(name) => (name.value(), name.span()),
            None => (self.ident.unraw().to_string(), self.ident.span()),
        }
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let (mut is_async, mut qualifiers, mut other) = (false, TokenStream::new(), TokenStream::new());
        while !input.peek(Token![fn]) {
            if input.peek(Token![async]) {
                is_async = true;
                qualifiers.extend([input.parse::<TokenTree>()?]);
            } else if input.peek(Token![const]) || input.peek(Token![unsafe]) || input.peek(Token![extern]) {
                let mut words = input.parse::<TokenTree>()?.into_token_stream();
                words.extend(input.parse::<Option<LitStr>>()?.map(ToTokens::into_token_stream));
                qualifiers.extend(words.clone());
                other.extend(words);
            } else {
                return Err(input.error("`#[tool]` is for an async function or method"));
            }
        }
        let fn_token = input.parse()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let params;
        syn::parenthesized!(params in input);
        let receiver = Receiver::parse_opt(&params)?;
        let params = Punctuated::<Param, Token![,]>::parse_terminated(&params)?;
        let mut output = TokenStream::new();
        if input.peek(Token![->]) {
            let arrow = input.parse::<Token![->]>()?;
            let ty = input.parse::<Type>()?;
            output = quote!(#arrow #ty);
        }
        generics.where_clause = input.parse::<Option<WhereClause>>()?;
        let body = match input.parse()? {
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => body,
            other => {
                return Err(syn::Error::new(other.span(), "a tool has a body: write `{ … }`"));
            }
        };
        Ok(Function {
            attrs,
            vis,
            is_async,
            qualifiers,
            other,
            fn_token,
            ident,
            generics,
            receiver,
            params: params.into_iter().collect(),
            output,
            body,
        })
    }
}

impl Receiver {
    fn parse_opt(input: ParseStream<'_>) -> syn::Result<Option<Self>> {
        let fork = input.fork();
        let reference = fork.parse::<Option<Token![&]>>()?;
        if reference.is_some() {
            fork.parse::<Option<syn::Lifetime>>()?;
        }
        fork.parse::<Option<Token![mut]>>()?;
        if !fork.peek(Token![self]) {
            return Ok(None);
        }
        let reference = input.parse::<Option<Token![&]>>()?;
        let lifetime = if reference.is_some() { input.parse::<Option<syn::Lifetime>>()? } else { None };
        let mutable = input.parse::<Option<Token![mut]>>()?;
        let itself = input.parse::<Token![self]>()?;
        let colon = input.parse::<Option<Token![:]>>()?;
        let ty = if colon.is_some() { Some(input.parse::<Type>()?) } else { None };
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        let by_reference = reference.is_some() || matches!(ty, Some(Type::Reference(_)));
        let is_shared = match &ty {
            None => reference.is_some() && mutable.is_none(),
            Some(Type::Reference(ty)) => ty.mutability.is_none(),
            Some(Type::Path(path)) => path.path.segments.last().is_some_and(|last| last.ident == "Arc"),
            Some(_) => false,
        };
        let tokens = quote!(#reference #lifetime #mutable #itself #colon #ty);
        Ok(Some(Receiver { tokens, by_reference, is_shared }))
    }
}

impl Parse for Param {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let mutability = input.parse()?;
        let named = input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek(Token![_]);
        if !named {
            return Err(input.error("an argument of a tool has a name: write `name: Type`"));
        }
        let ident = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Param { attrs, mutability, ident, ty: input.parse()? })
    }
}

/// The function as it was written, without the attributes that a parameter cannot have.
impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Function { attrs, vis, qualifiers, fn_token, ident, generics, output, body, .. } = self;
        let receiver = self.receiver.iter().map(|receiver| {
            let receiver = &receiver.tokens;
            quote!(#receiver)
        });
        let params = self.params.iter().map(|param| {
            let Param { attrs, mutability, ident, ty } = param;
            let attrs = attrs.iter().filter(|attr| !is_of_field(attr));
            quote!(#(#attrs)* #mutability #ident: #ty)
        });
        let params = receiver.chain(params);
        let clause = &generics.where_clause;
        // What a tool has to be: async, and given what it reads.
        tokens.extend(quote! {
            #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
            #(#attrs)* #vis #qualifiers #fn_token #ident #generics (#(#params),*) #output #clause #body
        });
    }
}

impl Param {
    /// The argument as a field of the struct that the arguments are read into.
    pub(super) fn field(&self) -> TokenStream {
        let Param { attrs, ident, ty, .. } = self;
        let attrs = attrs.iter().filter(|attr| is_of_field(attr));
        quote!(#(#attrs)* #ident: #ty)
    }
}

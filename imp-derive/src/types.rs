//! Types as tokens: what they mention.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Expr, GenericParam, Generics, Lifetime};

/// The expression without the invisible groups that a `macro_rules!` puts round its fragments.
pub(crate) fn ungroup(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

/// The same tokens at another place, so that an error about them underlines that place. Interpolated
/// tokens keep their own span in `quote_spanned!`.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &mut token {
            *group = Group::new(group.delimiter(), respan(group.stream(), span));
        }
        token.set_span(span);
        token
    });
    respanned.collect()
}

/// A field's type for use outside of the struct, where `Self` is something else.
pub(crate) fn without_self(ty: TokenStream, itself: &TokenStream) -> TokenStream {
    let mut replaced = TokenStream::new();
    for token in ty {
        match token {
            TokenTree::Ident(ident) if ident == "Self" => replaced.extend(itself.clone()),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_self(group.stream(), itself));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            token => replaced.extend([token]),
        }
    }
    replaced
}

/// The parameters of a struct.
pub(crate) struct Params {
    /// Of types and constants.
    pub(crate) types: Vec<Ident>,
    lifetimes: Vec<Lifetime>,
}

impl Params {
    pub(crate) fn from_syn(generics: &Generics) -> Self {
        let mut params = Params { types: Vec::new(), lifetimes: Vec::new() };
        for param in &generics.params {
            match param {
                GenericParam::Type(param) => params.types.push(param.ident.clone()),
                GenericParam::Const(param) => params.types.push(param.ident.clone()),
                GenericParam::Lifetime(param) => params.lifetimes.push(param.lifetime.clone()),
            }
        }
        params
    }

    /// Whether the tokens mention a parameter of a type or a constant.
    pub(crate) fn mentioned(&self, tokens: &TokenStream) -> bool {
        let mut found = false;
        visit(tokens.clone(), &mut |token, lifetime| found |= !lifetime && self.types.contains(token));
        found
    }

    /// The tokens as a text without the names of lifetimes: what two bounds for every lifetime share.
    pub(crate) fn shape(&self, tokens: &TokenStream) -> String {
        self.with_lifetimes(tokens.clone(), &|own| Ident::new("_", own.span())).to_string()
    }

    /// The tokens with `'static` for the struct's lifetimes.
    ///
    /// A bound of a type without parameters is looked at where it stands, one of a type with a lifetime
    /// only where the struct is used.
    pub(crate) fn without_lifetimes(&self, tokens: TokenStream) -> TokenStream {
        self.with_lifetimes(tokens, &|own| Ident::new("static", own.span()))
    }

    fn with_lifetimes(&self, tokens: TokenStream, name: &dyn Fn(&Ident) -> Ident) -> TokenStream {
        let mut quote = false;
        let replaced = tokens.into_iter().map(|mut token| {
            match &mut token {
                TokenTree::Ident(ident) if quote && self.lifetimes.iter().any(|own| own.ident == *ident) => {
                    *ident = name(ident);
                }
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.with_lifetimes(group.stream(), name));
                    inner.set_span(group.span());
                    *group = inner;
                }
                _ => {}
            }
            quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
            token
        });
        replaced.collect()
    }

    /// `for<'__a> &'__a T`: the type for every lifetime, not only the struct's own.
    pub(crate) fn for_every_lifetime(&self, tokens: TokenStream) -> TokenStream {
        let mut used = vec![false; self.lifetimes.len()];
        visit(tokens.clone(), &mut |token, lifetime| {
            for (used, own) in used.iter_mut().zip(&self.lifetimes) {
                *used |= lifetime && own.ident == *token;
            }
        });
        let bound = |own: &Ident| format_ident!("__{own}");
        let used = self.lifetimes.iter().zip(used).filter(|(_, used)| *used);
        let used: Vec<_> =
            used.map(|(own, _)| Lifetime { apostrophe: own.apostrophe, ident: bound(&own.ident) }).collect();
        let binder = if used.is_empty() { TokenStream::new() } else { quote!(for<#(#used),*>) };
        let ty = self.with_lifetimes(tokens, &bound);
        quote!(#binder #ty)
    }

    /// Whether the tokens mention a lifetime of the struct.
    pub(crate) fn borrowed(&self, tokens: &TokenStream) -> bool {
        let mut found = false;
        visit(tokens.clone(), &mut |token, lifetime| {
            found |= lifetime && self.lifetimes.iter().any(|own| own.ident == *token);
        });
        found
    }
}

/// Shows every identifier, with whether it is a lifetime's.
fn visit(tokens: TokenStream, see: &mut dyn FnMut(&Ident, bool)) {
    let mut lifetime = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => visit(group.stream(), see),
            TokenTree::Ident(ident) => see(ident, lifetime),
            _ => {}
        }
        lifetime = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    }
}

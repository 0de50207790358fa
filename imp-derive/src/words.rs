//! The words inside an attribute: `word`, `word = value`, `word(…)`, separated by commas.

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, Lit, LitStr, Meta, Token};

use crate::errors::Errors;
use crate::suggest;
use crate::types::ungroup;

/// The words that an attribute may have.
pub(crate) struct Vocabulary {
    /// How the attribute is written, for messages: `#[field(…)]`.
    pub(crate) attribute: &'static str,
    pub(crate) words: &'static [&'static str],
    /// Words that are often tried, and what is meant.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
    /// Words that are something else, and what to do.
    pub(crate) hints: &'static [(&'static str, &'static str)],
}

impl Vocabulary {
    /// The word that is meant, which is reported if it is not the one that was written. `None` if there
    /// is none near.
    pub(crate) fn resolve(&self, word: &Ident, errors: &mut Errors) -> Option<&'static str> {
        let text = word.unraw().to_string();
        if let Some(known) = self.words.iter().find(|known| **known == text) {
            return Some(known);
        }
        let unknown = format!("unknown word `{text}` in `{}`", self.attribute);
        if let Some((_, hint)) = self.hints.iter().find(|(hinted, _)| *hinted == text) {
            errors.at(word.span(), format_args!("{unknown}: {hint}"));
            return None;
        }
        let alias = self.aliases.iter().find(|(alias, _)| *alias == text).map(|(_, word)| *word);
        let near = alias.or_else(|| suggest::nearest(&text, self.words.iter().copied()));
        let remedy = near.map_or_else(
            || format!("expected {}", suggest::list(self.words)),
            |near| format!("did you mean `{near}`?"),
        );
        errors.at(word.span(), format_args!("{unknown}: {remedy}"));
        near
    }
}

/// Calls `each` with every word of the attribute and what follows it. A mistake in one does not hide
/// those in the others.
pub(crate) fn each_word(
    attr: &Attribute,
    errors: &mut Errors,
    mut each: impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    let list = match &attr.meta {
        Meta::List(list) => list,
        Meta::Path(path) | Meta::NameValue(syn::MetaNameValue { path, .. }) => {
            let name = path.to_token_stream();
            let example = example(attr);
            errors.on(&attr.meta, format_args!("expected words in parentheses: `#[{name}({example})]`"));
            return;
        }
    };
    let words = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = one_word(attr, input, errors, &mut each) {
                errors.push(error);
                skip(input);
            }
            if input.parse::<Option<Token![,]>>()?.is_none() && !input.is_empty() {
                errors.push(input.error("expected `,`"));
                skip(input);
                input.parse::<Option<Token![,]>>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = words.parse2(list.tokens.clone()) {
        errors.push(error);
    }
}

/// The words inside `word(…)`.
pub(crate) fn each_inner_word(
    input: ParseStream<'_>,
    mut each: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let inner;
    syn::parenthesized!(inner in input);
    let mut words = || {
        while !inner.is_empty() {
            let word = inner.call(Ident::parse_any)?;
            each(&word, &inner)?;
            if !inner.is_empty() {
                inner.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    let result = words();
    // What is left is no second mistake.
    inner.parse::<TokenStream>()?;
    result
}

/// A word that the attribute may have, for who wrote none.
fn example(attr: &Attribute) -> &'static str {
    match attr.path() {
        path if path.is_ident("field") => "desc = \"…\"",
        path if path.is_ident("signature") => "output = Struct",
        _ => "rename = \"…\"",
    }
}

fn one_word(
    attr: &Attribute,
    input: ParseStream<'_>,
    errors: &mut Errors,
    each: &mut impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) -> syn::Result<()> {
    let span = input.span();
    let word = input.call(Ident::parse_any).map_err(|_| {
        let example = example(attr);
        syn::Error::new(span, format_args!("expected a word, such as `{example}`"))
    })?;
    each(&word, input, errors)
}

/// Skips what is left of a word that cannot be understood.
pub(crate) fn skip(input: ParseStream<'_>) {
    tokens(input);
}

/// The tokens up to the next comma, or to the end. A comma inside `::<…>` does not count.
fn tokens(input: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    let mut angles = 0_usize;
    while !input.is_empty() && (angles > 0 || !input.peek(Token![,])) {
        if input.peek(Token![::]) && input.peek3(Token![<]) {
            angles += 1;
        } else if angles > 0 && input.peek(Token![>]) {
            angles -= 1;
        }
        match input.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    tokens
}

/// `= ` behind a word that needs a value; `example` is how it is written in full.
fn equals(word: &Ident, example: &str, input: ParseStream<'_>) -> syn::Result<()> {
    let has_value =
        input.parse::<Option<Token![=]>>()?.is_some() && !input.is_empty() && !input.peek(Token![,]);
    if has_value {
        return Ok(());
    }
    Err(syn::Error::new(word.span(), format_args!("`{}` needs a value: `{example}`", word.unraw())))
}

/// The error for a value of the wrong form.
pub(crate) fn wanted(span: Span, example: &str) -> syn::Error {
    syn::Error::new(span, format_args!("expected `{example}`"))
}

/// `word = VALUE`.
pub(crate) fn value<T: syn::parse::Parse>(
    word: &Ident,
    example: &str,
    input: ParseStream<'_>,
) -> syn::Result<T> {
    value_with(word, example, input, T::parse)
}

/// `word = VALUE`, with the value's own parser.
pub(crate) fn value_with<T>(
    word: &Ident,
    example: &str,
    input: ParseStream<'_>,
    parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    equals(word, example, input)?;
    let span = input.span();
    let value = parse(input).map_err(|_| wanted(span, example))?;
    if input.is_empty() || input.peek(Token![,]) { Ok(value) } else { Err(wanted(span, example)) }
}

/// `word = "text"`.
pub(crate) fn text(word: &Ident, example: &str, input: ParseStream<'_>) -> syn::Result<LitStr> {
    value(word, example, input)
}

/// `word = "text"`, or a constant expression that is one: `include_str!("…")`, `INSTRUCTIONS`.
pub(crate) fn text_expr(word: &Ident, example: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    equals(word, example, input)?;
    let expr = expr(example, input)?;
    match literal(&expr) {
        Some(Lit::Str(_)) | None => Ok(expr),
        Some(other) => Err(wanted(other.span(), example)),
    }
}

/// `word = expression`.
pub(crate) fn any_expr(word: &Ident, example: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    equals(word, example, input)?;
    expr(example, input)
}

/// `word`, and nothing else.
pub(crate) fn flag(word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(syn::Error::new(word.span(), format_args!("`{word}` takes no value: write it alone")))
}

/// An expression: what syn can parse without its large half, else the tokens up to the next comma, so that
/// a block or a closure is an expression too.
fn expr(example: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let fork = input.fork();
    match fork.parse::<Expr>() {
        // A word behind it continues no expression: a comma is missing, and will be reported.
        Ok(expr) if fork.is_empty() || fork.peek(Token![,]) || fork.peek(Ident::peek_any) => {
            input.advance_to(&fork);
            Ok(expr.into_token_stream())
        }
        _ => {
            let tokens = tokens(input);
            match stray(&tokens) {
                Some(span) => Err(wanted(span, example)),
                None => Ok(tokens),
            }
        }
    }
}

/// A token of what syn cannot parse that no expression has in its place, so that the error is ours: two operands side
/// by side, a type behind a colon, an assignment. Closures may have any of it in their parameters.
fn stray(tokens: &TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let sign = |at: usize| match tokens.get(at) {
        Some(TokenTree::Punct(sign)) => Some((sign.as_char(), sign.spacing() == Spacing::Joint)),
        _ => None,
    };
    let word =
        |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == word);
    if (0..tokens.len()).any(|at| sign(at).is_some_and(|(sign, _)| sign == '|')) {
        return None;
    }
    let has_let = (0..tokens.len()).any(|at| word(at, "let"));
    let at = (0..tokens.len()).find(|&at| {
        let joined = at > 0 && sign(at - 1).is_some_and(|(_, joint)| joint);
        let labels = at > 1 && sign(at - 2).is_some_and(|(sign, _)| sign == '\'');
        match (&tokens[at], sign(at)) {
            (_, Some((';' | '$', _))) => true,
            (_, Some((':', false))) => !joined && !labels,
            (_, Some(('=', false))) => !joined && !has_let,
            (TokenTree::Literal(_), _) if at > 0 => match &tokens[at - 1] {
                TokenTree::Literal(_) => true,
                TokenTree::Ident(word) => {
                    !["if", "match", "return", "break", "in"].iter().any(|known| word == known)
                }
                _ => false,
            },
            (TokenTree::Ident(ident), _) => {
                at > 0 && matches!(tokens[at - 1], TokenTree::Literal(_)) && ident != "as"
            }
            _ => false,
        }
    })?;
    Some(tokens[at].span())
}

/// The literal that an expression is.
pub(crate) fn literal(expr: &TokenStream) -> Option<Lit> {
    let expr: Expr = syn::parse2(expr.clone()).ok()?;
    match ungroup(&expr) {
        Expr::Lit(literal) => Some(literal.lit.clone()),
        _ => None,
    }
}

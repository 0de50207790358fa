//! What the macros make of any tokens.

use imp_derive_tokens::{signature, tool};
use proc_macro2::{TokenStream, TokenTree};

/// The deepest brackets: the compiler has a limit of its own.
const DEEPEST: usize = 40;

/// A text of Rust as an item with the derive, and as one with the attribute, whose words are its first line: what they
/// make of it is Rust, and each error underlines something of it.
///
/// # Panics
///
/// Something is wrong.
pub fn derive_tokens(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if depth(&text) > DEEPEST {
        return;
    }
    if let Ok(item) = text.parse::<TokenStream>()
        && let Ok(expansion) = signature(item)
    {
        sound(&expansion, &text);
    }
    let (words, item) = text.split_once('\n').unwrap_or(("", &text));
    if let (Ok(words), Ok(item)) = (words.parse(), item.parse())
        // The compiler gives an attribute an item only.
        && syn::parse2::<syn::Item>(TokenStream::clone(&item)).is_ok()
    {
        sound(&tool(&words, &item), &text);
    }
}

/// No more than the brackets that are open at once, whatever they stand in.
fn depth(text: &str) -> usize {
    let mut open = 0_usize;
    let depths = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' | b'<' => open += 1,
            b')' | b']' | b'}' | b'>' => open = open.saturating_sub(1),
            _ => {}
        }
        open
    });
    depths.max().unwrap_or(0)
}

fn sound(expansion: &TokenStream, text: &str) {
    if let Err(error) = syn::parse2::<syn::File>(expansion.clone()) {
        panic!("{error} in what is made of {text:?}:\n{expansion}");
    }
    let mut before = None;
    for token in expansion.clone() {
        if let (TokenTree::Ident(ident), Some(true)) = (&token, before)
            && *ident == "compile_error"
        {
            // The source is not the first text that was read, so its bytes do not count from 0: an error without
            // a place has none at all.
            assert!(
                !ident.span().byte_range().is_empty(),
                "an error underlines nothing of {text:?}:\n{expansion}"
            );
        }
        before = Some(matches!(&token, TokenTree::Punct(sign) if sign.as_char() == ':'));
    }
}

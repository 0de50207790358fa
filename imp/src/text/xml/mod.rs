//! XML as models write it: elements, attributes, references, comments; nothing that could name a file or an
//! entity.

mod document;
mod value;

pub(crate) use document::{Document, Node};
pub(crate) use value::{Convert, is_one_item, quoted_blank, scalar};

/// Whether a key can be the name of an element; any other is written as `<entry key="…">`.
///
/// The rule is DSPy's: a Python identifier, in which `-` and `.` may stand behind the first character.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| (c == '_' || c.is_alphabetic()) && document::is_name_start(c))
        && chars.all(|c| {
            let part = matches!(c, '_' | '-' | '.' | '\u{b7}') || c.is_alphanumeric() || is_mark(c);
            part && document::is_name_part(c)
        })
}

/// The combining marks that identifiers have most.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Writes text as the content of an element: `>` stays (spec/imp.md §11).
pub(crate) fn push_text(out: &mut String, text: &str) {
    push_escaped(out, text, false);
}

/// The same where every character counts: a reader makes `\n` of every line end that is no reference.
pub(crate) fn push_exact(out: &mut String, text: &str) {
    push_escaped(out, text, true);
}

fn push_escaped(out: &mut String, text: &str, exact: bool) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let reference = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'\r' if exact => "&#13;",
            _ => continue,
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(reference);
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

/// Escapes what is in `out` from the byte `from` on, with [`push_text`] or [`push_exact`].
pub(crate) fn escape(out: &mut String, from: usize, push: fn(&mut String, &str)) {
    let Some(text) = out.get(from..).filter(|text| text.contains(['&', '<', '\r'])) else { return };
    let mut escaped = String::with_capacity(text.len() + 16);
    push(&mut escaped, text);
    out.truncate(from);
    out.push_str(&escaped);
}

/// The quotes around the value of an attribute, and whether `>` is escaped in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// Always `"`.
    Double,
    /// Python's `quoteattr`: `'` where the value has a `"` and no `'`.
    Python,
}

/// Writes the value of an attribute in quotes.
pub(crate) fn push_attribute(out: &mut String, value: &str, quotes: Quotes) {
    let python = quotes == Quotes::Python;
    let quote = if python && value.contains('"') && !value.contains('\'') { '\'' } else { '"' };
    out.push(quote);
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' if python => out.push_str("&gt;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '"' if quote == '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// How deep the elements of a reply may be nested.
pub(crate) const DEPTH: usize = 64;

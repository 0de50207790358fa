//! White space, as the specifications mean it.

/// White space as Python's `str.strip` knows it: Unicode's, and the four separators U+001C to U+001F.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The text without white space around it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

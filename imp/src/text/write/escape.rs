//! Parts of a text that could be taken for a marker.
//!
//! A line that is white space, any number of backslashes, `[[`, blanks and `##` gets one more backslash in
//! front of `[[`, and so does, anywhere in a line, all that a lenient reader takes for a marker
//! ([`marker`](crate::text::marker)); reading takes exactly one away. `[[1, 2]]` is never escaped.

use std::borrow::Cow;

use crate::text::marker::{self, is_blank, is_separator};

/// The run of `count` brackets at `at`: where its backslashes begin, if it could be taken for a marker.
///
/// All looks are over blanks, backslashes and one name only, so a whole text costs one pass.
fn marker_at(text: &str, at: usize, count: usize) -> Option<usize> {
    let before = text.get(..at)?;
    let unescaped = before.trim_end_matches('\\');
    if marker::marker_at(text, at, count).is_some() {
        return Some(unescaped.len());
    }
    let after = text.get(at + 2..)?.trim_start_matches(|c| c != '\n' && c != '\r' && is_blank(c));
    if count != 2 || !after.starts_with("##") {
        return None;
    }
    let indent = unescaped.trim_end_matches(|c| c != '\n' && c != '\r' && is_blank(c));
    // A separator that is no `\n` is a blank here; a line may begin behind any of them.
    let starts_line = indent.is_empty()
        || indent.ends_with(['\n', '\r'])
        || unescaped.get(indent.len()..)?.chars().any(is_separator);
    starts_line.then_some(unescaped.len())
}

/// The runs of brackets that could be taken for a marker.
fn found(text: &str) -> impl Iterator<Item = (usize, usize)> {
    marker::openings(text).filter(|&(at, count)| marker_at(text, at, count).is_some())
}

/// Whether anything could be taken for a marker.
pub(crate) fn has_markers(text: &str) -> bool {
    found(text).next().is_some()
}

/// Escapes the markers in `out` from the byte `from` on.
pub(crate) fn escape_markers(out: &mut String, from: usize) {
    replace_openings(out, from, |count| if count == 2 { "\\[[" } else { "\\[" });
}

/// Does the same in a JSON text, in JSON's own way: a string in it may hold a line end that JSON does not escape.
///
/// `line_ends` says that the reader cuts lines where Python does, so that such a character would become `\n`.
pub(super) fn escape_json(out: &mut String, from: usize, line_ends: bool) {
    // The second of two brackets, so that the text stays readable.
    replace_openings(out, from, |count| if count == 2 { "[\\u005b" } else { "\\u005b" });
    let json = out.get(from..).unwrap_or_default();
    if line_ends && json.contains(is_separator) {
        let json =
            json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        out.truncate(from);
        out.push_str(&json);
    }
}

/// Writes `with` in place of the brackets that open a marker.
fn replace_openings(out: &mut String, from: usize, with: impl Fn(usize) -> &'static str) {
    let Some(text) = out.get(from..) else { return };
    let mut places = found(text).peekable();
    if places.peek().is_none() {
        return;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (at, count) in places {
        escaped.push_str(text.get(done..at).unwrap_or_default());
        escaped.push_str(with(count));
        done = at + count;
    }
    escaped.push_str(text.get(done..).unwrap_or_default());
    out.truncate(from);
    out.push_str(&escaped);
}

/// Takes one backslash from each escaped marker: the inverse of [`escape_markers`].
pub(crate) fn unescape_markers(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text.into();
    }
    let mut escaped = found(text)
        .map(|(at, _)| at)
        .filter(|&at| text.get(..at).is_some_and(|t| t.ends_with('\\')))
        .peekable();
    if escaped.peek().is_none() {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for at in escaped {
        out.push_str(text.get(done..at - 1).unwrap_or_default());
        done = at;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out.into()
}

/// Whether the run of `count` brackets at `at` is one from which [`unescape_markers`] takes a backslash, as far as the
/// text goes.
pub(crate) fn is_escaped_opening(text: &str, at: usize, count: usize) -> bool {
    count <= 2
        && text.get(..at).is_some_and(|before| before.ends_with('\\'))
        && marker_at(text, at, count).is_some()
}

/// How much of the front of a text [`unescape_markers`] reads as it will with any text behind it: what is in
/// front of backslashes that may yet stand before a marker.
pub(crate) fn certain_unescaped(text: &str) -> usize {
    // No marker has a backslash in it, so only the last one can matter.
    let Some(last) = memchr::memrchr(b'\\', text.as_bytes()) else { return text.len() };
    let (before, after) = text.split_at(last + 1);
    let count = after.bytes().take_while(|byte| *byte == b'[').count();
    let is_one = (1..=2).contains(&count) && marker_at(text, last + 1, count).is_some();
    if !is_one && marker::may_become(after) { before.trim_end_matches('\\').len() } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escape(text: &str) -> String {
        let mut out = "[[ ## before ## ]]\n".to_owned();
        let from = out.len();
        out.push_str(text);
        escape_markers(&mut out, from);
        out.split_off(from)
    }

    #[test]
    fn lines_like_markers_are_escaped_and_others_are_not() {
        for (text, escaped) in [
            ("", ""),
            ("[[1, 2], [3]]", "[[1, 2], [3]]"),
            ("[[ # x ]]", "[[ # x ]]"),
            ("see [[ ## a ]", "see [[ ## a ]"),
            ("see [[ ## a ## ]]", "see \\[[ ## a ## ]]"),
            ("**[[## A b ##]]**", "**\\[[## A b ##]]**"),
            ("- [ ## a ## ] \\[[ ## b ]]", "- \\[ ## a ## ] \\\\[[ ## b ]]"),
            ("[[ ## a ## ]]", "\\[[ ## a ## ]]"),
            ("x\n  [[##A##]] y\nz", "x\n  \\[[##A##]] y\nz"),
            ("\\[[ ## a ## ]]", "\\\\[[ ## a ## ]]"),
            ("\r[[\t ## ", "\r\\[[\t ## "),
            ("a\u{2028}[[ ## a ## ]]", "a\u{2028}\\[[ ## a ## ]]"),
            ("\u{feff}[[ ## a ## ]]", "\u{feff}\\[[ ## a ## ]]"),
            ("[[[ ## a", "[[[ ## a"),
            ("[[\n## a", "[[\n## a"),
        ] {
            assert_eq!(escape(text), escaped);
            assert_eq!(unescape_markers(escaped), text);
        }
    }

    #[test]
    fn in_json_the_second_bracket_is_escaped() {
        let mut out = "[\"a\u{2028}[[ ## b ## ]]\", [[1]]]".to_owned();
        escape_json(&mut out, 0, false);
        assert_eq!(out, "[\"a\u{2028}[\\u005b ## b ## ]]\", [[1]]]");
        escape_json(&mut out, 0, true);
        assert_eq!(out, "[\"a\\u2028[\\u005b ## b ## ]]\", [[1]]]");
    }

    #[test]
    fn unescaping_is_the_inverse_of_escaping() {
        let parts = ["[[", "##", " ", "\\", "\n", "a", "]]", "\r", "\u{2028}", "[", "\u{b}"];
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[usize::try_from(seed >> 40).unwrap() % parts.len()]);
            }
            let escaped = escape(&text);
            assert!(found(&escaped).all(|(at, _)| escaped[..at].ends_with('\\')), "{escaped:?}");
            assert_eq!(unescape_markers(&escaped), text);
        }
    }
}

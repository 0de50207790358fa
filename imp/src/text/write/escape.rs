//! Lines inside a text that could be taken for a marker.
//!
//! A line that is white space, any number of backslashes, `[[`, blanks and `##` gets one more backslash in
//! front of `[[`, and reading takes exactly one away. The spelling of what follows does not matter, so that
//! whatever a lenient reader may one day take for a marker is escaped already; `[[1, 2]]` never is.

use std::borrow::Cow;

use memchr::memmem;

/// White space as a reader may see it: also what only Python's `splitlines` and some models use.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// The `[[` at `at`: where its backslashes begin, if it begins a line that could be taken for a marker.
///
/// Both looks are over blanks and backslashes only, and no two hits share one, so a whole text costs one pass.
fn marker_at(text: &str, at: usize) -> Option<usize> {
    let after = text.get(at + 2..)?.trim_start_matches(|c| c != '\n' && c != '\r' && is_blank(c));
    if !after.starts_with("##") {
        return None;
    }
    let before = text.get(..at)?;
    let unescaped = before.trim_end_matches('\\');
    let indent = unescaped.trim_end_matches(|c| c != '\n' && c != '\r' && is_blank(c));
    // A separator that is no `\n` is a blank here; a line may begin behind any of them.
    let starts_line = indent.is_empty()
        || indent.ends_with(['\n', '\r'])
        || unescaped.get(indent.len()..)?.chars().any(is_separator);
    starts_line.then_some(unescaped.len())
}

/// What Python's `splitlines` takes for the end of a line, beside `\n` and `\r`.
fn is_separator(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether any line could be taken for a marker.
pub(crate) fn has_markers(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), "[[").any(|at| marker_at(text, at).is_some())
}

/// Escapes the marker lines in `out` from the byte `from` on.
pub(crate) fn escape_markers(out: &mut String, from: usize) {
    replace_openings(out, from, "\\[[");
}

/// Does the same in a JSON text, in JSON's own way: a string in it may hold a line end that JSON does not escape.
///
/// `line_ends` says that the reader cuts lines where Python does, so that such a character would become `\n`.
pub(super) fn escape_json(out: &mut String, from: usize, line_ends: bool) {
    replace_openings(out, from, "[\\u005b");
    let json = out.get(from..).unwrap_or_default();
    if line_ends && json.contains(is_separator) {
        let json =
            json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        out.truncate(from);
        out.push_str(&json);
    }
}

/// Writes `with` in place of the `[[` that begin a marker line.
fn replace_openings(out: &mut String, from: usize, with: &str) {
    let Some(text) = out.get(from..) else { return };
    if memchr::memchr(b'[', text.as_bytes()).is_none() {
        return;
    }
    let places: Vec<usize> =
        memmem::find_iter(text.as_bytes(), "[[").filter(|&at| marker_at(text, at).is_some()).collect();
    if places.is_empty() {
        return;
    }
    let mut escaped = String::with_capacity(text.len() + places.len() * with.len());
    let mut done = 0;
    for at in places {
        escaped.push_str(text.get(done..at).unwrap_or_default());
        escaped.push_str(with);
        done = at + 2;
    }
    escaped.push_str(text.get(done..).unwrap_or_default());
    out.truncate(from);
    out.push_str(&escaped);
}

/// Takes one backslash from each escaped marker line: the inverse of [`escape_markers`].
pub(crate) fn unescape_markers(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text.into();
    }
    let mut escaped = memmem::find_iter(text.as_bytes(), "\\[[")
        .map(|at| at + 1)
        .filter(|&at| marker_at(text, at).is_some())
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

/// How much of the front of a text [`unescape_markers`] reads as it will with any text behind it: what is in
/// front of backslashes that may yet stand before `[[ ##`.
pub(crate) fn certain_unescaped(text: &str) -> usize {
    let opener = text.strip_suffix('#').unwrap_or(text).trim_end_matches(is_blank);
    let backslashes = opener.strip_suffix("[[").or_else(|| opener.strip_suffix('[')).unwrap_or(opener);
    if backslashes.ends_with('\\') { backslashes.trim_end_matches('\\').len() } else { text.len() }
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
            ("see [[ ## a ## ]]", "see [[ ## a ## ]]"),
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
            assert!(
                memmem::find_iter(escaped.as_bytes(), "[[")
                    .all(|at| { marker_at(&escaped, at).is_none_or(|start| start < at) })
            );
            assert_eq!(unescape_markers(&escaped), text);
        }
    }
}

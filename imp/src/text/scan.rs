//! Where the sections of a reply are.
//!
//! A line that, trimmed, starts with `[[ ## WORD ## ]]` opens a section (Imp §8.2, DSPy's ChatAdapter).
//! Everything here is one pass: the search goes from opener to opener, looks back over blanks only
//! and forward over one word only, so that a megabyte of openers costs what a megabyte of text does.

use std::borrow::Cow;

use memchr::memmem;

pub(crate) use crate::blank::{is_blank, trim};

/// Which characters end a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// `\n`, `\r\n` and `\r`.
    Plain,
    /// What Python's `str.splitlines` splits at: also VT, FF, FS, GS, RS, NEL, U+2028 and U+2029.
    Python,
}

impl Lines {
    pub(crate) fn ends_at(self, c: char) -> bool {
        match c {
            '\n' | '\r' => true,
            '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                self == Lines::Python
            }
            _ => false,
        }
    }

    /// Whether the text has a line end other than `\n`, which joining the lines would replace.
    fn needs_joining(self, text: &str) -> bool {
        match self {
            Lines::Plain => memchr::memchr(b'\r', text.as_bytes()).is_some(),
            Lines::Python => text.contains(|c| c != '\n' && self.ends_at(c)),
        }
    }
}

/// A marker line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker<'t> {
    /// The word between the hashes.
    pub(crate) name: &'t str,
    /// Where its line starts.
    pub(crate) line: usize,
    /// Where the marker ends; the rest of the line belongs to the section.
    pub(crate) end: usize,
}

const OPEN: &str = "[[ ## ";
const CLOSE: &str = " ## ]]";

/// The marker lines of a text, in order.
pub(crate) fn markers(text: &str, lines: Lines) -> impl Iterator<Item = Marker<'_>> {
    memmem::find_iter(text.as_bytes(), OPEN.as_bytes()).filter_map(move |at| marker_at(text, at, lines))
}

/// The marker line whose marker begins at `at`.
pub(crate) fn marker_at(text: &str, at: usize, lines: Lines) -> Option<Marker<'_>> {
    // Back over blanks to the line's start; anything else before the opener makes it ordinary text.
    let before = text.get(..at)?;
    let mut line = at;
    for (place, c) in before.char_indices().rev() {
        if lines.ends_at(c) {
            break;
        }
        if !is_blank(c) {
            return None;
        }
        line = place;
    }
    let rest = text.get(at..)?.strip_prefix(OPEN)?;
    let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    if word == 0 || !rest.get(word..)?.starts_with(CLOSE) {
        return None;
    }
    Some(Marker { name: &rest[..word], line, end: at + OPEN.len() + word + CLOSE.len() })
}

/// The text of a section between the end of its marker and the next marker's line, and where it starts.
///
/// The rest of the marker's line is the first line, trimmed, unless it is blank; the lines are joined by
/// `\n`, and the whole is trimmed. Borrowed unless a line end had to be replaced.
pub(crate) fn section(text: &str, from: usize, to: usize, lines: Lines) -> (Cow<'_, str>, usize) {
    let raw = text.get(from..to).unwrap_or_default();
    let start = from + (raw.len() - raw.trim_start_matches(is_blank).len());
    let value = trim(raw);
    let first_end = value.find(|c| lines.ends_at(c)).unwrap_or(value.len());
    // The marker's own line is trimmed on its own: blanks at its end go.
    let on_marker_line = !raw[..start - from].contains(|c| lines.ends_at(c));
    let ragged = on_marker_line && value[..first_end].ends_with(is_blank);
    if !ragged && !lines.needs_joining(value) {
        return (Cow::Borrowed(value), start);
    }
    let mut joined = String::with_capacity(value.len());
    let mut rest = value;
    let mut first = true;
    loop {
        let end = rest.find(|c| lines.ends_at(c));
        let line = &rest[..end.unwrap_or(rest.len())];
        joined.push_str(if first && on_marker_line { trim(line) } else { line });
        first = false;
        let Some(end) = end else { break };
        joined.push('\n');
        let after = &rest[end..];
        let ending =
            if after.starts_with("\r\n") { 2 } else { after.chars().next().map_or(0, char::len_utf8) };
        rest = &after[ending..];
    }
    (Cow::Owned(trim(&joined).to_owned()), start)
}

/// Where in a section that begins at `from` and may go on behind the text its certain part ends: in front of a
/// line that is the front of a marker so far.
pub(crate) fn certain_end(text: &str, from: usize, lines: Lines) -> usize {
    let raw = text.get(from..).unwrap_or_default();
    // The marker's own line has no room for another one.
    let Some(end) = raw.rfind(|c| lines.ends_at(c)) else { return text.len() };
    let line = raw.get(end..).unwrap_or_default().trim_start_matches(is_blank);
    let begins = match line.strip_prefix(OPEN) {
        None => OPEN.starts_with(line),
        Some(rest) => {
            let close = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            CLOSE.starts_with(close) && (close.is_empty() || close.len() < rest.len())
        }
    };
    if begins { from + end } else { text.len() }
}

/// Where in `raw` the byte `offset` of `joined` is, which [`section`] made of it; `None` if it did not.
pub(crate) fn place(raw: &str, joined: &str, offset: usize) -> Option<usize> {
    let mut at = 0;
    for c in joined.get(..offset)?.chars() {
        let rest = raw.get(at..)?;
        if rest.starts_with(c) {
            at += c.len_utf8();
        } else if c == '\n' {
            // A line end of another spelling, and blanks at the end of the marker's own line.
            let blanks = rest.find(|c| !is_blank(c) || Lines::Python.ends_at(c))?;
            let after = rest.get(blanks..)?;
            let end = if after.starts_with("\r\n") { 2 } else { after.chars().next()?.len_utf8() };
            at += blanks + end;
        } else {
            return None;
        }
    }
    Some(at)
}

/// Whether the text has an opening tag of one of the names: `<NAME` before white space, `/` or `>`.
pub(crate) fn has_tag<'n>(text: &str, names: &(impl Iterator<Item = &'n str> + Clone)) -> bool {
    memchr::memchr_iter(b'<', text.as_bytes()).any(|at| {
        let rest = &text[at + 1..];
        names.clone().any(|name| {
            rest.strip_prefix(name)
                .is_some_and(|after| after.starts_with(|c: char| c == '/' || c == '>' || is_blank(c)))
        })
    })
}

/// Whether the first balanced `{…}` block of the text has one of the names as a key of its own.
///
/// Strings of both quotes are skipped with their escapes; a block that does not end is none.
pub(crate) fn has_key<'n>(text: &str, names: &(impl Iterator<Item = &'n str> + Clone)) -> bool {
    let Some(open) = memchr::memchr(b'{', text.as_bytes()) else { return false };
    let bytes = text.as_bytes();
    let (mut depth, mut found, mut at) = (0usize, false, open);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return found;
                }
            }
            b'"' | b'\'' => {
                let start = at + 1;
                at = start;
                while let Some(&inner) = bytes.get(at) {
                    match inner {
                        b'\\' => at += 1,
                        inner if inner == byte => break,
                        _ => {}
                    }
                    at += 1;
                }
                if depth == 1 && !found {
                    let after = text.get(at + 1..).unwrap_or_default().trim_start_matches(is_blank);
                    found = after.starts_with(':')
                        && text.get(start..at).is_some_and(|key| names.clone().any(|name| name == key));
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str, lines: Lines) -> Vec<(String, String)> {
        let found: Vec<_> = markers(text, lines).collect();
        let next = |at: usize| found.get(at + 1).map_or(text.len(), |marker| marker.line);
        found
            .iter()
            .enumerate()
            .map(|(at, marker)| {
                (marker.name.to_owned(), section(text, marker.end, next(at), lines).0.into_owned())
            })
            .collect()
    }

    #[test]
    fn sections_are_cut_at_marker_lines() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("[[ ## a ## ]]\nx", &[("a", "x")]),
            ("lead\n[[ ## a ## ]] x \n y\n\n[[ ## b ## ]]", &[("a", "x\n y"), ("b", "")]),
            ("  [[ ## a ## ]] x", &[("a", "x")]),
            ("[[ ## a ## ]]x[[ ## b ## ]]", &[("a", "x[[ ## b ## ]]")]),
            ("[[ ## a ## ]]\r\none\rtwo\r\n", &[("a", "one\ntwo")]),
            ("[[ ## a ]]\n[[## b ## ]]\n[[ ##  ## ]]", &[]),
            ("[[ ## größe_1 ## ]]\n1", &[("größe_1", "1")]),
            ("[[ ## a ## ]]\n  indented\n  more  \n", &[("a", "indented\n  more")]),
        ];
        for (text, expected) in table {
            let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(sections(text, Lines::Plain), expected, "{text:?}");
        }
    }

    #[test]
    fn places_are_found_again() {
        let raw = "[[ ## a ## ]]  é1 \t\r\n2\r3\n\n4\u{2028}5";
        for (lines, digits) in [(Lines::Plain, "123"), (Lines::Python, "12345")] {
            let (joined, start) = section(raw, 13, raw.len(), lines);
            for digit in digits.chars() {
                let place = place(&raw[start..], &joined, joined.find(digit).unwrap()).unwrap();
                assert_eq!(start + place, raw.find(digit).unwrap(), "{digit} of {joined:?}");
            }
        }
        assert_eq!(place("abc", "abd", 3), None);
        assert_eq!(place("abc", "abc", 4), None);
    }

    #[test]
    fn only_python_lines_end_at_its_separators() {
        let text = "[[ ## a ## ]]\u{2028}x\u{b}y";
        assert_eq!(sections(text, Lines::Python), [("a".to_owned(), "x\ny".to_owned())]);
        assert_eq!(sections(text, Lines::Plain), [("a".to_owned(), "x\u{b}y".to_owned())]);
    }

    #[test]
    fn tags_and_keys_are_seen() {
        let names = || ["a", "b"].into_iter();
        for (text, expected) in [("x <a>", true), ("x <ab>", false), ("<b/>", true), ("3 < a >", false)] {
            assert_eq!(has_tag(text, &names()), expected, "{text}");
        }
        for (text, expected) in [
            (r#"so {"a": 1}"#, true),
            (r#"{"c": {"a": 1}}"#, false),
            (r#"{"c": "a"}"#, false),
            (r"{'b' : 1,}", true),
            (r#"{"a": 1"#, false),
            (r#"{} {"a": 1}"#, false),
        ] {
            assert_eq!(has_key(text, &names()), expected, "{text}");
        }
    }
}

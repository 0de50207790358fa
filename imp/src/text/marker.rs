//! What a lenient reader takes for a marker.
//!
//! The exact reader is in [`scan`](super::scan). A marker here may have one bracket, other blanks, more hashes,
//! none behind the name, and its name in other letters. The writer escapes whatever is one (in every text from
//! outside), so the two agree by having one definition.

/// White space as a reader may see it: also what only Python's `splitlines` and some models use.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// What Python's `splitlines` takes for the end of a line, beside `\n` and `\r`.
pub(crate) fn is_separator(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A blank that does not end a line.
fn is_gap(c: char) -> bool {
    c != '\n' && c != '\r' && is_blank(c)
}

/// A name is no longer than this, in bytes: the look at a marker costs no more.
const LONGEST_NAME: usize = 128;

/// A text of the shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LooseMarker<'t> {
    /// What stands between the hashes, trimmed.
    pub(crate) name: &'t str,
    /// Where its first bracket is.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Whether it has two brackets and hashes on both sides.
    pub(crate) full: bool,
}

/// The markers of any spelling in a text, in order; an escaped one is none.
pub(crate) fn markers(text: &str) -> impl Iterator<Item = LooseMarker<'_>> {
    openings(text)
        .filter(|&(at, _)| !text.as_bytes().get(..at).is_some_and(|before| before.ends_with(b"\\")))
        .filter_map(|(at, count)| marker_at(text, at, count))
}

/// The runs of one or two `[`: where each begins, and how many they are.
pub(crate) fn openings(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut done = 0;
    memchr::memchr_iter(b'[', bytes).filter_map(move |at| {
        if at < done {
            return None;
        }
        // A run is counted once, so that one of a megabyte costs a megabyte.
        let count = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == b'[').count();
        done = at + count;
        (count <= 2).then_some((at, count))
    })
}

/// The marker that a run of `count` brackets at `at` opens.
pub(crate) fn marker_at(text: &str, at: usize, count: usize) -> Option<LooseMarker<'_>> {
    let rest = text.get(at + count..)?.trim_start_matches(is_gap);
    let inner = rest.trim_start_matches('#');
    if rest.len() - inner.len() < 2 {
        return None;
    }
    let len = inner
        .char_indices()
        .find(|&(at, c)| at > LONGEST_NAME || matches!(c, '[' | ']' | '#' | '\\' | '\n' | '\r'))
        .map_or(inner.len(), |(at, _)| at);
    let name = inner.get(..len)?.trim_matches(is_blank);
    let after = inner.get(len..)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let close = after.get(hashes..)?.trim_start_matches(is_gap);
    let brackets = close.bytes().take(2).take_while(|byte| *byte == b']').count();
    // One bracket and no hashes behind the name is a heading in brackets, not a marker.
    let closed = brackets > 0 && (hashes > 1 || (hashes == 0 && count == 2 && brackets == 2));
    if !closed || !name.contains(char::is_alphanumeric) {
        return None;
    }
    let end = text.len() - close.len() + brackets;
    Some(LooseMarker { name, start: at, end, full: count == 2 && brackets == 2 && hashes == 2 })
}

/// Whether the front of a text may be a marker, or the front of a line that could be taken for one, once more of
/// the text is there.
pub(crate) fn may_become(front: &str) -> bool {
    let rest = front.trim_start_matches('[');
    let count = front.len() - rest.len();
    let signs = rest.trim_start_matches(is_gap);
    if count > 2 || signs.is_empty() {
        return count <= 2 && (count > 0 || front.is_empty());
    }
    let inner = signs.trim_start_matches('#');
    let hashes = signs.len() - inner.len();
    if count == 0 || hashes == 0 || inner.is_empty() {
        return count > 0 && hashes > 0;
    }
    let name = inner.find(['[', ']', '#', '\\', '\n', '\r']).unwrap_or(inner.len());
    let close = inner.get(name..).unwrap_or_default().trim_start_matches('#').trim_start_matches(is_gap);
    hashes > 1 && name <= 2 * LONGEST_NAME && close.trim_start_matches(']').is_empty() && close.len() < 2
}

/// What stands in front of a place on its line; none if that is too long to be decoration.
///
/// The look back is bounded, so that a line of nothing but markers costs no more than its length.
pub(crate) fn lead(text: &str, at: usize) -> Option<&str> {
    const LONGEST: usize = 64;
    let mut from = at.saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let near = text.get(from..at)?;
    match near.rfind(['\n', '\r']) {
        Some(end) => near.get(end + 1..),
        None if from == 0 => Some(near),
        None => None,
    }
}

/// A name without case, separators and decoration, to be compared.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_of_a_marker_may_become_one() {
        for marker in ["[[ ## a ## ]]", "[ ### Final Answer ### ]", "[[\t##a ]]"] {
            for (at, _) in marker.char_indices() {
                assert!(may_become(&marker[..at]), "{}", &marker[..at]);
            }
        }
        for text in ["a", "[[[", "[[ a", "[ # a", "[[ ## a\n", "[[ ## a ## x", "[[ ## a ## ]] x"] {
            assert!(!may_become(text), "{text}");
        }
    }

    #[test]
    fn shapes_of_markers() {
        for (text, name) in [
            ("[[ ## a ## ]]", Some("a")),
            ("[[## a ##]]", Some("a")),
            ("[ ## a ## ]", Some("a")),
            ("[[\u{a0}## Final Answer ##\u{200b}]]", Some("Final Answer")),
            ("[[ ### **a**: ### ]]", Some("**a**:")),
            ("[[ ## a ]]", Some("a")),
            ("[[ ## a ## ]", Some("a")),
            ("[ ## a ]", None),
            ("[[ # a # ]]", None),
            ("[[ ## a\n## ]]", None),
            ("[[[ ## a ## ]]]", None),
            ("[[ ## -- ## ]]", None),
            ("[[1, 2], [3]]", None),
            ("\\[[ ## a ## ]]", None),
        ] {
            assert_eq!(markers(text).next().map(|marker| marker.name), name, "{text}");
        }
        assert_eq!(folded("Final-Answer_2 :"), "finalanswer2");
    }
}

//! Cleaning the instructions: three transforms of Python's standard library, composed.
//!
//! The rules are those of `inspect.cleandoc`, `textwrap.dedent` and `str.splitlines`, which DSPy
//! applies and Imp repeats (§5).

use crate::docs::cleandoc;

/// The instructions as the last line of DSPy's system message shows them: a line break, and every
/// line behind eight spaces. Empty instructions give the empty text.
pub(crate) fn objective_text(raw: &str) -> String {
    let cleaned = dedent(&cleandoc(raw));
    let mut text = String::with_capacity(cleaned.len() + 64);
    for line in split_lines(&cleaned) {
        text.push_str("\n        ");
        text.push_str(line);
    }
    text
}

/// The instructions cleaned, without indentation and without a leading line break.
pub(crate) fn plain_text(raw: &str) -> String {
    split_lines(&dedent(&cleandoc(raw))).collect::<Vec<_>>().join("\n")
}

/// `textwrap.dedent`: the longest margin of blanks and tabs that all lines with content share.
fn dedent(text: &str) -> String {
    let blank = |c| c == ' ' || c == '\t';
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| if line.trim_start_matches(blank).is_empty() { "" } else { line })
        .collect();
    let mut margin: Option<&str> = None;
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let own = &line[..line.len() - line.trim_start_matches(blank).len()];
        margin = Some(match margin {
            None => own,
            Some(shared) => {
                let same = shared.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
                &shared[..same]
            }
        });
    }
    let margin = margin.unwrap_or("");
    lines.iter().map(|line| line.strip_prefix(margin).unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// `str.splitlines()`: no empty line behind the last break.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((at, c)) = rest.char_indices().find(|(_, c)| is_line_break(*c)) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..at];
        let after = &rest[at + c.len_utf8()..];
        rest = if c == '\r' { after.strip_prefix('\n').unwrap_or(after) } else { after };
        Some(line)
    })
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected texts: CPython 3.11, `textwrap.dedent(inspect.cleandoc(raw)).splitlines()`.
    #[test]
    fn cleaned_as_python_does() {
        for (raw, lines) in [
            ("", &[][..]),
            ("Answer.", &["Answer."]),
            ("  Answer.\n    a\n      b\n", &["Answer.", "a", "  b"]),
            ("\n\n    a\n   \n    b\n\n", &["a", "", "b"]),
            ("a\r\nb\u{2028}c\u{b}d", &["a", "b", "c", "d"]),
            ("a\n\tb\n  c", &["a", "      b", "c"]),
            ("a\n\u{a0}\u{a0}b\n\u{a0}c", &["a", "\u{a0}b", "c"]),
            ("\u{1c}a\n\n\nb\n   ", &["a", "", "", "b"]),
        ] {
            let objective = lines.join("\n        ");
            let objective = if lines.is_empty() { objective } else { format!("\n        {objective}") };
            assert_eq!(objective_text(raw), objective, "{raw:?}");
            assert_eq!(plain_text(raw), lines.join("\n"), "{raw:?}");
        }
    }
}

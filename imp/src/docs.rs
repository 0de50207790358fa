//! Doc comments and docstrings as texts.

/// A doc comment without what belongs to the comment and not to the text: the stars of a block, the
/// indentation, carriage returns, blank lines around.
///
/// `raw` is what the derive collects: the lines of the `doc` attributes, each with a `\n` behind it.
pub(crate) fn clean_docs(raw: &str) -> String {
    let raw = raw.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = raw.lines().map(str::trim_end).collect();
    if has_stars(&raw, &lines) {
        for line in lines.iter_mut().skip(1) {
            let text = line.trim_start();
            *line = text.strip_prefix('*').unwrap_or(text);
        }
    }
    let start = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(start, |last| last + 1);
    let lines = &lines[start..end];
    let indent = |line: &&str| line.chars().take_while(|c| c.is_whitespace()).count();
    let margin = lines.iter().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let lines: Vec<&str> =
        lines.iter().map(|line| line.char_indices().nth(margin).map_or("", |(at, _)| &line[at..])).collect();
    lines.join("\n")
}

/// Whether the text is a block comment whose lines start with a star, and not a list: a block's first
/// line has no star, and it is empty or the last one (before `*/`) is blank.
fn has_stars(raw: &str, lines: &[&str]) -> bool {
    let Some((first, rest)) = lines.split_first() else { return false };
    let last = raw.strip_suffix('\n').unwrap_or(raw).rsplit('\n').next().unwrap_or("");
    let block = first.is_empty() || (!last.is_empty() && last.trim().is_empty());
    let mut stars = rest.iter().filter(|line| !line.is_empty()).peekable();
    block && stars.peek().is_some() && stars.all(|line| line.trim_start().starts_with('*'))
}

/// `inspect.cleandoc`: the first line loses its indentation, the others their common margin.
pub(crate) fn cleandoc(raw: &str) -> String {
    let expanded = expand_tabs(raw);
    let mut lines: Vec<&str> = expanded.split('\n').collect();
    let margin = lines[1..].iter().filter_map(|line| indent(line, is_python_space)).min();
    for (at, line) in lines.iter_mut().enumerate() {
        *line = match (at, margin) {
            (0, _) => line.trim_start_matches(is_python_space),
            (_, Some(margin)) => skip_chars(line, margin),
            (_, None) => line,
        };
    }
    let start = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(start, |last| last + 1);
    lines[start..end].join("\n")
}

/// `str.expandtabs()`: columns of eight, counted in characters, reset by `\n` and `\r`.
fn expand_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let width = 8 - column % 8;
                out.extend(std::iter::repeat_n(' ', width));
                column += width;
            }
            '\n' | '\r' => {
                out.push(c);
                column = 0;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    out
}

/// The number of leading white space characters of a line that has others.
fn indent(line: &str, space: fn(char) -> bool) -> Option<usize> {
    let content = line.trim_start_matches(space);
    (!content.is_empty()).then(|| line[..line.len() - content.len()].chars().count())
}

fn skip_chars(line: &str, count: usize) -> &str {
    line.char_indices().nth(count).map_or("", |(at, _)| &line[at..])
}

/// What Python's `str.isspace` takes for white space; `char::is_whitespace` leaves out U+001C–001F.
pub(crate) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Python's `str.strip()`.
pub(crate) fn python_strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_texts() {
        for (raw, text) in [
            ("", ""),
            (" One line.\n", "One line."),
            (" One.\n\n Two.\n\n", "One.\n\nTwo."),
            (" Code:\n     let x;\n", "Code:\n    let x;"),
            // /** … */ with and without stars, with CRLF
            ("\n * Block.\n *\n *   more\n \n", "Block.\n\n  more"),
            (" Block.\r\n * more\r\n \n", "Block.\nmore"),
            ("\n    Block.\n      more\n    \n", "Block.\n  more"),
            // a list in line comments keeps its stars
            (" * a\n * b\n", "* a\n* b"),
            (" Of:\n * a\n * b\n", "Of:\n* a\n* b"),
            ("No blank.\n", "No blank."),
        ] {
            assert_eq!(clean_docs(raw), text, "{raw:?}");
        }
    }
}

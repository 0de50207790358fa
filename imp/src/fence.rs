//! Markdown fences round source code: how they are taken off (§8.4), and how code that has fences in it is
//! written so that they stay (law 6).
//!
//! §8.4 takes the first pair of backticks that there is, which cuts code with a fence in a comment. Here a fence
//! is one of Markdown: it is closed by a line that has nothing else in it, or by the end of the text, and with as
//! many backticks as opened it.

const TICK: u8 = b'`';

/// The code in the first Markdown fence of a text: first one with a line break behind its language, then one
/// on a single line; the text itself without one (§8.4).
pub(crate) fn without_fence(text: &str) -> &str {
    if !text.contains("```") {
        return text;
    }
    block(text).map(|(code, _)| code).or_else(|| inline(text)).unwrap_or(text)
}

/// What is shown of a text that is code: its source without the fence round it (§2.1).
///
/// What [`protected`] has written stays where it has to be read back, in answers; an input shows what is in it.
/// A dialect that does not say which it is keeps it.
pub(crate) fn shown(text: &str, is_answer: Option<bool>) -> &str {
    let source = without_fence(text);
    if !is_protected(text) {
        return source;
    }
    match (is_answer, block(source)) {
        (Some(true), _) => text,
        (_, Some((inner, true))) => inner,
        (Some(false), _) => source,
        (None, _) => text,
    }
}

/// The source in a fence that is longer than those in it, if it would be read as something else without.
pub(crate) fn protected(source: &str) -> Option<String> {
    if without_fence(source) == source {
        return None;
    }
    let mut longest = 3;
    let mut rest = source;
    while let Some(at) = rest.find('`') {
        let run = ticks(&rest[at..]);
        longest = longest.max(run);
        rest = &rest[at + run..];
    }
    let fence = "`".repeat(longest + 1);
    Some(format!("{fence}\n{source}\n{fence}"))
}

fn is_protected(text: &str) -> bool {
    let text = text.trim_start();
    let run = ticks(text);
    run > 3 && text[run..].starts_with('\n') && matches!(block(text), Some((_, true)))
}

/// How many backticks the text begins with.
fn ticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == TICK).count()
}

/// The code of the first fence with lines of its own, and whether the fence is all that there is.
fn block(text: &str) -> Option<(&str, bool)> {
    let closers = Closers::of(text);
    let mut from = 0;
    while let Some(open) = text.get(from..)?.find("```") {
        let start = from + open;
        let run = ticks(&text[start..]);
        from = start + run;
        let rest = &text[from..];
        let (info, _) = rest.split_once('\n')?;
        // A language is one word; anything else in the line is code.
        if info.contains('`') || info.trim().contains(char::is_whitespace) {
            continue;
        }
        let body = from + info.len() + 1;
        if let Some((end, after)) = closers.first(body, run) {
            let whole = text[..start].trim().is_empty() && text[after..].trim().is_empty();
            return Some((text.get(body..end)?.trim(), whole));
        }
    }
    None
}

/// The places where a fence may end.
struct Closers {
    /// Start, end and length of each, and the greatest length from there on.
    runs: Vec<(usize, usize, usize, usize)>,
}

impl Closers {
    fn of(text: &str) -> Self {
        let mut runs = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            let run = ticks(trimmed);
            if run >= 3 && run == trimmed.len() {
                let start = at + (line.len() - line.trim_start().len());
                runs.push((start, start + run, run, 0));
            }
            at += line.len();
        }
        // `print(1)```` ends a text.
        let trimmed = text.trim_end();
        let run = trimmed.bytes().rev().take_while(|byte| *byte == TICK).count();
        let start = trimmed.len() - run;
        if run >= 3 && runs.last().is_none_or(|(last, ..)| *last != start) {
            runs.push((start, trimmed.len(), run, 0));
        }
        let mut greatest = 0;
        for run in runs.iter_mut().rev() {
            greatest = greatest.max(run.2);
            run.3 = greatest;
        }
        Closers { runs }
    }

    /// The first from `from` on with so many backticks. Without one that is known at once: a text full of
    /// openings is still read in one pass.
    fn first(&self, from: usize, ticks: usize) -> Option<(usize, usize)> {
        let next = self.runs.partition_point(|(start, ..)| *start < from);
        let runs = self.runs.get(next..)?;
        if runs.first()?.3 < ticks {
            return None;
        }
        runs.iter().find(|(_, _, run, _)| *run >= ticks).map(|(start, end, ..)| (*start, *end))
    }
}

/// The code of a fence on one line: the line is nothing else, or the text is that line.
fn inline(text: &str) -> Option<&str> {
    let one_line = !text.trim().contains('\n');
    text.lines().find_map(|line| {
        let line = line.trim();
        let open = line.find("```")?;
        let run = ticks(&line[open..]);
        let inner = &line[open + run..];
        let end = inner.find("```")?;
        let after = end + ticks(&inner[end..]);
        let whole = open == 0 && after == inner.len();
        (whole || one_line).then(|| inner[..end].trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code of which a fence is a part, and texts with a fence round code.
    const SOURCES: [&str; 16] = [
        "fn main() {}",
        "/// Adds.\n///\n/// ```\n/// assert_eq!(add(1, 2), 3);\n/// ```\nfn add() {}",
        "/// ```rust\n/// let x = 1;\n/// ```",
        "def f():\n    \"\"\"\n```\nf()\n```\n    \"\"\"",
        "# Title\n\n```rust\nfn main() {}\n```\n\nEnd.",
        "```rust\nfn main() {}\n```",
        "````\n```\nx\n```\n````",
        "`````\n````\n```\nx\n```\n````\n`````",
        "# ```x```",
        "a\n```x```\nb",
        "```x```",
        "let md = \"```rust\nfn a() {}\n```\";",
        "```",
        "``` ```",
        "```\n```\n```\n```",
        "",
    ];

    #[test]
    fn a_fence_round_code_is_taken_off() {
        for (text, expected) in [
            ("```elixir\nIO.puts(:ok)\n```", "IO.puts(:ok)"),
            ("Here:\n```\nIO.puts(:ok)\n```\nIt prints.", "IO.puts(:ok)"),
            ("Here: ```python\nx = 1\n```", "x = 1"),
            ("```python\nx = 1```", "x = 1"),
            ("```x = 1```", "x = 1"),
            ("Use ```x``` here.", "x"),
            ("Use\n```x```\nhere.", "x"),
            ("One:\n```\na\n```\nor\n```\nb\n```", "a"),
            ("```\nprint('```')\n```", "print('```')"),
            ("````\n```\na\n```\n````", "```\na\n```"),
            ("```rust\n/// ```\n/// x\n/// ```\nfn f() {}\n```", "/// ```\n/// x\n/// ```\nfn f() {}"),
            ("```rust\r\nfn f() {}\r\n```\r\n", "fn f() {}"),
            // Not closed, or no fence.
            ("```python\nx = 1", "```python\nx = 1"),
            ("/// ```\n/// x\n/// ```\nfn f() {}", "/// ```\n/// x\n/// ```\nfn f() {}"),
            ("// use ```x``` here\nfn f() {}", "// use ```x``` here\nfn f() {}"),
            ("", ""),
        ] {
            assert_eq!(without_fence(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_protected_is_read_back() {
        for source in SOURCES {
            let written = protected(source).unwrap_or_else(|| source.to_owned());
            assert_eq!(without_fence(&written), source, "{written:?}");
            assert_eq!(without_fence(shown(&written, Some(true))), source, "{written:?}");
            // Twice: code that looks like what is written here.
            let twice = protected(&written).unwrap_or_else(|| written.clone());
            assert_eq!(without_fence(&twice), written, "{twice:?}");
        }
    }

    #[test]
    fn an_input_shows_its_source() {
        for (source, expected) in [
            (SOURCES[0], SOURCES[0]),
            (SOURCES[1], SOURCES[1]),
            (SOURCES[4], SOURCES[4]),
            ("```rust\nfn main() {}\n```", "fn main() {}"),
        ] {
            let written = protected(source).unwrap_or_else(|| source.to_owned());
            assert_eq!(shown(&written, Some(false)), expected, "{source:?}");
        }
    }

    #[test]
    fn openings_without_an_end_are_one_pass() {
        let text = "```\nx ".repeat(200_000);
        assert_eq!(without_fence(&text).len(), text.len());
    }
}

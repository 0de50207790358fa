//! A model's reasoning in front of its answer.

use super::scan::{is_blank, trim};

const NAMES: [&str; 2] = ["think", "thinking"];

/// Where the answer begins behind the think blocks at the front of a reply, and their text.
///
/// `answer` says where in a text the first output is marked. A tag that is the name of an output is none of ours.
pub(crate) fn take(
    reply: &str,
    outputs: &[&str],
    answer: &dyn Fn(&str) -> Option<usize>,
) -> (usize, Option<String>) {
    let mut from = 0;
    let mut reasoning = String::new();
    let mut add = |text: &str| {
        if !reasoning.is_empty() && !trim(text).is_empty() {
            reasoning.push_str("\n\n");
        }
        reasoning.push_str(trim(text));
    };
    let names: Vec<&str> = NAMES.into_iter().filter(|name| !outputs.contains(name)).collect();
    // Several blocks may follow each other.
    for _ in 0..16 {
        let rest = reply.get(from..).unwrap_or_default();
        let Some(block) = names.iter().find_map(|name| block(rest, name, answer)) else { break };
        add(rest.get(block.text).unwrap_or_default());
        from += block.end;
    }
    (from, (!reasoning.is_empty()).then_some(reasoning))
}

/// Whether a text begins with a think block that does not end.
pub(crate) fn is_open(text: &str, outputs: &[&str]) -> bool {
    NAMES.into_iter().filter(|name| !outputs.contains(name)).any(|name| {
        let opened = trim(text).get(..name.len() + 2).is_some_and(|tag| {
            tag.strip_prefix('<')
                .and_then(|tag| tag.strip_suffix('>'))
                .is_some_and(|tag| tag.eq_ignore_ascii_case(name))
        });
        opened && !text.to_ascii_lowercase().contains(&format!("</{name}>"))
    })
}

struct Block {
    text: std::ops::Range<usize>,
    end: usize,
}

fn block(text: &str, name: &str, answer: &dyn Fn(&str) -> Option<usize>) -> Option<Block> {
    let tag = |text: &str, tag: &str, from: usize| -> Option<usize> {
        memchr::memchr_iter(b'<', text.as_bytes().get(from..)?)
            .map(|at| from + at)
            .find(|&at| text.get(at..at + tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag)))
    };
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let closed = tag(text, &close, 0)?;
    if let Some(opened) = tag(text, &open, 0).filter(|opened| *opened < closed) {
        // Only in front of the first output, and where it begins a line.
        let before = text.get(..opened)?;
        let starts = trim(before).is_empty() || ends_line(before);
        return (starts && answer(before).is_none())
            .then_some(Block { text: opened + open.len()..closed, end: closed + close.len() });
    }
    // The prompt held the opening tag. All that stood in front must be said again behind it.
    let end = closed + close.len();
    let (before, after) = (text.get(..closed)?, text.get(end..)?);
    let said = answer(before).is_some();
    let own_line = (before.is_empty() || ends_line(before))
        && after.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
    let next = answer(after).and_then(|at| after.get(..at)).is_some_and(|between| trim(between).is_empty());
    let whole = own_line || is_whole_object(before);
    (next && (!said || (whole && markers_again(before, after)))).then_some(Block { text: 0..closed, end })
}

/// Whether every object and text in it has its end, so that a tag behind it is in no value; a marker has none.
fn is_whole_object(text: &str) -> bool {
    let (mut depth, mut quoted, mut escaped, mut any) = (0usize, false, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' if !quoted => {
                depth += 1;
                any = true;
            }
            b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    any && depth == 0 && !quoted && super::marker::markers(text).next().is_none()
}

/// Whether a text ends with the end of a line, blanks aside.
fn ends_line(text: &str) -> bool {
    text.trim_end_matches([' ', '\t']).ends_with(['\n', '\r'])
}

/// Whether each marker, key or tag in `before` is in `after` too, so that what is cut off was not the only one.
fn markers_again(before: &str, after: &str) -> bool {
    let names = |text: &str| {
        super::marker::markers(text)
            .map(|marker| super::marker::folded(marker.name))
            .filter(|name| name != "completed")
            .collect::<Vec<_>>()
    };
    let (first, second) = (names(before), names(after));
    if first.iter().any(|name| !second.contains(name)) {
        return false;
    }
    let words = |text: &str, open: char| -> Vec<String> {
        text.match_indices(open)
            .take(64)
            .filter_map(|(at, _)| {
                let rest = text.get(at + 1..)?;
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
                let closes =
                    rest.get(end..)?.starts_with(['"', '>', '/']) || rest.get(end..)?.starts_with(is_blank);
                (end > 0 && closes).then(|| rest[..end].to_owned())
            })
            .collect()
    };
    !first.is_empty() || {
        let second = words(after, '<').into_iter().chain(words(after, '"')).collect::<Vec<_>>();
        words(before, '<').iter().chain(&words(before, '"')).any(|name| second.contains(name))
    }
}

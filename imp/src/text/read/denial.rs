//! Words around a value that say that it is none, or that name another.
//!
//! Prose is not understood here: a word that may deny the value is enough, since an error is better than a guess.

use crate::text::marker::folded;

/// Words that take a choice or a truth value back, or that tell of another.
const DENIALS: [&str; 30] = [
    "not",
    "never",
    "no",
    "nope",
    "neither",
    "nor",
    "none",
    "nothing",
    "wrong",
    "incorrect",
    "untrue",
    "rejected",
    "reject",
    "correction",
    "corrected",
    "actually",
    "scratch",
    "instead",
    "rather",
    "unless",
    "however",
    "but",
    "wait",
    "cannot",
    "cant",
    "isnt",
    "dont",
    "doesnt",
    "wont",
    "opposite",
];

/// Signs that say that something is wrong.
const CROSSES: [char; 9] = ['✗', '✘', '❌', '❎', '✖', '☒', '🚫', '⛔', '👎'];

/// Words that say of what follows them that it is no answer.
const REJECTIONS: [&str; 15] = [
    "not",
    "never",
    "except",
    "excluding",
    "rejected",
    "reject",
    "wrong",
    "incorrect",
    "invalid",
    "draft",
    "eg",
    "example",
    "instance",
    "unlike",
    "avoid",
];

/// The words of a text in lower case, without what separates them.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .map(folded)
        .filter(|word| !word.is_empty())
}

/// Whether the explanation behind a choice or a truth value may deny it. `others` are further words that do, and
/// `agreed` are those that do not: `no - it is not open`.
pub(super) fn denies(explanation: &str, others: &[&str], agreed: &[&str]) -> bool {
    let lower = explanation.to_lowercase();
    let contracted = agreed.is_empty() && (lower.contains("n't") || lower.contains("n’t"));
    if contracted || explanation.contains(CROSSES) {
        return true;
    }
    // An explanation of nothing is none: `A—` is a grade.
    let mut only_digits = explanation.trim().is_empty();
    for (at, word) in words(explanation).enumerate() {
        if (DENIALS.contains(&word.as_str()) && !agreed.contains(&word.as_str()))
            || others.contains(&word.as_str())
        {
            return true;
        }
        only_digits = (at == 0 || only_digits) && word.chars().all(char::is_numeric);
    }
    only_digits
}

/// Whether a text has a name in any spelling: in another case, with blanks, `-` or nothing for `_`, compared.
pub(super) fn names(text: &str, name: &str) -> bool {
    const ENDINGS: [&str; 5] = ["er", "est", "ly", "s", "ish"];
    let wanted = folded(name);
    if wanted.is_empty() {
        return !name.trim().is_empty() && text.contains(name.trim());
    }
    let words: Vec<String> = words(text).collect();
    let compared = |word: &str| {
        wanted.chars().nth(2).is_some()
            && word.strip_prefix(wanted.as_str()).is_some_and(|end| ENDINGS.contains(&end))
    };
    (0..words.len()).any(|start| {
        let mut rest = wanted.as_str();
        for word in words.iter().skip(start) {
            match rest.strip_prefix(word.as_str()) {
                Some("") => return true,
                Some(more) => rest = more,
                None => break,
            }
        }
        words.get(start).is_some_and(|word| compared(word))
    })
}

/// Whether the text in front of an object or a list says that it is no answer.
pub(crate) fn rejects(before: &str) -> bool {
    let before = before.trim_end();
    // In front of the fence.
    let before = match before.rsplit_once("```") {
        Some((before, info)) if info.chars().all(char::is_alphanumeric) => before.trim_end(),
        _ => before,
    };
    let before = before.to_lowercase().replace("e.g.", "eg").replace("n't", " not").replace("n’t", " not");
    let sentence = [". ", "! ", "? ", ".\n", "!\n", "?\n"].iter().filter_map(|end| before.rfind(end)).max();
    let sentence = sentence.and_then(|at| before.get(at + 1..)).unwrap_or(&before);
    let all: Vec<String> = words(sentence).collect();
    // A sentence that has ended says less about what follows it.
    let ended = sentence.ends_with(['.', '!', '?']) && !sentence.ends_with("eg.");
    let last = all.get(all.len().saturating_sub(if ended { 1 } else { 3 })..).unwrap_or_default();
    last.iter().any(|word| REJECTIONS.contains(&word.as_str()))
        || last.ends_with(&["all".to_owned(), "but".to_owned()])
}

/// Whether the key of an object says that what is in it is no answer.
pub(crate) fn rejects_key(key: &str) -> bool {
    words(key).any(|word| {
        REJECTIONS.contains(&word.as_str())
            || matches!(word.as_str(), "error" | "errors" | "examples" | "drafts")
    })
}

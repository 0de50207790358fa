//! "Did you mean …?"

/// The candidate that `word` was probably meant to be.
///
/// The distance counts a swap of neighbours as one change (optimal string alignment) and must be at most a
/// third of the word's length: what rustc does with names.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = word.chars().count().max(3) / 3;
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    // The rows of the table for the prefixes of `left` that end before, at and behind each place.
    let mut before = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let mut best = (row[j] + usize::from(l != r)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

/// `` `a`, `b` or `c` ``.
pub(crate) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::{distance, list, nearest};

    #[test]
    fn distances() {
        for (left, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("desc", "desc", 0),
            ("dsc", "desc", 1),
            ("inptu", "input", 1),
            ("renmae", "rename", 1),
            ("ca", "abc", 3),
            ("größe", "grosse", 3),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
            assert_eq!(distance(right, left), expected, "{right} {left}");
        }
    }

    #[test]
    fn near_words_only() {
        let words = ["desc", "default", "rename", "min", "max"];
        for (word, expected) in [
            ("dsc", Some("desc")),
            ("defualt", Some("default")),
            ("renmae", Some("rename")),
            ("mim", Some("min")),
            ("describe", None),
            ("zzz", None),
        ] {
            assert_eq!(nearest(word, words), expected, "{word}");
        }
    }

    #[test]
    fn lists() {
        for (words, expected) in [
            (&[][..], ""),
            (&["a"][..], "`a`"),
            (&["a", "b"][..], "`a` or `b`"),
            (&["a", "b", "c"][..], "`a`, `b` or `c`"),
        ] {
            assert_eq!(list(words), expected);
        }
    }
}

//! "Did you mean …?": the known word that is nearest to an unknown one.

/// The word of `known` that `word` most probably means, if one is near enough.
///
/// Nearness is the optimal string alignment distance (swapped neighbours count once, which
/// Levenshtein's counts twice), up to a third of the length, ignoring case.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Nobody mistypes a word of this length into a known one, and the distance is quadratic.
    if word.len() > 64 {
        return None;
    }
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let mut best: Option<(usize, &str)> = None;
    for known in known {
        let candidate: Vec<char> = known.to_lowercase().chars().collect();
        let limit = word.len().max(candidate.len()).max(3) / 3;
        let found = distance(&word, &candidate);
        if found <= limit && best.is_none_or(|(least, _)| found < least) {
            best = Some((found, known));
        }
    }
    best.map(|(_, known)| known)
}

/// The end of an error about an unknown word: the nearest known one, else all of them.
pub(crate) fn remedy(word: &str, known: &[&str]) -> String {
    if let Some(known) = nearest(word, known.iter().copied()) {
        return format!("did you mean `{known}`?");
    }
    let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    format!("known are {}", known.join(", "))
}

fn distance(a: &[char], b: &[char]) -> usize {
    let (mut two_above, mut above) = (Vec::new(), (0..=b.len()).collect::<Vec<usize>>());
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(two_above[j - 1] + 1);
            }
            row.push(cost);
        }
        two_above = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word() {
        let known = ["string", "integer", "float", "boolean", "datetime"];
        for (word, expected) in [
            ("strnig", Some("string")),
            ("Boolaen", Some("boolean")),
            ("flaot", Some("float")),
            ("date_time", Some("datetime")),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}

//! The texts of the workloads, generated: with umlauts, a currency sign and Japanese, as prompts have them.

use std::fmt::Write as _;

const SENTENCES: &str = "The committee met on Tuesday to review the draft and agreed on three changes. \
    Die Änderungen betreffen vor allem Abschnitt 4 (Größe und Gewicht). \
    Costs stay under €12,500; delivery is planned for calendar week 37. 詳細は付録を参照。 ";

/// The first `chars` characters of the text numbered `number`, without white space at the end: numbered
/// sentences, with a line end after each third.
pub fn text(number: usize, chars: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    let mut at = 0;
    while length < chars {
        let start = out.len();
        let _ = write!(out, "[{number}.{at}] {SENTENCES}");
        at += 1;
        if at % 3 == 0 {
            out.push('\n');
        }
        length += out[start..].chars().count();
    }
    if let Some((end, _)) = out.char_indices().nth(chars) {
        out.truncate(end);
    }
    out.truncate(out.trim_end().len());
    out
}

/// As many lines of such texts, of 150 to 229 characters; 5,369 of them are a megabyte.
pub fn lines(count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|number| text(number, 150 + number % 80)).collect();
    lines.join("\n")
}

//! 300 random replies to random signatures, read by `imp` in DSPy's dialect and by DSPy 3.4.0, whose answers are recorded:
//!
//! ```text
//! differential parse draw 300 0 | python tests/scripts/dspy_worker.py > tests/data/dspy_replies.jsonl
//! ```
//!
//! `scripts/differential-parse.sh` asks it about others.

use imp_tests::differential::{draw, parse::Report};

const RECORDED: &str = include_str!("../data/dspy_replies.jsonl");
const DRAWS: usize = 300;

fn compare(answers: impl Fn(&str) -> String) -> Report {
    assert_eq!(RECORDED.lines().count(), DRAWS / draw::REPLIES);
    let mut report = Report::default();
    for (batch, line) in draw::batches(0, DRAWS).zip(RECORDED.lines()) {
        report.compare(&batch, &answers(line)).unwrap();
    }
    report
}

#[test]
fn replies_are_read_as_dspy_reads_them_or_a_quirk_says_why() {
    let report = compare(str::to_owned);
    assert!(report.unlisted.is_empty(), "{}", report.unlisted.join("\n"));
    assert_eq!(report.draws, DRAWS);
    // Exactly, as the draws are fixed: 19 of the others are numbers for enums, in a few signatures.
    assert_eq!(report.same, 266, "{report:?}");
}

#[test]
fn other_values_are_unlisted() {
    let report = compare(|line| line.replace("It depends.", "It does not."));
    assert!(!report.unlisted.is_empty());
}

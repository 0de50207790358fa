//! 10,000 replies with slips, read by `imp`, by `jsonrepair-rs`, and by Python's `json_repair` 0.64.6.
//!
//! Its answers are recorded: `scripts/record_json_repair.py` says how. `scripts/differential-json.sh` asks it about
//! others.

use std::collections::BTreeSet;

use imp::Dialect;
use imp_tests::differential::json::{
    BACKSLASH, DOCUMENT, EACH_ENTRY, EMPTY, PROSE, Report, SAYS_THE_SAME, SECOND_OPINION, ZEROS,
};
use imp_tests::mutation::{MUTANTS, mutants};

fn compare(dialect: Dialect) -> Report {
    let lines: Vec<&str> = include_str!("../data/json_repair.txt").lines().collect();
    assert_eq!(lines.len(), MUTANTS);
    let mut report = Report::new(dialect);
    for (mutant, line) in mutants(0, MUTANTS).zip(lines) {
        report.compare(&mutant, line);
    }
    for (what, count) in report.counts() {
        println!("{count:6} {what}");
    }
    assert!(report.wrong().is_empty(), "{}", report.wrong().join("\n"));
    report
}

#[test]
fn plain_dialect() {
    let report = compare(Dialect::Plain);
    let reasons = [DOCUMENT, SAYS_THE_SAME, BACKSLASH, EMPTY, ZEROS, SECOND_OPINION];
    assert_eq!(report.reasons(), BTreeSet::from(reasons));
}

#[test]
fn dspy_dialect() {
    let report = compare(Dialect::Dspy);
    let reasons = [DOCUMENT, SAYS_THE_SAME, BACKSLASH, EMPTY, ZEROS, PROSE, SECOND_OPINION, EACH_ENTRY];
    let others: Vec<_> = report.reasons().difference(&BTreeSet::from(reasons)).copied().collect();
    assert!(others.is_empty(), "{others:?}");
}

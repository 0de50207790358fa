//! The conformance corpus: what the real DSPy did, and whether `imp` does the same.
//!
//! A case without a quirk, or with a quirk whose policy is *match*, passes or fails. Any other quirk
//! case passes if the results are equal; if not, it is listed where `conformance/differences.toml` names
//! its quirk with a class that our result fits, else it fails.

mod case;
mod checks;
mod differences;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::Value as Json;

pub use case::Outcome;
use case::{Case, matches};
use differences::{Class, Differences};
pub(crate) use value::same;

/// How a file is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Leaves out cases whose signature has a history or tool calls.
    pub skip_history: bool,
    /// Says on standard error what each failed case expected and got.
    pub explain: bool,
}

/// The result of one file.
#[derive(Debug, Default)]
pub struct Report {
    /// The kind of its cases.
    pub kind: String,
    /// How many cases gave what DSPy gave.
    pub passed: usize,
    /// The ids of those that did not and should have.
    pub failed: Vec<String>,
    /// The ids of those that differ for a reason.
    pub listed: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { kind, passed, failed, listed } = self;
        writeln!(f, "{kind}: {passed} passed, {} failed, {} listed", failed.len(), listed.len())?;
        failed.iter().try_for_each(|id| writeln!(f, "  failed {id}"))
    }
}

/// Runs the cases of a file.
///
/// # Errors
///
/// The file cannot be read or is no corpus file.
pub fn run_file(path: &str, options: Options) -> Result<Report, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    run_with(&text, options, &Quirks::beside(Path::new(path))?)
}

/// Runs the cases of a corpus file's text.
///
/// # Errors
///
/// The text is no corpus file.
pub fn run_text(text: &str, options: Options) -> Result<Report, String> {
    run_with(text, options, &Quirks::default())
}

/// The quirks that cases show, by their ids.
///
/// The files of a later version have the new results only: what a case shows beside the change is said in the
/// file of the version before.
#[derive(Debug, Default)]
struct Quirks(BTreeMap<String, String>);

impl Quirks {
    /// Those of the file of that name in the folder of DSPy 3.4.0 beside the file's own.
    fn beside(path: &Path) -> Result<Self, String> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(Quirks::default());
        };
        let first = folder.join("..").join("dspy-3.4.0").join(name);
        let Ok(text) = fs::read_to_string(first) else { return Ok(Quirks::default()) };
        let corpus: Json = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let cases = corpus.get("cases").and_then(Json::as_array).into_iter().flatten();
        let quirk = |case: &Json| Some((case["id"].as_str()?.to_owned(), case["quirk"].as_str()?.to_owned()));
        Ok(Quirks(cases.filter_map(quirk).collect()))
    }

    fn of(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

fn run_with(text: &str, options: Options, quirks: &Quirks) -> Result<Report, String> {
    let corpus: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let cases = corpus.get("cases").and_then(Json::as_array).ok_or("the file has no list `cases`")?;
    let kind = corpus.get("kind").and_then(Json::as_str).unwrap_or("?").to_owned();
    let differences = Differences::load()?;
    // Since 3.4.1 stored turns repeat the reminder, which is an option here.
    let reminder = corpus["generated_with"]["dspy"].as_str().is_some_and(|version| version != "3.4.0");
    let mut report = Report { kind, ..Report::default() };
    for json in cases {
        let case = Case::new(json, quirks, reminder)?;
        if options.skip_history && case.has_history() {
            continue;
        }
        match judge(&case, &differences) {
            Verdict::Passed => report.passed += 1,
            Verdict::Listed => report.listed.push(case.id.to_owned()),
            Verdict::Failed(outcome) => {
                report.failed.push(case.id.to_owned());
                if options.explain {
                    eprintln!("{}\n  expected {}\n  got {outcome:?}", case.id, json["expected"]);
                }
            }
        }
    }
    Ok(report)
}

enum Verdict {
    Passed,
    Listed,
    Failed(Outcome),
}

fn judge(case: &Case<'_>, differences: &Differences) -> Verdict {
    let outcome = catch_unwind(AssertUnwindSafe(|| case.run()))
        .unwrap_or_else(|_| Outcome::Unsupported("a panic".to_owned()));
    if matches(case, &outcome) {
        return Verdict::Passed;
    }
    if matches!(outcome, Outcome::Unsupported(_)) {
        return Verdict::Failed(outcome);
    }
    let may_differ = case.quirk.is_some_and(|quirk| differences.policy(quirk) != Some("match"));
    let classes = case.quirk.into_iter().flat_map(|quirk| differences.classes(quirk));
    let fits = may_differ
        && classes.into_iter().any(|class| match class {
            Class::Error => matches!(outcome, Outcome::Error(_)),
            Class::Differs => !matches!(outcome, Outcome::Error(_)),
            Class::Check(check) => check.holds(case, &outcome),
        });
    if fits { Verdict::Listed } else { Verdict::Failed(outcome) }
}

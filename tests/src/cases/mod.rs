//! Cases: real-world faults, restated, each with the answer that a sensible user wants.
//!
//! A case passes if what came is what was expected or any data alternative of a debatable case. A case that fails is
//! listed where `cases/differences.toml` names its id with a reason.

mod format;
mod parse;
mod signature;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use serde_json::{Map, Value as Json};

const DIFFERENCES: &str = include_str!("../../cases/differences.toml");

/// The result of one file.
#[derive(Debug, Default)]
pub struct Report {
    /// The kind of its cases.
    pub kind: String,
    /// How many cases passed.
    pub passed: usize,
    /// Those that did not.
    pub failed: Vec<Failure>,
    /// The ids of those that differ for a reason.
    pub listed: Vec<String>,
}

/// A case that failed.
#[derive(Debug)]
pub struct Failure {
    /// Its id.
    pub id: String,
    /// Its title, what was expected and what came.
    pub explanation: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { kind, passed, failed, listed } = self;
        writeln!(f, "{kind}: {passed} passed, {} failed, {} listed", failed.len(), listed.len())?;
        failed.iter().try_for_each(|failure| writeln!(f, "  failed {}", failure.id))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    #[serde(default, rename = "case")]
    cases: Vec<Difference>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    id: String,
    reason: String,
}

/// Runs the cases of a file.
///
/// # Errors
///
/// The file cannot be read or is no file of cases.
pub fn run_file(path: &str) -> Result<Report, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    run_text(&text)
}

/// Runs the cases of a file's text.
///
/// # Errors
///
/// The text is no file of cases.
pub fn run_text(text: &str) -> Result<Report, String> {
    let differences: Differences = toml::from_str(DIFFERENCES).map_err(|error| error.to_string())?;
    let reasons: BTreeMap<&str, &str> =
        differences.cases.iter().map(|case| (case.id.as_str(), case.reason.as_str())).collect();
    let cases: Vec<Json> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let kind = cases.first().and_then(|case| case["kind"].as_str()).unwrap_or("?").to_owned();
    let mut report = Report { kind, ..Report::default() };
    for case in &cases {
        let id = case["id"].as_str().unwrap_or("?").to_owned();
        let result =
            catch_unwind(AssertUnwindSafe(|| run(case))).unwrap_or_else(|_| Err("a panic".to_owned()));
        match result {
            Ok(()) => report.passed += 1,
            Err(_) if reasons.get(id.as_str()).is_some_and(|reason| !reason.is_empty()) => {
                report.listed.push(id);
            }
            Err(came) => {
                let explanation = format!(
                    "{id}: {}\n  expected {}\n  came {came}",
                    case["title"].as_str().unwrap_or_default(),
                    case["expected"]
                );
                report.failed.push(Failure { id, explanation });
            }
        }
    }
    Ok(report)
}

const KEYS: [&str; 17] = [
    "id",
    "source",
    "title",
    "rationale",
    "symptom",
    "maintainers",
    "kind",
    "signature",
    "reply",
    "input",
    "given",
    "expected",
    "debatable",
    "alternatives",
    "dspy_3_4_1",
    "tags",
    "note",
];

fn run(case: &Json) -> Result<(), String> {
    let case = case.as_object().ok_or("a case is an object")?;
    check_keys(case, &KEYS)?;
    let expected = case.get("expected").ok_or("a case has `expected`")?;
    let kind = case.get("kind").and_then(Json::as_str).unwrap_or_default();
    let verdict: &dyn Fn(&Json) -> Result<(), String> = match kind {
        "parse_chat" | "parse_json" | "parse_xml" => &parse::run(kind, case)?,
        "format" => &format::run(case)?,
        _ => return Err(format!("the kind `{kind}` is not run here")),
    };
    let found = match verdict(expected) {
        Ok(()) => return Ok(()),
        Err(found) => found,
    };
    let alternatives = case.get("alternatives").and_then(Json::as_array).into_iter().flatten();
    for alternative in alternatives.filter(|data| data.is_object() || is_error(data)) {
        if verdict(alternative).is_ok() {
            return Ok(());
        }
    }
    Err(found)
}

/// Whether an expected outcome is an error.
fn is_error(expected: &Json) -> bool {
    expected.as_str().is_some_and(|text| text.starts_with("error:"))
}

fn check_keys(map: &Map<String, Json>, known: &[&str]) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("an unknown key `{key}`")),
        None => Ok(()),
    }
}

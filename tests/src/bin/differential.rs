//! Compares `imp` with other readers on random replies: `differential json|parse draw|judge N FIRST`.
//!
//! `draw` prints N draws from the one of the number FIRST, for the script that asks the other reader. `judge` draws the
//! same again, reads the answers from standard input, a line each, and says how often which of the two was right; it
//! ends non-zero if a disagreement is not accounted for. `scripts/differential-json.sh` and `-parse.sh` put the three together.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;

use imp::Dialect;
use imp_tests::differential::{draw, json, parse};
use imp_tests::mutation::mutants;

/// How many disagreements without a reason are shown.
const SHOWN: usize = 40;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [what, step, count, first] = arguments[..] else { return usage() };
    let (Ok(count), Ok(first)) = (count.parse(), first.parse()) else { return usage() };
    let done = match (what, step) {
        ("json", "draw") => draw_json(count, first).map(|()| true),
        ("json", "judge") => judge_json(count, first),
        ("parse", "draw") => draw_replies(count, first).map(|()| true),
        ("parse", "judge") => judge_replies(count, first),
        _ => return usage(),
    };
    match done {
        Ok(all_listed) => ExitCode::from(u8::from(!all_listed)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: differential json|parse draw|judge N FIRST");
    ExitCode::from(2)
}

fn draw_json(count: usize, first: u64) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for mutant in mutants(first, count) {
        writeln!(out, "{}", serde_json::json!([mutant.document, mutant.text]))?;
    }
    out.flush()
}

fn judge_json(count: usize, first: u64) -> io::Result<bool> {
    let mut reports = [Dialect::Plain, Dialect::Dspy].map(json::Report::new);
    let mut answers = io::stdin().lock().lines();
    for mutant in mutants(first, count) {
        let line = answers.next().ok_or_else(|| io::Error::other("there are fewer answers than draws"))??;
        for report in &mut reports {
            report.compare(&mutant, &line);
        }
    }
    let mut all = true;
    for (name, report) in ["plain", "dspy"].into_iter().zip(&reports) {
        println!("the {name} dialect");
        for (what, count) in report.counts() {
            println!("{count:8} {what}");
        }
        println!("{:8} unlisted", report.wrong().len());
        for wrong in report.wrong().iter().take(SHOWN) {
            println!("{wrong}");
        }
        all &= report.wrong().is_empty();
    }
    Ok(all)
}

fn draw_replies(count: usize, first: u64) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for batch in draw::batches(first, count) {
        let line =
            serde_json::json!({ "signature": batch.signature, "adapter": "chat", "replies": batch.replies });
        writeln!(out, "{line}")?;
    }
    out.flush()
}

#[allow(clippy::cast_precision_loss, reason = "a share in per cent")]
fn judge_replies(count: usize, first: u64) -> io::Result<bool> {
    let mut report = parse::Report::default();
    let mut answers = io::stdin().lock().lines();
    for batch in draw::batches(first, count) {
        let line = answers.next().ok_or_else(|| io::Error::other("there are fewer answers than draws"))??;
        report.compare(&batch, &line).map_err(io::Error::other)?;
    }
    let listed: usize = report.listed.values().sum();
    println!("{:8} draws", report.draws);
    println!("{:8} read alike", report.same);
    println!("{listed:8} listed, {:.2} %", 100.0 * listed as f64 / report.draws.max(1) as f64);
    for (quirks, count) in &report.listed {
        println!("{count:8}   {quirks}");
    }
    println!("{:8} unlisted", report.unlisted.len());
    for unlisted in report.unlisted.iter().take(SHOWN) {
        println!("{unlisted}");
    }
    Ok(report.unlisted.is_empty())
}

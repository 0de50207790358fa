//! Runs files of DSPy's conformance corpus: `conformance FILE… [--skip history] [--explain]`.
//!
//! For each file it prints `KIND: N passed, N failed, N listed` and the ids that failed, and it ends
//! non-zero if any did. `--skip history` leaves out cases with a history or tool calls in their signature;
//! `--explain` says on standard error what was expected of each failed case and what came.

use std::process::ExitCode;

use imp_tests::conformance::{Options, run_file};

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--skip" => match arguments.next().as_deref() {
                Some("history") => options.skip_history = true,
                other => return usage(&format!("`--skip` takes `history`, not `{}`", other.unwrap_or(""))),
            },
            "--explain" => options.explain = true,
            flag if flag.starts_with('-') => return usage(&format!("unknown option `{flag}`")),
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        return usage("no file");
    }
    let mut failed = false;
    for file in files {
        match run_file(&file, options) {
            Ok(report) => {
                print!("{report}");
                failed |= !report.failed.is_empty();
            }
            Err(error) => {
                eprintln!("{file}: {error}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn usage(problem: &str) -> ExitCode {
    eprintln!("{problem}\nusage: conformance FILE… [--skip history] [--explain]");
    ExitCode::from(2)
}

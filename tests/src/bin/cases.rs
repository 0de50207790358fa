//! Runs files of cases: `cases FILE…`.
//!
//! For each file it prints `KIND: N passed, N failed, N listed` and the ids that failed; what was expected of each of
//! them and what came goes to standard error. It ends non-zero if any failed.

use std::process::ExitCode;

use imp_tests::cases::run_file;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() || files.iter().any(|file| file.starts_with('-')) {
        eprintln!("usage: cases FILE…");
        return ExitCode::from(2);
    }
    let mut failed = false;
    for file in files {
        match run_file(&file) {
            Ok(report) => {
                print!("{report}");
                failed |= !report.failed.is_empty();
                for failure in &report.failed {
                    eprintln!("{}", failure.explanation);
                }
            }
            Err(error) => {
                eprintln!("{file}: {error}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

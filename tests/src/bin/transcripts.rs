//! Decodes files of recorded replies: `transcripts [--json] FILE…` prints how many were decoded the same however they
//! are cut, and which were not; with `--json` a line for each instead of the sum.

use std::process::ExitCode;

use imp_tests::transcripts::Transcript;

fn main() -> ExitCode {
    let (flags, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|arg| arg == "--json");
    if files.is_empty() {
        eprintln!("usage: transcripts [--json] FILE…");
        return ExitCode::from(2);
    }
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::from(2);
            }
        };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let checked = Transcript::read(line).and_then(|transcript| {
                let outcome = transcript.check()?;
                Ok(transcript.line(&outcome))
            });
            match checked {
                Ok(line) => {
                    passed += 1;
                    if !flags.is_empty() {
                        println!("{line}");
                    }
                }
                Err(why) => {
                    failed += 1;
                    eprintln!("{file}:{}: {why}", at + 1);
                }
            }
        }
    }
    if flags.is_empty() {
        println!("{passed} passed, {failed} failed");
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! The example `triage` as a user runs it: a typed result from the recorded reply, and another outcome if a marker of the
//! reply is gone.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::openai_schema::violations;
use common::server::{Server, says};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn triage(arguments: &[&str]) -> Output {
    triage_at(None, arguments)
}

/// The example with a server to ask, or without.
fn triage_at(url: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    if let Some(url) = url {
        command.env("IMP_BASE_URL", url);
    } else {
        command.env_remove("IMP_BASE_URL");
    }
    let output = command
        .args(["run", "-q", "-p", "imp-examples", "--example", "triage", "--"])
        .args(arguments)
        .current_dir(root())
        .env_remove("OPENAI_API_KEY")
        .output();
    output.expect("cargo runs")
}

fn recorded() -> String {
    std::fs::read_to_string(root().join("examples/recorded/triage.txt")).expect("the recorded reply")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_recorded_reply_gives_a_typed_result() {
    let output = triage(&[]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("replaying a recorded reply"), "{stderr}");
    let lines: Vec<(&str, &str)> = stdout
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (name, value.trim()))
        .collect();
    let [("team", team), ("priority", priority), ("reply", reply)] = lines[..] else { panic!("{stdout}") };
    // What is printed is what was recorded, as values: a variant, a number in its bounds, a text.
    let recorded = recorded();
    let sections: Vec<&str> = recorded.split("\n\n").collect();
    for (section, value) in
        [("team", team.to_lowercase()), ("priority", priority.into()), ("reply", reply.into())]
    {
        assert!(sections.contains(&format!("[[ ## {section} ## ]]\n{value}").as_str()), "{section}: {value}");
    }
    assert!((1..=4).contains(&priority.parse::<u8>().unwrap()), "{priority}");
}

#[test]
fn the_prompt_is_what_is_sent() {
    let output = triage(&["--prompt"]);
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let roles: Vec<&str> = stdout.lines().filter_map(|line| line.strip_prefix("--- ")).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    assert!(stdout.contains("Your output fields are:\n1. `team` (one of: "), "{stdout}");
    assert!(
        stdout
            .contains("In adhering to this structure, your objective is: \n        Route the support ticket")
    );
}

/// What the example sends to a server is what OpenAI's own schema takes, and its answer is printed.
#[test]
fn the_request_is_one_that_openai_takes() {
    let server = Server::start(vec![says(&recorded())]);
    let output = triage_at(Some(&server.url), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), text(&triage(&[]).stdout));
    let received = server.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].line, "POST /v1/chat/completions");
    assert_eq!(received[0].body["messages"].as_array().map(Vec::len), Some(6));
    assert_eq!(violations(&received[0].body), Vec::<String>::new());
}

/// A marker line taken out of the reply makes its output missing, and that is the outcome.
#[test]
fn a_deleted_marker_changes_the_outcome() {
    for field in ["team", "priority", "reply"] {
        let marker = format!("[[ ## {field} ## ]]");
        let reply = recorded();
        assert!(reply.contains(&marker), "{reply}");
        let lines: Vec<&str> = reply.lines().filter(|line| !line.trim().starts_with(&marker)).collect();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("triage-without-{field}.txt"));
        std::fs::write(&file, lines.join("\n")).expect("a file to write");
        let output = triage(&["--reply", &file.to_string_lossy()]);
        let stderr = text(&output.stderr);
        assert!(!output.status.success(), "{}", text(&output.stdout));
        assert!(stderr.contains("missing") && stderr.contains(field), "{stderr}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    }
}

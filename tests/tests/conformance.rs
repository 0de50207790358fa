//! The conformance corpus through the program that runs it.

use imp_tests::conformance::{Options, Report, run_file};

fn run(file: &str) -> Report {
    let path = format!("{}/conformance/{file}", env!("CARGO_MANIFEST_DIR"));
    run_file(&path, Options { skip_history: true, ..Options::default() }).unwrap()
}

#[test]
fn chat_prompts_are_those_of_dspy() {
    for (file, at_least) in [("dspy-3.4.0/format.json", 200), ("dspy-3.4.1/format.json", 3)] {
        let report = run(file);
        assert!(report.failed.is_empty() && report.passed >= at_least, "{report}");
    }
}

#[test]
fn xml_prompts_and_replies_are_those_of_dspy() {
    for (file, at_least) in [
        ("dspy-3.4.0/xml_format.json", 60),
        ("dspy-3.4.1/xml_format.json", 1),
        ("dspy-3.4.0/xml_parse.json", 105),
    ] {
        let report = run(file);
        assert!(report.failed.is_empty() && report.passed >= at_least, "{report}");
    }
}

#[test]
fn replies_are_read_as_dspy_reads_them() {
    for (file, at_least) in [("dspy-3.4.0/parse.json", 625), ("dspy-3.4.0/json_parse.json", 145)] {
        let report = run(file);
        assert!(report.failed.is_empty() && report.passed >= at_least, "{report}");
    }
}

// The other adapters' cases are in the same files.
#[test]
fn answers_and_training_data_are_those_of_dspy() {
    for (file, at_least) in [("dspy-3.4.0/assistant.json", 10), ("dspy-3.4.0/finetune.json", 10)] {
        let report = run(file);
        let others = report.failed.iter().filter(|id| !id.contains("json"));
        assert_eq!(others.count(), 0, "{report}");
        assert!(report.passed >= at_least, "{report}");
    }
}

#[test]
fn a_wrong_result_fails_and_an_unlisted_quirk_too() {
    let case = |quirk: &str, expected: &str| {
        format!(
            r#"{{"kind": "assistant", "cases": [{{"id": "x", "kind": "assistant", "group": "g", {quirk}
            "adapter": "chat", "missing_field_message": null, "outputs": [["a", "b"]],
            "signature": {{"name": "X", "instructions": null, "inputs": [], "outputs": [{{"name": "a", "type": "str"}}]}},
            "expected": {{"text": "{expected}"}}}}]}}"#
        )
    };
    let right = r"[[ ## a ## ]]\nb\n\n[[ ## completed ## ]]\n";
    for (quirk, expected, counts) in [
        ("", right, (1, 0, 0)),
        ("", "b", (0, 1, 0)),
        (r#""quirk": "missing-output-renders-none","#, "b", (0, 0, 1)),
        (r#""quirk": "missing-input-dropped","#, "b", (0, 1, 0)),
        (r#""quirk": "demo-incomplete-first","#, "b", (0, 1, 0)),
        (r#""quirk": "unheard-of","#, "b", (0, 1, 0)),
    ] {
        let report = imp_tests::conformance::run_text(&case(quirk, expected), Options::default()).unwrap();
        assert_eq!((report.passed, report.failed.len(), report.listed.len()), counts, "{quirk} {report}");
    }
}

//! The conformance corpus through the program that runs it.

use imp_tests::conformance::{Options, Report, run_file};

fn run(file: &str) -> Report {
    let path = format!("{}/conformance/{file}", env!("CARGO_MANIFEST_DIR"));
    run_file(&path, Options::default()).unwrap()
}

#[test]
fn chat_prompts_are_those_of_dspy() {
    for (file, at_least) in [("dspy-3.4.0/format.json", 260), ("dspy-3.4.1/format.json", 36)] {
        let report = run(file);
        assert!(report.failed.is_empty() && report.passed >= at_least, "{report}");
    }
}

#[test]
fn xml_prompts_and_replies_are_those_of_dspy() {
    for (file, at_least) in [
        ("dspy-3.4.0/xml_format.json", 64),
        ("dspy-3.4.1/xml_format.json", 2),
        ("dspy-3.4.0/xml_parse.json", 108),
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

#[test]
fn json_prompts_answers_and_training_data_are_those_of_dspy() {
    for (file, at_least) in [
        ("dspy-3.4.0/json_format.json", 57),
        ("dspy-3.4.1/json_format.json", 4),
        ("dspy-3.4.0/assistant.json", 43),
        ("dspy-3.4.0/finetune.json", 15),
        ("dspy-3.4.1/finetune.json", 1),
    ] {
        let report = run(file);
        assert!(report.failed.is_empty() && report.passed >= at_least, "{report}");
    }
}

/// Without its quirk's name, the case of a later version is still seen to show it.
#[test]
fn a_later_version_is_run_without_the_one_before_it() {
    for (file, at_most) in
        [("format.json", 3), ("json_format.json", 1), ("xml_format.json", 1), ("finetune.json", 0)]
    {
        let path = format!("{}/conformance/dspy-3.4.1/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let report = imp_tests::conformance::run_text(&text, Options::default()).unwrap();
        assert!(report.failed.is_empty() && report.listed.len() <= at_most, "{report}");
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

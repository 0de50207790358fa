//! The cases through the program that runs them.

use imp_tests::cases::{run_file, run_text};

#[test]
fn the_cases_pass() {
    let mut listed = 0;
    for (file, at_least) in [
        ("parse_chat", 58),
        ("parse_json", 24),
        ("parse_xml", 10),
        ("format", 10),
        ("own_parse_chat", 400),
        ("own_parse_json", 111),
        ("own_parse_xml", 56),
        ("own_format", 45),
    ] {
        let report = run_file(&format!("{}/cases/{file}.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert_eq!(report.kind, file.trim_start_matches("own_"));
        assert!(report.failed.is_empty() && report.passed + report.listed.len() >= at_least, "{report:#?}");
        listed += report.listed.len();
    }
    assert!(listed <= 3);
}

#[test]
fn a_wrong_outcome_fails() {
    let case = |expected: &str| {
        format!(
            r#"[{{"id": "PC000", "kind": "parse_chat", "reply": "[[ ## n ## ]]\n4", "expected": {expected},
            "signature": {{"outputs": [{{"name": "n", "type": "integer"}}]}}}}]"#
        )
    };
    for (expected, passed) in [
        (r#"{"n": 4}"#, 1),
        (r#"{"n": 4.5}"#, 0),
        (r#"{"n": "4"}"#, 0),
        (r#"{"n": 4, "m": 1}"#, 0),
        (r#""error: none""#, 0),
        (r#"{"n": 5}, "alternatives": ["in words", {"n": 4}]"#, 1),
        (r#"{"n": 5}, "alternatives": ["in words"]"#, 0),
        (r#"{"n": 4}, "unheard": 1"#, 0),
    ] {
        let report = run_text(&case(expected)).unwrap();
        assert_eq!((report.passed, report.failed.len()), (passed, 1 - passed), "{expected} {report}");
    }
}

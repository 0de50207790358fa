//! A value in a looser spelling is taken only if what is around it neither denies it nor names another.

use imp::{Chat, Fields, SignatureSpec, read_with};
use serde_json::json;

/// What comes of a section of the output `x` of the type, as JSON; `refused` for an error.
fn section(ty: &str, text: &str) -> String {
    let spec = SignatureSpec::from_json(&json!({"outputs": [{"name": "x", "type": ty}]})).unwrap();
    reply(&spec, &format!("[[ ## x ## ]]\n{text}\n\n[[ ## completed ## ]]"))
}

fn reply(spec: &SignatureSpec, text: &str) -> String {
    match read_with::<Fields, _>(&Chat::new(), spec, text) {
        Ok(read) => serde_json::to_value(&*read).unwrap()["x"].to_string(),
        Err(_) => "refused".to_owned(),
    }
}

fn check(rows: &[(&str, &str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(ty, text, wanted)| (ty, text, wanted, section(ty, text)))
        .filter(|(.., wanted, came)| came != *wanted)
        .map(|(ty, text, wanted, came)| format!("{ty} | {text:?}: {came}, not {wanted}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LEVEL: &str = "enum[low, medium, high, very_high]";
const STATUS: &str = "enum[active, inactive, on_hold, none]";
const GRADE: &str = "enum[A, B, C]";

#[test]
fn a_choice_is_refused_if_another_is_named_in_any_spelling() {
    check(&[
        (STATUS, "active, on hold", "refused"),
        (STATUS, "active, then on-hold", "refused"),
        (STATUS, "active (was Inactive)", "refused"),
        (STATUS, "active - the door is open", "\"active\""),
        (LEVEL, "high, very high", "refused"),
        (LEVEL, "low, VeryHigh", "refused"),
        (LEVEL, "low - 10%\nhighest - 90%", "refused"),
        (LEVEL, "low: ❌\nveryhigh: ✅", "refused"),
        (LEVEL, "low (veryhigh later)", "refused"),
        (LEVEL, "low - below 10%", "\"low\""),
        (LEVEL, "low, so slow", "\"low\""),
        (LEVEL, "Very High", "\"very_high\""),
    ]);
}

#[test]
fn a_choice_is_refused_if_its_explanation_denies_it() {
    for text in [
        "low: false",
        "low (wrong)",
        "low (incorrect)",
        "low: ✗",
        "low — never",
        "high, scratch that",
        "high\n\nCorrection: it should be more",
        "high\n\nActually, it rains",
        "low, but it isn't",
        "low: 5",
        "low (rejected), the next (accepted)",
        "low. Wait",
        "low, unless it rains",
        "low, it isn’t that",
    ] {
        assert_eq!(section(LEVEL, text), "refused", "{text}");
    }
    assert_eq!(section("array[enum[low, high]]", "[\"low: false\", \"high: true\"]"), "refused");
    assert_eq!(section(LEVEL, "low: the tide is out"), "\"low\"");
    assert_eq!(section(LEVEL, "low: ✅"), "\"low\"");
    assert_eq!(section(LEVEL, "low: 5 of 10"), "\"low\"");
}

#[test]
fn a_truth_value_is_refused_if_its_explanation_denies_it() {
    for text in [
        "No. 5",
        "No. 1",
        "No. 5 is it",
        "no, not false",
        "no, that's not wrong",
        "Yes, wrong",
        "Yes, it isn't",
        "yes: incorrect",
        "no - I cannot determine this",
        "yes. Correction: the answer is the opposite.",
        "yes - however, it rains",
        "yes: ❌",
    ] {
        assert_eq!(section("bool", text), "refused", "{text}");
    }
    check(&[
        ("bool", "Yes, the gate is open", "true"),
        ("bool", "No: the gate is shut", "false"),
        ("bool", "No - it isn't open", "false"),
    ]);
}

#[test]
fn a_grade_keeps_its_sign() {
    for text in ["A-", "A–", "A—", "A+", "A#", "A*", "A1", "A* (best)", "A- good", "A– good", "A-."] {
        assert_eq!(section(GRADE, text), "refused", "{text}");
    }
    check(&[
        (GRADE, "**A**", "\"A\""),
        (GRADE, "*A*.", "\"A\""),
        (GRADE, "B — good", "\"B\""),
        (GRADE, "B – good", "\"B\""),
        ("enum[on_hold, off]", "on-hold", "\"on_hold\""),
    ]);
}

#[test]
fn an_embedded_value_competes_with_none_beside_it() {
    check(&[
        ("float", "5\n\n{\"x\": 7}", "refused"),
        ("int", "{\"x\": 7}\n\n5", "refused"),
        (LEVEL, "low\n\n{\"x\": \"high\"}", "refused"),
        ("bool", "yes\n{\"x\": false}", "refused"),
        ("array[int]", "1, 2\n\n[3]", "refused"),
        ("array[str]", "- a\n- b\n\n[\"c\"]", "refused"),
        ("float", "The price:\n{\"x\": 7}", "7.0"),
        ("array[int]", "The two numbers are:\n[3, 4]", "[3,4]"),
        ("array[str]", "Here you are: [\"c\"]", "[\"c\"]"),
    ]);
}

#[test]
fn an_embedded_value_is_refused_behind_words_that_reject_it() {
    for before in [
        "not",
        "all but",
        "everything except",
        "Rejected:",
        "wrong:\n",
        "draft:",
        "e.g.",
        "for example:",
        "Never",
    ] {
        assert_eq!(section("array[int]", &format!("{before} [1]")), "refused", "{before}");
    }
    let spec = SignatureSpec::parse("q -> x").unwrap();
    for text in [
        "Not {\"x\": \"a\"}",
        "For example:\n```json\n{\"x\": \"a\"}\n```",
        "{\"rejected\": {\"x\": \"a\"}}",
        "{\"not\": {\"x\": \"a\"}}",
        "{\"draft\": {\"x\": \"a\"}}",
        "{\"error\": {\"x\": \"a\", \"code\": 5}}",
        "{\"wrong_answer\": {\"x\": \"a\"}}",
        "{\"example\": {\"x\": \"a\"}}",
    ] {
        assert_eq!(reply(&spec, text), "refused", "{text}");
    }
    for text in [
        "This was not easy. {\"x\": \"a\"}",
        "Here:\n```json\n{\"x\": \"a\"}\n```",
        "{\"result\": {\"x\": \"a\"}}",
    ] {
        assert_eq!(reply(&spec, text), "\"a\"", "{text}");
    }
}

#[test]
fn money_and_lists_with_two_readings_are_refused() {
    check(&[
        ("float", "€1.299", "refused"),
        ("float", "$5.000", "refused"),
        ("float", "¢50", "refused"),
        ("float", "$1.25", "1.25"),
        ("float", "$0.125", "0.125"),
        ("float", "$1,299.500", "1299.5"),
        ("array[str]", "1. a 2. b", "refused"),
        ("array[str]", "1. a\n2. b 3. c", "refused"),
        ("array[str]", "- a - b", "refused"),
        ("array[str]", "1. a\n2. b", "[\"a\",\"b\"]"),
        ("array[str]", "- a (b)\n- \"c\" - d", "[\"a (b)\",\"\\\"c\\\" - d\"]"),
    ]);
}

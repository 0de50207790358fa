//! What a stranger found: replies that are read into a value which a sensible reader would not have taken.
//! Every test marked FAILS fails at ff652a8; run them with `cargo test -p imp-tests --test stranger -- --ignored`.
//! "refused" is what should come, unless a row says otherwise.

use std::time::Instant;

use imp::{Adapter, Chat, Fields, Json, SignatureSpec, Xml, read_with};
use serde_json::json;

/// `name: type`, `?` behind a type for an optional one.
fn spec(outputs: &str) -> SignatureSpec {
    let field = |field: &str| {
        let (name, ty) = field.split_once(": ").unwrap_or((field, "str"));
        match ty.strip_suffix('?') {
            Some(ty) => json!({"name": name, "type": {"optional": ty}}),
            None => json!({"name": name, "type": ty}),
        }
    };
    SignatureSpec::from_json(&json!({"outputs": outputs.split("; ").map(field).collect::<Vec<_>>()})).unwrap()
}

fn refused(adapter: &dyn Adapter, rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (outputs, reply) in rows {
        if let Ok(read) = read_with::<Fields, _>(adapter, &spec(outputs), *reply) {
            wrong.push(format!("{outputs} | {reply:?} => {} ({:?})", serde_json::to_string(&*read).unwrap(), read.how()));
        }
    }
    assert!(wrong.is_empty(), "{} of {} read:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

const LEVEL: &str = "level: enum[low, high, very_high]";
const STATUS: &str = "status: enum[active, on_hold]";

// FAILS
#[test]
#[ignore = "fails: a marker in the middle of a sentence starts a section"]
fn marker_inside_prose() {
    let rows = [
        ("answer", "Respond with the corresponding output fields, starting with the field `[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`."),
        ("answer", "There is no [[ ## answer ## ]] here"),
        ("answer", "I will not fill [[ ## answer ## ]] in."),
        ("answer; score: int", "Use [[ ## answer ## ]] then [[ ## score ## ]] 5"),
        (LEVEL, "I cannot produce [[ ## level ## ]] high"),
    ];
    refused(&Chat::new(), &rows);
    refused(&Json::new(), &rows[..2]);
    refused(&Xml::new(), &rows[..2]);
}

// FAILS
#[test]
#[ignore = "fails: an explanation that names another choice in another spelling, or denies its own"]
fn choices() {
    let section = |value: &str| format!("[[ ## level ## ]]\n{value}");
    let levels: Vec<String> = ["low, VeryHigh", "low: ❌\nveryhigh: ✅", "low (veryhigh later)", "high, very high", "low (rejected), the next (accepted)", "low (wrong)", "low: false", "low: ✗", "low — never", "high\n\nCorrection: it should not be high", "high, scratch that"].iter().map(|v| section(v)).collect();
    let mut rows: Vec<(&str, &str)> = levels.iter().map(|reply| (LEVEL, reply.as_str())).collect();
    rows.extend([
        (STATUS, "[[ ## status ## ]]\nactive, on hold"),
        (STATUS, "[[ ## status ## ]]\nactive, then on-hold"),
        ("x: enum[A, B, C]", "[[ ## x ## ]]\nA-"),
        ("x: enum[A, B, C]", "[[ ## x ## ]]\nB–"),
        ("x: array[enum[low, high]]", "[[ ## x ## ]]\n[\"low: false\", \"high: true\"]"),
    ]);
    refused(&Chat::new(), &rows);
}

// FAILS
#[test]
#[ignore = "fails: yes or no is taken from what denies it"]
fn yes_and_no() {
    refused(&Chat::new(), &[
        ("x: bool", "[[ ## x ## ]]\nNo. 5"),
        ("x: bool", "[[ ## x ## ]]\nno, that's not wrong"),
        ("x: bool", "[[ ## x ## ]]\nYes, wrong"),
        ("x: bool", "[[ ## x ## ]]\nyes: incorrect"),
        ("x: bool", "[[ ## x ## ]]\nno - I cannot determine this"),
        ("x: bool", "[[ ## x ## ]]\nyes. Correction: the answer is the opposite."),
    ]);
}

// FAILS
#[test]
#[ignore = "fails: what is around the only object or element says that it is no answer"]
fn rejected_answers() {
    refused(&Chat::new(), &[
        (LEVEL, "[[ ## level ## ]]\nlow\n\n{\"level\": \"high\"}"),
        ("answer; score: int", "<answer>a</answer><score>3</score>\n[[ ## answer ## ]]\nb"),
        (LEVEL, "{\"level\": \"high\"} Wait, no: it is low."),
        ("answer", "Not {\"answer\": \"x\"}"),
        ("x: array[int]", "[[ ## x ## ]]\nnot [1]"),
        ("answer", "{\"rejected\": {\"answer\": \"x\"}}"),
        ("answer", "{\"error\": {\"answer\": \"unknown\", \"code\": 5}}"),
        ("answer", "{\"type\": \"object\", \"properties\": {\"answer\": \"string\"}, \"required\": [\"answer\"]}"),
        ("answer", "<!-- <answer>x</answer> -->"),
        ("answer", "`<answer>x</answer>` is the format"),
        ("answer", "<wrong><answer>x</answer></wrong>"),
        ("answer", "<answer>x</answer> - no, y"),
    ]);
}

// FAILS
#[test]
#[ignore = "fails: a draft in reasoning is the answer"]
fn drafts() {
    refused(&Chat::new(), &[("answer", "<think>\nplan\n[[ ## answer ## ]]\ndraft\n[[ ## completed ## ]]")]);
    refused(&Xml::new(), &[("answer", "<think>\n<answer>draft</answer>"), ("answer", "<reasoning><answer>draft</answer></reasoning> no idea")]);
    refused(&Json::new(), &[("answer", "<think>\n{\"answer\": \"draft\"}")]);
    // Should be the final one, as with the `</think>` on a line of its own.
    for reply in ["{\"answer\": \"draft\"}</think>{\"answer\": \"final\"}", "maybe {\"answer\": \"draft\"}?</think>\n\n{\"answer\": \"final\"}"] {
        let read = read_with::<Fields, _>(&Json::new(), &spec("answer"), reply).unwrap();
        assert_eq!(read.get("answer"), Some(&"final".into()), "{reply}");
    }
}

// FAILS
#[test]
#[ignore = "fails: an optional output that is there is left out"]
fn lost_optionals() {
    refused(&Chat::new(), &[
        ("why; level: str?", "[[ ## why ## ]]\nx [[ ## level ## ]] high"),
        ("why; level: str?", "[[ ## why ## ]]\nx\n\n### level\nhigh"),
        ("why; level: str?", "[[ ## why ## ]]\nx\n\n## Level\nhigh"),
        ("why; level: str?", "[[ ## level ##\nhigh\n[[ ## why ## ]]\nx"),
        ("why; level: str?", "[[ ## why ## ]]\nx\n［［ ## level ## ］］\nhigh"),
    ]);
    refused(&Json::new(), &[
        ("answer; note: str?", "{\"answer\": \"a\"} {\"note\": \"b\"}"),
        ("answer; note: str?", "[{\"answer\": \"a\"}, {\"note\": \"b\"}]"),
    ]);
}

// FAILS
#[test]
#[ignore = "fails: the first of two objects that differ"]
fn two_objects_for_json() {
    refused(&Json::new(), &[
        ("answer", "{\"answer\": \"Wren\"}\n{\"answer\": \"Robin\"}"),
        ("answer", "Thinking: {\"answer\": \"Wren\"}? No.\n\nFinal: {\"answer\": \"Robin\"}"),
        ("answer", "[{\"answer\": \"Wren\"}, {\"answer\": \"Robin\"}]"),
        ("answer", "{\"answer\": \"Wren\", \"answer\": \"Robin\"}"),
    ]);
}

// FAILS
#[test]
#[ignore = "fails: texts and numbers that are changed"]
fn changed_values() {
    refused(&Json::new(), &[
        ("x", "{\"x\": 5.10}"),
        ("x", "{\"x\": 007}"),
        ("x", "{\"x\": 100000000000000000000.50}"),
        ("x", "{\"x\": \"\\alpha + \\beta\"}"),
        ("x", "{\"x\": \"C:\\Users\\bob\"}"),
    ]);
    refused(&Chat::new(), &[
        ("x: float", "[[ ## x ## ]]\n€1.299"),
        ("x: float", "[[ ## x ## ]]\n¢50"),
        ("x: array[str]", "[[ ## x ## ]]\n1. a 2. b"),
    ]);
    // `parse` accepts this and gives the whole line.
    let read = read_with::<Fields, _>(&Chat::new(), &spec("x"), "[[ ## x ## ]]\nWrite `[[ ## completed ## ]]`").unwrap();
    assert_eq!(read.get("x"), Some(&"Write `[[ ## completed ## ]]`".into()));
}

// FAILS
#[test]
#[ignore = "fails: quadratic in the markers of one line, if an optional output is missing"]
fn time() {
    for unit in ["[[ ## ", "[[ ## answer ## ]] "] {
        let took = |bytes: usize| {
            let reply = format!("[[ ## answer ## ]]\n{}", unit.repeat(bytes / unit.len()));
            let start = Instant::now();
            let _ = read_with::<Fields, _>(&Chat::new(), &spec("answer; note: str?"), &reply);
            start.elapsed().as_secs_f64()
        };
        let (short, long) = (took(4_000), took(16_000));
        assert!(long < 8.0 * short, "{unit:?}: {short} s, {long} s");
    }
}

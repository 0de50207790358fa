//! Replies that a salvage must refuse: a sensible reader would take no value, or another, from them.

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
            wrong.push(format!(
                "{outputs} | {reply:?} => {} ({:?})",
                serde_json::to_string(&*read).unwrap(),
                read.how()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} read:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

const LEVEL: &str = "level: enum[low, high, very_high]";
#[test]
fn marker_inside_prose() {
    let rows = [
        (
            "answer",
            "Respond with the corresponding output fields, starting with the field `[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`.",
        ),
        ("answer", "There is no [[ ## answer ## ]] here"),
        ("answer", "I will not fill [[ ## answer ## ]] in."),
        ("answer; score: int", "Use [[ ## answer ## ]] then [[ ## score ## ]] 5"),
        (LEVEL, "I cannot produce [[ ## level ## ]] high"),
    ];
    refused(&Chat::new(), &rows);
    refused(&Json::new(), &rows[..2]);
    refused(&Xml::new(), &rows[..2]);
}

#[test]
fn drafts() {
    refused(&Chat::new(), &[("answer", "<think>\nplan\n[[ ## answer ## ]]\ndraft\n[[ ## completed ## ]]")]);
    refused(&Xml::new(), &[("answer", "<think>\n<answer>draft</answer>")]);
    refused(&Json::new(), &[("answer", "<think>\n{\"answer\": \"draft\"}")]);
    // Should be the final one, as with the `</think>` on a line of its own.
    for reply in [
        "{\"answer\": \"draft\"}</think>{\"answer\": \"final\"}",
        "maybe {\"answer\": \"draft\"}?</think>\n\n{\"answer\": \"final\"}",
    ] {
        let read = read_with::<Fields, _>(&Json::new(), &spec("answer"), reply).unwrap();
        assert_eq!(read.get("answer"), Some(&"final".into()), "{reply}");
    }
}

#[test]
fn lost_optionals() {
    refused(
        &Chat::new(),
        &[
            ("why; level: str?", "[[ ## why ## ]]\nx [[ ## level ## ]] high"),
            ("why; level: str?", "[[ ## why ## ]]\nx\n\n### level\nhigh"),
            ("why; level: str?", "[[ ## why ## ]]\nx\n\n## Level\nhigh"),
            ("why; level: str?", "[[ ## level ##\nhigh\n[[ ## why ## ]]\nx"),
            ("why; level: str?", "[[ ## why ## ]]\nx\n［［ ## level ## ］］\nhigh"),
        ],
    );
}

//! What `parse` accepts, `read` gives as well: over the conformance corpus, but for a think block, a fence and an end marker.

use imp::{Adapter, Chat, Dialect, Fields, HowRead, Reply, SignatureSpec, Xml, read_reply, read_with};
use serde_json::Value as Json;

/// Replies that `read` takes differently, by the rule that says so.
const BY_RULE: [(&str, &[&str]); 3] = [
    ("a think block is taken off", &["parse/marker/duplicate-in-think"]),
    ("a fence around the whole is taken off", &["parse/marker/fenced-without-completed"]),
    (
        "an end marker behind the last value is cut off",
        &[
            "parse/marker/all-on-one-line",
            "parse/marker/value-then-completed-same-line",
            "parse/marker/value-then-completed-no-space",
        ],
    ),
];

#[test]
fn read_gives_what_parse_gives() {
    let listed: Vec<&str> = BY_RULE.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let (mut same, mut salvaged) = (0, 0);
    let mut other = Vec::new();
    for file in ["parse", "json_parse", "xml_parse"] {
        let path = format!("{}/conformance/dspy-3.4.0/{file}.json", env!("CARGO_MANIFEST_DIR"));
        let corpus: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for case in corpus["cases"].as_array().unwrap() {
            let Ok(spec) = SignatureSpec::from_json(&case["signature"]) else { continue };
            let (id, reply) = (case["id"].as_str().unwrap(), case["lm_text"].as_str().unwrap());
            for dialect in [Dialect::Plain, Dialect::Dspy] {
                let adapter: Box<dyn Adapter> = match case["adapter"].as_str() {
                    Some("json") => Box::new(imp::Json::new().dialect(dialect)),
                    Some("xml") => Box::new(Xml::new().dialect(dialect)),
                    _ => Box::new(Chat::new().dialect(dialect)),
                };
                let exact = read_reply::<Fields, _>(&*adapter, &spec, Reply::Text(reply));
                let read = read_with::<Fields, _>(&*adapter, &spec, reply);
                match (exact, read) {
                    (Ok(exact), Ok(read)) if format!("{exact:?}") == format!("{:?}", *read) => same += 1,
                    (Ok(exact), read) => {
                        // Each of them is read, and without what the rule takes off.
                        let trimmed = read.as_ref().is_ok_and(|read| read.how() == HowRead::Trimmed);
                        if !listed.contains(&id) || !trimmed {
                            other.push(format!("{id} in {dialect:?}: {exact:?}\n  {read:?}\n  {reply:?}"));
                        }
                    }
                    (Err(_), Ok(read)) if matches!(read.how(), HowRead::Salvaged { .. }) => salvaged += 1,
                    (Err(_), _) => {}
                }
            }
        }
    }
    println!("{same} the same, {salvaged} salvaged");
    assert!(other.is_empty(), "{} differ\n{}", other.len(), other.join("\n"));
    assert!(same > 1_000, "{same}");
}

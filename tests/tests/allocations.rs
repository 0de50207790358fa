//! What reading a reply allocates: the values, and next to nothing beside them.

use imp::{Chat, Json, ParseError, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Signature)]
struct Report {
    summary: String,
    sentiment: Sentiment,
    confidence: f64,
    entities: Vec<Entity>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sentiment {
    Positive,
    Neutral,
    Negative,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Entity {
    name: String,
    kind: String,
    count: i64,
}

const OUTPUTS: u64 = 4;

/// How many allocations reading makes beyond those of the value itself, which are those of a clone.
fn extra(read: impl Fn() -> Result<Report, ParseError>) -> (Report, u64) {
    // The first one compiles the signature.
    let report = read().expect("the reply is right");
    let mut own = None;
    let cloning = allocation_counter::measure(|| own = Some(report.clone())).count_total;
    assert_eq!(own.as_ref(), Some(&report));
    let reading = allocation_counter::measure(|| drop(read())).count_total;
    assert!(cloning > OUTPUTS, "the value has allocations of its own");
    (report, reading.saturating_sub(cloning))
}

fn chat_reply() -> String {
    let data: Value =
        serde_json::from_str(include_str!("../data/medium.json")).expect("the workload is JSON");
    data["reply"].as_str().expect("it has a reply").to_owned()
}

fn json_reply(report: &Report) -> String {
    let Report { summary, sentiment, confidence, entities } = report;
    serde_json::json!({
        "summary": summary, "sentiment": sentiment, "confidence": confidence, "entities": entities,
    })
    .to_string()
}

#[test]
fn at_most_two_for_each_output() {
    let reply = chat_reply();
    let (report, by_chat) = extra(|| Chat::new().parse(reply.as_str()));
    assert_eq!((report.entities.len(), report.sentiment.clone()), (3, Sentiment::Neutral));

    // No string has an escape, which would need a buffer.
    let plain = Report { summary: report.summary.replace('\n', " "), ..report };
    let reply = json_reply(&plain);
    let (read, by_json) = extra(|| Json::new().parse(reply.as_str()));
    assert_eq!(read, plain);

    assert!(by_chat <= 2 * OUTPUTS, "{by_chat} allocations beyond the value, by Chat");
    assert!(by_json <= 2 * OUTPUTS, "{by_json} allocations beyond the value, by Json");
}

/// A request without history, guidance or renderers costs its messages and their texts.
#[test]
fn formatting_costs_the_messages() {
    #[derive(Signature)]
    #[signature(output = Report)]
    struct Article<'a> {
        title: &'a str,
        text: &'a str,
    }
    let article = Article { title: "Ships", text: "They float." };
    let chat = Chat::new();
    // The first one renders the system message, which all share.
    let messages = chat.format(&article).expect("it can be formatted");
    assert_eq!(messages.len(), 2);
    let count = allocation_counter::measure(|| drop(chat.format(&article))).count_total;
    // The list of messages, and the text of the request as it grows.
    assert!(count <= 3, "{count} allocations");
}

/// What is in a list costs nothing beyond itself, but for the list's growing.
#[test]
fn a_long_list_costs_its_items() {
    let reply = chat_reply();
    let (report, few) = extra(|| Chat::new().parse(reply.as_str()));
    for times in [10, 100, 1000] {
        let entities: Vec<Entity> = report.entities.iter().cycle().take(3 * times).cloned().collect();
        let list = serde_json::to_string(&entities).expect("they are JSON");
        let reply = format!(
            "[[ ## summary ## ]]\n{}\n\n[[ ## sentiment ## ]]\nneutral\n\n[[ ## confidence ## ]]\n0.82\n\n[[ ## entities ## ]]\n{list}",
            report.summary
        );
        let (read, many) = extra(|| Chat::new().parse(reply.as_str()));
        assert_eq!(read.entities, entities);
        // Each growth doubles.
        let growth = u64::from(entities.len().ilog2()) + 1;
        assert!(many <= few + growth, "{many} for {}, {few} for 3", entities.len());
    }
}

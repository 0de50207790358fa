//! The rows of spec/imp.md §21 that count requests, with salvage off, as Imp counts them, and on, as programs do by
//! default.

use imp::{Adapter, Chat, Fields, Predict, Script, SignatureSpec, Xml, lm::ScriptReply};
use imp_tests::loops::scripted_text;
use imp_tests::plain::{data, line};
use serde_json::json;

const OBJECT: &str = r#"{"answer": "Paris"}"#;
const LOOK: &str = r#"[{"name": "look", "arguments": {"word": "a"}}]"#;
const SUBMIT: &str = r#"[{"name": "submit", "arguments": {"answer": "here", "confidence": 0.9}}]"#;

/// How many requests a call makes whose model gives this reply and then an object that can be read.
fn requests(spec: SignatureSpec, adapter: impl Adapter + 'static, reply: &str, salvage: bool) -> usize {
    let script = Script::new([reply, OBJECT]);
    let program = Predict::from_spec(spec, script.clone()).adapter(adapter).salvage(salvage);
    let asked = Fields::from([("question", "The capital of France?")]);
    imp::lm::block_on(program.call(&asked).into_future()).unwrap();
    script.requests().len()
}

#[test]
fn calls() {
    let optional = data(&json!({
        "inputs": [{ "name": "question" }],
        "outputs": [{ "name": "answer", "type": { "optional": "str" } }],
    }));
    let answer = line("question -> answer");
    for (row, spec, xml, reply, off, on) in [
        ("40", &answer, false, "[[ ## answer ## ]]\nParis", 1, 1),
        ("42", &answer, false, "[[ ## answer ## ]]Paris[[ ## completed ## ]]", 1, 1),
        ("48, prose", &answer, false, "It is Paris.", 2, 2),
        ("48, an object", &answer, false, OBJECT, 2, 1),
        ("48, tags", &answer, false, "<answer>Paris</answer>", 2, 1),
        ("51, prose", &answer, true, "It is Paris.", 2, 2),
        ("51, an object", &answer, true, OBJECT, 2, 1),
        ("51, markers", &answer, true, "[[ ## answer ## ]]\nParis", 2, 1),
        ("64", &optional, false, "It is Paris.", 2, 2),
        ("67 and 69", &answer, false, "{'answer': 'Paris'}", 2, 1),
    ] {
        for (salvage, expected) in [(false, off), (true, on)] {
            let made = if xml {
                requests(spec.clone(), Xml::new(), reply, salvage)
            } else {
                requests(spec.clone(), Chat::new(), reply, salvage)
            };
            assert_eq!(made, expected, "row {row}, salvage {salvage}");
        }
    }
}

/// Rows 62 and 63: steps in the form of another adapter.
#[test]
fn loops() {
    let sections = |calls: &str| -> ScriptReply {
        format!("[[ ## next_thought ## ]]\nhm\n\n[[ ## tool_calls ## ]]\n{calls}\n\n[[ ## completed ## ]]")
            .into()
    };
    let object =
        |calls: &str| -> ScriptReply { format!(r#"{{"next_thought": "hm", "tool_calls": {calls}}}"#).into() };
    for (row, xml, first, off, on) in [
        ("62, Chat", false, object(LOOK), 3, 2),
        ("62, Xml", true, object(LOOK), 4, 2),
        ("63, Chat", false, sections(LOOK), 2, 2),
        ("63, Xml", true, sections(LOOK), 4, 2),
    ] {
        for (salvage, expected) in [(false, off), (true, on)] {
            // What is read at once is asked for once; each other reply is asked for again, as an object.
            let mut replies = vec![first.clone()];
            if !salvage && row != "63, Chat" {
                replies.push(object(LOOK));
            }
            replies.push(if xml { object(SUBMIT) } else { sections(SUBMIT) });
            if xml && !salvage {
                replies.push(object(SUBMIT));
            }
            let task = scripted_text("intent -> answer, confidence: float", replies).with(|agent| {
                let agent = agent.salvage(salvage);
                if xml { agent.adapter(Xml::new()) } else { agent }
            });
            assert!(task.run().unwrap().is_complete(), "row {row}");
            assert_eq!(task.requests(), expected, "row {row}, salvage {salvage}");
        }
    }
}

//! Loops whose model cannot call tools and writes its calls (spec/imp.md §14.9, by row).

use imp::{Cause, Demo, FormatOptions, Map, Termination, Tool, Value, Xml};
use imp_tests::loops::{fields, output, scripted, scripted_text};
use serde_json::json;

const TASK: &str = "intent -> answer, confidence: float";

fn step(thought: &str, calls: &str) -> imp::lm::ScriptReply {
    format!("[[ ## next_thought ## ]]\n{thought}\n\n[[ ## tool_calls ## ]]\n{calls}\n\n[[ ## completed ## ]]")
        .into()
}

const SUBMIT: &str =
    "[{\"name\": \"submit\", \"arguments\": {\"answer\": \"here\", \"confidence\": \"0.9\"}}]";
const LOOK: &str = "[{\"name\": \"look\", \"arguments\": {\"word\": \"a\"}}]";

#[test]
fn rows_63_135_and_151_markers_are_read_without_a_fallback() {
    let task = scripted_text(TASK, [step("hm", LOOK), step("so", SUBMIT)])
        .with(|agent| agent.last_request_note("Now."));
    let done = task.run().unwrap();
    assert_eq!((done.termination(), task.requests()), (Termination::Submitted, 2));
    let later = task.shown(1);
    assert_eq!(later[0], "user: [[ ## intent ## ]]\nfind it");
    assert!(
        later[1].contains("[[ ## tool_calls ## ]]\n[{\"arguments\": {\"word\": \"a\"}, \"name\": \"look\"}]")
    );
    assert!(later[2].starts_with("user: [[ ## tool_call_results ## ]]\n"), "{later:?}");
    assert!(later[3].starts_with("user: [[ ## tools ## ]]\n"), "{later:?}");
    for request in task.script.requests() {
        assert!(request.tools.is_empty() && request.config.tool_choice.is_none());
        assert!(request.messages.iter().all(|message| message.tool_calls.is_empty()));
    }
    // Under XML the same reply is none of its own.
    let task = scripted_text(TASK, [step("hm", LOOK), json_step(), json_submit(), json_submit()])
        .with(|agent| agent.adapter(Xml::new()));
    assert_eq!((task.run().unwrap().termination(), task.requests()), (Termination::Submitted, 4));
}

fn json_step() -> imp::lm::ScriptReply {
    json!({"next_thought": "hm", "tool_calls": [{"name": "look", "arguments": {"word": "a"}}]})
        .to_string()
        .into()
}

fn json_submit() -> imp::lm::ScriptReply {
    json!({"next_thought": "so", "tool_calls": [{"tool": "submit", "args": {"answer": "x", "confidence": 1}}]})
        .to_string()
        .into()
}

#[test]
fn row_62_a_json_object_goes_to_the_fallback() {
    let task = scripted_text(TASK, [json_step(), json_step(), step("so", SUBMIT)]);
    let done = task.run().unwrap();
    assert_eq!((done.termination(), task.requests()), (Termination::Submitted, 3));
    assert_eq!(done.history().len(), 2);
    let salvaged = scripted_text(TASK, [json_step(), step("so", SUBMIT)]).with(|agent| agent.salvage(true));
    assert_eq!((salvaged.run().unwrap().termination(), salvaged.requests()), (Termination::Submitted, 2));
}

#[test]
fn rows_114_and_115_shapes_of_calls() {
    let odd = "[{\"command\": \"cat\", \"args\": [\"x\"]}]";
    let recipient = "[{\"recipient_name\": \"functions.submit\", \"parameters\": {\"answer\": \"x\", \"confidence\": 1}}]";
    let tool = "[{\"tool\": \"look\", \"args\": {\"word\": \"b\"}}]";
    let task = scripted_text(TASK, [step("a", odd), step("b", tool), step("c", recipient)]);
    let done = task.run().unwrap();
    assert_eq!(done.termination(), Termination::Submitted);
    let later = task.shown(2);
    assert!(later[2].contains("the tool call could not be read."), "{later:?}");
    assert!(later[4].contains("found b"), "{later:?}");
}

#[test]
fn rows_147_to_149_what_a_written_step_says() {
    let schema = json!({
        "type": "object",
        "properties": {"sku": {"type": "string"}, "region": {"$ref": "#/$defs/Region"}},
        "required": ["sku", "region"],
        "$defs": {"Region": {"type": "string"}},
    });
    let search = Tool::raw("search", "Find a part.", schema, |_: Map| async { "x" });
    let task = scripted_text("intent -> answer", ["[[ ## answer ## ]]\nDone.".into()]);
    let spec = imp_tests::plain::line("intent -> answer");
    let agent = imp::ReAct::from_spec(spec, task.script.clone(), [search]);
    let inputs = fields(&json!({"intent": "x"}));
    let done = imp::lm::block_on(agent.call(&inputs).into_future()).unwrap();
    assert_eq!((done.termination(), output(&done, "answer")), (Termination::Answered, json!("Done.")));
    let request = &task.script.requests()[0];
    let system = request.messages[0].text().into_owned();
    assert!(system.contains("write it in `answer`, and leave `tool_calls` empty."), "{system}");
    assert!(
        system.contains("The tools to call, as a JSON list in which each call has `name` and `arguments`.")
    );
    assert_eq!(
        request.messages[1].text(),
        "[[ ## intent ## ]]\nx\n\n[[ ## tools ## ]]\n[\"search, whose description is <desc>Find a part.</desc>. It takes \
         arguments {\\\"properties\\\":{\\\"sku\\\":{\\\"type\\\":\\\"string\\\"},\\\"region\\\":{\\\"$ref\\\":\
         \\\"#/$defs/Region\\\"}},\\\"required\\\":[\\\"sku\\\",\\\"region\\\"],\\\"$defs\\\":{\\\"Region\\\":\
         {\\\"type\\\":\\\"string\\\"}}}.\"]"
    );
    // Where calls are native, the prompt speaks of none of it.
    for adapter in [0, 1, 2] {
        let replies = [if adapter == 1 { "{\"answer\": \"x\"}" } else { "x" }.into()];
        let task = scripted("intent -> answer", replies).with(|agent| match adapter {
            0 => agent,
            1 => agent.adapter(imp::Json::new()),
            _ => agent.adapter(Xml::new()),
        });
        task.run().unwrap();
        let messages = &task.script.requests()[0].messages;
        let prompt: String = messages.iter().map(|message| message.text().into_owned()).collect();
        assert!(!prompt.contains("tool_calls") && !prompt.contains("whose description is"), "{prompt}");
    }
}

#[test]
fn row_150_a_demo_with_calls() {
    let demo = Demo::from_fields(fields(&json!({
        "intent": "before",
        "next_thought": "hm",
        "tool_calls": [{"name": "look", "arguments": {}}],
    })));
    let task = scripted_text(TASK, [step("so", SUBMIT)])
        .with(|agent| agent.options(FormatOptions::new().demo(demo)));
    task.run().unwrap();
    let shown = task.shown(0);
    assert!(
        shown
            .iter()
            .any(|line| line.contains("[[ ## tool_calls ## ]]\n[{\"arguments\": {}, \"name\": \"look\"}]")),
        "{shown:?}"
    );
}

#[test]
fn to003_bare_calls_are_calls_where_they_are_written() {
    let bare = "{\"name\": \"look\", \"arguments\": {\"word\": \"a\"}}\n{\"name\": \"look\"}";
    let quoted = "You could send {\"name\": \"look\", \"arguments\": {}} yourself.";
    let task = scripted_text("intent -> answer", [bare.into(), quoted.into()]);
    let done = task.run().unwrap();
    assert_eq!(output(&done, "answer"), json!(quoted));
    let calls = done.history().turns()[0].get("tool_calls").and_then(Value::as_list).unwrap();
    assert_eq!(calls.len(), 2);
}

#[test]
fn steps_that_only_say_something() {
    let task = scripted_text(TASK, [step("a", "[]"), step("b", "[]"), step("c", SUBMIT)]);
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.cause()), (Termination::ForcedSubmit, Some(Cause::EmptyToolCalls)));
}

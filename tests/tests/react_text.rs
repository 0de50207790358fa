//! Loops that end with a text (spec/imp.md §14, by row), with native calls.

use std::time::Instant;

use imp::{
    Cause, Choice, FinishReason, History, LmErrorKind, Script, Termination, ToolChoice, Turn, Value, Xml,
};
use imp_tests::loops::{call, calls, error, fields, intent, output, scripted, shown, with_script};
use imp_tests::plain::line;
use serde_json::json;

const TASK: &str = "intent -> answer";
const ASKED: &str = "user: [[ ## intent ## ]]\nfind it";

#[test]
fn row_111_a_reply_without_a_call_is_the_answer() {
    let task = scripted(TASK, ["It is here.".into()]);
    let done = task.run().unwrap();
    assert_eq!(output(&done, "answer"), json!("It is here."));
    assert_eq!((done.termination(), done.cause(), task.requests()), (Termination::Answered, None, 1));
    assert_eq!(done.history().turns(), [Turn::from([("intent", "find it"), ("answer", "It is here.")])]);
}

#[test]
fn row_112_there_is_no_submit() {
    let task =
        scripted(TASK, [calls(None, [call("c1", "submit", &json!({"answer": "x"}))]), "Then so.".into()]);
    let done = task.run().unwrap();
    assert_eq!(output(&done, "answer"), json!("Then so."));
    let request = &task.script.requests()[0];
    assert_eq!(request.tools.iter().map(imp::ToolDefinition::name).collect::<Vec<_>>(), ["look"]);
    assert_eq!(
        task.shown(1),
        [
            ASKED,
            "assistant:  + submit({\"answer\":\"x\"})#c1",
            "tool#c1: Error: there is no tool named submit."
        ]
    );
    let turn = &done.history().turns()[0];
    let results = serde_json::to_value(turn.get("tool_call_results")).unwrap();
    assert_eq!(results[0]["value"]["error"], "unknown_tool");
}

#[test]
fn rows_143_and_144_each_request_is_the_one_before_and_the_newest_exchange() {
    let task = scripted(
        TASK,
        [
            calls(Some("Let me look."), [call("", "look", &json!({"word": "a"}))]),
            calls(None, [call("x", "look", &json!({"word": "fail"}))]),
            "Done.".into(),
        ],
    );
    task.run().unwrap();
    let requests = task.script.requests();
    assert_eq!(task.shown(0), [ASKED]);
    assert_eq!(
        task.shown(2),
        [
            ASKED,
            "assistant: Let me look. + look({\"word\":\"a\"})#call_0_0",
            "tool#call_0_0: found a",
            "assistant:  + look({\"word\":\"fail\"})#x",
            "tool#x: Error: look failed: no such word",
        ]
    );
    for pair in requests.windows(2) {
        assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages);
        assert_eq!(pair[1].messages.len(), pair[0].messages.len() + 2);
        assert_eq!(pair[1].tools, pair[0].tools);
    }
    let everything = format!("{:?}", requests[2].messages);
    assert!(!everything.contains("[[ ## tools ## ]]") && !everything.contains("Respond with the"));
    assert_eq!(requests[0].config.tool_choice, Some(ToolChoice::Auto));
}

#[test]
fn row_116_ids_are_made_of_the_step_and_the_place() {
    let task = scripted(
        TASK,
        [
            calls(None, [call("", "look", &json!({})), call("", "look", &json!({}))]),
            calls(None, [call("", "look", &json!({}))]),
            "Done.".into(),
        ],
    );
    task.run().unwrap();
    let ids: Vec<String> = task.script.requests()[2]
        .messages
        .iter()
        .flat_map(|message| message.tool_calls.iter().map(|call| call.id.clone()))
        .collect();
    assert_eq!(ids, ["call_0_0", "call_0_1", "call_1_0"]);
}

#[test]
fn rows_126_and_128_the_last_request_has_the_same_tools_and_nothing_invented() {
    let task = scripted(TASK, [calls(None, [call("c", "look", &json!({}))]), "So far.".into()])
        .with(|agent| agent.max_iters(1));
    let done = task.run().unwrap();
    assert_eq!(output(&done, "answer"), json!("So far."));
    assert_eq!((done.termination(), done.cause()), (Termination::LastText, Some(Cause::MaxIters)));
    let requests = task.script.requests();
    assert_eq!(requests[1].config.tool_choice, Some(ToolChoice::Auto));
    assert_eq!(requests[1].tools, requests[0].tools);
    assert_eq!(requests[1].messages.len(), requests[0].messages.len() + 2);
}

#[test]
fn rows_129_and_134_silence_is_an_empty_answer() {
    for (iters, reason) in [(0, Termination::LastText), (1, Termination::Answered)] {
        let task = scripted(TASK, ["".into()]).with(|agent| agent.max_iters(iters));
        let done = task.run().unwrap();
        assert_eq!((done.termination(), task.requests()), (reason, 1));
        assert_eq!(done.outputs().unwrap().get("answer"), Some(&"".into()));
        assert_eq!(done.history().turns()[0].get("answer"), Some(&Value::Null));
    }
    let spec = imp::SignatureSpec::from_json(&json!({
        "inputs": [{"name": "intent"}],
        "outputs": [{"name": "answer", "type": "string", "optional": true}],
    }));
    let task = with_script(spec.unwrap(), Script::new([""]));
    assert_eq!(task.run().unwrap().outputs().unwrap().get("answer"), Some(&Value::Null));
}

#[test]
fn row_130_calls_of_the_last_request_are_not_run() {
    let last = calls(Some("It is here."), [call("", "look", &json!({"word": "b"}))]);
    let task = scripted(TASK, [last]).with(|agent| agent.max_iters(0));
    let done = task.run().unwrap();
    assert_eq!(output(&done, "answer"), json!("It is here."));
    let [left] = done.unexecuted_tool_calls() else { panic!("{done:?}") };
    assert_eq!((&*left.name, &*left.id), ("look", "call_0_0"));
    assert_eq!(done.history().turns(), [Turn::from([("intent", "find it"), ("answer", "It is here.")])]);
}

#[test]
fn rows_131_and_132_a_step_that_failed_is_followed_by_a_last_request() {
    let down = || error(LmErrorKind::Overloaded, "try later");
    let task = scripted(TASK, [down(), "Here.".into()]).with(|agent| agent.last_request_note("Answer now."));
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.cause()), (Termination::LastText, Some(Cause::PredictionError)));
    assert_eq!(done.initial_error().map(ToString::to_string).as_deref(), Some("try later"));
    assert_eq!(task.shown(1), [ASKED, "user: [[ ## intent ## ]]\nAnswer now."]);

    let task = scripted(TASK, [calls(None, [call("c", "look", &json!({}))]), down(), down()]);
    let failed = task.run().unwrap_err();
    assert_eq!(failed.to_string(), "try later");
    assert_eq!(failed.history().len(), 1);
    assert!(failed.initial_error().is_some());
    assert!(failed.error().as_model().is_some());
}

#[test]
fn a_filtered_reply_ends_at_once() {
    let filtered = Choice::new("I").finish_reason(FinishReason::ContentFilter);
    for reply in [filtered.into(), error(LmErrorKind::ContentFilter, "filtered")] {
        let task = scripted(TASK, [calls(None, [call("c", "look", &json!({}))]), reply]);
        let failed = task.run().unwrap_err();
        assert_eq!(failed.error().as_model().map(imp::LmError::kind), Some(LmErrorKind::ContentFilter));
        assert_eq!((failed.history().len(), task.requests()), (1, 2));
    }
}

#[test]
fn row_133_a_deadline_that_has_passed() {
    let task = scripted(TASK, ["Too late.".into()])
        .with(|agent| agent.max_iters(0).last_request_note("Answer now."));
    let inputs = intent();
    let call = task.agent.call(&inputs).deadline(Instant::now());
    let done = imp::lm::block_on(call.into_future()).unwrap();
    assert_eq!((done.termination(), done.cause()), (Termination::Incomplete, Some(Cause::DeadlineExceeded)));
    assert!(done.history().is_empty() && !done.is_complete() && task.requests() == 0);
}

#[test]
fn rows_136_to_138_notes_and_inputs_alone() {
    let given = Turn::from([("intent", "find it")]);
    let note = Turn::from([("intent", "Answer now.")]).tool_calls(imp::ToolCalls::default());
    let history = History::from_iter([given, note.clone()]);
    let task = scripted(TASK, ["Yes.".into()]).with(|agent| agent.last_request_note("The program's."));
    let nothing = fields(&json!({}));
    let call = task.agent.call(&nothing).history(history).max_iters(0).last_request_note("Now, really.");
    let done = imp::lm::block_on(call.into_future()).unwrap();
    let said = |text: &str| format!("user: [[ ## intent ## ]]\n{text}");
    assert_eq!(task.shown(0), [said("find it"), said("Answer now."), said("Now, really.")]);
    assert_eq!(done.termination(), Termination::LastText);
    assert_eq!(done.history().len(), 4);
}

#[test]
fn row_141_why_the_answer_ended_is_told() {
    let cut = || Choice::new("It is he").finish_reason(FinishReason::Length).into();
    for (iters, reason) in [(0, Termination::LastText), (2, Termination::Answered)] {
        let done = scripted(TASK, [cut()]).with(|agent| agent.max_iters(iters)).run().unwrap();
        assert_eq!(done.finish_reason(), Some(&FinishReason::Length));
        assert_eq!((done.termination(), output(&done, "answer")), (reason, json!("It is he")));
    }
}

#[test]
fn row_140_settings_of_a_call() {
    let task = scripted(TASK, ["a".into(), "b".into()])
        .with(|agent| agent.config(imp::Config::new().temperature(0.5).max_tokens(9)));
    let inputs = intent();
    let call = task.agent.call(&inputs).config(imp::Config::new().max_tokens(32));
    imp::lm::block_on(call.into_future()).unwrap();
    let config = &task.script.requests()[0].config;
    assert_eq!((config.max_tokens, config.temperature), (Some(32), Some(0.5)));
    for refused in [
        imp::Config::new().tool_choice(ToolChoice::None),
        imp::Config::new().extra("tools", json!([])),
        imp::Config::new().n(2),
    ] {
        let call = task.agent.call(&inputs).config(refused);
        let failed = imp::lm::block_on(call.into_future()).unwrap_err();
        assert!(failed.to_string().contains("leave"), "{failed}");
    }
    assert_eq!(task.requests(), 1);
}

#[test]
fn rows_154_and_156_answers_before_and_old_markers() {
    let history = History::from_iter([Turn::from([("intent", "before"), ("answer", "earlier reply")])]);
    let task = scripted(TASK, ["[[ ## answer ## ]]\nIn markers.\n\n[[ ## completed ## ]]".into()]);
    let inputs = intent();
    let done = imp::lm::block_on(task.agent.call(&inputs).history(history).into_future()).unwrap();
    assert_eq!(output(&done, "answer"), json!("In markers."));
    assert_eq!(task.shown(0), ["user: [[ ## intent ## ]]\nbefore", "assistant: earlier reply", ASKED]);
}

#[test]
fn row_155_the_system_message_of_a_text_loop() {
    let task = scripted(TASK, ["x".into()]);
    task.run().unwrap();
    assert_eq!(
        task.script.requests()[0].messages[0].text(),
        "Your input fields are:\n1. `intent` (string):\nYour output fields are:\n1. `answer` (string):\n\
         Inputs will be structured in the following way, with the appropriate values filled in.\n\n\
         [[ ## intent ## ]]\n{intent}\n\nIn adhering to this structure, your objective is: \n        \
         Given the fields `intent`, produce the fields `answer`.\n        \
         You are an Agent. Produce `answer` from `intent`, using the supplied tools to gather information and \
         take actions.\n        The outputs to produce are:\n        1. `answer` (string):\n        \
         Call tools when more information is needed.\n        \
         When the final answer is ready, reply without calling a tool: that message is `answer`.\n        \
         The available tools are: `look`."
    );
}

#[test]
fn row_54_to_58_prose_is_the_text() {
    for (reply, text) in [
        ("Just prose.", "Just prose."),
        ("\n  First line.\n\nSecond line.  \n", "First line.\n\nSecond line."),
        ("Well:\n[[ ## answer ## ]]\nIn a section.", "In a section."),
    ] {
        let task = scripted(TASK, [reply.into()]);
        assert_eq!(output(&task.run().unwrap(), "answer"), json!(text));
        assert_eq!(task.requests(), 1);
    }
    let task = scripted(TASK, ["R&D is 3 < 4.".into()]).with(|agent| agent.adapter(Xml::new()));
    assert_eq!(output(&task.run().unwrap(), "answer"), json!("R&D is 3 < 4."));
}

#[test]
fn to003_and_to005_a_call_written_as_text_is_text_where_calls_are_native() {
    for text in [
        "{\"name\": \"look\", \"arguments\": {\"word\": \"a\"}}\n{\"name\": \"look\"}",
        "You could send {\"name\": \"look\", \"arguments\": {}} yourself.",
    ] {
        let task = scripted(TASK, [text.into()]);
        assert_eq!(output(&task.run().unwrap(), "answer"), json!(text));
    }
}

#[test]
fn names_stay_in_the_history() {
    let task = scripted(TASK, [calls(None, [call("c", "look", &json!({}))]), "x".into()]);
    let inputs = intent();
    imp::lm::block_on(task.agent.call(&inputs).user_name("alice").into_future()).unwrap();
    for request in task.script.requests() {
        assert_eq!(request.messages[1].name.as_deref(), Some("alice"));
        assert!(request.messages[2..].iter().all(|message| message.name.is_none()));
    }
}

#[test]
fn a_full_context_drops_the_earlier_history_by_halves() {
    let before: History =
        (0..5).map(|at| Turn::from([("intent", format!("i{at}")), ("answer", format!("a{at}"))])).collect();
    let script = Script::from_fn(|request| match request.messages.len() {
        0..=4 => imp::lm::ScriptReply::from("Short enough."),
        _ => error(LmErrorKind::ContextWindowExceeded, "too long"),
    });
    let task = with_script(line(TASK), script);
    let inputs = intent();
    let done = imp::lm::block_on(task.agent.call(&inputs).history(before.clone()).into_future()).unwrap();
    assert_eq!(done.termination(), Termination::Answered);
    let projection = done.context_projection().unwrap();
    // 5 groups: 3 dropped, then 1 of 2.
    assert_eq!((projection.omitted_groups, projection.recovery_requests), (4, 2));
    assert_eq!(shown(&task.script.requests()[2].messages).len(), 3);
    assert_eq!(done.history().turns()[..5], *before.turns());

    let full = Script::from_fn(|_| error(LmErrorKind::ContextWindowExceeded, "too long"));
    let task = with_script(line(TASK), full);
    let done = imp::lm::block_on(task.agent.call(&inputs).history(before).into_future()).unwrap();
    assert_eq!(
        (done.termination(), done.cause()),
        (Termination::Incomplete, Some(Cause::ContextWindowExceeded))
    );
    assert_eq!((task.requests(), done.history().len()), (4, 5));
}

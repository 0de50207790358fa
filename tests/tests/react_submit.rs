//! Loops that end through `submit` or a tool (spec/imp.md §14, by row), with native calls.

use imp::lm::ScriptReply;
use imp::{
    AgentLine, Cause, Config, ErrorKind, Fields, Finish, FormatOptions, Json, LmErrorKind, LoopLayout, Map,
    Script, Termination, ToolChoice, ToolPolicy, UNSENT_NOTE, Value,
};
use imp_tests::loops::{call, calls, error, fields, intent, output, scripted, with_script};
use imp_tests::plain::line;
use serde_json::{Value as Json_, json};

const TASK: &str = "intent -> answer, confidence: float";
const ASKED: &str = "user: [[ ## intent ## ]]\nfind it";

fn submit(arguments: &Json_) -> ScriptReply {
    calls(None, [call("s", "submit", arguments)])
}

fn accepted() -> ScriptReply {
    submit(&json!({"answer": "here", "confidence": "0.9"}))
}

#[test]
fn row_113_calls_run_in_order_and_an_unknown_one_is_an_error() {
    let step = calls(
        None,
        [
            call("a", "look", &json!({"word": "x"})),
            call("b", "missing", &json!({})),
            call("c", "submit", &json!({"answer": "here", "confidence": "0.9"})),
        ],
    );
    let task = scripted(TASK, [step]);
    let done = task.run().unwrap();
    assert_eq!((done.termination(), task.requests()), (Termination::Submitted, 1));
    assert_eq!((output(&done, "answer"), output(&done, "confidence")), (json!("here"), json!(0.9)));
    let turn = &done.history().turns()[0];
    assert_eq!(turn.get("answer"), Some(&"here".into()));
    let results = serde_json::to_value(turn.get("tool_call_results")).unwrap();
    let ids: Vec<&Json_> = results.as_array().unwrap().iter().map(|result| &result["call_id"]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(results[1]["value"], json!({"error": "unknown_tool", "name": "missing"}));
}

#[test]
fn rows_91_92_122_and_123_a_submit_that_is_not_accepted() {
    for (arguments, says) in [
        (json!({}), "Error: submit is missing: answer, confidence"),
        (json!({"answer": "x"}), "Error: submit is missing: confidence"),
        (json!({"answer": "x", "confidence": "much"}), "Error: submit outputs were not accepted: "),
    ] {
        let task = scripted(TASK, [submit(&arguments), accepted()]);
        assert_eq!(task.run().unwrap().termination(), Termination::Submitted);
        let last = task.shown(1).pop().unwrap();
        assert!(last.starts_with(&format!("tool#s: {says}")), "{last}");
    }
    // Even outputs that may be left out elsewhere.
    let spec = imp::SignatureSpec::from_json(&json!({
        "inputs": [{"name": "intent"}],
        "outputs": [{"name": "count", "type": "int", "default": 3}, {"name": "maybe", "type": "string", "optional": true}],
    }));
    let task = with_script(spec.unwrap(), Script::new([submit(&json!({"count": 1}))]))
        .with(|agent| agent.max_iters(0));
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.outputs()), (Termination::Incomplete, None));
    let schema = task.script.requests()[0].tools.last().unwrap().parameters().clone();
    assert_eq!(schema["required"], json!(["count", "maybe"]));
}

#[test]
fn row_124_descriptions_are_in_the_schema() {
    let spec = line(TASK).with_description("answer", "one word").unwrap();
    let task = with_script(spec, Script::new([accepted()]));
    task.run().unwrap();
    let tools = task.script.requests()[0].tools.clone();
    assert_eq!(tools.iter().map(imp::ToolDefinition::name).collect::<Vec<_>>(), ["look", "submit"]);
    assert_eq!(
        *tools[1].parameters(),
        json!({
            "type": "object",
            "properties": {
                "answer": {"type": "string", "description": "one word"},
                "confidence": {"type": "number"},
            },
            "required": ["answer", "confidence"],
            "additionalProperties": false,
        })
    );
    assert_eq!(tools[1].description(), "Submit the final outputs for the task.");
}

#[test]
fn rows_117_and_118_a_text_is_a_note_and_two_of_them_force_a_submit() {
    let task = scripted(TASK, ["I think.".into(), "I still think.".into(), accepted()])
        .with(|agent| agent.config(Config::new().reasoning_effort("high")).last_request_note("Now."));
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.cause()), (Termination::ForcedSubmit, Some(Cause::EmptyToolCalls)));
    let note = format!("user: {UNSENT_NOTE}");
    assert_eq!(task.shown(1), [ASKED, "assistant: I think.", &note]);
    assert_eq!(
        task.shown(2),
        [
            ASKED,
            "assistant: I think.",
            &note,
            "assistant: I still think.",
            &note,
            "user: [[ ## intent ## ]]\nNow.",
        ]
    );
    let configs: Vec<Config> = task.script.requests().into_iter().map(|request| request.config).collect();
    assert_eq!(configs[1].reasoning_effort.as_deref(), Some("high"));
    assert_eq!(configs[2].tool_choice, Some(ToolChoice::named("submit")));
    assert_eq!(configs[2].reasoning_effort, None);

    // A call between them starts the count anew, and silence needs no second.
    let task =
        scripted(TASK, ["a".into(), calls(None, [call("c", "look", &json!({}))]), "b".into(), accepted()]);
    assert_eq!(task.run().unwrap().termination(), Termination::Submitted);
    let task = scripted(TASK, ["".into(), accepted()]);
    assert_eq!(task.run().unwrap().cause(), Some(Cause::EmptyToolCalls));
}

#[test]
fn rows_119_to_121_a_provider_that_takes_words_only() {
    let words = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required";
    let only = |task: &imp_tests::loops::Loop| {
        let request = task.script.requests()[1].clone();
        assert_eq!(request.config.tool_choice, Some(ToolChoice::Required));
        assert_eq!(request.tools.iter().map(imp::ToolDefinition::name).collect::<Vec<_>>(), ["submit"]);
    };
    let task =
        scripted(TASK, [error(LmErrorKind::BadRequest, words), accepted()]).with(|agent| agent.max_iters(0));
    assert_eq!(task.run().unwrap().termination(), Termination::ForcedSubmit);
    only(&task);

    let extracted = "[[ ## reasoning ## ]]\nr\n\n[[ ## answer ## ]]\nx\n\n[[ ## confidence ## ]]\n1\n\n\
                     [[ ## completed ## ]]";
    let task = scripted(TASK, [error(LmErrorKind::BadRequest, words), "text".into(), extracted.into()])
        .with(|agent| agent.max_iters(0));
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.cause()), (Termination::Extracted, Some(Cause::MaxIters)));
    only(&task);
    let request = &task.script.requests()[2];
    let system = request.messages[0].text().into_owned();
    assert!(system.contains("only from the original inputs and successful tool"), "{system}");
    assert!(system.contains("is not evidence that an action happened"));
    assert!(request.tools.is_empty() && request.config.tool_choice.is_none());

    let task =
        scripted(TASK, [error(LmErrorKind::BadRequest, "unknown model")]).with(|agent| agent.max_iters(0));
    assert_eq!(task.run().unwrap_err().to_string(), "unknown model");
    assert_eq!(task.requests(), 1);
}

#[test]
fn row_125_only_ever_text() {
    let script = Script::from_fn(|_| "I like it.");
    let task = with_script(line("intent -> team: enum[atlas, harbor]"), script);
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.cause()), (Termination::Incomplete, Some(Cause::EmptyToolCalls)));
    let schema = task.script.requests()[0].tools[1].parameters().clone();
    assert_eq!(schema["properties"]["team"]["enum"], json!(["atlas", "harbor"]));
    assert!(matches!(done.last_error().map(imp::Error::kind), Some(ErrorKind::Parse { .. })));
}

#[test]
fn row_142_finish_on() {
    let look = || calls(None, [call("c", "look", &json!({"word": "x"}))]);
    let finish = |task: imp_tests::loops::Loop, outputs: Option<Json_>| {
        task.with(|agent| {
            agent.finish_on("look", move |arguments: &Map, result: &Value, inputs: &Fields| {
                assert_eq!(arguments.get("word"), Some(&"x".into()));
                assert_eq!(result, &Value::from("found x"));
                assert_eq!(inputs.get("intent"), Some(&"find it".into()));
                outputs.as_ref().map_or(Finish::Continue, |outputs| Finish::With(fields(outputs)))
            })
        })
    };
    let task = finish(scripted(TASK, [look()]), Some(json!({"answer": "x", "confidence": 1})));
    let done = task.run().unwrap();
    assert_eq!((done.termination(), done.finished_by_tool()), (Termination::FinishedByTool, Some("look")));
    let task = finish(scripted(TASK, [look(), accepted()]), None);
    assert_eq!(task.run().unwrap().termination(), Termination::Submitted);
    let task =
        finish(scripted(TASK, [look(), accepted()]), Some(json!({"answer": "x", "confidence": "much"})));
    assert_eq!(task.run().unwrap().termination(), Termination::Submitted);
    assert!(task.shown(1)[2].starts_with("tool#c: Error: submit outputs were not accepted: "));
    let task = scripted(TASK, []).with(|agent| agent.finish_on("lok", |_, _, _| Finish::Continue));
    let failed = task.run().unwrap_err().to_string();
    assert!(failed.starts_with("`finish_on` names no tool: `lok`; "), "{failed}");
    assert!(failed.contains("look"));
    let task = scripted(TASK, []).with(|agent| agent.finish_on("submit", |_, _, _| Finish::Continue));
    assert!(task.agent.check().is_err());
}

#[test]
fn finishing_tools_take_the_place_of_submit() {
    let look = || calls(None, [call("c", "look", &json!({"word": "x"}))]);
    let task = scripted("intent -> answer", [look()]).with(|agent| agent.finish_tools(["look"]));
    let done = task.run().unwrap();
    assert_eq!(
        (done.termination(), output(&done, "answer")),
        (Termination::FinishedByTool, json!("found x"))
    );
    let request = &task.script.requests()[0];
    assert_eq!(request.tools.len(), 1);
    let system = request.messages[0].text().into_owned();
    assert!(system.contains("The task ends when you call one of: `look`."), "{system}");
    let task =
        scripted(TASK, [look(), "hm".into(), look()]).with(|agent| agent.finish_tools(["look"]).max_iters(2));
    let done = task.run().unwrap();
    assert_eq!(done.termination(), Termination::Incomplete);
    assert!(task.shown(1)[2].starts_with("tool#c: Error: submit is missing"));
    assert_eq!(task.script.requests()[2].config.tool_choice, Some(ToolChoice::named("look")));
}

#[test]
fn row_98_the_policy_is_asked_for_submit_too() {
    let task = scripted(TASK, [accepted(), accepted()])
        .with(|agent| agent.policy(ToolPolicy::only(["look"])).max_iters(1));
    let done = task.run().unwrap();
    assert_eq!(done.termination(), Termination::Incomplete);
    assert_eq!(task.shown(1)[2], "tool#s: Error: submit is not allowed.");
}

#[test]
fn the_last_accepted_submit_wins() {
    let step = calls(
        None,
        [
            call("a", "submit", &json!({"answer": "one", "confidence": 1})),
            call("b", "submit", &json!({"answer": "two", "confidence": 1})),
            call("c", "submit", &json!({})),
        ],
    );
    assert_eq!(output(&scripted(TASK, [step]).run().unwrap(), "answer"), json!("two"));
}

#[test]
fn rows_145_and_164_to_166_the_plain_system_message() {
    let system = |change: &dyn Fn(imp::ReAct<Fields>) -> imp::ReAct<Fields>| {
        let task = scripted(TASK, [accepted()]).with(change);
        task.run().unwrap();
        task.script.requests()[0].messages[0].text().into_owned()
    };
    let rest = "\n\nEach message to you has these parts, each under its heading, such as [[ ## intent ## ]]. A \
                part that doesn't apply to a message is left out.\n1. `intent` (string):\n\nUse the tools to \
                read and to act, as many times as you need. Text you write is not sent. It stays in this \
                conversation as your own note.\n\nTo finish, call `submit` with `answer` and `confidence`:\n\
                1. `answer` (string): \n2. `confidence` (number):\n\nThe tools you have: `look`, `submit`.";
    let first = "Given the fields `intent`, produce the fields `answer`, `confidence`.";
    assert_eq!(system(&|agent| agent), format!("{first}{rest}"));
    let none = |agent: imp::ReAct<Fields>| agent.options(FormatOptions::new().agent_line(AgentLine::None));
    assert_eq!(system(&none), format!("{first}{rest}"));
    let text = |agent: imp::ReAct<Fields>| agent.options(FormatOptions::new().agent_line("You are Ada."));
    assert_eq!(system(&text), format!("{first}\nYou are Ada.{rest}"));
    let before = system(&|agent| agent.layout(LoopLayout::Marked));
    assert!(before.contains(
        "        You are an Agent. Use the supplied tools to produce `answer`, `confidence` from `intent`.\n"
    ));
    assert!(before.contains("When the final answer is ready, call `submit` with `answer`, `confidence`."));
}

#[test]
fn row_146_a_renderer_of_the_system_message_sees_the_guidance() {
    let task = scripted(TASK, [accepted()]).with(|agent| {
        agent.options(FormatOptions::new().system_renderer::<Fields>(|system| {
            let guidance = system.guidance().unwrap();
            format!(
                "{:?} {:?} {:?}",
                guidance.submit_tool(),
                guidance.output_names().collect::<Vec<_>>(),
                guidance.tool_names().collect::<Vec<_>>()
            )
        }))
    });
    task.run().unwrap();
    assert_eq!(
        task.script.requests()[0].messages[0].text(),
        "Some(\"submit\") [\"answer\", \"confidence\"] [\"look\", \"submit\"]"
    );
}

#[test]
fn row_152_json_ends_with_its_sentence_alone() {
    let task = scripted(TASK, [calls(None, [call("c", "look", &json!({"word": "x"}))]), accepted()])
        .with(|agent| agent.adapter(Json::new()));
    task.run().unwrap();
    assert_eq!(
        task.shown(1)[1..],
        [
            "assistant:  + look({\"word\":\"x\"})#c",
            "tool#c: found x",
            "user: Respond with a JSON object in the following order of fields: `next_thought`.",
        ]
    );
}

#[test]
fn row_157_the_fallback_of_a_step_keeps_the_guidance() {
    let task = scripted(
        TASK,
        ["{\"next_thought\": \"hm\"}".into(), "{\"next_thought\": \"hm\"}".into(), accepted()],
    );
    let done = task.run().unwrap();
    assert_eq!((done.termination(), task.requests()), (Termination::Submitted, 3));
    let fallback = task.script.requests()[1].messages.clone();
    let system = fallback[0].text().into_owned();
    assert!(system.contains("You are an Agent. Use the supplied tools"), "{system}");
    assert!(system.contains("Outputs will be a JSON object"));
    assert!(fallback.last().unwrap().text().ends_with("`next_thought`."));
    assert_eq!(task.script.requests()[1].tools.len(), 2);
    // With salvage the first reply is enough.
    let task =
        scripted(TASK, ["{\"next_thought\": \"hm\"}".into(), accepted()]).with(|agent| agent.salvage(true));
    assert_eq!((task.run().unwrap().termination(), task.requests()), (Termination::Submitted, 2));
}

#[test]
fn names_that_mean_something_are_refused() {
    let inputs = fields(&json!({"tools": "x", "intent": "y"}));
    let agent = imp::ReAct::from_spec(line("tools, intent -> answer"), Script::new(["x"]), []);
    let failed = imp::lm::block_on(agent.call(&inputs).into_future()).unwrap_err();
    assert!(failed.to_string().contains("rename that field"));
    let submit = imp::Tool::new("submit", "", |(): ()| async { "x" });
    let agent = imp::ReAct::from_spec(line(TASK), Script::new(["x"]), [submit]);
    let failed = imp::lm::block_on(agent.call(&intent()).into_future()).unwrap_err();
    assert!(failed.to_string().contains("rename the tool"));
    let agent = imp::ReAct::from_spec(line(TASK), Script::new(["x"]), []);
    let nothing = Fields::new();
    let failed = imp::lm::block_on(agent.call(&nothing).into_future()).unwrap_err();
    assert!(matches!(failed.error().kind(), ErrorKind::Format(_)), "{failed}");
}

//! spec/imp.md §§7.4, 7.5 and 15: the system messages of tool loops. Rows 144 to 148, 150, 152, 153, 155 to 157 and 164
//! to 166; every combination is a file in `golden/`.

use std::fmt::Write as _;

use imp::{
    Adapter, AgentLine, Chat, Dialect, FormatOptions, Guidance, LoopLayout, Reply, Role, SignatureSpec, Turn,
    Xml, read_reply,
};
use imp_tests::golden;
use imp_tests::plain::{data, demo, fields, line, transcript};
use serde_json::json;

/// What a loop makes of a task: the signature of its step, and the guidance.
struct Loop {
    name: &'static str,
    make: fn(&SignatureSpec) -> Guidance,
    written: bool,
}

const SUBMIT: [Loop; 3] = [
    Loop { name: "submit_plain", make: |task| submit(task), written: false },
    Loop { name: "submit_marked", make: |task| submit(task).layout(LoopLayout::Marked), written: false },
    Loop { name: "submit_written", make: |task| submit(task).written_calls("tool_calls"), written: true },
];

const FINISH: Loop = Loop {
    name: "finish_tools",
    make: |task| Guidance::of(task).tools(["look", "post", "refuse"]).finish_tools(["post", "refuse"]),
    written: false,
};

const TEXT: [Loop; 2] = [
    Loop { name: "text", make: |task| Guidance::of(task).tools(["look"]), written: false },
    Loop {
        name: "text_written",
        make: |task| Guidance::of(task).tools(["look"]).written_calls("tool_calls"),
        written: true,
    },
];

fn submit(task: &SignatureSpec) -> Guidance {
    Guidance::of(task).tools(["look", "submit"]).submit("submit")
}

/// The signature of a loop's step: the task's inputs, a text, and the calls if they are written.
fn step(task: &SignatureSpec, written: bool, ends_with_text: bool) -> SignatureSpec {
    let mut json = serde_json::to_value(task).unwrap();
    json["instructions"] = task.instructions().into();
    for input in json["inputs"].as_array_mut().unwrap() {
        input["type"] = json!({ "optional": input["type"] });
    }
    let text = if ends_with_text {
        let mut answer = json["outputs"][0].clone();
        answer["type"] = json!({ "optional": "string" });
        answer
    } else {
        json!({ "name": "next_thought", "type": { "optional": "string" } })
    };
    json["outputs"] = json!([text]);
    if written {
        let calls =
            json!({ "name": "tool_calls", "type": "array", "default": [], "desc": "The tools to call." });
        json["outputs"].as_array_mut().unwrap().push(calls);
    }
    data(&json)
}

fn tasks() -> Vec<(&'static str, SignatureSpec)> {
    let described = data(&json!({
        "name": "Ticket",
        "instructions": "\n    Route the ticket.\n      Be quick.\n",
        "inputs": [{ "name": "ticket", "desc": "The customer's message, verbatim." }, { "name": "plan", "type": { "optional": "string" } }],
        "outputs": [
            { "name": "team", "type": { "literal": ["atlas", "harbor"] }, "desc": "atlas: money. harbor: the platform." },
            { "name": "priority", "type": "int", "constraints": [["ge", 1], ["le", 4]] },
            { "name": "reply", "desc": "One sentence to the customer." },
        ],
    }));
    vec![
        ("one output", line("intent -> confidence: float")),
        ("two outputs", line("intent -> answer, confidence: float")),
        ("three outputs", line("intent, place -> answer, confidence: float, urgent: bool")),
        ("descriptions and bounds", described),
        (
            "no inputs",
            data(
                &json!({ "inputs": [], "outputs": [{ "name": "answer" }, { "name": "score", "type": "float" }] }),
            ),
        ),
        ("a history", imp_tests::plain::with_history(&line("intent -> answer, confidence: float"))),
        ("no instructions", line("intent -> answer, confidence: float").with_instructions("")),
    ]
}

fn text_tasks() -> Vec<(&'static str, SignatureSpec)> {
    vec![
        ("one output", line("intent -> answer")),
        (
            "two inputs, described",
            line(r#"intent: string "what to do", place -> answer: string "to the customer""#),
        ),
        ("no inputs", data(&json!({ "inputs": [], "outputs": [{ "name": "answer" }] }))),
        ("a history", imp_tests::plain::with_history(&line("intent -> answer"))),
    ]
}

fn agent_lines() -> [(&'static str, AgentLine); 3] {
    [
        ("default agent line", AgentLine::Default),
        ("an agent line", "You look after the harbour.".into()),
        ("no agent line", AgentLine::None),
    ]
}

/// The system message of a step, with its values left out.
fn system(adapter: &dyn Adapter, task: &SignatureSpec, of: &Loop, line: AgentLine, text: bool) -> String {
    let guidance = (of.make)(task);
    let spec = step(task, of.written, text);
    let options = FormatOptions::new().guidance(guidance).agent_line(line);
    adapter.prefix(&spec, &options).unwrap()[0].text().into_owned()
}

fn all(adapter: &dyn Adapter, of: &Loop, tasks: &[(&str, SignatureSpec)], text: bool) -> String {
    let mut out = String::new();
    for (task, spec) in tasks {
        for (name, line) in agent_lines() {
            let system = system(adapter, spec, of, line, text);
            // A blank at a line's end is one that a reader sees.
            let _ = write!(out, "=== {task}, {name}\n{system}⏎\n");
        }
    }
    out
}

#[test]
fn golden_files() {
    let (chat, json, xml) = (Chat::new(), imp::Json::new(), Xml::new());
    let adapters: [(&str, &dyn Adapter); 3] = [("chat", &chat), ("json", &json), ("xml", &xml)];
    for (adapter_name, adapter) in adapters {
        for of in SUBMIT.iter().chain([&FINISH]) {
            golden::check(&format!("{}_{adapter_name}.txt", of.name), &all(adapter, of, &tasks(), false));
        }
        for of in &TEXT {
            golden::check(&format!("{}_{adapter_name}.txt", of.name), &all(adapter, of, &text_tasks(), true));
        }
    }
    let dspy = Chat::new().dialect(Dialect::Dspy);
    golden::check("submit_plain_dspy.txt", &all(&dspy, &SUBMIT[0], &tasks(), false));
    golden::check("submit_marked_dspy.txt", &all(&dspy, &SUBMIT[1], &tasks(), false));
}

#[test]
fn row_164_the_plain_layout() {
    let text = system(
        &Chat::new(),
        &line("intent -> answer, confidence: float"),
        &SUBMIT[0],
        AgentLine::Default,
        false,
    );
    assert_eq!(
        text,
        "Given the fields `intent`, produce the fields `answer`, `confidence`.

Each message to you has these parts, each under its heading, such as [[ ## intent ## ]]. A part that doesn't apply to a message is left out.
1. `intent` (string):

Use the tools to read and to act, as many times as you need. Text you write is not sent. It stays in this conversation as your own note.

To finish, call `submit` with `answer` and `confidence`:
1. `answer` (string): \n\
2. `confidence` (number):

The tools you have: `look`, `submit`."
    );
}

#[test]
fn row_165_an_agent_line_in_the_plain_layout() {
    let task = line("intent -> answer, confidence: float");
    let text = |line: AgentLine| system(&Chat::new(), &task, &SUBMIT[0], line, false);
    assert_eq!(text(AgentLine::None), text(AgentLine::Default));
    let with = text("You look after the harbour.".into());
    let first = "Given the fields `intent`, produce the fields `answer`, `confidence`.";
    assert_eq!(with, text(AgentLine::None).replace(first, &format!("{first}\nYou look after the harbour.")));
}

#[test]
fn row_155_a_loop_that_ends_with_a_text() {
    let text = system(&Chat::new(), &line("intent -> answer"), &TEXT[0], AgentLine::Default, true);
    assert_eq!(
        text,
        "Your input fields are:
1. `intent` (string):
Your output fields are:
1. `answer` (string):
Inputs will be structured in the following way, with the appropriate values filled in.

[[ ## intent ## ]]
{intent}

In adhering to this structure, your objective is: \n        \
        Given the fields `intent`, produce the fields `answer`.
        You are an Agent. Produce `answer` from `intent`, using the supplied tools to gather information and take actions.
        The outputs to produce are:
        1. `answer` (string):
        Call tools when more information is needed.
        When the final answer is ready, reply without calling a tool: that message is `answer`.
        The available tools are: `look`."
    );
}

#[test]
fn row_145_the_layout_before_the_plain_one() {
    let task = data(&json!({
        "inputs": [{ "name": "intent" }],
        "outputs": [
            { "name": "team", "type": { "literal": ["atlas", "harbor"] }, "desc": "who owns it" },
            { "name": "score", "type": "float" },
        ],
    }));
    let text = system(&Chat::new(), &task, &SUBMIT[1], AgentLine::Default, false);
    assert!(text.ends_with(
        "In adhering to this structure, your objective is: \n        \
        Given the fields `intent`, produce the fields `team`, `score`.
        You are an Agent. Use the supplied tools to produce `team`, `score` from `intent`.
        The outputs to produce are:
        1. `team` (one of: atlas, harbor): who owns it
        2. `score` (number):
        Call tools when more information is needed.
        When the final answer is ready, call `submit` with `team`, `score`.
        The available tools are: `look`, `submit`."
    ));
    assert!(text.contains("[[ ## next_thought ## ]]\n{next_thought}\n\n[[ ## completed ## ]]\nIn adhering"));
}

/// §7.4: the finish line is the adapter's and the loop's.
#[test]
fn row_148_finish_lines() {
    let (chat, json, xml) = (Chat::new(), imp::Json::new(), Xml::new());
    let task = line("intent -> answer");
    let cases: [(&dyn Adapter, &Loop, bool, &str); 8] = [
        (&chat, &TEXT[0], true, "reply without calling a tool: that message is `answer`."),
        (&json, &TEXT[0], true, "When the final answer is ready, write it in `answer`."),
        (&xml, &TEXT[0], true, "When the final answer is ready, write it in `answer`."),
        (&chat, &TEXT[1], true, "write it in `answer`, and leave `tool_calls` empty."),
        (&json, &TEXT[1], true, "write it in `answer`, and leave `tool_calls` empty."),
        (&json, &SUBMIT[0], false, "When the final answer is ready, call `submit` with `answer`."),
        (&chat, &SUBMIT[2], false, "When the final answer is ready, call `submit` with `answer`."),
        (&chat, &FINISH, false, "The task ends when you call one of: `post`, `refuse`."),
    ];
    for (adapter, of, text, says) in cases {
        let system = system(adapter, &task, of, AgentLine::Default, text);
        assert!(system.contains(says), "{}: {system}", of.name);
    }
}

/// The options that a loop sets.
fn loop_options(guidance: Guidance) -> FormatOptions {
    FormatOptions::new().guidance(guidance).response_instruction(false).omit_empty_request(true)
}

#[test]
fn rows_144_and_147_a_native_request_shows_no_scaffold() {
    let task = line("intent -> answer, confidence: float");
    let spec = step(&task, false, false);
    for adapter in [&Chat::new() as &dyn Adapter, &imp::Json::new(), &Xml::new()] {
        let inputs = fields(&json!({ "intent": "refund" }));
        let messages = adapter.messages(&spec, &inputs, &loop_options(submit(&task))).unwrap();
        for message in &messages {
            let text = message.text();
            assert!(!text.contains("tool_calls") && !text.contains("whose description is"), "{text}");
        }
        if adapter.name() == "chat" {
            assert_eq!(messages[1].text(), "[[ ## intent ## ]]\nrefund");
            assert!(!messages[0].text().contains("[[ ## tools ## ]]"));
        }
    }
}

#[test]
fn row_146_a_system_renderer() {
    let task = line("intent -> answer, confidence: float");
    let options = loop_options(submit(&task)).system_renderer::<imp::Fields>(|system| {
        let guidance = system.guidance().unwrap();
        format!(
            "{:?} {:?} {:?}\n{}",
            guidance.submit_tool(),
            guidance.output_names().collect::<Vec<_>>(),
            guidance.tool_names().collect::<Vec<_>>(),
            system.default_system().lines().next().unwrap_or_default(),
        )
    });
    let spec = step(&task, false, false);
    let text = |adapter: &dyn Adapter| adapter.prefix(&spec, &options).unwrap()[0].text().into_owned();
    let first = r#"Some("submit") ["answer", "confidence"] ["look", "submit"]"#;
    assert_eq!(
        text(&Chat::new()),
        format!("{first}\nGiven the fields `intent`, produce the fields `answer`, `confidence`.")
    );
    assert_eq!(text(&imp::Json::new()), format!("{first}\nYour input fields are:"));
}

#[test]
fn row_150_a_written_demo() {
    let task = line("intent -> answer");
    let spec = step(&task, true, true);
    let shown = demo(
        &json!({ "intent": "see", "next_thought": "I look.", "tool_calls": [{ "name": "look", "arguments": {} }] }),
    );
    let options = loop_options((TEXT[1].make)(&task)).demo(shown);
    let messages = Chat::new().prefix(&spec, &options).unwrap();
    assert_eq!(
        transcript(&messages)[1..],
        [
            "user: [[ ## intent ## ]]\nsee",
            "assistant: [[ ## answer ## ]]\nI look.\n\n[[ ## tool_calls ## ]]\n[{\"arguments\": {}, \"name\": \"look\"}]\n\n\
             [[ ## completed ## ]]\n"
        ]
    );
}

#[test]
fn row_152_a_later_step_in_json_and_xml() {
    let task = line("intent -> answer, confidence: float");
    let spec = imp_tests::plain::with_history(&step(&task, false, false));
    let calls = json!([{ "intent": "look", "tool_calls": [{ "id": "c1", "name": "look", "arguments": {} }],
        "tool_call_results": [{ "call_id": "c1", "name": "look", "value": { "seen": [1] } }] }]);
    let inputs = fields(&json!({ "history": calls }));
    for adapter in [&imp::Json::new() as &dyn Adapter, &Xml::new()] {
        let messages = adapter.messages(&spec, &inputs, &loop_options(submit(&task))).unwrap();
        let [.., tool, last] = messages.as_slice() else { panic!("{messages:?}") };
        assert_eq!((tool.role, &*tool.text()), (Role::Tool, r#"{"seen": [1]}"#));
        assert_eq!((last.role, &*last.text()), (Role::User, adapter.output_requirements(&spec).as_str()));
    }
    // Under Chat there is nothing left to say.
    let messages = Chat::new().messages(&spec, &inputs, &loop_options(submit(&task))).unwrap();
    assert_eq!(messages.last().map(|message| message.role), Some(Role::Tool));
}

#[test]
fn row_153_an_output_renderer_wraps_the_adapters_own() {
    let spec = line("country -> capital");
    let shown = demo(&json!({ "country": "Spain", "capital": "Madrid" }));
    let options = FormatOptions::new()
        .demo(shown)
        .output_renderer::<imp::Fields>(|said| format!("SAID {}", said.default_outputs()));
    let said = |adapter: &dyn Adapter| adapter.prefix(&spec, &options).unwrap()[2].text().into_owned();
    assert_eq!(said(&Xml::new()), "SAID <capital>\nMadrid\n</capital>");
    assert_eq!(said(&imp::Json::new()), "SAID {\n  \"capital\": \"Madrid\"\n}");
    assert_eq!(said(&Chat::new()), "SAID [[ ## capital ## ]]\nMadrid\n\n[[ ## completed ## ]]\n");
    // One with a format of its own writes it whatever the adapter.
    let own = options.output_renderer::<imp::Fields>(|said| match said.named("capital") {
        Some(imp::Value::String(capital)) => format!("* {capital}"),
        _ => "none".to_owned(),
    });
    for adapter in [&Chat::new() as &dyn Adapter, &imp::Json::new(), &Xml::new()] {
        assert_eq!(adapter.prefix(&spec, &own).unwrap()[2].text(), "* Madrid");
    }
}

#[test]
fn row_156_markers_are_still_read() {
    let spec = step(&line("intent -> answer"), false, true);
    let read: imp::Fields =
        read_reply(&Chat::new(), &spec, Reply::Text("[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"))
            .unwrap();
    assert_eq!(read.get("answer"), Some(&"yes".into()));
}

#[test]
fn row_157_the_fallback_keeps_demos_and_guidance() {
    let task = line("intent -> answer, confidence: float");
    let spec = step(&task, false, false);
    let options =
        loop_options(submit(&task)).demo(demo(&json!({ "intent": "see", "next_thought": "I look." })));
    let messages = imp::Json::new().messages(&spec, &fields(&json!({ "intent": "x" })), &options).unwrap();
    assert_eq!(
        transcript(&messages)[1..3],
        ["user: [[ ## intent ## ]]\nsee", "assistant: {\n  \"next_thought\": \"I look.\"\n}"]
    );
    assert!(messages[0].text().contains("        You are an Agent. Use the supplied tools to produce"));
    assert!(
        messages[3]
            .text()
            .ends_with("Respond with a JSON object in the following order of fields: `next_thought`.")
    );
}

#[test]
fn row_166_demos_and_steps_are_plain_text() {
    let task = line("intent -> answer, confidence: float");
    let spec = imp_tests::plain::with_history(&step(&task, false, false));
    let called = json!({ "intent": "q", "next_thought": "I look.",
        "tool_calls": [{ "id": "c1", "name": "look", "arguments": {} }],
        "tool_call_results": [{ "call_id": "c1", "name": "look", "value": "seen" }] });
    let options = loop_options(submit(&task))
        .demo(demo(&json!({ "intent": "see", "next_thought": "A thought." })))
        .demo(demo(&called))
        .demo(demo(&json!({ "intent": "silent", "next_thought": "" })));
    let mut inputs = fields(&json!({ "intent": "x" }));
    inputs.insert("history", vec![imp::Value::from(Turn::from(fields(&called)))]);
    let step = ["user: [[ ## intent ## ]]\nq", "assistant: I look. + look({})#c1", "tool#c1: seen"];
    let demo = ["user: [[ ## intent ## ]]\nsee", "assistant: A thought."];
    let silent = ["user: [[ ## intent ## ]]\nsilent"];
    let request = ["user: [[ ## intent ## ]]\nx"];
    let messages = Chat::new().messages(&spec, &inputs, &options).unwrap();
    assert_eq!(transcript(&messages)[1..], [&demo[..], &step, &silent, &step, &request].concat());
    // In the layout before it, demos have their sections; the call's turn is the provider's own in both.
    let options = options.guidance(submit(&task).layout(LoopLayout::Marked));
    let messages = Chat::new().messages(&spec, &inputs, &options).unwrap();
    assert_eq!(messages[2].text(), "[[ ## next_thought ## ]]\nA thought.\n\n[[ ## completed ## ]]\n");
    assert_eq!(transcript(&messages)[3..6], step);
}

//! spec/imp.md §7.6: the turns of a history as messages. Rows 23 to 28, 102 to 110, 135 to 137, 154, 159 to 163, and
//! the cases HI001 to HI009.

use imp::{
    Adapter, Chat, FormatOptions, Guidance, History, Image, Message, Role, SignatureSpec, SpecError,
    ToolCall, ToolCalls, ToolResult, Turn, Value, Xml,
};
use imp_tests::plain::{data, fields, line, messages, request, system, transcript, with_history};
use serde_json::{Value as Json, json};

const DONE: &str = "\n\n[[ ## completed ## ]]\n";

fn qa() -> SignatureSpec {
    with_history(&line("question -> answer"))
}

fn section(name: &str, text: &str) -> String {
    format!("[[ ## {name} ## ]]\n{text}")
}

/// What is sent for the turns and the question `next`, without the system message; with no sentence at the end.
fn sent(
    adapter: &dyn Adapter,
    spec: &SignatureSpec,
    turns: &[Turn],
    options: &FormatOptions,
) -> Vec<Message> {
    let turns: Vec<Value> = turns.iter().cloned().map(Value::from).collect();
    let mut inputs = fields(&json!({ "question": "next" }));
    inputs.insert("history", turns);
    let options = options.clone().response_instruction(false);
    let mut messages = adapter.messages(spec, &inputs, &options).unwrap();
    messages.remove(0);
    messages.pop();
    messages
}

fn chat(spec: &SignatureSpec, turns: &[Turn], options: &FormatOptions) -> Vec<String> {
    transcript(&sent(&Chat::new(), spec, turns, options))
}

fn turn(json: &Json) -> Turn {
    fields(json).into()
}

fn calls(calls: &[(&str, &str, Json)], results: &[(&str, &str, Json)]) -> ToolCalls {
    let mut all: ToolCalls = calls
        .iter()
        .map(|(id, name, arguments)| ToolCall::new(*id, *name, fields(arguments).into_map()))
        .collect();
    let results = results.iter().map(|(id, name, value)| ToolResult::new(*id, *name, value.clone()));
    all.results = Some(results.collect());
    all
}

/// A loop over `question -> answer` that ends with a text.
fn text_loop() -> Guidance {
    Guidance::of(&line("question -> answer")).tools(["lookup"])
}

fn submit_loop() -> Guidance {
    Guidance::of(&line("question -> answer, score: float")).tools(["lookup", "submit"]).submit("submit")
}

/// The step of such a loop, where the provider holds the tools.
fn step(text: &str) -> SignatureSpec {
    with_history(&line(&format!("question -> {text}")))
}

#[test]
fn rows_23_and_24_two_turns() {
    let turns = [
        turn(&json!({ "question": "What is the capital of France?", "answer": "Paris" })),
        turn(&json!({ "question": "And of Germany?", "answer": "Berlin" })),
    ];
    let options = FormatOptions::new();
    let asked =
        [section("question", "What is the capital of France?"), section("question", "And of Germany?")];
    let said = [section("answer", "Paris"), section("answer", "Berlin")];
    assert_eq!(
        chat(&qa(), &turns, &options),
        [
            format!("user: {}", asked[0]),
            format!("assistant: {}{DONE}", said[0]),
            format!("user: {}", asked[1]),
            format!("assistant: {}{DONE}", said[1]),
        ]
    );
    let all = messages(
        &qa(),
        &json!({ "question": "q", "history": [{ "question": "a", "answer": "b" }, { "question": "c", "answer": "d" }] }),
        &options,
    );
    assert_eq!(all.len(), 6);
    let json = sent(&imp::Json::new(), &qa(), &turns, &options);
    assert_eq!(json[1].text(), "{\n  \"answer\": \"Paris\"\n}");
    let xml = sent(&Xml::new(), &qa(), &turns[..1], &options);
    assert_eq!(xml[1].text(), "<answer>\nParis\n</answer>");
}

#[test]
fn row_25_an_input_that_is_called_history_is_a_section() {
    let spec = line("question, history: array[string] -> answer");
    let text = request(&spec, &json!({ "question": "q", "history": ["a", "b"] }));
    assert!(text.contains("[[ ## history ## ]]\n[\"a\", \"b\"]"), "{text}");
    assert!(system(&spec).contains("`history`"));
}

#[test]
fn row_26_and_hi001_a_history_is_in_no_list() {
    for adapter in [&Chat::new() as &dyn Adapter, &imp::Json::new(), &Xml::new()] {
        let text = adapter.messages(
            &qa(),
            &fields(&json!({ "question": "q2", "history": [{ "question": "q1", "answer": "a1" }] })),
            &FormatOptions::new(),
        );
        let messages = text.unwrap();
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
        assert!(messages.iter().all(|message| !message.text().contains("history")), "{messages:?}");
    }
}

#[test]
fn row_27_redact() {
    let history = History::from_iter([[
        ("question", "my key is sk-aaaaaaaaaaaaaaaaaaaa"),
        ("api_key", "hunter2"),
        ("answer", "I do not keep it."),
    ]]);
    let redacted = history.redact();
    let turn = &redacted.turns()[0];
    assert_eq!(turn.get("question"), Some(&"my key is [REDACTED]".into()));
    assert_eq!(turn.get("api_key"), Some(&"[REDACTED]".into()));
    assert_eq!(turn.get("answer"), Some(&"I do not keep it.".into()));
}

#[test]
fn row_28_dump_and_load() {
    let history = History::from_iter([
        turn(&json!({ "question": "q", "answer": null, "n": [1, 2.5, { "b": 1, "a": "x" }] }))
            .user_name("alice"),
        Turn::new()
            .thought("hm")
            .tool_calls(calls(&[("c1", "lookup", json!({}))], &[("c1", "lookup", json!("x"))])),
    ]);
    let text = history.dump().unwrap().to_string();
    let loaded = History::load(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(loaded, history);
    assert_eq!(
        chat(&qa(), loaded.turns(), &FormatOptions::new()),
        chat(&qa(), history.turns(), &FormatOptions::new())
    );
    for (data, says) in [
        (json!({ "messages": 1 }), "a history has its turns in `messages`, a list"),
        (json!(7), "a history is a list of turns, not a number"),
        (json!([7]), "a turn is an object of fields, not a number"),
    ] {
        assert_eq!(History::load(&data).unwrap_err().to_string(), says);
    }
}

#[test]
fn rows_102_and_103_a_note_follows_its_turn() {
    let turns = [
        turn(&json!({ "question": "q1" }))
            .thought("checking")
            .tool_calls(calls(&[("c1", "lookup", json!({}))], &[("c1", "lookup", json!("x"))])),
        turn(&json!({ "question": "q2", "answer": "a2" })),
    ];
    let note = |say: Option<&'static str>| {
        FormatOptions::new().history_note_renderer::<imp::Fields>(move |context| {
            context.turn().get("tool_calls").and(say).map(str::to_owned)
        })
    };
    let spec = qa();
    let said = chat(&spec, &turns, &note(Some("One call so far.")));
    assert_eq!(
        said,
        [
            format!("user: {}", section("question", "q1")),
            "assistant: checking + lookup({})#c1".to_owned(),
            "tool#c1: x".to_owned(),
            "user: One call so far.".to_owned(),
            format!("user: {}", section("question", "q2")),
            format!("assistant: {}{DONE}", section("answer", "a2")),
        ]
    );
    let without = chat(&spec, &turns, &FormatOptions::new());
    assert_eq!(without.len(), 5);
    assert_eq!(chat(&spec, &turns, &note(None)), without);
    assert_eq!(chat(&spec, &turns, &note(Some(""))), without);
}

#[test]
fn row_104_a_native_turn() {
    let turns = [turn(&json!({ "question": "q" })).thought("checking").tool_calls(calls(
        &[("call-1", "lookup", json!({ "word": "beam" }))],
        &[("call-1", "lookup", json!("BEAM"))],
    ))];
    let expected = [
        format!("user: {}", section("question", "q")),
        "assistant: checking + lookup({\"word\":\"beam\"})#call-1".to_owned(),
        "tool#call-1: BEAM".to_owned(),
    ];
    assert_eq!(chat(&qa(), &turns, &FormatOptions::new()), expected);
    for guidance in [text_loop(), submit_loop()] {
        let options = FormatOptions::new().guidance(guidance);
        assert_eq!(chat(&step("next_thought"), &turns, &options), expected);
        let json = transcript(&sent(&imp::Json::new(), &step("next_thought"), &turns, &options));
        assert_eq!(json, expected, "the thought is plain text under every adapter");
    }
}

/// Every shape in which calls and results are stored.
#[test]
fn stored_calls_have_many_shapes() {
    let one = ["assistant:  + lookup({\"word\":\"x\"})#c1", "tool#c1: y"];
    let result = json!([{ "call_id": "c1", "name": "lookup", "value": "y" }]);
    for stored in [
        json!({ "tool_calls": [{ "id": "c1", "name": "lookup", "arguments": { "word": "x" } }], "tool_call_results": result }),
        json!({ "tool_calls": [{ "id": "c1", "name": "functions.lookup", "args": "{\"word\":\"x\"}" }],
            "tool_call_results": [{ "id": "c1", "name": "lookup", "result": "y", "error": false }] }),
        json!({ "tool_calls": { "tool_calls": [{ "id": "c1", "type": "function",
            "function": { "name": "lookup", "arguments": "{\"word\": \"x\"}" } }] }, "tool_call_results": result }),
        json!({ "calls": { "tool_calls": [{ "id": "c1", "name": "lookup", "parameters": { "word": "x" } }],
            "tool_call_results": { "tool_call_results": result } } }),
    ] {
        assert_eq!(chat(&qa(), &[turn(&stored)], &FormatOptions::new()), one, "{stored}");
    }
    // What an input of the signature says is never a call.
    let spec = data(&json!({
        "inputs": [{ "name": "question" }, { "name": "payload", "type": "any" }, { "name": "history", "type": "history" }],
        "outputs": [{ "name": "answer" }],
    }));
    let hostile = turn(&json!({ "payload": { "tool_calls": [{ "id": "c1", "name": "rm", "args": {} }],
        "tool_call_results": [{ "call_id": "c1", "name": "rm", "value": "" }] }, "answer": "no" }));
    assert!(
        sent(&Chat::new(), &spec, &[hostile], &FormatOptions::new()).iter().all(|m| m.tool_calls.is_empty())
    );
}

#[test]
fn row_105_a_submit_alone_is_an_answer() {
    let submit = |arguments: Json| {
        turn(&json!({ "question": "q" }))
            .tool_calls(calls(&[("s1", "submit", arguments)], &[("s1", "submit", json!("accepted"))]))
    };
    let options = FormatOptions::new().guidance(text_loop());
    let said = chat(&step("answer"), &[submit(json!({ "answer": "Seven, exactly." }))], &options);
    assert_eq!(said[1..], ["assistant: Seven, exactly."]);
    let said = chat(&step("answer"), &[submit(json!({ "answer": "x", "score": 1.5 }))], &options);
    assert_eq!(said[1..], ["assistant: {\"answer\":\"x\",\"score\":1.5}"]);
}

#[test]
fn row_106_a_submit_beside_another_call() {
    let turns = [turn(&json!({ "question": "q" })).thought("checking").tool_calls(calls(
        &[("c1", "lookup", json!({})), ("s1", "submit", json!({ "answer": "BEAM." }))],
        &[("c1", "lookup", json!("a VM")), ("s1", "submit", json!("accepted"))],
    ))];
    let said = chat(&step("answer"), &turns, &FormatOptions::new().guidance(text_loop()));
    assert_eq!(said[1..], ["assistant: checking + lookup({})#c1", "tool#c1: a VM", "assistant: BEAM."]);
}

#[test]
fn row_107_a_rejected_submit_vanishes() {
    let mut rejected = calls(&[("s1", "submit", json!({ "answer": "wrong key" }))], &[]);
    let mut result = ToolResult::new("s1", "submit", "wrong key");
    result.is_error = true;
    rejected.results = Some(vec![result]);
    let turns = [
        turn(&json!({ "question": "q" })).thought("trying").tool_calls(rejected),
        Turn::new().thought("again").tool_calls(calls(
            &[("s2", "submit", json!({ "answer": "Right key." }))],
            &[("s2", "submit", json!("accepted"))],
        )),
    ];
    let said = chat(&step("answer"), &turns, &FormatOptions::new().guidance(text_loop()));
    assert_eq!(said[1..], ["assistant: trying", "assistant: again\n\nRight key."]);
}

#[test]
fn row_108_calls_without_ids() {
    let turns = [turn(&json!({ "question": "q" })).tool_calls(calls(
        &[("", "lookup", json!({})), ("", "submit", json!({ "answer": "x" }))],
        &[("", "lookup", json!("y")), ("", "submit", json!("accepted"))],
    ))];
    let said = chat(&step("answer"), &turns, &FormatOptions::new().guidance(text_loop()));
    assert_eq!(said[1..], ["assistant:  + lookup({})#call_lookup", "tool#call_lookup: y", "assistant: x"]);
}

/// An id that is there twice in one turn would leave a provider guessing.
#[test]
fn repeated_ids_in_one_turn() {
    let twice = calls(
        &[
            ("c1", "look", json!({ "at": 1 })),
            ("c1", "look", json!({ "at": 2 })),
            ("c1_2", "look", json!({})),
        ],
        &[("c1", "look", json!("one")), ("c1", "look", json!("two")), ("c1_2", "look", json!("three"))],
    );
    assert_eq!(
        chat(&qa(), &[Turn::new().tool_calls(twice)], &FormatOptions::new()),
        [
            "assistant:  + look({\"at\":1})#c1 + look({\"at\":2})#c1_2 + look({})#c1_2_2",
            "tool#c1: one",
            "tool#c1_2: two",
            "tool#c1_2_2: three",
        ]
    );
}

/// Ten thousand calls in one turn take no longer than their number.
#[test]
fn many_calls_in_one_turn() {
    let (mut many, count) = (ToolCalls::default(), 10_000);
    many.calls = (0..count).map(|_| ToolCall::new("", "look", imp::Map::new())).collect();
    many.results = Some((0..10_000).map(|at| ToolResult::new("", "look", at)).collect());
    let sent = sent(&Chat::new(), &qa(), &[Turn::new().tool_calls(many)], &FormatOptions::new());
    assert_eq!(sent.len(), count + 1);
    let last = &sent[count];
    assert_eq!((last.tool_call_id.as_deref(), &*last.text()), (Some("call_look_10000"), "9999"));
}

/// The loop's steps are the same in DSPy's words.
#[test]
fn a_loop_in_the_other_dialect() {
    let turns = [turn(&json!({ "question": "q" }))
        .thought("checking")
        .tool_calls(calls(&[("c1", "lookup", json!({}))], &[("c1", "lookup", json!("x"))]))];
    let dspy = Chat::new().dialect(imp::Dialect::Dspy);
    let options = FormatOptions::new().guidance(submit_loop());
    let said = transcript(&sent(&dspy, &step("next_thought"), &turns, &options));
    assert_eq!(said[1..], ["assistant: checking + lookup({})#c1", "tool#c1: x"]);
}

#[test]
fn row_109_a_loop_with_submit_sees_it_as_recorded() {
    let turns = [turn(&json!({ "question": "q" })).tool_calls(calls(
        &[("s1", "submit", json!({ "answer": "x", "score": 1 }))],
        &[("s1", "submit", json!("accepted"))],
    ))];
    let said = chat(&step("next_thought"), &turns, &FormatOptions::new().guidance(submit_loop()));
    assert_eq!(said[1..], ["assistant:  + submit({\"answer\":\"x\",\"score\":1})#s1", "tool#s1: accepted"]);
}

#[test]
fn row_110_a_section_renderer_in_a_native_turn() {
    let turns = [turn(&json!({ "question": "prior" }))
        .tool_calls(calls(&[("c1", "lookup", json!({}))], &[("c1", "lookup", json!("x"))]))];
    let options =
        FormatOptions::new().input_section_renderer::<imp::Fields>(|section| section.text().to_owned());
    assert_eq!(chat(&qa(), &turns, &options)[0], "user: prior");
}

/// The formatting of row 135: the note of a last request is a turn with an input and no calls.
#[test]
fn rows_135_to_137_inputs_alone() {
    let note = turn(&json!({ "question": "Answer now." })).tool_calls(ToolCalls::default());
    let asked = format!("user: {}", section("question", "Answer now."));
    let native = FormatOptions::new().guidance(submit_loop());
    assert_eq!(
        chat(&step("next_thought"), std::slice::from_ref(&note), &native),
        std::slice::from_ref(&asked)
    );
    let written = FormatOptions::new().guidance(submit_loop().written_calls("tool_calls"));
    assert_eq!(chat(&written_step(), std::slice::from_ref(&note), &written), std::slice::from_ref(&asked));
    let submitted = Turn::new().tool_calls(calls(
        &[("s", "submit", json!({ "answer": "x" }))],
        &[("s", "submit", json!("accepted"))],
    ));
    assert_eq!(
        chat(&step("next_thought"), &[note, submitted], &native),
        [
            asked.clone(),
            "assistant:  + submit({\"answer\":\"x\"})#s".to_owned(),
            "tool#s: accepted".to_owned()
        ]
    );
    let inputs_only = turn(&json!({ "question": "Answer now." }));
    assert_eq!(
        chat(&step("next_thought"), std::slice::from_ref(&inputs_only), &native),
        std::slice::from_ref(&asked)
    );
    assert_eq!(chat(&qa(), &[inputs_only], &FormatOptions::new()), [asked]);
}

#[test]
fn row_154_a_stored_answer_in_a_text_loop() {
    let turns = [turn(&json!({ "question": "q", "answer": "earlier reply" }))];
    let options = FormatOptions::new()
        .guidance(text_loop())
        .output_renderer::<imp::Fields>(|_| "never asked".to_owned());
    for adapter in [&Chat::new() as &dyn Adapter, &imp::Json::new(), &Xml::new()] {
        let said = transcript(&sent(adapter, &step("answer"), &turns, &options));
        assert_eq!(said[1..], ["assistant: earlier reply"]);
    }
}

fn written_step() -> SignatureSpec {
    data(&json!({
        "instructions": "Do it.",
        "inputs": [{ "name": "question" }, { "name": "history", "type": "history" }],
        "outputs": [{ "name": "answer", "type": { "optional": "string" } }, { "name": "tool_calls", "type": "array" }],
    }))
}

#[test]
fn rows_159_and_160_written_turns() {
    let options = FormatOptions::new().guidance(text_loop().written_calls("tool_calls"));
    let chat = |turn: Turn| chat(&written_step(), &[turn], &options);
    let asked = format!("user: {}", section("question", "q"));
    assert_eq!(
        chat(turn(&json!({ "question": "q", "answer": "42", "tool_calls": [] }))),
        [
            asked.clone(),
            format!("assistant: {}\n\n{}{DONE}", section("answer", "42"), section("tool_calls", "[]")),
        ]
    );
    assert_eq!(chat(turn(&json!({ "question": "q", "tool_calls": [] }))), std::slice::from_ref(&asked));
    let called = turn(&json!({ "question": "q" })).thought("look").tool_calls(calls(
        &[("c1", "lookup", json!({ "word": "x" }))],
        &[("c1", "lookup", json!({ "b": 1, "a": [2] }))],
    ));
    assert_eq!(
        chat(called),
        [
            asked,
            format!(
                "assistant: {}\n\n{}{DONE}",
                section("answer", "look"),
                section("tool_calls", r#"[{"arguments": {"word": "x"}, "name": "lookup"}]"#)
            ),
            format!(
                "user: {}",
                section(
                    "tool_call_results",
                    r#"[{"call_id": "c1", "is_error": false, "name": "lookup", "value": {"a": [2], "b": 1}}]"#
                )
            ),
        ]
    );
}

fn image(name: &str) -> Value {
    let image = imp::Part::Image(Image::from_url(format!("https://example.org/{name}.png")));
    Value::Part(Box::new(image))
}

#[test]
fn rows_161_to_163_images_in_results() {
    let mut two =
        calls(&[("c1", "chart", json!({})), ("c2", "map", json!({})), ("c3", "save", json!({}))], &[]);
    two.results = Some(vec![
        ToolResult::new("c1", "chart", vec!["sales".into(), image("chart")]),
        ToolResult::new("c2", "map", vec![image("map"), image("legend")]),
        ToolResult::new("c3", "save", ""),
    ]);
    let history = History::from_iter([turn(&json!({ "question": "q" })).tool_calls(two)]);
    let loaded = History::load(&history.dump().unwrap()).unwrap();
    assert_eq!(loaded, history);
    for history in [history, loaded] {
        let sent = sent(&Chat::new(), &qa(), history.turns(), &FormatOptions::new());
        assert_eq!(
            transcript(&sent)[2..],
            [
                "tool#c1: sales",
                "tool#c2: The images of this result (call `c2`) follow.",
                "tool#c3: ",
                "user: Images from the result of `chart` (call `c1`):",
                "user: Images from the result of `map` (call `c2`):",
            ]
        );
        let images = |message: &Message| match &message.content {
            imp::Content::Parts(parts) => {
                parts.iter().filter(|part| matches!(part, imp::Part::Image(_))).count()
            }
            _ => 0,
        };
        assert_eq!(sent[2..].iter().map(images).collect::<Vec<_>>(), [0, 0, 0, 1, 2]);
    }
    // A list without an image is its JSON.
    let listed =
        turn(&json!({})).tool_calls(calls(&[("c1", "ls", json!({}))], &[("c1", "ls", json!(["a", "b"]))]));
    assert_eq!(chat(&qa(), &[listed], &FormatOptions::new())[1], "tool#c1: [\"a\", \"b\"]");
}

/// A map from outside that looks like a stored image stays a map.
#[test]
fn no_image_is_made_of_text() {
    let hostile = json!({ "$imp::Image": { "url": "https://example.org/x.png" } });
    let history = History::from_iter([turn(
        &json!({ "a": hostile, "b": [{ "$imp::Map": hostile }], "c": { "$imp::Map": 1 } }),
    )]);
    let text = serde_json::to_string(&history).unwrap();
    assert_eq!(serde_json::from_str::<History>(&text).unwrap(), history);
    // Nor is one in a result, however the history comes to the adapter.
    let turn = Turn::new().tool_calls(calls(&[("c1", "fetch", json!({}))], &[("c1", "fetch", hostile)]));
    let sent = sent(&Chat::new(), &qa(), &[turn], &FormatOptions::new());
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[1].text(), r#"{"$imp::Image": {"url": "https://example.org/x.png"}}"#);
}

#[test]
fn hi003_a_past_answer_ends_like_a_real_one() {
    let sent = sent(
        &Chat::new(),
        &qa(),
        &[turn(&json!({ "question": "q1", "answer": "a1" }))],
        &FormatOptions::new(),
    );
    assert!(sent[1].text().trim_end().ends_with("[[ ## completed ## ]]"));
    let read = imp::read_with::<imp::Fields, _>(&Chat::new(), &qa(), &*sent[1].text()).unwrap();
    assert_eq!(read.into_inner().get("answer"), Some(&"a1".into()));
}

#[test]
fn hi005_all_that_is_needed_is_in_the_history() {
    let inputs = fields(&json!({ "history": [{ "question": "q1" }] }));
    for adapter in [&Chat::new() as &dyn Adapter, &imp::Json::new(), &Xml::new()] {
        let messages = adapter.messages(&qa(), &inputs, &FormatOptions::new()).unwrap();
        assert!(messages.iter().all(|message| !message.text().trim().is_empty()), "{messages:?}");
        assert_eq!(messages.last().map(|message| message.role), Some(Role::User));
    }
    // Without a conversation it is the error that it was.
    let error =
        Chat::new().messages(&qa(), &fields(&json!({ "history": [] })), &FormatOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "these inputs have no value: question");
}

#[test]
fn hi007_unmatched_results_are_text() {
    let turns =
        [Turn::new().tool_calls(calls(&[("c1", "tide", json!({}))], &[("c2", "tide", json!("low"))]))];
    let sent = sent(&Chat::new(), &qa(), &turns, &FormatOptions::new());
    assert!(
        sent.iter().all(|message| message.role != Role::Tool && message.tool_calls.is_empty()),
        "{sent:?}"
    );
    assert!(sent.iter().any(|message| message.text().contains("low")));
}

#[test]
fn hi009_names_of_past_turns() {
    let turns =
        [turn(&json!({ "question": "q1", "answer": "a1", "user_name": "alice", "assistant_name": "" }))];
    let sent = sent(&Chat::new(), &qa(), &turns, &FormatOptions::new());
    assert_eq!(sent[0].name.as_deref(), Some("alice"));
    assert_eq!(sent[1].name, None);
    assert!(sent.iter().all(|message| !message.text().contains("alice")));
}

/// What a provider asks for back goes with the assistant's message.
#[test]
fn reasoning_is_carried() {
    let details = json!([{ "type": "reasoning.encrypted", "data": "…" }]);
    let turns = [turn(&json!({ "question": "q" }))
        .reasoning("so …")
        .reasoning_details(details.clone())
        .tool_calls(calls(&[("c1", "lookup", json!({}))], &[("c1", "lookup", json!("x"))]))];
    let sent = sent(&Chat::new(), &qa(), &turns, &FormatOptions::new());
    assert_eq!(sent[1].reasoning_content.as_deref(), Some("so …"));
    assert_eq!(sent[1].reasoning_details, Some(details.into()));
    assert_eq!((&sent[0].reasoning_content, &sent[2].reasoning_content), (&None, &None));
}

/// A turn of a submit loop that only said something: the text stays, and the note says that nobody got it.
#[test]
fn a_text_that_reached_nobody_is_noted() {
    let said = turn(&json!({ "question": "q" })).thought("Done, I think.").tool_calls(ToolCalls::default());
    let options = FormatOptions::new().guidance(submit_loop());
    let note = format!("user: {}", imp::UNSENT_NOTE);
    assert_eq!(
        chat(&step("next_thought"), std::slice::from_ref(&said), &options)[1..],
        ["assistant: Done, I think.".to_owned(), note]
    );
    let options = FormatOptions::new().guidance(text_loop());
    assert_eq!(chat(&step("answer"), &[said], &options)[1..], ["assistant: Done, I think."]);
    // The outputs of a stored answer are told, and are no note.
    let stored = turn(&json!({ "question": "q", "answer": "x", "score": 1 }));
    let options = FormatOptions::new().guidance(submit_loop());
    assert_eq!(
        chat(&step("next_thought"), &[stored], &options)[1..],
        ["assistant: {\"answer\":\"x\",\"score\":1}"]
    );
    let extracted = turn(
        &json!({ "question": "q", "answer": "x", "score": 1, "tool_calls": [], "tool_call_results": [] }),
    );
    assert_eq!(
        chat(&step("next_thought"), &[extracted], &options)[1..],
        ["assistant: {\"answer\":\"x\",\"score\":1}"]
    );
}

/// Several inputs may hold a conversation: they follow one another.
#[test]
fn several_histories_concatenate() -> Result<(), SpecError> {
    let spec = SignatureSpec::from_json(&json!({
        "inputs": [{ "name": "old", "type": "history" }, { "name": "question" }, { "name": "new", "type": { "optional": "history" } }],
        "outputs": [{ "name": "answer" }],
    }))?;
    let inputs = json!({ "question": "3", "old": [{ "question": "1" }], "new": { "messages": [{ "question": "2" }] } });
    let texts: Vec<String> =
        transcript(&messages(&spec, &inputs, &FormatOptions::new().response_instruction(false)));
    let asked = |text: &str| format!("user: {}", section("question", text));
    assert_eq!(texts[1..], [asked("1"), asked("2"), asked("3")]);
    let none = json!({ "question": "3", "new": null });
    assert_eq!(messages(&spec, &none, &FormatOptions::new()).len(), 2);
    let error =
        Chat::new().messages(&spec, &fields(&json!({ "question": "3", "old": 7 })), &FormatOptions::new());
    assert_eq!(error.unwrap_err().to_string(), "the input `old`: a history is a list of turns, not a number");
    Ok(())
}

/// DSPy 3.4.1 repeats the sentence in every turn that asked something.
#[test]
fn the_reminder_of_a_later_dspy() {
    let turns = [turn(&json!({ "question": "q1", "answer": "a1" })), turn(&json!({ "answer": "a2" }))];
    let said = chat(&qa(), &turns, &FormatOptions::new().history_reminder(true));
    assert!(
        said[0].starts_with("user: [[ ## question ## ]]\nq1\n\nRespond with the corresponding output fields")
    );
    assert_eq!(said.iter().filter(|line| line.contains("Respond with")).count(), 1);
}

/// In a turn, a field of that name is never a section.
#[test]
fn history_in_a_turn_is_not_shown() {
    let spec = with_history(&line("question -> answer"));
    let turns = [turn(&json!({ "question": "q", "history": [{ "question": "old" }], "answer": "a" }))];
    assert_eq!(chat(&spec, &turns, &FormatOptions::new())[0], format!("user: {}", section("question", "q")));
}

//! Tools on an ordinary signature (spec/imp.md §13.3, §14.3, §14.9): native where the model calls tools itself, written
//! where it cannot.

mod common;

use common::openai_schema::violations;
use imp::lm::wire::openai::encode;
use imp::{
    Adapter, Capabilities, ChainOfThought, Chat, Choice, Completion, Config, Dialect, ErrorKind, Fields,
    FinishReason, FormatError, FormatOptions, Json, Map, Message, ParseErrorKind, Predict, Request, Role,
    Script, Signature, Tool, ToolCall, ToolCalls, ToolChoice, ToolDefinition, Value, Xml, lm::ScriptReply,
};
use imp_tests::plain::data;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json_, json};

/// Choose what to look up.
#[derive(Signature)]
#[signature(output = Step)]
struct Ask {
    question: String,
    tools: Vec<Tool>,
    plan: Option<String>,
}

#[derive(Debug, PartialEq, Signature)]
struct Step {
    thought: Option<String>,
    calls: ToolCalls,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<u8>,
}

fn search() -> Tool {
    Tool::new("search", "Search\n\"the\" web.", |args: Search| async move {
        format!("{} {:?}", args.query, args.limit)
    })
}

fn ask() -> Ask {
    let now = Tool::new("now", "", |(): ()| async { "noon" });
    Ask { question: "Where?".into(), tools: vec![search(), now], plan: None }
}

fn call(id: &str, name: &str, arguments: Json_) -> ToolCall {
    match Value::from(arguments) {
        Value::Map(arguments) => ToolCall::new(id, name, arguments),
        other => panic!("no arguments: {other:?}"),
    }
}

fn body(request: &Request, capabilities: Capabilities) -> Json_ {
    let body = serde_json::from_slice(&encode(request, "m", capabilities).unwrap()).unwrap();
    assert_eq!(violations(&body), [""; 0], "{body}");
    body
}

fn texts(messages: &[Message]) -> String {
    messages.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>().join("\n----\n")
}

const NO_TOOLS: fn() -> Capabilities = || Capabilities::default().tools(false);

/// Native: both fields are taken out of the prompt, in every adapter, and the request has the tools (rows 144 and 147).
#[tokio::test]
async fn native() {
    let find = call("c1", "search", json!({"query": "Oban", "limit": 3}));
    let script = Script::from_fn({
        let find = find.clone();
        move |_: &Request| find.clone()
    });
    let chat = Predict::<Ask>::new(script.clone());
    for (predict, adapter) in [
        (chat.clone(), "chat"),
        (chat.clone().adapter(Json::new()), "json"),
        (chat.clone().adapter(Xml::new()), "xml"),
    ] {
        let step = predict.call(&ask()).await.unwrap();
        assert_eq!(*step, Step { thought: None, calls: vec![find.clone()].into() }, "{adapter}");
        assert_eq!(step.finish_reason(), Some(&FinishReason::ToolCalls));
        let request = script.requests().pop().unwrap();
        let prompt = texts(&request.messages);
        for word in ["tools", "calls", "whose description is", "tool_calls"] {
            assert!(!prompt.contains(word), "{adapter}: {word} in {prompt}");
        }
        assert!(prompt.contains("thought") && prompt.contains("question"), "{adapter}: {prompt}");
        assert_eq!(request.messages, predict.messages(&ask()).unwrap());
        let body = body(&request, Capabilities::default());
        assert_eq!(
            body["tools"],
            json!([
                {"type": "function", "function": {"name": "search", "description": "Search\n\"the\" web.",
                    "parameters": {"type": "object", "properties": {"query": {"type": "string"},
                        "limit": {"type": ["integer", "null"], "minimum": 0, "maximum": 255}}, "required": ["query"]}}},
                {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
            ])
        );
        assert_eq!(body.get("tool_choice"), None);
    }
    assert_eq!(script.requests().len(), 3);
}

/// The whole prompt, once.
#[test]
fn the_native_prompt_is_that_of_the_signature_without_the_two() {
    #[derive(Signature)]
    #[signature(output = Thought, instructions = "Choose what to look up.")]
    struct Plain {
        question: String,
        plan: Option<String>,
    }
    #[derive(Debug, Signature)]
    struct Thought {
        #[allow(dead_code, reason = "only its description is looked at")]
        thought: Option<String>,
    }
    let native = Predict::<Ask>::new(Script::new([""])).messages(&ask()).unwrap();
    let plain = Plain { question: "Where?".into(), plan: None };
    assert_eq!(native, Predict::<Plain>::new(Script::new([""])).messages(&plain).unwrap());
}

/// §8.1 and row 61: text and calls are both read; calls count even beside a text that cannot be read.
#[tokio::test]
async fn text_beside_calls() {
    let find = || vec![call("c1", "search", json!({"query": "x"}))];
    let none = Vec::new;
    let thought = |text: &str| Some(text.to_owned());
    for (text, calls, expected) in [
        (Some("[[ ## thought ## ]]\nI look."), find(), thought("I look.")),
        (Some("[[ ## thought ## ]]\nI look."), none(), thought("I look.")),
        (Some("I will look at the tide."), find(), thought("I will look at the tide.")),
        (Some("<think>Hm.</think>I look."), find(), thought("I look.")),
        (Some("  \n "), find(), None),
        (None, find(), None),
        // What was escaped is read once.
        (Some("[[ ## thought ## ]]\n\\\\[[ ## a ## ]]"), find(), thought("\\[[ ## a ## ]]")),
    ] {
        let mut choice = Choice::default().tool_calls(calls.clone()).finish_reason(FinishReason::ToolCalls);
        choice.text = text.map(str::to_owned);
        let script = Script::new([choice]);
        let step = Predict::<Ask>::new(script.clone()).call(&ask()).await.unwrap();
        assert_eq!(*step, Step { thought: expected, calls: calls.into() }, "{text:?}");
        assert_eq!(script.requests().len(), 1);
    }
    // Neither outputs nor calls: an error, and the one request of the fallback, which offers the tools too.
    let script = Script::new(["I do not know.", "Nor here."]);
    let error = Predict::<Ask>::new(script.clone()).call(&ask()).await.unwrap_err();
    assert_eq!(error.as_parse().map(imp::ParseError::kind), Some(ParseErrorKind::MissingFields));
    let requests = script.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request.tools.len(), 2);
        body(request, Capabilities::default());
    }
    // A reply that the limit of tokens cut is no answer.
    let cut = Choice::new("I wi").tool_calls(find()).finish_reason(FinishReason::Length);
    let error = Predict::<Ask>::new(Script::new([cut])).fallback(false).call(&ask()).await.unwrap_err();
    assert_eq!(error.as_parse().map(imp::ParseError::kind), Some(ParseErrorKind::CutOff));
}

/// An output that must be there and is not, beside calls, is missing; one with a default has it.
#[tokio::test]
async fn other_outputs_beside_calls() {
    let spec = |outputs: Json_| {
        let mut outputs = outputs.as_array().unwrap().clone();
        outputs.push(json!({"name": "calls", "type": "tool_calls"}));
        data(&json!({"inputs": [{"name": "tools", "type": {"list": "tool"}}], "outputs": outputs}))
    };
    let inputs = Fields::from([("tools", Value::from(json!([{"name": "look"}])))]);
    for (outputs, expected) in [
        (
            json!([{"name": "score", "type": "int"}]),
            Err("The response is missing required output fields: score."),
        ),
        (json!([{"name": "score", "type": "int", "default": 3}]), Ok(json!({"score": 3}))),
        (json!([{"name": "a"}]), Ok(json!({"a": "I look."}))),
        (json!([{"name": "a"}, {"name": "b"}]), Err("The response is missing required output fields: a, b.")),
        (json!([]), Ok(json!({}))),
    ] {
        let choice = Choice::new("I look.").tool_calls([call("c", "look", json!({}))]);
        let script = Script::new([choice]);
        let predict = Predict::from_spec(spec(outputs.clone()), script.clone()).fallback(false);
        let result = predict.call(&inputs).await;
        match expected {
            Ok(expected) => {
                let mut expected = expected;
                expected["calls"] = json!({"tool_calls": [{"id": "c", "name": "look", "args": {}}]});
                assert_eq!(serde_json::to_value(&*result.unwrap()).unwrap(), expected, "{outputs}");
            }
            Err(expected) => assert_eq!(result.unwrap_err().to_string(), expected, "{outputs}"),
        }
        body(&script.requests()[0], Capabilities::default());
    }
}

/// DSPy's own example: nothing but calls comes out, so nothing is said about how to answer.
#[tokio::test]
async fn calls_alone() {
    #[derive(Signature)]
    #[signature(output = Calls)]
    struct Question {
        question: String,
        tools: Vec<Tool>,
    }
    #[derive(Debug, Signature)]
    struct Calls {
        calls: ToolCalls,
    }
    let question = || Question { question: "Where?".into(), tools: vec![search()] };
    let two = vec![call("a", "search", json!({"query": "x"})), call("b", "search", json!({"query": "y"}))];
    for adapter in 0..3 {
        let script = Script::new([ScriptReply::from(two.clone()), "There is nothing to look up.".into()]);
        let predict = Predict::<Question>::new(script.clone());
        let predict = match adapter {
            0 => predict,
            1 => predict.adapter(Json::new()),
            _ => predict.adapter(Xml::new()),
        };
        assert_eq!(predict.call(&question()).await.unwrap().calls.calls, two);
        let nothing = predict.call(&question()).await.unwrap();
        assert_eq!(nothing.calls, ToolCalls::default());
        assert_eq!(nothing.reply(), "There is nothing to look up.");
        for request in script.requests() {
            assert_eq!(request.response_format, None);
            assert!(!texts(&request.messages).contains("Respond with"), "{}", texts(&request.messages));
            body(&request, Capabilities::default());
        }
    }
}

/// Written: both fields stay, the tools as texts, and nothing about tools is in the request (rows 148 and 149).
#[tokio::test]
async fn written() {
    let reply = "[[ ## thought ## ]]\nI look.\n\n[[ ## calls ## ]]\n\
                 [{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}]\n\n[[ ## completed ## ]]";
    let script = Script::new([reply]).with_capabilities(NO_TOOLS());
    let config = Config::new().tool_choice(ToolChoice::Required).parallel_tool_calls(false);
    let predict = Predict::<Ask>::new(script.clone()).config(config);
    let step = predict.call(&ask()).await.unwrap();
    assert_eq!(step.thought.as_deref(), Some("I look."));
    assert_eq!(step.calls.calls, [call("", "search", json!({"query": "x"}))]);
    let request = script.requests().pop().unwrap();
    assert!(request.tools.is_empty());
    let body = body(&request, NO_TOOLS());
    for key in ["tools", "tool_choice", "parallel_tool_calls"] {
        assert_eq!(body.get(key), None);
    }
    let section = "[[ ## tools ## ]]\n[\"search, whose description is <desc>Search  \\\"the\\\" web.</desc>. It takes arguments \
                   {\\\"properties\\\":{\\\"query\\\":{\\\"type\\\":\\\"string\\\"},\\\"limit\\\":{\\\"type\\\":[\\\"integer\\\",\\\"null\\\"],\
                   \\\"minimum\\\":0,\\\"maximum\\\":255}},\\\"required\\\":[\\\"query\\\"]}.\", \"now. It takes arguments {\\\"properties\\\":{}}.\"]";
    let user = request.messages.last().map(|message| message.text().into_owned()).unwrap();
    assert!(user.contains(section), "{user}");
    assert!(request.messages[0].text().contains("2. `calls` (tool_calls):"));
}

/// A model that cannot call tools writes calls in many shapes (§14.9); what is none never runs and is not lost.
#[tokio::test]
async fn written_calls() {
    let good = |json: Json_| Some(vec![call("", "look", json)]);
    for (written, expected) in [
        ("[]", Some(vec![])),
        (r#"{"tool_calls": []}"#, Some(vec![])),
        (r#"[{"name": "look", "args": {"q": 1}}]"#, good(json!({"q": 1}))),
        (r#"{"tool_calls": [{"name": "look", "arguments": {"q": 1}}]}"#, good(json!({"q": 1}))),
        (
            r#"{"tool_calls": {"tool_calls": [{"name": "look", "parameters": {"q": 1}}]}}"#,
            good(json!({"q": 1})),
        ),
        (r#"{"name": "look", "args": {"q": 1}}"#, good(json!({"q": 1}))),
        (r#"[{"tool": "look", "args": "{\"q\": 1}"}]"#, good(json!({"q": 1}))),
        (r#"[{"recipient_name": "functions.look", "parameters": {"q": 1}}]"#, good(json!({"q": 1}))),
        (
            r#"[{"type": "function", "function": {"name": "look", "arguments": "{\"q\": 1}"}}]"#,
            good(json!({"q": 1})),
        ),
        (r#"[{"name": "look"}]"#, good(json!({}))),
        (r#"[{"name": "look", "args": null}]"#, good(json!({}))),
        ("look", None),
        ("[1]", None),
        (r#"{"q": 1}"#, None),
    ] {
        let reply = format!("[[ ## thought ## ]]\n\n[[ ## calls ## ]]\n{written}\n\n[[ ## completed ## ]]");
        let script = Script::new([reply]).with_capabilities(NO_TOOLS());
        let predict = Predict::<Ask>::new(script).fallback(false).salvage(false);
        let result = predict.call(&ask()).await;
        match expected {
            Some(calls) => assert_eq!(result.unwrap().calls.calls, calls, "{written}"),
            None => assert!(result.unwrap_err().as_parse().is_some(), "{written}"),
        }
    }
    // Row 114.
    let reply = "[[ ## calls ## ]]\n[{\"command\": \"cat\", \"args\": [\"x\"]}, {\"name\": \"look\", \"args\": \"{\"}]";
    let script = Script::new([reply]).with_capabilities(NO_TOOLS());
    let step = Predict::<Ask>::new(script).call(&ask()).await.unwrap();
    let received: Vec<_> = step.calls.calls.iter().map(|call| call.malformed.clone()).collect();
    let expected = [json!({"command": "cat", "args": ["x"]}), json!({"name": "look", "args": "{"})];
    assert_eq!(received, expected.map(|json| Some(json.into())));
}

/// A described signature takes definitions, in either form, and gives the calls as data.
#[tokio::test]
async fn described() {
    let spec = || {
        data(&json!({
            "inputs": [{"name": "question"}, {"name": "tools", "type": {"list": "tool"}}],
            "outputs": [{"name": "answer", "type": {"optional": "str"}}, {"name": "calls", "type": "tool_calls"}],
        }))
    };
    let nested = json!({"type": "function", "function": {"name": "b", "parameters": {"type": "object", "properties": {}}}});
    let inputs = Fields::from([
        ("question", Value::from("Where?")),
        ("tools", json!([{"name": "a", "description": "A."}, nested]).into()),
    ]);
    let script = Script::new([call("c1", "a", json!({"x": 1}))]);
    let step = Predict::from_spec(spec(), script.clone()).call(&inputs).await.unwrap();
    assert_eq!(
        step.get("calls"),
        Some(&json!({"tool_calls": [{"id": "c1", "name": "a", "args": {"x": 1}}]}).into())
    );
    assert_eq!(step.get("answer"), Some(&Value::Null));
    let names: Vec<_> = script.requests()[0].tools.iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);

    let script = Script::new(["[[ ## calls ## ]]\n[]"]).with_capabilities(NO_TOOLS());
    let predict = Predict::from_spec(spec(), script);
    let prompt = texts(&predict.messages(&inputs).unwrap());
    assert!(
        prompt.contains(
            "[\"a, whose description is <desc>A.</desc>. It takes arguments {\\\"properties\\\":{}}.\""
        ),
        "{prompt}"
    );
    predict.call(&inputs).await.unwrap();

    // The spec as data says what it is.
    let again: imp::SignatureSpec = serde_json::from_value(serde_json::to_value(spec()).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(spec()).unwrap());
}

/// What is wrong with the tools is said before anything is sent.
#[tokio::test]
async fn tools_that_cannot_be_offered() {
    let tool = |name: &str| Tool::new(name, "", |(): ()| async {});
    let script = Script::from_fn(|_| "");
    let predict = Predict::<Ask>::new(script.clone());
    for (tools, expected) in [
        (vec![tool("web search")], "`web search` cannot be the name of a tool"),
        (vec![tool("a"), tool("a")], "two tools are called `a`: rename one"),
    ] {
        let error = predict.call(&Ask { tools, ..ask() }).await.unwrap_err();
        let ErrorKind::Format(FormatError::Value { field, .. }) = error.kind() else { panic!("{error:?}") };
        assert_eq!(field, "tools");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let spec = data(&json!({
        "inputs": [{"name": "tools", "type": {"list": "tool"}}], "outputs": [{"name": "calls", "type": "tool_calls"}],
    }));
    let predict = Predict::from_spec(spec, script.clone());
    let error = predict.call(&Fields::new()).await.unwrap_err();
    let ErrorKind::Format(FormatError::MissingInputs(names)) = error.kind() else { panic!("{error:?}") };
    assert_eq!(names, &["tools"]);
    let error =
        predict.call(&Fields::from([("tools", Value::from(vec![Value::from("a")]))])).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Format(FormatError::Value { .. })), "{error:?}");
    assert_eq!(script.requests().len(), 0);

    // No tools: nothing about them is sent.
    let script = Script::new(["[[ ## thought ## ]]\nNothing to call."]);
    let config = Config::new().tool_choice(ToolChoice::Required).parallel_tool_calls(true);
    let step = Predict::<Ask>::new(script.clone())
        .config(config)
        .call(&Ask { tools: vec![], ..ask() })
        .await
        .unwrap();
    assert_eq!((step.thought.as_deref(), step.calls.calls.len()), (Some("Nothing to call."), 0));
    let body = body(&script.requests()[0], Capabilities::default());
    assert_eq!(
        (body.get("tools"), body.get("tool_choice"), body.get("parallel_tool_calls")),
        (None, None, None)
    );
}

/// A signature with only one of the two fields is one like any other.
#[tokio::test]
async fn one_field_alone() {
    for (signature, reply) in [
        (
            json!({"inputs": [{"name": "tools", "type": {"list": "tool"}}], "outputs": [{"name": "best"}]}),
            "[[ ## best ## ]]\nlook",
        ),
        (
            json!({"inputs": [{"name": "tools"}], "outputs": [{"name": "calls", "type": "tool_calls"}]}),
            "[[ ## calls ## ]]\n[{\"name\": \"look\", \"args\": {}}]",
        ),
    ] {
        let script = Script::new([reply]);
        let predict = Predict::from_spec(data(&signature), script.clone());
        let tools = match signature["inputs"][0].get("type") {
            Some(_) => Value::from(json!([{"name": "look"}])),
            None => "look".into(),
        };
        predict.call(&Fields::from([("tools", tools)])).await.unwrap();
        let request = &script.requests()[0];
        assert!(request.tools.is_empty());
        assert!(texts(&request.messages).contains("[[ ## tools ## ]]\n"));
    }
}

/// Settings of a call reach the request (row 140's first half), several completions have calls each, and demos are
/// shown without the two fields.
#[tokio::test]
async fn settings_completions_and_demos() {
    let choices =
        ["x", "y"].map(|query| Choice::default().tool_calls([call("c", "search", json!({"query": query}))]));
    let script = Script::new([Completion::new(choices)]);
    let step = Step { thought: Some("I look.".into()), calls: ToolCalls::default() };
    let predict = Predict::<Ask>::new(script.clone()).demo(ask(), step);
    let config =
        Config::new().n(2).max_tokens(32).tool_choice(ToolChoice::named("search")).parallel_tool_calls(false);
    let steps = predict.call(&ask()).config(config).await.unwrap();
    let queries: Vec<_> =
        steps.completions().map(|step| step.calls.calls[0].arguments.get("query").cloned()).collect();
    assert_eq!(queries, [Some("x".into()), Some("y".into())]);
    let request = &script.requests()[0];
    let body = body(request, Capabilities::default());
    assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "search"}}));
    assert_eq!((&body["parallel_tool_calls"], &body["max_tokens"]), (&json!(false), &json!(32)));
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    assert_eq!(request.messages[2].text(), "[[ ## thought ## ]]\nI look.\n\n[[ ## completed ## ]]\n");
    assert!(!texts(&request.messages).contains("tools"));
}

#[tokio::test]
async fn with_a_chain_of_thought() {
    let choice =
        Choice::new("[[ ## reasoning ## ]]\nHm.").tool_calls([call("c", "search", json!({"query": "x"}))]);
    let program = ChainOfThought::<Ask>::new(Script::new([choice])).unwrap();
    let step = program.call(&ask()).await.unwrap();
    assert_eq!((step.reasoning.as_str(), step.calls.calls.len()), ("Hm.", 1));
}

#[test]
fn a_request_says_which_tool_must_be_called() {
    let tool = |name: &str| ToolDefinition::new(name, "", json!({})).unwrap();
    let request = |choice: ToolChoice| {
        Request::new([Message::user("a")]).tools([tool("a")]).config(Config::new().tool_choice(choice))
    };
    let weak = Capabilities::default().forced_tool_choice(false);
    let named = json!({"type": "function", "function": {"name": "a"}});
    for (choice, full, less) in [
        (ToolChoice::Auto, json!("auto"), json!("auto")),
        (ToolChoice::None, json!("none"), json!("none")),
        (ToolChoice::Required, json!("required"), json!("auto")),
        (ToolChoice::named("a"), named, json!("auto")),
    ] {
        assert_eq!(body(&request(choice.clone()), Capabilities::default())["tool_choice"], full);
        assert_eq!(body(&request(choice.clone()), weak)["tool_choice"], less);
        assert_eq!(body(&request(choice), NO_TOOLS()).get("tool_choice"), None);
    }
    let error = encode(&request(ToolChoice::named("b")), "m", Capabilities::default()).unwrap_err();
    assert_eq!(error.to_string(), "`tool_choice` names `b`, which is no tool of the request: offer it");
}

/// A conversation with calls is one that OpenAI takes, whatever a model made of it.
#[test]
fn a_conversation_with_calls_is_one_that_is_taken() {
    let assistant = |calls: Vec<ToolCall>| {
        let mut message = Message::assistant("");
        message.tool_calls = calls;
        message
    };
    let odd = ToolCall::from_value(&json!({"command": "cat"}).into());
    let messages = vec![
        Message::user("a"),
        assistant(vec![call("x", "look", json!({})), call("x", "look", json!({"a": "é"}))]),
        Message::tool("x", "1"),
        Message::tool("x", ""),
        assistant(vec![call("x", "web search", json!({})), call("", "look", json!({})), odd]),
        Message::tool("x", "3"),
        Message::tool("", "4"),
        Message::tool("", "5"),
    ];
    let request = Request::new(messages).tools([ToolDefinition::new("look", "", json!({})).unwrap()]);
    let body = body(&request, Capabilities::default());
    let ids = |message: &Json_| match &message["tool_call_id"] {
        Json_::String(id) => vec![id.clone()],
        _ => message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|call| call["id"].as_str().unwrap().to_owned())
            .collect(),
    };
    let ids: Vec<Vec<String>> = body["messages"].as_array().unwrap().iter().skip(1).map(ids).collect();
    assert_eq!(
        ids,
        [
            vec!["x", "x_2"],
            vec!["x"],
            vec!["x_2"],
            vec!["x_3", "call_look", "call_unknown"],
            vec!["x_3"],
            vec!["call_look"],
            vec!["call_unknown"],
        ]
    );
    let last = &body["messages"][4]["tool_calls"];
    assert_eq!(last[0]["function"], json!({"name": "web_search", "arguments": "{}"}));
    assert_eq!(
        last[2]["function"],
        json!({"name": "unknown", "arguments": "{\"received\":{\"command\":\"cat\"}}"})
    );
    // Only the body has other ids.
    assert_eq!(request.messages[1].tool_calls[1].id, "x");
    let empty = Map::new();
    assert_eq!(request.messages[4].tool_calls[2].arguments, empty);
}

/// DSPy 3.4.0's listing of a tool, as it printed it: in the dialect, in every adapter.
#[test]
fn a_listing_in_dspys_dialect() {
    let mut spec = json!({
        "inputs": [{"name": "tools", "type": {"list": "tool"}}, {"name": "tool", "type": "tool"}],
        "outputs": [{"name": "calls", "type": "tool_calls"}],
    });
    spec["instructions"] = json!("Do.");
    let spec = data(&spec);
    let parameters = json!({"type": "object", "properties": {
        "query": {"type": "string"}, "n": {"type": "integer", "default": 3},
        "s": {"enum": ["a", "b'c"], "type": "string", "default": "a"}, "f": {"type": "number", "default": 1.0},
        "b": {"type": "boolean", "default": true},
        "o": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
        "l": {"items": {"additionalProperties": {"type": "integer"}, "type": "object"}, "type": "array", "default": []},
    }});
    let now = json!({"name": "now"});
    let inputs = Fields::from([
        (
            "tools",
            Value::from(
                json!([{"name": "search", "description": "Search the\nweb.", "parameters": parameters}, now]),
            ),
        ),
        ("tool", now.into()),
    ]);
    let listing = "[\"search, whose description is <desc>Search the  web.</desc>. It takes arguments \
                   {'query': {'type': 'string'}, 'n': {'type': 'integer', 'default': 3}, 's': {'enum': ['a', \\\"b'c\\\"], \
                   'type': 'string', 'default': 'a'}, 'f': {'type': 'number', 'default': 1.0}, 'b': {'type': 'boolean', \
                   'default': True}, 'o': {'anyOf': [{'type': 'string'}, {'type': 'null'}], 'default': None}, 'l': {'items': \
                   {'additionalProperties': {'type': 'integer'}, 'type': 'object'}, 'type': 'array', 'default': []}}.\", \
                   \"now. It takes arguments {}.\"]";
    let chat = Chat::new().dialect(Dialect::Dspy);
    let json = Json::new().dialect(Dialect::Dspy);
    let xml = Xml::new().dialect(Dialect::Dspy);
    let marked = format!("[[ ## tools ## ]]\n{listing}\n\n[[ ## tool ## ]]\nnow. It takes arguments {{}}.");
    let tagged = format!("<tools>\n{listing}\n</tools>\n\n<tool>\nnow. It takes arguments {{}}.\n</tool>");
    for (adapter, section) in [(&chat as &dyn Adapter, &marked), (&json, &marked), (&xml, &tagged)] {
        let messages = adapter.messages(&spec, &inputs, &FormatOptions::new()).unwrap();
        let prompt = texts(&messages);
        assert!(prompt.contains("1. `tools` (list[Tool]): \n2. `tool` (Tool):\n"), "{prompt}");
        assert!(prompt.contains(section.as_str()), "{prompt}");
    }
}

/// Beside calls the other outputs are read as without them, whatever their types.
#[tokio::test]
async fn outputs_of_every_type_are_read_as_without_tools() {
    #[derive(Debug, Clone, PartialEq, serde::Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Team {
        Atlas,
        Beacon,
    }
    #[derive(Signature)]
    #[signature(output = Out)]
    struct In {
        tools: Vec<Tool>,
    }
    macro_rules! fields {
        ($name:ident { $($last:tt)* }) => {
            #[derive(Debug, PartialEq, Signature)]
            struct $name {
                text: String,
                single: f32,
                big: i128,
                team: Team,
                list: Vec<Option<String>>,
                any: Json_,
                maybe: Option<String>,
                #[field(default = "free", max_length = 9)]
                plan: String,
                $($last)*
            }
        };
    }
    fields!(Out { calls: ToolCalls });
    fields!(Plain {});
    let shown = |plain: &Plain| {
        let Plain { text, single, big, team, list, any, maybe, plan } = plain;
        format!("{text:?} {single:?} {big:?} {team:?} {list:?} {any:?} {maybe:?} {plan:?}")
    };
    for maybe in [None, Some("x"), Some("null"), Some("\"x\""), Some(" \n x"), Some("")] {
        for text in ["a\n\n  b", "\\[[ ## a ## ]]", "null", "[1]", "\"q\"", "12", "Ünï\u{1F600}"] {
            let plain = Plain {
                text: text.to_owned(),
                single: 0.1,
                big: i128::MAX,
                team: Team::Beacon,
                list: vec![None, Some("null".into())],
                any: json!({"b": [1.5, "2"], "a": null}),
                maybe: maybe.map(str::to_owned),
                plan: "pro".into(),
            };
            let chat = Chat::new();
            let spec = <Plain as imp::OutputSignature>::output_spec().unwrap();
            let reply = Adapter::assistant_content(&chat, spec, &plain, imp::Missing::LeaveOut).unwrap();
            let expected: Plain = chat.parse(&reply).unwrap();
            let choice = Choice::new(reply).tool_calls([call("c", "look", json!({"x": 1e-7}))]);
            let predict = Predict::<In>::new(Script::new([choice]));
            let out = predict.call(&In { tools: vec![search()] }).await.unwrap().into_inner();
            assert_eq!(out.calls.calls, [call("c", "look", json!({"x": 1e-7}))]);
            let Out { text, single, big, team, list, any, maybe, plan, .. } = out;
            let got = Plain { text, single, big, team, list, any, maybe, plan };
            assert_eq!(shown(&got), shown(&expected));
        }
    }
}

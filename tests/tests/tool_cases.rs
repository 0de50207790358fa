//! The cases of kind `tools` (`tests/cases/tools.json`), each by its id.

use imp::lm::{Headers, wire::openai::decode};
use imp::{
    Capabilities, Completion, Fields, Map, Predict, Script, Tool, ToolCall, ToolPolicy, ToolSet, Value,
};
use imp_tests::plain::data;
use serde_json::{Value as Json, json};

fn cases() -> Vec<Json> {
    serde_json::from_str(include_str!("../cases/tools.json")).unwrap()
}

fn case(id: &str) -> Json {
    cases().into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
}

/// The calls as a case has them.
fn shown(calls: &[ToolCall]) -> Json {
    let call = |call: &ToolCall| {
        assert_eq!(call.malformed, None);
        let mut json = json!({"name": call.name, "args": call.arguments});
        if !call.id.is_empty() {
            json["id"] = json!(call.id);
        }
        json
    };
    calls.iter().map(call).collect()
}

/// Written mode: the model cannot call tools.
#[tokio::test]
async fn to001_one_call_without_the_list() {
    let case = case("TO001");
    let spec = data(&json!({
        "inputs": [{"name": "tools", "type": {"list": "tool"}}],
        "outputs": [{"name": "calls", "type": "tool_calls"}],
    }));
    let script = Script::new([case["input"]["reply"].as_str().unwrap()])
        .with_capabilities(Capabilities::default().tools(false));
    let tools = json!([{"name": case["input"]["tools"][0]}]);
    let predict = Predict::from_spec(spec, script.clone());
    let fields = predict.call(&Fields::from([("tools", Value::from(tools))])).await.unwrap();
    let calls: imp::ToolCalls =
        serde_json::from_value(serde_json::to_value(fields.get("calls")).unwrap()).unwrap();
    assert_eq!(shown(&calls.calls), case["expected"]["calls"]);
    assert_eq!(script.requests().len(), 1);
}

/// The completion in a reply with this message. The cases write calls flat, as some servers do.
fn completion(message: &Json) -> Completion {
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    decode(200, &Headers::new(), body.to_string().as_bytes()).unwrap()
}

/// Native mode: calls are calls and text is text, whatever the text looks like.
#[test]
fn to003_to005_to011_text_is_text_and_calls_are_calls() {
    for id in ["TO003", "TO005", "TO011"] {
        let case = case(id);
        let completion = completion(&case["input"]["message"]);
        assert_eq!(completion.text(), case["expected"]["text"].as_str(), "{id}");
        assert_eq!(shown(&completion.choices[0].tool_calls), case["expected"]["calls"], "{id}");
    }
}

/// The schema of a case: types by argument.
fn schema(types: &Json) -> Json {
    let mut properties = serde_json::Map::new();
    for (name, ty) in types.as_object().unwrap() {
        let schema = match ty.as_str().unwrap() {
            "string" => json!({"type": "string"}),
            "object{a:integer}" => {
                json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
            }
            other => panic!("a type of no case so far: {other}"),
        };
        properties.insert(name.clone(), schema);
    }
    json!({"type": "object", "properties": properties})
}

/// Arguments reach the tool decoded where its schema wants a list or an object, and as they are otherwise.
#[tokio::test]
async fn to007_to009_to013_arguments() {
    for id in ["TO007", "TO009", "TO013"] {
        let case = case(id);
        let message = json!({"content": null, "tool_calls": case["input"]["tool_calls"]});
        let calls = completion(&message).choices.remove(0).tool_calls;
        let [call] = &calls[..] else { panic!("{calls:?}") };
        let echo = |arguments: Map| async move { arguments };
        let tool = Tool::raw(call.name.clone(), "", schema(&case["input"]["schema"]), echo);
        let result = ToolSet::new([tool]).unwrap().run(call, &ToolPolicy::allow()).await;
        assert_eq!(result.value, case["expected"]["args"].clone().into(), "{id}");
        assert!(!result.is_error, "{id}");
    }
}

#[test]
fn every_case_is_a_test() {
    let ids: Vec<String> = cases().iter().map(|case| case["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["TO001", "TO003", "TO005", "TO007", "TO009", "TO011", "TO013"]);
}

//! The cases of kind `client` (`tests/cases/client.json`), each by its id, over a scripted server and both transports.

mod common;

use std::time::Duration;

use common::server::{Act, Server, reply, says};
use imp::lm::{Anthropic, Reqwest, Retries, Ureq, block_on};
use imp::{
    Fields, LanguageModel, LmError, LmErrorKind, Message, OpenAi, Predict, Request, SignatureSpec, Value,
};
use imp_tests::plain::{data, fields};
use serde_json::{Value as Json, json};

fn cases() -> Vec<Json> {
    serde_json::from_str(include_str!("../cases/client.json")).unwrap()
}

fn case(id: &str) -> Json {
    cases().into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
}

/// Every case has a test here.
#[test]
fn every_case_has_a_test() {
    let source = include_str!("client_cases.rs");
    for case in cases() {
        let id = case["id"].as_str().unwrap();
        assert!(source.contains(&format!("fn {}_", id.to_lowercase())), "{id} has no test");
    }
}

const TRANSPORTS: [&str; 2] = ["reqwest", "ureq"];

/// A client that repeats what may succeed then, without long waits.
fn client(transport: &str, server: &Server) -> OpenAi {
    let client = OpenAi::new("m").base_url(&server.url).timeout(Duration::from_secs(20));
    let client = client.retries(Retries::new().first_wait(Duration::from_millis(1)));
    if transport == "reqwest" { client.transport(Reqwest::new()) } else { client.transport(Ureq::new()) }
}

fn json_reply(status: u16, body: &Json) -> Vec<Act> {
    reply(status, &[("content-type", "application/json")], &body.to_string())
}

fn hello() -> Request {
    Request::new([Message::user("Ahoy")])
}

/// The signature of a case, with a question for its input.
fn signature(case: &Json) -> SignatureSpec {
    data(&json!({"inputs": [{"name": "q"}], "outputs": case["signature"]["outputs"]}))
}

fn question() -> Fields {
    fields(&json!({"q": "Who?"}))
}

/// The case says that a name may be passed as it is given if the documentation says so, which it does (`named`). A
/// provider that refuses it is asked again without, so that the call succeeds.
#[test]
fn cl001_a_name_that_the_provider_refuses() {
    let case = case("CL001");
    let name = case["input"]["message_name"].as_str().unwrap();
    assert!(case["alternatives"][0].as_str().unwrap().starts_with("pass it as given"));
    let refusals = [
        "Invalid 'messages[0].name': string does not match pattern. Expected a string that matches the pattern \
         '^[^\\s<|\\\\/>]+$'.",
        "'Zoë from Oban' does not match '^[a-zA-Z0-9_-]{1,64}$' - 'messages.0.name'",
    ];
    for words in refusals {
        let refusal = json!({"error": {"message": words, "type": "invalid_request_error",
            "param": "messages[0].name", "code": "invalid_value"}});
        for transport in TRANSPORTS {
            let server = Server::start(vec![json_reply(400, &refusal), says("Ahoy")])
                .expecting(&format!("message 0: `{name}` is no name"));
            let request = Request::new([Message::user("Ahoy").named(name)]);
            let completion = block_on(client(transport, &server).complete(&request)).unwrap();
            assert_eq!(completion.text(), Some("Ahoy"), "{transport}");
            let received = server.received();
            let names: Vec<_> =
                received.iter().map(|sent| sent.body["messages"][0]["name"].as_str()).collect();
            assert_eq!(names, [Some(name), None], "{transport}, {words}");
        }
    }
}

#[test]
fn cl003_a_provider_without_names() {
    let case = case("CL003");
    let name = case["input"]["message_name"].as_str().unwrap();
    let body =
        json!({"type": "message", "content": [{"type": "text", "text": "Ahoy"}], "stop_reason": "end_turn"});
    for transport in TRANSPORTS {
        let server = Server::start(vec![json_reply(200, &body)]);
        let client = Anthropic::new("m").base_url(&server.url);
        let client = if transport == "reqwest" {
            client.transport(Reqwest::new())
        } else {
            client.transport(Ureq::new())
        };
        let request = Request::new([Message::user("Ahoy").named(name)]);
        assert_eq!(block_on(client.complete(&request)).unwrap().text(), Some("Ahoy"), "{transport}");
        let sent = &server.received()[0].body;
        assert!(!sent.to_string().contains(name), "{transport}: {sent}");
    }
}

#[test]
fn cl005_another_wording_of_a_refusal() {
    let case = case("CL005");
    let first = &case["input"]["first_response"];
    let status = u16::try_from(first["status"].as_u64().unwrap()).unwrap();
    for transport in TRANSPORTS {
        let refusal = json_reply(status, &first["body"]);
        let server = Server::start(vec![refusal, says(r#"{"answer": "Wren"}"#)]);
        let program =
            Predict::from_spec(signature(&case), client(transport, &server)).adapter(imp::Json::new());
        let answer = block_on(program.call(&question()).into_future()).unwrap();
        assert_eq!(answer.get("answer"), Some(&Value::from("Wren")), "{transport}");
        let had: Vec<_> =
            server.received().iter().map(|sent| sent.body.get("response_format").is_some()).collect();
        assert_eq!(had, [true, false], "{transport}");
        assert_eq!(case["expected"]["calls"], had.len());
    }
    // Failures of another kind are none of a capability, whatever they say.
    for status in [401, 403, 429] {
        for transport in TRANSPORTS {
            let server = Server::start(vec![json_reply(status, &first["body"])]);
            let client = client(transport, &server).retries(Retries::none());
            let program = Predict::from_spec(signature(&case), client).adapter(imp::Json::new());
            let error = block_on(program.call(&question()).into_future()).unwrap_err();
            assert_eq!(error.as_model().and_then(LmError::status), Some(status), "{transport}");
            assert_eq!(server.received().len(), 1, "{transport}, {status}");
        }
    }
}

#[test]
fn cl007_a_schema_that_no_provider_takes() {
    let case = case("CL007");
    let field = &case["signature"]["outputs"][0];
    assert_eq!((&field["name"], &field["type"]), (&json!("m"), &json!("map[string,any]")));
    let spec = data(&json!({"inputs": [{"name": "q"}], "outputs": [{"name": "m", "type": "object"}]}));
    for transport in TRANSPORTS {
        let server = Server::start(vec![says(r#"{"m": {"a": 1}}"#)]);
        let program = Predict::from_spec(spec.clone(), client(transport, &server)).adapter(imp::Json::new());
        let answer = block_on(program.call(&question()).into_future()).unwrap();
        assert_eq!(answer.get("m"), fields(&json!({"m": {"a": 1}})).get("m"), "{transport}");
        let received = server.received();
        assert_eq!(received.len(), 1, "decided before the call");
        assert_eq!(received[0].body["response_format"], json!({"type": "json_object"}), "{transport}");
    }
}

/// The client's error for the reply in a case, asked for through a program, whole and streamed: one request each.
fn failures(case: &Json, status: u16, body: &Json) -> Vec<LmError> {
    let mut errors = Vec::new();
    for transport in TRANSPORTS {
        let server = Server::start(vec![json_reply(status, body)]);
        let model = client(transport, &server);
        let program = Predict::from_spec(signature(case), model.clone());
        let error = block_on(program.call(&question()).into_future()).unwrap_err();
        errors.push(error.as_model().unwrap_or_else(|| panic!("{transport}: {error:?}")).clone());
        let request = hello();
        let streamed = block_on(async { model.stream(&request).await?.finish().await });
        errors.push(streamed.unwrap_err());
        assert_eq!(server.received().len(), 2, "{transport}: neither repeated nor asked for in another form");
    }
    errors
}

#[test]
fn cl009_content_filter_without_content() {
    let case = case("CL009");
    for error in failures(&case, 200, &case["input"]["http"]) {
        assert_eq!(error.kind(), LmErrorKind::ContentFilter);
        assert!(error.to_string().contains("content filter"), "{error}");
    }
}

#[test]
fn cl011_an_error_with_a_number_for_its_code() {
    let case = case("CL011");
    for error in failures(&case, 400, &case["input"]["http"]) {
        assert_eq!(case["expected"], format!("error: {error}"));
        assert_eq!(error.kind(), LmErrorKind::BadRequest);
    }
}

#[test]
fn cl013_a_strange_type_in_what_is_not_read() {
    let case = case("CL013");
    for transport in TRANSPORTS {
        let server = Server::start(vec![json_reply(200, &case["input"]["http"])]);
        let program = Predict::from_spec(signature(&case), client(transport, &server));
        let answer = block_on(program.call(&question()).into_future()).unwrap();
        assert_eq!(answer.get("answer"), fields(&case["expected"]).get("answer"), "{transport}");
    }
}

#[test]
fn cl015_a_context_that_is_too_long() {
    let case = case("CL015");
    for words in case["input"]["bodies"].as_array().unwrap() {
        let words = words.as_str().unwrap();
        let body = serde_json::from_str::<Json>(words).ok().filter(Json::is_object);
        let body = body.unwrap_or_else(|| json!({"error": {"message": words}}));
        for error in failures(&case, 400, &body) {
            assert_eq!(case["expected"]["all_classified"], error.kind().as_str(), "{words}");
        }
    }
}

/// A reply in text where a form was asked for is read as what it is.
#[test]
fn cl017_text_where_a_form_was_asked_for() {
    let case = case("CL017");
    let spec = data(&json!({"inputs": [{"name": "q"}], "outputs": [
        {"name": "name", "type": "string"}, {"name": "age", "type": {"optional": "integer"}},
    ]}));
    for transport in TRANSPORTS {
        let server = Server::start(vec![json_reply(200, &case["input"]["http"])]);
        let program = Predict::from_spec(spec.clone(), client(transport, &server)).adapter(imp::Json::new());
        let answer = block_on(program.call(&question()).into_future()).unwrap();
        for name in ["name", "age"] {
            assert_eq!(answer.get(name), fields(&case["expected"]).get(name), "{transport}");
        }
        assert_eq!(server.received().len(), 1);
    }
}

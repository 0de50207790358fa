//! The client of chat completions against a scripted server, over both transports.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::server::{Act, Server, reply, says};
use imp::lm::{Reqwest, Retries, Ureq, block_on};
use imp::{
    Choice, Completion, Config, LanguageModel, LmError, LmErrorKind, Message, OpenAi, Request,
    ResponseFormat, Usage,
};
use serde_json::json;

const KEY: &str = "sk-very-secret";

fn clients(url: &str) -> [(&'static str, OpenAi); 2] {
    let client = || {
        let client = OpenAi::new("gpt-4.1-mini").base_url(url).key(KEY).timeout(Duration::from_secs(20));
        client.retries(Retries::none())
    };
    [("reqwest", client().transport(Reqwest::new())), ("ureq", client().transport(Ureq::new()))]
}

fn hello() -> Request {
    Request::new([Message::user("Ahoy")])
}

/// One call over each transport, each to a server of its own.
fn each(
    script: &[Vec<Act>],
    change: impl Fn(OpenAi) -> OpenAi,
) -> Vec<(&'static str, Result<Completion, LmError>)> {
    (0..2)
        .map(|at| {
            let server = Server::start(script.to_vec());
            let [first, second] = clients(&server.url);
            let (name, client) = if at == 0 { first } else { second };
            (name, block_on(change(client).complete(&hello())))
        })
        .collect()
}

#[test]
fn a_whole_call() {
    let server = Server::start(vec![reply(
        200,
        &[("content-type", "application/json"), ("x-request-id", "req_1")],
        &json!({
            "id": "chatcmpl-1", "model": "gpt-4.1-mini-2025",
            "choices": [{"message": {"role": "assistant", "content": "Ahoy, alice"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 4},
        })
        .to_string(),
    )]);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    let request = Request::new([Message::system("Be brief."), Message::user("Hello").named("alice")])
        .config(Config::new().temperature(0.5).max_tokens(20).stop(["\n"]).seed(1).extra("store", false))
        .response_format(ResponseFormat::json_schema("out", schema.clone(), true));
    for (at, (name, client)) in clients(&server.url).into_iter().enumerate() {
        let completion = block_on(client.header("X-Team", "harbor").complete(&request)).unwrap();
        assert_eq!(completion.choices, [Choice::new("Ahoy, alice")], "{name}");
        assert_eq!(completion.usage, Usage::new(7, 4));
        assert_eq!(completion.model.as_deref(), Some("gpt-4.1-mini-2025"));
        assert_eq!(completion.id.as_deref(), Some("chatcmpl-1"));
        assert_eq!(completion.request_id.as_deref(), Some("req_1"));

        let sent = &server.received()[at];
        assert_eq!(sent.line, "POST /v1/chat/completions");
        assert_eq!(sent.header("authorization"), Some("Bearer sk-very-secret"));
        assert_eq!(sent.header("content-type"), Some("application/json"));
        assert_eq!(sent.header("x-team"), Some("harbor"));
        assert_eq!(
            sent.body,
            json!({
                "model": "gpt-4.1-mini",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Hello", "name": "alice"},
                ],
                "temperature": 0.5, "max_tokens": 20, "stop": ["\n"], "seed": 1,
                "response_format": {"type": "json_schema",
                    "json_schema": {"name": "out", "schema": schema, "strict": true}},
                "store": false,
            })
        );
    }
}

#[test]
fn without_a_key_none_is_sent() {
    let server = Server::start(vec![says("Ahoy")]);
    let client = OpenAi::new("m").base_url(&server.url);
    assert!(block_on(client.complete(&hello())).is_ok());
    assert!(block_on(client.key(|| String::from(" fresh\n")).complete(&hello())).is_ok());
    let keys: Vec<_> =
        server.received().iter().map(|sent| sent.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, [None, Some("Bearer fresh".to_owned())]);
}

#[test]
fn failures() {
    let json = [("content-type", "application/json")];
    let error = |message: &str| json!({"error": {"message": message}}).to_string();
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"choices\": [{\"message\":";
    // The script, the kind, the status, whether another try may help, and a word of the message.
    let cases = [
        (reply(401, &json, &error("Incorrect key")), LmErrorKind::Auth, Some(401), false, "check the key"),
        (
            reply(429, &[("retry-after", "2")], &error("slow down")),
            LmErrorKind::RateLimit,
            Some(429),
            true,
            "try again after 2s",
        ),
        (reply(500, &json, &error("oops")), LmErrorKind::Overloaded, Some(500), true, "provider 500: oops"),
        (
            reply(200, &json, r#"{"error": {"message": "upstream broke", "code": 502}}"#),
            LmErrorKind::Overloaded,
            Some(502),
            true,
            "upstream broke",
        ),
        (
            reply(400, &json, &error("This model's maximum context length is 8192 tokens")),
            LmErrorKind::ContextWindowExceeded,
            Some(400),
            false,
            "send less",
        ),
        (
            reply(200, &[("content-type", "text/html")], "<html><h1>Sign in</h1></html>"),
            LmErrorKind::Malformed,
            Some(200),
            false,
            "not JSON but text/html; it starts: <html>",
        ),
        (
            reply(502, &[("content-type", "text/html")], "<html>Bad gateway</html>"),
            LmErrorKind::Overloaded,
            Some(502),
            true,
            "Bad gateway",
        ),
        (
            reply(302, &[("location", "http://127.0.0.1:9/else")], ""),
            LmErrorKind::BadRequest,
            Some(302),
            false,
            "redirects are not followed",
        ),
        (vec![Act::Close], LmErrorKind::Transport, None, true, "no reply from"),
        (
            vec![Act::Send(b"SSH-2.0-OpenSSH\r\n".to_vec()), Act::Close],
            LmErrorKind::Transport,
            None,
            true,
            "no reply from",
        ),
        (vec![Act::Send(cut.as_bytes().to_vec()), Act::Close], LmErrorKind::CutOff, None, false, "broke off"),
    ];
    for (script, kind, status, retryable, word) in cases {
        for (name, result) in each(std::slice::from_ref(&script), |client| client) {
            let error = result.unwrap_err();
            assert_eq!((error.kind(), error.status()), (kind, status), "{name}: {error:?}");
            assert_eq!(error.is_retryable(), retryable, "{name}: {error:?}");
            assert!(error.to_string().contains(word), "{name}: {error}");
            let wait = (status == Some(429)).then_some(Duration::from_secs(2));
            assert_eq!(error.retry_after(), wait, "{name}");
        }
    }
}

#[test]
fn the_time_is_limited() {
    let headers = b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{".to_vec();
    let drip =
        std::iter::repeat_n([Act::Wait(Duration::from_millis(20)), Act::Send(b" ".to_vec())], 800).flatten();
    let scripts = [
        vec![Act::Stall],
        vec![Act::Send(headers.clone()), Act::Stall],
        [Act::Send(headers)].into_iter().chain(drip).collect(),
    ];
    for script in scripts {
        for (name, result) in
            each(std::slice::from_ref(&script), |client| client.timeout(Duration::from_millis(150)))
        {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), LmErrorKind::Timeout, "{name}: {error:?}");
            assert!(error.to_string().contains("within 150ms"), "{name}: {error}");
        }
    }
}

#[test]
fn a_requests_own_limit_goes_first() {
    let server = Server::start(vec![vec![Act::Stall]]);
    let request = hello().config(Config::new().timeout(Duration::from_millis(100)));
    for (name, client) in clients(&server.url) {
        let error = block_on(client.complete(&request)).unwrap_err();
        assert!(error.to_string().contains("within 100ms"), "{name}: {error}");
    }
    assert!(server.received().iter().all(|sent| sent.body.get("timeout").is_none()));
}

#[test]
fn nobody_there() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (name, client) in clients(&format!("http://me:hidden@{free}/v1?token=hidden")) {
        let error = block_on(client.complete(&hello())).unwrap_err();
        assert_eq!(error.kind(), LmErrorKind::Transport, "{name}");
        assert!(error.is_retryable());
        assert!(error.to_string().contains("refused"), "{name}: {error}");
        assert!(!format!("{error} {error:?}").contains("hidden"), "{name}: {error:?}");
    }
}

#[test]
fn the_size_is_limited() {
    let endless = std::iter::repeat_n(
        Act::Send(b"40\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n".to_vec()),
        100,
    );
    let chunked = [Act::Send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec())]
        .into_iter()
        .chain(endless);
    for script in [reply(200, &[], &" ".repeat(2000)), chunked.collect()] {
        for (name, result) in each(std::slice::from_ref(&script), |client| client.max_response_size(1000)) {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), LmErrorKind::Malformed, "{name}: {error:?}");
            assert!(error.to_string().contains("more than 1000 bytes"), "{name}: {error}");
        }
    }
    for (name, result) in each(&[says("Ahoy")], |client| client.max_response_size(1000)) {
        assert!(result.is_ok(), "{name}");
    }
}

#[test]
fn a_key_is_never_shown() {
    // Some servers repeat the key, in the body or in a header.
    let body = json!({"error": {"message": format!("no such key: {KEY}"), "code": KEY}}).to_string();
    for script in [reply(401, &[("x-request-id", KEY)], &body), reply(200, &[], KEY), vec![Act::Close]] {
        for (name, result) in each(std::slice::from_ref(&script), |client| client) {
            let error = result.unwrap_err();
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            while let Some(error) = cause {
                let shown = format!("{error} {error:?}");
                assert!(!shown.contains(KEY), "{name}: {shown}");
                cause = error.source();
            }
        }
    }
    for (_, client) in clients("http://me:hidden@localhost/v1?token=hidden") {
        let shown =
            format!("{:?} {:#?}", client, client.clone().header("x-api-key", KEY).key(|| KEY.to_owned()));
        assert!(!shown.contains(KEY) && !shown.contains("hidden"), "{shown}");
    }
}

#[test]
fn what_cannot_be_sent_is_not() {
    let server = Server::start(vec![says("Ahoy")]);
    for (name, client) in clients(&server.url) {
        let cases = [
            client.clone().key("sk-1\r\nx-evil: 1"),
            client.clone().key("schlüssel"),
            client.clone().header("x team", "1"),
            client.clone().header("x-team", "1\n2"),
            client.clone().base_url("no address"),
            client.clone().base_url(""),
            OpenAi::new("m"),
        ];
        for client in cases {
            let error = block_on(client.complete(&hello())).unwrap_err();
            assert_eq!(error.kind(), LmErrorKind::NotConfigured, "{name}: {error:?}");
            assert!(!error.is_retryable());
            assert!(!format!("{error:?}").contains("sk-1"), "{error:?}");
        }
    }
    assert_eq!(server.received().len(), 0);
}

#[test]
fn connections_are_kept_and_replaced() {
    let closes = [says("two"), vec![Act::Close]].concat();
    for at in 0..2 {
        let server = Server::start(vec![says("one"), closes.clone(), says("three")]);
        let [first, second] = clients(&server.url);
        let (name, client) = if at == 0 { first } else { second };
        for expected in ["one", "two", "three"] {
            let completion = block_on(client.complete(&hello())).unwrap();
            assert_eq!(completion.text(), Some(expected), "{name}");
            if expected == "two" {
                server.wait_closed(1);
            }
        }
        let connections: Vec<_> = server.received().iter().map(|sent| sent.connection).collect();
        assert_eq!(connections, [0, 0, 1], "{name}");
    }
}

#[tokio::test]
async fn many_tasks_share_a_client() {
    let server = Server::start(vec![says("Ahoy")]);
    let [(_, client), _] = clients(&server.url);
    let model: Arc<dyn LanguageModel> = Arc::new(client);
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let model = Arc::clone(&model);
            tokio::spawn(async move {
                model.complete(&hello()).await.map(|completion| completion.text().is_some())
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap().unwrap());
    }
    assert_eq!(server.received().len(), 16);
}

#[tokio::test]
async fn blocking_inside_a_runtime_is_no_panic() {
    let server = Server::start(vec![says("Ahoy")]);
    for (name, client) in clients(&server.url) {
        assert!(block_on(client.complete(&hello())).is_ok(), "{name}");
    }
}

#[test]
fn outside_a_runtime_reqwest_says_so_and_ureq_needs_none() {
    let server = Server::start(vec![says("Ahoy")]);
    let [(_, needy), (_, plain)] = clients(&server.url);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let request = hello();
    let std::task::Poll::Ready(Err(error)) = needy.complete(&request).as_mut().poll(&mut context) else {
        panic!("an error at once");
    };
    assert_eq!(error.kind(), LmErrorKind::NotConfigured);
    assert!(error.to_string().contains("needs a tokio runtime"), "{error}");
    let polled = plain.complete(&request).as_mut().poll(&mut context);
    assert!(matches!(polled, std::task::Poll::Ready(Ok(_))), "{polled:?}");
}

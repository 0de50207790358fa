//! What servers and networks do wrong, byte for byte, over both transports; and what the clients repeat.

mod common;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::server::{Act, Server, reply, says};
use imp::lm::wire::{Delta, StreamDecoder};
use imp::lm::{
    Anthropic, BoxFuture, Headers, HttpRequest, HttpResponse, Reqwest, Retries, StreamEvent, Transport, Ureq,
    block_on,
};
use imp::{
    Capabilities, Completion, Config, LanguageModel, LmError, LmErrorKind, Message, OpenAi, Request,
    ResponseFormat, ToolChoice, ToolDefinition,
};
use serde_json::{Value as Json, json};

fn clients(url: &str) -> [(&'static str, OpenAi); 2] {
    let client = || {
        let client = OpenAi::new("m").base_url(url).timeout(Duration::from_secs(20));
        client.retries(Retries::new().first_wait(Duration::from_millis(1)))
    };
    [("reqwest", client().transport(Reqwest::new())), ("ureq", client().transport(Ureq::new()))]
}

fn hello() -> Request {
    Request::new([Message::user("Ahoy")])
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

fn send(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

fn chunk(content: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": content}}]}))
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

/// Runs a stream to its end: the text that was shown on the way, and what came of it.
fn streamed(client: &impl LanguageModel) -> (String, Result<Completion, LmError>) {
    block_on(async {
        let mut shown = String::new();
        let request = hello();
        let mut stream = match client.stream(&request).await {
            Ok(stream) => stream,
            Err(error) => return (shown, Err(error)),
        };
        while let Some(event) = stream.next().await {
            match event {
                Ok(StreamEvent::Delta(Delta::Text { text, .. })) => shown.push_str(&text),
                Ok(StreamEvent::Done(completion)) => {
                    assert!(stream.next().await.is_none(), "nothing comes after the end");
                    return (shown, Ok(completion));
                }
                Ok(_) => {}
                Err(error) => {
                    assert!(stream.next().await.is_none(), "nothing comes after an error");
                    return (shown, Err(error));
                }
            }
        }
        panic!("the stream ended without an event");
    })
}

#[test]
fn whole_streams() {
    let text = format!(": hi\r\n\r\n{}{}{END}data: [DONE]\n\n", chunk("Zoë "), chunk("😀"));
    let byte_by_byte = [send(HEAD)]
        .into_iter()
        .chain(text.bytes().flat_map(|byte| [Act::Send(vec![byte]), Act::Wait(Duration::from_micros(10))]))
        .chain([Act::Close]);
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
    let unclosed = chunk("Zoë 😀").replace("\"delta\"", "\"finish_reason\":\"stop\",\"delta\"");
    let scripts = [
        byte_by_byte.collect(),
        // Without `[DONE]`, but with a finish reason, then broken off.
        vec![send(HEAD), send(&chunk("Zoë 😀")), send(END), Act::Wait(Duration::from_millis(50)), Act::Reset],
        // The server keeps the connection open.
        vec![
            send(HEAD),
            send(&chunk("Zoë 😀")),
            send(END),
            send(usage),
            send("data: [DONE]\n\n"),
            Act::Stall,
        ],
        // It does not stream at all.
        says("Zoë 😀"),
        // The last event has no empty line behind it, and the finish reason is in it.
        vec![send(HEAD), send(unclosed.trim_end()), Act::Close],
        vec![send(HEAD), send(unclosed.trim_end()), Act::Wait(Duration::from_millis(50)), Act::Reset],
    ];
    for (at, script) in scripts.into_iter().enumerate() {
        let server = Server::start(vec![script]);
        for (name, client) in clients(&server.url) {
            let (shown, result) = streamed(&client);
            let completion = result.unwrap();
            assert_eq!(completion.text(), Some("Zoë 😀"), "{name} {at}");
            assert_eq!(shown, "Zoë 😀", "{name} {at}");
        }
        assert!(server.received().iter().all(|sent| sent.body["stream"] == true));
    }
}

#[test]
fn broken_streams() {
    use LmErrorKind::*;

    let begun = [send(HEAD), send(&chunk("Zo"))];
    let after = |acts: Vec<Act>| [begun.to_vec(), acts].concat();
    let sized = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900\r\n\r\n";
    let failed = "data: {\"error\":{\"message\":\"upstream broke\",\"code\":502}}\n\n";
    let cases = [
        ("FIN between events", after(vec![Act::Close]), CutOff),
        ("FIN in an event", after(vec![send("data: {\"choi"), Act::Close]), CutOff),
        ("FIN before the length", vec![send(sized), send(&chunk("Zo")), Act::Close], CutOff),
        ("RST", after(vec![Act::Wait(Duration::from_millis(50)), Act::Reset]), CutOff),
        ("stall", after(vec![Act::Stall]), Timeout),
        ("no JSON", after(vec![send("data: {oops}\n\n"), send(END), Act::Close]), Malformed),
        ("an error", after(vec![send(failed), send(END), Act::Close]), Overloaded),
    ];
    for (what, script, kind) in cases {
        let server = Server::start(vec![script]);
        for (name, client) in clients(&server.url) {
            let limit = Duration::from_millis(200);
            let (shown, result) = streamed(&client.idle_timeout(limit).first_byte_timeout(limit));
            let error = result.unwrap_err();
            assert_eq!(error.kind(), kind, "{name}, {what}: {error:?}");
            assert_eq!(shown, "Zo", "{name}, {what}");
            let read = error.completion().and_then(Completion::text);
            assert_eq!(read, Some("Zo"), "{name}, {what}: {error:?}");
        }
        assert_eq!(server.received().len(), 2, "{what}: what was shown is not asked for again");
    }
}

/// The number that a delta has of its choice is the choice's place in the completion.
#[test]
fn choices_keep_the_order_in_which_they_appear() {
    let piece = |index: u64, text: &str| {
        let choice = json!({"index": index, "delta": {"content": text}, "finish_reason": "stop"});
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let mut decoder = StreamDecoder::openai(200, &Headers::new());
    let mut shown = vec![String::new(); 2];
    for delta in decoder.push(format!("{}{}", piece(1, "later"), piece(0, "first")).as_bytes()) {
        let Delta::Text { choice, text } = delta else { panic!("no text: {delta:?}") };
        shown[choice].push_str(&text);
    }
    let completion = decoder.finish().unwrap();
    let texts: Vec<_> = completion.choices.iter().map(|choice| choice.text.clone().unwrap()).collect();
    assert_eq!(texts, shown);
}

#[test]
fn a_stream_that_said_nothing_is_asked_for_again() {
    let role = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let whole = vec![send(HEAD), send(&chunk("Ahoy")), send(END), Act::Close];
    let busy = "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n";
    let wrong = "data: {\"error\":{\"message\":\"no\",\"code\":400}}\n\n";
    for (what, first, asked) in [
        ("cut", vec![send(HEAD), send(role), Act::Close], 2),
        ("busy", vec![send(HEAD), send(busy), Act::Close], 2),
        ("wrong", vec![send(HEAD), send(wrong), Act::Close], 1),
    ] {
        for at in 0..2 {
            let server = Server::start(vec![first.clone(), whole.clone()]);
            let [one, two] = clients(&server.url);
            let (name, client) = if at == 0 { one } else { two };
            let (shown, result) = streamed(&client);
            assert_eq!(server.received().len(), asked, "{name}, {what}");
            assert_eq!(
                (result.is_ok(), shown == "Ahoy"),
                (asked == 2, asked == 2),
                "{name}, {what}: {result:?}"
            );
        }
    }
}

#[test]
fn the_size_of_a_stream_is_limited() {
    let endless = std::iter::repeat_n(send(&chunk("0123456789")), 200);
    let server = Server::start(vec![[send(HEAD)].into_iter().chain(endless).chain([Act::Stall]).collect()]);
    for (name, client) in clients(&server.url) {
        let (_, result) = streamed(&client.max_response_size(2000));
        let error = result.unwrap_err();
        assert_eq!(error.kind(), LmErrorKind::Malformed, "{name}: {error:?}");
    }
}

#[test]
fn what_is_repeated() {
    let error = |status: u16| reply(status, &[], &json!({"error": {"message": "no"}}).to_string());
    let cut = vec![send("HTTP/1.1 200 OK\r\n\r\n{\"choices\": [{"), Act::Close];
    let broken = vec![
        send("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"),
        Act::Wait(Duration::from_millis(50)),
        Act::Reset,
    ];
    // The first reply, and how often the server is asked.
    let cases = [
        ("408", error(408), 2),
        ("409", error(409), 2),
        ("425", error(425), 2),
        ("429", error(429), 2),
        ("500", error(500), 2),
        ("529", error(529), 2),
        ("close", vec![Act::Close], 2),
        ("reset", vec![Act::Reset], 2),
        ("garbage", vec![send("SSH-2.0-OpenSSH\r\n"), Act::Close], 2),
        ("slow", vec![Act::Stall], 2),
        ("400", error(400), 1),
        ("401", error(401), 1),
        ("404", error(404), 1),
        ("cut", cut, 1),
        ("broken", broken, 1),
        ("no JSON", reply(200, &[], "<html>"), 1),
        ("not again", reply(500, &[("x-should-retry", "false")], ""), 1),
        ("quota", reply(429, &[], &json!({"error": {"code": "insufficient_quota"}}).to_string()), 1),
    ];
    for (what, first, asked) in cases {
        for at in 0..2 {
            let server = Server::start(vec![first.clone(), says("Ahoy")]);
            let [one, two] = clients(&server.url);
            let (name, client) = if at == 0 { one } else { two };
            let result = block_on(client.first_byte_timeout(Duration::from_millis(300)).complete(&hello()));
            assert_eq!(server.received().len(), asked, "{name}, {what}: {result:?}");
            assert_eq!(result.is_ok(), asked == 2, "{name}, {what}: {result:?}");
        }
    }
}

#[test]
fn a_stale_connection_is_replaced_at_once() {
    for at in 0..2 {
        let server = Server::start(vec![says("one"), vec![Act::Close], says("two")]);
        let [one, two] = clients(&server.url);
        let (name, client) = if at == 0 { one } else { two };
        let client = client.retries(Retries::none());
        for expected in ["one", "two"] {
            let completion = block_on(client.complete(&hello())).unwrap();
            assert_eq!(completion.text(), Some(expected), "{name}");
        }
        assert_eq!(server.received().len(), 3, "{name}");
    }
}

#[tokio::test]
async fn a_cancelled_call_closes_its_connection() {
    for streamed in [false, true] {
        let begun = vec![send(HEAD), send(&chunk("Zo")), Act::Stall];
        let server = Server::start(vec![if streamed { begun } else { vec![Act::Stall] }]);
        let [(_, client), _] = clients(&server.url);
        let request = hello();
        if streamed {
            let mut stream = client.stream(&request).await.unwrap();
            assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Delta(_)))));
        } else {
            let call = client.complete(&request);
            assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
        }
        let waited = tokio::task::spawn_blocking(move || server.wait_gone(1));
        waited.await.unwrap();
    }
}

#[tokio::test]
async fn only_so_many_at_once() {
    let slow = [vec![Act::Wait(Duration::from_millis(20))], says("Ahoy")].concat();
    let server = Server::start(vec![slow]);
    let [(_, client), _] = clients(&server.url);
    let client = Arc::new(client.max_in_flight(2));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.complete(&hello()).await.is_ok() })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap());
    }
    let connections = server.received().iter().map(|sent| sent.connection).max();
    assert!(connections < Some(2), "{connections:?}");
}

/// Answers from a list, without a network or a clock, and keeps what it was sent and how long it was to wait.
#[derive(Clone, Default)]
struct Scripted(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    replies: VecDeque<(u16, Headers, String)>,
    sent: Vec<Json>,
    slept: Vec<Duration>,
}

impl Scripted {
    fn new<'a>(replies: impl IntoIterator<Item = (u16, &'a [(&'a str, &'a str)], String)>) -> Self {
        let scripted = Scripted::default();
        scripted.0.lock().unwrap().replies = replies
            .into_iter()
            .map(|(status, headers, body)| (status, headers.iter().copied().collect(), body))
            .collect();
        scripted
    }

    fn sent(&self) -> Vec<Json> {
        self.0.lock().unwrap().sent.clone()
    }

    fn slept(&self) -> Vec<Duration> {
        self.0.lock().unwrap().slept.clone()
    }
}

impl Transport for Scripted {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, LmError>> {
        let mut state = self.0.lock().unwrap();
        let sent: Json = serde_json::from_slice(&request.body).unwrap();
        let violations = common::openai_schema::violations(&sent);
        assert!(violations.is_empty(), "{violations:?}: {sent}");
        state.sent.push(sent);
        let reply = state.replies.pop_front();
        Box::pin(async move {
            let (status, headers, body) =
                reply.ok_or_else(|| LmError::new(LmErrorKind::Other, "the script is at its end"))?;
            Ok(HttpResponse::new(status, headers, body.into_bytes()))
        })
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().slept.push(time);
        Box::pin(std::future::ready(()))
    }
}

fn ok() -> (u16, &'static [(&'static str, &'static str)], String) {
    let body = json!({"choices": [{"message": {"content": "Ahoy"}, "finish_reason": "stop"}]});
    (200, &[], body.to_string())
}

fn failure(message: &str) -> String {
    json!({"error": {"message": message}}).to_string()
}

#[test]
fn a_provider_says_how_long_to_wait() {
    type Sent<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Sent<'_>, Option<f64>); 6] = [
        (&[("retry-after", "7")], Some(7.0)),
        (&[("retry-after", "7"), ("retry-after-ms", "1500")], Some(1.5)),
        (
            &[("date", "Wed, 21 Oct 2015 07:28:00 GMT"), ("retry-after", "Wed, 21 Oct 2015 07:28:09 GMT")],
            Some(9.0),
        ),
        (&[("retry-after", "Wed, 21 Oct 2015 07:28:09 GMT")], Some(0.0)),
        // More than the client is ready to wait: the error says how long.
        (&[("retry-after", "3600")], None),
        (&[], Some(0.0)),
    ];
    for (headers, least) in cases {
        let transport = Scripted::new([(429, headers, failure("slow down")), ok()]);
        let client = OpenAi::new("m").base_url("http://h/v1").transport(transport.clone());
        let result = block_on(client.complete(&hello()));
        if let Some(least) = least {
            assert!(result.is_ok(), "{headers:?}: {result:?}");
            let slept = transport.slept();
            assert_eq!(slept.len(), 1, "{headers:?}");
            let waited = slept[0].as_secs_f64();
            assert!((least..=least * 1.1 + 0.5).contains(&waited), "{headers:?}: {waited}");
        } else {
            assert_eq!(result.unwrap_err().retry_after(), Some(Duration::from_secs(3600)));
            assert_eq!((transport.sent().len(), transport.slept().len()), (1, 0));
        }
    }
}

#[test]
fn no_wait_is_longer_than_the_call_may_take() {
    let transport = Scripted::new([(429, &[("retry-after", "30")][..], failure("slow down")), ok()]);
    let client = OpenAi::new("m").base_url("http://h/v1").transport(transport.clone());
    let error = block_on(client.timeout(Duration::from_secs(20)).complete(&hello())).unwrap_err();
    assert_eq!((error.kind(), transport.slept().len()), (LmErrorKind::RateLimit, 0));
}

#[test]
fn a_client_that_fails_all_the_time_stops_repeating() {
    let busy = || (503, &[][..], failure("busy"));
    let transport = Scripted::new(std::iter::repeat_with(busy).take(1000));
    let client = OpenAi::new("m").base_url("http://h/v1").transport(transport.clone());
    for _ in 0..100 {
        assert_eq!(block_on(client.complete(&hello())).unwrap_err().kind(), LmErrorKind::Overloaded);
    }
    // A hundred first tries, and a hundred repetitions for the 500 points.
    assert_eq!(transport.sent().len(), 200);
}

/// A request, the server's words, the field that goes, and whether the capability has gone.
type Refusal = (Request, &'static str, &'static str, fn(Capabilities) -> bool);

/// CL005 and its like: what a server refuses is left out, once for the call and then for good.
#[test]
fn refusals_are_learnt() {
    let schema = || ResponseFormat::json_schema("out", json!({"type": "object"}), true);
    let tool = || ToolDefinition::new("find", "", json!({})).unwrap();
    let forced = || hello().tools([tool()]).config(Config::new().tool_choice(ToolChoice::Required));
    let no_schema = |capabilities: Capabilities| !capabilities.json_schema;
    let cases: [Refusal; 5] = [
        (
            hello().response_format(schema()),
            "model: x/y does not support feature: structured-outputs",
            "/response_format",
            no_schema,
        ),
        (
            hello().response_format(schema()),
            "'response_format' of type 'json_schema' is not supported with this model",
            "/response_format",
            no_schema,
        ),
        (
            Request::new([Message::user("Ahoy").named("zoe")]),
            "'messages.0' : property 'name' is unsupported",
            "/messages/0/name",
            |capabilities| !capabilities.names,
        ),
        (
            hello().config(Config::new().max_tokens(5)),
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "/max_tokens",
            |capabilities| capabilities.max_completion_tokens,
        ),
        (forced(), "does not support tools", "/tools", |capabilities| !capabilities.tools),
    ];
    for (request, words, field, learnt) in cases {
        let transport = Scripted::new([(400, &[][..], failure(words)), ok(), ok()]);
        let client = OpenAi::new("m").base_url("http://h/v1").transport(transport.clone());
        let clone = client.clone();
        for _ in 0..2 {
            assert!(block_on(client.complete(&request)).is_ok(), "{words}");
        }
        let sent = transport.sent();
        let had: Vec<_> = sent.iter().map(|body| body.pointer(field).is_some()).collect();
        // Where the schema was refused, plain JSON is asked for from the next call on.
        let later = field == "/response_format";
        assert_eq!(had, [true, false, later], "{words}");
        assert!(learnt(LanguageModel::capabilities(&clone)), "{words}: clones know it, too");
        // Another model is another matter.
        assert_eq!(LanguageModel::capabilities(&client.model("other")), Capabilities::default(), "{words}");
    }
}

#[test]
fn a_refusal_is_taken_back_once_and_errors_of_other_kinds_never() {
    let words = "json_schema is not supported";
    let request =
        hello().response_format(ResponseFormat::json_schema("out", json!({"type": "object"}), true));
    for (status, asked) in [(400, 2), (401, 1), (403, 1), (413, 1)] {
        let transport = Scripted::new([(status, &[][..], failure(words)), (status, &[][..], failure(words))]);
        let client = OpenAi::new("m").base_url("http://h/v1").transport(transport.clone());
        assert_eq!(block_on(client.complete(&request)).unwrap_err().status(), Some(status));
        assert_eq!(transport.sent().len(), asked, "{status}");
    }
}

#[test]
fn anthropic_over_the_wire() {
    let whole = json!({
        "id": "msg_1", "model": "claude", "content": [{"type": "text", "text": "Ahoy"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    });
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude", "usage": {"input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Ahoy"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ];
    let text = events.map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).concat();
    let stream = vec![send(HEAD), send(&text), Act::Close];
    for at in 0..2 {
        let server = Server::start(vec![reply(200, &[], &whole.to_string()), stream.clone()]);
        let client = Anthropic::new("claude").base_url(&server.url).key("sk-ant-secret");
        let client = if at == 0 { client.transport(Reqwest::new()) } else { client.transport(Ureq::new()) };
        assert!(!format!("{client:?}").contains("secret"));
        let request = Request::new([Message::system("Be brief."), Message::user("Hello").named("alice")]);
        let completion = block_on(client.complete(&request)).unwrap();
        let (shown, result) = streamed(&client);
        assert_eq!(result.unwrap(), completion);
        assert_eq!((completion.text(), shown.as_str()), (Some("Ahoy"), "Ahoy"));
        let received = server.received();
        let sent = &received[0];
        assert_eq!(sent.line, "POST /v1/messages");
        assert_eq!(sent.header("x-api-key"), Some("sk-ant-secret"));
        assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(
            sent.body,
            json!({"model": "claude", "system": "Be brief.", "max_tokens": 4096,
                "messages": [{"role": "user", "content": "Hello"}]})
        );
        assert_eq!(received[1].body["stream"], true);
    }
}

#[test]
fn what_anthropic_is_sent_is_what_it_takes() {
    let tool = || ToolDefinition::new("find", "Finds.", json!({"type": "object", "properties": {}})).unwrap();
    let mut calling = Message::assistant("Let me see.");
    calling.tool_calls = ["c:1", "c:1"]
        .map(|id| imp::ToolCall::new(id, "find", imp::Map::from([("q", imp::Value::from("x"))])))
        .into();
    let conversation = [
        Message::system("Be brief."),
        Message::user("Ahoy").named("zoë"),
        Message::user(""),
        calling,
        Message::tool("c:1", "one").named("find"),
        Message::tool("c:1", "two"),
        Message::user("Go on."),
        Message::system("It is late."),
        Message::assistant("The answer is "),
    ];
    let choices = [ToolChoice::Auto, ToolChoice::Required, ToolChoice::named("find"), ToolChoice::None];
    for choice in choices {
        let config = Config::new().tool_choice(choice).parallel_tool_calls(false).reasoning_effort("low");
        let config = config.n(2).seed(7).stop(["END"]).temperature(0.5).max_tokens(20);
        let request = Request::new(conversation.clone()).config(config).tools([tool()]);
        let request = request.response_format(ResponseFormat::JsonObject);
        for encode in [imp::lm::wire::anthropic::encode, imp::lm::wire::anthropic::encode_stream] {
            let body = encode(&request, "claude-sonnet-4-5", Capabilities::default()).unwrap();
            let body: Json = serde_json::from_slice(&body).unwrap();
            assert_eq!(common::anthropic_schema::violations(&body), [""; 0], "{body}");
        }
    }
}

/// CL009, CL011, CL013 and CL015 of the collected cases.
#[test]
fn replies_of_the_collected_cases() {
    let call = |status: u16, body: &str| {
        let transport = Scripted::new([(status, &[][..], body.to_owned())]);
        let client = OpenAi::new("m").base_url("http://h/v1").transport(transport.clone());
        let result = block_on(client.complete(&hello()));
        assert_eq!(transport.sent().len(), 1, "{body}");
        result
    };
    let filtered = json!({"choices": [{"message": {"role": "assistant", "content": null}, "finish_reason": "content_filter"}]});
    assert_eq!(call(200, &filtered.to_string()).unwrap_err().kind(), LmErrorKind::ContentFilter);
    let error = call(400, r#"{"error": {"message": "not a valid model", "code": 400}}"#).unwrap_err();
    assert_eq!(error.to_string(), "provider 400: not a valid model");
    let odd = json!({"top_p": {"value": 1}, "choices": [{"message": {"content": "Wren"}, "finish_reason": "stop"}]});
    assert_eq!(call(200, &odd.to_string()).unwrap().text(), Some("Wren"));
    for words in [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "This model's maximum context length is 8192 tokens",
    ] {
        assert_eq!(
            call(400, &failure(words)).unwrap_err().kind(),
            LmErrorKind::ContextWindowExceeded,
            "{words}"
        );
    }
    let code = r#"{"error":{"code":"context_length_exceeded"}}"#;
    assert_eq!(call(400, code).unwrap_err().kind(), LmErrorKind::ContextWindowExceeded);
}

//! Every fault of a server or network by its kind of error: one table, over both transports, whole and streamed.

mod common;

use std::time::Duration;

use common::server::{Act, Server, reply};
use imp::lm::wire::Delta;
use imp::lm::{Reqwest, Retries, StreamEvent, Ureq, block_on};
use imp::{Completion, LanguageModel, LmError, LmErrorKind, Message, OpenAi, Request};
use serde_json::json;

/// A fault, what the server does for a whole and for a streamed request, and the kinds of error; `None` is a reply that
/// is there after all.
struct Row {
    fault: &'static str,
    whole: Vec<Act>,
    whole_kind: Option<LmErrorKind>,
    streamed: Vec<Act>,
    streamed_kind: Option<LmErrorKind>,
}

fn send(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

/// Gives the client time to read what was sent: an RST throws away what was not read.
const PAUSE: Act = Act::Wait(Duration::from_millis(40));
const SIZED: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n";
const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const BEGUN: &str = "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Zo";
const PIECE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Zo\"}}]}\n\n";
const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ë\"},\"finish_reason\":\"stop\"}]}\n\n\
                   data: [DONE]\n\n";

fn whole_reply() -> Vec<u8> {
    let choice = json!({"message": {"role": "assistant", "content": "Zoë"}, "finish_reason": "stop"});
    let body = json!({ "choices": [choice] }).to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn one_by_one(bytes: &[u8], wait: Duration) -> Vec<Act> {
    bytes.iter().flat_map(|byte| [Act::Send(vec![*byte]), Act::Wait(wait)]).collect()
}

/// Two halves, cut inside of the `ë`.
fn split(bytes: &[u8]) -> Vec<Act> {
    let at = bytes.iter().position(|byte| *byte == 0xc3).expect("there is an ë") + 1;
    vec![Act::Send(bytes[..at].to_vec()), PAUSE, Act::Send(bytes[at..].to_vec())]
}

#[expect(clippy::too_many_lines, reason = "one row after the other")]
fn table() -> Vec<Row> {
    use LmErrorKind::*;

    let row = |fault, whole, whole_kind, streamed, streamed_kind| Row {
        fault,
        whole,
        whole_kind,
        streamed,
        streamed_kind,
    };
    let same = |fault, acts: Vec<Act>, kind| row(fault, acts.clone(), kind, acts, kind);
    let stream = format!("{EVENTS}{PIECE}{END}");
    let error = |status: u16, headers: &[(&str, &str)]| {
        reply(status, headers, &json!({"error": {"message": "no", "code": status}}).to_string())
    };
    let large = "x".repeat(70_000);
    let slow = |acts: Vec<Act>| [vec![Act::Wait(Duration::from_millis(60))], acts].concat();
    let long = Duration::from_millis(30);
    vec![
        same("RST before the headers", vec![Act::Reset], Some(Transport)),
        same("FIN before the headers", vec![Act::Close], Some(Transport)),
        same("FIN in the headers", vec![send("HTTP/1.1 200 OK\r\ncontent-le"), Act::Close], Some(Transport)),
        row(
            "RST after the headers",
            vec![send(SIZED), PAUSE, Act::Reset],
            Some(CutOff),
            vec![send(EVENTS), PAUSE, Act::Reset],
            Some(CutOff),
        ),
        row(
            "RST in the body",
            vec![send(SIZED), send(BEGUN), PAUSE, Act::Reset],
            Some(CutOff),
            vec![send(EVENTS), send(PIECE), PAUSE, Act::Reset],
            Some(CutOff),
        ),
        row(
            "FIN in the body, or in an event",
            vec![send(SIZED), send(BEGUN), Act::Close],
            Some(CutOff),
            vec![send(EVENTS), send(PIECE), send("data: {\"choi"), Act::Close],
            Some(CutOff),
        ),
        row(
            "FIN in a body of no stated length",
            vec![send("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"), send(BEGUN), Act::Close],
            Some(CutOff),
            vec![send(EVENTS), send(PIECE), Act::Close],
            Some(CutOff),
        ),
        same("stall before the headers", vec![Act::Stall], Some(Timeout)),
        row(
            "stall in the body",
            vec![send(SIZED), send(BEGUN), Act::Stall],
            Some(Timeout),
            vec![send(EVENTS), send(PIECE), Act::Stall],
            Some(Timeout),
        ),
        row(
            "an endless drip",
            [vec![send(SIZED)], one_by_one(&[b' '; 100], long)].concat(),
            Some(Timeout),
            [vec![send(EVENTS)], one_by_one(&[b':'; 100], long)].concat(),
            Some(Timeout),
        ),
        row(
            "a drip that ends",
            one_by_one(&whole_reply(), Duration::from_micros(50)),
            None,
            [one_by_one(stream.as_bytes(), Duration::from_micros(50)), vec![Act::Close]].concat(),
            None,
        ),
        row(
            "a character cut in two",
            split(&whole_reply()),
            None,
            [split(stream.as_bytes()), vec![Act::Close]].concat(),
            None,
        ),
        row(
            "a slow first byte",
            slow(vec![Act::Send(whole_reply())]),
            None,
            slow(vec![send(&stream), Act::Close]),
            None,
        ),
        same("a garbage status line", vec![send("SSH-2.0-OpenSSH\r\n\r\n"), Act::Close], Some(Transport)),
        row(
            "a garbage body",
            reply(200, &[], "%PDF-1.7 \u{1}\u{2}"),
            Some(Malformed),
            vec![send(EVENTS), send(PIECE), send("data: {oops}\n\n"), send(END), Act::Close],
            Some(Malformed),
        ),
        same("a page", reply(200, &[("content-type", "text/html")], "<html>Sign in</html>"), Some(Malformed)),
        same(
            "200 with an error",
            reply(200, &[], r#"{"error":{"message":"busy","code":503}}"#),
            Some(Overloaded),
        ),
        row(
            "200 with an error after the start",
            reply(200, &[], r#"{"error":{"message":"bad key","code":401}}"#),
            Some(Auth),
            vec![
                send(EVENTS),
                send(PIECE),
                send("data: {\"error\":{\"message\":\"bad key\",\"code\":401}}\n\n"),
            ],
            Some(Auth),
        ),
        row(
            "too large",
            reply(200, &[], &large),
            Some(Malformed),
            vec![send(EVENTS), send(PIECE), send(&format!("data: {large}\n\n")), Act::Stall],
            Some(Malformed),
        ),
        same("429", error(429, &[]), Some(RateLimit)),
        same("429, seconds", error(429, &[("retry-after", "7")]), Some(RateLimit)),
        same("429, milliseconds", error(429, &[("retry-after-ms", "7000")]), Some(RateLimit)),
        same(
            "429, date",
            error(
                429,
                &[
                    ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
                    ("retry-after", "Wed, 21 Oct 2015 07:28:07 GMT"),
                ],
            ),
            Some(RateLimit),
        ),
        same("400", error(400, &[]), Some(BadRequest)),
        same("401", error(401, &[]), Some(Auth)),
        same("503", error(503, &[]), Some(Overloaded)),
    ]
}

/// The text that was shown on the way, and what came of it.
fn run(client: &OpenAi, streamed: bool) -> (String, Result<Completion, LmError>) {
    let request = Request::new([Message::user("Ahoy")]);
    block_on(async {
        let mut shown = String::new();
        if !streamed {
            return (shown, client.complete(&request).await);
        }
        let mut stream = match client.stream(&request).await {
            Ok(stream) => stream,
            Err(error) => return (shown, Err(error)),
        };
        let mut ended = None;
        while let Some(event) = stream.next().await {
            assert!(ended.is_none(), "something comes after the end");
            match event {
                Ok(StreamEvent::Delta(Delta::Text { text, .. })) => shown.push_str(&text),
                Ok(StreamEvent::Done(completion)) => ended = Some(Ok(completion)),
                Ok(_) => {}
                Err(error) => ended = Some(Err(error)),
            }
        }
        (shown, ended.expect("a stream ends with a reply or an error"))
    })
}

#[test]
fn every_fault_over_both_transports_whole_and_streamed() {
    for row in table() {
        for streamed in [false, true] {
            let (acts, kind) =
                if streamed { (&row.streamed, row.streamed_kind) } else { (&row.whole, row.whole_kind) };
            for transport in ["reqwest", "ureq"] {
                let what = format!("{}, {transport}, streamed: {streamed}", row.fault);
                let server = Server::start(vec![acts.clone()]);
                let client = OpenAi::new("m").base_url(&server.url).retries(Retries::none());
                let client = client.timeout(Duration::from_millis(600)).max_response_size(64 * 1024);
                let client = if transport == "reqwest" {
                    client.transport(Reqwest::new())
                } else {
                    client.transport(Ureq::new())
                };
                let (shown, result) = run(&client, streamed);
                match (result, kind) {
                    (Ok(completion), None) => {
                        assert_eq!(completion.text(), Some("Zoë"), "{what}");
                        assert!(!streamed || shown == "Zoë", "{what}: {shown}");
                    }
                    (Err(error), Some(kind)) => {
                        assert_eq!(error.kind(), kind, "{what}: {error:?}");
                        // What was shown is what the error has, no less and no more.
                        let read = error.completion().and_then(Completion::text).unwrap_or_default();
                        assert!(!streamed || read == shown, "{what}: {read:?}, {shown:?}");
                        let wait = row.fault.starts_with("429, ").then_some(Duration::from_secs(7));
                        assert_eq!(error.retry_after(), wait, "{what}");
                    }
                    (result, _) => panic!("{what}: {result:?}"),
                }
                assert_eq!(server.received().len(), 1, "{what}: asked once");
            }
        }
    }
}

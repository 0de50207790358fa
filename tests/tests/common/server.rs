//! A server that answers as a script says, byte for byte, on a loopback port.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value as Json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::{anthropic_schema, openai_schema};

/// One thing that the server does in answer to a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Waits so long.
    Wait(Duration),
    /// Does nothing more until the client goes away.
    Stall,
    /// Closes the connection.
    Close,
    /// Breaks the connection off, so that the client gets an RST.
    Reset,
}

/// A whole reply.
pub fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<Act> {
    let headers: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (headers, length) = (headers.concat(), body.len());
    let text = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    vec![Act::Send(text.into_bytes())]
}

/// A whole reply of a model that says `text`.
pub fn says(text: &str) -> Vec<Act> {
    let body = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    });
    reply(200, &[("content-type", "application/json")], &body.to_string())
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Received {
    /// Which connection it came on, counted from 0.
    pub connection: usize,
    /// Method and path: `POST /v1/chat/completions`.
    pub line: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Json,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The server. Dropping it stops it, and fails the test if the provider would not have taken one of the requests.
pub struct Server {
    /// What a client calls its base URL.
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
    closed: Arc<AtomicUsize>,
    gone: Arc<AtomicUsize>,
    faults: Vec<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Starts a server that answers its n-th request by the n-th list, and all later ones by the last.
    pub fn start(script: Vec<Vec<Act>>) -> Self {
        // A thread and a runtime of its own: a client that blocks its thread must not block the server.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        listener.set_nonblocking(true).expect("the listener can wait");
        let url = format!("http://{}/v1", listener.local_addr().expect("the listener has an address"));
        let received = Arc::default();
        let closed = Arc::default();
        let (stop, stopped) = oneshot::channel();
        let gone = Arc::default();
        let shared = Shared {
            script: script.into(),
            received: Arc::clone(&received),
            closed: Arc::clone(&closed),
            gone: Arc::clone(&gone),
        };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime starts").block_on(async {
                let listener = TcpListener::from_std(listener).expect("the listener is usable");
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        Server { url, received, closed, gone, faults: Vec::new(), stop: Some(stop), thread: Some(thread) }
    }

    /// Lets requests pass in which exactly this is wrong: the test is about what a client sends when told so.
    pub fn expecting(mut self, fault: &str) -> Self {
        self.faults.push(fault.to_owned());
        self
    }

    /// Every request so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no request handler failed").clone()
    }

    /// Waits until the server has closed so many connections by [`Act::Close`].
    pub fn wait_closed(&self, connections: usize) {
        Server::wait(&self.closed, connections);
    }

    /// Waits until clients have left so many connections on which the server stalled.
    pub fn wait_gone(&self, connections: usize) {
        Server::wait(&self.gone, connections);
    }

    fn wait(counter: &AtomicUsize, connections: usize) {
        for _ in 0..1000 {
            if counter.load(Ordering::SeqCst) >= connections {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("{connections} connections were not closed");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let joined = self.thread.take().map(std::thread::JoinHandle::join);
        if !std::thread::panicking() {
            assert!(matches!(joined, Some(Ok(()))), "the server failed");
            let mut seen = Vec::new();
            for request in self.received() {
                let mut violations = if request.line.ends_with("/messages") {
                    anthropic_schema::violations(&request.body)
                } else {
                    openai_schema::violations(&request.body)
                };
                seen.extend(violations.extract_if(.., |found| self.faults.contains(found)));
                assert_eq!(violations, [""; 0], "{}", request.body);
            }
            let missing: Vec<_> = self.faults.iter().filter(|fault| !seen.contains(*fault)).collect();
            assert_eq!(missing, [""; 0], "no request was wrong in this way");
        }
    }
}

#[derive(Clone)]
struct Shared {
    script: Arc<[Vec<Act>]>,
    received: Arc<Mutex<Vec<Received>>>,
    closed: Arc<AtomicUsize>,
    gone: Arc<AtomicUsize>,
}

async fn accept(listener: TcpListener, shared: Shared) {
    let mut connection = 0;
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream, connection, shared.clone()));
        connection += 1;
    }
}

async fn serve(mut stream: TcpStream, connection: usize, shared: Shared) {
    let Shared { script, received, closed, gone } = shared;
    while let Some(request) = read(&mut stream, connection).await {
        let at = {
            let mut received = received.lock().expect("no request handler failed");
            received.push(request);
            received.len() - 1
        };
        for act in script.get(at).or(script.last()).into_iter().flatten() {
            match act {
                Act::Send(bytes) => {
                    // The client may have gone away, which is its right.
                    if stream.write_all(bytes).await.is_err() {
                        return;
                    }
                }
                Act::Wait(time) => tokio::time::sleep(*time).await,
                Act::Stall => {
                    let _ = stream.read(&mut [0; 64]).await;
                    gone.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                Act::Reset => {
                    stream.set_zero_linger().expect("a connection can be broken off");
                    drop(stream);
                    closed.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                Act::Close => {
                    drop(stream);
                    closed.fetch_add(1, Ordering::SeqCst);
                    return;
                }
            }
        }
    }
}

/// The next request, or `None` if the client closed the connection.
async fn read(stream: &mut TcpStream, connection: usize) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if let Some(request) = parse(&bytes, connection) {
            return Some(request);
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

/// The request, if all of it is there.
fn parse(bytes: &[u8], connection: usize) -> Option<Received> {
    let head_end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..head_end]);
    let mut lines = head.split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse::<usize>().ok()?;
    let body = bytes.get(head_end + 4..head_end + 4 + length)?;
    let body = serde_json::from_slice(body).unwrap_or_else(|error| panic!("a body is no JSON: {error}"));
    Some(Received { connection, line, headers, body })
}

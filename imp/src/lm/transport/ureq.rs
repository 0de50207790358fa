//! The blocking transport.

use std::fmt;
use std::io::Read;
use std::time::Duration;

use super::{
    CONNECT, Headers, HttpBody, HttpRequest, HttpResponse, Transport, cut_off, innermost, shown, timed_out,
    too_slow, unreachable, unsendable,
};
use crate::lm::{BoxFuture, LmError, LmErrorKind};

/// The blocking transport: `ureq`, without tokio, TLS by `rustls` and Mozilla's certificates.
///
/// Its futures complete in one poll and block the thread meanwhile, so any executor will do, but
/// a runtime's own threads are the wrong place for it. Dropping a future cannot stop it, so a call is
/// cancelled by its limit of time only. The idle limit holds beside a limit for the first byte, and is then
/// the longer of the two.
#[derive(Clone)]
pub struct Ureq {
    agent: ureq::Agent,
}

impl Ureq {
    /// A transport with connections of its own.
    pub fn new() -> Self {
        Ureq::new_with(CONNECT)
    }

    /// Sets how long connecting may take. The default is 10 seconds. Connections that are open are left behind.
    pub fn connect_timeout(self, limit: Duration) -> Self {
        Ureq::new_with(limit)
    }

    fn new_with(connect: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(connect))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("imp/", env!("CARGO_PKG_VERSION")))
            .build();
        Ureq { agent: config.new_agent() }
    }

    fn send_now(&self, request: HttpRequest) -> Result<HttpResponse, LmError> {
        let HttpRequest { url, headers, body, timeout, first_byte_timeout, idle_timeout } = request;
        let mut sent = self
            .agent
            .post(&url)
            .config()
            .timeout_global(timeout)
            .timeout_recv_response(first_byte_timeout)
            // Its limit of a read holds for the headers, too: without one for them it would end a slow first byte.
            .timeout_per_read(first_byte_timeout.zip(idle_timeout).map(|(first, idle)| first.max(idle)))
            .build();
        for (name, value) in headers.iter() {
            sent = sent.header(name, value);
        }
        let reply = match sent.send(body) {
            Ok(reply) => reply,
            Err(ureq::Error::Timeout(ureq::Timeout::RecvResponse)) if first_byte_timeout.is_some() => {
                let limit = first_byte_timeout.unwrap_or_default();
                return Err(too_slow(&url, "no reply", limit).with_retryable(true));
            }
            Err(error) => return Err(send_error(error, &url, timeout)),
        };
        let headers = reply
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
            .collect::<Headers>();
        let status = reply.status().as_u16();
        let body = Body { reader: Box::new(reply.into_body().into_reader()), url, timeout };
        Ok(HttpResponse::new(status, headers, body))
    }
}

impl Default for Ureq {
    fn default() -> Self {
        Ureq::new()
    }
}

impl fmt::Debug for Ureq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ureq")
    }
}

impl Transport for Ureq {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, LmError>> {
        Box::pin(async move { self.send_now(request) })
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move { std::thread::sleep(time) })
    }
}

fn send_error(error: ureq::Error, url: &str, timeout: Option<Duration>) -> LmError {
    let made = match &error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            LmError::new(LmErrorKind::Timeout, format!("no connection to {} in time", shown(url)))
                .with_retryable(true)
        }
        ureq::Error::Timeout(_) => timed_out(url, timeout),
        // Its text repeats the address, which may hold a secret.
        ureq::Error::BadUri(_) => return unsendable(url, "the address is not valid"),
        ureq::Error::Http(error) => unsendable(url, &error.to_string()),
        error => unreachable(url, &innermost(error)),
    };
    made.with_source(error)
}

/// The size of a piece of the body, in bytes.
const PIECE: usize = 16 * 1024;

struct Body {
    reader: Box<dyn Read + Send>,
    url: String,
    timeout: Option<Duration>,
}

impl Body {
    fn chunk_now(&mut self) -> Result<Option<Vec<u8>>, LmError> {
        let mut piece = vec![0; PIECE];
        loop {
            match self.reader.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(read) => {
                    piece.truncate(read);
                    return Ok(Some(piece));
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let error = ureq::Error::from(error);
                    let made = match &error {
                        ureq::Error::Timeout(_) => timed_out(&self.url, self.timeout),
                        error => cut_off(&self.url, &innermost(error)),
                    };
                    return Err(made.with_source(error));
                }
            }
        }
    }
}

impl HttpBody for Body {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, LmError>> {
        Box::pin(async move { self.chunk_now() })
    }
}

//! The async transport.

use std::error::Error as _;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use super::{
    CONNECT, Headers, HttpBody, HttpRequest, HttpResponse, Transport, cut_off, innermost, shown, timed_out,
    too_slow, unreachable, unsendable,
};
use crate::lm::{BoxFuture, LmError, LmErrorKind};

/// The async transport: `reqwest`, with connections that are kept alive, TLS by `rustls` and the platform's
/// certificates, and the proxy that the environment names.
///
/// It must be awaited inside a tokio runtime, which `imp::lm::block_on` (feature `blocking`) brings along.
pub struct Reqwest {
    connect_timeout: Duration,
    // Made at the first call: making one reads certificates, and can fail.
    client: OnceLock<Result<reqwest::Client, String>>,
}

impl Reqwest {
    /// A transport with connections of its own.
    pub fn new() -> Self {
        Reqwest { connect_timeout: CONNECT, client: OnceLock::new() }
    }

    /// Sets how long connecting may take. The default is 10 seconds.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self.client = OnceLock::new();
        self
    }

    fn client(&self) -> Result<&reqwest::Client, LmError> {
        let client = self.client.get_or_init(|| {
            reqwest::Client::builder()
                .connect_timeout(self.connect_timeout)
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("imp/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| innermost(&error))
        });
        client.as_ref().map_err(|cause| {
            LmError::new(LmErrorKind::NotConfigured, format!("the HTTP client cannot be made: {cause}"))
        })
    }
}

impl Default for Reqwest {
    fn default() -> Self {
        Reqwest::new()
    }
}

impl fmt::Debug for Reqwest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reqwest")
    }
}

impl Transport for Reqwest {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, LmError>> {
        Box::pin(async move {
            // Outside a runtime tokio would panic.
            if tokio::runtime::Handle::try_current().is_err() {
                return Err(LmError::new(
                    LmErrorKind::NotConfigured,
                    "the `reqwest` transport needs a tokio runtime: await the call inside one, or use the feature `blocking` or `ureq`",
                ));
            }
            let HttpRequest { url, headers, body, timeout, first_byte_timeout, idle_timeout } = request;
            let mut sent = self.client()?.post(&url).body(body);
            for (name, value) in headers.iter() {
                sent = sent.header(name, value);
            }
            if let Some(timeout) = timeout {
                sent = sent.timeout(timeout);
            }
            let reply = match first_byte_timeout {
                None => sent.send().await,
                Some(limit) => match tokio::time::timeout(limit, sent.send()).await {
                    Ok(reply) => reply,
                    Err(_) => return Err(too_slow(&url, "no reply", limit).with_retryable(true)),
                },
            };
            let reply = match reply {
                Ok(reply) => reply,
                Err(error) => return Err(send_error(error, &url, timeout)),
            };
            let headers = reply
                .headers()
                .iter()
                .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
                .collect::<Headers>();
            Ok(HttpResponse::new(
                reply.status().as_u16(),
                headers,
                Body { reply, url, timeout, idle_timeout },
            ))
        })
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// `reqwest`'s own message repeats the address, which may hold a secret.
fn send_error(error: reqwest::Error, url: &str, timeout: Option<Duration>) -> LmError {
    let error = error.without_url();
    let made = if error.is_timeout() && error.is_connect() {
        LmError::new(LmErrorKind::Timeout, format!("no connection to {} in time", shown(url)))
            .with_retryable(true)
    } else if error.is_timeout() {
        timed_out(url, timeout)
    } else if error.is_builder() {
        unsendable(url, &innermost(&error))
    } else {
        unreachable(url, &innermost(&error))
    };
    made.with_source(error)
}

struct Body {
    reply: reqwest::Response,
    url: String,
    timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
}

impl HttpBody for Body {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, LmError>> {
        Box::pin(async move {
            let chunk = match self.idle_timeout {
                None => self.reply.chunk().await,
                Some(limit) => match tokio::time::timeout(limit, self.reply.chunk()).await {
                    Ok(chunk) => chunk,
                    Err(_) => return Err(too_slow(&self.url, "nothing more of the reply", limit)),
                },
            };
            match chunk {
                Ok(chunk) => Ok(chunk.map(Vec::from)),
                Err(error) => {
                    let error = error.without_url();
                    let made = if error.is_timeout() {
                        timed_out(&self.url, self.timeout)
                    } else {
                        cut_off(&self.url, &error.source().map_or_else(|| error.to_string(), innermost))
                    };
                    Err(made.with_source(error))
                }
            }
        })
    }
}

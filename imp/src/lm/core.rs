//! What the clients of all wires share: sending, repeating, learning, streaming.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::learned::{self, Learned};
use super::retry::{self, Budget, Retries};
use super::slots::{Slot, Slots};
use super::stream::{CompletionSource, CompletionStream, StreamEvent};
use super::transport::shown;
use super::wire::{Delta, StreamDecoder, anthropic, openai};
use super::{
    BoxFuture, Capabilities, Completion, Headers, HttpBody, HttpRequest, HttpResponse, Key, LmError,
    LmErrorKind, Request, Transport,
};

/// Which format a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    OpenAi,
    Anthropic,
}

/// A client's settings, and what its clones share.
#[derive(Clone)]
pub(super) struct Core {
    pub(super) wire: Wire,
    pub(super) model: String,
    pub(super) base_url: String,
    pub(super) key: Option<Key>,
    pub(super) timeout: Option<Duration>,
    pub(super) first_byte_timeout: Option<Duration>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) headers: Headers,
    pub(super) capabilities: Option<Capabilities>,
    pub(super) transport: Option<Arc<dyn Transport>>,
    pub(super) max_response_size: usize,
    pub(super) retries: Retries,
    pub(super) slots: Option<Arc<Slots>>,
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug, Default)]
pub(super) struct Shared {
    learned: Learned,
    budget: Budget,
    /// A reply came: there may be connections that are kept alive, and gone stale.
    replied: AtomicBool,
}

impl Core {
    pub(super) fn new(wire: Wire, model: String, base_url: &str) -> Self {
        Core {
            wire,
            model,
            base_url: base_url.to_owned(),
            key: None,
            timeout: Some(Duration::from_secs(600)),
            first_byte_timeout: None,
            idle_timeout: Some(Duration::from_secs(60)),
            headers: Headers::new(),
            capabilities: None,
            transport: default_transport(),
            max_response_size: 64 * 1024 * 1024,
            retries: Retries::default(),
            slots: None,
            shared: Arc::default(),
        }
    }

    /// Whether this is the provider itself, at the address that needs a key.
    pub(super) fn is_at(&self, url: &str) -> bool {
        shown(&self.base_url).trim_end_matches('/').eq_ignore_ascii_case(url)
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        let set = self.capabilities.unwrap_or_else(|| match self.wire {
            Wire::OpenAi => {
                Capabilities::default().max_completion_tokens(self.is_at(super::OpenAi::BASE_URL))
            }
            Wire::Anthropic => super::Anthropic::wire_capabilities(),
        });
        self.shared.learned.get().apply(set)
    }

    pub(super) async fn complete(&self, request: &Request) -> Result<Completion, LmError> {
        let key = self.key.as_ref().and_then(Key::get);
        let result = match self.attempts(request, key.as_deref(), false, Instant::now()).await {
            Ok((Opened::Whole(completion), _)) => Ok(completion),
            Ok((Opened::Stream(..), _)) => {
                Err(LmError::new(LmErrorKind::Other, "a stream that nobody asked for"))
            }
            Err(error) => Err(error),
        };
        result.map_err(|error| redacted(error, key.as_deref()))
    }

    pub(super) async fn stream<'a>(&'a self, request: &'a Request) -> Result<CompletionStream<'a>, LmError> {
        let key = self.key.as_ref().and_then(Key::get);
        let started = Instant::now();
        match self.attempts(request, key.as_deref(), true, started).await {
            Ok((Opened::Whole(completion), _)) => Ok(CompletionStream::whole(completion)),
            Ok((Opened::Stream(body, decoder), slot)) => Ok(CompletionStream::new(Streaming {
                core: self,
                request,
                started,
                body,
                decoder: Some(*decoder),
                waiting: VecDeque::new(),
                broken: None,
                room: self.max_response_size,
                shown: false,
                restarts: 0,
                key,
                slot,
            })),
            Err(error) => Err(redacted(error, key.as_deref())),
        }
    }

    async fn attempts(
        &self,
        request: &Request,
        key: Option<&str>,
        streamed: bool,
        started: Instant,
    ) -> Result<(Opened, Option<Slot>), LmError> {
        let total = request.config.timeout.or(self.timeout);
        // The first try has all of it, so that the error says the limit as it was set.
        let spent = started.elapsed();
        let mut left = total
            .map(|total| if spent < Duration::from_millis(1) { total } else { total.saturating_sub(spent) });
        let mut tried = 0;
        let (mut adapted, mut renewed) = (false, false);
        let mut capabilities = self.capabilities();
        loop {
            let slot = match &self.slots {
                Some(slots) => Some(slots.take().await),
                None => None,
            };
            let error = match self.once(request, key, streamed, capabilities, left).await {
                Ok(opened) => {
                    self.shared.replied.store(true, Ordering::Relaxed);
                    self.shared.budget.earn(tried > 0);
                    return Ok((opened, slot));
                }
                Err(error) => error,
            };
            drop(slot);
            left = total.map(|total| total.saturating_sub(started.elapsed()));
            if left == Some(Duration::ZERO) {
                return Err(error);
            }
            if !adapted {
                if let Some(refused) = learned::refused(&error, request, capabilities, streamed) {
                    adapted = true;
                    self.shared.learned.add(refused);
                    capabilities = refused.without_formats().apply(capabilities);
                    continue;
                }
            }
            // The server may have closed a connection that was kept alive, which shows on its next use.
            if error.kind() == LmErrorKind::Transport
                && !std::mem::replace(&mut renewed, true)
                && self.shared.replied.load(Ordering::Relaxed)
            {
                continue;
            }
            let Some(wait) = self.retries.wait(tried, &error) else { return Err(error) };
            if left.is_some_and(|left| left <= wait) || !self.shared.budget.spend() {
                return Err(error);
            }
            tried += 1;
            if let Some(transport) = &self.transport {
                transport.sleep(wait).await;
            }
            left = total.map(|total| total.saturating_sub(started.elapsed()));
        }
    }

    async fn once(
        &self,
        request: &Request,
        key: Option<&str>,
        streamed: bool,
        capabilities: Capabilities,
        left: Option<Duration>,
    ) -> Result<Opened, LmError> {
        let Some(transport) = &self.transport else {
            return Err(not_configured(
                "nothing to send the request with: enable the feature `reqwest` or `ureq`, or set `transport`",
            ));
        };
        let mut sent = HttpRequest::new(self.endpoint(), self.body(request, streamed, capabilities)?);
        sent.timeout = left;
        sent.first_byte_timeout = self.first_byte_timeout;
        sent.idle_timeout = self.idle_timeout;
        sent.headers = self.request_headers(key, streamed)?;
        let reply = transport.send(sent).await?;
        let (status, headers) = (reply.status, reply.headers.clone());
        if streamed && (200..300).contains(&status) {
            let decoder = match self.wire {
                Wire::OpenAi => StreamDecoder::openai(status, &headers),
                Wire::Anthropic => StreamDecoder::anthropic(status, &headers),
            };
            return Ok(Opened::Stream(reply.body, Box::new(decoder)));
        }
        self.whole(reply, status, &headers).await.map(Opened::Whole).map_err(|error| {
            // A date can only be compared with a clock, which the wire does not have.
            match retry::retry_after(&headers, Some(SystemTime::now())) {
                Some(wait) if error.retry_after().is_none() && !(200..300).contains(&status) => {
                    error.with_retry_after(wait)
                }
                _ => error,
            }
        })
    }

    async fn whole(
        &self,
        reply: HttpResponse,
        status: u16,
        headers: &Headers,
    ) -> Result<Completion, LmError> {
        let body = reply.into_bytes(self.max_response_size).await?;
        match self.wire {
            Wire::OpenAi => openai::decode(status, headers, &body),
            Wire::Anthropic => anthropic::decode(status, headers, &body),
        }
    }

    fn body(
        &self,
        request: &Request,
        streamed: bool,
        capabilities: Capabilities,
    ) -> Result<Vec<u8>, LmError> {
        let encode = match (self.wire, streamed) {
            (Wire::OpenAi, false) => openai::encode,
            (Wire::OpenAi, true) => openai::encode_stream,
            (Wire::Anthropic, false) => anthropic::encode,
            (Wire::Anthropic, true) => anthropic::encode_stream,
        };
        encode(request, &self.model, capabilities)
    }

    fn request_headers(&self, key: Option<&str>, streamed: bool) -> Result<Headers, LmError> {
        let mut headers = Headers::new();
        headers.set("content-type", "application/json");
        headers.set("accept", if streamed { "text/event-stream" } else { "application/json" });
        match self.wire {
            Wire::OpenAi => {
                if key.is_none() && self.is_at(super::OpenAi::BASE_URL) {
                    return Err(not_configured(
                        "no key for api.openai.com: set `key`, or `base_url` for a server that needs none",
                    ));
                }
                if let Some(key) = key {
                    headers.set("authorization", format!("Bearer {key}"));
                }
            }
            Wire::Anthropic => {
                if key.is_none() && self.is_at(super::Anthropic::BASE_URL) {
                    return Err(not_configured(
                        "no key for api.anthropic.com: set `key`, or `base_url` for a server that needs none",
                    ));
                }
                headers.set("anthropic-version", "2023-06-01");
                if let Some(key) = key {
                    headers.set("x-api-key", key);
                }
            }
        }
        for (name, value) in self.headers.iter() {
            headers.set(name, value);
        }
        // Checked here, so that no transport is asked to send what would end a header and start another.
        for (name, value) in headers.iter() {
            if !is_header(name, value) {
                return Err(not_configured(&format!(
                    "the header `{}` has a character that HTTP does not take: use visible ASCII only{}",
                    name.escape_debug(),
                    if matches!(name, "authorization" | "x-api-key") { " in the key" } else { "" },
                )));
            }
        }
        Ok(headers)
    }

    /// The URL of the endpoint below the base URL.
    fn endpoint(&self) -> String {
        let (path, query) = self.base_url.split_at(self.base_url.find('?').unwrap_or(self.base_url.len()));
        let path = path.trim_end_matches('/');
        let end = match self.wire {
            Wire::OpenAi => "/chat/completions",
            Wire::Anthropic => "/messages",
        };
        format!("{}{end}{query}", path.strip_suffix(end).unwrap_or(path))
    }

    pub(super) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("model", &self.model)
            .field("base_url", &shown(&self.base_url))
            .field("key", &self.key)
            .field("timeout", &self.timeout)
            .field("first_byte_timeout", &self.first_byte_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("headers", &self.headers)
            .field("capabilities", &self.capabilities())
            .field("max_response_size", &self.max_response_size)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

/// What a request led to.
enum Opened {
    Whole(Completion),
    Stream(Box<dyn HttpBody>, Box<StreamDecoder>),
}

/// A reply on its way.
struct Streaming<'a> {
    core: &'a Core,
    request: &'a Request,
    started: Instant,
    body: Box<dyn HttpBody>,
    /// `None` after the end.
    decoder: Option<StreamDecoder>,
    waiting: VecDeque<Delta>,
    /// Why no more bytes come, if the body did not end by itself.
    broken: Option<LmError>,
    /// How many more bytes may come.
    room: usize,
    /// Something of the reply was given out, so that it cannot be asked for again.
    shown: bool,
    /// How often it was asked for again.
    restarts: u32,
    key: Option<String>,
    slot: Option<Slot>,
}

impl Streaming<'_> {
    async fn step(&mut self) -> Option<Result<StreamEvent, LmError>> {
        loop {
            if let Some(delta) = self.waiting.pop_front() {
                self.shown = true;
                return Some(Ok(StreamEvent::Delta(delta)));
            }
            let mut decoder = self.decoder.take()?;
            let ended = if let Some(cause) = self.broken.take() {
                decoder.broke_off(cause)
            } else if decoder.is_done() {
                decoder.finish()
            } else {
                match self.body.chunk().await {
                    Ok(Some(piece)) => {
                        if let Some(room) = self.room.checked_sub(piece.len()) {
                            self.room = room;
                            self.waiting.extend(decoder.push(&piece));
                            self.decoder = Some(decoder);
                            continue;
                        }
                        let text = "the stream has more bytes than `max_response_size` allows";
                        decoder.broke_off(LmError::new(LmErrorKind::Malformed, text))
                    }
                    Ok(None) => {
                        self.waiting.extend(decoder.end());
                        self.decoder = Some(decoder);
                        continue;
                    }
                    Err(cause) => {
                        self.waiting.extend(decoder.end_stream());
                        self.decoder = Some(decoder);
                        self.broken = Some(cause);
                        continue;
                    }
                }
            };
            // The connection is given back, or closed, and the place with it.
            self.body = Box::new(Vec::new());
            self.slot = None;
            let error = match ended {
                Ok(completion) => return Some(Ok(StreamEvent::Done(completion))),
                Err(error) => error,
            };
            match self.restart(error).await {
                Ok(None) => {}
                Ok(Some(completion)) => return Some(Ok(StreamEvent::Done(completion))),
                Err(error) => return Some(Err(redacted(error, self.key.as_deref()))),
            }
        }
    }

    /// Asks for the reply again, if nothing of it was given out and that may help. The error is the last one.
    async fn restart(&mut self, error: LmError) -> Result<Option<Completion>, LmError> {
        // A stream that broke off before it said anything is as good as a connection that failed before a reply.
        let worth = error.kind() == LmErrorKind::CutOff || error.is_retryable();
        if self.shown || !worth {
            return Err(error);
        }
        let again = error.clone().with_retryable(true);
        let Some(wait) = self.core.retries.wait(self.restarts, &again) else { return Err(error) };
        let total = self.request.config.timeout.or(self.core.timeout);
        let late = total.is_some_and(|total| total.saturating_sub(self.started.elapsed()) <= wait);
        if late || !self.core.shared.budget.spend() {
            return Err(error);
        }
        self.restarts += 1;
        if let Some(transport) = &self.core.transport {
            transport.sleep(wait).await;
        }
        let opened = self.core.attempts(self.request, self.key.as_deref(), true, self.started).await?;
        match opened {
            (Opened::Whole(completion), _) => Ok(Some(completion)),
            (Opened::Stream(body, decoder), slot) => {
                self.body = body;
                self.decoder = Some(*decoder);
                self.room = self.core.max_response_size;
                self.slot = slot;
                Ok(None)
            }
        }
    }
}

impl CompletionSource for Streaming<'_> {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<StreamEvent, LmError>>> {
        Box::pin(self.step())
    }
}

fn redacted(error: LmError, key: Option<&str>) -> LmError {
    match key {
        Some(key) => error.redact(key),
        None => error,
    }
}

fn not_configured(text: &str) -> LmError {
    LmError::new(LmErrorKind::NotConfigured, text)
}

fn is_header(name: &str, value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty()
        && name.bytes().all(token)
        && value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ' || byte == b'\t')
}

// `None` is only for a build without a transport.
#[allow(clippy::unnecessary_wraps)]
fn default_transport() -> Option<Arc<dyn Transport>> {
    #[cfg(feature = "reqwest")]
    return Some(Arc::new(super::Reqwest::new()));
    #[cfg(all(feature = "ureq", not(feature = "reqwest")))]
    return Some(Arc::new(super::Ureq::new()));
    #[cfg(not(any(feature = "reqwest", feature = "ureq")))]
    None
}

/// The settings that every client has, over a type that holds a [`Core`] as its only field, and the model it is.
macro_rules! client {
    ($client:ident) => {
        impl $client {
            /// Sets where the server is, up to the endpoint, which may be there already. A query stays behind the
            /// path: `https://host/openai/v1?api-version=1`.
            pub fn base_url(mut self, url: impl Into<String>) -> Self {
                self.0.base_url = url.into();
                self.0.shared = Default::default();
                self
            }

            /// Sets the key: a text, or a closure that is asked before each request.
            pub fn key(mut self, key: impl Into<crate::lm::Key>) -> Self {
                self.0.key = Some(key.into());
                self
            }

            /// Sets the model.
            pub fn model(mut self, model: impl Into<String>) -> Self {
                self.0.model = model.into();
                self.0.shared = Default::default();
                self
            }

            /// Sets how long a whole call may take, from connecting to the last byte, with all repetitions and waits.
            /// The default is 10 minutes; a request's own [`timeout`](crate::Config::timeout) goes before it.
            pub fn timeout(mut self, total: std::time::Duration) -> Self {
                self.0.timeout = Some(total);
                self
            }

            /// Sets how long the status and headers of a reply may take. There is no such limit by default: a
            /// provider sends them when a reply that is not streamed is written. One that takes longer is repeated.
            pub fn first_byte_timeout(mut self, limit: std::time::Duration) -> Self {
                self.0.first_byte_timeout = Some(limit);
                self
            }

            /// Sets how long each further piece of a reply may take. The default is 60 seconds.
            pub fn idle_timeout(mut self, limit: std::time::Duration) -> Self {
                self.0.idle_timeout = Some(limit);
                self
            }

            /// Sets one more header of every request.
            pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.0.headers.set(name, value);
                self
            }

            /// Sets what the model and its server take. What the server is found to refuse is taken off.
            pub fn capabilities(mut self, capabilities: crate::lm::Capabilities) -> Self {
                self.0.capabilities = Some(capabilities);
                self.0.shared = Default::default();
                self
            }

            /// Sets what sends the requests.
            pub fn transport(mut self, transport: impl crate::lm::Transport + 'static) -> Self {
                self.0.transport = Some(std::sync::Arc::new(transport));
                self
            }

            /// Sets how many bytes a reply may have. The default is 64 MiB.
            pub fn max_response_size(mut self, bytes: usize) -> Self {
                self.0.max_response_size = bytes;
                self
            }

            /// Sets when and how often a request that failed is repeated. The default is [`Retries::new`](crate::lm::Retries::new).
            pub fn retries(mut self, retries: crate::lm::Retries) -> Self {
                self.0.retries = retries;
                self
            }

            /// Sets how many requests of this client and its clones may be in flight at once; the others wait. There
            /// is no limit by default. A streamed reply counts until its end.
            pub fn max_in_flight(mut self, requests: usize) -> Self {
                self.0.slots = Some(crate::lm::slots::Slots::new(requests));
                self
            }
        }

        impl crate::lm::LanguageModel for $client {
            fn complete<'a>(
                &'a self,
                request: &'a crate::lm::Request,
            ) -> crate::lm::BoxFuture<'a, Result<crate::lm::Completion, crate::lm::LmError>> {
                Box::pin(self.0.complete(request))
            }

            fn stream<'a>(
                &'a self,
                request: &'a crate::lm::Request,
            ) -> crate::lm::BoxFuture<'a, Result<crate::lm::CompletionStream<'a>, crate::lm::LmError>> {
                Box::pin(self.0.stream(request))
            }

            fn model(&self) -> &str {
                &self.0.model
            }

            fn capabilities(&self) -> crate::lm::Capabilities {
                self.0.capabilities()
            }
        }

        impl std::fmt::Debug for $client {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.debug(stringify!($client), f)
            }
        }
    };
}

pub(super) use client;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_stands_below_the_base_url_and_before_its_query() {
        for (wire, base, url) in [
            (Wire::OpenAi, "http://h/v1", "http://h/v1/chat/completions"),
            (Wire::OpenAi, "http://h/v1/", "http://h/v1/chat/completions"),
            (Wire::OpenAi, "http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            (Wire::OpenAi, "http://h/v1?api-version=1", "http://h/v1/chat/completions?api-version=1"),
            (Wire::Anthropic, "http://h/v1", "http://h/v1/messages"),
            (Wire::Anthropic, "http://h/v1/messages", "http://h/v1/messages"),
        ] {
            assert_eq!(Core::new(wire, "m".into(), base).endpoint(), url);
        }
    }

    #[test]
    fn what_a_header_may_hold() {
        let cases = [
            ("x-a", "b c", true),
            ("x-a", "", true),
            ("", "b", false),
            ("x a", "b", false),
            ("x-a", "b\r\nx-c: d", false),
            ("x-a", "é", false),
            ("x:a", "b", false),
        ];
        for (name, value, expected) in cases {
            assert_eq!(is_header(name, value), expected, "{name:?} {value:?}");
        }
    }
}

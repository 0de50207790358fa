//! What keeps a model from answering.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Completion;

/// Why a model did not answer.
///
/// It never holds a key: clients take theirs out of whatever a provider repeats.
///
/// ```
/// use imp::{LmError, LmErrorKind};
///
/// let error = LmError::new(LmErrorKind::RateLimit, "too many requests").with_status(429);
/// assert_eq!(error.kind(), LmErrorKind::RateLimit);
/// assert!(error.is_retryable());
/// assert_eq!(error.to_string(), "too many requests");
/// ```
#[derive(Clone)]
pub struct LmError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: LmErrorKind,
    message: String,
    status: Option<u16>,
    provider_message: Option<String>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    retryable: Option<bool>,
    completion: Option<Completion>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The kinds of [`LmError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LmErrorKind {
    /// The key is missing or wrong, or the account may not use the model (401, 402, 403).
    Auth,
    /// Too many requests or tokens in a time, or a quota is used up (429).
    RateLimit,
    /// The messages are longer than the model can take. The same request never succeeds.
    ContextWindowExceeded,
    /// The provider's content filter stopped the request or the reply.
    ContentFilter,
    /// The model refused, in a field of its own; the words are the
    /// [`provider_message`](LmError::provider_message).
    Refusal,
    /// The reply ended before it was whole.
    CutOff,
    /// The provider has too much to do, or failed at it (5xx).
    Overloaded,
    /// The provider does not take the request: an unknown model, a field it does not know
    /// (400, 404, 413, 422).
    BadRequest,
    /// The server could not be reached, or the connection failed before a reply.
    Transport,
    /// The time was up.
    Timeout,
    /// The reply is not what the provider's format says.
    Malformed,
    /// Something is missing on this side: a key, a transport, a runtime.
    NotConfigured,
    /// Anything else.
    Other,
}

impl LmErrorKind {
    /// The kind in snake case, for logs and metrics: `rate_limit`, `context_window_exceeded`, …
    pub fn as_str(self) -> &'static str {
        match self {
            LmErrorKind::Auth => "auth",
            LmErrorKind::RateLimit => "rate_limit",
            LmErrorKind::ContextWindowExceeded => "context_window_exceeded",
            LmErrorKind::ContentFilter => "content_filter",
            LmErrorKind::Refusal => "refusal",
            LmErrorKind::CutOff => "cut_off",
            LmErrorKind::Overloaded => "overloaded",
            LmErrorKind::BadRequest => "bad_request",
            LmErrorKind::Transport => "transport",
            LmErrorKind::Timeout => "timeout",
            LmErrorKind::Malformed => "malformed",
            LmErrorKind::NotConfigured => "not_configured",
            LmErrorKind::Other => "other",
        }
    }
}

impl LmError {
    /// An error of a kind. The message says what is wrong and what to do, in lower case and
    /// without a full stop.
    pub fn new(kind: LmErrorKind, message: impl Into<String>) -> Self {
        LmError(Box::new(Inner {
            kind,
            message: message.into(),
            status: None,
            provider_message: None,
            request_id: None,
            retry_after: None,
            retryable: None,
            completion: None,
            source: None,
        }))
    }

    /// The same error with an HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// The same error with what the provider said.
    pub fn with_provider_message(mut self, message: impl Into<String>) -> Self {
        self.0.provider_message = Some(message.into());
        self
    }

    /// The same error with the provider's id of the request.
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// The same error with the time that the provider asks to wait.
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// The same error, worth another try or not, whatever its kind and status say.
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = Some(retryable);
        self
    }

    /// The same error with the part of the reply that was read.
    pub fn with_completion(mut self, completion: Completion) -> Self {
        self.0.completion = Some(completion);
        self
    }

    /// The same error with what caused it.
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> LmErrorKind {
        self.0.kind
    }

    /// The HTTP status; for an error in the body of a reply with status 200, the body's own code
    /// if it has one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// What the provider said, or the model if it refused.
    pub fn provider_message(&self) -> Option<&str> {
        self.0.provider_message.as_deref()
    }

    /// The provider's id of the request, for its support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// How long the provider asks to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The part of the reply that was read, with the tokens it cost, if there was one: where a
    /// filter stopped it, the model refused, or it was cut off.
    pub fn completion(&self) -> Option<&Completion> {
        self.0.completion.as_ref()
    }

    /// Whether the same request may succeed later: the status is 408, 409, 425, 429 or 5xx, or
    /// the connection failed before a reply.
    ///
    /// Never for a request that is too long or was filtered, whatever its status.
    pub fn is_retryable(&self) -> bool {
        if let Some(decided) = self.0.retryable {
            return decided;
        }
        match self.0.kind {
            LmErrorKind::ContextWindowExceeded | LmErrorKind::ContentFilter | LmErrorKind::Refusal => false,
            kind => match self.0.status {
                Some(status) => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
                None => {
                    matches!(kind, LmErrorKind::RateLimit | LmErrorKind::Overloaded | LmErrorKind::Transport)
                }
            },
        }
    }

    /// Takes a key out of everything that came from outside.
    pub(crate) fn redact(mut self, key: &str) -> Self {
        if key.is_empty() {
            return self;
        }
        let inner = &mut *self.0;
        for text in [Some(&mut inner.message), inner.provider_message.as_mut(), inner.request_id.as_mut()]
            .into_iter()
            .flatten()
        {
            if text.contains(key) {
                *text = text.replace(key, "[key]");
            }
        }
        self
    }
}

impl fmt::Display for LmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for LmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        let mut out = f.debug_struct("LmError");
        out.field("kind", &inner.kind).field("message", &inner.message);
        // What is not there is left out: most errors have two or three of these.
        if let Some(status) = &inner.status {
            out.field("status", status);
        }
        if let Some(message) = &inner.provider_message {
            out.field("provider_message", message);
        }
        if let Some(id) = &inner.request_id {
            out.field("request_id", id);
        }
        if let Some(wait) = &inner.retry_after {
            out.field("retry_after", wait);
        }
        if let Some(completion) = &inner.completion {
            out.field("completion", completion);
        }
        if let Some(source) = &inner.source {
            out.field("source", source);
        }
        out.finish()
    }
}

impl Error for LmError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_another_try() {
        use LmErrorKind::*;
        let cases = [
            (RateLimit, Some(429), true),
            (Overloaded, Some(503), true),
            (BadRequest, Some(409), true),
            (Other, Some(425), true),
            (Timeout, Some(408), true),
            (BadRequest, Some(400), false),
            (Auth, Some(401), false),
            (ContextWindowExceeded, Some(500), false),
            (ContentFilter, Some(500), false),
            (Other, Some(200), false),
            (Transport, None, true),
            (Timeout, None, false),
            (CutOff, None, false),
            (Malformed, None, false),
            (NotConfigured, None, false),
        ];
        for (kind, status, expected) in cases {
            let mut error = LmError::new(kind, "x");
            if let Some(status) = status {
                error = error.with_status(status);
            }
            assert_eq!(error.is_retryable(), expected, "{kind:?} {status:?}");
            assert_eq!(error.with_retryable(!expected).is_retryable(), !expected);
        }
    }

    #[test]
    fn a_key_is_taken_out() {
        let error = LmError::new(LmErrorKind::Auth, "provider 401: wrong key sk-1")
            .with_provider_message("wrong key sk-1")
            .with_request_id("sk-1")
            .redact("sk-1");
        assert!(!format!("{error} {error:?}").contains("sk-1"), "{error:?}");
        assert_eq!(error.provider_message(), Some("wrong key [key]"));
        assert_eq!(LmError::new(LmErrorKind::Other, "ab").redact("").to_string(), "ab");
    }
}

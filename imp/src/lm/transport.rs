//! HTTP, as little of it as a model client needs.

#[cfg(feature = "reqwest")]
mod reqwest;
mod timer;
#[cfg(feature = "ureq")]
mod ureq;

use std::fmt;
use std::time::Duration;

#[cfg(feature = "reqwest")]
pub use self::reqwest::Reqwest;
#[cfg(feature = "ureq")]
pub use self::ureq::Ureq;
use super::{BoxFuture, LmError, LmErrorKind};

/// How long connecting may take by default.
#[cfg(any(feature = "reqwest", feature = "ureq"))]
const CONNECT: Duration = Duration::from_secs(10);

/// Sends one HTTP request. Implement it to bring an HTTP stack of your own.
///
/// A transport does not follow redirects (the key would go along), does not retry, and gives a reply of
/// any status back as a reply.
///
/// ```
/// use imp::lm::{BoxFuture, Headers, HttpRequest, HttpResponse, Transport};
/// use imp::{LanguageModel, LmError, Message, OpenAi, Request};
///
/// /// Answers every request with the same body.
/// struct Canned(&'static str);
///
/// impl Transport for Canned {
///     fn send(&self, _request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, LmError>> {
///         Box::pin(async { Ok(HttpResponse::new(200, Headers::new(), self.0.as_bytes().to_vec())) })
///     }
/// }
///
/// # async fn run() -> Result<(), LmError> {
/// let body = r#"{"choices": [{"message": {"content": "Ahoy"}, "finish_reason": "stop"}]}"#;
/// let model = OpenAi::new("any").base_url("http://localhost/v1").transport(Canned(body));
/// let completion = model.complete(&Request::new([Message::user("Hello")])).await?;
/// assert_eq!(completion.text(), Some("Ahoy"));
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
pub trait Transport: Send + Sync {
    /// Sends the request and waits for the status and the headers of the reply.
    ///
    /// # Errors
    ///
    /// [`Transport`](LmErrorKind::Transport) if no reply came, [`Timeout`](LmErrorKind::Timeout)
    /// if it did not come in time, [`NotConfigured`](LmErrorKind::NotConfigured) if the request
    /// could not be sent from here.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, LmError>>;

    /// Waits before the next try. By default a thread of its own wakes the future, so that any executor will do;
    /// one that has a timer should use it.
    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(timer::sleep(time))
    }
}

/// An HTTP request: always a `POST`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The address.
    pub url: String,
    /// The headers. `Debug` shows their names only, as one of them is the key.
    pub headers: Headers,
    /// The body.
    pub body: Vec<u8>,
    /// How long everything may take, from connecting to the last byte of the reply; no limit if
    /// `None`.
    pub timeout: Option<Duration>,
    /// How long the status and the headers of the reply may take, from the start; no limit if `None`.
    pub first_byte_timeout: Option<Duration>,
    /// How long each further piece of the reply may take; no limit if `None`.
    pub idle_timeout: Option<Duration>,
}

impl HttpRequest {
    /// A request without headers and without limits of time.
    pub fn new(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        HttpRequest {
            url: url.into(),
            headers: Headers::new(),
            body: body.into(),
            timeout: None,
            first_byte_timeout: None,
            idle_timeout: None,
        }
    }
}

/// An HTTP reply whose body may still be on its way.
#[non_exhaustive]
pub struct HttpResponse {
    /// The status, such as 200.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body.
    pub body: Box<dyn HttpBody>,
}

impl HttpResponse {
    /// A reply. A body that is there as a whole is a `Vec<u8>`.
    pub fn new(status: u16, headers: Headers, body: impl HttpBody + 'static) -> Self {
        HttpResponse { status, headers, body: Box::new(body) }
    }

    /// The whole body, if it has at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// [`Malformed`](LmErrorKind::Malformed) if there is more; what the body's reader gives.
    pub async fn into_bytes(mut self, limit: usize) -> Result<Vec<u8>, LmError> {
        let mut whole = Vec::new();
        while let Some(chunk) = self.body.chunk().await? {
            if chunk.len() > limit.saturating_sub(whole.len()) {
                return Err(LmError::new(
                    LmErrorKind::Malformed,
                    format!(
                        "the reply has more than {limit} bytes: raise `max_response_size` if that is right"
                    ),
                ));
            }
            if whole.is_empty() {
                whole = chunk;
            } else {
                whole.extend_from_slice(&chunk);
            }
        }
        Ok(whole)
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// A reply's body, read piece by piece.
pub trait HttpBody: Send {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`CutOff`](LmErrorKind::CutOff) if the connection failed first,
    /// [`Timeout`](LmErrorKind::Timeout) if the time was up.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, LmError>>;
}

/// A body that is there as a whole.
impl HttpBody for Vec<u8> {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, LmError>> {
        let chunk = (!self.is_empty()).then(|| std::mem::take(self));
        Box::pin(std::future::ready(Ok(chunk)))
    }
}

/// HTTP headers. Names are the same in upper and lower case.
///
/// ```
/// use imp::lm::Headers;
///
/// let mut headers = Headers::new();
/// headers.set("Retry-After", "2");
/// assert_eq!(headers.get("retry-after"), Some("2"));
/// assert_eq!(format!("{headers:?}"), r#"["Retry-After"]"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// No headers.
    pub fn new() -> Self {
        Headers::default()
    }

    /// The first value of a header.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Sets a header, instead of any of the same name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.0.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        self.0.push((name, value.into()));
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    /// Keeps several headers of one name, as a reply may have them.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(headers: I) -> Self {
        Headers(headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Debug for Headers {
    /// The names only: a value may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// An address without what may be secret: user, password and query.
pub(crate) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

/// The innermost cause, which says what happened (`Connection refused`); the outer ones say that
/// something did.
#[cfg(any(feature = "reqwest", feature = "ureq"))]
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.take(16).last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(any(feature = "reqwest", feature = "ureq"))]
fn timed_out(url: &str, timeout: Option<Duration>) -> LmError {
    let limit = timeout.map(|limit| format!(" within {limit:?}")).unwrap_or_default();
    LmError::new(
        LmErrorKind::Timeout,
        format!("no whole reply from {}{limit}: raise `timeout`, or ask for less", shown(url)),
    )
}

#[cfg(any(feature = "reqwest", feature = "ureq"))]
fn too_slow(url: &str, what: &str, limit: Duration) -> LmError {
    LmError::new(
        LmErrorKind::Timeout,
        format!("{what} from {} within {limit:?}: raise the limit, or ask for less", shown(url)),
    )
}

#[cfg(any(feature = "reqwest", feature = "ureq"))]
fn unreachable(url: &str, cause: &str) -> LmError {
    LmError::new(
        LmErrorKind::Transport,
        format!("no reply from {}: {cause}; check the base URL and that the server runs", shown(url)),
    )
}

#[cfg(any(feature = "reqwest", feature = "ureq"))]
fn cut_off(url: &str, cause: &str) -> LmError {
    LmError::new(LmErrorKind::CutOff, format!("the reply from {} broke off: {cause}", shown(url)))
}

#[cfg(any(feature = "reqwest", feature = "ureq"))]
fn unsendable(url: &str, cause: &str) -> LmError {
    LmError::new(
        LmErrorKind::NotConfigured,
        format!("the request to {} cannot be sent: {cause}; check the base URL and the headers", shown(url)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_address_has_no_secret() {
        let cases = [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("http://me:pass@host:80/v1?key=k#f", "http://host:80/v1"),
            ("http://me:p@ss@host", "http://host"),
            ("http://host/a@b", "http://host/a@b"),
            ("no address?key=k", "no address"),
            ("", ""),
        ];
        for (url, expected) in cases {
            assert_eq!(shown(url), expected);
        }
    }
}

//! A client for OpenAI and every server that speaks its chat completions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::transport::shown;
use super::wire::openai;
use super::{
    BoxFuture, Capabilities, Completion, Headers, HttpRequest, LanguageModel, LmError, LmErrorKind, Request,
    Transport,
};

/// A client for OpenAI and every server that speaks its chat completions: OpenRouter, Groq,
/// Ollama, llama.cpp, vLLM, …
///
/// Clones share their connections; one client serves many tasks at once. It neither retries nor follows redirects.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `https://api.openai.com/v1` |
/// | [`key`](Self::key) | none, which OpenAI refuses and local servers take |
/// | [`timeout`](Self::timeout) | 60 seconds for the whole call |
/// | [`max_response_size`](Self::max_response_size) | 64 MiB |
/// | [`transport`](Self::transport) | the feature `reqwest` (on by default), else the feature `ureq` |
///
/// ```no_run
/// use imp::{LanguageModel, Message, OpenAi, Request};
///
/// # async fn run() -> Result<(), imp::LmError> {
/// let model = OpenAi::new("llama3.2").base_url("http://localhost:11434/v1");
/// let completion = model.complete(&Request::new([Message::user("Ahoy")])).await?;
/// println!("{}", completion.text().unwrap_or_default());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAi {
    model: String,
    base_url: String,
    key: Option<Key>,
    timeout: Option<Duration>,
    headers: Headers,
    capabilities: Option<Capabilities>,
    transport: Option<Arc<dyn Transport>>,
    max_response_size: usize,
}

impl OpenAi {
    /// OpenAI's own address, the default base URL.
    pub const BASE_URL: &str = "https://api.openai.com/v1";

    /// The model that [`from_env`](Self::from_env) asks for if `OPENAI_MODEL` is not set.
    pub const DEFAULT_MODEL: &str = "gpt-4.1-mini";

    /// A client of a model at OpenAI's address, without a key.
    ///
    /// ```
    /// use imp::OpenAi;
    ///
    /// let model = OpenAi::new("gpt-4.1-mini").key("sk-…");
    /// ```
    pub fn new(model: impl Into<String>) -> Self {
        OpenAi {
            model: model.into(),
            base_url: OpenAi::BASE_URL.to_owned(),
            key: None,
            timeout: Some(Duration::from_secs(60)),
            headers: Headers::new(),
            capabilities: None,
            transport: default_transport(),
            max_response_size: 64 * 1024 * 1024,
        }
    }

    /// A client as the environment says: the key `OPENAI_API_KEY`, the base URL `OPENAI_BASE_URL`
    /// ([`BASE_URL`](Self::BASE_URL) by default), the model `OPENAI_MODEL`
    /// ([`DEFAULT_MODEL`](Self::DEFAULT_MODEL) by default). An empty variable is as good as none.
    ///
    /// ```no_run
    /// let model = imp::OpenAi::from_env()?;
    /// # Ok::<(), imp::LmError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotConfigured`](LmErrorKind::NotConfigured) if neither a key nor another base URL is set.
    pub fn from_env() -> Result<Self, LmError> {
        OpenAi::from_vars(|name| std::env::var(name).ok())
    }

    fn from_vars(var: impl Fn(&str) -> Option<String>) -> Result<Self, LmError> {
        let var = |name| var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let mut client = OpenAi::new(var("OPENAI_MODEL").unwrap_or_else(|| OpenAi::DEFAULT_MODEL.to_owned()));
        if let Some(url) = var("OPENAI_BASE_URL") {
            client = client.base_url(url);
        }
        match var("OPENAI_API_KEY") {
            Some(key) => Ok(client.key(key)),
            None if client.is_openai() => Err(LmError::new(
                LmErrorKind::NotConfigured,
                "no key: set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for a server that needs none",
            )),
            None => Ok(client),
        }
    }

    /// Sets where the server is, up to `/chat/completions`, which may be there already. A query stays behind
    /// the path: `https://host/openai/v1?api-version=1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Sets the key: a text, or a closure that is asked before each request.
    ///
    /// ```
    /// use imp::OpenAi;
    ///
    /// let fixed = OpenAi::new("gpt-4.1-mini").key("sk-secret");
    /// let fresh = OpenAi::new("gpt-4.1-mini").key(|| std::fs::read_to_string("/run/token").unwrap_or_default());
    /// assert!(!format!("{fixed:?}").contains("secret"));
    /// # let _ = fresh;
    /// ```
    pub fn key(mut self, key: impl Into<Key>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets how long a whole call may take, from connecting to the last byte. The default is 60
    /// seconds; a request's own [`timeout`](crate::Config::timeout) goes before it.
    pub fn timeout(mut self, total: Duration) -> Self {
        self.timeout = Some(total);
        self
    }

    /// Sets one more header of every request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.set(name, value);
        self
    }

    /// Sets what the model and its server take. The default is [`Capabilities::default`], with
    /// `max_completion_tokens` at OpenAI's own address.
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Sets what sends the requests.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Sets how many bytes a reply may have. The default is 64 MiB.
    pub fn max_response_size(mut self, bytes: usize) -> Self {
        self.max_response_size = bytes;
        self
    }

    /// Whether this is OpenAI itself, which wants a key and the newer word for the token limit.
    fn is_openai(&self) -> bool {
        shown(&self.base_url).trim_end_matches('/').eq_ignore_ascii_case(OpenAi::BASE_URL)
    }

    fn capabilities_in_force(&self) -> Capabilities {
        self.capabilities.unwrap_or_else(|| Capabilities::default().max_completion_tokens(self.is_openai()))
    }

    async fn call(&self, request: &Request, key: Option<&str>) -> Result<Completion, LmError> {
        let not_configured = |text: String| Err(LmError::new(LmErrorKind::NotConfigured, text));
        let Some(transport) = &self.transport else {
            return not_configured(
                "nothing to send the request with: enable the feature `reqwest` or `ureq`, or set `transport`".to_owned(),
            );
        };
        if key.is_none() && self.is_openai() {
            return not_configured(
                "no key for api.openai.com: set `key`, or `base_url` for a server that needs none".to_owned(),
            );
        }
        let body = openai::encode(request, &self.model, self.capabilities_in_force())?;
        let url = endpoint(&self.base_url);
        let mut sent = HttpRequest::new(url, body);
        sent.timeout = request.config.timeout.or(self.timeout);
        sent.headers.set("content-type", "application/json");
        sent.headers.set("accept", "application/json");
        if let Some(key) = key {
            sent.headers.set("authorization", format!("Bearer {key}"));
        }
        for (name, value) in self.headers.iter() {
            sent.headers.set(name, value);
        }
        // Checked here, so that no transport is asked to send what would end a header and start another.
        for (name, value) in sent.headers.iter() {
            if !is_header(name, value) {
                return not_configured(format!(
                    "the header `{}` has a character that HTTP does not take: use visible ASCII only{}",
                    name.escape_debug(),
                    if name == "authorization" { " in the key" } else { "" },
                ));
            }
        }
        let reply = transport.send(sent).await?;
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = reply.into_bytes(self.max_response_size).await?;
        openai::decode(status, &headers, &body)
    }
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

impl LanguageModel for OpenAi {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, LmError>> {
        Box::pin(async move {
            // A key from a file or a variable often has a line end.
            let key = self.key.as_ref().map(|key| key.get().trim().to_owned()).filter(|key| !key.is_empty());
            let result = self.call(request, key.as_deref()).await;
            result.map_err(|error| match &key {
                Some(key) => error.redact(key),
                None => error,
            })
        })
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities_in_force()
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("model", &self.model)
            .field("base_url", &shown(&self.base_url))
            .field("key", &self.key)
            .field("timeout", &self.timeout)
            .field("headers", &self.headers)
            .field("capabilities", &self.capabilities_in_force())
            .field("max_response_size", &self.max_response_size)
            .finish_non_exhaustive()
    }
}

/// A key, or a closure that gives one; made by [`OpenAi::key`] from either. `Debug` never shows it.
#[derive(Clone)]
pub struct Key(Source);

#[derive(Clone)]
enum Source {
    Fixed(Arc<str>),
    Asked(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Key {
    fn get(&self) -> String {
        match &self.0 {
            Source::Fixed(key) => key.as_ref().to_owned(),
            Source::Asked(key) => key(),
        }
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Key(Source::Fixed(key.into()))
    }
}

impl From<String> for Key {
    fn from(key: String) -> Self {
        Key(Source::Fixed(key.into()))
    }
}

impl<F: Fn() -> String + Send + Sync + 'static> From<F> for Key {
    fn from(key: F) -> Self {
        Key(Source::Asked(Arc::new(key)))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The URL of the endpoint below a base URL.
fn endpoint(base_url: &str) -> String {
    let (path, query) = base_url.split_at(base_url.find('?').unwrap_or(base_url.len()));
    let path = path.trim_end_matches('/');
    format!("{}/chat/completions{query}", path.strip_suffix("/chat/completions").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_endpoint_stands_below_the_base_url_and_before_its_query() {
        for (base, url) in [
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            ("http://h/v1?api-version=1", "http://h/v1/chat/completions?api-version=1"),
        ] {
            assert_eq!(endpoint(base), url);
        }
    }

    use super::*;

    fn vars(vars: &[(&str, &str)]) -> Result<OpenAi, LmError> {
        OpenAi::from_vars(|name| {
            vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment() {
        let client = vars(&[("OPENAI_API_KEY", " sk-1\n")]).unwrap();
        assert_eq!(
            (client.model.as_str(), client.base_url.as_str()),
            (OpenAi::DEFAULT_MODEL, OpenAi::BASE_URL)
        );
        assert_eq!(client.key.unwrap().get(), "sk-1");
        let client = vars(&[("OPENAI_BASE_URL", "http://localhost:1/v1"), ("OPENAI_MODEL", "m")]).unwrap();
        assert_eq!((client.model.as_str(), client.base_url.as_str()), ("m", "http://localhost:1/v1"));
        assert!(client.key.is_none());
        for nothing in [&[][..], &[("OPENAI_API_KEY", " ")], &[("OPENAI_BASE_URL", OpenAi::BASE_URL)]] {
            assert_eq!(vars(nothing).unwrap_err().kind(), LmErrorKind::NotConfigured);
        }
    }

    #[test]
    fn the_newer_word_only_at_openai() {
        let cases = [
            (OpenAi::BASE_URL, true),
            ("https://API.openai.com/v1/", true),
            ("http://localhost/v1", false),
            ("https://api.openai.com.evil.example/v1", false),
        ];
        for (url, expected) in cases {
            let client = OpenAi::new("m").base_url(url);
            assert_eq!(LanguageModel::capabilities(&client).max_completion_tokens, expected, "{url}");
        }
        let set = OpenAi::new("m").capabilities(Capabilities::default());
        assert!(!LanguageModel::capabilities(&set).max_completion_tokens);
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

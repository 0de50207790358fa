//! A client for OpenAI and every server that speaks its chat completions.

use super::core::{Core, Wire, client};
use super::{LmError, LmErrorKind};

/// A client for OpenAI and every server that speaks its chat completions: OpenRouter, Groq,
/// Ollama, llama.cpp, vLLM, …
///
/// Clones share their connections; one client serves many tasks at once. Redirects are not followed. What its server is found to refuse
/// (a response format, tools, names, …) is not sent again.
///
/// | setting | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | `https://api.openai.com/v1` |
/// | [`key`](Self::key) | none, which OpenAI refuses and local servers take |
/// | [`timeout`](Self::timeout) | 10 minutes for the whole call |
/// | [`first_byte_timeout`](Self::first_byte_timeout) | none |
/// | [`idle_timeout`](Self::idle_timeout) | 60 seconds between two pieces of a reply |
/// | [`retries`](Self::retries) | 2, where a repetition can help |
/// | [`max_in_flight`](Self::max_in_flight) | no limit |
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
pub struct OpenAi(pub(super) Core);

client!(OpenAi);

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
        OpenAi(Core::new(Wire::OpenAi, model.into(), OpenAi::BASE_URL))
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
            None if client.0.is_at(OpenAi::BASE_URL) => Err(LmError::new(
                LmErrorKind::NotConfigured,
                "no key: set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for a server that needs none",
            )),
            None => Ok(client),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::{Capabilities, LanguageModel};

    fn vars(vars: &[(&str, &str)]) -> Result<OpenAi, LmError> {
        OpenAi::from_vars(|name| {
            vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment() {
        let client = vars(&[("OPENAI_API_KEY", " sk-1\n")]).unwrap();
        assert_eq!(
            (client.0.model.as_str(), client.0.base_url.as_str()),
            (OpenAi::DEFAULT_MODEL, OpenAi::BASE_URL)
        );
        assert_eq!(client.0.key.unwrap().get().as_deref(), Some("sk-1"));
        let client = vars(&[("OPENAI_BASE_URL", "http://localhost:1/v1"), ("OPENAI_MODEL", "m")]).unwrap();
        assert_eq!((client.0.model.as_str(), client.0.base_url.as_str()), ("m", "http://localhost:1/v1"));
        assert!(client.0.key.is_none());
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
}

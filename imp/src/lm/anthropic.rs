//! A client for Anthropic's Messages.

use super::core::{Core, Wire, client};
use super::{Capabilities, LmError, LmErrorKind};

/// A client for Anthropic's Messages, and for servers that speak them (llama.cpp does).
///
/// Its settings are those of [`OpenAi`](crate::OpenAi), with the same defaults but for the base URL
/// `https://api.anthropic.com/v1`. A request without `max_tokens` asks for at most 4096. The wire has no names and no
/// response format, so none are sent: an adapter asks for JSON in words.
///
/// ```no_run
/// use imp::lm::Anthropic;
/// use imp::{LanguageModel, Message, Request};
///
/// # async fn run() -> Result<(), imp::LmError> {
/// let model = Anthropic::from_env()?.model("claude-sonnet-4-5");
/// let completion = model.complete(&Request::new([Message::user("Ahoy")])).await?;
/// println!("{}", completion.text().unwrap_or_default());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Anthropic(pub(super) Core);

client!(Anthropic);

impl Anthropic {
    /// Anthropic's own address, the default base URL.
    pub const BASE_URL: &str = "https://api.anthropic.com/v1";

    /// The model that [`from_env`](Self::from_env) asks for if `ANTHROPIC_MODEL` is not set.
    pub const DEFAULT_MODEL: &str = "claude-sonnet-4-5";

    /// A client of a model at Anthropic's address, without a key.
    ///
    /// ```
    /// use imp::lm::Anthropic;
    ///
    /// let model = Anthropic::new("claude-sonnet-4-5").key("sk-ant-…");
    /// ```
    pub fn new(model: impl Into<String>) -> Self {
        Anthropic(Core::new(Wire::Anthropic, model.into(), Anthropic::BASE_URL))
    }

    /// A client as the environment says: the key `ANTHROPIC_API_KEY`, the base URL `ANTHROPIC_BASE_URL`
    /// ([`BASE_URL`](Self::BASE_URL) by default), the model `ANTHROPIC_MODEL`
    /// ([`DEFAULT_MODEL`](Self::DEFAULT_MODEL) by default). An empty variable is as good as none.
    ///
    /// # Errors
    ///
    /// [`NotConfigured`](LmErrorKind::NotConfigured) if neither a key nor another base URL is set.
    pub fn from_env() -> Result<Self, LmError> {
        let var = |name| {
            let value = std::env::var(name).ok()?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let mut client =
            Anthropic::new(var("ANTHROPIC_MODEL").unwrap_or_else(|| Anthropic::DEFAULT_MODEL.to_owned()));
        if let Some(url) = var("ANTHROPIC_BASE_URL") {
            client = client.base_url(url);
        }
        match var("ANTHROPIC_API_KEY") {
            Some(key) => Ok(client.key(key)),
            None if client.0.is_at(Anthropic::BASE_URL) => Err(LmError::new(
                LmErrorKind::NotConfigured,
                "no key: set `ANTHROPIC_API_KEY`, or `ANTHROPIC_BASE_URL` for a server that needs none",
            )),
            None => Ok(client),
        }
    }

    /// What the wire can carry.
    pub(super) fn wire_capabilities() -> Capabilities {
        Capabilities::default().json_schema(false).json_object(false).names(false)
    }
}

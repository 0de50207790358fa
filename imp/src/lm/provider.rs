//! Providers by name.

use super::core::{Core, Wire, client};
use super::{Anthropic, Capabilities, LmError, LmErrorKind, OpenAi};
use crate::nearest::remedy;

/// A client of a [known provider](providers), made by [`connect`]. Everything can be set otherwise, as with
/// [`OpenAi`].
#[derive(Clone)]
pub struct Client(Core);

client!(Client);

/// What is known of a provider.
///
/// ```
/// let groq = imp::lm::providers().iter().find(|provider| provider.name() == "groq").unwrap();
/// assert_eq!(groq.key_variable(), "GROQ_API_KEY");
/// assert!(!groq.capabilities().names);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    name: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    needs_key: bool,
    wire: Wire,
    capabilities: fn() -> Capabilities,
}

impl Provider {
    /// Its name, the prefix of [`connect`].
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Where it is.
    pub fn base_url(&self) -> &'static str {
        self.base_url
    }

    /// The variable of the environment that has its key.
    pub fn key_variable(&self) -> &'static str {
        self.key_variable
    }

    /// What it takes, as far as is known before the first call.
    pub fn capabilities(&self) -> Capabilities {
        (self.capabilities)()
    }
}

const fn openai(
    name: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    capabilities: fn() -> Capabilities,
) -> Provider {
    Provider { name, base_url, key_variable, needs_key: true, wire: Wire::OpenAi, capabilities }
}

const fn local(
    name: &'static str,
    base_url: &'static str,
    key_variable: &'static str,
    capabilities: fn() -> Capabilities,
) -> Provider {
    Provider { needs_key: false, ..openai(name, base_url, key_variable, capabilities) }
}

static PROVIDERS: [Provider; 12] = [
    openai("openai", OpenAi::BASE_URL, "OPENAI_API_KEY", || {
        Capabilities::default().max_completion_tokens(true)
    }),
    Provider {
        wire: Wire::Anthropic,
        ..openai("anthropic", Anthropic::BASE_URL, "ANTHROPIC_API_KEY", Anthropic::wire_capabilities)
    },
    openai("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", Capabilities::default),
    // "property 'name' is unsupported"
    openai("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", || Capabilities::default().names(false)),
    // JSON mode only.
    openai("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", || {
        Capabilities::default().json_schema(false)
    }),
    // It refuses fields that it does not know.
    openai("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", || {
        Capabilities::default().names(false).reasoning_effort(false).stream_usage(false)
    }),
    openai("xai", "https://api.x.ai/v1", "XAI_API_KEY", Capabilities::default),
    openai("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", Capabilities::default),
    openai("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", || {
        Capabilities::default().names(false)
    }),
    // Takes `tool_choice` and does not obey it.
    local("ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY", || {
        Capabilities::default().forced_tool_choice(false)
    }),
    local("llamacpp", "http://localhost:8080/v1", "LLAMA_API_KEY", Capabilities::default),
    local("vllm", "http://localhost:8000/v1", "VLLM_API_KEY", Capabilities::default),
];

/// The providers that [`connect`] knows.
pub fn providers() -> &'static [Provider] {
    &PROVIDERS
}

/// A client of a model, named by its provider and its own name: `openrouter:anthropic/claude-sonnet-4.5`.
///
/// | prefix | key |
/// | --- | --- |
/// | `openai` | `OPENAI_API_KEY` |
/// | `anthropic` | `ANTHROPIC_API_KEY` |
/// | `openrouter` | `OPENROUTER_API_KEY` |
/// | `groq` | `GROQ_API_KEY` |
/// | `deepseek` | `DEEPSEEK_API_KEY` |
/// | `mistral` | `MISTRAL_API_KEY` |
/// | `xai` | `XAI_API_KEY` |
/// | `together` | `TOGETHER_API_KEY` |
/// | `gemini` | `GEMINI_API_KEY` |
/// | `ollama` | none is needed; `OLLAMA_API_KEY` if set |
/// | `llamacpp` | none is needed; `LLAMA_API_KEY` if set |
/// | `vllm` | none is needed; `VLLM_API_KEY` if set |
///
/// ```
/// let model = imp::lm::connect("ollama:llama3.2")?.base_url("http://gpu.local:11434/v1");
/// # let _ = model;
/// let error = imp::lm::connect("olama:llama3.2").unwrap_err();
/// assert_eq!(error.to_string(), "no provider is called `olama`, did you mean `ollama`?");
/// # Ok::<(), imp::LmError>(())
/// ```
///
/// # Errors
///
/// [`NotConfigured`](LmErrorKind::NotConfigured) if there is no prefix, the provider is not known, or its key is not
/// in the environment.
pub fn connect(model: &str) -> Result<Client, LmError> {
    connect_with(model, |name| std::env::var(name).ok())
}

fn connect_with(spec: &str, var: impl Fn(&str) -> Option<String>) -> Result<Client, LmError> {
    let wrong = |text: String| Err(LmError::new(LmErrorKind::NotConfigured, text));
    let Some((name, model)) = spec.split_once(':').filter(|(_, model)| !model.is_empty()) else {
        return wrong(format!("`{spec}` names no provider and model: write `openai:gpt-4.1-mini`"));
    };
    let Some(provider) = PROVIDERS.iter().find(|provider| provider.name == name) else {
        let known: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
        return wrong(format!("no provider is called `{name}`, {}", remedy(name, &known)));
    };
    let key = var(provider.key_variable).filter(|key| !key.trim().is_empty());
    if key.is_none() && provider.needs_key {
        return wrong(format!("no key for `{name}`: set `{}`", provider.key_variable));
    }
    let mut core = Core::new(provider.wire, model.to_owned(), provider.base_url);
    core.key = key.map(Into::into);
    core.capabilities = Some(provider.capabilities());
    Ok(Client(core))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::LanguageModel;

    #[test]
    fn by_name() {
        let keys = |name: &str| Some(format!("key of {name}"));
        for provider in providers() {
            let client = connect_with(&format!("{}:a/b:c", provider.name()), keys).unwrap();
            assert_eq!(LanguageModel::model(&client), "a/b:c");
            assert_eq!(client.0.base_url, provider.base_url());
            assert_eq!(client.0.key.and_then(|key| key.get()), keys(provider.key_variable()));
        }
        for (spec, word) in [
            ("gpt-4.1", "names no provider"),
            ("openai:", "names no provider"),
            ("opnai:x", "did you mean `openai`?"),
            ("groq:x", "set `GROQ_API_KEY`"),
        ] {
            let error = connect_with(spec, |_| Some(" ".into())).unwrap_err();
            assert_eq!(error.kind(), LmErrorKind::NotConfigured);
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(connect_with("vllm:x", |_| None).unwrap().0.key.is_none());
    }
}

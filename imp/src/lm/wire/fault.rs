//! Errors in the providers' many forms.

use std::time::Duration;

use serde_json::Value as Json;

use crate::lm::{Headers, LmError, LmErrorKind};

/// The error of a reply that is one: its status says so, or its body (`json`).
pub(super) fn fault(status: u16, headers: &Headers, json: Option<&Json>, body: &[u8]) -> LmError {
    let said = match json {
        Some(json) => Said::read(json),
        None => Said { message: excerpt(body), ..Said::default() },
    };
    let status = match status {
        // A failure behind a status of success: the body's own code says more.
        200..=299 => said.status().unwrap_or(status),
        status => status,
    };
    let kind = said.kind(status);
    let mut text = format!("provider {status}");
    match said.message.trim() {
        "" => text.push_str(" without a message"),
        message => {
            text.push_str(": ");
            text.push_str(message);
        }
    }
    let retry_after = crate::lm::retry::retry_after(headers, None);
    if let Some(remedy) = remedy(kind, status, headers, retry_after) {
        let end = text.trim_end_matches(['.', ' ']).len();
        text.truncate(end);
        text.push_str("; ");
        text.push_str(&remedy);
    }
    let mut error = LmError::new(kind, text).with_status(status);
    if !said.message.is_empty() {
        error = error.with_provider_message(said.message.as_str());
    }
    if let Some(id) = request_id(headers) {
        error = error.with_request_id(id);
    }
    if let Some(wait) = retry_after {
        error = error.with_retry_after(wait);
    }
    match headers.get("x-should-retry") {
        // OpenAI and Anthropic say so where the status does not.
        Some("true") => error.with_retryable(true),
        Some("false") => error.with_retryable(false),
        // A quota that is used up is not there again in a minute.
        _ if said.words.contains("insufficient_quota") || said.words.contains("billing") => {
            error.with_retryable(false)
        }
        _ => error,
    }
}

fn remedy(kind: LmErrorKind, status: u16, headers: &Headers, wait: Option<Duration>) -> Option<String> {
    match kind {
        LmErrorKind::Auth => Some("check the key and what its account may use".to_owned()),
        LmErrorKind::ContextWindowExceeded => {
            Some("send less, or use a model with a larger window".to_owned())
        }
        LmErrorKind::RateLimit | LmErrorKind::Overloaded => {
            wait.map(|wait| format!("try again after {wait:?}"))
        }
        _ if (300..400).contains(&status) => {
            let target = headers.get("location").map(crate::lm::transport::shown).unwrap_or_default();
            Some(format!("redirects are not followed, set the base URL to where it leads: {target}"))
        }
        _ => None,
    }
}

/// What an error body says, wherever it says it.
#[derive(Default)]
struct Said {
    message: String,
    /// Its code and type, in lower case, with a space between.
    words: String,
    code: Option<u16>,
}

impl Said {
    fn read(json: &Json) -> Self {
        // Gemini's compatible endpoint puts the object in a list.
        let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
        let inner = match json.get("error") {
            Some(error) if error.is_object() => error,
            _ => json,
        };
        let mut message = message(inner).unwrap_or_else(|| excerpt(inner.to_string().as_bytes()));
        // OpenRouter says "Provider returned error", and keeps the provider's words apart.
        if let Some(raw) = inner.get("metadata").and_then(|metadata| metadata.get("raw")) {
            let raw = raw.as_str().map(|raw| {
                let json = serde_json::from_str::<Json>(raw).ok();
                let said = json.as_ref().and_then(|json| match json.get("error") {
                    Some(error) if error.is_object() => self::message(error),
                    _ => self::message(json),
                });
                said.unwrap_or_else(|| excerpt(raw.as_bytes()))
            });
            if let Some(raw) = raw {
                message = format!("{message}: {raw}");
            }
        }
        let mut words = String::new();
        let mut code = None;
        for place in [inner, json] {
            for key in ["code", "type", "status"] {
                match place.get(key) {
                    Some(Json::String(word)) => {
                        words.push_str(&word.to_lowercase());
                        words.push(' ');
                        code = code.or_else(|| word.parse().ok());
                    }
                    Some(Json::Number(number)) => {
                        code = code.or_else(|| number.as_u64().and_then(|number| u16::try_from(number).ok()));
                    }
                    _ => {}
                }
            }
        }
        Said { message, words, code: code.filter(|code| (400..600).contains(code)) }
    }

    /// The status that a body with status 200 stands for.
    fn status(&self) -> Option<u16> {
        if self.code.is_some() {
            return self.code;
        }
        let status = [
            (&["rate_limit", "resource_exhausted", "quota"][..], 429),
            (&["authentication", "api_key", "unauthenticated"], 401),
            (&["permission"], 403),
            (&["overloaded", "unavailable"], 503),
            (&["timeout", "deadline_exceeded"], 504),
            (&["server_error", "internal"], 500),
            (&["not_found"], 404),
            (&["invalid"], 400),
        ];
        status.into_iter().find(|(words, _)| contains_any(&self.words, words)).map(|(_, status)| status)
    }

    fn kind(&self, status: u16) -> LmErrorKind {
        let message = self.message.to_lowercase();
        // A key or a rate is never a matter of length, whatever words the message shares.
        if !matches!(status, 401 | 429) {
            if is_too_long(&self.words, &message) {
                return LmErrorKind::ContextWindowExceeded;
            }
            if is_filtered(&self.words, &message) {
                return LmErrorKind::ContentFilter;
            }
        }
        match status {
            401..=403 => LmErrorKind::Auth,
            408 | 504 => LmErrorKind::Timeout,
            429 => LmErrorKind::RateLimit,
            425 | 500..=599 => LmErrorKind::Overloaded,
            300..=499 => LmErrorKind::BadRequest,
            _ => LmErrorKind::Other,
        }
    }
}

fn message(json: &Json) -> Option<String> {
    let text = |json: &Json| json.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    if let Some(text) = text(json) {
        return Some(text);
    }
    for key in ["message", "error", "detail", "msg", "error_message"] {
        match json.get(key) {
            Some(found @ Json::String(_)) => {
                if let Some(text) = text(found) {
                    return Some(text);
                }
            }
            // FastAPI: a list of {"loc", "msg", "type"}; others: an object with a message.
            Some(Json::Array(list)) => {
                let first = list.first().and_then(|first| first.get("msg").or(first.get("message")));
                if let Some(text) = first.and_then(text) {
                    return Some(text);
                }
            }
            Some(found @ Json::Object(_)) => {
                if let Some(text) = found.get("message").and_then(text) {
                    return Some(text);
                }
            }
            _ => {}
        }
    }
    None
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether the request is longer than the model's window, by the wordings of OpenAI, Anthropic,
/// Gemini, Mistral, xAI, Bedrock, Together, vLLM, llama.cpp and others.
fn is_too_long(words: &str, message: &str) -> bool {
    const CODES: &[&str] =
        &["context_length_exceeded", "exceed_context_size", "context_window", "model_max_length"];
    const WORDINGS: &[&str] = &[
        "context_length_exceeded",
        "maximum context length",
        "maximum context limit",
        "context window",
        "available context size",
        "maximum prompt length",
        "prompt is too long",
        "input is too long",
        "exceed context limit",
        "exceeds the context length",
        "longer than the context length",
        "longer than the model's context length",
        "reduce the length of the messages",
        "exceeds the maximum number of tokens allowed",
        "`inputs` tokens + `max_new_tokens` must be",
        "exceeds the maximum allowed input length",
        "number of tokens in the prompt cannot exceed",
    ];
    // Groq words a rate ("tokens per minute") much like a length.
    !message.contains("tokens per minute") && (contains_any(words, CODES) || contains_any(message, WORDINGS))
}

fn is_filtered(words: &str, message: &str) -> bool {
    const CODES: &[&str] =
        &["content_filter", "content_policy", "responsibleaipolicy", "data_inspection_failed", "moderation"];
    const WORDINGS: &[&str] = &[
        "content management policy",
        "content policy",
        "content filter",
        "violates usage guidelines",
        "violating our usage policy",
        "inappropriate content",
        "requires moderation",
    ];
    contains_any(words, CODES) || contains_any(message, WORDINGS)
}

/// An error about a reply that came.
pub(super) fn about(kind: LmErrorKind, status: u16, headers: &Headers, text: String) -> LmError {
    let error = LmError::new(kind, text).with_status(status);
    match request_id(headers) {
        Some(id) => error.with_request_id(id),
        None => error,
    }
}

/// The error of a body that should be JSON: cut off if it ends too early, as one without a length can.
pub(super) fn not_json(status: u16, headers: &Headers, body: &[u8], error: serde_json::Error) -> LmError {
    let start = excerpt(body);
    if error.is_eof() && start.starts_with(['{', '\u{feff}']) {
        let text = format!("the reply ends before it is whole; it starts: {start}");
        return about(LmErrorKind::CutOff, status, headers, text).with_source(error);
    }
    let kind = headers.get("content-type").unwrap_or("no content type");
    let text = format!("the reply is not JSON but {kind}; it starts: {start}");
    about(LmErrorKind::Malformed, status, headers, text).with_source(error)
}

pub(super) fn request_id(headers: &Headers) -> Option<&str> {
    ["x-request-id", "request-id", "x-amzn-requestid", "cf-ray"]
        .into_iter()
        .find_map(|name| headers.get(name))
}

/// At most this many characters of a body are quoted.
const EXCERPT: usize = 300;

/// The start of a body on one line.
pub(super) fn excerpt(body: &[u8]) -> String {
    // A character has at most four bytes; white space is taken out, so look a little further.
    let start = body.get(..EXCERPT * 8).unwrap_or(body);
    let text = String::from_utf8_lossy(start);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None if start.len() < body.len() => format!("{line}…"),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(status: u16, body: &str) -> LmError {
        let json = serde_json::from_str(body).ok();
        fault(status, &Headers::new(), json.as_ref(), body.as_bytes())
    }

    #[test]
    fn kinds_and_words() {
        use LmErrorKind::*;
        // Recorded from OpenAI, DeepSeek, llama.cpp, Mistral, Groq, OpenRouter, xAI and Gemini.
        let cases = [
            (
                401,
                r#"{"error":{"code":"invalid_api_key","message":"Invalid API Key"}}"#,
                Auth,
                "Invalid API Key",
            ),
            (400, r#"{"error":{"message":"not a valid model","code":400}}"#, BadRequest, "not a valid model"),
            (
                400,
                r#"{"code":"3051","message":"Logprobs are not enabled for this model","object":"error","param":null,"type":"invalid_request_invalid_args"}"#,
                BadRequest,
                "Logprobs are not enabled for this model",
            ),
            (
                404,
                r#"{"code":"Some requested entity was not found","error":"The model grok-beta was deprecated"}"#,
                BadRequest,
                "The model grok-beta was deprecated",
            ),
            (
                403,
                r#"{"error":{"code":403,"message":"Provider returned error","metadata":{"provider_name":"xAI","raw":"{\"code\":\"no\",\"error\":\"Content violates usage guidelines.\"}"}}}"#,
                ContentFilter,
                "Provider returned error: Content violates usage guidelines.",
            ),
            (
                429,
                r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"model:free is temporarily rate-limited upstream."}}}"#,
                RateLimit,
                "Provider returned error: model:free is temporarily rate-limited upstream.",
            ),
            (200, r#"{"error":{"code":502,"message":"ConnectionError"}}"#, Overloaded, "ConnectionError"),
            (200, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#, RateLimit, "slow down"),
            (200, r#"{"error":{"type":"authentication_error","message":"no"}}"#, Auth, "no"),
            (200, r#"{"error":"something"}"#, Other, "something"),
            (
                429,
                r#"[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]"#,
                RateLimit,
                "Resource has been exhausted",
            ),
            (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, BadRequest, "field required"),
            (500, "Internal Server Error", Overloaded, "Internal Server Error"),
            (503, "<html>\n<h1>Busy</h1>\n</html>", Overloaded, "<html> <h1>Busy</h1> </html>"),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Overloaded,
                "Overloaded",
            ),
            (504, r#"{"message":"upstream timed out"}"#, Timeout, "upstream timed out"),
            (
                400,
                r#"{"error":{"code":"content_filter","message":"The response was filtered"}}"#,
                ContentFilter,
                "The response was filtered",
            ),
        ];
        for (status, body, kind, message) in cases {
            let error = of(status, body);
            assert_eq!((error.kind(), error.provider_message()), (kind, Some(message)), "{body}");
        }
    }

    #[test]
    fn the_effective_status_of_a_body_with_status_200() {
        let error = of(200, r#"{"error":{"code":"429","message":"slow down"}}"#);
        assert_eq!(error.status(), Some(429));
        assert!(error.is_retryable());
        assert_eq!(of(200, r#"{"error":{"code":7,"message":"?"}}"#).status(), Some(200));
    }

    #[test]
    fn too_long_in_many_words() {
        let messages = [
            "prompt is too long: 210000 tokens > 200000 maximum",
            "The input token count (1200000) exceeds the maximum number of tokens allowed",
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            "This model's maximum context length is 8192 tokens",
            "request (2009 tokens) exceeds the available context size (512 tokens), try increasing it",
            "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            "Please reduce the length of the messages or completion.",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        ];
        for message in messages {
            let body = json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
            assert_eq!(of(400, &body).kind(), LmErrorKind::ContextWindowExceeded, "{message}");
            // The same words never change what a key or a rate error is.
            assert_eq!(of(401, &body).kind(), LmErrorKind::Auth, "{message}");
            assert_eq!(of(429, &body).kind(), LmErrorKind::RateLimit, "{message}");
            // A body without JSON says it too.
            assert_eq!(of(400, message).kind(), LmErrorKind::ContextWindowExceeded, "{message}");
        }
        let code_only = r#"{"error":{"code":"context_length_exceeded"}}"#;
        assert_eq!(of(400, code_only).kind(), LmErrorKind::ContextWindowExceeded);
        let not_that = [
            "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce the length of the messages",
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
        ];
        for message in not_that {
            let body = json!({"error": {"message": message}}).to_string();
            assert_eq!(of(413, &body).kind(), LmErrorKind::BadRequest, "{message}");
        }
    }

    #[test]
    fn headers() {
        let cases = [
            (vec![("Retry-After", "2")], Some(Duration::from_secs(2))),
            (vec![("retry-after", "1"), ("retry-after-ms", "250")], Some(Duration::from_millis(250))),
            (vec![("retry-after", " 0.5 ")], Some(Duration::from_millis(500))),
            (vec![("retry-after", "-1")], None),
            (vec![("retry-after", "NaN")], None),
            (vec![("retry-after", "soon")], None),
            (vec![], None),
        ];
        for (headers, expected) in cases {
            let headers = headers.into_iter().chain([("X-Request-Id", "req_1")]).collect();
            let error = fault(429, &headers, Some(&json!({"error": {"message": "slow"}})), b"");
            assert_eq!(error.retry_after(), expected, "{headers:?}");
            assert_eq!(error.request_id(), Some("req_1"));
        }
    }

    #[test]
    fn texts() {
        let cases = [
            (
                401,
                r#"{"error":{"message":"Wrong key."}}"#,
                "provider 401: Wrong key; check the key and what its account may use",
            ),
            (
                400,
                r#"{"error":{"message":"not a valid model","code":400}}"#,
                "provider 400: not a valid model",
            ),
            (500, "", "provider 500 without a message"),
            (500, "{}", "provider 500: {}"),
        ];
        for (status, body, expected) in cases {
            assert_eq!(of(status, body).to_string(), expected);
        }
        let headers = [("location", "https://me:pass@other/v1?key=k")].into_iter().collect();
        assert_eq!(
            fault(302, &headers, None, b"").to_string(),
            "provider 302 without a message; redirects are not followed, set the base URL to where it leads: https://other/v1"
        );
    }

    #[test]
    fn an_excerpt_is_short() {
        assert_eq!(excerpt(b" a \n\t b "), "a b");
        assert_eq!(excerpt("é".repeat(10_000).as_bytes()), format!("{}…", "é".repeat(EXCERPT)));
        assert_eq!(excerpt(&[b' '; 10_000]), "…");
        assert_eq!(excerpt(&[0xff, 0xfe]), "\u{fffd}\u{fffd}");
    }
}

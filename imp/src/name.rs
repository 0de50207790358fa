//! The names of participants.
//!
//! A message may carry the name of who said it: [`FormatOptions::user_name`](crate::FormatOptions::user_name)
//! names the request's user message, [`Turn::user_name`](crate::Turn::user_name) and
//! [`Turn::assistant_name`](crate::Turn::assistant_name) those of a stored turn. A signature described at run
//! time takes `user_name` among its inputs; one that declares a field of that name keeps it as a field, and then
//! it names nothing. Notes and tool results are never named.
//!
//! `imp` passes a name through as it is given, and a client copies it where its wire format has the field.
//! What becomes of it there is the provider's matter:
//!
//! | server | what becomes of a message's `name` |
//! | --- | --- |
//! | OpenAI, Azure OpenAI | taken if it is `^[a-zA-Z0-9_-]{1,64}$`, else the request is refused (400); shown to the model |
//! | llama.cpp, vLLM and other servers of open models | any text is taken; the chat template shows it or, as most do, drops it without a word |
//! | Mistral, and vLLM with Mistral's tokenizer | the request is refused (422, 400), whatever the name |
//! | Amazon Bedrock, Anthropic, Gemini | there is no such field: a gateway drops it, a client of their own format sends none |
//!
//! A client whose [`Capabilities`](crate::Capabilities) deny names sends none.
//!
//! So a model that must know who speaks is told so in the text: make the speaker a field of the signature.

/// The longest name that providers take, in characters.
const LONGEST: usize = 64;

/// The name in a form that every provider which has names takes: `^[a-zA-Z0-9_-]{1,64}$`.
///
/// Other characters become `_`; a name of which nothing would be left is spelled in code points, so that two
/// people do not become one. A legal name is returned as it is.
///
/// ```
/// use imp::name;
///
/// assert_eq!(name::legal("alice"), "alice");
/// assert_eq!(name::legal("Zoë K."), "Zo__K_");
/// assert_eq!(name::legal("李"), "u674e");
/// assert_eq!(name::legal(""), "_");
/// ```
pub fn legal(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() {
        return "_".to_owned();
    }
    if name.chars().any(|c| c.is_ascii_alphanumeric()) || name.chars().all(is_legal) {
        return name.chars().take(LONGEST).map(|c| if is_legal(c) { c } else { '_' }).collect();
    }
    let points: Vec<String> = name.chars().map(|c| format!("u{:x}", u32::from(c))).collect();
    points.join("-").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::legal;

    #[test]
    fn names_are_legal() {
        for name in
            ["", "a", "Zoë", "a b", "李小龍", "-", "  ", "🙂", &"x".repeat(100), &"龍".repeat(100), "a\nb"]
        {
            let made = legal(name);
            assert!((1..=64).contains(&made.len()), "{made}");
            assert!(made.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{made}");
            assert_eq!(legal(&made), made);
        }
        assert_ne!(legal("李"), legal("龍"));
    }
}

//! `crate = path`: the crate renamed in `Cargo.toml` (ma003), passed on by a facade, imported by a `use`.

#![deny(missing_docs, missing_debug_implementations, unused_qualifications)]

use ai::Signature;
use serde::Serialize;

/// Asks under the crate's new name.
#[derive(Debug, Signature)]
#[signature(crate = ai, output = Answer)]
pub struct Ask<'a, T: Serialize + schemars::JsonSchema> {
    /// The question.
    pub question: &'a str,
    /// Anything.
    #[field(min = 1)]
    pub about: T,
}

/// Answers, with an absolute path.
#[derive(Debug, Signature)]
#[signature(crate = ::ai)]
pub struct Answer {
    /// The answer.
    #[field(default = "none", min_length = 1, text_field)]
    pub answer: String,
}

mod through_a_facade {
    use imp_tests_renamed::model;

    #[derive(Debug, model::ai::Signature)]
    #[signature(crate = model::ai, output = super::Answer)]
    pub(crate) struct Ask {
        pub(crate) question: String,
    }
}

/// Looks.
#[ai::tool(crate = ai)]
async fn look(query: String) -> String {
    query
}

#[ai::tool(crate = ::ai, description = "Looks again.")]
async fn again() {}

#[test]
fn tools() {
    let (look, again) = (look_tool(), again_tool());
    assert_eq!((look.name(), look.definition().description()), ("look", "Looks."));
    assert_eq!((again.name(), again.definition().description()), ("again", "Looks again."));
}

#[test]
fn another_name() -> Result<(), Box<dyn std::error::Error>> {
    let chat = ai::Chat::new();
    let messages = chat.format(&Ask { question: "why?", about: 3_u8 })?;
    assert_eq!(messages.len(), 2);
    let answer: Answer = chat.parse("[[ ## answer ## ]]\nso\n\n[[ ## completed ## ]]\n")?;
    assert_eq!(answer.answer, "so");
    let partial = through_a_facade::AskPartial { question: Some("?".to_owned()) };
    assert_eq!(partial.complete()?.question, "?");
    assert_eq!(through_a_facade::Ask::FIELDS.question.name(), "question");
    Ok(())
}

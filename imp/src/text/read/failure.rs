//! Why a text could not be read, while it is read.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Index(usize),
    Key(String),
}

/// Writes a path below a value: `.sections[2].score`.
pub(crate) fn push_path(out: &mut String, steps: impl Iterator<Item = Step>) {
    use fmt::Write as _;
    for step in steps {
        let _ = match step {
            Step::Index(at) => write!(out, "[{at}]"),
            Step::Key(key) => write!(out, ".{key}"),
        };
    }
}

/// What kind of failure it is: decides whether another reading may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The text is no JSON, even with what is forgiven.
    Syntax,
    /// The reader itself found that a value is not of its type.
    Type,
    /// serde or the type's own code refused: behind a buffer the type may have been lost.
    Foreign,
    /// A key is there twice: a derived `Deserialize` refuses that, where the last one should count.
    Duplicate,
    /// A value breaks a bound.
    Bound,
}

/// A failure; boxed, so that the result of every step of the reader stays small.
#[derive(Debug, Clone)]
pub(crate) struct Failure(Box<Repr>);

#[derive(Debug, Clone)]
struct Repr {
    message: String,
    expected: &'static str,
    why: Why,
    /// The byte at which the failing value begins.
    at: Option<usize>,
    /// From the inside out.
    steps: Vec<Step>,
}

impl Failure {
    #[cold]
    pub(crate) fn new(why: Why, message: impl Into<String>) -> Failure {
        Failure(Box::new(Repr { message: message.into(), expected: "", why, at: None, steps: Vec::new() }))
    }

    /// `expected integer`.
    #[cold]
    pub(crate) fn expected(word: &'static str) -> Failure {
        let mut failure = Failure::new(Why::Type, format!("expected {word}"));
        failure.0.expected = word;
        failure
    }

    #[cold]
    pub(crate) fn with_expected(mut self, word: &'static str) -> Failure {
        self.0.expected = word;
        self
    }

    /// Says where the failing value begins, unless that is known from further inside.
    #[cold]
    pub(crate) fn at(mut self, at: usize) -> Failure {
        self.0.at.get_or_insert(at);
        self
    }

    #[cold]
    pub(crate) fn inside(mut self, step: Step) -> Failure {
        self.0.steps.push(step);
        self
    }

    pub(crate) fn why(&self) -> Why {
        self.0.why
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn expected_word(&self) -> &'static str {
        self.0.expected
    }

    pub(crate) fn position(&self) -> Option<usize> {
        self.0.at
    }

    pub(crate) fn is_nested(&self) -> bool {
        !self.0.steps.is_empty()
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.steps.iter().rev()
    }

    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        push_path(&mut path, self.steps().cloned());
        path
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Failure::new(Why::Foreign, message.to_string())
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Failure::new(Why::Foreign, format!("expected {expected}, found {found}"))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Failure::new(Why::Foreign, format!("expected {expected}, found {found}"))
    }

    #[cold]
    fn unknown_variant(_: &str, names: &'static [&'static str]) -> Self {
        Failure::new(Why::Foreign, super::scalar::one_of(names.iter().copied()))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Failure::new(Why::Foreign, format!("{field} is required"))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Failure::new(Why::Duplicate, format!("{field} is there twice"))
    }
}

//! Errors of the pure half: building a spec, writing a prompt, reading a reply.

use std::fmt;
use std::ops::Range;

use crate::bounded::Bounded;
use crate::fields::Fields;

/// A signature that cannot be described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError(Box<SpecErrorRepr>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct SpecErrorRepr {
    message: String,
    field: Option<String>,
    position: Option<usize>,
}

impl SpecError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        SpecError(Box::new(SpecErrorRepr { message: message.into(), field: None, position: None }))
    }

    pub(crate) fn of_field(field: &str, message: impl fmt::Display) -> Self {
        let mut error = SpecError::new(format!("field `{field}`: {message}"));
        error.0.field = Some(field.to_owned());
        error
    }

    pub(crate) fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    /// The field that is at fault, if it is one.
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// The place in the text of a signature, in characters from 0, if it came from a text.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }
}

/// What is long is cut in the middle.
impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bounded(&self.0.message).fmt(f)
    }
}

impl std::error::Error for SpecError {}

/// A value whose own `Serialize` refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError(String);

impl WriteError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        WriteError(message.into())
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bounded(&self.0).fmt(f)
    }
}

impl std::error::Error for WriteError {}

impl serde::ser::Error for WriteError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        WriteError(message.to_string())
    }
}

/// Fields without a value where each must have one: from a companion's `complete()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFields(Vec<&'static str>);

impl MissingFields {
    /// For the derive only.
    #[doc(hidden)]
    pub fn __new(names: Vec<&'static str>) -> Self {
        MissingFields(names)
    }

    /// The names, in declared order.
    pub fn names(&self) -> &[&'static str] {
        &self.0
    }
}

impl fmt::Display for MissingFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "these fields have no value and no default: {}", self.0.join(", "))
    }
}

impl std::error::Error for MissingFields {}

/// Values from which no messages can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The signature itself cannot be described.
    Spec(SpecError),
    /// Required inputs without a value; no request is made.
    MissingInputs(Vec<String>),
    /// The same where values were given under names that are no inputs: one of them may be a misspelt one.
    UnknownInputs {
        /// Required inputs without a value.
        missing: Vec<String>,
        /// The given names that are no inputs, each with the input whose name is nearest, if one is near.
        unknown: Vec<(String, Option<String>)>,
    },
    /// A value whose own `Serialize` refused.
    Value {
        /// The field's name.
        field: String,
        /// What it said.
        error: WriteError,
    },
    /// An adapter's own refusal.
    Other(String),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Spec(error) => error.fmt(f),
            FormatError::MissingInputs(names) => {
                write!(f, "these inputs have no value: {}", names.join(", "))
            }
            FormatError::UnknownInputs { missing, unknown } => {
                write!(f, "these inputs have no value: {}; these names are no inputs: ", missing.join(", "))?;
                for (at, (name, near)) in unknown.iter().enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", Bounded(name))?;
                    if let Some(near) = near {
                        write!(f, " (did you mean `{near}`?)")?;
                    }
                }
                Ok(())
            }
            FormatError::Value { field, error } => write!(f, "field `{field}` cannot be written: {error}"),
            FormatError::Other(message) => Bounded(message).fmt(f),
        }
    }
}

impl std::error::Error for FormatError {}

impl From<SpecError> for FormatError {
    fn from(error: SpecError) -> Self {
        FormatError::Spec(error)
    }
}

/// A reply that could not be read.
#[derive(Debug, Clone)]
pub struct ParseError(Box<ParseErrorRepr>);

#[derive(Debug, Clone)]
struct ParseErrorRepr {
    kind: ParseErrorKind,
    adapter: &'static str,
    message: String,
    reply: String,
    fields: Fields,
    missing: Vec<String>,
    failures: Vec<FieldFailure>,
    syntax: Option<ReadError>,
}

/// Why a reply could not be read (the kinds of Imp).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The reply is not of the adapter's format at all.
    Malformed,
    /// Outputs that have neither a value nor a default.
    MissingFields,
    /// Outputs whose value is of the wrong type or breaks a bound.
    InvalidFields,
    /// The limit of tokens cut the reply off. What was whole in it is in [`ParseError::fields`].
    CutOff,
    /// Outputs that the model was not asked for, as their value is its native reasoning, of which the completion has
    /// none; all others were read.
    NativeReasoningMissing,
    /// The reply is no completion: a list, a number, nothing.
    UnsupportedOutput,
    /// An adapter's own error.
    Other,
}

/// One output that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldFailure {
    /// The output's name.
    pub field: String,
    /// The place inside the output, `report.sections[2].score`; the output's name alone where it is
    /// the whole value.
    pub path: String,
    /// What is wrong: `expected integer`, `must be >= 1`.
    pub message: String,
    /// What the type asks for: `integer`.
    pub expected: String,
    /// The text that was read there.
    pub value: String,
    /// Its bytes in the reply.
    pub span: Range<usize>,
}

impl FieldFailure {
    /// The failure of an output that was read from `text`, which starts at the byte `start` of the reply.
    pub(crate) fn new(field: &str, error: ReadError, text: &str, start: usize) -> Self {
        FieldFailure {
            field: field.to_owned(),
            path: format!("{field}{}", error.path),
            message: error.message,
            expected: error.expected,
            value: text.get(error.span.clone()).unwrap_or(text).to_owned(),
            span: start + error.span.start..start + error.span.end,
        }
    }
}

impl ParseError {
    /// An error with a message of its own; see the other constructors of the kinds.
    pub fn new(kind: ParseErrorKind, adapter: &'static str, reply: &str, message: impl Into<String>) -> Self {
        ParseError(Box::new(ParseErrorRepr {
            kind,
            adapter,
            message: message.into(),
            reply: reply.to_owned(),
            fields: Fields::new(),
            missing: Vec::new(),
            failures: Vec::new(),
            syntax: None,
        }))
    }

    pub(crate) fn with_fields(mut self, fields: Fields) -> Self {
        self.0.fields = fields;
        self
    }

    /// The same as an error about `reply`, of which the text that was read begins at the byte `from`.
    pub(crate) fn rebased(mut self, reply: &str, from: usize) -> Self {
        for failure in &mut self.0.failures {
            failure.span = failure.span.start + from..failure.span.end + from;
        }
        reply.clone_into(&mut self.0.reply);
        self
    }

    pub(crate) fn with_missing(mut self, missing: Vec<String>) -> Self {
        self.0.missing = missing;
        self
    }

    /// The same as an error about the whole reply.
    pub(crate) fn malformed(mut self, message: &str) -> Self {
        self.0.kind = ParseErrorKind::Malformed;
        message.clone_into(&mut self.0.message);
        self
    }

    /// The same with a text before its message.
    pub(crate) fn prefixed(mut self, text: &str) -> Self {
        self.0.message.insert_str(0, text);
        self
    }

    pub(crate) fn with_failures(mut self, failures: Vec<FieldFailure>) -> Self {
        self.0.failures = failures;
        self
    }

    pub(crate) fn with_syntax(mut self, error: ReadError) -> Self {
        self.0.syntax = Some(error);
        self
    }

    /// What a retry shows the model: the error, where the reply is not of the format, and what it wrote
    /// where a value was wrong.
    pub fn retry_message(&self) -> String {
        let mut text = self.0.message.clone();
        if let Some(error) = &self.0.syntax {
            text.push_str("\n\n");
            text.push_str(&error.message);
        }
        for (at, failure) in self.0.failures.iter().enumerate() {
            text.push_str(if at == 0 { "\n\nWhat you wrote:\n- " } else { "\n- " });
            text.push_str(&failure.path);
            text.push_str(": ");
            text.push_str(&failure.value);
            // The message of missing outputs does not say what is wrong with the others.
            if self.0.kind == ParseErrorKind::MissingFields {
                text.push_str(" (");
                text.push_str(&failure.message);
                text.push(')');
            }
        }
        text
    }

    /// Why.
    pub fn kind(&self) -> ParseErrorKind {
        self.0.kind
    }

    /// The adapter that read: `chat`, `json`, …
    pub fn adapter(&self) -> &str {
        self.0.adapter
    }

    /// The whole reply.
    pub fn reply(&self) -> &str {
        &self.0.reply
    }

    /// The outputs that were read before it failed.
    pub fn fields(&self) -> &Fields {
        &self.0.fields
    }

    /// The outputs that are missing, in the order of the signature.
    pub fn missing(&self) -> &[String] {
        &self.0.missing
    }

    /// The outputs that were there and wrong, in the order of the signature.
    pub fn failures(&self) -> &[FieldFailure] {
        &self.0.failures
    }

    /// Where a [`Malformed`](ParseErrorKind::Malformed) reply is not of the adapter's format, if there is
    /// such a place; its span is in the reply.
    ///
    /// ```
    /// use imp::{Json, SignatureSpec};
    ///
    /// let spec = SignatureSpec::parse("question -> answer")?;
    /// let error = Json::new().read_fields(&spec, r#"{"answer": Paris}"#).unwrap_err();
    /// let place = error.syntax().map(|error| error.span());
    /// assert_eq!(place, Some(11..17));
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    pub fn syntax(&self) -> Option<&ReadError> {
        self.0.syntax.as_ref()
    }
}

/// What is long is cut in the middle; the reply and the [failures](ParseError::failures) have all of it.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bounded(&self.0.message).fmt(f)
    }
}

impl std::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.syntax.as_ref().map(|error| error as _)
    }
}

/// Why a text is no value of a type.
///
/// ```
/// use imp::ReadError;
///
/// // What a retry would show the model of an output `report`.
/// fn line(error: &ReadError) -> String {
///     format!("- report{}: {}", error.path(), error.message())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// `expected integer`, `must be >= 1`.
    pub(crate) message: String,
    /// `integer`; empty where only a bound was broken.
    pub(crate) expected: String,
    /// Below the value: `.sections[2].score`; empty for the value itself.
    pub(crate) path: String,
    /// Bytes in the source's text.
    pub(crate) span: Range<usize>,
}

impl ReadError {
    /// What is wrong: `expected integer`, `must be >= 1` (the messages are Imp's).
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the type asks for, `integer`; empty where only a bound was broken.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// The place below the value, `.sections[2].score`; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The bytes of the source's text that are at fault.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// A long message is cut in the middle; [`message`](ReadError::message) has all of it.
impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return Bounded(&self.message).fmt(f);
        }
        let path = self.path.trim_start_matches('.');
        write!(f, "{}: {}", Bounded(path), Bounded(&self.message))
    }
}

impl std::error::Error for ReadError {}

//! A streamed reply, from its bytes to deltas and a completion.

use super::fault::{about, excerpt};
use super::{anthropic, openai, sse};
use crate::lm::{Completion, Headers, LmError, LmErrorKind};

/// What a piece of a streamed reply adds.
///
/// ```
/// use imp::lm::wire::{Delta, StreamDecoder};
///
/// let mut decoder = StreamDecoder::openai(200, &Default::default());
/// let deltas = decoder.push(b"data: {\"choices\": [{\"delta\": {\"content\": \"Ahoy\"}, \"finish_reason\": \"stop\"}]}\n\n");
/// assert_eq!(deltas, [Delta::Text { choice: 0, text: "Ahoy".into() }]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// More of what the model says.
    Text {
        /// Which of the choices, from 0.
        choice: usize,
        /// What is added to its text.
        text: String,
    },
    /// More of what the model thinks.
    Reasoning {
        /// Which of the choices, from 0.
        choice: usize,
        /// What is added to its reasoning.
        text: String,
    },
    /// The start of a tool call, or more of its arguments.
    ToolCall {
        /// Which of the choices, from 0.
        choice: usize,
        /// Which of the choice's calls, from 0, in the order of their first deltas.
        call: usize,
        /// The call's id, at the start; empty later, or if there is none.
        id: String,
        /// The tool's name, at the start; empty later.
        name: String,
        /// What is added to the text of its arguments, which is JSON when it is whole.
        arguments: String,
    },
}

/// Reads a streamed reply as its bytes come, cut anywhere.
///
/// A reply that is no stream (an error, or a server that does not stream) is read as a whole at its [`end`](Self::end).
///
/// ```
/// use imp::LmErrorKind;
/// use imp::lm::wire::StreamDecoder;
///
/// let text = "data: {\"choices\": [{\"delta\": {\"content\": \"Ah\"}}]}\n\n\
///             data: {\"choices\": [{\"delta\": {\"content\": \"oy\"}, \"finish_reason\": \"stop\"}]}\n\n\
///             data: [DONE]\n\n";
/// let mut whole = StreamDecoder::openai(200, &Default::default());
/// let mut cut = whole.clone();
/// assert_eq!(whole.push(text.as_bytes()).len(), 2);
/// assert!(whole.is_done());
/// assert_eq!(whole.finish()?.text(), Some("Ahoy"));
///
/// cut.push(&text.as_bytes()[..60]);
/// let error = cut.finish().unwrap_err();
/// assert_eq!(error.kind(), LmErrorKind::CutOff);
/// assert_eq!(error.completion().and_then(|completion| completion.text()), Some("Ah"));
/// # Ok::<(), imp::LmError>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamDecoder {
    status: u16,
    headers: Headers,
    form: Form,
    assembler: Assembler,
    failed: Option<LmError>,
    /// No more bytes come.
    ended: bool,
    /// What a reply that was no stream says.
    whole: Option<Result<Completion, LmError>>,
}

#[derive(Debug, Clone)]
enum Form {
    /// Nothing but white space came.
    Unknown,
    /// No stream: all of it is kept.
    Whole(Vec<u8>),
    Events(sse::Decoder),
}

#[derive(Debug, Clone)]
enum Assembler {
    OpenAi(openai::Assembler),
    Anthropic(anthropic::Assembler),
}

/// The most bytes of one event: a tool's arguments or an image may come in one.
const EVENT: usize = 64 * 1024 * 1024;

impl StreamDecoder {
    /// A decoder of OpenAI's chunks.
    pub fn openai(status: u16, headers: &Headers) -> Self {
        StreamDecoder::new(status, headers, Assembler::OpenAi(openai::Assembler::default()))
    }

    /// A decoder of Anthropic's events.
    pub fn anthropic(status: u16, headers: &Headers) -> Self {
        StreamDecoder::new(status, headers, Assembler::Anthropic(anthropic::Assembler::default()))
    }

    fn new(status: u16, headers: &Headers, assembler: Assembler) -> Self {
        let form = if (200..300).contains(&status) { Form::Unknown } else { Form::Whole(Vec::new()) };
        StreamDecoder {
            status,
            headers: headers.clone(),
            form,
            assembler,
            failed: None,
            ended: false,
            whole: None,
        }
    }

    /// Takes the next bytes, and gives what they add. After a failure nothing is added; it is what
    /// [`finish`](Self::finish) returns.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Delta> {
        let mut deltas = Vec::new();
        if self.is_done() {
            return deltas;
        }
        let mut bytes = bytes;
        if matches!(self.form, Form::Unknown) {
            // A byte order mark counts as white space here.
            let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
            let Some(at) = bytes.iter().position(|byte| !blank(byte)) else { return deltas };
            bytes = bytes.get(at..).unwrap_or_default();
            self.form = match bytes.first() {
                Some(b'{' | b'[' | b'<') => Form::Whole(Vec::new()),
                _ => Form::Events(sse::Decoder::new(EVENT)),
            };
        }
        match &mut self.form {
            Form::Unknown => {}
            Form::Whole(whole) => whole.extend_from_slice(bytes),
            Form::Events(decoder) => {
                let mut events = Vec::new();
                let result = decoder.push(bytes, &mut events);
                for event in events {
                    self.event(&event, &mut deltas);
                }
                if let (Err(error), None) = (result, &self.failed) {
                    self.failed = Some(
                        about(LmErrorKind::Malformed, self.status, &self.headers, error.to_string())
                            .with_source(error),
                    );
                }
            }
        }
        deltas
    }

    fn event(&mut self, event: &sse::Event, deltas: &mut Vec<Delta>) {
        if self.is_done() {
            return;
        }
        let result = match (event.data.trim(), &mut self.assembler) {
            ("", _) => return,
            ("[DONE]", Assembler::OpenAi(assembler)) => return assembler.end(),
            ("[DONE]", Assembler::Anthropic(assembler)) => return assembler.end(),
            (_, Assembler::OpenAi(assembler)) => assembler.event(event, self.status, &self.headers, deltas),
            (_, Assembler::Anthropic(assembler)) => {
                assembler.event(event, self.status, &self.headers, deltas)
            }
        };
        self.failed = result.err();
    }

    /// Takes the end of the body, and gives what it adds: an event without the empty line behind it counts if it is
    /// whole, and a reply that is no stream gives all its deltas now. [`finish`](Self::finish) does this, too, if it
    /// was not done.
    ///
    /// ```
    /// use imp::lm::wire::{Delta, StreamDecoder};
    ///
    /// let mut decoder = StreamDecoder::openai(200, &Default::default());
    /// let text = "data: {\"choices\": [{\"delta\": {\"content\": \"Ahoy\"}, \"finish_reason\": \"stop\"}]}";
    /// assert_eq!(decoder.push(text.as_bytes()), []);
    /// assert_eq!(decoder.end(), [Delta::Text { choice: 0, text: "Ahoy".into() }]);
    /// assert_eq!(decoder.finish()?.text(), Some("Ahoy"));
    /// # Ok::<(), imp::LmError>(())
    /// ```
    pub fn end(&mut self) -> Vec<Delta> {
        let mut deltas = Vec::new();
        if self.ended {
            return deltas;
        }
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Whole(body) => {
                let read = match self.assembler {
                    Assembler::OpenAi(_) => openai::decode(self.status, &self.headers, &body),
                    Assembler::Anthropic(_) => anthropic::decode(self.status, &self.headers, &body),
                };
                if let Ok(completion) = &read {
                    deltas = whole(completion);
                }
                self.whole = Some(read);
            }
            Form::Events(decoder) if !self.is_done() => {
                if let Some(event) = decoder.finish().filter(|event| {
                    event.data.trim() == "[DONE]" || super::json::parse(event.data.as_bytes()).is_ok()
                }) {
                    self.event(&event, &mut deltas);
                }
            }
            _ => {}
        }
        self.ended = true;
        deltas
    }

    /// As [`end`](Self::end), where the connection failed: what is no stream is not read, for it may be half of it.
    pub(crate) fn end_stream(&mut self) -> Vec<Delta> {
        if matches!(self.form, Form::Whole(_)) { Vec::new() } else { self.end() }
    }

    /// Whether the provider said that it is done, the reply failed, or [`end`](Self::end) was called: no more bytes are
    /// needed.
    pub fn is_done(&self) -> bool {
        self.ended
            || self.failed.is_some()
            || match &self.assembler {
                Assembler::OpenAi(assembler) => assembler.is_done(),
                Assembler::Anthropic(assembler) => assembler.is_done(),
            }
    }

    /// The completion, at the end of the stream.
    ///
    /// # Errors
    ///
    /// [`CutOff`](LmErrorKind::CutOff) if the stream ended without a finish reason and without the provider's sign
    /// that it is done; otherwise as the wire's `decode`. What was read is the error's
    /// [`completion`](LmError::completion).
    pub fn finish(mut self) -> Result<Completion, LmError> {
        // What the end adds is in the completion.
        self.end();
        if let Some(read) = self.whole {
            return read;
        }
        let (status, headers) = (self.status, self.headers);
        let (whole, read) = match self.assembler {
            Assembler::OpenAi(assembler) => (assembler.is_whole(), assembler.finish(status, &headers)),
            Assembler::Anthropic(assembler) => (assembler.is_whole(), assembler.finish(status, &headers)),
        };
        let partial = |read: Result<Completion, LmError>| match read {
            Ok(completion) => Some(completion),
            Err(error) => error.completion().cloned(),
        };
        if let Some(failed) = self.failed {
            return Err(match partial(read) {
                Some(completion) => failed.with_completion(completion),
                None => failed,
            });
        }
        if whole {
            return read;
        }
        let text = "the stream ended before the provider said that it is done".to_owned();
        let error = about(LmErrorKind::CutOff, status, &headers, text);
        Err(match partial(read) {
            Some(completion) => error.with_completion(completion),
            None => error,
        })
    }

    /// The completion, where the connection failed: whole if the finish reason was there.
    pub(crate) fn broke_off(self, cause: LmError) -> Result<Completion, LmError> {
        let streamed = !matches!(self.form, Form::Whole(_));
        match self.finish() {
            Ok(completion) if streamed => Ok(completion),
            Err(error) if error.kind() != LmErrorKind::CutOff && streamed => Err(error),
            Err(error) => Err(match error.completion() {
                Some(completion) => cause.with_completion(completion.clone()),
                None => cause,
            }),
            Ok(_) => Err(cause),
        }
    }
}

/// What a completion that is there as a whole would have added, had it been streamed.
pub(in crate::lm) fn whole(completion: &Completion) -> Vec<Delta> {
    let mut deltas = Vec::new();
    for (choice, whole) in completion.choices.iter().enumerate() {
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        deltas.extend(said(&whole.reasoning).map(|text| Delta::Reasoning { choice, text }));
        deltas.extend(said(&whole.text).map(|text| Delta::Text { choice, text }));
        deltas.extend(whole.tool_calls.iter().enumerate().map(|(call, tool)| Delta::ToolCall {
            choice,
            call,
            id: tool.id.clone(),
            name: tool.name.clone(),
            arguments: serde_json::to_string(&tool.arguments).unwrap_or_default(),
        }));
    }
    deltas
}

/// The values of an event's data: one, but for servers that leave out the empty line between events.
pub(super) fn values(
    event: &sse::Event,
    status: u16,
    headers: &Headers,
) -> Result<Vec<serde_json::Value>, LmError> {
    let parse = |text: &str| super::json::parse(text.as_bytes());
    let error = match parse(&event.data) {
        Ok(value) => return Ok(vec![value]),
        Err(error) => error,
    };
    if event.data.contains('\n') {
        let lines = event.data.lines().filter(|line| !line.trim().is_empty() && line.trim() != "[DONE]");
        if let Ok(values) = lines.map(parse).collect() {
            return Ok(values);
        }
    }
    let text = format!("an event of the stream is not JSON; it starts: {}", excerpt(event.data.as_bytes()));
    Err(about(LmErrorKind::Malformed, status, headers, text).with_source(error))
}

//! Recorded replies of providers: each is decoded, and a streamed one again for many ways of cutting it.

use std::collections::BTreeMap;
use std::panic::catch_unwind;

use imp::lm::Headers;
use imp::lm::wire::{Delta, StreamDecoder, anthropic, openai};
use imp::{Completion, FinishReason, LmError};
use serde_json::{Value as Json, json};

/// Streamed bodies below this many bytes are cut at every byte.
const SMALL: usize = 8 * 1024;

/// How often a streamed body is cut at random.
const RANDOM_CUTS: u64 = 16;

/// One recorded exchange.
#[derive(Debug)]
pub struct Transcript {
    /// The file of the recording, and its number in it.
    pub file: Json,
    /// See `file`.
    pub i: Json,
    anthropic: bool,
    status: u16,
    headers: Headers,
    body: Vec<u8>,
    /// Where the network cut the body, if that was kept.
    pieces: Vec<usize>,
}

/// What a reply is decoded to.
pub type Outcome = Result<Completion, LmError>;

impl Transcript {
    /// Reads one line of a file.
    ///
    /// # Errors
    ///
    /// The line is no recording.
    pub fn read(line: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let status = json["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        let headers = json["headers"].as_object().into_iter().flatten();
        let headers = headers.map(|(name, value)| {
            (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
        let mut pieces = Vec::new();
        let body = if let Some(body) = json["body"].as_str() {
            body.as_bytes().to_vec()
        } else {
            let mut body = Vec::new();
            for chunk in json["chunks_b64"].as_array().ok_or("neither `body` nor `chunks_b64`")? {
                let bytes = base64(chunk.as_str().unwrap_or_default()).ok_or("a chunk is no base64")?;
                pieces.push(bytes.len());
                body.extend(bytes);
            }
            body
        };
        Ok(Transcript {
            anthropic: json["path"].as_str().is_some_and(|path| path.ends_with("/messages")),
            status: status.ok_or("no `status`")?,
            headers: headers.collect(),
            body,
            pieces,
            file: json["file"].clone(),
            i: json["i"].clone(),
        })
    }

    /// Decodes the reply, and checks that it means the same however it is cut.
    ///
    /// # Errors
    ///
    /// A decoder panicked, or a cutting gave another result; says which.
    pub fn check(&self) -> Result<Outcome, String> {
        catch_unwind(|| self.run(true)).unwrap_or_else(|_| Err("panicked".to_owned()))
    }

    /// The same without the cuts at every byte, which take long without optimisation.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn quick(&self) -> Result<Outcome, String> {
        catch_unwind(|| self.run(false)).unwrap_or_else(|_| Err("panicked".to_owned()))
    }

    fn run(&self, every_byte: bool) -> Result<Outcome, String> {
        let whole = self.stream([self.body.as_slice()]);
        let start = self.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.body).trim_ascii_start();
        if !(200..300).contains(&self.status)
            || start.starts_with(b"{")
            || start.starts_with(b"[")
            || start.starts_with(b"<")
        {
            // No stream: the plain decoder, too, must say so.
            let decode = if self.anthropic { anthropic::decode } else { openai::decode };
            let plain = decode(self.status, &self.headers, &self.body);
            return if same(&plain, &whole.0) {
                Ok(plain)
            } else {
                Err(format!("as a whole {plain:?}, as a stream {:?}", whole.0))
            };
        }
        joined(&whole)?;
        let check = |name: &str, cut: &(Outcome, Vec<Delta>)| {
            if same(&whole.0, &cut.0) && merged(&whole.1) == merged(&cut.1) {
                Ok(())
            } else {
                Err(format!("{name}: {cut:?} instead of {whole:?}"))
            }
        };
        check("byte by byte", &self.stream(self.body.chunks(1)))?;
        check("as recorded", &self.stream(split(&self.body, self.pieces.iter().copied())))?;
        if every_byte && self.body.len() < SMALL {
            for at in 1..self.body.len() {
                let (first, second) = self.body.split_at(at);
                check(&format!("cut at {at}"), &self.stream([first, second]))?;
            }
        }
        for seed in 0..if every_byte { RANDOM_CUTS } else { 2 } {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.body.len() as u64;
            let lengths = std::iter::from_fn(|| {
                // xorshift64; 1 to 200 bytes.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                Some(usize::try_from(state % 200).unwrap_or(0) + 1)
            });
            let lengths = lengths.take(self.body.len());
            check(&format!("cut at random, seed {seed}"), &self.stream(split(&self.body, lengths)))?;
        }
        Ok(whole.0)
    }

    fn stream<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Outcome, Vec<Delta>) {
        let mut decoder = if self.anthropic {
            StreamDecoder::anthropic(self.status, &self.headers)
        } else {
            StreamDecoder::openai(self.status, &self.headers)
        };
        let mut deltas: Vec<_> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
        deltas.extend(decoder.end());
        (decoder.finish(), deltas)
    }

    /// The line of a decoded reply.
    pub fn line(&self, outcome: &Outcome) -> Json {
        let (file, i) = (&self.file, &self.i);
        let completion = match outcome {
            Ok(completion) => completion,
            Err(error) => return json!({"file": file, "i": i, "error": error.kind().as_str()}),
        };
        let Some(choice) = completion.choices.first() else {
            return json!({"file": file, "i": i, "error": "malformed"});
        };
        let calls: Vec<_> = choice
            .tool_calls
            .iter()
            .map(|call| {
                let arguments = match &call.malformed {
                    // As the model wrote them.
                    Some(malformed) => {
                        let malformed = json!(malformed);
                        malformed.pointer("/function/arguments").cloned().unwrap_or(malformed)
                    }
                    None => json!(call.arguments),
                };
                json!({"id": call.id, "name": call.name, "arguments": arguments})
            })
            .collect();
        let finish = match &choice.finish_reason {
            FinishReason::Stop => Some("stop"),
            FinishReason::Length => Some("length"),
            FinishReason::ToolCalls => Some("tool_calls"),
            FinishReason::ContentFilter => Some("content_filter"),
            FinishReason::Other(word) => Some(word.as_str()),
            _ => None,
        };
        let usage = completion.usage;
        json!({
            "file": file, "i": i, "text": choice.text, "reasoning": choice.reasoning, "calls": calls, "finish": finish,
            "usage": {"input": usage.input_tokens, "output": usage.output_tokens},
        })
    }
}

/// The joined deltas must be what the completion has.
fn joined((outcome, deltas): &(Outcome, Vec<Delta>)) -> Result<(), String> {
    let completion = match outcome {
        Ok(completion) => Some(completion),
        Err(error) => error.completion(),
    };
    let merged = merged(deltas);
    for (at, choice) in completion.into_iter().flat_map(|completion| &completion.choices).enumerate() {
        for (what, expected) in [("text", &choice.text), ("reasoning", &choice.reasoning)] {
            let got = merged.get(&(at, what, 0)).map_or("", String::as_str);
            if got != expected.as_deref().unwrap_or_default() {
                return Err(format!("the deltas of the {what} make {got:?}, not {expected:?}"));
            }
        }
    }
    Ok(())
}

/// What the deltas make together, by choice, kind and call.
fn merged(deltas: &[Delta]) -> BTreeMap<(usize, &'static str, usize), String> {
    let mut merged = BTreeMap::<_, String>::new();
    for delta in deltas {
        match delta {
            Delta::Text { choice, text } => merged.entry((*choice, "text", 0)).or_default().push_str(text),
            Delta::Reasoning { choice, text } => {
                merged.entry((*choice, "reasoning", 0)).or_default().push_str(text);
            }
            Delta::ToolCall { choice, call, id, name, arguments } => {
                for (what, text) in [("id", id), ("name", name), ("arguments", arguments)] {
                    merged.entry((*choice, what, *call)).or_default().push_str(text);
                }
            }
            _ => {}
        }
    }
    merged
}

/// Errors are the same if they say the same.
fn same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one == other,
        (Err(one), Err(other)) => {
            let said = |error: &LmError| {
                (
                    error.kind(),
                    error.to_string(),
                    error.status(),
                    error.completion().cloned(),
                    error.is_retryable(),
                )
            };
            said(one) == said(other)
        }
        _ => false,
    }
}

fn split(body: &[u8], lengths: impl Iterator<Item = usize>) -> Vec<&[u8]> {
    let mut rest = body;
    let mut pieces = Vec::new();
    for length in lengths {
        if rest.is_empty() {
            break;
        }
        let (piece, tail) = rest.split_at(length.min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

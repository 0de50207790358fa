//! Reading a reply as programs do: exact first, then salvage (the design's steps around `parse`).

use std::ops::{Deref, DerefMut};

use crate::adapter::Adapter;
use crate::adapter::beside::Beside;
use crate::adapter::complete::complete_beside;
use crate::adapter::left_out;
use crate::adapter::record::{FieldReader, Outputs, Section};
use crate::adapter::salvage;
use crate::error::{ParseError, ParseErrorKind};
use crate::spec::SignatureSpec;
use crate::text::marker;
use crate::text::read::ReadOptions;
use crate::text::scan::{self, Lines, trim};
use crate::text::think;

/// How the outputs are marked in a reply: what a lenient reading of it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Syntax {
    /// `[[ ## field ## ]]` lines.
    Markers,
    /// One JSON object.
    Json,
    /// An XML element each.
    Tags,
    /// Anything else, which is read exactly and never salvaged. This is the default.
    #[default]
    Other,
}

/// Why a reply ended.
///
/// A program takes it from the completion's [`FinishReason`](crate::FinishReason).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ending {
    /// The model was done. This is the default.
    #[default]
    Stopped,
    /// The limit of tokens cut it off.
    CutOff,
    /// Nobody said: only a reply with an end of its own is known to be whole.
    Unknown,
}

/// A reply's text with what is known of it.
///
/// ```
/// use imp::{Ending, RawReply};
///
/// let reply = RawReply::new("[[ ## answer ## ]]\nPar").ending(Ending::CutOff).salvage(false);
/// # let _ = reply;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawReply<'r> {
    text: &'r str,
    ending: Ending,
    salvage: bool,
}

impl<'r> RawReply<'r> {
    /// A reply of a model that was done, which may be salvaged.
    pub fn new(text: &'r str) -> Self {
        RawReply { text, ending: Ending::Stopped, salvage: true }
    }

    /// Why it ended.
    pub fn ending(mut self, ending: impl Into<Ending>) -> Self {
        self.ending = ending.into();
        self
    }

    /// Whether a reply that is not exactly of the format may be read leniently. The default is yes.
    pub fn salvage(mut self, yes: bool) -> Self {
        self.salvage = yes;
        self
    }
}

impl<'r> From<&'r str> for RawReply<'r> {
    fn from(text: &'r str) -> Self {
        RawReply::new(text)
    }
}

impl<'r> From<&'r String> for RawReply<'r> {
    fn from(text: &'r String) -> Self {
        RawReply::new(text)
    }
}

/// How a reply was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HowRead {
    /// As it stands, by the adapter's `parse`.
    Exact,
    /// By `parse`, after a think block, a fence around the whole, or an end marker behind the last value was
    /// taken off.
    Trimmed,
    /// Leniently: `parse` refuses it.
    Salvaged {
        /// What marked the outputs.
        syntax: Syntax,
    },
}

/// The outputs of a reply, and how they were read. It derefs to the outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<O> {
    outputs: O,
    how: HowRead,
    reasoning: Option<String>,
}

impl<O> Read<O> {
    /// How the reply was read.
    pub fn how(&self) -> HowRead {
        self.how
    }

    /// The text of the think block in front of the answer, if there was one.
    pub fn reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }

    /// The outputs alone.
    pub fn into_inner(self) -> O {
        self.outputs
    }

    pub(crate) fn into_parts(self) -> (O, HowRead, Option<String>) {
        (self.outputs, self.how, self.reasoning)
    }
}

impl<O> Deref for Read<O> {
    type Target = O;
    fn deref(&self) -> &O {
        &self.outputs
    }
}

impl<O> DerefMut for Read<O> {
    fn deref_mut(&mut self) -> &mut O {
        &mut self.outputs
    }
}

/// Reads a reply as programs do, with any adapter: what the adapters' own `read` does.
///
/// 1. A think block in front of the answer and a fence around the whole are taken off.
/// 2. The adapter's exact `parse`.
/// 3. An end marker behind the last value, on its line or misspelt, is cut off.
/// 4. If `parse` refuses, the same text is read once more leniently, and taken only if every required output
///    has exactly one reading and the reply is whole.
///
/// A reply that `parse` accepts is refused if it would leave an output at its default which the reply gives under a mark
/// that is not quite its own, as `[[ ## Note ## ]]` is not that of `note`. Every shape is on the page
/// [How a reply is read](crate::how_a_reply_is_read).
///
/// ```
/// use imp::{Chat, Fields, HowRead, SignatureSpec, Syntax, read_with};
///
/// let spec = SignatureSpec::parse("question -> answer, score: int")?;
/// let reply = "**[[ ## answer ## ]]**\nParis\n\n**[[ ## score ## ]]**\n`3`";
/// let read = read_with::<Fields, _>(&Chat::new(), &spec, reply)?;
/// assert_eq!(read.get("score"), Some(&3.into()));
/// assert_eq!(read.how(), HowRead::Salvaged { syntax: Syntax::Markers });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The error of the exact parse, with the whole reply; of a reply that was cut off one that says so.
pub fn read_with<'r, O: Outputs, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: impl Into<RawReply<'r>>,
) -> Result<Read<O>, ParseError> {
    read_beside(adapter, spec, reply.into(), None)
}

/// The same for a reply of which some outputs stand beside its text: `spec` is what the model was asked for.
pub(crate) fn read_beside<O: Outputs, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: RawReply<'_>,
    mut beside: Option<Beside<'_>>,
) -> Result<Read<O>, ParseError> {
    let RawReply { text: whole, ending, salvage } = reply;
    let syntax = adapter.syntax();
    let peeled = peel(syntax, spec, whole);
    let inside = whole.get(peeled.from..peeled.to).unwrap_or(whole);
    if let Some(beside) = &mut beside {
        beside.think(peeled.reasoning.as_deref());
    }
    let beside = beside.as_ref();
    let (text, ended) =
        if syntax == Syntax::Markers { without_end(adapter, inside) } else { (inside, false) };
    if peeled.unclosed && syntax != Syntax::Other {
        let message = "the think block does not end: there is nothing but reasoning";
        return Err(ParseError::new(ParseErrorKind::Malformed, adapter.name(), whole, message));
    }

    let sections = adapter.sections(spec, text);
    let fail = |error: ParseError| error.rebased(whole, peeled.from);
    if ending == Ending::CutOff && !is_whole(syntax, spec, text, ended, sections.is_ok()) {
        return Err(fail(cut_off(adapter, spec, text, sections, beside)));
    }
    let exact = match sections {
        Ok(sections) => match complete_beside(adapter, spec, text, &sections, beside) {
            Ok(outputs) => match left_out::error(adapter, spec, text, &sections) {
                None => Ok(outputs),
                Some(error) => return Err(fail(error)),
            },
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    let (outputs, how) = match exact {
        Ok(outputs) => {
            let how = if text.len() == whole.len() { HowRead::Exact } else { HowRead::Trimmed };
            (outputs, how)
        }
        Err(error) if !salvage || error.kind() == ParseErrorKind::NativeReasoningMissing => {
            return Err(fail(error));
        }
        Err(error) => {
            let Some((sections, syntax)) =
                salvage::sections(adapter, spec, inside, ended || ending == Ending::Stopped)
            else {
                return Err(fail(error));
            };
            match complete_beside(adapter, spec, inside, &sections, beside) {
                Ok(outputs) => (outputs, HowRead::Salvaged { syntax }),
                // The text has been read: it is no reason to ask once more.
                Err(error) if error.kind() == ParseErrorKind::NativeReasoningMissing => {
                    return Err(fail(error));
                }
                // What was read of it is better known now; what was wrong is as exact as before.
                Err(_) => return Err(fail(error)),
            }
        }
    };
    Ok(Read { outputs, how, reasoning: peeled.reasoning })
}

/// The text of a reply that the exact reading reads, the one that the lenient reading reads, and where both begin; `None`
/// if there is nothing but reasoning.
pub(crate) fn answer<'r, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    whole: &'r str,
) -> Option<(&'r str, &'r str, usize)> {
    let syntax = adapter.syntax();
    let peeled = peel(syntax, spec, whole);
    if peeled.unclosed && syntax != Syntax::Other {
        return None;
    }
    let inside = whole.get(peeled.from..peeled.to)?;
    let text = if syntax == Syntax::Markers { without_end(adapter, inside).0 } else { inside };
    Some((text, inside, peeled.from))
}

/// A reply without what is around it.
struct Peeled {
    from: usize,
    to: usize,
    reasoning: Option<String>,
    /// Whether a think block begins what is left, and does not end.
    unclosed: bool,
}

fn peel(syntax: Syntax, spec: &SignatureSpec, reply: &str) -> Peeled {
    let outputs: Vec<&str> = spec.outputs.iter().map(|field| field.name.as_str()).collect();
    let answer = |text: &str| answer_start(syntax, spec, text);
    let (from, reasoning) = think::take(reply, &outputs, &answer);
    let rest = reply.get(from..).unwrap_or_default();
    // An object is found in a fence by the exact reading.
    let inner = fence(rest, |inside| {
        let start = match syntax {
            Syntax::Other => None,
            syntax => [marker_start(syntax, inside), tag_start(spec, inside)].into_iter().flatten().min(),
        };
        start.is_some_and(|at| inside.get(..at).is_some_and(|before| trim(before).is_empty()))
    });
    let (start, end) = inner.unwrap_or((0, rest.len()));
    let unclosed = think::is_open(rest, &outputs);
    Peeled { from: from + start, to: from + end, reasoning, unclosed }
}

/// Where the answer begins in a text: the first marker line, object, or element of an output.
fn answer_start(syntax: Syntax, spec: &SignatureSpec, text: &str) -> Option<usize> {
    let marker = || marker_start(syntax, text);
    let tag = || tag_start(spec, text);
    let brace = || text.find('{');
    match syntax {
        Syntax::Markers => marker().or_else(brace).or_else(tag),
        Syntax::Json => brace().or_else(marker).or_else(tag),
        Syntax::Tags => tag().or_else(marker).or_else(brace),
        Syntax::Other => None,
    }
}

fn marker_start(syntax: Syntax, text: &str) -> Option<usize> {
    marker::markers(text).filter(|marker| marker.full || syntax == Syntax::Markers).find_map(|marker| {
        let lead = marker::lead(text, marker.start).filter(|lead| !lead.contains(char::is_alphabetic))?;
        Some(marker.start - lead.len())
    })
}

fn tag_start(spec: &SignatureSpec, text: &str) -> Option<usize> {
    let names = spec.outputs.iter().map(|field| field.name.as_str());
    memchr::memchr_iter(b'<', text.as_bytes()).find(|&at| {
        let tag = text.get(at + 1..).and_then(|rest| text.get(at..at + 1 + longest(rest)));
        scan::has_tag(tag.unwrap_or_default(), &names)
    })
}

/// The length of a tag's name and the character behind it.
fn longest(text: &str) -> usize {
    let name =
        text.find(|c: char| c == '/' || c == '>' || c == '<' || scan::is_blank(c)).unwrap_or(text.len());
    name + text.get(name..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}

/// What is inside a fence around a whole text, if `fits` it.
fn fence(text: &str, fits: impl FnOnce(&str) -> bool) -> Option<(usize, usize)> {
    let lead = text.len() - text.trim_start_matches(scan::is_blank).len();
    let body = trim(text);
    let mark = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark))?;
    let open = body.len() - body.trim_start_matches(&mark[..1]).len();
    let (info, _) = body.get(open..)?.split_once('\n')?;
    let close = body.len() - body.trim_end_matches(&mark[..1]).len();
    let plain = info.trim().chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | '.'));
    let start = open + info.len() + 1;
    let end = body.len().checked_sub(close).filter(|end| *end >= start)?;
    let inside = body.get(start..end)?;
    // The closing fence stands on a line of its own, and every other has its own end.
    let alone = inside.is_empty() || inside.trim_end_matches([' ', '\t']).ends_with(['\n', '\r']);
    let even = inside.lines().filter(|line| line.trim_start().starts_with(mark)).count() % 2 == 0;
    (plain && close >= open && alone && even && fits(inside)).then_some((lead + start, lead + end))
}

/// A reply of markers without an end marker that is no marker line of its own: one on the line of the last
/// value, or in another spelling. Says too whether the reply has an end marker of any kind.
fn without_end<'r, A: Adapter + ?Sized>(adapter: &A, text: &'r str) -> (&'r str, bool) {
    let lines = match adapter.dialect() {
        crate::dialect::Dialect::Plain => Lines::Plain,
        crate::dialect::Dialect::Dspy => Lines::Python,
    };
    let exact = scan::markers(text, lines).last();
    if exact.is_some_and(|marker| marker.name == "completed") {
        return (text, true);
    }
    let last = marker::markers(text).filter(|marker| marker::folded(marker.name) == "completed").last();
    let Some(end) = last.filter(|end| exact.is_none_or(|marker| marker.end <= end.start)) else {
        return (text, false);
    };
    let (start, close) = salvage::emphasis(text, end.start, end.end);
    let rest = text.get(close..).unwrap_or_default();
    let (line, after) = rest.split_at(rest.find(['\n', '\r']).unwrap_or(rest.len()));
    // A heading's signs belong to it.
    let lead = marker::lead(text, start).unwrap_or("x").trim_start_matches(scan::is_blank);
    let heading = !lead.is_empty() && lead.trim_end().bytes().all(|byte| byte == b'#');
    let start = if heading { start - lead.len() } else { start };
    let own_line = heading || lead.is_empty();
    // In the middle of a text it is only mentioned.
    let paragraph = after
        .trim_start_matches([' ', '\t', '\r'])
        .strip_prefix('\n')
        .map(|after| after.trim_start_matches([' ', '\t', '\r']).starts_with('\n'));
    let ends = trim(line).is_empty() && (own_line || trim(after).is_empty() || paragraph == Some(true));
    if !ends {
        return (text, false);
    }
    (text.get(..start).unwrap_or(text).trim_end_matches(scan::is_blank), true)
}

/// Whether a reply that the limit of tokens cut off has all of its answer all the same.
fn is_whole(syntax: Syntax, spec: &SignatureSpec, text: &str, ended: bool, well_formed: bool) -> bool {
    match syntax {
        Syntax::Markers => ended,
        // The object, and every element, is closed; a text of its own has no end.
        Syntax::Json => well_formed,
        Syntax::Tags => well_formed && answer_start(syntax, spec, text).is_some(),
        Syntax::Other => false,
    }
}

fn cut_off<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    text: &str,
    sections: Result<Vec<Section<'_>>, ParseError>,
    beside: Option<&Beside<'_>>,
) -> ParseError {
    let message = "the reply was cut off at the token limit: allow more tokens (`max_tokens`)";
    let error = ParseError::new(ParseErrorKind::CutOff, adapter.name(), text, message);
    match sections {
        Ok(mut sections) => {
            // The last section is the one that was being written.
            let last = sections
                .iter_mut()
                .filter(|section| section.source.is_some())
                .max_by_key(|section| section.made_from.as_ref().map_or(section.start, |bytes| bytes.start));
            if let Some(last) = last {
                *last = Section::default();
            }
            let options = ReadOptions { dialect: adapter.dialect(), unescape: adapter.escapes_markers() };
            let joined = beside.map(|beside| beside.sections(&sections));
            let sections = joined.as_deref().unwrap_or(&sections);
            let known =
                FieldReader::new(beside.map_or(spec, |beside| beside.spec), sections, options).given();
            error.with_fields(known)
        }
        Err(broken) => error.with_fields(broken.fields().clone()),
    }
}

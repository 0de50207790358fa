//! A typed reading of a reply while it is written.

use std::fmt;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::adapter::incremental::{Certain, Incremental};
use crate::adapter::read::{Ending, HowRead, RawReply, Read, Syntax, read_with};
use crate::adapter::record::{FieldReader, OutputFields, OutputSignature, Outputs, Record, Section};
use crate::error::{ParseError, ParseErrorKind, SpecError};
use crate::field::Field;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::read::ReadOptions;
use crate::text::scan::is_blank;
use crate::text::think;
use crate::text::write::{FieldWriter, certain_unescaped, json_text, unescape_markers};
use crate::types::Kind;
use crate::value::Value;

/// Which output an event is about. It is compared with the field's handle: `field == Route::FIELDS.reply`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldId {
    index: usize,
    name: Arc<str>,
}

impl FieldId {
    /// The field's name in replies.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's place among the outputs, from 0.
    pub fn index(&self) -> usize {
        self.index
    }
}

/// By the name, which no two outputs share.
impl<S: ?Sized, T: ?Sized> PartialEq<Field<S, T>> for FieldId {
    fn eq(&self, field: &Field<S, T>) -> bool {
        *self.name == *field.name()
    }
}

/// What has become certain of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadEvent {
    /// More of an output that is a text.
    Delta {
        /// The output.
        field: FieldId,
        /// What is added to its text; never empty.
        text: String,
    },
    /// The output is there, and nothing more comes of it.
    Field(FieldId),
}

/// Reads a reply while it is written, as far as it is certain: a pure state machine, with no I/O.
///
/// A `String` output gives its text as it grows; every output gives one [`ReadEvent::Field`] once it is whole, from when
/// on [`get`](Self::get) has its value. Nothing is taken back: the deltas of an output, joined, are the text that
/// [`read_with`](crate::read_with) reads. What an optional text says, or any other type, comes when it is whole.
/// An adapter without an [incremental](Adapter::incremental) reading gives everything at the end. Each section is read once.
///
/// Programs have this built in, see [`Predict::stream`](crate::Predict::stream).
///
/// ```
/// use imp::{Chat, Ending, ReadEvent, Signature, StreamReader};
///
/// #[derive(Debug, Signature)]
/// struct Route {
///     priority: u8,
///     reply: String,
/// }
///
/// let chat = Chat::new();
/// let mut reader = StreamReader::<Route>::new(&chat)?;
/// let mut shown = String::new();
/// let mut show = |events: Vec<ReadEvent>| {
///     for event in events {
///         match event {
///             ReadEvent::Delta { field, text } if field == Route::FIELDS.reply => shown.push_str(&text),
///             _ => {}
///         }
///     }
/// };
/// for piece in ["[[ ## prio", "rity ## ]]\n12\n[[ ## reply ## ]]\nWe are", " on it"] {
///     show(reader.push(piece));
/// }
/// let (rest, route) = reader.finish(Ending::Stopped)?;
/// show(rest);
/// assert_eq!(shown, "We are on it");
/// assert_eq!(route.priority, 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StreamReader<'s, O: Outputs> {
    growth: Growth<'s>,
    partial: O::Partial,
}

impl<'s, O: OutputSignature> StreamReader<'s, O> {
    /// A reader of a reply in the adapter's format.
    ///
    /// # Errors
    ///
    /// The output cannot be described, as for [`OutputSignature::output_spec`].
    pub fn new(adapter: &'s dyn Adapter) -> Result<Self, SpecError> {
        Ok(StreamReader::from_spec(adapter, O::output_spec().map_err(Clone::clone)?))
    }
}

impl<'s, O: Outputs> StreamReader<'s, O> {
    /// The same for a signature that is described at run time.
    pub fn from_spec(adapter: &'s dyn Adapter, spec: &'s SignatureSpec) -> Self {
        StreamReader::mapped(adapter, spec, spec, (0..spec.outputs.len()).collect())
    }

    /// A reader of a reply that has only some of the outputs: those of `asked`, whose places in `whole` are `places`.
    pub(crate) fn mapped(
        adapter: &'s dyn Adapter,
        asked: &'s SignatureSpec,
        whole: &'s SignatureSpec,
        places: Vec<usize>,
    ) -> Self {
        StreamReader { growth: Growth::new(adapter, asked, whole, places), partial: O::Partial::default() }
    }

    /// Takes the next piece of the reply, cut anywhere, and says what is certain now that was not before.
    pub fn push(&mut self, piece: &str) -> Vec<ReadEvent> {
        let Self { growth, partial } = self;
        growth.push(piece, &mut |reader, index| O::read_field(reader, index, partial))
    }

    /// The value of an output that is whole.
    ///
    /// ```
    /// # use imp::{Json, Signature, StreamReader};
    /// # #[derive(Debug, Signature)]
    /// # struct Route { priority: u8 }
    /// let json = Json::new();
    /// let reader = StreamReader::<Route>::new(&json)?;
    /// assert_eq!(reader.get(Route::FIELDS.priority), None);
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    pub fn get<S: ?Sized, T: 'static>(&self, field: Field<S, T>) -> Option<&T>
    where
        O: OutputFields<S> + 'static,
    {
        O::partial_field(&self.partial, O::BEFORE + field.index())?.downcast_ref()
    }

    /// What has come of an output that is a text, so far; empty for any other.
    pub fn text<S: ?Sized, T: ?Sized>(&self, field: Field<S, T>) -> &str
    where
        O: OutputFields<S>,
    {
        self.growth.outputs.get(O::BEFORE + field.index()).map_or("", |output| &output.text)
    }

    /// The outputs that are whole, as the companion in which every field is optional.
    pub fn partial(&self) -> &O::Partial {
        &self.partial
    }

    /// The same with the texts that are still growing, made anew.
    pub fn snapshot(&self) -> O::Partial {
        let sections = self.growth.sections();
        O::read_partial(&mut FieldReader::new(self.growth.whole, &sections, self.growth.options()))
    }

    /// The reply so far.
    pub fn reply(&self) -> &str {
        &self.growth.front
    }

    /// Reads the reply, which has ended, as a whole, and says what had not been certain before. It is salvaged if need be,
    /// as [`read_with`](crate::read_with) does.
    ///
    /// # Errors
    ///
    /// As for [`read_with`](crate::read_with), with the outputs that were read; and if a lenient reading would be another
    /// one than what was given out already.
    pub fn finish(mut self, ending: impl Into<Ending>) -> Result<(Vec<ReadEvent>, Read<O>), ParseError> {
        let reply = RawReply::new(&self.growth.front).ending(ending);
        let read = read_with::<O, _>(self.growth.adapter, self.growth.asked, reply)?;
        let how = read.how();
        let events = self.settle(&read, how)?;
        Ok((events, read))
    }

    /// What is to be said yet of outputs that are read as a whole.
    pub(crate) fn settle(&mut self, outputs: &O, how: HowRead) -> Result<Vec<ReadEvent>, ParseError> {
        self.growth.settle(outputs, &self.partial, how)
    }

    /// Whether anything was given out.
    pub(crate) fn is_visible(&self) -> bool {
        self.growth.visible
    }
}

impl<O: Outputs> fmt::Debug for StreamReader<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReader")
            .field("adapter", &self.growth.adapter)
            .field("reply", &self.growth.front)
            .finish_non_exhaustive()
    }
}

/// Reads the output at an index into the companion.
type ReadOne<'f> = &'f mut dyn FnMut(&mut FieldReader<'_>, usize) -> bool;

/// All of it that knows no Rust type, so that it is compiled once.
struct Growth<'s> {
    adapter: &'s dyn Adapter,
    asked: &'s SignatureSpec,
    whole: &'s SignatureSpec,
    /// The places of what is asked for in the whole.
    places: Vec<usize>,
    reading: Option<Box<dyn Incremental>>,
    gate: Gate,
    front: String,
    /// Kept for its room.
    certain: Vec<Certain>,
    /// By their places in the whole.
    outputs: Vec<Growing>,
    /// A section was wrong: only the reading of the whole can say what becomes of it, so nothing is said before.
    doomed: bool,
    visible: bool,
}

/// One output.
struct Growing {
    id: FieldId,
    /// Whether its text is its value.
    is_text: bool,
    /// The text as it stands in the reply, with its escapes; empty if there are none to take off.
    raw: String,
    /// How much of that is in `text`.
    taken: usize,
    /// What was given out.
    text: String,
    closed: bool,
}

/// What stands in front of the answer.
#[derive(Debug, Clone, Copy)]
enum Gate {
    /// Reasoning may stand at `from`, and no end of it was found before `searched`.
    Before { from: usize, searched: usize },
    /// The answer is everything from here on.
    Open(usize),
    /// The end must be known to read it.
    Shut,
}

impl<'s> Growth<'s> {
    fn new(
        adapter: &'s dyn Adapter,
        asked: &'s SignatureSpec,
        whole: &'s SignatureSpec,
        places: Vec<usize>,
    ) -> Self {
        let outputs = whole.outputs.iter().enumerate().map(|(index, field)| Growing {
            id: FieldId { index, name: field.name.as_str().into() },
            is_text: is_plain_text(field),
            raw: String::new(),
            taken: 0,
            text: String::new(),
            closed: false,
        });
        Growth {
            adapter,
            asked,
            whole,
            places,
            reading: adapter.incremental(asked),
            gate: Gate::Before { from: 0, searched: 0 },
            front: String::new(),
            certain: Vec::new(),
            outputs: outputs.collect(),
            doomed: false,
            visible: false,
        }
    }

    fn options(&self) -> ReadOptions {
        ReadOptions { dialect: self.adapter.dialect(), unescape: self.adapter.escapes_markers() }
    }

    fn push(&mut self, piece: &str, read: ReadOne<'_>) -> Vec<ReadEvent> {
        self.front.push_str(piece);
        if self.doomed || self.reading.is_none() {
            return Vec::new();
        }
        let Some(from) = self.answer() else { return Vec::new() };
        let options = self.options();
        // What is JSON or an element has no marker to escape.
        let unescape = options.unescape && self.adapter.syntax() == Syntax::Markers;
        let mut certain = std::mem::take(&mut self.certain);
        let mut events = Vec::new();
        let answer = self.front.get(from..).unwrap_or_default();
        let Some(reading) = &mut self.reading else { return events };
        reading.advance(answer, &mut certain);
        for what in certain.drain(..) {
            if self.doomed {
                continue;
            }
            let (Certain::Text { output, .. } | Certain::Closed { output }) = what;
            let Some(&place) = self.places.get(output) else { continue };
            let Some(growing) = self.outputs.get_mut(place).filter(|growing| !growing.closed) else {
                continue;
            };
            match what {
                Certain::Text { text, .. } => {
                    if growing.is_text {
                        growing.grow(text, unescape, &mut events);
                    }
                }
                Certain::Closed { .. } => {
                    let section = reading.section(answer, output);
                    let mut reader = FieldReader::one(self.whole, place, &section, options);
                    if read(&mut reader, place) {
                        growing.close(&mut events);
                    } else {
                        // One that is null may have a default: the whole reply says so.
                        self.doomed = section.is_given(options.dialect);
                    }
                }
            }
        }
        self.certain = certain;
        self.visible |= !events.is_empty();
        events
    }

    /// Where the answer begins, if that is known: behind a think block, and in no fence.
    fn answer(&mut self) -> Option<usize> {
        loop {
            let (from, searched) = match self.gate {
                Gate::Open(from) => return Some(from),
                Gate::Shut => return None,
                Gate::Before { from, searched } => (from, searched),
            };
            let text = self.front.get(from..).unwrap_or_default().trim_start_matches(is_blank);
            if text.is_empty() {
                return None;
            }
            if matches!(self.adapter.syntax(), Syntax::Markers | Syntax::Tags) {
                for fence in ["```", "~~~"] {
                    if fence.starts_with(text) {
                        return None;
                    }
                    if text.starts_with(fence) {
                        self.gate = Gate::Shut;
                        return None;
                    }
                }
            }
            let is_output = |name: &str| self.asked.outputs.iter().any(|field| field.name == name);
            let tags = ["<think>", "<thinking>"];
            let mut tags = tags.into_iter().filter(|tag| !is_output(tag.trim_matches(['<', '>'])));
            let starts = |long: &str, short: &str| {
                long.get(..short.len()).is_some_and(|start| start.eq_ignore_ascii_case(short))
            };
            let Some(tag) = tags.find(|tag| starts(text, tag) || starts(tag, text)) else {
                self.gate = Gate::Open(from);
                continue;
            };
            if text.len() < tag.len() {
                return None;
            }
            let close = tag.replace('<', "</");
            let at = searched.max(from);
            let rest = self.front.as_bytes().get(at..).unwrap_or_default();
            let is_close = |bytes: &[u8]| bytes.eq_ignore_ascii_case(close.as_bytes());
            let Some(found) = rest.windows(close.len()).position(is_close) else {
                let searched = self.front.len().saturating_sub(close.len()).max(at);
                self.gate = Gate::Before { from, searched };
                return None;
            };
            let end = at + found + close.len();
            let outputs: Vec<&str> = self.asked.outputs.iter().map(|field| field.name.as_str()).collect();
            let block = self.front.get(from..end).unwrap_or_default();
            self.gate = match think::take(block, &outputs, &|_| None) {
                (0, _) => Gate::Shut,
                (taken, _) => Gate::Before { from: from + taken, searched: 0 },
            };
        }
    }

    /// The sections of all outputs as they are now.
    fn sections(&self) -> Vec<Section<'_>> {
        let from = if let Gate::Open(from) = self.gate { from } else { 0 };
        let answer = self.front.get(from..).unwrap_or_default();
        let section = |(place, growing): (usize, &Growing)| {
            if growing.closed {
                let asked = self.places.iter().position(|&at| at == place);
                let reading = self.reading.as_ref();
                return asked
                    .zip(reading)
                    .map(|(output, reading)| reading.section(answer, output))
                    .unwrap_or_default();
            }
            match growing.text.as_str() {
                "" => Section::default(),
                text => Section::json(json_text(&text.into()), 0),
            }
        };
        self.outputs.iter().enumerate().map(section).collect()
    }

    fn settle(
        &mut self,
        outputs: &dyn Record,
        partial: &dyn Record,
        how: HowRead,
    ) -> Result<Vec<ReadEvent>, ParseError> {
        let mut events = Vec::new();
        for (growing, field) in self.outputs.iter_mut().zip(&self.whole.outputs) {
            let at = growing.id.index;
            // What was read exactly is what was read before.
            let compared = growing.closed && how != HowRead::Exact;
            let (same, rest) = if growing.is_text && (compared || !growing.closed) {
                let whole = captured(outputs, at, field);
                let rest = whole.as_ref().and_then(Value::as_str);
                let rest = rest.and_then(|whole| whole.strip_prefix(&*growing.text)).map(str::to_owned);
                let same = rest.is_some() || growing.text.is_empty();
                (same || (growing.closed && captured(partial, at, field) == whole), rest.unwrap_or_default())
            } else {
                let same = !compared || captured(outputs, at, field) == captured(partial, at, field);
                (same, String::new())
            };
            if !same || (growing.closed && !rest.is_empty()) {
                let message = format!(
                    "the output `{}` is another one in the whole reply than what was shown of it while it was written",
                    field.name
                );
                let adapter = self.adapter.name();
                return Err(ParseError::new(ParseErrorKind::Malformed, adapter, &self.front, message));
            }
            growing.give(rest, &mut events);
            if !std::mem::replace(&mut growing.closed, true) {
                events.push(ReadEvent::Field(growing.id.clone()));
            }
        }
        Ok(events)
    }
}

impl Growing {
    fn give(&mut self, text: String, events: &mut Vec<ReadEvent>) {
        if !text.is_empty() {
            self.text.push_str(&text);
            events.push(ReadEvent::Delta { field: self.id.clone(), text });
        }
    }

    fn grow(&mut self, text: String, unescape: bool, events: &mut Vec<ReadEvent>) {
        if !unescape {
            return self.give(text, events);
        }
        self.raw.push_str(&text);
        self.take(false, events);
    }

    fn close(&mut self, events: &mut Vec<ReadEvent>) {
        self.take(true, events);
        self.closed = true;
        events.push(ReadEvent::Field(self.id.clone()));
    }

    /// Gives out what of the raw text has no escape that is not whole.
    fn take(&mut self, all: bool, events: &mut Vec<ReadEvent>) {
        let Some(new) = self.raw.get(self.taken..).filter(|new| !new.is_empty()) else { return };
        if !new.contains('\\') {
            let new = new.to_owned();
            self.taken = self.raw.len();
            return self.give(new, events);
        }
        let start = self.context();
        let Some(window) = self.raw.get(start..) else { return };
        let end = start + if all { window.len() } else { certain_unescaped(window) };
        let read = |to: usize| unescape_markers(self.raw.get(start..to).unwrap_or_default());
        if end <= self.taken {
            return;
        }
        let before = read(self.taken).len();
        let new = read(end).get(before..).unwrap_or_default().to_owned();
        self.taken = end;
        self.give(new, events);
    }

    /// Where the line begins that says what the backslashes behind what was taken mean; no more of it than matters, so
    /// that a line without an end costs no more than its length.
    fn context(&self) -> usize {
        const ENOUGH: usize = 256;
        let before = self.raw.get(..self.taken).unwrap_or_default();
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let mut near = self.taken.saturating_sub(ENOUGH);
        while !before.is_char_boundary(near) {
            near -= 1;
        }
        let says = |text: &str| text.contains(|c: char| !is_blank(c) && c != '\\');
        if near > line && before.get(near..).is_some_and(says) { near } else { line }
    }
}

/// Whether what is written of an output is its value from the first letter on: a null that may yet come, or a type with
/// a format of its own, makes another value of it.
fn is_plain_text(field: &FieldSpec) -> bool {
    let ty = field.tree.resolve(&field.tree.root);
    matches!(ty.kind, Kind::String | Kind::Reasoning)
        && !field.is_optional()
        && ty.schema.get("format").is_none()
}

fn captured(record: &dyn Record, index: usize, field: &FieldSpec) -> Option<Value> {
    let (mut text, mut value) = (String::new(), None);
    let mut writer = FieldWriter::capturing(&mut text, &field.tree, &mut value);
    record.write(index, field, &mut writer).ok()?;
    value
}

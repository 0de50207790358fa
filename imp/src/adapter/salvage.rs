//! A reply that is not exactly of its format, read once more.
//!
//! What marks an output first in the text decides the syntax of the whole: markers, an object, or elements.
//! There is one reading of it or none: two places for one output, a mention that may be a marker, a text that
//! breaks off are none.

use std::borrow::Cow;

use crate::adapter::Adapter;
use crate::adapter::read::Syntax;
use crate::adapter::record::Section;
use crate::adapter::xml;
use crate::dialect::Dialect;
use crate::spec::SignatureSpec;
use crate::text::marker::{self, LooseMarker, folded, is_blank};
use crate::text::read::denial;
use crate::text::read::loose::{self, FoundObject};
use crate::text::read::{ReadOptions, Source, read_value};
use crate::text::scan::{self, Lines, trim};
use crate::text::write::{json_text, unescape_markers};
use crate::types::Kind;
use crate::value::Value;

/// The sections of a reply as its one lenient reading, and what marked them. `whole` says that it is known to be
/// so.
pub(crate) fn sections<'r, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    text: &'r str,
    whole: bool,
) -> Option<(Vec<Section<'r>>, Syntax)> {
    if adapter.syntax() == Syntax::Other || spec.outputs.is_empty() {
        return None;
    }
    let lines = match adapter.dialect() {
        Dialect::Plain => Lines::Plain,
        Dialect::Dspy => Lines::Python,
    };
    // Where the adapter does not take the escapes off itself; a section that could be a marker has one.
    let unescape = adapter.dialect() == Dialect::Plain && !adapter.escapes_markers();
    let outputs = Names::of(spec);
    let found = markers(spec, &outputs, text);
    let marker_at = found.iter().find(|found| found.opens()).map(|found| found.start);
    let tag_at = tags::first(text, &outputs);
    let brace_at = text.find('{');
    // A reply that begins with the elements of inputs repeats the request, and what is in them is theirs.
    let echo_at = if adapter.syntax() == Syntax::Tags { tags::first_input(spec, text) } else { None };
    let after_echo = |at: Option<usize>| at.filter(|at| echo_at.is_none_or(|echo| *at < echo));
    let (marker_at, brace_at) = (after_echo(marker_at), after_echo(brace_at));
    let before = |at: Option<usize>, others: [Option<usize>; 2]| {
        at.is_some_and(|at| others.into_iter().flatten().all(|other| at < other))
    };
    let (mut sections, syntax) = if before(marker_at, [tag_at, brace_at]) {
        (marked(spec, &outputs, unescape, &found, text, lines, whole)?, Syntax::Markers)
    } else if before(tag_at, [marker_at, brace_at]) {
        (tags::sections(adapter, spec, &outputs, text)?, Syntax::Tags)
    } else if echo_at.is_some() && brace_at.is_none() {
        return None;
    } else {
        // A brace in prose is nothing.
        match object(spec, &outputs, text, [marker_at, tag_at]) {
            Object::One(sections, at) if marker_at.is_none_or(|marker| at < marker) => {
                (sections, Syntax::Json)
            }
            Object::None if marker_at.is_some() && marker_at < tag_at.or(Some(usize::MAX)) => {
                (marked(spec, &outputs, unescape, &found, text, lines, whole)?, Syntax::Markers)
            }
            Object::None if tag_at.is_some() => {
                (tags::sections(adapter, spec, &outputs, text)?, Syntax::Tags)
            }
            _ => return None,
        }
    };
    let options = ReadOptions { dialect: adapter.dialect(), unescape: adapter.escapes_markers() };
    for (section, field) in sections.iter_mut().zip(&spec.outputs) {
        let Some(source) = &section.source else { continue };
        if read_value(source, &field.tree, field.checks.as_deref(), options).is_ok() {
            continue;
        }
        if let Some(loose) = loose::source(source, &field.tree, &field.name) {
            let bytes =
                section.made_from.clone().unwrap_or(section.start..section.start + source.text().len());
            section.source = Some(loose);
            section.made_from = Some(bytes);
        }
    }
    Some((sections, syntax))
}

/// The names by which a model may call the outputs.
struct Names {
    folded: Vec<Vec<String>>,
}

impl Names {
    fn of(spec: &SignatureSpec) -> Self {
        let names = |field: &crate::FieldSpec| {
            std::iter::once(&field.name).chain(&field.aliases).map(|name| folded(name)).collect()
        };
        Names { folded: spec.outputs.iter().map(|field| names(field)).collect() }
    }

    /// The output that a name means: exactly, or but for case and separators if only one does.
    fn find(&self, spec: &SignatureSpec, name: &str) -> Option<usize> {
        if let Some(at) = spec.outputs.iter().position(|field| field.is_called(name)) {
            return Some(at);
        }
        let wanted = folded(name);
        if wanted.is_empty() || spec.inputs.iter().any(|field| folded(&field.name) == wanted) {
            return None;
        }
        let mut alike = (0..self.folded.len())
            .filter(|&at| self.folded.get(at).is_some_and(|names| names.contains(&wanted)));
        match (alike.next(), alike.next()) {
            (Some(at), None) => Some(at),
            _ => None,
        }
    }
}

// ---- markers ----

/// A reply with more markers or elements than this is no answer, and is not looked through.
const MOST_MARKS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Output(usize),
    /// The end marker.
    Completed,
    /// A section that nobody asked for.
    Other,
}

/// A marker with its decoration.
#[derive(Debug, Clone, Copy)]
struct Found<'r> {
    which: Which,
    /// Where its decoration begins.
    start: usize,
    /// Where its decoration ends.
    end: usize,
    /// What stands in front of it on its line, if that is decoration only.
    lead: Option<&'r str>,
    /// How long its emphasis is on either side.
    emphasis: usize,
    /// Whether the decoration around it has no other half.
    ragged: bool,
    /// Whether it has the shape that was asked for.
    full: bool,
}

impl Found<'_> {
    /// Whether a section may begin here.
    fn opens(&self) -> bool {
        match self.which {
            Which::Output(_) => self.lead.is_some() || self.full,
            Which::Completed | Which::Other => self.lead.is_some(),
        }
    }
}

fn markers<'r>(spec: &SignatureSpec, outputs: &Names, text: &'r str) -> Vec<Found<'r>> {
    let named = |marker: &LooseMarker<'_>| {
        let name = marker.name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        match outputs.find(spec, name) {
            Some(at) => Some(Which::Output(at)),
            None if folded(name) == "completed" => Some(Which::Completed),
            // Only what the exact reader takes for one.
            None if marker.full && name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                Some(Which::Other)
            }
            None => None,
        }
    };
    marker::markers(text)
        .filter_map(|marker| {
            let which = named(&marker)?;
            let (start, end) = emphasis(text, marker.start, marker.end);
            let lead = marker::lead(text, start).filter(|lead| is_decoration(lead));
            // Half of an emphasis that has no other half.
            let half = |c: char| matches!(c, '*' | '_' | '`' | '"' | '\'');
            let before = text.get(..start).unwrap_or_default();
            let ragged = text.get(end..).is_some_and(|rest| rest.starts_with(half))
                || before.ends_with(['*', '_', '`'])
                || lead.is_some_and(|lead| lead.ends_with(half));
            Some(Found { which, start, end, lead, ragged, full: marker.full, emphasis: marker.start - start })
        })
        .collect()
}

/// What belongs to a marker as its emphasis: the same signs on both sides.
pub(crate) fn emphasis(text: &str, start: usize, end: usize) -> (usize, usize) {
    let sign = |c: &char| matches!(c, '*' | '_' | '`' | '"' | '\'');
    let (mut from, mut to) = (start, end);
    let before = text.get(..start).unwrap_or_default().chars().rev();
    let after = text.get(end..).unwrap_or_default().chars();
    for (a, b) in before.zip(after).take(4) {
        if a != b || !sign(&a) {
            break;
        }
        from -= a.len_utf8();
        to += b.len_utf8();
    }
    (from, to)
}

/// Whether the front of a line is decoration: a heading, a quote, the mark of a list's item.
pub(crate) fn is_decoration(lead: &str) -> bool {
    let lead = lead.trim_matches(is_blank);
    let digits = lead.trim_start_matches(|c: char| c.is_ascii_digit());
    lead.is_empty()
        || (lead.len() <= 6 && lead.chars().all(|c| matches!(c, '#' | '>' | '-' | '+' | '•' | '*')))
        || (digits.len() < lead.len() && lead.len() <= 4 && matches!(digits, "." | ")"))
}

fn marked<'r>(
    spec: &SignatureSpec,
    outputs: &Names,
    unescape: bool,
    found: &[Found<'r>],
    text: &'r str,
    lines: Lines,
    whole: bool,
) -> Option<Vec<Section<'r>>> {
    let first = found.iter().position(Found::opens)?;
    if found.len() > MOST_MARKS {
        return None;
    }
    let marks = chosen(spec, found.get(first..)?, text)?;
    // A fence that was opened in front of it ends in a value.
    let front = marks.first().and_then(|mark| text.get(..mark.start)).unwrap_or_default();
    let fenced = front.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1;
    if (fenced && !marks.iter().any(|mark| mark.which == Which::Completed))
        || glued_to_a_sign(spec, outputs, text, &marks)
    {
        return None;
    }
    let mut sections = vec![Section::default(); spec.outputs.len()];
    let mut ended = false;
    for (at, mark) in marks.iter().enumerate() {
        let index = match mark.which {
            Which::Completed => {
                ended = true;
                break;
            }
            Which::Other => continue,
            Which::Output(index) => index,
        };
        let to = marks.get(at + 1).map_or(text.len(), |next| {
            let lead = next.lead.map_or(0, str::len);
            next.start - lead
        });
        let (value, start) = scan::section(text, mark.end, to, lines);
        let is_text = spec.outputs.get(index).is_some_and(|field| field.tree.is_bare_text());
        let value = if unescape && is_text { unescaped(value) } else { value };
        let section = sections.get_mut(index)?;
        match &section.source {
            Some(given) if given.text() == value => {}
            // Two answers are none.
            Some(_) => return None,
            None => *section = Section::text(value, start),
        }
    }
    (ended || whole).then_some(sections)
}

/// Whether a value may end in front of a marker with what makes it look like none: a backslash, or brackets.
fn glued_to_a_sign(spec: &SignatureSpec, outputs: &Names, text: &str, marks: &[Found<'_>]) -> bool {
    let known = |name: &str| match outputs.find(spec, name) {
        Some(at) => marks.iter().any(|mark| mark.which == Which::Output(at)),
        None => folded(name) != "completed" || marks.iter().any(|mark| mark.which == Which::Completed),
    };
    let glued = marks.iter().any(|mark| mark.lead.is_none());
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"[[").any(|at| {
        // The last two of a run.
        if bytes.get(at + 2) == Some(&b'[') && bytes.get(at + 3) != Some(&b'[') {
            return marker::marker_at(text, at + 1, 2).is_some();
        }
        let before = text.get(..at).unwrap_or_default();
        if !before.ends_with(['\\', '[']) {
            return false;
        }
        let Some(marker) = marker::marker_at(text, at, 2) else { return false };
        if before.ends_with('[') {
            return true;
        }
        let rest = text.get(marker.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let ends_line = rest.is_empty() || rest.starts_with(['\n', '\r']);
        let unescaped = before.trim_end_matches('\\');
        let alone = marker::lead(text, unescaped.len()).is_some_and(|lead| trim(lead).is_empty());
        // A line of its own is escaped, as it should be, unless it is the only one of its name, or markers are glued
        // to values.
        ends_line && (!alone || glued || !known(marker.name))
    })
}

fn unescaped(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => unescape_markers(text),
        Cow::Owned(text) => Cow::Owned(unescape_markers(&text).into_owned()),
    }
}

/// The markers that open a section; none if there is more than one way to choose them.
fn chosen<'r>(spec: &SignatureSpec, found: &[Found<'r>], text: &str) -> Option<Vec<Found<'r>>> {
    let leads = |at: usize| {
        found.iter().filter(move |other| other.which == Which::Output(at) && other.lead.is_some())
    };
    let one_line =
        found.first().is_some_and(|first| !trim(text.get(first.start..).unwrap_or_default()).contains('\n'));
    let mut list = Vec::with_capacity(found.len());
    let mut style: Option<(&str, usize)> = None;
    let mut open = vec![false; spec.outputs.len()];
    let mut order = 0;
    for (place, mark) in found.iter().enumerate() {
        let rest = text.get(mark.end..).unwrap_or_default();
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        let alone = trim(line).is_empty();
        if let Some(lead) = mark.lead {
            if mark.ragged {
                return None;
            }
            // The decoration of a line could also be a value: it counts if the first marker has the same.
            let numbered = lead.trim_matches(is_blank).strip_suffix(['.', ')']);
            let blank = trim(lead).is_empty();
            order += 1;
            let same = match (style, numbered) {
                (None, _) => {
                    style = Some((lead, mark.emphasis));
                    true
                }
                (Some(_), Some(number)) => number.parse() == Ok(order),
                (Some(style), None) => blank || style == (lead, mark.emphasis),
            };
            if !same {
                return None;
            }
        } else {
            match mark.which {
                // Said in the middle of a line, it is an end only at the end of one, and if nothing follows.
                Which::Completed => {
                    let ends = found
                        .iter()
                        .skip(place + 1)
                        .all(|other| other.which == Which::Other && other.lead.is_none());
                    // In quotes it is mentioned.
                    let quoted =
                        text.get(mark.start..).is_some_and(|mark| mark.starts_with(['"', '`', '\'']));
                    if !alone || quoted {
                        continue;
                    }
                    if !ends {
                        return None;
                    }
                }
                Which::Other => continue,
                Which::Output(at) => {
                    let field = spec.outputs.get(at)?;
                    let several = found.iter().filter(|other| other.which == mark.which).count() > 1;
                    if leads(at).next().is_some() {
                        // It has a line of its own; here it is only mentioned, unless it could be another section.
                        if alone {
                            return None;
                        }
                        continue;
                    }
                    if several || open.get(at) == Some(&true) {
                        return None;
                    }
                    let needed = !field.is_optional() && field.default.is_none();
                    let in_order = list.iter().all(|other: &Found<'_>| match other.which {
                        Which::Output(before) => before < at,
                        _ => true,
                    });
                    let glued = !text.get(..mark.start).is_some_and(|before| before.ends_with(is_blank));
                    let clear = (alone && (needed || glued)) || (one_line && needed && in_order);
                    // In a sentence it is only mentioned.
                    let behind_another = list
                        .iter()
                        .any(|other| other.lead.is_some() && matches!(other.which, Which::Output(_)));
                    let ends_sentence = text.get(..mark.start).is_some_and(|before| {
                        before.trim_end_matches(is_blank).ends_with(['.', '!', '?', ':'])
                    });
                    let placed = behind_another || ends_sentence;
                    if !mark.full || mark.ragged || !clear || !placed {
                        return None;
                    }
                }
            }
        }
        if let Which::Output(at) = mark.which {
            if let Some(open) = open.get_mut(at) {
                *open = true;
            }
        }
        list.push(*mark);
        if mark.which == Which::Completed {
            break;
        }
    }
    Some(list)
}

// ---- an object ----

enum Object<'r> {
    /// There is none with an output, and there are none around these places.
    None,
    /// Its sections, and where it begins.
    One(Vec<Section<'r>>, usize),
    /// More than one reading, or one that breaks off.
    Unclear,
}

/// What is marked at one of `places` is nothing if it is inside an object.
fn object<'r>(spec: &SignatureSpec, outputs: &Names, text: &str, places: [Option<usize>; 2]) -> Object<'r> {
    let Some(objects) = loose::quoted_objects(text).or_else(|| loose::objects(text, 0)) else {
        return Object::Unclear;
    };
    let inside = objects.iter().any(|object| places.iter().flatten().any(|at| object.place.contains(at)));
    let mut one: Option<(Vec<Section<'r>>, usize)> = None;
    for object in objects {
        let sections = match sections_of(spec, outputs, &object) {
            Ok(Some(sections)) => sections,
            Ok(None) => continue,
            Err(()) => return Object::Unclear,
        };
        if denial::rejects(text.get(..object.place.start).unwrap_or_default()) {
            return Object::Unclear;
        }
        // A list has to end.
        let before = text.get(..object.place.start).unwrap_or_default().trim_end();
        let after = text.get(object.place.end..).unwrap_or_default().trim_start();
        if before.ends_with('[') && !after.starts_with(']') {
            return Object::Unclear;
        }
        match &one {
            None => one = Some((sections, object.place.start)),
            Some((first, _)) if same(first, &sections) => {}
            Some(_) => return Object::Unclear,
        }
    }
    match one {
        Some((sections, at)) => Object::One(sections, at),
        None if inside => Object::Unclear,
        None => Object::None,
    }
}

fn same(a: &[Section<'_>], b: &[Section<'_>]) -> bool {
    let text = |section: &Section<'_>| section.source.as_ref().map(|source| source.text().to_owned());
    a.iter().map(text).eq(b.iter().map(text))
}

/// The sections of an object with outputs for keys, or of the one object under a single key of it.
fn sections_of<'r>(
    spec: &SignatureSpec,
    outputs: &Names,
    object: &FoundObject,
) -> Result<Option<Vec<Section<'r>>>, ()> {
    let has_output =
        |entries: &[(String, Value)]| entries.iter().any(|(key, _)| outputs.find(spec, key).is_some());
    if has_output(&object.entries) {
        return cut(spec, outputs, &object.entries, object).map(Some);
    }
    let mut inner: Option<Vec<(String, Value)>> = None;
    let mut wrapped = 0;
    for (key, value) in &object.entries {
        let entries = match value {
            Value::Map(map) => map.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect(),
            Value::List(list) => match list.as_slice() {
                [Value::Map(map)] => map.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect(),
                _ => continue,
            },
            value => {
                let Some(text) = loose::inner_text(value) else { continue };
                match loose::objects(&text, 0).as_deref() {
                    Some([only]) if trim(text.get(only.place.end..).unwrap_or_default()).is_empty() => {
                        only.entries.clone()
                    }
                    _ => continue,
                }
            }
        };
        if has_output(&entries) {
            // What is under a schema's key and looks like schemas is one, and no answer.
            if key == "properties" && entries.iter().all(|(_, value)| is_schema(value)) {
                return Err(());
            }
            if denial::rejects_key(key) {
                return Err(());
            }
            wrapped += 1;
            inner = Some(entries);
        }
    }
    match inner {
        Some(entries) if wrapped == 1 => cut(spec, outputs, &entries, object).map(Some),
        Some(_) => Err(()),
        None => Ok(None),
    }
}

/// Whether a value is a JSON Schema by its looks.
fn is_schema(value: &Value) -> bool {
    let Value::Map(map) = value else { return false };
    let types = ["string", "integer", "number", "boolean", "array", "object", "null"];
    map.get("type").is_some_and(|ty| match ty {
        Value::String(word) => types.contains(&word.as_str()),
        Value::List(_) => true,
        _ => false,
    }) || ["$ref", "anyOf", "oneOf", "allOf", "enum"].iter().any(|key| map.get(key).is_some())
}

fn cut<'r>(
    spec: &SignatureSpec,
    outputs: &Names,
    entries: &[(String, Value)],
    object: &FoundObject,
) -> Result<Vec<Section<'r>>, ()> {
    let mut sections = vec![Section::default(); spec.outputs.len()];
    let mut exact = vec![false; spec.outputs.len()];
    for (key, value) in entries {
        let Some(at) = outputs.find(spec, key) else { continue };
        let (Some(field), Some(section), Some(exact)) =
            (spec.outputs.get(at), sections.get_mut(at), exact.get_mut(at))
        else {
            continue;
        };
        let is_exact = field.is_called(key);
        // A text output is never the JSON of something else: that is a schema, or an answer of another shape.
        let shape = matches!(field.tree.present(&field.tree.root).kind, Kind::String | Kind::Reasoning);
        if shape && matches!(value, Value::List(_) | Value::Map(_)) {
            return Err(());
        }
        let json = json_text(value);
        match &section.source {
            Some(given) if given.text() == json => {}
            Some(_) if *exact != is_exact => {
                if is_exact {
                    *section = Section::json(json, 0).made_from(object.place.clone());
                }
            }
            Some(_) => return Err(()),
            None => *section = Section::json(json, 0).made_from(object.place.clone()),
        }
        *exact |= is_exact;
    }
    Ok(sections)
}

// ---- elements ----

mod tags {
    use super::{
        Adapter, Dialect, Names, Section, SignatureSpec, Source, Syntax, Value, folded, is_blank, json_text,
        scan, trim, xml,
    };

    /// An opening tag.
    struct Open<'r> {
        name: &'r str,
        start: usize,
        end: usize,
        empty: bool,
    }

    fn open_at(text: &str, at: usize) -> Option<Open<'_>> {
        let rest = text.get(at + 1..)?;
        let len =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))).unwrap_or(rest.len());
        if len == 0 || len > 128 {
            return None;
        }
        let after = rest.get(len..)?;
        let close = after.find(['>', '<', '\n']).filter(|close| after[*close..].starts_with('>'))?;
        let attributes = after.get(..close)?;
        let empty = attributes.ends_with('/');
        let fits = attributes.is_empty() || attributes.starts_with(is_blank) || attributes == "/";
        fits.then_some(Open { name: &rest[..len], start: at, end: at + 1 + len + close + 1, empty })
    }

    /// Where the first element of an output begins.
    pub(super) fn first(text: &str, outputs: &Names) -> Option<usize> {
        memchr::memchr_iter(b'<', text.as_bytes()).find(|&at| {
            open_at(text, at)
                .is_some_and(|open| outputs.folded.iter().any(|names| names.contains(&folded(open.name))))
        })
    }

    /// Where the first element of an input begins.
    pub(super) fn first_input(spec: &SignatureSpec, text: &str) -> Option<usize> {
        memchr::memchr_iter(b'<', text.as_bytes()).find(|&at| {
            open_at(text, at).is_some_and(|open| spec.inputs.iter().any(|field| field.name == open.name))
        })
    }

    /// The elements of the outputs, by their tags alone: what is inside need not be XML.
    pub(super) fn sections<'r, A: Adapter + ?Sized>(
        adapter: &A,
        spec: &SignatureSpec,
        outputs: &Names,
        text: &'r str,
    ) -> Option<Vec<Section<'r>>> {
        if ["<!DOCTYPE", "<!ENTITY", "<?xml"].iter().any(|word| text.contains(word)) {
            return None;
        }
        let is_xml = adapter.syntax() == Syntax::Tags;
        let mut sections: Vec<Section<'r>> = vec![Section::default(); spec.outputs.len()];
        let (mut at, mut count) = (0, 0);
        while let Some(offset) = memchr::memchr(b'<', text.as_bytes().get(at..)?) {
            let place = at + offset;
            at = place + 1;
            let Some(open) = open_at(text, place) else { continue };
            let index = outputs.find(spec, open.name);
            let is_input = index.is_none() && spec.inputs.iter().any(|field| field.name == open.name);
            if index.is_none() && !is_input {
                continue;
            }
            count += 1;
            if count > super::MOST_MARKS {
                return None;
            }
            let (inner_end, end) = if open.empty {
                (open.end, open.end)
            } else if let Some(ends) = close(spec, outputs, text, &open) {
                ends
            } else if is_input && !text.get(open.end..)?.contains(&format!("</{}>", open.name)) {
                continue;
            } else {
                // Not closed, or closed more than once.
                return None;
            };
            at = end;
            let Some(index) = index else { continue };
            let field = spec.outputs.get(index)?;
            let inner = text.get(open.end..inner_end)?;
            // Another adapter's text has no entities: they, and the rest of XML's markup, have two readings there.
            let unclear = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#", "<!"];
            if !is_xml && unclear.iter().any(|mark| inner.contains(mark)) {
                return None;
            }
            let element = text.get(open.start..end)?;
            let nested = xml::is_nested(&field.tree, Dialect::Plain);
            let read = |element: &str| xml::salvaged(&field.tree, element, adapter.dialect());
            let section = match read(element).or_else(|| if nested { read(&escaped(element)) } else { None })
            {
                Some(section) => section.made_from(open.end..inner_end),
                None if nested && trim(inner).starts_with('<') => return None,
                None => {
                    let (text, start) = scan::section(text, open.end, inner_end, scan::Lines::Plain);
                    let decoded = if is_xml { decode(&text) } else { None };
                    match decoded {
                        Some(text) => Section::text(text, start).made_from(open.end..inner_end),
                        None => Section::text(text, start),
                    }
                }
            };
            // The adapter's own escapes are none in an element.
            let section = match &section.source {
                Some(Source::Text(text))
                    if adapter.escapes_markers()
                        && field.tree.is_bare_text()
                        && super::unescape_markers(text) != **text =>
                {
                    if field.tree.nullable() {
                        return None;
                    }
                    Section::json(json_text(&Value::from(&**text)), 0).made_from(open.end..inner_end)
                }
                _ => section,
            };
            let given = sections.get_mut(index)?;
            match &given.source {
                Some(source)
                    if section.source.as_ref().is_some_and(|other| other.text() == source.text()) => {}
                Some(_) => return None,
                None => *given = section,
            }
        }
        Some(sections)
    }

    /// Where the content of an element ends, and where its closing tag does; none if that is not clear.
    fn close(spec: &SignatureSpec, outputs: &Names, text: &str, open: &Open<'_>) -> Option<(usize, usize)> {
        let tag = format!("</{}>", open.name);
        let rest = text.get(open.end..)?;
        let first = memchr::memmem::find(rest.as_bytes(), tag.as_bytes())?;
        // Up to the next output's element that begins a line.
        let next = memchr::memchr_iter(b'<', rest.as_bytes())
            .find(|&at| {
                let starts = rest.get(..at).is_some_and(|before| {
                    let before = before.trim_end_matches([' ', '\t']);
                    before.is_empty() || before.ends_with(['\n', '\r', '>'])
                });
                starts
                    && open_at(rest, at).is_some_and(|other| {
                        other.name != open.name && outputs.find(spec, other.name).is_some()
                    })
                    && at > first
            })
            .unwrap_or(rest.len());
        let area = rest.get(..next)?;
        let closes: Vec<usize> =
            memchr::memmem::find_iter(area.as_bytes(), tag.as_bytes()).take(17).collect();
        // The same element inside: which close belongs to which is not told by tags alone.
        let again = memchr::memchr_iter(b'<', area.as_bytes())
            .any(|at| open_at(area, at).is_some_and(|other| other.name == open.name));
        if again {
            return None;
        }
        let chosen = match closes.as_slice() {
            [] => return None,
            [only] => *only,
            [.., last] => {
                // The one on a line of its own, if it is the last and the only one such.
                let own = |at: usize| {
                    let before = area.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
                    let after =
                        area.get(at + tag.len()..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
                    before.ends_with('\n') && (after.is_empty() || after.starts_with('\n'))
                };
                let alone = closes.iter().filter(|at| own(**at)).count();
                if alone != 1 || !own(*last) {
                    return None;
                }
                *last
            }
        };
        Some((open.end + chosen, open.end + chosen + tag.len()))
    }

    /// XML in which each `&` and `<` that can be no markup is escaped.
    fn escaped(text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        for (at, c) in text.char_indices() {
            let rest = text.get(at + 1..).unwrap_or_default();
            let entities = ["amp;", "lt;", "gt;", "quot;", "apos;", "#"];
            match c {
                '&' if !entities.iter().any(|entity| rest.starts_with(entity)) => out.push_str("&amp;"),
                '<' if rest.starts_with(|c: char| is_blank(c) || c.is_ascii_digit() || c == '=') => {
                    out.push_str("&lt;");
                }
                c => out.push(c),
            }
        }
        out
    }

    /// A text with the five entities of XML decoded, and a CDATA section around the whole taken off.
    fn decode(text: &str) -> Option<String> {
        if let Some(inner) = text.strip_prefix("<![CDATA[").and_then(|text| text.strip_suffix("]]>")) {
            return (!inner.contains("]]>")).then(|| inner.to_owned());
        }
        if !text.contains('&') {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let entity = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')]
                .into_iter()
                .find(|(entity, _)| from.starts_with(entity));
            if let Some((entity, c)) = entity {
                out.push(c);
                rest = from.get(entity.len()..).unwrap_or_default();
            } else {
                out.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
        out.push_str(rest);
        Some(out)
    }
}

//! An output that `parse` leaves at its default, though the reply gives it under a mark that is not quite its own.
//!
//! What `parse` accepts is changed by nobody (the design's fifth law), but a default in place of what the model
//! said would be wrong, so [`read`](super::read) refuses such a reply.

use crate::adapter::Adapter;
use crate::adapter::read::Syntax;
use crate::adapter::record::{FieldReader, Section};
use crate::adapter::salvage::{emphasis, is_decoration};
use crate::dialect::Dialect;
use crate::error::{ParseError, ParseErrorKind};
use crate::spec::SignatureSpec;
use crate::text::marker::{self, LooseMarker, folded};
use crate::text::read::{self, ReadOptions};
use crate::text::scan::{self, Lines, trim};
use crate::text::xml::Document;

/// The error about a reply that gives an output in a way that its exact reading, `sections`, passes over.
pub(crate) fn error<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    text: &str,
    sections: &[Section<'_>],
) -> Option<ParseError> {
    let dialect = adapter.dialect();
    let absent = Absent::of(spec, sections, dialect)?;
    let options = ReadOptions { dialect, unescape: adapter.escapes_markers() };
    let (at, mark) = match adapter.syntax() {
        Syntax::Markers => absent.in_markers(spec, text, dialect)?,
        Syntax::Json => absent.in_keys(spec, text, options)?,
        Syntax::Tags => absent.in_tags(spec, text)?,
        Syntax::Other => return None,
    };
    let name = spec.outputs.get(at)?.name.clone();
    let message = format!(
        "the output `{name}` seems to be given under `{}`, which is not how it is marked",
        trim(mark.get(..120).unwrap_or(&mark))
    );
    let known = FieldReader::new(spec, sections, options).given();
    let error = ParseError::new(ParseErrorKind::MissingFields, adapter.name(), text, message);
    Some(error.with_fields(known).with_missing(vec![name]))
}

/// The outputs that a reply does not have, by their folded names.
struct Absent {
    names: Vec<(usize, Vec<String>)>,
    /// The text field, if it is given: the reply may be its text as a whole, with all that is in it.
    text_field: Option<usize>,
}

impl Absent {
    /// None if every output is there, as it mostly is.
    fn of(spec: &SignatureSpec, sections: &[Section<'_>], dialect: Dialect) -> Option<Self> {
        let given = |at: usize| sections.get(at).is_some_and(|section| section.is_given(dialect));
        let text_field = spec.text_field.filter(|at| given(*at));
        let names: Vec<_> = spec
            .outputs
            .iter()
            .enumerate()
            .filter(|(at, _)| !given(*at) || text_field == Some(*at))
            .map(|(at, field)| {
                let names = std::iter::once(&field.name).chain(&field.aliases);
                (at, names.map(|name| folded(name)).collect())
            })
            .collect();
        (!names.is_empty()).then_some(Absent { names, text_field })
    }

    /// The output that a name means which is none of the signature's own.
    fn find(&self, spec: &SignatureSpec, name: &str) -> Option<usize> {
        if spec.outputs.iter().chain(&spec.inputs).any(|field| field.is_called(name)) {
            return None;
        }
        self.means(name)
    }

    fn means(&self, name: &str) -> Option<usize> {
        let wanted = folded(name);
        self.names.iter().find(|(_, names)| names.contains(&wanted)).map(|(at, _)| *at)
    }

    fn in_markers(&self, spec: &SignatureSpec, text: &str, dialect: Dialect) -> Option<(usize, String)> {
        let lines = match dialect {
            Dialect::Plain => Lines::Plain,
            Dialect::Dspy => Lines::Python,
        };
        let exact: Vec<scan::Marker<'_>> = scan::markers(text, lines).collect();
        let is_prose = self.text_field.is_some() && exact.is_empty();
        // Behind the end marker is no answer.
        let end = exact.iter().find(|marker| marker.name == "completed").map_or(text.len(), |end| end.line);
        let text = text.get(..end)?;
        // Both lists are in order, so that a look into one costs no pass over it.
        let behind = |from: usize| {
            let next = exact.partition_point(|marker| marker.line < from);
            let to = exact.get(next).map_or(end, |marker| marker.line);
            text.get(from..to.min(end)).unwrap_or_default()
        };
        let marks: Vec<LooseMarker<'_>> = marker::markers(text).collect();
        for mark in &marks {
            let name = mark.name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            let same = exact.binary_search_by_key(&mark.end, |exact| exact.end);
            let exactly = same.is_ok_and(|at| exact.get(at).is_some_and(|exact| exact.name == mark.name));
            let found = if exactly { self.find(spec, name) } else { self.means(name) };
            // An output that is there may be named in a value.
            let Some(at) = found.filter(|at| is_prose || self.text_field != Some(*at)) else { continue };
            let (start, close) = emphasis(text, mark.start, mark.end);
            let begins = marker::lead(text, start).is_some_and(is_decoration);
            let rest = behind(close).trim_start_matches(['*', '_', '`', ':']);
            let line = rest.trim_start_matches(|c| scan::is_blank(c) && c != '\n' && c != '\r');
            let alone = line.is_empty() || line.starts_with(['\n', '\r']);
            // In the middle of a line and in quotes it is only mentioned.
            let opens = begins || alone || (mark.full && start == mark.start);
            if opens && !line.trim_start_matches(scan::is_blank).is_empty() {
                return Some((at, text.get(start..close)?.to_owned()));
            }
        }
        if is_prose {
            return None;
        }
        // The hashes without the brackets, or with some that are none.
        memchr::memmem::find_iter(text.as_bytes(), b"## ").find_map(|from| {
            let signs = |c: char| scan::is_blank(c) || matches!(c, '#' | '*' | '[' | '［' | '【');
            if !marker::lead(text, from)?.trim_matches(signs).is_empty() {
                return None;
            }
            let inside = marks.get(marks.partition_point(|mark| mark.end <= from));
            if inside.is_some_and(|mark| mark.start <= from) {
                return None;
            }
            let line = text.get(from..)?.split(['\n', '\r']).next()?;
            let at = self.means(line).filter(|at| self.text_field != Some(*at))?;
            (!trim(behind(from + line.len())).is_empty()).then(|| (at, line.to_owned()))
        })
    }

    fn in_keys(&self, spec: &SignatureSpec, text: &str, options: ReadOptions) -> Option<(usize, String)> {
        let entries = read::entries(text, ReadOptions { unescape: false, ..options }).ok()?;
        entries.into_iter().find_map(|entry| {
            let at = self.find(spec, &entry.key).filter(|at| self.text_field != Some(*at))?;
            (trim(entry.value.text()) != "null").then(|| (at, entry.key.into_owned()))
        })
    }

    fn in_tags(&self, spec: &SignatureSpec, text: &str) -> Option<(usize, String)> {
        let document = Document::parse(text).ok()?;
        document.roots().find_map(|node| {
            let at = self.find(spec, node.key())?;
            let is_empty = node.is_leaf() && trim(&node.text()).is_empty();
            (!is_empty).then(|| (at, format!("<{}>", node.key())))
        })
    }
}

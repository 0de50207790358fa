//! The end of a reply that was read while it was written: what was waited with.

use crate::adapter::Adapter;
use crate::adapter::complete::complete_beside;
use crate::adapter::incremental::Certain;
use crate::adapter::left_out;
use crate::adapter::read;
use crate::adapter::record::Section;
use crate::adapter::salvage;
use crate::fields::Fields;
use crate::spec::SignatureSpec;
use crate::text::read::Source;
use crate::text::write::unescape_markers;

/// What was said of an output before the reply ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) closed: bool,
}

/// Adds what the whole reply gives beyond what was `said`, and closes what it gives. An output whose text does not
/// begin with what was said of it stays open: the reply is read otherwise than it seemed, and nothing is taken back.
pub(super) fn end<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
    said: &[Said],
    certain: &mut Vec<Certain>,
) -> Vec<Option<Section<'static>>> {
    let mut closed = vec![None; spec.outputs.len()];
    let Some(sections) = sections(adapter, spec, reply) else { return closed };
    let texts: Vec<Option<String>> =
        (0..spec.outputs.len()).map(|at| text(adapter, spec, &sections, at)).collect();
    let agrees = |at: usize| {
        let said = said.get(at).filter(|said| said.closed || !said.text.is_empty());
        let text = texts.get(at).and_then(Option::as_deref);
        said.is_none_or(|said| {
            text.is_some_and(|text| {
                if said.closed { text == said.text } else { text.starts_with(said.text.as_str()) }
            })
        })
    };
    if !(0..spec.outputs.len()).all(agrees) {
        return closed;
    }
    for (output, (section, text)) in sections.into_iter().zip(&texts).enumerate() {
        let (Some(text), Some(said), Some(place)) = (text, said.get(output), closed.get_mut(output)) else {
            continue;
        };
        if said.closed {
            continue;
        }
        let rest = text.get(said.text.len()..).unwrap_or_default();
        if !rest.is_empty() {
            certain.push(Certain::Text { output, text: rest.to_owned() });
        }
        certain.push(Certain::Closed { output });
        *place = Some(section);
    }
    closed
}

/// The text of a section as it is said of its output.
fn text<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    sections: &[Section<'_>],
    at: usize,
) -> Option<String> {
    let text = sections.get(at)?.source.as_ref()?.text();
    let bare = spec.outputs.get(at).is_some_and(|field| field.tree.is_bare_text());
    Some(if bare && adapter.escapes_markers() {
        unescape_markers(text).into_owned()
    } else {
        text.to_owned()
    })
}

/// The sections as the reading of the whole reply has them: the exact one, or the lenient one where only that gives all
/// outputs.
fn sections<A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: &str,
) -> Option<Vec<Section<'static>>> {
    let (text, inside, from) = read::answer(adapter, spec, reply)?;
    let exact = adapter.sections(spec, text).ok();
    let whole =
        |sections: &[Section<'_>]| complete_beside::<Fields, _>(adapter, spec, text, sections, None).is_ok();
    if !exact.as_deref().is_some_and(whole) {
        if let Some((loose, _)) = salvage::sections(adapter, spec, inside, true) {
            if whole(&loose) {
                return Some(loose.into_iter().map(|section| owned(section, from)).collect());
            }
        }
    }
    let exact = exact?;
    if left_out::error(adapter, spec, text, &exact).is_some() && whole(&exact) {
        return None;
    }
    Some(exact.into_iter().map(|section| owned(section, from)).collect())
}

/// The section of a text that begins at `from`, on its own.
fn owned(section: Section<'_>, from: usize) -> Section<'static> {
    let source = section.source.map(|source| match source {
        Source::Text(text) => Source::Text(text.into_owned().into()),
        Source::Json(json) => Source::Json(json.into_owned().into()),
    });
    let made_from = section.made_from.map(|bytes| bytes.start + from..bytes.end + from);
    Section { source, start: section.start + from, made_from }
}

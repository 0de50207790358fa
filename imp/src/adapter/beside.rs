//! Outputs that a completion gives beside its text.

use crate::adapter::record::Section;
use crate::citations::Citation;
use crate::spec::SignatureSpec;
use crate::value::Value;

/// Where the value of an output comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The reply's text: its place among the outputs that the model was asked for.
    Asked(usize),
    /// The completion's reasoning.
    Reasoning,
    /// The completion's citations.
    Citations,
}

/// What stands beside the text of a reply, and which outputs it is the value of.
#[derive(Debug, Clone)]
pub(crate) struct Beside<'b> {
    /// The whole signature: what is read.
    pub(crate) spec: &'b SignatureSpec,
    /// Where each of its outputs comes from.
    pub(crate) places: &'b [Place],
    pub(crate) citations: &'b [Citation],
    reasoning: Option<String>,
}

impl<'b> Beside<'b> {
    pub(crate) fn new(
        spec: &'b SignatureSpec,
        places: &'b [Place],
        reasoning: Option<&str>,
        citations: &'b [Citation],
    ) -> Self {
        Beside { spec, places, citations, reasoning: together(reasoning, None) }
    }

    /// A think block in the text is reasoning too: some servers leave it there.
    pub(crate) fn think(&mut self, block: Option<&str>) {
        self.reasoning = together(self.reasoning.as_deref(), block);
    }

    pub(crate) fn is_beside(&self, output: usize) -> bool {
        self.places.get(output).is_some_and(|place| !matches!(place, Place::Asked(_)))
    }

    /// The sections of all outputs: those of the text, and what stands beside it as JSON, which is data and in
    /// which nothing is unescaped.
    pub(crate) fn sections<'r>(&self, asked: &[Section<'r>]) -> Vec<Section<'r>> {
        let section = |json: Option<String>| json.map(|json| Section::json(json, 0)).unwrap_or_default();
        let place = |place: &Place| match place {
            Place::Asked(at) => asked.get(*at).cloned().unwrap_or_default(),
            Place::Reasoning => {
                section(self.reasoning.as_ref().and_then(|text| serde_json::to_string(text).ok()))
            }
            // No citations are an answer without sources.
            Place::Citations => section(serde_json::to_string(self.citations).ok()),
        };
        self.places.iter().map(place).collect()
    }

    /// What stands beside the text, by the names of its outputs.
    pub(crate) fn values(&self) -> impl Iterator<Item = (String, Value)> {
        self.spec.outputs.iter().zip(self.places).filter_map(|(field, place)| {
            let value = match place {
                Place::Asked(_) => return None,
                Place::Reasoning => Value::from(self.reasoning.clone()?),
                Place::Citations => serde_json::to_value(self.citations).ok()?.into(),
            };
            Some((field.name.clone(), value))
        })
    }
}

/// The client's reasoning and that of a think block; a blank one is none.
pub(crate) fn together(native: Option<&str>, block: Option<&str>) -> Option<String> {
    let texts = [native, block].into_iter().flatten().filter(|text| !text.trim().is_empty());
    texts.map(str::to_owned).reduce(|native, block| native + "\n\n" + &block)
}

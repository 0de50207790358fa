//! Outputs that are taken from the provider's own features instead of the reply's text (Imp §13.2, DSPy's
//! `native_response_types`).

use std::sync::Arc;

use serde_json::Value as Json;

use crate::adapter::beside::{Beside, Place};
use crate::adapter::demo::Demo;
use crate::adapter::options::FormatOptions;
use crate::adapter::record::Record;
use crate::citations;
use crate::dialect::Dialect;
use crate::error::WriteError;
use crate::lm::{Capabilities, Choice, Config};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::FieldWriter;
use crate::types::Kind;

use super::formatter::Formatter;

/// How long a model reasons for a native reasoning if nobody says (Imp §13.2, DSPy).
const EFFORT: &str = "low";

/// A type of output that a provider may give beside the text of its reply.
///
/// Such an output is not asked for in words: it is left out of the prompt and of the demos, and its value is what the
/// completion has. That holds for an output of the type itself, or of an `Option` of it, if the program takes the type
/// natively, as it does by default, and the model's [`Capabilities`] say that it
/// has the feature, as they do not by default. It is asked for as text, too, if nothing else would be asked for.
///
/// ```
/// use imp::{Capabilities, Choice, Completion, Predict, Reasoning, Script, Signature};
///
/// #[derive(Signature)]
/// #[signature(output = Verdict)]
/// struct Case {
///     facts: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Verdict {
///     why: Reasoning,
///     guilty: bool,
/// }
///
/// # async fn run() -> Result<(), imp::Error> {
/// let choice = Choice::new("[[ ## guilty ## ]]\ntrue").reasoning("Nobody else had a key.");
/// let model = Script::new([Completion::new([choice])])
///     .with_capabilities(Capabilities::default().native_reasoning(true));
/// let judge = Predict::<Case>::new(model);
/// let verdict = judge.call(&Case { facts: "The door was locked.".into() }).await?;
/// assert_eq!(&*verdict.why, "Nobody else had a key.");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NativeOutput {
    /// [`Reasoning`](crate::Reasoning): the completion's reasoning, and the think block of a server that leaves it in
    /// the text. The request then has a reasoning effort, `low` if none is set; an effort of `none`, or a null in
    /// [`Config::extra`], has the model asked for the output as text. A completion
    /// without reasoning is an error.
    Reasoning,
    /// [`Citations`](crate::Citations): the completion's citations; none are an empty list.
    Citations,
}

/// Some of the [`NativeOutput`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Natives {
    pub(crate) reasoning: bool,
    pub(crate) citations: bool,
}

impl Natives {
    pub(crate) const ALL: Natives = Natives { reasoning: true, citations: true };
    /// How many sets there are.
    pub(crate) const SETS: usize = 4;

    /// The place of the set among all.
    pub(crate) fn index(self) -> usize {
        usize::from(self.reasoning) + 2 * usize::from(self.citations)
    }

    /// Those that a call takes: the model has them, and is not told to do without.
    pub(crate) fn of_call(
        self,
        spec: &SignatureSpec,
        capabilities: Capabilities,
        config: &Config,
    ) -> Natives {
        let has = |place| spec.outputs.iter().any(|field| native(field) == Some(place));
        Natives {
            reasoning: self.reasoning
                && capabilities.native_reasoning
                && effort(config) != Effort::Off
                && has(Place::Reasoning),
            citations: self.citations && capabilities.native_citations && has(Place::Citations),
        }
    }
}

impl FromIterator<NativeOutput> for Natives {
    fn from_iter<I: IntoIterator<Item = NativeOutput>>(outputs: I) -> Self {
        outputs.into_iter().fold(Natives::default(), |natives, output| match output {
            NativeOutput::Reasoning => Natives { reasoning: true, ..natives },
            NativeOutput::Citations => Natives { citations: true, ..natives },
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Said to be nothing: `null`, which only the extra fields can say, or the providers' word.
    Off,
    Said,
    Unsaid,
}

fn effort(config: &Config) -> Effort {
    match (config.extra.get("reasoning_effort"), config.reasoning_effort.as_deref()) {
        (Some(Json::String(word)), _) if word == "none" => Effort::Off,
        (Some(Json::Null), _) | (None, Some("none")) => Effort::Off,
        (None, None) => Effort::Unsaid,
        _ => Effort::Said,
    }
}

/// The config of a call that takes the reasoning natively.
pub(super) fn with_effort(mut config: Config) -> Config {
    if effort(&config) == Effort::Unsaid {
        config.reasoning_effort = Some(EFFORT.to_owned());
    }
    config
}

/// What an output may be the value of, by its type.
fn native(field: &FieldSpec) -> Option<Place> {
    let ty = field.tree.present(&field.tree.root);
    match ty.kind {
        Kind::Reasoning => Some(Place::Reasoning),
        Kind::List { .. } if citations::is(&ty.schema) => Some(Place::Citations),
        _ => None,
    }
}

/// A signature without the outputs that are taken natively, with what is rendered from it.
#[derive(Debug, Clone)]
pub(super) struct Reduced {
    pub(super) spec: SignatureSpec,
    /// Where each output of the whole signature comes from.
    places: Arc<[Place]>,
    pub(super) options: FormatOptions,
    pub(super) main: Formatter,
    pub(super) fallback: Option<Formatter>,
}

impl Reduced {
    /// `None` if nothing would be left to ask for.
    pub(super) fn new(
        whole: &SignatureSpec,
        natives: Natives,
        options: &FormatOptions,
        main: &Formatter,
        fallback: Option<&Formatter>,
    ) -> Option<Self> {
        let mut kept = Vec::new();
        let places = whole.outputs.iter().enumerate().map(|(at, field)| match native(field) {
            Some(Place::Reasoning) if natives.reasoning => Place::Reasoning,
            Some(Place::Citations) if natives.citations => Place::Citations,
            _ => {
                kept.push(at);
                Place::Asked(kept.len() - 1)
            }
        });
        let places: Arc<[Place]> = places.collect();
        if kept.is_empty() {
            return None;
        }
        let mut spec = whole.clone();
        spec.outputs = kept.iter().filter_map(|&at| whole.outputs.get(at).cloned()).collect();
        spec.text_field = whole.text_field.and_then(|at| kept.iter().position(|&kept| kept == at));
        if main.adapter.dialect() == Dialect::Dspy {
            // DSPy's sentence for no instructions keeps naming all outputs.
            spec.instructions = Some(whole.instructions().into_owned());
        }
        let kept: Arc<[usize]> = kept.into();
        let mut options = options.clone();
        for demo in &mut options.demos {
            let outputs = Arc::new(Kept { outputs: demo.outputs.clone(), places: kept.clone() });
            *demo = Demo { inputs: demo.inputs.clone(), outputs, fields: demo.fields.clone() };
        }
        let anew = |formatter: &Formatter| Formatter::new(formatter.adapter.clone());
        Some(Reduced { spec, places, options, main: anew(main), fallback: fallback.map(anew) })
    }

    /// The places of the outputs that are left.
    pub(super) fn kept(&self) -> impl Iterator<Item = usize> {
        let asked = |(at, place): (usize, &Place)| matches!(place, Place::Asked(_)).then_some(at);
        self.places.iter().enumerate().filter_map(asked)
    }

    /// What stands beside a choice's text.
    pub(super) fn beside<'b>(&'b self, whole: &'b SignatureSpec, choice: &'b Choice) -> Beside<'b> {
        Beside::new(whole, &self.places, choice.reasoning.as_deref(), &choice.citations)
    }
}

/// The outputs of a demo that are left.
struct Kept {
    outputs: Arc<dyn Record + Send + Sync>,
    places: Arc<[usize]>,
}

impl Record for Kept {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        if let Some(&index) = self.places.get(index) {
            return self.outputs.write(index, field, out);
        }
        out.absent();
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.outputs.is_complete()
    }
}

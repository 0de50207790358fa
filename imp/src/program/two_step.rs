//! The program that lets one model answer freely and another read the answer (Imp §12.2).

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::adapter::demo::Demo;
use crate::adapter::record::{Inputs, Record, Signature};
use crate::adapter::two_step::TwoStepPrompt;
use crate::error::{FormatError, ParseError, SpecError, WriteError};
use crate::fields::Fields;
use crate::lm::{Completion, Config, LanguageModel, Request, Usage};
use crate::message::Message;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::FieldWriter;

use super::error::Error;
use super::native_output::Natives;
use super::prediction::Prediction;
use super::{Overrides, Program, WithDefaults, heated};

/// What an error about the second step starts with (Imp §12.2).
const FAILED: &str = "Failed to parse response from the original completion: ";

/// A program in two steps: one model answers in its own words, another one reads the answer (DSPy's
/// `TwoStepAdapter`).
///
/// It is for a model that reasons well and keeps to no format: a strong one answers, a small one that is
/// good at structure extracts the outputs, through [`Chat`](crate::Chat) and then [`Json`](crate::Json).
///
/// ```
/// use imp::{Script, Signature, TwoStep};
///
/// #[derive(Signature)]
/// #[signature(output = Answer)]
/// struct Question {
///     question: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
///     confidence: f64,
/// }
///
/// # async fn run() -> Result<(), imp::Error> {
/// let thinker = Script::new(["It is Paris, and I would bet nine to one on it."]);
/// let reader = Script::new(["[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\n0.9"]);
/// let program = TwoStep::<Question>::new(thinker, reader);
/// let answer = program.call(&Question { question: "The capital of France?".into() }).await?;
/// assert_eq!(answer.answer, "Paris");
/// assert_eq!(answer.reply(), "It is Paris, and I would bet nine to one on it.");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
pub struct TwoStep<I> {
    /// The first step. Its fallback is never asked: free text is what it wants.
    program: Program,
    extraction: Program,
    inputs: PhantomData<fn() -> I>,
}

impl<I> Clone for TwoStep<I> {
    fn clone(&self) -> Self {
        TwoStep { program: self.program.clone(), extraction: self.extraction.clone(), inputs: PhantomData }
    }
}

impl<I> fmt::Debug for TwoStep<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoStep")
            .field("program", &self.program)
            .field("extraction", &self.extraction)
            .finish()
    }
}

impl<I: Signature> TwoStep<I> {
    /// A program that asks `lm` to answer and `extraction_lm` to read the answer.
    ///
    /// A signature that cannot be described is reported by the first call.
    pub fn new(lm: impl LanguageModel + 'static, extraction_lm: impl LanguageModel + 'static) -> Self {
        let spec = I::spec().map(Arc::clone).map_err(Clone::clone);
        TwoStep::of(spec, Arc::new(lm), Arc::new(extraction_lm))
    }
}

impl TwoStep<Fields> {
    /// A program of a signature that is described at run time.
    ///
    /// ```
    /// use imp::{Script, SignatureSpec, TwoStep};
    ///
    /// let spec = SignatureSpec::parse("question -> answer")?;
    /// let program = TwoStep::from_spec(spec, Script::new(["It is Paris."]), Script::new(["…"]));
    /// # let _ = program;
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    pub fn from_spec(
        spec: impl Into<Arc<SignatureSpec>>,
        lm: impl LanguageModel + 'static,
        extraction_lm: impl LanguageModel + 'static,
    ) -> Self {
        TwoStep::of(Ok(spec.into()), Arc::new(lm), Arc::new(extraction_lm))
    }
}

impl<I> TwoStep<I> {
    fn of(
        spec: Result<Arc<SignatureSpec>, SpecError>,
        lm: Arc<dyn LanguageModel>,
        extraction_lm: Arc<dyn LanguageModel>,
    ) -> Self {
        let extraction = spec.as_ref().map_err(Clone::clone).and_then(|spec| extraction(spec));
        let dialect = spec.as_ref().ok().and_then(|spec| spec.dialect).unwrap_or_default();
        TwoStep {
            program: Program::new(spec, lm)
                .adapter(TwoStepPrompt::new().dialect(dialect))
                .with_natives(Natives::default()),
            // What the second model reasons is not what the first one did.
            extraction: Program::new(extraction.map(Arc::new), extraction_lm)
                .with_natives(Natives::default()),
            inputs: PhantomData,
        }
    }
}

impl<I: Inputs> TwoStep<I> {
    /// The messages of the first step for these inputs.
    ///
    /// # Errors
    ///
    /// The signature cannot be described, a required input of a described signature has no value, or a
    /// value's own `Serialize` refuses.
    pub fn messages(&self, inputs: &I) -> Result<Vec<Message>, FormatError> {
        self.program.messages(inputs)
    }

    /// Other instructions than the signature's, for the first step.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        let instructions = instructions.into();
        self.program = self.program.with_spec(|spec| Ok(spec.with_instructions(instructions)));
        self
    }

    /// Settings of the first step's requests; what was set before stays where these leave it unset.
    pub fn config(mut self, config: Config) -> Self {
        self.program = self.program.config(config);
        self
    }

    /// Settings of the extraction's requests; what was set before stays where these leave it unset.
    pub fn extraction_config(mut self, config: Config) -> Self {
        self.extraction = self.extraction.config(config);
        self
    }

    /// How often an answer that could not be read is asked for again, with the error's text. The default is
    /// 0. Each answer is read through Chat and, if that fails, once more through JSON.
    pub fn retries(mut self, retries: usize) -> Self {
        self.program = self.program.retries(retries);
        self
    }

    /// Whether the second step learns with which adapter to start; see [`Predict::learn`](crate::Predict::learn). The
    /// default is yes.
    pub fn learn(mut self, yes: bool) -> Self {
        self.extraction = self.extraction.learn(yes);
        self
    }

    /// One more demo of the first step.
    pub fn with_demo(mut self, demo: Demo) -> Self {
        self.program = self.program.demo(demo);
        self
    }

    /// Asks for an answer and reads it.
    ///
    /// # Errors
    ///
    /// As for [`Predict`](crate::Predict); a failure of the extraction model's client is that client's error. An
    /// answer that cannot be read is a parse error of the inner one's kind, with the first step's messages and
    /// completion.
    pub async fn call(&self, inputs: &I) -> Result<TwoStepPrediction<I::Output>, Error>
    where
        I: Sync,
    {
        let program = &self.program;
        let spec = program.spec.as_ref().map_err(|error| Error::signature(error.clone()))?;
        let config = heated(program.config.clone());
        let mut request = program
            .main
            .request(spec, &WithDefaults(inputs), &program.options, config, program.lm.capabilities())
            .map_err(Error::format)?;
        let originals = request.messages.len();
        let mut usage = Usage::default();
        let mut left = program.retries;
        loop {
            let completion = self.answer(&request, &mut usage).await?;
            match self.read(&completion, &request, &mut usage).await {
                Ok(predictions) => {
                    return TwoStepPrediction::new(predictions, request.messages, completion, usage);
                }
                Err(error) => {
                    let retry = error.as_parse().filter(|_| left > 0).map(ParseError::retry_message);
                    let Some(message) = retry else { return Err(error) };
                    left -= 1;
                    request.messages.truncate(originals);
                    request.messages.push(Message::user(message));
                }
            }
        }
    }

    async fn answer(&self, request: &Request, usage: &mut Usage) -> Result<Completion, Error> {
        let completion = match self.program.lm.complete(request).await {
            Ok(completion) => completion,
            Err(error) => return Err(Error::model(error, request.messages.clone(), *usage)),
        };
        *usage += completion.usage;
        let asked = asked(request);
        if completion.choices.len() < asked {
            let got = completion.choices.len();
            return Err(Error::completions(asked, got, request.messages.clone(), *usage));
        }
        Ok(completion)
    }

    /// Reads every completion of the first step.
    async fn read(
        &self,
        completion: &Completion,
        request: &Request,
        usage: &mut Usage,
    ) -> Result<Vec<Prediction<I::Output>>, Error> {
        let mut predictions = Vec::new();
        for (at, choice) in completion.choices.iter().take(asked(request)).enumerate() {
            let answer = Answer(choice.text.as_deref().unwrap_or_default());
            match self.extraction.run::<I::Output>(&answer, Overrides::default(), None).await {
                Ok(prediction) => {
                    *usage += *prediction.usage();
                    predictions.push(prediction);
                }
                Err(error) => {
                    *usage += *error.usage();
                    let Some(parse) = error.as_parse() else { return Err(error.with_usage(*usage)) };
                    let parse = parse.clone().prefixed(FAILED);
                    let messages = request.messages.clone();
                    return Err(Error::parse(parse, at, messages, completion.clone(), *usage));
                }
            }
        }
        Ok(predictions)
    }
}

fn asked(request: &Request) -> usize {
    request.config.n.unwrap_or(1).max(1) as usize
}

/// The second signature: the answer's text in, the outputs out.
fn extraction(spec: &SignatureSpec) -> Result<SignatureSpec, SpecError> {
    let names: Vec<_> = spec.outputs.iter().map(|field| format!("`{}`", field.name)).collect();
    // Thirteen blanks in a row: DSPy's own text has them.
    let instructions = format!(
        "The input is a text that should contain all the necessary information to produce the fields {}. {}Your \
         job is to extract the fields from the text verbatim. Extract precisely the appropriate value (content) \
         for each field.",
        names.join(", "),
        " ".repeat(12)
    );
    let text = FieldSpec::new("text", serde_json::json!({ "type": "string" }), Vec::new(), None)?;
    SignatureSpec::build(
        spec.name.clone(),
        Some(instructions),
        vec![Arc::new(text)],
        spec.outputs.clone(),
        spec.text_field,
        spec.dialect,
    )
}

/// The one input of the second step.
struct Answer<'a>(&'a str);

impl Record for Answer<'_> {
    fn write(&self, _: usize, _: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        out.value(self.0)
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// The outputs of a [`TwoStep`] call, and both exchanges. It derefs to the output struct.
#[derive(Clone)]
pub struct TwoStepPrediction<O> {
    extraction: Prediction<O>,
    others: Vec<Prediction<O>>,
    first: Box<First>,
}

#[derive(Clone)]
struct First {
    messages: Vec<Message>,
    completion: Completion,
    usage: Usage,
}

impl<O> TwoStepPrediction<O> {
    fn new(
        predictions: Vec<Prediction<O>>,
        messages: Vec<Message>,
        completion: Completion,
        usage: Usage,
    ) -> Result<Self, Error> {
        let mut predictions = predictions.into_iter();
        match predictions.next() {
            Some(extraction) => Ok(TwoStepPrediction {
                extraction,
                others: predictions.collect(),
                first: Box::new(First { messages, completion, usage }),
            }),
            None => Err(Error::completions(1, 0, messages, usage)),
        }
    }

    /// The output struct alone.
    pub fn into_inner(self) -> O {
        self.extraction.into_inner()
    }

    /// All completions of a call with `n > 1`, in the provider's order; else the one.
    pub fn completions(&self) -> impl Iterator<Item = &O> {
        std::iter::once(&self.extraction).chain(&self.others).map(|prediction| &**prediction)
    }

    /// The messages of the first step's last request.
    pub fn messages(&self) -> &[Message] {
        &self.first.messages
    }

    /// The first model's answer in its own words.
    pub fn reply(&self) -> &str {
        self.first.completion.text().unwrap_or_default()
    }

    /// The first model's completion as its client returned it.
    pub fn completion(&self) -> &Completion {
        &self.first.completion
    }

    /// The second step: what the extraction model was asked and said.
    pub fn extraction(&self) -> &Prediction<O> {
        &self.extraction
    }

    /// The tokens of all requests of the call, of both models.
    pub fn usage(&self) -> &Usage {
        &self.first.usage
    }
}

impl<O> Deref for TwoStepPrediction<O> {
    type Target = O;
    fn deref(&self) -> &O {
        &self.extraction
    }
}

impl<O> DerefMut for TwoStepPrediction<O> {
    fn deref_mut(&mut self) -> &mut O {
        &mut self.extraction
    }
}

impl<O: fmt::Debug> fmt::Debug for TwoStepPrediction<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoStepPrediction")
            .field("outputs", &**self)
            .field("reply", &self.reply())
            .field("usage", self.usage())
            .finish_non_exhaustive()
    }
}

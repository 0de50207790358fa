//! The program that asks once.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::adapter::demo::Demo;
use crate::adapter::record::{Inputs, Outputs, PartOf, Signature};
use crate::field::Field;
use crate::fields::Fields;
use crate::lm::LanguageModel;
use crate::spec::SignatureSpec;

use super::Program;
use super::builder::program_methods;
use super::call::Call;
use super::stream::PredictionStream;

/// A typed call to a language model: format, ask, read.
///
/// ```
/// use imp::{Predict, Script, Signature};
///
/// /// Answer in one word.
/// #[derive(Signature)]
/// #[signature(output = Answer)]
/// struct Question {
///     question: String,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
/// }
///
/// # async fn run() -> Result<(), imp::Error> {
/// // `Script` answers from a list; in a service this is a client such as `OpenAi::from_env()?`.
/// let predict = Predict::<Question>::new(Script::new(["[[ ## answer ## ]]\nParis"]));
/// let answer = predict.call(&Question { question: "What is the capital of France?".into() }).await?;
/// assert_eq!(answer.answer, "Paris");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
pub struct Predict<I> {
    program: Program,
    // A function's result: covariant, so that a `Predict<Ticket<'static>>` takes a short-lived `&Ticket`.
    inputs: PhantomData<fn() -> I>,
}

impl<I> Clone for Predict<I> {
    fn clone(&self) -> Self {
        Predict { program: self.program.clone(), inputs: PhantomData }
    }
}

impl<I> fmt::Debug for Predict<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Predict").field(&self.program).finish()
    }
}

// The bounds stand on the methods: a struct without `output = …` then gets the trait's own words.
impl<I> Predict<I> {
    /// A program that asks `lm` for the outputs of `I`, with the Chat adapter.
    ///
    /// A signature that cannot be described is reported by the first call.
    pub fn new(lm: impl LanguageModel + 'static) -> Self
    where
        I: Signature,
    {
        let spec = I::spec().map(Arc::clone).map_err(Clone::clone);
        Predict { program: Program::new(spec, Arc::new(lm)), inputs: PhantomData }
    }

    /// The same program with another description of one field.
    pub fn describe<S: PartOf<I>, T: ?Sized>(mut self, field: Field<S, T>, description: &str) -> Self
    where
        I: Signature,
    {
        self.program = self.program.with_spec(|spec| spec.with_description(field.name(), description));
        self
    }
}

impl Predict<Fields> {
    /// A program of a signature that is described at run time.
    ///
    /// ```
    /// use imp::{Fields, Predict, Script, SignatureSpec};
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec = SignatureSpec::parse("question -> answer, confidence: float")?;
    /// let reply = "[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\n0.9";
    /// let predict = Predict::from_spec(spec, Script::new([reply]));
    /// let answer = predict.call(&Fields::from([("question", "What is the capital of France?")])).await?;
    /// assert_eq!(answer.get("confidence"), Some(&0.9.into()));
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn from_spec(spec: impl Into<Arc<SignatureSpec>>, lm: impl LanguageModel + 'static) -> Self {
        Predict { program: Program::new(Ok(spec.into()), Arc::new(lm)), inputs: PhantomData }
    }
}

program_methods!(Predict);

impl<I: Inputs> Predict<I> {
    /// The call for some inputs; it is sent when it is awaited.
    pub fn call<'c>(&'c self, inputs: &'c I) -> Call<'c, I::Output>
    where
        I: Sync,
    {
        Call::new(&self.program, inputs)
    }

    /// The same as a stream of typed events, to show the answer while it is written; it is sent when the first event is
    /// asked for. Settings of its own: `call(…).retries(2).stream()`.
    pub fn stream<'c>(&'c self, inputs: &'c I) -> PredictionStream<'c, I::Output>
    where
        I: Inputs<Output: Send + 'c> + Sync,
    {
        self.call(inputs).stream()
    }

    /// One more demo of which every field is known.
    pub fn demo(self, inputs: I, outputs: I::Output) -> Self
    where
        I: Inputs<Output: Send + Sync + 'static> + Send + Sync + 'static,
    {
        self.with_demo(Demo::new(inputs, outputs))
    }

    /// One more demo in which fields may be missing: the two companions.
    pub fn partial_demo(self, inputs: I::Partial, outputs: <I::Output as Outputs>::Partial) -> Self
    where
        I: Inputs<Partial: Send + Sync + 'static, Output: Outputs<Partial: Send + Sync + 'static>>,
    {
        self.with_demo(Demo::partial::<I>(inputs, outputs))
    }

    /// One more demo.
    pub fn with_demo(mut self, demo: Demo) -> Self {
        self.program = self.program.demo(demo);
        self
    }
}

//! One call of a program, before it is sent.

use std::fmt;
use std::marker::PhantomData;

use crate::adapter::record::{Outputs, Record};
use crate::lm::{BoxFuture, Config};

use super::error::Error;
use super::prediction::Prediction;
use super::stream::PredictionStream;
use super::{Overrides, Program};

/// A call that is about to be made: awaited it is sent, and until then it takes settings of its own.
///
/// ```
/// # use imp::{Config, Predict, Script, Signature};
/// # #[derive(Signature)]
/// # #[signature(output = Answer)]
/// # struct Question { question: String }
/// # #[derive(Signature)]
/// # struct Answer { answer: String }
/// # async fn run() -> Result<(), imp::Error> {
/// let predict = Predict::<Question>::new(Script::new(["[[ ## answer ## ]]\nParis"]));
/// let question = Question { question: "What is the capital of France?".into() };
/// let answer = predict.call(&question).config(Config::new().temperature(0.0)).retries(2).await?;
/// assert_eq!(answer.answer, "Paris");
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
#[must_use = "a call is not sent until it is awaited: add `.await`, or `.blocking()`"]
pub struct Call<'c, O> {
    program: &'c Program,
    inputs: &'c (dyn Record + Sync),
    overrides: Overrides,
    outputs: PhantomData<fn() -> O>,
}

impl<'c, O: Outputs> Call<'c, O> {
    pub(crate) fn new(program: &'c Program, inputs: &'c (dyn Record + Sync)) -> Self {
        Call { program, inputs, overrides: Overrides::default(), outputs: PhantomData }
    }

    /// Settings for this call; what they leave unset is the program's.
    pub fn config(mut self, config: Config) -> Self {
        self.overrides.config = config.or(self.overrides.config);
        self
    }

    /// How often a reply that cannot be read is asked for again, with the error's text. The default is the
    /// program's.
    pub fn retries(mut self, retries: usize) -> Self {
        self.overrides.retries = Some(retries);
        self
    }

    /// Whether this call may fall back to the adapter's fallback. The default is the program's; a program
    /// without a fallback has none in a call either.
    pub fn fallback(mut self, yes: bool) -> Self {
        self.overrides.fallback = Some(yes);
        self
    }

    /// Whether a reply of this call may be read leniently. The default is the program's.
    pub fn salvage(mut self, yes: bool) -> Self {
        self.overrides.salvage = Some(yes);
        self
    }

    /// The name of the participant whose inputs these are: it names the request's message, where the provider takes
    /// names (Imp §7.8). It is passed through as it is; [`name::legal`](crate::name::legal) makes one that providers
    /// accept. A model that must know who speaks needs the name in a field.
    ///
    /// ```
    /// # use imp::{Fields, Predict, Script, SignatureSpec};
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let predict = Predict::from_spec(
    ///     SignatureSpec::parse("question -> answer")?,
    ///     Script::new(["[[ ## answer ## ]]\nIn Graz."]),
    /// );
    /// let answer = predict.call(&Fields::from([("question", "Where?")])).user_name("alice").await?;
    /// assert_eq!(answer.messages().last().and_then(|message| message.name.as_deref()), Some("alice"));
    /// # Ok(())
    /// # }
    /// # let mut run = std::pin::pin!(run());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    /// ```
    pub fn user_name(mut self, name: impl Into<String>) -> Self {
        self.overrides.user_name = Some(name.into());
        self
    }

    /// The call as a stream of events, so that the answer can be shown while it is written.
    pub fn stream(self) -> PredictionStream<'c, O>
    where
        O: Send + 'c,
    {
        PredictionStream::new(self.program, self.inputs, self.overrides)
    }

    /// Makes the call on this thread and waits for its answer.
    ///
    /// # Errors
    ///
    /// As for the call itself.
    #[cfg(feature = "blocking")]
    pub fn blocking(self) -> Result<Prediction<O>, Error>
    where
        O: Send,
    {
        crate::lm::block_on(self.into_future())
    }
}

impl<O> fmt::Debug for Call<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("overrides", &self.overrides).finish_non_exhaustive()
    }
}

impl<'c, O: Outputs + Send + 'c> IntoFuture for Call<'c, O> {
    type Output = Result<Prediction<O>, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.program.run(self.inputs, self.overrides, None))
    }
}

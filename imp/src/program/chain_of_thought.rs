//! The program that lets the model reason before it answers.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::adapter::demo::Demo;
use crate::adapter::record::{
    FieldReader, Inputs, OutputFields, OutputSignature, Outputs, Record, Signature,
};
use crate::error::{SpecError, WriteError};
use crate::field::Field;
use crate::fields::Fields;
use crate::lm::LanguageModel;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::FieldWriter;

use super::Program;
use super::builder::program_methods;
use super::call::Call;

/// Outputs with the reasoning that led to them. It derefs to the outputs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasoned<O> {
    /// The model's reasoning, in its own words.
    pub reasoning: String,
    /// The outputs.
    pub outputs: O,
}

impl<O> Deref for Reasoned<O> {
    type Target = O;
    fn deref(&self) -> &O {
        &self.outputs
    }
}

impl<O> DerefMut for Reasoned<O> {
    fn deref_mut(&mut self) -> &mut O {
        &mut self.outputs
    }
}

impl<O: Record> Record for Reasoned<O> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        match index.checked_sub(1) {
            None => out.value(&self.reasoning),
            Some(index) => self.outputs.write(index, field, out),
        }
    }

    fn is_complete(&self) -> bool {
        self.outputs.is_complete()
    }
}

impl<O: Outputs> Outputs for Reasoned<O> {
    type Partial = Reasoned<O::Partial>;

    fn read(reader: &mut FieldReader<'_>) -> Option<Self> {
        let reasoning = reader.field(0);
        let outputs = reader.after(1, O::read);
        Some(Reasoned { reasoning: reasoning?, outputs: outputs? })
    }

    fn read_partial(reader: &mut FieldReader<'_>) -> Self::Partial {
        Reasoned {
            reasoning: reader.partial(0).unwrap_or_default(),
            outputs: reader.after(1, O::read_partial),
        }
    }

    fn read_field(reader: &mut FieldReader<'_>, index: usize, partial: &mut Self::Partial) -> bool {
        let Some(index) = index.checked_sub(1) else {
            let reasoning = reader.partial(0);
            let is_read = reasoning.is_some();
            partial.reasoning = reasoning.unwrap_or_default();
            return is_read;
        };
        reader.after(1, |reader| O::read_field(reader, index, &mut partial.outputs))
    }

    fn field(&self, index: usize) -> Option<&dyn Any>
    where
        Self: 'static,
    {
        match index.checked_sub(1) {
            None => Some(&self.reasoning),
            Some(index) => self.outputs.field(index),
        }
    }

    fn partial_field(partial: &Self::Partial, index: usize) -> Option<&dyn Any>
    where
        Self: 'static,
    {
        match index.checked_sub(1) {
            None => Some(&partial.reasoning),
            Some(index) => O::partial_field(&partial.outputs, index),
        }
    }
}

impl<O> Reasoned<O> {
    /// The handle of the reasoning, beside those of the outputs' own struct.
    pub const REASONING: Field<Reasoned<O>, String> = Field::__new(0, "reasoning");
}

impl<O: Outputs> OutputFields<Reasoned<O>> for Reasoned<O> {
    const BEFORE: usize = 0;
}

impl<O: OutputSignature> OutputFields<O> for Reasoned<O> {
    const BEFORE: usize = 1;
}

/// The outputs of a demo whose reasoning is missing.
struct WithoutReasoning<O>(O);

impl<O: Record> Record for WithoutReasoning<O> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        if let Some(index) = index.checked_sub(1) {
            return self.0.write(index, field, out);
        }
        out.absent();
        Ok(())
    }
}

/// [`Predict`](crate::Predict) with an output `reasoning` put before the others (DSPy's `ChainOfThought`).
///
/// ```
/// use imp::{ChainOfThought, Script, Signature};
///
/// #[derive(Signature)]
/// #[signature(output = Sum)]
/// struct Addition {
///     left: i64,
///     right: i64,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Sum {
///     sum: i64,
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let reply = "[[ ## reasoning ## ]]\nTwo and two.\n\n[[ ## sum ## ]]\n4\n\n[[ ## completed ## ]]";
/// let program = ChainOfThought::<Addition>::new(Script::new([reply]))?;
/// let answer = program.call(&Addition { left: 2, right: 2 }).await?;
/// assert_eq!(answer.reasoning, "Two and two.");
/// assert_eq!(answer.sum, 4);
/// # Ok(())
/// # }
/// # let mut run = std::pin::pin!(run());
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(run.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
/// ```
pub struct ChainOfThought<I> {
    program: Program,
    inputs: PhantomData<fn() -> I>,
}

impl<I> Clone for ChainOfThought<I> {
    fn clone(&self) -> Self {
        ChainOfThought { program: self.program.clone(), inputs: PhantomData }
    }
}

impl<I> fmt::Debug for ChainOfThought<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChainOfThought").field(&self.program).finish()
    }
}

// The bounds stand on the methods: a struct without `output = …` then gets the trait's own words.
impl<I> ChainOfThought<I> {
    /// A program that asks `lm` for its reasoning and for the outputs of `I`.
    ///
    /// # Errors
    ///
    /// The signature has a field `reasoning` already, or cannot be described.
    pub fn new(lm: impl LanguageModel + 'static) -> Result<Self, SpecError>
    where
        I: Signature,
    {
        let spec = with_reasoning(I::spec().map_err(Clone::clone)?)?;
        Ok(ChainOfThought { program: Program::new(Ok(Arc::new(spec)), Arc::new(lm)), inputs: PhantomData })
    }
}

impl ChainOfThought<Fields> {
    /// A program of a signature that is described at run time.
    ///
    /// ```
    /// use imp::{ChainOfThought, Script, SignatureSpec};
    ///
    /// let spec = SignatureSpec::parse("question -> answer")?;
    /// let program = ChainOfThought::from_spec(&spec, Script::new(["[[ ## answer ## ]]\nParis"]))?;
    /// # let _ = program;
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The signature has a field `reasoning` already.
    pub fn from_spec(spec: &SignatureSpec, lm: impl LanguageModel + 'static) -> Result<Self, SpecError> {
        let spec = with_reasoning(spec)?;
        Ok(ChainOfThought { program: Program::new(Ok(Arc::new(spec)), Arc::new(lm)), inputs: PhantomData })
    }
}

/// The signature with an output `reasoning` before the others, described as DSPy describes it, which
/// renders as no description.
pub(crate) fn with_reasoning(spec: &SignatureSpec) -> Result<SignatureSpec, SpecError> {
    let schema = serde_json::json!({ "type": "string" });
    let mut reasoning = FieldSpec::new("reasoning", schema, Vec::new(), None)?;
    reasoning.description = Some("${reasoning}".to_owned());
    let outputs = std::iter::once(Arc::new(reasoning)).chain(spec.outputs.iter().cloned()).collect();
    SignatureSpec::build(
        spec.name.clone(),
        // DSPy keeps the default sentence of the signature as it was, which does not name the reasoning.
        Some(spec.instructions().into_owned()),
        spec.inputs.clone(),
        outputs,
        spec.text_field.map(|at| at + 1),
        spec.dialect,
    )
}

program_methods!(ChainOfThought);

impl<I: Inputs> ChainOfThought<I> {
    /// The call for some inputs; it is sent when it is awaited.
    pub fn call<'c>(&'c self, inputs: &'c I) -> Call<'c, Reasoned<I::Output>>
    where
        I: Sync,
    {
        Call::new(&self.program, inputs)
    }

    /// One more demo, with its reasoning.
    pub fn demo(mut self, inputs: I, outputs: Reasoned<I::Output>) -> Self
    where
        I: Inputs<Output: Send + Sync + 'static> + Send + Sync + 'static,
    {
        self.program =
            self.program.demo(Demo { inputs: Arc::new(inputs), outputs: Arc::new(outputs), fields: None });
        self
    }

    /// One more demo whose reasoning nobody wrote down: it is shown as one in which a field is not supplied.
    pub fn demo_without_reasoning(mut self, inputs: I, outputs: I::Output) -> Self
    where
        I: Inputs<Output: Send + Sync + 'static> + Send + Sync + 'static,
    {
        let outputs = Arc::new(WithoutReasoning(outputs));
        self.program = self.program.demo(Demo { inputs: Arc::new(inputs), outputs, fields: None });
        self
    }
}

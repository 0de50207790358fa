//! Demos: examples of the task that stand before the request.

use std::fmt;
use std::sync::Arc;

use crate::adapter::record::{Inputs, Outputs, Record};
use crate::error::FormatError;
use crate::fields::Fields;
use crate::history::Turn;
use crate::spec::SignatureSpec;

/// An example of the task: inputs and the outputs that go with them.
///
/// A demo is complete if every field has a value that is not null; others are shown as examples in which
/// fields are not supplied, and stand before the complete ones (DSPy's and Imp's rule). A demo without
/// any input or without any output is left out.
#[derive(Clone)]
pub struct Demo {
    pub(crate) inputs: Arc<dyn Record + Send + Sync>,
    pub(crate) outputs: Arc<dyn Record + Send + Sync>,
    /// The same by name, with what is no field of the signature: a demo of a tool loop has calls.
    pub(crate) fields: Option<Arc<Fields>>,
}

impl Demo {
    /// A complete demo: the two structs.
    pub fn new<I>(inputs: I, outputs: I::Output) -> Self
    where
        I: Inputs<Output: Send + Sync + 'static> + Send + Sync + 'static,
    {
        Demo { inputs: Arc::new(inputs), outputs: Arc::new(outputs), fields: None }
    }

    /// A demo in which fields may be missing: the two companions.
    pub fn partial<I>(inputs: I::Partial, outputs: <I::Output as Outputs>::Partial) -> Self
    where
        I: Inputs<Partial: Send + Sync + 'static, Output: Outputs<Partial: Send + Sync + 'static>>,
    {
        Demo { inputs: Arc::new(inputs), outputs: Arc::new(outputs), fields: None }
    }

    /// A demo of a described signature: inputs and outputs by name.
    ///
    /// ```
    /// use imp::{Demo, Fields};
    ///
    /// let demo = Demo::from_fields(Fields::from([("question", "2 + 2?"), ("answer", "4")]));
    /// # let _ = demo;
    /// ```
    pub fn from_fields(fields: impl Into<Fields>) -> Self {
        let fields: Arc<Fields> = Arc::new(fields.into());
        Demo { inputs: fields.clone(), outputs: fields.clone(), fields: Some(fields) }
    }
}

impl Demo {
    /// The demo as data: what it has of the fields of a signature, whose structs it was made from.
    ///
    /// A demo that was made from data is returned whole.
    ///
    /// ```
    /// use imp::{Demo, Signature};
    ///
    /// # #[derive(Signature)]
    /// # #[signature(output = Answer)]
    /// # struct Question { question: String }
    /// # #[derive(Signature)]
    /// # struct Answer { answer: String }
    /// let demo = Demo::new(Question { question: "2 + 2?".into() }, Answer { answer: "4".into() });
    /// let spec = Question::spec().map_err(Clone::clone)?;
    /// assert_eq!(demo.to_fields(spec)?.get("answer"), Some(&"4".into()));
    /// # Ok::<(), imp::FormatError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value's own `Serialize` refuses.
    pub fn to_fields(&self, spec: &SignatureSpec) -> Result<Fields, FormatError> {
        if let Some(fields) = &self.fields {
            return Ok(Fields::clone(fields));
        }
        Turn::of_records(spec, &*self.inputs, &*self.outputs).map(|turn| turn.into_fields().into())
    }
}

impl fmt::Debug for Demo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Demo").finish_non_exhaustive()
    }
}

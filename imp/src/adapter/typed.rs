//! The typed face of an adapter: structs instead of specs and records.

use std::sync::Arc;

use crate::adapter::Adapter;
use crate::adapter::complete::complete;
use crate::adapter::record::{Outputs, Section};
use crate::error::{ParseError, ParseErrorKind};
use crate::fields::Fields;
use crate::reply::Reply;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::json_text;

/// Gives an adapter the methods that take and give structs. They are inherent, so that using an adapter
/// needs no trait in scope.
macro_rules! typed_methods {
    ($adapter:ty) => {
        impl $adapter {
            /// The messages of a request, without demos.
            ///
            /// # Errors
            ///
            /// The signature cannot be described, or a value's own `Serialize` refuses.
            pub fn format<I: $crate::Signature>(
                &self,
                inputs: &I,
            ) -> Result<Vec<$crate::Message>, $crate::FormatError> {
                self.format_with(inputs, &$crate::FormatOptions::default())
            }

            /// The messages of a request, with options.
            ///
            /// # Errors
            ///
            /// As for [`format`](Self::format).
            pub fn format_with<I: $crate::Signature>(
                &self,
                inputs: &I,
                options: &$crate::FormatOptions,
            ) -> Result<Vec<$crate::Message>, $crate::FormatError> {
                let spec = I::spec().map_err(Clone::clone)?;
                $crate::Adapter::messages(self, spec, inputs, options)
            }

            /// The messages of a training example: the request and the assistant's answer to it (DSPy's
            /// `format_finetune_data`).
            ///
            /// # Errors
            ///
            /// As for [`format`](Self::format); an output without a value.
            pub fn finetune<I: $crate::Signature>(
                &self,
                inputs: &I,
                outputs: &I::Output,
                options: &$crate::FormatOptions,
            ) -> Result<Vec<$crate::Message>, $crate::FormatError> {
                let spec = I::spec().map_err(Clone::clone)?;
                $crate::Adapter::finetune_messages(self, spec, inputs, outputs, options)
            }

            /// Reads a reply into the output struct: a text, a map of fields, or an answer that is there already
            /// and is returned as it is.
            ///
            /// This is the exact reading of the specification and nothing else.
            ///
            /// # Errors
            ///
            /// A [`ParseError`](crate::ParseError) that carries the reply, the outputs that were read, and what was wrong with each
            /// of the others.
            pub fn parse<'r, O: $crate::OutputSignature>(
                &self,
                reply: impl Into<$crate::Reply<'r, O>>,
            ) -> Result<O, $crate::ParseError> {
                let spec = O::output_spec().map_err(|error| {
                    $crate::ParseError::new(
                        $crate::ParseErrorKind::Other,
                        $crate::Adapter::name(self),
                        "",
                        error.to_string(),
                    )
                })?;
                $crate::adapter::typed::read_reply(self, spec, reply.into())
            }

            /// Reads a reply as programs do: what is around it is taken off, and one that is not exactly of the
            /// format is salvaged if it has exactly one reading; see [`read_with`](crate::read_with).
            ///
            /// # Errors
            ///
            /// As for [`parse`](Self::parse); the reply was cut off.
            pub fn read<'r, O: $crate::OutputSignature>(
                &self,
                reply: impl Into<$crate::RawReply<'r>>,
            ) -> Result<$crate::Read<O>, $crate::ParseError> {
                let spec = O::output_spec().map_err(|error| {
                    $crate::ParseError::new(
                        $crate::ParseErrorKind::Other,
                        $crate::Adapter::name(self),
                        "",
                        error.to_string(),
                    )
                })?;
                $crate::read_with(self, spec, reply)
            }

            /// Reads a reply of a described signature.
            ///
            /// # Errors
            ///
            /// As for [`parse`](Self::parse).
            pub fn read_fields<'r>(
                &self,
                spec: &$crate::SignatureSpec,
                reply: impl Into<$crate::Reply<'r, $crate::Fields>>,
            ) -> Result<$crate::Fields, $crate::ParseError> {
                $crate::adapter::typed::read_reply(self, spec, reply.into())
            }
        }
    };
}

pub(crate) use typed_methods;

/// Reads any form of reply with any adapter: what the adapters' own `parse` does.
///
/// ```
/// use imp::{Chat, Fields, Reply, SignatureSpec, read_reply};
///
/// let spec = SignatureSpec::parse("question -> answer")?;
/// let fields: Fields = read_reply(&Chat::new(), &spec, Reply::Text("[[ ## answer ## ]]\nParis"))?;
/// assert_eq!(fields.get("answer"), Some(&"Paris".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As for [`Chat::parse`](crate::Chat::parse).
pub fn read_reply<O: Outputs, A: Adapter + ?Sized>(
    adapter: &A,
    spec: &SignatureSpec,
    reply: Reply<'_, O>,
) -> Result<O, ParseError> {
    match reply {
        Reply::Outputs(outputs) => Ok(outputs),
        Reply::Text(text) => complete(adapter, spec, text, &adapter.sections(spec, text)?),
        Reply::Fields(fields) => {
            // The map as text is what an error shows.
            let text = serde_json::to_string(&fields).unwrap_or_default();
            let sections = fields_as_sections(spec, &fields);
            complete(adapter, spec, &text, &sections)
        }
        Reply::Other(what) => Err(ParseError::new(
            ParseErrorKind::UnsupportedOutput,
            adapter.name(),
            "",
            format!("The LM returned {what}, which is not a completion."),
        )),
    }
}

/// The values of a map as the sections of a reply: JSON, one for each output.
pub(crate) fn fields_as_sections(spec: &SignatureSpec, fields: &Fields) -> Vec<Section<'static>> {
    let section = |field: &Arc<FieldSpec>| {
        let mut names = std::iter::once(&field.name).chain(&field.aliases);
        names.find_map(|name| fields.get(name)).map(|value| Section::json(json_text(value), 0))
    };
    spec.outputs.iter().map(|field| section(field).unwrap_or_default()).collect()
}

//! Turns of a history, made from structs.

use crate::adapter::record::{Inputs, Outputs, Record, Signature};
use crate::adapter::renderer::captured;
use crate::error::FormatError;
use crate::history::Turn;
use crate::spec::SignatureSpec;
use crate::value::Map;

impl Turn {
    /// The turn of a whole exchange: the two structs. Histories of the input are left out, as they stand in front
    /// of the turn.
    ///
    /// # Errors
    ///
    /// The signature cannot be described, or a value's own `Serialize` refuses.
    pub fn of<I: Signature>(inputs: &I, outputs: &I::Output) -> Result<Self, FormatError> {
        Turn::of_records(I::spec().map_err(Clone::clone)?, inputs, outputs)
    }

    /// A turn in which fields may be missing: the two companions.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    #[allow(clippy::needless_pass_by_value, reason = "literals of the companions are what is given")]
    pub fn partial<I: Signature>(
        inputs: <I as Inputs>::Partial,
        outputs: <I::Output as Outputs>::Partial,
    ) -> Result<Self, FormatError> {
        Turn::of_records(I::spec().map_err(Clone::clone)?, &inputs, &outputs)
    }

    /// The turn of what two records hold of a signature.
    ///
    /// # Errors
    ///
    /// A value's own `Serialize` refuses.
    pub fn of_records(
        spec: &SignatureSpec,
        inputs: &dyn Record,
        outputs: &dyn Record,
    ) -> Result<Self, FormatError> {
        let mut fields = Map::new();
        for (side, record) in [(&spec.inputs, inputs), (&spec.outputs, outputs)] {
            for (index, field) in side.iter().enumerate().filter(|(_, field)| !field.is_history()) {
                if let Some(value) = captured(field, record, index)? {
                    fields.insert(field.name.clone(), value);
                }
            }
        }
        Ok(fields.into())
    }
}

/// The outputs that a record has, by name.
pub(crate) fn captured_outputs(spec: &SignatureSpec, outputs: &dyn Record) -> Result<Map, FormatError> {
    let mut fields = Map::new();
    for (index, field) in spec.outputs.iter().enumerate() {
        if let Some(value) = captured(field, outputs, index)? {
            fields.insert(field.name.clone(), value);
        }
    }
    Ok(fields)
}

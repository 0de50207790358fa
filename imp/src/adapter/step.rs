//! One step of a conversation as the values of the signature that is formatted.

use crate::adapter::exchange::Exchange;
use crate::adapter::guidance::Guidance;
use crate::adapter::record::Record;
use crate::error::WriteError;
use crate::history::{THOUGHT, Turn};
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::write::FieldWriter;
use crate::value::Value;

/// One step of a conversation, as the record of the signature that is formatted.
pub(crate) struct Step<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) spec: &'a SignatureSpec,
    pub(crate) guidance: Option<&'a Guidance>,
    pub(crate) exchange: Option<&'a Exchange>,
}

impl Step<'_> {
    /// Whether the field is the one in which calls are written.
    pub(crate) fn holds_calls(&self, field: &FieldSpec) -> bool {
        field.is_tool_calls()
            || self
                .guidance
                .and_then(|guidance| guidance.written.as_ref())
                .is_some_and(|name| *name == field.name)
    }

    /// The value of a field, which may be recorded under its durable name.
    pub(crate) fn value(&self, field: &FieldSpec) -> Option<Value> {
        if self.holds_calls(field) {
            if let Some(exchange) = self.exchange {
                return Some(exchange.written(field));
            }
        }
        if let Some(value) = self.turn.get(&field.name) {
            return Some(value.clone());
        }
        let is_text =
            self.guidance.is_some() && self.text_output().is_some_and(|text| text.name == field.name);
        self.turn.get(THOUGHT).filter(|_| is_text).cloned()
    }

    /// The output that a step of a loop says its text in.
    pub(crate) fn text_output(&self) -> Option<&FieldSpec> {
        let marked = self.spec.text_field.and_then(|at| self.spec.outputs.get(at));
        marked
            .or_else(|| self.spec.outputs.iter().find(|field| !self.holds_calls(field)))
            .map(|field| &**field)
    }
}

impl Record for Step<'_> {
    fn write(&self, _: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        if let Some(value) = self.value(field) {
            return out.data(&value);
        }
        out.absent();
        Ok(())
    }
}

/// The fields of a step that are shown.
pub(crate) struct Restricted<'a>(pub(crate) &'a Step<'a>, pub(crate) &'a dyn Fn(&FieldSpec) -> bool);

impl Record for Restricted<'_> {
    fn write(&self, index: usize, field: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
        if (self.1)(field) {
            return self.0.write(index, field, out);
        }
        out.absent();
        Ok(())
    }
}

//! An adapter with what a program renders once from it.

use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::adapter::options::{FormatOptions, OutputForm};
use crate::adapter::record::Record;
use crate::error::FormatError;
use crate::lm::{Capabilities, Config, Request, ResponseFormat};
use crate::message::Message;
use crate::spec::SignatureSpec;

/// What the provider's schema is called.
const SCHEMA_NAME: &str = "outputs";

#[derive(Debug, Clone)]
pub(crate) struct Formatter {
    pub(crate) adapter: Arc<dyn Adapter>,
    /// The system message and the demos.
    prefix: OnceLock<Arc<[Message]>>,
    /// The form to ask for, and whether any JSON object will do where schemas are not known.
    form: OnceLock<(Option<ResponseFormat>, bool)>,
}

impl Formatter {
    pub(crate) fn new(adapter: Arc<dyn Adapter>) -> Self {
        Formatter { adapter, prefix: OnceLock::new(), form: OnceLock::new() }
    }

    /// Forgets what was rendered: the spec or the demos have changed.
    pub(crate) fn reset(&mut self) {
        *self = Formatter::new(self.adapter.clone());
    }

    fn prefix(&self, spec: &SignatureSpec, options: &FormatOptions) -> Result<Arc<[Message]>, FormatError> {
        if let Some(prefix) = self.prefix.get() {
            return Ok(prefix.clone());
        }
        let mut messages = self.adapter.prefix(spec, options)?;
        for message in &mut messages {
            message.share();
        }
        Ok(self.prefix.get_or_init(|| messages.into()).clone())
    }

    /// The messages of a call.
    pub(crate) fn messages(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Vec<Message>, FormatError> {
        let prefix = self.prefix(spec, options)?;
        let mut messages = Vec::with_capacity(prefix.len() + 1);
        messages.extend_from_slice(&prefix);
        messages.extend(self.adapter.history(spec, inputs, options)?);
        messages.extend(self.adapter.request(spec, inputs, options)?);
        Ok(messages)
    }

    /// The request of a call, with the form that the provider can hold the reply to.
    pub(crate) fn request(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
        config: Config,
        capabilities: Capabilities,
    ) -> Result<Request, FormatError> {
        let mut request = Request::new(self.messages(spec, inputs, options)?).config(config);
        // A caller's own form is not overruled.
        if !request.config.extra.contains_key("response_format") {
            request.response_format = self.form(spec, capabilities);
        }
        Ok(request)
    }

    fn form(&self, spec: &SignatureSpec, capabilities: Capabilities) -> Option<ResponseFormat> {
        let schema = |schema| Some(ResponseFormat::json_schema(SCHEMA_NAME, schema, true));
        let (full, or_object) = self.form.get_or_init(|| match self.adapter.output_form(spec) {
            OutputForm::Text => (None, false),
            OutputForm::Object => (Some(ResponseFormat::JsonObject), true),
            OutputForm::Schema(form) => (schema(form), true),
            OutputForm::SchemaOrText(form) => (schema(form), false),
        });
        match full {
            Some(ResponseFormat::JsonSchema { .. }) if capabilities.json_schema => full.clone(),
            Some(_) if *or_object && capabilities.json_object => Some(ResponseFormat::JsonObject),
            _ => None,
        }
    }
}

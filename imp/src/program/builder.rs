//! What all programs have in common: their settings.

/// Gives a program type the methods that change its settings.
macro_rules! program_methods {
    ($program:ident) => {
        impl<I: $crate::Inputs> $program<I> {
            /// The messages that a call for these inputs sends.
            ///
            /// # Errors
            ///
            /// The signature cannot be described, a required input of a described signature has no value, or a
            /// value's own `Serialize` refuses.
            pub fn messages(&self, inputs: &I) -> Result<Vec<$crate::Message>, $crate::FormatError> {
                self.program.messages(inputs)
            }

            /// The description of the signature.
            ///
            /// # Errors
            ///
            /// The signature cannot be described.
            pub fn spec(&self) -> Result<&$crate::SignatureSpec, &$crate::SpecError> {
                self.program.spec().map(|spec| &**spec)
            }

            /// Another adapter. The default is [`Chat`](crate::Chat) in the signature's dialect.
            pub fn adapter(mut self, adapter: impl $crate::Adapter + 'static) -> Self {
                self.program = self.program.adapter(adapter);
                self
            }

            /// Other instructions than the signature's.
            pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
                let instructions = instructions.into();
                self.program = self.program.with_spec(|spec| Ok(spec.with_instructions(instructions)));
                self
            }

            /// Settings of every request; what was set before stays where these leave it unset.
            pub fn config(mut self, config: $crate::Config) -> Self {
                self.program = self.program.config(config);
                self
            }

            /// Whether a reply that cannot be read is asked for once more through the adapter's fallback, which
            /// for [`Chat`](crate::Chat) is [`Json`](crate::Json) (Imp §13.7). The default is yes. If that reply cannot be
            /// read either, the first error is returned.
            pub fn fallback(mut self, yes: bool) -> Self {
                self.program = self.program.fallback(yes);
                self
            }

            /// Whether a reply that is not exactly of the adapter's format is read leniently before another request is
            /// made; see [`read_with`](crate::read_with). The default is yes.
            pub fn salvage(mut self, yes: bool) -> Self {
                self.program = self.program.salvage(yes);
                self
            }

            /// How often a reply that cannot be read is asked for again, with the error's text, before the fallback
            /// (Imp §13.7). The default is 0.
            pub fn retries(mut self, retries: usize) -> Self {
                self.program = self.program.retries(retries);
                self
            }
        }
    };
}

pub(super) use program_methods;

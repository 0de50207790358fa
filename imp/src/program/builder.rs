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

            /// How requests are formatted: renderers, names, what is left out. The demos of `options` stand behind the
            /// program's own; everything else replaces what was set before.
            pub fn options(mut self, options: $crate::FormatOptions) -> Self {
                self.program = self.program.options(options);
                self
            }

            /// Whether a reply that cannot be read is asked for once more through the adapter's fallback, which
            /// for [`Chat`](crate::Chat) is [`Json`](crate::Json) (Imp §13.7). The default is yes. If that reply cannot be
            /// read either, the first error is returned.
            pub fn fallback(mut self, yes: bool) -> Self {
                self.program = self.program.fallback(yes);
                self
            }

            /// Whether a reply that is not of the adapter's format is read leniently before another request is made; see
            /// [How a reply is read](crate::how_a_reply_is_read). The default is yes. A think block and a fence around the
            /// whole reply are taken off without it too.
            pub fn salvage(mut self, yes: bool) -> Self {
                self.program = self.program.salvage(yes);
                self
            }

            /// Whether the program learns with which adapter to start. The default is yes.
            ///
            /// When for a model the replies to the program's adapter could not be read and the fallback's reply could, in
            /// three calls in a row, the calls that follow start with the fallback: one request instead of two. The twentieth
            /// of them tries the program's own adapter again, then one after forty, eighty, …, at most 320 calls. As soon as its
            /// first reply is exactly of the format, calls start with it again.
            ///
            /// * Started with the fallback, a reply that cannot be read (or a request that the provider does not take) is
            ///   followed by the program's own adapter, with the retries that there are: no answer is lost, and no call makes
            ///   more requests than one that falls back. If that fails too, its error is the call's. Three calls
            ///   in a row in which only the program's own adapter could be read undo what was learnt.
            /// * A salvaged reply needed no second request, so it is no failure; nor is it of the format, so it does not end the
            ///   row of failures, and a try that ends in one changes nothing. The same holds for one that a retry brought. A
            ///   reply that the limit of tokens cut off is a failure like others: the fallback's was whole.
            /// * A call without a fallback never starts with it. With several completions a call the call counts, as one
            ///   completion that cannot be read sends all through the fallback.
            /// * It is kept in memory, for each [`model`](crate::LanguageModel::model) name apart, and shared by the clones of a
            ///   program. Another adapter, signature, description, demo or `salvage` starts anew.
            ///
            /// [`Prediction::is_learnt`](crate::Prediction::is_learnt) says of a call that it began so; with the feature
            /// `tracing` every change is an event.
            pub fn learn(mut self, yes: bool) -> Self {
                self.program = self.program.learn(yes);
                self
            }

            /// After how many calls in a row it learns; see [`learn`](Self::learn), which this turns on. The default is 3, the
            /// least 1.
            pub fn learn_after(mut self, calls: u32) -> Self {
                self.program = self.program.learn_after(calls);
                self
            }

            /// Which types of output are taken natively where the model's capabilities have them; see
            /// [`NativeOutput`](crate::NativeOutput). The default is all (DSPy's `native_response_types`).
            pub fn native(mut self, outputs: impl IntoIterator<Item = $crate::NativeOutput>) -> Self {
                self.program = self.program.with_natives(outputs.into_iter().collect());
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

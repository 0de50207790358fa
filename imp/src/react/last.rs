//! What follows an interruption: the note, the last request, the extraction (Imp §14.5).

use crate::adapter::Adapter;
use crate::adapter::read::{RawReply, Read, read_with};
use crate::adapter::record::Outputs;
use crate::history::Turn;
use crate::lm::{Choice, Config, LmErrorKind, ToolChoice};
use crate::program::chain_of_thought::Reasoned;
use crate::program::error::{Error, ErrorKind};
use crate::tool_definition::ToolDefinition;

use super::act::Acted;
use super::ask::{Asked, Said, is_too_long};
use super::plan::{Ends, SUBMIT};
use super::prediction::{Cause, Termination};
use super::run::{Ended, Interruption, Run, is_safety, no_calls};

impl<O: Outputs> Run<'_, O> {
    pub(super) async fn last_request(mut self, interruption: Interruption) -> Ended<O> {
        if self.is_late() {
            return Ok(self.incomplete(Cause::DeadlineExceeded, interruption.error, None));
        }
        self.leave_note();
        match self.plan.ends {
            Ends::Text => match self.ask(self.step_config(), self.roster()).await {
                Ok(mut said) => {
                    self.keep_unexecuted(&mut said);
                    self.answered(said, Termination::LastText, Some(interruption))
                }
                Err(error) => self.last_failed(error, interruption),
            },
            Ends::Submit | Ends::Tools => self.forced(interruption).await,
        }
    }

    /// The caller's note, behind the inputs if they have not been said yet.
    fn leave_note(&mut self) {
        let note = self.note.take().filter(|note| !note.is_empty());
        let (Some(note), Some(input)) = (note, self.plan.first_input.as_deref()) else { return };
        if self.unspent && !self.inputs.is_empty() {
            let turn = self.turn(None);
            self.push(turn);
        }
        self.unspent = false;
        self.push(Turn::new().with(input, note).tool_calls(no_calls()));
    }

    fn keep_unexecuted(&mut self, said: &mut Said) {
        let calls = std::mem::take(&mut said.calls).into_iter().enumerate().map(|(index, mut call)| {
            if call.id.is_empty() {
                call.id = format!("call_{}_{index}", self.step);
            }
            call
        });
        self.unexecuted = calls.collect();
    }

    /// The last request of a loop that ends by a tool: the model must call it.
    async fn forced(mut self, interruption: Interruption) -> Ended<O> {
        let (plan, core) = (self.plan, self.core);
        let asked = self.ask(self.forced_config(), self.roster()).await;
        let said = match asked {
            Err(error) if plan.written.is_none() && wants_a_word(&error) => {
                let only = self.ending_tools();
                let mut config = self.forced_config();
                config.tool_choice = Some(ToolChoice::Required);
                match self.ask(config, only).await {
                    Ok(said) => said,
                    Err(error) if is_safety(&error) => {
                        return Err(self.failed(error, interruption.error));
                    }
                    Err(_) => return self.extract(interruption).await,
                }
            }
            Err(error) => return self.last_failed(error, interruption),
            Ok(said) => said,
        };
        if !said.calls.iter().any(|call| plan.is_ending(core, &call.name)) {
            let mut said = said;
            self.keep_unexecuted(&mut said);
            if said.text.is_some() {
                self.record_text(said);
            }
            return self.extract(interruption).await;
        }
        match self.act(said, &|call| plan.is_ending(core, &call.name)).await {
            Acted::Ended { outputs, reason, by } => {
                let reason =
                    if reason == Termination::Submitted { Termination::ForcedSubmit } else { reason };
                Ok(self.finished(outputs, reason, by, Some(interruption)))
            }
            Acted::Continues => Ok(self.incomplete(interruption.cause, interruption.error, None)),
        }
    }

    /// The tools that end the loop.
    fn ending_tools(&self) -> Vec<ToolDefinition> {
        let roster = self.plan.roster.iter();
        roster.filter(|tool| self.plan.is_ending(self.core, tool.name())).cloned().collect()
    }

    fn forced_config(&self) -> Config {
        let mut config = self.step_config();
        if self.plan.written.is_some() {
            return config;
        }
        // Providers that let a model reason refuse to force a call then.
        config.reasoning_effort = None;
        config.tool_choice = Some(match (self.plan.ends, self.core.finish_tools.as_slice()) {
            (Ends::Submit, _) => ToolChoice::named(SUBMIT),
            (_, [only]) => ToolChoice::named(only.as_str()),
            _ => ToolChoice::Required,
        });
        config
    }

    /// The outputs from the history, by a request of its own that has no tools.
    async fn extract(mut self, interruption: Interruption) -> Ended<O> {
        if self.is_late() {
            return Ok(self.incomplete(Cause::DeadlineExceeded, interruption.error, None));
        }
        let plan = self.plan;
        let salvage = self.core.salvage;
        loop {
            let mut inputs = self.inputs.clone();
            if let Some(name) = &self.user_name {
                inputs.insert(crate::history::USER_NAME, name.as_str());
            }
            inputs.insert(plan.history.as_str(), self.shown_history());
            let mut config = self.timed(self.config.clone());
            config.tool_choice = None;
            config.parallel_tool_calls = None;
            let asked = Asked {
                spec: &plan.extraction.spec,
                options: &plan.extraction.options,
                main: &plan.extraction.main,
                fallback: plan.extraction.fallback.as_ref(),
                inputs,
                config,
                tools: Vec::new(),
            };
            let read = |adapter: &dyn Adapter, choice: &Choice| {
                let reply = RawReply::new(choice.text.as_deref().unwrap_or_default())
                    .ending(&choice.finish_reason)
                    .salvage(salvage);
                let read = read_with::<Reasoned<O>, _>(adapter, &plan.extraction.spec, reply);
                read.map(Read::into_inner)
            };
            match self.send(asked, &read).await {
                Ok(Reasoned { outputs, .. }) => {
                    let turn = self.turn(None);
                    let turn = self.with_outputs(turn, &outputs);
                    self.push(turn);
                    return Ok(self.finished(outputs, Termination::Extracted, None, Some(interruption)));
                }
                Err(error) if is_too_long(&error) && self.omit_more() => {}
                Err(error) => return self.last_failed(error, interruption),
            }
        }
    }

    fn last_failed(&mut self, error: Error, interruption: Interruption) -> Ended<O> {
        let Interruption { cause, error: initial } = interruption;
        if is_safety(&error) {
            return Err(self.failed(error, initial));
        }
        if self.is_late() {
            return Ok(self.incomplete(Cause::DeadlineExceeded, initial, Some(error)));
        }
        if is_too_long(&error) {
            return Ok(self.incomplete(Cause::ContextWindowExceeded, initial, Some(error)));
        }
        match error.kind() {
            ErrorKind::Parse { .. } => Ok(self.incomplete(cause, initial, Some(error))),
            _ => Err(self.failed(error, initial)),
        }
    }
}

/// Whether a provider says that it takes a word as the tool choice, and no tool's name.
fn wants_a_word(error: &Error) -> bool {
    let Some(error) = error.as_model().filter(|error| error.kind() == LmErrorKind::BadRequest) else {
        return false;
    };
    let text = format!("{error} {}", error.provider_message().unwrap_or_default()).to_lowercase();
    let has = |word: &str| text.contains(word);
    has("tool_choice")
        && (has("invalid") || has("unsupported"))
        && (has("required") || has("supported string"))
}

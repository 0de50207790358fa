//! The calls of a step (Imp §14.4).

use crate::adapter::record::Outputs;
use crate::fields::Fields;
use crate::history::Turn;
use crate::message::ToolCall;
use crate::tool_calls::ToolResult;
use crate::tool_failure::ToolFailure;
use crate::value::{Map, Value};

use super::ask::Said;
use super::event::Event;
use super::outputs;
use super::plan::{Ends, SUBMIT};
use super::prediction::Termination;
use super::run::{Open, Run};

/// What the calls of a step led to.
pub(super) enum Acted<O> {
    /// The loop goes on.
    Continues,
    Ended {
        outputs: O,
        reason: Termination,
        by: Option<String>,
    },
}

/// What an accepted `submit` is answered with.
const ACCEPTED: &str = "accepted";

impl<O: Outputs> Run<'_, O> {
    /// Runs the calls of a step in order, one at a time, and records the step. Calls that `runs` does not take are
    /// only kept as not executed.
    pub(super) async fn act(
        &mut self,
        said: Said,
        runs: &(dyn Fn(&ToolCall) -> bool + Send + Sync),
    ) -> Acted<O> {
        let mut calls = said.calls;
        for (index, call) in calls.iter_mut().enumerate() {
            if call.id.is_empty() {
                call.id = format!("call_{}_{index}", self.step);
            }
        }
        let (calls, left): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| runs(call));
        self.unexecuted.extend(left);
        let mut turn = self.turn(said.reasoning);
        if let Some(text) = said.text {
            turn = turn.thought(text);
        }
        self.open = Some(Open { turn, calls: calls.clone(), results: Vec::new(), running: false });
        let mut submitted = None;
        let mut finished = None;
        for call in &calls {
            self.emit(&Event::Calling { step: self.step, call });
            self.running(true);
            let (result, ending) = self.result(call).await;
            self.running(false);
            self.emit(&Event::Called { step: self.step, result: &result });
            if let Some(open) = &mut self.open {
                open.results.push(result);
            }
            match ending {
                // The last accepted one wins.
                Some(outputs) if self.plan.ends == Ends::Submit && call.name == SUBMIT => {
                    submitted = Some(outputs);
                }
                Some(outputs) if finished.is_none() => finished = Some((outputs, call.name.clone())),
                _ => {}
            }
        }
        let ended = match (submitted, finished) {
            (Some(outputs), _) => Some((outputs, Termination::Submitted, None)),
            (None, Some((outputs, by))) => Some((outputs, Termination::FinishedByTool, Some(by))),
            (None, None) => None,
        };
        let mut turn = self.open.take().map(Open::into_turn).unwrap_or_default();
        if let Some((outputs, ..)) = &ended {
            turn = self.with_outputs(turn, outputs);
        }
        self.push(turn);
        match ended {
            None => Acted::Continues,
            Some((outputs, reason, by)) => Acted::Ended { outputs, reason, by },
        }
    }

    fn running(&mut self, yes: bool) {
        if let Some(open) = &mut self.open {
            open.running = yes;
        }
    }

    /// The turn with the outputs of the task.
    pub(super) fn with_outputs(&self, mut turn: Turn, outputs: &O) -> Turn {
        let Ok(task) = &self.core.task else { return turn };
        // An output that cannot be written is in the prediction all the same.
        if let Ok(recorded) = Turn::of_records(task, &Fields::new(), outputs) {
            for (name, value) in recorded.fields().iter() {
                turn = turn.with(name, value.clone());
            }
        }
        turn
    }

    /// The result of one call, and the outputs if it ends the loop.
    async fn result(&self, call: &ToolCall) -> (ToolResult, Option<O>) {
        let failed =
            |failure: &ToolFailure| (ToolResult::failed(call.id.as_str(), call.name.as_str(), failure), None);
        if self.plan.ends == Ends::Submit && call.name == SUBMIT {
            return match self.submit(call).await {
                Ok(outputs) => {
                    (ToolResult::new(call.id.as_str(), call.name.as_str(), ACCEPTED), Some(outputs))
                }
                Err(failure) => failed(&failure),
            };
        }
        let result = self.plan.tools.run(call, &self.core.policy).await;
        if result.is_error {
            return (result, None);
        }
        match self.finishes(call, &result.value) {
            Ok(outputs) => (result, outputs),
            Err(failure) => failed(&failure),
        }
    }

    async fn submit(&self, call: &ToolCall) -> Result<O, ToolFailure> {
        let task = self.core.task.as_ref().map_err(|error| ToolFailure::Other(error.to_string().into()))?;
        if let Some(received) = &call.malformed {
            return Err(ToolFailure::InvalidSubmit { received: received.clone() });
        }
        self.core.policy.check(call)?;
        let outputs = outputs::submitted(task, self.core.dialect(), &call.arguments)?;
        self.core.policy.approve(call).await?;
        Ok(outputs)
    }

    /// The outputs, if a successful call ends the loop.
    fn finishes(&self, call: &ToolCall, result: &Value) -> Result<Option<O>, ToolFailure> {
        let Ok(task) = &self.core.task else { return Ok(None) };
        let dialect = self.core.dialect();
        if let Some((_, finish)) = self.core.finishers.iter().find(|(name, _)| *name == call.name) {
            let values = finish(task, &call.arguments, result, &self.inputs)
                .map_err(|error| ToolFailure::InvalidOutputs { reason: error.to_string().into() })?;
            return values.map(|values: Map| outputs::submitted(task, dialect, &values)).transpose();
        }
        if self.plan.ends == Ends::Tools && self.plan.is_ending(self.core, &call.name) {
            return outputs::returned(task, dialect, result).map(Some);
        }
        Ok(None)
    }
}

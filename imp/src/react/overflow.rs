//! A conversation that is longer than the model can take (Imp §14.8).

use crate::adapter::record::Outputs;
use crate::value::Value;

use super::run::Run;

/// How often less of the earlier history is tried.
const RECOVERIES: usize = 8;

impl<O: Outputs> Run<'_, O> {
    /// The conversation that the model is shown.
    pub(super) fn shown_history(&self) -> Value {
        let omitted = self.projection.map_or(0, |projection| projection.omitted_turns);
        let turns = self.prior.iter().skip(omitted).chain(&self.own);
        Value::List(turns.map(|turn| Value::from(turn.clone())).collect())
    }

    /// Leaves out the older half of what is left of the earlier history; false if that is not possible. What this
    /// call has recorded is never left out.
    pub(super) fn omit_more(&mut self) -> bool {
        let Ok(task) = &self.core.task else { return false };
        let mut projection = self.projection.unwrap_or_default();
        if projection.recovery_requests >= RECOVERIES {
            return false;
        }
        // A group ends with a turn that has every output; an unfinished one at the end is one too.
        let mut ends = Vec::new();
        for (at, turn) in self.prior.iter().enumerate() {
            let is_whole = task.outputs.iter().all(|field| turn.get(&field.name).is_some());
            if is_whole || at + 1 == self.prior.len() {
                ends.push(at + 1);
            }
        }
        let left = ends.len().saturating_sub(projection.omitted_groups);
        if left == 0 {
            return false;
        }
        projection.recovery_requests += 1;
        let is_last = projection.recovery_requests == RECOVERIES;
        projection.omitted_groups += if is_last { left } else { left.div_ceil(2) };
        let last = projection.omitted_groups.saturating_sub(1);
        projection.omitted_turns = ends.get(last).copied().unwrap_or(self.prior.len());
        self.projection = Some(projection);
        true
    }
}

//! What a program learns of a model: which of its two adapters to start with.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::native_output::Natives;
use super::trace;

/// How many calls in a row must have needed the fallback.
pub(super) const AFTER: u32 = 3;
/// Every which call first tries the program's own adapter again; it is doubled with every such call.
const EVERY: u32 = 20;
const MOST_SELDOM: u32 = 320;

/// What the clones of a program have learnt together, by the model's name and by what it is asked for.
#[derive(Debug)]
pub(super) struct Learner {
    after: u32,
    // Held to look up and to note only, never over a request.
    tracks: Mutex<HashMap<String, [Track; Natives::SETS]>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Track {
    /// How many calls in a row the adapter that a call starts with could not be read and the other one could.
    misses: u32,
    learnt: Option<Learnt>,
}

#[derive(Debug, Clone, Copy)]
struct Learnt {
    /// How many calls have started with the fallback since the last that did not.
    calls: u32,
    every: u32,
}

/// What a call starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Chosen,
    Fallback,
}

/// How a call went, where that says something of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The first reply in the chosen format was exactly of it.
    Exact,
    /// The chosen adapter's replies could not be read and the fallback's could.
    FellBack,
    /// Neither's could.
    Neither,
    /// The call started with the fallback, whose reply was read.
    Kept,
    /// The call started with the fallback, whose reply could not be read, and the chosen adapter's could.
    WentBack,
}

/// What an outcome changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Learns,
    Forgets,
}

impl Learner {
    pub(super) fn new(after: u32) -> Self {
        Learner { after: after.max(1), tracks: Mutex::default() }
    }

    /// One that has learnt nothing.
    pub(super) fn anew(&self) -> Self {
        Learner::new(self.after)
    }

    fn tracks(&self) -> MutexGuard<'_, HashMap<String, [Track; Natives::SETS]>> {
        // Nothing panics while it is held.
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start(&self, model: &str, natives: Natives) -> Start {
        let mut tracks = self.tracks();
        let track = tracks.get_mut(model).and_then(|tracks| tracks.get_mut(natives.index()));
        let Some(learnt) = track.and_then(|track| track.learnt.as_mut()) else { return Start::Chosen };
        learnt.calls += 1;
        if learnt.calls < learnt.every {
            return Start::Fallback;
        }
        // Counted when it starts: of many calls at once one tries, and one that is dropped is not waited for.
        learnt.calls = 0;
        learnt.every = learnt.every.saturating_mul(2).min(MOST_SELDOM);
        Start::Chosen
    }

    pub(super) fn report(&self, model: &str, natives: Natives, outcome: Outcome) -> Option<Change> {
        let mut tracks = self.tracks();
        // A model that never misses is never noted.
        if !tracks.contains_key(model) {
            if outcome != Outcome::FellBack {
                return None;
            }
            tracks.insert(model.to_owned(), Default::default());
        }
        tracks.get_mut(model)?.get_mut(natives.index())?.note(outcome, self.after)
    }
}

impl Track {
    fn note(&mut self, outcome: Outcome, after: u32) -> Option<Change> {
        match (outcome, self.learnt) {
            (Outcome::Exact, learnt) => {
                *self = Track::default();
                learnt.map(|_| Change::Forgets)
            }
            (Outcome::FellBack, None) => {
                self.misses += 1;
                if self.misses < after {
                    return None;
                }
                *self = Track { misses: 0, learnt: Some(Learnt { calls: 0, every: EVERY }) };
                Some(Change::Learns)
            }
            (Outcome::WentBack, Some(_)) => {
                self.misses += 1;
                if self.misses < after {
                    return None;
                }
                *self = Track::default();
                Some(Change::Forgets)
            }
            (Outcome::Neither, None) | (Outcome::Kept, Some(_)) => {
                self.misses = 0;
                None
            }
            // What a call that started before the change says is not of what is learnt now.
            (Outcome::FellBack | Outcome::Neither, Some(_)) | (Outcome::Kept | Outcome::WentBack, None) => {
                None
            }
        }
    }
}

/// What one call asks of the learner and tells it.
pub(super) struct Lesson<'p> {
    pub(super) learner: Option<&'p Learner>,
    pub(super) model: &'p str,
    pub(super) natives: Natives,
    pub(super) chosen: &'static str,
    pub(super) fallback: &'static str,
}

impl Lesson<'_> {
    pub(super) fn start(&self) -> Start {
        self.learner.map_or(Start::Chosen, |learner| learner.start(self.model, self.natives))
    }

    pub(super) fn report(&self, outcome: Outcome) {
        match self.learner.and_then(|learner| learner.report(self.model, self.natives, outcome)) {
            Some(Change::Learns) => trace::learns(self.model, self.chosen, self.fallback),
            Some(Change::Forgets) => trace::forgets(self.model, self.chosen, self.fallback),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Natives = Natives { reasoning: false, citations: false };

    fn learnt() -> Learner {
        let learner = Learner::new(AFTER);
        for _ in 0..AFTER {
            learner.report("m", ONE, Outcome::FellBack);
        }
        learner
    }

    #[test]
    fn the_distance_between_trials_doubles_up_to_a_limit() {
        let learner = learnt();
        let mut trials = Vec::new();
        for call in 1..=1_300 {
            if learner.start("m", ONE) == Start::Chosen {
                trials.push(call);
                assert_eq!(learner.report("m", ONE, Outcome::FellBack), None);
            }
        }
        assert_eq!(trials, [20, 60, 140, 300, 620, 940, 1_260]);
    }

    #[test]
    fn outcomes() {
        use Outcome::*;
        for (outcomes, start) in [
            (&[FellBack, FellBack][..], Start::Chosen),
            (&[FellBack, FellBack, FellBack], Start::Fallback),
            (&[FellBack, FellBack, Exact, FellBack, FellBack], Start::Chosen),
            (&[FellBack, FellBack, Neither, FellBack, FellBack], Start::Chosen),
            (&[FellBack, FellBack, FellBack, Exact], Start::Chosen),
            (&[FellBack, FellBack, FellBack, Exact, FellBack, FellBack], Start::Chosen),
            (&[FellBack, FellBack, FellBack, Neither, FellBack, Kept], Start::Fallback),
            (&[FellBack, FellBack, FellBack, WentBack, WentBack], Start::Fallback),
            (&[FellBack, FellBack, FellBack, WentBack, WentBack, Kept, WentBack], Start::Fallback),
            (&[FellBack, FellBack, FellBack, WentBack, WentBack, WentBack], Start::Chosen),
            (&[Kept, WentBack, Neither, Exact], Start::Chosen),
        ] {
            let learner = Learner::new(AFTER);
            for outcome in outcomes {
                learner.report("m", ONE, *outcome);
            }
            assert_eq!(learner.start("m", ONE), start, "{outcomes:?}");
        }
    }

    #[test]
    fn models_and_signatures_apart() {
        let learner = learnt();
        let other = Natives { reasoning: true, citations: false };
        assert_eq!(learner.start("m", ONE), Start::Fallback);
        assert_eq!(learner.start("m", other), Start::Chosen);
        assert_eq!(learner.start("n", ONE), Start::Chosen);
        assert_eq!(learner.anew().start("m", ONE), Start::Chosen);
    }
}

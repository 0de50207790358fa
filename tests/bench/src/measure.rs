//! How a piece of work is measured: by the CPU time of the process, and by what it allocates.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ProcessTime;

/// What one run of a piece of work costs.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Runs in a second of CPU time: the median of the rounds.
    pub ops_per_s: f64,
    /// Allocations of a run.
    pub allocs: u64,
    /// The most bytes that a run has on the heap at once, beyond what it was given.
    pub peak_bytes: u64,
}

const ROUNDS: usize = 7;

/// Runs `work` for about `budget` of CPU time, in rounds, and once more to count its allocations.
pub fn measure(budget: Duration, mut work: impl FnMut()) -> Cost {
    // The first run fills what is made once.
    work();
    let heap = allocation_counter::measure(&mut work);
    let mut ops_per_s = 0.0;
    allocation_counter::opt_out(|| ops_per_s = rate(budget, &mut work));
    Cost { ops_per_s, allocs: heap.count_total, peak_bytes: heap.bytes_max }
}

fn rate(budget: Duration, work: &mut impl FnMut()) -> f64 {
    let round = budget / u32::try_from(ROUNDS).unwrap_or(1);
    let mut runs = 1_u32;
    // The clock has a grain, so a round has as many runs as fill its share.
    let runs = loop {
        let took = time(runs, work);
        if took >= round / 2 || took >= Duration::from_millis(50) {
            let each = took.as_secs_f64() / f64::from(runs);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
            break ((round.as_secs_f64() / each) as u32).max(1);
        }
        runs = runs.saturating_mul(if took < round / 20 { 8 } else { 2 });
    };
    let mut rates: Vec<f64> =
        (0..ROUNDS).map(|_| f64::from(runs) / time(runs, work).as_secs_f64().max(1e-9)).collect();
    rates.sort_by(f64::total_cmp);
    rates[ROUNDS / 2]
}

fn time(runs: u32, work: &mut impl FnMut()) -> Duration {
    let start = ProcessTime::now();
    for _ in 0..runs {
        black_box(&mut *work)();
    }
    start.elapsed()
}

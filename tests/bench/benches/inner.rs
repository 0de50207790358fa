//! The inner loops, one by one: `cargo bench -p imp-bench`. A part of a name chooses: `cargo bench -p imp-bench -- medium`.

use divan::Bencher;
use imp_bench::workload::{self, Op};

fn main() {
    divan::main();
}

/// What `imp-bench` measures of the smaller replies.
fn ops() -> impl Iterator<Item = Named> {
    workload::ops().into_iter().filter(|op| op.bytes < 1 << 18).map(Named)
}

struct Named(Op);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Op { who, workload, op, typed, .. } = &self.0;
        write!(f, "{who} {workload} {op} {}", if *typed { "typed" } else { "untyped" })
    }
}

#[divan::bench(args = ops())]
fn run(bencher: Bencher<'_, '_>, op: &Named) {
    bencher.counter(divan::counter::BytesCount::new(op.0.bytes)).bench_local(|| (op.0.run)());
}

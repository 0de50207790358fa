//! Prints what each piece of work costs.
//!
//!     cargo run -q --release -p imp-bench -- [--json] [--quick] [--only TEXT] [--workloads]

use std::time::Duration;

use imp_bench::measure::measure;
use imp_bench::workload;
use serde_json::json;

const HELP: &str = "\
What each piece of work costs, by the CPU time of the process.

    imp-bench [--json] [--quick] [--only TEXT] [--workloads]

--json       a line of JSON for each, instead of a table
--quick      a hundredth of the time: a smoke test, whose figures say little
--only TEXT  only those whose name, `workload/op`, contains the text
--workloads  print the workloads as JSON, for programs in other languages, and end
";

fn main() -> Result<(), String> {
    let mut budget = Duration::from_millis(350);
    let (mut as_json, mut only) = (false, String::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => as_json = true,
            "--quick" => budget = Duration::from_micros(3500),
            "--only" => only = args.next().ok_or("`--only` needs a text")?,
            "--workloads" => {
                println!("{}", workload::data());
                return Ok(());
            }
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            arg => return Err(format!("unknown argument `{arg}`\n\n{HELP}")),
        }
    }
    if !as_json {
        println!("{HEAD}");
    }
    let quick = budget < Duration::from_millis(100);
    for op in workload::ops() {
        let name = format!("{}/{}", op.workload, op.op);
        // A smoke test need not read 16 MB.
        if !name.contains(&only) || quick && op.bytes > 2 << 20 {
            continue;
        }
        let cost = measure(budget, &*op.run);
        #[expect(clippy::cast_precision_loss, reason = "a reply has fewer bytes than 2^53")]
        let mb_per_s = cost.ops_per_s * op.bytes as f64 / 1e6;
        if as_json {
            let line = json!({
                "who": op.who, "workload": op.workload, "op": op.op, "typed": op.typed, "ops_per_s": cost.ops_per_s,
                "bytes": op.bytes, "mb_per_s": mb_per_s, "allocs": cost.allocs, "peak_bytes": cost.peak_bytes,
            });
            println!("{line}");
        } else {
            println!(
                "{:10} {:28} {:26} {:7} {:>13.1} {:>10.3} {:>9} {:>9.1} {:>7} {:>9}",
                op.who,
                op.workload,
                op.op,
                if op.typed { "typed" } else { "untyped" },
                cost.ops_per_s,
                1e6 / cost.ops_per_s,
                op.bytes,
                mb_per_s,
                cost.allocs,
                cost.peak_bytes
            );
        }
    }
    Ok(())
}

const HEAD: &str = "who        workload                     op                                        ops/s      µs/op     bytes      MB/s  allocs peak bytes";

#!/usr/bin/env bash
# Reads random replies with slips by `imp` and by Python's json_repair (and by jsonrepair-rs), and accounts for every
# disagreement:
#
#     scripts/differential-json.sh [N] [FIRST]
#
# N replies from the one of the number FIRST; 100,000 from 1,000,000 by default. It ends non-zero if a value of ours is
# shown to be right by nothing, or if a reply is refused that says clearly what it means.
#
#     IMP_VENV   where the Python packages are; target/venv-dspy by default
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
count=${1:-100000}
first=${2:-1000000}
python=$("$root/scripts/python-venv.sh")
cargo build -q --release --manifest-path "$root/Cargo.toml" -p imp-tests --bin differential
program=${CARGO_TARGET_DIR:-$root/target}/release/differential

"$program" json draw "$count" "$first" |
    "$python" "$root/tests/scripts/record_json_repair.py" |
    "$program" json judge "$count" "$first"

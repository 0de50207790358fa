#!/usr/bin/env bash
# Reads random replies to random signatures by `imp` in DSPy's dialect and by the real DSPy 3.4.0, and prints the
# disagreements by the quirk that each is:
#
#     scripts/differential-parse.sh [N] [FIRST]
#
# N replies from the one of the number FIRST; 100,000 from 0 by default. It ends non-zero if a disagreement is none of
# the listed quirks (`tests/src/differential/quirks.rs`).
#
#     IMP_VENV   where the Python packages are; target/venv-dspy by default
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
count=${1:-100000}
first=${2:-0}
python=$("$root/scripts/python-venv.sh")
cargo build -q --release --manifest-path "$root/Cargo.toml" -p imp-tests --bin differential
program=${CARGO_TARGET_DIR:-$root/target}/release/differential

"$program" parse draw "$count" "$first" |
    "$python" "$root/tests/scripts/dspy_worker.py" |
    "$program" parse judge "$count" "$first"

#!/usr/bin/env bash
# Sends many calls at once to a server that drops, delays and garbles some of them, and accounts for every one:
#
#     scripts/load.sh [CALLS] [IN_FLIGHT]
#
# 50,000 calls with 64 in flight by default. The server (npm's @copilotkit/aimock, MIT) is installed at the first run.
#
#     IMP_LOAD_SERVER_DIR    where that is; target/load-server by default
#     IMP_LOAD_SERVER_PORT   its port; 18091 by default
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
dir=${IMP_LOAD_SERVER_DIR:-$root/target/load-server}
port=${IMP_LOAD_SERVER_PORT:-18091}

if [ ! -x "$dir/node_modules/.bin/llmock" ]; then
    mkdir -p "$dir"
    (cd "$dir" && npm i --silent --no-fund --no-audit -E @copilotkit/aimock@1.43.0 >/dev/null)
fi
echo '{"fixtures":[{"match":{"userMessage":"hello"},"response":{"content":"Ahoy, this is a reply of some words."}}]}' >"$dir/fixtures.json"
cargo build -q --release --manifest-path "$root/Cargo.toml" -p imp-tests --bin clients

"$dir/node_modules/.bin/llmock" -p "$port" -f "$dir/fixtures.json" \
    --chaos-drop 0.05 --chaos-malformed 0.02 --chaos-disconnect 0.05 --chaos-ratelimit 0.02 >/dev/null 2>&1 </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    curl -s -o /dev/null "http://127.0.0.1:$port/" && break
    sleep 0.1
done
"${CARGO_TARGET_DIR:-$root/target}/release/clients" load "http://127.0.0.1:$port/v1" "${1:-50000}" "${2:-64}"

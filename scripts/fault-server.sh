#!/usr/bin/env bash
# Runs the client against a server that fails on purpose, and prints the server's verdict on how it took that:
#
#     scripts/fault-server.sh
#
# The server (PyPI's llmock, MIT) is installed into a virtual environment at the first run.
#
#     IMP_FAULT_SERVER_DIR    where that is; target/fault-server by default
#     IMP_FAULT_SERVER_PORT   its port; 18092 by default
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
dir=${IMP_FAULT_SERVER_DIR:-$root/target/fault-server}
port=${IMP_FAULT_SERVER_PORT:-18092}
package=llmock==0.2.2

if [ "$(cat "$dir/installed" 2>/dev/null || true)" != "$package" ]; then
    python3 -m venv "$dir"
    "$dir/bin/python" -m pip install -q --disable-pip-version-check "$package"
    echo "$package" >"$dir/installed"
fi
cargo build -q --manifest-path "$root/Cargo.toml" -p imp-tests --bin clients
clients=${CARGO_TARGET_DIR:-$root/target}/debug/clients

"$dir/bin/llmock" serve --host 127.0.0.1 -p "$port" >/dev/null 2>&1 </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
url=http://127.0.0.1:$port
for _ in $(seq 100); do
    curl -s -o /dev/null "$url/_llmock/verdict" && break
    sleep 0.1
done

run() {
    local behaviour=$1
    shift
    curl -s -o /dev/null -X POST "$url/_llmock/scenario" -d "{\"behaviors\":[$behaviour]}"
    printf '%-75s ' "$behaviour $*"
    "$clients" call "$url/v1" "$@" | cut -c1-100
}

run '{"type":"fail","status":429,"retry_after":1,"times":1}'
run '{"type":"fail","status":429,"retry_after":1,"times":1}' --stream
run '{"type":"fail","status":503,"times":1}'
run '{"type":"fail","status":500,"times":2}'
run '{"type":"fail","status":400,"times":1}'
run '{"type":"fail","status":401,"times":1}'
run '{"type":"stream_fault","kind":"disconnect","after_chunks":2,"times":1}' --stream
run '{"type":"stream_fault","kind":"truncate","after_chunks":1,"times":1}' --stream
run '{"type":"stream_fault","kind":"malformed","after_chunks":1,"times":1}' --stream
run '{"type":"stream_fault","kind":"stall","after_chunks":1,"stall_seconds":3,"times":1}' --stream
run '{"type":"slow_first_token","seconds":0.5,"times":1}' --stream
run '{"type":"reply","text":"Ahoy","times":1}' --stream

verdict=$(curl -s "$url/_llmock/verdict?format=text")
echo "$verdict"
for finding in retry_after_ignored retried_non_retryable retry_storm truncated_stream_accepted; do
    if grep -q "$finding" <<<"$verdict"; then
        echo "fault-server.sh: $finding" >&2
        exit 1
    fi
done

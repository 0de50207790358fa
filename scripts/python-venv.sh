#!/usr/bin/env bash
# Prints the path of a Python that has the readers which `imp` is compared with, in the versions that it is compared with:
#
#     python=$(scripts/python-venv.sh)
#
# They are installed at the first run.
#
#     IMP_VENV   where; target/venv-dspy by default
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
venv=${IMP_VENV:-$root/target/venv-dspy}
wanted=(dspy==3.4.0 json_repair==0.64.6 pydantic==2.14.4)

if ! "$venv/bin/python" -c 'import sys
from importlib.metadata import version
sys.exit(any(version(n) != v for n, v in (w.split("==") for w in sys.argv[1:])))' "${wanted[@]}" 2>/dev/null; then
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${wanted[@]}" >&2
fi
echo "$venv/bin/python"

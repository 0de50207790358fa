"""Says what Python's json_repair makes of the mutants of `tests/json_differential.rs`.

    pip install json_repair==0.64.6
    cargo run -q -p imp-tests --bin differential -- json draw 10000 0 | python tests/scripts/record_json_repair.py > tests/data/json_repair.txt

One line for each mutant: empty if the answer is the document that the mutant was made from; `!` if there is none;
`[changed, removed]` if it is an object, what it has otherwise and which keys it lacks; else `{"is": answer}`.
"""

import json
import math
import sys

import json_repair


def plain(value):
    """The value with every float that is a whole number as an integer, as 1 and 1.0 are one number in JSON."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return int(value)
    return value


def same(a, b):
    """Equality that tells 1 from True."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def answer(document, text):
    document = plain(document)
    try:
        value = plain(json_repair.loads(text))
    except (ValueError, RecursionError):
        return "!"
    if value == "":  # What json_repair returns where it finds nothing.
        return "!"
    if same(value, document):
        return ""
    if isinstance(value, dict):
        changed = {key: item for key, item in value.items() if key not in document or not same(item, document[key])}
        value = [changed, [key for key in document if key not in value]]
    else:
        value = {"is": value}
    try:
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        line.encode()
    except ValueError:  # A float that is not finite, half of a character.
        return "!"
    return line


for line in sys.stdin:
    print(answer(*json.loads(line)))

"""Reads replies by the real DSPy: a line of JSON in, a line of JSON out, for the `differential` program.

    differential parse draw N FIRST | python tests/scripts/dspy_worker.py

In: `{"signature", "adapter", "replies": [text…]}`, the signature in the language of the conformance corpus. Out: a list
with what each reply gives: `{"value": {name: value}}` or `{"error", "field"?, "there"?}`; for chat also `sections`, what
each output's section gives alone: `{name: {"text", "python", "value" | "error"}}`, where `python` says that
`ast.literal_eval` reads the text. A value that JSON lacks is `{"$float": "inf"}`, a number beyond 64 bits `{"$int"}`.
"""

import ast
import datetime
import enum
import json
import logging
import math
import sys
import typing
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import dspy  # noqa: E402
import pydantic  # noqa: E402
from dspy.adapters.chat_adapter import ChatAdapter, field_header_pattern  # noqa: E402
from dspy.adapters.json_adapter import JSONAdapter  # noqa: E402
from dspy.adapters.types.reasoning import Reasoning  # noqa: E402
from dspy.adapters.utils import parse_value  # noqa: E402
from dspy.adapters.xml_adapter import XMLAdapter  # noqa: E402

ADAPTERS = {"chat": ChatAdapter(), "json": JSONAdapter(), "xml": XMLAdapter()}
WORDS = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "datetime": datetime.datetime,
    "date": datetime.date,
    "reasoning": Reasoning,
    "any": typing.Any,
}


def python_type(described):
    if isinstance(described, str):
        return WORDS[described]
    ((kind, body),) = described.items()
    match kind:
        case "optional":
            return typing.Optional[python_type(body)]
        case "list":
            return list[python_type(body)]
        case "dict":
            return dict[str, python_type(body)]
        case "literal":
            return typing.Literal[tuple(body)]
        case "union":
            return typing.Union[tuple(python_type(branch) for branch in body)]
        case "enum":
            return enum.Enum(body["name"], [(name, value) for name, value in body["members"]])
        case "object":
            fields = {field["name"]: (python_type(field["type"]), ...) for field in body["fields"]}
            return pydantic.create_model(body["name"], **fields)
    raise ValueError(kind)


def signature(described):
    fields = {"question": (str, dspy.InputField())}
    for field in described["outputs"]:
        fields[field["name"]] = (python_type(field["type"]), dspy.OutputField())
    return dspy.make_signature(fields, "Answer.")


def plain(value):
    match value:
        case Reasoning():
            return value.content
        case pydantic.BaseModel():
            return {name: plain(getattr(value, name)) for name in type(value).model_fields}
        case enum.Enum():
            return plain(value.value)
        case datetime.datetime() | datetime.date():
            return value.isoformat()
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [plain(item) for item in value]
        case float() if not math.isfinite(value):
            return {"$float": repr(value)}
        case int() if not isinstance(value, bool) and abs(value) >= 2**63:
            return {"$int": str(value)}
    return value


def is_python(text):
    try:
        ast.literal_eval(text)
    except Exception:
        return False
    return True


def sections(sig, reply):
    """Where the adapter cuts, and what each section gives alone."""
    found = {}
    name, lines = None, []

    def close():
        if name in sig.output_fields and name not in found:
            text = "\n".join(lines).strip()
            found[name] = {"text": text, "python": is_python(text)}
            try:
                found[name]["value"] = plain(parse_value(text, sig.output_fields[name].annotation))
            except Exception as error:
                found[name]["error"] = type(error).__name__

    for line in reply.splitlines():
        if match := field_header_pattern.match(line.strip()):
            close()
            rest = line[match.end() :].strip()
            name, lines = match.group(1), [rest] if rest else []
        else:
            lines.append(line)
    close()
    return found


def answer(adapter, sig, reply):
    try:
        out = {"value": {name: plain(value) for name, value in adapter.parse(sig, reply).items()}}
    except Exception as error:
        out = {"error": type(error).__name__}
        there = getattr(error, "parsed_result", None)
        if there is not None:
            out["there"] = list(there)
    if isinstance(adapter, ChatAdapter) and type(adapter) is ChatAdapter:
        out["sections"] = sections(sig, reply)
    return out


sys.stdin.reconfigure(encoding="utf-8")
for line in sys.stdin:
    batch = json.loads(line)
    sig = signature(batch["signature"])
    adapter = ADAPTERS[batch["adapter"]]
    # A lone surrogate, which a JSON escape can make, is escaped again.
    print(json.dumps([answer(adapter, sig, reply) for reply in batch["replies"]]), flush=True)

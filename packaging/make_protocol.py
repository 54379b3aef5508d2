"""Write resources/protocol.json from the table of methods (`core.ipc.methods.table`).

    .venv/bin/python packaging/make_protocol.py            write it
    .venv/bin/python packaging/make_protocol.py --check    end with 1 where it is out of date

Run it after every change of a method, then `packaging/make_reference.py`. Must not do: say anything of a method
that is not in its entry.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.ipc.methods.connection import PREAMBLE
from core.ipc.methods.definition.entry import (
    SHARED,
    UNPUBLISHED,
    ChannelParams,
    Entry,
    ExtrasParams,
    NoChannelParams,
    Params,
)
from core.ipc.methods.table import METHODS, read_definitions

ROOT = Path(__file__).resolve().parent.parent
PROTOCOL = ROOT / "resources" / "protocol.json"
_WIDTH = 120
_LAST = (ExtrasParams, ChannelParams, NoChannelParams)
"""Bases whose parameters are told behind a method's own."""

_ORDER = (
    "$ref", "type", "enum", "const", "anyOf", "properties", "items", "minLength", "maxLength", "minItems", "maxItems",
    "maxProperties", "minimum", "maximum", "pattern", "additionalProperties", "required", "default", "description",
)  # fmt: skip
"""The order of a schema's keywords, in which they are checked: what is told first is the coarser fault."""

Schema = dict[str, Any]


class Document:
    """The protocol, and the definitions that its parameters share."""

    def __init__(self) -> None:
        self._shared: dict[str, Schema] = {}

    def build(self) -> Schema:
        """The whole content of `resources/protocol.json`."""
        methods = {name: self._method(entry) for name, entry in METHODS.items()}
        whole: Schema = _plain({**PREAMBLE, "$defs": self._shared | dict(read_definitions()), "methods": methods})
        return whole

    def _method(self, entry: Entry) -> Schema:
        told: Schema = {"about": entry.about, "who": entry.who, "effect": entry.effect, "grants": entry.grants}
        if entry.aliases:
            told["aliases"] = entry.aliases
        told |= {name: True for name in ("search", "long") if getattr(entry, name)}
        if entry.paged is not None:
            told["paged"] = entry.paged
        return told | {
            "params": self._params(entry.params),
            "result": entry.result,
            "errors": [code.value for code in entry.errors],
        }

    def _params(self, model: type[Params]) -> Schema:
        schema = model.model_json_schema()
        parts = schema.get("$defs", {})
        told = self._object(schema, parts)
        last = [name for base in _LAST if issubclass(model, base) for name in _fields_of(base)]
        told["properties"] = {
            name: told["properties"][name]
            for name in [*(name for name in told["properties"] if name not in last), *last]
        }
        return told

    def _object(self, schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Schema:
        """A model: its members, which of them must be there, and none beside them."""
        told: Schema = {
            "type": "object",
            "properties": {
                name: self._published(member, parts) for name, member in schema.get("properties", {}).items()
            },
            "additionalProperties": False,
        }
        return told | {"required": schema["required"]} if "required" in schema else told

    def _published(self, schema: Mapping[str, Any], parts: Mapping[str, Any]) -> Schema:
        """What is told of a parameter: without titles and with shared definitions by their names."""
        beside = {key: schema[key] for key in ("default", "description") if key in schema}
        if UNPUBLISHED in schema or beside.get("default", ...) is None:
            beside.pop("default", None)
        if SHARED in schema:
            self._shared[schema[SHARED]] = self._published(schema["schema"], parts)
            return {"$ref": f"#/$defs/{schema[SHARED]}"} | beside
        if "$ref" in schema:
            return self._object(parts[schema["$ref"].rpartition("/")[2]], parts) | beside
        if "anyOf" in schema:
            choices = [self._published(one, parts) for one in schema["anyOf"] if one != {"type": "null"}]
            return (choices[0] if len(choices) == 1 else {"anyOf": choices}) | beside
        told = {key: value for key, value in schema.items() if key not in ("title", UNPUBLISHED, *beside, "default")}
        if "enum" in told or "const" in told:
            told.pop("type")
        for key in ("items", "additionalProperties"):
            if isinstance(told.get(key), Mapping):
                told[key] = self._published(told[key], parts)
        if told.get("additionalProperties") is True:
            del told["additionalProperties"]
        told |= beside
        return {key: told[key] for key in sorted(told, key=_ORDER.index)}


def _fields_of(base: type[Params]) -> list[str]:
    """The parameters that a base brings itself."""
    return [name for name in base.model_fields if name in base.__annotations__]


def _plain(value: object) -> Any:
    """Mappings as objects, sequences as lists."""
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def written(value: object, indent: int = 0, before: int = 0) -> str:
    """JSON with what fits into a line on one line.

    Args:
        indent: blanks before its lines.
        before: characters before it on its own line.

    Returns:
        Its text, the first line without the blanks.
    """
    short = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or before + len(short) < _WIDTH - 1:
        return short
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        heads = {key: f"{json.dumps(key, ensure_ascii=False)}: " for key in value}
        rows = [head + written(value[key], indent + 2, indent + 2 + len(head)) for key, head in heads.items()]
        marks = "{}"
    else:
        rows = [written(one, indent + 2, indent + 2) for one in value]
        marks = "[]"
    return f"{marks[0]}\n{inner}" + f",\n{inner}".join(rows) + f"\n{' ' * indent}{marks[1]}"


def text() -> str:
    """What `resources/protocol.json` holds."""
    return written(Document().build()) + "\n"


def main() -> int:
    """Write the file, or check it."""
    made = text()
    if "--check" in sys.argv[1:]:
        return int(PROTOCOL.read_text("utf-8") != made)
    PROTOCOL.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

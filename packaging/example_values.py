"""Examples made from JSON schemas: small, valid, the same every time.

Values stand in `resources/reference/socket.json` by the name of their member; what has no value there gets the
smallest one its schema allows. Must not do: read the schemas' file, or make what its schema refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_DEPTH = 6


class Examples:
    """Makes examples of one document of schemas."""

    def __init__(self, defs: Schema, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Make a maker.

        Args:
            defs: the document's `$defs`.
            values: under `*` values by name, under `<method>.params` or `<method>.result` those of one place.
        """
        self._defs = defs
        self._values = values

    def of(self, schema: Schema, place: str) -> Any:
        """An example of a schema: what it requires, and nothing else.

        Args:
            schema: an object's.
            place: `<method>.params` or `<method>.result`.

        Returns:
            A value that the schema allows.
        """
        known = {**self._values["*"], **self._values.get(place, {})}
        return self._value("", schema, known, 0)

    def resolved(self, schema: Schema) -> Schema:
        """A schema with its reference followed; what stands beside the reference goes before.

        Returns:
            One without `$ref` at its head.
        """
        found = schema
        while "$ref" in found:
            beside = {name: value for name, value in found.items() if name != "$ref"}
            found = {**self._defs[str(found["$ref"]).rpartition("/")[2]], **beside}
        return self._united(found) if "allOf" in found else found

    def _united(self, schema: Schema) -> Schema:
        """One object's schema for several that all hold."""
        parts = [schema, *(self.resolved(one) for one in schema["allOf"])]
        return {
            "type": "object",
            "properties": {name: one for part in parts for name, one in part.get("properties", {}).items()},
            "required": list(dict.fromkeys(name for part in parts for name in part.get("required", ()))),
        }

    def _value(self, name: str, schema: Schema, known: Mapping[str, Any], depth: int) -> Any:
        found = self.resolved(schema)
        if name in known and self._fits(known[name], found):
            return known[name]
        for alternatives in ("anyOf", "oneOf"):
            if alternatives in found:
                return self._value(name, found[alternatives][0], known, depth)
        if "const" in found or "enum" in found:
            return found.get("const", (found.get("enum") or [None])[0])
        return self._plain(name, found, known, depth)

    def _plain(self, name: str, schema: Schema, known: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type", "object" if schema else "string")
        first = kind if isinstance(kind, str) else kind[0]
        if first == "object":
            inner = schema.get("properties", {})
            required = schema.get("required", ()) if depth < _DEPTH else ()
            return {one: self._value(one, inner.get(one, {}), known, depth + 1) for one in required}
        if first == "array":
            return self._list(name, schema, known, depth)
        if first == "string":
            return _text(schema)
        if first in ("integer", "number"):
            return max(1, schema.get("minimum", 1)) if schema.get("maximum", 1) >= 1 else schema.get("minimum", 0)
        return False if first == "boolean" else None

    def _list(self, name: str, schema: Schema, known: Mapping[str, Any], depth: int) -> list[Any]:
        items = schema.get("items")
        wanted = schema.get("minItems", 0)
        if items is None:
            return []
        if not wanted and name not in ("items", "entries", "conflicts", "versions", "candidates"):
            return []
        return [self._value("", items, known, depth + 1)]

    def _fits(self, value: Any, schema: Schema) -> bool:
        """Whether a known value is of the kind that is asked for here; the test checks the whole."""
        for alternatives in ("anyOf", "oneOf"):
            if alternatives in schema:
                return any(self._fits(value, self.resolved(one)) for one in schema[alternatives])
        if "enum" in schema:
            return value in schema["enum"]
        if "const" in schema:
            return bool(value == schema["const"])
        if isinstance(value, str) and re.search(schema.get("pattern", ""), value) is None:
            return False
        if isinstance(value, str) and not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**6):
            return False
        kinds = schema.get("type")
        return kinds is None or _kind(value) in ([kinds] if isinstance(kinds, str) else kinds)


def _text(schema: Schema) -> str:
    least = int(schema.get("minLength", 1))
    return "…" if least <= 1 and "pattern" not in schema else "a" * max(1, least)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    named = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return named[type(value)]

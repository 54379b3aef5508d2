"""The schemas of answers, in few words: a record of named members, a list, a text.

They are published in `resources/protocol.json`; no answer is checked against them while Loci runs. Must not do: know a
method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def record(members: Mapping[str, Schema], about: str = "", *, is_open: bool = False) -> Schema:
    """An object.

    Args:
        members: name to schema; a name that ends in `?` may be missing.
        about: what it is.
        is_open: whether it may have other members as well.
    """
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name.removesuffix("?"): member for name, member in members.items()},
    }
    if not is_open:
        schema["additionalProperties"] = False
    schema["required"] = [name for name in members if not name.endswith("?")]
    return _described(schema, about)


def ref(name: str, about: str = "") -> Schema:
    """A definition that is shared, by its name in `$defs`."""
    return _described({"$ref": f"#/$defs/{name}"}, about)


def text(about: str = "", *, null: bool = False) -> Schema:
    """A text; with `null` also null."""
    return _described({"type": ["string", "null"] if null else "string"}, about)


def whole(about: str = "", *, least: int | None = None, most: int | None = None, null: bool = False) -> Schema:
    """A whole number within bounds; with `null` also null."""
    schema: dict[str, Any] = {"type": ["integer", "null"] if null else "integer"}
    return _described(schema | _bounds(least, most), about)


def number(about: str = "", *, least: int | None = None) -> Schema:
    """A number."""
    return _described({"type": "number"} | _bounds(least, None), about)


def flag(about: str = "") -> Schema:
    """True or false."""
    return _described({"type": "boolean"}, about)


def anything(about: str = "", *, null: bool = False) -> Schema:
    """An object whose members are not told; with `null` also null."""
    return _described({"type": ["object", "null"] if null else "object"}, about)


def one_of(*choices: str, about: str = "") -> Schema:
    """One of several words."""
    return _described({"enum": list(choices)}, about)


def always(value: Any, about: str = "") -> Schema:
    """One value and no other."""
    return _described({"const": value}, about)


def maybe(schema: Schema, about: str = "") -> Schema:
    """A schema, or null."""
    return either(schema, {"type": "null"}, about=about)


def either(*schemas: Schema, about: str = "") -> Schema:
    """One of several schemas."""
    return _described({"anyOf": list(schemas)}, about)


def both(*schemas: Schema) -> Schema:
    """All of several schemas at once."""
    return {"allOf": list(schemas)}


def many(schema: Schema, about: str = "", *, most: int | None = None) -> Schema:
    """A list."""
    return _described({"type": "array", "items": schema} | ({} if most is None else {"maxItems": most}), about)


def mapping(schema: Schema, about: str = "") -> Schema:
    """An object whose keys are not known beforehand."""
    return _described({"type": "object", "additionalProperties": schema}, about)


def _bounds(least: int | None, most: int | None) -> dict[str, int]:
    return {key: bound for key, bound in (("minimum", least), ("maximum", most)) if bound is not None}


def _described(schema: Mapping[str, Any], about: str) -> Schema:
    return {**schema, "description": about} if about else schema

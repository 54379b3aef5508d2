"""Tools as they are derived from the methods of `resources/protocol.json`: names, descriptions, schemas, hints.

A method that is added there is a tool of the full profile without a line here. Must not do: check arguments; the engine
does, and it knows aliases that stand in no schema. Must not import the SDK: the installer counts tools too.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.mcp.words import protocol, words

PROFILES = ("lean", "full")
_BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One method as an assistant sees it.

    Attributes:
        name: as it is called.
        title: its name as words.
        about: what it is for.
        schema: of its arguments; no references.
        result: of its structured result; None where it is left out to save tokens.
        reads: whether it changes nothing.
        destroys: whether it takes something out of sight or changes what stands; all of it can be undone by the person.
        takes_request_id: whether it can be made idempotent.
    """

    name: str
    title: str
    about: str
    schema: Mapping[str, Any]
    result: Mapping[str, Any] | None
    reads: bool
    destroys: bool
    takes_request_id: bool

    @property
    def repeatable(self) -> bool:
        """Whether a call may be sent a second time."""
        return self.reads or self.takes_request_id

    def arguments(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments as they are sent on.

        Args:
            given: as the assistant gave them.

        Returns:
            The same; a writing call that may have a `request_id` gets one of its own, so that it can be repeated.
        """
        found = dict(given or {})
        if self.takes_request_id and not self.reads:
            found.setdefault("request_id", secrets.token_hex(16))
        return found


def offered(profile: str) -> dict[str, Tool]:
    """The tools of a profile.

    Args:
        profile: `lean` or `full`.

    Returns:
        By name, in the order of the protocol; only methods that exist.
    """
    chosen = words()["profiles"][profile]
    methods = {name: body for name, body in protocol()["methods"].items() if body["who"] == "client"}
    if profile == "full":
        return {name: _full(name, body) for name, body in methods.items()}
    return {name: _lean(name, methods[name], more) for name, more in chosen.items() if name in methods}


def _full(name: str, body: Mapping[str, Any]) -> Tool:
    return _tool(name, body, body["about"], inlined(body["params"]), inlined(body["result"]))


def _lean(name: str, body: Mapping[str, Any], more: Mapping[str, Any]) -> Tool:
    """A tool whose schema says what an assistant needs; the engine still takes and checks everything."""
    params, shown = body["params"], frozenset(more["show"]) | frozenset(body["params"].get("required", ()))
    kept = {key: value for key, value in params.get("properties", {}).items() if key in shown}
    schema = _unbounded(inlined({**params, "properties": kept}))
    for key in more.get("plain", ()):
        if key in kept:
            schema["properties"][key].pop("description", None)
    return _tool(name, body, more.get("about", body["about"]), schema, None)


def _tool(
    name: str, body: Mapping[str, Any], about: str, schema: Mapping[str, Any], result: Mapping[str, Any] | None
) -> Tool:
    return Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        about=about,
        schema=schema,
        result=result,
        reads=body["effect"] == "read",
        destroys=name in words()["destructive"],
        takes_request_id="request_id" in body["params"].get("properties", {}),
    )


def inlined(schema: Any) -> Any:
    """A schema without references: assistants do not resolve them all.

    Args:
        schema: of `resources/protocol.json`; its definitions do not refer to themselves.

    Returns:
        The same with each definition in its place.
    """
    if isinstance(schema, list):
        return [inlined(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: inlined(value) for key, value in schema.items() if key != "$ref"}
    if "$ref" not in schema:
        return own
    return {**inlined(protocol()["$defs"][str(schema["$ref"]).rsplit("/", 1)[1]]), **own}


def _unbounded(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_unbounded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _unbounded(value) for key, value in schema.items() if key not in _BOUNDS}

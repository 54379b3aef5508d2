"""Tools as they are derived from the methods of `resources/protocol.json`: names, descriptions, schemas, hints.

A method that is added there is a tool of the full profile without a line here. A tool's definition is read by a model
in every conversation, so it says each thing once and in few words. Must not do: check arguments; the engine does, and
it knows aliases that stand in no schema. Must not import the SDK: the installer counts tools too.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.mcp.messages import load_protocol, load_words

LEAN, STANDARD, FULL = PROFILES = ("lean", "standard", "full")
MOST_BUDGET = 7_500
"""Tokens a packed context may have here, so that the whole result keeps its bound."""

_BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One method as an assistant sees it.

    Attributes:
        name: as it is called.
        about: what it is for.
        schema: of its arguments; no references, and no bounds of texts and lists, which the engine tells when they
            are passed.
        reads: whether it changes nothing.
        destroys: whether it takes something out of sight or changes what stands; all of it can be undone by the person.
        takes_request_id: whether it can be made idempotent.
    """

    name: str
    about: str
    schema: Mapping[str, Any]
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
            The same, with a token budget within what a result may have; a writing call that may have a `request_id`
            gets one of its own, so that it can be repeated.
        """
        found = dict(given or {})
        budget = found.get("token_budget")
        if isinstance(budget, int | float) and budget > MOST_BUDGET:
            found["token_budget"] = MOST_BUDGET
        if self.takes_request_id and not self.reads:
            found.setdefault("request_id", secrets.token_hex(16))
        return found


def list_tools(profile: str) -> dict[str, Tool]:
    """The tools of a profile, as they are listed.

    Args:
        profile: one of `PROFILES`.

    Returns:
        By name; only methods that exist.
    """
    profiles = load_words()["profiles"]
    if profile == FULL:
        return {name: tool for name, tool in callable_tools(FULL).items() if name not in load_words()["twins"]}
    shown = profiles[LEAN] | (profiles[STANDARD] if profile == STANDARD else {})
    methods = _read_methods()
    return {name: _make_tool(name, methods[name], frozenset(names)) for name, names in shown.items() if name in methods}


def callable_tools(profile: str) -> dict[str, Tool]:
    """The tools a call may name: those of the profile, and in the full one the twins that it does not list.

    Args:
        profile: one of `PROFILES`.

    Returns:
        By name; only methods that exist.
    """
    if profile != FULL:
        return list_tools(profile)
    return {name: _make_tool(name, body, None) for name, body in _read_methods().items()}


def common_words(profile: str) -> str:
    """What is said once of parameters that many tools of a profile have; "" for `lean`, where it is never needed.

    Args:
        profile: one of `PROFILES`.
    """
    if profile == LEAN:
        return ""
    shown = {name for tool in list_tools(profile).values() for name in tool.schema["properties"]}
    return " ".join(said for name, said in load_words()["common"].items() if name in shown)


def _read_methods() -> dict[str, Any]:
    left_out = load_words()["left_out"]["tools"]
    return {
        name: body
        for name, body in load_protocol()["methods"].items()
        if body["who"] == "client" and name not in left_out
    }


def _make_tool(name: str, body: Mapping[str, Any], shown: frozenset[str] | None) -> Tool:
    """A tool that shows some parameters of its method, or all; the engine still takes and checks everything."""
    params, needed = body["params"], body["params"].get("required", ())
    left_out = load_words()["left_out"]["parameters"]
    kept = {
        key: _describe_parameter(name, key, value)
        for key, value in params.get("properties", {}).items()
        if key not in left_out and (shown is None or key in shown or key in needed)
    }
    return Tool(
        name=name,
        about=load_words()["tools"].get(name, body["about"]),
        schema={**params, "properties": kept},
        reads=body["effect"] == "read",
        destroys=name in load_words()["destructive"],
        takes_request_id="request_id" in params.get("properties", {}),
    )


def _describe_parameter(tool: str, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter's schema with the description that an assistant reads."""
    found: dict[str, Any] = _remove_bounds(inline_references(schema))
    told = load_words()["parameters"]
    about = told.get(f"{tool}.{name}", told.get(name, found.get("description", "")))
    found.pop("description", None)
    return {**found, "description": about} if about else found


def inline_references(schema: Any) -> Any:
    """A schema without references: assistants do not resolve them all.

    Args:
        schema: of `resources/protocol.json`; its definitions do not refer to themselves.

    Returns:
        The same with each definition in its place.
    """
    if isinstance(schema, list):
        return [inline_references(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: inline_references(value) for key, value in schema.items() if key != "$ref"}
    if "$ref" not in schema:
        return own
    return {**inline_references(load_protocol()["$defs"][str(schema["$ref"]).rsplit("/", 1)[1]]), **own}


def _remove_bounds(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_remove_bounds(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _remove_bounds(value) for key, value in schema.items() if key not in _BOUNDS}

"""The words of `loci mcp`, from `resources/mcp`; and the methods, from `resources/protocol.json`.

Must not do: know any method by name.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load_protocol() -> dict[str, Any]:
    """The list of methods; read here as plain JSON, for the checking of parameters is the engine's."""
    return _read_words("protocol.json")


@cache
def load_words() -> dict[str, Any]:
    """Sentences, descriptions and profiles of the MCP server."""
    return _read_words("mcp/words.json")


@cache
def load_assistants() -> dict[str, Any]:
    """Assistants whose configuration is known."""
    return dict(_read_words("mcp/clients.json")["clients"])


@cache
def load_hooks() -> dict[str, Any]:
    """Assistants that call a program when something was said."""
    return dict(_read_words("mcp/hooks.json")["hooks"])


def format_sentence(name: str, /, **given: str) -> str:
    """A sentence for a person or an assistant.

    Args:
        given: what stands in its braces.

    Returns:
        One or two sentences.
    """
    return str(load_words()["sentences"][name]).format(**given)


def _read_words(path: str) -> dict[str, Any]:
    found = json.loads(files("resources").joinpath(*path.split("/")).read_text("utf-8"))
    return dict(found)

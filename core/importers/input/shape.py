"""Which keys a JSON head shows and where, even when it is cut in the middle of its first record.

Must not do: parse values, recurse, raise for what it meets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.importers.input.source import SourceFile
from core.importers.input.streams import head_text

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"|[\[\]{}:,]', re.DOTALL)
_MAX_DEPTH = 64


def key_paths(text: str) -> Mapping[str, frozenset[str]]:
    """The keys of every object in a JSON text that may be cut anywhere.

    Args:
        text: the beginning of a JSON document; of a JSONL file only the first line tells anything.

    Returns:
        Path to keys. The object at the top has the path "", one in an array at the top "[]", one under a key
        "key" (`conversations[].mapping`). Empty where the text does not begin as an object or array.
    """
    found: dict[str, set[str]] = {}
    stack: list[tuple[str, str]] = []  # bracket, path
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return {}
    key, awaiting_key = "", False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            if len(stack) >= _MAX_DEPTH:
                break
            stack.append((mark, _path(stack, key)))
            awaiting_key = mark == "{"
        elif mark in ("}", "]"):
            if not stack:
                break
            stack.pop()
            awaiting_key = False
            if not stack:
                break
        elif mark == ",":
            awaiting_key = bool(stack) and stack[-1][0] == "{"
        elif mark != ":" and awaiting_key:
            key, awaiting_key = token[1], False
            found.setdefault(stack[-1][1], set()).add(key)
    return {path: frozenset(keys) for path, keys in found.items()}


def _path(stack: list[tuple[str, str]], key: str) -> str:
    if not stack:
        return ""
    bracket, path = stack[-1]
    if bracket == "[":
        return path + "[]"
    return f"{path}.{key}" if path else key


def head_keys(file: SourceFile) -> Mapping[str, frozenset[str]]:
    """`key_paths` of a file's first 64 KiB.

    Args:
        file: any file of a bundle.
    """
    return key_paths(head_text(file))

"""What the first 64 KiB of a file tell about it: JSON items and keys, text or not. Shared by the formats' detection.

Keys are found even where the head is cut in the middle of its first record. Must not do: read further than the head,
raise or recurse for what it meets there, or go by a file's extension.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from core.importers.input.array_stream import ValueReader, array_elements, parse_bytes
from core.importers.input.encodings import UTF16_MARKS, utf8_chunks
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, parse_json_text, read_head, read_head_text

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
    return key_paths(read_head_text(file))


HEAD = 65536
_MOST_ITEMS = 50
_MOST_KEYS = 200

_KEYED = re.compile(r'\s*(?:\[\s*)*\{\s*"(?:[^"\\]|\\.)*"\s*(?::|$)')
_BRACKETS = re.compile(r"\s*(?:[\[{]\s*){8}")

_CONTROLS = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS = 0.1
_MAGIC = (
    b"PK\x03\x04",
    b"%PDF-",
    b"\x7fELF",
    b"\x1f\x8b",
    b"SQLite format 3\x00",
    b"\x89PNG",
    b"GIF8",
    b"RIFF",
    b"bplist",
    b"{\\rtf",
)


def visible_files(bundle: Bundle) -> list[SourceFile]:
    """A bundle's files without hidden ones and those in hidden folders; a single file is always visible."""
    if bundle.kind == "file":
        return list(bundle.files)
    return [file for file in bundle.files if not is_hidden(file.name)]


def is_hidden(name: str) -> bool:
    """Whether a path leads through something hidden, or through what macOS adds to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def items_in_head(file: SourceFile, prefixes: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """The objects that stand whole in the head, in the arrays at the prefixes.

    Args:
        file: any file.
        prefixes: as for `iter_json_array`.

    Returns:
        At most fifty objects; none where the head is no JSON.
    """
    found: list[Mapping[str, Any]] = []
    try:
        for parsed in array_elements(_chunks(file), prefixes):
            if isinstance(parsed.value, Mapping):
                found.append(parsed.value)
            if len(found) >= _MOST_ITEMS:
                break
    except BadJson:
        return found
    return found


def keys_in_head(file: SourceFile) -> list[str]:
    """The keys of the object that opens the file, as far as the head shows them; the last one's value may be cut."""
    reader = ValueReader(_chunks(file))
    keys: list[str] = []
    try:
        if reader.peek() != b"{":
            return keys
        while len(keys) < _MOST_KEYS and reader.peek() in (b"{", b","):
            reader.skip()
            key = parse_bytes(reader.take(1)).value
            if not isinstance(key, str) or reader.peek() != b":":
                break
            keys.append(key)
            reader.skip()
            parse_bytes(reader.take(1))
    except BadJson:
        return keys
    return keys


def _chunks(file: SourceFile) -> Any:
    return utf8_chunks(BytesIO(read_head(file, HEAD)))


def looks_like_json(text: str) -> bool:
    """Whether a text is JSON rather than prose that begins with a bracket (`[07:10] Fog`, `[[Note]]`).

    Args:
        text: the head of a file, decoded.
    """
    stripped = text.lstrip("\ufeff \t\r\n")
    if not stripped.startswith(("{", "[")):
        return False
    if _KEYED.match(stripped) or _BRACKETS.match(stripped):
        return True
    try:
        parse_json_text(stripped)
    except BadJson:
        return False
    return True


def is_binary(raw: bytes) -> bool:
    """Whether bytes are something other than text.

    Text is UTF-16 with a mark, or UTF-8 with few control characters (a NUL here and there is kept), or Windows-1252
    without NUL.

    Args:
        raw: the head of a file, possibly cut inside a character.
    """
    if raw.startswith(UTF16_MARKS):
        return False
    if raw.startswith(_MAGIC):
        return True
    controls = len(_CONTROLS.findall(raw.decode("latin-1")))
    if controls > len(raw) * _MOST_CONTROLS and controls > 1:
        return True
    # A character takes four bytes at most, so a cut one leaves at most three.
    return b"\x00" in raw and not any(_is_utf8(raw[: len(raw) - cut]) for cut in range(min(4, len(raw))))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

"""JSON as the standard has it: no NaN, no endless depth, no half characters. No I/O.

Must not do: put any of the parsed text into an error.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

MAX_DEPTH = 512

_BRACKETS = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+(.?)', re.DOTALL)
_SURROGATE_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadJson(Exception):  # noqa: N818 - the room's contract names it so
    """A text is not JSON.

    Attributes:
        reason: why, in words, never with any of the text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MendedText(str):
    """A string in which lone surrogates were replaced, so that a message can be flagged exactly.

    Attributes:
        replaced: how many.
    """

    __slots__ = ("replaced",)
    replaced: int

    @staticmethod
    def of(text: str, replaced: int) -> MendedText:
        """Mark a mended text.

        Args:
            text: the text after the repair.
            replaced: how many characters were replaced.

        Returns:
            The same text with its count.
        """
        marked = MendedText(text)
        marked.replaced = replaced
        return marked


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """A parsed value.

    Attributes:
        value: what json.loads gives; strings that were mended are `MendedText`.
        surrogates: how many lone surrogates became U+FFFD.
        flags: how the bytes were read: `encoding_guessed`, `encoding_replaced`.
    """

    value: Any
    surrogates: int
    flags: frozenset[str] = frozenset()


def mended_count(text: object) -> int:
    """How many lone surrogates were replaced in a parsed string.

    Args:
        text: any parsed value.

    Returns:
        The count; 0 for anything that was not mended.
    """
    return text.replaced if isinstance(text, MendedText) else 0


def _join_pair(match: re.Match[str]) -> str:
    high, low = ord(match[1]), ord(match[2])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def replace_surrogates(text: str) -> tuple[str, int]:
    """Replace each lone surrogate by U+FFFD; two halves that meet in order are joined to their character.

    Returns:
        The text and how many surrogates were replaced.
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text, 0
    return _SURROGATE.subn("�", _SURROGATE_PAIR.sub(_join_pair, text))


def parse_json_text(text: str) -> ParsedJson:
    """Parse one JSON text strictly.

    Duplicate keys: the last wins. Numbers too large for a float are refused like Infinity.

    Args:
        text: the whole text; white space around it is allowed.

    Returns:
        The value, every lone surrogate in it replaced by U+FFFD and counted.

    Raises:
        BadJson: it is not JSON, holds NaN or Infinity, or is nested deeper than 512 levels.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(text):
        raise BadJson(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise BadJson("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        # `from None`: the decoder's error carries the whole text and would show it in a traceback.
        raise BadJson(f"it breaks off or is malformed near character {error.pos}") from None
    except ValueError:
        raise BadJson("a number in it is too long") from None
    if _ESCAPED_SURROGATE.search(text) or _SURROGATE.search(text):
        value, count = _mend(value)
        return ParsedJson(value, count)
    return ParsedJson(value, 0)


def _refuse_constant(_name: str) -> NoReturn:
    raise BadJson("it holds NaN or Infinity, which JSON does not have")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadJson("a number in it is out of range")
    return number


def _too_deep(text: str) -> bool:
    depth, at = 0, 0
    while match := _BRACKETS.match(text, at):
        mark = match[1]
        if mark and mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark and mark in "]}":
            depth -= 1
        else:
            return False  # the end, or a string that never ends: json.loads says what is wrong
        at = match.end()
    return False


def _mend(root: Any) -> tuple[Any, int]:
    """Replace lone surrogates everywhere in a parsed tree, in place and without recursion."""
    holder = [root]
    total = 0
    stack: list[Any] = [holder]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            total += _mend_keys(node)
        for key, value in list(node.items()) if isinstance(node, dict) else enumerate(node):
            if isinstance(value, str):
                fixed, count = replace_surrogates(value)
                if count or len(fixed) != len(value):
                    node[key] = MendedText.of(fixed, count) if count else fixed
                    total += count
            elif isinstance(value, dict | list):
                stack.append(value)
    return holder[0], total


def _mend_keys(node: dict[str, Any]) -> int:
    if not any(_SURROGATE.search(key) for key in node):
        return 0
    total = 0
    items = list(node.items())
    node.clear()
    for key, value in items:
        fixed, count = replace_surrogates(key)
        node[fixed] = value
        total += count
    return total

"""JSON as a stranger may send it: one object, nothing ambiguous, nothing endless. No I/O.

Must not do: put any of the text into an error; mend what is wrong.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from core.errors import Code, UserError

MAX_DEPTH = 16
REPLY_DEPTH = 128
MAX_DIGITS = 19

# One step over everything up to the next bracket that stands outside a string. Possessive, so linear on any input.
_STEP = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}]?)', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadMessage(UserError):  # noqa: N818 - the design's name for it
    """A line is not a message.

    Attributes:
        ident: the request's id where it could be read; None otherwise.
    """

    def __init__(self, reason: str, ident: str | int | None = None) -> None:
        super().__init__(Code.MALFORMED_MESSAGE, reason)
        self.ident = ident


def parse(line: bytes, *, is_reply: bool = False) -> dict[str, Any]:
    """Read one JSON object.

    Args:
        line: UTF-8 bytes without the line end; the caller has capped their number.
        is_reply: an answer of the server holds what an import brought: NUL and integers of any length pass, and it may
            be nested deeper.

    Returns:
        The object.

    Raises:
        BadMessage: not UTF-8, not JSON, not an object, a key twice, NaN or Infinity, an integer of more than 19 digits,
            too deep, NUL or a lone surrogate. The reason holds none of the text.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise BadMessage("The message is not UTF-8.") from None
    _check_depth(text, REPLY_DEPTH if is_reply else MAX_DEPTH)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_constant=_refuse_constant,
            parse_int=int if is_reply else _short_int,
            parse_float=_finite,
        )
    except BadMessage:
        raise
    except (ValueError, RecursionError):
        raise BadMessage("The message is not JSON.") from None
    if not isinstance(value, dict):
        raise BadMessage("The message is not a JSON object.")
    check_text(value, keep_nul=is_reply)
    return value


def check_text(value: object, *, keep_nul: bool = False) -> None:
    """Refuse NUL and lone surrogates in every key and string of a tree.

    Args:
        value: a parsed JSON value of limited depth.
        keep_nul: let NUL characters pass.

    Raises:
        BadMessage: one was found.
    """
    pending: list[object] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            _check_string(node, keep_nul=keep_nul)
        elif isinstance(node, dict):
            pending.extend(node.keys())
            pending.extend(node.values())
        elif isinstance(node, list | tuple):
            pending.extend(node)


def _check_string(text: str, *, keep_nul: bool) -> None:
    if "\0" in text and not keep_nul:
        raise BadMessage("A text holds a NUL character; remove it and try again.")
    if not text.isascii() and _SURROGATE.search(text):
        raise BadMessage("A text holds half of a character (a lone surrogate); send valid Unicode.")


def _check_depth(text: str, deepest: int) -> None:
    depth, at = 0, 0
    while match := _STEP.match(text, at):
        bracket = match[1]
        if not bracket:
            return  # the end, or a string that never ends: json.loads says so
        depth += 1 if bracket in "[{" else -1
        if depth > deepest:
            raise BadMessage(f"The message is nested deeper than {deepest}.")
        at = match.end()


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadMessage("The message names a key twice.")
    return found


def _refuse_constant(_name: str) -> NoReturn:
    raise BadMessage("The message holds NaN or Infinity.")


def _short_int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise BadMessage(f"The message holds an integer of more than {MAX_DIGITS} digits.")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadMessage("The message holds a number that is too large.")
    return number

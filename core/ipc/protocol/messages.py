"""JSON-RPC 2.0 messages as values and as lines: strictly read, and with text of strangers made fit to be shown.

Light: the client library imports this and no schema machinery. Must not do: know any method, mend what is wrong, put
anything but a code and one sentence into an error.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeGuard

from core.errors import (
    BugError,
    CancelledError,
    Code,
    EnvironmentFaultError,
    IntegrityError,
    LociError,
    PreconditionError,
    UserError,
)

PROTOCOL = 1
LINE_BYTES = 256 * 1024  # a whole line with its end, both ways
MAX_ID = 64

Ident = str | int

_RPC = {
    Code.MALFORMED_MESSAGE: -32600,
    Code.UNKNOWN_METHOD: -32601,
    Code.INVALID_INPUT: -32602,
    Code.FORBIDDEN_FIELD: -32602,
    Code.TEXT_TOO_LARGE: -32602,
    Code.BUG: -32603,
}
_OTHER = -32000
_ENVIRONMENT = frozenset(
    {Code.DISK_FULL, Code.WRITE_FAILED, Code.VAULT_BUSY, Code.KEYRING_UNAVAILABLE, Code.READ_ONLY, Code.NOT_HERE}
)
_INTEGRITY = frozenset({Code.VAULT_DAMAGED, Code.KEY_FILE_DAMAGED, Code.VAULT_REPLACED, Code.OLDER_VAULT})
_SENTENCE = 500
_TOP = frozenset({"jsonrpc", "id", "method", "params"})


NAME_CHARACTERS = 40  # reliability study, C 33
_MARKUP = frozenset("<>&\\")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


MAX_DEPTH = 16
REPLY_DEPTH = 128
MAX_DIGITS = 19

# One step over everything up to the next bracket that stands outside a string. Possessive, so linear on any input.
_STEP = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{}]?)', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class RateLimitedError(UserError):
    """Too many calls within a time; what waits for the person instead is a plain error of the same code.

    Attributes:
        retry_after: seconds until the next one is allowed.
    """

    def __init__(self, sentence: str, retry_after: float) -> None:
        super().__init__(Code.RATE_LIMITED, sentence)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        ident: the caller's id of the call.
        method: the method's name, not yet looked up.
        params: the parameters, not yet checked.
    """

    ident: Ident
    method: str
    params: dict[str, Any]


def read_request(line: bytes) -> Request:
    """Read one line as a call.

    Args:
        line: without the line end.

    Raises:
        BadMessage: anything but a JSON-RPC 2.0 request with an id.
    """
    try:
        message = parse_message(line)
    except BadMessage as bad:
        bad.ident = _ident_in(line)
        raise
    ident = message.get("id")
    if not _is_ident(ident):
        raise BadMessage(f"A request needs an id: an integer or a text of at most {MAX_ID} characters.")
    if message.get("jsonrpc") != "2.0":
        raise BadMessage('A request says "jsonrpc": "2.0".', ident)
    if not message.keys() <= _TOP:
        raise BadMessage("A request has jsonrpc, id, method and params, and nothing else.", ident)
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise BadMessage("A request names its method.", ident)
    if not isinstance(params, dict):
        raise BadMessage("The params of a request are an object.", ident)
    return Request(ident, method, params)


def _is_ident(value: object) -> TypeGuard[Ident]:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return isinstance(value, int) and not isinstance(value, bool)


def _ident_in(line: bytes) -> Ident | None:
    """The id of a line that `parse_message` refused, where it has exactly one: it tells which call it was."""
    try:
        # Objects become lists of tuples, so that a key given twice is seen.
        pairs = json.loads(line, object_pairs_hook=_Pairs)
        found = [value for key, value in pairs if key == "id"] if isinstance(pairs, _Pairs) else []
        if len(found) != 1 or not _is_ident(found[0]):
            return None
        check_text(found[0])
    except (ValueError, RecursionError, BadMessage):
        return None
    return found[0] if isinstance(found[0], str) or len(str(abs(found[0]))) <= MAX_DIGITS else None


class _Pairs(list[tuple[str, Any]]):
    """The members of an object as they were written."""


def encode_message(message: Mapping[str, Any], *, strict: bool = False) -> bytes:
    """Write a message as one line.

    Args:
        message: JSON-able; floats must be finite.
        strict: refuse a lone surrogate, as a caller does; an answer that an import brought one into shows `?` there.

    Returns:
        UTF-8 with the line end.

    Raises:
        UnicodeEncodeError: a lone surrogate where `strict` is set.
    """
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "strict" if strict else "replace") + b"\n"


def make_reply(ident: Ident, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a call that was carried out."""
    return {"jsonrpc": "2.0", "id": ident, "result": result}


def make_failure(ident: Ident | None, error: LociError) -> dict[str, Any]:
    """The answer to a call that was not carried out: a code and one sentence."""
    data: dict[str, Any] = {"code": error.code.value}
    if isinstance(error, RateLimitedError):
        data["retry_after"] = round(error.retry_after, 3)
    code = _OTHER if isinstance(error, PreconditionError) else _RPC.get(error.code, _OTHER)
    if isinstance(error, BadMessage) and error.ident is None:
        code = -32700
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": error.sentence, "data": data}}


def make_request(ident: Ident, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A call."""
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def make_notification(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A message that is not answered."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def error_from(body: object) -> LociError:
    """Turn the `error` of an answer back into an exception.

    Args:
        body: the `error` member as received; any shape.

    Returns:
        An error of the family its code belongs to; `BugError` for a shape nobody knows.
    """
    if not isinstance(body, dict) or not isinstance(body.get("data"), dict):
        return BugError("an answer without a code")
    data, sentence = body["data"], str(body.get("message", ""))[:_SENTENCE]
    try:
        code = Code(data.get("code"))
    except ValueError:
        return BugError("an answer with an unknown code")
    if code is Code.RATE_LIMITED:
        after = data.get("retry_after")
        is_time = isinstance(after, int | float) and not isinstance(after, bool)
        return RateLimitedError(sentence, float(after)) if is_time else UserError(code, sentence)
    if code is Code.CANCELLED:
        return CancelledError()
    if code in _ENVIRONMENT:
        return EnvironmentFaultError(code, sentence)
    if code is Code.INVALID_INPUT and body.get("code") == _OTHER:
        return PreconditionError(sentence)  # the value was right, and the engine said so by the number
    return (IntegrityError if code in _INTEGRITY else LociError if code is Code.BUG else UserError)(code, sentence)


def escape_text(text: str, limit: int = NAME_CHARACTERS) -> str:
    r"""Escape what could deceive or break out of its place, then cut.

    Controls, bidi marks, invisible and private characters, odd spaces and the characters of markup and quoting become
    `\uXXXX`; an escape is never cut in half.

    Args:
        text: any text of a stranger.
        limit: characters at most, `…` at the end where something was left out.

    Returns:
        One line of plain text.
    """
    pieces: list[str] = []
    room = limit
    for character in text.strip():
        piece = _escape_character(character)
        if len(piece) > room:
            while pieces and room < 1:
                room += len(pieces.pop())
            return "".join(pieces) + "…"
        pieces.append(piece)
        room -= len(piece)
    return "".join(pieces)


def _escape_character(character: str) -> str:
    if character == " ":
        return character
    category = unicodedata.category(character)
    if category in _UNSEEN or category == "Zs" or character in _MARKUP:
        return f"\\u{ord(character):04x}"
    return character


class BadMessage(UserError):  # noqa: N818 - the design's name for it
    """A line is not a message.

    Attributes:
        ident: the request's id where it could be read; None otherwise.
    """

    def __init__(self, reason: str, ident: str | int | None = None) -> None:
        super().__init__(Code.MALFORMED_MESSAGE, reason)
        self.ident = ident


def parse_message(line: bytes, *, is_reply: bool = False) -> dict[str, Any]:
    """Read one JSON object.

    Args:
        line: UTF-8 bytes without the line end; the caller has capped their number.
        is_reply: an answer of the server holds what an import brought: NUL and integers of any length pass, and it may
            be nested deeper.

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
            parse_float=_finite_number,
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


def _finite_number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise BadMessage("The message holds a number that is too large.")
    return number

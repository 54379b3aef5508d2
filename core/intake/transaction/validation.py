"""What may be stored at all. Bad input gets one sentence with a code; nothing is trimmed or mended."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from core.belief.extract.vocabulary import exclusivity
from core.errors import Code, UserError
from core.text.times import parse_time
from core.types.values import When

CLIENT_TEXT_BYTES = 8 * 1024  # design section 8, a client's text
REASON_CHARACTERS = 512
"""Of why somebody judges a memory or wants it changed; `verdict_reason` in resources/protocol.json says the same."""
_SPACE_NAME_CHARACTERS = 128
# Controls (C0, C1), format characters (bidi marks, invisible ones), halves of characters, line and paragraph ends.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_PREDICATE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_QUALIFIERS_BYTES = 4 * 1024
_CLAIM_FIELDS = frozenset(
    ("subject", "predicate", "value", "exclusive", "polarity", "scope", "valid_from", "valid_to", "qualifiers")
)
_SCOPES = ("global", "session", "temporal")


def check_text(text: str, limit_bytes: int | None) -> None:
    """Refuse a text that cannot be remembered.

    Args:
        text: the text as it came.
        limit_bytes: UTF-8 bytes at most; None for no limit.

    Raises:
        UserError: INVALID_INPUT for empty, NUL and lone surrogates; TEXT_TOO_LARGE.
    """
    if not text.strip():
        raise UserError(Code.INVALID_INPUT, "The text is empty; write what should be remembered.")
    if "\0" in text:
        raise UserError(Code.INVALID_INPUT, "The text holds a NUL character; remove it and try again.")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise UserError(
            Code.INVALID_INPUT, "The text holds half of a character (a lone surrogate); send valid Unicode."
        ) from None
    if limit_bytes is not None and size > limit_bytes:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The text is larger than {limit_bytes // 1024} KiB; split it into smaller memories."
        )


def check_importance(value: float | None) -> float:
    """The importance of a memory.

    Args:
        value: 0 to 1, or None for the default.

    Returns:
        A number from 0 to 1.

    Raises:
        UserError: INVALID_INPUT when outside 0 to 1.
    """
    if value is None:
        return 0.5
    if not 0 <= value <= 1:  # a NaN fails this too
        raise UserError(Code.INVALID_INPUT, "The importance must lie between 0 and 1.")
    return float(value)


def check_space_name(name: str) -> str:
    """A space's name.

    Args:
        name: 1 to 128 characters without control or invisible characters or surrounding blanks.

    Returns:
        The name.

    Raises:
        UserError: INVALID_INPUT.
    """
    unseen = any(unicodedata.category(sign) in _UNSEEN for sign in name)
    if unseen or not 1 <= len(name) <= _SPACE_NAME_CHARACTERS or name != name.strip():
        raise UserError(
            Code.INVALID_INPUT, "A space's name has 1 to 128 characters and no control or invisible characters."
        )
    return name


def check_claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    """A claim as the caller gives it.

    Args:
        claim: `{subject, predicate, value, exclusive?, polarity?, scope?, valid_from?, valid_to?, qualifiers?}`; its
            scope is `global`, `temporal` or `session` (seed A, feature 1: only the last is held apart).

    Returns:
        The claim with its defaults filled in.

    Raises:
        UserError: INVALID_INPUT naming the field.
    """
    unknown = sorted(set(claim) - _CLAIM_FIELDS)
    if unknown:
        raise UserError(Code.INVALID_INPUT, "A claim has fields that do not exist; see the reference for its fields.")
    for field in ("subject", "predicate", "value"):
        value = claim.get(field)
        if not isinstance(value, str) or not value.strip() or len(value) > 1024 or not is_plain_label(value):
            raise UserError(Code.INVALID_INPUT, f"A claim needs a {field} of 1 to 1,024 characters.")
    if _PREDICATE.fullmatch(claim["predicate"]) is None:
        raise UserError(Code.INVALID_INPUT, "A claim's predicate is written like lives_in.")
    if claim.get("polarity", "positive") not in ("positive", "negative"):
        raise UserError(Code.INVALID_INPUT, "A claim's polarity is positive or negative.")
    if not isinstance(claim.get("exclusive", True), bool):
        raise UserError(Code.INVALID_INPUT, "A claim's exclusive is true or false.")
    if claim.get("scope", "global") not in _SCOPES:
        raise UserError(Code.INVALID_INPUT, "A claim's scope is global, session or temporal.")
    _check_qualifiers(claim.get("qualifiers", {}))
    # Seed A, feature 1: one value at a time unless it is said, or known, that there may be several.
    exclusive = exclusivity().get(claim["predicate"], True)
    return {"exclusive": exclusive, "polarity": "positive", "qualifiers": {}, **claim}


def is_exclusive(claim: Mapping[str, Any]) -> bool:
    """Whether a checked claim of anybody but the person excludes others: a known predicate is what it is known as.

    Else a client could say that its home of the person excludes no other home.
    """
    return bool(claim["exclusive"]) or exclusivity().get(claim["predicate"], False)


def _check_qualifiers(qualifiers: object) -> None:
    try:
        size = len(json.dumps(qualifiers, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except (TypeError, ValueError, RecursionError):  # no JSON, NaN, half a character, too deep
        size = _QUALIFIERS_BYTES + 1
    if not isinstance(qualifiers, Mapping) or size > _QUALIFIERS_BYTES:
        raise UserError(Code.INVALID_INPUT, "A claim's qualifiers are an object of at most 4 KiB of valid JSON.")


def claim_validity(claim: Mapping[str, Any]) -> tuple[When | None, When | None]:
    """From when and until when a claim holds, as it says itself.

    Args:
        claim: a checked claim.

    Returns:
        `valid_from` and `valid_to`; None where the claim does not say.

    Raises:
        UserError: INVALID_INPUT for a time that cannot be read, or an end before the beginning.
    """
    begin, end = (_moment(claim, field) for field in ("valid_from", "valid_to"))
    if not is_ordered(begin, end):
        raise UserError(Code.INVALID_INPUT, "A claim's valid_from must not lie after its valid_to.")
    return begin, end


def _moment(claim: Mapping[str, Any], field: str) -> When | None:
    value = claim.get(field)
    when = None if value is None else parse_time(value)
    if value is not None and when is None:
        raise UserError(Code.INVALID_INPUT, f"A claim's {field} is a date such as 2024-05 or 2024-05-31.")
    return when


def is_ordered(begin: When | None, end: When | None) -> bool:
    """Whether a window of validity does not end before it begins."""
    return begin is None or end is None or begin.ms <= end.ms


def check_reason(reason: str | None) -> None:
    """Refuse a reason that cannot be kept.

    Args:
        reason: why, in somebody's words.

    Raises:
        UserError: INVALID_INPUT.
    """
    if reason is not None and (len(reason) > REASON_CHARACTERS or not is_plain_label(reason)):
        raise UserError(Code.INVALID_INPUT, f"A reason has up to {REASON_CHARACTERS} characters of plain text.")


def is_plain_label(text: str) -> bool:
    """Whether a short text can be stored: no NUL, no half of a character."""
    return "\0" not in text and not any(0xD800 <= ord(sign) <= 0xDFFF for sign in text)

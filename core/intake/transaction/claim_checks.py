"""Claims as callers give them: their fields, their qualifiers, from when and until when they hold.

Bad input gets one sentence with a code; nothing is trimmed or mended. Must not do: judge whether a claim is true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from core.errors import Code, UserError
from core.intake.transaction.admission import is_plain_label
from core.text.times import parse_time
from core.types.values import When

_PREDICATE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_QUALIFIERS_BYTES = 4 * 1024
_CLAIM_FIELDS = frozenset(
    ("subject", "predicate", "value", "exclusive", "polarity", "scope", "valid_from", "valid_to", "qualifiers")
)
_SCOPES = ("global", "session", "temporal")


def check_claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Check a claim as the caller gives it.

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
    exclusive = _known_exclusivity(claim["predicate"], unknown=True)
    return {"exclusive": exclusive, "polarity": "positive", "qualifiers": {}, **claim}


def is_exclusive(claim: Mapping[str, Any]) -> bool:
    """Whether a checked claim of anybody but the person excludes others: a known predicate is what it is known as.

    Else a client could say that its home of the person excludes no other home.
    """
    return bool(claim["exclusive"]) or _known_exclusivity(claim["predicate"], unknown=False)


def _known_exclusivity(predicate: str, *, unknown: bool) -> bool:
    from core.belief.extract.frames import load_exclusivity  # the vocabulary is loaded where somebody gives a claim

    return load_exclusivity().get(predicate, unknown)


def _check_qualifiers(qualifiers: object) -> None:
    try:
        size = len(json.dumps(qualifiers, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except (TypeError, ValueError, RecursionError):  # no JSON, NaN, half a character, too deep
        size = _QUALIFIERS_BYTES + 1
    if not isinstance(qualifiers, Mapping) or size > _QUALIFIERS_BYTES:
        raise UserError(Code.INVALID_INPUT, "A claim's qualifiers are an object of at most 4 KiB of valid JSON.")


def claim_validity(claim: Mapping[str, Any]) -> tuple[When | None, When | None]:
    """From when and until when a claim holds, as it says itself.

    Returns:
        `valid_from` and `valid_to`; None where the claim does not say.

    Raises:
        UserError: INVALID_INPUT for a time that cannot be read, or an end before the beginning.
    """
    begin, end = (_parse_claim_time(claim, field) for field in ("valid_from", "valid_to"))
    if not is_ordered(begin, end):
        raise UserError(Code.INVALID_INPUT, "A claim's valid_from must not lie after its valid_to.")
    return begin, end


def _parse_claim_time(claim: Mapping[str, Any], field: str) -> When | None:
    value = claim.get(field)
    when = None if value is None else parse_time(value)
    if value is not None and when is None:
        raise UserError(Code.INVALID_INPUT, f"A claim's {field} is a date such as 2024-05 or 2024-05-31.")
    return when


def is_ordered(begin: When | None, end: When | None) -> bool:
    """Whether a window of validity does not end before it begins."""
    return begin is None or end is None or begin.ms <= end.ms

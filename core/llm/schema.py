"""Reading a model's answer: any text in, checked proposals out, or nothing.

Tolerant in one thing only: the JSON may stand in a Markdown fence. Must not do: guess, repair, or raise because of what
an answer holds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from core.types.belief import ClaimProposal, Label, RelationProposal

ANSWER_BYTES = 32 * 1024
"""A longer answer is none."""

MOST_CLAIMS = 12
"""Claims looked at in one answer; the others are left out."""

_DEPTH = 6
_VALUE = 200
_QUOTE = 1_000
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
_CLAIM_KEYS = frozenset({"subject", "predicate", "value", "quote", "polarity"})
_OPTIONAL = frozenset({"polarity"})
_POLARITIES = frozenset({"positive", "negative"})


class _RefusedError(ValueError):
    """The JSON is not such as may be read."""


@cache
def answer_schema(name: str) -> Mapping[str, Any]:
    """The JSON Schema that a model's answer is asked to follow (`resources/prompts`).

    Args:
        name: `relation` or `claims`.

    Returns:
        The schema; not to be changed.
    """
    loaded: dict[str, Any] = json.loads((files("resources") / "prompts" / f"{name}.json").read_text("utf-8"))
    return loaded


def find_json(raw: str | bytes) -> object | None:
    """The one JSON value of an answer.

    Args:
        raw: the answer, bare or within one fence.

    Returns:
        The value; None for anything else: more text around it, keys that repeat, numbers that are none, lone
        surrogates, NUL, more than six levels, more than 32 KiB.
    """
    text = _text(raw)
    if text is None:
        return None
    bare = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCED.fullmatch(bare)
    try:
        value = json.loads(
            fenced.group(1) if fenced else bare,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except (ValueError, RecursionError):
        return None
    return value if _is_sound(value, _DEPTH) else None


def parse_relation(raw: str | bytes) -> RelationProposal | None:
    """Read an answer on how two memories relate (seed D, response parsing).

    Args:
        raw: the answer.

    Returns:
        What it proposes; None unless it is exactly a label of the four and a confidence from 0 to 1.
    """
    value = find_json(raw)
    if not isinstance(value, dict) or set(value) != {"label", "confidence"}:
        return None
    label, confidence = value["label"], value["confidence"]
    if not isinstance(label, str) or label not in Label.__members__:
        return None
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return None
    return RelationProposal(Label[label], float(confidence))


def parse_claims(raw: str | bytes) -> tuple[ClaimProposal, ...]:
    """Read an answer that lists claims; a claim of the wrong shape is left out, an answer of the wrong shape has none.

    Args:
        raw: the answer.

    Returns:
        At most `MOST_CLAIMS` proposals in their order, none twice.
    """
    value = find_json(raw)
    if not isinstance(value, dict) or set(value) != {"claims"} or not isinstance(value["claims"], list):
        return ()
    found = (_claim(item) for item in value["claims"][:MOST_CLAIMS])
    return tuple(dict.fromkeys(claim for claim in found if claim is not None))


def _claim(item: object) -> ClaimProposal | None:
    if not isinstance(item, dict) or not _CLAIM_KEYS - _OPTIONAL <= set(item) <= _CLAIM_KEYS:
        return None
    if not all(isinstance(part, str) for part in item.values()):
        return None
    subject, predicate, value = (item[name].strip() for name in ("subject", "predicate", "value"))
    quote, polarity = item["quote"].strip(), item.get("polarity", "positive")
    if not all((subject, predicate, value, quote)) or polarity not in _POLARITIES:
        return None
    if max(len(subject), len(predicate), len(value)) > _VALUE or len(quote) > _QUOTE:
        return None
    return ClaimProposal(subject, predicate, value, quote, polarity)


def _text(raw: str | bytes) -> str | None:
    if isinstance(raw, bytes):
        if len(raw) > ANSWER_BYTES:
            return None
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if len(raw) > ANSWER_BYTES:
        return None
    try:
        return raw if len(raw.encode("utf-8")) <= ANSWER_BYTES else None
    except UnicodeEncodeError:
        return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedError
    return found


def _no_constant(_: str) -> float:
    raise _RefusedError


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _RefusedError
    return number


def _int(text: str) -> int:
    if len(text) > 16:
        raise _RefusedError
    return int(text)


def _is_sound(value: object, depth: int) -> bool:
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict | list) and depth == 0:
        return False
    if isinstance(value, dict):
        return all(_is_sound(part, depth - 1) for pair in value.items() for part in pair)
    return not isinstance(value, list) or all(_is_sound(part, depth - 1) for part in value)

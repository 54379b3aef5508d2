"""What a model is asked about a relation, claims and the topic of a text, and reading its answers.

Instructions come from `resources/prompts`; memory text is data within fences. An answer is any text: checked proposals
come out of it, or nothing; it is tolerant in one thing only: the JSON may stand in a Markdown fence. Must not do: let
memory text stand outside a fence or close one; guess, repair, or raise because of what an answer holds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from core.text.metadata import find_dates
from core.text.screening.fences import escape_fences
from core.text.times import format_time
from core.types.belief import ClaimProposal, ComparedText, Label, RelationProposal
from core.types.values import Precision, When

_KEYS = frozenset(("people", "dates", "topics", "sentiment"))
_MOST, _MOST_CHARS = 12, 80


@dataclass(frozen=True, slots=True)
class Description:
    """What a model says of a text.

    Attributes:
        people: names.
        dates: as written, or after `keep_grounded_parts` as `YYYY-MM-DD`.
        topics: words.
        sentiment: -1 to 1.
    """

    people: tuple[str, ...]
    dates: tuple[str, ...]
    topics: tuple[str, ...]
    sentiment: float


def description_prompt(text: str, topics: Sequence[str]) -> Prompt:
    """Ask what a text is about.

    Args:
        text: the text; fenced.
        topics: the closed list the answer may use.
    """
    system = load_instructions("describe").replace("{topics}", ", ".join(topics))
    return Prompt("describe", system, f"<memory>\n{escape_fences(text)}\n</memory>")


def parse_description(raw: str | bytes) -> Description | None:
    """Read an answer.

    Returns:
        What it says; None unless it has exactly the four keys in their shapes.
    """
    value = find_json(raw)
    if not isinstance(value, dict) or set(value) != _KEYS:
        return None
    lists = [_parse_strings(value[name]) for name in ("people", "dates", "topics")]
    sentiment = value["sentiment"]
    if any(some is None for some in lists) or isinstance(sentiment, bool) or not isinstance(sentiment, int | float):
        return None
    if not -1 <= sentiment <= 1:
        return None
    people, dates, topics = (some or () for some in lists)
    return Description(people, dates, topics, float(sentiment))


def keep_grounded_parts(told: Description, text: str, topics: Sequence[str]) -> Description:
    """Leave out what the text does not say.

    Args:
        told: what a model says.
        topics: the closed list.

    Returns:
        Names of the text, with a capital; dates of the text that a calendar has; topics of the list.
    """
    people = tuple(name for name in told.people if name in text and name[:1].isupper())
    dates = (day for written in told.dates if written in text for day in find_dates(written))
    known = tuple(topic for topic in told.topics if topic in topics)
    return Description(people, tuple(dict.fromkeys(dates)), known, told.sentiment)


def _parse_strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    if any(not isinstance(one, str) for one in value):
        return None
    whole = (one.strip() for one in value[:_MOST])
    return tuple(dict.fromkeys(one for one in whole if one and len(one) <= _MOST_CHARS))


PROMPT_ANSWER_BYTES = 32 * 1024
"""Of the answer to one prompt; a longer one is none."""

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
    text = _decode_answer(raw)
    if text is None:
        return None
    bare = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCED.fullmatch(bare)
    try:
        value = json.loads(
            fenced.group(1) if fenced else bare,
            object_pairs_hook=_object_without_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite_float,
            parse_int=_short_int,
        )
    except (ValueError, RecursionError):
        return None
    return value if _is_sound(value, _DEPTH) else None


def parse_relation(raw: str | bytes) -> RelationProposal | None:
    """Read an answer on how two memories relate (seed D, response parsing).

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

    Returns:
        At most `MOST_CLAIMS` proposals in their order, none twice.
    """
    value = find_json(raw)
    if not isinstance(value, dict) or set(value) != {"claims"} or not isinstance(value["claims"], list):
        return ()
    found = (_parse_claim(item) for item in value["claims"][:MOST_CLAIMS])
    return tuple(dict.fromkeys(claim for claim in found if claim is not None))


def _parse_claim(item: object) -> ClaimProposal | None:
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


def _decode_answer(raw: str | bytes) -> str | None:
    if isinstance(raw, bytes):
        if len(raw) > PROMPT_ANSWER_BYTES:
            return None
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if len(raw) > PROMPT_ANSWER_BYTES:
        return None
    try:
        return raw if len(raw.encode("utf-8")) <= PROMPT_ANSWER_BYTES else None
    except UnicodeEncodeError:
        return None


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedError
    return found


def _no_constant(_: str) -> float:
    raise _RefusedError


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _RefusedError
    return number


def _short_int(text: str) -> int:
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


TEXT_CHARACTERS = 4_000
"""A longer text is not asked about: cut, it could mean something else."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model.

    Attributes:
        schema: name of the JSON Schema its answer shall follow (`core.llm.prompts.answer_schema`).
        system: instructions; the same for every memory.
        user: the memories, each in its fence, and nothing that a memory says outside of one.
    """

    schema: str
    system: str
    user: str


def relation_prompt(existing: ComparedText, incoming: ComparedText) -> Prompt:
    """Ask how a newcomer relates to what stands.

    Returns:
        The question; both texts fenced.
    """
    return Prompt(
        "relation",
        load_instructions("relation"),
        f"{_fence_text('existing', existing.text, existing.at_ms)}\n"
        f"{_fence_text('new', incoming.text, incoming.at_ms)}",
    )


def claims_prompt(told: ComparedText, predicates: Sequence[str]) -> Prompt:
    """Ask what a text claims.

    Args:
        predicates: the closed list the answer may use.

    Returns:
        The question; the text fenced.
    """
    system = load_instructions("claims").replace("{predicates}", ", ".join(predicates))
    return Prompt("claims", system, _fence_text("memory", told.text, told.at_ms))


@cache
def load_instructions(name: str) -> str:
    """The instructions of one kind of question (`resources/prompts`).

    Args:
        name: `relation`, `claims`, `distill` or `reword`.

    Returns:
        The text that stands before all memory text.
    """
    return (files("resources") / "prompts" / f"{name}.txt").read_text("utf-8").strip()


def _fence_text(name: str, text: str, at_ms: int | None) -> str:
    day = None if at_ms is None else format_time(When(at_ms, Precision.DAY))
    said = "" if day is None else f' said="{day}"'
    return f"<{name}{said}>\n{escape_fences(text)}\n</{name}>"

"""Asking a model what a text is about, and reading its answer (E35.5, the pass with a model).

Must not do: believe an answer: whoever uses one looks whether the text says so (`keep_grounded_parts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.prompts import Prompt, escape_fences, instructions
from core.llm.schema import find_json
from core.text.metadata import find_dates

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

    Returns:
        The question.
    """
    system = instructions("describe").replace("{topics}", ", ".join(topics))
    return Prompt("describe", system, f"<memory>\n{escape_fences(text)}\n</memory>")


def parse_description(raw: str | bytes) -> Description | None:
    """Read an answer.

    Args:
        raw: the answer.

    Returns:
        What it says; None unless it has exactly the four keys in their shapes.
    """
    value = find_json(raw)
    if not isinstance(value, dict) or set(value) != _KEYS:
        return None
    lists = [_strings(value[name]) for name in ("people", "dates", "topics")]
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


def _strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    if any(not isinstance(one, str) for one in value):
        return None
    whole = (one.strip() for one in value[:_MOST])
    return tuple(dict.fromkeys(one for one in whole if one and len(one) <= _MOST_CHARS))

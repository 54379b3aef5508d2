"""Amounts that two texts give of one unit and do not agree on: "up to 9 kg" beside "presumably 7 kg".

A statement that unites both texts could not hold both. Pure. Must not do: say which of the two is right, or look at
numbers that name something.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from core.belief.extract.normal_form import as_read
from core.text.stopwords import stop_words

_CHANGED = frozenset({"now", "currently", "instead", "nowadays"})
_LIGHT = _CHANGED | {"today", "actually", "only", "just"}
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"[.,](?=\d{3}(?:[.,]|$))")


def other_amounts(existing: str, incoming: str, numbers: Mapping[str, str]) -> bool:
    """Whether two texts name amounts of one unit, and never the same.

    Args:
        existing: what stands.
        incoming: what is new.
        numbers: number words to digits, one word each.

    Returns:
        False where they share no unit, or agree on an amount of each unit they share.
    """
    old, new = _amounts(existing, numbers), _amounts(incoming, numbers)
    return any(old[unit].isdisjoint(new[unit]) for unit in old.keys() & new.keys())


def restates_amount(existing: str, incoming: str, numbers: Mapping[str, str]) -> bool:
    """Whether a text says that the amount of what stands is another now, and names nothing else: "I take 25 mg now".

    Args:
        existing: what stands: "I take 50 mg of sertraline".
        incoming: what is new.
        numbers: as in `other_amounts`.

    Returns:
        True where all its words but the amount and light ones stand in what stands, too. False without a word that
        tells of a change: "I ran 8 km" is another run.
    """
    is_changed = not _CHANGED.isdisjoint(_TOKEN.findall(as_read(incoming).casefold()))
    if not is_changed or not other_amounts(existing, incoming, numbers):
        return False
    old, new = (
        {word for word in _TOKEN.findall(as_read(text).casefold()) if not _DIGITS.fullmatch(word)}
        - stop_words()
        - _LIGHT
        for text in (existing, incoming)
    )
    return bool(new) and new <= old and not {numbers.get(word, "") for word in new} - {""}


def _amounts(text: str, numbers: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    tokens = [numbers.get(token, token) for token in _TOKEN.findall(as_read(text).casefold())]
    for amount, unit in pairwise(tokens):
        if _DIGITS.fullmatch(amount) and not _DIGITS.fullmatch(unit) and unit not in stop_words():
            found[unit if len(unit) < 4 else unit.removesuffix("s")].add(_one_form(amount))
    return found


def _one_form(amount: str) -> str:
    """`1,000` is 1000, `4,50` is 4.5, `07` is 7 and `9.0` is 9; what is no number of one of these forms stays."""
    plain = _GROUPED.sub("", amount).replace(",", ".")
    return f"{float(plain):.6f}" if plain.count(".") < 2 else plain

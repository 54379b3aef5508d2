"""The amounts of a statement: a number with what it counts, and per what ("30 hours a week", "1.40 a litre").

Two amounts may be values of one property only where they count the same. Pure. Must not do: read a date as an amount.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.belief.relate.features import FeatureWord
from core.belief.relate.supersession import SupersessionText, is_content_word, is_of_date, stem_form

_REST_OF_NUMBER = re.compile(
    r"(?:[.,:]\d+)*(?: ?(?:p|pence|cents?|pounds?|euros?|dollars?|quid|[€£$]|k)(?!\w))?(?P<percent> ?%| per ?cent\b)?"
)
_CLOCK_BEHIND = re.compile(r" ?(?:o'clock|[ap]\.?m)\b")
_CLOCK_BEFORE = re.compile(r"\b(?:at|till|until|past|quarter to) (?:half |quarter )?$")
_DURATION = re.compile(r"[\d.]+s")
_PER_SIGN = re.compile(r" ?/ ?")
_PER_WORDS = frozenset({"a", "an", "per", "every", "each"})
_BY_ADVERB = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
              "yearly": "year", "annually": "year"}  # fmt: skip
CLOCK, PERCENT, DURATION = "clock", "%", "time"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of a statement.

    Attributes:
        number: its one form (`core.belief.relate.features`).
        unit: the stem of what it counts, `CLOCK`, `PERCENT` or `DURATION`; nothing for money and plain numbers.
        per: per what, nothing where that is not said.
        end: where it ends in the prepared text, unit included.
    """

    number: str
    unit: str
    per: str
    end: int


def read_amounts(one: SupersessionText) -> list[Amount]:
    """The amounts of a statement, in order."""
    words = one.prepared.words
    return [
        read_amount(one, at)
        for at, word in enumerate(words)
        if word.number and not word.continues and not is_of_date(words, at)
    ]


def read_amount(one: SupersessionText, at: int) -> Amount:
    """The amount that begins with a word, by its place."""
    words, lower, form = one.prepared.words, one.prepared.text.lower(), one.prepared.words[at].form
    rest = _REST_OF_NUMBER.match(lower, words[at].end)
    end = rest.end() if rest else words[at].end
    if ":" in form or _CLOCK_BEHIND.match(lower, end) or _CLOCK_BEFORE.search(lower, 0, words[at].start):
        return Amount(form, CLOCK, "", max(end, *(word.end for word in words[at : at + 3] if word.form == form)))
    behind = [word for word in words[at + 1 :] if word.start >= end]
    unit = PERCENT if rest and rest["percent"] else ""
    counted = None if unit or not _follows(lower, end, behind) else behind[0]
    if _DURATION.fullmatch(form) and counted is not None:
        unit = DURATION
    elif counted is not None and _is_counted(one, counted):
        unit = stem_form(counted.form)
    if unit and unit != PERCENT:
        end, behind = behind[0].end, behind[1:]
    return Amount(form, unit, *_read_per(lower, end, behind))


def _is_counted(one: SupersessionText, word: FeatureWord) -> bool:
    return is_content_word(word) and stem_form(word.form) in one.topic and word.form not in _BY_ADVERB


def _read_per(lower: str, end: int, behind: Sequence[FeatureWord]) -> tuple[str, int]:
    """Per what an amount is that ends before some words, and where that ends."""
    if not behind:
        return "", end
    if behind[0].form in _BY_ADVERB and _follows(lower, end, behind):
        return _BY_ADVERB[behind[0].form], behind[0].end
    sign = _PER_SIGN.match(lower, end)
    if sign is not None and behind[0].start == sign.end():
        return behind[0].form, behind[0].end
    if behind[0].form not in _PER_WORDS or not _follows(lower, end, behind):
        return "", end
    if len(behind) > 1 and _follows(lower, behind[0].end, behind[1:]) and is_content_word(behind[1]):
        return behind[1].form, behind[1].end
    return behind[0].form, behind[0].end


def _follows(lower: str, end: int, behind: Sequence[FeatureWord]) -> bool:
    """Whether the first of some words follows a place with nothing but a blank between."""
    return bool(behind) and not lower[end : behind[0].start].strip()

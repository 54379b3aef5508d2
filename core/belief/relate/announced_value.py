"""Whether a later statement gives the value that somebody wants a property of an earlier one to have.

"The workshop is unit 4, rent 610." and "Landlord wants 690 from July." name no word in common: whoever sets a price, a
wage or a date, says what it will be and leaves out of what. Such a statement is told by its words (`resources/claims/
announced.json`), and belongs to a property by who sets it, or by a name or thing that both name. Pure. Must not do: end
anything: what is wanted is not agreed yet.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from core.belief.extract.sentence import load_vocabulary_file
from core.belief.relate.amounts import Amount, read_amount, read_amounts
from core.belief.relate.features import FeatureWord
from core.belief.relate.supersession import (
    SupersessionText,
    is_content_word,
    is_date_word,
    is_of_date,
    read_supersession_text,
    stem_form,
)

_BREAK = re.compile(r"[.!?;:]\s|[\n(]")
_MOST_OF_PURPOSE = 4


@dataclass(frozen=True, slots=True)
class _Announcement:
    """What a statement announces.

    Attributes:
        party: who wants or sets it, in small letters, and nothing where that is the speaker.
        named: the stems of what it names between its verb and the value, and of what the value is for.
        amount: the value; None where it is a day or a date.
    """

    party: str
    named: frozenset[str]
    amount: Amount | None


@dataclass(frozen=True, slots=True)
class _Patterns:
    demands: re.Pattern[str]
    sets: re.Pattern[str]
    dates: re.Pattern[str]
    delta: re.Pattern[str]
    purpose: re.Pattern[str]
    fillers: frozenset[str]
    announcing: frozenset[str]
    properties: tuple[tuple[re.Pattern[str], frozenset[str]], ...]


def announces_value(text: str) -> bool:
    """Whether a text may be such a statement, by a look at its words."""
    lower, patterns = text.lower().replace("’", "'"), _announcing_patterns()
    return (patterns.demands.search(lower) or patterns.sets.search(lower)) is not None


def announces_value_of(earlier: str, later: str, asked: Collection[str]) -> bool:
    """Whether the later statement announces another value of what the earlier one gives a value of.

    Args:
        asked: the words of the question that the earlier one answers.
    """
    old, new = read_supersession_text(earlier), read_supersession_text(later)
    if new.adds:
        return False
    announced = _read_announcement(new)
    if announced is None or not _gives_other_value(old, new, announced):
        return False
    asked_stems = frozenset(map(stem_form, asked))
    known = old.topic | asked_stems
    if announced.named and announced.named.isdisjoint(known):
        return False
    if _is_other_thing(announced, old, new, asked_stems):
        return False
    return _is_of_property(announced, old, new, asked_stems)


def _is_of_property(
    announced: _Announcement, old: SupersessionText, new: SupersessionText, asked: frozenset[str]
) -> bool:
    """Whether the property is one that the party sets, or the two name the same thing or person."""
    patterns = _announcing_patterns()
    of_party = frozenset[str]().union(*(of for who, of in patterns.properties if who.search(announced.party)))
    asked_for = asked & frozenset[str]().union(*(of for _, of in patterns.properties))
    if of_party and asked_for and of_party.isdisjoint(asked_for) and announced.named.isdisjoint(asked_for):
        return False
    if not of_party.isdisjoint(old.topic | asked):
        return True
    return not (new.topic - patterns.announcing - patterns.fillers).isdisjoint(old.topic)


def _is_other_thing(
    announced: _Announcement, old: SupersessionText, new: SupersessionText, asked: frozenset[str]
) -> bool:
    """Whether it begins with another thing of the sort: the front door's code, where the bike room's is asked for."""
    *before, sort = read_supersession_text(announced.party).stems or ("",)
    patterns = _announcing_patterns()
    things = frozenset(before) - patterns.announcing - patterns.fillers  # "the new code", "the monthly rent"
    is_other_of_sort = sort in old.topic and not old.topic >= things
    return is_other_of_sort and not asked.isdisjoint(old.topic - new.topic)


def _gives_other_value(old: SupersessionText, new: SupersessionText, announced: _Announcement) -> bool:
    """Whether the earlier one gives a value of the same kind, and another one."""
    if announced.amount is None:
        both = old.kinds.keys() & new.kinds.keys() & {"weekday", "day", "month"}
        return any(new.kinds[kind] != old.kinds[kind] for kind in both)
    is_dated = new.changes or _announcing_patterns().dates.search(new.lower) is not None
    alike = [amount for amount in read_amounts(old) if _are_of_kind(amount, announced.amount, is_dated=is_dated)]
    return bool(alike) and all(amount.number != announced.amount.number for amount in alike)


def _are_of_kind(old: Amount, new: Amount, *, is_dated: bool) -> bool:
    """Whether both may be values of one property; what is dated need not repeat per what it is."""
    return old.unit == new.unit and (old.per == new.per or (is_dated and not (old.per and new.per)))


def _read_announcement(new: SupersessionText) -> _Announcement | None:
    """What it announces; None where no value follows a word of a demand, or it is a difference."""
    lower, patterns, words = new.prepared.text.lower().replace("’", "'"), _announcing_patterns(), new.prepared.words
    found = list(patterns.demands.finditer(lower)) + (list(patterns.sets.finditer(lower)) if new.changes else [])
    for verb in found:
        value = next((at for at, word in enumerate(words) if word.start >= verb.end() and _is_value(word)), None)
        if value is None or _BREAK.search(lower, verb.end(), words[value].start):
            continue
        amount = None if is_of_date(words, value) else read_amount(new, value)
        end = words[value].end if amount is None else amount.end
        if patterns.delta.match(lower, end):
            continue
        between = [word for word in words[:value] if word.start >= verb.end() and "'" not in word.form]
        named = {stem_form(word.form) for word in (*between, *_read_purpose(new, lower, end)) if is_content_word(word)}
        begins = max((one.end() for one in _BREAK.finditer(lower, 0, verb.start())), default=0)
        party = lower[begins : verb.start()]
        return _Announcement(party, frozenset(named) - patterns.fillers - patterns.announcing, amount)
    return None


def _read_purpose(new: SupersessionText, lower: str, end: int) -> list[FeatureWord]:
    """The words behind "for" that stand behind a value: what it is paid for."""
    joins = _announcing_patterns().purpose.match(lower, end)
    if joins is None:
        return []
    sign = re.search(r"[^\w\s'-]", lower[joins.end() :])
    last = joins.end() + sign.start() if sign else len(lower)
    return [word for word in new.prepared.words if joins.end() <= word.start < last][:_MOST_OF_PURPOSE]


def _is_value(word: FeatureWord) -> bool:
    return word.number or is_date_word(word)


@cache
def _announcing_patterns() -> _Patterns:
    vocabulary = load_vocabulary_file("announced.json")

    def any_of(words: Collection[str]) -> str:
        return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))

    def whole(words: Collection[str]) -> re.Pattern[str]:
        return re.compile(rf"(?:(?<![\w'])|(?='))(?:{any_of(words)})(?![\w'])")

    verbs = [*vocabulary["demands"], *vocabulary["sets"]]
    return _Patterns(
        demands=whole(vocabulary["demands"]),
        sets=whole(vocabulary["sets"]),
        dates=whole(vocabulary["dates"]),
        delta=re.compile(rf"\s*(?:{any_of(vocabulary['delta'])})(?!\w)"),
        purpose=re.compile(rf"\s*(?:{any_of(vocabulary['purpose'])})(?!\w)"),
        fillers=frozenset(map(stem_form, vocabulary["fillers"])),
        announcing=frozenset(stem_form(word) for phrase in verbs for word in phrase.split()),
        properties=tuple((whole(one["who"]), frozenset(map(stem_form, one["of"]))) for one in vocabulary["parties"]),
    )

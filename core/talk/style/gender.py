"""Which pronoun a conversation itself gives to each who speaks in it: she, he, or they where nothing tells.

"I took the first step towards becoming a mom", "You will be a great dad", "my wife Anna" and "Anna said she is late"
tell; a name tells nothing. Must not do: guess by a name, or choose where a conversation says both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from core.talk.vocabulary import Token, talk_words, tokenize_talk
from core.types.talk import Turn

_OF_SELF = frozenset(("i", "my", "me", "myself"))
_OF_OTHER = frozenset(("you", "your", "yourself"))
_BEFORE = frozenset(("be", "am", "'m", "was", "being", "becoming", "become", "became", "as"))
_BEFORE_OTHER = frozenset(("be", "are", "'re", "were", "being", "becoming", "become", "became", "as"))
_THIRD = {"she": "f", "her": "f", "hers": "f", "he": "m", "him": "m", "his": "m"}
_OWNERS = frozenset(("my", "our", "your", "his", "her", "their"))
_MOST_BETWEEN = 2
"""Words between "a" and the noun: "as a trans woman"."""


@dataclass(frozen=True, slots=True)
class Pronouns:
    """The pronouns of one person.

    Attributes:
        is_plural: whether the verb behind `subject` is that of several: "they are".
    """

    subject: str
    object: str
    owner: str
    reflexive: str
    is_plural: bool


_PRONOUNS = {
    "f": Pronouns("she", "her", "her", "herself", is_plural=False),
    "m": Pronouns("he", "him", "his", "himself", is_plural=False),
    "": Pronouns("they", "them", "their", "themself", is_plural=True),
}


def pronouns_of(gender: str) -> Pronouns:
    """The pronouns of a gender, `f` or `m`; "they" for any other."""
    return _PRONOUNS.get(gender, _PRONOUNS[""])


def find_genders(turns: Sequence[Turn]) -> Mapping[str, str]:
    """Who speaks in a conversation, folded, to `f` or `m`; who is not in it is they.

    Args:
        turns: all of it; what another talk tells of a speaker (`Turn.gender`) counts where this one tells nothing.
    """
    speakers = tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
    may_tell = _gendered_words().search
    signs: dict[str, Counter[str]] = {}
    for turn in turns:
        if not turn.speaker or turn.is_assistant or not may_tell(turn.text.lower()):
            continue
        others = [name for name in speakers if name != turn.speaker]
        for line in turn.text.replace("?", ".").replace("!", ".").split("."):
            # Cutting a line into words takes longer than all that is asked of them, and few lines hold such a word.
            read = _read_line(tokenize_talk(line), turn.speaker, others) if may_tell(line.lower()) else ()
            for name, gender in read:
                signs.setdefault(name.casefold(), Counter())[gender] += 1
    told = {turn.speaker.casefold(): turn.gender for turn in turns if turn.gender}
    found = told | {name: next(iter(some)) if len(some) == 1 else "" for name, some in signs.items()}
    return {name: gender for name, gender in found.items() if gender}


@cache
def _gendered_words() -> re.Pattern[str]:
    """Finds whatever `tokenize_talk` could give as one of the words that tell, "hes" for "he's" too."""
    sets = talk_words().sets
    words = sorted(sets["own_women"] | sets["own_men"] | frozenset(_THIRD))
    return re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, words))})s?(?![a-z])")


def _read_line(tokens: Sequence[Token], speaker: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of whom a sentence tells what they are."""
    lows = [token.low for token in tokens]
    is_of_other = not _OF_OTHER.isdisjoint(lows)
    for at, low in enumerate(lows):
        gender = _gender_of_noun(low)
        if not gender:
            continue
        lead = _lead_of(lows, at)
        if lead in _BEFORE and not is_of_other:
            yield speaker, gender
        elif lead in _BEFORE_OTHER and is_of_other and _OF_SELF.isdisjoint(lows) and len(others) == 1:
            yield others[0], gender
        if at and lows[at - 1] in _OWNERS and at + 1 < len(tokens) and tokens[at + 1].is_capital:
            yield from ((name, gender) for name in others if _is_called(name, tokens[at + 1]))
    yield from _read_named(tokens, lows, others)


def _gender_of_noun(low: str) -> str:
    sets = talk_words().sets
    return "f" if low in sets["own_women"] else "m" if low in sets["own_men"] else ""


def _lead_of(lows: Sequence[str], noun: int) -> str:
    """The word before the article of a noun: of "becoming a mom" the first; "" where it has none."""
    for at in range(noun - 1, max(0, noun - 2 - _MOST_BETWEEN), -1):
        if lows[at] in ("a", "an"):
            return "" if at > 1 and lows[at - 2] in _THIRD else lows[at - 1]  # "I see her as a mom"
    return ""


def _read_named(tokens: Sequence[Token], lows: Sequence[str], others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Reads "Anna said she is late" where Anna is the only one whom the sentence names."""
    name = next((one for one in others if tokens and _is_called(one, tokens[0])), "")
    found = {_THIRD[low] for low in lows[2:] if low in _THIRD}
    is_alone = not any(token.is_capital and token.low != "i" for token in tokens[1:])
    is_alone = is_alone and not any(_gender_of_noun(low) for low in lows)
    if name and len(found) == 1 and is_alone and lows[1] not in (",", "'s") and _OF_OTHER.isdisjoint(lows):
        yield name, found.pop()


def _is_called(name: str, token: Token) -> bool:
    return token.is_capital and token.low == name.split()[0].lower()

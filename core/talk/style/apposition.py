"""Who somebody is to a speaker, said by the way: "my daughter Sara's birthday", "Oscar, my guinea pig".

Must not do: read a relation that no noun names, or take a name that only calls somebody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.talk.references import NounPhrase
from core.talk.vocabulary import Token, talk_words

PLACES = "places"
"""The sort of what is no person."""
_OWN = frozenset(("my", "our"))
_SORTS = frozenset(("women", "men", "people", "pets"))
_CLOSING = frozenset((",", ".", "!", ";", "-", "–", "—", "and", "who"))
_LINKING = frozenset((",", "-", "–", "—"))
_CHANGING = frozenset(("ex", "former", "late", "other", "old", "new", "second", "first"))


@dataclass(frozen=True, slots=True)
class Apposition:
    """A name beside what its bearer is to the speaker.

    Attributes:
        name: of a person, an animal or a place.
        noun: such as "guinea pig", with the words that say which one.
        sort: `women`, `men`, `people`, `pets` or `PLACES`.
        start: first character in the sentence; `end` is exclusive.
    """

    name: str
    noun: str
    sort: str
    start: int
    end: int


def find_appositions(
    tokens: Sequence[Token], phrases: Iterable[NounPhrase], names: frozenset[str]
) -> Iterator[Apposition]:
    """The names of a sentence that stand beside what their bearers are to who speaks.

    Args:
        tokens: of the sentence.
        phrases: its nouns and names.
        names: of those who speak, folded.
    """
    yield from _find_places(tokens)
    for phrase in phrases:
        if phrase.sort not in _SORTS or tokens[phrase.first].low not in _OWN:
            continue
        words = tokens[phrase.first + 1 : phrase.noun + 1]
        noun = " ".join(token.low for token in words)
        first, end, name = phrase.first, phrase.end, phrase.name
        if not name:
            first, name = _name_before(tokens, phrase)
        is_plain = noun and not _CHANGING & {token.low for token in words} and not words[-1].low.endswith("s")
        if name and is_plain and not set(name.lower().split()) & names:
            yield Apposition(name, noun, phrase.sort, tokens[first].start, tokens[end - 1].end)


def _find_places(tokens: Sequence[Token]) -> Iterator[Apposition]:
    """Reads "my home country, Sweden" and "our village Holm"."""
    places = talk_words().sets["named_places"]
    for at in range(1, len(tokens) - 1):
        first = next((own for own in range(at - 1, max(-1, at - 3), -1) if tokens[own].low in _OWN), None)
        name = at + 1 + (tokens[at + 1].low == ",")
        if first is None or tokens[at].low not in places or name >= len(tokens) or not tokens[name].is_capital:
            continue
        words = tokens[first + 1 : at + 1]
        is_closed = name + 1 == len(tokens) or tokens[name + 1].low in _CLOSING  # "my school, Tom and I" names none
        is_plain = not _CHANGING & {token.low for token in words}
        is_plain = is_plain and tokens[name].low not in talk_words().sets["english"]
        if is_plain and is_closed and tokens[min(name + 1, len(tokens) - 1)].low != "and":
            noun = " ".join(token.low for token in words)
            yield Apposition(tokens[name].text, noun, PLACES, tokens[first].start, tokens[name].end)


def _name_before(tokens: Sequence[Token], phrase: NounPhrase) -> tuple[int, str]:
    """The name of "Oscar, my guinea pig." and where it stands; "" where something else follows or precedes."""
    at = phrase.first - 1
    behind = tokens[phrase.end].low if phrase.end < len(tokens) else "."
    if at < 1 or tokens[at].low not in _LINKING or behind not in _CLOSING or not tokens[at - 1].is_capital:
        return phrase.first, ""
    is_opening = at == 1 or not tokens[at - 2].is_word  # a capital there may be no name's
    is_lone = at == 1 or not tokens[at - 2].is_capital
    name = tokens[at - 1].text
    is_name = is_lone and len(name) > 1 and not (is_opening and behind == ",")
    return at - 1, name if is_name else ""

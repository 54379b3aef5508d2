"""Whether a text tells another value of what the person said, in words that are not read as a claim.

Claims are read with care: a guess, a "they", a record of a form or an inversion is none. Whoever wants to put a lie
beside the person's words chooses just these. So such texts are read once more, loosely, and only beside what the person
said. Must not do: believe anything; it only says that a person should look.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.belief.extract.extraction import extract_claims
from core.belief.extract.normal_form import read_as_seen
from core.belief.relate.distinctions import has_contradiction
from core.belief.relate.features import vocabulary
from core.text.stopwords import stop_words
from core.types.belief import ClaimDraft, Told

_MOST = 600
"""Characters that are read loosely; a longer text is no short lie, and its sentences are read as claims."""
_RECORD = re.compile(r"[{}\[\]()\"'`|=<>*#;:,]+|->")
_NAMED = re.compile(
    r"(?:.*[,:;.]\s+)?(?P<value>[\w'& .@-]{1,60}?) (?:is|was) (?:the user's|user's|my) (?P<name>.{1,60})",
    re.IGNORECASE | re.DOTALL,
)
_OWNED = re.compile(r"(?:the user's|user's|my) (?P<name>.{1,40}?) (?:is|was) (?P<value>.{1,120})", re.IGNORECASE)
MOST_ASSUMED = 16_384
_VALUE = (
    r"(?:[\w.+-]+@[\w.-]+\w|https?://\S+|[\"\u201c']?[A-Z0-9][\w'&./+-]*"
    r"(?:,? (?:(?:&|and|of|de|von|van|der) )?[A-Z0-9][\w'&./+-]*){0,6})"
)
"""A name, a number or an address, as far as its capitals go."""
_SPELT = re.compile(r"(?<!\w)[^\W\d_](?:[ .\-_*][^\W\d_]){2,}(?!\w)")
_PIECES = 6


@dataclass(frozen=True, slots=True)
class _RivalPatterns:
    """`resources/claims/rivals.json`, as patterns."""

    assumptions: tuple[re.Pattern[str], ...]
    guesses: re.Pattern[str]
    persons: re.Pattern[str]
    possessives: re.Pattern[str]
    inverted: re.Pattern[str]
    sayings: re.Pattern[str]
    plainly: Mapping[str, str]
    denials: str
    between: str
    denied: str


def is_rival(existing: Told, incoming: Told) -> bool:
    """Whether a text denies, or tells otherwise, what stands as the only value of its kind.

    Args:
        existing: what the person said, with its claims.
        incoming: what somebody else tells.

    Returns:
        True where a person should look. False where `existing` claims nothing that excludes others.
    """
    held = [claim for claim in existing.claims if claim.exclusive and claim.polarity == "positive"]
    text = read_as_seen(incoming.text)
    if not held or len(text) > _MOST:
        return False
    return _denies(held, text) or any(has_contradiction(held, _read(loose, incoming)) for loose in _loosely(text))


def parse_presuppositions(text: str) -> Mapping[str, tuple[str, ...]]:
    """What a text takes for granted about the things and people of somebody: "use my new lawyer Kari Nilsen".

    Args:
        text: any text, of any kind; its first `MOST_ASSUMED` characters are read.

    Returns:
        Name of the thing in plain words ("lawyer"), without qualities ("new"), to the values it is given.
    """
    words = _words()
    found: dict[str, list[str]] = {}
    read = read_as_seen(text[:MOST_ASSUMED])
    for pattern in words.assumptions:
        for match in pattern.finditer(read):
            name = words.sayings.sub(lambda said: words.plainly[said.group().casefold()], match["name"].casefold())
            value = match["value"].strip(" .,;:'\"")
            if value and not set(name.split()) & stop_words() and value.casefold() not in _dates():
                found.setdefault(name, []).append(value)
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


def has_other_presupposition(existing: Told, incoming: Told) -> bool:
    """Whether a text takes for granted another value of what stands: an order that rests on it says it as well.

    Args:
        existing: what the person said, with its claims.
        incoming: what somebody else tells, of any kind.

    Returns:
        True where a person should look. A part of the person's value ("Kari" for "Kari Nilsen") is no other one.
    """
    theirs, held = parse_presuppositions(incoming.text), parse_presuppositions(existing.text)
    for name, values in theirs.items():
        if name in held and not any(_is_part(one, other) for one in values for other in held[name]):
            return True
        if has_contradiction(existing.claims, presupposed_claims(name, values, incoming)):
            return True
    return False


def presupposed_claims(name: str, values: Sequence[str], incoming: Told) -> list[ClaimDraft]:
    """The claims that a thing and its values make, read as the person's.

    Args:
        name: of the thing, from `parse_presuppositions`.
        values: what it is said to be.
        incoming: the text they are from, for its time.
    """
    return [draft for value in values for said in _as_record(name, value) for draft in _read(said, incoming)]


def _is_part(one: str, other: str) -> bool:
    first, second = (set(re.findall(r"\w+", value.casefold())) for value in (one, other))
    return first <= second or second <= first


@cache
def _dates() -> frozenset[str]:
    return frozenset(vocabulary()["dates"])


def _read(text: str, incoming: Told) -> Sequence[ClaimDraft]:
    return extract_claims(text, now_ms=incoming.at_ms, said_ms=incoming.at_ms)


def _denies(held: Sequence[ClaimDraft], text: str) -> bool:
    """Whether a value of the person's stands right behind a word that denies it, or before one."""
    words = _words()
    return any(
        re.search(
            rf"\b(?:{words.denials})\s+(?:(?:{words.between})\s+){{0,2}}{value}(?!\w)"
            rf"|(?<!\w){value}\s+(?:is|was|are)\s+(?:{words.denied})(?!\w)",
            text,
            re.IGNORECASE,
        )
        for value in (re.escape(read_as_seen(claim.value)) for claim in held)
    )


def _loosely(text: str) -> Iterator[str]:
    """The text without guessing, with the user for whom it speaks of, in plain words, turned round, and as a record."""
    words = _words()
    joined = _SPELT.sub(lambda letters: "".join(filter(str.isalnum, letters.group())), text)
    plain = " ".join(words.guesses.sub(" ", joined).split())
    plain = words.possessives.sub("the user's", words.persons.sub("the user", plain))
    plain = words.sayings.sub(lambda said: words.plainly[said.group().casefold()], plain)
    if plain != text:
        yield plain
    turned = words.inverted.fullmatch(plain.strip(" .!"))
    if turned is not None:
        value, rest = turned["value"], turned["rest"]
        yield from (f"{rest} {value}.", f"{rest} in {value}.", f"{rest} at {value}.")
    named = _NAMED.fullmatch(plain.strip(" .!")) or _OWNED.fullmatch(plain.strip(" .!"))
    if named is not None:
        yield from _as_record(named["name"], named["value"])
    yield from _records(words.sayings.sub(lambda said: words.plainly[said.group().casefold()], text))


def _records(text: str) -> Iterator[str]:
    """What a record says, read as a sentence: the last two of its pieces are a name and a value."""
    pieces = [piece for one in _RECORD.split(text) if (piece := one.replace("_", " ").strip(" .\n\t-"))]
    if not 2 <= len(pieces) <= _PIECES:
        return
    yield from _as_record(pieces[-2].split(".")[-1].strip(), pieces[-1])


def _as_record(name: str, value: str) -> Iterator[str]:
    """A name and its value as the reader of claims knows them; of a list the last part, too ("street, town")."""
    yield from (f"{name}: {value}", f"The user {name} {value}.", f"The user's {name} is {value}.")
    if "," in value:
        yield f"{name}: {value.rpartition(',')[2].strip()}"


@cache
def _words() -> _RivalPatterns:
    held = json.loads((files("resources") / "claims" / "rivals.json").read_text(encoding="utf-8"))

    def any_of(name: str) -> str:
        return "|".join(re.escape(word) for word in sorted(held[name], key=len, reverse=True))

    def whole(name: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w'])(?:{any_of(name)})(?![\w'])", re.IGNORECASE)

    name = r"(?P<name>[a-z][a-z-]+(?: [a-z][a-z-]+){0,2}?)"
    about = rf"(?<![\w'])(?i:{any_of('possessors')}) (?i:(?:{any_of('qualities')}) )*{name}"
    joins = rf"(?:,|:| (?i:{any_of('joins')})|)"
    return _RivalPatterns(
        assumptions=(
            re.compile(rf"{about}{joins} (?P<value>{_VALUE})"),
            re.compile(rf"(?P<value>{_VALUE})(?:,| (?i:as|is|are)) {about.replace('{0,2}?', '{0,2}')}(?![\w'-])"),
            re.compile(rf"{about} ?(?i:is now|is|are|:|=) (?P<value>[^.,;:!?\n]{{1,60}})"),
        ),
        guesses=whole("guesses"),
        persons=whole("persons"),
        sayings=whole("sayings"),
        plainly=held["sayings"],
        possessives=whole("possessives"),
        inverted=re.compile(
            rf"(?:.*[,:;.]\s+)?(?:not \S+ but )?(?P<value>[\w'& .-]{{1,60}}?) (?:is|was) (?:{any_of('inverted')}) "
            r"(?P<rest>.{1,200})",
            re.IGNORECASE | re.DOTALL,
        ),
        denials=any_of("denials"),
        between=any_of("between"),
        denied=any_of("denied"),
    )

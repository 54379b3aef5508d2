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
from core.belief.relate.possession import is_about_user
from core.types.belief import ClaimDraft, Told

_MOST = 600
"""Characters that are read loosely; a longer text is no short lie, and its sentences are read as claims."""
_RECORD = re.compile(r"[{}\[\]()\"'`|=<>*#;:,]+|->")
_NAMED = re.compile(
    r"(?:.*[,:;.]\s+)?(?P<value>[\w'& .@-]{1,60}?) (?:is|was) (?:the user's|user's|my) (?P<name>.{1,60})",
    re.IGNORECASE | re.DOTALL,
)
_OWNED = re.compile(r"(?:the user's|user's|my) (?P<name>.{1,40}?) (?:is|was) (?P<value>.{1,120})", re.IGNORECASE)
_OF_THEM = re.compile(r"[\w' -]{1,60}\b(?:is|are)\b", re.IGNORECASE)
"""Whose thing is named without a word on whom it is: a record of the person's, where it says what the thing is."""
_SPELT = re.compile(r"(?<!\w)[^\W\d_](?:[ .\-_*][^\W\d_]){2,}(?!\w)")
_PIECES = 6


@dataclass(frozen=True, slots=True)
class _RivalPatterns:
    """`resources/claims/rivals.json`, as patterns."""

    guesses: re.Pattern[str]
    persons: re.Pattern[str]
    possessives: re.Pattern[str]
    plural: re.Pattern[str]
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


def _read(text: str, incoming: Told) -> Sequence[ClaimDraft]:
    return extract_claims(text, now_ms=incoming.at_ms, said_ms=incoming.at_ms)


def _denies(held: Sequence[ClaimDraft], text: str) -> bool:
    """Whether a value of the person's stands right behind a word that denies it, or before one."""
    words = _rival_patterns()
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
    words = _rival_patterns()
    joined = _SPELT.sub(lambda letters: "".join(filter(str.isalnum, letters.group())), text)
    plain = " ".join(words.guesses.sub(" ", joined).split())
    plain = words.persons.sub("the user", plain)
    if is_about_user(text):
        plain = words.possessives.sub("the user's", plain)
    elif _OF_THEM.match(plain):
        plain = words.plural.sub("the user's", plain)
    plain = words.sayings.sub(lambda said: words.plainly[said.group().casefold()], plain)
    if plain != text:
        yield plain
    turned = words.inverted.fullmatch(plain.strip(" .!"))
    if turned is not None:
        value, rest = turned["value"], turned["rest"]
        yield from (f"{rest} {value}.", f"{rest} in {value}.", f"{rest} at {value}.")
    named = _NAMED.fullmatch(plain.strip(" .!")) or _OWNED.fullmatch(plain.strip(" .!"))
    if named is not None:
        yield from as_record(named["name"], named["value"])
    yield from _records(words.sayings.sub(lambda said: words.plainly[said.group().casefold()], text))


def _records(text: str) -> Iterator[str]:
    """What a record says, read as a sentence: the last two of its pieces are a name and a value."""
    pieces = [piece for one in _RECORD.split(text) if (piece := one.replace("_", " ").strip(" .\n\t-"))]
    if not 2 <= len(pieces) <= _PIECES:
        return
    yield from as_record(pieces[-2].split(".")[-1].strip(), pieces[-1])


def as_record(name: str, value: str) -> Iterator[str]:
    """A name and its value as the reader of claims knows them; of a list the last part, too ("street, town").

    Args:
        name: of a thing of the user's.
        value: what it is said to be.
    """
    yield from (f"{name}: {value}", f"The user {name} {value}.", f"The user's {name} is {value}.")
    if "," in value:
        yield f"{name}: {value.rpartition(',')[2].strip()}"


@cache
def _rival_patterns() -> _RivalPatterns:
    held = json.loads((files("resources") / "claims" / "rivals.json").read_text(encoding="utf-8"))

    def any_of(*names: str) -> str:
        every = [word for name in names for word in held[name]]
        return "|".join(re.escape(word) for word in sorted(every, key=len, reverse=True))

    def whole(*names: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w'])(?:{any_of(*names)})(?![\w'])", re.IGNORECASE)

    return _RivalPatterns(
        guesses=whole("guesses"),
        persons=whole("persons"),
        sayings=whole("sayings"),
        plainly=held["sayings"],
        possessives=whole("possessives", "of_one"),
        plural=whole("possessives"),
        inverted=re.compile(
            rf"(?:.*[,:;.]\s+)?(?:not \S+ but )?(?P<value>[\w'& .-]{{1,60}}?) (?:is|was) (?:{any_of('inverted')}) "
            r"(?P<rest>.{1,200})",
            re.IGNORECASE | re.DOTALL,
        ),
        denials=any_of("denials"),
        between=any_of("between"),
        denied=any_of("denied"),
    )

"""What a text says of the things and people of the user: "use my new lawyer Kari Nilsen", "User blood type: A".

A thing is the user's where the text says so: "my", "our", "the user's"; "the", "his", "her" and "their" count only in a
text that speaks of the user by that name. "The dog Laika flew into space." says nothing of the user's dog. Pure. Must
not do: compare two texts (`core.belief.relate.owner_contradiction` does), or believe anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import takewhile

from core.belief.relate.features import load_vocabulary
from core.text.terms import index_terms, stop_words

_VALUE = (
    r"(?:[\w.+-]+@[\w.-]+\w|https?://\S+|[\"\u201c']?[A-Z0-9][\w'&./+-]*"
    r"(?:,? (?:(?:&|and|of|de|von|van|der) )?[A-Z0-9][\w'&./+-]*){0,6})"
)
"""A name, a number or an address, as far as its capitals go."""
_NAME_WORD = r"(?:[a-z][a-z-]+|[A-Z]{2,5}(?![\w']))"
_NAME = rf"(?P<name>{_NAME_WORD}(?: {_NAME_WORD}){{0,3}}?)"
_NAMED_WHOLE = rf"(?P<name>{_NAME_WORD}(?: {_NAME_WORD}){{0,3}})"
_MOST_NAMED = 12
_PARTICIPLE = re.compile(r"^(?:(?:now|still|kept|hidden|called|[a-z]{2,}ed)(?: |$))+", re.IGNORECASE)
_TOKEN = re.compile(r"[\w'&.@+-]*\w")
_VERB_ENDS = ("sses", "shes", "ches", "xes", "zes")
_IRREGULAR = {
    "is": "am", "has": "have", "does": "do", "goes": "go", "isn't": "am not", "doesn't": "do not", "hasn't": "have not",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Possession:
    """A thing of the user's and what a text gives it.

    Attributes:
        name: of the thing in plain words ("lawyer"), without qualities ("new").
        value: as written.
        link: the preposition before the value; "" where the value is what the thing is.
    """

    name: str
    value: str
    link: str = ""

    @property
    def stems(self) -> tuple[str, ...]:
        """The name's words as they are compared."""
        return tuple(index_terms(self.name).split())

    @property
    def sentence(self) -> str:
        """What it says, as the user would state it."""
        return f"My {self.name} is {self.link + ' ' if self.link else ''}{self.value}."


@dataclass(frozen=True, slots=True)
class _PossessionPatterns:
    """`resources/claims/rivals.json`, as patterns."""

    own: tuple[re.Pattern[str], ...]
    about: tuple[re.Pattern[str], ...]
    record: re.Pattern[str]
    things: re.Pattern[str]
    things_about: re.Pattern[str]
    of_user: re.Pattern[str]
    sayings: re.Pattern[str]
    plainly: Mapping[str, str]
    links: frozenset[str]
    done: frozenset[str]


def is_about_user(text: str) -> bool:
    """Whether a text speaks of the user by that name, so that "the", "his" and "her" may be the user's in it."""
    return load_patterns().of_user.search(text) is not None


def read_possessions(sentence: str, *, about_user: bool) -> tuple[Possession, ...]:
    """What a sentence says of things of the user's, or takes for granted.

    Args:
        sentence: as read (`core.belief.extract.normal_form.read_as_seen`).
        about_user: whether the text that it is of speaks of the user by that name.
    """
    words = load_patterns()
    found: dict[tuple[str, str, str], Possession] = {}
    patterns = words.about if about_user else words.own
    for pattern in (*patterns, words.record):
        for match in pattern.finditer(sentence):
            one = _read_possession(match)
            if one is not None and len(found) < _MOST_NAMED:
                found.setdefault((one.name, one.value.casefold(), one.link), one)
    return tuple(found.values())


def read_possessed_things(sentence: str, *, about_user: bool) -> tuple[tuple[str, ...], ...]:
    """The things of the user's that a sentence speaks of, by the stems of their names, whatever it says of them."""
    words = load_patterns()
    pattern = words.things_about if about_user else words.things
    found = (index_terms(plain_name(match["name"])).split() for match in pattern.finditer(sentence))
    return tuple(dict.fromkeys(tuple(stems) for stems in found if stems))[:_MOST_NAMED]


def plain_name(name: str) -> str:
    """The plain word for a thing: "solicitor" as "lawyer"."""
    words = load_patterns()
    return words.sayings.sub(lambda match: words.plainly[match.group().casefold()], name.casefold())


def to_first_person(sentence: str, *, about_user: bool) -> str:
    """A sentence about the user as the user would say it: "The user eats pork." as "I eat pork.".

    Args:
        sentence: as read.
        about_user: as in `read_possessions`.
    """
    rewritten = re.sub(r"\b(?:the\s+)?user(?:'s|s')(?=\s)", "my", sentence, flags=re.IGNORECASE)
    rewritten = re.sub(r"\b(?:the\s+)?user\s+([a-z]+(?:'t)?)\b", _as_i, rewritten, flags=re.IGNORECASE)
    if about_user:
        rewritten = re.sub(r"\b(?:his|her|their)\b(?= [a-z])", "my", rewritten, flags=re.IGNORECASE)
        rewritten = re.sub(r"^(?:he|she|they)\s+([a-z]+(?:'t)?)\b", _as_i, rewritten, flags=re.IGNORECASE)
    return rewritten[:1].upper() + rewritten[1:]


def is_one_time_event(sentence: str) -> bool:
    """Whether a sentence tells what somebody did once, rather than how things are: "I met my sister in Oslo."""
    done = load_patterns().done
    found = [word.casefold() for word in _TOKEN.findall(sentence)]
    return any(word in done or (len(word) > 4 and word.endswith("ed")) for word in found)


def _as_i(match: re.Match[str]) -> str:
    verb = match[1].casefold()
    if verb in _IRREGULAR:
        return f"I {_IRREGULAR[verb]}"
    if verb.endswith("ies") and len(verb) > 4:
        return f"I {verb[:-3]}y"
    if verb.endswith(_VERB_ENDS):
        return f"I {verb[:-2]}"
    return f"I {verb.removesuffix('s')}" if not verb.endswith(("ss", "us", "was")) else f"I {verb}"


def _read_possession(match: re.Match[str]) -> Possession | None:
    parts = match.groupdict()
    name, value = plain_name(parts["name"]), parts["value"].strip(" .,;:!?'\"")
    if parts.get("before") is not None:  # the value stood before the thing: what is behind it belongs to neither
        name = _up_to_function_word(name)
    link = parts.get("link")
    if link is None:
        value = _PARTICIPLE.sub("", value)
        first, _, rest = value.partition(" ")
        link, value = (first, rest) if first.casefold() in load_patterns().links and rest else ("", value)
    is_name = index_terms(name) and not set(name.split()) & stop_words()
    return Possession(name, value, link.casefold()) if is_name and value else None


def _up_to_function_word(name: str) -> str:
    """A name without what follows it: of "phone number on forms" the "phone number"."""
    return " ".join(takewhile(lambda word: word not in stop_words(), name.split()))


def value_kinds(value: str) -> frozenset[str]:
    """What a value is made of: `date`, `name`, `number`; nothing of the kind for plain words."""
    dates = load_vocabulary()["dates"]
    found: set[str] = set()
    for word in _TOKEN.findall(value):
        if word.casefold() in dates:
            found.add("date")
            continue
        if any(sign.isdigit() for sign in word) or "@" in word:
            found.add("number")
        is_small = word == "I" or (len(word) > 1 and word.casefold() in stop_words())
        if word[0].isupper() and not is_small:
            found.add("name")
    return frozenset(found)


def is_part_of_value(one: str, other: str) -> bool:
    """Whether one value says no more than the other: "Kari" beside "Kari Nilsen"."""
    first, second = (
        {index_terms(word) for word in re.findall(r"\w+", value.casefold()) if word not in stop_words()}
        for value in (one, other)
    )
    return first <= second or second <= first


def join_alternatives(vocabulary: Mapping[str, Sequence[str]], *names: str) -> str:
    """Words of some lists as the alternatives of a pattern, the longest first."""
    every = [word for name in names for word in vocabulary[name]]
    return "|".join(re.escape(word) for word in sorted(every, key=len, reverse=True))


@cache
def load_patterns() -> _PossessionPatterns:
    """The words, read once."""
    vocabulary = json.loads((files("resources") / "claims" / "rivals.json").read_text(encoding="utf-8"))

    any_of = partial(join_alternatives, vocabulary)

    def things_of(possessors: str) -> str:
        return rf"(?<![\w'])(?i:{possessors}) (?!user\b)(?i:(?:{any_of('qualities')}) )*"

    own, about = any_of("possessors"), any_of("possessors", "pointers")
    named = "|".join(word for word in about.split("|") if word != "the")
    sayings = any_of("sayings")
    return _PossessionPatterns(
        own=tuple(_value_patterns(things_of(own), any_of("joins"), any_of("links"))),
        about=(
            *_value_patterns(things_of(about), any_of("joins"), any_of("links"), things_of(named)),
            *_patterns_of_user(),
        ),
        record=re.compile(r"^(?i:(?:the )?user(?:'s)? )?(?P<name>[a-z][a-z-]+(?:[ _][a-z][a-z-]+){0,3}) ?[:=] ?"
                          r"(?P<value>[^.,;:!?\n]{1,60})[.!]?$"),
        things=re.compile(things_of(own) + _NAMED_WHOLE),
        things_about=re.compile(things_of(about) + _NAMED_WHOLE),
        of_user=re.compile(r"(?<![\w'])(?:(?:the|our|this) )?user(?:'s|s')?(?!\w)", re.IGNORECASE),
        sayings=re.compile(rf"(?<![\w'])(?:{sayings})(?![\w'])", re.IGNORECASE),
        plainly=vocabulary["sayings"],
        links=frozenset(vocabulary["links"]),
        done=frozenset(vocabulary["done"]),
    )  # fmt: skip


def _patterns_of_user() -> Iterator[re.Pattern[str]]:
    """Ways that say by "the user" whose thing it is."""
    yield re.compile(rf"(?i:the) {_NAME} of (?i:the user|this user) (?:is|is now|are|:|=) (?P<value>{_VALUE})")
    yield re.compile(rf"(?P<before>)(?i:user) [a-z]+ (?P<value>{_VALUE}) as (?:(?:an?|the) )?{_NAMED_WHOLE}")


def _value_patterns(about: str, joins: str, links: str, named: str = "") -> Iterator[re.Pattern[str]]:
    """The ways in which a text gives a thing its value, behind it or before it.

    Right before a name "the" says nothing of whose it is ("the lawyer Clarence Darrow"): that is what `named` is for.
    """
    behind = rf"{about}{_NAME}"
    whole = rf"{about}{_NAMED_WHOLE}(?![\w'-])"
    yield re.compile(rf"{behind}(?:,|:| (?i:{joins})) (?P<value>(?:an? (?:[a-z-]+ )?)?{_VALUE})")
    yield re.compile(rf"{named or about}{_NAME} (?P<value>{_VALUE})")
    place = r"(?:the|an?|my|our) [a-z-]+(?: [a-z-]+)?"
    verb = r"(?:(?:is|are|was|lives|live|goes|go|[a-z]+s) )?(?:[a-z]+ed |kept |now )?"
    yield re.compile(rf"{behind} {verb}(?P<link>{links}) (?P<value>(?:the |an? )?(?:[a-z-]+ )?{_VALUE}|{place})")
    becomes = r"(?:,| (?:down )?as| (?:is|are|was|became)(?: now)?| takes over as| took over as)"
    yield re.compile(rf"(?P<before>)(?P<value>{_VALUE}(?: [a-z]+)?){becomes} {whole}")
    yield re.compile(rf"{behind} ?(?:is now|is|are|:|=) (?P<value>[^.,;:!?\n]{{1,60}})")
    yield re.compile(rf"(?<![\w'])an? (?i:new|different|other) {_NAME}(?:,|:| is| called| named|) (?P<value>{_VALUE})")
    yield re.compile(
        rf"(?P<before>)(?P<value>{_VALUE})[^.;]{{0,30}}?,? (?:who|which|they|he|she|it) (?:is|are) {whole}"
    )
    yield re.compile(
        rf"(?P<link>at|in|on|under)(?:to)? (?P<value>(?:the|an?) [\w' -]{{1,40}}?),? where {behind} (?:is|are)"
    )

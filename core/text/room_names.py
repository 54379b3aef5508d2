"""Names for rooms: the noun phrase that most texts of a room share and those of the other rooms do not.

A room that shares none is called by its time ("April to August 2023, talk"), and by who speaks in it where that tells
it from the others ("Spring 2023, Mara and Tom"). A name is plain text: letters of any script, spaces, commas, hyphens
and apostrophes, digits only in a date. Must not do: keep or log a text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.text.noun_phrases import Key, Phrase, read_phrases, stem_of
from core.text.terms import fold_case, fold_width, stop_words

NOTHING = "Odds and ends"
"""The name of a room without words and without a time."""
LONGEST = 28
"""Characters of a name at most."""
LONGEST_BY_TIME = 48
"""The same of one by time, which holds two facts."""
_LONGEST_SPAN, _LONGEST_WHO, _LONGEST_SPEAKER = 22, 24, 20
_SPEAKER_SHARE = 0.15
"""Share of a room's texts that somebody said who is named."""
_ROLES = frozenset({"user", "human", "assistant", "system", "tool", "source", "other", "ai", "bot", "model"})
TEXTS = 250
"""Texts of one room that are read for its name."""
_LEAST_SHARE = 0.12
"""Share of a room's texts that have its name at least; below it the room has no theme."""
_LEAST_SHARE_OF_WORD = 0.25
"""The same of a common word, which texts may share by chance; names and pairs of words they do not."""
_FEW_TEXTS = 10
_COVER_POWER = 0.7
"""How much covering many texts counts beside belonging to this room alone. Tried on the sample diary and conversations
of our own: at 1 the widest word wins ("Friends"), at 0.3 the rarest ("Banana split")."""
_PAIR_BONUS = 1.3  # two words say more than one
_NAME_BONUS = 1.3  # what people write with capitals inside a sentence names a thing: better than any other word
_PAIR_SHARE = 0.5  # two words are one term if the rarer stands beside the other at least so often
_OWNED_SHARE = 0.5
_CAPITALS = 0.6
_LEAST_SHORT_FORM = 3
_SEASONS = (
    ("Winter", "Winter", "Spring", "Spring", "Spring", "Summer") + ("Summer", "Summer") + ("Autumn",) * 3 + ("Winter",)
)

_DECEMBER = 12
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = rf"(?:{'|'.join((*_MONTHS, *(month[:3] for month in _MONTHS)))})"
_DAY = rf"\d{{1,2}}(?: {_MONTH})?(?: \d{{4}})?"
_TIME = (
    rf"(?:(?:{'|'.join(sorted(set(_SEASONS)))}|{_MONTH}(?: \d{{4}})?(?: to {_MONTH})?) \d{{4}}|\d{{4}} to \d{{4}}"
    rf"|(?:{_DAY} to )?\d{{1,2}} {_MONTH} \d{{4}})"
)
_TITLE_MARKS = re.compile(r"^\W+|\W+$")
_OTHERS = "others"
_TALK = "talk"
_BY_TIME = re.compile(
    rf"{_TIME}, (?:talk|notes|with (?P<one>[^,]+?)|(?P<first>[^,]+?) and (?P<second>[^,]+?))(?: [B-Z]+)?"
)


@dataclass(frozen=True, slots=True)
class RoomTexts:
    """What a name is made of.

    Attributes:
        texts: of the room's memories; the first `TEXTS` are read.
        times: when they were said, epoch ms.
        is_talk: whether most of them are messages of conversations.
        authors: who said each, as far as that is known.
        phrases: of each text, where they are known already.
    """

    texts: Sequence[str]
    times: Sequence[int] = ()
    is_talk: bool = False
    authors: Sequence[str | None] = ()
    phrases: Sequence[Sequence[Phrase]] | None = None


@dataclass(slots=True)
class _Term:
    """One phrase of one room.

    Attributes:
        texts: in how many of its texts it stands.
        inside: how often each way of writing it stood where a sentence did not begin.
        first: the same where one began.
        owners: whose it was said to be, and how often.
    """

    texts: int = 0
    inside: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class RankedTerm:
    """A term that may name a room.

    Attributes:
        key: what its forms share.
        name: as it is shown.
        score: how well it fits this room and no other.
        is_common: whether it is one word written small.
    """

    key: Key
    name: str
    score: float
    is_common: bool


def name_rooms(
    rooms: Sequence[RoomTexts],
    taken: Collection[str] = (),
    others: Sequence[Iterable[str]] = (),
    speakers: Iterable[str] = (),
) -> list[str]:
    """Name the rooms of one wing.

    Args:
        taken: names that are used in the wing already.
        others: texts of rooms that have their names, to tell the new ones from.
        speakers: who speaks in the texts; people call each other by name whatever they talk about.

    Returns:
        A name for each, all different, at most `LONGEST` characters; `LONGEST_BY_TIME` of one by its time.
    """
    used = {fold_case(name) for name in taken}
    names = []
    for room, theme in zip(rooms, find_themes(rooms, taken, others, speakers), strict=True):
        is_own = theme is not None and fold_case(theme) not in used
        names.append(theme if theme is not None and is_own else name_by_time(room, used))
        used.add(fold_case(names[-1]))
    return names


def name_by_time(room: RoomTexts, used: Collection[str], elsewhere: Sequence[str | None] = ()) -> str:
    """The name of a room without a theme.

    Args:
        used: names that are taken, folded.
        elsewhere: who said what is in the other rooms; the same people tell this one from none of them.
    """
    times = list(_name_by_times(room, elsewhere))
    return _choose_unused_name(times, used, times[0] if times else NOTHING, LONGEST_BY_TIME)


def find_themes(
    rooms: Sequence[RoomTexts],
    taken: Collection[str] = (),
    others: Sequence[Iterable[str]] = (),
    speakers: Iterable[str] = (),
) -> list[str | None]:
    """What each room is about, as `name_rooms` calls it.

    Returns:
        A theme for each; None for a room without one. Where all that a room is about is the theme of one before it,
        that theme is given again: the two are one topic.
    """
    used = {fold_case(name) for name in taken}
    found: list[str | None] = []
    for ranked in rank_terms(rooms, others, speakers):
        themes = [term.name for term in ranked]
        theme = next((name for name in themes if is_unused(name, used)), None)
        theme = theme or next((name for name in themes if name in found), None)
        if theme is not None:
            used.add(fold_case(theme))
        found.append(theme)
    return found


def rank_terms(
    rooms: Sequence[RoomTexts], others: Sequence[Iterable[str]] = (), speakers: Iterable[str] = ()
) -> list[list[RankedTerm]]:
    """The terms that may name each room, the best first; arguments as of `name_rooms`."""
    counted = [_count_terms(room.phrases or map(read_phrases, room.texts)) for room in rooms]
    overall: Counter[Key] = Counter()
    for terms, _ in (*counted, *(_count_terms(map(read_phrases, texts)) for texts in others)):
        for key, term in terms.items():
            overall[key] += term.texts
    silent = {stem_of(word) for speaker in speakers for word in fold_width(speaker).split()}
    silent |= {key[0] for terms, _ in counted for key in terms if len(key) == 1 and _is_short_form(key[0], silent)}
    return [
        [term for term in _rank_terms(terms, size, overall) if silent.isdisjoint(term.key)] for terms, size in counted
    ]


def _is_short_form(stem: str, names: Collection[str]) -> bool:
    """Whether a word begins the name of a speaker ("Mel" of Melanie)."""
    return len(stem) >= _LEAST_SHORT_FORM and any(name.startswith(stem) for name in names)


def _count_terms(texts: Iterable[Iterable[Phrase]]) -> tuple[dict[Key, _Term], int]:
    terms: dict[Key, _Term] = {}
    size = 0
    for phrases, _ in zip(texts, range(TEXTS), strict=False):
        size += 1
        seen: set[Key] = set()
        for phrase in phrases:
            _note_term(terms.setdefault(phrase.key, _Term()), phrase)
            seen.add(phrase.key)
        for key in seen:
            terms[key].texts += 1
    # A pair that stands in one text is no term; most pairs are such, and they would fill the memory.
    return {key: term for key, term in terms.items() if len(key) == 1 or term.texts > 1}, size


def _note_term(term: _Term, phrase: Phrase) -> None:
    # A capital at the beginning of a sentence tells nothing; a small letter there does.
    is_first = phrase.starts_sentence and not phrase.shown.islower()
    (term.first if is_first else term.inside)[phrase.shown] += 1
    if phrase.owner:
        term.owners[phrase.owner] += 1


def _rank_terms(terms: dict[Key, _Term], size: int, overall: Counter[Key]) -> Iterator[RankedTerm]:
    """Terms that so many of the texts have that they name the room, the best first."""
    found = []
    for key, term in terms.items():
        shown = _format_term(term)
        is_common = len(key) == 1 and shown.islower()
        if term.texts < _least_texts(size, is_common) or (len(key) == 2 and not _is_term(term, key, terms)):
            continue
        score = (term.texts / size) ** _COVER_POWER * term.texts / overall[key]
        score *= _PAIR_BONUS if len(key) == 2 else 1.0
        if all(word[:1].isupper() for word in shown.split()) and not shown.isupper():
            score *= _NAME_BONUS
        found.append((score, key, shown))
    # A word that mostly stands in a pair is told by the pair, an owner by what is theirs.
    in_pair = {
        (word,)
        for _, key, _ in found
        for word in (key if len(key) == 2 else map(stem_of, filter(None, [_main_owner_of_term(terms[key])])))
        if _is_mostly_pair(terms[key], terms.get((word,)))
    }
    found = [ranked for ranked in found if ranked[1] not in in_pair]
    for score, key, shown in sorted(found, key=lambda ranked: (-round(ranked[0], 9), -len(ranked[1]), ranked[1])):
        yield RankedTerm(key, _capitalize_name(shown), score, len(key) == 1 and shown.islower())


def _least_texts(size: int, is_common: bool) -> int:
    """In how many of a room's texts a term stands at least to name it."""
    some = min(math.ceil(_LEAST_SHARE_OF_WORD * size), _FEW_TEXTS) if is_common else 0
    return max(min(size, 2), some, math.ceil(_LEAST_SHARE * size))


def _is_mostly_pair(pair: _Term, word: _Term | None) -> bool:
    return word is not None and pair.texts >= _PAIR_SHARE * word.texts


def _is_term(pair: _Term, key: Key, terms: dict[Key, _Term]) -> bool:
    known = [terms[part,].texts for part in key if (part,) in terms]
    return pair.texts >= 2 and (not known or pair.texts >= _PAIR_SHARE * min(known))


def _format_term(term: _Term) -> str:
    """The most frequent way of writing it, with whose it is where half of the texts say so."""
    shown, owner = _most_frequent(term), _main_owner_of_term(term)
    return f"{owner}'s {shown[:1].lower() + shown[1:]}" if owner else shown


def _main_owner_of_term(term: _Term) -> str:
    for owner, count in term.owners.most_common(1):
        if count >= max(2, _OWNED_SHARE * term.texts):
            return owner
    return ""


def _most_frequent(term: _Term) -> str:
    """At the beginning of a sentence a capital tells nothing."""
    if term.inside:
        shown = min(term.inside.items(), key=lambda item: (-item[1], item[0]))[0]
        capitals = sum(count for form, count in term.inside.items() if form[:1].isupper())
        if shown[:1].isupper() and not shown.isupper() and capitals < _CAPITALS * term.inside.total():
            return shown.lower()
        return shown
    shown = min(term.first.items(), key=lambda item: (-item[1], item[0]))[0]
    return shown if shown.isupper() else shown[:1].lower() + shown[1:]


def name_by_title(title: str, speakers: Collection[str] = ()) -> str | None:
    """The name of a room that holds one conversation: its title, a long one up to where a small word joins its rest on.

    Args:
        speakers: who speaks; a title that names nothing else ("Chat with Mara") tells nothing.

    Returns:
        At most `LONGEST` characters; None where the title tells nothing that could be shown.
    """
    silent = {stem_of(word) for speaker in speakers for word in fold_width(speaker).split()}
    words = [word for word in map(_keep_letters, unicodedata.normalize("NFC", title).split()) if word]
    while words and (len(" ".join(words)) > LONGEST or fold_case(words[-1]) in stop_words()):
        joints = [at for at, word in enumerate(words) if at and fold_case(word) in stop_words()]
        words = words[: joints[-1]] if joints else []
    name = " ".join(words)
    if not any(silent.isdisjoint(phrase.key) for phrase in read_phrases(name)):
        return None
    return _capitalize_name(name)


def _keep_letters(word: str) -> str:
    """A word of a title as a name may show it; empty for numbers, signs and what holds them."""
    bare = _TITLE_MARKS.sub("", word)
    is_plain = all(sign in "'’-" or unicodedata.category(sign)[0] in "LM" for sign in bare)
    return bare if is_plain and any(map(str.isalpha, bare)) else ""


def is_named_by_time(name: str) -> bool:
    """Whether a name is one that `name_by_time` gives."""
    return _BY_TIME.fullmatch(name) is not None


def speakers_in_name(name: str) -> tuple[str, ...]:
    """Who is named in a name that `name_by_time` gave; empty for another name."""
    found = _BY_TIME.fullmatch(name)
    named = () if found is None else found.group("one", "first", "second")
    return tuple(who for who in named if who is not None and who != _OTHERS)


def _name_by_times(room: RoomTexts, elsewhere: Sequence[str | None]) -> Iterator[str]:
    """Names of a room without a theme by its time and who speaks; each tells all that its memories span."""
    if room.times:
        who = _name_who(room.authors) if room.is_talk else "notes"
        who = _TALK if room.is_talk and who == _name_who(elsewhere) else who
        for span in _spans_of_time(_to_utc(min(room.times)), _to_utc(max(room.times))):
            if len(span) <= _LONGEST_SPAN:
                yield f"{span}, {who}"


def _name_who(authors: Sequence[str | None]) -> str:
    """Who speaks: `Mara and Tom`, `Mara and others`, `with Tom`; `talk` where nobody has a name to be shown."""
    counts = Counter(unicodedata.normalize("NFC", author) for author in authors if author and _is_name(author))
    least = max(2, math.ceil(_SPEAKER_SHARE * len(authors)))
    often = sorted((name for name, count in counts.items() if count >= least), key=lambda name: (-counts[name], name))
    first_names = [name.split()[0] for name in often]
    for names in (often, first_names):
        if len(names) == 1:
            forms = [f"with {names[0]}"]
        else:
            both = [" and ".join(sorted(names))] if len(names) == 2 else []
            forms = [*both, *(f"{name} and {_OTHERS}" for name in names[:1] if len(names) > 2)]
        is_told_apart = len({fold_case(name) for name in names}) == len(names)
        fitting = [form for form in forms if len(form) <= _LONGEST_WHO and is_told_apart]
        if fitting:
            return fitting[0]
    return _TALK


def _is_name(author: str) -> bool:
    """Whether an author can be a part of a room's name: whoever wrote the file may have put anything there."""
    plain = unicodedata.normalize("NFC", author)
    if not plain[:1].isalpha() or len(plain) > _LONGEST_SPEAKER or plain != " ".join(plain.split()):
        return False
    is_plain = all(sign in " '-" or unicodedata.category(sign)[0] in "LM" for sign in plain)
    return is_plain and not {*_ROLES, _OTHERS, "and"} & set(fold_case(plain).split())


def _spans_of_time(begin: datetime, end: datetime) -> Iterator[str]:
    """A time as short as it can be said, then ever more exactly."""
    if end.year > begin.year + 1:
        yield f"{begin.year} to {end.year}"
    first, last = _MONTHS[begin.month - 1], _MONTHS[end.month - 1]
    if begin.year == end.year:
        season = _SEASONS[begin.month - 1]
        if season == _SEASONS[end.month - 1] and not begin.month < _DECEMBER == end.month:
            yield f"{season} {begin.year}"
        yield f"{first if begin.month == end.month else f'{first} to {last}'} {begin.year}"
        if begin.month < end.month:
            yield f"{first[:3]} to {last[:3]} {begin.year}"
    yield f"{first[:3]} {begin.year} to {last[:3]} {end.year}"
    if end.year > begin.year:
        yield f"{begin.year} to {end.year}"
    until = f"{end.day} {last[:3]} {end.year}"
    if begin.date() == end.date():
        yield until
    elif (begin.year, begin.month) == (end.year, end.month):
        yield f"{begin.day} to {until}"
    elif begin.year == end.year:
        yield f"{begin.day} {first[:3]} to {until}"
    else:
        yield f"{begin.day} {first[:3]} {begin.year} to {until}"


def _to_utc(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _capitalize_name(name: str) -> str:
    return unicodedata.normalize("NFC", name[:1].upper() + name[1:])


def is_unused(name: str, used: Collection[str], longest: int = LONGEST) -> bool:
    """Whether a name can be shown and is not among those that are used, folded."""
    return 0 < len(name) <= longest and fold_case(name) not in used


def _choose_unused_name(candidates: Iterable[str], used: Collection[str], spare: str, longest: int) -> str:
    for name in candidates:
        if is_unused(name, used, longest):
            return name
    letters = [""]
    while True:
        letters = [before + chr(letter) for before in letters for letter in range(ord("B"), ord("Z") + 1)]
        for tail in ("", *(f" {letter}" for letter in letters)):
            if fold_case(spare + tail) not in used:
                return spare + tail

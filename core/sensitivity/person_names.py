"""Names of private people: full names, a surname behind a title, and any name that the text introduces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.sensitivity.passage import Passage, fold, load_common_words, load_folded_names, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_BEFORE, _AFTER, _AROUND = 70, 40, 160
_FILE = "people"
_LONGEST = 5  # words of one name


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    text: str

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def folded(self) -> str:
        return fold(self.text.lower())

    @property
    def is_given(self) -> bool:
        """Whether it is a known given name, and no word that is more often something else."""
        if self.is_ordinary:
            return False
        first = re.split(r"[-']", self.folded)[0]
        return _is_known(self.folded) or (_is_known(first) and first not in load_vocabulary(_FILE).words("not_given"))

    @property
    def is_ordinary(self) -> bool:
        """Whether it is more often something else than a part of a name; an initial is none."""
        return self.text.lower() in load_vocabulary(_FILE).words("not_given")


def _is_known(name: str) -> bool:
    return name in load_folded_names("given_names") or name in load_vocabulary(_FILE).words("more_given")


def find_person_names(passage: Passage) -> Iterator[SensitiveSpan]:
    """Names, each with the reason to take it for a private person's."""
    introduced = list(_find_introduced(passage))
    yield from (SensitiveSpan(start, end, SensitiveType.PERSON_NAME) for start, end in introduced)
    for run in _runs_of_capitals(passage):
        if name := _person_of(passage, run):
            owner = name[-1].text.endswith("'s")
            yield SensitiveSpan(name[0].start, name[-1].end - 2 * owner, SensitiveType.PERSON_NAME)


def _name_pattern(name: str) -> re.Pattern[str]:
    return load_vocabulary(_FILE).pattern(name)


def _runs_of_capitals(passage: Passage) -> Iterator[list[_Token]]:
    """Words with a capital that follow one another, small links of names inside them."""
    particles = load_vocabulary(_FILE).words("particles")
    run: list[_Token] = []
    for match in _name_pattern("token_cased").finditer(passage.plain):
        token = _Token(match.start(), match.end(), match[0])
        joined = bool(run) and _is_joined(passage.plain, run[-1], token)
        if run and not joined:
            yield run
            run = []
        if (token.is_capital and not _is_pronoun(token.text)) or (run and token.text.lower() in particles):
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_pronoun(word: str) -> bool:
    return word.split("'")[0] == "I" and (word == "I" or "'" in word)


def _is_joined(plain: str, last: _Token, token: _Token) -> bool:
    gap = plain[last.end : token.start]
    # An initial keeps its full stop, as a title does.
    return gap == " " or (gap in {". ", "."} and (len(last.text) == 1 or last.text.lower() in _load_name_titles()))


def _load_name_titles() -> frozenset[str]:
    return load_vocabulary(_FILE).words("titles")


def _person_of(passage: Passage, run: Sequence[_Token]) -> Sequence[_Token] | None:
    """The part of a run that is the name of a private person, if one is."""
    if len(run) > 12:
        return None  # a heading or shouting, no name
    titled = False
    name = list(run)
    while name and not name[-1].is_capital:
        name.pop()
    while name and (not name[0].is_capital or _is_before_name(passage, name)):
        titled = name[0].text.lower() in _load_name_titles() and name[0].is_capital
        name = name[1:]
    if name and _is_titled_run(name):
        titled, name = True, name[1:]
    name = name[:_LONGEST]
    if any(token.text.endswith("'s") for token in name[:-1]):
        return None  # `Nelson's Column`
    if not name or not name[0].is_capital or _is_public(passage, run, name):
        return None
    titled = titled or _name_pattern("titled").search(passage.before(name[0].start, 12)) is not None
    if titled and len(name[0].text) > 2 and not _has_suffix(name):
        return name
    return _named_person(passage, name)


def _is_before_name(passage: Passage, name: Sequence[_Token]) -> bool:
    """Whether a run's first word only stands before a name: an opening word, a title, an abbreviation."""
    first = name[0]
    if len(first.text) == 1:
        return passage.plain[first.end : first.end + 1] != "."
    shouted = first.text.isupper() and len(name) > 1 and not name[1].text.isupper()
    if first.text.lower() in load_vocabulary(_FILE).words("roles"):
        return True
    opens = len(name) > 1 and first.start == passage.sentence(first.start)[0]
    if opens and not first.is_given and first.text.lower() in load_common_words():
        return True
    return (first.is_ordinary or first.text.lower() in _load_name_titles() or shouted) and not _is_titled_run(name)


def _is_titled_run(name: Sequence[_Token]) -> bool:
    return len(name) > 1 and name[0].text.lower() in _load_name_titles() and not name[0].is_ordinary


def _named_person(passage: Passage, name: Sequence[_Token]) -> Sequence[_Token] | None:
    capitals = [token for token in name if token.is_capital]
    if len(capitals) < 2 or _has_suffix(name) or all(token.text.isupper() for token in capitals):
        return None
    before, after = passage.lower[max(0, name[0].start - _BEFORE) : name[0].start], passage.after(name[-1].end, _AFTER)
    line = before.rpartition("\n")[2]
    cued = (
        _name_pattern("role_cue").search(line)
        or _name_pattern("label_cue").search(before)
        or _name_pattern("contact_behind").search(after)
        or _name_pattern("verb_cue").search(line)
        or _name_pattern("behind").match(after)
        or _name_pattern("joined_cased").search(passage.plain, max(0, name[0].start - _BEFORE), name[0].start)
    )
    given = _given_at(name)
    if given is None and (cued is None or not _may_be_name(name)):
        return None
    if cued is None and (
        _is_of_media(passage, name) or _name_pattern("article").search(before) or not _stands_as_name(name, after)
    ):
        return None
    # `Ring Saoirse Whitlock`: what stands before the given name opens the sentence.
    return name[given:] if given and len(name) - given > 1 else name


def _given_at(name: Sequence[_Token]) -> int | None:
    """Where the first given name stands, if another word follows it."""
    for n, token in enumerate(name[:-1][:2]):
        if token.is_given and (len(token.text) > 2 or n):
            return n
    initials = len(name) > 2 and len(name[0].text) == 1 and name[1].is_given
    return 0 if initials else None


def _may_be_name(name: Sequence[_Token]) -> bool:
    cities = load_folded_names("cities")
    whole = " ".join(token.folded for token in name)
    return whole not in cities and not any(token.is_ordinary for token in name if token.is_capital)


def _stands_as_name(name: Sequence[_Token], after: str) -> bool:
    """Whether a name without a word beside it is told as a person's, not as a title or a place."""
    whole = " ".join(token.folded for token in name)
    if whole in load_folded_names("cities") or any(token.is_ordinary for token in name[1:] if token.is_capital):
        return False
    return _name_pattern("not_behind").match(after) is None


def _has_suffix(name: Sequence[_Token]) -> bool:
    suffix = load_vocabulary(_FILE).words("suffix")
    return any(token.text.lower() in suffix for token in name[1:])


def _is_public(passage: Passage, run: Sequence[_Token], name: Sequence[_Token]) -> bool:
    public = load_vocabulary(_FILE).words("public")
    tokens = [token.text.lower() for token in run]
    several = (tokens[n : n + size] for size in (2, 3, 4) for n in range(len(tokens) - size + 1))
    if any(" ".join(part) in public for part in several):
        return True
    return passage.plain[max(0, name[0].start - 1) : name[0].start] in {"@", "/", "#", "_"}


def _is_of_media(passage: Passage, name: Sequence[_Token]) -> bool:
    begin, end = passage.sentence(name[0].start)
    begin, end = max(begin, name[0].start - _AROUND), min(end, name[-1].end + _AROUND)
    return (
        _name_pattern("media").search(passage.lower, begin, end)
        or _name_pattern("old_year").search(passage.plain, begin, end)
    ) is not None


# ---- names that are introduced


def _find_introduced(passage: Passage) -> Iterator[tuple[int, int]]:
    if not passage.has_word(load_vocabulary(_FILE).folded("introduction_words")):
        return
    for match in _name_pattern("introduced").finditer(passage.lower):
        place = None if _is_of_thing(passage, match) else _introduced_name(passage, match.end())
        if place:
            yield place
    yield from _find_households(passage)
    for match in _name_pattern("token_cased").finditer(passage.plain):
        if match[0][0].isupper() and _is_self(passage, match):
            yield match.span()


def _find_households(passage: Passage) -> Iterator[tuple[int, int]]:
    """Families by their surname, and names in small letters: `the Ashworth family`, `is called henrietta vos`."""
    for match in _name_pattern("household_cased").finditer(passage.plain):
        group = match.lastindex or 0
        if match[group].lower() not in load_vocabulary(_FILE).words("public_families"):
            yield match.span(group)
    for match in _name_pattern("small_named").finditer(passage.lower):
        token = _Token(match.start(1), match.end(1), match[1])
        if token.is_given and _is_small_name(match[2]) and not _is_of_thing(passage, match):
            yield match.start(1), match.end(2)


def _is_of_thing(passage: Passage, match: re.Match[str]) -> bool:
    """Whether the name is an animal's or a thing's."""
    before = passage.lower[max(0, match.start() - _BEFORE) : match.start()].rpartition(".")[2]
    things = load_vocabulary(_FILE).words("not_person")
    words = re.findall(r"[^\W\d_]+", before)[-4:] + re.findall(r"[^\W\d_]+", match[0])[:3]
    return any(word in things or word.removesuffix("s") in things for word in words)


def _introduced_name(passage: Passage, at: int) -> tuple[int, int] | None:
    """The name that begins at a place: words with capitals, or one small word that is a given name."""
    not_names = load_vocabulary(_FILE).words("not_names")
    found: list[_Token] = []
    place = at + (passage.plain[at : at + 1] == " ")
    for match in _name_pattern("token_cased").finditer(passage.plain, place, min(len(passage.plain), place + 80)):
        token = _Token(match.start(), match.end(), match[0])
        titled = bool(found) and found[-1].text.lower() in _load_name_titles()
        gap = passage.plain[found[-1].end if found else place : token.start]
        if gap not in (
            {" ", ". "} if titled or (found and len(found[-1].text) == 1) else {" "} if found else {"", '"', "'", " "}
        ):
            break
        if not token.is_capital and token.text.lower() not in load_vocabulary(_FILE).words("particles"):
            break
        found.append(token)
    while found and not found[-1].is_capital:
        found.pop()
    if found and found[0].text.lower() not in not_names:
        return found[0].start, found[min(len(found), _LONGEST) - 1].end
    return None if found else _small_name(passage, place)


def _small_name(passage: Passage, at: int) -> tuple[int, int] | None:
    match = _name_pattern("token_cased").match(passage.plain, at)
    if match is None or not _is_small_name(match[0]):
        return None
    behind = passage.lower[match.end() : match.end() + 40]
    token = _Token(match.start(), match.end(), match[0])
    surname = _name_pattern("small_surname").match(behind)
    if token.is_given and surname and _is_small_name(surname[1]):
        return match.start(), match.end() + surname.end()
    return match.span() if _name_pattern("small_behind").match(behind) else None


def _is_small_name(word: str) -> bool:
    told = load_vocabulary(_FILE)
    return len(word) > 2 and word.lower() not in told.words("not_names") and word.lower() not in told.words("not_given")


def _is_self(passage: Passage, match: re.Match[str]) -> bool:
    token = _Token(match.start(), match.end(), match[0])
    if (
        _name_pattern("self").search(passage.lower[max(0, match.start() - 12) : match.start()]) is None
        or not token.is_given
    ):
        return False
    following = passage.lower[match.end() : match.end() + 10]
    return token.folded not in load_folded_names("cities") and _name_pattern("self_behind").match(following) is not None

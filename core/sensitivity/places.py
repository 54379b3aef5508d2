"""Where somebody lives or stays, home coordinates, and postal addresses; a place only mentioned is none of them."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator

from core.sensitivity.passage import Passage, fold, load_folded_names, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_BEFORE, _BEHIND, _PARTS = 90, 90, 8
_SHORT_WORD = 4
_FILE = "places"
_Place = tuple[int, int]
_STREETS = ("english", "german", "roman", "french", "po_box", "german_weak", "roman_weak")


def find_locations(passage: Passage) -> Iterator[SensitiveSpan]:
    """Places of residence and coordinates of a home."""
    for place in (*_find_residences(passage), *_home_coordinates(passage)):
        yield SensitiveSpan(*place, SensitiveType.LOCATION)


def find_addresses(passage: Passage) -> Iterator[SensitiveSpan]:
    """Streets with a number, boxes of a post office, and rows of parts that end with a postcode; the town included."""
    covered: list[_Place] = []
    for (start, end), weak in _street_places(passage):
        at = bisect_left(covered, (start, end))
        if any(start < other[1] and other[0] < end for other in covered[max(0, at - 1) : at + 1]):
            continue
        whole = _address_around(passage, start, end)
        if not weak or _is_address(passage, whole, (start, end)):
            insort(covered, whole)
            yield SensitiveSpan(*whole, SensitiveType.ADDRESS)


def _street_places(passage: Passage) -> list[tuple[_Place, bool]]:
    """What may be the core of an address: the surest first, then in order, of one place the longest first."""
    found: list[tuple[_Place, bool]] = []
    if any(sign.isdigit() for sign in passage.plain):
        for name in _STREETS:
            if not _may_hold(passage, name):
                continue
            matches = (
                match for match in _place_pattern(name).finditer(passage.lower) if _is_street(passage, name, match)
            )
            found += [(match.span(), name.endswith("_weak")) for match in matches]
        found += [(match.span(), True) for match in _place_pattern("british_code").finditer(passage.plain)]
    return sorted(found, key=lambda core: (core[1], core[0][0], -core[0][1]))


def _place_pattern(name: str) -> re.Pattern[str]:
    return load_vocabulary(_FILE).pattern(name)


def _may_hold(passage: Passage, name: str) -> bool:
    """A quick look whether a kind of street can be there at all."""
    told = load_vocabulary(_FILE)
    if name.startswith("german"):
        endings = tuple(told.entries("german_endings"))
        words = _place_pattern("word_and_number").finditer(passage.lower)
        return any(fold(match[1]).endswith(endings) for match in words)
    return not name.startswith("roman") or passage.has_word(told.folded("roman_words"))


# ---- locations


def _find_residences(passage: Passage) -> Iterator[_Place]:
    if not passage.has_word(load_vocabulary(_FILE).folded("live_words")):
        return
    for match in _place_pattern("live").finditer(passage.lower):
        if _is_residence(passage, match) and (place := _lived_in(passage, match)):
            yield place
    for match in _place_pattern("there").finditer(passage.lower):
        if place := _place_before(passage, match.start()):
            yield place
    for match in (
        _place_pattern("is_home_cased").finditer(passage.plain)
        if "home" in passage.lower or " live" in passage.lower
        else ()
    ):
        yield match.span(match.lastindex or 0)
    for match in _place_pattern("label").finditer(passage.lower):
        if place := _capital_place(passage, match.end()):
            yield place


def _home_coordinates(passage: Passage) -> Iterator[_Place]:
    for name in ("coordinates", "coordinates_dms"):
        for match in _place_pattern(name).finditer(passage.lower):
            before = passage.lower[max(0, match.start() - _BEFORE) : match.start()]
            around = before + " " + passage.after(match.end(), _BEHIND)
            if _place_pattern("home_cue").search(around) and not _place_pattern("not_home").search(around):
                yield match.span()


def _is_residence(passage: Passage, match: re.Match[str]) -> bool:
    before = passage.before(match.start(), 50)
    if _place_pattern("not_resident").search(before) or _place_pattern("hypothetical").search(before):
        return False
    if _place_pattern("needs_clue").match(match[0]):
        begin, end = passage.sentence(match.start())
        return (
            _place_pattern("clue").search(
                passage.lower, max(begin, match.start() - _BEFORE), min(end, match.end() + _BEHIND)
            )
            is not None
        )
    return True


def _lived_in(passage: Passage, match: re.Match[str]) -> _Place | None:
    """The place behind a verb of living, within its clause."""
    lead = _place_pattern("lead").match(passage.lower, match.end(), match.end() + _BEHIND)
    if lead is None:
        # `J'habite Nantes` needs no word between.
        return _capital_place(passage, match.end() + 1) if match[0].startswith("habit") else None
    if place := _capital_place(passage, lead.end()):
        return place
    small = _place_pattern("place_small").match(passage.lower, lead.end())
    if small is None or not _place_pattern("small_verb").match(match[0]):
        return None
    word, told = small[0], load_vocabulary(_FILE).words("no_place")
    known = fold(word) in load_folded_names("cities")
    plain_lead = _place_pattern("plain_lead").fullmatch(lead[0]) is not None and "moved" not in match[0]
    clear = _place_pattern("small_end").match(passage.lower[small.end() : small.end() + 20]) is not None
    lives = (
        _place_pattern("small_live").match(match[0]) is not None and len(word) > _SHORT_WORD and passage.plain.islower()
    )
    if word not in told and clear and plain_lead and (known or lives):
        return small.span()
    return None


def _place_before(passage: Passage, at: int) -> _Place | None:
    """The place that `there` points to: the last one that the sentence names before it."""
    begin = max(passage.sentence(at)[0], at - _BEFORE)
    found = None
    for match in _place_pattern("preposition").finditer(passage.lower, begin, at):
        found = _capital_place(passage, match.end()) or found
    return found


def _capital_place(passage: Passage, at: int) -> _Place | None:
    match = _place_pattern("place_cased").match(passage.plain, at)
    if match is None or match[0].split()[0].lower().strip("'.") in load_vocabulary(_FILE).words("no_place"):
        return None
    end = match.end()
    while passage.plain[end - 1] in ".'-":
        end -= 1
    country = _place_pattern("country_cased").match(passage.plain, end, min(len(passage.plain), end + 40))
    known = country and (country[1].isupper() or fold(country[1].lower()) in load_folded_names("cities"))
    return match.start(), end + (country.end() if country and known else 0)


# ---- addresses


def _is_street(passage: Passage, name: str, match: re.Match[str]) -> bool:
    """Whether a row of words and a number is written as a street is, or told to be an address."""
    if _place_pattern("famous").match(match[0]):
        return False
    if name == "po_box":
        return True
    signs = passage.plain[match.start() : match.end()]
    if _place_pattern("cue").search(passage.before(match.start(), 40)):
        return True
    words = [word for word in re.findall(r"[^\W\d_][\w'.-]*", signs) if len(word) > 1]
    if name == "english":
        return len(words) > 1 and words[0][0].isupper() and words[-1][0].isupper()
    if name.startswith("german"):
        return signs[0].isupper() or "str" in signs or "weg" in signs
    return words[-1][0].isupper() or any(word[0].isupper() for word in words[1:])


def _address_around(passage: Passage, start: int, end: int) -> _Place:
    """An address with the parts before it (a flat, a house) and behind it (a town, a postcode)."""
    line_begin = passage.plain.rfind("\n", max(0, start - _BEFORE), start) + 1 or max(0, start - _BEFORE)
    before = passage.plain[line_begin:start]
    if match := _place_pattern("part_before").search(before) or _place_pattern("chain").search(before):
        start = _without_person(passage, line_begin + match.start(), start)
    for _ in range(_PARTS):
        match = _place_pattern("part_behind").match(passage.plain, end, min(len(passage.plain), end + _BEHIND))
        if match is None or match.end() == end:
            break
        end = match.end()
    return start, end


def _without_person(passage: Passage, start: int, end: int) -> int:
    """Where an address begins if whom it is of stands before it: `Winifred Ashdown, 3 Tannery Lane`."""
    houses = load_vocabulary(_FILE).words("house")
    for part in re.finditer(r"[^,]+,\s?", passage.lower[start:end]):
        words = re.findall(r"[^\W\d_][\w'-]*", part[0])
        named = 2 <= len(words) <= 4 and fold(words[0]) in load_folded_names("given_names")
        if not named or words[-1] in houses or any(sign.isdigit() for sign in part[0]):
            return start + part.start()
    return end


def _is_address(passage: Passage, whole: _Place, core: _Place) -> bool:
    signs = passage.plain[slice(*whole)]
    told = _place_pattern("cue").search(passage.before(whole[0], 40)) is not None
    rows = signs.count(",")
    return (
        (told and whole != core)
        or (rows > 1 and whole[0] < core[0])
        or (rows > 0 and _place_pattern("german_code").search(signs) is not None)
    )

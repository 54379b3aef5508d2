"""Where somebody lives or stays, home coordinates, and postal addresses; a place only mentioned is none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.sensitivity.passage import Passage, fold
from core.sensitivity.span import SensitiveSpan, SensitiveType
from core.sensitivity.vocabulary import load_names, load_vocabulary

_BEFORE, _BEHIND, _PARTS = 90, 90, 8
_FILE = "places"
_Place = tuple[int, int]
_STREETS = ("english", "german", "roman", "french", "po_box", "german_weak", "roman_weak")


def find_locations(passage: Passage) -> Iterator[SensitiveSpan]:
    """Places of residence and coordinates of a home."""
    for match in _pattern("live").finditer(passage.lower):
        if _is_residence(passage, match) and (place := _lived_in(passage, match)):
            yield SensitiveSpan(*place, SensitiveType.LOCATION)
    for match in _pattern("label").finditer(passage.lower):
        place = _capital_place(passage, match.end())
        if place and (
            match[0].rstrip().endswith((":", "=", "is", "in", "at", "now", "still")) or place[0] == match.end()
        ):
            yield SensitiveSpan(*place, SensitiveType.LOCATION)
    for name in ("coordinates", "coordinates_dms"):
        for match in _pattern(name).finditer(passage.lower):
            before = passage.lower[max(0, match.start() - _BEFORE) : match.start()]
            around = before + " " + passage.after(match.end(), _BEHIND)
            if _pattern("home_cue").search(around) and not _pattern("not_home").search(around):
                yield SensitiveSpan(match.start(), match.end(), SensitiveType.LOCATION)


def find_addresses(passage: Passage) -> Iterator[SensitiveSpan]:
    """Streets with a number, boxes of a post office, and rows of parts that end with a postcode; the town included."""
    covered = -1
    cores: list[tuple[_Place, bool]] = []
    if any(sign.isdigit() for sign in passage.plain):
        for name in _STREETS:
            weak = name.endswith("_weak")
            cores += [
                (match.span(), weak)
                for match in _pattern(name).finditer(passage.lower)
                if _is_street(passage, name, match)
            ]
        cores += [(match.span(), True) for match in _pattern("british_code").finditer(passage.plain)]
    for (start, end), weak in sorted(cores):
        if start < covered:
            continue
        whole = _address_around(passage, start, end)
        if not weak or _is_address(passage, whole, (start, end)):
            covered = whole[1]
            yield SensitiveSpan(*whole, SensitiveType.ADDRESS)


def _pattern(name: str) -> re.Pattern[str]:
    return load_vocabulary(_FILE).pattern(name)


# ---- locations


def _is_residence(passage: Passage, match: re.Match[str]) -> bool:
    if _pattern("not_resident").search(passage.before(match.start(), 50)):
        return False
    if _pattern("needs_clue").match(match[0]):
        begin, end = passage.sentence(match.start())
        return (
            _pattern("clue").search(passage.lower, max(begin, match.start() - _BEFORE), min(end, match.end() + _BEHIND))
            is not None
        )
    return True


def _lived_in(passage: Passage, match: re.Match[str]) -> _Place | None:
    """The place behind a verb of living, within its clause."""
    lead = _pattern("lead").match(passage.lower, match.end(), match.end() + _BEHIND)
    if lead is None:
        return None
    if place := _capital_place(passage, lead.end()):
        return place
    small = _pattern("place_small").match(passage.lower, lead.end())
    if small is None or not _pattern("small_verb").match(match[0]):
        return None
    word, told = small[0], load_vocabulary(_FILE).words("no_place")
    known = fold(word) in load_names("cities")
    plain_lead = re.fullmatch(r"(?: \w+)? (?:in|to|en|à) ", lead[0]) is not None and "moved" not in match[0]
    clear = _pattern("small_end").match(passage.lower[small.end() : small.end() + 20]) is not None
    if word not in told and clear and (known or (plain_lead and len(word) > 4 and passage.plain.islower())):
        return small.span()
    return None


def _capital_place(passage: Passage, at: int) -> _Place | None:
    match = _pattern("place_cased").match(passage.plain, at)
    if match is None or match[0].split()[0].lower().strip("'.") in load_vocabulary(_FILE).words("no_place"):
        return None
    end = match.end()
    while passage.plain[end - 1] in ".'-":
        end -= 1
    behind = re.match(r", [A-ZÀ-Þ][\w'-]{2,24}(?=[.;\n]|$)| in [A-ZÀ-Þ][\w'-]{2,24}", passage.plain[end : end + 40])
    return match.start(), end + (behind.end() if behind and behind[0].startswith(" in") else 0)


# ---- addresses


def _is_street(passage: Passage, name: str, match: re.Match[str]) -> bool:
    """Whether a row of words and a number is written as a street is, or told to be an address."""
    if _pattern("famous").match(match[0]):
        return False
    if name == "po_box":
        return True
    signs = passage.plain[match.start() : match.end()]
    if _pattern("cue").search(passage.before(match.start(), 40)):
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
    if (match := _pattern("part_before").search(before)) or (match := _pattern("chain").search(before)):
        start = line_begin + match.start()
    for _ in range(_PARTS):
        match = _pattern("part_behind").match(passage.plain, end, min(len(passage.plain), end + _BEHIND))
        if match is None or match.end() == end:
            break
        end = match.end()
    return start, end


def _is_address(passage: Passage, whole: _Place, core: _Place) -> bool:
    signs = passage.plain[slice(*whole)]
    told = _pattern("cue").search(passage.before(whole[0], 40)) is not None
    rows = signs.count(",")
    return (
        (told and whole != core)
        or (rows > 1 and whole[0] < core[0])
        or (rows > 0 and _pattern("german_code").search(signs) is not None)
    )

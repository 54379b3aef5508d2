"""Numbers that a state gives a person: passports, licences, tax and insurance numbers of many countries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.sensitivity.check_digits import CHECKS
from core.sensitivity.passage import Passage, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_REACH, _TRIES = 90, 3
_SIGNS, _LONG, _DIGITS = range(5, 25), 8, 4
_SEPARATORS = str.maketrans("", "", " ./-()")


def find_government_ids(passage: Passage) -> Iterator[SensitiveSpan]:
    """A number beside a word that says which one it is, or one whose own check digit proves it."""
    told = load_vocabulary("identity")
    if not told.pattern("any_number").search(passage.lower):
        return
    cues = [*told.pattern("cue").finditer(passage.lower), *told.pattern("cue_cased").finditer(passage.plain)]
    for cue in cues:
        found = _value_behind(passage, cue.end()) or _value_before(passage, cue.start())
        if found:
            yield SensitiveSpan(*found, SensitiveType.GOVERNMENT_ID)
    for name in told.names("shape:"):
        check = CHECKS.get(name.removeprefix("shape:").removesuffix("_cased"))
        for match in told.pattern(name).finditer(passage.plain):
            if check is None or check(match[0].translate(_SEPARATORS)):
                yield SensitiveSpan(match.start(), match.end(), SensitiveType.GOVERNMENT_ID)


def _value_behind(passage: Passage, at: int) -> tuple[int, int] | None:
    """The first number behind a cue, unless a word before it says that it is something else."""
    told = load_vocabulary("identity")
    end = at + len(passage.after(at, _REACH))
    begin = at
    for _ in range(_TRIES):
        filler = told.pattern("filler").match(passage.lower, begin, end)
        if filler is None or told.pattern("stop").search(passage.lower, at, filler.end()):
            return None
        begin = filler.end()
        for name in ("value_cased", "value_small"):
            match = told.pattern(name).match(passage.plain if name.endswith("cased") else passage.lower, begin, end)
            if match and _is_number(match):
                return match.span()
        while begin < end and passage.plain[begin].isalnum():
            begin += 1
    return None


def _value_before(passage: Passage, at: int) -> tuple[int, int] | None:
    match = load_vocabulary("identity").pattern("told_before").search(passage.before(at, _REACH))
    if match is None or load_vocabulary("identity").pattern("date").match(match[1]):
        return None
    begin = at - len(match.string)
    return begin + match.start(1), begin + match.end(1)


def _is_number(match: re.Match[str]) -> bool:
    bare = match[0].translate(_SEPARATORS)
    digits = sum(sign.isdigit() for sign in bare) + (len(bare) >= _LONG)
    if len(bare) not in _SIGNS or digits < _DIGITS or len(set(bare)) == 1:
        return False
    return not load_vocabulary("identity").pattern("date").match(match[0])

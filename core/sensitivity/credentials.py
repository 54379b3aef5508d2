"""Secrets whose value stands in the text: keys, passwords, codes, recovery words.

A mask, a placeholder, the name of a variable and a value that is read from elsewhere are no secrets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from core.sensitivity.passage import Passage, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_REACH, _LONGEST = 100, 200
_PLAIN_LENGTHS = range(4, 25)
_SHORTEST = 6  # of a secret without a digit
_FEWEST_DIGITS = 4  # of a code whose word has other meanings
_TRAILING = ".,;:)]}>\"'"
_FILE = "credentials"
_Place = tuple[int, int]


def find_credentials(passage: Passage) -> Iterator[SensitiveSpan]:
    """Every secret with its value, in no order; some may be found by two rules."""
    rules = [_find_pem, _find_pairs, _find_recovery_words, _find_backup_codes]
    told = load_vocabulary(_FILE)
    if _credential_pattern("long_run").search(passage.plain):
        rules += [_find_known_keys, _find_schemes]
    if any(stem in passage.lower for stem in told.entries("stems")):
        rules += [_find_assigned, _find_prose, _find_told_before]
    if passage.has_word(told.folded("code_words")):
        rules += [_find_codes, _find_told_before]
    rules.append(_find_options)
    for rule in rules:
        yield from (SensitiveSpan(start, end, SensitiveType.CREDENTIAL) for start, end in rule(passage))


def _credential_pattern(name: str) -> re.Pattern[str]:
    return load_vocabulary(_FILE).pattern(name)


def _find_known_keys(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("known_cased").finditer(passage.plain):
        body = match[0][4:].strip("-_").lower()
        if len(set(body)) > 3 and ".." not in body:
            yield match.span()


def _find_pem(passage: Passage) -> Iterator[_Place]:
    begins = [match.start() for match in _credential_pattern("pem_begin_cased").finditer(passage.plain)]
    ends = [match.end() for match in _credential_pattern("pem_end_cased").finditer(passage.plain)] if begins else []
    covered = -1
    for begin in begins:
        if begin > covered:
            n = bisect_left(ends, begin)
            covered = ends[n] if n < len(ends) else len(passage.plain)
            yield begin, covered


def _find_schemes(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("url").finditer(passage.lower) if "://" in passage.lower else ():
        if not _is_placeholder(passage.plain[match.start(1) : match.end(1)]):
            yield match.span(1)
    for match in _credential_pattern("pgpass").finditer(passage.lower):
        if _is_secretive(passage.plain[slice(*match.span(1))]):
            yield match.span(1)
    for match in _credential_pattern("scheme").finditer(passage.lower):
        if any(sign.isdigit() for sign in match[1]) or passage.plain[match.start(1) : match.end(1)] != match[1]:
            yield match.span(1)


def _find_options(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("option").finditer(passage.lower):
        group = match.lastindex or 0
        value = passage.plain[match.start(group) : match.end(group)]
        before = passage.lower[max(0, match.start() - _REACH) : match.end()]
        if (
            group
            and _credential_pattern("option_cue").search(before)
            and not _is_placeholder(value)
            and _is_secretive(value)
        ):
            yield match.span(group)


def _find_assigned(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("assigned").finditer(passage.lower):
        keyword = match[0].rstrip(" \t\n:=>-\"'])")
        place = _read_secret_value(passage, match.end(), keyword)
        if place and _is_assigned_value(passage, keyword, match[0], place):
            yield place


def _is_assigned_value(passage: Passage, keyword: str, assignment: str, place: _Place) -> bool:
    value = passage.plain[place[0] : place[1]]
    if _is_placeholder(value) or _is_variable(value, passage, place):
        return False
    if _credential_pattern("strict_keyword").search(keyword) and not _credential_pattern("bare").search(keyword):
        return _is_secretive(value) and len(value) >= 8
    if value.isalpha() and value.islower() and "=" not in assignment:
        return _ends_clause(passage, place[1]) and len(value) > 3
    return len(value) > 3


def _find_prose(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("prose").finditer(passage.lower):
        window = _rest_of_line(passage, match.end())
        if place := _told_value(passage, match, window):
            yield place


def _told_value(passage: Passage, match: re.Match[str], window: str) -> _Place | None:
    """The value that a sentence gives: behind `is` or a sign, or at once if nothing but a secret looks so."""
    is_password = bool(_credential_pattern("bare").fullmatch(match[0]))
    for link in _credential_pattern("connector").finditer(window[:70]):
        if _credential_pattern("prose_stop").search(window, 0, link.start()):
            return None
        place = _read_secret_value(passage, match.end() + link.end(), match[0])
        # `pass it on to others`: behind `to` only what looks like nothing but a secret is one.
        plainly = is_password and link[0].strip() != "to"
        if place and _is_told_value(passage, place, is_password=is_password, plainly=plainly):
            return place
        if place and _is_placeholder(passage.plain[slice(*place)]):
            return None
    place = _read_secret_value(passage, match.end(), "") if window.startswith((" ", ",", " '", ' "')) else None
    if place and not _is_placeholder(value := passage.plain[slice(*place)]) and _is_secretive(value):
        strong = is_password or len(value) >= 10
        return place if strong and not _is_variable(value, passage, place) else None
    return _secret_at_clause_end(passage, match.end(), window) if is_password else None


def _secret_at_clause_end(passage: Passage, at: int, window: str) -> _Place | None:
    """A secret that ends the clause, with what it is for before it: `new pw for the NAS Gooseberry!Lamp77`."""
    lead = _credential_pattern("purpose").match(window)
    place = _read_secret_value(passage, at + lead.end(), "") if lead else None
    if place is None or not _ends_clause(passage, place[1]):
        return None
    value = passage.plain[slice(*place)]
    loud = any(not sign.isalnum() and sign not in "-_." for sign in value) or _credential_pattern("loud_cased").search(
        value
    )
    return place if loud and _is_secretive(value) and not _is_placeholder(value) else None


def _is_told_value(passage: Passage, place: _Place, *, is_password: bool, plainly: bool) -> bool:
    value = passage.plain[place[0] : place[1]]
    if _is_placeholder(value) or _is_variable(value, passage, place):
        return False
    if _is_secretive(value):
        return is_password or len(value) >= 8
    if not plainly or len(value) not in _PLAIN_LENGTHS or not _ends_clause(passage, place[1]):
        return False
    # A plain word or number may be a password; a participle only tells what became of it.
    return value.isdigit() or (value.isalpha() and _credential_pattern("participle").fullmatch(value) is None)


def _read_secret_value(passage: Passage, at: int, keyword: str) -> _Place | None:
    """Where the value begins and ends that stands at a place: quoted, a phrase of its own, or up to the next blank."""
    plain = passage.plain
    while at < len(plain) and plain[at] in " \t,(":
        at += 1
    if quoted := _credential_pattern("quoted").match(plain, at, at + _LONGEST):
        return quoted.span(1)
    end = at
    while end < len(plain) and end - at < _LONGEST and not plain[end].isspace():
        end += 1
    if keyword and _credential_pattern("open_keyword").search(keyword):
        return _find_passphrase(passage, at, end)
    cut = plain.find(",", at, end)
    end = cut if cut > at and keyword else end
    while end > at and plain[end - 1] in _TRAILING:
        end -= 1
    return (at, end) if end > at else None


def _find_passphrase(passage: Passage, at: int, end: int) -> _Place | None:
    line = _rest_of_line(passage, at)
    if words := _credential_pattern("phrase").match(line):
        return at, at + words.end()
    while end > at and passage.plain[end - 1] in _TRAILING:
        end -= 1
    return (at, end) if end > at else None


def _find_codes(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("coded").finditer(passage.lower):
        window = _rest_of_line(passage, match.end())
        gap = _credential_pattern("code_gap").match(window)
        if gap is None or _credential_pattern("code_stop").search(gap[0]) or (gap[0] and gap[0][-1] not in " :=(\"'>"):
            continue
        value = _credential_pattern("code_value").match(window, gap.end())
        if value and _is_code(passage, match, gap[0], value):
            yield match.end() + value.start(), match.end() + value.end()


def _is_code(passage: Passage, match: re.Match[str], gap: str, value: re.Match[str]) -> bool:
    told = load_vocabulary(_FILE)
    digits = sum(sign.isdigit() for sign in value[0])
    rest = value.string[value.end() :]
    fewest = 2 if value[0].isalnum() and not value[0].isdigit() and len(value[0]) > 3 else 3
    if (
        not fewest <= digits <= 12
        or _credential_pattern("code_end").match(rest)
        or _credential_pattern("code_unit").match(rest)
    ):
        return False
    before = passage.before(match.start(), 45)
    if _credential_pattern("coded_not").search(before):
        return False
    if _credential_pattern("strong_code").match(match[0]):
        return digits >= _FEWEST_DIGITS or match[0] not in told.words("long_code_words")
    kinds = _credential_pattern("coded_kind")
    if match[0] in told.words("plain_code_words"):
        is_told = digits >= _FEWEST_DIGITS and _credential_pattern("code_told").fullmatch(gap) is not None
        return is_told or bool(kinds.search(before) or kinds.search(gap))
    return (
        digits >= _FEWEST_DIGITS
        and ("-" in value[0] or ":" in gap)
        and kinds.search(match[0] + " " + before + gap) is not None
    )


def _find_pairs(passage: Passage) -> Iterator[_Place]:
    for name in ("pair", "pair_colon", "account"):
        for match in _credential_pattern(name).finditer(passage.lower):
            start, end = match.span(match.lastindex or 0)
            while end > start and passage.plain[end - 1] in _TRAILING:
                end -= 1
            value = passage.plain[start:end]
            if "://" not in match[0] and _is_secretive(value) and not _is_placeholder(value) and not _is_path(value):
                yield start, end


def _find_told_before(passage: Passage) -> Iterator[_Place]:
    """A value that stands before the word for it: `3391 is the alarm code`."""
    for match in _credential_pattern("told_before").finditer(passage.lower):
        group = match.lastindex or 0
        value = passage.plain[slice(*match.span(group))].rstrip(_TRAILING)
        is_code = value.strip("#*").isdigit() and 4 <= len(value) <= 8
        if (
            group
            and (is_code or _is_secretive(value))
            and not _is_placeholder(value)
            and not _is_variable(value, passage, match.span(group))
        ):
            yield match.start(group), match.start(group) + len(value)


def _find_recovery_words(passage: Passage) -> Iterator[_Place]:
    if not (cues := [match.end() for match in _credential_pattern("words_cue").finditer(passage.lower)]):
        return
    for match in _credential_pattern("word_run").finditer(passage.lower):
        n = bisect_left(cues, match.start() + 1)
        if (n and match.start() - cues[n - 1] < _REACH) or (n < len(cues) and cues[n] - match.end() < _REACH):
            yield match.span()


def _find_backup_codes(passage: Passage) -> Iterator[_Place]:
    for match in _credential_pattern("backup_cue").finditer(passage.lower):
        window = _rest_of_line(passage, match.end())
        for value in _credential_pattern("backup_value").finditer(window):
            if any(sign.isdigit() for sign in value[0]):
                yield match.end() + value.start(), match.end() + value.end()
    for match in _credential_pattern("license_value").finditer(passage.plain):
        before = passage.lower[max(0, match.start() - _REACH) : match.start()]
        if any(sign.isdigit() for sign in match[0]) and _credential_pattern("license_cue").search(before):
            yield match.span()


def _rest_of_line(passage: Passage, at: int) -> str:
    window = passage.lower[at : at + _REACH]
    cut = window.find("\n")
    return window if cut < 0 else window[:cut]


def _ends_clause(passage: Passage, end: int) -> bool:
    return _credential_pattern("clause_end").match(passage.lower[end : end + 12]) is not None


def _is_secretive(value: str) -> bool:
    """Whether a value looks like nothing but a secret: letters with digits, signs inside, capitals inside."""
    if len(value) < 4 or _credential_pattern("plain_punctuated").fullmatch(value.lower()):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    inner = any(not sign.isalnum() for sign in value[1:-1]) or value[-1] in "!$#*?&%"
    if letters and digits:
        return _credential_pattern("measure").fullmatch(value.lower()) is None
    if letters and inner:
        return len(value) >= _SHORTEST and _credential_pattern("two_words").fullmatch(value.lower()) is None
    if digits:
        return (
            _credential_pattern("grouped_digits").fullmatch(value) is not None
            or _credential_pattern("only_digits").fullmatch(value) is None
        )
    return len(value) >= _SHORTEST and _credential_pattern("inner_capital_cased").search(value) is not None


def _is_placeholder(value: str) -> bool:
    lower = value.lower()
    if lower.strip("'\".,;:!?") in load_vocabulary(_FILE).words("not_value"):
        return True
    written = value if _credential_pattern("constant_cased").match(value) else lower
    return _credential_pattern("placeholder").match(written) is not None


def _is_variable(value: str, passage: Passage, place: _Place) -> bool:
    quoted = place[0] > 0 and passage.plain[place[0] - 1] in "\"'"
    return not quoted and _credential_pattern("variable_cased").fullmatch(value) is not None


def _is_path(value: str) -> bool:
    return _credential_pattern("path").fullmatch(value) is not None

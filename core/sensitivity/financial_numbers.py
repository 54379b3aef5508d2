"""Social security numbers of the United States, payment cards and bank accounts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.sensitivity.check_digits import is_luhn, is_mod97, is_social_security
from core.sensitivity.passage import Passage, load_vocabulary
from core.types.sensitivity import SensitiveSpan, SensitiveType

_NEAR, _FAR = 24, 70
_SEPARATORS = str.maketrans("", "", " .-")


def find_social_security(passage: Passage) -> Iterator[SensitiveSpan]:
    """Numbers that may have been issued, with dashes or beside a word that says so."""
    told = load_vocabulary("numbers")
    for match in told.pattern("ssn").finditer(passage.plain):
        if not is_social_security(match[1] + match[3] + match[4]):
            continue
        cued = told.pattern("ssn_cue").search(passage.before(match.start(), _FAR)) or told.pattern("ssn_cue").search(
            passage.after(match.end(), _FAR)
        )
        if cued or (match[2] == "-" and not _is_lookalike(passage, match)):
            yield SensitiveSpan(match.start(), match.end(), SensitiveType.SSN)


def find_cards(passage: Passage) -> Iterator[SensitiveSpan]:
    """Numbers of a known issuer whose check digit is right."""
    told = load_vocabulary("numbers")
    for match in told.pattern("card").finditer(passage.plain):
        if end := _card_end(passage, match):
            yield SensitiveSpan(match.start(), end, SensitiveType.CREDIT_CARD)


def _card_end(passage: Passage, match: re.Match[str]) -> int | None:
    told = load_vocabulary("numbers")
    cued = told.pattern("card_cue").search(passage.before(match.start(), _FAR))
    cued = cued or told.pattern("card_cue").search(passage.after(match.end(), _NEAR))
    if not cued and _is_lookalike(passage, match):
        return None
    # Behind sixteen digits in fours a security code may stand.
    for end in (match.end(), match.end() - 4) if match[1] else (match.end(),):
        digits = passage.plain[match.start() : end].translate(_SEPARATORS)
        known = told.pattern("issuer").match(digits) and (cued or match[1] or match[2] or len(digits) > 14)
        known = known or (cued and told.pattern("issuer_with_cue").match(digits))
        if known and is_luhn(digits):
            return end
    return None


def find_accounts(passage: Passage) -> Iterator[SensitiveSpan]:
    """International bank account numbers of the length of their country whose check digits are right."""
    told = load_vocabulary("numbers")
    for match in told.pattern("iban").finditer(passage.lower):
        length = told.number("iban_lengths", match[1])
        if length and (end := _account_end(passage.lower, match.start(), length)):
            yield SensitiveSpan(match.start(), end, SensitiveType.IBAN)


def _account_end(lower: str, start: int, length: int) -> int | None:
    signs: list[str] = []
    at = start
    while at < len(lower) and len(signs) < length:
        if lower[at].isascii() and lower[at].isalnum():
            signs.append(lower[at])
        elif lower[at] not in " -." or not lower[at - 1].isalnum():
            return None
        at += 1
    if len(signs) < length or (at < len(lower) and lower[at].isalnum()):
        return None
    return at if is_mod97("".join(signs).upper()) else None


def _is_lookalike(passage: Passage, match: re.Match[str]) -> bool:
    pattern = load_vocabulary("numbers").pattern("not_own")
    return bool(
        pattern.search(passage.before(match.start(), _NEAR)) or pattern.search(passage.after(match.end(), _NEAR))
    )

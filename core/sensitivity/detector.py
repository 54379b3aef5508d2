"""The sensitive spans of a text, and the security tier that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from core.sensitivity.contacts import find_emails, find_phones
from core.sensitivity.credentials import find_credentials
from core.sensitivity.financial_numbers import find_accounts, find_cards, find_social_security
from core.sensitivity.health import find_health
from core.sensitivity.identity_numbers import find_government_ids
from core.sensitivity.passage import Passage
from core.sensitivity.person_names import find_person_names
from core.sensitivity.places import find_addresses, find_locations
from core.types.sensitivity import SensitiveSpan
from core.types.values import SecurityTier

Rule = Callable[[Passage], Iterator[SensitiveSpan]]

# Where two rules claim one place, the earlier rule has it.
_CONFIDENTIAL_RULES: tuple[Rule, ...] = (
    find_accounts,
    find_cards,
    find_social_security,
    find_credentials,
    find_government_ids,
)
_RULES: tuple[Rule, ...] = (
    *_CONFIDENTIAL_RULES,
    find_emails,
    find_phones,
    find_addresses,
    find_locations,
    find_health,
    find_person_names,
)
_NUMBER_RULES = frozenset({find_accounts, find_cards, find_social_security, find_government_ids, find_phones})
"""Rules that find nothing in a text without a digit of any script: most texts have none."""
_TIERS = tuple(SecurityTier)
_DOT = "•"


def find_sensitive(text: str) -> tuple[SensitiveSpan, ...]:
    """All that is sensitive in a text, by rules alone.

    Made to be called with every text before it is stored: it never raises, keeps nothing, and takes time in proportion
    to the length of the text.

    Returns:
        Spans in the order of the text; none overlaps another.
    """
    return _find_by(_RULES, text)


def find_confidential(text: str) -> tuple[SensitiveSpan, ...]:
    """Of what `find_sensitive` finds, what is confidential; in less than half of its time."""
    return _find_by(_CONFIDENTIAL_RULES, text)


def mask_confidential(text: str) -> str:
    """A text whose confidential numbers and words are dots, each character one, so that places in it stay."""
    found = list(text)
    for span in find_confidential(text):
        found[span.start : span.end] = [_DOT if one.isalnum() else one for one in text[span.start : span.end]]
    return "".join(found)


def _find_by(rules: Iterable[Rule], text: str) -> tuple[SensitiveSpan, ...]:
    passage = Passage(text)
    has_digit = any(sign.isdigit() for sign in text)
    asked = (rule for rule in rules if has_digit or rule not in _NUMBER_RULES)
    return _keep_apart((rule(passage) for rule in asked), len(text))


def _keep_apart(found: Iterable[Iterator[SensitiveSpan]], length: int) -> tuple[SensitiveSpan, ...]:
    """The spans that no earlier rule, and of one rule no earlier or longer span, has a place of."""
    taken = bytearray(length)
    kept: list[SensitiveSpan] = []
    for spans in found:
        for span in sorted(spans, key=lambda span: (span.start, -span.end)):
            if span.start < span.end and not any(taken[span.start : span.end]):
                taken[span.start : span.end] = b"\1" * (span.end - span.start)
                kept.append(span)
    return tuple(sorted(kept))


def tier_of(spans: Iterable[SensitiveSpan]) -> SecurityTier:
    """The lowest tier that a text with these spans may have: the highest that one of them asks for."""
    return max((span.type.tier for span in spans), key=_TIERS.index, default=SecurityTier.CLEARTEXT)

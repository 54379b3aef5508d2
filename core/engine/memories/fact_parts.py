"""A fact that is given in parts, as one text with its claim. Pure.

Must not do: store anything; judge whether it is true.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.belief.claims.claims import key_form
from core.errors import Code, UserError
from core.intake.transaction.text_readers import Extract
from core.types.requests import FactRequest, StoreRequest

_VALUE_CHARACTERS = 1024
_BARE_WORDS = 12
_ENDS = (".", "!", "?", "\u2026", "\u3002")


def as_store(fact: FactRequest, extract: Extract, now_ms: int) -> StoreRequest:
    """Make a request to store out of a fact's parts (seed B, `store_fact`; design section 4, claim given).

    A text that is a bare value ("Graz") would say nothing by itself: it becomes "Anna lives in: Graz". A sentence stays
    byte for byte as it came.

    Args:
        fact: the parts.
        extract: reads claims; what it reads of the same subject and predicate is the value of a sentence.
        now_ms: the present, epoch ms.

    Returns:
        The request with its claim, not yet checked.

    Raises:
        UserError: INVALID_INPUT where the value of a long text is not given.
    """
    text = fact.store.text
    bare = fact.value is None and is_bare(text, fact.subject)
    if bare:
        value, text = text.strip(), f"{fact.subject} {fact.predicate.replace('_', ' ')}: {text.strip()}"
    else:
        value = fact.value or _value(fact, extract, now_ms)
    claim: dict[str, Any] = {"subject": fact.subject, "predicate": fact.predicate, "value": value}
    claim |= {name: at for name, at in (("valid_from", fact.valid_from), ("valid_to", fact.valid_to)) if at is not None}
    return replace(fact.store, text=text, claim=claim)


def is_bare(text: str, subject: str) -> bool:
    """Whether a text is a value without a sentence around it.

    Args:
        text: as given.
        subject: whom it is about.

    Returns:
        True for up to twelve words that do not name the subject and end no sentence.
    """
    plain = text.strip()
    named = subject.casefold() in plain.casefold()
    return not named and not plain.endswith(_ENDS) and 0 < len(plain.split()) <= _BARE_WORDS


def _value(fact: FactRequest, extract: Extract, now_ms: int) -> str:
    said = None if fact.store.occurred is None else fact.store.occurred.ms
    for read in extract(fact.store.text, now_ms=now_ms, said_ms=said):
        if read.predicate == fact.predicate and key_form(read.subject) == key_form(fact.subject):
            return read.value
    if len(fact.store.text) > _VALUE_CHARACTERS:
        raise UserError(Code.INVALID_INPUT, "The text is too long to be the value itself; give `value` beside it.")
    return fact.store.text

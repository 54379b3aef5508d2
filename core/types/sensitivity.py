"""What a finding is: its type, its place, and the security tier it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.types.values import Kind, SecurityTier, Status


class SensitiveType(StrEnum):
    """What a span of a text is."""

    SSN = "ssn"
    CREDIT_CARD = "credit_card"
    CREDENTIAL = "credential"
    GOVERNMENT_ID = "government_id"
    IBAN = "iban"
    EMAIL = "email"
    PERSON_NAME = "person_name"
    LOCATION = "location"
    PHONE = "phone"
    ADDRESS = "address"
    HEALTH = "health"

    @property
    def tier(self) -> SecurityTier:
        """The lowest tier that a text with such a span may have."""
        return SecurityTier.CONFIDENTIAL if self in _CONFIDENTIAL else SecurityTier.SENSITIVE


_CONFIDENTIAL = frozenset(
    {
        SensitiveType.SSN,
        SensitiveType.CREDIT_CARD,
        SensitiveType.CREDENTIAL,
        SensitiveType.GOVERNMENT_ID,
        SensitiveType.IBAN,
    }
)


@dataclass(frozen=True, slots=True, order=True)
class SensitiveSpan:
    """One sensitive value in a text; it holds no text itself.

    Attributes:
        start: where it begins, in code points.
        end: where it ends, exclusive.
        type: what it is.
    """

    start: int
    end: int
    type: SensitiveType


@dataclass(frozen=True, slots=True)
class SensitiveMemory:
    """A memory in which rules find sensitive content.

    Attributes:
        space: name of its space.
        text: all of it; hostile, plain text only.
        tier: the lowest security tier that its content asks for.
        spans: what was found, in the order of the text.
    """

    id: str
    kind: Kind
    status: Status
    space: str
    text: str
    tier: SecurityTier
    spans: tuple[SensitiveSpan, ...]


@dataclass(frozen=True, slots=True)
class SensitivePage:
    """What was found in some memories, oldest first.

    Attributes:
        looked_at: how many memories were read for it.
        next: where the next page begins; None where all were read.
    """

    items: tuple[SensitiveMemory, ...]
    looked_at: int
    next: int | None

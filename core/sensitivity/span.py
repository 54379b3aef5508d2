"""What a finding is: its type, its place, and the security tier it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.types.values import SecurityTier


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

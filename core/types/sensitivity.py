"""What a sensitive finding is (type, place, the tier it asks for), and sealed memories as callers see them."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class UnprotectedPage:
    """Memories in the clear whose text asks for a higher tier, some at a time.

    Attributes:
        tiers: id to the tier that rules ask for; of a split text the first part.
        looked_at: how many memories were read for it.
        next: where the next page begins; None where all were read.
    """

    tiers: Mapping[str, SecurityTier]
    looked_at: int
    next: int | None


@dataclass(frozen=True, slots=True)
class ProtectionReport:
    """What was protected of a page.

    Attributes:
        protected: how many memories.
        looked_at: how many were looked at for it.
        step_id: of the undo step; None where nothing changed.
        next: where the next page begins; None where all were read.
    """

    protected: int
    looked_at: int
    step_id: str | None
    next: int | None


@dataclass(frozen=True, slots=True)
class SealState:
    """Whether memories can be sealed, and whether sealed ones can be read now.

    Attributes:
        is_set_up: there is a seal key.
        is_open: it is in memory now.
        closes_in_s: seconds until it leaves memory by itself; 0 while it is not there.
        count: sealed memories.
    """

    is_set_up: bool
    is_open: bool
    closes_in_s: int
    count: int


@dataclass(frozen=True, slots=True)
class SealedRow:
    """One sealed memory, as it can be seen without the key.

    Attributes:
        id: the memory's.
        label: what the person calls it, or its kind and day; plain text only.
        space: the space's name.
        kind: of the memory.
        sealed_at: epoch ms.
        can_open: whether the key that is in memory opens it.
        summary: what the person says of it in the clear; plain text only, often empty.
    """

    id: str
    label: str
    space: str
    kind: str
    sealed_at: int
    can_open: bool
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SealedText:
    """One sealed memory, read with the key.

    Attributes:
        text: plain text only; `label` likewise.
        occurred_at: when it was said or happened, epoch ms; None where unknown.
        made: texts that were made of it and went with it.
    """

    id: str
    label: str
    text: str
    space: str
    kind: str
    occurred_at: int | None
    sealed_at: int
    made: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SealReport:
    """What was sealed or put back; no text.

    Attributes:
        ids: of the memories; one that had gone with an earlier one of the same call is left out.
        rows: rows of memories that moved, versions and parts counted.
        made: texts made of them that went too, and are kept in the sealed bodies only.
        same_words: other memories that have the very same words and stay readable.
        backups: names of backup files that still hold them readable.
    """

    ids: tuple[str, ...]
    rows: int
    made: int
    same_words: int
    backups: tuple[str, ...]

"""What came of a client's wish to change what is remembered. Frozen values.

Must not do: hold a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Wish(StrEnum):
    """What a client may ask to have done with a memory (`approvals.verb`)."""

    UPDATE = "update"
    DELETE = "delete"
    FORGET = "forget"


class Relationship(StrEnum):
    """How a client may relate two memories (E14a, memory_relate)."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CAUSED_BY = "caused_by"
    RELATED_TO = "related_to"


@dataclass(frozen=True, slots=True)
class ChangeReply:
    """What came of a wish.

    Attributes:
        operation: `UPDATE`, `DELETE` or `FORGET` where it was done at once, `PROPOSED` where it waits for the person,
            `NOOP` where there was nothing to do or the person said no to the same before.
        memory_id: the memory that holds the new text or would hold it; of a removal the memory itself.
        superseded: the version in whose place a new one stands now.
        conflict: the review item that waits; None where none does.
        deduplicated: the same waits, or was decided, already.
        step_id: the undo step; None where nothing changed.
    """

    operation: str
    memory_id: str
    superseded: tuple[str, ...] = ()
    conflict: str | None = None
    deduplicated: bool = False
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A feedback that was taken down.

    Attributes:
        memory_id: of what.
        signal: `helpful`, `irrelevant` or `harmful`.
        marked: it counts as a mark of a rule; else for its client's own searches alone.
        step_id: the undo step.
        maturity: of a marked rule, as it stands now; None otherwise.
        conflict: the review item that asks the person to turn a rule around; None where none is open.
    """

    memory_id: str
    signal: str
    marked: bool
    step_id: str
    maturity: str | None = None
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """A relation between two memories.

    Attributes:
        id: of the relation.
        from_id: the memory it goes out from; `to_id` the other.
        relationship: a word of `Relationship`.
        deduplicated: it was drawn already.
        step_id: the undo step; None where nothing changed.
    """

    id: str
    from_id: str
    to_id: str
    relationship: str
    deduplicated: bool = False
    step_id: str | None = None

"""Sealed memories as callers see them."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    id: str
    label: str
    space: str
    kind: str
    sealed_at: int
    can_open: bool


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

"""What an erasure would take, and relations that replay proposes: frozen values for the window and the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErasedItem:
    """One memory that would go.

    Attributes:
        text: the text, of a split one its first part; hostile, plain text only.
        kind: the memory's kind; `space` is the name of its space.
        why: `asked`, `version` (of its chain), `beneath` (it lies beneath one that goes) or `made_of_it`.
    """

    id: str
    text: str
    kind: str
    space: str
    why: str


@dataclass(frozen=True, slots=True)
class ErasePreview:
    """What an erasure would remove; nothing is written.

    Attributes:
        items: what goes, oldest first, at most fifty; a split text is one.
        memories: rows in all, parts of split texts counted.
        back: ids of memories that stand again, because a digest or a united text they went into goes.
        versions: how many other versions of the same chains stay.
        same_words: how many other memories have exactly the same words and stay.
        backups: names of backup files that hold it.
    """

    items: tuple[ErasedItem, ...]
    memories: int
    back: tuple[str, ...]
    versions: int
    same_words: int
    backups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """Two memories that may belong together.

    Attributes:
        from_text: plain text only; `to_text` likewise.
        space: the name of the space of both.
        cosine: how near they are, 0 to 1.
        at: when it was proposed, epoch ms.
    """

    from_id: str
    to_id: str
    from_text: str
    to_text: str
    space: str
    cosine: float
    at: int

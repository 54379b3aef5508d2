"""What the window's table asks for and gets: ids in order, light rows, counts by facet, changes to many at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.types.values import When
from core.types.words import Kind, Role, Source, Status

SORTS = ("recorded", "occurred", "trust", "importance", "strength", "accessed", "kind", "status", "space", "text")
"""What a list can be sorted by."""


@dataclass(frozen=True, slots=True)
class FindRequest:
    """What the library shall list.

    Attributes:
        query: in the search syntax of `core.text.query.search_syntax`; empty for all that stands.
        sort: one of `SORTS`.
        descending: largest, newest or last in the alphabet first.
    """

    query: str = ""
    sort: str = "recorded"
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """All ids that match, in order; the rows are fetched by page.

    Attributes:
        ids: memory ids.
        took_ms: milliseconds.
    """

    ids: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory as one line of a table or one shape of the plan shows it.

    Attributes:
        head: the beginning of the text, at most 300 characters, as it came.
        is_cut: whether `head` is not the whole text.
        strength: 0 to 1, as of now (E4.4.1, C14).
        client: name of the client that brought it; None for the owner and imports.
        conversation: title of the conversation it belongs to, if any.
        room: name of the room it stands in; None while it has no place.
        warned: it reads like an instruction, and is kept out of what assistants are given by themselves.
    """

    id: str
    n: int
    kind: Kind
    status: Status
    head: str
    is_cut: bool
    space: str
    source: Source
    role: Role
    author: str | None
    client: str | None
    category: str
    importance: float
    tags: tuple[str, ...]
    occurred: When | None
    recorded_at: int
    trust: float
    confidence: float
    strength: float
    pinned: bool
    access_count: int
    last_accessed_at: int | None
    conversation: str | None
    room: str | None
    warned: bool = False


@dataclass(frozen=True, slots=True)
class Facets:
    """How many memories each filter value would leave, for the chips.

    Attributes:
        kinds: count by kind; the others likewise. Values that occur nowhere are missing.
        clients: count by client name.
        tags: the most frequent 200.
        earliest: epoch ms of the earliest time said or recorded; None in an empty vault.
    """

    kinds: Mapping[str, int]
    statuses: Mapping[str, int]
    spaces: Mapping[str, int]
    sources: Mapping[str, int]
    clients: Mapping[str, int]
    categories: Mapping[str, int]
    tags: Mapping[str, int]
    earliest: int | None
    latest: int | None


@dataclass(frozen=True, slots=True)
class Revision:
    """A change to one or many memories; what is None stays.

    Attributes:
        text: the new text; for one memory only. The old version stays in its history.
        space: name of the space they move to; one that does not exist is made.
        status: `active` (bring back), `archived` or `deleted` (forget).
        add_tags: tags to add; `remove_tags` likewise.
        occurred: when it was said or happened.
        permanence: how fast its confidence falls, one of `core.score.lifecycle.decay.RATES`; an episode's does not.
    """

    text: str | None = None
    kind: Kind | None = None
    category: str | None = None
    importance: float | None = None
    space: str | None = None
    pinned: bool | None = None
    status: Status | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    occurred: When | None = None
    permanence: str | None = None


@dataclass(frozen=True, slots=True)
class RevisionPreview:
    """What a revision would do, before it is done.

    Attributes:
        changes: memories that would change.
        unchanged: memories that are like that already.
        refused: reason in words to count: those that cannot be changed so.
        examples: up to 20 `(id, head, before, after)` in words of the field that changes.
    """

    changes: int
    unchanged: int
    refused: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionReport:
    """What a revision did.

    Attributes:
        step_id: the one undo step; None where nothing changed.
        label: the step's name.
        ids: memories as they are called now (a new version of a text has its own id).
        changed: how many changed.
    """

    step_id: str | None
    label: str
    ids: tuple[str, ...]
    changed: int
    refused: Mapping[str, int] = field(default_factory=dict)

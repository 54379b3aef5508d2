"""Watched folders: how one stands, what came of it, and which files vanished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class WatchState(StrEnum):
    """How a watched folder stands; the sentences are `resources/help/watched.json`."""

    WATCHED = "watched"
    """It is looked at, and all of it is in the vault."""
    WAITING = "waiting"
    """Something of it is still to come: it was not read yet, or a file is being written."""
    PAUSED = "paused"
    """Switched off by the person."""
    RESTING = "resting"
    """Nothing looks at it now: no engine stays running."""
    GONE = "gone"
    """The folder is not there, or another one lies in its place."""
    TOO_MANY = "too_many"
    """It holds more files than are looked at."""
    FAILED = "failed"
    """It could not be read, or what it says could not be stored; it is tried again."""


class WatchMeans(StrEnum):
    """How changes of a folder are noticed."""

    EVENTS = "events"
    """The system tells of them."""
    LOOKING = "looking"
    """The system cannot tell of them; it is looked at every half minute."""
    NONE = "none"
    """They are not noticed now."""


class GoneChoice(StrEnum):
    """What the person decides about memories whose file vanished."""

    KEEP = "keep"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """One watched folder.

    Attributes:
        import_id: all its memories are of this import.
        means: how changes are noticed now.
        reason: why it is looked at instead of being told; a key of `resources/help/watched.json`; "" for none.
        code: the code of what went wrong last; "" for nothing.
        files: how many files of it were read to their end.
        memories: how many memories came of it and are still in the vault; parts of a text are not counted apart.
        asked: how many files vanished, of which the person has not said what becomes of their memories.
        looked_at: when it was last read to the end, epoch ms; None for never.
        came_at: when something came of it last, epoch ms; None for never.
    """

    id: str
    path: str
    format: str
    space: str
    import_id: str
    added_at: int
    state: WatchState
    means: WatchMeans
    reason: str = ""
    code: str = ""
    files: int = 0
    memories: int = 0
    asked: int = 0
    looked_at: int | None = None
    came_at: int | None = None


@dataclass(frozen=True, slots=True)
class WatchEntry:
    """One line of what came.

    Attributes:
        event: `came`, `gone`, `back`, `left`, `kept`, `archived`, `accepted`, `rejected`, `added`, `paused`
            or `resumed`.
        name: the file, where it is about one; hostile, plain text only.
        counts: what was done: `files`, `new`, `changed`, `held`, `moved`, `gone`, and reasons of what was left out.
        step_id: what takes it back; None for nothing.
    """

    number: int
    at: int
    event: str
    name: str
    counts: Mapping[str, int] = field(default_factory=dict)
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class GoneFile:
    """A file that vanished, or that does not say any more what it said.

    Attributes:
        name: path inside the folder; hostile, plain text only.
        memories: how many memories it is about.
        gone_at: when that was noticed, epoch ms.
        is_there: whether the file is there and says less than before.
    """

    name: str
    memories: int
    gone_at: int
    is_there: bool

"""Removing Loci's data from a computer, as the engine tells of it: what would go, and what was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class CopyKind(StrEnum):
    """What kind of copy outside the home is known; the words are `resources/help/wipe.json`."""

    ARCHIVE = "archive"
    """An encrypted archive of everything."""
    BACKUP = "backup"
    """A backup that was written to a place outside the home."""


class DevicesTold(StrEnum):
    """Whether the other devices know that this one takes no part any more."""

    ALONE = "alone"
    """There are none."""
    TOLD = "told"
    """The last changes and the leaving are in the shared folder."""
    UNTOLD = "untold"
    """The shared folder could not be used: another device has to remove this one."""


@dataclass(frozen=True, slots=True)
class OutsideCopy:
    """The newest copy of the vault that was written outside its home, as far as the audit knows.

    Attributes:
        at: epoch ms.
        newer: memories that were stored or sealed since.
    """

    kind: CopyKind
    at: int
    newer: int


@dataclass(frozen=True, slots=True)
class Registered:
    """What Loci put outside its home, and what became of it.

    Attributes:
        removed: files that were removed, or no longer name Loci.
        left: files that still do, because they could not be changed.
        unread: settings that may name Loci and could not be read.
    """

    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WipePreview:
    """What a wipe would remove, and what it does not reach.

    Attributes:
        is_readable: whether the vault could be read; else nothing inside it is counted.
        memories: how many there are, with the sealed ones; `sealed` are those.
        files: attached ones.
        backups: in the home.
        size: bytes of everything of Loci's in the home.
        foreign: names in the home that are not Loci's and stay.
        copy: the newest copy outside; None where none is known.
        plain_exports: exports that were written in the clear.
        devices: names of other devices that take part.
        folder: the one that they share; `is_folder_there` whether it can be used now.
        pending: changes that the other devices have not been told of.
        clients: names of assistants that may remember what they were given.
        registered: files outside the home that name Loci.
    """

    home: str
    is_readable: bool
    memories: int = 0
    sealed: int = 0
    files: int = 0
    backups: int = 0
    size: int = 0
    foreign: tuple[str, ...] = ()
    copy: OutsideCopy | None = None
    plain_exports: int = 0
    devices: tuple[str, ...] = ()
    folder: str = ""
    is_folder_there: bool = False
    pending: int = 0
    clients: tuple[str, ...] = ()
    registered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WipeReport:
    """What a wipe did.

    Attributes:
        at: epoch ms.
        preview: what was there; None where a wipe that was interrupted was finished.
        removed: files; `size` is their bytes.
        overwritten: files whose keys were overwritten.
        kept: names in the home that are not Loci's.
        links: names of links that were removed; what they lead to stays.
        left: names that could not be removed; the next wipe tries again.
        is_home_gone: whether the folder is removed.
        is_keyring_clear: whether the system's keyring has no entry; None where it had none.
        devices: whether they know.
        registered: outside the home.
    """

    home: str
    at: int
    preview: WipePreview | None
    removed: int
    size: int
    overwritten: int
    kept: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    is_home_gone: bool = False
    is_keyring_clear: bool | None = None
    devices: DevicesTold = DevicesTold.ALONE
    registered: Registered = field(default_factory=Registered)

    @property
    def is_complete(self) -> bool:
        """Whether nothing of Loci's is left in the home."""
        return not self.left

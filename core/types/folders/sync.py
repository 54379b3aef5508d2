"""Other devices of the person and the folder that they share: how each stands, and what a round did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SyncDevice:
    """A device of the group.

    Attributes:
        is_own: this very one.
        left_at: when it left, epoch ms; None while it takes part.
        number: of the last of its bundles that is in this vault.
        behind: how many of this device's own bundles it has not taken, as far as is known here.
    """

    id: str
    name: str
    is_own: bool
    added_at: int
    left_at: int | None
    number: int
    behind: int


@dataclass(frozen=True, slots=True)
class SyncProblem:
    """A file or a gap in the folder, for which nothing was taken.

    Attributes:
        kind: a key of `sync.problem` in `resources/help/commandline.json`.
        name: of the file, or empty.
        device: name or id of the device, or empty.
        number: of the bundle that is meant; 0 for none.
    """

    kind: str
    name: str = ""
    device: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """How this device stands.

    Attributes:
        is_on: False where the vault is on this device alone; then nothing else says anything.
        pending: rows that the others have not been told of.
        kept: bundles of this device in the folder; what was erased may be in them until every device has taken them.
        quarantine: the folder with copies of files that were no bundles; empty where there is none.
        trouble: what hindered the last round that began by itself, in a sentence; empty where nothing did.
    """

    is_on: bool
    folder: str = ""
    is_there: bool = False
    synced_at: int | None = None
    pending: int = 0
    kept: int = 0
    devices: tuple[SyncDevice, ...] = ()
    problems: tuple[SyncProblem, ...] = ()
    quarantine: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one round did.

    Attributes:
        told: rows in this device's new bundle; `wrote` says whether there is one.
        bundles: of others that were taken, with `rows` in them.
        new: memories that came; `gone` those that went.
        asked: questions that came of it and wait in the review.
        refused: rows that could not be beside what is here and are nowhere now.
        admitted: names of devices that were let in.
        removed: bundles that every device has taken and that are no longer in the folder.
    """

    told: int = 0
    wrote: bool = False
    bundles: int = 0
    rows: int = 0
    new: int = 0
    gone: int = 0
    asked: int = 0
    refused: int = 0
    admitted: tuple[str, ...] = ()
    removed: int = 0
    problems: tuple[SyncProblem, ...] = ()
    quarantine: str = ""


@dataclass(frozen=True, slots=True)
class RemovedDevice:
    """A device that was taken out.

    Attributes:
        report: what the round behind it did; None where there was none, and the others hear of it with the next.
    """

    name: str
    report: SyncReport | None

"""Removing Loci's data from this computer: what would go, the last word to other devices, and the wipe itself.

The vault is closed before anything is removed, and everything runs on the thread that opens and closes it. Must not do:
wipe without the secret; remove what Loci did not make; keep anything that the report does not name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from core.engine.home.removal import finish_wipe, printable_names, write_wipe_report
from core.engine.sync.folder import SyncFolder
from core.engine.sync.group import Devices
from core.engine.vault.home_control import HomeControl
from core.errors import LociError
from core.intake.sync.collection import count_pending
from core.intake.sync.device import read_devices, read_state
from core.security.keyfile import load_keys
from core.types.files.wipe import CopyKind, DevicesTold, OutsideCopy, Registered, WipePreview, WipeReport
from core.vault.copies import known_copies
from core.vault.database.rows import Rows
from core.vault.files.destruction import (
    ReportWipe,
    WipeNote,
    WipeStep,
    mark_home,
    survey_home,
)
from core.vault.files.home import Home

_ARCHIVED = "encrypted_v1"
_COPIES = "SELECT at, verb, detail FROM audit WHERE verb IN ('export', 'backup') ORDER BY nr DESC"
_MEMORIES = "SELECT count(*) FROM memories WHERE coalesce(part_index, 0) = 0"
_NEWER = f"{_MEMORIES} AND recorded_at > ?"
_SEALED, _SEALED_SINCE = (
    "SELECT count(*) FROM sealed_memories",
    "SELECT count(*) FROM sealed_memories WHERE sealed_at > ?",
)
_FILES = "SELECT count(*) FROM files"
_CLIENTS = "SELECT name FROM clients ORDER BY name"


class Registrations(Protocol):
    """What Loci put outside its home for this vault: hooks and entries of assistants, their tokens."""

    def find(self) -> tuple[str, ...]:
        """Files that name Loci; changes nothing."""
        ...

    def remove(self) -> Registered:
        """Take Loci out of them; never raises."""
        ...


class Wipe:
    """Removes everything of one home."""

    def __init__(
        self,
        control: HomeControl,
        devices: Callable[[], Devices],
        registrations: Registrations | None,
        end: Callable[[], None],
        *,
        is_served: bool,
    ) -> None:
        """Touch nothing yet.

        Args:
            devices: gives the group of other devices, while the vault is open.
            registrations: what stands outside the home; None where nothing does.
            end: called when the home is gone: gives up its lock.
            is_served: whether this process may listen at sockets in the home.
        """
        self._control, self._devices, self._registrations, self._end = control, devices, registrations, end
        self._is_served = is_served

    @property
    def _home(self) -> Home:
        return self._control.keys.home

    def preview(self, secret: str) -> Future[WipePreview]:
        """What a wipe would remove, and what it does not reach; changes nothing.

        Args:
            secret: the passphrase or the recovery code.

        Returns:
            The preview. The future raises WRONG_SECRET, TOO_MANY_GUESSES, VAULT_BUSY, NO_VAULT, KEY_FILE_DAMAGED.
        """
        return self._control.thread.submit(self._preview, secret)

    def _preview(self, secret: str) -> WipePreview:
        self._control.claim_present()
        self._control.keys.open(secret).wipe()
        return self._look()

    def _look(self) -> WipePreview:
        home, slot = self._home, self._control.slot.vault
        found = survey_home(home)
        outside = self._registrations.find() if self._registrations is not None else ()
        shared = WipePreview(
            str(home.path),
            is_readable=slot is not None,
            backups=len(known_copies(home)),
            size=found.size,
            foreign=printable_names(found.foreign),
            registered=printable_names(outside),
        )
        return shared if slot is None else slot.storage.vault.read(lambda rows: _count(rows, shared))

    def run(self, secret: str, report: ReportWipe = lambda _: None) -> Future[WipeReport]:
        """Tell the other devices, close the vault, destroy its keys and remove everything of Loci's.

        Args:
            secret: the passphrase or the recovery code.
            report: told each step before it.

        Returns:
            What was done. The future raises WRONG_SECRET, TOO_MANY_GUESSES, VAULT_BUSY, READ_ONLY, DISK_FULL; then
            the vault is as it was, but that it may have left its other devices.
        """
        return self._control.thread.submit(self._run, secret, report)

    def _run(self, secret: str, report: ReportWipe) -> WipeReport:
        self._control.claim_present()
        keys, home = self._control.keys, self._home
        keys.open(secret).wipe()
        home.need_writable()
        preview = self._look()
        told = self._tell_devices(preview)
        self._control.lock()
        # Before the note: a start that finishes an interrupted wipe knows nothing of assistants. Killed here, the vault
        # still opens, and its assistants have to be set up anew.
        outside = self._registrations.remove() if self._registrations is not None else Registered()
        report(WipeStep.MARK)
        mark_home(home, _make_note(home))
        done = finish_wipe(home, keys.keyring, self._control.clock, report, is_served=self._is_served)
        self._end()
        # The log went as the vault was closed: all that was there is counted, as the preview counted it.
        size = done.size if done.left else preview.size
        return replace(done, size=size, preview=preview, devices=told, registered=outside)

    def save_report(self, report: WipeReport, to: Path) -> Future[None]:
        """Write a report to a file; see `write_wipe_report`."""
        return self._control.thread.submit(write_wipe_report, report, to)

    def _tell_devices(self, preview: WipePreview) -> DevicesTold:
        """The last changes, and that this device leaves, go into the shared folder."""
        slot = self._control.slot.vault
        if slot is None or slot.storage.vault.read(read_state) is None:
            return DevicesTold.ALONE
        if not preview.devices:
            return DevicesTold.ALONE
        try:
            is_told = self._devices().leave().result().wrote
        except LociError:
            is_told = False
        return DevicesTold.TOLD if is_told else DevicesTold.UNTOLD


def _make_note(home: Home) -> WipeNote:
    keys = load_keys(home.keys, repair=False).keys
    return WipeNote(keys.vault_id, "" if keys.keyring_slot is None else keys.keyring_slot.backend)


def _count(rows: Rows, shared: WipePreview) -> WipePreview:
    """What the open vault tells."""
    sealed = int(rows.value(_SEALED))
    copy, plain = _find_copies(rows)
    seen = replace(
        shared,
        memories=int(rows.value(_MEMORIES)) + sealed,
        sealed=sealed,
        files=int(rows.value(_FILES)),
        copy=copy,
        plain_exports=plain,
        clients=printable_names(name for (name,) in rows.all(_CLIENTS)),
    )
    state = read_state(rows)
    if state is None:
        return seen
    others = (one.name for one in read_devices(rows) if one.id != state.device and one.left_at is None)
    return replace(
        seen,
        devices=printable_names(others),
        folder=printable_names((state.folder,))[0],
        is_folder_there=SyncFolder(Path(state.folder)).is_there,
        pending=count_pending(rows),
    )


def _find_copies(rows: Rows) -> tuple[OutsideCopy | None, int]:
    """The newest copy outside that was written whole, and how many exports in the clear there are."""
    copy: OutsideCopy | None = None
    plain, is_whole = 0, False
    for at, verb, detail in rows.all(_COPIES):
        told = json.loads(detail)
        is_archive = told.get("format") == _ARCHIVED
        if is_archive and ("outcome" in told or "failed" in told):
            is_whole = "outcome" in told  # of the export that the next line of one says was begun
            continue
        if is_archive and not is_whole:
            continue  # it failed, or was cut off: there may be no file
        is_whole = False
        if verb == "export" and not is_archive:
            plain += 1
        elif copy is None:
            newer = int(rows.value(_NEWER, (at,))) + int(rows.value(_SEALED_SINCE, (at,)))
            copy = OutsideCopy(CopyKind.ARCHIVE if is_archive else CopyKind.BACKUP, int(at), newer)
    return copy, plain

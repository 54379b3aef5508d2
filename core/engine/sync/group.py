"""The facade's group for the person's other devices: pairing, one round, how it stands, leaving.

Everything here is the owner's. A round runs beside everything else, on the thread for long checks, when somebody asks
for it or by itself; what came is given vectors behind it. Must not do: decide which of two changes counts; keep a code.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from core import log
from core.engine.authority import Authority
from core.engine.memories.memories import embed_backlog, vector_remover
from core.engine.runtime.open_vault import OpenVault, VaultSlot
from core.engine.runtime.storage import log_failure, submit_work
from core.engine.sync.folder import FileChecks, SyncFolder
from core.engine.sync.pairing import (
    INVITATION_MS,
    DeviceInvitation,
    format_code,
    invitation_id,
    make_secret,
    parse_code,
    read_invitation,
    write_answer,
    write_invitation,
)
from core.engine.sync.rounds import FolderRounds, Workplace
from core.engine.sync.schedule import RoundSchedule
from core.errors import Code, LociError, PreconditionError, UserError
from core.events import Stalled
from core.intake.sync.device import (
    MOST_NAME,
    KnownDevice,
    SyncState,
    add_device,
    begin_sync,
    end_sync,
    free_name,
    mark_left,
    names_of_others,
    new_group,
    note_owing,
    read_devices,
    read_state,
    rename_device,
    require_state,
    use_folder,
)
from core.intake.sync.keys import read_keys, take_keys
from core.types.folders.sync import RemovedDevice, SyncReport, SyncStatus
from core.types.replies import PairingOffer
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

SYNC, DEVICES = "sync", "devices"
PAIR, JOIN, LEAVE, REMOVE, RENAME = "sync_pair", "sync_join", "sync_leave", "sync_remove", "sync_name"
_INVITE = "INSERT INTO sync_invitations (id, secret, expires_at) VALUES (?, ?, ?)"
_log = log.get("engine")


class _StoredVault:
    """The open vault, as a round uses it."""

    def __init__(self, open_vault: OpenVault) -> None:
        self._storage = open_vault.storage

    def read(self, fn: Callable[[Rows], T]) -> T:
        """Read from one snapshot."""
        return self._storage.vault.read(fn)

    def write(self, fn: Callable[[Tx], T]) -> T:
        """Write one transaction."""
        return self._storage.write(fn, background=True).result()


class Devices:
    """Other devices of the person."""

    def __init__(self, slot: VaultSlot, authority: Authority) -> None:
        """Work on the open vault.

        Args:
            slot: holds it.
            authority: is told of clients that came with other devices' memories.
        """
        self._slot, self._authority = slot, authority
        self._schedule = RoundSchedule()
        self._scheduled: OpenVault | None = None
        self._checks: FileChecks | None = None

    def read_status(self) -> Future[SyncStatus]:
        """How this device stands, and what in the folder is not as it should be."""
        open_vault = self._slot.require_vault()
        return open_vault.storage.run_on(
            open_vault.storage.threads.checks,
            lambda: replace(self._rounds_of(open_vault).read_status(), trouble=self._schedule.trouble),
        )

    # ---- by itself

    def note_change(self, verb: str) -> None:
        """Something changed; a round follows soon.

        Args:
            verb: what changed it; what a round itself took is nothing new.
        """
        open_vault = self._slot.vault
        if open_vault is not None and verb != SYNC:
            self._schedule.note_change(open_vault.storage.clock.now_ms())

    def run_when_due(self, open_vault: OpenVault) -> None:
        """Begin a round where one is due; asked every second while the vault is open."""
        if self._scheduled is not open_vault:
            self._schedule, self._scheduled = RoundSchedule(), open_vault
        schedule, storage = self._schedule, open_vault.storage
        if schedule.begin_if_due(storage.clock.now_ms(), open_vault.options.sync_minutes):
            log_failure(
                submit_work(storage.threads.checks, self._run_by_itself, open_vault, schedule),
                _log,
                "a round by itself",
            )

    def stop(self) -> None:
        """The vault closes: nothing of it is kept here."""
        self._scheduled = self._checks = None

    def _run_by_itself(self, open_vault: OpenVault, schedule: RoundSchedule) -> None:
        trouble: LociError | None = None
        try:
            if open_vault.storage.vault.read(read_state) is not None:
                self._run_round(open_vault, is_whole=False)
        except LociError as error:
            trouble = None if open_vault.storage.closing.is_set() else error
        finally:
            is_news = schedule.end(trouble)
        if trouble is not None and is_news:
            _log.warning("a round by itself stopped: %s", trouble.code.value)
            open_vault.storage.hub.publish(Stalled(DEVICES, trouble.sentence))

    def pair(self, folder: Path | None, name: str) -> Future[PairingOffer]:
        """Show a code that lets one other device in; the first one begins the group.

        Args:
            folder: where bundles shall lie; None for where they lie.
            name: by which the others list this device, where it begins.

        Returns:
            The code. The future raises INVALID_INPUT where no folder is known, SYNC_FOLDER_GONE, READ_ONLY, DISK_FULL.
        """
        open_vault, line = self._slot.require_vault(), check_name(name)

        def offer() -> PairingOffer:
            storage = open_vault.storage
            known = storage.vault.read(read_state)
            path = _folder_of(folder, known)
            secret = make_secret()
            expires_at = storage.clock.now_ms() + INVITATION_MS

            def write(tx: Tx) -> DeviceInvitation:
                with storage.verb(tx, OWNER_ACTOR, PAIR, label="Invite another device") as verb:
                    if read_state(tx) is None:
                        group, key = new_group()
                        begin_sync(tx, group, key, str(path), line)
                    elif folder is not None:
                        use_folder(tx, str(path))
                    tx.run(_INVITE, (invitation_id(secret), secret, expires_at))
                    state = require_state(tx)
                    verb.note_audit(state.device)
                own = next(one for one in read_devices(tx) if one.id == state.device)
                return DeviceInvitation(state.group, tuple(read_keys(tx).values()), own, expires_at)

            write_invitation(path, secret, storage.write(write).result())
            return PairingOffer(format_code(secret), expires_at, str(path))

        return open_vault.storage.run_on(open_vault.storage.threads.checks, offer)

    def join(self, code: str, folder: Path, name: str) -> Future[SyncReport]:
        """Make this vault that of another device of the group that invited it, and do a first round.

        Args:
            code: as typed.
            folder: where the invitation lies.

        Returns:
            What the round did. The future raises SYNC_CODE_REFUSED, SYNC_FOLDER_GONE, INVALID_INPUT where this device
            is in a group already.
        """
        open_vault, line = self._slot.require_vault(), check_name(name)

        def become() -> SyncReport:
            storage = open_vault.storage
            secret = parse_code(code)
            path = _folder_of(folder, None)
            invitation = read_invitation(path, secret, storage.clock.now_ms())

            def write(tx: Tx) -> KnownDevice:
                if read_state(tx) is not None:
                    raise PreconditionError(
                        "This device is paired already; choose Leave under Settings, Devices, or run "
                        "`loci sync leave`, and then pair it anew."
                    )
                with storage.verb(tx, OWNER_ACTOR, JOIN, label="Join other devices") as verb:
                    own_name = free_name(line, (invitation.host.name,))
                    state = begin_sync(tx, invitation.group, invitation.keys[0].key, str(path), own_name)
                    add_device(tx, invitation.host)
                    take_keys(tx, invitation.keys[1:])
                    verb.note_audit(state.device)
                return next(one for one in read_devices(tx) if one.id == state.device)

            own = storage.write(write).result()
            write_answer(path, secret, own)
            return self._run_round(open_vault, is_whole=False)

        return open_vault.storage.run_on(open_vault.storage.threads.checks, become)

    def run(self, folder: Path | None = None, *, is_whole: bool = False) -> Future[SyncReport]:
        """Take what others wrote, and tell what is new here.

        Args:
            folder: where bundles lie from now on; None for where they lie.
            is_whole: tell everything, for devices that lack a bundle of this one.

        Returns:
            What was done. The future raises SYNC_OFF, SYNC_FOLDER_GONE, SYNC_FORKED, DISK_FULL, READ_ONLY.
        """
        open_vault = self._slot.require_vault()

        def go() -> SyncReport:
            if folder is not None:
                path = _folder_of(folder, None)
                open_vault.storage.vault.read(require_state)
                open_vault.storage.write(lambda tx: use_folder(tx, str(path))).result()
            return self._run_round(open_vault, is_whole=is_whole)

        return open_vault.storage.run_on(open_vault.storage.threads.checks, go)

    def _run_round(self, open_vault: OpenVault, *, is_whole: bool) -> SyncReport:
        storage, search = open_vault.storage, open_vault.search
        report, came = self._rounds_of(open_vault).run(is_whole=is_whole)
        if report.bundles:
            storage.vault.read(self._authority.reload_clients)
            storage.announce_change(SYNC, tuple(came), OWNER_ACTOR, storage.vault.seq)
        if came:
            log_failure(submit_work(storage.threads.jobs, embed_backlog, storage, search), _log, "embedding what came")
        return report

    def _rounds_of(self, open_vault: OpenVault) -> FolderRounds:
        storage = open_vault.storage
        checks = self._checks = self._checks or FileChecks(storage.clock)
        removed = vector_remover(storage, open_vault.search)
        return FolderRounds(Workplace(_StoredVault(open_vault), storage.work, storage.home.sync, removed, checks))

    def leave(self) -> Future[SyncReport]:
        """Take this device out: a last round tells the others, then keys and stamps go. The memories stay.

        Returns:
            What the last round did; `wrote` says whether the others can learn of it: False where the folder is not
            there. The future raises SYNC_OFF.
        """
        open_vault = self._slot.require_vault()

        def end() -> SyncReport:
            storage = open_vault.storage
            storage.vault.read(require_state)
            report = SyncReport()
            with suppress(LociError):
                rounds = self._rounds_of(open_vault)
                report = replace(rounds.run()[0], wrote=False)
                storage.write(_mark_own_left).result()
                report = replace(report, wrote=rounds.run(is_last=True)[0].wrote)

            def write(tx: Tx) -> None:
                with storage.verb(tx, OWNER_ACTOR, LEAVE, label="Leave other devices") as verb:
                    verb.note_audit(require_state(tx).device)
                    end_sync(tx)

            storage.write(write).result()
            return report

        return open_vault.storage.run_on(open_vault.storage.threads.checks, end)

    def rename(self, name: str) -> Future[str]:
        """Call this device by another name; the others learn it with its next bundle, which is written at once.

        Args:
            name: as the others shall list it.

        Returns:
            The name. The future raises SYNC_OFF; INVALID_INPUT for an empty or a long one, and where another device has
            it.
        """
        open_vault, line = self._slot.require_vault(), check_name(name)
        storage = open_vault.storage

        def write(tx: Tx) -> None:
            own = require_state(tx).device
            if line in names_of_others(tx):
                raise UserError(Code.INVALID_INPUT, "Another device has that name; choose a different one.")
            with storage.verb(tx, OWNER_ACTOR, RENAME, label="Rename this device") as verb:
                rename_device(tx, own, line)
                note_owing(tx)
                verb.note_audit(own)

        def go() -> str:
            storage.write(write).result()
            with suppress(LociError):  # the folder is not there: the next round tells it
                self._run_round(open_vault, is_whole=False)
            return line

        return storage.run_on(storage.threads.checks, go)

    def remove(self, device: str) -> Future[RemovedDevice]:
        """Take another device out: nothing that it writes from now on is taken, and it can read nothing that comes.

        The next bundle, which is written at once where the folder is there, is sealed under a new key for those that
        are left.

        Args:
            device: its name or id.

        Returns:
            Its name, and what the round did. The future raises SYNC_OFF, NOT_FOUND; INVALID_INPUT where several have
            the name.
        """
        open_vault = self._slot.require_vault()
        storage = open_vault.storage

        def write(tx: Tx) -> str:
            found = _find_other(tx, device)
            with storage.verb(tx, OWNER_ACTOR, REMOVE, label="Take a device out") as verb:
                mark_left(tx, found.id, tx.now_ms, found.number)
                note_owing(tx)
                verb.note_audit(found.id)
            return found.name

        def take_out() -> RemovedDevice:
            name = storage.write(write).result()
            report: SyncReport | None = None
            with suppress(LociError):  # the folder is not there: the next round tells it
                report = self._run_round(open_vault, is_whole=False)
            return RemovedDevice(name, report)

        return storage.run_on(storage.threads.checks, take_out)


def _find_other(tx: Tx, device: str) -> KnownDevice:
    own = require_state(tx).device
    others = [one for one in read_devices(tx) if one.id != own and one.left_at is None]
    found = [one for one in others if one.id == device] or [one for one in others if one.name == device]
    if not found:
        raise UserError(Code.NOT_FOUND, "No other device of that name takes part.")
    if len(found) > 1:
        raise UserError(Code.INVALID_INPUT, "Several devices have that name; give the id.")
    return found[0]


def check_name(name: str) -> str:
    """A name of a device, in one line.

    Raises:
        UserError: INVALID_INPUT.
    """
    line = " ".join(unicodedata.normalize("NFC", name).split())
    if not line or len(line) > MOST_NAME or not line.isprintable():
        raise UserError(Code.INVALID_INPUT, f"The name of a device has 1 to {MOST_NAME} characters.")
    return line


def _mark_own_left(tx: Tx) -> None:
    """The next bundle of this device says that it is the last."""
    state = require_state(tx)
    mark_left(tx, state.device, tx.now_ms, state.number + 1)
    note_owing(tx)


def _folder_of(given: Path | None, known: SyncState | None) -> Path:
    if given is None and known is None:
        raise UserError(Code.INVALID_INPUT, "Name the folder that your devices share, with --folder.")
    path = Path(known.folder) if given is None and known is not None else Path(given or "").absolute()
    SyncFolder(path).require()
    return path

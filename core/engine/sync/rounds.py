"""One round with the folder: let in who answered, take what others wrote, tell what is new here, clear what all have.

A bundle is written into the home in the same transaction that notes it as told, and copied into the folder afterwards:
a kill in between leaves it where the next round finds it. A bundle of another device is taken when its signature, its
number and the one before it fit, and everything its device had seen is here; in one transaction, or not at all. Must
not do: decide which of two changes counts, change a file of another device.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from core.archive.bundle import (
    FIRST,
    BundleFault,
    BundleFaultError,
    BundleHeader,
    BundleKind,
    BundleWriter,
    CheckedBundle,
    read_lines,
)
from core.engine.sync.folder import (
    FileChecks,
    FoundBundle,
    SyncFolder,
    bundle_name,
    check_file,
    keep_copy,
    open_plain,
)
from core.engine.sync.pairing import read_answer, remove_files
from core.errors import Code, UserError
from core.intake.sync.collection import Sink, count_pending
from core.intake.sync.device import (
    KnownDevice,
    SyncState,
    has_taken_name,
    mark_left,
    note_owing,
    note_synced,
    number_own_name,
    read_devices,
    read_state,
    require_state,
)
from core.intake.sync.keys import SyncKey, find_key, is_key_spent, note_key, open_header, read_keys, renew_key
from core.intake.sync.merge import TakenRows
from core.intake.sync.records import BundleOrigin
from core.intake.sync.transfer import (
    count_taken,
    is_bundle_due,
    meet_device,
    meet_devices,
    next_header,
    read_introduction,
    take_bundle,
    write_bundle,
)
from core.intake.transaction.unit_of_work import UnitOfWork
from core.security.atomic import file_write_error
from core.types.folders.sync import SyncDevice, SyncProblem, SyncReport, SyncStatus
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

QUARANTINE = "quarantine"
_SCHEMA = "SELECT max(version) FROM schema_version"
_INVITED = "SELECT id, secret, expires_at FROM sync_invitations ORDER BY id"
_MOST_PROBLEMS = 50


class SyncedVault(Protocol):
    """The vault, as a round uses it."""

    def read(self, fn: Callable[[Rows], T]) -> T:
        """Read from one snapshot."""
        ...

    def write(self, fn: Callable[[Tx], T]) -> T:
        """Write one transaction."""
        ...


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a round works with.

    Attributes:
        spool: the home's own folder for bundles on their way.
        removed: told sequence and labels of memories that vanish, for the index.
        checks: what the files of the folder were found to be; of all rounds of one open vault.
    """

    vault: SyncedVault
    work: UnitOfWork
    spool: Path
    removed: Callable[[int, Sequence[int]], None]
    checks: FileChecks


@dataclass
class _Round:
    """What one round found and did."""

    problems: list[SyncProblem] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    bundles: int = 0
    rows: int = 0
    memories: set[str] = field(default_factory=set)
    gone: int = 0
    asked: int = 0
    refused: int = 0
    has_copies: bool = False

    def count(self, taken: TakenRows) -> None:
        """Count a bundle."""
        self.bundles += 1
        self.rows += taken.rows
        self.memories |= taken.memories
        self.gone += taken.gone
        self.asked += taken.opened
        self.refused += taken.refused


class FolderRounds:
    """Rounds of one vault with its folder."""

    def __init__(self, place: Workplace) -> None:
        """Work with a vault.

        Args:
            place: the vault and where it keeps bundles.
        """
        self._place = place
        self._vault, self._checks = place.vault, place.checks

    # ---- looking

    def read_status(self) -> SyncStatus:
        """How this device stands, and what in the folder is not as it should be; writes nothing into the vault."""
        state = self._vault.read(read_state)
        if state is None:
            return SyncStatus(is_on=False)
        folder = SyncFolder(Path(state.folder))
        devices = self._vault.read(read_devices)
        around = _Round()
        if folder.is_there:
            self._look(folder, state, around)
        return SyncStatus(
            is_on=True,
            folder=state.folder,
            is_there=folder.is_there,
            synced_at=state.synced_at,
            pending=self._vault.read(count_pending),
            kept=len(folder.own_numbers(state.device)),
            devices=tuple(_shown(one, state) for one in devices),
            problems=tuple(around.problems[:_MOST_PROBLEMS]),
            quarantine=self._quarantine_name(),
        )

    def _quarantine_name(self) -> str:
        kept = self._place.spool / QUARANTINE
        with suppress(OSError):
            if any(kept.iterdir()):
                return str(kept)
        return ""

    def _look(self, folder: SyncFolder, state: SyncState, around: _Round) -> dict[str, dict[int, list[FoundBundle]]]:
        """Sort what lies in the folder by device and number; what is of no use is noted."""
        devices = {one.id: one for one in self._vault.read(read_devices)}
        found, faults = folder.read_bundles({one.id: one.number for one in devices.values()})
        for fault in faults:
            self._note_fault(around, fault.path, fault.kind)
        sorted_out: dict[str, dict[int, list[FoundBundle]]] = defaultdict(lambda: defaultdict(list))
        newest = self._vault.read(lambda rows: int(rows.value(_SCHEMA)))
        for one in found:
            header, device = one.header, devices.get(one.header.device)
            if header.group != state.group:
                self._note_fault(around, one.path, "foreign")
            elif header.device == state.device:
                if header.number > state.number:
                    around.problems.append(SyncProblem("ahead", one.path.name, header.device, header.number))
            elif device is None:
                around.problems.append(SyncProblem("unknown", one.path.name, header.device, header.number))
            elif device.last is not None and header.number > device.last:
                around.problems.append(SyncProblem("left", one.path.name, device.name, header.number))
            elif header.number > device.number and header.schema > newest:
                around.problems.append(SyncProblem("newer", one.path.name, device.name, header.number))
            elif header.number >= max(device.number, 1):
                sorted_out[header.device][header.number].append(one)
        return sorted_out

    def _note_fault(self, around: _Round, path: Path, kind: str) -> None:
        around.problems.append(SyncProblem(kind, path.name))
        if kind != "newer":
            around.has_copies |= keep_copy(path, self._place.spool / QUARANTINE)

    # ---- a round

    def run(self, *, is_whole: bool = False, is_last: bool = False) -> tuple[SyncReport, frozenset[str]]:
        """Do one round.

        Args:
            is_last: this device leaves, and its next bundle says so.
            is_whole: tell everything, and not only what is new: heals the others where a bundle of this device is lost.

        Returns:
            What was done, and the ids of memories that came.

        Raises:
            UserError: SYNC_OFF, also where another device took this one out; SYNC_FORKED where this vault is older than
                what it told the others.
            EnvironmentFaultError: SYNC_FOLDER_GONE, DISK_FULL, READ_ONLY, WRITE_FAILED; nothing is lost.
        """
        state = self._vault.read(require_state)
        folder = SyncFolder(Path(state.folder))
        folder.require()
        was_late = self._publish_spooled(folder, state)
        around = _Round()
        self._check_own(folder, state)
        if not is_last:
            self._check_membership(state)
        self._admit(folder, around)
        self._take_all(folder, around)
        if not is_last:
            self._check_membership(state)  # what was taken may have said that this device is out
            if self._vault.read(has_taken_name):
                self._vault.write(number_own_name)
            if self._vault.read(is_key_spent):
                self._vault.write(renew_key)
        told, wrote = 0, was_late
        if is_whole or around.admitted or self._vault.read(is_bundle_due):
            told, wrote = self._tell(folder, is_whole=is_whole or bool(around.admitted)), True
        removed = self._clear(folder)
        self._vault.write(note_synced)
        report = SyncReport(
            told, wrote, around.bundles, around.rows, len(around.memories), around.gone, around.asked, around.refused,
            tuple(around.admitted), removed, tuple(around.problems[:_MOST_PROBLEMS]), self._quarantine_name(),
        )  # fmt: skip
        return report, frozenset(around.memories)

    def _check_own(self, folder: SyncFolder, state: SyncState) -> None:
        """Refuse to go on with a vault that was put back from a copy: its next bundle would have a number twice."""
        found, _ = folder.read_bundles({})
        ahead = [one for one in found if one.header.device == state.device and one.header.number > state.number]
        public = {one.id: one.public_key for one in self._vault.read(read_devices)}[state.device]
        for one in ahead:
            with suppress(BundleFaultError, OSError):
                if one.header.group == state.group and self._checks.check(one.path).is_signed_by(public):
                    raise UserError(
                        Code.SYNC_FORKED,
                        "This vault is older than what it told your other devices; choose Leave under Settings, "
                        "Devices, or run `loci sync leave`, and pair it anew: then it gets back what it lacks.",
                    )

    def _check_membership(self, state: SyncState) -> None:
        own = next(one for one in self._vault.read(read_devices) if one.id == state.device)
        if own.left_at is not None:
            raise UserError(
                Code.SYNC_OFF,
                "Another device removed this one; choose Leave under Settings, Devices, or run `loci sync leave`. To "
                "use it with the others again, pair it anew.",
            )

    def _admit(self, folder: SyncFolder, around: _Round) -> None:
        """Let in the devices that answered a code; codes that are over are forgotten."""

        def forget(tx: Tx, invitation: str) -> None:
            tx.run("DELETE FROM sync_invitations WHERE id = ?", (invitation,))

        for invitation, secret, expires_at in self._vault.read(lambda rows: rows.all(_INVITED)):
            device = read_answer(folder.path, bytes(secret))

            def settle(tx: Tx, invitation: str = invitation, device: KnownDevice | None = device,
                       expires_at: int = expires_at) -> bool | None:  # fmt: skip
                is_over = tx.now_ms >= expires_at
                if device is None and not is_over:
                    return None
                if device is not None and not is_over:
                    meet_device(tx, replace(device, added_at=tx.now_ms, left_at=None, number=0, digest=""))
                forget(tx, invitation)
                return not is_over

            done = self._vault.write(settle)
            if done is None:
                continue
            remove_files(folder.path, invitation)
            if done and device is not None:
                around.admitted.append(device.name)
            elif device is not None:
                around.problems.append(SyncProblem("late", "", device.name))

    def _take_all(self, folder: SyncFolder, around: _Round) -> None:
        """Take bundles as long as one is in its turn."""
        while True:
            state = self._vault.read(require_state)
            looked = _Round()
            found = self._look(folder, state, looked)
            self._learn_keys(found, state)
            if not self._take_some(found, looked, around):
                around.problems = [*around.problems, *looked.problems]
                return

    def _learn_keys(self, found: Mapping[str, Mapping[int, list[FoundBundle]]], state: SyncState) -> None:
        """Keep the keys that bundles hand to this device, also of those that are not in their turn.

        A device that joined beside the making of a key gets it from whoever knows both, by a later bundle. One that
        knows this device and seals to others only has taken it out.
        """
        known = {"", *self._vault.read(read_keys)}
        devices = {one.id: one for one in self._vault.read(read_devices)}
        for device_id, numbers in found.items():
            device = devices[device_id]
            for one in (bundle for number in sorted(numbers) for bundle in numbers[number]):
                is_sealed_here = state.device in one.header.envelopes
                if one.header.key in known or one.header.number <= device.number:
                    continue
                if (is_sealed_here or device.is_met) and self._check(one, device, _Round()) is not None:
                    known |= self._learn_key(one) if is_sealed_here else self._note_out()

    def _learn_key(self, one: FoundBundle) -> frozenset[str]:
        key = self._vault.read(lambda rows: open_header(rows, one.header))
        if key is None:
            return frozenset()
        self._vault.write(lambda tx: _keep_key(tx, key))
        return frozenset({key.id})

    def _note_out(self) -> frozenset[str]:
        self._vault.write(_mark_own_out)
        return frozenset()

    def _take_some(self, found: Mapping[str, Mapping[int, list[FoundBundle]]], looked: _Round, around: _Round) -> bool:
        """Take what is in its turn of every device.

        Returns:
            Whether anything was.
        """
        is_any = False
        for device_id in sorted(found):
            while True:
                device = next(one for one in self._vault.read(read_devices) if one.id == device_id)
                if device.last is not None and device.number >= device.last:
                    break
                taken = self._take_next(found[device_id], device, looked)
                if taken is None:
                    break
                self._checks.forget_refused()
                around.count(taken)
                is_any = True
        return is_any

    def _take_next(
        self, found: Mapping[int, list[FoundBundle]], device: KnownDevice, looked: _Round
    ) -> TakenRows | None:
        """Take the next bundle of a device; None where none is in its turn."""
        self._tell_twice(found, device, looked)
        following = device.number + 1
        candidates = list(found.get(following, ()))
        # A whole bundle stands for all before it, so that one that was lost holds up nobody for ever.
        wholes = sorted(number for number in found if number > following)
        candidates += [one for number in wholes for one in found[number] if one.header.kind is BundleKind.WHOLE]
        for one in candidates:
            checked = self._check(one, device, looked)
            if checked is None or not _is_next(checked.header, device):
                continue
            taken = self._take(one, checked, looked)
            if taken is not None:
                return taken
        later = [number for number in found if number > device.number]
        if later and following not in found and not any(one.device == device.name for one in looked.problems):
            looked.problems.append(SyncProblem("gap", "", device.name, following))
        return None

    def _tell_twice(self, found: Mapping[int, list[FoundBundle]], device: KnownDevice, looked: _Round) -> None:
        """Two bundles of one number: the device's vault was copied, and both copies go on writing."""
        for one in found.get(device.number, ()) if device.number else ():
            checked = self._check(one, device, _Round())
            if checked is not None and device.digest and checked.digest != device.digest:
                problem = SyncProblem("twice", one.path.name, device.name, device.number)
                if problem not in looked.problems:
                    looked.problems.append(problem)

    def _check(self, one: FoundBundle, device: KnownDevice, looked: _Round) -> CheckedBundle | None:
        """A bundle that its device signed; None for any other file, which is noted."""
        try:
            checked = self._checks.check(one.path)
        except BundleFaultError as error:
            self._note_fault(looked, one.path, error.fault.value)
            return None
        except OSError:
            self._note_fault(looked, one.path, "unreadable")
            return None
        if checked.header != one.header or not checked.is_signed_by(device.public_key):
            self._note_fault(looked, one.path, "damaged")
            return None
        return checked

    def _take(self, one: FoundBundle, checked: CheckedBundle, looked: _Round) -> TakenRows | None:
        header = checked.header
        key = self._vault.read(lambda rows: find_key(rows, header))
        if key is None:
            # Of one that has not met this device yet: it comes again, under a key that this device gets of somebody.
            author = next(known.name for known in self._vault.read(read_devices) if known.id == header.device)
            looked.problems.append(SyncProblem("shut", one.path.name, author, header.number))
            return None
        try:
            with open_plain(one.path) as file:
                origin, devices = read_introduction(read_lines(file, checked, key))
                self._vault.write(lambda tx: _note_introduction(tx, origin, devices, header.device))
                if header.kind is BundleKind.CHANGES and (lacking := self._find_lacking(origin.taken, header.device)):
                    looked.problems.append(SyncProblem("waits", one.path.name, lacking[0], lacking[1]))
                    return None
                if check_file(one.path) != checked:  # it was known from an earlier round, and is believed now
                    raise BundleFaultError(BundleFault.DAMAGED)
                lines = read_lines(file, checked, key)
                place = self._place
                return self._vault.write(
                    lambda tx: take_bundle(tx, place.work, header, checked.digest, lines, place.removed)
                )
        except BundleFaultError as error:
            self._checks.refuse(one.path, error.fault)
            self._note_fault(looked, one.path, error.fault.value)
        except OSError:
            self._note_fault(looked, one.path, "unreadable")
        return None

    def _find_lacking(self, taken: Mapping[str, tuple[int, str]], author: str) -> tuple[str, int] | None:
        """A bundle that the author had taken and this device has not."""
        known = {one.id: one for one in self._vault.read(read_devices)}
        own = self._vault.read(require_state).device
        for device_id, (number, _) in taken.items():
            if device_id in (author, own):
                continue
            device = known.get(device_id)
            if device is not None and device.number < number:
                return device.name, device.number + 1
        return None

    # ---- telling

    def _tell(self, folder: SyncFolder, *, is_whole: bool) -> int:
        spool = self._place.spool
        failed: OSError | None = None
        told = 0
        try:
            spool.mkdir(mode=0o700, parents=True, exist_ok=True)
            header = self._vault.read(lambda rows: next_header(rows, is_whole=is_whole))
            path = spool / bundle_name(header.device, header.number)
            told = self._write_spooled(path, header)
        except OSError as error:
            failed = error
        if failed is not None:
            raise file_write_error(failed)
        self._publish(folder, path)
        return told

    def _write_spooled(self, path: Path, header: BundleHeader) -> int:
        with path.open("w+b") as file:
            path.chmod(0o600)

            def open_sink(state: SyncState, key: bytes) -> tuple[Sink, Callable[[], str]]:
                writer = BundleWriter(file, header, key, state.private_key)

                def finish() -> str:
                    digest = writer.finish()
                    file.flush()
                    os.fsync(file.fileno())
                    return digest

                return writer.write_line, finish

            try:
                return self._vault.write(lambda tx: write_bundle(tx, self._place.work, header, open_sink))
            except BaseException:
                path.unlink(missing_ok=True)
                raise

    def _publish(self, folder: SyncFolder, path: Path) -> None:
        folder.publish(path)
        with suppress(OSError):
            path.unlink()

    def _publish_spooled(self, folder: SyncFolder, state: SyncState) -> bool:
        """What a kill, or a folder that was gone, left on its way; what was never noted as told is no bundle.

        Returns:
            Whether a bundle came into the folder.
        """
        is_any = False
        try:
            waiting = sorted(self._place.spool.glob(f"{state.device}-*"))
        except OSError:
            return False
        for path in waiting:
            try:
                number = int(path.stem.partition("-")[2])
            except ValueError:
                continue
            if number <= state.number:
                self._publish(folder, path)
                is_any = True
            else:
                with suppress(OSError):
                    path.unlink()
        return is_any

    def _clear(self, folder: SyncFolder) -> int:
        """Remove this device's bundles that every other device has taken; the last one stays."""
        state = self._vault.read(require_state)
        others = [one for one in self._vault.read(read_devices) if one.id != state.device and one.left_at is None]
        if not others:
            return 0
        known = min(min(one.known for one in others), state.number - 1)
        numbers = [number for number in folder.own_numbers(state.device) if number <= known]
        return sum(folder.remove_own(state.device, number) for number in numbers)


def _note_introduction(tx: Tx, origin: BundleOrigin, devices: Sequence[KnownDevice], sender: str) -> None:
    meet_devices(tx, devices, sender)
    count_taken(tx, origin)


def _mark_own_out(tx: Tx) -> None:
    state = require_state(tx)
    mark_left(tx, state.device, tx.now_ms, state.number)


def _keep_key(tx: Tx, key: SyncKey) -> None:
    """A key came: somebody who joined meanwhile may need it of this device."""
    note_key(tx, key)
    note_owing(tx)


def _is_next(header: BundleHeader, device: KnownDevice) -> bool:
    """Whether a bundle follows what was taken last."""
    if header.number <= device.number:
        return False
    if header.kind is BundleKind.WHOLE:
        return True
    return header.number == device.number + 1 and header.previous == (device.digest or FIRST)


def _shown(device: KnownDevice, state: SyncState) -> SyncDevice:
    is_own = device.id == state.device
    behind = 0 if is_own or device.left_at is not None else max(0, state.number - device.known)
    return SyncDevice(device.id, device.name, is_own, device.added_at, device.left_at, device.number, behind)

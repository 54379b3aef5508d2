"""The facade's group for watched folders: add, list, switch, remove, what came, and what vanished.

Nothing runs until the person has added a folder. From then on one thread looks, for as long as the engine stays; an
engine that answers one command reads a folder once, when it is added. All of it is the person's. Must not do: add a
folder by itself, or decide what becomes of a memory whose file vanished.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from core import log
from core.engine.imports.group import Imports
from core.engine.runtime.open_vault import OpenVault, VaultSlot
from core.engine.runtime.progress import Asked, Counted, ImportProgress
from core.engine.runtime.storage import Storage, chain_work
from core.engine.watch.notices import FolderNotices
from core.engine.watch.rounds import FolderRound, RestCheck, RoundOutcome
from core.errors import Code, LociError, UserError
from core.importers.input.files import clean_name
from core.importers.watched_folder import (
    MOST_ENTRIES,
    TooManyFilesError,
    check_watched_format,
    identify_root,
    survey_folder,
)
from core.intake.revise.revision import Reviser
from core.intake.transaction.admission import check_space_name
from core.intake.watch.folders import (
    ARCHIVED,
    KEPT,
    FolderRow,
    NewFolder,
    add_folder,
    forget_files,
    pause_folder,
    read_entries,
    read_figures,
    read_folders,
    read_gone,
    remove_folder,
    require_folder,
    vanished_memories,
    write_entry,
)
from core.types.folders.watch import GoneChoice, GoneFile, WatchedFolder, WatchEntry, WatchMeans, WatchState
from core.types.replies import ImportReport
from core.types.values import HOME_SPACE, LOOK_SIGNAL, OWNER_ACTOR, Actor, Status
from core.types.views import Revision
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_TICK_S = 1.0
_LOOK_S = 30.0
_SURE_S = 600.0
_RETRY_S = 60.0
_TIMES = 5.0
"""A folder that takes a second to list rests for five at least: a large one is looked at less often."""
_ENTRIES = 500

_log = log.get("engine")
T = TypeVar("T")


@dataclass
class _Watch:
    """One folder as it is watched now.

    Attributes:
        next_at: when it is looked at whatever the system tells, on the clock's monotonic seconds.
        not_before: it rests until then, whatever happens.
        is_due: whether something happened since the last look.
    """

    rest: RestCheck
    notices: FolderNotices = field(default_factory=FolderNotices)
    next_at: float = float("-inf")
    not_before: float = float("-inf")
    is_due: bool = True
    state: WatchState = WatchState.WAITING
    code: str = ""


class WatchedFolders:
    """The person's watched folders.

    Attributes:
        stays: whether the engine stays and watches; one that answers a single command does not.
    """

    def __init__(self, slot: VaultSlot, imports: Imports) -> None:
        """Watch nothing yet.

        Args:
            slot: holds the open vault.
            imports: rehearses what a folder would bring.
        """
        self._slot, self._imports, self.stays = slot, imports, False
        self._looking = threading.Lock()  # held by whoever looks at a folder
        self._lock = threading.Lock()  # guards the two below
        self._watches: dict[str, _Watch] = {}
        self._signalled_at = 0
        self._watched_vault: OpenVault | None = None

    # ---- for as long as the engine stays

    def start_for(self, open_vault: OpenVault) -> None:
        """Watch from here on, until the vault closes; does nothing as long as there is no folder."""
        if not open_vault.storage.vault.read(read_folders):
            return
        with self._lock:
            if self._watched_vault is open_vault:
                return
            self._watched_vault = open_vault
            self._watches.clear()
        open_vault.storage.threads.run_every(_TICK_S, lambda: self._tick(open_vault), "watched")

    def stop(self) -> None:
        """The vault closes."""
        with self._lock:
            watches, self._watches, self._watched_vault = list(self._watches.values()), {}, None
        for one in watches:
            one.notices.close()

    def _tick(self, open_vault: OpenVault) -> None:
        """Look at what is due."""
        if open_vault.storage.closing.is_set():
            return
        try:
            folders = open_vault.storage.vault.read(read_folders)
        except LociError:
            return  # the vault closes
        self._drop_watches({one.id for one in folders if one.paused_at is None})
        is_asked = self._is_asked_to_look(open_vault.storage.home.path)
        for folder in folders:
            if folder.paused_at is None and not open_vault.storage.closing.is_set():
                watch = self._watch_of(folder.id, open_vault)
                watch.is_due |= is_asked or watch.notices.has_changed()
                now = open_vault.storage.clock.monotonic()
                if now >= watch.not_before and (watch.is_due or now >= watch.next_at):
                    self._look_quietly(open_vault, folder, watch)

    def _is_asked_to_look(self, home: Path) -> bool:
        """Whether the hook of an assistant said since the last time that there is something new."""
        try:
            at = (home / LOOK_SIGNAL).lstat().st_mtime_ns
        except OSError:
            return False
        before, self._signalled_at = self._signalled_at, at
        return at != before

    def _watch_of(self, folder_id: str, open_vault: OpenVault) -> _Watch:
        with self._lock:
            return self._watches.setdefault(folder_id, _Watch(RestCheck(open_vault.storage.clock)))

    def _drop_watches(self, kept: set[str]) -> None:
        with self._lock:
            dropped = [self._watches.pop(one) for one in list(self._watches) if one not in kept]
        for one in dropped:
            one.notices.close()

    def _look_quietly(self, open_vault: OpenVault, folder: FolderRow, watch: _Watch) -> None:
        clock = open_vault.storage.clock
        progress = ImportProgress(clock, closing=open_vault.storage.closing.is_set)
        watch.is_due = False
        # Until it went well: what fails every time is not tried again every second.
        watch.next_at = watch.not_before = clock.monotonic() + _RETRY_S
        try:
            outcome = self._look(open_vault, folder.id, watch, progress)
        except LociError as error:
            if not open_vault.storage.closing.is_set() and error.code is not Code.NOT_FOUND:
                if watch.code != error.code.value:
                    _log.warning("a watched folder could not be read: %s", error.code.value)
                watch.state, watch.code = WatchState.FAILED, error.code.value
            return
        now = clock.monotonic()
        watch.not_before = now + _TIMES * outcome.listing_s
        if outcome.folders:
            # What was made in a new folder before the system told of it is found by looking once more.
            watch.is_due |= watch.notices.watch_folders(outcome.folders)
        else:
            watch.notices.close()
        is_told = watch.notices.means is WatchMeans.EVENTS
        watch.is_due |= outcome.state is WatchState.WAITING
        watch.next_at = now + (_SURE_S if is_told else _LOOK_S)

    def _look(self, open_vault: OpenVault, folder_id: str, watch: _Watch, progress: ImportProgress) -> RoundOutcome:
        with self._looking:
            folder = open_vault.storage.vault.read(lambda rows: require_folder(rows, folder_id))
            outcome = FolderRound(open_vault, folder, watch.rest, progress).run()
        watch.state, watch.code = outcome.state, ""
        return outcome

    # ---- what the person asks for

    def rehearse(
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        space: str | None,
        actor: Actor,
        progress: Counted | None = None,
        cancelled: Asked | None = None,
    ) -> Future[ImportReport]:
        """What a folder would bring; nothing is written.

        Raises:
            UserError: ACCESS_DENIED; INVALID_INPUT for a folder that cannot be watched. The future raises
                IMPORT_UNKNOWN_FORMAT for one whose files say nothing alone.
        """
        self._require_owner(actor)
        self._check_folder(path)

        def check(report: ImportReport) -> Future[ImportReport]:
            check_watched_format(report.format)
            done: Future[ImportReport] = Future()
            done.set_result(report)
            return done

        return chain_work(self._imports.rehearse(path, format, actor, space, progress, cancelled), check)

    def add(
        self,
        path: Path,
        format: str,  # noqa: A002 - the contract's word
        space: str | None,
        actor: Actor,
        progress: Counted | None = None,
    ) -> Future[WatchedFolder]:
        """Watch a folder from here on, and read it once now.

        Args:
            format: of its files, as the rehearsal told.
            space: where everything of it goes; `home` if None.
            progress: called with (done, total) of its files.

        Returns:
            The folder, once it was read. The future raises IMPORT_UNKNOWN_FORMAT, INVALID_INPUT.

        Raises:
            UserError: ACCESS_DENIED, INVALID_INPUT.
        """
        open_vault = self._require_owner(actor)
        real = self._check_folder(path)
        within = HOME_SPACE if space is None else check_space_name(space)
        check_watched_format(format)

        def work() -> WatchedFolder:
            new = NewFolder(str(real), clean_name(real.name or str(real)), format, within, _check_size(real, format))
            storage = open_vault.storage
            folder_id = storage.write(lambda tx: add_folder(tx, storage.work, storage.make_id, new)).result()
            watch = self._watch_of(folder_id, open_vault)
            self._look(
                open_vault, folder_id, watch, ImportProgress(storage.clock, progress, closing=storage.closing.is_set)
            )
            with self._lock:
                is_watching = self._watched_vault is not None
            if not is_watching and self.stays:
                self.start_for(open_vault)
            return self._read_one(open_vault, folder_id)

        return open_vault.storage.run_on(open_vault.storage.threads.jobs, work)

    def look(self, folder_id: str | None = None) -> Future[tuple[WatchedFolder, ...]]:
        """Look now at one folder, or at all that are not paused.

        Returns:
            How they stand; the future raises NOT_FOUND.
        """
        open_vault = self._slot.require_vault()

        def work() -> tuple[WatchedFolder, ...]:
            storage = open_vault.storage
            chosen = storage.vault.read(
                lambda rows: read_folders(rows) if folder_id is None else (require_folder(rows, folder_id),)
            )
            for folder in chosen:
                if folder.paused_at is None:
                    progress = ImportProgress(storage.clock, closing=storage.closing.is_set)
                    self._look(open_vault, folder.id, self._watch_of(folder.id, open_vault), progress)
            return tuple(self._read_one(open_vault, one.id) for one in chosen)

        return open_vault.storage.run_on(open_vault.storage.threads.jobs, work)

    def list_folders(self) -> Future[tuple[WatchedFolder, ...]]:
        """All watched folders and how they stand, in the order in which they were added."""
        open_vault = self._slot.require_vault()
        return open_vault.storage.read(
            lambda rows: tuple(self._describe(rows, folder, open_vault) for folder in read_folders(rows))
        )

    def read_log(
        self, folder_id: str, limit: int = 50, before: int | None = None
    ) -> Future[tuple[tuple[WatchEntry, ...], tuple[GoneFile, ...]]]:
        """What came of a folder, the newest first, and the files that vanished of which nothing is decided.

        Args:
            before: the number of the entry that the list comes after; None for the newest.

        Returns:
            Both; the future raises NOT_FOUND.
        """

        def read(rows: Rows) -> tuple[tuple[WatchEntry, ...], tuple[GoneFile, ...]]:
            folder = require_folder(rows, folder_id)
            return read_entries(rows, folder.id, min(limit, _ENTRIES), before), read_gone(rows, folder.id)

        return self._slot.require_storage().read(read)

    def pause(self, folder_id: str, *, is_paused: bool) -> Future[WatchedFolder]:
        """Switch a folder off, or on again: then what changed meanwhile is caught up with.

        Returns:
            The folder; the future raises NOT_FOUND.
        """

        def write(tx: Tx, storage: Storage) -> str:
            folder = require_folder(tx, folder_id)
            pause_folder(tx, storage.work, folder, is_paused=is_paused)
            return folder.id

        return self._change(write)

    def remove(self, folder_id: str) -> Future[WatchedFolder]:
        """Do not watch a folder any more; what came of it stays.

        Returns:
            The folder as it was; the future raises NOT_FOUND.
        """
        open_vault = self._slot.require_vault()

        def write(tx: Tx) -> WatchedFolder:
            folder = require_folder(tx, folder_id)
            was = self._describe(tx, folder, open_vault)
            remove_folder(tx, open_vault.storage.work, folder)
            return was

        return open_vault.storage.write(write)

    def decide_gone(self, folder_id: str, choice: GoneChoice, name: str | None = None) -> Future[WatchedFolder]:
        """Say what becomes of memories whose file vanished.

        Args:
            choice: they stay as they are, or go to the archive; that is one step of undo.
            name: of one file; None for all that vanished.

        Returns:
            The folder; the future raises NOT_FOUND where nothing of that name is asked about.
        """
        search = self._slot.require_search()

        def write(tx: Tx, storage: Storage) -> str:
            folder = require_folder(tx, folder_id)
            asked = [one for one in read_gone(tx, folder.id) if name is None or one.name == name]
            if not asked:
                raise UserError(Code.NOT_FOUND, "Nothing is asked about that file; `loci watch log` lists what is.")
            ids = vanished_memories(tx, folder.id, name) if choice is GoneChoice.ARCHIVE else []
            if ids:
                service = search.store_service
                reviser = Reviser(storage.make_id, storage.work, search.space, service.admit_memory, service.read_anew)
                reviser.revise_memories(
                    tx, ids, Revision(status=Status.ARCHIVED), None, OWNER_ACTOR, search.add_vectors
                )
            forget_files(tx, folder, name)
            event = ARCHIVED if choice is GoneChoice.ARCHIVE else KEPT
            write_entry(tx, folder.id, event, name or "", {"files": len(asked)})
            return folder.id

        return self._change(write)

    # ---- ground

    def _change(self, work: Callable[[Tx, Storage], str]) -> Future[WatchedFolder]:
        open_vault = self._slot.require_vault()

        def write(tx: Tx) -> WatchedFolder:
            folder_id = work(tx, open_vault.storage)
            return self._describe(tx, require_folder(tx, folder_id), open_vault)

        return open_vault.storage.write(write)

    def _read_one(self, open_vault: OpenVault, folder_id: str) -> WatchedFolder:
        return open_vault.storage.vault.read(
            lambda rows: self._describe(rows, require_folder(rows, folder_id), open_vault)
        )

    def _describe(self, rows: Rows, folder: FolderRow, open_vault: OpenVault) -> WatchedFolder:
        figures = read_figures(rows, folder)
        with self._lock:
            watch = self._watches.get(folder.id)
            is_watching = self._watched_vault is open_vault
        state, code, means, reason = WatchState.RESTING, "", WatchMeans.NONE, ""
        if folder.paused_at is not None:
            state = WatchState.PAUSED
        elif watch is not None and (is_watching or watch.state not in (WatchState.WATCHED, WatchState.WAITING)):
            state, code = watch.state, watch.code
            means, reason = watch.notices.means, watch.notices.reason
        elif is_watching:
            state = WatchState.WAITING
        elif identify_root(Path(folder.path)) is None:
            state = WatchState.GONE
        return WatchedFolder(
            folder.id,
            folder.path,
            folder.format,
            folder.space,
            folder.import_id,
            folder.added_at,
            state,
            means,
            reason,
            code,
            figures.files,
            figures.memories,
            figures.asked,
            folder.looked_at,
            figures.came_at,
        )

    def _require_owner(self, actor: Actor) -> OpenVault:
        if not actor.is_owner:
            raise UserError(Code.ACCESS_DENIED, "Only the person may watch a folder.")
        return self._slot.require_vault()

    def _check_folder(self, path: Path) -> Path:
        """The folder without links, if it can be watched."""
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise UserError(Code.INVALID_INPUT, "That folder does not exist, or cannot be read.") from None
        if not real.is_dir():
            raise UserError(Code.INVALID_INPUT, "Only a folder can be watched; a file is imported.")
        if str(real) != str(real).encode("utf-8", "replace").decode("utf-8"):
            raise UserError(Code.INVALID_INPUT, "A folder whose name is no text cannot be watched; rename it.")
        home = self._slot.require_storage().home.path.resolve()
        if real == home or home in real.parents or real in home.parents:
            raise UserError(Code.INVALID_INPUT, "Loci's own folder, and one around it, cannot be watched.")
        return real


def _check_size(root: Path, form: str) -> str:
    """Device and inode of a folder that is not too large.

    Raises:
        UserError: INVALID_INPUT.
    """
    try:
        survey_folder(root, form)
    except TooManyFilesError:
        raise UserError(
            Code.INVALID_INPUT,
            f"That folder holds more than {MOST_ENTRIES:,} files and folders, too many to watch; name one inside it.",
        ) from None
    except OSError:
        raise UserError(Code.INVALID_INPUT, "That folder does not exist, or cannot be read.") from None
    return identify_root(root) or ""

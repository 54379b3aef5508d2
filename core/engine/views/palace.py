"""The facade's group for the floor plan, and the chore that gives newcomers their places.

Everything here is the owner's: no client sees or moves a place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

import numpy as np

from core import log
from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, locked_error, log_failure
from core.errors import UserError
from core.events import Changed, Event, StateChanged
from core.lifecycle.palace import floor_plan_edits
from core.lifecycle.palace.arrangement import ArrangementResult, Arranger, has_unplaced
from core.lifecycle.palace.context import VERB
from core.lifecycle.palace.floor_plan_edits import FloorPlanContext
from core.lifecycle.palace.furnisher import emblem_texts, furnish, has_unfurnished
from core.lifecycle.palace.landmark_keeper import has_landmarks_to_mend, keep_landmarks
from core.lifecycle.palace.plan_renewal import has_old_plan, lay_old_wings
from core.lifecycle.palace.room_choice import Numbers, Vectors
from core.lifecycle.palace.room_texts import PhraseReader
from core.memory import floor_plan
from core.recall.browse.place import read_place_summary
from core.types.values import LIFECYCLE_ACTOR, OWNER_ACTOR
from core.types.views import Loci, PalacePlan, PlaceSummary, Whereabouts
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

_TICK_S = 0.5
_QUIET_S = 1.5
"""Seconds without a change before newcomers are placed: an import that follows another comes first."""
_LONGEST_S = 30.0
_AGAIN_S = 30.0
"""Seconds before those are looked at again who had no vector yet."""
_AT_ONCE = 32
"""Texts embedded at once."""
_log = log.get("engine")


class Palace:
    """The floor plan: what stands where, and what the person moves."""

    def __init__(self, storage: Callable[[], Storage], search: Callable[[], Search]) -> None:
        self._storage, self._search = storage, search

    def read_plan(self) -> Future[PalacePlan]:
        """Wings and rooms with their counts, without loci.

        Returns:
            The plan as it is; what waits for a place is counted.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now = storage.clock.now_ms()
        return storage.read(lambda rows: floor_plan.read_floor_plan(rows, now))

    def read_loci(self, room_id: str) -> Future[Loci]:
        """All loci of one room.

        Returns:
            Columns; the future raises NOT_FOUND where there is no such room.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now = storage.clock.now_ms()
        return storage.read(lambda rows: floor_plan.read_loci(rows, room_id, now))

    def read_place(self, place_id: str) -> Future[PlaceSummary]:
        """What a room or a wing holds, in a few figures and memories.

        Returns:
            It; the future raises NOT_FOUND where there is no such room or wing.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now = storage.clock.now_ms()
        return storage.read(lambda rows: read_place_summary(rows, place_id, now))

    def find_locus(self, memory_id: str) -> Future[Whereabouts]:
        """Where a memory stands.

        Returns:
            Its place; the future raises NOT_FOUND where it has none yet.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._storage().read(lambda rows: floor_plan.find_locus(rows, memory_id))

    def place_waiting(self) -> Future[int]:
        """Give a place to everything that waits for one and has its vector, now.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage, search = self._storage(), self._search()
        return storage.run_on(storage.threads.jobs, lambda: arrange_waiting(storage, search).placed)

    def move_locus(self, memory_id: str, room_id: str, x: float, y: float) -> Future[str]:
        """Put a memory on the nearest free place of its room, or of another in the same wing.

        Args:
            x: inside the room, plan units.
            y: likewise.

        Returns:
            The id of the undo step; it names none where nothing changed. The future raises NOT_FOUND, or INVALID_INPUT
            for a room of another wing.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "move_locus", (memory_id,), lambda tx, desk: floor_plan_edits.move_locus(tx, desk, memory_id, room_id, x, y)
        )

    def move_room(self, room_id: str, x: float, y: float) -> Future[str]:
        """Put a room on the nearest free ground of its wing.

        Args:
            x: where its left edge shall be inside the wing, plan units.
            y: where its upper edge shall be.

        Returns:
            The id of the undo step; it names none where nothing changed. The future raises NOT_FOUND or INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "move_room", (), lambda tx, desk: floor_plan_edits.move_room(tx, desk, room_id, x, y)
        )

    def rename_room(self, room_id: str, name: str) -> Future[str]:
        """Give a room the person's own name.

        Args:
            name: 1 to 64 characters, none invisible, no other room's of the wing.

        Returns:
            The id of the undo step; the future raises NOT_FOUND or INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "rename_room", (), lambda tx, desk: floor_plan_edits.rename_room(tx, desk, room_id, name)
        )

    def merge_rooms(self, from_id: str, into_id: str) -> Future[str]:
        """Bring all loci of one room into another of the same wing; the empty room goes.

        Args:
            from_id: the room that goes.
            into_id: the room that stays.

        Returns:
            The id of the undo step; the future raises NOT_FOUND or INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "merge_rooms", (), lambda tx, desk: floor_plan_edits.merge_rooms(tx, desk, from_id, into_id)
        )

    def make_room(self, space: str, name: str, memory_ids: Sequence[str] = ()) -> Future[str]:
        """Make a room in the wing of a space and bring memories of that space into it.

        Args:
            space: the space's name.
            name: the room's.
            memory_ids: who moves in.

        Returns:
            The id of the undo step; the future raises NOT_FOUND or INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED.
        """
        ids = tuple(memory_ids)
        return self._run_palace_verb(
            "make_room", ids, lambda tx, desk: floor_plan_edits.make_room(tx, desk, space, name, ids)
        )

    def set_emblem(self, room_id: str, emblem: str) -> Future[str]:
        """Give a room or a wing another emblem; it stays.

        Args:
            room_id: of the room, or the wing's id.
            emblem: one that `core.text.emblems.read_emblems` names.

        Returns:
            The id of the undo step; the future raises NOT_FOUND or INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "set_emblem", (), lambda tx, desk: floor_plan_edits.set_emblem(tx, desk, room_id, emblem)
        )

    def set_landmark(self, memory_id: str) -> Future[str]:
        """Make a memory a landmark of its room; it stays one as long as it stands there.

        Returns:
            The id of the undo step; the future raises NOT_FOUND, or INVALID_INPUT
            where all landmarks of the room are the person's.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "set_landmark", (memory_id,), lambda tx, desk: floor_plan_edits.set_landmark(tx, desk, memory_id)
        )

    def unset_landmark(self, memory_id: str) -> Future[str]:
        """Let a memory be no landmark, and not be chosen again; another takes its position a moment later.

        Returns:
            The id of the undo step; the future raises NOT_FOUND for one that is none.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_palace_verb(
            "unset_landmark", (memory_id,), lambda tx, desk: floor_plan_edits.unset_landmark(tx, desk, memory_id)
        )

    def watch_for_unplaced(self, storage: Storage, search: Search) -> None:
        """Place newcomers by itself from now on until the vault closes.

        Args:
            storage: of the vault that was just opened.
        """
        chore = _Chore(storage, search)
        chore.stop = storage.hub.subscribe(chore.note_event)
        storage.threads.run_every(_TICK_S, chore.start_if_due, "palace")

    def _run_palace_verb(
        self, verb: str, ids: tuple[str, ...], action: Callable[[Tx, FloorPlanContext], str]
    ) -> Future[str]:
        storage, search = self._storage(), self._search()
        desk = FloorPlanContext(storage.work, storage.make_id, search.index.fetch)

        def write(tx: Tx) -> str:
            with storage.verb(tx, OWNER_ACTOR, verb) as running:
                step = action(tx, desk)
                running.set_outcome(ids)
            return step

        return storage.write(write)


class _Site:
    """The open vault as the arranger sees it."""

    def __init__(self, storage: Storage, search: Search) -> None:
        self._storage, self._search = storage, search
        self.work = storage.work
        self.make_id: Callable[[], str] = storage.make_id
        self.phrases = PhraseReader()

    def read(self, fn: Callable[[Rows], T]) -> T:
        return self._storage.vault.read(fn)

    def write(self, fn: Callable[[Tx], T]) -> T:
        return self._storage.write(fn, background=True).result()

    def fetch_vectors(self, labels: Numbers) -> tuple[Numbers, Vectors]:
        return self._search.index.fetch(labels)

    def embed(self, texts: Sequence[str]) -> Vectors | None:
        found = self._embed_in_parts(texts)
        return None if found is None else found.vectors_in(self._search.active_space)

    def embed_emblems(self) -> Vectors | None:
        vectors = self._search.emblem_vectors
        if vectors is None:
            vectors = self._search.emblem_vectors = self._embed_in_parts(emblem_texts())
        return None if vectors is None else vectors.vectors_in(self._search.active_space)

    def _embed_in_parts(self, texts: Sequence[str]) -> Embedded | None:
        """None where the embedder does not answer; in small parts, so that a question comes between them."""
        space = self._search.active_space
        parts: list[Vectors] = []
        for low in range(0, len(texts), _AT_ONCE):
            self.check_not_closing()
            part = self._search.embed_texts_later(texts[low : low + _AT_ONCE]).result().vectors_in(space)
            if part is None:
                return None
            parts.append(part)
        return Embedded(space, np.concatenate(parts)) if parts else None

    def check_not_closing(self) -> None:
        if self._storage.closing.is_set():
            raise locked_error()


def arrange_waiting(storage: Storage, search: Search) -> ArrangementResult:
    """Give a place to everything that waits for one, and rooms their landmarks and furnishing; on the job thread.

    Returns:
        What was done; what was placed is announced, and then what rooms were given.

    Raises:
        LociError: VAULT_LOCKED; what was done by then stays.
    """
    site = _Site(storage, search)
    is_rearranged = bool(lay_old_wings(site))
    done = Arranger(site).run()
    if done.placed or is_rearranged:
        storage.announce_change(VERB, (), LIFECYCLE_ACTOR, storage.vault.seq)
    if keep_landmarks(site) + furnish(site):
        storage.announce_change(VERB, (), LIFECYCLE_ACTOR, storage.vault.seq)
    return done


def has_work(rows: Rows) -> bool:
    """Whether `arrange_waiting` would find something."""
    return has_unplaced(rows) or has_old_plan(rows) or has_unfurnished(rows) or has_landmarks_to_mend(rows)


class _Chore:
    """Waits until changes have come to rest, then lets the job thread arrange what came.

    Attributes:
        stop: takes it off the hub.
    """

    def __init__(self, storage: Storage, search: Search) -> None:
        self._storage, self._search = storage, search
        self._lock = threading.Lock()  # guards all below
        self._since: float | None = storage.clock.monotonic()
        self._last = self._since
        self._not_before = self._since
        self._is_running = False
        self.stop: Callable[[], None] = lambda: None

    def note_event(self, event: Event) -> None:
        """Note that something may wait; called by whoever changed it."""
        if isinstance(event, StateChanged) and event.state == "closing":
            self.stop()
        elif isinstance(event, Changed) and event.verb != VERB:
            now = self._storage.clock.monotonic()
            with self._lock:
                self._since = now if self._since is None else self._since
                self._last = now

    def start_if_due(self) -> None:
        """Begin when it is time; called twice a second."""
        with self._lock:
            if self._is_running or not self._is_time():
                return
            self._is_running = True
        with suppress(UserError):  # the vault closed just now
            work: Future[None] = self._storage.run_on(self._storage.threads.jobs, self._place_waiting)
            work.add_done_callback(self._note_arranged)
            log_failure(work, _log, "arranging the palace")

    def _is_time(self) -> bool:
        now = self._storage.clock.monotonic()
        if self._since is None or now < self._not_before or self._storage.closing.is_set():
            return False
        return now - self._last >= _QUIET_S or now - self._since >= _LONGEST_S

    def _place_waiting(self) -> None:
        with self._lock:
            if not self._is_time():
                return  # an import ended while this waited for its turn: more may follow it
            self._since = None
        if not self._storage.vault.read(has_work):
            return
        if arrange_waiting(self._storage, self._search).waiting:
            with self._lock:
                now = self._storage.clock.monotonic()
                self._since, self._not_before = self._since or now, now + _AGAIN_S

    def _note_arranged(self, _: Future[None]) -> None:
        with self._lock:
            self._is_running = False

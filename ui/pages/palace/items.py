"""What is on the plan: a room with all its loci as columns, and the light rows of what is visible.

One item a room, never an item a locus. Plan units count places; here a place is `SLOT_ASPECT` times wider than high, so
lengths across the palace are multiplied once when a plan is taken. Places inside a room stay in plan units. Must not
do: know the canvas, ask the engine.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF

from core.types.values import Kind, Status
from core.types.views import GAP, HEADER, MARGIN, SLOT_ASPECT, Loci, MemoryRow, RoomPlan, WingPlan
from ui.pages.palace.lattice import assign_card_cells, cells_of, lattice_shape

CONCEALED = "?"
"""What represents words that are to be recalled."""
KINDS = tuple(Kind)
STATUSES = tuple(Status)
STANDS_STILL = int(np.iinfo(np.int64).max)
GREY = 5
"""Index of the colour of what was not believed; 0 to 4 are the mode's own."""
_MIDDLE = 0.5
_DAY_MS = 86_400_000
_AGES_DAYS = (365, 180, 90, 30)
"""Bounds of the five ages; the newest has the highest index."""
_FAINT = 0.4
_UNBELIEVED = 0.38
_FILTERED = 0.12
_HEADS = 3_000
_WIDER = GAP * (SLOT_ASPECT - 1) / 2
"""By how much a room is drawn wider at either side, so that gaps are as wide as high."""

_IS_FAINT = np.array([s in {Status.SUPERSEDED, Status.ARCHIVED, Status.CONSOLIDATED} for s in STATUSES])
_IS_HOLLOW = np.array([s in {Status.DISPUTED, Status.QUARANTINED} for s in STATUSES])
_COUNTS = np.array([s not in {Status.SUPERSEDED, Status.DELETED} for s in STATUSES])
_SUPERSEDED = STATUSES.index(Status.SUPERSEDED)
_DELETED = STATUSES.index(Status.DELETED)


def room_rect(wing: WingPlan, room: RoomPlan) -> QRectF:
    """The ground of a room in the palace, as it is drawn."""
    left = (wing.x + room.x) * SLOT_ASPECT - _WIDER
    return QRectF(left, wing.y + room.y, room.w * SLOT_ASPECT + 2 * _WIDER, room.h)


def wing_rect(wing: WingPlan) -> QRectF:
    """The ground that the rooms of a wing take in the palace, as it is drawn."""
    found = QRectF()
    for room in wing.rooms:
        found = found.united(room_rect(wing, room))
    return found


@dataclass(frozen=True, slots=True)
class LocusStyle:
    """How loci are drawn.

    Attributes:
        colour: `trust`, `age` or `kind`.
        kind: the one kind that shows fully; None for all.
        axis: `believed` (when Loci recorded and retired it) or `said` (when it was said or happened).
        until: epoch ms the slider is at; None for now.
        now: epoch ms, for ages.
    """

    colour: str = "trust"
    kind: Kind | None = None
    axis: str = "believed"
    until: int | None = None
    now: int = 0


class RoomItem:
    """A room as it is drawn.

    Attributes:
        rect: its ground in the palace, as it is drawn.
        ids: memories, in the order of the columns; empty until their loci are set.
        x: where they are inside the room, plan units; `y` likewise.
        wx: where they are in the palace, as it is drawn; `wy` likewise.
        fresh: which of them have only just come.
        shade: colour index of each, `opacity` 0 to 1, `hollow` whether outlined, `shown` whether drawn at all,
            `pending` whether it comes later than the time that is looked at, `replaced` whether another text is
            for it; valid after `apply_style`.
        landmarks: row to position of the landmarks.
        kinds: indices of the kinds that occur.
        concealed: its landmarks whose words are not shown.
        version: counts what changed in it, for what is drawn of it and kept.
    """

    def __init__(self, wing: WingPlan, room: RoomPlan) -> None:
        self.wing, self.plan = wing, room
        self._read_plan, self.concealed = room, frozenset[str]()
        self.rect = room_rect(wing, room)
        self.loci: Loci | None = None
        self.ids: tuple[str, ...] = ()
        self.x = self.y = self.wx = self.wy = np.empty(0)
        self.fresh = np.empty(0, np.bool_)
        self.shade = self.kind = self.hollow = np.empty(0, np.int64)
        self.opacity = self.strength = np.empty(0)
        self.shown = self.pending = self.replaced = self.ground = np.empty(0, np.bool_)
        self.landmarks: dict[int, int] = {}
        self.version = 0
        self.kinds: frozenset[int] = frozenset()
        self._rows: dict[str, int] = {}
        self._cards: NDArray[np.int64] | None = None
        self._look: LocusStyle | None = None
        self._count = room.count

    @property
    def id(self) -> str:
        """Of the room."""
        return self.plan.id

    @property
    def step(self) -> float:
        """Distance of two places, plan units."""
        return float(2.0**-self.plan.density)

    def update_plan(self, wing: WingPlan, room: RoomPlan) -> bool:
        """Take what a later plan says of it.

        Returns:
            Whether its loci may have changed.
        """
        was, self.wing, self._read_plan = self.plan, wing, room
        plan, rect = conceal_landmarks(room, self.concealed), room_rect(wing, room)
        if plan != was or rect != self.rect:  # pictures of a room that is as it was hold
            self.plan, self.rect = plan, rect
            self._update_positions()
            self._clear_cached_style()
        return (was.count, was.density) != (room.count, room.density) or self.loci is None

    def conceal_words(self, ids: frozenset[str]) -> None:
        """Show no words of the landmarks that are among these memories, and those of all others again."""
        own = ids.intersection(mark.memory_id for mark in self._read_plan.landmarks)
        if own != self.concealed:
            self.concealed = own
            self.plan = conceal_landmarks(self._read_plan, own)
            self._clear_cached_style()

    def set_loci(self, loci: Loci) -> bool:
        """Take its loci.

        Args:
            loci: as they were read.

        Returns:
            Whether some of them have only just come.
        """
        known = self._rows if self.loci is not None else None
        self.loci, self.ids = loci, loci.ids
        self._rows = {memory_id: at for at, memory_id in enumerate(loci.ids)}
        self.fresh = np.zeros(len(loci.ids), np.bool_)
        if known is not None:
            self.fresh[:] = [memory_id not in known for memory_id in loci.ids]
        self.kind = loci.kind.astype(np.int64)
        self.kinds = frozenset(int(kind) for kind in np.unique(loci.kind))
        self.strength = np.clip(loci.strength.astype(np.float64), 0.0, 1.0)
        self.ground = np.asarray(loci.ground, np.bool_)
        self.x, self.y = loci.x.astype(np.float64), loci.y.astype(np.float64)
        self._update_positions()
        self._clear_cached_style()
        return bool(self.fresh.any())

    def _update_positions(self) -> None:
        self._cards = None
        self.wx = self.rect.left() + _WIDER + self.x * SLOT_ASPECT
        self.wy = self.rect.top() + self.y

    def card_places(self) -> NDArray[np.int64]:
        """How many places across and down the card of each memory may take, (n, 2).

        One's own, and the free ones right of it and below, up to `CARD_SIDE` each way, that no other card has; small
        talk has its own place alone.
        """
        if self._cards is None:
            self._cards = assign_card_cells(self.plan, self.step, self.x, self.y, self._rows_with_card())
        return self._cards

    def _rows_with_card(self) -> list[int]:
        """Landmarks first, then from the upper left corner on."""
        order = np.lexsort((self.x, self.y))
        rest = [int(at) for at in order if not self.ground[at] and int(at) not in self.landmarks]
        return [*sorted(self.landmarks, key=self.landmarks.__getitem__), *rest]

    def _clear_cached_style(self) -> None:
        self._look = self._cards = None
        self.version += 1
        marks = {self.row_of(mark.memory_id): mark.position for mark in self.plan.landmarks}
        self.landmarks = {row: position for row, position in marks.items() if row >= 0}

    def clear_fresh(self) -> None:
        """Nothing in it is new any more."""
        self.fresh[:] = False

    # ---- how it looks

    def apply_style(self, look: LocusStyle) -> None:
        """Work out how its loci look."""
        if look == self._look or self.loci is None:
            return
        self._look = look
        self.version += 1
        loci = self.loci
        status = loci.status.astype(np.int64)
        believed = _believed_mask(loci, look)
        self.shown = status != _DELETED
        self.hollow = _IS_HOLLOW[status].astype(np.int64)
        self.shade = np.where(believed, _locus_shades(loci, look), GREY)
        self.pending = _pending_mask(loci, look)
        self.replaced = (status == _SUPERSEDED) if look.until is None else ~believed & ~self.pending
        self.opacity = np.where(believed, 1.0, _UNBELIEVED)
        if look.until is None:
            self.opacity[_IS_FAINT[status] & believed] = _FAINT
        counted = believed & self.shown
        if look.until is None:
            counted &= _COUNTS[status]
        if look.kind is not None:
            other = self.kind != KINDS.index(look.kind)
            self.opacity[other] = _FILTERED
            counted &= ~other
        self._count = int(np.count_nonzero(counted))

    def count_shown(self, look: LocusStyle) -> int:
        """How many of its memories show: the plan's count for now, else what was believed then."""
        if look.until is None and look.kind is None:
            return self.plan.count
        self.apply_style(look)
        return self._count if self.loci is not None else self.plan.count

    # ---- who is where

    def row_of(self, memory_id: str) -> int:
        """The row of a memory, or -1."""
        return self._rows.get(memory_id, -1)

    def rows_of(self, memory_ids: frozenset[str]) -> list[int]:
        """The rows of those memories that are here."""
        if len(memory_ids) > len(self.ids):
            return [row for row, memory_id in enumerate(self.ids) if memory_id in memory_ids]
        return sorted(self._rows[memory_id] for memory_id in memory_ids if memory_id in self._rows)

    def nearest_row(self, x: float, y: float, reach: float) -> int:
        """The row of the locus nearest to a place, or -1.

        Args:
            x: inside the room, plan units.
            y: likewise.
            reach: how far off it may be, plan units.
        """
        if not len(self.ids):
            return -1
        self.apply_style(self._look or LocusStyle())
        apart = np.maximum(np.abs(self.x - x), np.abs(self.y - y))
        apart[~self.shown] = np.inf
        at = int(np.argmin(apart))
        return at if apart[at] <= reach else -1

    def card_row_at(self, x: float, y: float, rows: NDArray[np.int64]) -> int:
        """Which of some memories has a place under its card; -1 for none of them.

        Args:
            x: inside the room, plan units.
            y: likewise.
            rows: those whose cards are drawn.
        """
        reach = (self.card_places()[rows] - _MIDDLE) * self.step
        across, down = x - self.x[rows], y - self.y[rows]
        half = self.step / 2
        under = (across >= -half) & (across < reach[:, 0]) & (down >= -half) & (down < reach[:, 1]) & self.shown[rows]
        return int(rows[np.argmax(under)]) if under.any() else -1

    def place_locus(self, at: int, x: float, y: float) -> None:
        """Draw a locus elsewhere before the engine has said so.

        Args:
            x: the place inside the room, plan units.
            y: likewise.
        """
        self.x[at], self.y[at] = x, y
        self._update_positions()
        self.version += 1

    def set_away(self, at: int, *, away: bool) -> None:
        """Draw a locus no more before the engine has said that it is in another room, or again."""
        self.apply_style(self._look or LocusStyle())
        self.shown[at] = not away
        self.version += 1

    def move_corner_to(self, corner: QPointF) -> None:
        """Draw the room elsewhere before the engine has said so.

        Args:
            corner: its upper left corner in the palace.
        """
        self.rect.moveTopLeft(corner)
        self._update_positions()
        self.version += 1

    def find_free_place(self, x: float, y: float, moving: str = "") -> tuple[float, float] | None:
        """The free place nearest to a point.

        Args:
            x: the point, inside the room.
            y: likewise.
            moving: a memory that is about to leave its place; "" for none.

        Returns:
            Inside the room, on its grid; None in a full room.
        """
        step = self.step
        shape = lattice_shape(self.plan, step)
        free = np.ones(shape, np.bool_)
        if self.loci is not None:
            stays = np.ones(len(self.ids), np.bool_)
            if self.row_of(moving) >= 0:
                stays[self.row_of(moving)] = False
            down, across = cells_of(self.x[stays], self.y[stays], step, shape)
            free[down, across] = False
        ys, xs = np.nonzero(free)
        if not ys.size:
            return None
        px, py = MARGIN + _MIDDLE + xs * step, HEADER + _MIDDLE + ys * step
        best = int(np.argmin((px - x) ** 2 + (py - y) ** 2))
        return float(px[best]), float(py[best])


def _believed_mask(loci: Loci, look: LocusStyle) -> NDArray[np.bool_]:
    stands: NDArray[np.bool_] = loci.retired_at == STANDS_STILL
    if look.until is None:
        return stands
    if look.axis == "said":
        return np.asarray(stands & (loci.said_at <= look.until), np.bool_)
    return np.asarray((loci.recorded_at <= look.until) & (look.until < loci.retired_at), np.bool_)


def _pending_mask(loci: Loci, look: LocusStyle) -> NDArray[np.bool_]:
    if look.until is None:
        return np.zeros(len(loci.ids), np.bool_)
    return np.asarray((loci.said_at if look.axis == "said" else loci.recorded_at) > look.until, np.bool_)


def _locus_shades(loci: Loci, look: LocusStyle) -> NDArray[np.int64]:
    if look.colour == "kind":
        return loci.kind.astype(np.int64)
    if look.colour == "age":
        days = (look.now - loci.said_at) / _DAY_MS
        return np.asarray(sum((days < bound).astype(np.int64) for bound in _AGES_DAYS), np.int64)
    return np.asarray(np.clip(np.floor(loci.trust * 5 + 1e-6), 0, 4), np.int64)


def conceal_landmarks(room: RoomPlan, ids: frozenset[str]) -> RoomPlan:
    """A room in which a question mark represents the words of some landmarks."""
    if not ids:
        return room
    marks = [replace(mark, head=CONCEALED) if mark.memory_id in ids else mark for mark in room.landmarks]
    return replace(room, landmarks=tuple(marks))


class MemoryHeads:
    """Light rows of memories whose text is visible; the least recently used are dropped.

    Attributes:
        version: counts changes.
        concealed: memories whose words are asked for in a rehearsal: nothing on the plan gets their rows.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[str, MemoryRow] = OrderedDict()
        self.version = 0
        self.concealed: frozenset[str] = frozenset()

    def get_row(self, memory_id: str) -> MemoryRow | None:
        """A row, if it was read and may be shown."""
        row = None if memory_id in self.concealed else self._rows.get(memory_id)
        if row is not None:
            self._rows.move_to_end(memory_id)
        return row

    def conceal_words(self, ids: frozenset[str]) -> None:
        """Give no row of these memories from here on, and of all others again."""
        if ids != self.concealed:
            self.version += 1
            self.concealed = ids

    def store_rows(self, rows: Iterable[MemoryRow]) -> None:
        """Keep rows that were read."""
        self.version += 1
        for row in rows:
            self._rows[row.id] = row
            self._rows.move_to_end(row.id)
        while len(self._rows) > _HEADS:
            self._rows.popitem(last=False)

    def forget_rows(self, ids: Iterable[str]) -> None:
        """Forget rows that changed; no ids for all."""
        self.version += 1
        wanted = tuple(ids)
        if not wanted:
            self._rows.clear()
        for memory_id in wanted:
            self._rows.pop(memory_id, None)

    def missing_ids(self, ids: Iterable[str], most: int) -> tuple[str, ...]:
        """Those that were not read yet.

        Args:
            ids: the visible memories.
            most: how many at once.
        """
        found = [memory_id for memory_id in ids if memory_id not in self._rows]
        return tuple(found[:most])

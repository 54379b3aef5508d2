"""The sessions in use: what each has at hand, and its open turn; in memory only, gone when the vault locks.

A turn holds one permit of its client until it is ended, its session is closed, or the client goes (E17.5.1, E20.8). A
session has at most nine memories at hand with their activation, ids and numbers only (E3.3, E17.5.5); they are kept in
the rows of `working`. Must not do: keep a text, or decide who may see a memory.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.config.options import SessionOptions
from core.errors import Code, UserError
from core.types.sessions import Resumed
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

SLOTS = 9
"""E3.3: seven and two; a tenth takes the place of the weakest."""
KEPT_ABOVE = 0.1
"""E17.5.5: after a while only what is more active than this comes back."""
MOST_DECAY = 0.8
_FADING = 0.8
"""Ours: what a slot keeps from one turn to the next in which it is not used."""
_DAY_MIN = 1440.0
_MIN_MS = 60_000
_HOUR_MS = 3_600_000
_DIGITS = 6
MOST_ROWS = 256
"""Sessions of one client that are kept; the longest left go first."""

Slots = Mapping[str, float]
"""Memory id to activation, 0 to 1, the most active first."""


@dataclass(frozen=True, slots=True)
class RestoredSlots:
    """A working set as it comes back.

    Attributes:
        slots: what is at hand.
        resumed: how it came back.
    """

    slots: Slots
    resumed: Resumed


def decay_of(age_ms: int) -> float:
    """How much of an activation is gone (X30: minutes/1440, at most 0.8).

    Args:
        age_ms: milliseconds since the session was left; below 0 counts as 0.

    Returns:
        0 to 0.8.
    """
    return min(max(0, age_ms) / _MIN_MS / _DAY_MIN, MOST_DECAY)


def resume_slots(slots: Slots, age_ms: int, options: SessionOptions) -> RestoredSlots:
    """A working set after a while (E17.5.5 with X30): whole under 4 h, fading until 24 h, then nothing.

    Args:
        slots: as it was left.
        age_ms: milliseconds since then.
        options: the two ages.

    Returns:
        What comes back.
    """
    if age_ms < options.session_whole_h * _HOUR_MS:
        return RestoredSlots(dict(slots), Resumed.WHOLE)
    if age_ms >= options.session_gone_h * _HOUR_MS:
        return RestoredSlots({}, Resumed.GONE)
    left = 1.0 - decay_of(age_ms)
    faded = {name: round(value * left, _DIGITS) for name, value in slots.items()}
    return RestoredSlots({name: value for name, value in faded.items() if value > KEPT_ABOVE}, Resumed.FADED)


def mark_used(slots: Slots, now: Mapping[str, float]) -> Slots:
    """A working set after another turn: what was used is active, the rest fades, the weakest leave.

    Args:
        now: what the turn used, with its activation, 0 to 1.

    Returns:
        At most nine, the most active first.
    """
    fading = {name: value * _FADING for name, value in slots.items()}
    united = {name: max(fading.get(name, 0.0), now.get(name, 0.0)) for name in [*now, *fading]}
    strongest = sorted(united.items(), key=lambda one: (-one[1], one[0]))[:SLOTS]
    return {name: round(value, _DIGITS) for name, value in strongest if value > KEPT_ABOVE}


def to_snapshot(slots: Slots) -> str:
    """A working set as it is kept: JSON of ids and numbers.

    Returns:
        `{"slots": [[id, activation], ...]}`.
    """
    return json.dumps({"slots": [[name, value] for name, value in slots.items()]}, separators=(",", ":"))


def from_snapshot(text: str) -> Slots:
    """A working set as it was kept; what is no slot is passed over.

    Args:
        text: from `to_snapshot`.
    """
    read = json.loads(text)
    found = read.get("slots", []) if isinstance(read, dict) else []
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2]
    return {
        str(name): float(value)
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, (int, float)) and 0 <= value <= 1
    }


def load_working_set(rows: Rows, client_id: str | None, session: str) -> tuple[Slots, int] | None:
    """What was kept of a session.

    Args:
        client_id: whose; nothing is kept of the owner's.

    Returns:
        The slots and when it was left, epoch ms; None where nothing is kept.
    """
    row = rows.one("SELECT snapshot, saved_at FROM working WHERE client_id = ? AND session = ?", (client_id, session))
    return None if row is None else (from_snapshot(row[0]), int(row[1]))


def save_working_set(tx: Tx, client_id: str, session: str, slots: Slots, left_at: int) -> None:
    """Keep what a session has at hand; an empty one is forgotten, or an older one would come back (X31).

    Args:
        tx: any transaction; no undo step, since it is no memory.
        left_at: when it was last used, epoch ms.
    """
    tx.run("DELETE FROM working WHERE client_id = ? AND session = ?", (client_id, session))
    if not slots:
        return
    tx.run(
        "INSERT INTO working (client_id, session, snapshot, saved_at) "
        "SELECT id, ?, ?, ? FROM clients WHERE id = ?",  # its pairing may have been undone since
        (session, to_snapshot(slots), left_at, client_id),
    )
    tx.run(
        "DELETE FROM working WHERE client_id = ?1 AND session NOT IN "
        "(SELECT session FROM working WHERE client_id = ?1 ORDER BY saved_at DESC, session LIMIT ?2)",
        (client_id, MOST_ROWS),
    )


def drop_stale(tx: Tx, before_ms: int) -> None:
    """Forget the sessions that would come back with nothing.

    Args:
        before_ms: left at or before this, epoch ms.
    """
    tx.run("DELETE FROM working WHERE saved_at <= ?", (before_ms,))


MOST_SESSIONS = 64
"""Sessions of one client that are in use at once; the longest silent one is put away for another."""

Name = tuple[str | None, str]
"""The client (None for the owner) and its session."""


@dataclass
class _Session:
    touched: int
    slots: Slots | None = None  # None until its kept working set was looked for
    turn: str = ""
    ending: str = ""  # its permit is free; what was said in it is not saved yet
    is_dirty: bool = False


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """A session as it is kept.

    Attributes:
        name: whose and which.
        slots: what it had at hand.
        at: when it was last used, epoch ms.
    """

    name: Name
    slots: Slots
    at: int


@dataclass(frozen=True, slots=True)
class SessionInUse:
    """A session that is in use.

    Attributes:
        left: as it would be kept now; None where its working set was not looked for.
        is_new: whether that is not how it was kept.
        turn: the turn that is open; "" for none.
    """

    left: SessionSnapshot | None
    is_new: bool
    turn: str


@dataclass(frozen=True, slots=True)
class EvictedSessions:
    """Sessions that left the table.

    Attributes:
        left: those whose working set is to be kept.
        ended: how many open turns ended with them.
    """

    left: tuple[SessionSnapshot, ...] = ()
    ended: int = 0


@dataclass
class SessionTable:
    """All sessions in use; may be used from several threads at once."""

    _sessions: dict[Name, _Session] = field(default_factory=dict)
    _leaving: dict[Name, SessionSnapshot] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """One lock for all of it."""
        self._lock = threading.Lock()  # guards _sessions with everything in it, and _leaving

    def open(self, name: Name, turn: str, now_ms: int, most: int) -> EvictedSessions:
        """Begin a turn; one that is open in the same session ends.

        Args:
            most: turns of one client that may be open.

        Returns:
            Sessions that had to make room, and the turn that ended.

        Raises:
            UserError: BUSY; as many are open already.
        """
        with self._lock:
            running = [one for key, one in self._sessions.items() if key[0] == name[0] and one.turn]
            session = self._sessions.get(name)
            if len(running) - bool(session is not None and session.turn) >= most:
                raise UserError(Code.BUSY, f"This client has {most} turns open; end one of them first.")
            evicted = self._room_for(name)
            ended = int(session is not None and bool(session.turn))
            if session is None:
                session = self._sessions[name] = _Session(now_ms)
            session.turn, session.ending = (
                turn,
                "",
            )  # how long it was silent is looked at when its working set is taken up
            return EvictedSessions(evicted, ended)

    def _room_for(self, name: Name) -> tuple[SessionSnapshot, ...]:
        if name in self._sessions:
            return ()
        silent = sorted(
            ((one.touched, key) for key, one in self._sessions.items() if key[0] == name[0] and not one.turn),
            key=lambda pair: (pair[0], pair[1][1]),
        )
        count = sum(key[0] == name[0] for key in self._sessions)
        return tuple(
            left
            for _, key in silent[: max(0, count + 1 - MOST_SESSIONS)]
            if (left := self._take_session(key)) is not None
        )

    def end_turn(self, name: Name, turn: str | None) -> str:
        """End a turn: its permit is free again, whatever comes of it.

        Args:
            turn: its id; None for the one that is open.

        Returns:
            The id of the turn that was open, or whose end was asked for before and never came to be
            (`note_turn_saved`); "" where that one was not.
        """
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                return ""
            if session.turn and turn in (None, session.turn):
                session.turn, session.ending = "", session.turn
                return session.ending
            return session.ending if turn in (None, session.ending) and not session.turn else ""

    def note_turn_saved(self, name: Name, turn: str) -> None:
        """What was said in a turn is saved, or there never was such a turn: it cannot be ended again."""
        with self._lock:
            session = self._sessions.get(name)
            if session is not None and session.ending == turn:
                session.ending = ""

    def take_up(
        self, name: Name, now_ms: int, find: Callable[[], RestoredSlots], idle: Callable[[Slots, int], RestoredSlots]
    ) -> RestoredSlots:
        """What a session has at hand now.

        Args:
            find: its working set as it was kept; asked once, and not while anything is locked here.
            idle: what is left of a working set after so many milliseconds without a call.

        Returns:
            The working set and how it came back.
        """
        with self._lock:
            session = self._sessions.get(name)
            slots_in_use = None if session is None else session.slots
            age = 0 if session is None else now_ms - session.touched
        found = find() if slots_in_use is None else idle(slots_in_use, age)
        with self._lock:
            session = self._sessions.setdefault(name, _Session(now_ms))
            if session.slots is None or session.slots is slots_in_use:
                session.slots = found.slots
            session.touched = max(session.touched, now_ms)
            return RestoredSlots(session.slots, found.resumed)

    def use(self, name: Name, now: Mapping[str, float], now_ms: int) -> int:
        """A turn used memories; what it did not use fades.

        Args:
            now: memory id to activation.

        Returns:
            How many it has at hand.
        """
        with self._lock:
            session = self._sessions.setdefault(name, _Session(now_ms))
            session.slots = mark_used(session.slots or {}, now)
            session.touched = max(session.touched, now_ms)
            session.is_dirty = True
            return len(session.slots)

    def look(self, name: Name) -> SessionInUse | None:
        """A session as it is now, without putting it away.

        Returns:
            It; None where it is not in use.
        """
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                return None
            left = None if session.slots is None else SessionSnapshot(name, session.slots, session.touched)
            return SessionInUse(left, session.is_dirty, session.turn)

    def close(self, name: Name, turn: str, kept: SessionSnapshot | None) -> None:
        """Put a session away that was closed and is saved, unless it was used since: then it stays in use.

        Args:
            turn: the turn that was open when that was asked for; "" for none.
        """
        with self._lock:
            session = self._sessions.get(name)
            slots = None if kept is None else kept.slots
            if session is not None and session.turn in ("", turn) and session.slots == slots:
                del self._sessions[name]

    def make_room(self, name: Name) -> tuple[SessionSnapshot, ...]:
        """Put away what is silent for longest, where a session that is not in use is about to be.

        Returns:
            What is to be kept.
        """
        with self._lock:
            return self._room_for(name)

    def names(self, client_id: str | None) -> frozenset[Name]:
        """The sessions of a client that are in use."""
        with self._lock:
            return frozenset(name for name in self._sessions if name[0] == client_id)

    def open_turns(self, client_id: str | None) -> int:
        """How many turns of a client are open."""
        with self._lock:
            return sum(key[0] == client_id and bool(one.turn) for key, one in self._sessions.items())

    def leave(self, names: Iterable[Name]) -> EvictedSessions:
        """Put sessions away.

        Args:
            names: whose and which; those not in use are passed over.

        Returns:
            What is to be kept, and how many turns ended.
        """
        with self._lock:
            there = [name for name in dict.fromkeys(names) if name in self._sessions]
            ended = sum(bool(self._sessions[name].turn) for name in there)
            return EvictedSessions(
                tuple(left for name in there if (left := self._take_session(name)) is not None), ended
            )

    def leave_idle(self, before_ms: int) -> EvictedSessions:
        """Put away what was last used at or before a moment (E21.7)."""
        with self._lock:
            silent = [name for name, one in self._sessions.items() if one.touched <= before_ms]
        return self.leave(silent)

    def leave_all(self) -> EvictedSessions:
        """Put everything away; nothing stays in memory, whatever becomes of it."""
        with self._lock:
            names = list(self._sessions)
        evicted = self.leave(names)
        with self._lock:
            left, self._leaving = tuple(self._leaving.values()), {}
        return EvictedSessions(left, evicted.ended)

    def leaving(self, name: Name) -> SessionSnapshot | None:
        """A session that was put away and is not saved yet: it may come back before it is."""
        with self._lock:
            return self._leaving.get(name)

    def saved(self, left: Iterable[SessionSnapshot]) -> None:
        """Sessions that were put away are in the vault now."""
        with self._lock:
            for one in left:
                if self._leaving.get(one.name) is one:
                    del self._leaving[one.name]

    def _take_session(self, name: Name) -> SessionSnapshot | None:
        one = self._sessions.pop(name)
        if one.slots is None or not one.is_dirty:
            return None
        left = self._leaving[name] = SessionSnapshot(name, one.slots, one.touched)
        return left

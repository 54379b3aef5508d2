"""The sessions that are in use now: what each has at hand, and its open turn; in memory, gone when the vault locks.

A turn holds one permit of its client until it is ended, its session is closed, or the client goes (E17.5.1, E20.8).
Must not do: read or write the vault.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.errors import Code, UserError
from core.sessions.working_set import RestoredSlots, Slots, mark_used

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
            name: whose and which session.
            turn: its id.
            most: turns of one client that may be open.

        Returns:
            Sessions that had to make room, and the turn that ended.

        Raises:
            UserError: BUSY; as many are open already.
        """
        with self._lock:
            running = [one for key, one in self._sessions.items() if key[0] == name[0] and one.turn]
            mine = self._sessions.get(name)
            if len(running) - bool(mine is not None and mine.turn) >= most:
                raise UserError(Code.BUSY, f"This client has {most} turns open; end one of them first.")
            gone = self._room_for(name)
            ended = int(mine is not None and bool(mine.turn))
            if mine is None:
                mine = self._sessions[name] = _Session(now_ms)
            mine.turn, mine.ending = turn, ""  # how long it was silent is looked at when its working set is taken up
            return EvictedSessions(gone, ended)

    def _room_for(self, name: Name) -> tuple[SessionSnapshot, ...]:
        if name in self._sessions:
            return ()
        silent = sorted(
            ((one.touched, key) for key, one in self._sessions.items() if key[0] == name[0] and not one.turn),
            key=lambda pair: (pair[0], pair[1][1]),
        )
        count = sum(key[0] == name[0] for key in self._sessions)
        return tuple(
            left for _, key in silent[: max(0, count + 1 - MOST_SESSIONS)] if (left := self._taken(key)) is not None
        )

    def end(self, name: Name, turn: str | None) -> str:
        """End a turn: its permit is free again, whatever comes of it.

        Args:
            name: whose and which session.
            turn: its id; None for the one that is open.

        Returns:
            The id of the turn that was open, or whose end was asked for before and never came to be (`ended`); "" where
            that one was not.
        """
        with self._lock:
            mine = self._sessions.get(name)
            if mine is None:
                return ""
            if mine.turn and turn in (None, mine.turn):
                mine.turn, mine.ending = "", mine.turn
                return mine.ending
            return mine.ending if turn in (None, mine.ending) and not mine.turn else ""

    def ended(self, name: Name, turn: str) -> None:
        """What was said in a turn is saved, or there never was such a turn: it cannot be ended again.

        Args:
            name: whose and which session.
            turn: its id.
        """
        with self._lock:
            mine = self._sessions.get(name)
            if mine is not None and mine.ending == turn:
                mine.ending = ""

    def take_up(
        self, name: Name, now_ms: int, find: Callable[[], RestoredSlots], idle: Callable[[Slots, int], RestoredSlots]
    ) -> RestoredSlots:
        """What a session has at hand now.

        Args:
            name: whose and which session.
            find: its working set as it was kept; asked once, and not while anything is locked here.
            idle: what is left of a working set after so many milliseconds without a call.

        Returns:
            The working set and how it came back.
        """
        with self._lock:
            mine = self._sessions.get(name)
            held = None if mine is None else mine.slots
            age = 0 if mine is None else now_ms - mine.touched
        found = find() if held is None else idle(held, age)
        with self._lock:
            mine = self._sessions.setdefault(name, _Session(now_ms))
            if mine.slots is None or mine.slots is held:
                mine.slots = found.slots
            mine.touched = max(mine.touched, now_ms)
            return RestoredSlots(mine.slots, found.resumed)

    def use(self, name: Name, now: Mapping[str, float], now_ms: int) -> int:
        """A turn used memories; what it did not use fades.

        Args:
            name: whose and which session.
            now: memory id to activation.

        Returns:
            How many it has at hand.
        """
        with self._lock:
            mine = self._sessions.setdefault(name, _Session(now_ms))
            mine.slots = mark_used(mine.slots or {}, now)
            mine.touched = max(mine.touched, now_ms)
            mine.is_dirty = True
            return len(mine.slots)

    def look(self, name: Name) -> SessionInUse | None:
        """A session as it is now, without putting it away.

        Args:
            name: whose and which.

        Returns:
            It; None where it is not in use.
        """
        with self._lock:
            mine = self._sessions.get(name)
            if mine is None:
                return None
            left = None if mine.slots is None else SessionSnapshot(name, mine.slots, mine.touched)
            return SessionInUse(left, mine.is_dirty, mine.turn)

    def close(self, name: Name, turn: str, kept: SessionSnapshot | None) -> None:
        """Put a session away that was closed and is saved, unless it was used since: then it stays in use.

        Args:
            name: whose and which.
            turn: the turn that was open when that was asked for; "" for none.
            kept: as it was saved.
        """
        with self._lock:
            mine = self._sessions.get(name)
            slots = None if kept is None else kept.slots
            if mine is not None and mine.turn in ("", turn) and mine.slots == slots:
                del self._sessions[name]

    def make_room(self, name: Name) -> tuple[SessionSnapshot, ...]:
        """Put away what is silent for longest, where a session that is not in use is about to be.

        Args:
            name: whose and which.

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
            return EvictedSessions(tuple(left for name in there if (left := self._taken(name)) is not None), ended)

    def leave_idle(self, before_ms: int) -> EvictedSessions:
        """Put away what was last used at or before a moment (E21.7)."""
        with self._lock:
            silent = [name for name, one in self._sessions.items() if one.touched <= before_ms]
        return self.leave(silent)

    def leave_all(self) -> EvictedSessions:
        """Put everything away; nothing stays in memory, whatever becomes of it."""
        with self._lock:
            names = list(self._sessions)
        gone = self.leave(names)
        with self._lock:
            left, self._leaving = tuple(self._leaving.values()), {}
        return EvictedSessions(left, gone.ended)

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

    def _taken(self, name: Name) -> SessionSnapshot | None:
        one = self._sessions.pop(name)
        if one.slots is None or not one.is_dirty:
            return None
        left = self._leaving[name] = SessionSnapshot(name, one.slots, one.touched)
        return left

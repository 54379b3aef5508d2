"""What the stand-in engine knows of clients beside pairing: pauses, nos, cards, and what a listener may be told.

Must not stand in where the engine itself is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from answered import finished

from core.config.options import Options
from core.errors import Code, UserError
from core.events import Changed
from core.types.clients import Before, Change, ClientCard, Denied, Moved, Moves, Place, Removal, Standing, Undoable
from core.types.replies import ClientRecord
from core.types.values import OWNER_ACTOR, Actor

START_MS = 1_700_000_000_000


class KnowsClients:
    """Pauses, nos and cards over `records`."""

    _engine: Any
    records: dict[str, ClientRecord]

    def __init__(self) -> None:
        self.records = {}
        self.nos: set[str] = set()
        self.asked_by: list[str] = []
        self.taken_back: list[str] = []

    def before(self, name: str) -> Future[Before]:
        same = [record.revoked for known, record in self.records.items() if known.casefold() == name.casefold()]
        return finished(Before(name.casefold() in self.nos, taken=False in same, former=bool(same) and all(same)))

    def denied(self) -> Future[tuple[Denied, ...]]:
        return finished(tuple(Denied(name, START_MS) for name in sorted(self.nos)))

    def allow_again(self, name: str) -> Future[str]:
        step = "step-1" if name.casefold() in self.nos else ""
        self.nos.discard(name.casefold())
        return finished(step)

    def deny(self, name: str) -> Future[str]:
        self.nos.add(name.casefold())
        return finished("step-1")

    def _put(self, verb: str, names: Sequence[str], *, paused: bool) -> Future[str]:
        for name in names:
            if name not in self.records:
                return _refused()
            self.records[name] = replace(self.records[name], paused=paused)
        self._engine.hub.publish(Changed(verb, (), OWNER_ACTOR, 1))
        return finished("step-1")

    def regrant(self, name: str, terms: Change, actor: Actor = OWNER_ACTOR) -> Future[str]:
        before = self.records.get(name)
        if before is None:
            return _refused()
        held = [*sorted(before.grants), *(f"space:{one}" for one in before.spaces)]
        after = [one for one in dict.fromkeys((*held, *terms.more)) if one not in terms.less]
        self.records[name] = replace(
            before,
            grants=frozenset(one for one in after if not one.startswith("space:")),
            spaces=tuple(one.removeprefix("space:") for one in after if one.startswith("space:")),
        )
        return finished("" if self.records[name] == before else "step-1")

    def pause(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        return self._put("pause", [name], paused=True)

    def resume(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        return self._put("resume", [name], paused=False)

    def stop_all(self, actor: Actor = OWNER_ACTOR) -> Future[str]:
        return self._put("stop_clients", list(self.records), paused=True)

    def resume_all(self, actor: Actor = OWNER_ACTOR) -> Future[str]:
        return self._put("resume_clients", list(self.records), paused=False)

    def undoable(self, name: str, since_ms: int) -> Future[Undoable]:
        return finished(Undoable(2, 3, {"store": 2}, 1))

    def remove_all(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[Removal]:
        self.taken_back.append(name)
        return finished(Removal("step-2", 2, 0, 1))

    def cards(self) -> Future[tuple[ClientCard, ...]]:
        return finished(tuple(_card(record) for record in self.records.values()))


def _refused() -> Future[str]:
    failed: Future[str] = Future()
    failed.set_exception(UserError(Code.NOT_FOUND, "There is no paired client of that name."))
    return failed


def _card(record: ClientRecord) -> ClientCard:
    standing = Standing.REVOKED if record.revoked else Standing.PAUSED if record.paused else Standing.AWAKE
    return ClientCard(
        id=record.id,
        name=record.name,
        standing=standing,
        grants=tuple(sorted(record.grants)),
        spaces=record.spaces,
        trust_ceiling=record.trust_ceiling,
        limit_minute=record.limit_minute,
        limit_session=record.limit_session,
        paired_at=record.paired_at,
        seen_at=record.last_seen_at,
        asked_by="",
        stands=1,
        waits=0,
        answers=0,
        refusals=0,
        steps=1,
    )


def moves_of(kind: str, *ids: str) -> Moves:
    """What was done to memories that lie with whom they are named after."""
    return tuple(Moved(*_WAYS[kind]((one.split("-")[0],)), (one,)) for one in ids)


_WAYS: Mapping[str, Callable[[Place], tuple[Place | None, Place | None]]] = {
    "stored": lambda place: (None, place),
    "changed": lambda place: (place, place),
    "gone": lambda place: (place, None),
}


class FakeWatching:
    """Each client sees what lies with it."""

    def visible_changes(self, moves: Moves, actor: Actor) -> Future[Mapping[str, tuple[str, ...]]]:
        found: dict[str, tuple[str, ...]] = {}
        for move in moves:
            kind = "stored" if move.before is None else "gone" if move.after is None else "changed"
            if actor.is_owner or (move.before or move.after) == (actor.name,):
                found[kind] = (*found.get(kind, ()), *move.ids)
        return finished(found)


class HasClients:
    """The parts of the stand-in engine for these."""

    def __init__(self) -> None:
        self._watching = FakeWatching()
        self.chosen = Options()

    @property
    def watching(self) -> FakeWatching:
        return self._watching

    @property
    def options(self) -> Options:
        return self.chosen

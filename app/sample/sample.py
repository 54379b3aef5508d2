"""The sample palace: a diary of an invented person, brought in by the real importers, month after month.

Its clock is set to the day of each import, so that what Loci believed on a date can be looked at, and stands on one
fixed morning at the end, so that pictures can be made again. What people and assistants did since goes through the
engine's own verbs. Must not do: reach behind the facade, bring in anything that no person or client could.
"""

from __future__ import annotations

import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.engine.facade import Engine, Home, HomeKeys, Setup, built_in_embedder, create_vault
from core.errors import BugError, Code
from core.types.lifecycle import JobState, JobType
from core.types.recall import ContextQuery
from core.types.requests import RecallQuery, StoreRequest
from core.types.reviews import Decision, HoldRequest, QueueRequest
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Source
from core.types.views import FindRequest, Revision

SampleEvent = Mapping[str, Any]


@dataclass
class SampleHistory:
    """Does one thing after another.

    Attributes:
        engine: open.
        clients: the assistants that were paired, by name.
    """

    engine: Engine
    clients: dict[str, Actor] = field(default_factory=dict)

    def do(self, deed: SampleEvent) -> None:
        """Do one thing; the caller's thread waits.

        Args:
            deed: a row of `resources/demo/deeds.json`; `find` names memories in the search syntax, `by` who does it.
        """
        self._verbs[deed["do"]](deed)
        # What reads leave behind is put down by the machine's time; here time jumps, and its place would be chance.
        self.engine.flush()

    @property
    def _verbs(self) -> Mapping[str, Callable[[SampleEvent], None]]:
        return {
            "revise": self._revise,
            "arrange": self._arrange,
            "rename": self._rename,
            "forget": self._forget,
            "undo": self._undo,
            "pair": self._pair,
            "store": self._store,
            "recall": self._recall,
            "context": self._context,
            "pause": self._pause,
            "refuse": self._refuse,
            "doubt": self._doubt,
            "hold": self._hold,
            "decide": self._decide,
            "work": self._work,
        }

    def _revise(self, deed: SampleEvent) -> None:
        change = Revision(
            text=deed.get("text"),
            pinned=deed.get("pinned"),
            importance=deed.get("importance"),
            add_tags=tuple(deed.get("add_tags", ())),
        )
        self.engine.library.revise(self._find_ids(deed), change).result()

    def _arrange(self, deed: SampleEvent) -> None:
        del deed
        self.engine.palace.arrange().result()

    def _rename(self, deed: SampleEvent) -> None:
        room = self.engine.palace.locate(self._find_ids(deed)[0]).result().room_id
        self.engine.palace.rename_room(room, deed["name"]).result()

    def _forget(self, deed: SampleEvent) -> None:
        self.engine.memories.forget(self._find_ids(deed)[0], OWNER_ACTOR).result()

    def _undo(self, deed: SampleEvent) -> None:
        del deed
        self.engine.memories.undo(None, OWNER_ACTOR).result()

    def _pair(self, deed: SampleEvent) -> None:
        paired = self.engine.clients.pair(deed["name"], deed["grants"]).result()
        self.clients[deed["name"]] = Actor("client", paired.client_id, deed["name"])

    def _pause(self, deed: SampleEvent) -> None:
        self.engine.clients.pause(deed["name"]).result()

    def _refuse(self, deed: SampleEvent) -> None:
        """It asks for what it may not: the door puts that down."""
        self.engine.note_refusal(self._actor_of(deed).client_id, Code(deed["code"]))

    def _store(self, deed: SampleEvent) -> None:
        source = deed.get("source")
        request = StoreRequest(
            text=deed["text"],
            kind=Kind(deed.get("kind", "fact")),
            space=deed.get("space"),
            source=None if source is None else Source(source),
            claim=deed.get("claim"),
        )
        self.engine.memories.store(request, self._actor_of(deed)).result()

    def _recall(self, deed: SampleEvent) -> None:
        for query in deed["queries"]:
            self.engine.memories.recall(RecallQuery(query, limit=deed.get("limit", 3)), self._actor_of(deed)).result()

    def _context(self, deed: SampleEvent) -> None:
        for prompt in deed["prompts"]:
            self.engine.memories.context(ContextQuery(prompt), self._actor_of(deed)).result()

    def _doubt(self, deed: SampleEvent) -> None:
        self.engine.memories.dispute(self._find_ids(deed)[0], self._actor_of(deed), deed.get("reason")).result()

    def _hold(self, deed: SampleEvent) -> None:
        self.engine.conflicts.hold(HoldRequest("client", deed["client"])).result()

    def _decide(self, deed: SampleEvent) -> None:
        """Decide alike what is open, all of it in one step; `kinds` and `text` narrow it."""
        wanted = QueueRequest(kinds=tuple(deed["kinds"]), text=deed.get("text"))
        ids = [row.id for row in self.engine.conflicts.queue(wanted).result().rows]
        if ids:
            self.engine.conflicts.resolve_many(ids, Decision(Action(deed["action"]))).result()

    def _work(self, deed: SampleEvent) -> None:
        """A kind of the work that runs by itself elsewhere; here nothing runs that no deed asks for."""
        ran = self.engine.jobs.run(JobType(deed["job"])).result()
        if ran.state is not JobState.DONE:
            raise BugError("a deed of the sample palace whose work does not end well")

    def _actor_of(self, deed: SampleEvent) -> Actor:
        name = deed.get("by")
        if name is None:
            return OWNER_ACTOR
        actor = self.clients[name]
        if actor.client_id is not None:
            self.engine.clients.note_seen(actor.client_id)  # as the door notes it when a client proves itself
        return actor

    def _find_ids(self, deed: SampleEvent) -> Sequence[str]:
        ids = [i for query in deed["find"] for i in self.engine.library.find(FindRequest(query)).result().ids]
        if not ids:
            raise BugError("a deed of the sample palace that finds nothing")
        return ids


NOON = 12
_PAUSE = timedelta(minutes=7)
"""Between two deeds of one day."""
_UNDO_DAYS = 3650
BEGIN = datetime(2025, 6, 1, 9, 0, tzinfo=UTC)
"""The vault is made on this day: its time never runs backwards."""
END = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

_SEED = 7
"""Of what is random in the ids: they stand in contexts and break ties, so with others it would be another sample."""

Told = Callable[[int, int], None]


class SampleClock:
    """Stands where it is put; deadlines run on the machine's time."""

    def __init__(self, at: datetime) -> None:
        self._at_ms = _ms(at)

    def set_time(self, at: datetime) -> None:
        """Move the present."""
        self._at_ms = _ms(at)

    def now_ms(self) -> int:
        """The present, epoch ms UTC."""
        return self._at_ms

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class SamplePart:
    """One import of the diary.

    Attributes:
        path: file or folder.
        space: where it goes.
        on: when it is brought in.
    """

    path: Path
    space: str
    on: datetime


def parts_in(folder: Path) -> list[SamplePart]:
    """The imports of the diary, in the order in which they happened.

    Args:
        folder: `resources/demo`.
    """
    listed = json.loads((folder / "parts.json").read_text(encoding="utf-8"))
    return [SamplePart(folder / part["path"], part["space"], _noon(part["on"])) for part in listed]


@contextmanager
def sample_engine() -> Iterator[tuple[Engine, SampleClock, str]]:
    """An engine with an empty, open sample vault in a temporary home; all of it is gone at the end.

    Yields:
        The engine, its clock, and the passphrase nobody else knows.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="loci-sample-")))
        clock = SampleClock(BEGIN)
        home = Home(folder / "home")
        keys = HomeKeys(home)
        passphrase = secrets.token_urlsafe(16)
        create_vault(keys, passphrase, clock)
        chance = random.Random(_SEED).randbytes  # noqa: S311 - ids of a sample, which guard nothing
        engine = Engine(Setup(home, clock, built_in_embedder(), background=False, chance=chance))
        stack.callback(engine.close)
        engine.unlock(keys.open(passphrase))
        yield engine, clock, passphrase


def fill(engine: Engine, clock: SampleClock, told: Told | None = None) -> None:
    """Bring the whole diary in, and do what its owner and her assistants did since; the caller's thread waits.

    Args:
        engine: open, its vault empty.
        clock: the engine's.
        told: hears how many parts are in, and of how many.
    """
    with as_file(files("resources") / "demo") as folder:
        parts = parts_in(folder)
        # Eighteen months pass here within seconds: what can be undone shall not depend on when somebody looked.
        engine.settings.set("undo_days", _UNDO_DAYS).result()
        for number, part in enumerate(parts):
            if told is not None:
                told(number, len(parts))
            clock.set_time(part.on)
            engine.imports.run(part.path, None, part.space, OWNER_ACTOR).result()
        deeds = SampleHistory(engine)
        done: Counter[str] = Counter()
        for deed in json.loads((folder / "deeds.json").read_text(encoding="utf-8")):
            clock.set_time(_noon(deed["on"]) + _PAUSE * done[deed["on"]])
            done[deed["on"]] += 1
            deeds.do(deed)
        engine.flush()
        clock.set_time(END)


def _noon(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=NOON, tzinfo=UTC)


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)

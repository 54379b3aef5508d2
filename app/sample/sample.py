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

    def run_event(self, deed: SampleEvent) -> None:
        """Do one thing; the caller's thread waits.

        Args:
            deed: a row of `resources/demo/deeds.json`; `find` names memories in the search syntax, `by` who does it.
        """
        self._handlers_by_event[deed["do"]](deed)
        # What reads leave behind is put down by the machine's time; here time jumps, and its place would be chance.
        self.engine.flush_journal()

    @property
    def _handlers_by_event(self) -> Mapping[str, Callable[[SampleEvent], None]]:
        return {
            "revise": self._revise_memories,
            "arrange": self._arrange_palace,
            "rename": self._rename_room,
            "forget": self._forget_memory,
            "undo": self._undo_step,
            "pair": self._pair_client,
            "store": self._store_memory,
            "recall": self._recall_memories,
            "context": self._request_contexts,
            "pause": self._pause_client,
            "refuse": self._record_refusal,
            "doubt": self._dispute_memory,
            "hold": self._hold_client,
            "decide": self._decide_reviews,
            "work": self._run_job,
        }

    def _revise_memories(self, deed: SampleEvent) -> None:
        change = Revision(
            text=deed.get("text"),
            pinned=deed.get("pinned"),
            importance=deed.get("importance"),
            add_tags=tuple(deed.get("add_tags", ())),
        )
        self.engine.library.revise_memories(self._find_ids(deed), change).result()

    def _arrange_palace(self, deed: SampleEvent) -> None:
        del deed
        self.engine.palace.place_waiting().result()

    def _rename_room(self, deed: SampleEvent) -> None:
        room = self.engine.palace.find_locus(self._find_ids(deed)[0]).result().room_id
        self.engine.palace.rename_room(room, deed["name"]).result()

    def _forget_memory(self, deed: SampleEvent) -> None:
        self.engine.memories.forget(self._find_ids(deed)[0], OWNER_ACTOR).result()

    def _undo_step(self, deed: SampleEvent) -> None:
        del deed
        self.engine.memories.undo_step(None, OWNER_ACTOR).result()

    def _pair_client(self, deed: SampleEvent) -> None:
        paired = self.engine.clients.pair(deed["name"], deed["grants"]).result()
        self.clients[deed["name"]] = Actor("client", paired.client_id, deed["name"])

    def _pause_client(self, deed: SampleEvent) -> None:
        self.engine.clients.pause(deed["name"]).result()

    def _record_refusal(self, deed: SampleEvent) -> None:
        """It asks for what it may not: the door puts that down."""
        self.engine.note_refusal(self._actor_of(deed).client_id, Code(deed["code"]))

    def _store_memory(self, deed: SampleEvent) -> None:
        source = deed.get("source")
        request = StoreRequest(
            text=deed["text"],
            kind=Kind(deed.get("kind", "fact")),
            space=deed.get("space"),
            source=None if source is None else Source(source),
            claim=deed.get("claim"),
        )
        self.engine.memories.store(request, self._actor_of(deed)).result()

    def _recall_memories(self, deed: SampleEvent) -> None:
        for query in deed["queries"]:
            self.engine.memories.recall(RecallQuery(query, limit=deed.get("limit", 3)), self._actor_of(deed)).result()

    def _request_contexts(self, deed: SampleEvent) -> None:
        for prompt in deed["prompts"]:
            self.engine.memories.build_context(ContextQuery(prompt), self._actor_of(deed)).result()

    def _dispute_memory(self, deed: SampleEvent) -> None:
        self.engine.memories.dispute(self._find_ids(deed)[0], self._actor_of(deed), deed.get("reason")).result()

    def _hold_client(self, deed: SampleEvent) -> None:
        self.engine.conflicts.hold_source(HoldRequest("client", deed["client"])).result()

    def _decide_reviews(self, deed: SampleEvent) -> None:
        """Decide alike what is open, all of it in one step; `kinds` and `text` narrow it."""
        wanted = QueueRequest(kinds=tuple(deed["kinds"]), text=deed.get("text"))
        ids = [row.id for row in self.engine.conflicts.list_queue(wanted).result().rows]
        if ids:
            self.engine.conflicts.resolve_many(ids, Decision(Action(deed["action"]))).result()

    def _run_job(self, deed: SampleEvent) -> None:
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
        ids = [i for query in deed["find"] for i in self.engine.library.find_memories(FindRequest(query)).result().ids]
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
        self._at_ms = _to_epoch_ms(at)

    def set_time(self, at: datetime) -> None:
        """Move the present."""
        self._at_ms = _to_epoch_ms(at)

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


def read_sample_parts(folder: Path) -> list[SamplePart]:
    """The imports of the diary, in the order in which they happened.

    Args:
        folder: `resources/demo`.
    """
    listed = json.loads((folder / "parts.json").read_text(encoding="utf-8"))
    return [SamplePart(folder / part["path"], part["space"], _noon_of(part["on"])) for part in listed]


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


def fill_sample(engine: Engine, clock: SampleClock, told: Told | None = None) -> None:
    """Bring the whole diary in, and do what its owner and her assistants did since; the caller's thread waits.

    Args:
        engine: open, its vault empty.
        clock: the engine's.
        told: hears how many parts are in, and of how many.
    """
    with as_file(files("resources") / "demo") as folder:
        parts = read_sample_parts(folder)
        # Eighteen months pass here within seconds: what can be undone shall not depend on when somebody looked.
        engine.settings.set_option("undo_days", _UNDO_DAYS).result()
        for number, part in enumerate(parts):
            if told is not None:
                told(number, len(parts))
            clock.set_time(part.on)
            engine.imports.run(part.path, None, part.space, OWNER_ACTOR).result()
        deeds = SampleHistory(engine)
        done: Counter[str] = Counter()
        for deed in json.loads((folder / "deeds.json").read_text(encoding="utf-8")):
            clock.set_time(_noon_of(deed["on"]) + _PAUSE * done[deed["on"]])
            done[deed["on"]] += 1
            deeds.run_event(deed)
        engine.flush_journal()
        clock.set_time(END)


def _noon_of(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=NOON, tzinfo=UTC)


def _to_epoch_ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)

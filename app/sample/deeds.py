"""What people and their assistants did in the sample palace since the imports, through the engine's own verbs.

Must not do: reach behind the facade, or bring in anything that no person or client could.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.engine.facade import Engine
from core.errors import BugError, Code
from core.types.lifecycle import JobState, JobType
from core.types.recall import ContextQuery
from core.types.requests import RecallQuery, StoreRequest
from core.types.reviews import Decision, HoldRequest, QueueRequest
from core.types.values import OWNER_ACTOR, Action, Actor, Kind, Source
from core.types.views import FindRequest, Revision

Deed = Mapping[str, Any]


@dataclass
class Deeds:
    """Does one thing after another.

    Attributes:
        engine: open.
        clients: the assistants that were paired, by name.
    """

    engine: Engine
    clients: dict[str, Actor] = field(default_factory=dict)

    def do(self, deed: Deed) -> None:
        """Do one thing; the caller's thread waits.

        Args:
            deed: a row of `resources/demo/deeds.json`; `find` names memories in the search syntax, `by` who does it.
        """
        self._verbs[deed["do"]](deed)
        # What reads leave behind is put down by the machine's time; here time jumps, and its place would be chance.
        self.engine.flush()

    @property
    def _verbs(self) -> Mapping[str, Callable[[Deed], None]]:
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

    def _revise(self, deed: Deed) -> None:
        change = Revision(
            text=deed.get("text"),
            pinned=deed.get("pinned"),
            importance=deed.get("importance"),
            add_tags=tuple(deed.get("add_tags", ())),
        )
        self.engine.library.revise(self._found(deed), change).result()

    def _arrange(self, deed: Deed) -> None:
        del deed
        self.engine.palace.arrange().result()

    def _rename(self, deed: Deed) -> None:
        room = self.engine.palace.where(self._found(deed)[0]).result().room_id
        self.engine.palace.rename_room(room, deed["name"]).result()

    def _forget(self, deed: Deed) -> None:
        self.engine.memories.forget(self._found(deed)[0], OWNER_ACTOR).result()

    def _undo(self, deed: Deed) -> None:
        del deed
        self.engine.memories.undo(None, OWNER_ACTOR).result()

    def _pair(self, deed: Deed) -> None:
        paired = self.engine.clients.pair(deed["name"], deed["grants"]).result()
        self.clients[deed["name"]] = Actor("client", paired.client_id, deed["name"])

    def _pause(self, deed: Deed) -> None:
        self.engine.clients.pause(deed["name"]).result()

    def _refuse(self, deed: Deed) -> None:
        """It asks for what it may not: the door puts that down."""
        self.engine.note_refusal(self._by(deed).client_id, Code(deed["code"]))

    def _store(self, deed: Deed) -> None:
        source = deed.get("source")
        request = StoreRequest(
            text=deed["text"],
            kind=Kind(deed.get("kind", "fact")),
            space=deed.get("space"),
            source=None if source is None else Source(source),
            claim=deed.get("claim"),
        )
        self.engine.memories.store(request, self._by(deed)).result()

    def _recall(self, deed: Deed) -> None:
        for query in deed["queries"]:
            self.engine.memories.recall(RecallQuery(query, limit=deed.get("limit", 3)), self._by(deed)).result()

    def _context(self, deed: Deed) -> None:
        for prompt in deed["prompts"]:
            self.engine.memories.context(ContextQuery(prompt), self._by(deed)).result()

    def _doubt(self, deed: Deed) -> None:
        self.engine.memories.dispute(self._found(deed)[0], self._by(deed), deed.get("reason")).result()

    def _hold(self, deed: Deed) -> None:
        self.engine.conflicts.hold(HoldRequest("client", deed["client"])).result()

    def _decide(self, deed: Deed) -> None:
        """Decide alike what is open, all of it in one step; `kinds` and `text` narrow it."""
        wanted = QueueRequest(kinds=tuple(deed["kinds"]), text=deed.get("text"))
        ids = [row.id for row in self.engine.conflicts.queue(wanted).result().rows]
        if ids:
            self.engine.conflicts.resolve_many(ids, Decision(Action(deed["action"]))).result()

    def _work(self, deed: Deed) -> None:
        """A kind of the work that runs by itself elsewhere; here nothing runs that no deed asks for."""
        ran = self.engine.jobs.run(JobType(deed["job"])).result()
        if ran.state is not JobState.DONE:
            raise BugError("a deed of the sample palace whose work does not end well")

    def _by(self, deed: Deed) -> Actor:
        name = deed.get("by")
        if name is None:
            return OWNER_ACTOR
        actor = self.clients[name]
        if actor.client_id is not None:
            self.engine.clients.seen(actor.client_id)  # as the door notes it when a client proves itself
        return actor

    def _found(self, deed: Deed) -> Sequence[str]:
        ids = [i for query in deed["find"] for i in self.engine.library.find(FindRequest(query)).result().ids]
        if not ids:
            raise BugError("a deed of the sample palace that finds nothing")
        return ids

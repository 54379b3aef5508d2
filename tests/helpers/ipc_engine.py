"""A stand-in for the engine's facade, for the tests of `core.ipc`.

It keeps memories in a list and answers at once, or when the test opens its gate. Must not stand in for its own tests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from answered import finished
from ipc_clients import HasClients, KnowsClients
from ipc_journal import FakeJournals
from ipc_plan import METRICS, Metrics
from ipc_values import START_MS, found_item, make_client, make_memory, recall_result

from core.engine.facade import Engine, OlderCopy, RecallResult
from core.errors import CancelledError, Code, UserError
from core.events import Changed, Hub, StateChanged
from core.types.clients import ActivityLine, ActivityPage, Did
from core.types.clock import ManualClock
from core.types.recall import Context, ContextQuery, ContextReply, Included, LeftOut
from core.types.replies import (
    ClientRecord,
    ImportReport,
    MemoryDetail,
    Page,
    Paired,
    StatusReport,
    StoreReply,
    UndoReport,
    VerdictReply,
)
from core.types.requests import PLAIN, Extras, ListRequest, RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR, Actor, Grant, Kind, Memory, Source, Status
from core.types.views import Facets, FindRequest, Revision, RevisionReport
from core.types.views import Found as LibraryFound

VAULT_ID = bytes(range(16))
ROOT = b"r" * 32
OWNER_TOKEN = b"o" * 32
SECRET = "quinquagesima-Marzipanturm"


def failed(error: Exception) -> Future[Any]:
    """A future that holds an error."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


@dataclass
class Recalled:
    result: RecallResult
    receipt_id: str = "receipt-1"
    metrics: Metrics = METRICS


class FakeMemories:
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.rows: list[Memory] = []
        self.stores: list[tuple[StoreRequest, Actor]] = []
        self.recalls: list[tuple[RecallQuery, Actor]] = []
        self.contexts: list[tuple[ContextQuery, Actor]] = []
        self.lists: list[ListRequest] = []
        self.gate: threading.Event | None = None
        self.waiting: list[Future[Any]] = []
        self.bug = False
        self.verdicts: list[tuple[str, str, str | None]] = []
        self.brought: list[Extras] = []

    def _sees(self, memory: Memory, actor: Actor) -> bool:
        if actor.is_owner:
            return True
        record = self._engine.clients.by_id(actor.client_id)
        return memory.space in ("GLOBAL", f"client:{record.name}", *record.spaces)

    def store(self, request: StoreRequest, actor: Actor) -> Future[StoreReply]:
        self._engine.check()
        self.stores.append((request, actor))
        space = request.space or ("home" if actor.is_owner else f"client:{actor.name}")
        record = None if actor.is_owner else self._engine.clients.by_id(actor.client_id)
        proposed = record is not None and Grant.WRITE.value not in record.grants
        memory = make_memory(
            len(self.rows) + 1,
            text=request.text,
            space=space,
            client_id=actor.client_id,
            kind=request.kind,
            status=Status.QUARANTINED if proposed else Status.ACTIVE,
        )
        reply = StoreReply("PROPOSED" if proposed else "ADD", memory.id, conflict="review-1" if proposed else None)
        if self.gate is None:
            self.rows.append(memory)
            return finished(reply)
        future: Future[StoreReply] = Future()
        gate = self.gate

        def finish() -> None:
            gate.wait(10)
            self.rows.append(memory)
            future.set_result(reply)

        self._engine.spawn(finish)
        return future

    def get(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> Future[Memory]:
        for memory in self.rows:
            if memory.id == memory_id and kind in (None, memory.kind) and self._sees(memory, actor):
                return finished(memory)
        return failed(UserError(Code.NOT_FOUND, "There is no such memory."))

    def list(self, request: ListRequest, actor: Actor) -> Future[Page]:
        self.lists.append(request)
        rows = [m for m in reversed(self.rows) if self._sees(m, actor)]
        rows = [m for m in rows if request.statuses is None or m.status.value in request.statuses]
        start = 0 if request.after is None else [m.id for m in rows].index(request.after) + 1
        end = len(rows) if request.limit is None else start + request.limit
        items = tuple(rows[start:end])
        return finished(Page(items, len(rows), items[-1].id if items and end < len(rows) else None))

    def recall(self, query: RecallQuery, actor: Actor) -> Future[Any]:
        self._engine.check()
        self.recalls.append((query, actor))
        if self.bug:
            raise ZeroDivisionError(SECRET)
        if self.gate is not None:
            future: Future[Any] = Future()
            self.waiting.append(future)
            return future
        found = tuple(found_item(m) for m in self.rows if self._sees(m, actor))[: query.limit]
        return finished(Recalled(recall_result(found)))

    def context(self, query: ContextQuery, actor: Actor) -> Future[ContextReply]:
        self._engine.check()
        self.contexts.append((query, actor))
        seen = [m for m in self.rows if self._sees(m, actor)]
        inside = tuple(Included(m.id, "full", "facts", 0.86, 20) for m in seen[:1])
        left = tuple(LeftOut(m.id, "budget", 0.61) for m in seen[1:])
        text = "".join(f'<memory id="{m.id}" type="fact">\n{m.text}\n</memory>\n' for m in seen[:1])
        budget = 3000 if query.budget is None else query.budget
        context = Context(text, 20, budget, inside, left, "estimate", exact=False)
        return finished(ContextReply(context, "receipt-1", 1.5))

    def show(self, memory_id: str, actor: Actor) -> Future[MemoryDetail]:
        memory = self.get(memory_id, actor)
        if memory.exception() is not None:
            return failed(UserError(Code.NOT_FOUND, "There is no such memory."))
        claim = {"subject": "I", "predicate": "likes", "value": "tea", "valid_from": START_MS, "state": "asserted"}
        source = {"lineage": "owner", "at": START_MS, "token": b"x"}
        return finished(MemoryDetail(memory.result(), (source,), {}, {}, (claim,), (), (("base", 1.0),)))

    def history(self, memory_id: str, actor: Actor) -> Future[tuple[Memory, ...]]:
        return finished((self.get(memory_id, actor).result(),))

    def forget(self, memory_id: str, actor: Actor) -> Future[str]:
        return finished("step-1")

    def undo(self, step_id: str | None, actor: Actor) -> Future[UndoReport]:
        return finished(UndoReport(step_id or "step-1", "Forget a memory", "step-2", 1))

    def _judged(self, verdict: str, memory_id: str, extras: Extras, reason: str | None = None) -> Future[VerdictReply]:
        self.verdicts.append((verdict, memory_id, reason))
        self.brought.append(extras)
        return finished(VerdictReply(memory_id, "active", 0.97, 0.5, 1, 0, 2, "step-1"))

    def confirm(self, memory_id: str, actor: Actor, extras: Extras = PLAIN) -> Future[VerdictReply]:
        return self._judged("confirm", memory_id, extras)

    def reinforce(self, memory_id: str, actor: Actor, extras: Extras = PLAIN) -> Future[VerdictReply]:
        return self._judged("reinforce", memory_id, extras)

    def dispute(
        self, memory_id: str, actor: Actor, reason: str | None = None, extras: Extras = PLAIN
    ) -> Future[VerdictReply]:
        return self._judged("dispute", memory_id, extras, reason)

    def corroborate(
        self,
        memory_id: str,
        actor: Actor,
        source: Source | None = None,
        session: str | None = None,
        extras: Extras = PLAIN,
    ) -> Future[VerdictReply]:
        return self._judged("corroborate", memory_id, extras, session)


class FakeImports:
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.runs: list[tuple[Path, str | None, str | None]] = []
        self.steps = 3
        self.gate: threading.Event | None = None

    def _report(self, import_id: str | None) -> ImportReport:
        errors = tuple({"where": f"line {i}", "message": "not JSON"} for i in range(3))
        counts = {"user": 2, "assistant": 1, "other": 0}
        return ImportReport(import_id, "jsonl", 1, counts, 3, 0, {"empty": 1}, errors, "2024-01-01T00:00:00.000Z", None)

    def rehearse(
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        actor: Actor,
        space: str | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Future[ImportReport]:
        return finished(self._report(None))

    def run(
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        space: str | None,
        actor: Actor,
        progress: Callable[[int, int | None], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Future[ImportReport]:
        self.runs.append((path, format, space))
        future: Future[ImportReport] = Future()

        def work() -> None:
            for step in range(self.steps):
                if progress is not None:
                    progress(step, self.steps)
            while self.gate is not None and not self.gate.wait(0.01):
                if cancelled is not None and cancelled():
                    future.set_exception(CancelledError())
                    return
            future.set_result(self._report("import-1"))

        self._engine.spawn(work)
        return future

    def undo(self, import_id: str) -> Future[UndoReport]:
        return finished(UndoReport("step-9", "Import memories", "step-10", 3))


class FakeClients(KnowsClients):
    def __init__(self, engine: FakeEngine) -> None:
        super().__init__()
        self._engine = engine

    def activity(self, name: str | None = None, after: str | None = None, limit: int = 50) -> Future[ActivityPage]:
        if name not in (None, "plug"):
            return failed(UserError(Code.NOT_FOUND, "There is no client of that name."))
        line = ActivityLine(START_MS, Did.REFUSED, "memory_store", name or "plug", code="E4001")
        return finished(ActivityPage((line,), "further" if after is None and limit == 1 else None))

    def by_id(self, client_id: str | None) -> ClientRecord:
        return next(record for record in self.records.values() if record.id == client_id)

    def add(self, record: ClientRecord) -> ClientRecord:
        self.records[record.name] = record
        return record

    def authenticator(self) -> FakeClients:
        return self

    def token_for(self, name: str) -> ClientRecord | None:
        if self._engine.state != "open":
            return None
        if name == "@owner":
            return make_client(
                "@owner", [g.value for g in Grant], token=OWNER_TOKEN, limit_minute=None, limit_session=None
            )
        return self.records.get(name)

    def name_of(self, client_id: str) -> str | None:
        return next((record.name for record in self.records.values() if record.id == client_id), None)

    def pair(
        self,
        name: str,
        grants: Sequence[str],
        limit: int | str | None = None,
        actor: Actor = OWNER_ACTOR,
        asked_by: str = "",
    ) -> Future[Paired]:
        self.asked_by.append(asked_by)
        if name in self.records and not self.records[name].revoked:
            return failed(UserError(Code.INVALID_INPUT, "A client of that name is paired already."))
        minute = None if limit == "none" else int(limit or 20)
        session = None if limit == "none" else 200
        made = make_client(name, tuple(grants) or ("read", "propose"), limit_minute=minute, limit_session=session)
        self.add(made)
        return finished(Paired(made.id, name, made.token, "step-4"))

    def revoke(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        if name not in self.records:
            return failed(UserError(Code.NOT_FOUND, "There is no paired client of that name."))
        self.records[name] = replace(self.records[name], revoked=True)
        self._engine.hub.publish(Changed("revoke", (), actor, 1))
        return finished(self.records[name].id)

    def list(self) -> Future[tuple[ClientRecord, ...]]:
        return finished(tuple(self.records.values()))


class FakeVault:
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.backups: list[Path | None] = []
        self.spaces = ["GLOBAL", "home"]
        self.secrets: list[tuple[str, ...]] = []

    def status(self) -> Future[StatusReport]:
        figures = {"state": "open", "seq": 7, "wal_bytes": 0, "opened_at": START_MS, "spaces": self.spaces}
        return finished(StatusReport(figures))

    def verify(self) -> Future[dict[str, Any]]:
        return finished({"status": "ok", "checks": {"pages": "ok"}})

    def backup(self, to: Path | None = None) -> Future[dict[str, Any]]:
        self.backups.append(to)
        return finished({"path": str(to), "bytes": 8192, "seq": 3, "rows": {"memories": 1}})

    def lock(self) -> Future[None]:
        self._engine.set_state("locked")
        return finished(None)

    def unlock(self, root: bytes) -> Future[Any]:
        if root != ROOT:
            return failed(UserError(Code.WRONG_SECRET, "That key does not open this vault."))
        self._engine.set_state("open")
        return finished(None)

    def change_passphrase(self, old: str, new: str) -> Future[None]:
        self.secrets.append((old, new))
        return finished(None)

    def new_recovery_code(self, secret: str) -> Future[str]:
        self.secrets.append((secret,))
        return finished("AAAA-BBBB")

    def confirm_recovery_code(self, code: str) -> Future[bool]:
        return finished(code == "AAAA-BBBB")


class FakeLibrary:
    """Changes nothing, and writes what it was asked down."""

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.revisions: list[tuple[tuple[str, ...], Revision]] = []
        self.searches: list[str] = []

    @staticmethod
    def with_term(query: str, key: str, value: str, *, negated: bool = False) -> str:
        assert not negated
        return f"{query} {key}:{value}".strip()

    def find(self, request: FindRequest) -> Future[LibraryFound]:
        self.searches.append(request.query)
        return finished(LibraryFound(tuple(memory.id for memory in self._engine.memories.rows), 0.1))

    def facets(self) -> Future[Facets]:
        return finished(Facets({}, {}, {"home": 2}, {}, {}, {}, {}, None, None))

    def revise(self, ids: Sequence[str], revision: Revision) -> Future[RevisionReport]:
        self.revisions.append((tuple(ids), revision))
        return finished(RevisionReport("step-9", "Change", tuple(ids), 1))

    def full_id(self, what: str, text: str) -> Future[str]:
        return finished({"memory": make_memory(1).id}.get(what, text) if text == make_memory(1).id[-8:] else text)

    def export(self, ids: Sequence[str], to: Path, format: str) -> Future[int]:  # noqa: A002
        assert (to.name, format) == ("e.csv", "csv")
        return finished(len(ids))

    def handed_out(self, ids: Sequence[str], format: str) -> Future[tuple[str, ...]]:  # noqa: A002
        assert format == "jsonl"
        return finished(tuple(ids))

    def fields(self, ids: Sequence[str]) -> Future[tuple[tuple[str, Mapping[str, Any]], ...]]:
        return finished(tuple((one, {"text": "tea"}) for one in ids))


class FakeEngine(HasClients):
    """Fits `Engine` of the facade."""

    def __init__(self, state: str = "open") -> None:
        super().__init__()
        self.state = state
        self.older: OlderCopy | None = None
        self.hub = Hub()
        self._clock = ManualClock(START_MS)
        self._memories, self._imports = FakeMemories(self), FakeImports(self)
        self._journal = FakeJournals()
        self._clients = FakeClients(self)
        self._vault, self._library = FakeVault(self), FakeLibrary(self)
        self.threads: list[threading.Thread] = []

    vault_id, clock = property(lambda self: VAULT_ID), property(lambda self: self._clock)
    memories, imports = property(lambda self: self._memories), property(lambda self: self._imports)
    journal = property(lambda self: self._journal)
    library = property(lambda self: self._library)
    clients, vault = property(lambda self: self._clients), property(lambda self: self._vault)

    def accept_older(self) -> Future[int]:
        self.older = None
        return finished(0)

    @property
    def real(self) -> Engine:
        """As what it stands in for."""
        return cast("Engine", self)

    def check(self) -> None:
        if self.state != "open":
            raise UserError(Code.VAULT_LOCKED, "The vault is locked.")

    def set_state(self, state: str) -> None:
        self.state = state
        self.hub.publish(StateChanged(state))

    def spawn(self, work: Callable[[], None]) -> None:
        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(10)

"""A real engine on a small home, for the tests of intake and engine: quick to open, its clock in the test's hand.

The embedder is a cheap stand-in (a sum of fixed random word vectors) unless a test asks for the real one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlcipher3 import dbapi2

from core.embed.embedder import Embedder
from core.engine.facade import Engine, Home, HomeKeys, RootKey, Setup, create_vault
from core.engine.jobs.scheduler import SchedulerPacing
from core.engine.memories.memories import embed_backlog
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, LociError
from core.intake.claims import TextReaders
from core.lifecycle.job_support.job_context import TalkReader
from core.recall.result import RecallResult
from core.security.keyfile import load_keys
from core.security.passphrase import KdfCost
from core.security.slots import open_with_recovery
from core.types.clock import Clock, ManualClock
from core.types.replies import ImportReport, StoreReply, UndoReport
from core.types.requests import ListRequest, RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR, Actor, Memory
from core.vault.database.tx import Schema, Tx

START_MS = 1_700_000_000_000
DAY_MS = 86_400_000
PASSPHRASE = "quinquagesima"
RESERVE = 64 * 1024
MARKER = "Quittenmarmelade"
JOURNALS = frozenset(
    {
        "accesses",
        "audit",
        "consolidation_log",
        "gap_asks",
        "imports",
        "jobs",
        "probe_runs",
        "receipts",
        "requests",
        "settings",
        "tunings",
        "undo_rows",
        "undo_steps",
        "vault_state",
    }
)
"""Tables that say what happened: an undo adds to them and takes nothing away."""

_PASSING = frozenset({("embeddings", "rev"), ("memories", "access_count"), ("memories", "last_accessed_at")})
"""Columns a dump leaves out: how a vector was numbered, and what readings leave behind, which the engine writes down
within a second by the machine's time, before a test's next dump or after it."""

Table = list[tuple[Any, ...]]
_homes: dict[str, tuple[dict[str, bytes], bytes, bytes]] = {}


class WordEmbedder:
    """A text's vector is the sum of fixed random vectors of its words."""

    name, version, dims = "words", "words-1", 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed several texts; none depends on the others."""
        return np.array([self.embed_one(text) for text in texts], np.float32).reshape(-1, self.dims)

    def embed_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text."""
        words = text.lower().split()[:200] or [""]
        total = np.sum([_word(word) for word in words], axis=0)
        return np.asarray(total / np.linalg.norm(total), np.float32)


@lru_cache(2_000)
def _word(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=WordEmbedder.dims).astype(np.float32)


class HandClock(ManualClock):
    """The wall clock moves by hand; deadlines and pauses run on the machine's time."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


def opens_with_code(home: Home, typed: str) -> bool:
    """Whether a text is the recovery code of the vault in a home."""
    try:
        open_with_recovery(load_keys(home.keys, repair=False).keys, typed).wipe()
    except LociError as error:
        if error.code is not Code.WRONG_SECRET:
            raise
        return False
    return True


def new_home(path: Path) -> tuple[Home, bytes]:
    """A home with a new vault; the first one of a run is made, the others are copies of its files.

    Returns:
        The home, and the bytes of its root key.
    """
    home = Home(path, reserve_bytes=RESERVE)
    if "made" not in _homes:
        keys = HomeKeys(home)
        create_vault(keys, PASSPHRASE, HandClock(START_MS), cost=KdfCost.lowest())
        with keys.open(PASSPHRASE) as root:
            files = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
            _homes["made"] = (files, root.expose_copy(), root.vault_id)
    else:
        home.prepare_folders()
        for name, content in _homes["made"][0].items():
            (path / name).write_bytes(content)
            (path / name).chmod(0o600)
    return home, _homes["made"][1]


@dataclass
class Rig:
    """An engine and short words for what tests do with it."""

    home: Home
    root: bytes
    clock: Clock
    engine: Engine
    folder: Path

    @property
    def opened(self) -> OpenVault:
        """What runs while the vault is open."""
        found = self.engine._slot.vault
        assert found is not None
        return found

    def unlock(self) -> None:
        """Open the vault."""
        self.engine.unlock(RootKey(self.root, self.engine.vault_id))

    def lock(self) -> None:
        """Close the vault; the engine stays."""
        self.engine.lock()

    def store(self, text: str, actor: Actor = OWNER_ACTOR, **more: Any) -> StoreReply:
        """Remember a text."""
        return self.engine.memories.store(StoreRequest(text, **more), actor).result(30)

    def get(self, memory_id: str, actor: Actor = OWNER_ACTOR) -> Memory:
        """One memory."""
        return self.engine.memories.get(memory_id, actor).result(30)

    def recall(self, query: str, actor: Actor = OWNER_ACTOR, **more: Any) -> RecallResult:
        """Ask."""
        return self.engine.memories.recall(RecallQuery(query, **more), actor).result(30).result

    def found(self, query: str, actor: Actor = OWNER_ACTOR, **more: Any) -> list[str]:
        """The texts of an answer."""
        return [item.memory.text for item in self.recall(query, actor, **more).items]

    def texts(self, statuses: tuple[str, ...] | None = ("active",), **more: Any) -> list[str]:
        """Texts of all memories, oldest first."""
        page = self.engine.memories.list(ListRequest(statuses=statuses, limit=None, **more), OWNER_ACTOR).result(30)
        return [memory.text for memory in reversed(page.items)]

    def forget(self, memory_id: str, actor: Actor = OWNER_ACTOR) -> str:
        """Forget a memory."""
        return self.engine.memories.forget(memory_id, actor).result(30)

    def undo(self, step: str | None = None) -> UndoReport:
        """Take a step back, and wait until what came back has its vectors."""
        report = self.engine.memories.undo_step(step, OWNER_ACTOR).result(30)
        self.settle()
        return report

    def settle(self) -> None:
        """Wait for the job thread, then give vectors to what lacks one."""
        self.opened.storage.threads.jobs.submit(embed_backlog, self.opened.storage, self.opened.search).result(30)

    def wait_for_jobs(self) -> None:
        """Wait until no job runs and none follows the last one.

        Between two jobs nothing runs for a moment: a job thread that has nothing left before it tells the two apart.
        """
        scheduler, storage = self.engine.scheduler, self.opened.storage
        while True:
            storage.threads.jobs.submit(bool).result(60)
            if scheduler.running_job_id() is None:
                return
            storage.closing.wait(0.002)

    def client(self, name: str, *grants: str, session: str | None = None) -> Actor:
        """Pair a client."""
        paired = self.engine.clients.pair(name, grants).result(30)
        return Actor("client", paired.client_id, name, session)

    def write_rows(self, rows: Iterable[Mapping[str, Any]], name: str = "rows.jsonl") -> Path:
        """A file of JSON lines."""
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    def bring(
        self, rows: Iterable[Mapping[str, Any]] | Path, space: str | None = None, name: str = "rows.jsonl"
    ) -> ImportReport:
        """Import rows, or a file."""
        path = rows if isinstance(rows, Path) else self.write_rows(rows, name)
        return self.engine.imports.run(path, None, space, OWNER_ACTOR).result(300)

    def unimport(self, import_id: str | None) -> UndoReport:
        """Take an import back."""
        assert import_id is not None
        return self.engine.imports.undo_import(import_id).result(30)

    def rows(self, sql: str, *params: object) -> Table:
        """Read rows."""
        return self.opened.storage.vault.read(lambda rows: rows.all(sql, params))

    def value(self, sql: str, *params: object) -> Any:
        """Read one value."""
        return self.opened.storage.vault.read(lambda rows: rows.value(sql, params))

    def write(self, action: Callable[[Tx], Any]) -> Any:
        """Change rows behind the engine's back."""
        return self.opened.storage.queue.submit_verb(action).result(30)

    def dump(self) -> dict[str, Table]:
        """Every row of every table that is not a journal, the terms of the lexical index among them."""
        return self.opened.storage.vault.with_writer(_dump)

    def verify(self) -> dict[str, Any]:
        """Check the vault."""
        self.settle()
        return self.engine.vault.verify().result(60)


def _dump(connection: dbapi2.Connection) -> dict[str, Table]:
    tables = Schema(connection).names
    found: dict[str, Table] = {}
    for table in tables:
        if table in JOURNALS:
            continue
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        kept = ", ".join(f'"{column}"' for column in columns if (table, column) not in _PASSING)
        found[table] = sorted(connection.execute(f'SELECT {kept} FROM "{table}"').fetchall(), key=repr)  # noqa: S608
    connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.rig_terms USING fts5vocab(main, memory_fts, instance)")
    found["terms"] = sorted(connection.execute("SELECT doc, offset, term FROM temp.rig_terms").fetchall())
    return found


@contextmanager
def rig_at(
    folder: Path,
    *,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    background: bool = False,
    is_open: bool = True,
    root: bytes | None = None,
    readers: TextReaders | None = None,
    talk: TalkReader | None = None,
) -> Iterator[Rig]:
    """An engine on a new home, or on the one that is there already; closed at the end.

    Args:
        folder: holds `home`, and the files a test imports.
        clock: HandClock if None.
        embedder: WordEmbedder if None.
        background: whether the engine finishes interrupted work by itself.
        is_open: whether the vault is open at first.
        root: the root key of the home that is there; that of homes made here if None.
        readers: read claims and relations; if None, readers that read nothing: only given claims are compared.
        talk: makes statements of what was said; None for nobody who does.
    """
    path = folder / "home"
    home = Home(path, reserve_bytes=RESERVE) if path.exists() else new_home(path)[0]
    clock = clock or HandClock(START_MS)
    found = readers or TextReaders()
    cost = KdfCost.lowest()
    engine = Engine(Setup(home, clock, embedder or WordEmbedder(), background, readers=found, talk=talk, kdf_cost=cost))
    engine.scheduler.beats = SchedulerPacing(quiet_s=0.0)  # nobody searches beside a test's job; it need not look
    rig = Rig(home, root or _homes["made"][1], clock, engine, folder)
    try:
        if is_open:
            rig.unlock()
        yield rig
    finally:
        engine.close()


def later(rig: Rig, days: float = 1) -> None:
    """Days pass."""
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(int(days * DAY_MS))


def differences(before: Mapping[str, Table], after: Mapping[str, Table]) -> dict[str, tuple[Table, Table]]:
    """Table to the rows that vanished and the rows that appeared; empty when nothing changed."""
    found = {}
    for table in before.keys() | after.keys():
        # Counted, not looked up in lists: the terms of a long text are thousands of rows.
        old, now = Counter(before[table]), Counter(after[table])
        gone, new = list((old - now).elements()), list((now - old).elements())
        if gone or new:
            found[table] = (gone, new)
    return found


@contextmanager
def refused(code: Code) -> Iterator[None]:
    """What is inside raises a Loci error of that code."""
    with pytest.raises(LociError) as caught:
        yield
    assert caught.value.code is code, caught.value


def error_of(future: Future[Any]) -> LociError:
    """The Loci error a future ends with."""
    error = future.exception(30)
    assert isinstance(error, LociError), error
    return error


def talk(count: int, session: str = "s", start: int = 0) -> list[dict[str, Any]]:
    """Rows of a conversation."""
    return [
        {
            "text": f"Message {n} of {session} about the {'garden' if n % 2 else 'kitchen'} number{n}",
            "author": "user" if n % 2 == 0 else "assistant",
            "session": session,
            "time": f"2024-03-{1 + n % 28:02d}T10:00:00Z",
            "ref": f"{session}-{n}",
        }
        for n in range(start, start + count)
    ]


def facts(count: int, start: int = 0, what: str = "The shelf holds jar") -> list[dict[str, Any]]:
    """Rows that are facts."""
    return [{"text": f"{what} number {n}", "kind": "fact", "ref": f"f{n}"} for n in range(start, start + count)]

"""A small vault for tests and benches of recall: the real schema, the real full-text table, a real index.

It writes rows as intake does, but all at once and without a queue, an audit or a key file. Must not be used where
the write path itself is tested.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlcipher3 import dbapi2

from core.embed.embedder import Embedder, from_blobs, to_blob
from core.index.base import Labels
from core.index.manager import IndexManager
from core.recall.pipeline import Recall
from core.recall.request import RecallRequest
from core.recall.result import RecallResult
from core.recall.scope import OWNER_SCOPE
from core.score.profile import LOCI, Profile
from core.text.terms import embedding_text, memory_terms
from core.types.recall import QueryPlan
from core.types.values import Kind, Role, Source, Status, When
from core.vault.database.rows import SqlRows

SCHEMA = sorted((Path(__file__).resolve().parents[2] / "core" / "vault" / "sql").glob("[0-9]*.sql"))
SPACE = "test-vectors"
NOW_MS = 1_760_000_000_000


@dataclass(frozen=True)
class Note:
    """One memory to be; every member has the default that intake would give it."""

    text: str
    kind: Kind = Kind.EPISODE
    status: Status = Status.ACTIVE
    space: str = "home"
    author: str | None = None
    role: Role = Role.USER
    ref: str | None = None
    conversation: str | None = None
    position: int | None = None
    occurred_ms: int | None = None
    recorded_ms: int = NOW_MS
    valid_from: int | None = None
    valid_to: int | None = None
    category: str = "general"
    importance: float = 0.5
    confidence: float = 0.7
    scope_session: str = ""
    part_of: int | None = None
    part_index: int | None = None
    tags: tuple[str, ...] = ()
    embed: bool = True


@dataclass
class _Loader:
    """Reads all embeddings for `IndexManager.warm`."""

    rows: SqlRows
    dims: int

    def revision(self) -> int:
        return int(self.rows.value("SELECT seq FROM vault_state"))

    def live_labels(self) -> Labels:
        return np.array([row[0] for row in self.rows.all("SELECT n FROM embeddings ORDER BY n")], np.int64)

    def changed_since(self, revision: int) -> Labels:
        return np.array(
            [row[0] for row in self.rows.all("SELECT n FROM embeddings WHERE rev > ?", (revision,))], np.int64
        )

    def vectors(self, labels: Labels) -> Iterator[tuple[Labels, NDArray[np.float32]]]:
        for low in range(0, labels.size, 4096):
            part = labels[low : low + 4096]
            sql = "SELECT n, vector FROM embeddings WHERE n IN (SELECT value FROM json_each(?))"
            found = self.rows.all(sql, (json.dumps(part.tolist()),))
            if found:
                yield np.array([row[0] for row in found], np.int64), from_blobs([row[1] for row in found], self.dims)


def _connect_to(path: str, *, is_shared: bool = False) -> dbapi2.Connection:
    connection = dbapi2.connect(path, isolation_level=None, check_same_thread=not is_shared)
    connection.execute("PRAGMA key = \"x'" + "11" * 32 + "'\"")
    connection.execute("PRAGMA cipher_page_size = 8192")
    connection.execute("PRAGMA cache_size = -8000")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


@cache
def _empty_vault() -> dbapi2.Connection:
    """A vault without a row, made once; copying it takes a thirtieth of the time that making it takes."""
    made = _connect_to(":memory:", is_shared=True)
    for migration in SCHEMA:
        made.executescript(migration.read_text("utf-8"))
    made.execute("INSERT INTO vault_state (one, seq, last_at, created_at) VALUES (1, 1, 0, 0)")
    return made


@dataclass
class Rig:
    """The vault, its index and a recall over both."""

    embedder: Embedder
    path: str = ":memory:"
    profile: Profile = LOCI
    _next: int = field(default=1, init=False)

    def __post_init__(self) -> None:
        self.connection = _connect_to(self.path)
        _empty_vault().backup(self.connection)
        self.rows = SqlRows(self.connection)
        self.spaces: set[str] = set()
        self.conversations: set[str] = set()
        self.index = IndexManager(self.embedder.dims)
        self.recall = Recall(self.index, SPACE, self.profile, dims=self.embedder.dims)

    @classmethod
    def reader(cls, other: Rig) -> Rig:
        """A second connection to the same file, with the same index and recall; for one thread."""
        made = cls.__new__(cls)
        made.__dict__.update(other.__dict__)
        made.connection = dbapi2.connect(other.path, isolation_level=None)
        made.connection.execute("PRAGMA key = \"x'" + "11" * 32 + "'\"")
        made.connection.execute("PRAGMA cipher_page_size = 8192")
        made.rows = SqlRows(made.connection)
        return made

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def add(self, notes: Sequence[Note], vectors: NDArray[np.float32] | None = None) -> list[str]:
        """Write memories; they are found after `warm`.

        Args:
            vectors: one each, where they were made before.

        Returns:
            Their ids, in order.
        """
        self.connection.execute("BEGIN")
        first, rows, terms, stored = self._next, [], [], []
        wanted = [note for note in notes if note.embed]
        made = iter(
            self.embedder.embed([embedding_text(note.text, author=note.author) for note in wanted])
            if vectors is None
            else vectors
        )
        for n, note in enumerate(notes, first):
            self._need(note)
            rows.append(_row(n, note, first))
            occurred = None if note.occurred_ms is None else When(note.occurred_ms)
            written = memory_terms(note.text, author=note.author, role=note.role, tags=note.tags, occurred=occurred)
            terms.append((n, written))
            if note.embed:
                stored.append((n, SPACE, self.embedder.dims, to_blob(next(made))))
        self._next += len(rows)
        self.connection.executemany(_INSERT, rows)
        self.connection.executemany("INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", terms)
        self.connection.executemany(
            "INSERT INTO embeddings (owner, n, vector_space, model, dims, vector, rev) "
            "VALUES ('memory', ?, ?, 'm', ?, ?, 1)",
            stored,
        )
        self.connection.execute("UPDATE vault_state SET seq = seq + 1")
        self.connection.execute("COMMIT")
        return [str(row[1]) for row in rows]

    def _need(self, note: Note) -> None:
        if note.space not in self.spaces:
            self.spaces.add(note.space)
            self.connection.execute("INSERT INTO spaces VALUES (?, ?, NULL, 0)", (f"id-{note.space}", note.space))
        if note.conversation is not None and note.conversation not in self.conversations:
            self.conversations.add(note.conversation)
            self.connection.execute(
                "INSERT INTO conversations (id, identity, space_id, recorded_at) VALUES (?, ?, ?, 0)",
                (note.conversation, note.conversation, f"id-{note.space}"),
            )

    def warm(self) -> None:
        """Load every vector into the index, and build its graph where there is one."""
        self.index.warm(_Loader(self.rows, self.embedder.dims), lambda *_: None, lambda: False)
        self.index.maintain(lambda *_: None, lambda: False)

    def change(self, sql: str, params: Sequence[object] = ()) -> None:
        """Change rows behind recall's back, as another verb would."""
        self.connection.execute(sql, tuple(params))
        self.connection.execute("UPDATE vault_state SET seq = seq + 1")

    def ask(
        self,
        query: str,
        *,
        now_ms: int = NOW_MS,
        vector: NDArray[np.float32] | None = None,
        reading: QueryPlan | None = None,
        **more: object,
    ) -> RecallResult:
        """Ask as the engine does: embed when wanted, then run."""
        request = RecallRequest(query=query, **{"scope": OWNER_SCOPE, **more})  # type: ignore[arg-type]  # by name
        if request.wants_vector and vector is None:
            vector = self.embedder.embed_one(request.embed_text)
        return self.recall.run(self.rows, request, vector, now_ms, plan=reading)

    def texts(self, query: str, **more: object) -> list[str]:
        """The texts of an answer."""
        return [item.memory.text for item in self.ask(query, **more).items]  # type: ignore[arg-type]  # by name


class WordEmbedder:
    """An embedder for tests: a text's vector is the sum of fixed random vectors of its words. Quick, and exact."""

    name, version, dims = "words", "1", 64

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Embed several texts."""
        return np.array([self.embed_one(text) for text in texts], np.float32).reshape(-1, self.dims)

    def embed_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text."""
        words = text.lower().replace(":", " ").replace(".", " ").replace("?", " ").split() or [""]
        total = np.sum([self._word(word) for word in words], axis=0)
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def _word(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8], "big")
        return np.random.default_rng(seed).normal(size=self.dims)


_COLUMNS = (
    "n, id, kind, status, text, content_hash, category, importance, tags, space_id, source, role, author, "
    "scope_session, conversation_id, position, ref, lineage, part_of, part_index, occurred_at, occurred_prec, "
    "valid_from, valid_to, recorded_at, trust, confidence, last_confirmed_at, chain_id"
)
_INSERT = f"INSERT INTO memories ({_COLUMNS}) VALUES ({', '.join('?' * len(_COLUMNS.split(', ')))})"  # noqa: S608


def memory_id(n: int) -> str:
    """The id of the memory with a label."""
    return f"01990000-0000-7000-8000-{n:012x}"


def _row(n: int, note: Note, first: int) -> tuple[object, ...]:
    return (
        n,
        memory_id(n),
        note.kind.value,
        note.status.value,
        note.text,
        hashlib.sha256(note.text.encode("utf-8")).digest(),
        note.category,
        note.importance,
        json.dumps(list(note.tags)),
        f"id-{note.space}",
        Source.USER_IMPLICIT.value,
        note.role.value,
        note.author,
        note.scope_session,
        note.conversation,
        note.position,
        note.ref,
        f"lineage-{n}",
        None if note.part_of is None else memory_id(first + note.part_of),
        note.part_index,
        note.occurred_ms,
        None if note.occurred_ms is None else "ms",
        note.valid_from,
        note.valid_to,
        note.recorded_ms,
        note.confidence,
        note.confidence,
        note.recorded_ms,
        memory_id(n),
    )

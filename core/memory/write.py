"""Memories on their way in, as an importer reads them and as rows, and what is written with them; and spaces.

Each field of a memory is declared once. With the text go terms, tiers, vectors and the record of a procedure: written
with the text, made anew with it and gone with it. Tiers, the shorter forms, have rows only where a text has more than
one sentence. The record of a procedure are its steps and the words that call it up, read from the text by rules;
counts and what somebody gave stay. Must not do: choose between tiers, or count an outcome.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.embed.embedder import to_blob
from core.memory.protection import SensitiveFindings, Tier, read_tier_rules, tier_of_new_text, with_tier_by
from core.memory.read import read_by_ids
from core.score.decay import STANDARD
from core.text.sentences import Tiers, make_tiers
from core.text.terms import memory_terms
from core.types.values import Kind, Memory, Role, SecurityTier, Source, Status, When, channel_in
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import remove_inferred, remove_mentions


def content_hash(text: str) -> bytes:
    """SHA-256 of the exact text; an index over equal texts, not an identity of episodes.

    Args:
        text: any text without lone surrogates.

    Returns:
        32 bytes.
    """
    return hashlib.sha256(text.encode("utf-8")).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContent:
    """What a memory says, whose words it is and when it holds: the part that an import and a row have in common.

    Attributes:
        text: exactly as it came; never normalised.
        position: place within the conversation, from 0; None outside conversations.
        occurred: when it was said or happened; None where unknown.
        flags: content-free marks: surrogates_replaced, front_matter_broken, encoding_guessed, time_unreadable …
        extra: facts without a column (title, links, aliases, relation triples, original time text …); JSON-able.
    """

    text: str
    kind: Kind
    status: Status
    source: Source
    role: Role
    author: str | None = None
    position: int | None = None
    occurred: When | None = None
    category: str = "general"
    tags: tuple[str, ...] = ()
    session: str | None = None
    ref: str | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    flags: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory(MemoryContent):
    """A memory as an importer reads it and the store path takes it.

    Attributes:
        identity: stable across exports; the same identity is never stored twice (`chatgpt:<conversation>:<message>`).
            Where the source has no ids it is made of path or content hash and an ordinal among equals.
        where: for errors and provenance: file name inside the bundle and line or record number; never text.
        importance: 0 to 1; None where the source does not tell.
        space: a space's name; None for the import's own.
        claim: a claim the row itself gives, in the shape of the command line's `--claim`.
        same_as: identities of other records that hold the same words between them; where all of them are in the vault,
            this one is not stored beside them.
    """

    identity: str
    where: str
    importance: float | None = None
    space: str | None = None
    claim: Mapping[str, Any] | None = None
    same_as: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(MemoryContent):
    """One row to be.

    Attributes:
        id: UUIDv7.
        lineage: the independent source this text comes from (design section 4).
        origin: where from: file, line, conversation, message; JSON-able.
        trust: 0 to 1 by `core.score.trust`.
        scope_session: what it is limited to, by `core.types.values.limit_of`: the row's channel is read from it, so
            that what is derived from a memory of a channel cannot leave it.
        chain_id: the first version's id; None for a first version.
        read_at: when its claims were read, epoch ms; None where that is still to be done.
        permanence: how long it lasts, one of `core.score.decay.RATES`.
        tier: how well it is protected; `insert_memories` works it out. `tier_by` is who says so.
    """

    id: str
    space_id: str
    lineage: str
    recorded_at: int
    trust: float
    last_confirmed_at: int
    client_id: str | None = None
    importance: float = 0.5
    scope_session: str = ""
    conversation_id: str | None = None
    import_id: str | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    part_of: str | None = None
    part_index: int | None = None
    status_reason: str | None = None
    chain_id: str | None = None
    read_at: int | None = None
    permanence: str = STANDARD
    tier: SecurityTier = SecurityTier.CLEARTEXT
    tier_by: str | None = None

    def to_row(self, n: int) -> dict[str, object]:
        """The row of the `memories` table.

        Args:
            n: the label for the lexical and the vector index.

        Returns:
            Column names and values.
        """
        row: dict[str, object] = {
            "n": n,
            "id": self.id,
            "kind": self.kind.value,
            "status": self.status.value,
            "status_reason": self.status_reason,
            "text": self.text,
            "content_hash": content_hash(self.text),
            "category": self.category,
            "importance": float(self.importance),
            "tags": to_json(list(self.tags)),
            "space_id": self.space_id,
            "client_id": self.client_id,
            "source": self.source.value,
            "role": self.role.value,
            "author": self.author,
            "session": self.session,
            "scope_session": self.scope_session,
            "scope_channel": channel_in(self.scope_session),
            "conversation_id": self.conversation_id,
            "position": self.position,
            "ref": self.ref,
            "import_id": self.import_id,
            "origin": to_json(dict(self.origin)),
            "lineage": self.lineage,
            "part_of": self.part_of,
            "part_index": self.part_index,
            "flags": to_json(list(self.flags)),
            "extra": to_json(with_tier_by(self.extra, self.tier_by)),
            "recorded_at": self.recorded_at,
            "trust": self.trust,
            "confidence": self.trust,
            "last_confirmed_at": self.last_confirmed_at,
            "chain_id": self.chain_id or self.id,
            "read_at": self.read_at,
            "permanence": self.permanence,
            "security_tier": self.tier.value,
        }
        row.update(_time_columns("occurred", self.occurred, offset=True))
        row.update(_time_columns("valid_from", self.valid_from))
        row.update(_time_columns("valid_to", self.valid_to))
        return row


def _time_columns(name: str, when: When | None, *, offset: bool = False) -> dict[str, object]:
    """The columns of a time: epoch ms, precision, and with `offset` the offset in minutes."""
    column = f"{name}_at" if offset else name
    values: dict[str, object] = {
        column: None if when is None else when.ms,
        f"{name}_prec": None if when is None else when.precision.value,
    }
    if offset:
        values[f"{name}_offset"] = None if when is None else when.offset_min
    return values


def find_space_id(rows: Rows, name: str) -> str | None:
    """The id of a space.

    Args:
        name: the space's exact name.

    Returns:
        The id, or None when there is no such space.
    """
    value = rows.value("SELECT id FROM spaces WHERE name = ?", (name,))
    return None if value is None else str(value)


def ensure_space(tx: Tx, name: str, new_id: str, client_id: str | None = None) -> str:
    """The id of a space, which is created where it does not exist.

    Args:
        name: the space's name; `GLOBAL` and `home` always exist.
        new_id: the id a new space gets.
        client_id: the client it belongs to.
    """
    known = find_space_id(tx, name)
    if known is not None:
        return known
    tx.insert("spaces", {"id": new_id, "name": name, "client_id": client_id, "created_at": tx.now_ms})
    return new_id


BY_RULES, BY_MODEL = "rules", "model"
_AT_ONCE = 1000
_TAGGED = "SELECT memory_id FROM tiers WHERE tier = 'tag' AND memory_id IN (SELECT value FROM json_each(?))"
_INSERT = "INSERT OR REPLACE INTO tiers (memory_id, tier, text, made_by) VALUES (?, ?, ?, ?)"
_STORED = (
    "SELECT m.id, m.text, t.tier, t.text FROM json_each(?) w JOIN memories m ON m.id = w.value "
    "JOIN tiers t ON t.memory_id = m.id"
)

Shortened = tuple[str, str, str, str]
"""Id, text, kind and category of a memory."""


def write_tiers(tx: Tx, memories: Iterable[Shortened]) -> None:
    """Write the tiers of new memories.

    Args:
        memories: id, text, kind and category of each.
    """
    tx.run_many(
        _INSERT,
        [
            (memory_id, tier, short, BY_RULES)
            for memory_id, text, kind, category in memories
            for tier, short in make_tiers(text, kind, category).list_rows()
        ],
    )


def write_summary(tx: Tx, memory_id: str, summary: str) -> bool:
    """Put a model's summary in the place of that of rules, until the text is another.

    Args:
        summary: what was checked to say no more than its text.

    Returns:
        False for a memory of one sentence, which has no shorter form.
    """
    if tx.one("SELECT 1 FROM tiers WHERE memory_id = ? AND tier = 'tag'", (memory_id,)) is None:
        return False
    tx.run(_INSERT, (memory_id, "summary", summary, BY_MODEL))
    return True


def rewrite_tiers(tx: Tx, memories: Sequence[Memory]) -> None:
    """Make the tiers of memories anew whose text, kind or category may be another now."""
    tx.run_many("DELETE FROM tiers WHERE memory_id = ?", [(memory.id,) for memory in memories])
    write_tiers(tx, [(one.id, one.text, one.kind.value, one.category) for one in memories])


def rewrite_tags(tx: Tx, ids: Sequence[str]) -> None:
    """Make the tiers of memories anew whose kind or category changed: their tags name both.

    Args:
        ids: memory ids; those without stored tiers are passed over.
    """
    for at in range(0, len(ids), _AT_ONCE):
        found = tx.all(_TAGGED, (to_json(list(ids[at : at + _AT_ONCE])),))
        rewrite_tiers(tx, list(read_by_ids(tx, [str(row[0]) for row in found]).values()))


def remove_tiers(tx: Tx, labels: Sequence[int]) -> None:
    """Remove the tiers of memories that are about to vanish."""
    tx.run_many("DELETE FROM tiers WHERE memory_id = (SELECT id FROM memories WHERE n = ?)", [(n,) for n in labels])


def read_tiers(rows: Rows, memories: Sequence[Memory]) -> dict[str, Tiers]:
    """The tiers of memories as they are handed out.

    Args:
        memories: with the text that is handed out. Where that is not all of the stored text (a sentence of it is
            over), the stored tiers say too much, and others are made.

    Returns:
        Id to tiers, for each of them.
    """
    whole = {memory.id: memory.text for memory in memories}
    stored: dict[str, dict[str, str]] = {}
    for memory_id, text, tier, short in rows.all(_STORED, (to_json(list(whole)),)):
        if text == whole[memory_id]:
            stored.setdefault(memory_id, {})[tier] = short
    return {memory.id: _effective_tiers(memory, stored.get(memory.id)) for memory in memories}


def _effective_tiers(memory: Memory, stored: dict[str, str] | None) -> Tiers:
    """The stored tiers of a memory, or those made from its text where none are stored."""
    if stored is None or "tag" not in stored:
        return make_tiers(memory.text, memory.kind.value, memory.category)
    summary = stored.get("summary") or stored.get("key_fact") or memory.text
    return Tiers(memory.text, summary, stored.get("key_fact") or summary, stored["tag"])


PROCEDURES = "procedures"


def procedure_columns(text: str) -> dict[str, object]:
    """What a procedure's text says of itself.

    Args:
        text: of the procedure; of a split one the first part.

    Returns:
        The columns `steps` and `trigger_cues`.
    """
    from core.text.metadata import extract_cues, extract_steps  # few memories are procedures

    return {"steps": to_json(list(extract_steps(text))), "trigger_cues": " ".join(extract_cues(text))}


def write_procedures(tx: Tx, drafts: Iterable[Draft]) -> None:
    """Write the records of new procedures.

    Args:
        drafts: new memories of any kind; of a split text the head has the record.
    """
    for draft in drafts:
        if draft.kind is Kind.PROCEDURE and not draft.part_index:
            tx.insert(PROCEDURES, {"memory_id": draft.id, **procedure_columns(draft.text)})


def rewrite_procedures(tx: Tx, memories: Iterable[Memory]) -> None:
    """Make the records of procedures anew whose text may be another now; one without a record gets none."""
    for memory in memories:
        if memory.kind is Kind.PROCEDURE:
            tx.update(PROCEDURES, {"memory_id": memory.id}, procedure_columns(memory.text))


def remove_procedures(tx: Tx, labels: Sequence[int]) -> None:
    """Remove the records of memories about to vanish; one with outcomes stays, and so keeps its memory."""
    for label in labels:
        unused = tx.value(
            "SELECT p.memory_id FROM memories m JOIN procedures p ON p.memory_id = m.id "
            "WHERE m.n = ? AND p.successes + p.failures = 0",
            (label,),
        )
        if unused is not None:
            tx.delete(PROCEDURES, {"memory_id": unused})


MEMORY_OWNER = "memory"
SERVED = "ollama:"
"""How the name of a vector space begins whose vectors a model server makes."""
_WAITING = (
    "FROM memories m WHERE m.status <> 'deleted' AND (m.security_tier = 'cleartext' OR NOT ?) AND NOT EXISTS ("
    "SELECT 1 FROM embeddings e WHERE e.owner = 'memory' AND e.vector_space = ? AND e.n = m.n)"
)
_TERMS_AT_ONCE = 1000
_IDS = "SELECT id FROM memories WHERE n IN (SELECT value FROM json_each(?))"

Stored = Callable[[int, Sequence[int], NDArray[np.float32]], None]
"""Told, after the commit, the vault's sequence and the labels and vectors that were written."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Which embedder made a vector.

    Attributes:
        name: the vector space, one per model and dimension.
        model: the model's version.
        dims: length of a vector.
    """

    name: str
    model: str
    dims: int

    @property
    def served(self) -> bool:
        """Whether a model server makes its vectors: then it is never given what is not cleartext."""
        return self.name.startswith(SERVED)


def reserve_labels(tx: Tx, count: int) -> int:
    """Reserve labels for new memories; a label is never used twice.

    Returns:
        The first label.
    """
    first = int(tx.value("SELECT next_n FROM vault_state"))
    tx.run("UPDATE vault_state SET next_n = next_n + ?", (count,))
    return first


def insert_memories(
    tx: Tx,
    drafts: Sequence[Draft],
    titles: Mapping[str, str | None] | None = None,
    findings: Mapping[str, SensitiveFindings] | None = None,
) -> list[int]:
    """Write rows with their lexical terms and their tiers; each at the security tier that its text asks for.

    Args:
        titles: conversation id to title, for the lexical terms.
        findings: id of a memory, of a split text that of its head, to what is sensitive in its whole text, where that
            was looked through before the transaction.

    Returns:
        The labels, in the order of the drafts.
    """
    if not drafts:
        return []
    drafts = _protect_drafts(tx, drafts, findings or {})
    first = reserve_labels(tx, len(drafts))
    tx.insert_many("memories", [draft.to_row(first + place) for place, draft in enumerate(drafts)])
    known = titles or {}
    tx.run_many(
        "INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)",
        [
            (first + place, _index_terms(draft, known.get(draft.conversation_id or "")))
            for place, draft in enumerate(drafts)
        ],
    )
    write_tiers(tx, ((draft.id, draft.text, draft.kind.value, draft.category) for draft in drafts))
    write_procedures(tx, drafts)
    return list(range(first, first + len(drafts)))


def _protect_drafts(tx: Tx, drafts: Sequence[Draft], findings: Mapping[str, SensitiveFindings]) -> list[Draft]:
    """The drafts at their security tier; the parts of a split text are protected alike."""
    rules = read_tier_rules(tx)
    wholes: dict[str, list[str]] = {}
    for draft in drafts:
        wholes.setdefault(draft.part_of or draft.id, []).append(draft.text)
    tiers: dict[str, Tier] = {}
    for draft in drafts:
        whole = draft.part_of or draft.id
        if whole not in tiers:
            text = "".join(wholes[whole])
            found = findings.get(whole)
            tiers[whole] = tier_of_new_text(rules, text, draft.space_id, draft.source.value, found)
    return [
        replace(draft, tier=tiers[draft.part_of or draft.id][0], tier_by=tiers[draft.part_of or draft.id][1])
        for draft in drafts
    ]


def _index_terms(draft: Draft, title: str | None) -> str:
    """The words under which the lexical index finds a memory."""
    title = title or _own_title(draft.extra)
    return memory_terms(
        draft.text, author=draft.author, role=draft.role, title=title, tags=draft.tags, occurred=draft.occurred
    )


def _own_title(extra: Mapping[str, object]) -> str | None:
    title = extra.get("title")
    return title if isinstance(title, str) else None


def write_vectors(tx: Tx, labels: Sequence[int], vectors: NDArray[np.float32], space: VectorSpace) -> None:
    """Write vectors of memories; an older vector of the same label is replaced.

    Args:
        vectors: unit rows, (k, dims) float32.
        space: which embedder made them.
    """
    tx.run_many(
        "INSERT OR REPLACE INTO embeddings (owner, n, vector_space, model, dims, vector, rev) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (MEMORY_OWNER, label, space.name, space.model, space.dims, to_blob(vector), tx.seq)
            for label, vector in zip(labels, vectors, strict=True)
        ],
    )


def write_new_vectors(
    tx: Tx, labels: Sequence[int], vectors: NDArray[np.float32] | None, space: VectorSpace, stored: Stored
) -> None:
    """Write the vectors of new memories and tell the index after the commit; without any they wait to be embedded.

    Args:
        vectors: unit rows, (k, dims) float32; None where the embedder is away.
        space: which embedder made them.
        stored: told sequence, labels and vectors after the commit.
    """
    if vectors is None:
        return
    write_vectors(tx, labels, vectors, space)
    seq = tx.seq
    tx.after_commit(lambda: stored(seq, labels, vectors))


def forget_vector(tx: Tx, label: int) -> None:
    """Remove the vectors of a memory whose text changed, in every space; it waits to be embedded.

    Args:
        label: the memory's label.
    """
    tx.run("DELETE FROM embeddings WHERE owner = 'memory' AND n = ?", (label,))


def refresh_terms(tx: Tx, ids: Iterable[str]) -> None:
    """Make the lexical terms and the tiers of memories anew; rows that are gone lose theirs.

    What was inferred from their texts is forgotten, so that enrichment reads them again.
    """
    wanted = list(dict.fromkeys(ids))
    remove_inferred(tx, wanted)
    for at in range(0, len(wanted), _TERMS_AT_ONCE):
        memories = read_by_ids(tx, wanted[at : at + _TERMS_AT_ONCE]).values()
        talks = sorted({memory.conversation_id for memory in memories if memory.conversation_id is not None})
        titles = dict(
            tx.all(
                "SELECT id, title FROM conversations WHERE id IN (SELECT value FROM json_each(?))", (to_json(talks),)
            )
        )
        rewrite_tiers(tx, list(memories))
        rewrite_procedures(tx, memories)
        tx.run_many("DELETE FROM memory_fts WHERE rowid = ?", [(memory.n,) for memory in memories])
        tx.run_many(
            "INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)",
            [(memory.n, _terms_of(memory, titles.get(memory.conversation_id or ""))) for memory in memories],
        )


def _terms_of(memory: Memory, title: str | None) -> str:
    return memory_terms(
        memory.text,
        author=memory.author,
        role=memory.role,
        title=title or _own_title(memory.extra),
        tags=memory.tags,
        occurred=memory.occurred,
    )


def remove_derived(tx: Tx, labels: Sequence[int]) -> None:
    """Remove terms, tiers, vectors, access counts, feedback, records, places, rehearsals of memories about to vanish.

    Places, rehearsals and records of procedures are the only ones that an undo brings back: the others are made anew.
    """
    from core.memory.floor_plan import remove_places  # loaded by who removes: a recall knows no floor plan
    from core.memory.rehearsals import remove_rehearsals

    keys = [(label,) for label in labels]
    tx.run_many("DELETE FROM memory_fts WHERE rowid = ?", keys)
    tx.run_many("DELETE FROM embeddings WHERE owner = 'memory' AND n = ?", keys)
    remove_tiers(tx, labels)
    remove_procedures(tx, labels)
    tx.run_many("DELETE FROM accesses WHERE memory_id = (SELECT id FROM memories WHERE n = ?)", keys)
    tx.run_many("DELETE FROM handed WHERE memory_id = (SELECT id FROM memories WHERE n = ?)", keys)
    tx.run_many("DELETE FROM feedback WHERE memory_id = (SELECT id FROM memories WHERE n = ?)", keys)
    ids = [str(row[0]) for row in tx.all(_IDS, (to_json(list(labels)),))]
    remove_mentions(tx, ids)
    remove_inferred(tx, ids)
    remove_rehearsals(tx, ids)
    remove_places(tx, labels)


def read_without_vectors(rows: Rows, space: VectorSpace, limit: int, after: int = 0) -> list[tuple[int, str]]:
    """Memories that still lack a vector, oldest first.

    Args:
        space: the vector space that is searched.
        limit: rows at most.
        after: only labels behind this one.

    Returns:
        Label and id of each.
    """
    found = rows.all(
        f"SELECT m.n, m.id {_WAITING} AND m.n > ? ORDER BY m.n LIMIT ?",
        (space.served, space.name, after, limit),
    )
    return [(int(n), str(memory_id)) for n, memory_id in found]


def count_without_vectors(rows: Rows, space: VectorSpace) -> int:
    """How many memories still lack a vector.

    Returns:
        0 or more.
    """
    return int(rows.value(f"SELECT count(*) {_WAITING}", (space.served, space.name)))

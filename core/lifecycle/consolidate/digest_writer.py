"""Writing a digest: a new memory whose every sentence stands word for word in one of its sources.

The sources go beneath it: `consolidated`, reachable, and back with an undo. What it rests on are derivations, not
evidence, so that nothing confirms itself. Must not do: choose sentences, or leave a source without its text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import BugError
from core.intake.claims import sync_claims
from core.intake.transaction.sources import Lineage, add_source, refresh_trust
from core.intake.transitions.transitions import DIGESTED, Transitions
from core.memory.draft import Draft, to_json
from core.memory.write import insert_memories, write_vectors
from core.text.summaries import SourceSentence, compose_digest
from core.types.values import Kind, Precision, Role, Source, Status, When
from core.vault.database.rows import Rows

_GENERAL = "general"
_MOST_TAGS = 32


@dataclass(frozen=True, slots=True)
class DigestSentence:
    """A sentence of a digest, by its place in a source: what a plan keeps of it.

    Attributes:
        source: the memory's id.
        start: where it begins there, code points; `end` is exclusive.
    """

    source: str
    start: int
    end: int


def write_digest(
    transitions: Transitions,
    sources: Sequence[str],
    sentences: Sequence[DigestSentence],
    vector: NDArray[np.float32] | None,
) -> str:
    """Write a digest and put its sources beneath it.

    Args:
        transitions: the steps of the running verb.
        sources: ids of its sources, by the time they were said; they stand.
        sentences: what it says.
        vector: of its text, (dims,); None where the embedder is away: it is embedded later.

    Returns:
        The digest's id.
    """
    tx = transitions.tx
    rows = [row for one in sources if (row := tx.row("memories", {"id": one})) is not None]
    if len(rows) < len(sources) or not sentences:
        raise BugError("a digest of what is not there")
    spans = _spans({row["id"]: row["text"] for row in rows}, sentences)
    draft = _draft(transitions, rows, spans)
    labels = insert_memories(tx, [draft])
    if vector is not None:
        vectors = np.asarray(vector, np.float32).reshape(1, -1)
        write_vectors(tx, labels, vectors, transitions.space)
        seq = tx.seq
        tx.after_commit(lambda: transitions.stored(seq, labels, vectors))
    add_source(tx, draft.id, Lineage(draft.lineage), Source.INFERENCE)
    for row in rows:
        made = {"derived_id": draft.id, "source_id": row["id"], "space_id": draft.space_id, "recorded_at": tx.now_ms}
        tx.insert("derivations", made)
        changes = {"status": Status.CONSOLIDATED.value, "status_reason": DIGESTED, "consolidated_into": draft.id}
        tx.update("memories", {"id": row["id"]}, changes)
        transitions.touched.append(str(row["id"]))
        transitions.log("DIGEST", draft.id, str(row["id"]))
    sync_claims(tx, transitions.make_id, list(sources))
    refresh_trust(tx, draft.id)
    return draft.id


def _spans(texts: Mapping[str, str], sentences: Sequence[DigestSentence]) -> list[SourceSentence]:
    return [SourceSentence(one.source, one.start, one.end, texts[one.source][one.start : one.end]) for one in sentences]


def _draft(transitions: Transitions, rows: Sequence[dict[str, Any]], spans: Sequence[SourceSentence]) -> Draft:
    tx, first = transitions.tx, rows[0]
    digest_id = transitions.make_id()
    text, places = compose_digest(spans)
    tags = dict.fromkeys(tag for row in rows for tag in json.loads(row["tags"]))
    categories = {row["category"] for row in rows}
    told = [
        {"source": span.source, "start": span.start, "end": span.end, "at": at}
        for span, at in zip(spans, places, strict=True)
    ]
    return Draft(
        id=digest_id,
        text=text,
        kind=Kind.DIGEST,
        status=Status.ACTIVE,
        space_id=first["space_id"],
        source=Source.INFERENCE,
        role=Role.OTHER,
        lineage=f"digest:{digest_id}",
        recorded_at=tx.now_ms,
        trust=min(float(row["trust"]) for row in rows),
        # Gathering confirms nothing: it is as fresh as what was confirmed last.
        last_confirmed_at=max(int(row["last_confirmed_at"]) for row in rows),
        category=categories.pop() if len(categories) == 1 else _GENERAL,
        importance=max(float(row["importance"]) for row in rows),
        tags=tuple(tags)[:_MOST_TAGS],
        scope_session=first["scope_session"],
        origin={"by": "consolidation"},
        extra={"spans": told},
        occurred=_earliest(rows),
        read_at=tx.now_ms,
        valid_from=_bound(rows, "valid_from", min),
        valid_to=_bound(rows, "valid_to", max),
    )


def _earliest(rows: Sequence[dict[str, Any]]) -> When | None:
    said = [row for row in rows if row["occurred_at"] is not None]
    if not said:
        return None
    row = min(said, key=lambda one: one["occurred_at"])
    return When(int(row["occurred_at"]), Precision(row["occurred_prec"] or "ms"), row["occurred_offset"])


def _bound(rows: Sequence[dict[str, Any]], name: str, of: Callable[[list[int]], int]) -> When | None:
    """From when on the first of them holds, or until when the last does; open where any is."""
    if any(row[name] is None for row in rows):
        return None
    at = of([int(row[name]) for row in rows])
    precision = next(row[f"{name}_prec"] for row in rows if row[name] == at)
    return When(at, Precision(precision or "ms"))


def sentences_to_json(spans: Sequence[SourceSentence]) -> list[list[Any]]:
    """Sentences as a plan keeps them: ids and numbers, no text."""
    return [[one.source, one.start, one.end] for one in spans]


def sentences_from_json(held: Sequence[Sequence[Any]]) -> list[DigestSentence]:
    """Sentences from a plan."""
    return [DigestSentence(str(source), int(start), int(end)) for source, start, end in held]


def digest_text(rows: Rows, sentences: Sequence[DigestSentence]) -> str:
    """What a digest of these sentences says.

    Args:
        sentences: in the order of the digest; their sources are there.
    """
    ids = to_json(sorted({one.source for one in sentences}))
    texts = dict(rows.all("SELECT id, text FROM memories WHERE id IN (SELECT value FROM json_each(?))", (ids,)))
    return compose_digest(_spans(texts, [one for one in sentences if one.source in texts]))[0]

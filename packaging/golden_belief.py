"""What version 2 added to the golden vault: disagreements, the desk, what clients were given; and what is asked of it.

The answers are asked again of every later version, by the same questions.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from core.belief.review.item_reader import ReviewDesk
from core.engine.memories.detail import explain_trust, read_detail
from core.memory.read import read_by_id, read_by_ids
from core.recall.predicate import build_predicate, wanted_labels
from core.recall.request import RecallRequest
from core.recall.scope import OWNER_SCOPE
from core.types.reviews import QueueRequest
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.vault import Vault

MADE_MS = 1_760_000_000_000
DAY_MS = 86_400_000
ASKED_MS = MADE_MS + 10 * DAY_MS
"""The moment of all questions."""

PORTO, SPRING, AUTUMN, CHOIR = 9, 10, 11, 12
_TEXTS = {
    PORTO: "Ada lives in Porto.",
    SPRING: "The heat pump is serviced in spring.",
    AUTUMN: "The heat pump is serviced in autumn.",
    CHOIR: "Ada sings in the cathedral choir.",
}
_SAID = {PORTO: -3, SPRING: -60, AUTUMN: -20, CHOIR: -5}
_STATUS = {PORTO: "quarantined", SPRING: "superseded", AUTUMN: "active", CHOIR: "archived"}
_DOUBT = '{"by":"builtin","claims":[],"probabilities":{"COEXIST":0.6,"SUPERSEDE":0.4},"trust":[0.5,0.5]}'
_ASKED_OF = ("memory-1", "memory-9", "memory-11")
_TIMES = {"before": -70, "spring": -40, "autumn": -10, "now": 10}


def disagreements(tx: Tx) -> None:
    """Memories that contradict and replace each other, their sources and what they claim."""
    for nr, text in _TEXTS.items():
        _memory(tx, nr, text)
    tx.run("UPDATE vault_state SET next_n = ?", (max(_TEXTS) + 1,))
    for (nr,) in tx.all("SELECT n FROM memories ORDER BY n"):
        _sources(tx, nr)
        if nr not in (8, CHOIR):  # two wait to be read
            tx.update("memories", {"n": nr}, {"read_at": tx.now_ms})
    _claim(tx, PORTO, "Ada", "lives in", "Porto", state="draft")
    _claim(tx, SPRING, "heat pump", "serviced_in", "spring", state="asserted")
    _claim(tx, AUTUMN, "heat pump", "serviced_in", "autumn", state="draft")
    by = {"superseded_by_id": f"claim-{AUTUMN}", "valid_to": MADE_MS - 20 * DAY_MS, "valid_to_prec": "day"}
    tx.update("claims", {"id": f"claim-{SPRING}"}, {"state": "superseded", "retired_at": tx.now_ms, **by})
    tx.update("claims", {"id": f"claim-{AUTUMN}"}, {"state": "asserted", "asserted_at": tx.now_ms})
    _evidence(tx, "claim-1", PORTO, "lives in Porto", "contradicting")
    over = {"retired_at": tx.now_ms, "superseded_by_id": f"memory-{AUTUMN}", "valid_to": MADE_MS - 20 * DAY_MS}
    tx.update("memories", {"n": SPRING}, {**over, "valid_to_prec": "day"})


def desk(tx: Tx) -> None:
    """Items of every state, verdicts, a rule, what was handed out, and the log of what was done."""
    _item(tx, 1, "contradiction", "memory-9", "memory-1", reason="against_owner", suggestion="reject")
    later = {"later_until": ASKED_MS + DAY_MS, "detail": _DOUBT, "confidence": 0.6}
    _item(tx, 2, "classification", "memory-5", "memory-4", reason="unsure", **later)
    done = {"closed_at": tx.now_ms, "state": "resolved", "resolution": "reject"}
    _item(tx, 3, "proposal", "memory-12", None, reason="proposed_by_client", **done)
    _item(tx, 4, "stale", "memory-3", None, reason="stale", closed_at=tx.now_ms, state="moot", note="lapsed")
    voice = {"verdict": "reinforce", "voice": "client:client-1", "client_id": "client-1", "at": tx.now_ms}
    tx.insert("verdicts", {"memory_id": "memory-1", "voice": "owner", "verdict": "confirm", "at": tx.now_ms})
    tx.insert("verdicts", {"memory_id": "memory-7", **voice, "times": 2})
    tx.insert("verdicts", {"memory_id": "memory-5", **voice, "verdict": "dispute", "reason": "It was plum blossom."})
    tx.update("memories", {"id": "memory-7"}, {"reinforcements": 2})
    tx.update("memories", {"id": "memory-5"}, {"disputes": 1})
    rule = {"id": "rule-1", "kind": "proposal", "action": "reject", "source": "document", "client_id": "client-1"}
    tx.insert("review_rules", {**rule, "applied": 1, "created_at": tx.now_ms})
    for memory_id in ("memory-1", "memory-11"):
        tx.insert("handed", {"client_id": "client-1", "memory_id": memory_id, "last_at": tx.now_ms})
    for nr, (operation, memory_id, other) in enumerate(
        (("SUPERSEDE", "memory-11", "memory-10"), ("QUARANTINE", "memory-9", "memory-1"), ("ADD", "memory-7", None)), 1
    ):
        line = {"id": f"log-{nr}", "at": tx.now_ms, "operation": operation, "memory_id": memory_id, "other_id": other}
        tx.insert("consolidation_log", {**line, "confidence": 0.9, "decided_by": "rules", "step_id": "step-1"})


def answers(vault: Vault) -> dict[str, object]:
    """What the desk, `show`, the history and recall at a past moment say.

    Args:
        vault: an open golden vault of version 2 or later.

    Returns:
        Ids, states and numbers, no sentence of Loci's: those may change.
    """
    return vault.read(
        lambda rows: {
            "queue": _queue(rows),
            "show": {one: _show(rows, one) for one in _ASKED_OF},
            "history": _history(rows, f"memory-{AUTUMN}"),
            "as_of": {name: _as_of(rows, MADE_MS + days * DAY_MS) for name, days in _TIMES.items()},
        }
    )


def _queue(rows: Rows) -> dict[str, object]:
    asked = ReviewDesk(read_by_ids, lambda _rows, _memory: "")
    open_rows = asked.make_queue(rows, QueueRequest(), ASKED_MS).rows
    closed = sorted(asked.list_closed(rows, MADE_MS), key=lambda one: one.id)
    return {
        "open": [[row.id, row.kind, row.existing_id, row.incoming_id, row.later] for row in open_rows],
        "closed": [[row.id, row.kind, row.resolution] for row in closed],
    }


def _show(rows: Rows, memory_id: str) -> dict[str, object]:
    memory = read_by_id(rows, memory_id)
    assert memory is not None  # noqa: S101 - made above
    shown, held = read_detail(rows, memory, ASKED_MS), explain_trust(rows, memory, ASKED_MS)
    return {
        "status": memory.status.value,
        "sources": [[one["lineage"], one["source"], one["client"]] for one in shown.sources],
        "claims": [
            [one["value"], one["state"], sorted([said["quote"], said["stance"]] for said in one["evidence"])]
            for one in shown.claims
        ],
        "voices": [one.verdict for one in held.voices],
    }


def _history(rows: Rows, memory_id: str) -> list[list[object]]:
    memory = read_by_id(rows, memory_id)
    assert memory is not None  # noqa: S101 - made above
    versions = explain_trust(rows, memory, ASKED_MS).chain.versions
    return [[one.memory_id, one.version, one.value, one.begin, one.end, one.is_current] for one in versions]


def _as_of(rows: Rows, at_ms: int) -> list[int]:
    asked = RecallRequest("", scope=OWNER_SCOPE, as_of_ms=at_ms)
    return [int(n) for n in wanted_labels(rows, build_predicate(rows, asked, ASKED_MS))]


def _memory(tx: Tx, nr: int, text: str) -> None:
    by_client = nr in (PORTO, CHOIR)
    tx.insert(
        "memories",
        {
            "n": nr,
            "id": f"memory-{nr}",
            "kind": "fact",
            "status": _STATUS[nr],
            "text": text,
            "content_hash": sha256(text.encode()).digest(),
            "space_id": "home",
            "client_id": "client-1" if by_client else None,
            "source": "document" if by_client else "user_explicit",
            "role": "user",
            "lineage": "client:client-1" if by_client else "owner",
            "occurred_at": MADE_MS + _SAID[nr] * DAY_MS,
            "occurred_prec": "day",
            "recorded_at": tx.now_ms,
            "trust": 0.3 if by_client else 0.9,
            "confidence": 0.3 if by_client else 0.9,
            "last_confirmed_at": tx.now_ms,
            "chain_id": f"memory-{SPRING if nr == AUTUMN else nr}",
            "version": 2 if nr == AUTUMN else 1,
            "supersedes_id": f"memory-{SPRING}" if nr == AUTUMN else None,
        },
    )
    tx.run("INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", (nr, " ".join(text.lower().split())))
    tx.run(
        "INSERT INTO embeddings (owner, n, vector_space, model, dims, vector, rev) "
        "VALUES ('memory', ?, 's', 'm', 4, ?, ?)",
        (nr, bytes([nr] * 8), tx.seq),
    )


def _sources(tx: Tx, nr: int) -> None:
    row = tx.row("memories", {"n": nr}) or {}
    own = {"memory_id": row["id"], "source": row["source"], "at": tx.now_ms}
    if row["client_id"] is not None:
        tx.insert("memory_sources", {**own, "lineage": "client:client-1", "client_id": "client-1"})
    elif row["import_id"] is not None:
        tx.insert("memory_sources", {**own, "lineage": "import:import-1", "import_id": "import-1"})
    elif nr != 3:  # one as version 1 may hold it: without
        tx.insert("memory_sources", {**own, "lineage": "owner"})
    if nr == AUTUMN:
        tx.insert(
            "memory_sources", {**own, "lineage": "import:import-1", "source": "document", "import_id": "import-1"}
        )


def _claim(tx: Tx, nr: int, subject: str, predicate_: str, value: str, *, state: str) -> None:
    claim_id = f"claim-{nr}"
    tx.insert(
        "claims",
        {
            "id": claim_id,
            "space_id": "home",
            "claim_key": sha256(claim_id.encode()).digest(),
            "subject": subject,
            "subject_key": subject.casefold(),
            "subject_entity_id": "entity-1" if subject == "Ada" else None,
            "predicate": predicate_,
            "value": value,
            "value_key": value.casefold(),
            "exclusive": 1,
            "confidence": 0.5,
            "extracted_by": "rules",
            "recorded_at": tx.now_ms,
        },
    )
    _evidence(tx, claim_id, nr, value, "supporting")
    if state != "draft":
        tx.update("claims", {"id": claim_id}, {"state": state})


def _evidence(tx: Tx, claim_id: str, nr: int, quote: str, stance: str) -> None:
    row = tx.row("memories", {"n": nr}) or {}
    start = _TEXTS[nr].index(quote)
    tx.insert(
        "evidence",
        {
            "id": f"evidence-{claim_id}-{nr}",
            "claim_id": claim_id,
            "memory_id": row["id"],
            "space_id": "home",
            "quote": quote,
            "start_at": start,
            "end_at": start + len(quote),
            "span_hash": sha256(quote.encode()).digest(),
            "stance": stance,
            "method": "rules",
            "lineage": row["lineage"],
            "observed_at": tx.now_ms,
            "recorded_at": tx.now_ms,
        },
    )


def _item(tx: Tx, nr: int, kind: str, incoming: str, existing: str | None, **more: Any) -> None:
    row = {
        "id": f"conflict-{nr}",
        "kind": kind,
        "incoming_id": incoming,
        "existing_id": existing,
        "space_id": "home",
        "fingerprint": sha256(f"{kind} {incoming} {existing}".encode()).digest(),
        "opened_at": tx.now_ms,
    }
    tx.insert("conflicts", {**row, **more})

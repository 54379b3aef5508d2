"""Probes: saved questions with the memories they are expected to bring, and what came of their runs.

A probe names memories and means what stands for them by now. Must not do: rank.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from core.engine.runtime.storage import Storage
from core.errors import Code, UserError
from core.recall.request import RecallRequest
from core.recall.result import RecallResult
from core.recall.scope import OWNER_SCOPE
from core.types.recall import (
    Probe,
    ProbeOutcome,
    Tally,
)
from core.types.values import LIFECYCLE_ACTOR, OWNER_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

KINDS = ("positive", "negative", "stale")
MOST = 500
MOST_CHARACTERS = 2_000
WITHIN = (1, 50)
RAN, REGRESSED = "probes", "regression"
"""Verbs that are announced: the probes ran; one that held does not hold any more."""
_RUNS_KEPT = 500
_LEAST_LIMIT = 10
_FIELDS = "id, query, kind, expected, within, created_at, passed, ran_at"
_ALL = f"SELECT {_FIELDS} FROM probes ORDER BY created_at, rowid"  # noqa: S608 - constants only
# Along what took the place of a memory; the way ends at what still stands.
_ACTIVE_MEMORIES = """
    WITH RECURSIVE way (first, id, steps) AS (
        SELECT value, value, 0 FROM json_each(:ids)
        UNION ALL
        SELECT w.first, coalesce(m.superseded_by_id, m.consolidated_into), w.steps + 1
        FROM way w JOIN memories m ON m.id = w.id
        WHERE m.status IN ('superseded', 'consolidated') AND w.steps < 100
          AND coalesce(m.superseded_by_id, m.consolidated_into) IS NOT NULL
    )
    SELECT w.first, coalesce(m.part_of, m.id) FROM way w JOIN memories m ON m.id = w.id ORDER BY w.first, w.steps
"""
_PUT_DOWN = (
    "UPDATE probes SET regressed_at = CASE WHEN :passed = 1 THEN NULL WHEN passed = 1 THEN :now ELSE regressed_at END, "
    "passed = :passed, place = :place, ran_at = :now WHERE id = :id"
)


def probes_of(rows: Rows) -> tuple[Probe, ...]:
    """All saved questions, oldest first."""
    return tuple(
        Probe(i, query, kind, tuple(json.loads(ids)), within, at, None if passed is None else bool(passed), ran_at)
        for i, query, kind, ids, within, at, passed, ran_at in rows.all(_ALL)
    )


def _failing_probe_ids(rows: Rows) -> set[str]:
    return {row[0] for row in rows.all("SELECT id FROM probes WHERE regressed_at IS NOT NULL")}


COUNT_REGRESSIONS = "SELECT count(*) FROM probes WHERE regressed_at IS NOT NULL"


def count_regressions(rows: Rows) -> int:
    """How many probes do not hold although they once did."""
    return int(rows.value(COUNT_REGRESSIONS))


def save_probe(tx: Tx, storage: Storage, query: str, kind: str, memory_ids: Sequence[str], within: int) -> Probe:
    """Save a question; one undo step, none where the same one is saved already.

    Args:
        kind: of `KINDS`.
        memory_ids: the memories it names; none for a negative one.
        within: 1 to 50.

    Raises:
        UserError: INVALID_QUERY, INVALID_INPUT, or NOT_FOUND for a memory that does not exist.
    """
    named = tuple(dict.fromkeys(memory_ids))
    _check_probe(tx, query, kind, named, within)
    expected = json.dumps(sorted(named))
    same = "SELECT id FROM probes WHERE query = ? AND kind = ? AND expected = ? AND within = ?"
    probe_id = tx.value(same, (query, kind, expected, within))
    if probe_id is None:
        if int(tx.value("SELECT count(*) FROM probes")) >= MOST:
            raise UserError(Code.INVALID_INPUT, f"There are {MOST} saved questions already; delete one first.")
        probe_id = storage.make_id()
        row = {"id": probe_id, "query": query, "kind": kind, "expected": expected, "within": within}
        with storage.verb(tx, OWNER_ACTOR, "save_probe", label="Save a question") as verb:
            tx.insert("probes", {**row, "created_at": tx.now_ms})
            verb.note_audit(probe_id, memories=len(named))
            verb.set_outcome(())
    return next(probe for probe in probes_of(tx) if probe.id == probe_id)


def delete_probe(tx: Tx, storage: Storage, probe_id: str) -> str:
    """Delete a saved question; one undo step.

    Raises:
        UserError: NOT_FOUND.
    """
    with storage.verb(tx, OWNER_ACTOR, "delete_probe", label="Delete a saved question") as verb:
        if not tx.delete("probes", {"id": probe_id}):
            raise UserError(Code.NOT_FOUND, "There is no such saved question.")
        verb.note_audit(probe_id)
        verb.set_outcome(())
    return verb.step_id


def request_of(probe: Probe) -> RecallRequest:
    """The question of a probe, as the person would ask it."""
    return RecallRequest(query=probe.query, scope=OWNER_SCOPE, limit=max(_LEAST_LIMIT, probe.within))


def current_memories(rows: Rows, memory_ids: Sequence[str]) -> dict[str, str]:
    """The memories that stand today in the place of others.

    Returns:
        Id to the id of what stands for it, a part of a split text being named by its head; ids that are gone are left
        out.
    """
    return dict(rows.all(_ACTIVE_MEMORIES, {"ids": json.dumps(list(memory_ids))}))  # of one way the last row counts


def judge_probe(rows: Rows, probe: Probe, result: RecallResult, tokens: int) -> ProbeOutcome:
    """How a probe (saved question) ends with the answer it got.

    Returns:
        positive: holds if every memory it names stands in the first `within`; negative: if there is no answer; stale:
        if none of those it names is in the answer.
    """
    places = _rank_memories(result)
    if probe.kind == "negative":
        return ProbeOutcome(probe.id, not result.items, None, tokens)
    if probe.kind == "stale":
        # The very memory must not come; that what took its place does is as it should be.
        shown = {item.memory.id: place for place, item in enumerate(result.items, 1)}
        found = [shown[memory_id] for memory_id in probe.memory_ids if memory_id in shown]
        return ProbeOutcome(probe.id, not found, min(found, default=None), tokens)
    now = current_memories(rows, probe.memory_ids)
    at = [places.get(now.get(memory_id, memory_id)) for memory_id in probe.memory_ids]
    holds = all(place is not None and place <= probe.within for place in at)
    return ProbeOutcome(probe.id, holds, min((place for place in at if place is not None), default=None), tokens)


def tally_outcomes(probes: Sequence[Probe], outcomes: Sequence[ProbeOutcome]) -> Tally:
    """Count how all probes (saved questions) end under one set of weights.

    Args:
        outcomes: how each ended, in the same order.
    """
    by_kind: Mapping[str, list[bool]] = {
        kind: [one.passed for probe, one in zip(probes, outcomes, strict=True) if probe.kind == kind] for kind in KINDS
    }
    return Tally(
        found=sum(by_kind["positive"]),
        found_of=len(by_kind["positive"]),
        empty=sum(by_kind["negative"]),
        empty_of=len(by_kind["negative"]),
        stale=by_kind["stale"].count(False),
        stale_of=len(by_kind["stale"]),
        tokens=sum(one.tokens for one in outcomes) / len(outcomes) if outcomes else 0.0,
        outcomes=tuple(outcomes),
    )


def record_run(tx: Tx, storage: Storage, counted: Tally, step_id: str | None) -> None:
    """Keep how the probes ended, and tell of those that held before and do not any more.

    Args:
        step_id: the application of weights it followed; None for another cause.
    """
    before = _failing_probe_ids(tx)
    for one in counted.outcomes:
        outcome = {"passed": int(one.passed), "place": one.place, "now": tx.now_ms, "id": one.probe_id}
        tx.run(_PUT_DOWN, outcome)
    if counted.outcomes:
        tx.run(
            "INSERT INTO probe_runs (id, at, step_id, found, found_of, empty, empty_of, stale, stale_of, tokens) "
            "VALUES (?, ?, (SELECT id FROM undo_steps WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)",
            (
                storage.make_id(),
                tx.now_ms,
                step_id,
                *(counted.found, counted.found_of, counted.empty, counted.empty_of, counted.stale, counted.stale_of),
                counted.tokens,
            ),
        )
        tx.run(
            "DELETE FROM probe_runs WHERE id IN (SELECT id FROM probe_runs ORDER BY at DESC, rowid DESC "
            "LIMIT -1 OFFSET ?)",
            (_RUNS_KEPT,),
        )
    storage.announce_after(tx, RAN, (), LIFECYCLE_ACTOR)
    if _failing_probe_ids(tx) - before:
        storage.announce_after(tx, REGRESSED, (), LIFECYCLE_ACTOR)


def _rank_memories(result: RecallResult) -> dict[str, int]:
    """Where each memory stands, or what is shown in its place."""
    places: dict[str, int] = {}
    shown: dict[str, int] = {}
    for place, item in enumerate(result.items, 1):
        shown[item.memory.id] = place
        places.setdefault(item.memory.part_of or item.memory.id, place)
    for one in result.trace.candidates:
        if one.dropped == "duplicate" and one.because in shown:
            places.setdefault(one.id, shown[one.because])
    return places


def _check_probe(rows: Rows, query: str, kind: str, named: Sequence[str], within: int) -> None:
    if not query.replace("\0", " ").strip() or len(query) > MOST_CHARACTERS:
        raise UserError(Code.INVALID_QUERY, f"A saved question has 1 to {MOST_CHARACTERS} characters.")
    if kind not in KINDS:
        raise UserError(Code.INVALID_INPUT, f"A saved question is one of: {', '.join(KINDS)}.")
    if not WITHIN[0] <= within <= WITHIN[1]:
        raise UserError(Code.INVALID_INPUT, f"The number of places is {WITHIN[0]} to {WITHIN[1]}.")
    if (kind == "negative") != (not named):
        raise UserError(Code.INVALID_INPUT, "Name the memories that it is about; none where nothing belongs here.")
    wanted = json.dumps(list(named))
    found = int(rows.value("SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?))", (wanted,)))
    if found != len(named):
        raise UserError(Code.NOT_FOUND, "There is no such memory.")

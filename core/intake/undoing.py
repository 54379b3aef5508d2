"""Taking a step back: rows whose present state is the one the step left are restored; the rest is listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import Code, UserError
from core.intake.belief_inputs import refresh_trust
from core.intake.unit_of_work import UnitOfWork
from core.memory.write import refresh_terms, remove_derived
from core.types.replies import UndoReport
from core.types.values import Actor
from core.vault.images import image_from_json, image_hash, steady
from core.vault.rows import Rows
from core.vault.tx import Tx

# A conversation or space that something else uses by now simply stays.
_SHARED = frozenset({"conversations", "spaces"})
_LISTED = 200


@dataclass(frozen=True, slots=True)
class _Step:
    id: str
    verb: str
    label: str


@dataclass
class _Work:
    restored: int = 0
    left: list[Mapping[str, Any]] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    gone: list[int] = field(default_factory=list)


def last_step(rows: Rows) -> str | None:
    """The newest step that can still be taken back, if any."""
    found = rows.value(
        "SELECT id FROM undo_steps WHERE undone_by IS NULL AND undoes_id IS NULL AND is_open = 0 "
        "ORDER BY at DESC, id DESC LIMIT 1"
    )
    return None if found is None else str(found)


def undo(
    tx: Tx,
    work: UnitOfWork,
    step_id: str | None,
    actor: Actor,
    removed: Callable[[int, Sequence[int]], None],
) -> UndoReport:
    """Take one step back; that is a step itself, which can be taken back again.

    Args:
        tx: the transaction.
        work: opens the verb.
        step_id: the step; None for the newest that has not been undone.
        actor: who asks.
        removed: told the sequence and the labels of memories that vanished, for the index.

    Returns:
        What was restored and what was left.

    Raises:
        UserError: NOT_FOUND when there is nothing to undo, INVALID_INPUT when it cannot be undone now.
    """
    step = _step(tx, step_id)
    done = _Work()
    with work.verb(tx, "undo", f"Undo: {step.label}", actor, undoes=step.id) as verb, tx.purge():
        rows = tx.all(
            "SELECT tbl, row_key, before, after_hash FROM undo_rows WHERE step_id = ? ORDER BY nr DESC", (step.id,)
        )
        for table, key, before, after_hash in rows:
            image = None if before is None else image_from_json(before)
            _take_back(tx, table, image_from_json(key), image, after_hash, done)
        _rederive(tx, done)
        verb.note(step.id, restored=done.restored, left=len(done.left))
    tx.run("UPDATE undo_steps SET undone_by = ? WHERE id = ?", (verb.step_id, step.id))
    tx.run("UPDATE undo_steps SET undone_by = NULL WHERE undone_by = ?", (step.id,))
    if step.verb == "import":
        tx.run("UPDATE imports SET state = 'undone' WHERE step_id = ?", (step.id,))
    seq, labels = tx.seq, tuple(done.gone)
    tx.after_commit(lambda: removed(seq, labels))
    return UndoReport(step.id, step.label, verb.step_id, done.restored, tuple(done.left[:_LISTED]))


def _step(tx: Tx, step_id: str | None) -> _Step:
    wanted = step_id or last_step(tx)
    row = (
        None
        if wanted is None
        else tx.one("SELECT id, verb, label, undone_by, is_open FROM undo_steps WHERE id = ?", (wanted,))
    )
    if row is None:
        raise UserError(Code.NOT_FOUND, "There is nothing to undo." if step_id is None else "There is no such step.")
    if row[3] is not None:
        raise UserError(Code.INVALID_INPUT, "That step is undone already; undo its undoing to bring it back.")
    if row[4]:
        raise UserError(Code.BUSY, "That step is still running; wait until it is done.")
    return _Step(row[0], row[1], row[2])


def _take_back(
    tx: Tx,
    table: str,
    key: dict[str, object],
    before: Mapping[str, object] | None,
    after_hash: bytes | None,
    done: _Work,
) -> None:
    current = tx.row(table, key)
    now_hash = None if current is None else image_hash(steady(table, current))
    if now_hash != after_hash:
        if table not in _SHARED:
            done.left.append(_both_states(table, key, before, current))
        return
    try:
        with tx.attempt():
            _restore(tx, table, key, before, current, done)
    except UserError:
        # Something newer refers to the row (a later import, a claim): it stays, and is listed.
        if table not in _SHARED:
            done.left.append(_both_states(table, key, before, current))
    else:
        done.restored += 1


def _restore(
    tx: Tx,
    table: str,
    key: dict[str, object],
    before: Mapping[str, object] | None,
    current: Mapping[str, object] | None,
    done: _Work,
) -> None:
    if before is None:
        label = int(str(current["n"])) if table == "memories" and current is not None else None
        if label is not None:
            remove_derived(tx, [label])
        tx.delete(table, key)
        if label is not None:
            done.gone.append(label)
    elif current is None:
        tx.insert(table, before)
    else:
        tx.update(table, key, {name: value for name, value in steady(table, before).items() if name not in key})
    _touch(table, before or current or {}, done)


def _touch(table: str, row: Mapping[str, object], done: _Work) -> None:
    if table == "memories":
        done.touched.add(str(row["id"]))
    elif "memory_id" in row:
        done.touched.add(str(row["memory_id"]))


def _rederive(tx: Tx, done: _Work) -> None:
    standing = [i for i in done.touched if tx.one("SELECT 1 FROM memories WHERE id = ?", (i,)) is not None]
    refresh_terms(tx, standing)
    for memory_id in standing:
        refresh_trust(tx, memory_id)


def _both_states(
    table: str,
    key: Mapping[str, object],
    before: Mapping[str, object] | None,
    current: Mapping[str, object] | None,
) -> dict[str, Any]:
    return {
        "table": table,
        "key": dict(key),
        "then": None if before is None else dict(before),
        "now": None if current is None else dict(current),
    }

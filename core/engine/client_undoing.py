"""Taking back what a client did: what it would change, and doing it in one step; what is too old goes to the archive.

Must not do: decide who may ask; only the owner's group calls it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.belief.whose import OWNERS_WORD
from core.engine.opened import Opened
from core.intake.scrubbing import note_scrub
from core.intake.standing import Acts
from core.intake.taking_back import Taken, take_back
from core.intake.unit_of_work import Verb
from core.types.clients import Removal, Undoable
from core.types.values import Actor
from core.vault.rows import Rows
from core.vault.tx import Tx

UNDO_SINCE, REMOVE_ALL = "undo_since", "remove_all"
REMOVED = "removed_with_client"
"""Reason of the status of a memory that went to the archive with all else a client had brought."""

# A proposal that waits stands for nothing yet, and goes all the same.
_STEPS = (
    "SELECT id, verb FROM undo_steps WHERE client_id = :client AND at >= :since AND undone_by IS NULL AND is_open = 0 "
    "AND expires_at >= :now ORDER BY at DESC, rowid DESC"
)
_MEMORIES = (
    "SELECT count(DISTINCT json_extract(row_key, '$.n')) FROM undo_rows "
    "WHERE step_id IN (SELECT value FROM json_each(?)) AND tbl = 'memories'"
)
# What the person said as well, or vouched for, is the person's by now.
_TOO_OLD = (
    "SELECT m.id FROM memories m WHERE m.client_id = :client AND m.recorded_at >= :since "  # noqa: S608 - constants
    "AND m.status IN ('active', 'disputed', 'quarantined') AND coalesce(m.part_index, 0) = 0 "
    f"AND NOT {OWNERS_WORD} "
    "AND m.n NOT IN (SELECT json_extract(row_key, '$.n') FROM undo_rows "
    "WHERE step_id IN (SELECT value FROM json_each(:steps)) AND tbl = 'memories' AND before IS NULL) ORDER BY m.n"
)


def undoable(rows: Rows, client_id: str, since_ms: int, now_ms: int) -> Undoable:
    """What taking back a client's doings since a time would do.

    Args:
        rows: a snapshot.
        client_id: the client.
        since_ms: epoch ms; 0 for all it ever did.
        now_ms: the present, epoch ms.

    Returns:
        Counts.
    """
    steps = _steps(rows, client_id, since_ms, now_ms)
    listed = json.dumps([step_id for step_id, _ in steps])
    by_verb: dict[str, int] = {}
    for _, verb in steps:
        by_verb[verb] = by_verb.get(verb, 0) + 1
    return Undoable(
        steps=len(steps),
        memories=int(rows.value(_MEMORIES, (listed,))),
        by_verb=by_verb,
        expired=len(_too_old(rows, client_id, since_ms, listed)),
    )


def undo_since(tx: Tx, opened: Opened, client_id: str, since_ms: int, actor: Actor) -> Removal:
    """Take back what a client did since a time; one step.

    Args:
        tx: the transaction.
        opened: the open vault.
        client_id: the client.
        since_ms: epoch ms.
        actor: who asks.

    Returns:
        What was taken back; `step_id` is "" where nothing was.
    """
    steps = [step_id for step_id, _ in _steps(tx, client_id, since_ms, tx.clock_ms)]
    if not steps:
        return Removal("", 0, 0, 0)
    step_id = opened.work.begin_step(tx, UNDO_SINCE, "Take back what a client did", actor)
    with opened.work.verb(tx, UNDO_SINCE, "", actor, step_id=step_id) as verb:
        taken = _take(tx, opened, verb, steps)
        verb.note(client_id, steps=len(taken.steps), left=len(taken.left))
    return _told(tx, verb, taken, 0)


def remove_all(tx: Tx, opened: Opened, client_id: str, actor: Actor) -> Removal:
    """Take back all a client ever did, and archive what it brought that cannot be taken back any more; one step.

    Args:
        tx: the transaction.
        opened: the open vault.
        client_id: the client.
        actor: who asks.

    Returns:
        What was done; `step_id` is "" where nothing was.
    """
    steps = [step_id for step_id, _ in _steps(tx, client_id, 0, tx.clock_ms)]
    step_id = opened.work.begin_step(tx, REMOVE_ALL, "Remove all that a client brought", actor)
    with opened.work.verb(tx, REMOVE_ALL, "", actor, step_id=step_id) as verb:
        taken = _take(tx, opened, verb, steps)
        acts = Acts(tx, verb, opened.make_id, opened.space, opened.add_vectors, by="owner")
        kept = _too_old(tx, client_id, 0, "[]")
        for memory_id in kept:
            acts.archive(memory_id, REMOVED)
        acts.close_moot()
        verb.note(client_id, steps=len(taken.steps), left=len(taken.left), archived=len(kept))
    return _told(tx, verb, taken, len(kept))


def _steps(rows: Rows, client_id: str, since_ms: int, now_ms: int) -> list[tuple[str, str]]:
    return [
        (str(step_id), str(verb))
        for step_id, verb in rows.all(_STEPS, {"client": client_id, "since": since_ms, "now": now_ms})
    ]


def _too_old(rows: Rows, client_id: str, since_ms: int, steps: str) -> list[str]:
    """What the client brought, stands, and is not brought by any of the steps (a JSON list)."""
    return [str(row[0]) for row in rows.all(_TOO_OLD, {"client": client_id, "since": since_ms, "steps": steps})]


def _take(tx: Tx, opened: Opened, verb: Verb, steps: Sequence[str]) -> Taken:
    taken = take_back(tx, steps, verb.step_id)
    if taken.gone:
        note_scrub(tx)
        seq = tx.seq
        tx.after_commit(lambda: opened.drop_vectors(seq, taken.gone))
    return taken


def _told(tx: Tx, verb: Verb, taken: Taken, archived: int) -> Removal:
    if not taken.steps and not archived:
        tx.run("DELETE FROM undo_steps WHERE id = ?", (verb.step_id,))  # it would be a step that does nothing
        return Removal("", 0, len(taken.left), 0)
    return Removal(verb.step_id, len(taken.steps), len(taken.left), archived)

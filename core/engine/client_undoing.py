"""Taking back what a client did: what it would change, and doing it in one step; what cannot be goes to the archive.

That is what is too old for it, and what the person had let in, which is a change of the person's on top of it.
What would be changed is told by doing it and giving the transaction up: whether a step can be taken back hangs on what
was taken back before it, so that nothing less tells the truth. Must not do: decide who may ask; only the owner's group
calls it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

from core.belief.whose import OWNERS_WORD
from core.engine.opened import Opened
from core.errors import Code, LociError
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
_BRINGING = (
    "SELECT count(DISTINCT u.step_id) FROM undo_rows u JOIN memories m ON m.n = json_extract(u.row_key, '$.n') "
    "WHERE u.step_id IN (SELECT value FROM json_each(?)) AND u.tbl = 'memories' AND u.before IS NULL "
    "AND m.id IN (SELECT value FROM json_each(?))"
)
_MEMORIES = (
    "SELECT count(DISTINCT json_extract(row_key, '$.n')) FROM undo_rows "
    "WHERE step_id IN (SELECT value FROM json_each(?)) AND tbl = 'memories'"
)
# What the person said as well, or confirmed besides, is the person's by now; having only let it in makes it no less
# the client's. Each time it was let in is one confirmation.
_ONLY_LET_IN = (
    "NOT EXISTS (SELECT 1 FROM memory_sources s WHERE s.memory_id = m.id AND s.lineage = 'owner') "
    "AND (SELECT v.times FROM verdicts v WHERE v.memory_id = m.id AND v.voice = 'owner' AND v.verdict = 'confirm') "
    "<= (SELECT count(*) FROM conflicts c WHERE c.incoming_id = m.id AND c.state = 'resolved' "
    "AND c.resolution <> 'reject')"
)
_TOO_OLD = (
    "SELECT m.id FROM memories m WHERE m.client_id = :client AND m.recorded_at >= :since "  # noqa: S608 - constants
    "AND m.status IN ('active', 'disputed', 'quarantined') AND coalesce(m.part_index, 0) = 0 "
    f"AND (NOT {OWNERS_WORD} OR ({_ONLY_LET_IN})) "
    "AND m.n NOT IN (SELECT json_extract(row_key, '$.n') FROM undo_rows "
    "WHERE step_id IN (SELECT value FROM json_each(:steps)) AND tbl = 'memories' AND before IS NULL) ORDER BY m.n"
)


class RehearsedError(LociError):
    """Ends a rehearsal: the vault gives up the transaction, and what was found goes on with this.

    Attributes:
        found: what taking back would do.
    """

    def __init__(self, found: Undoable) -> None:
        super().__init__(Code.CANCELLED, "It was only looked at; nothing was changed.")
        self.found = found


def rehearse(tx: Tx, opened: Opened, client_id: str, since_ms: int, actor: Actor) -> NoReturn:
    """Find out what taking back a client's doings since a time would do; nothing of it stays.

    Args:
        tx: a transaction of its own.
        opened: the open vault.
        client_id: the client.
        since_ms: epoch ms; 0 for all it ever did.
        actor: who asks.

    Raises:
        RehearsedError: always, with the counts.
    """
    steps = _steps(tx, client_id, since_ms, tx.clock_ms)
    verbs = dict(steps)
    by = opened.work.begin_step(tx, UNDO_SINCE, "", actor)
    taken = take_back(tx, list(verbs), by)
    kept = [] if since_ms else _too_old(tx, client_id, 0, "[]")
    raise RehearsedError(
        Undoable(
            steps=len(taken.steps),
            memories=int(tx.value(_MEMORIES, (json.dumps(taken.steps),))),
            by_verb=Counter(verbs[step_id] for step_id in taken.steps),
            expired=len(_too_old(tx, client_id, since_ms, json.dumps(list(verbs)))),
            left=len(taken.left),
            archived=len(kept),
            left_removing=0 if since_ms else len(taken.left) - _brought(tx, taken, kept),
        )
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
    return _told(tx, verb, taken, len(taken.left), 0)


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
        # What went to the archive does not stay, though its step stands on.
        left = len(taken.left) - _brought(tx, taken, kept)
        verb.note(client_id, steps=len(taken.steps), left=left, archived=len(kept))
    return _told(tx, verb, taken, left, len(kept))


def _steps(rows: Rows, client_id: str, since_ms: int, now_ms: int) -> list[tuple[str, str]]:
    return [
        (str(step_id), str(verb))
        for step_id, verb in rows.all(_STEPS, {"client": client_id, "since": since_ms, "now": now_ms})
    ]


def _too_old(rows: Rows, client_id: str, since_ms: int, steps: str) -> list[str]:
    """What the client brought, stands, and is not brought by any of the steps (a JSON list)."""
    return [str(row[0]) for row in rows.all(_TOO_OLD, {"client": client_id, "since": since_ms, "steps": steps})]


def _brought(tx: Tx, taken: Taken, memory_ids: Sequence[str]) -> int:
    """How many of the steps that stand on brought one of these memories."""
    return int(tx.value(_BRINGING, (json.dumps(taken.left), json.dumps(memory_ids))))


def _take(tx: Tx, opened: Opened, verb: Verb, steps: Sequence[str]) -> Taken:
    taken = take_back(tx, steps, verb.step_id)
    if taken.gone:
        note_scrub(tx)
        seq = tx.seq
        tx.after_commit(lambda: opened.drop_vectors(seq, taken.gone))
    return taken


def _told(tx: Tx, verb: Verb, taken: Taken, left: int, archived: int) -> Removal:
    if not taken.steps and not archived:
        tx.run("DELETE FROM undo_steps WHERE id = ?", (verb.step_id,))  # it would be a step that does nothing
        return Removal("", 0, left, 0)
    return Removal(verb.step_id, len(taken.steps), left, archived)

"""Taking back what a client did: what it would change, and doing it in one step; what cannot be goes to the archive.

That is what is too old for it, and what the person had let in, which is a change of the person's on top of it.
What would be changed is found by doing it and giving the transaction up: whether a step can be taken back hangs on what
was taken back before it, so that nothing less tells the truth. That holds the one writer, so only the newest steps are
tried, for a fifth of a second; of the others it is said how many they are. The doing itself goes in turns, each a
transaction, so that whoever else writes waits for one of them; all are one step. It is closed after each turn: a crash
leaves none that cannot be taken back. Must not do: decide who may ask; only the owner's group calls it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from core.belief.claims import OWNERS_WORD
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage
from core.errors import Code, LociError
from core.intake.transaction.unit_of_work import Verb
from core.intake.transitions.transitions import Transitions
from core.intake.undo import UndoneSteps, steps_in_force, undo_many
from core.types.clients import Removal, Undoable
from core.types.values import Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import note_scrub

UNDO_SINCE, REMOVE_ALL = "undo_since", "remove_all"
TRIED, TRIED_S, _TRIED_AT_ONCE = 300, 0.2, 20
"""Steps that are tried at most, for how many seconds, and how many until the clock is looked at."""
STEPS_A_TURN, MEMORIES_A_TURN = 50, 100
"""Steps that are taken back, and memories that are archived, in one transaction: some tenths of a second."""
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
_LEFT = (
    "SELECT DISTINCT m.id FROM undo_rows u JOIN memories m ON m.n = json_extract(u.row_key, '$.n') "
    "WHERE u.step_id IN (SELECT value FROM json_each(?)) AND u.tbl = 'memories' "
    "AND m.status IN ('active', 'disputed', 'quarantined') AND coalesce(m.part_index, 0) = 0 ORDER BY m.n"
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


@dataclass(frozen=True, slots=True)
class ClientUndo:
    """How all changes of a client are taken back.

    Attributes:
        name: the verb.
        label: the step's name in words.
        since_ms: from when on, epoch ms.
        archives: whether what cannot be taken back goes to the archive.
    """

    name: str
    label: str
    since_ms: int
    archives: bool


@dataclass(frozen=True, slots=True)
class ClientUndoProgress:
    """How far the undo of a client's changes has come.

    Attributes:
        waiting: steps that are not tried yet, the newest first; None where it is not begun.
        step_id: the step.
        taken: steps taken back.
        left: steps that stand on.
        kept: memories that went to the archive.
        removal: what was done, where it is at its end.
    """

    waiting: tuple[str, ...] | None = None
    step_id: str = ""
    taken: int = 0
    left: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removal: Removal | None = None


def undo_since_plan(since_ms: int) -> ClientUndo:
    """Taking back what a client did since a time, epoch ms."""
    return ClientUndo(UNDO_SINCE, "Take back what a client did", since_ms, archives=False)


REMOVING = ClientUndo(REMOVE_ALL, "Remove all that a client brought", 0, archives=True)
"""Taking back all a client ever did, and archiving what it brought that cannot be taken back any more."""


def rehearse_client_undo(tx: Tx, storage: Storage, client_id: str, since_ms: int, actor: Actor) -> NoReturn:
    """Find out what taking back a client's doings since a time would do; nothing of it stays.

    Args:
        since_ms: epoch ms; 0 for all it ever did.

    Raises:
        RehearsedError: always, with the counts.
    """
    steps = _read_undo_steps(tx, client_id, since_ms, tx.clock_ms)
    every, verbs = json.dumps([step_id for step_id, _ in steps]), dict(steps)
    taken, tried = _try_undo_steps(tx, storage, list(verbs), storage.work.begin_step(tx, UNDO_SINCE, "", actor))
    untried = json.dumps([step_id for step_id, _ in steps[tried:]])
    kept = [] if since_ms else _memories_too_old_to_undo(tx, client_id, 0, untried)
    raise RehearsedError(
        Undoable(
            steps=len(taken.steps),
            memories=int(tx.value(_MEMORIES, (json.dumps(taken.steps),))),
            by_verb=Counter(verbs[step_id] for step_id in taken.steps),
            expired=len(_memories_too_old_to_undo(tx, client_id, since_ms, every)),
            left=len(taken.left),
            archived=len(kept),
            left_removing=0 if since_ms else len(taken.left) - _count_bringing_steps(tx, taken.left, kept),
            untried=len(steps) - tried,
        )
    )


def undo_next_batch(
    tx: Tx, storage: Storage, search: Search, client_id: str, undo: ClientUndo, actor: Actor, at: ClientUndoProgress
) -> ClientUndoProgress:
    """Take back the next few of a client's changes.

    Args:
        at: how far it is; `ClientUndoProgress()` to begin.

    Returns:
        How far it is now; `removal.step_id` is "" where there was nothing to do. Where the person takes the step back
        meanwhile, it ends there.
    """
    if at.waiting is None:
        steps = tuple(step_id for step_id, _ in _read_undo_steps(tx, client_id, undo.since_ms, tx.clock_ms))
        if not steps and not undo.archives:
            return replace(at, removal=Removal("", 0, 0, 0))
        at = ClientUndoProgress(steps, storage.work.begin_step(tx, undo.name, undo.label, actor))
    elif not steps_in_force(tx, [at.step_id]):
        return replace(at, removal=_make_removal(tx, at))
    waiting = steps_in_force(tx, at.waiting or ())
    with storage.work.verb(tx, undo.name, "", actor, step_id=at.step_id) as verb:
        taken = _undo_steps(tx, search, verb, waiting[:STEPS_A_TURN])
        rest = tuple(waiting[STEPS_A_TURN:])
        old = _memories_too_old_to_undo(tx, client_id, 0, "[]") if undo.archives and not rest else []
        kept = old[:MEMORIES_A_TURN]
        if undo.archives:
            _archive_memories(tx, storage, search, verb, kept)
        verb.note_audit(client_id, steps=len(taken.steps), left=len(taken.left), archived=len(kept))
    at = replace(
        at,
        waiting=rest,
        taken=at.taken + len(taken.steps),
        left=(*at.left, *taken.left),
        kept=(*at.kept, *kept),
    )
    return at if rest or len(old) > len(kept) else replace(at, removal=_make_removal(tx, at))


def _archive_memories(tx: Tx, storage: Storage, search: Search, verb: Verb, memory_ids: Sequence[str]) -> None:
    transitions = Transitions(tx, verb, storage.make_id, search.space, search.add_vectors, by="owner")
    for memory_id in memory_ids:
        transitions.archive(memory_id, REMOVED)
    transitions.close_moot()


def _try_undo_steps(tx: Tx, storage: Storage, steps: Sequence[str], by: str) -> tuple[UndoneSteps, int]:
    """Take back the newest, as many as may be tried; what came of it, and how many that were."""
    begun, taken, tried = storage.clock.monotonic(), UndoneSteps((), (), 0, ()), 0
    while tried < min(len(steps), TRIED) and storage.clock.monotonic() - begun < TRIED_S:
        some = undo_many(tx, steps[tried : min(tried + _TRIED_AT_ONCE, TRIED)], by)
        tried += len(some.steps) + len(some.left)
        taken = UndoneSteps(
            (*taken.steps, *some.steps),
            (*taken.left, *some.left),
            taken.restored + some.restored,
            (*taken.removed_labels, *some.removed_labels),
        )
    return taken, tried


def _read_undo_steps(rows: Rows, client_id: str, since_ms: int, now_ms: int) -> list[tuple[str, str]]:
    return [
        (str(step_id), str(verb))
        for step_id, verb in rows.all(_STEPS, {"client": client_id, "since": since_ms, "now": now_ms})
    ]


def _memories_too_old_to_undo(rows: Rows, client_id: str, since_ms: int, steps: str) -> list[str]:
    """What the client brought, stands, and is not brought by any of the steps (a JSON list)."""
    return [str(row[0]) for row in rows.all(_TOO_OLD, {"client": client_id, "since": since_ms, "steps": steps})]


def _count_bringing_steps(tx: Tx, left: Sequence[str], memory_ids: Sequence[str]) -> int:
    """How many of the steps that stand on brought one of these memories."""
    return int(tx.value(_BRINGING, (json.dumps(left), json.dumps(memory_ids))))


def _undo_steps(tx: Tx, search: Search, verb: Verb, steps: Sequence[str]) -> UndoneSteps:
    taken = undo_many(tx, steps, verb.step_id)
    if taken.removed_labels:
        note_scrub(tx)
        seq = tx.seq
        tx.after_commit(lambda: search.drop_vectors(seq, taken.removed_labels))
    return taken


def _make_removal(tx: Tx, at: ClientUndoProgress) -> Removal:
    # What went to the archive does not stay, though its step stands on.
    left = len(at.left) - _count_bringing_steps(tx, at.left, at.kept)
    stay = tuple(str(row[0]) for row in tx.all(_LEFT, (json.dumps(at.left),)))
    if not at.taken and not at.kept:
        # It would be a step that does nothing.
        tx.run("DELETE FROM undo_steps WHERE id = ? AND undone_by IS NULL", (at.step_id,))
        return Removal("", 0, left, 0, stay)
    return Removal(at.step_id, at.taken, left, len(at.kept), stay)

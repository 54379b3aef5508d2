"""Undo of one step or of many: rows whose present state is the one the step left are restored; the rest is listed.

Many steps are undone as one step that can be undone itself: the newest first, each as an undo of it alone would; a step
of which nothing could be restored stays. That a step is undone is itself a change of this verb's, so undoing the verb
brings all of them into force again.

A client that an undo restores is not let in by it: it waits, paused, to be paired anew. Whoever revoked a client did so
because its token may be in other hands, and an undo is pressed by habit; so a token that is out of force never comes
into force again, and in its place stands one that nobody knows. What a client was granted when it was paired anew is
left alone by the undo of anything older. Must not do: choose the steps, or overwrite a row that changed since.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from core.belief.claims import TOPIC, read_related_claims
from core.errors import Code, PreconditionError, UserError
from core.intake.claims import remove_model_claims
from core.intake.review.approvals import withdraw_requests
from core.intake.transaction.sources import KINDS_BY_TEXT, refresh_capped, refresh_claims, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.transitions import episodes_of, statements_of, sync_statement, unlink_episodes
from core.memory.floor_plan import PlaceCheck, find_misplaced, remove_newcomers, remove_plan
from core.memory.landmarks import free_landmark
from core.memory.rehearsals import carry_schedule
from core.memory.write import forget_vector, refresh_terms, remove_derived
from core.types.replies import UndoReport
from core.types.values import HOME_SPACE, Actor, Kind
from core.vault.database.rows import (
    Rows,
    both_states,
    image_from_json,
    image_hash,
    restorable_columns,
    to_json,
    without_volatile_columns,
)
from core.vault.database.tx import Tx
from core.vault.memory_sql import memories_naming, remove_inferred, remove_mentions

NEVER = 0
"""`paired_at` of a client that is to be paired anew; no clock of a vault shows that hour."""
UNPAIRED = f"(paired_at = {NEVER} AND revoked_at IS NULL)"
"""SQL for such a row of `clients`."""
_TOKEN_BYTES = 32
# Of one millisecond, as where the clock was set back and stands still, the steps' own order tells.
_PAIRED_SINCE = (
    "SELECT c.id FROM undo_steps s JOIN clients c ON c.revoked_at IS NULL AND c.paired_at >= s.at WHERE s.id = ? "
    "AND (c.paired_at > s.at OR EXISTS (SELECT 1 FROM undo_steps p JOIN undo_rows r ON r.step_id = p.id "
    "WHERE p.at = s.at AND p.rowid > s.rowid AND p.verb = 'pair' AND r.tbl = 'clients' "
    "AND json_extract(r.row_key, '$.id') = c.id))"
)

Row = Mapping[str, object]


def is_unpaired(row: Row) -> bool:
    """Whether a client is to be paired anew.

    Args:
        row: of `clients`; `paired_at` and `revoked_at` are enough.
    """
    return row["paired_at"] == NEVER and row["revoked_at"] is None


def is_voided_by_revocation(table: str, before: Row | None, current: Row | None) -> bool:
    """Whether the undo of a pairing meets a client whose revocation was taken back before: nothing of it is in force.

    Args:
        table: whose row.
        before: the row as it was before the step.
    """
    return table == "clients" and before is None and current is not None and is_unpaired(current)


def restored_client_row(tx: Tx, table: str, before: Row | None, current: Row | None) -> Row | None:
    """The row of a client as an undo puts it back.

    Args:
        before: the row as it was before the step; None where there was none.
        current: the row as it is; None where there is none.

    Returns:
        `before`, where nobody is let in by it or its token is in force now; else the same client, paused, with a token
        that nobody knows.
    """
    if table != "clients" or before is None:
        return before
    if before["revoked_at"] is not None or is_unpaired(before):
        return before
    if current is not None and current["revoked_at"] is None and current["token"] == before["token"]:
        return before
    return {**before, "token": secrets.token_bytes(_TOKEN_BYTES), "paired_at": NEVER, "paused_at": tx.now_ms}


def split_newer_terms(
    tx: Tx, step_id: str, rows: Sequence[tuple[Any, ...]]
) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
    """Set apart what a step did to the terms of clients that were paired anew since: their grants, their own spaces.

    Args:
        step_id: the step that is taken back.
        rows: of it, each `table, key, before, after_hash`, images as JSON.

    Returns:
        The other rows, and the grants among those that stay, as they are listed.
    """
    anew = {str(row[0]) for row in tx.all(_PAIRED_SINCE, (step_id,))}
    if not anew:
        return list(rows), []
    others, left = [], []
    for row in rows:
        table, key, before = row[0], image_from_json(row[1]), None if row[2] is None else image_from_json(row[2])
        if table not in ("grants", "spaces"):
            others.append(row)
            continue
        current = tx.row(table, key)
        if {one.get("client_id") for one in (before, current) if one is not None}.isdisjoint(anew):
            others.append(row)
        elif table == "grants" and before != current:
            left.append(both_states(table, key, before, current))
    return others, left


_STAND = "SELECT id FROM undo_steps WHERE id IN (SELECT value FROM json_each(?)) AND undone_by IS NULL AND is_open = 0"


@dataclass(frozen=True, slots=True)
class UndoneSteps:
    """What was taken back.

    Attributes:
        steps: ids of steps that were.
        left: ids of steps that stand on, because what they changed was changed since.
        restored: rows restored.
        gone: labels of memories that vanished, for the index.
    """

    steps: tuple[str, ...]
    left: tuple[str, ...]
    restored: int
    removed_labels: tuple[int, ...]


def steps_in_force(rows: Rows, step_ids: Sequence[str]) -> list[str]:
    """Which of these steps stand and are closed.

    Returns:
        Their ids, in the order given.
    """
    stand = {str(row[0]) for row in rows.all(_STAND, (json.dumps(list(step_ids)),))}
    return [one for one in step_ids if one in stand]


def undo_many(tx: Tx, step_ids: Sequence[str], by: str) -> UndoneSteps:
    """Take steps back within a running verb.

    Args:
        step_ids: steps that stand and are closed, the newest first.
        by: the running verb's step, which is written already (`UnitOfWork.begin_step`).

    Returns:
        What was done.
    """
    steps, left, removed_labels = [], [], []
    restored = 0
    with tx.purge():
        for step_id in step_ids:
            done = restore_step(tx, step_id)
            restored += done.restored
            removed_labels += done.removed_labels
            if done.left and not done.restored:
                left.append(step_id)
                continue
            steps.append(step_id)
            tx.update("undo_steps", {"id": step_id}, {"undone_by": by})
    return UndoneSteps(tuple(steps), tuple(left), restored, tuple(removed_labels))


# A conversation or space that something else uses by now simply stays, and a step that has expired is gone.
_SHARED = frozenset({"conversations", "spaces", "undo_steps"})
# What the scheduler chooses anew by itself where it cannot come back.
_CHOSEN = frozenset({"alcoves", "landmarks"})
# What is said of a memory and holds nothing up: without it the memory stands as it stood.
_REMARKS = frozenset(
    {
        "distilled",
        "fading",
        "gaps",
        "landmarks",
        "readings",
        "rehearsals",
        "replays",
        "rule_applications",
        "spared",
        "statements",
        "unset_landmarks",
        "verdicts",
    }
)
# What a row cannot come back without; another step may have taken it away.
_PARENTS = (
    ("space_id", "spaces"),
    ("conversation_id", "conversations"),
    ("memory_id", "memories"),
    ("file_id", "files"),
    ("claim_id", "claims"),
    ("parent_id", "rooms"),
    ("room_id", "rooms"),
)
_LISTED = 200
_UNDO, _REDO = "Undo: ", "Redo: "


@dataclass(frozen=True, slots=True)
class _Step:
    id: str
    label: str
    client: str | None


@dataclass
class UndoState:
    """What an undo did so far.

    Attributes:
        kept: memories that the step brought and that changed since; what hangs on them stays with them.
        onward: memories of the step, old and new, that are neither as it left them nor as it found them.
        placed: memories whose place changed.
        loosened: memories from which a source or another thing was taken.
        emptied: conversations that lost a memory.
        claims: claims that changed, or whose evidence did.
        named: entities that were joined or came apart.
        topics: what claims that changed are about (TOPIC): what they opposed is weighed again.
        ceilings: clients whose trust ceiling changed: the ceilings of before and of now.
        unpaired: names of clients that came back and are to be paired anew.
        first: of each row of the step how it was before.
        given_up: rows that stay as they are.
        schedules: rehearsals that went on under a version which goes, by the memory that comes back.
    """

    kept: frozenset[str] = frozenset()
    onward: frozenset[str] = frozenset()
    restored: int = 0
    left: list[Mapping[str, Any]] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    placed: set[str] = field(default_factory=set)
    loosened: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)
    removed_labels: list[int] = field(default_factory=list)
    claims: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    topics: set[tuple[str, ...]] = field(default_factory=set)
    ceilings: dict[str, tuple[float, float]] = field(default_factory=dict)
    unpaired: set[str] = field(default_factory=set)
    first: Mapping[tuple[str, str], str | None] = field(default_factory=dict)
    given_up: set[tuple[str, str]] = field(default_factory=set)
    schedules: dict[str, Mapping[str, object]] = field(default_factory=dict)
    spots: PlaceCheck = field(default_factory=PlaceCheck)

    def add(self, part: UndoState) -> None:
        """Take over what another did, as far as something is to be derived anew from it."""
        self.removed_labels += part.removed_labels
        for name in ("touched", "placed", "loosened", "emptied", "claims", "named", "topics"):
            getattr(self, name).update(getattr(part, name))


def last_step(rows: Rows) -> str | None:
    """The newest step of a person or a client that can still be taken back, if any.

    What Loci did by itself meanwhile (comparing, refining, upkeep) is taken back by its name alone.
    """
    found = rows.value(
        "SELECT id FROM undo_steps WHERE undone_by IS NULL AND verb <> 'undo' AND is_open = 0 AND actor <> 'scheduler' "
        "ORDER BY at DESC, rowid DESC LIMIT 1"  # ids follow the machine's clock, which may have been set back
    )
    return None if found is None else str(found)


def undo_step(
    tx: Tx,
    work: UnitOfWork,
    step_id: str | None,
    actor: Actor,
    removed: Callable[[int, Sequence[int]], None],
    *,
    verb_name: str = "undo",
) -> UndoReport:
    """Take one step back; that is a step itself, which can be taken back again.

    Args:
        step_id: the step; None for the newest that has not been undone.
        removed: told the sequence and the labels of memories that vanished, for the index.
        verb_name: another verb that works by taking a step back (`unimport`); the next undo takes that one back.

    Returns:
        What was restored and what was left.

    Raises:
        UserError: NOT_FOUND when there is nothing to undo, INVALID_INPUT when it cannot be undone now.
    """
    step = _require_undo_step(tx, step_id)
    with work.verb(tx, verb_name, _undo_label(step.label), actor, undoes=step.id) as verb, tx.purge():
        chain = _mark_imports_undone(tx, step.id)
        done = restore_step(tx, step.id)
        verb.note_audit(step.id, restored=done.restored, left=len(done.left))
    _mark_steps_undone(tx, chain, verb.step_id)
    seq, labels = tx.seq, tuple(done.removed_labels)
    tx.after_commit(lambda: removed(seq, labels))
    left, unpaired = tuple(done.left[:_LISTED]), tuple(sorted(done.unpaired))
    return UndoReport(step.id, step.label, verb.step_id, done.restored, left, step.client, unpaired)


def restore_step(tx: Tx, step_id: str) -> UndoState:
    """Restore what one step left and nothing changed since; within a running verb and an open purge gate.

    Args:
        step_id: the step; the caller notes that it is taken back.

    Returns:
        What was done: counts, what was left, the labels of memories that vanished.
    """
    rows = tx.all(
        "SELECT tbl, row_key, before, after_hash FROM undo_rows WHERE step_id = ? ORDER BY nr DESC", (step_id,)
    )
    rows, newer = split_newer_terms(tx, step_id, rows)
    begun = {(table, key): before for table, key, before, _ in rows}
    done = UndoState(
        kept=_find_changed_new_memories(tx, rows), onward=_find_onward_memories(tx, rows, begun), first=begun
    )
    done.left += newer
    _withdraw_statements(tx, step_id, rows, done)
    # Freed places last: only then it is known in which space their memories stand again.
    for table, key, before, after_hash in sorted(rows, key=_is_freed_place):
        if (table, key) in done.given_up:
            continue  # of a row that a step changed several times, its newest image said that it stays
        image = None if before is None else image_from_json(before)
        now_key = image_from_json(key)
        if image is not None and _is_freed_place((table, key, before, after_hash)):
            _free_scheduled_place(tx, now_key, image, done)
        listed = len(done.left)
        _revert_row(tx, table, now_key, image, after_hash, done)
        if len(done.left) > listed:
            done.given_up.add((table, key))
            first = done.first[(table, key)]
            done.left[-1] = {**done.left[-1], "then": None if first is None else image_from_json(first)}
    _free_stray_places(tx, done)
    _clear_orphans(tx, done)
    _recompute_derived(tx, done)
    return done


_RUNS = "SELECT id FROM undo_steps WHERE verb = 'distill' AND undone_by IS NULL AND id <> ? ORDER BY rowid DESC"
_IMAGES = "SELECT tbl, row_key, before, after_hash FROM undo_rows WHERE step_id = ? ORDER BY nr DESC"
_POINTERS = ("superseded_by_id", "consolidated_into")


def _withdraw_statements(tx: Tx, step_id: str, rows: Sequence[tuple[Any, ...]], done: UndoState) -> None:
    """What was made of episodes that vanish goes with them, and what that did to others is taken back.

    A statement that others say too rests on those. Of the run that made one only what concerns it is taken back.
    """
    vanishing = frozenset(_vanishing_episodes(tx, rows, done.kept))
    statements = statements_of(tx, vanishing)
    unsupported = frozenset(one for one in statements if vanishing.issuperset(episodes_of(tx, one)))
    for (run,) in tx.all(_RUNS, (step_id,)) if unsupported else ():
        images = _images_about(tx, tx.all(_IMAGES, (run,)), unsupported)
        part = UndoState(kept=_find_changed_new_memories(tx, images))
        for table, key, before, after_hash in images:
            image = None if before is None else image_from_json(before)
            _revert_row(tx, table, image_from_json(key), image, after_hash, part)
        done.add(part)
    for memory_id in statements:
        left = vanishing.intersection(episodes_of(tx, memory_id))
        if left:
            unlink_episodes(tx, memory_id, sorted(left))
            sync_statement(tx, memory_id)
            done.touched.add(memory_id)
    for episode in sorted(vanishing):
        tx.delete("readings", {"memory_id": episode})
        if tx.value("SELECT import_id FROM memories WHERE id = ?", (episode,)) is not None:
            tx.delete("distilled", {"memory_id": episode})  # of what was imported a model makes statements alone


def _vanishing_episodes(tx: Tx, rows: Sequence[tuple[Any, ...]], kept: frozenset[str]) -> Iterator[str]:
    """Ids of the episodes that the step added and that undoing it removes."""
    for table, key, before, _ in rows:
        if table == "memories" and before is None:
            current = tx.row("memories", image_from_json(key))
            if current is not None and current["kind"] == Kind.EPISODE and current["id"] not in kept:
                yield str(current["id"])


def _images_about(tx: Tx, images: Sequence[tuple[Any, ...]], ids: frozenset[str]) -> list[tuple[Any, ...]]:
    """Images of rows that belong to memories, and of memories that these took the place of."""
    rows = [(image, tx.row(image[0], image_from_json(image[1]))) for image in images]
    claims = {
        str(row["claim_id"]) for (table, *_), row in rows if table == "evidence" and row and row["memory_id"] in ids
    }
    named = ids | claims
    return [image for image, row in rows if _is_image_about(image, row, ids, named)]


def _is_image_about(image: tuple[Any, ...], row: Row | None, ids: frozenset[str], named: frozenset[str]) -> bool:
    """Whether a row image belongs to one of the memories, or names one of the rows in `named`."""
    table, key, before, _ = image
    if table == "memories":
        if row is None or row["id"] in ids:
            return row is not None
        return before is not None and any(row[name] in ids for name in _POINTERS)
    columns = {**image_from_json(key), **(row or {})}
    return any(value in named for value in columns.values() if isinstance(value, str))


def _require_undo_step(tx: Tx, step_id: str | None) -> _Step:
    """The step to undo, or the newest one; refuses a step that is missing, undone already or still running."""
    wanted = step_id or last_step(tx)
    row = (
        None
        if wanted is None
        else tx.one(
            "SELECT s.id, s.label, s.undone_by, s.is_open, k.name FROM undo_steps s "
            "LEFT JOIN clients k ON k.id = s.client_id WHERE s.id = ?",
            (wanted,),
        )
    )
    if row is None:
        raise UserError(Code.NOT_FOUND, "There is nothing to undo." if step_id is None else "There is no such step.")
    if row[2] is not None:
        raise PreconditionError("That step is undone already; undo its undoing to bring it back.")
    if row[3]:
        raise UserError(Code.BUSY, "That step is still running; wait until it is done.")
    return _Step(row[0], row[1], row[4])


def _undo_label(label: str) -> str:
    """The name of an undo: undoing an undo is called a redo, and so on in turn."""
    if label.startswith(_UNDO):
        return _REDO + label.removeprefix(_UNDO)
    return _UNDO + label.removeprefix(_REDO)


def _mark_imports_undone(tx: Tx, step_id: str) -> tuple[str, ...]:
    """Note which imports hold now.

    Returns:
        The step, the one it took back, and so on: every second of them is undone from here on, the first one too.
    """
    chain: list[str] = []
    at: str | None = step_id
    while at is not None:
        tx.run("UPDATE imports SET state = ? WHERE step_id = ?", ("done" if len(chain) % 2 else "undone", at))
        chain.append(at)
        at = tx.value("SELECT undoes_id FROM undo_steps WHERE id = ?", (at,))
    return tuple(chain)


def _mark_steps_undone(tx: Tx, chain: Sequence[str], undone_by: str) -> None:
    """Note which steps hold now: taking one back brings the one it took back into force again, and so on."""
    for place, step_id in enumerate(chain):
        by = None if place % 2 else (undone_by if place == 0 else chain[place - 1])
        tx.run("UPDATE undo_steps SET undone_by = ? WHERE id = ?", (by, step_id))


def _find_changed_new_memories(tx: Tx, rows: Sequence[tuple[Any, ...]]) -> frozenset[str]:
    """Memories which the step brought and which are no longer as it left them."""
    left: dict[str, bytes | None] = {}  # what the step's last image of each says: the newest comes first
    brought = set()
    for table, key, before, after_hash in rows:
        if table == "memories":
            left.setdefault(key, after_hash)
            if before is None:
                brought.add(key)
    changed = set()
    for key in brought:
        current = tx.row("memories", image_from_json(key))
        if current is not None and image_hash(without_volatile_columns("memories", current)) != left[key]:
            changed.add(str(current["id"]))
    return frozenset(changed)


def _find_onward_memories(
    tx: Tx, rows: Sequence[tuple[Any, ...]], first: Mapping[tuple[str, str], str | None]
) -> frozenset[str]:
    """Memories of the step with which more happened since; that they were given another number is no matter."""
    left: dict[str, bytes | None] = {}
    for table, key, _, after_hash in rows:
        if table == "memories":
            left.setdefault(key, after_hash)
    onward = set()
    for key, after_hash in left.items():
        current, begun = tx.row("memories", image_from_json(key)), first["memories", key]
        if current is None or _current_version_number("memories", current, after_hash):
            continue
        known = {
            after_hash,
            None if begun is None else image_hash(without_volatile_columns("memories", image_from_json(begun))),
        }
        if image_hash(without_volatile_columns("memories", current)) not in known:
            onward.add(str(current["id"]))
    return frozenset(onward)


def _is_freed_place(row: tuple[Any, ...]) -> bool:
    """Whether a row image records a memory's place that the step removed."""
    table, _key, before, after_hash = row
    return bool(table == "places") and before is not None and after_hash is None


def _free_scheduled_place(tx: Tx, key: dict[str, object], before: Mapping[str, object], done: UndoState) -> None:
    """Take back the place that the scheduler gave a memory in the wing it has left with this undo.

    Giving a place is no step. Without this the place would pass for somebody's change, and the memory would neither
    get its own place back nor ever stand in its own wing again.
    """
    found = tx.value(
        "SELECT 1 FROM places p JOIN rooms r ON r.id = p.room_id JOIN memories m ON m.id = p.memory_id "
        "JOIN rooms held ON held.id = ? "
        "WHERE p.memory_id = ? AND p.placed_by = 'lifecycle' AND r.space_id <> m.space_id "
        "AND held.space_id = m.space_id",
        (before["room_id"], key["memory_id"]),
    )
    if found is not None:
        done.spots.note("places", tx.row("places", key), None)
        tx.delete("places", key)


def _free_stray_places(tx: Tx, done: UndoState) -> None:
    """A memory that changed its space with this undo stands in no room of the other: it waits for a place."""
    for memory_id in find_misplaced(tx, done.touched | done.placed):
        tx.delete("places", {"memory_id": memory_id})


def _revert_row(
    tx: Tx,
    table: str,
    key: dict[str, object],
    before: Mapping[str, object] | None,
    after_hash: bytes | None,
    done: UndoState,
) -> None:
    """Bring one row of a step back to its image from before, unless something newer depends on it."""
    current = tx.row(table, key)
    if current is None and before is None:
        return  # another undo took it away already
    if before is None and current is not None and done.kept.intersection(map(str, _owning_memory_ids(current))):
        return  # provenance of a memory that stays: listed with it
    if table == "memories" and current is not None and current["superseded_by_id"] in done.kept | done.onward:
        # The version that took its place went on since: with both back, two texts of one memory would stand.
        done.left.append(both_states(table, key, before, current))
        return
    now_hash = None if current is None else image_hash(without_volatile_columns(table, current))
    if before is not None and now_hash == image_hash(without_volatile_columns(table, before)):
        return  # another undo put it back already
    if now_hash != after_hash and current is not None:
        filled = _columns_filled_since(table, current, after_hash)
        before, now_hash = None if before is None else {**before, **filled}, after_hash if filled else now_hash
    before, is_carried = carry_schedule(tx, table, before, current, done.first, done.schedules)
    is_void = is_carried or is_voided_by_revocation(table, before, current) or _is_refilled(tx, table, before, current)
    if now_hash != after_hash and not is_void:
        if table not in _SHARED | _CHOSEN:
            done.left.append(both_states(table, key, before, current))
        return
    before = restored_client_row(tx, table, before, current)
    try:
        with tx.attempt():
            _restore_row(tx, table, key, before, current, done)
    except UserError:
        _keep_referenced_row(tx, table, key, before, current, done)
    else:
        done.restored += 1
        _note_dependents(table, before, current, done)


def _columns_filled_since(table: str, current: Mapping[str, object], after_hash: bytes | None) -> Mapping[str, object]:
    """What the machine wrote into a row that is otherwise as the step left it: a version's number, a room's emblem."""
    if table == "rooms":
        bare = {**current, "emblem": None}
        same = image_hash(without_volatile_columns(table, bare)) == after_hash
        return {"emblem": current["emblem"]} if same else {}
    return _current_version_number(table, current, after_hash)


def _is_refilled(tx: Tx, table: str, before: Mapping[str, object] | None, current: Mapping[str, object] | None) -> bool:
    """Whether the scheduler filled the position that a landmark comes back to, unless the person chose it anew."""
    if table != "landmarks" or before is None or current is None or current["chosen_by"] != "lifecycle":
        return False
    chosen = "SELECT 1 FROM landmarks WHERE memory_id = ? AND chosen_by = 'owner'"
    return tx.one(chosen, (before["memory_id"],)) is None


def _current_version_number(
    table: str, current: Mapping[str, object], after_hash: bytes | None
) -> Mapping[str, object]:
    """The number a version has now, where nothing but that changed: one that was said before it came in since."""
    if table != "memories":
        return {}
    number = int(str(current["version"]))
    as_left = (
        image_hash(without_volatile_columns(table, {**current, "version": had})) for had in range(number - 1, 0, -1)
    )
    return {"version": number} if any(after_hash == one for one in as_left) else {}


def _owning_memory_ids(row: Mapping[str, object]) -> tuple[object, ...]:
    """Ids of the memories a row belongs to: its `memory_id` and `incoming_id`, where it has such columns."""
    return tuple(row[name] for name in ("memory_id", "incoming_id") if name in row)


def _keep_referenced_row(
    tx: Tx,
    table: str,
    key: Mapping[str, object],
    before: Mapping[str, object] | None,
    current: Mapping[str, object] | None,
    done: UndoState,
) -> None:
    """Something newer refers to the row (a later import, a claim, a receipt): it stays, and is listed."""
    if table == "clients" and before is None:
        tx.update(table, key, {"revoked_at": tx.now_ms})  # its receipts keep its name; it is let in no more
    # Trigger: the room of a memory that comes back is gone. Why: the scheduler gives it another place by itself.
    # Outcome: nothing is left to decide.
    if table not in _SHARED | _CHOSEN and not (table == "places" and current is None):
        done.left.append(both_states(table, key, before, current))
    if table == "conversations" and before is None:
        done.emptied.add(str(key["id"]))


def _restore_row(
    tx: Tx,
    table: str,
    key: dict[str, object],
    before: Mapping[str, object] | None,
    current: Mapping[str, object] | None,
    done: UndoState,
) -> None:
    """Write the image from before: delete what the step added, insert what it removed, or change the columns back."""
    if before is None and current is not None and table == "memories":
        label = int(str(current["n"]))
        remove_derived(tx, [label])
        remove_model_claims(tx, str(current["id"]))
        withdraw_requests(tx, str(current["id"]))
        tx.delete(table, key)
        done.removed_labels.append(label)
    elif before is None:
        if table == "spaces":
            # Trigger: the row of an import that was taken back outlives it and names its space. Why: nothing reads that
            # any more. Outcome: it names `home`, and the space it made can go.
            tx.run(
                "UPDATE imports SET space_id = (SELECT id FROM spaces WHERE name = ?) "
                "WHERE space_id = ? AND state = 'undone'",
                (HOME_SPACE, key["id"]),
            )
            remove_plan(tx, str(key["id"]))
        elif table == "rooms":
            remove_newcomers(tx, str(key["id"]))
        tx.delete(table, key)
        done.spots.note(table, current, None)
    elif done.spots.is_taken(tx, table, before):
        raise PreconditionError("Something else stands in that place now.")
    elif current is None:
        _restore_parent_rows(tx, before, done)
        if table == "landmarks":
            free_landmark(tx, str(before["memory_id"]))
        tx.insert(table, before)
        done.spots.note(table, None, before)
    else:
        _restore_columns(tx, table, key, before, current, done)


def _restore_columns(
    tx: Tx,
    table: str,
    key: Mapping[str, object],
    before: Mapping[str, object],
    current: Mapping[str, object],
    done: UndoState,
) -> None:
    """Write the old columns into a row that still exists, and drop what was derived from the newer text or space."""
    if table == "landmarks" and current["memory_id"] != before["memory_id"]:
        free_landmark(tx, str(before["memory_id"]))
    if table == "memories" and current["space_id"] != before["space_id"]:
        remove_mentions(tx, [str(current["id"])])  # of entities of the space it leaves; made anew in its own
    tx.update(table, key, {name: value for name, value in restorable_columns(table, before).items() if name not in key})
    done.spots.note(table, current, before)
    if table == "memories" and current["text"] != before["text"]:
        forget_vector(tx, int(str(current["n"])))  # that of a united text; the old one is embedded anew
        done.removed_labels.append(int(str(current["n"])))


def _restore_parent_rows(tx: Tx, row: Mapping[str, object], done: UndoState) -> None:
    """Bring back what a row stood on and what another undo took away as an orphan (`_clear_orphans`)."""
    for column, table in _PARENTS:
        parent = row.get(column)
        if parent is None or tx.row(table, {"id": parent}) is not None:
            continue
        found = tx.value(
            "SELECT r.before FROM undo_rows r JOIN undo_steps s ON s.id = r.step_id WHERE r.tbl = ? "
            "AND json_extract(r.before, '$.id') = ? AND s.undone_by IS NULL "
            # A room that the person merged away stays away.
            "AND (r.tbl <> 'rooms' OR s.verb IN ('undo', 'unimport')) ORDER BY s.rowid DESC LIMIT 1",
            (table, parent),
        )
        if found is not None:
            image = image_from_json(found)
            _restore_parent_rows(tx, image, done)
            tx.insert(table, image)
            _note_dependents(table, image, None, done)


def _note_dependents(
    table: str, before: Mapping[str, object] | None, current: Mapping[str, object] | None, done: UndoState
) -> None:
    """Note for which memories, entities, claims and clients a restored row makes something to derive anew."""
    row = before or current or {}
    if table in ("landmarks", "places"):
        done.placed.add(str(row["memory_id"]))
        return  # nothing is derived from where a memory stands
    if table in ("memories", "entities"):
        (done.touched if table == "memories" else done.named).add(str(row["id"]))
    elif "memory_id" in row:
        done.touched.add(str(row["memory_id"]))
    if table in ("claims", "evidence"):
        done.claims.add(str(row["id" if table == "claims" else "claim_id"]))
    if table == "claims":
        done.topics.add(tuple(str(row[name]) for name in TOPIC))
    if table == "clients" and before is not None:
        _note_client_terms_undone(before, current, done)
    if before is not None or current is None:
        return
    if "memory_id" in current and table not in _REMARKS:
        done.loosened.add(str(current["memory_id"]))
    elif table == "memories" and current["conversation_id"] is not None:
        done.emptied.add(str(current["conversation_id"]))


def _note_client_terms_undone(
    before: Mapping[str, object], current: Mapping[str, object] | None, done: UndoState
) -> None:
    """Note a client that must be paired anew, and its trust ceiling before and now."""
    if is_unpaired(before):
        done.unpaired.add(str(before["name"]))
    if current is not None:
        done.ceilings[str(before["id"])] = (float(str(current["trust_ceiling"])), float(str(before["trust_ceiling"])))


def _clear_orphans(tx: Tx, done: UndoState) -> None:
    """Remove what only the undone step still held up.

    Of two imports that bring the same fact, or messages of one conversation, the first owns the row. When it is
    taken back before the second, the row stays for the second's sake; it must go with the second.
    """
    for memory_id, label, conversation in _find_memories_without_source(tx, done):
        with suppress(UserError), tx.attempt():  # something else refers to it: it stays
            remove_derived(tx, [label])
            tx.delete("memories", {"n": label})
            done.removed_labels.append(label)
            done.touched.discard(memory_id)
            done.emptied.add(conversation or "")
    for conversation_id in sorted(done.emptied):
        found = tx.one(
            "SELECT 1 FROM conversations c JOIN imports i ON i.id = c.import_id WHERE c.id = ? AND i.state = 'undone'",
            (conversation_id,),
        )
        if found is not None:
            with suppress(UserError), tx.attempt():  # it has other messages
                tx.delete("conversations", {"id": conversation_id})


def _find_memories_without_source(tx: Tx, done: UndoState) -> list[tuple[str, int, str | None]]:
    """Memories that lost a source and have none left: id, label and conversation, parts of a split text first."""
    found = []
    for memory_id in done.loosened - done.kept:
        found += tx.all(
            "SELECT id, n, conversation_id FROM memories m WHERE id = ? AND kind IN (SELECT value FROM json_each(?)) "
            "AND NOT EXISTS (SELECT 1 FROM memory_sources s WHERE s.memory_id = m.id)",
            (memory_id, to_json([kind.value for kind in KINDS_BY_TEXT])),
        )
    return sorted(found, key=lambda row: -int(row[1]))  # parts of a split text before their head


def _recompute_derived(tx: Tx, done: UndoState) -> None:
    """Refresh terms, trust, caps and claim states of everything the undo touched."""
    remaining = [i for i in done.touched if tx.one("SELECT 1 FROM memories WHERE id = ?", (i,)) is not None]
    refresh_terms(tx, remaining)
    remove_inferred(tx, memories_naming(tx, done.named))
    for memory_id in remaining:
        refresh_trust(tx, memory_id)
    for client_id, (old, new) in done.ceilings.items():
        if old != new:
            refresh_capped(tx, client_id, old, new)
    refresh_claims(tx, sorted(done.claims.union(*(read_related_claims(tx, topic) for topic in done.topics))))

"""The landmarks of a wing as they are walked along, and how well each is recalled.

What is deleted or superseded is passed over. Must not do: choose a landmark, decide when it is due again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.errors import Code, UserError
from core.memory.read import IS_EDITED, read_occurred
from core.score.rehearsal import Rehearsal, forecast_intervals
from core.types.memory import SaidBy
from core.types.values import Kind, Role
from core.types.views import WalkStop
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

REHEARSALS = "rehearsals"
_STATE = "state, step, stability, difficulty, due_at, last_at, times"
_IS_REHEARSABLE = "m.status NOT IN ('deleted', 'superseded')"
# Of a split text the parts one after the other are the text.
_WHOLE = (
    "CASE WHEN m.part_of IS NULL THEN m.text ELSE (SELECT group_concat(text, '') FROM "
    "(SELECT p.text FROM memories p WHERE p.part_of = m.part_of ORDER BY p.part_index)) END"
)
_WALK = (
    f"SELECT m.id, {_WHOLE}, m.kind, m.occurred_at, m.occurred_prec, m.occurred_offset, m.recorded_at, "  # noqa: S608 - constants
    "w.name, r.id, r.name, r.emblem, s.x, s.y, "
    f"m.author, m.role, {IS_EDITED}, "
    "h.state, h.step, h.stability, h.difficulty, h.due_at, h.last_at, h.times "
    "FROM rooms r JOIN rooms v ON v.id = r.parent_id JOIN spaces w ON w.id = r.space_id "
    "JOIN landmarks l ON l.room_id = r.id JOIN memories m ON m.id = l.memory_id "
    "JOIN places s ON s.memory_id = m.id AND s.room_id = r.id LEFT JOIN rehearsals h ON h.memory_id = m.id "
    f"WHERE (:wing IS NULL OR v.id = :wing) AND {_IS_REHEARSABLE} ORDER BY v.x, v.id, r.y, r.x, r.id, l.position"
)
_DUE = (
    "SELECT count(*) FROM rehearsals h JOIN landmarks l ON l.memory_id = h.memory_id "  # noqa: S608 - constants
    f"JOIN rooms r ON r.id = l.room_id JOIN memories m ON m.id = h.memory_id WHERE h.due_at <= ? AND {_IS_REHEARSABLE}"
)


def read_walk(rows: Rows, wing_id: str | None, now_ms: int) -> tuple[WalkStop, ...]:
    """The landmarks of a wing, room by room from the top and from the left, each room's by position.

    Args:
        wing_id: None for all wings, from left to right.
        now_ms: the present, epoch ms; what is due is due at that time.

    Returns:
        None where no landmark has been chosen yet.

    Raises:
        UserError: NOT_FOUND; there is no such wing.
    """
    known = "SELECT 1 FROM rooms WHERE id = ? AND parent_id IS NULL"
    if wing_id is not None and rows.value(known, (wing_id,)) is None:
        raise UserError(Code.NOT_FOUND, "There is no such wing.")
    return tuple(_walk_stop_from_row(row, now_ms) for row in rows.all(_WALK, {"wing": wing_id}))


def _walk_stop_from_row(row: tuple[Any, ...], now_ms: int) -> WalkStop:
    memory_id, text, kind, at, precision, offset, recorded_at, space, room_id, room, emblem, x, y = row[:13]
    author, role, is_edited = row[13:16]
    state = _to_rehearsal(row[16:])
    return WalkStop(
        memory_id=memory_id,
        text=text,
        kind=Kind(kind),
        occurred=read_occurred(at, precision, offset),
        recorded_at=recorded_at,
        space=space,
        room_id=room_id,
        room=room,
        emblem=emblem,
        x=x,
        y=y,
        times=0 if state is None else state.times,
        due_at=None if state is None else state.due_at,
        is_due=state is not None and state.due_at <= now_ms,
        intervals=forecast_intervals(state, now_ms),
        speaker=SaidBy(author, Role(role), bool(is_edited)),
    )


def _to_rehearsal(row: Sequence[Any]) -> Rehearsal | None:
    return None if row[0] is None else Rehearsal(*row)


def count_due(rows: Rows, wing_id: str | None, now_ms: int) -> int:
    """How many landmarks that were rehearsed before are to be recalled again.

    Args:
        wing_id: of this wing; None for all.
        now_ms: the present, epoch ms.
    """
    if wing_id is None:
        return int(rows.value(_DUE, (now_ms,)))
    return int(rows.value(f"{_DUE} AND r.parent_id = ?", (now_ms, wing_id)))


def read_rehearsal(rows: Rows, memory_id: str) -> Rehearsal | None:
    """How well a memory is recalled; None where it was never graded."""
    found = rows.one(f"SELECT {_STATE} FROM rehearsals WHERE memory_id = ?", (memory_id,))  # noqa: S608 - constant
    return None if found is None else _to_rehearsal(found)


def write_rehearsal(tx: Tx, memory_id: str, rehearsal: Rehearsal) -> None:
    """Keep how well a memory is recalled, in the place of what was kept before."""
    row = asdict(rehearsal)
    if not tx.update(REHEARSALS, {"memory_id": memory_id}, row):
        tx.insert(REHEARSALS, {"memory_id": memory_id, **row})


def remove_rehearsals(tx: Tx, memory_ids: Sequence[str]) -> None:
    """Remove what is kept of memories that are about to vanish; an undo brings it back."""
    for memory_id in memory_ids:
        tx.delete(REHEARSALS, {"memory_id": memory_id})


def carry_schedule(
    rows: Rows,
    before: Mapping[str, object] | None,
    current: Mapping[str, object] | None,
    changed: Collection[tuple[str, str]],
    schedules: dict[str, Mapping[str, object]],
) -> tuple[Mapping[str, object] | None, bool]:
    """Let the version that comes back with an undo take over the rehearsal of the one that goes.

    Args:
        before: the row of `rehearsals` that is taken back, as it was before the step; None where the step brought it.
        current: as it is; None where there is none.
        changed: table and key of the rehearsals that the step changed.
        schedules: rehearsals that go with their version, by the memory that comes back; filled and read here.

    Returns:
        As the row shall be, and whether it goes although the person was rehearsed since.
    """
    if before is not None:
        return {**before, **schedules.get(str(before["memory_id"]), {})}, False
    if current is None:
        return None, False
    older = rows.value("SELECT supersedes_id FROM memories WHERE id = ?", (current["memory_id"],))
    if older is None or (REHEARSALS, to_json({"memory_id": older})) not in changed:
        return None, False
    schedules[str(older)] = {name: value for name, value in current.items() if name != "memory_id"}
    return None, True

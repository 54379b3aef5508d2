"""The rows that say which vector space is searched, which one is being filled, and which ones are over.

A space is one embedder's vectors: of one model, of one version. Must not do: embed, or choose a model.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.memory.write import VectorSpace
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

KEPT_DAYS = 30
"""So long the vectors of a space that is over are kept: the way back is short until then."""

_DAY_MS = 86_400_000
_MARK = "#"
_COLUMNS = "name, model, dims, state, started_at, finished_at"


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """One vector space as the vault knows it.

    Attributes:
        state: `active`, `building` or `old`.
        finished_at: when it became `active`, or `old`; None while it is being filled.
    """

    space: VectorSpace
    state: str
    started_at: int
    finished_at: int | None


def read_all_spaces(rows: Rows) -> tuple[SpaceRow, ...]:
    """Every vector space of the vault, the searched one first."""
    found = rows.all(f"SELECT {_COLUMNS} FROM vector_spaces ORDER BY state, started_at, name")  # noqa: S608 - constant
    return tuple(
        SpaceRow(VectorSpace(str(name), str(model), int(dims)), str(state), int(since), until)
        for name, model, dims, state, since, until in found
    )


def find_space_in_state(rows: Rows, state: str) -> VectorSpace | None:
    """The vector space in a state: the one that is searched, or the one that is being filled.

    Args:
        state: `active` or `building`.

    Returns:
        The space; None where there is none.
    """
    return next((one.space for one in read_all_spaces(rows) if one.state == state), None)


def find_overdue(rows: Rows, now_ms: int) -> VectorSpace | None:
    """A vector space that is no longer searched and whose vectors have been kept long enough to be dropped."""
    since = now_ms - KEPT_DAYS * _DAY_MS
    return next(
        (one.space for one in read_all_spaces(rows) if one.state == "old" and (one.finished_at or 0) <= since), None
    )


def embedder_option(space: VectorSpace) -> str:
    """The value of the option `embedder` that asks for this space.

    Returns:
        "" for a built-in model, else `ollama:<model>`.
    """
    return space.name.partition(_MARK)[0] if space.served else ""


def find_or_name_space(rows: Rows, name: str, model: str, dims: int) -> VectorSpace:
    """The vector space of a model: a known one of the very same version, else a new one under a free name.

    Args:
        name: of the model: `ollama:<model>`, or that of the built-in one.
        dims: length of its vectors.

    Returns:
        The space; its row may not be there yet.
    """
    known = {one.space.name: one.space for one in read_all_spaces(rows)}
    wanted = [name, f"{name}{_MARK}{model[:8]}", f"{name}{_MARK}{model}-{dims}"]
    for one in wanted:
        space = VectorSpace(one, model, dims)
        if known.get(one, space) == space:
            return space
    return VectorSpace(wanted[-1], model, dims)


def note_active(tx: Tx, space: VectorSpace, before: VectorSpace) -> None:
    """Note that a vector space is searched from now on; the one before is over, its vectors stay for a while.

    Args:
        before: what was searched; the first space of a vault has no row until it is over.
    """
    now = tx.now_ms
    if before.name != space.name:
        _upsert_space(tx, before, {"state": "old", "finished_at": now})
    _upsert_space(tx, space, {"state": "active", "finished_at": now})


def note_building(tx: Tx, space: VectorSpace) -> None:
    """Note that a vector space is being filled from now on.

    Args:
        tx: the transaction; no other space is being filled.
        space: the space; one that was over is taken up again with the vectors it still has.
    """
    _upsert_space(tx, space, {"state": "building", "started_at": tx.now_ms, "finished_at": None})


def note_unwanted(tx: Tx, name: str) -> bool:
    """Note that the vectors of a space that is over need not be kept: the next run of the job drops them.

    Returns:
        Whether there is such a space and it is over.
    """
    is_over = any(one.state == "old" and one.space.name == name for one in read_all_spaces(tx))
    return is_over and tx.update("vector_spaces", {"name": name}, {"finished_at": 0})


def drop_some(tx: Tx, space: VectorSpace, most: int) -> int:
    """Drop some vectors of a vector space that is not searched, and its row with the last of them.

    Args:
        most: vectors at most.

    Returns:
        How many were dropped; 0 where it is searched.
    """
    if find_space_in_state(tx, "active") == space:
        return 0
    dropped = tx.run(
        "DELETE FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND n IN (SELECT n FROM embeddings "
        "WHERE owner = 'memory' AND vector_space = ? ORDER BY n LIMIT ?)",
        (space.name, space.name, most),
    )
    if not count_vectors(tx, space):
        tx.delete("vector_spaces", {"name": space.name})
    return dropped


def count_vectors(rows: Rows, space: VectorSpace) -> int:
    """How many memories have a vector in a vector space."""
    return int(rows.value("SELECT count(*) FROM embeddings WHERE owner = 'memory' AND vector_space = ?", (space.name,)))


def choose_active_space(rows: Rows, name: str, model: str, dims: int) -> tuple[VectorSpace, VectorSpace | None]:
    """Which vector space is searched once the vault is open.

    Args:
        name: of the built-in model.
        model: its version.
        dims: length of its vectors.

    Returns:
        The space; and, where another version of the built-in model is built in now, the space that was searched with
        the one before: its vectors are of no use, so that words alone are compared until there are new ones.
    """
    own = VectorSpace(name, model, dims)
    active = find_space_in_state(rows, "active")
    if active is None:
        stored = rows.one(
            "SELECT model, dims FROM embeddings WHERE owner = 'memory' AND vector_space = ? ORDER BY n LIMIT 1", (name,)
        )
        active = own if stored is None else VectorSpace(name, str(stored[0]), int(stored[1]))
    if active.served or (active.model, active.dims) == (model, dims):
        return active, None
    known = {one.space.name for one in read_all_spaces(rows)} | {active.name}
    return find_or_name_space(rows, name if name not in known else f"{name}{_MARK}{model[:8]}", model, dims), active


def _upsert_space(tx: Tx, space: VectorSpace, changes: dict[str, object]) -> None:
    if not tx.update("vector_spaces", {"name": space.name}, changes):
        row = {"name": space.name, "model": space.model, "dims": space.dims, "started_at": tx.now_ms}
        tx.insert("vector_spaces", {**row, **changes})

"""What a transaction did to memories, told to listeners once it is saved.

It is read from the rows that changed and not from the verb that was asked for: a wish that waits for the person, or a
text that was known already, does nothing, and an erasure or an undo names what it took away. Must not do: judge who may
know of it, keep anything, or be asked for by a verb.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from core.events import Hub
from core.recall.query.scope import PLACE
from core.types.clients import Moved, Moves, Place
from core.vault.database.tx import Tx

_AT_ONCE = 500
_AFTER = f"SELECT id, part_of, {', '.join(PLACE)} FROM memories WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608

_Step = tuple[Place | None, Place | None]


def publish_changes(tx: Tx, hub: Hub) -> None:
    """Publish the changes of a transaction after its other commit actions.

    Args:
        tx: the transaction, at its end.
        hub: where they listen; where nobody does, nothing is looked up.
    """
    if not hub.is_watched:
        return
    moves = _moves(tx)
    if moves:
        tx.after_commit(lambda: hub.tell(moves))


def _moves(tx: Tx) -> Moves:
    """The heads of split texts stand for their parts."""
    found: dict[_Step, list[str]] = {}
    for memory_id, step in _steps(tx):
        if step != (None, None):
            found.setdefault(step, []).append(memory_id)
    return tuple(Moved(*step, tuple(ids)) for step, ids in found.items())


def _steps(tx: Tx) -> Iterator[tuple[str, _Step]]:
    touched = tx.touched
    ids = list({**touched.before, **touched.beside})
    for at in range(0, len(ids), _AT_ONCE):
        some = ids[at : at + _AT_ONCE]
        now = {str(one): (part_of, tuple(place)) for one, part_of, *place in tx.all(_AFTER, (json.dumps(some),))}
        for one in some:
            part_of, after = now.get(one, (None, None))
            row = touched.before.get(one)
            before = after if one not in touched.before else None
            if row is not None:
                part_of, before = row["part_of"], tuple(row[name] for name in PLACE)
            if part_of in (None, one):
                yield one, (before, after)

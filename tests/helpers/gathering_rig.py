"""Memories of any age with their vectors and sources, put into a vault as an assistant's store call leaves them."""

from __future__ import annotations

from typing import Any

import numpy as np
from engine_rig import Rig

from core.intake.transaction.sources import Lineage, add_source, refresh_trust
from core.memory.write import Draft, insert_memories, write_vectors
from core.types.values import Kind, Role, Source, Status, When
from core.vault.database.tx import Tx

DAY_MS = 86_400_000


def told(rig: Rig, text: str, days: float = 60.0, **more: Any) -> str:
    """A fact that an assistant inferred, in a conversation of its own.

    Args:
        days: how long ago it was said and stored.
        **more: columns of the draft; `lineage` and `source` of its first source; `confidence`, `pinned`, `used_days`.
    """
    then = rig.clock.now_ms() - int(days * DAY_MS)
    after: dict[str, Any] = {name: more.pop(name) for name in ("confidence", "pinned", "corroboration") if name in more}
    if "used_days" in more:
        after["last_accessed_at"] = rig.clock.now_ms() - int(more.pop("used_days") * DAY_MS)
    memory_id = rig.opened.storage.make_id()
    columns: dict[str, Any] = {
        "kind": Kind.FACT, "status": Status.ACTIVE, "space_id": "home", "source": Source.INFERENCE,
        "role": Role.ASSISTANT, "lineage": f"talk:{memory_id}", "recorded_at": then, "trust": 0.5,
        "last_confirmed_at": then, "occurred": When(then), "read_at": then,
    }  # fmt: skip
    draft = Draft(id=memory_id, text=text, **{**columns, **more})
    vectors = np.asarray(rig.opened.search.embedder.embed([text]), np.float32)

    def write(tx: Tx) -> None:
        labels = insert_memories(tx, [draft])
        write_vectors(tx, labels, vectors, rig.opened.search.space)
        add_source(tx, memory_id, Lineage(draft.lineage, client_id=draft.client_id), draft.source)
        if after:
            tx.update("memories", {"id": memory_id}, after)
        refresh_trust(tx, memory_id)
        seq = tx.seq
        tx.after_commit(lambda: rig.opened.search.add_vectors(seq, labels, vectors))

    rig.write(write)
    return memory_id


def by_status(rig: Rig) -> dict[str, list[str]]:
    """Status to texts, each in the order of storing."""
    found: dict[str, list[str]] = {}
    for status, text in rig.rows("SELECT status, text FROM memories ORDER BY n"):
        found.setdefault(status, []).append(text)
    return found

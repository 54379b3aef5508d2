"""Memories of a certain age, put into a vault by hand: somebody else's, unimportant, never recalled, unless told."""

from __future__ import annotations

import json
from typing import Any

from engine_rig import START_MS, Rig
from vault_kit import memory

from core.memory.write import reserve_labels
from core.vault.database.tx import Tx

DAY_MS = 86_400_000


def put(rig: Rig, name: str, days: float = 0.0, **more: Any) -> str:
    """A fact that an assistant inferred.

    Args:
        days: how long ago it was stored and last confirmed, by the rig's clock.
        **more: columns; `dates`, `arousal`, `replays`, `boost` and `spared` (at, until) go into their tables.
    """
    aside = {key: more.pop(key) for key in ("dates", "arousal", "replays", "boost", "spared") if key in more}
    then = rig.clock.now_ms() - int(days * DAY_MS)
    row = {
        "kind": "fact", "source": "inference", "role": "assistant", "confidence": 0.9, "trust": 0.5, "importance": 0.5,
        "recorded_at": then, "last_confirmed_at": then, "id": name, "chain_id": name,
    }  # fmt: skip

    def write(tx: Tx) -> None:
        tx.insert("memories", {**memory(reserve_labels(tx, 1), f"text of {name}"), **row, **more})
        at = START_MS
        if "dates" in aside or "arousal" in aside:
            body = json.dumps({"dates": aside.get("dates", [])})
            felt = {"body": body, "arousal": aside.get("arousal", 0.0), "version": 1, "made_by": "rules", "at": at}
            tx.insert("inferred", {"memory_id": name, **felt})
        if "replays" in aside:
            tx.insert(
                "replays",
                {"memory_id": name, "times": aside["replays"], "boost": aside.get("boost", 0.0), "last_at": at},
            )
        if "spared" in aside:
            tx.insert("spared", {"memory_id": name, "at": aside["spared"][0], "until": aside["spared"][1]})

    rig.write(write)
    return name


def standing(rig: Rig) -> set[str]:
    """Ids of what is active."""
    return {row[0] for row in rig.rows("SELECT id FROM memories WHERE status = 'active'")}


def reasons(rig: Rig) -> dict[str, str]:
    """Id to reason of what is archived."""
    return dict(rig.rows("SELECT id, status_reason FROM memories WHERE status = 'archived'"))


def fading(rig: Rig) -> set[str]:
    """Ids of what is marked as fading."""
    return {row[0] for row in rig.rows("SELECT memory_id FROM fading")}

"""The shorter forms of memories in the vault: written with the text, made anew with it, gone with it.

Rows exist only where a text has more than one sentence; what has none is made when it is read.
Must not do: choose between tiers, or count tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.memory.draft import to_json
from core.memory.read import read_by_ids
from core.text.summaries import Tiers, make_tiers
from core.types.values import Memory
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

RULES, MODEL = "rules", "model"
_AT_ONCE = 1000
_TAGGED = "SELECT memory_id FROM tiers WHERE tier = 'tag' AND memory_id IN (SELECT value FROM json_each(?))"
_INSERT = "INSERT OR REPLACE INTO tiers (memory_id, tier, text, made_by) VALUES (?, ?, ?, ?)"
_STORED = (
    "SELECT m.id, m.text, t.tier, t.text FROM json_each(?) w JOIN memories m ON m.id = w.value "
    "JOIN tiers t ON t.memory_id = m.id"
)

Shortened = tuple[str, str, str, str]
"""Id, text, kind and category of a memory."""


def write_tiers(tx: Tx, memories: Iterable[Shortened]) -> None:
    """Write the tiers of new memories.

    Args:
        memories: id, text, kind and category of each.
    """
    tx.run_many(
        _INSERT,
        [
            (memory_id, tier, short, RULES)
            for memory_id, text, kind, category in memories
            for tier, short in make_tiers(text, kind, category).rows()
        ],
    )


def write_summary(tx: Tx, memory_id: str, summary: str) -> bool:
    """Put a model's summary in the place of that of rules, until the text is another.

    Args:
        summary: what was checked to say no more than its text.

    Returns:
        False for a memory of one sentence, which has no shorter form.
    """
    if tx.one("SELECT 1 FROM tiers WHERE memory_id = ? AND tier = 'tag'", (memory_id,)) is None:
        return False
    tx.run(_INSERT, (memory_id, "summary", summary, MODEL))
    return True


def rewrite_tiers(tx: Tx, memories: Sequence[Memory]) -> None:
    """Make the tiers of memories anew whose text, kind or category may be another now.

    Args:
        memories: as they stand now.
    """
    tx.run_many("DELETE FROM tiers WHERE memory_id = ?", [(memory.id,) for memory in memories])
    write_tiers(tx, [(one.id, one.text, one.kind.value, one.category) for one in memories])


def rewrite_tags(tx: Tx, ids: Sequence[str]) -> None:
    """Make the tiers of memories anew whose kind or category changed: their tags name both.

    Args:
        ids: memory ids; those without stored tiers are passed over.
    """
    for at in range(0, len(ids), _AT_ONCE):
        found = tx.all(_TAGGED, (to_json(list(ids[at : at + _AT_ONCE])),))
        rewrite_tiers(tx, list(read_by_ids(tx, [str(row[0]) for row in found]).values()))


def remove_tiers(tx: Tx, labels: Sequence[int]) -> None:
    """Remove the tiers of memories that are about to vanish.

    Args:
        labels: labels of memories.
    """
    tx.run_many("DELETE FROM tiers WHERE memory_id = (SELECT id FROM memories WHERE n = ?)", [(n,) for n in labels])


def read_tiers(rows: Rows, memories: Sequence[Memory]) -> dict[str, Tiers]:
    """The tiers of memories as they are handed out.

    Args:
        memories: with the text that is handed out. Where that is not all of the stored text (a sentence of it is
            over), the stored tiers say too much, and others are made.

    Returns:
        Id to tiers, for each of them.
    """
    whole = {memory.id: memory.text for memory in memories}
    stored: dict[str, dict[str, str]] = {}
    for memory_id, text, tier, short in rows.all(_STORED, (to_json(list(whole)),)):
        if text == whole[memory_id]:
            stored.setdefault(memory_id, {})[tier] = short
    return {memory.id: _tiers(memory, stored.get(memory.id)) for memory in memories}


def _tiers(memory: Memory, stored: dict[str, str] | None) -> Tiers:
    if stored is None or "tag" not in stored:
        return make_tiers(memory.text, memory.kind.value, memory.category)
    summary = stored.get("summary") or stored.get("key_fact") or memory.text
    return Tiers(memory.text, summary, stored.get("key_fact") or summary, stored["tag"])

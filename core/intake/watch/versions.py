"""Versions of a text that is edited outside: the next one takes the place of the last, at once or after the review.

A new text that reads like an instruction waits for the person. Until then the one before stays current, and the folder
knows the file by it; accepted, the new one takes its place; turned down, the one before stays and the folder's log says
so. Must not do: decide an item, or read a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.intake.claims import sync_claims
from core.intake.review.resolution import ResolutionContext
from core.intake.revise.revision import EDITED, carry_over
from core.intake.transitions.merge import newest_version
from core.intake.transitions.review_items import close_moot
from core.intake.transitions.transitions import release_digests, sync_statements
from core.intake.watch.folders import ACCEPTED, REJECTED, write_entry
from core.memory.protection import inherited_tier, tier_columns
from core.memory.write import refresh_terms
from core.types.values import TIER_BY, Action, SecurityTier, Status
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

REPLACED = (Status.ACTIVE.value, Status.DISPUTED.value, Status.QUARANTINED.value)
"""What a next version takes the place of; what the person changed, archived or forgot stays as it is."""

_CURRENT = (Status.ACTIVE.value, Status.DISPUTED.value)
_KEPT_COLUMNS = ("category", "importance", "permanence", "pinned")
_PARTS = "SELECT id, text FROM memories WHERE id = ? OR part_of = ? ORDER BY id <> ?, part_index"
_WAITING_ITEM = "SELECT id, existing_id FROM conflicts WHERE incoming_id = ? AND kind = 'injection' AND +state = 'open'"
_HELD = (
    "SELECT m.id FROM fingerprints f JOIN memories m ON m.id = f.memory_id "
    "WHERE f.identity = ? AND +m.status = 'quarantined'"
)
_FILES = (
    "SELECT f.folder_id, f.name FROM fingerprints p JOIN watched_records r ON r.identity = p.identity "
    "JOIN watched_files f ON f.n = r.file_n WHERE p.memory_id = ? ORDER BY f.n"
)


def read_parts(rows: Rows, memory_id: str) -> list[tuple[str, str]]:
    """Ids and texts of the parts of a memory, the head first."""
    return [(str(part), str(text)) for part, text in rows.all(_PARTS, (memory_id, memory_id, memory_id))]


def find_current(rows: Rows, identity: bytes, memory_id: str | None) -> tuple[str | None, str | None]:
    """What stands for a text of a file, and what of the file waits in the review to take its place.

    Args:
        identity: of the text that the file said last.
        memory_id: by which the folder knows it.

    Returns:
        The memory that stands, and the one that waits; None for none.
    """
    held = rows.value(_HELD, (identity,))
    if held is None:
        return memory_id, None
    if held != memory_id:
        return memory_id, str(held)
    item = rows.one(_WAITING_ITEM, (held,))
    return (memory_id, None) if item is None or item[1] is None else (str(item[1]), str(held))


def must_wait(rows: Rows, old_id: str, new_id: str) -> bool:
    """Whether what stands goes on standing: the new text waits for the person, or was turned down before."""
    status = "SELECT status FROM memories WHERE id = ?"
    return rows.value(status, (new_id,)) not in _CURRENT and rows.value(status, (old_id,)) in _CURRENT


def hold_version(tx: Tx, old_id: str, new_id: str) -> None:
    """A new text waits: its question names what it would take the place of, and it is as secret as that.

    Args:
        old_id: stands, and goes on standing.
        new_id: was just stored and is held back; of one that the person turned down before nothing is asked.
    """
    waiting = tx.all(_WAITING_ITEM, (new_id,))
    if not waiting:
        return
    for item_id, _ in waiting:
        item = tx.row("conflicts", {"id": item_id}) or {}
        tx.delete("conflicts", {"id": item_id})  # the sides of a question never change: it is asked anew
        tx.insert("conflicts", {**item, "existing_id": old_id})
    _inherit_tier(tx, read_parts(tx, old_id), read_parts(tx, new_id), {})


def settle_held(work: ResolutionContext) -> None:
    """A held text was decided: let in, it takes the place of what it was to replace; the log of its folder says so.

    What the person made of the old text in Loci since then stays beside the new one.
    """
    tx, new_id, old_id = work.transitions.tx, work.incoming_id, work.case.item.existing_id
    if old_id is None:
        return
    if work.decision.action is Action.REJECT:
        _write_decision(tx, REJECTED, new_id)
    elif tx.value("SELECT status FROM memories WHERE id = ?", (old_id,)) in REPLACED:
        replace_version(tx, work.transitions.make_id, old_id, new_id)
        tx.run(
            "UPDATE watched_records SET memory_id = ? WHERE memory_id = ? "
            "AND identity IN (SELECT identity FROM fingerprints WHERE memory_id = ?)",
            (new_id, old_id, new_id),
        )
        _write_decision(tx, ACCEPTED, new_id)


def _write_decision(tx: Tx, event: str, memory_id: str) -> None:
    for folder_id, name in tx.all(_FILES, (memory_id,)):
        write_entry(tx, str(folder_id), event, str(name))


def replace_version(tx: Tx, make_id: Callable[[], str], old_id: str, new_id: str) -> None:
    """A document's new text takes the place of the one before: its next version.

    What the person said of it goes along: its place, its pin, its category, how sensitive it is. What it was read to
    say stays with the old text, and is read anew of the new one.

    Args:
        old_id: stands, or waits; the head of a split text.
        new_id: was just stored, or let in.
    """
    old_parts, new_parts = read_parts(tx, old_id), read_parts(tx, new_id)
    old = tx.row("memories", {"id": old_id}) or {}
    chain = str(old["chain_id"])
    shared = {
        **{name: old[name] for name in _KEPT_COLUMNS},
        "chain_id": chain,
        "version": newest_version(tx, chain, new_id) + 1,
        "supersedes_id": old_id,
    }
    _inherit_tier(tx, old_parts, new_parts, shared)
    _retire_parts(tx, [part for part, _ in old_parts], new_id)
    carry_over(tx, make_id, old_id, new_id, tables=())
    _settle(tx, make_id, [part for part, _ in old_parts])
    refresh_terms(tx, [part for part, _ in new_parts])


def withdraw_held(tx: Tx, make_id: Callable[[], str], held_id: str, by_id: str) -> None:
    """A text that waits is not what the file says any more: nobody is asked about it.

    Args:
        by_id: stands for what the file says now.
    """
    parts = [part for part, _ in read_parts(tx, held_id)]
    _retire_parts(tx, parts, by_id)
    _settle(tx, make_id, parts)


def _inherit_tier(
    tx: Tx, old_parts: Sequence[tuple[str, str]], new_parts: Sequence[tuple[str, str]], more: Mapping[str, Any]
) -> None:
    """The new text is as secret as the old one, or more.

    Args:
        more: other columns that its parts get.
    """
    sides = []
    for parts in (old_parts, new_parts):
        row = tx.row("memories", {"id": parts[0][0]}) or {}
        sides.append({**row, "text": "".join(text for _, text in parts)})
    tier = inherited_tier(tx, *sides)
    by = json.loads(str(tier["extra"])).get(TIER_BY)
    for part, _ in new_parts:
        row = tx.row("memories", {"id": part}) or {}
        own = tier_columns(row, SecurityTier(str(tier["security_tier"])), by)
        tx.update("memories", {"id": part}, {**more, **own})


def _retire_parts(tx: Tx, parts: Sequence[str], by_id: str) -> None:
    over = {
        "status": Status.SUPERSEDED.value,
        "status_reason": EDITED,
        "retired_at": tx.now_ms,
        "superseded_by_id": by_id,
    }
    for part in parts:
        tx.update("memories", {"id": part}, over)


def _settle(tx: Tx, make_id: Callable[[], str], parts: Sequence[str]) -> None:
    """What hung on the words of a text that is over: claims, statements, digests, questions."""
    ids = list(parts)
    sync_claims(tx, make_id, ids)
    moved = (*sync_statements(tx, make_id, ids), *release_digests(tx, make_id, ids, Status.ARCHIVED))
    close_moot(tx, [*ids, *moved])

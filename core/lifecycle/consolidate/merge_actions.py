"""Carrying out what was planned for memories that say the same or belong together; each deed is looked at again first.

Must not do: choose, or go on with a deed where one of its memories changed since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.intake.transaction.sources import Lineage, add_source, refresh_trust, standing_twin
from core.intake.transitions.transitions import Transitions
from core.lifecycle.consolidate.digest_writer import digest_text, sentences_from_json, write_digest
from core.lifecycle.consolidate.pairs import Node, read_nodes
from core.lifecycle.decay.protection import IN_REVIEW, SPARED, find_protections
from core.text.screening.injection import find_split_injection
from core.text.sentences import unite_texts
from core.types.lifecycle import Deed, Planned
from core.types.values import Kind, Source
from core.vault.database.rows import Rows

_CARRIED = ("related_to", "coexists_with", "supports", "example_of")
"""Relations of what goes beneath another that the other has from then on."""


def is_applicable(rows: Rows, deed: Planned, now_ms: int) -> bool:
    """Whether all memories of a planned change are unchanged since it was planned.

    Args:
        rows: the transaction.
        deed: from `core.lifecycle.consolidate.consolidate`.

    Returns:
        False where one changed, left, was pinned, spared, vouched for by the person or is asked about by now.
    """
    marks: Mapping[str, str] = deed.detail["marks"]
    nodes = {node.id: node for node in read_nodes(rows, _labels(rows, marks)).values()}
    if any(one not in nodes or nodes[one].mark != mark for one, mark in marks.items()):
        return False
    kept = find_protections(rows, marks, now_ms)
    if any({IN_REVIEW, SPARED} & set(keys) for keys in kept.values()):
        return False
    ties = [*deed.detail.get("stacks", ()), *([deed.detail["merge"]] if deed.deed is Deed.MERGE else ())]
    if not all(_may_go(nodes[tie[0]], nodes[tie[1]]) for tie in ties):
        return False
    sources = [one for digest in deed.detail.get("digests", ()) for one in digest["sources"]]
    return not any(one in kept or nodes[one].persons for one in sources)


def _may_go(keep: Node, other: Node) -> bool:
    return not other.pinned and (keep.persons or not other.persons)


def _labels(rows: Rows, ids: Mapping[str, str]) -> list[int]:
    found = rows.all("SELECT n FROM memories WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(ids)),))
    return [int(row[0]) for row in found]


def texts_to_embed(rows: Rows, deed: Planned) -> list[str]:
    """The new texts of a deed: of its digests, or the united one.

    Args:
        rows: the transaction.
        deed: it fits.
    """
    if deed.deed is Deed.MERGE:
        return [_united(rows, deed)]
    return [digest_text(rows, sentences_from_json(digest["spans"])) for digest in deed.detail.get("digests", ())]


def can_unite(rows: Rows, deed: Planned) -> bool:
    """Whether the united text of a merge would stand beside no memory of the same words, and be no order.

    Args:
        deed: any deed of `core.lifecycle.consolidate.consolidate`.

    Returns:
        True for what is no merge.
    """
    if deed.deed is not Deed.MERGE:
        return True
    keep, other = deed.detail["merge"][:2]
    if find_split_injection(_originals(rows, deed)):
        return False
    kind, space, session = rows.all("SELECT kind, space_id, scope_session FROM memories WHERE id = ?", (keep,))[0]
    return standing_twin(rows, [_united(rows, deed)], Kind(kind), space, session) in (None, keep, other)


def carry_out_change(transitions: Transitions, deed: Planned, vectors: Sequence[NDArray[np.float32] | None]) -> bool:
    """Carry one deed out.

    Args:
        transitions: the steps of the running verb.
        deed: it fits.
        vectors: of `texts_to_embed`, in that order.

    Returns:
        False where a united text cannot be made: it stands already, or the embedder is away.
    """
    if deed.deed is Deed.MERGE:
        return _merge(transitions, deed, vectors[0])
    for tie in deed.detail["stacks"]:
        _weigh(transitions, tie)
        transitions.stack(tie[1], tie[0])
        _take_over(transitions, tie[0], tie[1])
    for tie in deed.detail["confirms"]:
        _weigh(transitions, tie)
        _confirm(transitions, tie[0], tie[1])
    for digest, vector in zip(deed.detail["digests"], vectors, strict=True):
        transitions.weighed = "rules"
        write_digest(transitions, digest["sources"], sentences_from_json(digest["spans"]), vector)
    return True


def _weigh(transitions: Transitions, tie: Sequence[Any]) -> None:
    _keep, other, cosine, confidence, by = tie
    transitions.weighed = by
    transitions.weights[other] = (confidence, cosine)


def _merge(transitions: Transitions, deed: Planned, vector: NDArray[np.float32] | None) -> bool:
    tie = deed.detail["merge"]
    keep, other = tie[0], tie[1]
    text = _united(transitions.tx, deed)
    if vector is None or not can_unite(transitions.tx, deed):
        return False
    _weigh(transitions, tie)
    transitions.merge_into(keep, text, vector, other)
    return True


def _united(rows: Rows, deed: Planned) -> str:
    keep, other = _originals(rows, deed)
    return unite_texts(keep, other)


def _originals(rows: Rows, deed: Planned) -> list[str]:
    """The two texts of a merge, that of the one that is kept first."""
    return [str(rows.value("SELECT text FROM memories WHERE id = ?", (one,))) for one in deed.detail["merge"][:2]]


def _take_over(transitions: Transitions, keep: str, other: str) -> None:
    """Tags, importance and relations of a duplicate go to what is kept (seed A, 6.1)."""
    tx = transitions.tx
    rows = [tx.row("memories", {"id": one}) or {} for one in (keep, other)]
    tags = dict.fromkeys(tag for row in rows for tag in json.loads(row["tags"]))
    united_ = {"tags": json.dumps(list(tags), ensure_ascii=False, separators=(",", ":"))}
    tx.update("memories", {"id": keep}, {**united_, "importance": max(float(row["importance"]) for row in rows)})
    for from_id, to_id, kind in tx.all(
        "SELECT from_id, to_id, type FROM edges WHERE (from_id = ?1 OR to_id = ?1) "
        "AND type IN (SELECT value FROM json_each(?2)) ORDER BY id",
        (other, json.dumps(_CARRIED)),
    ):
        ends = [keep if one == other else str(one) for one in (from_id, to_id)]
        transitions.edge(ends[0], ends[1], str(kind))


def _confirm(transitions: Transitions, keep: str, by: str) -> None:
    """The sources of one memory are independent sources of another."""
    found = transitions.tx.all(
        "SELECT lineage, source, client_id, session, import_id FROM memory_sources WHERE memory_id = ?1 UNION ALL "
        "SELECT lineage, source, client_id, session, import_id FROM memories WHERE id = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM memory_sources WHERE memory_id = ?1) ORDER BY 1",
        (by,),
    )
    for lineage, source, client_id, session, import_id in found:
        add_source(transitions.tx, keep, Lineage(lineage, client_id, session, import_id), Source(source))
    refresh_trust(transitions.tx, keep)
    transitions.touched.append(keep)
    transitions.log("CORROBORATE", keep, by)

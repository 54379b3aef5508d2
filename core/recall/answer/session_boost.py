"""Session boost: memories that a session has active rank higher, or are appended to an answer (E8.2.6).

A memory that was found is lifted within the room of the side signals; one that was not found comes after what was, and
only while it may speak: the same scope, status and time as in every search. Must not do: lift anything over what
answers better, or hand out what the asker may not see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from core.memory.read import read_by_ids
from core.recall.query.predicate import build_predicate
from core.recall.query.request import RecallRequest
from core.recall.query.scope import IN_REVIEW
from core.recall.ranking.standing_text import trim_ended_sentences
from core.recall.results.result import RecallItem, RecallResult, Signals
from core.types.values import Memory
from core.vault.database.rows import Rows

LIFT = 0.05
"""As much as all side signals together may lift (`core.score.ranking.profile`, side_bound)."""
_BEHIND = 0.5
_ALONE = 0.3
_ONLY_WEAK = ("below_bar", "below_floor", "beyond_limit")
WHY = "This session has it at hand."


def apply_session_boost(
    rows: Rows, result: RecallResult, request: RecallRequest, at_hand: Mapping[str, float], now_ms: int
) -> tuple[RecallItem, ...]:
    """Raise active memories of the session within an answer, and append those it lacks.

    Args:
        rows: the snapshot the answer was made from.
        result: the answer.
        request: its question.
        at_hand: memory id to activation, 0 to 1.

    Returns:
        The items, best first; what the answer lacks stands behind it.
    """
    if not at_hand:
        return result.items
    lifted = [_lifted(item, at_hand.get(item.memory.id)) for item in result.items]
    lifted.sort(key=lambda item: -item.score)  # stable: what was equal stays in its order
    named = {item.memory.id for item in lifted}
    # What this very question may not bring up (it was wrong, or another speaks for it) does not come by this way.
    named |= {one.id for one in result.trace.candidates if one.dropped is not None and one.dropped not in _ONLY_WEAK}
    missing = {name: value for name, value in at_hand.items() if name not in named}
    least = min((item.score for item in lifted), default=_ALONE) * _BEHIND
    return (*lifted, *_behind(_speaking(rows, request, missing, now_ms), missing, least))


def _lifted(item: RecallItem, activation: float | None) -> RecallItem:
    if activation is None:
        return item
    score = min(1.0, item.score * (1.0 + LIFT * activation))
    return replace(item, score=score, why=(*item.why, WHY))


def _speaking(rows: Rows, request: RecallRequest, missing: Mapping[str, float], now_ms: int) -> list[Memory]:
    """Those of them that may speak now, with what of their text still stands."""
    if not missing:
        return []
    narrowed = build_predicate(rows, request, now_ms)
    sql = (
        "SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:hand)) "  # noqa: S608 - constants only
        f"AND {narrowed.wanted} AND {narrowed.speaks} AND NOT ({IN_REVIEW})"
    )
    ids = [str(row[0]) for row in rows.all(sql, {**narrowed.params, "hand": json.dumps(sorted(missing))})]
    found = read_by_ids(rows, ids)
    cut = trim_ended_sentences(rows, found.values())
    return [cut.get(name, memory) for name, memory in found.items()]


def _behind(found: list[Memory], activation: Mapping[str, float], least: float) -> list[RecallItem]:
    items = [
        RecallItem(
            memory=memory,
            score=least * activation[memory.id],
            signals=Signals(0.0, memory.confidence, 0.0, memory.importance, 0.0),
            ranks={},
            why=(WHY,),
            refs=() if memory.ref is None else (memory.ref,),
        )
        for memory in found
    ]
    return sorted(items, key=lambda item: (-item.score, item.memory.id))

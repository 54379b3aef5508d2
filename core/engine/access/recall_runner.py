"""The one way a question is answered in the engine, whoever asks: a recall, a trial, a probe.

Must not do: embed, count an access, or keep a receipt.
"""

from __future__ import annotations

from dataclasses import replace

from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.vector_space import Embedded
from core.recall.query.request import RecallRequest
from core.recall.ranking.contradiction_marks import mark_contradictions
from core.recall.results.result import RecallResult
from core.score.ranking.profile import Profile
from core.vault.database.rows import Rows

_AWAY = "The search model does not answer at the moment, so meaning was not compared."


def run_recall(
    opened: OpenVault,
    rows: Rows,
    request: RecallRequest,
    meant: Embedded | None,
    now_ms: int,
    profile: Profile | None = None,
) -> RecallResult:
    """Answer a question.

    Args:
        request: the question, checked.
        meant: the embedded question; None where meaning is not compared.
        profile: other weights than those in force, for a trial.

    Returns:
        The answer; `took_ms` is left to the caller.
    """
    sight = opened.search.active_space if meant is None else meant.active_space
    # Other weights came into force with a new sight: what an older one still answers goes by them too.
    weights = profile or opened.search.recall.profile
    ask = sight.recall.run
    result = ask(rows, request, None if meant is None else meant.first, now_ms, profile=weights)
    result = result.in_order(mark_contradictions(rows, result.items, opened.readers))
    if meant is None or meant.code is None:
        return result
    reason = f"{result.reason} {_AWAY}" if result.abstained else f"Found by words alone: {_AWAY[0].lower()}{_AWAY[1:]}"
    return replace(result, reason=reason)

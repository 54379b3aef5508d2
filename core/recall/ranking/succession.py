"""Memories that answer for others: a successor for its superseded version, a digest or fact for its sources.

"Which city do I live in" is near to "I live in Graz" and far from "home is Linz from today"; the chain knows that the
second replaced the first, so the second takes over the evidence of the first, whose text is never returned.
Must not do: decide what stands, or let a digest that hardly speaks of the question hide the message that does.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from core.recall.candidates.candidates import Candidates, ComparedQuery, read_candidates
from core.recall.query.predicate import ScopePredicate
from core.recall.query.scope import LATER_SPEAKS
from core.recall.results.explain import IN_REVIEW
from core.types.values import Status
from core.vault.database.rows import Rows

DIGEST_SHARE = 0.6
"""Our choice: what was made of others stands for them where it speaks to the question at least so well as they do."""

_PAIRS = (
    "SELECT b.n, a.n FROM memories b JOIN derivations d ON d.source_id = b.id JOIN memories a ON a.id = d.derived_id "
    "AND a.kind IN ('digest', 'fact') WHERE b.n IN (SELECT value FROM json_each(:here)) AND b.kind <> a.kind"
)


def find_representatives(rows: Rows, found: Candidates) -> dict[int, int]:
    """Map each source candidate to the digest or fact that answers for it.

    Args:
        found: candidates that may be returned.

    Returns:
        Place of a source to the place of what was made of it; where several were, of the one that answers best.
    """
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    chosen: dict[int, int] = {}
    for source, made in rows.all(_PAIRS, {"here": json.dumps(found.labels.tolist())}):
        at, by = place[int(source)], place.get(int(made))
        if by is None or not (found.ok[at] and found.ok[by]) or found.evidence[by] < DIGEST_SHARE * found.evidence[at]:
            continue
        if at not in chosen or found.evidence[by] > found.evidence[chosen[at]]:
            chosen[at] = by
    # What stands for others may itself be a source: the last in the row speaks for all. The graph has no circles.
    return {at: _last(chosen, by) for at, by in chosen.items()}


def credit_representatives(found: Candidates, led: dict[int, int]) -> Candidates:
    """Give each digest or fact the best evidence of the sources it answers for.

    Args:
        led: from `find_representatives`.

    Returns:
        The candidates.
    """
    told = found.evidence.copy()
    for at, by in led.items():
        told[by] = max(told[by], float(found.evidence[at]))
    return replace(found, evidence=told)


def _last(chosen: dict[int, int], at: int) -> int:
    while at in chosen:
        at = chosen[at]
    return at


SHARE = 0.9
"""Our choice: what answers through an earlier version comes a little behind what answers itself."""

SPEAKS = 0.55
"""Our choice: how near the later of two must be to the question, as a share of the earlier one's nearness."""

_HEADS = (
    "SELECT o.n, h.n, 0 FROM memories o CROSS JOIN memories h "  # noqa: S608 - conditions of core.recall.query.predicate
    "ON h.chain_id = o.chain_id AND +h.status = 'active' "
    "AND coalesce(h.part_index, 0) = 0 WHERE o.n IN (SELECT value FROM json_each(:over)) AND +o.status = 'superseded' "
    "AND h.version = (SELECT max(s.version) FROM memories s WHERE s.chain_id = o.chain_id AND +s.status = 'active') "
    # Of two of which the person is asked, the later one speaks, where it speaks of what is asked.
    f"UNION SELECT o.n, h.n, 1 FROM ({LATER_SPEAKS}) p JOIN memories o ON o.id = p.earlier "
    "JOIN memories h ON h.id = p.later WHERE o.n IN (SELECT value FROM json_each(:review)) ORDER BY 1, 2"
)


def credit_successors(rows: Rows, narrowed: ScopePredicate, question: ComparedQuery, found: Candidates) -> Candidates:
    """Give each successor the evidence of the version it replaced.

    Args:
        rows: the vault snapshot of the candidates.
        narrowed: the request's conditions.
        question: what they are compared with.

    Returns:
        The candidates, with successors that were not among them. Who may not see a version has nothing of it here.
    """
    over = _over(found, question.profile.expand_from)
    # Asked for the present alone: as of a time, or among what is no longer active, both are shown.
    asked = [at for at, fact in enumerate(found.facts) if fact.status == IN_REVIEW and found.ok[at]]
    asked = [] if narrowed.params["now"] is None else asked
    if not over and not asked:
        return found
    params = {
        name: json.dumps(found.labels[np.array(places, np.int64)].tolist())
        for name, places in (("over", over), ("review", asked))
    }
    pairs = [(int(old), int(new), bool(is_open)) for old, new, is_open in rows.all(_HEADS, params)]
    fresh = np.setdiff1d(np.array([new for _, new, _ in pairs], np.int64), found.labels)
    if fresh.size:
        found = found.with_others(read_candidates(rows, narrowed, question, fresh)[0])
    return _lifted(found, pairs)


def _over(found: Candidates, most: int) -> list[int]:
    """Places of what is over and speaks to the question most."""
    over = [at for at, fact in enumerate(found.facts) if fact.status == Status.SUPERSEDED.value and not found.ok[at]]
    over = sorted(over, key=lambda at: (-float(found.evidence[at]), at))[:most]
    return [at for at in over if found.evidence[at] > 0]


def _lifted(found: Candidates, pairs: list[tuple[int, int, bool]]) -> Candidates:
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    evidence, plain = found.evidence.copy(), found.plain.copy()
    ok, lends = found.ok.copy(), found.lends.copy()
    for old, new, is_open in pairs:
        at, before = place.get(new), place[old]
        if at is None or not found.ok[at]:
            continue
        if is_open:
            if not _answers_too(found, at, before):
                continue
            ok[before] = False
        lends[before] = True
        evidence[at] = max(evidence[at], SHARE * float(found.evidence[before]))
        plain[at] = max(plain[at], SHARE * float(found.plain[before]))
    return replace(found, ok=ok, evidence=evidence, plain=plain, lends=lends, lifted=found.lifted + plain - found.plain)


def _answers_too(found: Candidates, later: int, earlier: int) -> bool:
    """Whether the later of two that are asked about speaks of what is asked: else a guess would empty the answer."""
    mine, theirs = float(found.vector[later]), float(found.vector[earlier])
    if np.isnan(mine) or np.isnan(theirs):
        mine, theirs = float(found.evidence[later]), float(found.evidence[earlier])
    return mine >= SPEAKS * theirs

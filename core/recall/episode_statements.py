"""Statements among candidates: each speaks for the episode that says it, in its place.

A statement takes no place of its own: it lends its evidence to its episode and is shown instead of it where it answers.
So an answer has as many places for what else was said as it had without statements. Small talk gives way at the top.
Must not do: leave an episode out, or change the answer from talk of which no statements were made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from core.recall.candidates import Candidates, ComparedQuery, read_candidates
from core.recall.predicate import ScopePredicate
from core.recall.scope import Labels
from core.vault.database.rows import Rows

SHOWN = 0.6
"""Our choice: a statement is shown for its episode where it speaks to the question at least so well as that does."""
TOO_CLOSE = 0.9
"""Our choice: where another statement of the episode speaks nearly as well, the episode is shown, which says both."""
LENT_SHARE = 0.8
"""Our choice: so much of a statement's evidence counts for its episode. It names whom it is about, which talk does not:
in full it would put what was made into statements before what was not. Measured on LoCoMo's development part, 0.7 to
0.8: turns among ten 85.0 to 85.6, MRR 64.4 to 65.2; from 0.9 on fewer stand among the first five."""
ANSWERS = 0.85
"""Our choice: a statement answers where its evidence is at least so much of the greatest there is."""
TOP = 10
"""Our choice: so many of the first items small talk is put behind others in; who reads further is looking for it."""
SMALL_TALK = 0.8
"""Our choice: what small talk counts among them. Measured on LoCoMo's development part with statements, MRR 63.0 to
64.4, and nothing that is found among the first ten is lost; from 0.6 to 0.8 the figures are the same."""

_ANY = "SELECT EXISTS (SELECT 1 FROM statements), EXISTS (SELECT 1 FROM readings WHERE small_talk = 1)"
_STATEMENTS_OF = (
    "SELECT m.n, e.n, e.id, e.ref FROM json_each(?) w CROSS JOIN memories m ON m.n = w.value "
    "JOIN statements s ON s.memory_id = m.id JOIN memories e ON e.id = s.episode_id ORDER BY m.n, e.n"
)
_SMALL = (
    "SELECT m.n FROM json_each(?) w CROSS JOIN memories m ON m.n = w.value "
    "JOIN readings r ON r.memory_id = m.id AND r.small_talk = 1"
)


@dataclass(frozen=True, slots=True)
class SourceEpisode:
    """An episode that says a statement."""

    label: int
    id: str
    ref: str | None


@dataclass(frozen=True, slots=True)
class RepresentativeStatement:
    """A statement that speaks for an episode.

    Attributes:
        label: of the statement.
        evidence: how strongly it answers.
        episodes: the episodes that say it, the one that it speaks for first.
    """

    label: int
    evidence: float
    episodes: tuple[SourceEpisode, ...]


Representatives = Mapping[int, RepresentativeStatement]
"""Label of an episode to the statement that is shown for it."""


def fold_statements(
    rows: Rows, narrowed: ScopePredicate, question: ComparedQuery, found: Candidates
) -> tuple[Candidates, Representatives, Labels]:
    """Let statements speak for their episodes.

    Args:
        narrowed: the request's conditions: where the episode may not be returned its statement stands for itself.

    Returns:
        The candidates without those statements, with their episodes; what is shown for which episode; and the labels
        of all that speak for one, which no link brings back.
    """
    if not (rows.one(_ANY) or (0,))[0]:
        return found, {}, np.empty(0, np.int64)
    episodes_by_label = _read_source_episodes(rows, found)
    fresh = np.setdiff1d(
        np.array([one.label for some in episodes_by_label.values() for one in some], np.int64), found.labels
    )
    if fresh.size:
        found = found.with_others(read_candidates(rows, narrowed, question, fresh)[0])
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    homes: dict[int, list[RepresentativeStatement]] = {}
    folded = np.zeros(found.labels.size, np.bool_)
    for label, episodes in episodes_by_label.items():
        at = place[label]
        there = [one for one in episodes if found.ok[place[one.label]]]
        if not found.ok[at] or not there:
            continue
        best = max(there, key=lambda one: (float(found.evidence[place[one.label]]), -one.label))
        representative = RepresentativeStatement(
            label, float(found.evidence[at]), (best, *(one for one in episodes if one is not best))
        )
        homes.setdefault(best.label, []).append(representative)
        folded[at] = True
    shown = {home: best for home, some in homes.items() for best in _find_shown(some, found, place[home])}
    found = _lend_evidence(found, [(place[best.label], place[home]) for home, best in shown.items()])
    return found.select_where(~folded), shown, found.labels[folded]


def put_small_talk_behind(
    rows: Rows, shown: Sequence[int], found: Candidates, representatives: Representatives
) -> list[int]:
    """The order of items in which small talk gives way at the top: to a statement that answers, and to what is near.

    Args:
        shown: places of what is shown, best first.
        representatives: from `fold_statements`.

    Returns:
        Places in `shown`, in their new order; those behind the first `TOP` stay where they are.
    """
    labels = [int(found.labels[at]) for at in shown[:TOP]]
    small = {int(row[0]) for row in rows.all(_SMALL, (json.dumps(labels),))} - representatives.keys()
    order = list(range(len(shown)))
    if not small:
        return order
    # What was put behind others counts no more than they do.
    evidence = list(accumulate((float(found.evidence[at]) for at in shown[:TOP]), min))
    weights = [SMALL_TALK if label in small else 1.0 for label in labels]
    head = sorted(range(len(labels)), key=lambda n: (-evidence[n] * weights[n], n))
    least = ANSWERS * float(found.evidence.max(initial=0.0))
    answers = [
        place
        for place, n in enumerate(head)
        if labels[n] in representatives and representatives[labels[n]].evidence >= least
    ]
    last = answers[-1] + 1 if answers else 0
    ahead = [n for n in head[:last] if labels[n] not in small]
    behind = [n for n in head[:last] if labels[n] in small]
    return [*ahead, *behind, *head[last:], *order[len(labels) :]]


def _read_source_episodes(rows: Rows, found: Candidates) -> dict[int, list[SourceEpisode]]:
    """Of each statement among the candidates the episodes that say it, by the statement's label."""
    episodes_by_label: dict[int, list[SourceEpisode]] = {}
    for label, episode, memory_id, ref in rows.all(_STATEMENTS_OF, (json.dumps(found.labels.tolist()),)):
        episodes_by_label.setdefault(int(label), []).append(SourceEpisode(int(episode), str(memory_id), ref))
    return episodes_by_label


def _find_shown(
    some: Sequence[RepresentativeStatement], found: Candidates, home: int
) -> Iterator[RepresentativeStatement]:
    """The statement that is shown for an episode, if any is."""
    best, *others = sorted(some, key=lambda one: (-one.evidence, one.label))
    is_alone = all(one.evidence < TOO_CLOSE * best.evidence for one in others)
    if is_alone and best.evidence > 0 and best.evidence >= SHOWN * float(found.evidence[home]):
        yield best


def _lend_evidence(found: Candidates, pairs: Sequence[tuple[int, int]]) -> Candidates:
    """Give each episode evidence of the statement that is shown for it; as of an earlier version, it is noted apart."""
    evidence, plain = found.evidence.copy(), found.plain.copy()
    for at, home in pairs:
        evidence[home] = max(evidence[home], LENT_SHARE * float(found.evidence[at]))
        plain[home] = max(plain[home], LENT_SHARE * float(found.plain[at]))
    return replace(found, evidence=evidence, plain=plain, lifted=found.lifted + plain - found.plain)

"""Statements among candidates: each takes the place of the episode that says it, and small talk stands behind them.

A statement and its episode are one item of an answer, whichever of them speaks to the question better; a further
statement of the same episode takes no other episode's place. Must not do: leave a statement out, or change an order in
which there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.recall.candidates import Candidates
from core.vault.database.rows import Rows

ANSWERS = 0.6
"""Our choice: a statement answers where its evidence is at least so much of the greatest there is."""

_ANY = "SELECT EXISTS (SELECT 1 FROM statements), EXISTS (SELECT 1 FROM readings WHERE small_talk = 1)"
_SAID = (
    "SELECT m.n, e.n, e.id, e.ref FROM json_each(:here) w CROSS JOIN memories m ON m.n = w.value "
    "JOIN statements s ON s.memory_id = m.id JOIN memories e ON e.id = s.episode_id ORDER BY m.n, e.n"
)
_SMALL = (
    "SELECT m.n FROM json_each(:here) w CROSS JOIN memories m ON m.n = w.value "
    "JOIN readings r ON r.memory_id = m.id AND r.small_talk = 1"
)


@dataclass(frozen=True, slots=True)
class SayingEpisode:
    """An episode that says a statement."""

    label: int
    id: str
    ref: str | None


@dataclass(frozen=True, slots=True)
class StatementPlaces:
    """What is known of statements among candidates; by place among them.

    Attributes:
        said_by: the episodes of each statement, the one that speaks to the question best first.
        home: of a statement and of an episode the label of the episode in whose place it stands.
        small: episodes that hold nothing worth keeping.
    """

    said_by: Mapping[int, tuple[SayingEpisode, ...]] = field(default_factory=dict)
    home: Mapping[int, int] = field(default_factory=dict)
    small: frozenset[int] = frozenset()


def read_statement_places(rows: Rows, found: Candidates) -> StatementPlaces:
    """Find the statements among candidates, and the small talk.

    Args:
        found: candidates that may be returned.
    """
    any_said, any_small = rows.one(_ANY) or (0, 0)
    here = {"here": json.dumps(found.labels.tolist())}
    place = {label: at for at, label in enumerate(found.labels.tolist())}
    said: dict[int, list[SayingEpisode]] = {}
    for label, episode, memory_id, ref in rows.all(_SAID, here) if any_said else ():
        said.setdefault(place[int(label)], []).append(SayingEpisode(int(episode), str(memory_id), ref))
    small = frozenset(place[int(row[0])] for row in rows.all(_SMALL, here)) if any_small else frozenset()

    def evidence(one: SayingEpisode) -> float:
        at = place.get(one.label)
        return -1.0 if at is None else float(found.evidence[at])

    best = {at: tuple(sorted(some, key=lambda one: (-evidence(one), one.label))) for at, some in said.items()}
    home = {at: some[0].label for at, some in best.items()}
    home |= {place[one.label]: one.label for some in best.values() for one in some if one.label in place}
    return StatementPlaces(best, home, small)


def is_another_statement(known: StatementPlaces, shown: int, at: int) -> bool:
    """Whether a candidate says something else of the same episode than the statement that is shown."""
    return at != shown and at in known.said_by and shown in known.said_by


def put_small_talk_behind(shown: Sequence[int], known: StatementPlaces, found: Candidates) -> list[int]:
    """The order of items in which no small talk stands before a statement that answers.

    Args:
        shown: places of what is shown, best first.

    Returns:
        Places in `shown`, in their new order.
    """
    least = ANSWERS * float(found.evidence.max(initial=0.0))
    answers = [n for n, at in enumerate(shown) if at in known.said_by and found.evidence[at] >= least]
    if not known.small or not answers:
        return list(range(len(shown)))
    last = answers[-1]
    before = [n for n in range(last + 1) if shown[n] not in known.small]
    behind = [n for n in range(last + 1) if shown[n] in known.small]
    return [*before, *behind, *range(last + 1, len(shown))]

"""The laboratory's values: saved questions, how a profile does on them, and the history of what was applied.

Must not do: compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.types.journals import OptionRow
from core.types.traces import Trace
from core.types.values import Memory


@dataclass(frozen=True, slots=True)
class LabItem:
    """One memory of a trial answer, or one that came close; the owner's view, with its text.

    Attributes:
        memory: the memory.
        place: its place in the answer, from 1; None for a near miss.
        rank: its place in the final order, from 1; None where it could not be returned.
        score: 0 to 1.
        signals: `relevance`, `confidence`, `recency`, `importance`, `utility`.
        lists: list to (rank from 1, raw score).
        why: sentences.
        dropped: as in `core.types.traces`; None for what is in the answer.
        parts: how much of the score each signal made: `relevance` first, then the sides; they add up to the score.
    """

    memory: Memory
    place: int | None
    rank: int | None
    score: float
    signals: Mapping[str, float]
    lists: Mapping[str, tuple[int, float]]
    why: tuple[str, ...]
    dropped: str | None
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """What a trial recall said.

    Attributes:
        items: the answer.
        near: near misses with the reason that sank each.
        abstained: nothing is returned.
        reason: one sentence.
        trace: everything else.
        strategy: how was searched.
        took_ms: milliseconds.
        tokens: of all items, by the built-in estimate.
        seen_as: the client whose view this is; `""` for the person's own.
    """

    items: tuple[LabItem, ...]
    near: tuple[LabItem, ...]
    abstained: bool
    reason: str
    trace: Trace
    strategy: str
    took_ms: float
    tokens: int
    seen_as: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """A saved question.

    Attributes:
        id: its id.
        query: the question.
        kind: `positive` (these memories belong into the first `within`), `negative` (nothing belongs here), `stale`
            (these memories must not be in the answer).
        memory_ids: the memories it names.
        within: 1 to 50.
        created_at: epoch ms.
        passed: how it ended last; None where it never ran.
        ran_at: epoch ms; None where it never ran.
    """

    id: str
    query: str
    kind: str
    memory_ids: tuple[str, ...]
    within: int
    created_at: int
    passed: bool | None = None
    ran_at: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """One probe under one set of weights.

    Attributes:
        probe_id: which.
        passed: whether it holds.
        place: the best place of a memory it names, from 1; None where none is in the answer.
        tokens: of the answer.
    """

    probe_id: str
    passed: bool
    place: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Tally:
    """All probes under one set of weights.

    Attributes:
        found: positive probes that hold.
        found_of: positive probes.
        empty: negative probes that hold.
        empty_of: negative probes.
        stale: stale probes that do not hold.
        stale_of: stale probes.
        tokens: the mean of all answers.
        outcomes: one a probe, in the order of the probes.
    """

    found: int
    found_of: int
    empty: int
    empty_of: int
    stale: int
    stale_of: int
    tokens: float
    outcomes: tuple[ProbeOutcome, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The saved questions under two sets of weights.

    Attributes:
        now: as it is.
        would_be: as it would be.
        probes: the questions.
    """

    now: Tally
    would_be: Tally
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The tuner.

    Attributes:
        rows: every option of recall with bounds, default and value in force.
        preset: the name of the preset the values are those of; `""` where they are none's.
        presets: name to words.
    """

    rows: tuple[OptionRow, ...]
    preset: str
    presets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Applied:
    """One application of weights.

    Attributes:
        step_id: the undo step.
        at: epoch ms.
        changes: option to (before, after).
        undone: whether it is taken back.
        found: positive probes that held then, and how many there were; None where none were saved.
    """

    step_id: str
    at: int
    changes: Mapping[str, tuple[float, float]]
    undone: bool
    found: tuple[int, int] | None

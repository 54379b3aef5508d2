"""How a question is understood: its intent, its time, its names, and how much words count against meaning.

Must not do: decide anything; it holds what `core.text` and `core.recall` found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Intent(StrEnum):
    """What kind of answer is asked for (E40.1)."""

    LOOKUP = "lookup"
    EXPLORATORY = "exploratory"
    COMPARATIVE = "comparative"
    TEMPORAL = "temporal"
    PROCEDURAL = "procedural"
    CAUSAL = "causal"


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The days a question speaks of, in the local zone.

    Attributes:
        words: the phrase, as it stands in the question.
        start: where the phrase begins, code points.
        end: where it ends, exclusive.
        first_day: ISO date.
        last_day: ISO date, inclusive.
        from_ms: the first moment of the first day, epoch ms.
        to_ms: the first moment after the last day, epoch ms.
    """

    words: str
    start: int
    end: int
    first_day: str
    last_day: str
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A question as it was understood.

    Attributes:
        intent: what kind of answer is asked for.
        intent_scores: all six intents with what speaks for each, 0 to 1.
        time: the days it speaks of; None where it names none.
        entities: names in the question, as typed, in its order.
        aliases: name to other names of the same entity, where the vault knows some.
        identifiers: terms that look like code, paths, versions or numbers, as typed.
        text_weight: how much words count against meaning, 0 (meaning alone) to 1 (words alone) (E35.3).
        text_signals: what moved the text weight, as keys of `resources/query/weight.json`.
        period: it asks for whatever there is in those days, and for no matter of its own.
        given: which parts the caller gave, of `intent`, `time`, `text_weight`.
    """

    intent: Intent = Intent.LOOKUP
    intent_scores: Mapping[str, float] = field(default_factory=dict)
    time: TimeRange | None = None
    entities: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    text_weight: float = 0.5
    text_signals: tuple[str, ...] = ()
    period: bool = False
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanChange:
    """What a caller decides about the plan; None leaves it to the rules.

    Attributes:
        intent: the intent.
        time: the days.
        no_time: the question names no time, whatever it seems to say.
        text_weight: 0 to 1.
    """

    intent: Intent | None = None
    time: TimeRange | None = None
    no_time: bool = False
    text_weight: float | None = None

"""Claims, relations of two memories, verdicts of the gate, and what a local model proposes before it is believed.

Must not do: decide anything; frozen values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.types.values import When


class ModelServerState(StrEnum):
    """How the model server is."""

    OFF = "off"
    ABSENT = "absent"
    READY = "ready"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class ModelState:
    """What is known of the model server; one of four states.

    Attributes:
        server: `off` where the person turned it off, `absent` where nothing listens, `ready`, or `failing`.
        model: the language model that is used; "" unless ready.
        code: why it is failing, an E-code; "" otherwise.
    """

    server: ModelServerState
    model: str = ""
    code: str = ""

    @property
    def sentence(self) -> str:
        """The state in words, for the status bar and the report; holds no memory text."""
        if self.server is ModelServerState.READY:
            return f"Local model: {self.model}"
        if self.server is ModelServerState.FAILING:
            return f"The local model reports an error ({self.code})"
        if self.server is ModelServerState.OFF:
            return "Local model turned off"
        return "No local model (Ollama) is running"


@dataclass(frozen=True, slots=True)
class RelationProposal:
    """How a model says two memories relate.

    Attributes:
        confidence: what it says of itself, 0 to 1; calibrated by nobody.
    """

    label: Label
    confidence: float


@dataclass(frozen=True, slots=True)
class ClaimProposal:
    """A claim that a model says it read in a text; nothing of it is checked against that text yet.

    Attributes:
        subject: `user`, or words of the text.
        predicate: any word.
        value: as the model gives it.
        quote: what it says is an exact part of the text.
        polarity: `positive` or `negative`.
    """

    subject: str
    predicate: str
    value: str
    quote: str
    polarity: str = "positive"


@dataclass(frozen=True, slots=True)
class RefineReport:
    """What came of asking a model.

    Attributes:
        asked: questions that were answered.
        settled: open pairs that were settled.
        suggested: open pairs that have another suggestion.
        read: memories to which claims were added.
        useless: answers of which nothing could be taken.
    """

    asked: int = 0
    settled: int = 0
    suggested: int = 0
    read: int = 0
    useless: int = 0


class Label(StrEnum):
    """How a newcomer relates to what stands (design section 4; seed D, core operations)."""

    DUPLICATE = "DUPLICATE"
    SUPERSEDE = "SUPERSEDE"
    MERGE = "MERGE"
    COEXIST = "COEXIST"


LABELS: tuple[Label, ...] = (Label.DUPLICATE, Label.SUPERSEDE, Label.MERGE, Label.COEXIST)
"""The order of the relation model's outputs."""

BY_MEANING = "model"
"""The reason of a relation that a model read from the two texts as a whole."""
ACTED_ON = 0.8
"""From this confidence on a classification is acted on; below it a person is asked (design section 4)."""


@dataclass(frozen=True, slots=True)
class ClaimDraft:
    """One claim read from a text, not yet a row.

    Attributes:
        subject: `user` for the speaker, else the words that name it.
        predicate: a name of the vocabulary, or any lower_case word where the caller gave the claim.
        value: as written.
        exclusive: whether only one value can hold at a time.
        polarity: `positive` or `negative`.
        valid_from: true in the world from; None where not said. `valid_to` likewise.
        qualifiers: what tells it from a claim of the same subject and predicate (`{"when": "..."}`).
        start: where its evidence begins in the text, code points; `end` is exclusive.
        method: `rules`, `model` or `given`.
        confidence: how sure the reading is, 0 to 1.
    """

    subject: str
    predicate: str
    value: str
    exclusive: bool
    polarity: str = "positive"
    valid_from: When | None = None
    valid_to: When | None = None
    qualifiers: Mapping[str, object] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    method: str = "rules"
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class ComparedText:
    """One side of a pair, as the relation model reads it.

    Attributes:
        text: the memory's text.
        at_ms: when it was said, epoch ms; None where unknown.
        claims: what was read from it, or is when it is first asked for.
    """

    text: str
    at_ms: int | None = None
    claims: Sequence[ClaimDraft] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """How a newcomer relates to one memory that stands.

    Attributes:
        label: the likeliest of the four.
        confidence: its calibrated probability, 0 to 1.
        probabilities: of all four labels; they sum to 1.
        by: `rules`, `builtin` (the relation model that is shipped) or `model` (a local language model).
        reason: a key of `resources/help/review.json` that says why, in words; never memory text.
        ends: log odds that the newcomer ends the memory, beside 0 for ending none of what stands near it; None where
            the relation model did not say.
    """

    label: Label
    confidence: float
    probabilities: Mapping[Label, float]
    by: str
    reason: str = ""
    ends: float | None = None

    @property
    def by_meaning(self) -> bool:
        """Whether a model read it so, without a claim or a value that differs."""
        return self.reason == BY_MEANING

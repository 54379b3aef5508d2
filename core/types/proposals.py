"""What a local language model says, before anybody believes it: its state, and proposals without a guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.types.belief import Label


class Server(StrEnum):
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

    server: Server
    model: str = ""
    code: str = ""

    @property
    def sentence(self) -> str:
        """The state in words, for the status bar and the report; holds no memory text."""
        rest = "rules and the built-in model answer"
        if self.server is Server.READY:
            return f"Model server: {self.model} refines what rules leave open"
        if self.server is Server.FAILING:
            return f"The model server fails ({self.code}): {rest}"
        if self.server is Server.OFF:
            return f"Model server turned off: {rest}"
        return f"No model server: {rest}"


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

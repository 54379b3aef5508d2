"""Readers that say what a test tells them: claims by text, relations by the pair of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.intake.claims import TextReaders
from core.types.belief import LABELS, ClaimDraft, ComparedText, Label, Relation

Pair = tuple[str, str]


def sure(label: Label, confidence: float = 0.95, by: str = "builtin") -> Relation:
    """A relation as the built-in model gives it, or rules."""
    rest = (1.0 - confidence) / (len(LABELS) - 1)
    shares = {one: confidence if one is label else rest for one in LABELS}
    return Relation(label, confidence, shares, by, "model")


@dataclass
class Table:
    """A relation model and a reader of claims in the test's hand.

    Attributes:
        relations: (existing, incoming) to what is told; any other pair coexists.
        claims: text to (subject, predicate, value) of exclusive claims.
        asked: the pairs that were asked about.
    """

    relations: Mapping[Pair, Relation] = field(default_factory=dict)
    claims: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    asked: list[Pair] = field(default_factory=list)

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """As the table says."""
        named = [(old.text, new.text) for old, new in pairs]
        self.asked += named
        return tuple(self.relations.get(pair, sure(Label.COEXIST)) for pair in named)

    def extract(self, text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        """As the table says."""
        del now_ms, said_ms
        found = self.claims.get(text)
        if found is None:
            return ()
        subject, predicate, value = found
        start = text.index(value)
        return (
            ClaimDraft(
                subject=subject, predicate=predicate, value=value, exclusive=True, start=start,
                end=start + len(value), method="rules", confidence=0.9,
            ),
        )  # fmt: skip

    @property
    def readers(self) -> TextReaders:
        """For `rig_at`: everything with a word in common is near."""
        return TextReaders(extract=self.extract, relate=self, gate=0.1)

"""What the store path reads texts with: handed in, so that it depends on no model.

Must not do: hold a vault, or decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.types.belief import ClaimDraft, Relation, Told


class Extract(Protocol):
    """Reads the claims of a text (`core.belief.extract.extraction.extract_claims`)."""

    def __call__(self, text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
        """The claims of a text, each with the span that says it."""
        ...


class FindStatements(Protocol):
    """Finds the statements that the speaker makes of themself (`core.belief.extract.statements.find_statements`)."""

    def __call__(self, text: str) -> Sequence[tuple[int, int]]:
        """The spans of the sentences."""
        ...


class Relate(Protocol):
    """Tells how a newcomer relates to what stands (`core.belief.relate.relation.RelationModel`)."""

    def classify(self, pairs: Sequence[tuple[Told, Told]]) -> tuple[Relation, ...]:
        """One relation for each pair (existing, incoming)."""
        ...


def no_claims(text: str, *, now_ms: int | None = None, said_ms: int | None = None) -> tuple[ClaimDraft, ...]:
    """Reads nothing: for vaults and tests without extraction."""
    del text, now_ms, said_ms
    return ()


def no_statements(text: str) -> Sequence[tuple[int, int]]:
    """Finds nothing: as `no_claims`."""
    del text
    return ()


@dataclass(frozen=True, slots=True)
class TextReaders:
    """The readers of one open vault.

    Attributes:
        extract: claims of a text.
        statements: what whoever speaks states of themself, of which no claim need be read.
        relate: relations of pairs; None where there is no model: then structure alone decides.
        embed: the unit vector of a text, (dims,); for united texts.
        gate: the least cosine of a neighbour that is looked at, 0 to 1 (calibrated for the embedder).
        most: neighbours that are looked at, at most.
    """

    extract: Extract = no_claims
    statements: FindStatements = no_statements
    relate: Relate | None = None
    embed: Callable[[str], NDArray[np.float32]] | None = None
    gate: float = 0.25
    most: int = 5

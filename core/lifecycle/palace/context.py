"""The open vault as far as the palace needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from core.intake.transaction.unit_of_work import UnitOfWork
from core.lifecycle.palace.room_choice import Numbers, Vectors
from core.lifecycle.palace.room_texts import PhraseReader
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

VERB, LABEL = "arrange", "Arrange the palace"


class RoomReader(Protocol):
    """What laying out a room reads.

    Attributes:
        phrases: reads the phrases of texts, each once.
    """

    make_id: Callable[[], str]
    phrases: PhraseReader

    def read(self, fn: Callable[[Rows], T]) -> T:
        """Read on one snapshot."""
        ...

    def check_not_closing(self) -> None:
        """Raise where the vault is being locked."""
        ...


class PalaceContext(RoomReader, Protocol):
    """What arranging, keeping landmarks and furnishing do to a vault."""

    work: UnitOfWork

    def write(self, fn: Callable[[Tx], T]) -> T:
        """Run one transaction in the background, and wait for it."""
        ...

    def fetch_vectors(self, labels: Numbers) -> tuple[Numbers, Vectors]:
        """Vectors of those labels that have one, in the order asked."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Vectors of texts; None while the embedder does not answer."""
        ...

    def embed_emblems(self) -> Vectors | None:
        """Vectors of what each emblem stands for, in their order; None while the embedder does not answer."""
        ...

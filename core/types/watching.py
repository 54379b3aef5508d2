"""What is told of a saved change: which memories came, went or are different, and where they lie. Frozen values.

Must not do: anything; there is no code here.
"""

from __future__ import annotations

from dataclasses import dataclass

Place = tuple[str | None, ...]
"""Where a memory lies, by the columns that sight is judged by; no listener is ever told it."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Memories that went the same way.

    Attributes:
        before: where they were; None where they were not.
        after: where they are; None where they are no longer.
        ids: the memories.
    """

    before: Place | None
    after: Place | None
    ids: tuple[str, ...]


Moves = tuple[Moved, ...]
"""What one transaction did."""

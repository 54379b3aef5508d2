"""How far the changes of a vault have come. A frozen value.

Must not do: anything; there is no code here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the changes of a vault; no listener is ever told it.

    Attributes:
        change: the last row of the journal of changes, 0 for none.
        label: the last label of a memory, 0 for none.
    """

    change: int = 0
    label: int = 0

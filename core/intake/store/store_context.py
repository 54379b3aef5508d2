"""One request to store, on its way in. Must not do: judge it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.intake.store.requests import Checked, default_source
from core.intake.transaction.echo_guard import NO_IDS
from core.intake.transaction.sources import Lineage
from core.memory.write import Stored
from core.types.replies import ClientRecord
from core.types.values import Actor, Source


@dataclass(frozen=True, slots=True)
class Arriving:
    """One request on its way in.

    Attributes:
        actor: who asks; `client` is the client, if one asks.
        space_id: where it goes.
        vectors: one unit row a part, (parts, dims); None where the embedder is away: they are made later.
        stored: told sequence, labels and vectors of new rows, for the index.
        handed: memories given to that client that are not written down yet.
        memory_id: the id its row gets, if it gets one.
    """

    checked: Checked
    actor: Actor
    client: ClientRecord | None
    space_id: str
    vectors: NDArray[np.float32] | None
    stored: Stored
    handed: frozenset[str] = NO_IDS
    memory_id: str = ""

    @property
    def source(self) -> Source:
        """By what way it came."""
        return default_source(self.checked.request, self.client)

    @property
    def lineage(self) -> Lineage:
        """Its independent source."""
        return Lineage.of_actor(self.actor, self.checked.request.session)

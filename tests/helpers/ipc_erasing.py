"""The part of the engine's stand-in that erases, for the tests of `core.ipc`: it notes what it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import cached_property

from answered import finished

from core.types.lifecycle import Erased
from core.types.memory import ErasedItem, ErasePreview
from core.types.values import Actor


class FakeErasing:
    """Erases nothing."""

    @cached_property
    def erased(self) -> list[tuple[tuple[str, ...], bool]]:
        """Ids and whether the whole chain was meant, of every call."""
        return []

    def erase_preview(self, memory_ids: Sequence[str], *, whole_chain: bool = False) -> Future[ErasePreview]:
        """One memory, and one other version."""
        item = ErasedItem(memory_ids[0], "tea", "fact", "home", "asked")
        return finished(ErasePreview((item,), 1 + whole_chain, (), 1 - whole_chain, 0, ("b.tar",)))

    def erase(self, memory_ids: Sequence[str], actor: Actor, *, whole_chain: bool = False) -> Future[Erased]:
        """Note it."""
        self.erased.append((tuple(memory_ids), whole_chain))
        return finished(Erased(1 + whole_chain, ("b.tar",)))

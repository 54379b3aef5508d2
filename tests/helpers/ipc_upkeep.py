"""A stand-in for the group on upkeep, and for storing a fact in parts, for the tests of `core.ipc`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from answered import finished

from core.types.lifecycle import Consolidation, OwnDeed, Tidied
from core.types.replies import StoreReply
from core.types.requests import FactRequest, StoreRequest
from core.types.values import Actor

START_MS = 1_700_000_000_000


class FakeStores:
    """Stores a fact as its text.

    Attributes:
        facts: what was asked.
    """

    facts: list[FactRequest]

    def store(self, request: StoreRequest, actor: Actor) -> Future[StoreReply]:
        raise NotImplementedError

    def store_fact(self, fact: FactRequest, actor: Actor) -> Future[StoreReply]:
        self.facts = [*getattr(self, "facts", []), fact]
        return self.store(fact.store, actor)


class FakeUpkeep:
    """Fits `Upkeep` of the facade.

    Attributes:
        asked: method, argument and actor of each call.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, object, Actor]] = []

    def stats(self, space: str | None, actor: Actor) -> Future[Mapping[str, Mapping[str, Any]]]:
        self.asked.append(("stats", space, actor))
        return finished(
            {
                "episodes": {"total": 3, "unconsolidated": 1, "backlog_age_hours": 2.5},
                "facts": {"active": 4, "fading": 1, "superseded": 0, "expired": 0},
                "rules": {"candidate": 1, "established": 0, "proven": 0, "anti_pattern": 0, "forgotten": 0},
            }
        )

    def audit(self, limit: int, actor: Actor) -> Future[tuple[OwnDeed, ...]]:
        self.asked.append(("audit", limit, actor))
        deed = OwnDeed(START_MS, "store", "m-1", "fact", "client:plug", {"rows": 3, "operation": "ADD"})
        return finished((deed, OwnDeed(START_MS - 1, "refused", detail={"code": "E4001"}, success=False))[:limit])

    def consolidate(
        self, actor: Actor, *, dry_run: bool = False, request_id: str | None = None
    ) -> Future[Consolidation]:
        self.asked.append(("consolidate", dry_run, actor))
        return finished(
            Consolidation(dry_run=True, planned={"stack": 2})
            if dry_run
            else Consolidation(dry_run=False, changed={"consolidated": 2})
        )

    def tidy(self, most: int | None, actor: Actor, request_id: str | None = None) -> Future[Tidied]:
        self.asked.append(("tidy", most, actor))
        return finished(Tidied(1, 2, 3))


class HasUpkeep:
    """The group on a stand-in for the engine."""

    _upkeep: FakeUpkeep | None = None

    @property
    def upkeep(self) -> FakeUpkeep:
        if self._upkeep is None:
            self._upkeep = FakeUpkeep()
        return self._upkeep

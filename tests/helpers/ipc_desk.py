"""The conflict desk of the engine that stands for the real one over the socket."""

from __future__ import annotations

from concurrent.futures import Future

from answered import finished

from core.types.reviews import Decided, Decision, ListedConflict, TurnedDown
from core.types.values import Actor


class FakeConflicts:
    def __init__(self) -> None:
        self.items: list[ListedConflict] = []
        self.asked: list[tuple[Actor, bool]] = []
        self.decisions: list[tuple[str, Decision, Actor]] = []
        self.turned: list[str] = []

    def listed(self, actor: Actor, *, everything: bool = False) -> Future[tuple[ListedConflict, ...]]:
        self.asked.append((actor, everything))
        return finished(tuple(self.items))

    def resolve(self, item_id: str, decision: Decision, actor: Actor, request_id: str | None = None) -> Future[Decided]:
        self.decisions.append((item_id, decision, actor))
        return finished(Decided("step-1", "Take the new one", ("m-2",), ("m-1",), ("c-2",)))

    def turn_down(self, name: str) -> Future[TurnedDown]:
        self.turned.append(name)
        return finished(TurnedDown("step-3", 500, 0))

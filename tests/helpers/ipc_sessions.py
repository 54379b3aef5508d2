"""The group of sessions on a stand-in for the engine: notes what it is asked and answers as the engine would."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future

from answered import finished

from core.types.recall import Context, ContextReply, Included, LeftOut
from core.types.sessions import (
    Captured,
    CaptureRequest,
    Resumed,
    SessionClosed,
    SummaryRequest,
    TurnBegun,
    TurnEnd,
    TurnEnded,
    TurnQuery,
)
from core.types.values import Actor


class FakeSessions:
    """Fits `Sessions` of the facade.

    Attributes:
        asked: what came with each call, and who called.
        left: clients and sessions that were put away.
    """

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.asked: list[tuple[object, Actor]] = []
        self.left: list[tuple[str | None, str]] = []
        self.captured = Captured("c-1", 2, 1, 1, 3, 1, 1, ("m-1", "m-2", "m-3"), ("m-3",))

    def begin(self, query: TurnQuery, actor: Actor) -> Future[TurnBegun]:
        self.asked.append((query, actor))
        inside, out = (Included("m-1", "full", "facts", 0.86, 20),), (LeftOut("m-2", "budget", 0.61),)
        packed = Context("# Memory Context\n", 20, 983, inside, out, "estimate", exact=False)
        reply = ContextReply(packed, "receipt-1", 1.5)
        return finished(TurnBegun("turn-1", reply, 8192, 983, known=True, at_hand=1, resumed=Resumed.FADED))

    def end(self, request: TurnEnd, actor: Actor) -> Future[TurnEnded]:
        self.asked.append((request, actor))
        return finished(TurnEnded(request.turn or "", request.turn is not None, self.captured, 2))

    def capture(self, request: CaptureRequest, actor: Actor) -> Future[Captured]:
        self.asked.append((request, actor))
        return finished(self.captured)

    def summary(self, request: SummaryRequest, actor: Actor) -> Future[Captured]:
        self.asked.append((request, actor))
        return finished(Captured(episodes=4, skipped=1, extracted=5, stored=4, ids=("m-1", "m-2", "m-3", "m-4")))

    def close(self, session: str, actor: Actor, request_id: str | None = None) -> Future[SessionClosed]:
        self.asked.append((session, actor))
        return finished(SessionClosed(3, 1))

    def in_use(self, client_id: str | None) -> frozenset[tuple[str | None, str]]:
        return frozenset((client_id, one) for one in self.used)

    def leave(self, names: Iterable[tuple[str | None, str]]) -> None:
        self.left += sorted(names, key=str)


class HasSessions:
    """The group on a stand-in for the engine."""

    _sessions: FakeSessions | None = None

    @property
    def sessions(self) -> FakeSessions:
        if self._sessions is None:
            self._sessions = FakeSessions()
        return self._sessions

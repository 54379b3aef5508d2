"""What one caller may use up: connections, and searches, reads and writes in a sliding window.

Times come from the clock only. Must not do: know who may do what; that is a matter of grants.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from core.ipc.protocol.messages import RateLimitedError
from core.types.clock import Clock

MINUTE_S = 60.0
_PAGES = 64  # pages a client may still ask for; the oldest is forgotten first
SESSION_S = 24 * 3600.0  # a client's "session" for its limit: 24 hours sliding, within one run of the engine


@dataclass(frozen=True, slots=True)
class Caps:
    """Numbers that bound what strangers and clients cost.

    Attributes:
        connections: connections of paired clients.
        per_client: connections of one client.
        strangers: connections that have not finished the handshake; one more puts out the oldest of them.
        owners: connections of the owner's channel.
        calls: calls of one connection that are carried out at the same time.
        handshake_s: seconds until a stranger must have finished the handshake.
        line_s: seconds from the first byte of a message to its end.
        drain_s: seconds a peer may take to read what waits for it.
        idle_s: seconds an authenticated connection may be silent; None for no end.
        malformed: unreadable messages, or a stranger's calls before its handshake, until a connection is closed.
        hellos: handshakes one connection may begin.
        watch_s: seconds between two looks at deadlines, revocations and the socket's place.
        handover_s: seconds running calls get before a hand-over goes on without them.
    """

    connections: int = 32
    per_client: int = 8
    strangers: int = 16  # so many more must come while one greets, before it is put out itself
    owners: int = 32
    calls: int = 8
    handshake_s: float = 8.0
    line_s: float = 8.0
    drain_s: float = 8.0
    idle_s: float | None = None
    malformed: int = 20
    hellos: int = 3
    watch_s: float = 0.5
    handover_s: float = 2.5


class SearchLimits:
    """Counts searches, reads and writes per client, not per connection: connecting anew resets nothing.

    Nor does revoking: what a client used up is known for as long as the process runs; there are no more of them than
    the person paired.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._spent: dict[str, deque[float]] = {}
        self._done: dict[tuple[str, str], deque[float]] = {}
        self._pages: dict[str, deque[int]] = {}

    def spend_search(self, client_id: str, per_minute: int | None, per_session: int | None) -> None:
        """Count one search, or refuse it. A refused one is not counted.

        Args:
            per_minute: searches in any 60 seconds; None for no limit.
            per_session: searches in any 24 hours of this run; None for no limit.

        Raises:
            RateLimitedError: with the seconds until the next search is allowed.
        """
        now = self._clock.monotonic()
        spent = self._spent.setdefault(client_id, deque())
        while spent and now - spent[0] >= SESSION_S:
            spent.popleft()
        self._check_window(spent, per_session, SESSION_S, now, "a session")
        self._check_window(spent, per_minute, MINUTE_S, now, "a minute")
        spent.append(now)
        while len(spent) > max(per_minute or 0, per_session or 0):
            spent.popleft()

    def count_call(self, client_id: str, word: str, per_minute: int) -> None:
        """Count a write, or a read that is no search, or refuse it. A refused one is not counted.

        Args:
            word: `read` or `write`; each has a count of its own.
            per_minute: so many in any 60 seconds.

        Raises:
            RateLimitedError: with the seconds until the next one is allowed.
        """
        now = self._clock.monotonic()
        done = self._done.setdefault((client_id, word), deque())
        while done and now - done[0] >= MINUTE_S:
            done.popleft()
        if len(done) >= per_minute:
            wait = done[-per_minute] + MINUTE_S - now
            raise RateLimitedError(
                f"This client may {word} {per_minute} times a minute; try again in {math.ceil(wait)} seconds.", wait
            )
        done.append(now)

    @staticmethod
    def _check_window(spent: deque[float], limit: int | None, window_s: float, now: float, name: str) -> None:
        if limit is None or len(spent) < limit:
            return
        wait = spent[-limit] + window_s - now  # the limit-th latest must leave the window
        if wait > 0:
            whole = math.ceil(wait)
            raise RateLimitedError(f"This client may search {limit} times {name}; try again in {whole} seconds.", wait)

    def expect_page(self, client_id: str, page: int) -> None:
        """A reply was cut: asking for its next page is part of the search that was counted.

        Args:
            page: a hash of the call that asks for it.
        """
        self._pages.setdefault(client_id, deque(maxlen=_PAGES)).append(page)

    def is_next_page(self, client_id: str, page: int) -> bool:
        """Whether a call asks for the next page of a counted search; each page is free once.

        Args:
            page: a hash of the call.

        Returns:
            False for any other call, so that an `after` that was never handed out costs as much as a search.
        """
        pages = self._pages.get(client_id, ())
        if page not in pages:
            return False
        self._pages[client_id].remove(page)
        return True

"""UUIDv7 ids: ordered by time within a process, random beyond it (RFC 9562)."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable

from core.types.clock import Clock

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class IdMaker:
    """Makes UUIDv7 texts that never run backwards, even when the clock does.

    Args:
        clock: the one clock.
        chance: gives as many random bytes as it is asked for; the machine's, unless what is made must come out again.
    """

    def __init__(self, clock: Clock, chance: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._chance = chance
        self._lock = threading.Lock()  # guards _last_ms and _counter
        self._last_ms = 0
        self._counter = 0

    def __call__(self) -> str:
        """Make one id.

        Returns:
            A lower-case UUIDv7 in its 36-character form.
        """
        random = int.from_bytes(self._chance(8), "big")
        with self._lock:
            now = self._clock.now_ms()
            if now > self._last_ms:
                self._last_ms, self._counter = now, random & 0x7FF
            else:
                self._counter += 1
                if self._counter > 0xFFF:
                    self._last_ms, self._counter = self._last_ms + 1, 0
            ms, counter = self._last_ms, self._counter
        value = (ms & 0xFFFFFFFFFFFF) << 80 | 7 << 76 | counter << 64 | 0b10 << 62
        value |= random & 0x3FFFFFFFFFFFFFFF
        text = f"{value:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_id(text: str) -> bool:
    """Whether a text has the form of a Loci id."""
    return _ID.fullmatch(text) is not None

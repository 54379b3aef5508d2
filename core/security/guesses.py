"""How fast secrets may be tried at a vault: a delay that grows with each wrong one and is kept over restarts.

The first few are free, since people mistype. It slows whoever sits at this program, not somebody who copied the key
file and tries elsewhere: against that stands Argon2id alone. Must not do: keep anything of what was typed, or keep a
person out for longer than the longest delay, whatever the clock does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.errors import Code, EnvironmentFaultError, UserError
from core.security.atomic import write_atomic
from core.security.keyfile import KeyFile
from core.security.keys import RootKey
from core.security.slots import open_with_secret
from core.types.clock import Clock

FREE = 5
"""Wrong secrets before the first delay."""

LONGEST_S = 300
_MOST = 1_000_000
_MAX_BYTES = 256


class GuessDelay:
    """Counts wrong secrets of one vault."""

    def __init__(self, path: Path, clock: Clock, tell: Callable[[int], None] = lambda _: None) -> None:
        """Name the file; touches nothing.

        Args:
            path: holds the count; there is no such file while nothing was wrong.
            clock: its wall clock goes on while the program does not run.
            tell: told with a right secret how many wrong ones came before it, where there were any.
        """
        self._path = path
        self._clock = clock
        self._tell = tell

    def open_slot(self, keys: KeyFile, secret: str) -> RootKey:
        """Open a slot with what somebody typed, no faster than wrong ones may be tried.

        Args:
            secret: the passphrase or the recovery code.

        Raises:
            UserError: TOO_MANY_GUESSES; nothing was tried. WRONG_SECRET; neither opens.
            LociError: as `open_with_secret`.
        """
        self.need_turn()
        try:
            root = open_with_secret(keys, secret)
        except UserError as error:
            if error.code is Code.WRONG_SECRET:
                self.note_wrong()
            raise
        wrong, _ = self._read()
        self.forget()
        if wrong:
            self._tell(wrong)
        return root

    def need_turn(self) -> None:
        """Refuse while the delay of the last wrong secret runs.

        Raises:
            UserError: TOO_MANY_GUESSES.
        """
        wrong, last_ms = self._read()
        now_ms = self._clock.now_ms()
        if wrong and now_ms < last_ms:
            # The clock was set back: the delay begins anew, or it would last until the clock is where it was.
            last_ms = now_ms
            self._write(wrong, last_ms)
        left_s = delay_s(wrong) - (now_ms - last_ms) / 1000
        if left_s > 0:
            seconds = max(1, round(left_s))
            rest = "a second" if seconds == 1 else f"{seconds} seconds"
            raise UserError(
                Code.TOO_MANY_GUESSES, f"A wrong secret was given {wrong} times; wait {rest} and try again."
            )

    def note_wrong(self) -> None:
        """One more was wrong. Where it cannot be written down, the next one is not delayed."""
        wrong, _ = self._read()
        self._write(min(wrong + 1, _MOST), self._clock.now_ms())

    def forget(self) -> None:
        """A right one was given."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self, wrong: int, last_ms: int) -> None:
        with suppress(EnvironmentFaultError):
            write_atomic(self._path, json.dumps({"wrong": wrong, "at": last_ms}).encode("ascii"))

    def _read(self) -> tuple[int, int]:
        """How many were wrong, and when the last one was; (0, 0) where nothing readable is there."""
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(_MAX_BYTES))
            wrong, last_ms = found["wrong"], found["at"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 0, 0
        if type(wrong) is not int or type(last_ms) is not int or not 0 <= wrong <= _MOST:
            return 0, 0
        return wrong, last_ms


def delay_s(wrong: int) -> int:
    """Seconds until the next secret may be tried.

    Args:
        wrong: how many were wrong since the last right one.

    Returns:
        0 for the first few, then 1, 2, 4 and so on up to the longest.
    """
    if wrong < FREE:
        return 0
    return min(LONGEST_S, 1 << min(wrong - FREE, 30))

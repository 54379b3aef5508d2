"""Starts `loci serve` when nobody answers: detached, once, and only where it can open the vault without asking.

Must not do: read a key or a passphrase; the child finds them itself. Must not wait for the child on the loop.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.mcp.words import sentence
from core.errors import Code, EnvironmentFaultError, LociError
from core.types.clock import Clock, SystemClock

_AGAIN_S = 15.0  # a vault that could not be opened is not tried with every call
_LOCKED_EXIT = 4
_PAUSES_S = (0.5, 1.0, 2.0, 5.0)  # who has the vault may need long, and each try loads a whole engine


class Starter:
    """Starts the engine of one home on request."""

    def __init__(self, arguments: Sequence[str], variables: Mapping[str, str], clock: Clock | None = None) -> None:
        """Make it; nothing is started yet.

        Args:
            arguments: the command, from `serving_command`.
            variables: the child's environment.
            clock: tells how long ago an attempt failed.
        """
        self._arguments, self._variables = tuple(arguments), dict(variables)
        self._clock = clock or SystemClock()
        self._child: subprocess.Popen[bytes] | None = None
        self._failed: tuple[float, LociError] | None = None
        self._lost = 0
        self._not_before = 0.0

    def wake(self) -> None:
        """Start the engine, unless that is under way.

        Raises:
            EnvironmentFaultError: VAULT_LOCKED where nothing opens the vault without the person; NOT_HERE.
        """
        if self._failed is not None and self._clock.monotonic() - self._failed[0] < _AGAIN_S:
            raise self._failed[1]
        if self._child is None:
            if self._clock.monotonic() >= self._not_before:
                self._failed = None
                self._child = self._started()
            return
        ended = self._child.poll()
        if ended is None:
            return
        self._child = None
        if ended == _LOCKED_EXIT:
            raise self._fail(EnvironmentFaultError(Code.VAULT_LOCKED, sentence("locked")))
        if ended not in (0, 3):
            raise self._fail(EnvironmentFaultError(Code.NOT_HERE, sentence("not_started")))
        # Trigger: another process has the vault and will answer, or did and has gone. Why: it may work for long without
        # a socket (a restore, an import). Outcome: the next try waits, longer each time.
        self._not_before = self._clock.monotonic() + _PAUSES_S[min(self._lost, len(_PAUSES_S) - 1)]
        self._lost += 1

    def found(self) -> None:
        """The engine answered: the next start is tried at once again."""
        self._lost, self._not_before = 0, 0.0

    def _fail(self, error: LociError) -> LociError:
        self._failed = (self._clock.monotonic(), error)
        return error

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._arguments,
                cwd=Path.home(),
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # it outlives this server: other assistants use it too
                creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
            )
        except OSError:
            raise self._fail(EnvironmentFaultError(Code.NOT_HERE, sentence("not_started"))) from None


def own_command() -> list[str]:
    """How this program is started, for an assistant's configuration and for a child."""
    script = Path(sys.prefix) / ("Scripts/loci.exe" if sys.platform == "win32" else "bin/loci")
    if getattr(sys, "frozen", False):
        return [sys.executable]
    return [str(script)] if script.is_file() else [sys.executable, "-m", "app"]


def serving_command(home: Path, secret_file: Path | None) -> list[str]:
    """The command that runs the engine of a home and ends at once where it would have to ask.

    Args:
        home: where the vault lives.
        secret_file: file with the passphrase, if one was named.

    Returns:
        The command and its arguments; no secret in them.
    """
    secret = [] if secret_file is None else ["--passphrase-file", str(secret_file)]
    return [*own_command(), "--home", str(home), *secret, "serve", "--unlocked"]

"""The only wiring: from what the environment says to an engine and a socket path."""

from __future__ import annotations

from collections.abc import Callable

from app.environment import Environment, moved_clock
from core.engine.facade import Engine, Home, HomeKeys, Setup, built_in_embedder
from core.ipc.moments import localise
from core.ipc.transport import Place, socket_place
from core.types.clock import Clock, SystemClock


class Parts:
    """What a process is made of; built once, handed on.

    Attributes:
        environment: what the environment says.
        home: where the vault lives.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.home = Home(environment.home)

    @property
    def place(self) -> Place:
        """Where the engine of this home listens.

        Raises:
            UserError: CONFIG_INVALID when no path is short enough.
        """
        found = self.environment
        return socket_place(found.home, found.default_home, found.runtime_dir, found.socket)

    def new_clock(self, test_clock: bool) -> Clock:
        """The clock for a vault that is about to be made.

        Args:
            test_clock: whether it is one whose clock may be moved.

        Returns:
            The clock.
        """
        now = self.environment.now
        return moved_clock(now) if test_clock and now is not None else SystemClock()

    def clock(self, tell: Callable[[str], None]) -> Clock:
        """The one clock: the machine's, or the one `LOCI_NOW` asks for on a vault made for tests.

        Args:
            tell: says that `LOCI_NOW` was ignored.

        Returns:
            The clock.
        """
        now = self.environment.now
        if now is None:
            return SystemClock()
        if HomeKeys(self.home).has_test_clock:
            return moved_clock(now)
        tell("LOCI_NOW is ignored: this vault was not made with `init --test-clock`.")
        return SystemClock()

    def engine(self, tell: Callable[[str], None]) -> Engine:
        """A locked engine for this home.

        Args:
            tell: says what the person should know.

        Returns:
            The engine; whoever asks closes it.
        """
        return Engine(Setup(self.home, self.clock(tell), built_in_embedder()))


def local_time(typed: str | None) -> str | None:
    """A time of the command line: without a zone it is this machine's.

    Args:
        typed: as the person wrote it, if they did.

    Returns:
        The same with this machine's offset where it named none.
    """
    return None if typed is None else localise(typed)

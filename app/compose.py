"""The only wiring: from what the environment says to an engine and a socket path."""

from __future__ import annotations

from collections.abc import Callable

from app.environment import Environment, moved_clock
from core.engine.facade import Engine, Home, HomeKeys, RootKey, Setup, built_in_embedder
from core.ipc.protocol.time_format import iso, localise
from core.ipc.protocol.transport import Place, is_alive, socket_place
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
            UserError: CONFIG_INVALID when `LOCI_SOCKET` is too long.
        """
        found = self.environment
        return socket_place(found.home, found.default_home, found.runtime_dir, found.socket)

    @property
    def is_answered(self) -> bool:
        """Whether somebody answers where the engine of this home listens."""
        return is_alive(self.place.path)

    def new_clock(self, test_clock: bool, tell: Callable[[str], None]) -> Clock:
        """The clock for a vault that is about to be made.

        Args:
            test_clock: whether it is one whose clock may be moved.
            tell: says that `LOCI_NOW` was ignored.

        Returns:
            The clock.
        """
        now = self.environment.now
        if now is None or test_clock:
            return SystemClock() if now is None else moved_clock(now)
        tell("LOCI_NOW is ignored: the vault is made without --test-clock.")
        return SystemClock()

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

    def engine(self, tell: Callable[[str], None], take_over: Callable[[RootKey], None] | None = None) -> Engine:
        """A locked engine for this home.

        Args:
            tell: says what the person should know.
            take_over: asks another process that owns the vault to hand it over; None where it may keep it.

        Returns:
            The engine; whoever asks closes it.
        """
        setup = Setup(
            self.home,
            self.clock(tell),
            built_in_embedder(),
            person_home=self.environment.person_home,
            take_over=take_over,
        )
        return Engine(setup)


def shown_time(ms: int) -> str | None:
    """A moment as the contract shows it.

    Args:
        ms: epoch ms.

    Returns:
        ISO 8601 in UTC.
    """
    return iso(ms)


def local_time(typed: str | None) -> str | None:
    """A time of the command line: without a zone it is this machine's.

    Args:
        typed: as the person wrote it, if they did.

    Returns:
        The same with this machine's offset where it named none.
    """
    return None if typed is None else localise(typed)

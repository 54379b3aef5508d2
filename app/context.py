"""What a process knows before any engine: what the environment says, the home, the clock, the socket's place.

Whoever only greets an engine that runs starts with this. Must not do: load the engine.
"""

from __future__ import annotations

from collections.abc import Callable

from app.environment import Environment, make_moved_clock
from core.engine.home.folder import Home
from core.ipc.protocol.transport import Place, is_alive, socket_place
from core.types.clock import Clock, SystemClock


class AppContext:
    """The surroundings of a process; built once, handed on.

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

    def make_new_clock(self, test_clock: bool, warn: Callable[[str], None]) -> Clock:
        """The clock for a vault that is about to be made.

        Args:
            test_clock: whether it is one whose clock may be moved.
            warn: says that `LOCI_NOW` was ignored.
        """
        now = self.environment.now
        if now is None or test_clock:
            return SystemClock() if now is None else make_moved_clock(now)
        warn("LOCI_NOW is ignored: the vault is made without --test-clock.")
        return SystemClock()

    def make_clock(self, warn: Callable[[str], None]) -> Clock:
        """The one clock: the machine's, or the one `LOCI_NOW` asks for on a vault made for tests.

        Args:
            warn: says that `LOCI_NOW` was ignored.
        """
        now = self.environment.now
        if now is None:
            return SystemClock()
        from core.engine.home.keys import HomeKeys  # what opens keys is large, and only a vault for tests is asked here

        if HomeKeys(self.home).has_test_clock:
            return make_moved_clock(now)
        warn("LOCI_NOW is ignored: this vault was not made with `init --test-clock`.")
        return SystemClock()

"""The listening socket: bound aside, then renamed into its place, and taken away at the end."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

from core.errors import Code, EnvironmentFaultError, UserError
from core.ipc.protocol.transport import PLATFORM, Place, is_alive, is_too_long, prepare_directory

_BACKLOG = 64
OnConnect = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listener:
    """A listening socket that is bound aside and then renamed into its place."""

    def __init__(self, place: Place, sock: socket.socket, aside: Path) -> None:
        self.place = place
        self._sock, self._aside, self._at = sock, aside, aside
        found = aside.lstat()
        self._file = (found.st_dev, found.st_ino)
        self._server: asyncio.Server | None = None

    @classmethod
    def bind_to(cls, place: Place) -> Listener:
        """Bind under another name in the same directory; nobody finds it there.

        Args:
            place: where it will lie.

        Returns:
            A bound socket with mode 0600 that does not listen yet.

        Raises:
            UserError: CONFIG_INVALID when the path is too long.
            EnvironmentFaultError: the directory is not fit, or the socket cannot be bound.
        """
        if PLATFORM == "win32":
            raise EnvironmentFaultError(Code.NOT_HERE, "Loci's socket is not available on this platform yet.")
        if is_too_long(place.path):
            raise UserError(
                Code.CONFIG_INVALID, "The path of the socket is too long; set LOCI_SOCKET to a shorter one."
            )
        prepare_directory(place)
        # As long as the name it will have, so that it fits wherever that fits.
        aside = place.path.with_name("." + secrets.token_hex(len(place.path.name))[: max(len(place.path.name) - 1, 1)])
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Linux takes the mode of the new file from the socket's own; elsewhere the chmod follows while the file has
            # a name nobody knows in a directory nobody enters. The umask is left alone: it belongs to all threads.
            if PLATFORM == "linux":
                os.fchmod(sock.fileno(), 0o600)
            sock.bind(os.fspath(aside))
            aside.chmod(0o600)
            sock.settimeout(0)
            return cls(place, sock, aside)
        except OSError as fault:
            sock.close()
            raise EnvironmentFaultError(Code.CONFIG_INVALID, f"The socket cannot be made ({fault.strerror}).") from None

    async def serve(self, on_connect: OnConnect) -> None:
        """Begin to accept; the reader of a connection never holds more than 128 KiB.

        Args:
            on_connect: runs as a task of its own for each connection.
        """
        self._server = await asyncio.start_unix_server(on_connect, sock=self._sock, limit=64 * 1024, backlog=_BACKLOG)

    def publish_socket(self) -> None:
        """Rename the socket into its place; a dead one that lies there is replaced.

        Raises:
            EnvironmentFaultError: VAULT_BUSY when another program answers at a place the person chose;
                CONFIG_INVALID when something that is no socket lies there.
        """
        path = self.place.path
        try:
            found = path.lstat()
        except FileNotFoundError:
            found = None
        if found is not None and not stat.S_ISSOCK(found.st_mode):
            raise EnvironmentFaultError(Code.CONFIG_INVALID, "Something that is no socket lies at the socket's place.")
        # Trigger: a live socket at our place. Why: the vault's lock is ours, so below a home it can only be a squatter;
        # at a chosen path it may serve another vault. Outcome: the first is replaced, the second left alone.
        if found is not None and self.place.chosen and is_alive(path):
            raise EnvironmentFaultError(Code.VAULT_BUSY, "Another program answers at LOCI_SOCKET; choose another path.")
        try:
            self._at.rename(path)
        except OSError as fault:
            raise EnvironmentFaultError(
                Code.CONFIG_INVALID, f"The socket cannot be placed ({fault.strerror})."
            ) from None
        self._at = path

    @property
    def published(self) -> bool:
        """Whether it has been renamed into its place."""
        return self._at == self.place.path

    def in_place(self) -> bool:
        """Whether the file at the place is still ours."""
        try:
            found = self._at.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._file

    async def close(self) -> None:
        """Stop accepting and take the file away, if it is still ours."""
        if self.in_place():
            self._at.unlink(missing_ok=True)
        if self._server is None:
            self._sock.close()
            return
        # Trigger: a connection was accepted whose transport is not made yet. Why: a server that is closed takes no
        # transport, and the connection would stay open until collected. Outcome: it is made first, and ended as others.
        asyncio.get_running_loop().remove_reader(self._sock)
        await asyncio.sleep(0)
        self._server.close()

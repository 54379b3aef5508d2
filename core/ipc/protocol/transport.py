"""Where the socket lies, who may stand at its other end, and how it gets to its place.

On Linux and macOS a Unix domain socket in a directory of ours; there is no network listener of any kind.
Must not do: read the environment (`app.context` hands paths in), speak the protocol.
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import os
import secrets
import socket
import stat
import struct
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from core.errors import Code, EnvironmentFaultError, LociError, UserError

_PLATFORM: str = sys.platform
_LINUX = _PLATFORM == "linux"
_SUN_PATH = 107 if _LINUX else 103  # bytes of a socket's path, its NUL not counted
_BACKLOG = 64
_NAME = "loci.sock"

OnConnect = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a vault's socket lies.

    Attributes:
        path: the socket.
        chosen: the person named it; then its directory is only checked, never made or changed.
    """

    path: Path
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end.

    Attributes:
        uid: the user, as the kernel says.
        pid: the process as the kernel saw it when it connected; None where it is not told.
        program: its name as reported; a hint to show, never a reason to trust.
    """

    uid: int
    pid: int | None = None
    program: str = ""


def socket_place(home: Path, default_home: Path, runtime_dir: Path | None, override: Path | None = None) -> Place:
    """Find a vault's socket; server and clients get the same answer.

    Args:
        home: the vault's home, absolute.
        default_home: the platform's default home.
        runtime_dir: `XDG_RUNTIME_DIR`; ignored unless it is a directory of ours.
        override: `LOCI_SOCKET`.

    Returns:
        `<runtime>/loci/loci.sock` for the default home, `<home>/run/loci.sock` for another, a short name in the runtime
        directory where that is too long. Where nothing is short enough, a path nobody can listen at: clients find no
        engine there, and binding says why.

    Raises:
        UserError: CONFIG_INVALID when the override is too long.
    """
    if override is not None:
        if _too_long(override):
            raise UserError(Code.CONFIG_INVALID, f"LOCI_SOCKET is longer than {_SUN_PATH} bytes; shorten it.")
        return Place(override, chosen=True)
    runtime = runtime_dir / "loci" if runtime_dir is not None and is_own_folder(runtime_dir) else None
    if runtime is not None and home == default_home and not _too_long(runtime / _NAME):
        return Place(runtime / _NAME)
    path = home / "run" / _NAME
    if _too_long(path) and runtime is not None:
        path = runtime / f"{hashlib.blake2b(os.fsencode(home), digest_size=8).hexdigest()}.sock"
    return Place(path)


def _too_long(path: Path) -> bool:
    return len(os.fsencode(path)) > _SUN_PATH


def is_own_folder(folder: Path) -> bool:
    """Whether a path is a folder of this user, and no link."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def prepare_directory(place: Place) -> None:
    """Make the socket's directory, or see that it is fit: ours, no link, mode 0700.

    Args:
        place: where the socket will lie.

    Raises:
        EnvironmentFaultError: CONFIG_INVALID when the directory is not fit or cannot be made.
    """
    folder = place.path.parent
    try:
        if not place.chosen:
            folder.mkdir(mode=0o700, exist_ok=True)
            if is_own_folder(folder) and stat.S_IMODE(folder.lstat().st_mode) != 0o700:
                folder.chmod(0o700)
        check_directory(place)
    except OSError as fault:
        raise EnvironmentFaultError(
            Code.CONFIG_INVALID, f"The socket's directory cannot be used ({fault.strerror})."
        ) from None


def check_directory(place: Place) -> None:
    """See that nobody else can put a socket into the directory.

    Args:
        place: where the socket lies.

    Raises:
        EnvironmentFaultError: CONFIG_INVALID; a link, not ours, or open to others.
    """
    try:
        found = place.path.parent.lstat()
    except OSError:
        raise EnvironmentFaultError(Code.CONFIG_INVALID, "The socket's directory is not there.") from None
    is_own = found.st_uid == os.geteuid()
    # Trigger: LOCI_SOCKET names a file in a directory such as /tmp. Why: the sticky bit keeps others from moving our
    # socket, and peer uid and proof are checked anyway. Outcome: allowed for a path the person chose, nowhere else.
    sticky = place.chosen and found.st_uid == 0 and bool(found.st_mode & stat.S_ISVTX)
    open_to = 0o022 if place.chosen else 0o077
    if not stat.S_ISDIR(found.st_mode) or not (sticky or (is_own and not found.st_mode & open_to)):
        raise EnvironmentFaultError(
            Code.CONFIG_INVALID, "The socket's directory is a link, belongs to somebody else or is open to others."
        )


def peer_of(sock: socket.socket) -> Peer:
    """Ask the kernel who is at the other end.

    Args:
        sock: a connected Unix socket.

    Raises:
        EnvironmentFaultError: NOT_HERE when this platform cannot tell.
        OSError: the connection is gone.
    """
    if _LINUX:
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        pid, uid, _gid = struct.unpack("3i", raw)
        return Peer(uid, pid, _program_name(pid))
    if _PLATFORM == "darwin":
        uid_box, gid_box = ctypes.c_uint32(), ctypes.c_uint32()
        library = ctypes.CDLL(None, use_errno=True)
        if library.getpeereid(sock.fileno(), ctypes.byref(uid_box), ctypes.byref(gid_box)) != 0:
            raise OSError(ctypes.get_errno(), "getpeereid")
        return Peer(uid_box.value)
    raise EnvironmentFaultError(Code.NOT_HERE, "This platform cannot tell who is on the socket.")


def _program_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def is_alive(path: Path) -> bool:
    """Whether somebody answers at a socket's path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:
            return True  # its backlog is full: somebody listens
        except OSError:
            return False
        return True


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
        if _PLATFORM == "win32":
            raise EnvironmentFaultError(Code.NOT_HERE, "Loci's socket is not available on this platform yet.")
        if _too_long(place.path):
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
            if _LINUX:
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


def connect_to(place: Place, timeout_s: float) -> socket.socket:
    """Connect to a vault's socket and see that its owner is the same user.

    Args:
        place: where it lies.
        timeout_s: seconds for connecting.

    Raises:
        EnvironmentFaultError: NOT_HERE when nobody answers; CONFIG_INVALID for an unfit directory.
        UserError: ACCESS_DENIED when somebody else owns the other end.
    """
    if _too_long(place.path) or not os.path.lexists(place.path):
        raise _no_server_error()  # whatever its directory is like, nobody is there to be trusted or not
    check_directory(place)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout_s)
        sock.connect(os.fspath(place.path))
        _check_peer(sock)
    except OSError:
        sock.close()
        raise _no_server_error() from None
    except LociError:
        sock.close()
        raise
    return sock


def _check_peer(sock: socket.socket) -> None:
    if peer_of(sock).uid != os.geteuid():
        raise UserError(Code.ACCESS_DENIED, "The program on the socket belongs to another user.")


def _no_server_error() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.NOT_HERE, "Loci is not running for this vault; start it with `loci serve`.")

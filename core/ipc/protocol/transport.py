"""Where the socket lies, in which directory, and who stands at its other end.

On Linux and macOS a Unix domain socket in a directory of ours; there is no network listener of any kind.
Must not do: read the environment (`app.context` hands paths in), speak the protocol.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import socket
import stat
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from core.errors import Code, EnvironmentFaultError, UserError

PLATFORM: str = sys.platform
_LINUX = PLATFORM == "linux"
_SUN_PATH = 107 if _LINUX else 103  # bytes of a socket's path, its NUL not counted
_NAME = "loci.sock"


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
    """The user and the process at the other end of a socket.

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
        if is_too_long(override):
            raise UserError(Code.CONFIG_INVALID, f"LOCI_SOCKET is longer than {_SUN_PATH} bytes; shorten it.")
        return Place(override, chosen=True)
    runtime = runtime_dir / "loci" if runtime_dir is not None and is_own_folder(runtime_dir) else None
    if runtime is not None and home == default_home and not is_too_long(runtime / _NAME):
        return Place(runtime / _NAME)
    path = home / "run" / _NAME
    if is_too_long(path) and runtime is not None:
        path = runtime / f"{hashlib.blake2b(os.fsencode(home), digest_size=8).hexdigest()}.sock"
    return Place(path)


def is_too_long(path: Path) -> bool:
    """Whether a path is too long for a socket."""
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
    """Ask the kernel which user and process is at the other end of a socket.

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
    if PLATFORM == "darwin":
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

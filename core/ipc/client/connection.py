"""The connection to a vault's socket, whose owner must be the same user."""

from __future__ import annotations

import os
import socket

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.protocol.transport import Place, check_directory, is_too_long, peer_of


def connect_to(place: Place, timeout_s: float) -> socket.socket:
    """Connect to a vault's socket and see that its owner is the same user.

    Args:
        place: where it lies.
        timeout_s: seconds for connecting.

    Raises:
        EnvironmentFaultError: NOT_HERE when nobody answers; CONFIG_INVALID for an unfit directory.
        UserError: ACCESS_DENIED when somebody else owns the other end.
    """
    if is_too_long(place.path) or not os.path.lexists(place.path):
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

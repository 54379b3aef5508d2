"""Where the model server is, and whether it may be called (design section 7).

Must not do: connect anywhere.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import Code, UserError

DEFAULT_PORT = 11434
_SHAPE = re.compile(r"(?:https?://)?(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z.\-]+|[0-9A-Fa-f:]+:[0-9A-Fa-f:]*)(?::\d{1,5})?/?")

Resolve = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An address that may be called.

    Attributes:
        url: scheme, host and port. On loopback the host is the address itself, so that a name cannot come to mean
            another machine between the check and the call.
        host: for a plain connection.
        port: 1 to 65535.
        loopback: whether it is this machine.
    """

    url: str
    host: str
    port: int
    loopback: bool


def resolve_address(host: str) -> Sequence[str]:
    """The addresses of a name; asks the system.

    Args:
        host: a name or an address.

    Returns:
        Addresses as text; empty where the name is unknown.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def parse_address(host: str, *, beyond: bool = False, resolve: Resolve = resolve_address) -> ServerAddress:
    """Check an address that the person set.

    Args:
        host: `127.0.0.1`, `localhost:11434`, `http://[::1]:11434` …; without a port Ollama's own is meant.
        beyond: whether the person confirmed an address that is not this machine.
        resolve: gives the addresses of a name.

    Returns:
        The address to call.

    Raises:
        UserError: CONFIG_INVALID for what is no address; ACCESS_DENIED where any address of the name is not this
            machine and the person has not confirmed it.
    """
    scheme, name, port = _split_address(host)
    addresses = _resolve_addresses(name, resolve)
    loopback = bool(addresses) and all(ipaddress.ip_address(one).is_loopback for one in addresses)
    if loopback:
        first = addresses[0]
        return ServerAddress(_make_url(scheme, first, port), first, port, loopback=True)
    if not beyond:
        raise UserError(
            Code.ACCESS_DENIED,
            "The model server's address is not this machine; confirm in the settings that texts may go there.",
        )
    return ServerAddress(_make_url(scheme, name, port), name, port, loopback=False)


def _split_address(host: str) -> tuple[str, str, int]:
    text = host.strip()
    if not _SHAPE.fullmatch(text):
        raise _bad_address_error()
    scheme, _, rest = text.rpartition("://")
    rest = rest.rstrip("/")
    if rest.count(":") > 1 and not rest.startswith("["):
        rest = f"[{rest}]"  # a bare IPv6 address
    try:
        split = urlsplit(f"{scheme or 'http'}://{rest}")
        port = DEFAULT_PORT if split.port is None else split.port
    except ValueError:
        raise _bad_address_error() from None
    if not split.hostname or not 1 <= port <= 65_535:
        raise _bad_address_error()
    return split.scheme, split.hostname, port


def _resolve_addresses(name: str, resolve: Resolve) -> tuple[str, ...]:
    try:
        return (str(ipaddress.ip_address(name)),)
    except ValueError:
        pass
    found: list[str] = []
    for one in resolve(name):
        try:
            found.append(str(ipaddress.ip_address(one)))
        except ValueError:
            return ()
    # Old resolvers list ::1 first though most servers listen on IPv4 alone.
    return tuple(sorted(found, key=lambda one: ":" in one))


def _make_url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _bad_address_error() -> UserError:
    return UserError(Code.CONFIG_INVALID, "The model server's address is a host with a port, such as 127.0.0.1:11434.")

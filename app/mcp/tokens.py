"""Where a client of this machine keeps its token: one file for each client, readable by its owner alone.

Must not do: follow a link, read a file that others may read or write, show a token.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

import platformdirs

from app.environment import Environment
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.client.client import token_from_text

_MOST_BYTES = 4096
_FOLDER = "clients"


def token_file(found: Environment, client: str) -> Path:
    """The file of one client of one home.

    Args:
        found: what the environment says.
        client: the client's name; one the engine takes cannot leave the directory.

    Returns:
        `<config dir>/clients/NAME.token`; for a home that is not the default one, in a directory of that home's own.
    """
    folder = Path(platformdirs.user_config_dir("loci", appauthor=False, roaming=False)) / _FOLDER
    if found.home != found.default_home:
        folder /= hashlib.blake2b(os.fsencode(found.home), digest_size=8).hexdigest()
    return folder / f"{client}.token"


def read_token(path: Path) -> bytes | None:
    """Read a token.

    Args:
        path: from `token_file`.

    Returns:
        32 bytes; None where there is no such file.

    Raises:
        UserError: ACCESS_DENIED for a link, somebody else's file or one that others may read; INVALID_INPUT.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError:
        raise _make_token_error() from None
    try:
        seen = os.fstat(descriptor)
        open_to_others = os.name == "posix" and (seen.st_uid != os.geteuid() or seen.st_mode & 0o077)
        if not stat.S_ISREG(seen.st_mode) or open_to_others:
            raise _make_token_error()
        raw = os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)
    return token_from_text(raw.decode("ascii", "replace"))


def write_token(path: Path, text: str) -> None:
    """Keep a token, in a file of mode 0600; an older one is replaced.

    Args:
        path: from `token_file`.
        text: as `loci pair` prints it.

    Raises:
        UserError: INVALID_INPUT for what is no token.
        EnvironmentFaultError: WRITE_FAILED.
    """
    token_from_text(text)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(FileNotFoundError):
            aside.unlink()
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text.strip() + "\n")
        aside.replace(path)
    except OSError:
        raise EnvironmentFaultError(Code.WRITE_FAILED, "The file for the client's token cannot be written.") from None


def _make_token_error() -> LociError:
    return UserError(
        Code.ACCESS_DENIED,
        "The client's token file is a link, not yours, or open to others; make it 0600 or pair anew.",
    )

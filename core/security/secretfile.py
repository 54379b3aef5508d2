"""Reading a passphrase from a file: its first line, without the line end.

A FIFO or ``/dev/fd/N`` will do. Must not do: ask a person, name the file in an error.
"""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import Code, UserError

MAX_SECRET_BYTES = 4096
"""Longest line accepted, in bytes of UTF-8."""

_BYTE_ORDER_MARK = "\ufeff"


def read_secret_file(path: Path) -> str:
    """Read the secret on the first line of a file.

    Args:
        path: a regular file, a FIFO or a descriptor under ``/dev/fd``. Nothing past the
            first line is waited for.

    Returns:
        The secret, spaces kept.

    Raises:
        UserError: VAULT_LOCKED where it cannot be read; WRONG_SECRET where it is empty, too long, or not UTF-8 text.
    """
    line = _first_line(path)
    if line is None:
        raise UserError(Code.VAULT_LOCKED, "The passphrase file cannot be read; name one that is there.")
    if len(line) > MAX_SECRET_BYTES:
        raise UserError(Code.WRONG_SECRET, f"The first line of the passphrase file is over {MAX_SECRET_BYTES} bytes.")
    secret = _as_text(line)
    if secret is None or "\0" in secret:
        raise UserError(Code.WRONG_SECRET, "The passphrase file is not UTF-8 text.")
    if not secret:
        raise UserError(Code.WRONG_SECRET, "The first line of the passphrase file is empty.")
    return secret


def _first_line(path: Path) -> bytes | None:
    """The bytes before the line end; more than the limit when the line is too long."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return None
    held = b""
    try:
        # One byte over the limit for a carriage return, one to see that there is more.
        while b"\n" not in held and len(held) < MAX_SECRET_BYTES + 2:
            more = os.read(descriptor, MAX_SECRET_BYTES + 2 - len(held))
            if not more:
                break
            held += more
    except OSError:
        return None
    finally:
        os.close(descriptor)
    line, end, _ = held.partition(b"\n")
    return line.removesuffix(b"\r") if end else line


def _as_text(line: bytes) -> str | None:
    try:
        # Some editors put a byte order mark in front; nobody can type it again at a prompt.
        return line.decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        return None

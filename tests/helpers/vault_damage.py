"""Damage on purpose to a closed vault, and the vaults of a future Loci."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlcipher3 import dbapi2

from core.engine.facade import Home, HomeKeys
from core.engine.home.keys import sub_keys

PAGE = 8192
KEY_FILES = ("vault.keys", "vault.keys.bak")


def flip(path: Path, at: int) -> None:
    """Turn one bit of a file.

    Args:
        at: the byte; from the end when negative.
    """
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


def opened(home: Path, secret: str) -> dbapi2.Connection:
    """A plain connection to a closed vault; the caller closes it."""
    with HomeKeys(Home(home)).open(secret) as root:
        key = sub_keys(root).db
    connection = dbapi2.connect(str(home / "vault.db"), isolation_level=None)
    connection.set_key(f"x'{key.hex()}'")
    connection.execute(f"PRAGMA cipher_page_size = {PAGE}")
    return connection


def set_schema_version(home: Path, secret: str, version: int) -> None:
    """Make a closed vault look like one of another version."""
    connection = opened(home, secret)
    try:
        connection.execute(f"PRAGMA user_version = {version}")
    finally:
        connection.close()


def rewrite_keys(home: Path, change: dict[str, Any]) -> None:
    """Write both copies of the key file anew with other fields and a checksum that fits.

    Args:
        change: fields of the body.
    """
    body = json.loads((home / KEY_FILES[0]).read_bytes().partition(b"\n")[2])
    made = json.dumps({**body, **change}, sort_keys=True, separators=(",", ":")).encode("ascii")
    data = b"LOCIKEYS1 " + sha256(made).hexdigest().encode("ascii") + b"\n" + made
    for name in KEY_FILES:
        (home / name).write_bytes(data)


def page_of(home: Path, secret: str, table: str) -> int:
    """Where in `vault.db` a table begins, in bytes."""
    connection = opened(home, secret)
    try:
        ((root_page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    finally:
        connection.close()
    return int((root_page - 1) * PAGE)

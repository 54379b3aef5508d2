"""What the vault's tests share: a small home, fixed keys, rows that the schema accepts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlcipher3 import dbapi2

from core.types.clock import Clock, ManualClock
from core.vault.database.tx import Tx
from core.vault.files.home import Home, SubKeys
from core.vault.vault import Vault

KEYS = SubKeys(db=b"d" * 32, head=b"h" * 32, audit=b"a" * 32)
VAULT_ID = bytes(range(16))
BACKUP_KEY = b"b" * 32
START_MS = 1_700_000_000_000
RESERVE = 256 * 1024
MARKER = "quinquagesima-Marzipanturm"


def home_at(path: Path) -> Home:
    """A home with a small reserve."""
    return Home(path, reserve_bytes=RESERVE)


def new_vault(path: Path, clock: Clock | None = None) -> Home:
    """A home with a new vault in it, closed."""
    home = home_at(path)
    Vault.create_files(home, KEYS, VAULT_ID, clock or ManualClock(START_MS))
    return home


def open_at(home: Home, clock: Clock | None = None, readers: int = 2) -> Vault:
    """Open a vault with the fixed keys."""
    return Vault.open(home, KEYS, VAULT_ID, clock or ManualClock(START_MS), readers)


@contextmanager
def opened(home: Home, clock: Clock | None = None, readers: int = 2) -> Iterator[Vault]:
    """Open a vault and close it again."""
    vault = open_at(home, clock, readers)
    try:
        yield vault
    finally:
        vault.close()


def raw(path: Path, key: bytes = KEYS.db) -> dbapi2.Connection:
    """A plain connection with the key, for looking and for damage on purpose."""
    connection = dbapi2.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA cipher_log_level = NONE")
    connection.set_key(f"x'{key.hex()}'")
    connection.execute("PRAGMA cipher_page_size = 8192")
    return connection


def memory(n: int, text: str | None = None, **more: object) -> dict[str, object]:
    """A row for `memories` that breaks no rule."""
    words = f"note number {n}" if text is None else text
    row: dict[str, object] = {
        "n": n,
        "id": f"m{n}",
        "kind": "episode",
        "status": "active",
        "text": words,
        "content_hash": sha256(words.encode()).digest(),
        "space_id": "home",
        "source": "user_explicit",
        "role": "user",
        "lineage": "l",
        "recorded_at": START_MS,
        "trust": 0.5,
        "confidence": 0.5,
        "last_confirmed_at": START_MS,
        "chain_id": f"m{n}",
    }
    return {**row, **more}


def store(tx: Tx, n: int, text: str | None = None, **more: object) -> None:
    """A memory and its terms."""
    row = memory(n, text, **more)
    tx.insert("memories", row)
    tx.run("INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", (n, str(row["text"])))


def store_many(vault: Vault, count: int, first: int = 1) -> None:
    """Memories, each in its own transaction."""
    for n in range(first, first + count):
        vault.write(lambda tx, n=n: store(tx, n))  # type: ignore[misc]


def claim(name: str, **more: object) -> dict[str, object]:
    """A row for `claims`."""
    row: dict[str, object] = {
        "id": name,
        "space_id": "home",
        "claim_key": sha256(name.encode()).digest(),
        "subject": "Ada",
        "subject_key": "ada",
        "predicate": "lives in",
        "value": name,
        "value_key": name,
        "exclusive": 1,
        "extracted_by": "rules",
        "recorded_at": START_MS,
    }
    return {**row, **more}


def evidence(name: str, claim_id: str, memory_id: str = "m1", **more: object) -> dict[str, object]:
    """A row for `evidence`."""
    row: dict[str, object] = {
        "id": name,
        "claim_id": claim_id,
        "memory_id": memory_id,
        "space_id": "home",
        "quote": "note",
        "start_at": 0,
        "end_at": 4,
        "span_hash": bytes(32),
        "method": "rules",
        "lineage": "l",
        "observed_at": START_MS,
        "recorded_at": START_MS,
    }
    return {**row, **more}


def entity(name: str, space: str = "home") -> dict[str, object]:
    """A row for `entities`."""
    return {"id": name, "space_id": space, "name": name, "type": "person", "recorded_at": START_MS}


def every_byte(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All regular files below a folder with their content; never while this process has the vault open."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path, path.read_bytes()


def modes(folder: Path) -> dict[str, int]:
    """Permission bits of everything below a folder."""
    return {str(path.relative_to(folder)): path.lstat().st_mode & 0o777 for path in sorted(folder.rglob("*"))}


class Recording:
    """A recorder that keeps what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any], dict[str, Any] | None, dict[str, Any] | None]] = []

    def record_change(self, table: str, key: Any, before: Any, after: Any) -> None:
        """Keep one change."""
        self.seen.append(
            (table, dict(key), None if before is None else dict(before), None if after is None else dict(after))
        )

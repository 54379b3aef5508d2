"""What happened to the keys while the vault may have been closed: written down in the home, and put into the audit.

A passphrase can be changed, and a secret mistyped, without a vault that is open: `key-events.json` keeps code words,
counts and times, each on a line, until the next opening, which moves them into the audit. Whoever reads to move, or
writes there, holds the lock of the file, so that two processes lose nothing of each other's; lines are added alone, and
the file goes when all of it was moved. A kill in between may move an event twice, and loses none. Must not do: keep
anything of a secret; fail what it only notes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from core.security.file_lock import locked_file
from core.vault.files.home import Home

if TYPE_CHECKING:  # whoever only notes something loads nothing of a vault
    from core.engine.runtime.storage import Storage
    from core.vault.database.tx import Tx

_BLOCK_BYTES = 64 * 1024
_MOST_COUNT = 1_000_000
_PRESENT_MS = 60_000
_moving = Lock()
"""One thread of this process moves events at a time; other processes cannot, since this one has the vault."""


class KeyEvent(StrEnum):
    """What happened; each is a verb of the audit, whose words are in `resources/help/journal_page.json`."""

    PASSPHRASE_CHANGED = "change_passphrase"  # noqa: S105 - a code word
    RECOVERY_CODE = "renew_recovery_code"
    KEYRING_ON = "keyring_on"
    KEYRING_OFF = "keyring_off"
    FAILED_UNLOCKS = "failed_unlocks"
    """A right secret came after wrong ones."""


_LABELS = {
    KeyEvent.PASSPHRASE_CHANGED: "Change the passphrase",
    KeyEvent.RECOVERY_CODE: "Make a new recovery code",
    KeyEvent.KEYRING_ON: "Turn the keyring on",
    KeyEvent.KEYRING_OFF: "Turn the keyring off",
    KeyEvent.FAILED_UNLOCKS: "Try wrong secrets",
}


@dataclass(frozen=True, slots=True)
class NotedEvent:
    """Something that happened.

    Attributes:
        at: epoch ms.
        count: of wrong secrets; 0 for the rest.
    """

    event: KeyEvent
    at: int
    count: int = 0


def note_key_event(home: Home, event: KeyEvent, at: int, count: int = 0) -> None:
    """Write something down. Where that cannot be, the audit lacks it and nothing else happens.

    Args:
        at: epoch ms.
        count: of wrong secrets.
    """
    line = _encode_event(NotedEvent(event, at, min(count, _MOST_COUNT)))
    with suppress(OSError), locked_file(home.key_events) as descriptor:
        os.lseek(descriptor, 0, os.SEEK_END)
        os.write(descriptor, line)
        os.fsync(descriptor)


def read_key_events(home: Home, start: int = 0) -> tuple[tuple[NotedEvent, ...], int]:
    """Read a block of what is not in the audit yet, oldest first; a line that is none of these is passed by.

    Args:
        start: where the block begins, in bytes.

    Returns:
        The events, and where the next block begins: at `start`, where there is none or it cannot be read.
    """
    if not home.key_events.is_file():  # locking would make one
        return (), start
    with suppress(OSError), locked_file(home.key_events) as descriptor:
        os.lseek(descriptor, start, os.SEEK_SET)
        data = os.read(descriptor, _BLOCK_BYTES)
        if len(data) == _BLOCK_BYTES:  # the last line may be cut: it begins the next block
            data = data[: data.rfind(b"\n", 1)] if b"\n" in data[1:] else data
        return _parse_events(data), start + len(data)
    return (), start


def _parse_events(data: bytes) -> tuple[NotedEvent, ...]:
    return tuple(event for line in data.splitlines() for event in _parse_line(line))


def _parse_line(line: bytes) -> tuple[NotedEvent, ...]:
    """The event of a line; of an older version's file, which is one list, all of them."""
    try:
        rows = json.loads(line)
        found = tuple(
            NotedEvent(KeyEvent(name), at, count) for name, at, count in (rows if isinstance(rows[0], list) else [rows])
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        return ()
    numbers = [number for one in found for number in (one.at, one.count)]
    return found if all(type(number) is int and number >= 0 for number in numbers) else ()


def _encode_event(one: NotedEvent) -> bytes:
    # The line break before it: what a kill left unfinished, or an older version wrote, ends there.
    return b"\n" + json.dumps([one.event.value, one.at, one.count]).encode("ascii")


def audit_key_events(storage: Storage) -> None:
    """Move what was written down into the audit; on any thread that may wait for the writer.

    Args:
        storage: of the open vault, which is the newest copy or accepted.
    """
    if storage.vault.older is not None:
        return
    moved = 0
    with _moving:
        while True:
            events, end = read_key_events(storage.home, moved)
            if end == moved:
                return
            if events:
                storage.write(partial(_append_events, storage, events), background=True).result()
            moved = end
            if _clear_events(storage.home, moved):
                return


def _append_events(storage: Storage, events: Sequence[NotedEvent], tx: Tx) -> None:
    from core.types.values import OWNER_ACTOR

    for one in events:
        with storage.work.verb(tx, one.event.value, _LABELS[one.event], OWNER_ACTOR) as verb:
            day = datetime.fromtimestamp(one.at / 1000, UTC).strftime("%Y-%m-%d")
            # The line has the time at which it was written; where that is another one, it names the day.
            if abs(tx.now_ms - one.at) > _PRESENT_MS:
                verb.note_audit(day=day)
            if one.count:
                verb.note_audit(wrong_secrets=one.count)


def _clear_events(home: Home, moved: int) -> bool:
    """Remove what was moved; False where more of it is there, which is moved first.

    Args:
        moved: how many bytes of the file.
    """
    with suppress(OSError), locked_file(home.key_events) as descriptor:
        if os.fstat(descriptor).st_size > moved:
            return False
        os.ftruncate(descriptor, 0)
        with suppress(OSError):  # Windows removes no file that is open: an empty one says the same
            home.key_events.unlink()
    return True

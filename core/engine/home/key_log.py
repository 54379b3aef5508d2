"""What happened to the keys while the vault may have been closed: written down in the home, and put into the audit.

A passphrase can be changed, and a secret mistyped, without a vault that is open: `key-events.json` keeps code words,
counts and times until the next opening, which moves them into the audit. A kill in between may move one twice, and
loses none. Must not do: keep anything of a secret; fail what it only notes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from core.errors import EnvironmentFaultError
from core.security.atomic import write_atomic
from core.vault.files.home import Home

if TYPE_CHECKING:  # whoever only notes something loads nothing of a vault
    from core.engine.runtime.storage import Storage
    from core.vault.database.tx import Tx

_MOST_EVENTS = 200
_MAX_BYTES = 64 * 1024
_MOST_COUNT = 1_000_000
_PRESENT_MS = 60_000


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
    kept = (*read_key_events(home), NotedEvent(event, at, min(count, _MOST_COUNT)))[-_MOST_EVENTS:]
    _write_events(home, kept)


def read_key_events(home: Home) -> tuple[NotedEvent, ...]:
    """What is not in the audit yet, oldest first; nothing where the file is not one of these."""
    try:
        with home.key_events.open("rb") as file:
            rows = json.loads(file.read(_MAX_BYTES))
        found = tuple(NotedEvent(KeyEvent(name), at, count) for name, at, count in rows)
    except (OSError, ValueError, TypeError, RecursionError):
        return ()
    numbers = [number for one in found for number in (one.at, one.count)]
    return found if all(type(number) is int and number >= 0 for number in numbers) else ()


def audit_key_events(storage: Storage) -> None:
    """Move what was written down into the audit; on any thread that may wait for the writer.

    Args:
        storage: of the open vault, which is the newest copy or accepted.
    """
    events = read_key_events(storage.home)
    if not events or storage.vault.older is not None:
        return
    storage.write(lambda tx: _append_events(storage, tx, events), background=True).result()
    _write_events(storage.home, read_key_events(storage.home)[len(events) :])


def _append_events(storage: Storage, tx: Tx, events: Sequence[NotedEvent]) -> None:
    from core.types.values import OWNER_ACTOR

    for one in events:
        with storage.work.verb(tx, one.event.value, _LABELS[one.event], OWNER_ACTOR) as verb:
            day = datetime.fromtimestamp(one.at / 1000, UTC).strftime("%Y-%m-%d")
            # The line has the time at which it was written; where that is another one, it names the day.
            if abs(tx.now_ms - one.at) > _PRESENT_MS:
                verb.note_audit(day=day)
            if one.count:
                verb.note_audit(wrong_secrets=one.count)


def _write_events(home: Home, events: Sequence[NotedEvent]) -> None:
    if not events:
        with suppress(OSError):
            home.key_events.unlink()
        return
    rows = [[one.event.value, one.at, one.count] for one in events]
    with suppress(EnvironmentFaultError):
        write_atomic(home.key_events, json.dumps(rows).encode("ascii"))

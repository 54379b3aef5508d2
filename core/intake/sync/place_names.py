"""Spaces, clients and conversations that rows of another device name: found here by name, or made.

Must not do: change one that is there; let a client in.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from core.intake.sync.records import NamedPlace, damaged_record_error
from core.intake.undo import NEVER
from core.memory.write import ensure_space
from core.vault.database.tx import Tx

_TOKEN_BYTES = 32
_MOST_ID = 64
BY_NAME = {
    "client_id": "SELECT id FROM clients WHERE name = ?",
    "space_id": "SELECT id FROM spaces WHERE name = ?",
    "conversation_id": "SELECT id FROM conversations WHERE identity = ?",
}
_ID_TAKEN = {
    "clients": "SELECT 1 FROM clients WHERE id = ?",
    "spaces": "SELECT 1 FROM spaces WHERE id = ?",
    "conversations": "SELECT 1 FROM conversations WHERE id = ?",
}


class PlaceNames:
    """The names of one bundle."""

    def __init__(self, tx: Tx, make_id: Callable[[], str]) -> None:
        """Work within the transaction that takes it.

        Args:
            make_id: makes ids where the one that another device gave is taken.
        """
        self._tx, self._make_id = tx, make_id
        self._ids: dict[tuple[str, object], object] = {}

    def ensure_place(self, place: NamedPlace) -> None:
        """Make a space, client or conversation that rows name, unless there is one of its name.

        Raises:
            BundleFaultError: DAMAGED.
        """
        fields = place.fields
        given = fields["id"]
        if not isinstance(given, str) or not 0 < len(given) <= _MOST_ID:
            raise damaged_record_error()
        if place.kind == "space":
            if self._tx.value(BY_NAME["space_id"], (place.name,)) is None:
                client = self.id_of("client_id", fields["client"])
                new_id = self._free_id("spaces", given)
                ensure_space(self._tx, place.name, new_id, None if client is None else str(client))
        elif place.kind == "client":
            self._ensure_client(place.name, given, fields)
        elif self._tx.value(BY_NAME["conversation_id"], (place.name,)) is None:
            row = {
                "id": self._free_id("conversations", given),
                "identity": place.name,
                "space_id": self.id_of("space_id", fields["space"]),
                "client_id": self.id_of("client_id", fields["client"]),
                **{name: fields[name] for name in ("title", "started_at", "recorded_at", "extra")},
            }
            self._tx.insert("conversations", row)

    def _ensure_client(self, name: str, given: str, fields: Mapping[str, Any]) -> None:
        if self._tx.value(BY_NAME["client_id"], (name,)) is not None:
            return
        ceiling = fields["trust_ceiling"]
        if not isinstance(ceiling, (int, float)):
            raise damaged_record_error()
        row = {"id": self._free_id("clients", given), "name": name, "trust_ceiling": float(ceiling)}
        # It is let in on the devices where it is paired; here it waits for that.
        waiting = {"token": secrets.token_bytes(_TOKEN_BYTES), "paired_at": NEVER, "paused_at": self._tx.now_ms}
        self._tx.insert("clients", {**row, **waiting})

    def _free_id(self, table: str, given: str) -> str:
        return given if self._tx.value(_ID_TAKEN[table], (given,)) is None else self._make_id()

    def id_of(self, column: str, name: object) -> object:
        """The id here of what a row of another device names.

        Args:
            column: `client_id`, `space_id` or `conversation_id`.

        Raises:
            BundleFaultError: DAMAGED; the bundle did not say what that is.
        """
        if name is None:
            return None
        known = self._ids.get((column, name))
        if known is None:
            known = self._tx.value(BY_NAME[column], (name,))
            if known is None:
                raise damaged_record_error()
            self._ids[(column, name)] = known
        return known

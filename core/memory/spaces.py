"""Spaces by name: finding them, making them."""

from __future__ import annotations

from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def find_space_id(rows: Rows, name: str) -> str | None:
    """The id of a space.

    Args:
        name: the space's exact name.

    Returns:
        The id, or None when there is no such space.
    """
    value = rows.value("SELECT id FROM spaces WHERE name = ?", (name,))
    return None if value is None else str(value)


def ensure_space(tx: Tx, name: str, new_id: str, client_id: str | None = None) -> str:
    """The id of a space, which is created where it does not exist.

    Args:
        name: the space's name; `GLOBAL` and `home` always exist.
        new_id: the id a new space gets.
        client_id: the client it belongs to.

    Returns:
        The id.
    """
    known = find_space_id(tx, name)
    if known is not None:
        return known
    tx.insert("spaces", {"id": new_id, "name": name, "client_id": client_id, "created_at": tx.now_ms})
    return new_id

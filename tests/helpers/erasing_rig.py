"""A word that stands nowhere else, and every table in which it stands."""

from __future__ import annotations

from typing import Any

from engine_rig import Rig

from core.vault.database.tx import Schema

MARK = "Schlangengurkenturm"
TEXT = f"The key of the {MARK} lies under the third step."


def traces(rig: Rig, mark: str = MARK) -> list[str]:
    """Tables in which a word stands anywhere, journals and the lexical index among them."""
    low = mark.lower()

    def look(connection: Any) -> list[str]:
        names = Schema(connection).names
        found = {name for name in names for row in connection.execute(f'SELECT * FROM "{name}"') if _has(row, low)}  # noqa: S608
        terms = connection.execute("SELECT term FROM memory_terms").fetchall()
        return sorted({*found, *("memory_fts" for (term,) in terms if low[:8] in term)})

    return rig.opened.storage.vault.with_writer(look)


def _has(row: tuple[object, ...], low: str) -> bool:
    return any(
        low in (value.decode("utf-8", "ignore") if isinstance(value, bytes) else str(value)).lower() for value in row
    )

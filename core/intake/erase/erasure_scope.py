"""What goes with a memory that is erased for good, and what comes back because of it.

A memory goes with all parts of a split text and with what lies beneath it: the originals it was united from, and what
was stacked under it as the same in other words. A text that was made of it (a digest, a united text, a fact distilled
from it) quotes it, so it goes too; what else that text was made of stands again. Must not do: change a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from core.errors import Code, UserError
from core.memory.draft import to_json
from core.vault.database.rows import Rows

ASKED, VERSION, BENEATH, MADE = "asked", "version", "beneath", "made_of_it"
"""Why a memory goes: the person named it; it is of its chain; it lies beneath one that goes; it was made of one."""

MERGED = "merged"
_OF = "IN (SELECT value FROM json_each(?))"
_PARTS = f"SELECT p.id FROM memories m JOIN memories p ON p.part_of = m.part_of WHERE m.id {_OF} ORDER BY p.n"  # noqa: S608
_HEADS = f"SELECT id FROM memories WHERE id {_OF} AND coalesce(part_index, 0) = 0 ORDER BY n"  # noqa: S608
_CHAIN = f"SELECT id FROM memories WHERE chain_id IN (SELECT chain_id FROM memories WHERE id {_OF}) ORDER BY n"  # noqa: S608
_BENEATH = (
    "SELECT b.id FROM memories b JOIN memories m ON m.id = b.consolidated_into "  # noqa: S608 - constants
    f"WHERE m.id {_OF} AND m.kind <> 'digest' UNION ALL "
    f"SELECT id FROM memories WHERE superseded_by_id {_OF} AND status_reason = 'merged'"
)
_STACKED = (
    "SELECT b.id FROM memories b JOIN memories m ON m.id = b.consolidated_into "  # noqa: S608 - constants
    f"WHERE m.id {_OF} AND m.kind <> 'digest'"
)
_MADE = (
    f"SELECT derived_id FROM derivations WHERE source_id {_OF} UNION "  # noqa: S608 - constants
    "SELECT superseded_by_id FROM memories "
    f"WHERE id {_OF} AND status_reason = 'merged' AND superseded_by_id IS NOT NULL"
)
# A plus keeps the index of the status out of it: it leads through a good part of the vault, for each memory once.
_SOURCES = (
    "SELECT s.id FROM memories s JOIN memories d ON d.id = s.consolidated_into "  # noqa: S608 - constants
    f"WHERE d.id {_OF} AND d.kind = 'digest' AND +s.status = 'consolidated' UNION "
    f"SELECT id FROM memories WHERE superseded_by_id {_OF} AND status_reason = 'merged' AND +status = 'superseded'"
)


@dataclass(frozen=True, slots=True)
class ErasureScope:
    """Every memory that an erasure reaches, and why.

    Attributes:
        why: every memory that goes, with the reason; parts of split texts among them.
        back: heads of memories that stand again because the text they went into goes.
        over: other versions of the same chains, which stay.
    """

    why: dict[str, str] = field(default_factory=dict)
    back: tuple[str, ...] = ()
    over: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All memories that go."""
        return tuple(self.why)


def erasure_scope_of(rows: Rows, ids: Sequence[str], *, whole_chain: bool) -> ErasureScope:
    """Find every memory that an erasure takes along.

    Args:
        rows: a vault snapshot or the transaction.
        ids: the memories that were named.
        whole_chain: whether all versions of their chains go too.

    Returns:
        What goes, why, and what comes back.

    Raises:
        UserError: NOT_FOUND; one of them is not there.
    """
    wanted = list(dict.fromkeys(ids))
    if len(_listed(rows, f"SELECT id FROM memories WHERE id {_OF}", wanted)) != len(wanted):  # noqa: S608 - constant
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    why = dict.fromkeys(_whole(rows, wanted), ASKED)
    chain = _listed(rows, _CHAIN, list(why))
    if whole_chain:
        why = {**dict.fromkeys(chain, VERSION), **why}
    _spread(rows, why, _BENEATH, BENEATH)
    made: dict[str, str] = {}
    _make(rows, why, made)
    gone = {**made, **why}
    again = [one for one in _listed(rows, _SOURCES, list(gone)) if one not in gone]
    return ErasureScope(gone, tuple(_listed(rows, _HEADS, again)), tuple(one for one in chain if one not in gone))


def _make(rows: Rows, why: dict[str, str], made: dict[str, str]) -> None:
    """Texts made of what goes, texts made of those, and what says the same beneath them."""
    fresh: Collection[str] = list(why)
    while fresh:
        found = _whole(rows, _listed(rows, _MADE, fresh))
        found += _whole(rows, _listed(rows, _STACKED, found))
        fresh = [one for one in dict.fromkeys(found) if one not in why and one not in made]
        made.update(dict.fromkeys(fresh, MADE))


def _spread(rows: Rows, why: dict[str, str], sql: str, reason: str) -> None:
    fresh: Collection[str] = list(why)
    while fresh:
        found = _whole(rows, _listed(rows, sql, fresh))
        fresh = [one for one in dict.fromkeys(found) if one not in why]
        why.update(dict.fromkeys(fresh, reason))


def _whole(rows: Rows, ids: Iterable[str]) -> list[str]:
    """The memories with all other parts of a split text."""
    own = list(ids)
    return list(dict.fromkeys([*own, *_listed(rows, _PARTS, own)]))


def _listed(rows: Rows, sql: str, ids: Collection[str]) -> list[str]:
    wanted = to_json(list(ids))
    return [str(row[0]) for row in rows.all(sql, (wanted,) * sql.count("?"))]

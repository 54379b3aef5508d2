"""What an erasure names beside single memories: all about an entity, all from an import, all from a client.

All about an entity are the memories that mention it or speak as it, and those behind the claims about it, in every
space in which it is the same; it goes with them, whoever made it. All from an import is what it brought that stands
on nothing else; what others had said before keeps their word, and loses the import's. Must not do: remove a row that
`row_erasure` does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.entities.across_spaces import read_groups
from core.errors import Code, UserError
from core.types.memory import ErasureRequest, ErasureSubject
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import BROUGHT, IMPORT_LABELS

_OF = "IN (SELECT value FROM json_each(?))"
_MERGED = f"SELECT id FROM entities WHERE merged_into_id {_OF}"  # noqa: S608 - constant
_ABOUT = (
    "SELECT m.n, m.id FROM memories m WHERE m.id IN ("
    "SELECT memory_id FROM mentions WHERE entity_id IN (SELECT value FROM json_each(:ids)) UNION "
    "SELECT e.memory_id FROM evidence e JOIN claims c ON c.id = e.claim_id "
    "WHERE c.subject_entity_id IN (SELECT value FROM json_each(:ids)) "
    "OR c.object_entity_id IN (SELECT value FROM json_each(:ids))) ORDER BY 1"
)
_FROM = {
    ErasureSubject.IMPORT: f"SELECT m.id FROM {BROUGHT} b CROSS JOIN memories m ON m.n = b.n "  # noqa: S608 - constants only
    "WHERE b.import_id = ? ORDER BY m.n",
    ErasureSubject.CLIENT: "SELECT id FROM memories WHERE client_id = ? ORDER BY n",
}
_NAMED = (
    "SELECT DISTINCT e.id FROM entities e JOIN entity_aliases a ON a.entity_id = e.id "
    "WHERE a.alias_key = ? AND e.merged_into_id IS NULL ORDER BY e.id"
)
_KNOWN = {
    ErasureSubject.ENTITY: "SELECT 1 FROM entities WHERE id = ?",
    ErasureSubject.IMPORT: "SELECT 1 FROM imports WHERE id = ?",
    ErasureSubject.CLIENT: "SELECT 1 FROM clients WHERE id = ?",
}
_MISSING = {
    ErasureSubject.ENTITY: "There is no such entity.",
    ErasureSubject.IMPORT: "There is no such import.",
    ErasureSubject.CLIENT: "There is no such client.",
}
_ERASED_LABEL = "erased"
# What somebody else says too loses the import as a source; the last source of a memory stays.
_OTHER_SOURCES = (
    "SELECT s.memory_id, s.lineage FROM memory_sources s WHERE s.import_id = :id AND EXISTS (SELECT 1 "
    "FROM memory_sources o WHERE o.memory_id = s.memory_id AND o.import_id IS NOT :id) ORDER BY 1, 2"
)


@dataclass(frozen=True, slots=True)
class NamedRows:
    """What an erasure takes as asked; what goes along is found from it.

    Attributes:
        ids: memories.
        whole_chain: whether all versions of their chains go too.
        entities: go too, unless something that stays names them.
        imports: lose their name and where the file was.
        is_sealed: they are kept encrypted (`core.intake.seal`): then the words may be told again.
    """

    ids: tuple[str, ...]
    whole_chain: bool = False
    entities: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    is_sealed: bool = False


def find_named_rows(rows: Rows, request: ErasureRequest) -> NamedRows:
    """What a request names.

    Args:
        request: of memories their ids; else the id of one entity, import or client.

    Raises:
        UserError: NOT_FOUND, INVALID_INPUT; BUSY for an import that still runs.
    """
    if request.subject is ErasureSubject.MEMORY:
        return NamedRows(request.ids, request.whole_chain)
    if len(request.ids) != 1 or rows.one(_KNOWN[request.subject], request.ids) is None:
        raise UserError(Code.NOT_FOUND, _MISSING[request.subject])
    (subject_id,) = request.ids
    if request.subject is ErasureSubject.ENTITY:
        entities = _same_entities(rows, subject_id)
        found = rows.all(_ABOUT, {"ids": to_json(list(entities))})
        return NamedRows(tuple(str(row[1]) for row in found), request.whole_chain, entities)
    ids = tuple(str(row[0]) for row in rows.all(_FROM[request.subject], (subject_id,)))
    if request.subject is ErasureSubject.CLIENT:
        return NamedRows(ids, request.whole_chain)
    if rows.value("SELECT state FROM imports WHERE id = ?", (subject_id,)) == "running":
        raise UserError(Code.BUSY, "That import still runs; wait until it has ended, or stop it first.")
    return NamedRows(ids, request.whole_chain, imports=(subject_id,))


def find_subject(rows: Rows, subject: ErasureSubject, typed: str, key: str) -> tuple[str, ...]:
    """What has a name: entities, of those that are one thing the first alone, or a client.

    Args:
        typed: the name.
        key: of the name of an entity (`core.entities.recognition.name_key`).

    Returns:
        Ids.
    """
    if subject is ErasureSubject.CLIENT:
        return tuple(str(row[0]) for row in rows.all("SELECT id FROM clients WHERE name = ?", (typed,)))
    if subject is not ErasureSubject.ENTITY:
        return ()
    groups, found = read_groups(rows).by_member, dict[str, None]()
    for (entity_id,) in rows.all(_NAMED, (key,)):
        group = groups.get(str(entity_id))
        found[str(entity_id) if group is None else group.ids[0]] = None
    return tuple(found)


def _same_entities(rows: Rows, entity_id: str) -> tuple[str, ...]:
    """It, what is the same in other spaces, and what was merged into any of them."""
    group = read_groups(rows).by_member.get(entity_id)
    found = dict.fromkeys((entity_id,) if group is None else group.ids)
    fresh: Sequence[str] = list(found)
    while fresh:
        fresh = [str(row[0]) for row in rows.all(_MERGED, (to_json(list(fresh)),)) if row[0] not in found]
        found.update(dict.fromkeys(fresh))
    return tuple(found)


def clear_imports(tx: Tx, imports: Sequence[str]) -> None:
    """Take from imports what tells of their content: the file's name and place, what was read of it.

    Args:
        imports: ids; their memories are gone.
    """
    for import_id in imports:
        for key in ("import_choice:", IMPORT_LABELS):
            tx.run("DELETE FROM settings WHERE key = ? || ?", (key, import_id))
        tx.run(
            "UPDATE imports SET label = ?, location = '', fingerprint = '', state = 'undone', step_id = NULL, "
            "summary = '{}' WHERE id = ?",
            (_ERASED_LABEL, import_id),
        )
        for memory_id, lineage in tx.all(_OTHER_SOURCES, {"id": import_id}):
            tx.delete("memory_sources", {"memory_id": memory_id, "lineage": lineage})

"""SQL about memories that several rooms share: what is kept from clients, and the derived rows that go with one.

Spaces and channels are no part of the first: they depend on the asker (`core.recall.scope`). The second are
mentions, entities named nowhere else and what was inferred; nothing of it is recorded for undo, since it is derived
anew from the texts. With them goes the note that rows vanished whose words are still to be scrubbed. Must not do:
remove what a person made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from core.types.values import BY_RULES, TIER_BY
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

IMPORT_LABELS = "import_labels:"
"""A key of `settings` begins so and ends with the id of an import: the first and last labels (`memories.n`) of the runs
of memories that an archive brought under the import of their origin."""
BROUGHT = (
    "(SELECT import_id, n FROM memories WHERE import_id IS NOT NULL UNION ALL "
    "SELECT substr(s.key, 15), b.n FROM settings s CROSS JOIN json_each(s.value) r CROSS JOIN memories b "
    "ON b.n BETWEEN r.value ->> 0 AND r.value ->> 1 WHERE s.key GLOB 'import_labels:*')"
)
"""The table of what imports brought: import and label of each memory, both from an index. What came with an archive is
of two imports: of the one that is its origin, and of the archive's own."""
ENTITY_TYPE = "coalesce(e.extra ->> '$.form', e.type)"
"""The type of `entities e`: what the column has no word for (a pet, a work) is of type `other` with a form."""
# From the index of mentions alone: the row of a memory looked up for each of them is a page decrypted for each.
_NAMINGS = (
    "SELECT entity_id, count(*) FROM (SELECT entity_id FROM mentions "
    "WHERE memory_id NOT IN (SELECT id FROM memories WHERE status = 'deleted') "
    "GROUP BY memory_id, entity_id) GROUP BY entity_id"
)
_OF = "SELECT DISTINCT entity_id FROM mentions WHERE memory_id IN (SELECT value FROM json_each(?))"
# What nothing mentions and nothing refers to; the owner's and the clients' own stay.
_LONELY = (
    "SELECT e.id FROM json_each(?) w JOIN entities e ON e.id = w.value "
    "WHERE e.made_by IN ('rules', 'model') AND e.merged_into_id IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.entity_id = e.id) "
    "AND NOT EXISTS (SELECT 1 FROM entities o WHERE o.merged_into_id = e.id) "
    "AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.subject_entity_id = e.id) "
    "AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.object_entity_id = e.id)"
)


def remove_mentions(tx: Tx, memory_ids: Sequence[str]) -> tuple[str, ...]:
    """Remove the mentions of memories, and the entities of rules and models that nothing mentions then (E41.1).

    Returns:
        Entities that are gone.
    """
    touched = [str(row[0]) for row in tx.all(_OF, (json.dumps(list(memory_ids)),))]
    if not touched:
        return ()
    tx.run_many("DELETE FROM mentions WHERE memory_id = ?", [(memory_id,) for memory_id in memory_ids])
    return remove_orphans(tx, touched)


def remove_orphans(tx: Tx, entity_ids: Iterable[str]) -> tuple[str, ...]:
    """Remove entities of rules and models that nothing mentions any more.

    Args:
        entity_ids: those that lost a mention.

    Returns:
        Those that are gone.
    """
    orphans = [str(row[0]) for row in tx.all(_LONELY, (json.dumps(sorted(set(entity_ids))),))]
    tx.run_many("DELETE FROM entity_aliases WHERE entity_id = ?", [(one,) for one in orphans])
    tx.run_many("DELETE FROM entities WHERE id = ?", [(one,) for one in orphans])
    return tuple(orphans)


def remove_inferred(tx: Tx, memory_ids: Iterable[str]) -> None:
    """Remove what was inferred from texts; a memory that stands is read anew by the next run."""
    tx.run_many("DELETE FROM inferred WHERE memory_id = ?", [(memory_id,) for memory_id in memory_ids])


def count_namings(rows: Rows) -> dict[str, int]:
    """How many memories name each entity; one that none names is left out."""
    return {str(entity_id): int(count) for entity_id, count in rows.all(_NAMINGS)}


def memories_naming(rows: Rows, entity_ids: Iterable[str]) -> tuple[str, ...]:
    """The memories that mention entities."""
    wanted = json.dumps(sorted(entity_ids))
    found = rows.all(
        "SELECT DISTINCT memory_id FROM mentions WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY 1",
        (wanted,),
    )
    return tuple(str(row[0]) for row in found)


CLEARTEXT = "cleartext"
UNSEALED = f"m.security_tier = '{CLEARTEXT}'"
"""Whether `m` may be handed to any client within its reach."""


def tier_by_sql(alias: str = "m") -> str:
    """Who chose the tier of a memory; NULL where nobody did, or an older version did not write it down."""
    return f"{alias}.extra ->> '$.{TIER_BY}'"


def given_sql(client: str) -> str:
    """Whether `m` may be handed to one client: what is in the clear, and what it wrote itself where rules hide it.

    Args:
        client: the parameter or the expression with the client's id.
    """
    return f"({UNSEALED} OR (m.client_id IS {client} AND {tier_by_sql()} IS '{BY_RULES}'))"


def readable_sql(alias: str = "m") -> str:
    """Whether jobs on this machine may read a memory and make something of it.

    What rules found to be sensitive is read, and what is made of it is looked at in its turn. What is confidential, and
    whatever the person protected, is read by no job.

    Args:
        alias: of `memories` in the query.
    """
    sensitive = f"({alias}.security_tier = 'sensitive' AND {tier_by_sql(alias)} IS '{BY_RULES}')"
    return f"({alias}.security_tier = '{CLEARTEXT}' OR {sensitive})"


REFUSED = ("rejected", "rejected_before")
"""Reasons of what was archived because the person decided against it."""
OVERTAKEN = "overtaken"
"""Reason of what was archived because something else was said while it waited for the person."""
_NEVER_LET_IN = (*REFUSED, OVERTAKEN, "unanswered")
_LISTED = "', '".join(_NEVER_LET_IN)


def is_undecided(status: str, reason: str | None) -> bool:
    """`undecided_sql` of one row.

    Args:
        status: of the memory.
        reason: its `status_reason`.
    """
    return status == "quarantined" or (status == "archived" and reason in _NEVER_LET_IN)


def undecided_sql(alias: str = "m") -> str:
    """Whether nobody let a memory in: it waits for the person, or was refused or overtaken.

    Args:
        alias: of `memories` in the query.

    Returns:
        A condition that is 0 or 1.
    """
    return (
        f"({alias}.status = 'quarantined' OR ({alias}.status = 'archived' "
        f"AND coalesce({alias}.status_reason, '') IN ('{_LISTED}')))"
    )


def let_in_sql(alias: str = "m") -> str:
    """Whether `:asker` may know of a memory, as far as its being decided on goes: what waits is its author's alone.

    Trigger: one client proposed something in a space that another reads too. Why: else any assistant would be talked
    to by any other, before the person said a word. Outcome: there is no such memory but for who brought it.

    Args:
        alias: of `memories` in the query.

    Returns:
        A condition with `:asker`: the client's id; NULL for who decides such matters.
    """
    return f"(:asker IS NULL OR {alias}.client_id IS :asker OR NOT {undecided_sql(alias)})"


SCRUB_DUE = "scrub_due"
"""A key of `settings`: rows vanished and their words are not scrubbed yet; its value is the vault's sequence then."""


def note_scrub(tx: Tx) -> None:
    """Note, in the transaction in which rows vanish, that a scrub is due; a crash does not lose it."""
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (SCRUB_DUE, json.dumps(tx.seq), tx.now_ms),
    )

"""How many memories each filter value would leave: the numbers on the chips of the library.

Counts are of what stands (active and disputed), as a search without a status shows it; only the statuses count all.
Must not do: look at a search, or name what the asker may not see.
"""

from __future__ import annotations

import json
from collections import Counter

from core.types.views import Facets
from core.vault.database.rows import Rows

MOST_TAGS = 200
_GROUPS = "SELECT space_id, status, kind, count(*) FROM memories GROUP BY space_id, status, kind"
_STANDING = (
    "SELECT source, client_id, category, tags, count(*) FROM memories WHERE status IN ('active', 'disputed') "
    "GROUP BY source, client_id, category, tags"
)
_ENDS = (
    "SELECT (SELECT min(occurred_at) FROM memories), (SELECT min(recorded_at) FROM memories), "
    "(SELECT max(occurred_at) FROM memories), (SELECT max(recorded_at) FROM memories)"
)


def count_facets(rows: Rows) -> Facets:
    """Count the whole vault; for the owner, who may see all of it.

    Returns:
        The counts, the most frequent value of each first.
    """
    spaces = {str(row[0]): str(row[1]) for row in rows.all("SELECT id, name FROM spaces")}
    clients = {str(row[0]): str(row[1]) for row in rows.all("SELECT id, name FROM clients")}
    by_kind, by_status, by_space = Counter[str](), Counter[str](), Counter[str]()
    for space_id, status, kind, count in rows.all(_GROUPS):
        by_status[status] += count
        if status in ("active", "disputed"):
            by_kind[kind] += count
            by_space[spaces[space_id]] += count
    by_source, by_client, by_category, by_tag = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for source, client_id, category, tags, count in rows.all(_STANDING):
        by_source[source] += count
        by_category[category] += count
        if client_id is not None:
            by_client[clients[client_id]] += count
        for tag in json.loads(tags):
            by_tag[tag] += count
    said_first, recorded_first, said_last, recorded_last = rows.all(_ENDS)[0]
    firsts = [at for at in (said_first, recorded_first) if at is not None]
    lasts = [at for at in (said_last, recorded_last) if at is not None]
    return Facets(
        kinds=_ordered(by_kind),
        statuses=_ordered(by_status),
        spaces=_ordered(by_space),
        sources=_ordered(by_source),
        clients=_ordered(by_client),
        categories=_ordered(by_category),
        tags=dict(list(_ordered(by_tag).items())[:MOST_TAGS]),
        earliest=min(firsts, default=None),
        latest=max(lasts, default=None),
    )


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

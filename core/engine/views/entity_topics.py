"""What is known of an entity: statements about it by topic, each with when and by whom it was said, in exact words.

Statements are facts that were made of episodes (`core.lifecycle.distill`); an outdated one is marked, never left out.
Must not do: write, judge a statement, or look at what waits for the person's word.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from core.memory.read import read_occurred, time_of_memory_sql
from core.types.entities import EntityCard, KnownStatement, KnownTopic
from core.types.talk import StatementType
from core.types.values import GLOBAL_SPACE
from core.vault.database.rows import Rows
from core.vault.memory_sql import readable_sql

MOST = 400
"""Statements about one entity that are read; our choice."""
_QUOTED = 400  # characters of a source's words
# Of the episodes that say a statement the latest is shown: SQLite takes the other columns from the row of `max`.
_STATEMENTS = (
    "SELECT s.memory_id, m.text, s.type, m.status, m.valid_to, s.lasting, s.episode_id, "  # noqa: S608 - constants
    f"substr(e.text, s.start_at + 1, min(s.end_at - s.start_at, {_QUOTED})), e.author, e.role, e.occurred_at, "
    f"e.occurred_prec, e.occurred_offset, e.recorded_at, count(*), max({time_of_memory_sql('e')}) AS said "
    "FROM statements s JOIN memories m ON m.id = s.memory_id JOIN memories e ON e.id = s.episode_id "
    "JOIN spaces w ON w.id = m.space_id "
    "WHERE {which} AND +m.status IN ('active', 'disputed', 'superseded', 'consolidated') "
    "AND " + readable_sql() + " AND e.status <> 'deleted' "
    "GROUP BY s.memory_id ORDER BY said DESC, m.n DESC LIMIT :most"
)
_ABOUT = _STATEMENTS.format(
    which="s.about COLLATE NOCASE IN (SELECT value FROM json_each(:names)) AND (:space IS NULL OR w.name = :space)"
)
_NAMING = _STATEMENTS.format(
    which="s.memory_id IN (SELECT n.memory_id FROM mentions n WHERE n.start_at >= 0 "
    "AND n.entity_id IN (SELECT value FROM json_each(:ids)))"
)
_ORDER = {kind.value: place for place, kind in enumerate(StatementType)}


def read_topics(rows: Rows, cards: Sequence[EntityCard], now_ms: int) -> tuple[KnownTopic, ...]:
    """What is known of an entity.

    Args:
        cards: of an entity, of each space that has it; statements tell of whom they are about by a name that it has
            there. Where none is about it, as with most places, pets and works, those are read that name it.
        now_ms: what ended before it is outdated.

    Returns:
        Topics in the order of `StatementType`; of each what holds before what is outdated, the latest first.
    """
    found = [row for card in cards for row in rows.all(_ABOUT, _params_of(card))]
    if not found:
        found = rows.all(_NAMING, {"ids": json.dumps([card.id for card in cards]), "most": MOST})
    topics: dict[str, list[KnownStatement]] = defaultdict(list)
    for row in sorted(found, key=lambda row: -int(row[-1]))[:MOST]:
        topics[str(row[2])].append(_read_statement(row, now_ms))
    return tuple(
        KnownTopic(kind, tuple(sorted(topics[kind], key=lambda one: one.state == "outdated")))
        for kind in sorted(topics, key=lambda kind: _ORDER.get(kind, len(_ORDER)))
    )


def _params_of(card: EntityCard) -> dict[str, object]:
    space = None if card.is_owner or card.space == GLOBAL_SPACE else card.space
    return {"names": json.dumps([card.name, *card.aliases]), "space": space, "most": MOST}


def _read_statement(row: Sequence[Any], now_ms: int) -> KnownStatement:
    memory_id, text, kind, status, valid_to, lasting, episode_id, quote, author, role, *time_columns = row
    is_over = status in ("superseded", "consolidated") or (valid_to is not None and valid_to <= now_ms)
    return KnownStatement(
        memory_id=str(memory_id),
        text=str(text),
        type=str(kind),
        state="outdated" if is_over else "disputed" if status == "disputed" else "holds",
        is_lasting=bool(lasting),
        episode_id=str(episode_id),
        quote=str(quote),
        speaker="" if role == "user" else str(author or ""),
        is_owners=role == "user",
        occurred=read_occurred(*time_columns[:3]),
        recorded_at=int(time_columns[3]),
        sources=int(time_columns[4]),
    )

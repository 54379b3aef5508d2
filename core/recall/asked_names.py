"""Whom a question names: what was said where nobody knows them comes behind what was said by them, or of them.

Words and meaning alone find whoever speaks most of a shelter first, though the question names somebody else. A memory
is a stranger's where it neither names them nor was said by them nor tells of them, and its conversation, or its whole
space, has nothing of them either: beside them others may well answer. Entities of the spaces that the asker may see are
looked at, and of memories the candidates alone; nothing is left out. Must not do: bring a candidate.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from core.recall.candidates import Candidates
from core.recall.request import RecallRequest, name_runs
from core.types.values import GLOBAL_SPACE
from core.vault.database.rows import Rows

OF_STRANGERS = 0.75
"""Our choice: what is left of the evidence of what was said where nobody knows whom the question names."""
_MOST_NAMED = 64
# People and pets: a place or a tool that is named says what is asked, and words find it.
_NAMED = (
    "SELECT DISTINCT e.id, coalesce(e.merged_into_id, e.id), e.name, e.space_id FROM entity_aliases h "
    "JOIN entities e ON e.id = h.entity_id WHERE h.alias_key IN (SELECT value FROM json_each(:keys)) "
    "AND (e.type = 'person' OR e.extra ->> '$.form' = 'pet') AND (:seen IS NULL OR e.space_id = 'GLOBAL' "
    "OR e.space_id IN (SELECT value FROM json_each(:seen))) LIMIT :most"
)
_ONE_OF_THEM = "x.entity_id IN (SELECT value FROM json_each(:ids))"
_STRANGE = (
    f"SELECT m.n, m.conversation_id, EXISTS (SELECT 1 FROM mentions x WHERE x.memory_id = m.id AND {_ONE_OF_THEM}) "  # noqa: S608 - constants
    "OR EXISTS (SELECT 1 FROM statements s WHERE s.memory_id = m.id "
    "AND s.about COLLATE NOCASE IN (SELECT value FROM json_each(:names))), "
    "m.space_id IN (SELECT value FROM json_each(:spaces)) FROM json_each(:here) w JOIN memories m ON m.n = w.value"
)
_TALKS = (
    "SELECT w.value FROM json_each(:talks) w WHERE EXISTS (SELECT 1 FROM memories t JOIN mentions x "  # noqa: S608 - constants
    f"ON x.memory_id = t.id WHERE t.conversation_id = w.value AND t.security_tier = 'cleartext' AND {_ONE_OF_THEM})"
)


def weigh_asked_names(rows: Rows, request: RecallRequest, found: Candidates) -> Candidates:
    """Lower the evidence of what was said where nobody knows whom the question names.

    Returns:
        The candidates; unchanged where it names nobody, or where nothing among them is of those it names.
    """
    seen = None if request.scope.unrestricted else json.dumps(sorted(request.scope.space_ids))
    keys = json.dumps(sorted(name_runs(request.query)))
    named = rows.all(_NAMED, {"keys": keys, "seen": seen, "most": _MOST_NAMED})
    if not named:
        return found
    spaces = {str(space) for *_, space in named}
    params = {
        "here": json.dumps(found.labels.tolist()),
        "ids": json.dumps(sorted({str(one) for row in named for one in row[:2]})),
        "names": json.dumps(sorted({str(row[2]) for row in named})),
        "spaces": json.dumps(sorted(spaces)),
    }
    looked = rows.all(_STRANGE, params)
    if not any(is_theirs for _, _, is_theirs, _ in looked):
        return found
    talks = json.dumps(sorted({str(talk) for _, talk, is_theirs, _ in looked if talk is not None and not is_theirs}))
    known = {str(talk) for (talk,) in rows.all(_TALKS, {"talks": talks, "ids": params["ids"]})}
    strange = [
        int(n)
        for n, talk, is_theirs, is_near in looked
        if not is_theirs and (not (is_near or GLOBAL_SPACE in spaces) if talk is None else str(talk) not in known)
    ]
    fit = np.where(np.isin(found.labels, np.array(strange, np.int64)), OF_STRANGERS, 1.0)
    return replace(found, fit=found.fit * fit, evidence=found.evidence * fit)

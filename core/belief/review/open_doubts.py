"""Open questions whether one memory took the place of another, as parts of queries on an item `k` of the desk.

Until the person has answered, the later of the two speaks where a person would most likely say so. Must not do: decide
a question, or hold a value of a query.
"""

from __future__ import annotations

from core.belief.claims.authorship import IN_PASSING, OWNERS_WORD, PERSONS

_CHANGE = "json_extract(k.detail, '$.probabilities.SUPERSEDE')"
MAY_REPLACE = (
    # The plus keeps SQLite from walking through all that is open where two memories are asked about.
    "+k.state = 'open' AND k.kind = 'classification' AND (k.suggestion = 'supersede' "
    f"OR ({_CHANGE} >= 0.4 AND json_extract(k.detail, '$.cosine') >= 0.3))"
)
"""The person is asked whether the later of two memories replaces the other. A doubt that says they rather stand side
by side takes something from an answer only where both speak of one matter, by their nearness."""


def _is(side: str, whose: str) -> str:
    return f"EXISTS (SELECT 1 FROM memories m WHERE m.id = {side}.id AND ({whose}))"  # noqa: S608 - constants


_SAID, _MEANT = _is("l", f"{OWNERS_WORD} OR {IN_PASSING}"), _is("l", OWNERS_WORD)
_THEIRS, _WORD = _is("r", PERSONS), _is("r", OWNERS_WORD)
_TRUST = "abs(coalesce(json_extract(k.detail, '$.trust[1]'), 1) - coalesce(json_extract(k.detail, '$.trust[0]'), 0))"
MAY_SPEAK = (
    # What the person let fall is the person's word too, where it most likely tells of a change.
    f"CASE WHEN {_SAID} THEN CASE WHEN {_THEIRS} THEN ({_MEANT} OR NOT {_WORD} OR {_CHANGE} >= 0.5) "
    # A doubt takes no record away; what the person set out to say does, and a remark ends a mere guess.
    f"ELSE {_CHANGE} >= 0.5 AND ({_MEANT} OR r.source = 'inference') END "
    # Between equals: what counts for less keeps nothing from an answer, and nobody keeps the person's word from one.
    f"ELSE NOT {_THEIRS} AND {_TRUST} <= 0.1 END"
)
"""Of an item that MAY_REPLACE, the later side `l` and the earlier `r`: whether the later speaks meanwhile."""

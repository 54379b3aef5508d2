"""Open questions whether one memory took the place of another, as parts of queries on an item `k` of the desk.

Until the person has answered, the later of the two speaks where a person would most likely say so. Must not do: decide
a question, or hold a value of a query.
"""

from __future__ import annotations

_CHANGE = "json_extract(k.detail, '$.probabilities.SUPERSEDE')"
MAY_REPLACE = (
    "k.state = 'open' AND k.kind = 'classification' AND (k.suggestion = 'supersede' "
    f"OR ({_CHANGE} >= 0.4 AND json_extract(k.detail, '$.cosine') >= 0.3))"
)
"""The person is asked whether the later of two memories replaces the other. A doubt that says they rather stand side
by side takes something from an answer only where both speak of one matter, by their nearness."""

_OWN = "{0}.client_id IS NULL AND {0}.import_id IS NULL AND {0}.source IN ('user_explicit', 'user_implicit')"
_LATER, _EARLIER = _OWN.format("l"), _OWN.format("r")
_TRUST = "abs(coalesce(json_extract(k.detail, '$.trust[1]'), 1) - coalesce(json_extract(k.detail, '$.trust[0]'), 0))"
MAY_SPEAK = (
    # Between equals: what counts for less keeps nothing from an answer.
    f"CASE WHEN {_LATER} THEN CASE WHEN {_EARLIER} THEN (l.source = 'user_explicit' OR r.source = l.source "
    # What the person let fall is the person's word too, where it most likely tells of a change.
    f"OR {_CHANGE} >= 0.5) "
    # A doubt takes no record away; what the person set out to say does, and a remark ends a mere guess.
    f"ELSE {_CHANGE} >= 0.5 AND (l.source = 'user_explicit' OR r.source = 'inference') END "
    f"ELSE NOT ({_EARLIER}) AND {_TRUST} <= 0.1 END"
)
"""Of an item that MAY_REPLACE, the later side `l` and the earlier `r`: whether the later speaks meanwhile."""

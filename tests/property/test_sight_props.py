"""One row and one query judge alike who may see a memory, and both as the rule reads."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.recall.scope import PLACE, Scope, visibility_conditions
from core.types.values import Status

ROWS = st.fixed_dictionaries(
    {
        "space_id": st.sampled_from(("home", "work")),
        "status": st.sampled_from([one.value for one in Status]),
        "scope_channel": st.sampled_from(("", "discord", "discord:anna", "discord:bob")),
        "security_tier": st.sampled_from(("cleartext", "sensitive", "confidential")),
        "client_id": st.sampled_from((None, "bot", "other")),
        "status_reason": st.sampled_from(
            (None, "proposed", "held", "rejected", "rejected_before", "overtaken", "unanswered", "replaced")
        ),
        "tier_by": st.sampled_from((None, "rules", "owner")),
    }
)
SCOPES = st.builds(
    Scope,
    unrestricted=st.booleans(),
    space_ids=st.sampled_from((frozenset[str](), frozenset({"home"}), frozenset({"home", "work"}))),
    client_id=st.sampled_from((None, "bot")),
    channel=st.sampled_from(("", "discord:anna")),
    decides=st.booleans(),
    is_trusted=st.booleans(),
)


def by_the_rule(row: dict[str, Any], scope: Scope) -> bool:
    """The rule in the words of the design."""
    if row["space_id"] not in scope.space_ids and not scope.unrestricted:
        return False
    if scope.client_id is None:
        return True
    heard = {"": ("",), "discord:anna": ("", "discord", "discord:anna")}[scope.channel]
    never_let_in = ("rejected", "rejected_before", "overtaken", "unanswered")
    waits = row["status"] == "quarantined" or (row["status"] == "archived" and row["status_reason"] in never_let_in)
    foreign = row["client_id"] != scope.client_id and not scope.decides
    own_words = row["client_id"] == scope.client_id and row["tier_by"] == "rules"
    hidden = row["security_tier"] != "cleartext" and not own_words and not scope.is_trusted
    gone = row["status"] == "deleted" or hidden
    return row["scope_channel"] in heard and not gone and not (waits and foreign)


@settings(max_examples=count_examples(500))
@given(ROWS, SCOPES)
def test_a_row_and_a_query_judge_alike(row: dict[str, Any], scope: Scope) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE memories ({', '.join(PLACE[:-1])}, extra)")
        extra = json.dumps({} if row["tier_by"] is None else {"tier_by": row["tier_by"]})
        connection.execute(
            "INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?)", [*(row[one] for one in PLACE[:-1]), extra]
        )
        params: dict[str, object] = {}
        known = visibility_conditions(scope, params)
        found = connection.execute(f"SELECT count(*) FROM memories m WHERE {known}", params).fetchone()[0]  # noqa: S608
    finally:
        connection.close()
    expected = by_the_rule(row, scope)
    assert bool(found) == expected
    assert scope.may_see(*(row[one] for one in PLACE)) == expected

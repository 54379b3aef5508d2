"""Who may see what, as SQL conditions that every query of this room contains (E11b with spaces).

Must not do: rank, change a row, reveal a space that is out of reach, or be left out of any query.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.belief.review.items import MAY_REPLACE, MAY_SPEAK
from core.memory.read import MEMORY_COLUMNS, row_to_memory, time_of_memory_sql
from core.types.values import BY_RULES, TIER_BY, Kind, Memory, Status, seen_from
from core.vault.database.rows import Rows
from core.vault.memory_sql import CLEARTEXT, given_sql, is_undecided, let_in_sql, tier_by_sql

Labels = NDArray[np.int64]
PLACE = ("space_id", "status", "scope_channel", "security_tier", "client_id", "status_reason", TIER_BY)
"""What `Scope.may_see` judges a memory by, in its order: columns, and who chose the tier."""
PLACE_SQL = f"{', '.join(PLACE[:-1])}, {tier_by_sql('memories')}"
"""The same of `memories` as a query reads it."""
_LET_IN = let_in_sql()


_PAIRS = (
    "SELECT r.id AS earlier, l.id AS later FROM conflicts k JOIN memories i ON i.id = k.incoming_id "  # noqa: S608 - constants
    "JOIN memories e ON e.id = k.existing_id "
    f"JOIN memories l ON l.id = CASE WHEN {time_of_memory_sql('i')} "
    f">= {time_of_memory_sql('e')} THEN i.id ELSE e.id END "
    "JOIN memories r ON r.id IN (i.id, e.id) AND r.id <> l.id WHERE"
)
_MEANWHILE = f"{MAY_REPLACE} AND +i.status = 'active' AND +e.status = 'active' AND {MAY_SPEAK}"
LATER_SPEAKS = (
    f"{_PAIRS} (k.incoming_id IN (SELECT id FROM memories WHERE n IN "  # noqa: S608 - constants
    "(SELECT value FROM json_each(:review))) OR k.existing_id IN (SELECT id FROM memories WHERE n IN "
    f"(SELECT value FROM json_each(:review)))) AND {_MEANWHILE}"
)
"""Pairs of which the person is asked, where the later speaks meanwhile (design section 4); of labels, a JSON list."""

# Both questions look at what is open of the memories at hand, and not at all that is open: in a vault of years some
# thousand questions wait, and each recall went through all of them three times.
IN_REVIEW = f"EXISTS ({_PAIRS} (k.incoming_id = m.id OR k.existing_id = m.id) AND r.id = m.id AND {_MEANWHILE})"
"""Whether the person is asked if a later memory replaces `m`."""


OLD_VERSIONS = ("replaced", "older")
"""Reasons of a version that is over and was true; it keeps its reason when the lifecycle archives it."""
REPLACED_VERSION = "(m.status = 'archived' AND m.status_reason IN ('replaced', 'older'))"
"""Whether `m` is a version that is over and was archived since: of a time that has passed it speaks all the same."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an asker may see.

    Attributes:
        unrestricted: every space.
        space_ids: ids of the spaces it may see, where it is not unrestricted.
        client_id: the client; None for the owner.
        channel: whom the client speaks for (`core.types.clients`); the owner sees every channel.
        decides: it sees what waits for a decision, whoever brought it (the grant `curate`); else its own alone.
        is_trusted: it is given what is sensitive or confidential too: it has the grant, and the person said yes.
    """

    unrestricted: bool
    space_ids: frozenset[str]
    client_id: str | None = None
    channel: str = ""
    decides: bool = False
    is_trusted: bool = False

    @property
    def asker(self) -> str | None:
        """Whose waiting memories alone it sees; None for everybody's."""
        return None if self.decides else self.client_id

    def may_see(
        self,
        space_id: str,
        status: str,
        channel: str,
        tier: str,
        author: str | None,
        reason: str | None,
        tier_by: str | None = None,
    ) -> bool:
        """Whether a memory lies within it: `visibility_conditions` of one row, also of one that was (E11b; X1, X2).

        Args:
            space_id: where the memory lies.
            channel: what it is limited to, or "".
            tier: its security tier.
            author: the client that brought it, if one did.
            reason: why it has its status.
            tier_by: who chose its tier.
        """
        if not self.unrestricted and space_id not in self.space_ids:
            return False
        if self.client_id is None:
            return True
        if status == Status.DELETED.value or channel not in seen_from(self.channel):
            return False
        is_own = author == self.client_id and tier_by == BY_RULES
        if tier != CLEARTEXT and not (self.is_trusted or is_own):
            return False
        return self.asker in (None, author) or not is_undecided(status, reason)


OWNER_SCOPE = Scope(unrestricted=True, space_ids=frozenset())
"""The owner's."""


def withheld_among(rows: Rows, ids: Collection[str], scope: Scope) -> frozenset[str]:
    """Which of these memories a client is not given because they are sensitive or confidential."""
    params: dict[str, object] = {"ids": json_list(sorted(ids))}
    given = tier_condition(scope, params)
    sql = f"SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND NOT ({given})"  # noqa: S608
    return frozenset(str(row[0]) for row in rows.all(sql, params))


def tier_condition(scope: Scope, params: dict[str, object]) -> str:
    """Whether the tier of `m` lets a client have it: what is in the clear, its own words, or all with the person's yes.

    Args:
        scope: of a client.
        params: takes the value of the name in it.
    """
    if scope.is_trusted:
        return "1"
    params["own"] = scope.client_id
    return given_sql(":own")


def client_conditions(scope: Scope, params: dict[str, object]) -> list[str]:
    """What any client is kept from wherever it looks: other channels, and what others brought and nobody let in."""
    params["asker"] = scope.asker
    return [one_of("m.scope_channel", "channels", seen_from(scope.channel), params), _LET_IN]


def visibility_conditions(scope: Scope, params: dict[str, object]) -> str:
    """Whether a memory is there for the asker, as conditions on `memories m` (E11b; X1, X2).

    What was deleted, is sealed, or waits for a decision and is another's, is there for no client.

    Args:
        scope: what the asker may see.
        params: takes the values of the names in them.

    Returns:
        Conditions on what `PLACE` names; nothing is looked up for them.
    """
    found = []
    if not scope.unrestricted:
        found.append(one_of("m.space_id", "seen", sorted(scope.space_ids), params))
    if scope.client_id is not None:
        found += ["m.status <> 'deleted'", *client_conditions(scope, params), tier_condition(scope, params)]
    return join_conditions(found)


# Of an id that was made up the newest memory is looked at in its place: fetching a row shows in the time, too.
_LABEL = "coalesce((SELECT n FROM memories WHERE id = :id), (SELECT max(n) FROM memories))"
_NAMED = f"{MEMORY_COLUMNS} WHERE m.n = {_LABEL}"


def find_visible(rows: Rows, memory_id: str, scope: Scope, kind: Kind | None = None) -> Memory | None:
    """One memory by its id, where the asker may see it.

    It is one question with the scope in it, so that the id of what lies out of sight is answered by the same work as an
    id that was made up.

    Args:
        scope: what the asker may see.
        kind: what it must be; None for any.

    Returns:
        The memory; None for all others alike.
    """
    params: dict[str, object] = {"id": memory_id, "kind": kind}
    known = visibility_conditions(scope, params)
    row = rows.one(f"{_NAMED} AND coalesce(:kind, m.kind) = m.kind AND {known} AND +m.id = :id", params)
    return None if row is None else row_to_memory(row)


def visible_ids(rows: Rows, ids: Collection[str], scope: Scope) -> frozenset[str]:
    """Which memories an asker may see at all; what was deleted is there for the owner only.

    Args:
        ids: of memories, or of anything else.
        scope: what the asker may see.
    """
    params: dict[str, object] = {"ids": json_list(sorted(ids))}
    known = visibility_conditions(scope, params)
    sql = f"SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {known}"  # noqa: S608
    return frozenset(str(row[0]) for row in rows.all(sql, params))


def is_archived_version(memory: Memory) -> bool:
    """Whether a memory is a version that is over and was archived since (`REPLACED_VERSION`).

    Args:
        memory: with its status.

    Returns:
        False for all that was archived for another reason.
    """
    return memory.status is Status.ARCHIVED and memory.status_reason in OLD_VERSIONS


def one_of(column: str, name: str, values: object, params: dict[str, object]) -> str:
    """The condition that a column has one of these values, which are put into the parameters under a name."""
    params[name] = json_list(values)
    return f"{column} IN (SELECT value FROM json_each(:{name}))"  # noqa: S608 - names of this module only


def json_list(values: object) -> str:
    """Values as SQLite's `json_each` reads them."""
    return json.dumps(list(values) if isinstance(values, tuple) else values)


def join_conditions(conditions: list[str]) -> str:
    """Conditions that all hold; of none, what always holds."""
    return " AND ".join(conditions) if conditions else "1"

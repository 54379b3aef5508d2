"""Who may see what, as a SQL predicate that every query of this room contains (E11b with spaces).

It also holds the condition for claims that the person's word excludes from another space: review items keep to one
space, so what a client writes into its own is compared with nothing of the person's until somebody asks who sees both.
Must not do: rank, change a row, reveal a space that is out of reach, or be left out of any query.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.belief.review.items import MAY_REPLACE, MAY_SPEAK
from core.errors import Code, UserError
from core.memory.read import MEMORY_COLUMNS, row_to_memory, said_at_sql
from core.types.clients import limit_of, limits_from, seen_from
from core.types.values import Kind, Memory, Status
from core.vault.database.rows import Rows
from core.vault.visibility import CLEARTEXT, UNSEALED, is_undecided, let_in

if TYPE_CHECKING:
    from core.recall.query.request import RecallRequest


from core.belief.claims.authorship import PERSONS

AT_ODDS = (
    ":now IS NOT NULL AND EXISTS (SELECT 1 FROM evidence e "  # noqa: S608 - constants of this module and of whose
    "CROSS JOIN claims c ON c.id = e.claim_id AND c.state = 'asserted' AND c.exclusive = 1 AND c.polarity = 'positive' "
    "AND c.subject_key = 'user' AND c.scope_session = '' "
    "CROSS JOIN spaces s ON s.id <> c.space_id AND (:seen IS NULL OR s.id IN (SELECT value FROM json_each(:seen))) "
    "CROSS JOIN claims o ON o.space_id = s.id AND o.subject_key = c.subject_key AND o.predicate = c.predicate "
    "AND o.state = 'asserted' AND o.exclusive = 1 AND o.polarity = 'positive' AND o.scope_session = '' "
    "AND o.qualifiers = c.qualifiers AND o.value_key <> c.value_key "
    "AND coalesce(o.valid_from, -9223372036854775807) < coalesce(c.valid_to, 9223372036854775807) "
    "AND coalesce(c.valid_from, -9223372036854775807) < coalesce(o.valid_to, 9223372036854775807) "
    "CROSS JOIN evidence b ON b.claim_id = o.id AND b.stance = 'supporting' "
    "WHERE e.memory_id = m.id AND e.stance = 'supporting' AND EXISTS "
    "(SELECT 1 FROM memories m WHERE m.id = b.memory_id AND m.status = 'active' AND " + PERSONS + ")) "
    "AND NOT " + PERSONS
)
"""Whether `m`, which is not the person's, tells of the person what a claim of the person's in another space excludes
(`:seen`: ids of the spaces the asker sees, NULL for all; `:now` NULL where not the present is asked about)."""


Labels = NDArray[np.int64]
PLACE = ("space_id", "status", "scope_channel", "security_tier", "client_id", "status_reason")
"""The columns of a memory by which `Scope.sees` judges, in its order."""
_LET_IN = let_in()


_PAIRS = (
    "SELECT r.id AS earlier, l.id AS later FROM conflicts k JOIN memories i ON i.id = k.incoming_id "  # noqa: S608 - constants
    "JOIN memories e ON e.id = k.existing_id "
    f"JOIN memories l ON l.id = CASE WHEN {said_at_sql('i')} "
    f">= {said_at_sql('e')} THEN i.id ELSE e.id END "
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
LAID_AWAY = "(m.status = 'archived' AND m.status_reason IN ('replaced', 'older'))"
"""Whether `m` is a version that is over and was archived since: of a time that has passed it speaks all the same."""

IS_OVER = "coalesce(m.valid_to <= :now, 0)"
"""Whether `m` has ended by now, where the present is what is asked about (`:now`, else NULL)."""


OVERRIDDEN = (
    "EXISTS (SELECT 1 FROM evidence e JOIN claims c ON c.id = e.claim_id AND c.state = 'asserted' AND c.exclusive = 1 "
    "AND c.polarity = 'positive' JOIN claims o ON o.space_id = c.space_id AND o.subject_key = c.subject_key "
    "AND o.predicate = c.predicate AND o.state = 'asserted' AND o.exclusive = 1 AND o.polarity = 'positive' "
    "AND o.value_key <> c.value_key AND coalesce(o.valid_from, -9223372036854775807) < "
    "coalesce(c.valid_to, 9223372036854775807) AND coalesce(c.valid_from, -9223372036854775807) < "
    "coalesce(o.valid_to, 9223372036854775807) WHERE e.memory_id = m.id AND e.stance = 'supporting' "
    "AND ((c.scope_session = '' AND o.scope_session <> '' AND o.scope_session = :speaking) "
    "OR (c.scope_session <> '' AND c.scope_session <> :speaking AND o.scope_session = '')))"
)
"""Whether a claim of the session that asks stands against `m`, or `m` is limited to another session and at odds with
what is true everywhere (seed A, feature 1: a session's claims override when it asks, and replace nothing)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an asker may see.

    Attributes:
        unrestricted: every space.
        space_ids: ids of the spaces it may see, where it is not unrestricted.
        client_id: the client; None for the owner.
        channel: whom the client speaks for (`core.types.clients`); the owner sees every channel.
        decides: it sees what waits for a decision, whoever brought it (the grant `curate`); else its own alone.
    """

    unrestricted: bool
    space_ids: frozenset[str]
    client_id: str | None = None
    channel: str = ""
    decides: bool = False

    @property
    def asker(self) -> str | None:
        """Whose waiting memories alone it sees; None for everybody's."""
        return None if self.decides else self.client_id

    def sees(self, space_id: str, status: str, channel: str, tier: str, author: str | None, reason: str | None) -> bool:
        """Whether a memory lies within it: `conditions_of_sight` of one row, also of one that was (E11b; X1, X2).

        Args:
            space_id: where the memory lies.
            status: its status.
            channel: what it is limited to, or "".
            tier: its security tier.
            author: the client that brought it, if one did.
            reason: why it has its status.
        """
        if not self.unrestricted and space_id not in self.space_ids:
            return False
        if self.client_id is None:
            return True
        if status == Status.DELETED.value or tier != CLEARTEXT or channel not in seen_from(self.channel):
            return False
        return self.asker in (None, author) or not is_undecided(status, reason)


OWNER_SCOPE = Scope(unrestricted=True, space_ids=frozenset())
"""The owner's."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """Conditions on `memories m`, from the widest to the narrowest.

    Attributes:
        scope: the asker may know of it.
        visible: and it may speak now: status and valid time. Neighbours are judged by this. Who speaks of two that
            the person is asked about depends on the question (`core.recall.ranking.succession`).
        wanted: and the request asks for it.
        params: values of all names in them.
        speaks: and no claim of the asking session, or of the person's, speaks in its place; looked at for candidates
            only.
        sure: and its effective confidence is at least the first number at the second, epoch ms; SQL cannot work it
            out, so that it is looked at for candidates only. None for no such limit.
    """

    scope: str
    visible: str
    wanted: str
    params: Mapping[str, object]
    speaks: str = "1"
    sure: tuple[float, int] | None = None

    @property
    def key(self) -> str:
        """The same for the same conditions and values, whatever the time; for caches of what is searched."""
        lasting = {name: value for name, value in self.params.items() if name != "now"}
        return json.dumps([self.wanted, lasting], sort_keys=True)


def predicate(rows: Rows, request: RecallRequest, now_ms: int) -> Predicate:
    """The conditions of a request.

    Args:
        rows: a vault snapshot, to find the ids of named spaces.
        request: a checked request.
        now_ms: the present, epoch ms.

    Returns:
        The predicate.

    Raises:
        UserError: NOT_FOUND for a space that does not exist, or that the asker may not see: both look the same.
    """
    speaks_now = request.as_of_ms is None and set(request.statuses) == {Status.ACTIVE.value}
    seen = None if request.scope.unrestricted else _json(sorted(request.scope.space_ids))
    params: dict[str, object] = {"now": now_ms if speaks_now else None, "seen": seen}
    scope = _within(rows, request, params)
    if request.scope.client_id is not None:
        scope.append(UNSEALED)
    visible = [*scope, *_standing(request, params)]
    wanted = [*visible]
    if request.kinds is not None:
        wanted.append(_one_of("m.kind", "kinds", request.kinds, params))
    if request.categories is not None:
        wanted.append(_one_of("m.category", "categories", request.categories, params))
    wanted += _narrowed(request, params)
    sure = (request.min_confidence, now_ms) if request.min_confidence > 0 else None
    return Predicate(_all_of(scope), _all_of(visible), _all_of(wanted), params, _speaks(request, params), sure)


def sealed_among(rows: Rows, ids: Collection[str]) -> frozenset[str]:
    """Which of these memories are sealed.

    Args:
        rows: a vault snapshot.
        ids: of memories.

    Returns:
        Their ids.
    """
    sql = f"SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(?)) AND NOT ({UNSEALED})"  # noqa: S608
    return frozenset(str(row[0]) for row in rows.all(sql, (_json(sorted(ids)),)))


def sealed(rows: Rows, request: RecallRequest) -> int:
    """How many memories that stand where a client asks are kept from it because they are sealed.

    Args:
        rows: a vault snapshot.
        request: a checked request.

    Returns:
        A number for its receipt; 0 for the owner, who is given them.

    Raises:
        UserError: as `predicate`.
    """
    if request.scope.client_id is None:
        return 0
    params: dict[str, object] = {}
    within = _all_of(_within(rows, request, params))
    sql = f"SELECT count(*) FROM memories m WHERE m.security_tier <> 'cleartext' AND m.status = 'active' AND {within}"  # noqa: S608
    return int(rows.value(sql, params))


def _within(rows: Rows, request: RecallRequest, params: dict[str, object]) -> list[str]:
    """Where the asker looks: spaces, session and channel."""
    found = ["m.status <> 'deleted'"] if Status.DELETED.value not in request.statuses else []
    spaces = _space_ids(rows, request)
    if spaces is not None:
        found.append(_one_of("m.space_id", "spaces", sorted(spaces), params))
    if request.scope.client_id is not None or request.session:
        limits = limits_from(request.scope.channel, request.session)
        found.append(_one_of("m.scope_session", "limits", limits, params))
    if request.scope.client_id is not None:
        found += _of_client(request.scope, params)
    return found


def _of_client(scope: Scope, params: dict[str, object]) -> list[str]:
    """What any client is kept from wherever it looks: other channels, and what others brought and nobody let in."""
    params["asker"] = scope.asker
    return [_one_of("m.scope_channel", "channels", seen_from(scope.channel), params), _LET_IN]


def _narrowed(request: RecallRequest, params: dict[str, object]) -> list[str]:
    found = []
    if request.tags is not None:
        params["tags"] = _json(request.tags)
        found.append("EXISTS (SELECT 1 FROM json_each(m.tags) t WHERE t.value IN (SELECT value FROM json_each(:tags)))")
    if request.since_ms is not None:
        found.append(f"{said_at_sql('m')} >= :since")
        params["since"] = request.since_ms
    if request.until_ms is not None:
        found.append(f"{said_at_sql('m')} < :until")
        params["until"] = request.until_ms
    if request.min_confidence > 0:
        # It only falls with time: what is below the line already needs no closer look (`Predicate.sure`).
        found.append("m.confidence >= :least")
        params["least"] = request.min_confidence
    return found


def conditions_of_sight(scope: Scope, params: dict[str, object]) -> str:
    """Whether a memory is there for the asker, as conditions on `memories m` (E11b; X1, X2).

    What was deleted, is sealed, or waits for a decision and is another's, is there for no client.

    Args:
        scope: what the asker may see.
        params: takes the values of the names in them.

    Returns:
        Conditions on the columns of `PLACE`; nothing is looked up for them.
    """
    found = []
    if not scope.unrestricted:
        found.append(_one_of("m.space_id", "seen", sorted(scope.space_ids), params))
    if scope.client_id is not None:
        found += ["m.status <> 'deleted'", *_of_client(scope, params), UNSEALED]
    return _all_of(found)


# Of an id that was made up the newest memory is looked at in its place: fetching a row shows in the time, too.
_LABEL = "coalesce((SELECT n FROM memories WHERE id = :id), (SELECT max(n) FROM memories))"
_NAMED = f"{MEMORY_COLUMNS} WHERE m.n = {_LABEL}"


def find(rows: Rows, memory_id: str, scope: Scope, kind: Kind | None = None) -> Memory | None:
    """One memory by its id, where the asker may see it.

    It is one question with the scope in it, so that the id of what lies out of sight is answered by the same work as an
    id that was made up.

    Args:
        rows: a vault snapshot.
        memory_id: the memory.
        scope: what the asker may see.
        kind: what it must be; None for any.

    Returns:
        The memory; None for all others alike.
    """
    params: dict[str, object] = {"id": memory_id, "kind": kind}
    known = conditions_of_sight(scope, params)
    row = rows.one(f"{_NAMED} AND coalesce(:kind, m.kind) = m.kind AND {known} AND +m.id = :id", params)
    return None if row is None else row_to_memory(row)


def seen(rows: Rows, ids: Collection[str], scope: Scope) -> frozenset[str]:
    """Which memories an asker may see at all; what was deleted is there for the owner only.

    Args:
        rows: a vault snapshot.
        ids: of memories, or of anything else.
        scope: what the asker may see.

    Returns:
        Those that are memories which the asker may see.
    """
    params: dict[str, object] = {"ids": _json(sorted(ids))}
    known = conditions_of_sight(scope, params)
    sql = f"SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {known}"  # noqa: S608
    return frozenset(str(row[0]) for row in rows.all(sql, params))


def is_laid_away(memory: Memory) -> bool:
    """Whether a memory is a version that is over and was archived since (`LAID_AWAY`).

    Args:
        memory: with its status.

    Returns:
        False for all that was archived for another reason.
    """
    return memory.status is Status.ARCHIVED and memory.status_reason in OLD_VERSIONS


def labels_in(rows: Rows, narrowed: Predicate, limit: int = -1) -> Labels:
    """The labels of what a request wants.

    Args:
        rows: a vault snapshot.
        narrowed: the conditions.
        limit: stop after so many; -1 for all.

    Returns:
        The labels, ascending.
    """
    # One text instead of a row each: ten times faster to read (100,000 labels in 10 ms).
    sql = f"SELECT group_concat(n) FROM (SELECT m.n AS n FROM memories m WHERE {narrowed.wanted} LIMIT :most)"  # noqa: S608
    return np.sort(as_labels(rows.value(sql, {**narrowed.params, "most": limit})))


def as_labels(joined: str | None) -> Labels:
    """Labels from the text that `group_concat` makes.

    Args:
        joined: whole numbers with commas between; None for none.

    Returns:
        The labels in their order.
    """
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, np.int64)


def _space_ids(rows: Rows, request: RecallRequest) -> frozenset[str] | None:
    allowed = None if request.scope.unrestricted else request.scope.space_ids
    if request.spaces is None:
        return allowed
    found = rows.all("SELECT id FROM spaces WHERE name IN (SELECT value FROM json_each(?))", (_json(request.spaces),))
    named = frozenset(str(row[0]) for row in found)
    if len(named) < len(set(request.spaces)) or (allowed is not None and not named <= allowed):
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    return named


def _standing(request: RecallRequest, params: dict[str, object]) -> list[str]:
    statuses = set(request.statuses)
    if request.as_of_ms is None:
        standing = [_one_of("m.status", "statuses", sorted(statuses), params)]
        return [*standing, f"NOT ({IS_OVER})"] if statuses == {Status.ACTIVE.value} else standing
    params["as_of"] = request.as_of_ms
    return [
        f"({_one_of('m.status', 'statuses', sorted(statuses | {Status.SUPERSEDED.value}), params)} OR {LAID_AWAY})",
        # Said without a time from which it holds: it holds from when it was said, as superseding assumes too.
        "coalesce(m.valid_from, m.occurred_at, :as_of) <= :as_of",
        "(m.valid_to IS NULL OR m.valid_to > :as_of)",
        # A text the person corrected was never true: its correction speaks for that time too, as does the text into
        # which others went.
        "coalesce(m.status_reason, '') NOT IN ('edited', 'merged')",
    ]


def _speaks(request: RecallRequest, params: dict[str, object]) -> str:
    """What is true now in the session that asks; without one, what is limited to a session does not speak."""
    if request.as_of_ms is not None or set(request.statuses) != {Status.ACTIVE.value}:
        return "1"
    params["speaking"] = limit_of(request.scope.channel, None) or limit_of("", request.session)
    return f"NOT ({OVERRIDDEN}) AND NOT ({AT_ODDS})"


def _one_of(column: str, name: str, values: object, params: dict[str, object]) -> str:
    params[name] = _json(values)
    return f"{column} IN (SELECT value FROM json_each(:{name}))"  # noqa: S608 - names of this module only


def _json(values: object) -> str:
    return json.dumps(list(values) if isinstance(values, tuple) else values)


def _all_of(conditions: list[str]) -> str:
    return " AND ".join(conditions) if conditions else "1"

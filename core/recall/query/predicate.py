"""What a question narrows: one SQL predicate of scope, standing and wishes, which every query of this room contains.

It also holds the condition for claims that the person's word excludes from another space: review items keep to one
space, so what a client writes into its own is compared with nothing of the person's until somebody asks who sees both.
Must not do: rank, change a row, or let anything pass that the scope does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.belief.claims.authorship import PERSONS
from core.errors import Code, UserError
from core.memory.read import said_at_sql
from core.recall.query.request import RecallRequest
from core.recall.query.scope import LAID_AWAY, Labels, all_of, client_conditions, json_list, one_of, parse_labels
from core.types.clients import limit_of, limits_from
from core.types.values import Status
from core.vault.database.rows import Rows
from core.vault.memory_sql import UNSEALED

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
class ScopePredicate:
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


def build_predicate(rows: Rows, request: RecallRequest, now_ms: int) -> ScopePredicate:
    """The conditions of a request.

    Args:
        rows: a vault snapshot, to find the ids of named spaces.
        request: a checked request.

    Returns:
        The predicate.

    Raises:
        UserError: NOT_FOUND for a space that does not exist, or that the asker may not see: both look the same.
    """
    speaks_now = request.as_of_ms is None and set(request.statuses) == {Status.ACTIVE.value}
    seen = None if request.scope.unrestricted else json_list(sorted(request.scope.space_ids))
    params: dict[str, object] = {"now": now_ms if speaks_now else None, "seen": seen}
    scope = _within(rows, request, params)
    if request.scope.client_id is not None:
        scope.append(UNSEALED)
    visible = [*scope, *_status_conditions(request, params)]
    wanted = [*visible]
    if request.kinds is not None:
        wanted.append(one_of("m.kind", "kinds", request.kinds, params))
    if request.categories is not None:
        wanted.append(one_of("m.category", "categories", request.categories, params))
    wanted += _narrowed(request, params)
    sure = (request.min_confidence, now_ms) if request.min_confidence > 0 else None
    return ScopePredicate(all_of(scope), all_of(visible), all_of(wanted), params, _speaks(request, params), sure)


def withheld_count(rows: Rows, request: RecallRequest) -> int:
    """How many memories that stand where a client asks are kept from it because they are sealed.

    Args:
        request: a checked request.

    Returns:
        A number for its receipt; 0 for the owner, who is given them.

    Raises:
        UserError: as `build_predicate`.
    """
    if request.scope.client_id is None:
        return 0
    params: dict[str, object] = {}
    within = all_of(_within(rows, request, params))
    sql = f"SELECT count(*) FROM memories m WHERE m.security_tier <> 'cleartext' AND m.status = 'active' AND {within}"  # noqa: S608
    return int(rows.value(sql, params))


def _within(rows: Rows, request: RecallRequest, params: dict[str, object]) -> list[str]:
    """Where the asker looks: spaces, session and channel."""
    found = ["m.status <> 'deleted'"] if Status.DELETED.value not in request.statuses else []
    spaces = _space_ids(rows, request)
    if spaces is not None:
        found.append(one_of("m.space_id", "spaces", sorted(spaces), params))
    if request.scope.client_id is not None or request.session:
        limits = limits_from(request.scope.channel, request.session)
        found.append(one_of("m.scope_session", "limits", limits, params))
    if request.scope.client_id is not None:
        found += client_conditions(request.scope, params)
    return found


def _narrowed(request: RecallRequest, params: dict[str, object]) -> list[str]:
    found = []
    if request.tags is not None:
        params["tags"] = json_list(request.tags)
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


def wanted_labels(rows: Rows, narrowed: ScopePredicate, limit: int = -1) -> Labels:
    """The labels of what a request wants.

    Args:
        narrowed: the conditions.
        limit: stop after so many; -1 for all.

    Returns:
        The labels, ascending.
    """
    # One text instead of a row each: ten times faster to read (100,000 labels in 10 ms).
    sql = f"SELECT group_concat(n) FROM (SELECT m.n AS n FROM memories m WHERE {narrowed.wanted} LIMIT :most)"  # noqa: S608
    return np.sort(parse_labels(rows.value(sql, {**narrowed.params, "most": limit})))


def _space_ids(rows: Rows, request: RecallRequest) -> frozenset[str] | None:
    allowed = None if request.scope.unrestricted else request.scope.space_ids
    if request.spaces is None:
        return allowed
    found = rows.all(
        "SELECT id FROM spaces WHERE name IN (SELECT value FROM json_each(?))", (json_list(request.spaces),)
    )
    named = frozenset(str(row[0]) for row in found)
    if len(named) < len(set(request.spaces)) or (allowed is not None and not named <= allowed):
        raise UserError(Code.NOT_FOUND, "There is no such space.")
    return named


def _status_conditions(request: RecallRequest, params: dict[str, object]) -> list[str]:
    statuses = set(request.statuses)
    if request.as_of_ms is None:
        standing = [one_of("m.status", "statuses", sorted(statuses), params)]
        return [*standing, f"NOT ({IS_OVER})"] if statuses == {Status.ACTIVE.value} else standing
    params["as_of"] = request.as_of_ms
    return [
        f"({one_of('m.status', 'statuses', sorted(statuses | {Status.SUPERSEDED.value}), params)} OR {LAID_AWAY})",
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

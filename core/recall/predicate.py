"""What a question narrows: the SQL predicate of scope, status and wishes, and what feedback keeps out of its answer.

The predicate also holds the condition for claims that the person's word excludes from another space: review items keep
to one space, so what a client writes into its own is compared with nothing of the person's until somebody asks who sees
both. Feedback counts while it is young and the question is like the one it was given for (E7.3). Must not do: rank,
change a row, let anything pass that the scope does not, or let a client's feedback speak for others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import PERSONS
from core.embed.embedder import from_blobs
from core.errors import Code, UserError
from core.memory.read import time_of_memory_sql
from core.recall.request import RecallRequest
from core.recall.scope import (
    REPLACED_VERSION,
    Labels,
    client_conditions,
    join_conditions,
    json_list,
    one_of,
    tier_condition,
)
from core.types.values import Status, limit_of, limits_from
from core.vault.database.rows import Rows, parse_labels

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
            the person is asked about depends on the question (`core.recall.ranking`).
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

    Raises:
        UserError: NOT_FOUND for a space that does not exist, or that the asker may not see: both look the same.
    """
    speaks_now = request.as_of_ms is None and set(request.statuses) == {Status.ACTIVE.value}
    seen = None if request.scope.unrestricted else json_list(sorted(request.scope.space_ids))
    params: dict[str, object] = {"now": now_ms if speaks_now else None, "seen": seen}
    scope = _location_conditions(rows, request, params)
    if request.scope.client_id is not None:
        scope.append(tier_condition(request.scope, params))
    if request.tiers is not None:
        scope.append(one_of("m.security_tier", "tiers", request.tiers, params))
    visible = [*scope, *_status_conditions(request, params)]
    wanted = [*visible]
    if request.kinds is not None:
        wanted.append(one_of("m.kind", "kinds", request.kinds, params))
    if request.categories is not None:
        wanted.append(one_of("m.category", "categories", request.categories, params))
    wanted += _request_conditions(request, params)
    sure = (request.min_confidence, now_ms) if request.min_confidence > 0 else None
    return ScopePredicate(
        join_conditions(scope),
        join_conditions(visible),
        join_conditions(wanted),
        params,
        _current_truth_condition(request, params),
        sure,
    )


def withheld_count(rows: Rows, request: RecallRequest) -> int:
    """How many memories that stand where a client asks are kept from it because of their tier.

    Returns:
        A number for its receipt; 0 for the owner, who is given them.

    Raises:
        UserError: as `build_predicate`.
    """
    if request.scope.client_id is None:
        return 0
    params: dict[str, object] = {}
    within = join_conditions(_location_conditions(rows, request, params))
    given = tier_condition(request.scope, params)
    hidden = f"m.security_tier <> 'cleartext' AND NOT {given}"
    sql = f"SELECT count(*) FROM memories m WHERE {hidden} AND m.status = 'active' AND {within}"  # noqa: S608
    return int(rows.value(sql, params))


def _location_conditions(rows: Rows, request: RecallRequest, params: dict[str, object]) -> list[str]:
    """Where the asker looks: spaces, session and channel."""
    found = ["m.status <> 'deleted'"] if Status.DELETED.value not in request.statuses else []
    spaces = _space_ids_of_request(rows, request)
    if spaces is not None:
        found.append(one_of("m.space_id", "spaces", sorted(spaces), params))
    if request.scope.client_id is not None or request.session:
        limits = limits_from(request.scope.channel, request.session)
        found.append(one_of("m.scope_session", "limits", limits, params))
    if request.scope.client_id is not None:
        found += client_conditions(request.scope, params)
    return found


def _request_conditions(request: RecallRequest, params: dict[str, object]) -> list[str]:
    found = []
    if request.tags is not None:
        params["tags"] = json_list(request.tags)
        found.append("EXISTS (SELECT 1 FROM json_each(m.tags) t WHERE t.value IN (SELECT value FROM json_each(:tags)))")
    if request.since_ms is not None:
        found.append(f"{time_of_memory_sql('m')} >= :since")
        params["since"] = request.since_ms
    if request.until_ms is not None:
        found.append(f"{time_of_memory_sql('m')} < :until")
        params["until"] = request.until_ms
    if request.min_confidence > 0:
        # It only falls with time: what is below the line already needs no closer look (`Predicate.sure`).
        found.append("m.confidence >= :least")
        params["least"] = request.min_confidence
    return found


def wanted_labels(rows: Rows, narrowed: ScopePredicate, limit: int = -1) -> Labels:
    """The labels of what a request wants.

    Args:
        limit: stop after so many; -1 for all.

    Returns:
        The labels, ascending.
    """
    # One text instead of a row each: ten times faster to read (100,000 labels in 10 ms).
    sql = f"SELECT group_concat(n) FROM (SELECT m.n AS n FROM memories m WHERE {narrowed.wanted} LIMIT :most)"  # noqa: S608
    return np.sort(parse_labels(rows.value(sql, {**narrowed.params, "most": limit})))


def _space_ids_of_request(rows: Rows, request: RecallRequest) -> frozenset[str] | None:
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
        condition = [one_of("m.status", "statuses", sorted(statuses), params)]
        return [*condition, f"NOT ({IS_OVER})"] if statuses == {Status.ACTIVE.value} else condition
    params["as_of"] = request.as_of_ms
    return [
        (
            f"({one_of('m.status', 'statuses', sorted(statuses | {Status.SUPERSEDED.value}), params)} "
            f"OR {REPLACED_VERSION})"
        ),
        # Said without a time from which it holds: it holds from when it was said, as superseding assumes too.
        "coalesce(m.valid_from, m.occurred_at, :as_of) <= :as_of",
        "(m.valid_to IS NULL OR m.valid_to > :as_of)",
        # A text the person corrected was never true: its correction speaks for that time too, as does the text into
        # which others went.
        "coalesce(m.status_reason, '') NOT IN ('edited', 'merged')",
    ]


def _current_truth_condition(request: RecallRequest, params: dict[str, object]) -> str:
    """What is true now in the session that asks; without one, what is limited to a session does not speak."""
    if request.as_of_ms is not None or set(request.statuses) != {Status.ACTIVE.value}:
        return "1"
    params["speaking"] = limit_of(request.scope.channel, None) or limit_of("", request.session)
    return f"NOT ({OVERRIDDEN}) AND NOT ({AT_ODDS})"


LIKE_FROM = 0.7
"""A question is like another above this cosine (E7.3.2)."""
YOUNG_DAYS = 90
"""So long a feedback counts (E7.3.2)."""
NEGATIVE = ("irrelevant", "corrected", "harmful")
"""Signals that keep a memory out."""

_DAY_MS = 86_400_000
_FEEDBACK = (
    "SELECT f.memory_id, f.signal, f.context FROM feedback f "
    "WHERE f.memory_id IN (SELECT value FROM json_each(:ids)) AND f.context IS NOT NULL AND f.at > :since "
    "AND length(f.context) = :bytes AND (f.client_id IS NULL OR f.client_id = :client) "
    "AND (:space IS NULL OR f.vector_space IS NULL OR f.vector_space = :space) "
    "ORDER BY f.client_id IS NULL, f.at, f.rowid"  # the last one counts, and the person's after any client's
)


def find_suppressed(
    rows: Rows,
    ids: Iterable[str],
    query_vector: NDArray[np.float32] | None,
    now_ms: int,
    *,
    client_id: str | None = None,
    vector_space: str | None = None,
) -> frozenset[str]:
    """Memories that are not to be answered to this question.

    Args:
        ids: candidates.
        query_vector: the question, a unit vector (dims,); None compares nothing and suppresses nothing.
        client_id: who asks; its own feedback counts beside the person's. None for the person.
        vector_space: the embedder of the question; feedback of another one is passed over. None compares all that
            have the same length.

    Returns:
        Those with a negative feedback for a question with a cosine above `LIKE_FROM`, younger than `YOUNG_DAYS`, unless
        a later one in such a context calls them helpful; what the person said goes before what the client said.
    """
    signals = feedback_by_memory(rows, ids, query_vector, now_ms, client_id=client_id, vector_space=vector_space)
    return frozenset(memory_id for memory_id, signal in signals.items() if signal in NEGATIVE)


def feedback_by_memory(
    rows: Rows,
    ids: Iterable[str],
    query_vector: NDArray[np.float32] | None,
    now_ms: int,
    *,
    client_id: str | None = None,
    vector_space: str | None = None,
) -> dict[str, str]:
    """The feedback on each memory that applies to questions like this one.

    Args:
        rows: as `find_suppressed`, like the rest.
        ids: see there.
        query_vector: see there.
        now_ms: see there.
        client_id: see there.
        vector_space: see there.

    Returns:
        Memory to signal.
    """
    # Most vaults have no feedback: that costs one look and no list of ids.
    if query_vector is None or rows.value("SELECT 1 FROM feedback LIMIT 1") is None:
        return {}
    query = np.asarray(query_vector, np.float32)
    found = rows.all(
        _FEEDBACK,
        {
            "ids": json.dumps(list(ids)),
            "since": now_ms - YOUNG_DAYS * _DAY_MS,
            "bytes": 2 * query.size,
            "client": client_id,
            "space": vector_space,
        },
    )
    if not found:
        return {}
    contexts = from_blobs([row[2] for row in found], query.size)
    lengths = np.linalg.norm(contexts, axis=1) * float(np.linalg.norm(query))
    cosines = np.divide(contexts @ query, lengths, out=np.zeros(len(found), np.float32), where=lengths > 0)
    alike = cosines > LIKE_FROM
    return {memory_id: signal for (memory_id, signal, _), is_like in zip(found, alike.tolist(), strict=True) if is_like}

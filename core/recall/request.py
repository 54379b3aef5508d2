"""What a recall is asked, checked, and how its question is understood with the names that the vault knows.

Must not do: search.
"""

from __future__ import annotations

import calendar
import json
import re
from dataclasses import dataclass, fields, replace
from datetime import tzinfo
from functools import cache
from importlib.resources import files

from core.errors import Code, UserError
from core.recall.scope import Scope
from core.score.profile import Profile
from core.text.query_plan import understand_question
from core.text.terms import fold_case, fold_width, query_terms, query_text
from core.types.recall import PlanChange, QueryPlan, TimeRange
from core.types.requests import RecallQuery
from core.types.values import Kind, Status
from core.vault.database.rows import Rows

MODES = ("hybrid", "semantic", "keyword")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest(RecallQuery):
    """A question with what its asker may see; memories scoped to another session than its own stay hidden.

    Attributes:
        scope: what the asker may see.
    """

    scope: Scope

    @classmethod
    def from_query(cls, query: RecallQuery, scope: Scope) -> RecallRequest:
        """A request from what a caller asked, unchecked.

        Args:
            scope: what the caller may see.
        """
        return cls(scope=scope, **{one.name: getattr(query, one.name) for one in fields(RecallQuery)})

    @property
    def wants_vector(self) -> bool:
        """Whether the query is to be embedded."""
        return self.mode != "keyword"

    @property
    def embed_text(self) -> str:
        """What to embed: bounded, so that a query of a megabyte costs no more than one of a page."""
        return query_text(self.query)

    def check_bounds(self) -> None:
        """Refuse a recall that cannot be answered.

        Raises:
            UserError: INVALID_QUERY for an empty query, INVALID_INPUT for a word or number out of range.
        """
        if not self.query.replace("\0", " ").strip():
            raise UserError(Code.INVALID_QUERY, "The query is empty; say what to look for.")
        if self.limit < 1:
            raise UserError(Code.INVALID_INPUT, "The limit must be 1 or more.")
        if self.mode not in MODES:
            raise UserError(Code.INVALID_INPUT, "The mode is one of hybrid, semantic and keyword.")
        if not 0.0 <= self.min_confidence <= 1.0:
            raise UserError(Code.INVALID_INPUT, "The least confidence lies between 0 and 1.")
        _require_known(self.kinds, {kind.value for kind in Kind}, "kind")
        _require_known(self.statuses, {status.value for status in Status}, "status")


def _require_known(words: tuple[str, ...] | None, vocabulary: set[str], what: str) -> None:
    if words is not None and (not words or not vocabulary.issuperset(words)):
        raise UserError(Code.INVALID_INPUT, f"That is no {what}; known are: {', '.join(sorted(vocabulary))}.")


HAS_NAMES = "EXISTS (SELECT 1 FROM entity_aliases)"
"""Whether the vault knows any other names."""

_WORD = re.compile(r"[^\W_][\w'.-]*")
_DATED = re.compile("|".join((r"\d", *(name for name in calendar.month_name if name))), re.IGNORECASE)
_OWNS = re.compile(r"['\u2019]s?$")
_LONGEST = 3  # words of a name
_READ = 512
# What was merged into another stands under the other's names.
_OTHERS = (
    "SELECT DISTINCT h.alias_key, o.alias FROM entity_aliases h JOIN entities e ON e.id = h.entity_id "
    "JOIN entity_aliases o ON o.entity_id = coalesce(e.merged_into_id, e.id) OR o.entity_id = e.id "
    "JOIN entities f ON f.id = o.entity_id "
    "WHERE h.alias_key IN (SELECT value FROM json_each(:keys)) AND o.alias_key <> h.alias_key "
    "AND (:seen IS NULL OR e.space_id = 'GLOBAL' OR e.space_id IN (SELECT value FROM json_each(:seen))) "
    "AND (:seen IS NULL OR f.space_id = 'GLOBAL' OR f.space_id IN (SELECT value FROM json_each(:seen))) "
    "ORDER BY h.alias_key, o.alias"
)


def read_question(
    rows: Rows, request: RecallRequest, profile: Profile, now_ms: int, zone: tzinfo, *, has_names: bool
) -> QueryPlan:
    """Understand a question.

    Args:
        request: the question, with what the caller decides about its plan.
        profile: its text weight.
        zone: whose days are spoken of.
        has_names: whether the vault knows other names at all.

    Returns:
        The plan; other names only of spaces that the asker may see.
    """
    others = _other_names_in(rows, request) if has_names else {}
    change = request.plan or PlanChange()
    if change.text_weight is None and not profile.auto_text_weight:
        change = PlanChange(change.intent, change.time, change.no_time, profile.text_weight)
    plan = understand_question(
        request.query, now_ms, zone, lambda name: others.get(name, ()), change, profile.text_weight
    )
    return replace(plan, period=plan.time is not None and _is_asking_for_days(request.query, plan.time))


def _is_asking_for_days(query: str, days: TimeRange) -> bool:
    """Whether nothing is left of a question but the days and words such as "what happened"."""
    inside = query[days.start : days.end] == days.words
    left = f"{query[: days.start]} {query[days.end :]}" if inside else query
    return all(term.stop or term.term in _period_words() for term in query_terms(left))


@cache
def _period_words() -> frozenset[str]:
    """The words of `resources/query/period.json`, as the index has them."""
    data = json.loads((files("resources") / "query" / "period.json").read_text("utf-8"))
    return frozenset(term.term for term in query_terms(" ".join(data["words"])))


def searched_words(query: str, plan: QueryPlan) -> str:
    """The part of a question that is looked for word by word.

    Args:
        plan: how it was understood.

    Returns:
        The question without a phrase that means days only from today's point of view ("last week"): nobody wrote it
        down. Months, years and days of a month stay, for they stand with each memory.
    """
    if plan.time is None or "time" in plan.given:
        return query
    if _DATED.search(plan.time.words) or query[plan.time.start : plan.time.end] != plan.time.words:
        return query
    left = f"{query[: plan.time.start]} {query[plan.time.end :]}".strip()
    return left or query


def name_runs(query: str) -> frozenset[str]:
    """The words of a question, and the runs of them, that may be the name of an entity."""
    words = [_OWNS.sub("", fold_case(fold_width(word))).strip(".'-") for word in _WORD.findall(query[:_READ])]
    return frozenset(" ".join(words[at : at + n]) for n in range(1, _LONGEST + 1) for at in range(len(words)))


def _other_names_in(rows: Rows, request: RecallRequest) -> dict[str, tuple[str, ...]]:
    words = [fold_case(fold_width(word)).strip(".'-") for word in _WORD.findall(request.query[:_READ])]
    runs = {" ".join(words[at : at + n]) for n in range(1, _LONGEST + 1) for at in range(len(words))}
    seen = None if request.scope.unrestricted else json.dumps(sorted(request.scope.space_ids))
    found: dict[str, tuple[str, ...]] = {}
    for key, alias in rows.all(_OTHERS, {"keys": json.dumps(sorted(runs)), "seen": seen}):
        found[str(key)] = (*found.get(str(key), ()), str(alias))
    return found

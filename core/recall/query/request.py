"""What a recall is asked, checked.

Must not do: read the vault.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import Code, UserError
from core.recall.query.scope import Scope
from core.text.terms import query_text
from core.types.recall import PlanChange
from core.types.requests import RecallQuery
from core.types.values import Kind, Status

MODES = ("hybrid", "semantic", "keyword")


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question with all that narrows its answer.

    Attributes:
        query: the words; never logged.
        scope: what the asker may see.
        limit: items at most, 1 or more.
        spaces: names of spaces; None for all that the scope allows.
        kinds: names of kinds; None for all.
        categories: names of categories; None for all.
        statuses: statuses to return; with `as_of_ms` what was superseded since is returned too.
        as_of_ms: what was true at this moment (valid time), epoch ms; None for no such filter.
        mode: `hybrid`, `semantic` or `keyword`.
        min_confidence: leave out what is less certain by now (effective confidence), 0 to 1.
        session: the session that asks; memories scoped to another session stay hidden from a client.
        explain: whether the caller shows signals and ranks; the answer is the same.
        plan: what the caller decides about the reading of the question.
        tags: return only what has one of these; None for all.
        since_ms: return only what was said or happened from then on, epoch ms; `until_ms` before then.
    """

    query: str
    scope: Scope
    limit: int = 10
    spaces: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    statuses: tuple[str, ...] = (Status.ACTIVE.value,)
    as_of_ms: int | None = None
    mode: str = "hybrid"
    min_confidence: float = 0.0
    session: str | None = None
    explain: bool = False
    plan: PlanChange | None = None
    tags: tuple[str, ...] | None = None
    since_ms: int | None = None
    until_ms: int | None = None

    @classmethod
    def of(cls, query: RecallQuery, scope: Scope) -> RecallRequest:
        """A request from what a caller asked.

        Args:
            query: the question.
            scope: what the caller may see.

        Returns:
            The request, unchecked.
        """
        return cls(
            query=query.query,
            scope=scope,
            limit=query.limit,
            spaces=query.spaces,
            kinds=query.kinds,
            categories=query.categories,
            statuses=query.statuses,
            as_of_ms=query.as_of_ms,
            mode=query.mode,
            min_confidence=query.min_confidence,
            session=query.session,
            explain=query.explain,
            plan=query.plan,
            tags=query.tags,
            since_ms=query.since_ms,
            until_ms=query.until_ms,
        )

    @property
    def wants_vector(self) -> bool:
        """Whether the query is to be embedded."""
        return self.mode != "keyword"

    @property
    def embed_text(self) -> str:
        """What to embed: bounded, so that a query of a megabyte costs no more than one of a page."""
        return query_text(self.query)

    def check(self) -> None:
        """Refuse what cannot be answered.

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
        _known(self.kinds, {kind.value for kind in Kind}, "kind")
        _known(self.statuses, {status.value for status in Status}, "status")


def _known(words: tuple[str, ...] | None, vocabulary: set[str], what: str) -> None:
    if words is not None and (not words or not vocabulary.issuperset(words)):
        raise UserError(Code.INVALID_INPUT, f"That is no {what}; known are: {', '.join(sorted(vocabulary))}.")

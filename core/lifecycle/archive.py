"""The archive: why a memory left, when, whether it can come back; and erasing from it (design section 6).

Nothing is erased by default; the owner chooses kinds and a number of days. A run takes what nobody would miss: where a
text that stands was made of an archived one, that is for the person to decide. What a digest stands for is archived
with it and erased with it, where it is of chosen kinds and nothing protects any of it; else the digest stays, or its
sources would stand again. The age is measured by the clock that is believed (`clock_check`): a wrong
year must not empty the archive. A memory that is archived again starts its days anew (a run cannot be undone either).
Must not do: bring anything back, erase what is not archived, or what does not lie under something that is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from core.config.options import Options
from core.errors import Code, UserError
from core.intake.erase.erasure import erase_memories
from core.intake.erase.row_erasure import ErasureScope, erasure_scope_of, texts_to_erase
from core.intake.erase.trace_erasure import TraceIndex
from core.intake.revise.revision_plan import plan_revision
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.lifecycle.job_support.clock_check import believed_ms
from core.lifecycle.job_support.job_context import BatchResult, JobContext
from core.lifecycle.sweep import OLD_VERSION, find_protections
from core.types.lifecycle import ArchivedMemory, ArchivePage, JobAction, JobType, PlannedAction
from core.types.values import LIFECYCLE_ACTOR, Kind, Status
from core.types.views import Revision
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

MAX_PAGE = 500
_OPENING_CHARACTERS = 300
_UNSAID = "archived"
_ARCHIVED = "m.status = 'archived' AND coalesce(m.part_index, 0) = 0 AND m.space_id IN (SELECT id FROM spaces)"
_WHEN = "coalesce(m.retired_at, m.recorded_at)"
# Sorted by their numbers alone: texts are read of one page.
_PAGE = (
    "SELECT m.n, m.id, m.kind, s.name, m.status_reason, w.at, m.superseded_by_id IS NOT NULL, "  # noqa: S608
    f"substr(m.text, 1, {_OPENING_CHARACTERS}) FROM (SELECT m.n AS n, {_WHEN} AS at FROM memories m "
    f"WHERE {_ARCHIVED} AND (:at IS NULL OR ({_WHEN}, m.n) < (:at, :n)) ORDER BY 2 DESC, 1 DESC LIMIT :most) w "
    "JOIN memories m ON m.n = w.n JOIN spaces s ON s.id = m.space_id ORDER BY w.at DESC, w.n DESC"
)
_TOTAL = f"SELECT count(*) FROM memories m WHERE {_ARCHIVED}"  # noqa: S608 - constants


def read_archive_page(rows: Rows, after: str | None, limit: int, options: Options) -> ArchivePage:
    """One page of what is archived.

    Args:
        after: `next` of the page before; None for the first.
        limit: rows, 1 to 500.
        options: what is erased from the archive, and when.

    Returns:
        The page, what was archived last first; a split text is one row. An old version stands at the time at which it
        was replaced.

    Raises:
        UserError: INVALID_INPUT for the limit, or for a place that is none.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise UserError(Code.INVALID_INPUT, f"A page holds 1 to {MAX_PAGE} memories.")
    at, n = (None, None) if after is None else _parse_place(after)
    found = rows.all(_PAGE, {"at": at, "n": n, "most": limit + 1})
    shown = found[:limit]
    memory_ids = [str(row[1]) for row in shown]
    back = (
        {change.row.id for change in plan_revision(rows, memory_ids, Revision(status=Status.ACTIVE)).changes}
        if memory_ids
        else set()
    )
    kinds_erased = erased_kinds(options)
    buried = tuple(_archived_from_row(row, kinds_erased, options, str(row[1]) in back) for row in shown)
    last = f"{shown[-1][5]}.{shown[-1][0]}" if len(found) > limit else None
    return ArchivePage(buried, int(rows.value(_TOTAL)), last)


def erased_kinds(options: Options) -> frozenset[Kind]:
    """Which kinds are erased from the archive when their time is over.

    Args:
        options: `erase_kinds`, with commas.

    Returns:
        The kinds; a word that is none is passed over.
    """
    known = {kind.value: kind for kind in Kind}
    named = (word.strip().lower() for word in options.erase_kinds.split(","))
    return frozenset(known[word] for word in named if word in known)


def _archived_from_row(
    row: tuple[Any, ...], kinds_erased: frozenset[Kind], options: Options, can_return: bool
) -> ArchivedMemory:
    _, memory_id, kind, space, reason, at, replaced, text = row
    return ArchivedMemory(
        id=memory_id,
        text=text,
        kind=kind,
        space=space,
        reason=OLD_VERSION if replaced else reason or _UNSAID,
        archived_at=at,
        erased_at=at + options.erase_days * _DAY_MS if Kind(kind) in kinds_erased else None,
        can_return=can_return,
    )


def _parse_place(after: str) -> tuple[int, int]:
    at, dot, n = after.partition(".")
    if not (dot and at.lstrip("-").isdigit() and n.isdigit() and len(after) <= 40):
        raise UserError(Code.INVALID_INPUT, "That is no place in the archive.")
    return int(at), int(n)


REASON, WITH_SOURCES = "erased_from_archive", "erased_with_sources"
"""Keys of `resources/help/lifecycle.json`."""

_LAST = "last"
_DAY_MS = 86_400_000
_DUE = (
    "SELECT m.id FROM memories m LEFT JOIN spared kept ON kept.memory_id = m.id WHERE m.status = 'archived' "
    "AND m.kind IN (SELECT value FROM json_each(:kinds)) AND coalesce(m.part_index, 0) = 0 AND m.pinned = 0 "
    # An old version was retired long before it was archived: its time in the archive is not known, so it stays.
    "AND m.superseded_by_id IS NULL "
    "AND coalesce(m.retired_at, m.recorded_at) <= :before AND coalesce(kept.until, 0) <= :now "
    "AND (:ids IS NULL OR m.id IN (SELECT value FROM json_each(:ids))) ORDER BY m.n"
)
_REPLACEABLE_BY = (
    "SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) "
    "AND (status IN ('active', 'disputed', 'quarantined') OR pinned = 1) LIMIT 1"
)

# Sources of a digest, as far as they lie under it still and may be taken. The plus keeps the status's index out of it.
_LOOSE = (
    "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(:ids)) AND +status = 'consolidated' "
    "AND kind IN (SELECT value FROM json_each(:kinds))"
)


class ArchiveErasureJob:
    """Plans and carries out erasing from the archive. Its run is no step that can be undone."""

    def __init__(self) -> None:
        # One for each open vault: it holds texts, and goes with the last action of its run, or when another is planned.
        self._journals: WeakKeyDictionary[UnitOfWork, TraceIndex] = WeakKeyDictionary()

    @property
    def type(self) -> JobType:
        """Which job."""
        return JobType.ERASE

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List what would be erased; nothing where the owner chose no kind.

        Returns:
            The actions, oldest memory first; the last one is marked, so that nothing is held behind it.
        """
        self._journals.pop(context.work, None)  # of a run that was stopped
        found: list[PlannedAction] = context.read(lambda rows: _plan_erasure(rows, context))
        return found

    def prepare(self, context: JobContext, actions: Sequence[PlannedAction]) -> TraceIndex:
        """Read the journals once a run, and what was written in them since the last batch.

        Args:
            actions: those of the next batch.

        Returns:
            Where they name or quote what is due.
        """
        ids = [action.memory_id for action in actions]
        journals = self._journals.get(context.work)
        if journals is None or not journals.is_for(ids):
            journals = context.read(lambda rows: _make_journals(rows, context, ids))
            self._journals[context.work] = journals
        context.read(journals.read_new_rows)
        return journals

    def apply_plan(
        self,
        tx: Tx,
        verb: Verb,  # noqa: ARG002
        context: JobContext,
        actions: Sequence[PlannedAction],
        prepared: TraceIndex | None = None,
    ) -> BatchResult:
        """Erase, as far as each is still due under the options of now; the last action ends what was held for the run.

        Args:
            verb: of the run; nothing is recorded in it.
            actions: of `plan_revision`.
            prepared: of `prepare`; without it the journals are read whole.

        Returns:
            Counts `erased` (memories), `rows` (with parts and what lay beneath) and `skipped`.
        """
        due = _due_memory_ids(tx, context.options, context.now_ms, [action.memory_id for action in actions])
        leaving = dict(_find_expendable(tx, context, due))
        ids = [one for memory_id, (under, _) in leaving.items() for one in (memory_id, *under)]
        rows = (
            erase_memories(tx, context.work, ids, LIFECYCLE_ACTOR, context.removed, journals=prepared).memories
            if ids
            else 0
        )
        if any(action.detail.get(_LAST) for action in actions):
            self._journals.pop(context.work, None)
        erased = len(leaving)
        return BatchResult(len(actions), {"erased": erased, "rows": rows, "skipped": len(actions) - erased}, tuple(ids))


def _make_journals(rows: Rows, context: JobContext, ids: Sequence[str]) -> TraceIndex:
    """An index for all that is due, not for the next few alone."""
    named = rows.all("SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (to_json(list(ids)),))
    due = [*(str(row[0]) for row in named), *_due_memory_ids(rows, context.options, context.now_ms, None)]
    reach = erasure_scope_of(rows, [*due, *erasure_scope_of(rows, due, whole_chain=False).back], whole_chain=False)
    return TraceIndex([*ids, *reach.ids], texts_to_erase(rows, reach))


def _plan_erasure(rows: Rows, context: JobContext) -> list[PlannedAction]:
    taken: set[str] = set()
    actions = []
    for memory_id, (under, reach) in _find_expendable(
        rows, context, _due_memory_ids(rows, context.options, context.now_ms, None)
    ):
        if memory_id not in taken:
            taken.update(reach.ids)
            reason = WITH_SOURCES if under else REASON
            actions.append(PlannedAction(JobAction.ERASE, memory_id, reason=reason, detail={"rows": len(reach.ids)}))
    if actions:
        last = actions[-1]
        actions[-1] = PlannedAction(
            last.action, last.memory_id, reason=last.reason, detail={**last.detail, _LAST: True}
        )
    return actions


def _due_memory_ids(rows: Rows, options: Options, now_ms: int, ids: Sequence[str] | None) -> list[str]:
    """Archived memories whose time is over.

    The time of the transaction is not asked: once written in a wrong year, it stays there until that year comes.
    """
    kinds = sorted(kind.value for kind in erased_kinds(options))
    if not kinds:
        return []
    now_ms = believed_ms(rows, now_ms)
    asked = {
        "kinds": to_json(kinds),
        "before": now_ms - options.erase_days * _DAY_MS,
        "now": now_ms,
        "ids": None if ids is None else to_json(list(ids)),
    }
    return [str(row[0]) for row in rows.all(_DUE, asked)]


def _find_expendable(
    rows: Rows, context: JobContext, due: Sequence[str]
) -> Iterator[tuple[str, tuple[Sequence[str], ErasureScope]]]:
    """Those of what is due that nobody would miss, each with a digest's sources, and the whole reach."""
    reaches = {memory_id: erasure_scope_of(rows, [memory_id], whole_chain=False) for memory_id in due}
    loose = _erasable_sources(rows, context, {one for reach in reaches.values() for one in reach.back})
    for memory_id, alone in reaches.items():
        under = alone.back
        if loose.issuperset(under):
            reach = erasure_scope_of(rows, [memory_id, *under], whole_chain=False) if under else alone
            if _is_expendable(rows, reach):
                yield memory_id, (under, reach)


def _erasable_sources(rows: Rows, context: JobContext, sources: Collection[str]) -> set[str]:
    """Sources that may go with their digest."""
    if not sources:
        return set()
    kinds = to_json(sorted(kind.value for kind in erased_kinds(context.options)))
    found = [str(row[0]) for row in rows.all(_LOOSE, {"ids": to_json(sorted(sources)), "kinds": kinds})]
    return set(found) - find_protections(rows, found, context.now_ms).keys()


def _is_expendable(rows: Rows, reach: ErasureScope) -> bool:
    return not reach.back and rows.one(_REPLACEABLE_BY, (to_json(list(reach.ids)),)) is None

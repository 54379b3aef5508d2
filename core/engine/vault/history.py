"""The facade's group for what happened: undo history, audit, imports; and taking back many steps at once.

Must not do: show the words of a memory; labels, ids and counts are all there is here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from core.engine.authority import Authority
from core.engine.memories.memories import with_restored_embedded
from core.engine.runtime import expiry
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, PreconditionError, UserError
from core.intake.undo import UNPAIRED
from core.types.replies import AuditPage, AuditRow, ChangeCounts, ImportRow, StepRow, Steps, UndoBack, UndoReport
from core.types.values import OWNER_ACTOR, Actor
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import BROUGHT

_SHOWN_IDS = 20
# Rows of a step in which memories are looked for, since an import's step has several for each of its memories; those
# of larger steps are counted apart.
_SEARCHED_ROWS = 100
_CLIENT = "client:"

_STEP = (
    "SELECT s.id, s.at, s.verb, s.label, s.actor, c.name, "
    "(SELECT coalesce(max(r.nr) + 1, 0) FROM undo_rows r WHERE r.step_id = s.id), s.undone_by IS NOT NULL, "
    "s.is_open, s.undoes_id IS NOT NULL, s.expires_at, u.id, u.at FROM undo_steps s "
    "LEFT JOIN clients c ON c.id = s.client_id LEFT JOIN undo_steps u ON u.id = s.undone_by WHERE "
)
# What leaves no undo step because it cannot be undone; counted as it was asked for, without parts and versions.
_FINAL = (
    "SELECT a.nr, a.at, a.verb, a.detail ->> '$.asked' FROM audit a "
    "WHERE a.nr > (SELECT coalesce(max(nr), 0) FROM audit) - :searched AND a.verb IN ('erase', 'seal') "
    "AND a.actor = 'owner' AND a.detail ->> '$.asked' > 0 "
    "AND a.at >= :since AND a.at < :until ORDER BY a.nr DESC LIMIT :most"
)
_MOST_FINAL, _LAST_MS = 500, 2**62
_SEARCHED_LINES = 50_000  # of the audit, from the newest on: it has no index by verb
_FINAL_LABELS = {
    "erase": ("Erase 1 memory for good", "Erase {count:,} memories for good"),
    "seal": ("Seal 1 memory", "Seal {count:,} memories"),
}
_NEWEST_FIRST = " ORDER BY s.at DESC, s.rowid DESC LIMIT :most"

_TOUCHED = """
    SELECT r.step_id, r.nr, m.id FROM undo_rows r JOIN memories m ON m.n = json_extract(r.row_key, '$.n')
    WHERE r.step_id IN (SELECT value FROM json_each(:steps)) AND r.nr < :searched AND r.tbl = 'memories'
    UNION ALL
    SELECT r.step_id, r.nr, m.id FROM undo_rows r JOIN memories m ON m.id = json_extract(r.row_key, '$.memory_id')
    WHERE r.step_id IN (SELECT value FROM json_each(:steps)) AND r.nr < :searched AND r.tbl = 'places'
    ORDER BY 1, 2
"""
_COUNTED = """
    SELECT step_id, count(*) FROM (
        SELECT r.step_id, m.id FROM undo_rows r JOIN memories m ON m.n = json_extract(r.row_key, '$.n')
        WHERE r.step_id IN (SELECT value FROM json_each(:steps)) AND r.tbl = 'memories'
        UNION
        SELECT r.step_id, m.id FROM undo_rows r JOIN memories m ON m.id = json_extract(r.row_key, '$.memory_id')
        WHERE r.step_id IN (SELECT value FROM json_each(:steps)) AND r.tbl = 'places'
    ) GROUP BY step_id
"""
_UNPAIRED = f"SELECT name FROM clients WHERE {UNPAIRED} AND name IN (SELECT value FROM json_each(?)) ORDER BY name"  # noqa: S608
_HOW_MANY = """
    SELECT count(*) FROM (
        SELECT json_extract(row_key, '$.n') FROM undo_rows
        WHERE step_id IN (SELECT value FROM json_each(:steps)) AND tbl = 'memories'
        UNION
        SELECT m.n FROM undo_rows r JOIN memories m ON m.id = json_extract(r.row_key, '$.memory_id')
        WHERE r.step_id IN (SELECT value FROM json_each(:steps)) AND r.tbl = 'places'
    )
"""
# By time and not by id: ids follow the machine's clock, which may have been set back.
_UNDO = """
    SELECT id FROM undo_steps WHERE undone_by IS NULL AND verb <> 'undo' AND is_open = 0 AND actor = 'owner'
    AND expires_at >= :now ORDER BY at DESC, rowid DESC LIMIT 1
"""
# Undo steps of the owner that stand and that no other verb of the owner's followed. Of a chain of undo, redo, undo …
# every second one is a redo; those do not count.
_REDO = """
    WITH RECURSIVE up (first, id, depth) AS (
        SELECT s.id, s.id, 1 FROM undo_steps s
        WHERE s.verb = 'undo' AND s.actor = 'owner' AND s.undone_by IS NULL AND s.is_open = 0 AND s.expires_at >= :now
          AND (s.at, s.rowid) > (SELECT f.at, f.rowid FROM (
              SELECT at, rowid FROM undo_steps WHERE verb <> 'undo' AND actor = 'owner'
              UNION ALL SELECT -1, -1 ORDER BY 1 DESC, 2 DESC LIMIT 1) f)
        UNION ALL
        SELECT up.first, p.id, up.depth + 1 FROM up
        JOIN undo_steps s ON s.id = up.id JOIN undo_steps p ON p.id = s.undoes_id WHERE p.verb = 'undo'
    )
    SELECT s.id FROM undo_steps s
    JOIN (SELECT first, max(depth) AS depth FROM up GROUP BY first) u ON u.first = s.id
    WHERE u.depth % 2 = 1 ORDER BY s.at DESC, s.rowid DESC LIMIT 1
"""
_LATER = """
    SELECT s.id, s.label, s.verb, s.undoes_id, s.undone_by IS NULL, s.is_open FROM undo_steps s
    WHERE (s.at, s.rowid) >= (SELECT at, rowid FROM undo_steps WHERE id = :step) ORDER BY s.at DESC, s.rowid DESC
"""
# Later parts of a split text and forgotten memories are in the vault, but are none of the memories a person counts.
_IMPORTS = f"""
    WITH there (import_id, n) AS (
        SELECT import_id, count(*) FROM {BROUGHT} GROUP BY import_id
    ), aside (import_id, n) AS (
        SELECT import_id, count(*) FROM (
            SELECT n FROM memories WHERE part_of IS NOT NULL AND part_index > 0
            UNION SELECT n FROM memories WHERE space_id IN (SELECT id FROM spaces) AND status = 'deleted'
        ) JOIN {BROUGHT} b USING (n) GROUP BY b.import_id
    )
    SELECT i.id, i.format, i.label, s.name, i.state, i.started_at, i.finished_at,
           coalesce(t.n, 0) - coalesce(a.n, 0), i.step_id, i.summary, u.undone_by
    FROM imports i JOIN spaces s ON s.id = i.space_id LEFT JOIN undo_steps u ON u.id = i.step_id
    LEFT JOIN there t ON t.import_id = i.id LEFT JOIN aside a ON a.import_id = i.id
    ORDER BY i.started_at DESC, i.rowid DESC
"""  # noqa: S608 - constants only


# Those that were merged when they came were never retired; the later parts of a split text are counted with its first.
_CHANGES = """
    SELECT sum(recorded_at >= :since),
           sum(status = 'superseded' AND status_reason IS NOT 'merged' AND retired_at >= :since),
           sum((status = 'consolidated' OR (status = 'superseded' AND status_reason = 'merged'))
               AND coalesce(retired_at, recorded_at) >= :since),
           sum(status = 'deleted' AND retired_at >= :since)
    FROM memories WHERE part_of IS NULL OR part_index = 0
"""


@dataclass(frozen=True, slots=True)
class _Page:
    """Which steps are wanted, as `History.list_steps` is told."""

    after: str | None
    limit: int
    since: int
    include_undone: bool
    with_final: bool


@dataclass(frozen=True, slots=True)
class _Later:
    """A step, from the chosen one on."""

    id: str
    label: str
    verb: str
    undoes: str | None
    is_in_force: bool
    is_open: bool


class History:
    """The undo history, the audit and the imports of the open vault; the owner's alone."""

    def __init__(self, open_vault: Callable[[], OpenVault], authority: Authority) -> None:
        self._open_vault = open_vault
        self._authority = authority

    def note_disclosure(
        self,
        actor: Actor,
        verb: str,
        query: str,
        memory_ids: Sequence[str],
        entity_ids: Sequence[str] = (),
        blocked_ids: Sequence[str] = (),
    ) -> str:
        """Take down what a client was handed beside searches and contexts; written with the next flush.

        What it reads alike within a minute stands on one receipt, which counts the reads and names the first 50.

        Args:
            verb: `list`, `history`, `conflicts` or `entities`.
            query: the words asked with; "" for none.
            memory_ids: what it was handed; none of it counts as used.
            entity_ids: likewise.
            blocked_ids: memories of which it was shown no word, since they read like an attack.

        Returns:
            The receipt's id.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        return open_vault.read_log.note_disclosure(actor, verb, query, memory_ids, entity_ids, now, blocked=blocked_ids)

    def list_steps(
        self,
        after: str | None = None,
        limit: int = 100,
        include_undone: bool = True,
        since: int = 0,
        *,
        with_final: bool = False,
    ) -> Future[Steps]:
        """Undo steps, newest first.

        Args:
            after: `Steps.next` of the page before; None for the newest.
            limit: steps at most, from 1 on.
            include_undone: whether steps that are taken back at present are among them.
            since: epoch ms; older ones are left out of the page, and stay in the total.
            with_final: whether what cannot be undone, erasing and sealing, is among the rows; no id of such a row is
                one of a step, and none is counted in the limit and the total.

        Returns:
            A page; the future raises INVALID_INPUT where `after` has expired since.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        page = _Page(after, max(1, limit), since, include_undone, with_final)
        return open_vault.storage.read(lambda rows: _read_history_steps(rows, now, page))

    def count_step_memories(self, step_ids: Sequence[str]) -> Future[Mapping[str, int]]:
        """How many memories steps touched that are still in the vault; 0 for those that touched none.

        For steps whose `StepRow.memories` is None: all rows of each are read.

        Raises:
            UserError: VAULT_LOCKED.
        """
        wanted = tuple(step_ids)
        return self._open_vault().storage.read(lambda rows: _count_step_memories(rows, wanted))

    def count_changes(self, since: int = 0) -> Future[ChangeCounts]:
        """How many memories were learned, replaced, merged and forgotten.

        Args:
            since: epoch ms of the beginning of the period, which ends now.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._open_vault().storage.read(lambda rows: _count_changes(rows, since))

    def next_undo(self) -> Future[StepRow | None]:
        """The newest step of the owner's own that can be taken back; undo it by its id. None where there is none.

        What clients and runs did meanwhile is not in its way; `memories.undo(None)` takes the newest of all but runs.
        """
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        return open_vault.storage.read(lambda rows: _read_history_step(rows, now, rows.value(_UNDO, {"now": now})))

    def next_redo(self) -> Future[StepRow | None]:
        """The newest undo that the owner did nothing else after; undo it by its id to redo. None where there is none.

        What clients store meanwhile does not end it: taking it back leaves rows alone that changed since.
        """
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        return open_vault.storage.read(lambda rows: _read_history_step(rows, now, rows.value(_REDO, {"now": now})))

    def undo_back_to(self, step_id: str, preview: bool) -> Future[UndoBack]:
        """Take back a step and every later one that stands, newest first, in one transaction.

        An undo among the later steps is taken back where what it undid is older than the chosen step, so that the
        vault is as it was before that step. An error takes back nothing; rows that something else changed are left
        and listed in the reports.

        Args:
            step_id: the oldest step to take back.
            preview: only tell what would be taken back.

        Returns:
            The steps' names and how many memories they touch; with the reports, where it was done. The future raises
            NOT_FOUND where there is no such step or one has expired, BUSY where one still runs, INVALID_INPUT where
            nothing from there on stands.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        if preview:
            return open_vault.storage.read(lambda rows: _describe_undo(rows, _steps_to_undo(rows, step_id)))

        def write(tx: Tx) -> UndoBack:
            steps = _steps_to_undo(tx, step_id)
            if not steps:
                raise PreconditionError("Everything from that step on is undone already.")
            described = _describe_undo(tx, steps)
            reports: list[UndoReport] = []
            with open_vault.storage.verb(tx, OWNER_ACTOR, "undo") as verb:
                while steps:
                    reports += [expiry.undo_step(tx, open_vault, step.id, OWNER_ACTOR) for step in steps]
                    # One that took several steps back has brought them into force again: those among them go too.
                    steps = _steps_to_undo(tx, step_id)
                self._authority.refresh_after(tx)
                verb.set_outcome(())
            names = {name for report in reports for name in report.unpaired}  # one may have gone with its pairing
            still = tuple(str(row[0]) for row in tx.all(_UNPAIRED, (json.dumps(sorted(names)),)))
            return UndoBack(described.labels, described.memories, tuple(reports), still)

        return with_restored_embedded(open_vault.storage.write(write), open_vault.storage, open_vault.search)

    def list_audit(self, before: int | None = None, limit: int = 200) -> Future[AuditPage]:
        """Audit rows, newest first.

        Args:
            before: `AuditPage.next` of the page before; None for the newest.
            limit: rows at most, from 1 on.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._open_vault().storage.read(lambda rows: _read_audit(rows, before, max(1, limit)))

    def list_imports(self) -> Future[tuple[ImportRow, ...]]:
        """All imports, newest first, with how many of their memories are in the vault now.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._open_vault().storage.read(_read_imports)


def _count_changes(rows: Rows, since: int) -> ChangeCounts:
    return ChangeCounts(*(int(count or 0) for count in rows.one(_CHANGES, {"since": since}) or (0, 0, 0, 0)))


def _count_step_memories(rows: Rows, step_ids: Sequence[str]) -> Mapping[str, int]:
    counted = dict(rows.all(_COUNTED, {"steps": json.dumps(step_ids)}))
    return {step_id: int(counted.get(step_id, 0)) for step_id in step_ids}


def _read_history_steps(rows: Rows, now: int, wanted: _Page) -> Steps:
    condition = "1" if wanted.include_undone else "s.undone_by IS NULL"
    total = int(rows.value("SELECT count(*) FROM undo_steps s WHERE " + condition))  # noqa: S608 - constants
    after, limit = wanted.after, wanted.limit
    if after is not None and rows.one("SELECT 1 FROM undo_steps WHERE id = ?", (after,)) is None:
        raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")
    behind = " AND (:after IS NULL OR (s.at, s.rowid) < (SELECT at, rowid FROM undo_steps WHERE id = :after))"
    values = {"after": after, "most": limit + 1, "since": wanted.since}
    found = rows.all(_STEP + condition + " AND s.at >= :since" + behind + _NEWEST_FIRST, values)
    page = _undo_step_rows(rows, now, found[:limit])
    following = page[-1].id if len(found) > limit else None
    if wanted.with_final:
        since = wanted.since if following is None else max(wanted.since, page[-1].at)
        page = tuple(sorted((*page, *_read_final_rows(rows, after, since)), key=lambda row: -row.at))
    return Steps(page, total, following)


def _read_final_rows(rows: Rows, after: str | None, since: int) -> list[StepRow]:
    """What cannot be undone, of the time between two steps.

    Args:
        after: the step before the page; None for the newest page.
    """
    until = rows.value("SELECT at FROM undo_steps WHERE id = ?", (after,)) if after is not None else None
    given = {"since": since, "until": _LAST_MS if until is None else until}
    found = rows.all(_FINAL, {**given, "searched": _SEARCHED_LINES, "most": _MOST_FINAL})
    return [_final_row(*row) for row in found]


def _final_row(nr: int, at: int, verb: str, count: int) -> StepRow:
    one, many = _FINAL_LABELS[verb]
    return StepRow(
        id=f"audit:{nr}",
        at=at,
        verb=verb,
        label=one if count == 1 else many.format(count=count),
        actor="owner",
        client=None,
        rows=0,
        undone=False,
        can_undo=False,
        is_undo=False,
        expires_at=_LAST_MS,
        memories=0,
        is_final=True,
    )


def _read_history_step(rows: Rows, now: int, step_id: str | None) -> StepRow | None:
    if step_id is None:
        return None
    found = _undo_step_rows(rows, now, rows.all(_STEP + "s.id = :id", {"id": step_id}))
    return found[0] if found else None


def _undo_step_rows(rows: Rows, now: int, found: Sequence[tuple[Any, ...]]) -> tuple[StepRow, ...]:
    steps = json.dumps([row[0] for row in found])
    touched: dict[str, dict[str, None]] = {}
    for step_id, _, memory_id in rows.all(_TOUCHED, {"steps": steps, "searched": _SEARCHED_ROWS}):
        touched.setdefault(step_id, {})[memory_id] = None
    return tuple(_undo_step_row(row, now, tuple(touched.get(row[0], ()))) for row in found)


def _undo_step_row(row: tuple[Any, ...], now: int, memory_ids: tuple[str, ...]) -> StepRow:
    step_id, at, verb, label, actor, client, changed, undone, is_open, undoes, expires_at, undone_by, undone_at = row
    return StepRow(
        id=step_id,
        at=at,
        verb=verb,
        label=label,
        actor=actor,
        client=client,
        rows=changed,
        undone=bool(undone),
        can_undo=not undone and not is_open and expires_at >= now,
        is_undo=bool(undoes) or verb == "undo",  # what it took back may have expired
        expires_at=expires_at,
        memory_ids=memory_ids[:_SHOWN_IDS],
        undone_by=undone_by,
        undone_at=undone_at,
        memories=len(memory_ids) if changed <= _SEARCHED_ROWS else None,
    )


def _steps_to_undo(rows: Rows, step_id: str) -> tuple[_Later, ...]:
    """The steps to undo, newest first, so that the vault is as it was before one of them."""
    if rows.one("SELECT 1 FROM undo_steps WHERE id = ?", (step_id,)) is None:
        raise UserError(Code.NOT_FOUND, "There is no such step.")
    later = {
        row[0]: _Later(row[0], row[1], row[2], row[3], bool(row[4]), bool(row[5]))
        for row in rows.all(_LATER, {"step": step_id})
    }
    if any(step.is_open for step in later.values()):
        raise UserError(Code.BUSY, "One of those steps is still running; wait until it is done.")
    inner = {step.undoes for step in later.values()}  # within a chain every second step stands; the last one counts
    return tuple(
        step
        for step in later.values()
        if step.is_in_force and (step.undoes is None or step.id not in inner) and _must_go(step, later)
    )


def _must_go(step: _Later, later: Mapping[str, _Later]) -> bool:
    """Whether a standing step, a root or the last of a chain of undo and redo, has to be undone.

    Where the root of a chain is among the later steps, the root is undone, or is undone already. Where it is older,
    its state is what it was before if an even number of the chain's steps came later.
    """
    links, at = 0, step
    while at.undoes is not None:
        links += 1
        if at.undoes not in later:
            return links % 2 == 1
        at = later[at.undoes]
    # A chain that ends in an undo lost its root: it expired, so it was older.
    return (links + 1) % 2 == 1 if at.verb == "undo" else links == 0


def _describe_undo(rows: Rows, steps: Sequence[_Later]) -> UndoBack:
    memories = rows.value(_HOW_MANY, {"steps": json.dumps([step.id for step in steps])})
    return UndoBack(tuple(step.label for step in steps), int(memories))


def _read_audit(rows: Rows, before: int | None, limit: int) -> AuditPage:
    total = int(rows.value("SELECT count(*) FROM audit"))
    found = rows.all(
        "SELECT nr, at, actor, verb, object, detail FROM audit WHERE :before IS NULL OR nr < :before "
        "ORDER BY nr DESC LIMIT :most",
        {"before": before, "most": limit + 1},
    )
    names = dict(rows.all("SELECT id, name FROM clients"))
    page = tuple(
        AuditRow(nr, at, _client_name_of_actor(actor, names), verb, obj, json.loads(detail))
        for nr, at, actor, verb, obj, detail in found[:limit]
    )
    return AuditPage(page, total, page[-1].nr if len(found) > limit else None)


def _client_name_of_actor(actor: str, names: Mapping[str, str]) -> str:
    """A client by its name, where it is known."""
    known = names.get(actor.removeprefix(_CLIENT)) if actor.startswith(_CLIENT) else None
    return actor if known is None else _CLIENT + known


def _read_imports(rows: Rows) -> tuple[ImportRow, ...]:
    return tuple(
        ImportRow(
            id=row[0],
            format=row[1],
            label=row[2],
            space=row[3],
            state=row[4],
            started_at=row[5],
            finished_at=row[6],
            memories=row[7],
            step_id=row[8],
            summary=json.loads(row[9]),
            undone_by=row[10],
        )
        for row in rows.all(_IMPORTS)
    )

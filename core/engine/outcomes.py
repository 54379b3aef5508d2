"""The facade's group for what is put into practice: how rules serve and how procedures go.

The opposite that a harmful mark turns a rule into is embedded before the write, written with it, and announced. Must
not do: decide when a rule is inverted; `core.intake.revise.outcome_reports` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import log
from core.engine.authority import Authority
from core.engine.runtime.search import Search
from core.engine.runtime.storage import Storage, chain_work
from core.errors import Code, LociError, UserError
from core.intake.revise.outcome_reports import (
    HARMFUL,
    HELPFUL,
    OUTCOME,
    InvertedText,
    OutcomeReports,
    preview_inversion,
    procedure_state,
    rule_state,
)
from core.intake.transaction.admission import check_reason
from core.intake.transaction.question_quota import check_mark_limits
from core.intake.transaction.unit_of_work import IdempotentCall
from core.recall.scope import find_visible
from core.text.terms import embedding_text
from core.types.lifecycle import Marked, OutcomeTaken, ProcedureState, RuleState
from core.types.memory import Application
from core.types.values import Actor, Kind
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_log = log.get("engine")
_APPLIED = (
    "SELECT a.applied_at, a.outcome = 'helpful', k.name, coalesce(a.reason, '') FROM rule_applications a "
    "LEFT JOIN clients k ON k.id = a.client_id WHERE a.memory_id = ? ORDER BY a.applied_at DESC, a.id DESC LIMIT ?"
)

Check = Callable[[Rows], None]
"""Raises where the actor may not see the memory."""


def outcome_reports(storage: Storage, search: Search) -> OutcomeReports:
    """What takes reports down in an open vault."""
    return OutcomeReports(storage.make_id, storage.work, search.space, search.add_vectors)


def mark_helpful(
    storage: Storage, search: Search, memory_id: str, actor: Actor, check: Check, call: IdempotentCall | None = None
) -> Future[Marked]:
    """A rule was applied and it helped.

    Args:
        call: the caller's own id for this report, if it gave one.

    Returns:
        How the rule stands now; the future raises NOT_FOUND, INVALID_INPUT and what `check` does.
    """

    def write(tx: Tx) -> Marked:
        check(tx)
        with storage.verb(tx, actor, HELPFUL, call) as verb:
            known = _earlier_mark(tx, verb.earlier)
            if known is not None:
                return known
            check_mark_limits(tx, memory_id, actor, tx.now_ms)
            done = outcome_reports(storage, search).mark_helpful(tx, memory_id, actor)
            verb.set_outcome((done.state.memory_id,), _kept_mark(done))
            return done

    return storage.write(write)


def mark_harmful(
    storage: Storage,
    search: Search,
    memory_id: str,
    actor: Actor,
    reason: str | None,
    check: Check,
    call: IdempotentCall | None = None,
) -> Future[Marked]:
    """A rule was applied and it harmed; where that turns it around, the opposite is embedded first.

    Args:
        reason: why; up to 512 characters.
        call: the caller's own id for this report, if it gave one.

    Returns:
        How the rule stands now; the future raises NOT_FOUND, INVALID_INPUT and what `check` does.

    Raises:
        UserError: INVALID_INPUT for a reason that cannot be kept.
    """
    check_reason(reason)

    def preview_text(rows: Rows) -> tuple[str, str] | None:
        check(rows)
        text = preview_inversion(rows, memory_id, actor, reason)
        if text is None:
            return None
        author = rows.value("SELECT author FROM memories WHERE id = ?", (memory_id,))
        return text, embedding_text(text, author=author)

    def write_mark(text: str | None, vectors: NDArray[np.float32] | None) -> Future[Marked]:
        turned = None if text is None or vectors is None else InvertedText(text, vectors[0])

        def write(tx: Tx) -> Marked:
            check(tx)
            with storage.verb(tx, actor, HARMFUL, call) as verb:
                known = _earlier_mark(tx, verb.earlier)
                if known is not None:
                    return known
                check_mark_limits(tx, memory_id, actor, tx.now_ms)
                done = outcome_reports(storage, search).mark_harmful(tx, memory_id, actor, reason, turned)
                verb.set_outcome((done.state.memory_id,), _kept_mark(done))
                return done

        return storage.write(write)

    def mark_with_vector(found: tuple[str, str] | None) -> Future[Marked]:
        if found is None:
            return write_mark(None, None)
        return chain_work(
            _ignore_missing_embedder(search.embed([found[1]])), lambda vectors: write_mark(found[0], vectors)
        )

    return chain_work(storage.read(preview_text), mark_with_vector)


def _earlier_mark(tx: Tx, known: Mapping[str, Any] | None) -> Marked | None:
    """The answer to a report that came before, with how the rule stands by now."""
    state = None if known is None else rule_state(tx, str(known["memory_id"]))
    if known is None or state is None:
        return None
    return Marked(state, str(known["step_id"]), bool(known["inverted"]), known["conflict"])


def _kept_mark(done: Marked) -> Mapping[str, Any]:
    ids = {"memory_id": done.state.memory_id, "step_id": done.step_id}
    return {**ids, "inverted": done.inverted, "conflict": done.conflict}


def _ignore_missing_embedder(vectors: Future[NDArray[np.float32]]) -> Future[NDArray[np.float32] | None]:
    """The vectors, or None where no embedder answers: the mark counts all the same, and a later run turns it around."""
    tried: Future[NDArray[np.float32] | None] = Future()

    def settle_vectors(done: Future[NDArray[np.float32]]) -> None:
        error = None if done.cancelled() else done.exception()
        if error is None and not done.cancelled():
            tried.set_result(done.result())
        elif error is None or isinstance(error, LociError):
            _log.warning("a rule is turned around later: no embedder answered")
            tried.set_result(None)
        else:
            tried.set_exception(error)

    vectors.add_done_callback(settle_vectors)
    return tried


def record_outcome(
    storage: Storage, search: Search, memory_id: str, success: bool, took_ms: int | None, actor: Actor, check: Check
) -> Future[OutcomeTaken]:
    """A procedure was carried out.

    Args:
        success: whether it went well.
        took_ms: how long it took; None where nobody measured.

    Returns:
        How the procedure stands now; the future raises NOT_FOUND, INVALID_INPUT and what `check` does.
    """

    def write(tx: Tx) -> OutcomeTaken:
        check(tx)
        with storage.verb(tx, actor, OUTCOME) as verb:
            done = outcome_reports(storage, search).record_outcome(tx, memory_id, success, took_ms, actor)
            verb.set_outcome((done.state.memory_id,))
        return done

    return storage.write(write)


def read_rule_state(storage: Storage, memory_id: str, check: Check) -> Future[RuleState | None]:
    """How a rule has served; None where the memory is no rule."""

    def read(rows: Rows) -> RuleState | None:
        check(rows)
        return rule_state(rows, memory_id)

    return storage.read(read)


def read_procedure_state(storage: Storage, memory_id: str, check: Check) -> Future[ProcedureState | None]:
    """How a procedure goes and how it went; None where the memory is no procedure."""

    def read(rows: Rows) -> ProcedureState | None:
        check(rows)
        return procedure_state(rows, memory_id)

    return storage.read(read)


def last_applications(storage: Storage, memory_id: str, limit: int, check: Check) -> Future[tuple[Application, ...]]:
    """The last times that a rule was applied, the latest first; none for what is no rule."""

    def read(rows: Rows) -> tuple[Application, ...]:
        check(rows)
        return tuple(
            Application(int(at), bool(is_helpful), client, str(reason))
            for at, is_helpful, client, reason in rows.all(_APPLIED, (memory_id, limit))
        )

    return storage.read(read)


class Outcomes:
    """Everything a caller does with rules and procedures. Each method returns at once with a Future."""

    def __init__(self, storage: Callable[[], Storage], search: Callable[[], Search], authority: Authority) -> None:
        self._storage, self._search = storage, search
        self._authority = authority

    def mark_helpful(
        self, memory_id: str, actor: Actor, request_id: str | None = None, kind: Kind | None = None
    ) -> Future[Marked]:
        """A rule was applied and it helped (seed B, rule effectiveness).

        Args:
            request_id: the caller's own id for this report: one that comes twice counts once.
            kind: what the memory must be; another is answered as one that does not exist.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED; the future raises NOT_FOUND, INVALID_INPUT where it is no rule,
                RATE_LIMITED where a client has reported on it today as often as counts.
        """
        self._authority.require_voice(actor)
        call = IdempotentCall(actor, request_id, {"verb": "helpful", "id": memory_id})
        check = self._may_mark(memory_id, actor, kind)
        return mark_helpful(self._storage(), self._search(), memory_id, actor, check, call)

    def mark_harmful(
        self,
        memory_id: str,
        actor: Actor,
        reason: str | None = None,
        request_id: str | None = None,
        kind: Kind | None = None,
    ) -> Future[Marked]:
        """A rule was applied and it harmed; see `mark_helpful`.

        Args:
            reason: why; kept with the rule, never in the audit.
        """
        self._authority.require_voice(actor)
        call = IdempotentCall(actor, request_id, {"verb": "harmful", "id": memory_id, "reason": reason})
        check = self._may_mark(memory_id, actor, kind)
        return mark_harmful(self._storage(), self._search(), memory_id, actor, reason, check, call)

    def record_outcome(
        self, memory_id: str, actor: Actor, *, success: bool, took_ms: int | None = None
    ) -> Future[OutcomeTaken]:
        """A procedure was carried out; see `mark_helpful`.

        Args:
            success: whether it went well.
            took_ms: how long it took; None where nobody measured.
        """
        self._authority.require_voice(actor)
        return record_outcome(
            self._storage(),
            self._search(),
            memory_id,
            success,
            took_ms,
            actor,
            self._may_mark(memory_id, actor),
        )

    def read_rule(self, memory_id: str, actor: Actor) -> Future[RuleState | None]:
        """How a rule has served; None where the memory is no rule."""
        return read_rule_state(self._storage(), memory_id, self._make_visibility_check(memory_id, actor))

    def read_procedure(self, memory_id: str, actor: Actor) -> Future[ProcedureState | None]:
        """How a procedure goes and how it went; None where the memory is no procedure."""
        return read_procedure_state(self._storage(), memory_id, self._make_visibility_check(memory_id, actor))

    def list_applications(self, memory_id: str, actor: Actor, limit: int = 5) -> Future[tuple[Application, ...]]:
        """The last times that a rule was applied, the latest first."""
        return last_applications(self._storage(), memory_id, limit, self._make_visibility_check(memory_id, actor))

    def _may_mark(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> Check:
        """Looks anew where it is carried out: what was granted may have been taken back since."""

        def check_may_mark(rows: Rows) -> None:
            self._authority.require_voice(actor)
            self._make_visibility_check(memory_id, actor, kind)(rows)

        return check_may_mark

    def _make_visibility_check(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> Check:
        scope = self._authority.make_scope(actor)

        def check_visible(rows: Rows) -> None:
            if find_visible(rows, memory_id, scope, kind) is None:
                raise UserError(Code.NOT_FOUND, "There is no such memory.")

        return check_visible

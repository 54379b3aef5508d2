"""The facade's group for what is put into practice: how rules serve and how procedures go.

Must not do: write; `core.engine.practice.rule_reports` does.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from core.engine.access.authority import Authority
from core.engine.practice import rule_reports
from core.engine.runtime.open_vault import Opened
from core.errors import Code, UserError
from core.intake.transaction.idempotency import Repeat
from core.recall.query.scope import find
from core.types.lifecycle import Marked, OutcomeTaken, ProcedureState, RuleState
from core.types.memory import Application
from core.types.values import Actor, Kind
from core.vault.database.rows import Rows


class Practice:
    """Everything a caller does with rules and procedures. Each method returns at once with a Future."""

    def __init__(self, opened: Callable[[], Opened], authority: Authority) -> None:
        self._opened = opened
        self._authority = authority

    def helpful(
        self, memory_id: str, actor: Actor, request_id: str | None = None, kind: Kind | None = None
    ) -> Future[Marked]:
        """A rule was applied and it helped (seed B, rule effectiveness).

        Args:
            memory_id: the rule.
            actor: who says so.
            request_id: the caller's own id for this report: one that comes twice counts once.
            kind: what the memory must be; another is answered as one that does not exist.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED; the future raises NOT_FOUND, INVALID_INPUT where it is no rule,
                RATE_LIMITED where a client has reported on it today as often as counts.
        """
        self._authority.voice(actor)
        repeat = Repeat(actor, request_id, {"verb": "helpful", "id": memory_id})
        return rule_reports.mark_helpful(
            self._opened(), memory_id, actor, self._may_mark(memory_id, actor, kind), repeat
        )

    def harmful(
        self,
        memory_id: str,
        actor: Actor,
        reason: str | None = None,
        request_id: str | None = None,
        kind: Kind | None = None,
    ) -> Future[Marked]:
        """A rule was applied and it harmed; see `helpful`.

        Args:
            memory_id: the rule.
            actor: who says so.
            reason: why; kept with the rule, never in the audit.
            request_id: see there.
            kind: see there.
        """
        self._authority.voice(actor)
        repeat = Repeat(actor, request_id, {"verb": "harmful", "id": memory_id, "reason": reason})
        check = self._may_mark(memory_id, actor, kind)
        return rule_reports.mark_harmful(self._opened(), memory_id, actor, reason, check, repeat)

    def outcome(
        self, memory_id: str, actor: Actor, *, success: bool, took_ms: int | None = None
    ) -> Future[OutcomeTaken]:
        """A procedure was carried out; see `helpful`.

        Args:
            memory_id: the procedure.
            actor: who says so.
            success: whether it went well.
            took_ms: how long it took; None where nobody measured.
        """
        self._authority.voice(actor)
        return rule_reports.record_outcome(
            self._opened(), memory_id, success, took_ms, actor, self._may_mark(memory_id, actor)
        )

    def rule(self, memory_id: str, actor: Actor) -> Future[RuleState | None]:
        """How a rule has served; None where the memory is no rule."""
        return rule_reports.rule(self._opened(), memory_id, self._check(memory_id, actor))

    def procedure(self, memory_id: str, actor: Actor) -> Future[ProcedureState | None]:
        """How a procedure goes and how it went; None where the memory is no procedure."""
        return rule_reports.procedure(self._opened(), memory_id, self._check(memory_id, actor))

    def applications(self, memory_id: str, actor: Actor, limit: int = 5) -> Future[tuple[Application, ...]]:
        """The last times that a rule was applied, the latest first.

        Args:
            memory_id: the rule.
            actor: who asks.
            limit: at most so many.
        """
        return rule_reports.last_applications(self._opened(), memory_id, limit, self._check(memory_id, actor))

    def _may_mark(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> rule_reports.Check:
        """Looks anew where it is carried out: what was granted may have been taken back since."""

        def check(rows: Rows) -> None:
            self._authority.voice(actor)
            self._check(memory_id, actor, kind)(rows)

        return check

    def _check(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> rule_reports.Check:
        scope = self._authority.scope(actor)

        def check(rows: Rows) -> None:
            if find(rows, memory_id, scope, kind) is None:
                raise UserError(Code.NOT_FOUND, "There is no such memory.")

        return check

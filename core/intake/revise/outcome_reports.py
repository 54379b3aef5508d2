"""What people and clients report of rules and procedures: helpful, harmful, how a run went (seed B, E3.14).

Every report counts once, is kept, and is one undo step. Must not do: say who may report (the facade did), put a reason
into the audit, or let a client turn around what the person said.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, PreconditionError, UserError
from core.intake.revise import rule_inversion
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transaction.validation import check_reason
from core.intake.transitions.transitions import Transitions
from core.memory.records import read_record
from core.memory.write import Stored, VectorSpace
from core.score import trust
from core.score.trust import ANTI_PATTERN, Maturity
from core.types.lifecycle import Marked, OutcomeTaken, ProcedureState, RuleState
from core.types.values import Actor, Kind, Status
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

HELPFUL, HARMFUL, OUTCOME = "mark_helpful", "mark_harmful", "record_outcome"
"""Names of the verbs."""
_LABELS = {HELPFUL: "Mark a rule as helpful", HARMFUL: "Mark a rule as harmful", OUTCOME: "Record how a procedure went"}
_LONGEST_MS = 366 * 86_400_000
_DAY_MS = 86_400_000
_WAYS = {
    Kind.RULE: "Only of a rule it can be said that it helped or did harm.",
    Kind.PROCEDURE: "Only of a procedure it can be said that it worked or failed.",
}
_HELD = {Status.ACTIVE.value, Status.DISPUTED.value}
_RULE = (
    "SELECT maturity, is_antipattern, helpful, harmful, effectiveness, last_applied_at, needs_inversion, original_text "
    "FROM rules WHERE memory_id = ?"
)
_PROCEDURE = (
    "SELECT steps, tools, trigger_cues, successes, failures, avg_ms, last_used_at FROM procedures WHERE memory_id = ?"
)


@dataclass(frozen=True, slots=True)
class InvertedText:
    """The opposite of a rule, ready to stand: its text and that text's vector, (dims,)."""

    text: str
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class OutcomeReports:
    """Writes reports on how rules and procedures served.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space of the vectors handed in.
        stored: told of changed vectors after the commit, for the index.
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace
    stored: Stored

    def mark_helpful(self, tx: Tx, memory_id: str, actor: Actor) -> Marked:
        """A rule was applied and it helped (seed B, mark helpful).

        Args:
            memory_id: the rule; the caller has checked that the actor may reach it.

        Returns:
            How the rule stands now.

        Raises:
            UserError: NOT_FOUND for a memory that is gone, INVALID_INPUT for one that is no rule or does not stand.
        """
        rule = applied_row(tx, memory_id, Kind.RULE)
        with self.work.verb(tx, HELPFUL, _LABELS[HELPFUL], actor) as verb:
            held = self._applied(tx, rule, "helpful", actor, None)
            helpful, harmful = int(held["helpful"]) + 1, int(held["harmful"])
            worth = trust.helpful_effectiveness(helpful, harmful)
            maturity = Maturity(held["maturity"])
            if not held["is_antipattern"]:
                age = max(0, tx.now_ms - int(rule["recorded_at"])) / _DAY_MS
                maturity = trust.promoted(maturity, helpful, worth, age)
            self._counted(tx, rule, {"helpful": helpful, "effectiveness": worth, "maturity": maturity.value})
            verb.note(str(rule["id"]), maturity=maturity.value, helpful=helpful, harmful=harmful)
        return Marked(_need_rule(tx, str(rule["id"])), verb.step_id)

    def mark_harmful(
        self, tx: Tx, memory_id: str, actor: Actor, reason: str | None = None, turned: InvertedText | None = None
    ) -> Marked:
        """A rule was applied and it harmed (seed B, mark harmful): at last it is turned into its opposite.

        Args:
            memory_id: the rule; the caller has checked that the actor may reach it.
            reason: why, in the actor's words; kept in the vault.
            turned: the opposite, where it was foreseen that it is due; one that is not what is due is left out, and
                the rule is turned around by the next run of the questions.

        Returns:
            How the rule stands now.

        Raises:
            UserError: as `mark_helpful`, and INVALID_INPUT for a reason that cannot be kept.
        """
        check_reason(reason)
        rule = applied_row(tx, memory_id, Kind.RULE)
        head = str(rule["id"])
        with self.work.verb(tx, HARMFUL, _LABELS[HARMFUL], actor) as verb:
            held = self._applied(tx, rule, "harmful", actor, reason)
            sets = counts_after_harm(held)
            self._counted(tx, rule, sets)
            verb.note(head, maturity=sets["maturity"], helpful=held["helpful"], harmful=sets["harmful"])
            done = rule_inversion.RuleInversion(in_place=False)
            if (
                sets["needs_inversion"]
                and turned is not None
                and turned.text == rule_inversion.inverted_text(tx, rule, actor)
            ):
                done = self.turn(tx, verb, rule, turned, actor)
        state = _need_rule(tx, head)
        return Marked(state, verb.step_id, inverted=done.in_place, conflict=done.conflict or state.proposal)

    def turn(
        self, tx: Tx, verb: Verb, rule: dict[str, Any], turned: InvertedText, actor: Actor
    ) -> rule_inversion.RuleInversion:
        """Turn a rule around that needs it, or ask the person to.

        Args:
            rule: its row of `memories`.
            turned: the opposite.
            actor: whose mark brought it about; the scheduler where an older one did.

        Returns:
            What became of it; nothing where the opposite cannot stand.
        """
        if not rule_inversion.can_invert(tx, rule, turned.text):
            return rule_inversion.RuleInversion(in_place=False)
        transitions = Transitions(
            tx, verb, self.make_id, self.space, self.stored, by="owner" if actor.is_owner else "rules"
        )
        done = rule_inversion.invert_rule(transitions, str(rule["id"]), turned.text, turned.vector, actor)
        verb.note(inverted=done.in_place, asked=done.conflict is not None)
        return done

    def record_outcome(self, tx: Tx, memory_id: str, success: bool, took_ms: int | None, actor: Actor) -> OutcomeTaken:
        """A procedure was carried out (E3.14): count it, and the average time of the runs so far.

        Args:
            memory_id: the procedure; the caller has checked that the actor may reach it.
            success: whether it went well.
            took_ms: how long it took, 0 to a year; None where nobody measured, which leaves the average.

        Returns:
            How the procedure stands now.

        Raises:
            UserError: NOT_FOUND, or INVALID_INPUT for what is no procedure, does not stand, or took no such time.
        """
        if took_ms is not None and not 0 <= took_ms <= _LONGEST_MS:
            raise UserError(Code.INVALID_INPUT, "The time a run took lies between 0 and a year, in milliseconds.")
        row = applied_row(tx, memory_id, Kind.PROCEDURE)
        head = str(row["id"])
        with self.work.verb(tx, OUTCOME, _LABELS[OUTCOME], actor) as verb:
            held = tx.row("procedures", {"memory_id": head})
            if held is None:
                tx.insert("procedures", {"memory_id": head, **read_record(str(row["text"]))})
                held = tx.row("procedures", {"memory_id": head}) or {}
            counted = "successes" if success else "failures"
            sets: dict[str, object] = {counted: int(held[counted]) + 1, "last_used_at": tx.now_ms}
            if took_ms is not None:
                runs = int(held["successes"]) + int(held["failures"])
                # Runs without a time count with the average of those before them: it does not move.
                average = int(held["avg_ms"])
                sets["avg_ms"] = trust.running_average(average, runs if average else 0, took_ms)
            tx.update("procedures", {"memory_id": head}, sets)
            verb.note(head, success=success)
        state = procedure_state(tx, head)
        if state is None:
            raise UserError(Code.NOT_FOUND, "There is no such memory.")
        return OutcomeTaken(state, verb.step_id)

    def _applied(self, tx: Tx, rule: dict[str, Any], outcome: str, actor: Actor, reason: str | None) -> dict[str, Any]:
        """Note one application; the counts as they were before it."""
        head = str(rule["id"])
        held = tx.row("rules", {"memory_id": head})
        if held is None:
            tx.insert("rules", {"memory_id": head})
            held = tx.row("rules", {"memory_id": head}) or {}
        tx.insert(
            "rule_applications",
            {
                "id": self.make_id(),
                "memory_id": head,
                "applied_at": tx.now_ms,
                "outcome": outcome,
                "client_id": actor.client_id,
                "reason": reason if reason is None or reason.strip() else None,
            },
        )
        return held

    @staticmethod
    def _counted(tx: Tx, rule: dict[str, Any], sets: dict[str, object]) -> None:
        tx.update("rules", {"memory_id": rule["id"]}, {**sets, "last_applied_at": tx.now_ms})


def counts_after_harm(held: dict[str, Any]) -> dict[str, object]:
    """What a harmful mark makes of a rule's counts (seed B, mark harmful and rule demotion).

    Args:
        held: the row of `rules` before the mark.

    Returns:
        The columns that change, all of them named.
    """
    helpful, harmful = int(held["helpful"]), int(held["harmful"]) + 1
    worth = trust.harmful_effectiveness(helpful, harmful)
    turned = bool(held["is_antipattern"])
    maturity = Maturity(held["maturity"])
    return {
        "harmful": harmful,
        "effectiveness": worth,
        "maturity": (maturity if turned else trust.demoted(maturity, worth)).value,
        "needs_inversion": int(not turned and trust.needs_inversion(harmful, worth)),
    }


def preview_inversion(rows: Rows, memory_id: str, actor: Actor, reason: str | None) -> str | None:
    """The text that a harmful mark of now would turn a rule into, so that it can be embedded before.

    Args:
        actor: who marks it.
        reason: why.

    Returns:
        The opposite; None where none is due.

    Raises:
        UserError: as `OutcomeReports.mark_helpful`.
    """
    rule = applied_row(rows, memory_id, Kind.RULE)
    found = rows.one("SELECT helpful, harmful, is_antipattern, maturity FROM rules WHERE memory_id = ?", (rule["id"],))
    if found is None:
        return None
    sets = counts_after_harm(dict(zip(("helpful", "harmful", "is_antipattern", "maturity"), found, strict=True)))
    return rule_inversion.inverted_text(rows, rule, actor, reason or "") if sets["needs_inversion"] else None


def rules_to_invert(rows: Rows) -> list[str]:
    """Rules that stand and still need to be turned around, or to be asked about.

    Returns:
        Their ids, in a fixed order.
    """
    found = rows.all(
        "SELECT m.id FROM rules r JOIN memories m ON m.id = r.memory_id WHERE r.needs_inversion = 1 "
        "AND r.is_antipattern = 0 AND m.status = 'active' AND m.part_of IS NULL ORDER BY m.n"
    )
    return [str(row[0]) for row in found]


def applied_row(rows: Rows, memory_id: str, kind: Kind) -> dict[str, Any]:
    """The memory a report is about.

    Args:
        memory_id: the memory; a part of a split text stands for its head.
        kind: what it must be.

    Returns:
        Of the row what a report needs.

    Raises:
        UserError: NOT_FOUND, INVALID_INPUT.
    """
    names = ("id", "kind", "status", "text", "recorded_at", "part_of", "client_id", "space_id", "scope_session")
    found = rows.one(
        "SELECT h.id, h.kind, h.status, h.text, h.recorded_at, h.part_of, h.client_id, h.space_id, h.scope_session "
        "FROM memories m JOIN memories h ON h.id = coalesce(m.part_of, m.id) WHERE m.id = ?",
        (memory_id,),
    )
    if found is None or found[2] == Status.DELETED.value:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    row = dict(zip(names, found, strict=True))
    if row["kind"] != kind.value:
        raise PreconditionError(_WAYS[kind])
    if row["status"] not in _HELD:
        raise PreconditionError(f"This {kind.value} does not stand; speak of one that does.")
    return row


def rule_state(rows: Rows, memory_id: str) -> RuleState | None:
    """How a rule has served.

    Returns:
        Its state, that of a candidate where it was never applied; None where it is no rule.
    """
    if rows.value("SELECT kind FROM memories WHERE id = ?", (memory_id,)) != Kind.RULE.value:
        return None
    row = rows.one(_RULE, (memory_id,)) or (Maturity.CANDIDATE.value, 0, 0, 0, 0.0, None, 0, None)
    maturity, turned, helpful, harmful, worth, at, needs, original = row
    return RuleState(
        memory_id=memory_id,
        maturity=ANTI_PATTERN if turned else str(maturity),
        helpful=int(helpful),
        harmful=int(harmful),
        effectiveness=float(worth),
        last_applied_at=at,
        needs_inversion=bool(needs),
        original_text=original,
        reasons=rule_inversion.reasons_of(rows, memory_id),
        proposal=rule_inversion.proposal_of(rows, memory_id),
    )


def _need_rule(rows: Rows, memory_id: str) -> RuleState:
    found = rule_state(rows, memory_id)
    if found is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    return found


def procedure_state(rows: Rows, memory_id: str) -> ProcedureState | None:
    """How a procedure goes and how it went.

    Returns:
        Its state; what it was never given is read from its text. None where it is no procedure.
    """
    memory = rows.one("SELECT kind, text FROM memories WHERE id = ?", (memory_id,))
    if memory is None or memory[0] != Kind.PROCEDURE.value:
        return None
    read = read_record(str(memory[1]))
    row = rows.one(_PROCEDURE, (memory_id,)) or (read["steps"], "[]", read["trigger_cues"], 0, 0, 0, None)
    steps, tools, cues, successes, failures, average, at = row
    return ProcedureState(
        memory_id=memory_id,
        steps=tuple(json.loads(str(steps))),
        tools=tuple(json.loads(str(tools))),
        cues=tuple(str(cues).split()),
        successes=int(successes),
        failures=int(failures),
        average_ms=int(average),
        last_used_at=at,
    )

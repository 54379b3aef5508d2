"""What people and clients report of rules and procedures, and the inversion of a rule that harmed (seed B, E3.14).

Reports are: helpful, harmful, how a run went. Every report counts once, is kept, and is one undo step. An inversion
turns the rule into its opposite: where nobody's word stands against it, the text is rewritten in place; the memory
keeps its id, and the original stays in its chain as a version that is over. A rule of the person's is inverted by the
person alone: the opposite waits beside it as a change that needs their word.

Must not do: say who may report (the facade did), put a reason into the audit, embed, or let a client turn around what
the person said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import find_persons_words
from core.errors import BugError, Code, PreconditionError, UserError
from core.intake.claims import sync_claims
from core.intake.store.requests import default_role
from core.intake.transaction.admission import PART_BYTES, check_reason
from core.intake.transaction.sources import Lineage, add_source, find_active_duplicate, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.merge import newest_version
from core.intake.transitions.review_items import ItemSubject, known_matter
from core.intake.transitions.transitions import Transitions
from core.memory.write import (
    Draft,
    Stored,
    VectorSpace,
    content_hash,
    forget_vector,
    insert_memories,
    procedure_columns,
    refresh_terms,
    reserve_labels,
    write_vectors,
)
from core.score import trust as rule_maturity
from core.score.trust import ANTI_PATTERN, Maturity, trust_terms
from core.text.screening.injection import reset_injection_marks, screen_text
from core.types.lifecycle import Marked, OutcomeTaken, ProcedureState, RuleState
from core.types.values import Actor, Kind, Source, Status, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import remove_mentions

INVERTED = "inverted"
"""Reason of the status of what a rule said before it was turned around."""
TWO_VOICES = 2
"""So many clients must have marked a rule as harmful before it is turned around without the one that brought it."""
_OPENING = "ANTI-PATTERN: Do NOT "
_REASONS_CHARACTERS = 1_000
_REASONS = (
    "SELECT reason FROM rule_applications WHERE memory_id = ? AND outcome = 'harmful' AND reason IS NOT NULL "
    "AND (client_id IS NULL OR NOT ?) ORDER BY applied_at, id"
)
_VOICES = (
    "SELECT count(DISTINCT coalesce(client_id, 'owner')) FROM rule_applications "
    "WHERE memory_id = ? AND outcome = 'harmful'"
)


@dataclass(frozen=True, slots=True)
class RuleInversion:
    """What became of a rule that needs to be turned around.

    Attributes:
        in_place: whether it was rewritten.
        conflict: the review item that asks the person; None where there is none, or it was refused before.
    """

    in_place: bool
    conflict: str | None = None


def reasons_of(rows: Rows, memory_id: str, *, owners: bool = False) -> tuple[str, ...]:
    """Why a rule harmed, each reason once, the oldest first.

    Args:
        owners: the owner's alone.

    Returns:
        Words of those who marked it.
    """
    found = (" ".join(str(row[0]).split()) for row in rows.all(_REASONS, (memory_id, owners)))
    return tuple(dict.fromkeys(reason for reason in found if reason))


def anti_pattern(original: str, reasons: Sequence[str], harmful: int) -> str:
    """The opposite of a rule, to seed B's letter.

    Args:
        original: the rule's text.
        reasons: why it harmed.
        harmful: how often it was marked so, for where nobody said why.

    Returns:
        The text; of many reasons as many as fit 1,000 characters, the latest among them.
    """
    kept: list[str] = []
    room = _REASONS_CHARACTERS
    for reason in reversed(reasons):
        if len(reason) > room:
            break
        kept.insert(0, reason)
        room -= len(reason) + 2
    causes = "; ".join(kept) or f"it was marked as harmful {harmful} times"
    return f"{_OPENING}{original}. This caused problems because: {causes}"


def inverted_text(rows: Rows, rule: dict[str, Any], actor: Actor, now: str | None = None) -> str:
    """What a rule becomes when somebody's mark turns it around.

    Trigger: the owner's mark makes a text that counts as the owner's word. Why: a client's reasons must not get into
    it that way. Outcome: it names the owner's reasons alone.

    Args:
        rule: its row of `memories`.
        now: the reason of a mark that is not written yet.

    Returns:
        The opposite; the caller knows that it needs one.
    """
    reasons = reasons_of(rows, str(rule["id"]), owners=actor.is_owner)
    latest = "" if now is None else " ".join(now.split())
    distinct_reasons = dict.fromkeys([*reasons, *([latest] if latest else [])])
    counted = rows.value("SELECT harmful FROM rules WHERE memory_id = ?", (rule["id"],))
    return anti_pattern(str(rule["text"]), tuple(distinct_reasons), int(counted or 0) + (now is not None))


def may_invert(rows: Rows, rule: dict[str, Any], actor: Actor) -> bool:
    """Whether somebody's marks turn a rule around without asking the person (design section 4).

    Args:
        rule: its row of `memories`.
        actor: whose mark it was; the scheduler where an older one is looked at.

    Returns:
        The owner always; of what is not the person's, who brought it, or two that marked it as harmful.
    """
    if actor.is_owner:
        return True
    if find_persons_words(rows, [str(rule["id"])]):
        return False
    own = actor.client_id is not None and actor.client_id == rule["client_id"]
    return own or int(rows.value(_VOICES, (rule["id"],))) >= TWO_VOICES


def may_invert_unasked(rows: Rows, rule: dict[str, Any], text: str, actor: Actor) -> bool:
    """Whether the opposite takes the rule's place without asking the person.

    A stranger's reasons may read like an order (E10.14.3): then the opposite waits.

    Args:
        rule: its row of `memories`.
        actor: whose mark it was.
    """
    return may_invert(rows, rule, actor) and not screen_text(text, stranger=not actor.is_owner).waits


def can_invert(rows: Rows, rule: dict[str, Any], text: str) -> bool:
    """Whether the opposite can stand: the rule is one part, stands itself, and nothing else has these words.

    Args:
        rule: its row of `memories`.
    """
    whole = rule["part_of"] is None and len(text.encode("utf-8")) <= PART_BYTES
    twin = find_active_duplicate(rows, [text], Kind.RULE, str(rule["space_id"]), str(rule["scope_session"]))
    return whole and rule["status"] == Status.ACTIVE.value and twin is None


def invert_rule(
    transitions: Transitions, memory_id: str, text: str, vector: NDArray[np.float32], actor: Actor
) -> RuleInversion:
    """Turn a rule around, or ask the person to.

    Args:
        memory_id: a rule that needs to be turned around and whose opposite can stand.
        text: the opposite, from `anti_pattern`.
        vector: of that text, (dims,).
        actor: whose mark brought it about.
    """
    rule = transitions.tx.row("memories", {"id": memory_id})
    if rule is None:
        raise BugError("a rule that is not there")
    if may_invert_unasked(transitions.tx, rule, text, actor):
        _rewrite_rule(transitions, rule, text, vector)
        return RuleInversion(in_place=True)
    return RuleInversion(in_place=False, conflict=_propose_inversion(transitions, rule, text, vector, actor))


def _rewrite_rule(transitions: Transitions, rule: dict[str, Any], text: str, vector: NDArray[np.float32]) -> None:
    tx, memory_id = transitions.tx, str(rule["id"])
    original_id = transitions.make_id()
    tx.insert(
        "memories",
        {
            **rule,
            "n": reserve_labels(tx, 1),
            "id": original_id,
            "status": Status.SUPERSEDED.value,
            "status_reason": INVERTED,
            "superseded_by_id": memory_id,
            "recorded_at": tx.now_ms,
            "retired_at": tx.now_ms,
            "pinned": 0,
            "access_count": 0,
            "last_accessed_at": None,
        },
    )
    version = newest_version(tx, str(rule["chain_id"]), memory_id) + 1
    tx.update(
        "memories",
        {"id": memory_id},
        {
            "text": text,
            "content_hash": content_hash(text),
            "flags": to_json(reset_injection_marks(json.loads(rule["flags"]), text)),
            "supersedes_id": original_id,
            "version": version,
        },
    )
    state = {"is_antipattern": 1, "needs_inversion": 0, "original_text": rule["text"]}
    tx.update("rules", {"memory_id": memory_id}, state)
    _move_readings(transitions, memory_id, original_id)
    label, vectors = int(rule["n"]), np.asarray(vector, np.float32).reshape(1, -1)
    forget_vector(tx, label)  # of every vector space: the others would keep the old words
    write_vectors(tx, [label], vectors, transitions.space)
    refresh_terms(tx, [memory_id, original_id])
    seq = tx.seq
    tx.after_commit(lambda: transitions.stored(seq, [label], vectors))
    sync_claims(tx, transitions.make_id, [memory_id, original_id])
    refresh_trust(tx, memory_id)
    transitions.touched.append(memory_id)
    transitions.log_consolidation("SUPERSEDE", memory_id, original_id)
    transitions.close_moot([memory_id])


def _move_readings(transitions: Transitions, memory_id: str, original_id: str) -> None:
    """What the old words were read to say goes with them: the opposite says none of it."""
    tx = transitions.tx
    for (evidence_id,) in tx.all("SELECT id FROM evidence WHERE memory_id = ? ORDER BY id", (memory_id,)):
        evidence = tx.row("evidence", {"id": evidence_id}) or {}
        tx.insert("evidence", {**evidence, "id": transitions.make_id(), "memory_id": original_id})
        tx.delete("evidence", {"id": evidence_id})
    remove_mentions(tx, [memory_id])  # at other places now; made anew from the text


def proposal_of(rows: Rows, memory_id: str) -> str | None:
    """The open review item that asks to turn a rule around.

    Returns:
        Its id; None where there is none.
    """
    found = rows.value(
        "SELECT id FROM conflicts WHERE existing_id = ? AND kind = 'approval' AND +state = 'open' "
        "AND json_extract(detail, '$.inverts') = existing_id LIMIT 1",
        (memory_id,),
    )
    return None if found is None else str(found)


def was_proposed(rows: Rows, memory_id: str) -> bool:
    """Whether the person is asked to turn a rule around, or was and refused.

    Returns:
        Whether there is nothing more to ask.
    """
    return known_matter(rows, ItemSubject("approval", memory_id, keys=(_inversion_key(memory_id),))) is not None


def _inversion_key(memory_id: str) -> bytes:
    return hashlib.sha256(f"{INVERTED}:{memory_id}".encode()).digest()


def _propose_inversion(
    transitions: Transitions, rule: dict[str, Any], text: str, vector: NDArray[np.float32], actor: Actor
) -> str | None:
    """The opposite waits as a candidate that only the person lets take the rule's place."""
    tx, memory_id = transitions.tx, str(rule["id"])
    new_id = transitions.make_id()
    known = known_matter(tx, ItemSubject("approval", memory_id, keys=(_inversion_key(memory_id),)))
    if known is not None:
        return known.id if known.state == "open" else None
    ceiling = tx.value("SELECT trust_ceiling FROM clients WHERE id = ?", (actor.client_id,))
    lineage, source = Lineage.of_actor(actor, None), Source.INFERENCE
    draft = Draft(
        id=new_id,
        text=text,
        kind=Kind.RULE,
        status=Status.QUARANTINED,
        status_reason="proposed",
        space_id=str(rule["space_id"]),
        source=source,
        role=default_role(source),
        lineage=lineage.key,
        recorded_at=tx.now_ms,
        trust=trust_terms(source, client_ceiling=ceiling).trust,
        last_confirmed_at=tx.now_ms,
        client_id=actor.client_id,
        category=str(rule["category"]),
        importance=float(rule["importance"]),
        scope_session=str(rule["scope_session"]),
        origin={"by": actor.kind, "inverts": memory_id},
        flags=tuple(reset_injection_marks((), text)),
        occurred=When(tx.now_ms),
        read_at=tx.now_ms,
    )
    labels, vectors = insert_memories(tx, [draft]), np.asarray(vector, np.float32).reshape(1, -1)
    write_vectors(tx, labels, vectors, transitions.space)
    add_source(tx, new_id, lineage, source)
    seq = tx.seq
    tx.after_commit(lambda: transitions.stored(seq, labels, vectors))
    state = tx.row("rules", {"memory_id": memory_id}) or {}
    turned = {"maturity": "candidate", "needs_inversion": 0, "is_antipattern": 1, "original_text": rule["text"]}
    tx.insert("rules", {**state, **turned, "memory_id": new_id})
    detail = {"inverts": memory_id, "harmful": state.get("harmful", 0)}
    transitions.log_consolidation("QUARANTINE", new_id, memory_id)
    return transitions.open_conflict(
        ItemSubject(
            "approval", new_id, memory_id, reason="rule_harms", detail=detail, keys=(_inversion_key(memory_id),)
        )
    )


HELPFUL, HARMFUL, OUTCOME = "mark_helpful", "mark_harmful", "record_outcome"
"""Names of the verbs."""
_LABELS = {HELPFUL: "Mark a rule as helpful", HARMFUL: "Mark a rule as harmful", OUTCOME: "Record how a procedure went"}
_LONGEST_MS = 366 * 86_400_000
_DAY_MS = 86_400_000
_WAYS = {
    Kind.RULE: "Only of a rule it can be said that it helped or did harm.",
    Kind.PROCEDURE: "Only of a procedure it can be said that it worked or failed.",
}
_APPLICABLE = {Status.ACTIVE.value, Status.DISPUTED.value}
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
            counts = self._note_application(tx, rule, "helpful", actor, None)
            helpful, harmful = int(counts["helpful"]) + 1, int(counts["harmful"])
            worth = rule_maturity.helpful_effectiveness(helpful, harmful)
            maturity = Maturity(counts["maturity"])
            if not counts["is_antipattern"]:
                age = max(0, tx.now_ms - int(rule["recorded_at"])) / _DAY_MS
                maturity = rule_maturity.promote_maturity(maturity, helpful, worth, age)
            self._write_counts(tx, rule, {"helpful": helpful, "effectiveness": worth, "maturity": maturity.value})
            verb.note_audit(str(rule["id"]), maturity=maturity.value, helpful=helpful, harmful=harmful)
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
        rule_id = str(rule["id"])
        with self.work.verb(tx, HARMFUL, _LABELS[HARMFUL], actor) as verb:
            counts = self._note_application(tx, rule, "harmful", actor, reason)
            sets = counts_after_harm(counts)
            self._write_counts(tx, rule, sets)
            verb.note_audit(rule_id, maturity=sets["maturity"], helpful=counts["helpful"], harmful=sets["harmful"])
            done = RuleInversion(in_place=False)
            if sets["needs_inversion"] and turned is not None and turned.text == inverted_text(tx, rule, actor):
                done = self.invert_or_ask(tx, verb, rule, turned, actor)
        state = _need_rule(tx, rule_id)
        return Marked(state, verb.step_id, inverted=done.in_place, conflict=done.conflict or state.proposal)

    def invert_or_ask(
        self, tx: Tx, verb: Verb, rule: dict[str, Any], turned: InvertedText, actor: Actor
    ) -> RuleInversion:
        """Turn a rule around that needs it, or ask the person to.

        Args:
            rule: its row of `memories`.
            actor: whose mark brought it about; the scheduler where an older one did.

        Returns:
            What became of it; nothing where the opposite cannot stand.
        """
        if not can_invert(tx, rule, turned.text):
            return RuleInversion(in_place=False)
        transitions = Transitions(
            tx, verb, self.make_id, self.space, self.stored, by="owner" if actor.is_owner else "rules"
        )
        done = invert_rule(transitions, str(rule["id"]), turned.text, turned.vector, actor)
        verb.note_audit(inverted=done.in_place, asked=done.conflict is not None)
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
        procedure_id = str(row["id"])
        with self.work.verb(tx, OUTCOME, _LABELS[OUTCOME], actor) as verb:
            counts = tx.row("procedures", {"memory_id": procedure_id})
            if counts is None:
                tx.insert("procedures", {"memory_id": procedure_id, **procedure_columns(str(row["text"]))})
                counts = tx.row("procedures", {"memory_id": procedure_id}) or {}
            counted = "successes" if success else "failures"
            sets: dict[str, object] = {counted: int(counts[counted]) + 1, "last_used_at": tx.now_ms}
            if took_ms is not None:
                runs = int(counts["successes"]) + int(counts["failures"])
                # Runs without a time count with the average of those before them: it does not move.
                average = int(counts["avg_ms"])
                sets["avg_ms"] = rule_maturity.running_average(average, runs if average else 0, took_ms)
            tx.update("procedures", {"memory_id": procedure_id}, sets)
            verb.note_audit(procedure_id, success=success)
        state = procedure_state(tx, procedure_id)
        if state is None:
            raise UserError(Code.NOT_FOUND, "There is no such memory.")
        return OutcomeTaken(state, verb.step_id)

    def _note_application(
        self, tx: Tx, rule: dict[str, Any], outcome: str, actor: Actor, reason: str | None
    ) -> dict[str, Any]:
        """Note one application; the counts as they were before it."""
        rule_id = str(rule["id"])
        counts = tx.row("rules", {"memory_id": rule_id})
        if counts is None:
            tx.insert("rules", {"memory_id": rule_id})
            counts = tx.row("rules", {"memory_id": rule_id}) or {}
        tx.insert(
            "rule_applications",
            {
                "id": self.make_id(),
                "memory_id": rule_id,
                "applied_at": tx.now_ms,
                "outcome": outcome,
                "client_id": actor.client_id,
                "reason": reason if reason is None or reason.strip() else None,
            },
        )
        return counts

    @staticmethod
    def _write_counts(tx: Tx, rule: dict[str, Any], sets: dict[str, object]) -> None:
        tx.update("rules", {"memory_id": rule["id"]}, {**sets, "last_applied_at": tx.now_ms})


def counts_after_harm(counts: dict[str, Any]) -> dict[str, object]:
    """What a harmful mark makes of a rule's counts (seed B, mark harmful and rule demotion).

    Args:
        counts: the row of `rules` before the mark.

    Returns:
        The columns that change, all of them named.
    """
    helpful, harmful = int(counts["helpful"]), int(counts["harmful"]) + 1
    worth = rule_maturity.harmful_effectiveness(helpful, harmful)
    turned = bool(counts["is_antipattern"])
    maturity = Maturity(counts["maturity"])
    return {
        "harmful": harmful,
        "effectiveness": worth,
        "maturity": (maturity if turned else rule_maturity.demote_maturity(maturity, worth)).value,
        "needs_inversion": int(not turned and rule_maturity.needs_inversion(harmful, worth)),
    }


def preview_inversion(rows: Rows, memory_id: str, actor: Actor, reason: str | None) -> str | None:
    """The text that a harmful mark of now would turn a rule into, so that it can be embedded before.

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
    return inverted_text(rows, rule, actor, reason or "") if sets["needs_inversion"] else None


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
    if row["status"] not in _APPLICABLE:
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
        reasons=reasons_of(rows, memory_id),
        proposal=proposal_of(rows, memory_id),
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
    read = procedure_columns(str(memory[1]))
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

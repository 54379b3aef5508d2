"""What people and clients say of a memory that stands: reinforce, dispute, corroborate, confirm (seed A, feature 2).

A client has one voice, however often it speaks. What the owner said can be disputed by the owner alone; a client's
doubt about it becomes a question. Must not do: change a text, or judge who may ask (the facade did).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from core.errors import Code, PreconditionError, UserError
from core.intake.candidate import authority_of
from core.intake.transaction.admission import check_reason
from core.intake.transaction.sources import Lineage, add_corroboration
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.review_items import ItemSubject
from core.intake.transitions.transitions import DIGESTED, Transitions, clear_dispute, recount_verdicts
from core.memory.write import Stored, VectorSpace
from core.types.replies import VerdictReply
from core.types.values import Actor, Kind, Source, Status
from core.vault.database.tx import Tx

DISPUTED_FROM = 0.3
"""Below this trust a memory is disputed (seed A, dispute)."""
MAJORITY = 2
"""By so many must independent clients that dispute outnumber those that reinforce (design section 3, statuses)."""

BY_OWNER, BY_CLIENTS, LOW_TRUST = "disputed_by_owner", "disputed_by_clients", "low_trust"
"""Reasons of the status `disputed` that a verdict gives, and that a verdict can take away."""

BOTH = "disputed_both"
"""The reason of two that a person doubted at the desk: until the person confirms one of them."""
_LIFTED = frozenset({BY_OWNER, BY_CLIENTS, LOW_TRUST})

_LABELS = {"reinforce": "Reinforce a memory", "dispute": "Dispute a memory", "confirm": "Confirm a memory"}
_OPPOSITE = {"reinforce": "dispute", "confirm": "dispute", "dispute": "reinforce"}


@dataclass(frozen=True, slots=True)
class VerdictWriter:
    """Writes verdicts on memories.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space in use.
        stored: told of changed vectors; a verdict changes none.
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace
    stored: Stored

    def write(self, tx: Tx, memory_id: str, verdict: str, actor: Actor, reason: str | None = None) -> VerdictReply:
        """Take one verdict down and draw the consequences.

        Args:
            memory_id: the memory; the caller has checked that the actor may reach it.
            verdict: `reinforce`, `dispute` or `confirm`; a confirmation by a client counts as a reinforcement.
            reason: why, in the actor's words; kept in the vault.

        Returns:
            How the memory stands now.

        Raises:
            UserError: NOT_FOUND for a memory that is gone, INVALID_INPUT for one that no verdict can touch, such as an
                episode that a client would confirm (seed B).
        """
        check_reason(reason)
        first_part_id = _require_first_part_id(tx, memory_id)
        if verdict == "confirm" and not actor.is_owner and _kind_of(tx, first_part_id) == Kind.EPISODE.value:
            raise PreconditionError("An episode is what was said; there is nothing to confirm.")
        recorded_verdict = "reinforce" if verdict == "confirm" and not actor.is_owner else verdict
        with self.work.verb(tx, verdict, _LABELS[verdict], actor) as verb:
            transitions = Transitions(tx, verb, self.make_id, self.space, self.stored)
            conflict = self._take_verdict(transitions, first_part_id, recorded_verdict, actor, reason)
            verb.note_audit(first_part_id, verdict=recorded_verdict)
        return _verdict_reply(tx, first_part_id, verb.step_id, conflict)

    def corroborate(
        self, tx: Tx, memory_id: str, actor: Actor, source: Source, session: str | None = None
    ) -> VerdictReply:
        """Another source says the same of its own knowledge.

        Args:
            actor: who says so; the same client in the same session counts once.
            source: by what way it knows.
            session: the session the source speaks in.

        Returns:
            How the memory stands now.

        Raises:
            UserError: as `say`.
        """
        first_part_id = _require_first_part_id(tx, memory_id)
        with self.work.verb(tx, "corroborate", "Corroborate a memory", actor) as verb:
            new = add_corroboration(tx, first_part_id, Lineage.of_actor(actor, session), source)
            transitions = Transitions(tx, verb, self.make_id, self.space, self.stored)
            self._recompute_status(transitions, first_part_id)
            verb.note_audit(first_part_id, independent=new)
        return _verdict_reply(tx, first_part_id, verb.step_id, None)

    def _take_verdict(
        self, transitions: Transitions, memory_id: str, verdict: str, actor: Actor, reason: str | None
    ) -> str | None:
        tx = transitions.tx
        if verdict == "dispute" and not actor.is_owner and authority_of(tx, memory_id).owner_said:
            # Nothing but the owner's word disputes what the owner said: the doubt is a question for the owner.
            detail = {"client": actor.name, "doubt": reason or ""}
            return transitions.open_conflict(ItemSubject("stale", memory_id, reason="client_doubts", detail=detail))
        voice = "owner" if actor.client_id is None else f"client:{actor.client_id}"
        _write_verdict(tx, memory_id, voice, verdict, actor, reason)
        if verdict == "confirm":
            for part in transitions.list_parts(memory_id):
                tx.update("memories", {"id": part}, {"last_confirmed_at": tx.now_ms})
        self._recompute_status(transitions, memory_id, lifted=_LIFTED | ({BOTH} if verdict == "confirm" else set()))
        return None

    @staticmethod
    def _recompute_status(transitions: Transitions, memory_id: str, lifted: AbstractSet[str] = _LIFTED) -> None:
        """Counts, trust, and whether it stands; of what is disputed, that which a verdict can lift."""
        tx = transitions.tx
        trust, by_owner = recount_verdicts(tx, transitions.list_parts(memory_id))
        status, status_reason = tx.all("SELECT status, status_reason FROM memories WHERE id = ?", (memory_id,))[0]
        why = _dispute_reason(tx, memory_id, trust, by_owner=by_owner)
        # What a digest says is doubted too, and the digest leaves with it.
        is_active = status == Status.ACTIVE.value or (status == Status.CONSOLIDATED.value and status_reason == DIGESTED)
        if is_active and why is not None:
            transitions.dispute(memory_id, why)
            transitions.log_consolidation("DISPUTE", memory_id, None)
        elif status == Status.DISPUTED.value and status_reason in lifted:
            if why is None:
                transitions.activate(memory_id)
            elif why != status_reason:
                transitions.dispute(memory_id, why)
        transitions.close_moot([memory_id])


def withdraw_dispute(transitions: Transitions, memory_id: str) -> None:
    """The owner says again what the owner disputed: the doubt is taken back, before the gate judges anew.

    Args:
        memory_id: the memory; of a split text the head.
    """
    clear_dispute(transitions.tx, transitions.list_parts(memory_id))


def _write_verdict(tx: Tx, memory_id: str, voice: str, verdict: str, actor: Actor, reason: str | None) -> None:
    """One row for each voice and verdict; who changes its mind takes the other word back."""
    tx.delete("verdicts", {"memory_id": memory_id, "voice": voice, "verdict": _OPPOSITE[verdict]})
    if verdict == "dispute":
        tx.delete("verdicts", {"memory_id": memory_id, "voice": voice, "verdict": "confirm"})
    key = {"memory_id": memory_id, "voice": voice, "verdict": verdict}
    previous = tx.row("verdicts", key)
    if previous is None:
        tx.insert("verdicts", {**key, "client_id": actor.client_id, "reason": reason, "at": tx.now_ms})
        return
    times = int(previous["times"]) + 1 if actor.is_owner else 1
    tx.update("verdicts", key, {"times": times, "at": tx.now_ms, "reason": reason or previous["reason"]})


def _dispute_reason(tx: Tx, memory_id: str, trust: float, *, by_owner: bool) -> str | None:
    if by_owner or authority_of(tx, memory_id).owner_said:
        # What the owner said, or vouched for, is disputed by the owner alone, whatever the numbers.
        return BY_OWNER if by_owner else None
    against, in_favour = tx.all(
        "SELECT count(DISTINCT CASE WHEN verdict = 'dispute' AND voice <> 'owner' THEN voice END), "
        "count(DISTINCT CASE WHEN verdict <> 'dispute' THEN voice END) FROM verdicts WHERE memory_id = ?",
        (memory_id,),
    )[0]
    if int(against) >= int(in_favour) + MAJORITY:
        return BY_CLIENTS
    return LOW_TRUST if trust < DISPUTED_FROM else None


def _require_first_part_id(tx: Tx, memory_id: str) -> str:
    """Id of the memory, or of the first part where it is a part of a split text; refuses an unknown one."""
    row = tx.one("SELECT coalesce(part_of, id), status FROM memories WHERE id = ?", (memory_id,))
    if row is None or row[1] == Status.DELETED.value:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    if row[1] == Status.SUPERSEDED.value:
        raise PreconditionError("A newer version of this memory stands; speak of that one.")
    return str(row[0])


def _kind_of(tx: Tx, memory_id: str) -> str:
    return str(tx.value("SELECT kind FROM memories WHERE id = ?", (memory_id,)))


def _verdict_reply(tx: Tx, memory_id: str, step_id: str, conflict: str | None) -> VerdictReply:
    status, trust, confidence, reinforced, disputed, corroboration = tx.all(
        "SELECT status, trust, confidence, reinforcements, disputes, corroboration FROM memories WHERE id = ?",
        (memory_id,),
    )[0]
    return VerdictReply(
        memory_id=memory_id,
        status=status,
        trust=float(trust),
        confidence=float(confidence),
        reinforcements=int(reinforced),
        disputes=int(disputed),
        corroboration=int(corroboration),
        step_id=step_id,
        conflict=conflict,
    )

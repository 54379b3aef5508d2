"""Carrying out a plan on a candidate that is written: rows, relations, review items.

Must not do: change the plan, or write the candidate's row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.gate import GateDecision
from core.belief.gate import outranks as is_above
from core.embed.base import AWAY
from core.errors import LociError
from core.intake.claims.candidate import StoreCandidate
from core.intake.store.store_plan import NeighbourCase, StorePlan
from core.intake.transaction.sources import standing_twin
from core.intake.transaction.text_readers import TextReaders
from core.intake.transitions.proposals import REJECTED_BEFORE, close_overtaken, close_twins
from core.intake.transitions.review_items import KEPT, EarlierItem, ItemSubject, known_matter
from core.intake.transitions.transitions import Transitions
from core.text.screening.injection import find_split_injection
from core.text.sentences import unite_texts
from core.types.replies import Classification, StoreReply
from core.types.values import Action, Kind, Status

_LOGGED = dict.fromkeys(GateDecision, "ADD") | {
    GateDecision.QUARANTINE: "QUARANTINE",
    GateDecision.HOLD_EXISTING: "QUARANTINE",
    GateDecision.DISPUTE: "DISPUTE",
    GateDecision.SUPERSEDE: "SUPERSEDE",
}
"""What the consolidation log says of a deed of which no step is logged: SUPERSEDE of claims alone."""


@dataclass
class PlanExecution:
    """Carries one store plan out.

    Attributes:
        transitions: the steps of the running verb.
        candidate: the candidate; its row stands as `quarantined` with its claims as drafts.
        plan: what to do.
        readers: embeds united texts.
    """

    transitions: Transitions
    candidate: StoreCandidate
    plan: StorePlan
    readers: TextReaders

    def apply(self) -> StoreReply:
        """Do it.

        Returns:
            What happened.
        """
        deeds = {
            GateDecision.STACK: self._stack,
            GateDecision.QUARANTINE: self._quarantine,
            GateDecision.DISPUTE: self._dispute,
            GateDecision.ENTER_SUPERSEDED: self._enter_superseded,
            GateDecision.SUPERSEDE: self._supersede,
            GateDecision.HOLD_EXISTING: self._supersede,
            GateDecision.MERGE: self._merge,
            GateDecision.COEXIST: self._coexist,
        }
        cases = self.plan.cases
        self.transitions.weights |= {
            case.other.id: (round(case.relation.confidence, 4), case.other.cosine) for case in cases
        }
        lines = self.transitions.verb.lines
        reply = deeds[self.plan.deed]()
        if self.transitions.verb.lines == lines:  # no step of it was logged
            other = self.plan.partners[0].other.id if self.plan.partners else None
            sure = None if other is not None else round(self.plan.confidence, 4)
            self.transitions.log(_LOGGED[self.plan.deed], self._id, other, sure)
        close_twins(self.transitions, self._id)
        self.transitions.close_moot()
        return replace(
            reply, classification=Classification(self.plan.label, round(self.plan.confidence, 4), self.plan.by)
        )

    @property
    def _id(self) -> str:
        return self.candidate.memory_id

    def _stack(self) -> StoreReply:
        other = self.plan.partners[0].other
        doubted = other.status == Status.DISPUTED and self.candidate.standing.owners_word
        above = is_above(self.candidate.standing, other.standing) and other.status != Status.QUARANTINED
        if above or doubted:
            # Said by somebody who counts for more, or who lays a doubt to rest: it stands, and the other backs it.
            self.transitions.activate(self._id)
            self.transitions.stack(other.id, self._id)
            return StoreReply("ADD", self._id)
        if other.status == Status.QUARANTINED:
            return self._beneath_waiting(other.id)
        self.transitions.stack(self._id, other.id)
        return StoreReply("NOOP", other.id, deduplicated=True)

    def _beneath_waiting(self, waiting_id: str) -> StoreReply:
        """What it repeats waits for a person: if its source may speak, it speaks for itself; else it waits beneath."""
        if self.candidate.standing.owner_said:
            self.transitions.activate(self._id)
            return StoreReply("ADD", self._id)
        item = self.transitions.tx.value(
            "SELECT id FROM conflicts WHERE incoming_id = ? AND state = 'open' ORDER BY id LIMIT 1", (waiting_id,)
        )
        self.transitions.stack(self._id, waiting_id)
        return StoreReply("QUARANTINE", waiting_id, deduplicated=True, conflict=item)

    @property
    def is_new_question(self) -> bool:
        """Whether what it is held back for was never asked, and stands as the person's word."""
        return all(
            case.other.standing.persons and known_matter(self.transitions.tx, self._matter(case)) is None
            for case in self.plan.partners
        )

    def _quarantine(self) -> StoreReply:
        asked = [(case, known_matter(self.transitions.tx, self._matter(case))) for case in self.plan.partners]
        # What the person kept beside one memory may still contradict another: each is a question of its own.
        asked.sort(key=lambda pair: pair[1] is not None and pair[1].resolution in KEPT)
        case, known = asked[0]
        if known is not None:
            return self._raised_before(case, known)
        self.transitions.quarantine(self._id, case.verdict.reason)
        return StoreReply("QUARANTINE", self._id, conflict=self._ask(case))

    def _raised_before(self, case: NeighbourCase, known: EarlierItem) -> StoreReply:
        """The same was asked before: it is not asked again (a rejected fingerprint is not proposed again)."""
        if known.state == "open":
            self.transitions.stack(self._id, known.incoming)
            return StoreReply("QUARANTINE", known.incoming, deduplicated=True, conflict=known.id)
        if known.resolution in KEPT:
            self.transitions.activate(self._id)
            self.transitions.coexist(self._id, case.other.id)
            return StoreReply("ADD", self._id)
        self.transitions.archive(self._id, REJECTED_BEFORE)
        return StoreReply("QUARANTINE", self._id)

    def _dispute(self) -> StoreReply:
        case = self.plan.partners[0]
        known = known_matter(self.transitions.tx, self._matter(case))
        if known is not None:
            return self._raised_before(case, known)
        # Of two equals the later speaks while a person is asked; the other is found as disputed.
        if self.candidate.standing.at_ms >= case.other.standing.at_ms:
            for partner in self.plan.partners:
                self.transitions.dispute(partner.other.id, partner.verdict.reason)
            self.transitions.activate(self._id)
        else:
            self.transitions.dispute(self._id, case.verdict.reason)
        self.transitions.contradict(self._id, case.other.id)
        return StoreReply("ADD", self._id, conflict=self._ask(case))

    def _enter_superseded(self) -> StoreReply:
        # The one it was replaced by is the one said next after it.
        case = min(self.plan.partners, key=lambda one: (one.other.standing.at_ms, one.other.id))
        self.transitions.enter_superseded(self._id, case.other.id)
        return StoreReply("ADD", self._id)

    def _supersede(self) -> StoreReply:
        gone: list[str] = []
        conflict: str | None = None
        for case in self.plan.partners:
            if case.verdict.deed is GateDecision.HOLD_EXISTING:
                conflict = self._hold(case) or conflict
            elif case.verdict.deed is GateDecision.COEXIST:
                conflict = self._ask(case) or conflict
            elif not case.whole:
                self.transitions.replace_claims([one.claim_id for one in case.odds], self._id)
                self.transitions.edge(self._id, case.other.id, "contradicts")
            elif close_overtaken(self.transitions, case.other.id, self._id):
                continue
            else:
                self.transitions.supersede(case.other.id, self._id)
                gone.append(case.other.id)
        self.transitions.activate(self._id)
        return StoreReply("SUPERSEDE" if gone else "ADD", self._id, superseded=tuple(gone), conflict=conflict)

    def _hold(self, case: NeighbourCase) -> str | None:
        """The candidate was said before, by somebody the other may not displace: the other waits for a person."""
        self.transitions.quarantine(case.other.id, case.verdict.reason)
        matter = self._matter(case)
        turned = replace(matter, incoming=case.other.id, existing=self._id)
        return self.transitions.open_conflict(turned)

    def _merge(self) -> StoreReply:
        other = self.plan.partners[0].other
        if find_split_injection([other.text, self.candidate.texts[0]]):
            return self._coexist()  # halves of an order become no memory of their own
        text = unite_texts(other.text, self.candidate.texts[0])
        vector = self._embedded(text) if self._is_free(text, other.id) else None
        if vector is None:
            return self._coexist()
        self.transitions.merge_into(other.id, text, vector, self._id)
        return StoreReply("MERGE", other.id, merged=True)

    def _embedded(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a united text; None where there is no embedder, or it is away: then both stand."""
        try:
            return None if self.readers.embed is None else self.readers.embed(text)
        except LociError as error:
            if error.code not in AWAY:
                raise
            return None

    def _is_free(self, text: str, keep_id: str) -> bool:
        """A united text that would be too long, or stands already, is not made."""
        if len(text.encode("utf-8")) > _MERGED_BYTES:
            return False
        kind, space, session = self.transitions.tx.all(
            "SELECT kind, space_id, scope_session FROM memories WHERE id = ?", (keep_id,)
        )[0]
        return standing_twin(self.transitions.tx, [text], Kind(kind), space, session) in (None, keep_id, self._id)

    def _coexist(self) -> StoreReply:
        for case in self.plan.partners:
            if case.verdict.kind == "contradiction" and case.verdict.review:
                known = known_matter(self.transitions.tx, self._matter(case))
                if known is not None:
                    return self._raised_before(case, known)
        self.transitions.activate(self._id)
        conflict: str | None = None
        for case in self.plan.partners:
            asked = self._ask(case) if case.verdict.review else None
            conflict = conflict or asked
            if case.other.status != Status.QUARANTINED:
                self.transitions.coexist(self._id, case.other.id)
        return StoreReply("ADD", self._id, conflict=conflict)

    def _ask(self, case: NeighbourCase) -> str | None:
        return self.transitions.open_conflict(self._matter(case))

    def _matter(self, case: NeighbourCase) -> ItemSubject:
        verdict, relation = case.verdict, case.relation
        odds = case.odds[0] if case.odds else None
        probabilities = {label.value: round(value, 4) for label, value in relation.probabilities.items()}
        return ItemSubject(
            kind=verdict.kind,
            incoming=self._id,
            existing=case.other.id,
            reason=verdict.reason,
            suggestion=verdict.suggestion,
            confidence=round(relation.confidence, 4) if verdict.suggestion is not Action.REJECT else None,
            by=relation.by,
            detail={
                "relation": relation.label.value,
                "why": relation.reason,
                "probabilities": probabilities,
                "cosine": round(case.other.cosine, 4),
                "claims": [odds.claim_id] if odds is not None else [],
                "trust": [round(case.other.standing.trust, 4), round(self.candidate.standing.trust, 4)],
            },
            keys=(odds.key, odds.own_key) if odds is not None else (),
        )


_MERGED_BYTES = 4 * 1024
"""A united text stays short enough to be read as one statement."""

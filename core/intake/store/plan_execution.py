"""Carrying out a plan on a written candidate: rows, relations, review items, and proposals that settle themselves.

What the person turned down is not asked again, whoever proposes it, and nobody learns that it was. A proposal of the
same words in the same space is answered like any other: its proposer has its own memory named again; another client's
is kept and archived with its question closed, where the person finds it. A client that was refused stays refused in
all its channels and sessions. What waits and is overtaken was never let in, so it leaves as no version.

Must not do: change the plan, write the candidate's row, judge a text that differs in a letter or an episode (which is
said each time anew, design section 4), or let what waits corroborate anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.review.items import HELD
from core.belief.trust_gate import GateDecision
from core.belief.trust_gate import is_outranking as is_above
from core.embed.embedder import AWAY
from core.errors import LociError
from core.intake.candidate import StoreCandidate
from core.intake.claims import TextReaders
from core.intake.store.store_plan import NeighbourCase, StorePlan
from core.intake.transaction.sources import KINDS_BY_TEXT, find_active_duplicate, is_split_from
from core.intake.transitions.review_items import (
    KEPT,
    EarlierItem,
    ItemSubject,
    close_conflict,
    close_moot,
    known_matter,
    note_pair,
)
from core.intake.transitions.transitions import Transitions
from core.memory.write import Draft, content_hash
from core.text.screening.injection import find_split_injection
from core.text.sentences import unite_texts
from core.types.belief import Label
from core.types.replies import Classification, StoreReply
from core.types.values import Action, Kind, Status
from core.vault.database.rows import Rows, to_json
from core.vault.memory_sql import OVERTAKEN, REFUSED

SAID_MEANWHILE = "said_meanwhile"
"""Note of a question that closed itself so: a key of `closed` in resources/help/review.json."""

_KINDS = to_json([kind.value for kind in KINDS_BY_TEXT])
# What comes with a claim of its own says more than its words: that is for the person to see.
_WAITING = """
    SELECT w.id FROM memories m JOIN memories w ON w.content_hash = m.content_hash
    WHERE m.id = :id AND m.status = 'active' AND m.kind IN (SELECT value FROM json_each(:kinds))
      AND w.id <> m.id AND +w.status = 'quarantined' AND +w.space_id = m.space_id AND +w.kind = m.kind
      AND +w.scope_session = m.scope_session AND coalesce(w.part_index, 0) = 0 AND w.status_reason IS NOT :held
      AND NOT EXISTS (SELECT 1 FROM evidence e
                      WHERE e.memory_id = w.id AND e.method = 'given')
    ORDER BY w.n
"""


def close_overtaken(transitions: Transitions, waiting_id: str, by_id: str) -> bool:
    """What waits for the person and was never let in leaves, where something else is said: it was no version.

    Trigger: a client's proposal is at odds with what the person says next. Why: as a version that is over it would
    have been true for a while, in every answer about the past and to every client. Outcome: it is in the archive.

    Args:
        waiting_id: what the candidate would take the place of.
        by_id: the candidate.

    Returns:
        Whether it was so; what the person held back had stood, and has its place in history.
    """
    row = transitions.tx.row("memories", {"id": waiting_id})
    if row is None or row["status"] != Status.QUARANTINED or row["status_reason"] == HELD:
        return False
    transitions.archive(waiting_id, OVERTAKEN)
    transitions.log_consolidation("ADD", by_id, waiting_id)
    return True


def close_twins(transitions: Transitions, memory_id: str) -> None:
    """Archive what waits in the same words as a memory that stands, and close what was asked about it.

    Trigger: one client proposed what another, or the person, said before it was decided. Why: accepting it would be
    refused, since the words stand already. Outcome: the question is moot, also for who proposed it.

    Args:
        memory_id: the memory that was judged; nothing is done where it does not stand.
    """
    found = transitions.tx.all(_WAITING, {"id": memory_id, "kinds": _KINDS, "held": HELD})
    if not found:
        return
    parts = transitions.tx.all(
        "SELECT text FROM memories WHERE id = ? OR part_of = ? ORDER BY part_index", (memory_id, memory_id)
    )
    texts = [str(row[0]) for row in parts]
    twins = [str(row[0]) for row in found if is_split_from(transitions.tx, str(row[0]), texts)]
    for one in twins:
        transitions.archive(one, OVERTAKEN)
    close_moot(transitions.tx, twins, SAID_MEANWHILE)


TURNED_DOWN, REJECTED_BEFORE = REFUSED
_MOOT = "moot"
_REFUSED = (
    "SELECT id, client_id IS :client AND scope_session = :limit, status_reason FROM memories "
    "WHERE content_hash = :hash AND space_id = :space AND kind = :kind "
    "AND (scope_session = :limit OR client_id = :client) AND coalesce(part_index, 0) = 0 "
    "AND status = 'archived' AND status_reason IN (:refused, :before) ORDER BY n DESC"
)


@dataclass(frozen=True, slots=True)
class EarlierRefusal:
    """A text that the person turned down.

    Attributes:
        own: the memory that the asking client had brought with it, to the same channel; None where only others did.
    """

    own: str | None


def find_refusal(
    rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, client_id: str | None, scope_session: str = ""
) -> EarlierRefusal | None:
    """Whether the person turned these words down, and goes by that still.

    Args:
        texts: the text in its parts.
        client_id: who proposes it now.
        scope_session: the session or channel it is limited to, or "".

    Returns:
        What is known; None where it was not turned down, or that was undone, or the same stands by now.
    """
    if kind not in KINDS_BY_TEXT:
        return None
    asked = {
        "hash": content_hash(texts[0]),
        "space": space_id,
        "kind": kind.value,
        "limit": scope_session,
        "client": client_id,
        "refused": TURNED_DOWN,
        "before": REJECTED_BEFORE,
    }
    found = [row for row in rows.all(_REFUSED, asked) if is_split_from(rows, str(row[0]), texts)]
    if not any(row[2] == TURNED_DOWN for row in found):
        return None
    if find_active_duplicate(rows, texts, kind, space_id, scope_session) is not None:
        return None
    return EarlierRefusal(next((str(row[0]) for row in found if row[1]), None))


def archive_refused(transitions: Transitions, draft: Draft, texts: Sequence[str], item_id: str) -> bool:
    """Archive a proposal that was just written where the person had turned the same down.

    Args:
        draft: the proposal; it waits.
        item_id: its question, which is open.

    Returns:
        Whether it was; its question is closed then.
    """
    limit = draft.scope_session
    if find_refusal(transitions.tx, texts, draft.kind, draft.space_id, draft.client_id, limit) is None:
        return False
    transitions.archive(draft.id, REJECTED_BEFORE)
    return close_conflict(transitions.tx, item_id, _MOOT, None, REJECTED_BEFORE)


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

    def apply_plan(self) -> StoreReply:
        """Do it."""
        actions = {
            GateDecision.STACK: self._stack_under,
            GateDecision.QUARANTINE: self._quarantine_candidate,
            GateDecision.DISPUTE: self._dispute_loser,
            GateDecision.ENTER_SUPERSEDED: self._enter_superseded,
            GateDecision.SUPERSEDE: self._supersede_partners,
            GateDecision.HOLD_EXISTING: self._supersede_partners,
            GateDecision.MERGE: self._merge_texts,
            GateDecision.COEXIST: self._let_coexist,
        }
        cases = self.plan.cases
        self.transitions.weights |= {
            case.neighbour.id: (round(case.relation.confidence, 4), case.neighbour.cosine) for case in cases
        }
        lines = self.transitions.verb.lines
        reply = actions[self.plan.decision]()
        if self.transitions.verb.lines == lines:  # no step of it was logged
            other = self.plan.partners[0].neighbour.id if self.plan.partners else None
            sure = None if other is not None else round(self.plan.confidence, 4)
            self.transitions.log_consolidation(_LOGGED[self.plan.decision], self._id, other, sure)
        close_twins(self.transitions, self._id)
        self.transitions.close_moot()
        return replace(
            reply, classification=Classification(self.plan.label, round(self.plan.confidence, 4), self.plan.by)
        )

    @property
    def _id(self) -> str:
        return self.candidate.memory_id

    def _stack_under(self) -> StoreReply:
        other = self.plan.partners[0].neighbour
        doubted = other.status == Status.DISPUTED and self.candidate.authority.owners_word
        above = is_above(self.candidate.authority, other.authority) and other.status != Status.QUARANTINED
        if above or doubted:
            # Said by somebody who counts for more, or who lays a doubt to rest: it stands, and the other backs it.
            self.transitions.activate(self._id)
            self.transitions.stack(other.id, self._id)
            return StoreReply("ADD", self._id)
        if other.status == Status.QUARANTINED:
            return self._stack_under_waiting(other.id)
        self.transitions.stack(self._id, other.id)
        return StoreReply("NOOP", other.id, deduplicated=True)

    def _stack_under_waiting(self, waiting_id: str) -> StoreReply:
        """What it repeats waits for a person: if its source may speak, it speaks for itself; else it waits beneath."""
        if self.candidate.authority.owner_said:
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
            case.neighbour.authority.persons
            and known_matter(self.transitions.tx, self._make_item_subject(case)) is None
            for case in self.plan.partners
        )

    def _quarantine_candidate(self) -> StoreReply:
        asked = [
            (case, known_matter(self.transitions.tx, self._make_item_subject(case))) for case in self.plan.partners
        ]
        # What the person kept beside one memory may still contradict another: each is a question of its own.
        asked.sort(key=lambda pair: pair[1] is not None and pair[1].resolution in KEPT)
        case, known = asked[0]
        if known is not None:
            return self._reply_to_known_question(case, known)
        self.transitions.quarantine(self._id, case.verdict.reason)
        return StoreReply("QUARANTINE", self._id, conflict=self._open_review_item(case))

    def _reply_to_known_question(self, case: NeighbourCase, known: EarlierItem) -> StoreReply:
        """The same was asked before: it is not asked again (a rejected fingerprint is not proposed again)."""
        if known.state == "open":
            self.transitions.stack(self._id, known.incoming)
            return StoreReply("QUARANTINE", known.incoming, deduplicated=True, conflict=known.id)
        if known.resolution in KEPT:
            self.transitions.activate(self._id)
            self.transitions.coexist(self._id, case.neighbour.id)
            return StoreReply("ADD", self._id)
        self.transitions.archive(self._id, REJECTED_BEFORE)
        return StoreReply("QUARANTINE", self._id)

    def _dispute_loser(self) -> StoreReply:
        case = self.plan.partners[0]
        known = known_matter(self.transitions.tx, self._make_item_subject(case))
        if known is not None:
            return self._reply_to_known_question(case, known)
        # Of two equals the later speaks while a person is asked; the other is found as disputed.
        if self.candidate.authority.at_ms >= case.neighbour.authority.at_ms:
            for partner in self.plan.partners:
                self.transitions.dispute(partner.neighbour.id, partner.verdict.reason)
            self.transitions.activate(self._id)
        else:
            self.transitions.dispute(self._id, case.verdict.reason)
        self.transitions.contradict(self._id, case.neighbour.id)
        return StoreReply("ADD", self._id, conflict=self._open_review_item(case))

    def _enter_superseded(self) -> StoreReply:
        # The one it was replaced by is the one said next after it.
        case = min(self.plan.partners, key=lambda one: (one.neighbour.authority.at_ms, one.neighbour.id))
        self.transitions.enter_superseded(self._id, case.neighbour.id)
        return StoreReply("ADD", self._id)

    def _supersede_partners(self) -> StoreReply:
        superseded: list[str] = []
        conflict: str | None = None
        for case in self.plan.partners:
            if case.verdict.decision is GateDecision.HOLD_EXISTING:
                conflict = self._hold_existing(case) or conflict
            elif case.verdict.decision is GateDecision.COEXIST:
                conflict = self._note_or_ask(case) or conflict
            elif not case.whole:
                self.transitions.replace_claims([one.claim_id for one in case.odds], self._id)
                self.transitions.add_edge(self._id, case.neighbour.id, "contradicts")
            elif close_overtaken(self.transitions, case.neighbour.id, self._id):
                continue
            else:
                self.transitions.supersede(case.neighbour.id, self._id)
                superseded.append(case.neighbour.id)
        self.transitions.activate(self._id)
        return StoreReply(
            "SUPERSEDE" if superseded else "ADD", self._id, superseded=tuple(superseded), conflict=conflict
        )

    def _hold_existing(self, case: NeighbourCase) -> str | None:
        """The candidate was said before, by somebody the other may not displace: the other waits for a person."""
        self.transitions.quarantine(case.neighbour.id, case.verdict.reason)
        matter = self._make_item_subject(case)
        turned = replace(matter, incoming=case.neighbour.id, existing=self._id)
        return self.transitions.open_conflict(turned)

    def _merge_texts(self) -> StoreReply:
        other = self.plan.partners[0].neighbour
        if find_split_injection([other.text, self.candidate.texts[0]]):
            return self._let_coexist()  # halves of an order become no memory of their own
        text = unite_texts(other.text, self.candidate.texts[0])
        vector = self._embed_merged_text(text) if self._is_free(text, other.id) else None
        if vector is None:
            return self._let_coexist()
        self.transitions.merge_into(other.id, text, vector, self._id)
        return StoreReply("MERGE", other.id, merged=True)

    def _embed_merged_text(self, text: str) -> NDArray[np.float32] | None:
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
        return find_active_duplicate(self.transitions.tx, [text], Kind(kind), space, session) in (
            None,
            keep_id,
            self._id,
        )

    def _let_coexist(self) -> StoreReply:
        for case in self.plan.partners:
            if case.verdict.kind == "contradiction" and case.verdict.review:
                known = known_matter(self.transitions.tx, self._make_item_subject(case))
                if known is not None:
                    return self._reply_to_known_question(case, known)
        self.transitions.activate(self._id)
        conflict: str | None = None
        for case in self.plan.partners:
            conflict = self._note_or_ask(case) or conflict
            if case.neighbour.status != Status.QUARANTINED:
                self.transitions.coexist(self._id, case.neighbour.id)
        return StoreReply("ADD", self._id, conflict=conflict)

    def _note_or_ask(self, case: NeighbourCase) -> str | None:
        """Ask about it, or note it.

        Returns:
            The item, where a person is asked.
        """
        if case.verdict.noted:
            note_pair(self.transitions.tx, self.transitions.make_id(), self._make_item_subject(case))
        return self._open_review_item(case) if case.verdict.review else None

    def _open_review_item(self, case: NeighbourCase) -> str | None:
        return self.transitions.open_conflict(self._make_item_subject(case))

    def _make_item_subject(self, case: NeighbourCase) -> ItemSubject:
        verdict, relation = case.verdict, case.relation
        odds = case.odds[0] if case.odds else None
        confidence = relation.confidence
        if verdict.noted and verdict.suggestion is Action.SUPERSEDE:
            # A note is acted on by nobody: it tells how likely it is, above what may be acted on too.
            confidence = max(confidence, relation.probabilities.get(Label.SUPERSEDE, 0.0))
        probabilities = {label.value: round(value, 4) for label, value in relation.probabilities.items()}
        return ItemSubject(
            kind=verdict.kind,
            incoming=self._id,
            existing=case.neighbour.id,
            reason=verdict.reason,
            suggestion=verdict.suggestion,
            confidence=round(confidence, 4) if verdict.suggestion is not Action.REJECT else None,
            by=relation.by,
            detail={
                "relation": relation.label.value,
                "why": relation.reason,
                "probabilities": probabilities,
                "cosine": round(case.neighbour.cosine, 4),
                "claims": [odds.claim_id] if odds is not None else [],
                "trust": [round(case.neighbour.authority.trust, 4), round(self.candidate.authority.trust, 4)],
            },
            keys=(odds.key, odds.own_key) if odds is not None else (),
        )


_MERGED_BYTES = 4 * 1024
"""A united text stays short enough to be read as one statement."""

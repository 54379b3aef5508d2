"""What is done with one thing that a model read in episodes: each step whole or not at all.

A fact comes in as an inference from its episodes: theirs is its source, their trust bounds its own, and the gate
decides. What would replace something passes the gate with the model's word as a guess that the built-in model weighs.
A confirmation counts as the episode's own source. Must not do: ask a model, or let anything in that its episodes do not
say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import find_persons_words
from core.belief.extract.model_proposals import weigh_model_answer
from core.belief.extract.validity import classify_permanence, reconcile_permanence
from core.belief.relate.coverage import is_entailed
from core.belief.trust_gate import GateDecision, decide_gate
from core.errors import LociError
from core.intake.candidate import Neighbour, StoreCandidate, find_claim_conflicts, has_other_claims, load_neighbours
from core.intake.claims import read_claims
from core.intake.store.classification import load_candidate
from core.intake.store.plan_execution import PlanExecution
from core.intake.store.relations import limit_to_part
from core.intake.store.store import StoreService
from core.intake.store.store_plan import NeighbourCase, StorePlan
from core.intake.transaction.admission import erased_texts, was_disclosed
from core.intake.transaction.sources import (
    add_corroboration,
    add_source,
    find_active_duplicate,
    refresh_trust,
    waiting_twin,
)
from core.intake.transitions.review_items import ItemSubject
from core.intake.transitions.transitions import Transitions
from core.lifecycle.distill.model_queue import Episode
from core.lifecycle.distill.statement_writer import AlreadyStandsError
from core.memory.write import Draft, content_hash, insert_memories, write_new_vectors
from core.types.belief import Label, RelationProposal
from core.types.values import Kind, Role, Source, Status
from core.vault.database.tx import Tx

READ_BY_MODEL = "read_by_model"
"""The reason of a review item (`resources/help/review.json`) about a rule that the person did not say."""

_GUESS = 0.75
"""How sure a model is taken to be that one fact replaces another; not enough by itself."""

_NO_UPDATE = frozenset({GateDecision.ENTER_SUPERSEDED, GateDecision.HOLD_EXISTING})
"""What was said before what stands is no update of it: both stand."""


@dataclass(frozen=True, slots=True, eq=False)
class DistilledItem:
    """A fact or a rule that its episodes bear out.

    Attributes:
        sources: the episodes that say it, each of them alone.
        importance: 0 to 1.
        permanence: one of seed B's levels, as the model says.
        target_id: the fact it would replace, of those that the model was shown; None for none.
        target_hash: of that fact's text as the model was shown it.
        vector: of the text, (dims,); None where the embedder is away.
    """

    kind: Kind
    text: str
    sources: tuple[Episode, ...]
    vector: NDArray[np.float32] | None = None
    importance: float = 0.5
    permanence: str = "standard"
    tags: tuple[str, ...] = ()
    target_id: str | None = None
    target_hash: bytes = b""


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of an item.

    Attributes:
        counted: a key of the job's counts; "" where nothing came of it.
        ids: memories that changed.
    """

    counted: str = ""
    ids: tuple[str, ...] = ()


@dataclass
class ItemWriter:
    """Carries one item out within a transaction.

    Attributes:
        transitions: the state changes of one step.
    """

    tx: Tx
    store_service: StoreService
    transitions: Transitions

    def take(self, item: DistilledItem) -> ItemOutcome:
        """Let one fact or rule in, as far as the gate lets it.

        Args:
            item: the item; its sources stand.

        Raises:
            LociError: it cannot be written; nothing of it was.
        """
        kind, space, client = item.kind, item.sources[0].space_id, item.sources[0].client_id
        if erased_texts(self.tx, [item.text]) or waiting_twin(self.tx, [item.text], kind, space, client) is not None:
            return ItemOutcome()
        known = find_active_duplicate(self.tx, [item.text], kind, space)
        if known is not None:
            return self.confirm(known, item.sources)
        lines = self.transitions.verb.lines
        try:
            with self.tx.attempt():
                return self._let_in(item)
        except AlreadyStandsError as stands:
            self.transitions.verb.forget_lines(lines)
            return self.confirm(stands.memory_id, item.sources)
        except LociError:
            self.transitions.verb.forget_lines(lines)
            raise

    def confirm(self, memory_id: str, sources: Sequence[Episode]) -> ItemOutcome:
        """The episodes say what stands: they count as sources of it, unless they may echo it.

        Returns:
            `confirmed` where one of them was independent of the sources that were known.
        """
        row = self.tx.row("memories", {"id": memory_id})
        if row is None or row["status"] != Status.ACTIVE.value:
            return ItemOutcome()
        new = False
        for one in sources:
            if not was_disclosed(self.tx, one.client_id, memory_id):
                new |= add_corroboration(self.tx, memory_id, one.lineage, Source.INFERENCE)
        return ItemOutcome("confirmed", (memory_id,)) if new else ItemOutcome()

    def _let_in(self, item: DistilledItem) -> ItemOutcome:
        memory_id = self._write_item(item)
        if item.kind is Kind.RULE and not find_persons_words(self.tx, [one.id for one in item.sources]):
            # Trigger: a rule that the person did not say. Why: whoever writes a page could tell assistants what to do.
            # Outcome: the person is asked.
            self.transitions.log_consolidation("QUARANTINE", memory_id, None)
            self.transitions.open_conflict(ItemSubject("proposal", memory_id, reason=READ_BY_MODEL, by="model"))
            return ItemOutcome("asked", (memory_id,))
        reply = self.store_service.admit_memory(self.transitions, memory_id)
        if reply.deduplicated:
            raise AlreadyStandsError(reply.memory_id)
        if item.target_id is not None and self._are_all_active(memory_id, item.target_id):
            self._propose_replacement(memory_id, item.target_id)
        return self._item_outcome(item, memory_id, reply.operation)

    def _item_outcome(self, item: DistilledItem, memory_id: str, operation: str) -> ItemOutcome:
        ids = tuple(dict.fromkeys([memory_id, *self.transitions.touched]))
        status = self.tx.value("SELECT status FROM memories WHERE id = ?", (memory_id,))
        if status in (Status.QUARANTINED.value, Status.ARCHIVED.value, Status.DISPUTED.value):
            return ItemOutcome("asked" if self.transitions.opened else "", ids)
        if item.kind is Kind.RULE:
            return ItemOutcome("new_rules", ids)
        gone = item.target_id is not None and not self._are_all_active(item.target_id)
        return ItemOutcome("updated" if gone or operation == "MERGE" else "new_facts", ids)

    def _are_all_active(self, *ids: str) -> bool:
        found = (self.tx.value("SELECT status FROM memories WHERE id = ?", (one,)) for one in ids)
        return all(status == Status.ACTIVE.value for status in found)

    def _write_item(self, item: DistilledItem) -> str:
        """The row as one that waits, with all that its episodes give it."""
        tx, draft = self.tx, self._draft_item(item)
        labels = insert_memories(tx, [draft])
        vectors = None if item.vector is None else item.vector.reshape(1, -1)
        write_new_vectors(tx, labels, vectors, self.transitions.space, self.transitions.stored)
        if item.kind is Kind.RULE and tx.row("rules", {"memory_id": draft.id}) is None:
            tx.insert("rules", {"memory_id": draft.id})
        for one in item.sources:
            add_source(tx, draft.id, one.lineage, Source.INFERENCE)
            link = {"derived_id": draft.id, "source_id": one.id, "space_id": one.space_id, "recorded_at": tx.now_ms}
            tx.insert("derivations", link)
        refresh_trust(tx, draft.id)
        return draft.id

    def _draft_item(self, item: DistilledItem) -> Draft:
        newest = max(item.sources, key=lambda one: one.order)
        times = (None, None) if newest.said is None else (self.tx.now_ms, newest.said.ms)
        read = read_claims(self.store_service.readers.stored, item.text, (), times)
        return Draft(
            id=self.store_service.make_id(),
            text=item.text,
            kind=item.kind,
            status=Status.QUARANTINED,
            space_id=newest.space_id,
            source=Source.INFERENCE,
            role=Role.ASSISTANT,
            lineage=newest.lineage.key,
            recorded_at=self.tx.now_ms,
            trust=min(one.trust for one in item.sources),  # at most; worked out when its sources are written
            last_confirmed_at=self.tx.now_ms,
            client_id=newest.client_id,
            importance=item.importance,
            tags=item.tags,
            session=newest.lineage.session,
            origin={"by": "lifecycle", "job": "distill"},
            occurred=newest.said,
            # A model must not make what it likes permanent.
            permanence=reconcile_permanence(item.permanence, classify_permanence(item.text, read, item.kind)),
        )

    def _propose_replacement(self, new_id: str, old_id: str) -> None:
        """Both stand though a model says that one replaces the other: the gate hears of it."""
        newcomer = load_candidate(self.tx, new_id, self.transitions.space)
        other = load_neighbours(self.tx, {old_id: 1.0})[old_id]
        proposal = weigh_model_answer(self._built_in_odds(newcomer, other), RelationProposal(Label.SUPERSEDE, _GUESS))
        relation = limit_to_part(newcomer, other, proposal)
        verdict = decide_gate(newcomer.authority, other.authority, relation)
        if relation.label is not Label.SUPERSEDE or verdict.decision in _NO_UPDATE:
            return
        own = tuple(one for one in find_claim_conflicts(self.tx, newcomer) if one.memory_id == old_id)
        whole = not own or not has_other_claims(self.tx, old_id, [one.claim_id for one in own])
        case = NeighbourCase(other, relation, verdict, own, whole)
        plan = StorePlan(relation.label.value, relation.confidence, "model", None, (case,), verdict.decision, (case,))
        self.transitions.weighed = "model"
        PlanExecution(self.transitions, newcomer, plan, self.store_service.readers).apply_plan()

    def _built_in_odds(self, newcomer: StoreCandidate, other: Neighbour) -> Mapping[Label, float]:
        """What the built-in model says of the pair; nothing where there is none, or it does not answer."""
        if self.store_service.readers.relate is None:
            return {}
        try:
            return self.store_service.readers.relate.classify([(other.compared_text, newcomer.compared_text)])[
                0
            ].probabilities
        except LociError:
            return {}


def find_supporting_episodes(text: str, episodes: Sequence[Episode], *, guidance: bool = False) -> tuple[Episode, ...]:
    """The episodes that say a statement, each of them alone.

    Args:
        episodes: what may say it.
        guidance: whether it is a rule.
    """
    return tuple(
        one for one in episodes if is_entailed(text, one.text, first_person=one.role is Role.USER, guidance=guidance)
    )


def is_replaceable(tx: Tx, item: DistilledItem) -> bool:
    """Whether the fact that an item would replace stands as the model was shown it."""
    row = tx.row("memories", {"id": item.target_id}) if item.target_id is not None else None
    return row is not None and row["status"] == Status.ACTIVE.value and row["content_hash"] == item.target_hash


def hash_of(text: str) -> bytes:
    """The hash by which a text is known again."""
    return content_hash(text)

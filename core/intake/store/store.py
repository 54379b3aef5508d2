"""Storing one text that somebody gives: the owner, or a client with its grants.

The request's way: checked, written down once, compared with what stands, decided by the gate, done; one transaction.
A stored memory is judged again by its claims alone, without its neighbours. Must not do: decide otherwise than
`core.intake.store.store_plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.normal_form import key_of_draft
from core.belief.extract.validity import classify_permanence
from core.belief.trust_gate import SourceAuthority
from core.errors import BugError, Code, UserError
from core.intake.candidate import StoreCandidate, counts_as_owner, find_same_words
from core.intake.claims import EvidenceSource, TextReaders, draft_supplied_claim, read_claims, write_claims
from core.intake.store.classification import StoredMemoryJudge, judge_stored, load_candidate
from core.intake.store.neighbours import NeighbourSearch
from core.intake.store.plan_execution import PlanExecution, archive_refused, find_refusal
from core.intake.store.requests import (
    CheckedRequest,
    StoreContext,
    check_room,
    default_role,
    is_sealed,
    reply_if_tombstoned,
    visible_reply,
)
from core.intake.store.store_plan import StorePlan, plan_store, plan_verbatim
from core.intake.transaction.admission import NO_IDS, split_draft, was_disclosed
from core.intake.transaction.question_quota import is_at_bound
from core.intake.transaction.sources import (
    KINDS_BY_TEXT,
    add_corroboration,
    add_source,
    find_active_duplicate,
    is_partly_over,
    waiting_twin,
)
from core.intake.transaction.unit_of_work import IdempotentCall, UnitOfWork, Verb
from core.intake.transitions.injection_hold import REASON, raise_review, screen_claim
from core.intake.transitions.review_items import open_review
from core.intake.transitions.transitions import Transitions
from core.intake.transitions.verdicts import withdraw_dispute
from core.memory.write import Draft, Stored, VectorSpace, ensure_space, insert_memories, write_new_vectors
from core.score.trust import age_days, trust_terms
from core.types.belief import ClaimDraft
from core.types.clients import ClientRecord
from core.types.replies import Classification, StoreReply
from core.types.requests import StoreRequest
from core.types.values import HOME_SPACE, Actor, Grant, Source, Status, When
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def plan_for_stored(store_service: StoreService, rows: Rows, memory_id: str) -> tuple[StoreCandidate, StorePlan]:
    """What `judge_by_claims` would do with a memory that stands.

    Args:
        memory_id: a memory whose claims were read.

    Returns:
        The memory as it is judged, and the plan.
    """
    candidate = load_candidate(rows, memory_id, store_service.space)
    return candidate, _plan_by_claims(store_service, rows, candidate)


def judge_by_claims(store_service: StoreService, transitions: Transitions, memory_id: str) -> StoreReply:
    """Judge a memory that stands by its claims; what is merely near is not looked at."""
    return StoredMemoryJudge(
        transitions, store_service.readers, lambda tx, candidate: _plan_by_claims(store_service, tx, candidate)
    ).judge_memory(memory_id)


def _plan_by_claims(store_service: StoreService, rows: Rows, candidate: StoreCandidate) -> StorePlan:
    return plan_store(rows, candidate, replace(store_service.readers, most=0), store_service.neighbours)


@dataclass(frozen=True, slots=True)
class StoreService:
    """Stores checked requests.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space of the vectors handed in.
        neighbours: finds what is near.
        readers: reads and relates texts.
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace
    neighbours: NeighbourSearch
    readers: TextReaders = field(default_factory=TextReaders)

    def store_request(
        self,
        tx: Tx,
        checked: CheckedRequest,
        vectors: NDArray[np.float32] | None,
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
        handed: frozenset[str] = NO_IDS,
    ) -> StoreReply:
        """Store one text in one transaction.

        Args:
            checked: from `check_request`.
            vectors: one unit row a part, (parts, dims); None where the embedder is away: they are made later.
            client: the client, if one asks.
            stored: told sequence, labels and vectors of new rows, for the index.
            handed: memories given to that client that are not written down yet.

        Raises:
            UserError: ACCESS_DENIED for a space out of reach, INVALID_INPUT for a request id used otherwise.
        """
        request = checked.request
        label = "Propose a memory" if checked.proposed else f"Remember a {request.kind.value}"
        check_room(tx, actor, client, self.work.client_waits, tx.now_ms)
        if client is not None:
            self.space_of(tx, request, client)  # refused before the text is looked at: it is the same for all
        tombstoned = reply_if_tombstoned(tx, self.work, self.make_id, checked.texts, label, actor)
        if tombstoned is not None:
            return visible_reply(tx, self.make_id, tombstoned, checked, client, tombstoned.memory_id)
        with self.work.verb(tx, "store", label, actor) as verb:
            space_id = self.space_of(tx, request, client)
            context = StoreContext(checked, actor, client, space_id, vectors, stored, handed)
            return self.store_text(tx, verb, context)

    def store_text(self, tx: Tx, verb: Verb, context: StoreContext) -> StoreReply:
        """Store one text, which was not erased before, within a running verb, which may take in several."""
        context = replace(context, memory_id=self.make_id())
        known = self._reply_if_known(tx, verb, context)
        reply = self._add_memory(tx, verb, context) if known is None else known
        return visible_reply(tx, self.make_id, reply, context.checked, context.client, context.memory_id)

    def make_transitions(self, tx: Tx, verb: Verb, stored: Stored, by: str = "rules") -> Transitions:
        """The steps for a verb.

        Args:
            stored: told of changed vectors after the commit.
            by: `owner` where a person decides, else `rules`.
        """
        return Transitions(tx, verb, self.make_id, self.space, stored, by=by)

    def admit_memory(self, transitions: Transitions, memory_id: str) -> StoreReply:
        """Let what waited through the gate: a proposal that is accepted, a quarantined memory that is let in.

        Where the owner decides, it counts as the owner's word of now.

        Args:
            memory_id: a memory that is `quarantined`; it is judged and becomes what the gate says.
        """
        judge = self._make_judge(transitions)
        return judge.admit_memory(memory_id, by_owner=transitions.by == "owner")

    def read_anew(self, transitions: Transitions, memory_id: str) -> None:
        """Read the new text of a memory that the person changed (`classification.StoredMemoryJudge.read_anew`).

        Args:
            memory_id: a memory that stands.
        """
        self._make_judge(transitions).read_anew(memory_id)

    def judge_batch(self, tx: Tx, ids: Sequence[str], stored: Stored) -> int:
        """Judge a batch of memories that came in unjudged (`core.intake.store.classification.find_unread`).

        Args:
            ids: the memories, in the order in which they are judged.
            stored: told of changed vectors after the commit.
        """
        return judge_stored(tx, self.work, ids, lambda verb: self._make_judge(self.make_transitions(tx, verb, stored)))

    def _make_judge(self, transitions: Transitions) -> StoredMemoryJudge:
        return StoredMemoryJudge(transitions, self.readers, self._plan_candidate)

    def _plan_candidate(self, tx: Tx, candidate: StoreCandidate) -> StorePlan:
        return plan_store(tx, candidate, self.readers, self.neighbours)

    def space_of(self, tx: Tx, request: StoreRequest, client: ClientRecord | None) -> str:
        """The id of the space a request goes to; ACCESS_DENIED for one the client may not write into."""
        if client is None:
            return ensure_space(tx, request.space or HOME_SPACE, self.make_id())
        if request.space is None:
            return client.own_space_id
        known = tx.value("SELECT id FROM spaces WHERE name = ?", (request.space,))
        allowed = known is not None and (
            known == client.own_space_id or known in client.space_ids or Grant.ALL_SPACES.value in client.grants
        )
        if not allowed or request.space == "GLOBAL":
            raise UserError(Code.ACCESS_DENIED, "This client may not write into that space.")
        return str(known)

    def _reply_if_known(self, tx: Tx, verb: Verb, context: StoreContext) -> StoreReply | None:
        """The same text stands already: corroborate it instead of storing it twice."""
        checked = context.checked
        kind = checked.request.kind
        if checked.waits:
            return self._reply_if_proposed(tx, verb, context)
        if kind not in KINDS_BY_TEXT:
            return None
        known = find_active_duplicate(tx, checked.texts, kind, context.space_id, checked.scope_session)
        if known is None or is_partly_over(tx, known) or is_sealed(tx, known, context.client):
            return None
        if self._has_new_claim(tx, known, context):
            return self._add_claim_to_known(tx, verb, known, context)
        return self._corroborate_known(tx, verb, known, context)

    def _corroborate_known(self, tx: Tx, verb: Verb, known: str, context: StoreContext) -> StoreReply:
        """What stands is said again: its source corroborates; what was doubted stands where the owner says it."""
        self._note_corroboration(tx, known, context)
        doubted = tx.value("SELECT status FROM memories WHERE id = ?", (known,)) == Status.DISPUTED.value
        if not doubted or context.client is not None or context.source is not Source.USER_EXPLICIT:
            return _reply_noop(verb, known)
        transitions = self.make_transitions(tx, verb, context.stored)
        withdraw_dispute(transitions, known)
        occurred = context.checked.request.occurred
        reply = self._make_judge(transitions).judge_memory(
            known, by_owner=True, said_ms=None if occurred is None else occurred.ms
        )
        verb.note_audit(known, operation=reply.operation)
        return replace(reply, operation="UPDATE") if reply.operation == "ADD" else reply

    def _note_corroboration(self, tx: Tx, known: str, context: StoreContext) -> None:
        """Another source says the same, unless it was told so by Loci itself."""
        if not was_disclosed(tx, context.actor.client_id, known, context.handed):
            add_corroboration(tx, known, context.lineage, context.source)

    def _has_new_claim(self, tx: Tx, known: str, context: StoreContext) -> bool:
        """Whether a claim comes with the text that is not read there already."""
        given = _given_claim(context.checked)
        if given is None:
            return False
        key = key_of_draft(context.space_id, given, context.checked.scope_session)
        return (
            tx.one(
                "SELECT 1 FROM claims c JOIN evidence e ON e.claim_id = c.id WHERE e.memory_id = ? AND c.claim_key = ?",
                (known, key),
            )
            is None
        )

    def _add_claim_to_known(self, tx: Tx, verb: Verb, known: str, context: StoreContext) -> StoreReply:
        """The text stands, and comes with a claim: whoever brought the text may say what it means, nobody else."""
        self._note_corroboration(tx, known, context)
        if self._is_own(tx, known, context):
            transitions = self.make_transitions(tx, verb, context.stored)
            # Above the hard limit it does not come here: then it waits with a row of its own (`CheckedRequest.waits`).
            screen_claim(tx, self.make_id, known, context.checked.claim, stranger=context.client is not None)
            reply = self._make_judge(transitions).add_claim(known, _require_claim(_given_claim(context.checked)))
            if reply is not None:
                verb.note_audit(known, operation=reply.operation)
                return reply
        return _reply_noop(verb, known)

    @staticmethod
    def _is_own(tx: Tx, known: str, context: StoreContext) -> bool:
        if context.client is None:
            return True
        return bool(tx.value("SELECT client_id IS ? FROM memories WHERE id = ?", (context.actor.client_id, known)))

    def _reply_if_proposed(self, tx: Tx, verb: Verb, context: StoreContext) -> StoreReply | None:
        """The same text waits for the person, was turned down, or stands: it is asked no more, and confirms nothing."""
        checked = context.checked
        kind, given = checked.request.kind, _given_claim(checked)
        within, limit = context.space_id, checked.scope_session
        waiting = waiting_twin(tx, checked.texts, kind, within, context.actor.client_id, limit)
        if waiting is not None:
            if given is not None:
                write_claims(tx, self.make_id, [given], self._make_evidence_source(tx, waiting, context), limit)
                item = screen_claim(tx, self.make_id, waiting, checked.claim, stranger=True)
                if item is not None:
                    verb.note_audit(waiting, operation="QUARANTINE")
                    verb.log_consolidation("QUARANTINE", waiting, None, None, "rules")
                    return StoreReply("QUARANTINE", waiting, deduplicated=True, conflict=item)
            return _reply_noop(verb, waiting)
        # With a claim it says more than what stands; that is for the person to see. An episode is said each time anew.
        is_compared = given is None and kind in KINDS_BY_TEXT
        known = find_active_duplicate(tx, checked.texts, kind, within, limit) if is_compared else None
        if known is not None and not is_sealed(tx, known, context.client):
            return None if is_partly_over(tx, known) else _reply_noop(verb, known)
        refused = find_refusal(tx, checked.texts, kind, within, context.actor.client_id, limit)
        return None if refused is None or refused.own is None else _reply_noop(verb, refused.own)

    def _add_memory(self, tx: Tx, verb: Verb, context: StoreContext) -> StoreReply:
        checked = context.checked
        draft = self._make_draft(tx, context)
        compared = checked.request.kind in KINDS_BY_TEXT and not checked.waits
        candidate = self._make_candidate(tx, draft, context)
        read = classify_permanence("".join(checked.texts), candidate.claims, draft.kind)
        draft = replace(draft, permanence=checked.request.permanence or read)
        wanted = self._plan_candidate(tx, candidate) if compared else self._plan_verbatim(tx, candidate, context)
        if wanted is not None and not compared and is_at_bound(tx, context.actor, self.work.client_waits, tx.now_ms):
            # It is held back all the same, and looks to its client like any other message.
            draft = replace(draft, status=Status.QUARANTINED, status_reason=wanted.partners[0].verdict.reason)
            wanted = None
        if wanted is not None and is_sealed(tx, wanted.repeats, context.client):
            wanted = None  # what says the same is no twin of it, and beside it none may stand: it waits
        if wanted is not None and wanted.known is not None:
            return self._corroborate_known(tx, verb, wanted.known, context)
        if wanted is not None and self._is_echo(tx, wanted, context):
            return _reply_noop(verb, wanted.partners[0].neighbour.id)
        transitions = self.make_transitions(tx, verb, context.stored)
        # Beside a memory of the same words, which is still to leave, it may not stand yet.
        if wanted is not None and wanted.is_active and find_same_words(tx, candidate) is None:
            draft = replace(draft, status=Status.ACTIVE)
        self._insert_memories(tx, draft, context, candidate.claims)
        if wanted is None:
            reply = self._store_uncompared(transitions, draft, checked)
            if compared:
                open_review(tx, self.make_id(), draft.id, "proposal", "proposed_by_client")
        else:
            transitions.weighed = wanted.by
            reply = PlanExecution(transitions, candidate, wanted, self.readers).apply_plan()
        verb.note_audit(reply.memory_id, operation=reply.operation, parts=len(checked.texts))
        return reply

    def _plan_verbatim(self, tx: Tx, candidate: StoreCandidate, context: StoreContext) -> StorePlan | None:
        """An episode of a client's that goes against what the person said waits as anything else does."""
        checked = context.checked
        if checked.waits or checked.request.kind in KINDS_BY_TEXT:
            return None
        times = (tx.now_ms, candidate.authority.at_ms)
        read = read_claims(self.readers.extract, checked.texts[0], candidate.claims, times, vouched=False)
        return plan_verbatim(tx, replace(candidate, claims=read), self.readers, self.neighbours)

    def _is_echo(self, tx: Tx, wanted: StorePlan, context: StoreContext) -> bool:
        """It says in other words what this client was given."""
        return wanted.label == "DUPLICATE" and any(
            was_disclosed(tx, context.actor.client_id, case.neighbour.id, context.handed) for case in wanted.partners
        )

    @staticmethod
    def _store_uncompared(transitions: Transitions, draft: Draft, checked: CheckedRequest) -> StoreReply:
        """Episodes and digests stand as they are; a proposal waits for the person."""
        transitions.log_consolidation("QUARANTINE" if checked.waits else "ADD", draft.id, None)
        if not checked.waits:
            return StoreReply("ADD", draft.id)
        item = transitions.make_id()
        if checked.screened.waits:
            reply = StoreReply(
                "QUARANTINE", draft.id, conflict=raise_review(transitions.tx, item, draft.id, checked.screened)
            )
        else:
            conflict = open_review(transitions.tx, item, draft.id, "proposal", "proposed_by_client")
            reply = StoreReply("PROPOSED", draft.id, conflict=conflict)
        if not archive_refused(transitions, draft, checked.texts, item):
            transitions.opened.append(item)
        return reply

    def _insert_memories(self, tx: Tx, draft: Draft, context: StoreContext, claims: tuple[ClaimDraft, ...]) -> None:
        checked = context.checked
        whole = split_draft(draft, checked.texts, self.make_id)
        labels = insert_memories(tx, whole.drafts)
        write_new_vectors(tx, labels, context.vectors, self.space, context.stored)
        for part in whole.drafts:
            add_source(tx, part.id, context.lineage, draft.source)
        on = self._make_evidence_source(tx, draft.id, context)
        write_claims(tx, self.make_id, claims, replace(on, text=whole.head.text), checked.scope_session)

    def _make_candidate(self, tx: Tx, draft: Draft, context: StoreContext) -> StoreCandidate:
        checked = context.checked
        occurred_ms = draft.occurred.ms if draft.occurred is not None else tx.now_ms
        claims: tuple[ClaimDraft, ...] = ()
        given = _given_claim(checked)
        authority = self._source_authority_of(draft, context, occurred_ms)
        if checked.request.kind in KINDS_BY_TEXT:
            given_claims, times = () if given is None else (given,), (tx.now_ms, occurred_ms)
            claims = read_claims(
                self.readers.stored, checked.texts[0], given_claims, times, vouched=authority.owner_said
            )
        elif given is not None:
            claims = (given,)
        return StoreCandidate(
            memory_id=draft.id,
            texts=checked.texts,
            kind=draft.kind,
            space_id=context.space_id,
            claims=claims,
            authority=authority,
            vector=None if context.vectors is None else context.vectors[0],
        )

    @staticmethod
    def _source_authority_of(draft: Draft, context: StoreContext, said_ms: int) -> SourceAuthority:
        owner = context.client is None and context.actor.is_owner
        explicit = owner and draft.source is Source.USER_EXPLICIT
        implicit = owner and draft.source is Source.USER_IMPLICIT
        ceiling = None if context.client is None else context.client.trust_ceiling
        by_client = context.client is not None
        return SourceAuthority(
            owners_word=explicit,
            owner_said=explicit or implicit,
            persons=explicit or implicit or counts_as_owner(draft.source, imported=False, by_client=by_client),
            source=draft.source,
            client_id=draft.client_id,
            brought_by="client" if by_client else "owner",
            trust=trust_terms(draft.source, client_ceiling=ceiling).trust,
            at_ms=said_ms,
            scope_session=draft.scope_session,
        )

    def _make_draft(self, tx: Tx, context: StoreContext) -> Draft:
        checked, client = context.checked, context.client
        request, source = checked.request, context.source
        occurred_ms = tx.now_ms if request.occurred is None else request.occurred.ms
        trust = trust_terms(
            source,
            age_days=age_days(tx.now_ms, occurred_ms),
            client_ceiling=None if client is None else client.trust_ceiling,
        ).trust
        waits = checked.waits or request.kind in KINDS_BY_TEXT
        return Draft(
            id=context.memory_id,
            text=request.text,
            kind=request.kind,
            # What is compared first waits: only the gate's decision makes it stand.
            status=Status.QUARANTINED if waits else Status.ACTIVE,
            status_reason=REASON if checked.screened.waits else "proposed" if checked.proposed else None,
            flags=checked.screened.flags,
            space_id=context.space_id,
            source=source,
            role=default_role(source),
            author=request.author,
            lineage=context.lineage.key,
            recorded_at=tx.now_ms,
            trust=trust,
            last_confirmed_at=tx.now_ms,
            client_id=context.actor.client_id,
            category=request.category,
            importance=checked.importance,
            tags=request.tags,
            session=request.session,
            scope_session=checked.scope_session,
            conversation_id=checked.talk[0],
            position=checked.talk[1],
            ref=request.ref,
            origin={"by": context.actor.kind},
            occurred=request.occurred or When(tx.now_ms),
            valid_from=checked.validity[0],
            valid_to=checked.validity[1],
            read_at=tx.now_ms if request.kind in KINDS_BY_TEXT else None,
        )

    @staticmethod
    def _make_evidence_source(tx: Tx, memory_id: str, context: StoreContext) -> EvidenceSource:
        text = str(tx.value("SELECT text FROM memories WHERE id = ?", (memory_id,)))
        return EvidenceSource(memory_id, text, context.space_id, context.lineage.key, tx.now_ms)


def _given_claim(checked: CheckedRequest) -> ClaimDraft | None:
    return None if checked.claim is None else draft_supplied_claim(checked.claim, checked.texts[0], checked.validity)


def _require_claim(draft: ClaimDraft | None) -> ClaimDraft:
    if draft is None:
        raise BugError("a claim that was given")
    return draft


def _reply_noop(verb: Verb, known: str) -> StoreReply:
    verb.note_audit(known, operation="NOOP")
    verb.log_consolidation("NOOP", known, None, 1.0, "rules")
    return StoreReply("NOOP", known, deduplicated=True, classification=Classification("DUPLICATE", 1.0, "rules"))


def identify_store_call(request: StoreRequest, actor: Actor) -> IdempotentCall:
    """By what a repeated request to store is known."""
    whole = {**asdict(request), "request_id": None}
    for name in ("permanence", "channel"):
        if not whole[name]:
            del whole[name]  # as it was digested before there was any
    return IdempotentCall(actor, request.request_id, whole)


def store_reply_to_json(reply: StoreReply) -> dict[str, Any]:
    """What is kept of a reply, for the same call made again."""
    return {name: value for name, value in asdict(reply).items() if name != "protection"}


def restore_store_reply(known: Mapping[str, Any]) -> StoreReply:
    """The reply to an earlier call, from what was kept of it."""
    classified = Classification(**known["classification"])
    return StoreReply(**{**known, "superseded": tuple(known["superseded"]), "classification": classified})

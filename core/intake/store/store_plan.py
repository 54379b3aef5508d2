"""What becomes of a candidate: relations to its neighbours, the verdicts of the gate, and one plan out of all of them.

Order (design section 4): claims that stand already, claims at odds, then the nearest memories by meaning. Must not do:
change a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core import log
from core.belief.extract.normal_form import value_key
from core.belief.relate.coverage import says_all_of
from core.belief.relate.distinctions import has_other_amounts, is_amount_restated, is_one_slot_apart
from core.belief.relate.features import load_vocabulary
from core.belief.relate.relation_model import CLAIMS_AT_ODDS
from core.belief.relate.supersession import has_word_of_its_own
from core.belief.trust_gate import (
    GateDecision,
    SourceAuthority,
    Verdict,
    decide_gate,
    is_one_person,
    is_one_source,
    is_outranking,
    may_act_on,
    may_displace,
)
from core.errors import LociError
from core.index.flat import no_hits
from core.intake.candidate import (
    ClaimConflict,
    Neighbour,
    StoreCandidate,
    find_claim_conflicts,
    find_same_claims,
    find_same_words,
    has_other_claims,
    load_neighbours,
)
from core.intake.claims import Relate, TextReaders
from core.intake.store.neighbours import (
    OLD_VALUE,
    VALUE_RETURNS,
    ComparedVoice,
    NeighbourSearch,
    judge_other_contributors,
    may_hold,
    past_versions,
    relation_of_repeat,
    relation_to_past,
    relations_to_doubted,
)
from core.intake.store.relations import (
    CLAIMS_LIKELIER,
    SAYS_MORE,
    LaterWord,
    doubtful_relation,
    limit_merge,
    limit_to_part,
    make_at_least_doubtful,
    relation_by_rules,
    weaken_relation,
    without_supersede,
)
from core.score.trust import discount_chance, relevance_probability
from core.types.belief import ACTED_ON, LABELS, ComparedText, Label, Relation
from core.types.values import Action, Source, Status
from core.vault.database.rows import Rows

_log = log.get("intake")
_RELATED = 0.5
"""From this cosine two memories that both stand get a relation that the graph shows."""
_STRUCTURE = 0.85
"""How sure claims at odds are that were read, not given, where no model can be asked."""
_LIKELY = 0.5
_QUESTIONS = 2
"""One candidate asks few questions, and leaves few notes, however many it may be about."""
_FOUND = 0.1
"""A neighbour that is most likely near by chance alone is not worth a reading (`core.score.trust`)."""
_NOT_RULED_OUT = 0.1
"""From this share of SUPERSEDE claims at odds are two values that the person gave one after the other."""


@dataclass(frozen=True, slots=True)
class NeighbourCase:
    """One neighbour of the candidate, with its relation and the gate's verdict.

    Attributes:
        neighbour: the memory that stands (the head, where a version that is over was met).
        relation: how the two relate.
        verdict: what the gate says.
        odds: claims of it that the candidate contradicts.
        whole: whether all that it says is over, where it gives way.
    """

    neighbour: Neighbour
    relation: Relation
    verdict: Verdict
    odds: tuple[ClaimConflict, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class StorePlan:
    """What is done with a candidate.

    Attributes:
        label: NEW, DUPLICATE, SUPERSEDE, MERGE or COEXIST.
        by: `rules`, `builtin` or `model`.
        known: a memory that says all of it already: it is corroborated, nothing is stored.
        cases: all that was looked at, the deciding one first.
        decision: what becomes of the candidate; COEXIST where it simply stands.
        partners: the cases the deed applies to.
    """

    label: str
    confidence: float
    by: str
    known: str | None = None
    cases: tuple[NeighbourCase, ...] = ()
    decision: GateDecision = GateDecision.COEXIST
    partners: tuple[NeighbourCase, ...] = ()

    @property
    def repeats(self) -> str | None:
        """The memory that the candidate says again, or is put beneath; None where it says something of its own."""
        return (
            self.partners[0].neighbour.id if self.known is None and self.decision is GateDecision.STACK else self.known
        )

    @property
    def is_active(self) -> bool:
        """Whether the candidate stands from the beginning, with nothing to be asked first."""
        return self.decision in (GateDecision.COEXIST, GateDecision.SUPERSEDE, GateDecision.HOLD_EXISTING)


NEW = StorePlan("NEW", 1.0, "rules")


class _CachedRelations:
    """The relation model for one candidate: what two texts are to each other is asked once."""

    def __init__(self, relate: Relate) -> None:
        self._relate = relate
        self._known: dict[tuple[str, str], Relation] = {}
        self._expected: Sequence[tuple[ComparedText, ComparedText]] = ()

    def expect(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> None:
        """Ask about pairs that will be asked about anyway along with what is asked first: two threads share a call."""
        self._expected = pairs

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair (existing, incoming)."""
        keys = [_key_of_pair(pair) for pair in pairs]
        asked = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}
        if asked:
            asked = {_key_of_pair(pair): pair for pair in self._expected} | asked
            self._expected = ()
            self._known = dict(zip(asked, self._relate.classify(list(asked.values())), strict=True)) | self._known
        return tuple(self._known[key] for key in keys)


def _key_of_pair(pair: tuple[ComparedText, ComparedText]) -> tuple[str, str]:
    return pair[0].text, pair[1].text


def plan_store(rows: Rows, candidate: StoreCandidate, readers: TextReaders, neighbours: NeighbourSearch) -> StorePlan:
    """Decide what becomes of a candidate.

    Args:
        candidate: the candidate; its own row, if there is one, is passed over.

    Returns:
        What to do.
    """
    relations_asked = None if readers.relate is None else _CachedRelations(readers.relate)
    readers = replace(readers, relate=relations_asked)
    same = find_same_claims(rows, candidate)
    if same is not None and not _is_end_of(rows, candidate, same, readers):
        return StorePlan("DUPLICATE", 1.0, "rules", known=same)
    odds = find_claim_conflicts(rows, candidate)
    twin = find_same_words(rows, candidate)
    certain = [*(one.memory_id for one in odds), *(one for one in (twin, same) if one is not None)]
    others = neighbours.count_comparable(rows, candidate)
    nearest = neighbours.find_nearest(rows, candidate) if readers.most else no_hits()
    near = partial(neighbours.find_neighbours, rows, candidate, readers.gate, readers.most, nearest)
    neighbours_found = _load_compared_neighbours(rows, candidate, near, (certain, odds), others)
    if relations_asked is not None:
        relations_asked.expect(_list_asked_pairs(candidate, _list_asked(neighbours_found, odds)))
    judged = judge_other_contributors(rows, candidate, readers, neighbours, neighbours_found, others, nearest)
    known = {other.id for other in neighbours_found}
    neighbours_found += [
        one.neighbour for one in judged.values() if one.odds.is_doubt and one.neighbour.id not in known
    ]
    if not neighbours_found:
        return NEW
    relations = _relate_neighbours(
        candidate, [other for other in neighbours_found if other.id in known], readers, odds, others
    )
    relations |= {other.id: relation_of_repeat(candidate, other) for other in neighbours_found if other.id == twin}
    relations |= _relations_by_judge(candidate, judged.values(), relations)
    if not candidate.authority.owner_said:
        relations = relations_to_doubted(rows, candidate, neighbours_found, relations)
    relations |= {
        other.id: _limit_to_repeats(candidate, other, relations[other.id])
        for other in neighbours_found
        if other.id in relations
    }
    asked = _list_asked([other for other in neighbours_found if other.id in known], odds)
    of_model = _classify_neighbours(candidate, asked, readers)  # asked before, and known
    cases = _find_enders(_make_cases(rows, candidate, neighbours_found, relations, odds, of_model), candidate)
    made = _join_cases(cases, candidate)
    if twin is not None and not _is_without_twin(made, twin):
        return StorePlan("DUPLICATE", 1.0, "rules", known=twin)
    return made


def plan_verbatim(
    rows: Rows, candidate: StoreCandidate, readers: TextReaders, neighbours: NeighbourSearch
) -> StorePlan | None:
    """Decide on what is kept as it was said, an episode: it is compared with the words of other voices, and no more.

    Args:
        candidate: the candidate, with the claims of its text; its own row is passed over.

    Returns:
        What to do where it waits, or where what stood before does; None where both stand.
    """
    judged = judge_other_contributors(
        rows, candidate, readers, neighbours, (), neighbours.count_comparable(rows, candidate)
    )
    doubted = [one for one in judged.values() if one.odds.is_doubt]
    relations = _relations_by_judge(candidate, doubted, {})
    cases = _make_cases(rows, candidate, [one.neighbour for one in doubted], relations, (), {})
    for decision in (GateDecision.QUARANTINE, GateDecision.HOLD_EXISTING):
        partners = [case for case in cases if case.verdict.decision is decision]
        if partners:
            return _make_plan(decision, partners, cases)
    return None


def _relations_by_judge(
    candidate: StoreCandidate, judged: Iterable[ComparedVoice], relations: Mapping[str, Relation]
) -> dict[str, Relation]:
    """How a newcomer relates to the words of other voices, as the judge of the person's word sees it."""
    found: dict[str, Relation] = {}
    for one in judged:
        relation = relations.get(one.neighbour.id)
        if relation is not None and relation.by == "rules":
            continue
        if one.odds.is_doubt and (one.odds.by_rule or may_hold(candidate, one.neighbour)):
            found[one.neighbour.id] = make_at_least_doubtful(relation, one.odds)
        elif relation is not None and not one.odds.is_doubt and one.odds.is_whole and relation.reason != CLAIMS_AT_ODDS:
            found[one.neighbour.id] = without_supersede(relation)
    return found


def _is_without_twin(made: StorePlan, twin: str) -> bool:
    """Whether a plan lets no two memories of the same words stand."""
    is_partner = any(case.neighbour.id == twin for case in made.partners)
    return is_partner if made.is_active else made.decision is not GateDecision.DISPUTE


def _is_end_of(rows: Rows, candidate: StoreCandidate, memory_id: str, readers: TextReaders) -> bool:
    """Whether what has the claims of another memory of the person's says more than it, and ends it by that.

    "Leopold is cured of shingles" may be read as the claim of "Leopold has shingles": what is said would be lost.
    """
    if any(draft.method == "given" for draft in candidate.claims):
        return False
    others = [
        one
        for one in load_neighbours(rows, {memory_id: 1.0}).values()
        if _is_restated_by_person(candidate, one) and has_word_of_its_own(one.compared_text, candidate.compared_text)
    ]
    relations = _classify_neighbours(candidate, others, readers).values()
    return any(one.label is Label.SUPERSEDE and one.by != "rules" for one in relations)


def _load_compared_neighbours(
    rows: Rows,
    candidate: StoreCandidate,
    find_neighbours: Callable[[], Mapping[str, float]],
    certain: tuple[Sequence[str], Sequence[ClaimConflict]],
    others: int,
) -> list[Neighbour]:
    """What to look at: all that is at odds by structure, or is the same words, then the nearest by meaning."""
    sure, odds = certain
    cosines = dict.fromkeys(sure, 1.0)
    given = any(one.is_supplied for one in odds)
    if not given:  # claims that were given decide; else meaning is asked too
        for memory_id, cosine in find_neighbours().items():
            if relevance_probability(cosine, others) >= _FOUND:
                cosines.setdefault(memory_id, cosine)
    # Where another was merged into the candidate before it was judged, its own former words are no neighbour of it.
    found = {one.id: one for one in load_neighbours(rows, cosines).values() if one.head_id != candidate.memory_id}
    # What is near may be over: then what stands in its place is looked at too, however it is worded.
    current_versions = {one.head_id: one.cosine for one in found.values() if one.head_id not in found}
    found |= load_neighbours(rows, current_versions)
    order = dict.fromkeys([*cosines, *current_versions])
    if not candidate.authority.owner_said and not given:
        # Who may not replace what stands may speak of what is over, in words that are near to neither.
        known = load_neighbours(rows, dict.fromkeys(past_versions(rows, found), 0.0))
        over = {one.id: one for one in known.values() if one.id not in found and one.head_id in found}
        found |= over
        order |= dict.fromkeys(over)
    return [found[memory_id] for memory_id in order if memory_id in found]


def _relate_neighbours(
    candidate: StoreCandidate,
    neighbours: Sequence[Neighbour],
    readers: TextReaders,
    odds: Sequence[ClaimConflict],
    others: int,
) -> dict[str, Relation]:
    """How the candidate relates to each, by structure and by meaning."""
    against = {one.memory_id for one in odds}
    certain = {one.memory_id for one in odds if one.is_supplied}
    classified = _classify_neighbours(candidate, _list_asked(neighbours, odds), readers)
    later = LaterWord(candidate, readers, others)
    found: dict[str, Relation] = {}
    for other in neighbours:
        if other.id in certain:
            found[other.id] = relation_by_rules(Label.SUPERSEDE, 1.0, "claims_at_odds")
        elif other.id in against:
            found[other.id] = _with_structure(
                classified.get(other.id), is_restated=_is_restated_by_person(candidate, other)
            )
        elif other.id in classified:
            relation = classified[other.id]
            if relation.by != "rules" and _is_restated_by_person(candidate, other):
                found[other.id] = later.relation_to(other, relation)
                continue
            if relation.by != "rules" and _are_of_different_subjects(candidate.compared_text, other.compared_text):
                relation = weaken_relation(relation)
            if relation.by != "rules":
                relation = _relation_of_amounts(candidate, other, discount_chance(relation, other.cosine, others))
                relation = limit_merge(other.compared_text.text, candidate.compared_text.text, relation)
                relation = limit_to_part(candidate, other, relation)
            found[other.id] = relation
    return _with_restated(candidate, neighbours, later.choose_replaced(found))


def _with_restated(
    candidate: StoreCandidate, neighbours: Sequence[Neighbour], found: dict[str, Relation]
) -> dict[str, Relation]:
    """Another amount of what the person gave an amount of before; where there is but one such, that is meant."""
    numbers = load_vocabulary()["numbers"]
    restated = [
        other.id
        for other in neighbours
        if other.id in found
        and not other.is_over
        and is_one_person(candidate.authority, other.authority)
        and is_amount_restated(other.compared_text.text, candidate.compared_text.text, numbers)
    ]
    if len(restated) == 1 and not may_act_on(found[restated[0]]):
        found[restated[0]] = replace(relation_by_rules(Label.SUPERSEDE, _STRUCTURE, "number_changed"), by="builtin")
    return found


def _relation_of_amounts(candidate: StoreCandidate, other: Neighbour, relation: Relation) -> Relation:
    """Who may not replace what stands gives another amount of the same: that is no further detail of it."""
    merge, coexist = (relation.probabilities.get(one, 0.0) for one in (Label.MERGE, Label.COEXIST))
    if may_act_on(relation) and relation.label is not Label.MERGE:
        return relation
    if not merge or coexist > 0.5 or may_displace(candidate.authority, other.authority):
        return relation
    if not has_other_amounts(other.compared_text.text, candidate.compared_text.text, load_vocabulary()["numbers"]):
        return relation
    shares = {label: relation.probabilities.get(label, 0.0) for label in LABELS} | {Label.MERGE: 0.0}
    shares[Label.SUPERSEDE] += merge
    likeliest = max(LABELS, key=lambda one: shares[one])
    return Relation(likeliest, min(shares[likeliest], ACTED_ON - 0.01), shares, relation.by, "other_amount")


def _limit_to_repeats(candidate: StoreCandidate, other: Neighbour, relation: Relation) -> Relation:
    """What is near in meaning but says something of its own is no repeat: both stand, and the later speaks."""
    is_active = not other.is_over and other.status != Status.QUARANTINED
    is_repeat = relation.label is Label.DUPLICATE and relation.by != "rules"
    if not is_repeat or not is_active or says_all_of(other.compared_text.text, candidate.compared_text.text):
        return relation
    shares = {label: relation.probabilities.get(label, 0.0) for label in LABELS}
    shares |= {Label.DUPLICATE: 0.0, Label.COEXIST: shares[Label.COEXIST] + shares[Label.DUPLICATE]}
    return Relation(Label.COEXIST, shares[Label.COEXIST], shares, relation.by, SAYS_MORE)


def _list_asked(neighbours: Sequence[Neighbour], odds: Sequence[ClaimConflict]) -> list[Neighbour]:
    """Those of which the model is asked: no claim that was given decides, and they are more than a former value.

    A version that only its successor brought up (cosine 0) is looked at for its value, not weighed.
    """
    certain = {one.memory_id for one in odds if one.is_supplied}
    return [other for other in neighbours if other.id not in certain and not (other.is_over and not other.cosine)]


def _list_asked_pairs(
    candidate: StoreCandidate, others: Sequence[Neighbour]
) -> list[tuple[ComparedText, ComparedText]]:
    return [(other.compared_text, candidate.compared_text) for other in others]


def _classify_neighbours(
    candidate: StoreCandidate, others: Sequence[Neighbour], readers: TextReaders
) -> dict[str, Relation]:
    if readers.relate is None or not others:
        return {}
    try:
        relations = readers.relate.classify(_list_asked_pairs(candidate, others))
    except LociError as error:
        # Nothing on this path depends on a model: without one, structure decides and the rest stands side by side.
        _log.warning("the relation model did not answer: %s", error.code.value)
        return {}
    return {other.id: relation for other, relation in zip(others, relations, strict=True)}


def _is_restated_by_person(candidate: StoreCandidate, other: Neighbour) -> bool:
    """Whether both are the person's words, and the candidate the later one: it simply holds."""
    both_personal = candidate.authority.persons and other.authority.persons and not other.is_over
    return both_personal and candidate.authority.at_ms >= other.authority.at_ms


def _with_structure(relation: Relation | None, *, is_restated: bool = False) -> Relation:
    """Claims that were read are at odds: certain where meaning agrees or cannot be asked, else a question.

    Args:
        is_restated: both are the person's words: the later one holds, unless meaning is sure of something else.
    """
    if relation is None:
        return relation_by_rules(Label.SUPERSEDE, _STRUCTURE, "claims_at_odds")
    if relation.label is Label.SUPERSEDE:
        return replace(relation, confidence=max(relation.confidence, _STRUCTURE), reason="claims_at_odds")
    if relation.label is Label.DUPLICATE and may_act_on(relation) and relation.by == "rules":
        return relation
    supersede_likelihood = _likelihood_of_superseding(relation)
    if is_restated and relation.probabilities.get(Label.SUPERSEDE, 0.0) >= _NOT_RULED_OUT:
        return relation_by_rules(Label.SUPERSEDE, max(supersede_likelihood, _STRUCTURE), "claims_at_odds")
    if supersede_likelihood >= ACTED_ON:
        return relation_by_rules(Label.SUPERSEDE, supersede_likelihood, "claims_at_odds")
    return doubtful_relation(relation, "claims_at_odds")


def _likelihood_of_superseding(relation: Relation) -> float:
    """How likely SUPERSEDE is once it is known that claims that were read are at odds (the model does not see them)."""
    share = relation.probabilities.get(Label.SUPERSEDE, 0.0)
    return CLAIMS_LIKELIER * share / (CLAIMS_LIKELIER * share + 1.0 - share)


def _are_of_different_subjects(candidate: ComparedText, other: ComparedText) -> bool:
    """Whether each tells what only one value can hold of, and never of the same: a home here, an employer there."""
    keys = [{(value_key(one.subject), one.predicate) for one in compared.claims} for compared in (candidate, other)]
    return (
        bool(keys[0] and keys[1])
        and not keys[0] & keys[1]
        and all(one.exclusive for compared in (candidate, other) for one in compared.claims)
    )


def _make_cases(
    rows: Rows,
    candidate: StoreCandidate,
    neighbours: Sequence[Neighbour],
    relations: dict[str, Relation],
    odds: Sequence[ClaimConflict],
    of_model: Mapping[str, Relation],
) -> list[NeighbourCase]:
    """One case for each memory that stands; a version that is over speaks for the one in its place.

    Args:
        of_model: what the relation model says of those that it was asked about, whatever was made of it.
    """
    by_id = {other.id: other for other in neighbours}
    case_by_id: dict[str, NeighbourCase] = {}
    for other in neighbours:
        relation = relations.get(other.id)
        if other.is_over:
            relation = relation_to_past(candidate, other, by_id[other.head_id], relation, of_model.get(other.head_id))
            other = by_id[other.head_id]
        if relation is None:
            continue
        own = tuple(one for one in odds if one.memory_id == other.id)
        if not own:
            relation = _record_changed(candidate, other, relation)
        whole = not own or not has_other_claims(rows, other.id, [one.claim_id for one in own])
        case = NeighbourCase(other, relation, decide_gate(candidate.authority, other.authority, relation), own, whole)
        if other.id not in case_by_id or _is_weightier(case, case_by_id[other.id]):
            case_by_id[other.id] = case
    return list(case_by_id.values())


def _find_enders(cases: Sequence[NeighbourCase], candidate: StoreCandidate) -> list[NeighbourCase]:
    """What is itself doubted ends nothing that was said before it.

    Where nothing else ended the candidate, the person's own word stands and is asked about, an equal is doubted with
    the other, and whoever counts for less waits.
    """
    older = [case for case in cases if case.verdict.decision is GateDecision.ENTER_SUPERSEDED]
    doubted = [case for case in older if case.neighbour.status == Status.DISPUTED]
    if len(doubted) < len(older):
        return [case for case in cases if case not in doubted]
    return [
        replace(case, verdict=_verdict_beside_disputed(candidate.authority, case.neighbour.authority))
        if case in doubted
        else case
        for case in cases
    ]


def _verdict_beside_disputed(candidate: SourceAuthority, disputed: SourceAuthority) -> Verdict:
    if candidate.owners_word:
        return Verdict(GateDecision.COEXIST, "beside_disputed", review=True)
    decision = GateDecision.QUARANTINE if is_outranking(disputed, candidate) else GateDecision.DISPUTE
    return Verdict(decision, "beside_disputed", review=True)


def _is_weightier(case: NeighbourCase, before: NeighbourCase) -> bool:
    """What a version that is over tells counts for more than what its successor tells of the same candidate.

    A mere doubt gives way where the candidate says or completes what stands now; a value that is over, named, gives way
    only where the candidate surely says what stands now.
    """
    if case.relation.reason == OLD_VALUE:
        return not _agrees_certainly(before)
    if before.relation.reason == OLD_VALUE:
        return _agrees_certainly(case)
    if case.relation.reason != VALUE_RETURNS:
        return before.relation.reason == VALUE_RETURNS and _is_in_agreement(case)
    return may_act_on(case.relation) or not _is_in_agreement(before)


def _agrees_certainly(case: NeighbourCase) -> bool:
    return may_act_on(case.relation) and (case.relation.label is Label.DUPLICATE or case.relation.reason == SAYS_MORE)


def _is_in_agreement(case: NeighbourCase) -> bool:
    return case.relation.label in (Label.DUPLICATE, Label.MERGE) or case.relation.reason == SAYS_MORE


_FIRST = (GateDecision.STACK, GateDecision.QUARANTINE, GateDecision.ENTER_SUPERSEDED, GateDecision.DISPUTE)
"""Deeds after which the newcomer does not stand, most telling first."""


def _record_changed(candidate: StoreCandidate, other: Neighbour, relation: Relation) -> Relation:
    """One tool's records of one frame with another value in it: a person is asked whether the later one replaces it."""
    is_tool = candidate.authority.source in _RECORDING and is_one_source(candidate.authority, other.authority)
    if (
        not is_tool
        or relation.by == "rules"
        or may_act_on(relation)
        or not is_one_slot_apart(other.compared_text, candidate.compared_text)
    ):
        return relation
    return doubtful_relation(relation, "value_changed")


_RECORDING = (Source.TOOL_OUTPUT, Source.SYSTEM)


def _join_cases(cases: Sequence[NeighbourCase], candidate: StoreCandidate) -> StorePlan:
    """One plan: a duplicate first, then what keeps the candidate out, then what it replaces, then what it joins."""
    if not cases:
        return NEW
    ranked = _limit_to_one_by_meaning(
        sorted(cases, key=lambda case: (-case.relation.confidence, -case.neighbour.cosine, case.neighbour.id))
    )
    by_decision = {
        decision: [case for case in ranked if case.verdict.decision is decision] for decision in GateDecision
    }
    gives_way = by_decision[GateDecision.SUPERSEDE] + by_decision[GateDecision.HOLD_EXISTING]
    above = any(
        is_outranking(case.neighbour.authority, candidate.authority) for case in by_decision[GateDecision.STACK]
    )
    if (
        by_decision[GateDecision.STACK]
        and by_decision[GateDecision.SUPERSEDE]
        and not by_decision[GateDecision.QUARANTINE]
        and not above
    ):
        # It says again what one memory says, and ends another: it becomes the new version of both.
        return _make_plan(
            GateDecision.SUPERSEDE, [*by_decision[GateDecision.SUPERSEDE], *by_decision[GateDecision.STACK]], ranked
        )
    for decision in _FIRST:
        if by_decision[decision]:
            return _make_plan(decision, by_decision[decision], ranked)
    if gives_way:
        return _make_plan(
            gives_way[0].verdict.decision, [*gives_way, *_select_questions(by_decision[GateDecision.COEXIST])], ranked
        )
    if by_decision[GateDecision.MERGE]:
        nearest = max(by_decision[GateDecision.MERGE], key=lambda case: case.neighbour.cosine)
        return _make_plan(GateDecision.MERGE, [nearest], ranked)
    return _plan_coexistence(ranked)


def _limit_to_one_by_meaning(ranked: Sequence[NeighbourCase]) -> list[NeighbourCase]:
    """A candidate ends one memory; that it ends others too is certain by their claims alone, else it is noted.

    What was held back does not count: nobody relied on it.
    """
    ending = [
        case
        for case in ranked
        if case.verdict.decision is GateDecision.SUPERSEDE and case.neighbour.status != Status.QUARANTINED
    ]
    by_meaning = [case for case in ending if not _is_by_structure(case)]
    spared = by_meaning
    if len(by_meaning) == len(ending):
        # One of the person's words, and one of what others told of it.
        for is_persons in (True, False):
            first = next((case for case in by_meaning if case.neighbour.authority.persons is is_persons), None)
            spared = [case for case in spared if case is not first]
    noted = Verdict(
        GateDecision.COEXIST, "ends_several", kind="classification", suggestion=Action.SUPERSEDE, noted=True
    )
    return [replace(case, verdict=noted) if case in spared else case for case in ranked]


def _is_by_structure(case: NeighbourCase) -> bool:
    return bool(case.odds) or case.relation.by == "rules" or case.relation.reason in (VALUE_RETURNS, OLD_VALUE)


def _make_plan(decision: GateDecision, partners: Sequence[NeighbourCase], cases: Iterable[NeighbourCase]) -> StorePlan:
    relation = partners[0].relation
    return StorePlan(
        relation.label.value, relation.confidence, relation.by, None, tuple(cases), decision, tuple(partners)
    )


def _select_questions(cases: Sequence[NeighbourCase]) -> list[NeighbourCase]:
    """Of several that a candidate may be about, those it likely replaces: each is a question of its own."""
    likely = [case for case in cases if _is_kept(case) and _supersede_share(case) >= _LIKELY]
    return sorted(likely, key=_supersede_share, reverse=True)[:_QUESTIONS]


def _is_kept(case: NeighbourCase) -> bool:
    """Whether a person is asked about it, or it is noted."""
    return case.verdict.review or case.verdict.noted


def _supersede_share(case: NeighbourCase) -> float:
    return case.relation.probabilities.get(Label.SUPERSEDE, 0.0)


def _plan_coexistence(ranked: Sequence[NeighbourCase]) -> StorePlan:
    """Nothing gives way: the likeliest relation is told, and what is near enough is drawn as related."""
    asked = sorted(
        (case for case in ranked if _is_kept(case)), key=lambda case: (case.verdict.review, _supersede_share(case))
    )
    asked.reverse()
    related = [case for case in ranked if case.neighbour.cosine >= _RELATED]
    telling = [*asked[:1], *_select_questions(asked[1:])] or related[:1]
    if not telling:
        return replace(NEW, cases=tuple(ranked))
    relation = telling[0].relation
    label = Label.COEXIST.value if not asked else relation.label.value
    partners = (*telling, *(case for case in related[:1] if case not in telling))
    return StorePlan(label, relation.confidence, relation.by, None, tuple(ranked), GateDecision.COEXIST, partners)

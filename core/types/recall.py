"""A recall in frozen values: the question understood, traces, contexts, and the laboratory's probes and profiles.

From a trace alone the order can be computed again (`core.score.ranking`). Must not do: decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.types.values import Intent, Memory

if TYPE_CHECKING:
    from core.types.replies import OptionRow


@dataclass(frozen=True, slots=True)
class LabItem:
    """One memory of a trial answer, or one that came close; the owner's view, with its text.

    Attributes:
        memory: the memory.
        place: its place in the answer, from 1; None for a near miss.
        rank: its place in the final order, from 1; None where it could not be returned.
        score: 0 to 1.
        signals: `relevance`, `confidence`, `recency`, `importance`, `utility`.
        lists: list to (rank from 1, raw score).
        why: sentences.
        dropped: as in `core.types.recall`; None for what is in the answer.
        parts: how much of the score each signal made: `relevance` first, then the sides; they add up to the score.
        client: name of the client that brought it; None where none did.
        answering: the sentence of a long text that fits the question best, code points, end exclusive; else None.
    """

    memory: Memory
    place: int | None
    rank: int | None
    score: float
    signals: Mapping[str, float]
    lists: Mapping[str, tuple[int, float]]
    why: tuple[str, ...]
    dropped: str | None
    parts: Mapping[str, float]
    client: str | None = None
    answering: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """What a trial recall said.

    Attributes:
        items: the answer.
        near: near misses with the reason that sank each.
        abstained: nothing is returned.
        reason: one sentence.
        trace: everything else.
        strategy: how was searched.
        took_ms: milliseconds.
        tokens: of all items, by the built-in estimate.
        seen_as: the client whose view this is; `""` for the person's own.
    """

    items: tuple[LabItem, ...]
    near: tuple[LabItem, ...]
    abstained: bool
    reason: str
    trace: Trace
    strategy: str
    took_ms: float
    tokens: int
    seen_as: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """A saved question.

    Attributes:
        id: its id.
        query: the question.
        kind: `positive` (these memories belong into the first `within`), `negative` (nothing belongs here), `stale`
            (these memories must not be in the answer).
        memory_ids: the memories it names.
        within: 1 to 50.
        created_at: epoch ms.
        passed: how it ended last; None where it never ran.
        ran_at: epoch ms; None where it never ran.
    """

    id: str
    query: str
    kind: str
    memory_ids: tuple[str, ...]
    within: int
    created_at: int
    passed: bool | None = None
    ran_at: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """One probe under one set of weights.

    Attributes:
        probe_id: which.
        passed: whether it holds.
        place: the best place of a memory it names, from 1; None where none is in the answer.
        tokens: of the answer.
    """

    probe_id: str
    passed: bool
    place: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Tally:
    """All probes under one set of weights.

    Attributes:
        found: positive probes that hold.
        found_of: positive probes.
        empty: negative probes that hold.
        empty_of: negative probes.
        stale: stale probes that do not hold.
        stale_of: stale probes.
        tokens: the mean of all answers.
        outcomes: one a probe, in the order of the probes.
    """

    found: int
    found_of: int
    empty: int
    empty_of: int
    stale: int
    stale_of: int
    tokens: float
    outcomes: tuple[ProbeOutcome, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The saved questions under two sets of weights.

    Attributes:
        now: as it is.
        would_be: as it would be.
        probes: the questions.
    """

    now: Tally
    would_be: Tally
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The saved questions over the values of one option.

    Attributes:
        name: of the option.
        values: of the option, in the order they were asked for; `tallies` what holds under each.
    """

    name: str
    values: tuple[float, ...]
    tallies: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The tuner.

    Attributes:
        rows: every option of recall with bounds, default and value in force.
        preset: the name of the preset the values are those of; `""` where they are none's.
        presets: name to words.
        preset_values: name to what the options are under it: option to value.
    """

    rows: tuple[OptionRow, ...]
    preset: str
    presets: Mapping[str, str]
    preset_values: Mapping[str, Mapping[str, float | bool | str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Applied:
    """One application of weights.

    Attributes:
        step_id: the undo step.
        at: epoch ms.
        changes: option to (before, after).
        undone: whether it is taken back.
        found: positive probes that held then, and how many there were; None where none were saved.
    """

    step_id: str
    at: int
    changes: Mapping[str, tuple[float | bool | str, float | bool | str]]
    undone: bool
    found: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Metrics:
    """How good one answer was (E5.3.1).

    Attributes:
        average_relevancy: mean cosine of what is shown to the question, 0 to 1; 0 for an empty answer (C22).
        ndcg: of what is shown in its order, graded by feedback where there is some, else by cosine (E5.3.2, C23).
        ndcg_before: of the same in the order of relevance, before side signals and variety.
        candidates_after_filter: how many were left after scope, strength and duplicates.
        memories_packed: how many are shown.
        tokens_consumed: of all that is shown, by the built-in estimate.
        search_latency_ms: milliseconds, embedding included.
        rerank_applied: `rrf`, `mmr` or `rrf_then_mmr`: what really made the order.
        hybrid_text_weight: 0 (meaning alone) to 1 (words alone).
        graded: whether there was a cosine or a feedback to grade by; what was not graded stands in no window.
    """

    average_relevancy: float
    ndcg: float
    ndcg_before: float
    candidates_after_filter: int
    memories_packed: int
    tokens_consumed: int
    search_latency_ms: float
    rerank_applied: str
    hybrid_text_weight: float
    graded: bool = True


@dataclass(frozen=True, slots=True)
class RecallHealth:
    """How recall did lately (E5.3.4, E5.3.6).

    Attributes:
        answers: how many answers that were graded are in the window; empty ones are not.
        recalls: all recalls of that time, empty ones among them.
        average_relevancy: mean over the answers; None where there are none.
        ndcg: mean over the answers, `ndcg_before` likewise.
        abstained: share of the recalls that had no answer.
        p50_ms: median of the time they took; `p95_ms` likewise.
        is_low: the mean relevancy is below the bound of the options; never with fewer than ten answers.
        poor_run: how many of the newest answers in a row were poor.
        model_in_doubt: ten answers in a row were poor: the embedder may not fit what is asked.
        sentence: says what is wrong; empty where nothing is.
    """

    answers: int
    recalls: int
    average_relevancy: float | None
    ndcg: float | None
    ndcg_before: float | None
    abstained: float | None
    p50_ms: float | None
    p95_ms: float | None
    is_low: bool
    poor_run: int
    model_in_doubt: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class DeliveryCount:
    """How often a memory left for a client.

    Attributes:
        count: times it was given to clients.
        last_at: epoch ms; None where it never was.
        to: the name of the client it was given to last; `""` for nobody.
        yours: how often it stood in an answer to the person.
    """

    count: int
    last_at: int | None
    to: str
    yours: int


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """One recall that was kept.

    Attributes:
        id: its id.
        at: epoch ms.
        actor: `owner`, `client` or `scheduler`.
        client: the client's name; None where no client asked, or it is gone.
        session: the session that asked.
        verb: `recall` or `context`; of what a client read without a question `get`, `list`, `history` …
        query: the words that were asked; hostile text.
        items: how many memories were answered.
        metrics: how good the answer was; None for receipts of older versions.
        expires_at: epoch ms.
    """

    id: str
    at: int
    actor: str
    client: str | None
    session: str | None
    verb: str
    query: str
    items: int
    metrics: Metrics | None
    expires_at: int


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    """Receipts, newest first.

    Attributes:
        rows: of this page.
        next: the `after` of the next page; None at the end.
    """

    rows: tuple[ReceiptRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """One receipt as a whole.

    Attributes:
        row: who asked what.
        reason: why there was an answer, or none.
        strategy: how was searched.
        profile: name of the weights.
        given: ids of what was answered, in order.
        withheld: id to why it was not answered, for what came close.
        trace: what happened to every candidate; None for receipts of older versions.
        body: all that the receipt holds beside the trace; ids and numbers.
        sealed: memories that were kept from the asker because they are sealed; a number alone.
        reads: how often it read alike within the minute; 1 for an answer to a question.
        unlisted: how many memories it was handed besides those in `given`.
    """

    row: ReceiptRow
    reason: str
    strategy: str
    profile: str
    given: tuple[str, ...]
    withheld: Mapping[str, str]
    trace: Trace | None
    body: Mapping[str, object]
    sealed: int = 0
    reads: int = 1
    unlisted: int = 0


@dataclass(frozen=True, slots=True)
class FeedbackReply:
    """A feedback that was stored.

    Attributes:
        id: its id.
        memory_id: of what.
        signal: `helpful`, `harmful`, `irrelevant` or `corrected`.
        step_id: the undo step.
    """

    id: str
    memory_id: str
    signal: str
    step_id: str


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """What a context is asked for.

    Attributes:
        prompt: what the assistant is about to answer; never logged.
        budget: tokens at most; None for the option `context_tokens`.
        model: the model whose tokenizer counts; None for the estimate.
        session: the session that asks.
        spaces: names of spaces; None for every space the actor may see.
        tiers: as in `RecallQuery`.
    """

    prompt: str
    budget: int | None = None
    model: str | None = None
    session: str | None = None
    spaces: tuple[str, ...] | None = None
    tiers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Included:
    """A memory that stands in the text.

    Attributes:
        id: the memory.
        tier: `full`, `summary`, `key_fact` or `tag`.
        section: `facts`, `rules` or `episodes`.
        score: the recall's, 0 to 1.
        tokens: what its entry costs by itself.
    """

    id: str
    tier: str
    section: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A memory that recall found and that does not stand in the text.

    Attributes:
        id: the memory.
        reason: `budget`, `duplicate` where another says the same words, `injection`, `share` where its client has its
            share, `behind` where what answers stands far before it, `spread` where it reads like an instruction
            together with another of its source.
        value: the recall's score, 0 to 1.
    """

    id: str
    reason: str
    value: float


@dataclass(frozen=True, slots=True)
class Context:
    """The text, and what became of everything that recall found.

    Attributes:
        text: what the assistant gets; "" where nothing fits.
        tokens: of the whole text; never above the budget.
        budget: tokens at most.
        included: in the order of the text.
        excluded: the most valuable first.
        tokenizer: the model whose tokenizer counted, or `estimate`.
        exact: whether it is that model's own count.
    """

    text: str
    tokens: int
    budget: int
    included: tuple[Included, ...]
    excluded: tuple[LeftOut, ...]
    tokenizer: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Clarifying:
    """A question of Loci's that an assistant may put at a natural pause (E4.5.5).

    Attributes:
        id: of the gap.
        question: one line, fenced as data like the text.
    """

    id: str
    question: str


@dataclass(frozen=True, slots=True)
class ContextReply:
    """A context with the id of its receipt.

    Attributes:
        took_ms: milliseconds from the call to the text, embedding included.
        clarifying: up to two questions in a session; each is told once in it, and once a week.
    """

    context: Context
    receipt_id: str
    took_ms: float
    clarifying: tuple[Clarifying, ...] = ()


STAGES = ("vector", "words", "graph", "time", "in_scope", "fused", "after_duplicates", "answered")
"""The funnel, in its order: how many each list brought, how many of all were in scope, how many cleared the floor, how
many were left without duplicates, how many were returned."""


@dataclass(frozen=True, slots=True)
class TracedCandidate:
    """One candidate.

    Attributes:
        id: the memory.
        place: its place in the answer, from 1; None where it is not in it.
        rank: its place in the final order before anything was cut, from 1; None where it could not be returned.
        lists: list to (rank from 1, raw score); lists it does not stand in are missing.
        evidence: how strongly it answers, before any ranking.
        relevance: fused, 0 to 1.
        signals: `confidence`, `recency`, `importance`, `utility`, 0 to 1 each.
        factor: what the side signals did to the relevance, about 1.
        score: relevance times factor, 0 to 1.
        diversity: the greatest likeness to what stands above it; None where that was not looked at.
        dropped: the stage that dropped it: a status, `in_review`, `over`, `at_odds`, `filtered`, `suppressed`,
            `not_valid_then`, `below_bar`, `below_floor`, `duplicate`, `beyond_limit`; None for what is in the answer.
        because: more about it: the id of the memory it is a duplicate of; `""` where there is nothing more to say.
        recorded_at: epoch ms, for ties.
    """

    id: str
    place: int | None
    rank: int | None
    lists: Mapping[str, tuple[int, float]]
    evidence: float
    relevance: float
    signals: Mapping[str, float]
    factor: float
    score: float
    diversity: float | None
    dropped: str | None
    because: str
    recorded_at: int


@dataclass(frozen=True, slots=True)
class Trace:
    """A recall from the inside.

    Attributes:
        plan: how the question was understood.
        stages: stage to count, in the order of `STAGES`.
        candidates: the best of them by evidence, whether returned or not; at most `core.recall.answer.KEPT`.
        weights: the numbers that ranked them: profile names to values as they were used, the intent's changes included.
        best: the greatest evidence there was among what may be returned.
        bar: what the chance must reach.
        chance: how likely there is an answer at all, 0 to 1.
        signs: what the chance was computed from (`core.score.ranking`); empty where one list alone was
        searched.
        rerank: how the order was made: `rrf`, `mmr` or `rrf_then_mmr`.
    """

    plan: QueryPlan
    stages: Mapping[str, int]
    candidates: tuple[TracedCandidate, ...]
    weights: Mapping[str, float]
    best: float
    bar: float
    chance: float
    signs: Mapping[str, float] = field(default_factory=dict)
    rerank: str = "rrf_then_mmr"


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The days a question speaks of, in the local zone.

    Attributes:
        words: the phrase, as it stands in the question.
        start: where the phrase begins, code points.
        end: where it ends, exclusive.
        first_day: ISO date.
        last_day: ISO date, inclusive.
        from_ms: the first moment of the first day, epoch ms.
        to_ms: the first moment after the last day, epoch ms.
    """

    words: str
    start: int
    end: int
    first_day: str
    last_day: str
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A question as it was understood.

    Attributes:
        intent: what kind of answer is asked for.
        intent_scores: all six intents with what speaks for each, 0 to 1.
        time: the days it speaks of; None where it names none.
        entities: names in the question, as typed, in its order.
        aliases: name to other names of the same entity, where the vault knows some.
        identifiers: terms that look like code, paths, versions or numbers, as typed.
        text_weight: how much words count against meaning, 0 (meaning alone) to 1 (words alone) (E35.3).
        text_signals: what moved the text weight, as keys of `resources/query/weight.json`.
        period: it asks for whatever there is in those days, and for no matter of its own.
        given: which parts the caller gave, of `intent`, `time`, `text_weight`.
    """

    intent: Intent = Intent.LOOKUP
    intent_scores: Mapping[str, float] = field(default_factory=dict)
    time: TimeRange | None = None
    entities: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    text_weight: float = 0.5
    text_signals: tuple[str, ...] = ()
    period: bool = False
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanChange:
    """What a caller decides about the plan; None leaves it to the rules.

    Attributes:
        intent: the intent.
        time: the days.
        no_time: the question names no time, whatever it seems to say.
        text_weight: 0 to 1.
    """

    intent: Intent | None = None
    time: TimeRange | None = None
    no_time: bool = False
    text_weight: float | None = None

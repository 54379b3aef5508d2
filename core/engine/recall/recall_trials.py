"""The facade's group for recall trials: trial recalls, the tuner, probes, receipts, and how recall did lately.

The owner's alone: an answer hides nothing. A trial leaves no trace: no receipt, no audit row, no counted access. Must
not do: know an option by name, or rank by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace

from core import log
from core.engine.authority import Authority
from core.engine.recall.probes import (
    count_regressions,
    delete_probe,
    judge_probe,
    probes_of,
    record_run,
    request_of,
    save_probe,
    tally_outcomes,
)
from core.engine.recall.recall_runner import count_tokens, run_recall
from core.engine.recall.receipts import count_disclosures, read_receipt, recall_health, receipts_page
from core.engine.runtime import settings
from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, chain_work, log_failure, map_result
from core.errors import CancelledError, Code, UserError
from core.events import Changed, Event
from core.memory.read import client_names_of_memories, read_by_ids
from core.recall.request import RecallRequest
from core.recall.result import NearMiss, RecallItem, RecallResult
from core.recall.scope import OWNER_SCOPE, Scope
from core.score.answer_quality import signal_shares
from core.score.profile import Profile, Value, profile_from_options
from core.text.question_form import find_answering_sentence
from core.types.recall import (
    Applied,
    Comparison,
    DeliveryCount,
    LabAnswer,
    LabItem,
    Probe,
    ProbeOutcome,
    RecallHealth,
    Receipt,
    ReceiptPage,
    Sensitivity,
    Tally,
    Trace,
    TracedCandidate,
    Tuning,
)
from core.types.requests import RecallQuery
from core.types.values import Actor, Memory
from core.vault.database.rows import Rows

MOST_SWEPT = 25


_DIGITS = 9  # less is noise, which must not decide before the rank does


def make_trial_answer(rows: Rows, result: RecallResult, query: str, took_ms: float, seen_as: str) -> LabAnswer:
    """Dress a result for the laboratory.

    Args:
        rows: the snapshot of the result.
        query: the question as typed.
        took_ms: milliseconds so far.
        seen_as: whose view it is; `""` for the person's own.

    Returns:
        The answer; of a memory that is over in parts, the text is what stands.
    """
    trace = result.trace
    traced = {one.id: one for one in trace.candidates}
    missed = read_by_ids(rows, [miss.id for miss in result.near_misses])
    items = [
        _lab_item_from_result(place, item, traced.get(item.memory.id), trace)
        for place, item in enumerate(result.items, 1)
    ]
    near_misses = [
        _lab_item_of_near_miss(miss, missed[miss.id], traced.get(miss.id), trace)
        for miss in result.near_misses
        if miss.id in missed
    ]
    names = client_names_of_memories(rows, [item.memory for item in (*items, *near_misses)])
    return LabAnswer(
        items=tuple(_finish_item(item, names, query) for item in items),
        near=tuple(_finish_item(item, names, query) for item in sorted(near_misses, key=_by_score)),
        abstained=result.abstained,
        reason=result.reason,
        trace=trace,
        strategy=result.strategy,
        took_ms=took_ms,
        tokens=count_tokens(result),
        seen_as=seen_as,
    )


def _finish_item(item: LabItem, names: Mapping[str, str], query: str) -> LabItem:
    """The item with its client's name and the sentence that answers."""
    client = item.memory.client_id
    return replace(
        item,
        client=None if client is None else names.get(client),
        answering=find_answering_sentence(query, item.memory.text),
    )


def _by_score(item: LabItem) -> tuple[float, float, str]:
    """The best score first, then the first rank; of equal scores what has no rank comes last."""
    return (-round(item.score, _DIGITS), math.inf if item.rank is None else item.rank, item.memory.id)


def _lab_item_from_result(place: int, item: RecallItem, one: TracedCandidate | None, trace: Trace) -> LabItem:
    return LabItem(
        memory=item.memory,
        place=place,
        rank=place if one is None else one.rank,
        score=item.score,
        signals={"relevance": item.signals.relevance, **_side_signals_of(item)},
        lists=dict(item.ranks),
        why=item.why,
        dropped=None,
        parts={"relevance": item.score} if one is None else _score_parts(one, item.score, trace),
    )


def _score_parts(one: TracedCandidate, score: float, trace: Trace) -> dict[str, float]:
    """The parts of the score that is shown: a group of several stands with the score of its best."""
    parts = signal_shares(one, trace.weights)
    whole = sum(parts.values())
    return {name: part * score / whole for name, part in parts.items()} if whole > 0 else {**parts, "relevance": score}


def _lab_item_of_near_miss(miss: NearMiss, memory: Memory, one: TracedCandidate | None, trace: Trace) -> LabItem:
    if one is None:
        return LabItem(memory, None, None, miss.score, {}, {}, (miss.sentence,), miss.why, {})
    ranked = one.rank is not None
    return LabItem(
        memory=memory,
        place=None,
        rank=one.rank,
        score=one.score if ranked else miss.score,
        signals={"relevance": one.relevance, **one.signals} if ranked else {},
        lists=dict(one.lists),
        why=(miss.sentence,),
        dropped=one.dropped or miss.why,
        parts=signal_shares(one, trace.weights) if ranked else {},
    )


def _side_signals_of(item: RecallItem) -> dict[str, float]:
    signals = item.signals
    return {
        "confidence": signals.confidence,
        "recency": signals.recency,
        "importance": signals.importance,
        "utility": signals.utility,
    }


RUN_AFTER = frozenset({"import", settings.RETUNED_VERB})
"""Verbs after which the probes run by themselves; `apply_weights` sees to it itself."""

_Vectors = dict[str, Embedded]
_log = log.get("engine")


class RecallTrials:
    """Everything the Recall page does. Each method returns at once with a Future."""

    def __init__(
        self,
        storage: Callable[[], Storage],
        search: Callable[[], Search],
        flush: Callable[[], None],
        authority: Authority,
    ) -> None:
        self._storage, self._search, self._flush = storage, search, flush
        self._authority = authority
        self._previews = 0  # a later preview stops an earlier one; a lost update only costs its time
        self._sweeps = 0  # likewise

    def read_tuning(self) -> Future[Tuning]:
        """Every option of recall with its value, and the presets.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        return storage.read(lambda rows: settings.tuning_of(settings.stored_retrieval(rows)[0]))

    def try_question(
        self, query: RecallQuery, weights: Mapping[str, Value] | None = None, seen_as: str | None = None
    ) -> Future[LabAnswer]:
        """Try a question: nothing is kept of it.

        Args:
            query: the question and its filters.
            weights: option to value, over those in force.
            seen_as: the name of a paired client whose view is wanted; None or `""` for the person's own.

        Returns:
            The answer with all that made it.

        Raises:
            UserError: INVALID_QUERY, INVALID_INPUT, CONFIG_INVALID, or NOT_FOUND for the client; VAULT_LOCKED.
        """
        storage, search = self._storage(), self._search()
        begun_at = storage.clock.monotonic()
        request = RecallRequest.from_query(query, self._scope_of_client(seen_as))
        request.check_bounds()
        profile = None if not weights else profile_from_options(settings.with_weights(search.retrieval, weights))

        def run(embedded: Embedded | None) -> LabAnswer:
            now = storage.clock.now_ms()

            def recall_trial(rows: Rows) -> LabAnswer:
                result = run_recall(search, rows, request, embedded, now, profile)
                took_ms = (storage.clock.monotonic() - begun_at) * 1000
                return make_trial_answer(rows, result, request.query, took_ms, seen_as or "")

            return storage.vault.read(recall_trial)

        if not request.wants_vector:
            return storage.run_on(storage.threads.reads, run, None)
        return chain_work(
            search.embed_texts([request.embed_text]),
            lambda embedded: storage.run_on(storage.threads.reads, run, embedded),
        )

    def _scope_of_client(self, seen_as: str | None) -> Scope:
        if not seen_as:
            return OWNER_SCOPE
        client = next((one for one in self._authority.list_clients() if one.name == seen_as and not one.revoked), None)
        if client is None:
            raise UserError(Code.NOT_FOUND, "There is no paired client of that name.")
        return self._authority.make_scope(Actor("client", client.id, client.name))

    def preview_weights(self, weights: Mapping[str, Value]) -> Future[Comparison]:
        """All saved questions as they are and as they would be; a later preview cancels an earlier one.

        Args:
            weights: option to value, over those in force.

        Returns:
            Both tallies; the future raises CANCELLED where a later preview was asked for.

        Raises:
            UserError: CONFIG_INVALID, VAULT_LOCKED.
        """
        storage, search = self._storage(), self._search()
        trial = profile_from_options(settings.with_weights(search.retrieval, weights))
        self._previews += 1
        preview_number = self._previews
        ran = self._probe_profiles(
            storage, search, (search.recall.profile, trial), lambda: preview_number != self._previews
        )
        return map_result(ran, lambda found: Comparison(found[1][0], found[1][1], found[0]))

    def sweep_option(self, name: str, values: Sequence[float], weights: Mapping[str, Value]) -> Future[Sensitivity]:
        """All saved questions under several values of one option; a later sweep cancels an earlier one.

        Args:
            name: of the option.
            values: 1 to 25, each within its bounds.
            weights: the other options, over those in force.

        Returns:
            A tally for each value; the future raises CANCELLED where a later sweep was asked for, or it was stopped.

        Raises:
            UserError: CONFIG_INVALID, INVALID_INPUT for too many values or none, VAULT_LOCKED.
        """
        if not 1 <= len(values) <= MOST_SWEPT:
            raise UserError(Code.INVALID_INPUT, f"An option is tried at 1 to {MOST_SWEPT} values.")
        storage, search = self._storage(), self._search()
        trials = [settings.with_weights(search.retrieval, {**weights, name: value}) for value in values]
        self._sweeps += 1
        mine = self._sweeps
        ran = self._probe_profiles(
            storage, search, [profile_from_options(one) for one in trials], lambda: mine != self._sweeps
        )
        return map_result(ran, lambda found: Sensitivity(name, tuple(values), found[1]))

    def stop_sweep(self) -> None:
        """Cancel the sweep that is under way; one that is over stays as it is."""
        self._sweeps += 1

    def apply_weights(self, weights: Mapping[str, Value]) -> Future[Applied]:
        """Put weights in force at once: one step, which can be undone; then the probes run.

        Args:
            weights: option to value, over what is stored.

        Returns:
            The application, with how many saved questions it answers.

        Raises:
            UserError: VAULT_LOCKED; the future raises CONFIG_INVALID, or INVALID_INPUT where nothing would change.
        """
        storage, search = self._storage(), self._search()
        applying = storage.write(lambda tx: settings.apply_weights(tx, storage, search, weights))
        return chain_work(applying, lambda step_id: self._apply_weights(storage, search, step_id))

    def _apply_weights(self, storage: Storage, search: Search, step_id: str) -> Future[Applied]:
        ran = self._run_probes(storage, search, step_id)
        return chain_work(ran, lambda _: storage.read(lambda rows: _find_application(rows, step_id)))

    def list_applications(self) -> Future[tuple[Applied, ...]]:
        """What was applied, newest first, as long as it can be undone."""
        return self._storage().read(settings.weight_applications)

    def list_probes(self) -> Future[tuple[Probe, ...]]:
        """All saved questions, oldest first."""
        return self._storage().read(probes_of)

    def save_probe(self, query: str, kind: str, memory_ids: Sequence[str] = (), within: int = 10) -> Future[Probe]:
        """Save a question; an undo step.

        Args:
            kind: `positive`, `negative` or `stale`.
            memory_ids: the memories it names; none for a negative one.
            within: 1 to 50: how many of the first a positive one looks at.

        Returns:
            The probe; the future raises INVALID_QUERY, INVALID_INPUT or NOT_FOUND.
        """
        storage = self._storage()
        return storage.write(lambda tx: save_probe(tx, storage, query, kind, memory_ids, within))

    def delete_probe(self, probe_id: str) -> Future[str]:
        """Delete a saved question.

        Returns:
            The undo step; the future raises NOT_FOUND.
        """
        storage = self._storage()
        return storage.write(lambda tx: delete_probe(tx, storage, probe_id))

    def run_probes(self) -> Future[Tally]:
        """Ask all saved questions now, under the weights in force, and keep how they end."""
        return self._run_probes(self._storage(), self._search(), None)

    def count_regressions(self) -> Future[int]:
        """How many saved questions do not hold although they once did."""
        return self._storage().read(count_regressions)

    def list_receipts(
        self, limit: int = 50, after: str | None = None, client: str | None = None
    ) -> Future[ReceiptPage]:
        """Receipts of recalls and contexts, newest first; the last second of them may still be missing.

        Args:
            limit: 1 to 500.
            after: `next` of the page before.
            client: only this client's, by name.

        Returns:
            A page; the future raises INVALID_INPUT or NOT_FOUND.
        """
        return self._storage().read(lambda rows: receipts_page(rows, limit, after, client))

    def read_receipt(self, receipt_id: str) -> Future[Receipt]:
        """One receipt with the whole trace.

        Returns:
            The receipt; the future raises NOT_FOUND where there is none, or it has expired.
        """
        storage = self._storage()

        def read() -> Receipt:
            found = storage.vault.read(lambda rows: read_receipt(rows, receipt_id))
            if found is None:  # of the last second: it waits to be written
                self._flush()
                found = storage.vault.read(lambda rows: read_receipt(rows, receipt_id))
            if found is None:
                raise UserError(Code.NOT_FOUND, "There is no such receipt; it may have expired.")
            return found

        return storage.run_on(storage.threads.reads, read)

    def count_disclosures(self, memory_id: str) -> Future[DeliveryCount]:
        """How often a memory left for a client, when last and to whom; the future raises NOT_FOUND."""
        return self._storage().read(lambda rows: count_disclosures(rows, memory_id))

    def read_health(self) -> Future[RecallHealth]:
        """How recall did lately."""
        storage, search = self._storage(), self._search()
        return storage.read(lambda rows: recall_health(rows, search.retrieval))

    def handle_event(self, event: Event) -> None:
        """Run the probes after what may change their answers; a handler of events."""
        if isinstance(event, Changed) and event.verb in RUN_AFTER:
            with suppress(UserError):  # locked meanwhile
                log_failure(self.run_probes(), _log, "asking the saved questions")

    def _run_probes(self, storage: Storage, search: Search, step_id: str | None) -> Future[Tally]:
        ran = self._probe_profiles(storage, search, (None,), lambda: False)

        def record_tally(found: tuple[tuple[Probe, ...], tuple[Tally, ...]]) -> Future[Tally]:
            (counted,) = found[1]
            kept = storage.write(lambda tx: record_run(tx, storage, counted, step_id), background=True)
            return map_result(kept, lambda _: counted)

        return chain_work(ran, record_tally)

    def _probe_profiles(
        self, storage: Storage, search: Search, profiles: Sequence[Profile | None], is_stale: Callable[[], bool]
    ) -> Future[tuple[tuple[Probe, ...], tuple[Tally, ...]]]:
        """All probes under each profile; None is the one in force."""

        def ask_all(probes: tuple[Probe, ...], vectors: _Vectors) -> tuple[tuple[Probe, ...], tuple[Tally, ...]]:
            outcomes = [_judge_probe(storage, search, probe, vectors, profiles, is_stale) for probe in probes]
            tallies = [tally_outcomes(probes, [row[at] for row in outcomes]) for at in range(len(profiles))]
            return probes, tuple(tallies)

        embedded = chain_work(storage.read(probes_of), lambda probes: _with_vectors(search, probes))
        return chain_work(embedded, lambda found: storage.run_on(storage.threads.reads, ask_all, *found))


def _find_application(rows: Rows, step_id: str) -> Applied:
    return next(one for one in settings.weight_applications(rows) if one.step_id == step_id)


def _with_vectors(search: Search, probes: tuple[Probe, ...]) -> Future[tuple[tuple[Probe, ...], _Vectors]]:
    """Embed the questions that were not asked before."""
    wanted = list(dict.fromkeys(request_of(probe).embed_text for probe in probes))
    known = {
        text: one
        for text, one in search.probe_vectors.items()
        if text in wanted and one.active_space is search.active_space
    }
    missing = [text for text in wanted if text not in known]

    def keep_vectors(embedded: Embedded) -> tuple[tuple[Probe, ...], _Vectors]:
        found = {**known, **dict(zip(missing, embedded.split_by_text(len(missing)), strict=True))}
        search.probe_vectors = {text: one for text, one in found.items() if one.vectors is not None}
        return probes, found

    return map_result(search.embed_texts(missing), keep_vectors)


def _judge_probe(
    storage: Storage,
    search: Search,
    probe: Probe,
    vectors: _Vectors,
    profiles: Sequence[Profile | None],
    is_stale: Callable[[], bool],
) -> list[ProbeOutcome]:
    """One probe under each profile, on one snapshot."""
    if is_stale() or storage.closing.is_set():
        raise CancelledError
    request, now = request_of(probe), storage.clock.now_ms()
    embedded = vectors[request.embed_text]

    def recall_and_judge(rows: Rows) -> list[ProbeOutcome]:
        found = [run_recall(search, rows, request, embedded, now, profile) for profile in profiles]
        return [judge_probe(rows, probe, result, count_tokens(result)) for result in found]

    return storage.vault.read(recall_and_judge)

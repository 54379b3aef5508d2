"""What is learned of episodes: statements by reader and model; by a model rules (seed B) too, and digests worded.

The reader comes first (`core.lifecycle.distill.reader_statements`), and is all there is without a model server. A
model is asked for statements conversation by conversation (`core.lifecycle.distill.model_statements`); then groups of
episodes of one space and client are given to it with what is known there, for rules and for facts of what has no
speaker. Of its answer only what an episode says in so many words is kept; each item is carried out by itself, and a
group that fails is tried again later, in smaller groups, without holding up the others. A digest stays as it was put
together, sentence by sentence out of its sources; its wording, the same statements in fewer words, is derived and
goes when the text changes. Must not do: hold a question's text longer than its batch, touch a memory that the model
was not shown, or keep a wording that adds, drops or turns anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core import log
from core.belief.relate.coverage import compared_words, is_exhausted_by
from core.embed.embedder import AWAY
from core.errors import BugError, CancelledError, Code, EnvironmentFaultError, IntegrityError, LociError
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.distill import model_queue
from core.lifecycle.distill.model_queue import Episode
from core.lifecycle.distill.model_results import (
    DistilledItem,
    ItemOutcome,
    ItemWriter,
    find_supporting_episodes,
    hash_of,
    is_replaceable,
)
from core.lifecycle.distill.model_statements import check_statements, shown_turns
from core.lifecycle.distill.reader_queue import QueuedEpisode, is_limited, read_episodes
from core.lifecycle.distill.reader_statements import SKIPPED, TalkBatch, TalkDistillation, count_backlog
from core.lifecycle.distill.statement_writer import TalkStatement
from core.lifecycle.job_support.job_context import NO_CURSOR, BatchResult, JobContext, embed_or_none
from core.llm.distillate import (
    Distillate,
    NewFact,
    NewRule,
    ShownMemory,
    count_fitting,
    distill_prompt,
    find_prompt_ids,
    parse_distillate,
    reword_prompt,
    statements_prompt,
)
from core.llm.prompts import find_json
from core.memory.write import write_summary
from core.text.sentences import split_sentences
from core.types.lifecycle import JobType
from core.types.values import Kind, Role
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_log = log.get("lifecycle")

_NEAR = 24
"""Neighbours of each episode that are looked at for known facts."""


@dataclass(frozen=True, slots=True, eq=False)
class ConfirmedFact:
    """A known fact that an episode says again.

    Attributes:
        sources: the episodes that say it.
        text_hash: of the fact as the model was shown it.
    """

    memory_id: str
    sources: tuple[Episode, ...]
    text_hash: bytes


@dataclass(frozen=True, slots=True, eq=False)
class DistilledGroup:
    """One group that was read, or that could not be.

    Attributes:
        code: why not, an E-code; "" where it was read.
        for_good: whether trying again is no use.
        is_patient: whether the server failed: that is held against no episode.
        counts: what was left out already: `rejected`, `parse_errors`, `skipped_` with each reason.
        statements: what the episodes state, each with its span.
    """

    episodes: tuple[Episode, ...]
    code: str = ""
    for_good: bool = False
    is_patient: bool = False
    items: tuple[DistilledItem, ...] = ()
    confirmed: tuple[ConfirmedFact, ...] = ()
    counts: Mapping[str, int] | None = None
    statements: tuple[TalkStatement, ...] = ()


class DistillJob:
    """The job: statements by the built-in reader, then what a local model reads, then its wording of digests."""

    def __init__(self) -> None:
        self._talk = TalkDistillation()

    @property
    def type(self) -> JobType:
        """Which job."""
        return JobType.DISTILL

    @property
    def is_derived(self) -> bool:
        """It brings memories: a run is an undo step."""
        return False

    def count_backlog(self, rows: Rows, context: JobContext, cursor: Mapping[str, Any] = NO_CURSOR) -> int:
        """How many episodes wait to be read now, and digests to be worded.

        Args:
            cursor: of `TalkScope.to_cursor`; empty for all there is.
        """
        waiting, is_talk = count_backlog(rows, context, cursor), context.talk is not None
        if is_limited(cursor) or (context.ask is None and context.talk is not None):
            return waiting  # what is a model's to read makes no run due while there is none
        return (
            waiting + model_queue.count_backlog(rows, context.now_ms, is_by_talk=is_talk) + count_wording_backlog(rows)
        )

    def prepare(
        self, context: JobContext, cursor: Mapping[str, Any]
    ) -> TalkBatch | DistilledGroup | WordedBatch | None:
        """Read the next few episodes, or the next group with the model; nothing is written.

        Args:
            cursor: what the run reads; what was read is marked, and what failed waits.

        Returns:
            What the reader made of them; then what the model read and the episodes bear out; then its wording of
            digests that it was not asked about; None where nothing waits, or nobody is there to read it.
        """
        batch = self._talk.prepare(context, cursor)
        if batch is not None or is_limited(cursor):
            return batch
        if context.ask is None or context.is_stopped():
            return None
        episodes: tuple[Episode, ...] = context.read(
            lambda rows: model_queue.next_episodes(rows, context.now_ms, is_by_talk=context.talk is not None)
        )
        if not episodes:
            return prepare_wordings(context)
        fit = count_fitting([one.prompt_memory for one in episodes])
        if not fit:
            return DistilledGroup(episodes[:1], Code.TEXT_TOO_LARGE.value, for_good=True)
        return self._distill_group(context, episodes[:fit])

    def write(
        self, tx: Tx, verb: Verb | None, context: JobContext, prepared: TalkBatch | DistilledGroup | WordedBatch
    ) -> BatchResult:
        """Carry out what was read, item by item, and mark the episodes.

        Args:
            prepared: from `prepare`.

        Returns:
            Counts: episodes, new_facts, updated, confirmed, new_rules, asked (it waits for the person), rejected (no
            episode says it, the model was not shown what it speaks of, or it is nothing new), parse_errors, errors,
            failed, dead; reworded; of the reader see `TalkDistillation.write`.
        """
        if isinstance(prepared, WordedBatch):
            return write_wordings(tx, prepared)
        if verb is None:
            raise BugError("what is learned of episodes without a step")
        if isinstance(prepared, TalkBatch):
            return self._talk.write(tx, verb, context, prepared)
        there = model_queue.find_unchanged(tx, prepared.episodes)
        left = tuple(one for one in prepared.episodes if one.id in there)
        if prepared.code:
            dead = model_queue.mark_failed(
                tx, left, prepared.code, for_good=prepared.for_good, is_patient=prepared.is_patient
            )
            _log.info("episodes could not be read: %s", prepared.code)
            return BatchResult(len(prepared.episodes), _nonzero_counts({"failed": len(left), "dead": dead}))
        counts = Counter(prepared.counts or {})
        ids = self._write_statements(tx, verb, context, prepared, there, counts)
        for outcome in self._write_items(tx, verb, context, prepared, there):
            counts[outcome.counted or "rejected"] += 1
            ids += outcome.ids
        model_queue.mark_done(tx, [one.id for one in left])
        counts["episodes"] = len(left)
        return BatchResult(len(prepared.episodes), _nonzero_counts(counts), tuple(dict.fromkeys(ids)))

    # ---- reading

    def _distill_group(self, context: JobContext, episodes: tuple[Episode, ...]) -> DistilledGroup | None:
        """Ask for statements where there is a reader of talk, then for rules and for what has no speaker."""
        try:
            asked = None if context.talk is None else _ask_for_statements(context, episodes)
            if asked is None:
                return self._ask_for_facts(context, episodes)
            if asked.code or asked.is_imported:
                return DistilledGroup(episodes, asked.code, counts=asked.counts, statements=asked.statements)
            group = self._ask_for_facts(context, episodes)
        except LociError as error:
            if error.code in ABSENT:
                return None
            return DistilledGroup(episodes, error.code.value, is_patient=error.code in AWAY)
        if group is None or group.code:
            return group
        return replace(group, statements=asked.statements, counts=Counter(group.counts or {}) + Counter(asked.counts))

    def _ask_for_facts(self, context: JobContext, episodes: tuple[Episode, ...]) -> DistilledGroup | None:
        facts, rules = self._read_known_memories(context, episodes)
        prompt = distill_prompt([one.prompt_memory for one in episodes], facts, rules)
        if context.ask is None:
            return None
        answer = parse_distillate(context.ask(prompt))
        if not answer.has_json:
            return DistilledGroup(episodes, Code.MODEL_SERVER_FAILED.value)
        shown = find_prompt_ids(prompt, facts)
        known = {one.id: one.text for one in facts if one.id in shown}
        return _check_answer(context, episodes, answer, known)

    @staticmethod
    def _read_known_memories(
        context: JobContext, episodes: Sequence[Episode]
    ) -> tuple[Sequence[ShownMemory], Sequence[ShownMemory]]:
        """Facts and rules of the space, the facts that are near to the episodes first."""
        labels: list[int] = []
        vectors = embed_or_none(context, [one.text for one in episodes]) if context.neighbours is not None else None
        if context.neighbours is not None and vectors is not None:
            found, cosines = context.neighbours(vectors, _NEAR)
            order = np.argsort(-cosines, axis=None, kind="stable")
            labels = list(dict.fromkeys(int(label) for label in found.ravel()[order] if label >= 0))
        space = episodes[0].space_id
        facts = context.read(lambda rows: model_queue.read_known_facts(rows, space, Kind.FACT, labels))
        return facts, context.read(lambda rows: model_queue.read_known_facts(rows, space, Kind.RULE))

    # ---- writing

    def _write_statements(
        self, tx: Tx, verb: Verb, context: JobContext, read: DistilledGroup, there: frozenset[str], counts: Counter[str]
    ) -> list[str]:
        ids: list[str] = []
        for one in read.statements:
            if one.episode.id in there:
                memory_id, changed = self._talk.take(tx, verb, context, one, counts)
                ids += changed
                if memory_id:
                    tx.update("readings", {"memory_id": one.episode.id}, {"small_talk": 0})
        return ids

    def _write_items(
        self, tx: Tx, verb: Verb, context: JobContext, read: DistilledGroup, there: frozenset[str]
    ) -> list[ItemOutcome]:
        done: list[ItemOutcome] = []
        for item in read.items:
            left = replace(item, sources=tuple(one for one in item.sources if one.id in there))
            if not left.sources or (left.target_id is not None and not is_replaceable(tx, left)):
                done.append(ItemOutcome())
                continue
            done.append(self._write_one_item(tx, verb, context, left))
        for one in read.confirmed:
            sources = tuple(source for source in one.sources if source.id in there)
            done.append(self._write_one_item(tx, verb, context, replace(one, sources=sources)))
        return done

    @staticmethod
    def _write_one_item(tx: Tx, verb: Verb, context: JobContext, item: DistilledItem | ConfirmedFact) -> ItemOutcome:
        """One item; that it fails stops no other. A vault or a disk that fails stops all."""
        hand = ItemWriter(tx, context.store_service, context.make_transitions(tx, verb))
        try:
            with tx.attempt():
                if isinstance(item, DistilledItem):
                    return hand.take(item)
                row = tx.row("memories", {"id": item.memory_id})
                same = row is not None and row["content_hash"] == item.text_hash
                return hand.confirm(item.memory_id, item.sources) if same else ItemOutcome()
        except (EnvironmentFaultError, IntegrityError, CancelledError):
            raise
        except LociError as error:
            _log.warning("what a model read could not be written: %s", error.code.value)
            return ItemOutcome("errors")


@dataclass(frozen=True, slots=True)
class _AskedStatements:
    """What a model made of one conversation.

    Attributes:
        code: why it could not be read, an E-code; "" where it was.
        is_imported: whether it came by an import: then nothing else may be made of it.
    """

    statements: tuple[TalkStatement, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    code: str = ""
    is_imported: bool = False


def _ask_for_statements(context: JobContext, episodes: Sequence[Episode]) -> _AskedStatements | None:
    """The statements of a conversation; None where nobody is there to ask."""
    talk: tuple[QueuedEpisode, ...] = context.read(lambda rows: read_episodes(rows, [one.id for one in episodes]))
    if context.ask is None:
        return None
    checked = check_statements(context, talk, context.ask(statements_prompt(shown_turns(talk))))
    if checked is None:
        return _AskedStatements(code=Code.MODEL_SERVER_FAILED.value)
    counts = {SKIPPED + reason: count for reason, count in checked.dropped.items()}
    return _AskedStatements(checked.statements, counts, is_imported=any(one.import_id is not None for one in talk))


def _check_answer(
    context: JobContext, episodes: Sequence[Episode], answer: Distillate, known: Mapping[str, str]
) -> DistilledGroup:
    """What of an answer the episodes bear out; what a speaker states comes as statements where they are asked for."""
    facts = (*answer.new_facts, *answer.updated_facts)
    tellers = [one for one in episodes if context.talk is None or one.role in (Role.ASSISTANT, Role.TOOL)]
    taken = [one for fact in facts if (one := _find_item_sources(Kind.FACT, fact, tellers, known)) is not None]
    taken += [
        one for rule in answer.new_rules if (one := _find_item_sources(Kind.RULE, rule, episodes, known)) is not None
    ]
    unique = list({(one.kind, one.text): one for one in reversed(taken)}.values())[::-1]
    vectors = embed_or_none(context, [one.text for one in unique]) if unique else None
    items = tuple(unique)
    if vectors is not None:
        items = tuple(replace(one, vector=vector) for one, vector in zip(unique, vectors, strict=True))
    confirmed = [
        ConfirmedFact(memory_id, sources, hash_of(known[memory_id]))
        for memory_id in answer.confirmations
        if memory_id in known and (sources := find_supporting_episodes(known[memory_id], episodes))
    ]
    offered = len(facts) + len(answer.new_rules) + len(answer.confirmations)
    counts = {
        "rejected": offered - len(taken) - len(confirmed),
        "parse_errors": len(answer.parse_errors),
    }
    return DistilledGroup(tuple(episodes), items=items, confirmed=tuple(confirmed), counts=counts)


def _find_item_sources(
    kind: Kind, proposed: NewFact | NewRule, episodes: Sequence[Episode], known: Mapping[str, str]
) -> DistilledItem | None:
    """A fact or rule with the episodes that say it; None where none does, or its target was not shown."""
    target = proposed.target_id if isinstance(proposed, NewFact) else None
    if target is not None and target not in known:
        return None
    sources = find_supporting_episodes(proposed.content, episodes, guidance=kind is Kind.RULE)
    if not sources:
        return None
    words = frozenset[str]().union(*(compared_words(one.text) for one in sources))
    tags = tuple(tag for tag in proposed.tags if compared_words(tag) and compared_words(tag) <= words)
    return DistilledItem(
        kind=kind,
        text=proposed.content,
        sources=sources,
        importance=proposed.importance if isinstance(proposed, NewFact) else 0.5,
        permanence=proposed.permanence if isinstance(proposed, NewFact) else "standard",
        tags=tags,
        target_id=target,
        target_hash=b"" if target is None else hash_of(known[target]),
    )


def _nonzero_counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


ABSENT = frozenset({Code.EMBEDDER_UNAVAILABLE, Code.VAULT_LOCKED, Code.CANCELLED})
"""The model, or the vault, is gone: what was asked about is not to blame and waits."""

NOTE = "reworded"
"""A key of `settings`: the label of the last digest a model was asked about."""

SHORTER = 0.8
"""A wording has at most this share of the digest's characters: else the summary of rules is the better one."""

_AT_ONCE = 5
_WAITING = (
    "SELECT m.n, m.id, m.text FROM memories m WHERE m.kind = 'digest' AND m.status = 'active' "
    "AND m.security_tier = 'cleartext' AND m.n > ? "
    "AND EXISTS (SELECT 1 FROM tiers t WHERE t.memory_id = m.id AND t.tier = 'tag') ORDER BY m.n LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class DigestWording:
    """One digest and what a model made of it.

    Attributes:
        n: the digest's label.
        text: as the model read it.
        words: the wording; None where there is none that may be kept.
    """

    n: int
    memory_id: str
    text: str
    words: str | None


@dataclass(frozen=True, slots=True)
class WordedBatch:
    """A few digests that a model was asked about."""

    all: tuple[DigestWording, ...]


def reword_digest(context: JobContext, statements: list[str]) -> str | None:
    """Ask the model to say statements in one short paragraph.

    Args:
        statements: sentences.

    Returns:
        The paragraph, if it says every one of them in its own words and nothing else; None otherwise, and where there
        is no model or there is too much for one question.

    Raises:
        LociError: the model did not answer.
    """
    prompt = reword_prompt(statements)
    if context.ask is None or prompt is None:
        return None
    value = find_json(context.ask(prompt))
    text = value.get("text") if isinstance(value, dict) else None
    if not isinstance(text, str) or not is_exhausted_by(text.strip(), statements):
        return None
    return text.strip()


def prepare_wordings(context: JobContext) -> WordedBatch | None:
    """Ask about the next few digests; nothing is written.

    Returns:
        What came of it; None where none waits, or the model is gone.
    """
    waiting: list[tuple[int, str, str]] = context.read(_read_waiting_episodes)
    found: list[DigestWording] = []
    for n, memory_id, text in waiting:
        if context.is_stopped():
            break
        try:
            words = reword_digest(context, [text[start:end].strip() for start, end in split_sentences(text)])
        except LociError as error:
            if error.code in ABSENT:
                break
            _log.info("a digest could not be reworded: %s", error.code.value)
            words = None
        short = words is not None and len(words) <= SHORTER * len(text)
        found.append(DigestWording(n, memory_id, text, words if short else None))
    return WordedBatch(tuple(found)) if found else None


def write_wordings(tx: Tx, worded: WordedBatch) -> BatchResult:
    """Keep the wordings of digests that are as the model read them.

    Args:
        worded: from `prepare_wordings`.

    Returns:
        The count `reword_digest`.
    """
    kept = 0
    for one in worded.all:
        held = tx.one("SELECT text FROM memories WHERE id = ? AND status = 'active'", (one.memory_id,))
        if one.words is not None and held is not None and held[0] == one.text:
            kept += write_summary(tx, one.memory_id, one.words)
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (NOTE, json.dumps(worded.all[-1].n), tx.now_ms),
    )
    return BatchResult(len(worded.all), {"reworded": kept} if kept else {})


def count_wording_backlog(rows: Rows) -> int:
    """How many digests a model was not asked about."""
    return len(rows.all(_WAITING, (_last_distilled(rows), -1)))


def _read_waiting_episodes(rows: Rows) -> list[tuple[int, str, str]]:
    return [
        (int(n), str(memory_id), str(text))
        for n, memory_id, text in rows.all(_WAITING, (_last_distilled(rows), _AT_ONCE))
    ]


def _last_distilled(rows: Rows) -> int:
    found = rows.value("SELECT value FROM settings WHERE key = ?", (NOTE,))
    return 0 if found is None else int(json.loads(found))

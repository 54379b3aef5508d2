"""Statements of what was said, by the built-in reader: a talk is read whole, and written a few episodes at a time.

What was read is held between the batches of one talk, in memory alone. Where the person asked for a run, the next talk
is read while one is written. A batch writes the statements of its episodes and marks those in one transaction: a kill
leaves nothing half, and what was marked is read no more. Must not do: ask a model server, or mark an episode that
changed since it was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import log
from core.errors import CancelledError, EnvironmentFaultError, IntegrityError, LociError
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.distill.other_subjects import forget_statements
from core.lifecycle.distill.reader_queue import (
    QueuedEpisode,
    TalkScope,
    WaitingTalk,
    count_waiting,
    next_talk,
    read_genders,
)
from core.lifecycle.distill.statement_writer import (
    FAILED,
    StatementWriter,
    TalkStatement,
    find_stated,
    find_twin,
    mark_read,
    reason_to_skip,
    withdraw_others,
)
from core.lifecycle.job_support.job_context import BatchResult, JobContext, TalkReader, embed_or_none
from core.types.lifecycle import DistilledTalk, ListedStatement
from core.types.talk import Statement
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

EPISODES_AT_ONCE, STATEMENTS_AT_ONCE = 40, 8
"""Of one batch, at most: the writer is not held longer."""
BATCHES_AHEAD = 4
SKIPPED = "skipped_"
"""What the counts of a run call what was left out, before the reason."""

_log = log.get("lifecycle")
_UNCHANGED = (
    "SELECT m.id FROM json_each(?) w CROSS JOIN memories m ON m.id = json_extract(w.value, '$[0]') "
    "WHERE m.status = 'active' AND hex(m.content_hash) = json_extract(w.value, '$[1]')"
)


@dataclass(frozen=True, slots=True, eq=False)
class ReadTalk:
    """A talk, or what is left of it, with what was read.

    Attributes:
        left: episodes that are not written yet, in order.
        statements: by episode.
        small: episodes that hold nothing worth keeping.
        skipped: sentences that were left out, by reason; counted with the first batch.
    """

    version: str
    left: tuple[QueuedEpisode, ...]
    statements: Mapping[str, tuple[Statement, ...]]
    small: frozenset[str]
    skipped: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class TalkBatch:
    """A few episodes of a talk, with their statements.

    Attributes:
        cursor: where the run stands after it.
    """

    version: str
    episodes: tuple[QueuedEpisode, ...]
    statements: tuple[TalkStatement, ...]
    small: frozenset[str]
    skipped: Mapping[str, int]
    cursor: Mapping[str, Any] = field(default_factory=dict)


class TalkDistillation:
    """Reads talk after talk. One object per job: it remembers the talk it is in the middle of."""

    def __init__(self) -> None:
        self._held: ReadTalk | None = None
        self._genders = GendersOfImports()
        self._vectors = VectorsAhead()
        self._next: tuple[str, tuple[QueuedEpisode, ...], Future[ReadTalk]] | None = None

    def prepare(self, context: JobContext, cursor: Mapping[str, Any]) -> TalkBatch | None:
        """Read the next few episodes; nothing is written.

        Returns:
            Them with their statements; None where nothing waits, or there is no reader.
        """
        if context.talk is None or context.is_stopped():
            self._forget()
            return None
        scope = TalkScope.from_cursor(context.talk.version, cursor)
        waiting: WaitingTalk | None = context.read(lambda rows: next_talk(rows, scope))
        if waiting is None:
            self._forget()
            return None
        held = self._held
        if held is None or held.version != scope.version or not _is_talk_unchanged(held, waiting):
            held = self._read(context.talk, self._genders.add_to(context, waiting.episodes))
            if scope.by_hand and context.begin is not None:
                self._begin_next(context, scope, held)
        batch, self._held = _split_talk_batch(held)
        statements = self._vectors.add_to(context, batch, self._held)
        cursor = replace(scope, after=waiting.first_label).to_cursor()
        return replace(batch, statements=statements, cursor=cursor)

    def _forget(self) -> None:
        """Let go of what was read: nothing waits, or the run is to end."""
        self._held = None
        if self._next is not None:
            self._next[2].cancel()
            self._next = None
        self._vectors.forget()
        forget_statements()

    def _read(self, reader: TalkReader, talk: tuple[QueuedEpisode, ...]) -> ReadTalk:
        """Read a talk, or wait for it where it is being read already, just as it is now."""
        begun, self._next = self._next, None
        if begun is not None and begun[:2] == (reader.version, talk):
            return begun[2].result()
        if begun is not None:
            begun[2].cancel()
        return read_talk(reader, talk)

    def _begin_next(self, context: JobContext, scope: TalkScope, held: ReadTalk) -> None:
        """Begin to read the talk behind the one in hand, as it will stand once that one is marked."""
        reader, looked = context.talk, [one.id for one in held.left]
        waiting: WaitingTalk | None = context.read(lambda rows: next_talk(rows, scope, looked))
        if waiting is None or reader is None or context.begin is None:
            return
        talk = self._genders.add_to(context, waiting.episodes)
        self._next = reader.version, talk, context.begin(partial(read_talk, reader, talk))

    def write(self, tx: Tx, verb: Verb, context: JobContext, batch: TalkBatch) -> BatchResult:
        """Write the statements of episodes that stand as they were read, and mark those.

        Returns:
            Counts: episodes, statements, repeated (it stands already), small_talk, and `skipped_` with each reason.
        """
        there = _find_unchanged(tx, batch.episodes)
        counts: Counter[str] = Counter({SKIPPED + reason: count for reason, count in batch.skipped.items()})
        written: dict[str, list[str]] = {}
        ids: list[str] = []
        for one in batch.statements:
            if one.episode.id not in there:
                continue
            memory_id, changed = self.take(tx, verb, context, one, counts)
            ids += changed
            if memory_id:
                written.setdefault(one.episode.id, []).append(memory_id)
        read = [one for one in batch.episodes if one.id in there]
        ids += withdraw_others(tx, context.store_service.make_id, read, written)
        small = {one.id for one in read} & batch.small - written.keys()
        small -= find_stated(tx, read)
        mark_read(tx, read, batch.version, small)
        counts["episodes"] += len(read)
        counts["small_talk"] += len(small)
        return BatchResult(
            len(batch.episodes),
            {name: count for name, count in counts.items() if count},
            tuple(dict.fromkeys(ids)),
            cursor=batch.cursor,
        )

    @staticmethod
    def take(
        tx: Tx, verb: Verb, context: JobContext, one: TalkStatement, counts: Counter[str]
    ) -> tuple[str, tuple[str, ...]]:
        """One statement; that it fails stops no other. A vault or a disk that fails stops all.

        Args:
            counts: gets what became of it.

        Returns:
            The memory that says it, "" for none, and the memories that changed.
        """
        try:
            with tx.attempt():
                done = StatementWriter(tx, context.store_service, context.make_transitions(tx, verb)).take(one)
        except (EnvironmentFaultError, IntegrityError, CancelledError):
            raise
        except LociError as error:
            _log.warning("a statement could not be written: %s", error.code.value)
            counts[SKIPPED + FAILED] += 1
            return "", ()
        if done.skipped:
            counts[SKIPPED + done.skipped] += 1
        else:
            counts["repeated" if done.operation == "NOOP" else "statements"] += 1
        return done.memory_id, done.ids


class VectorsAhead:
    """Vectors of statements, made while those before them are written: embedding is a third of a run."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, ...], Future[NDArray[np.float32]]] = {}
        self._space = ""

    def forget(self) -> None:
        """Let go of what was begun."""
        for future in self._begun.values():
            future.cancel()
        self._begun = {}

    def add_to(self, context: JobContext, batch: TalkBatch, left: ReadTalk | None) -> tuple[TalkStatement, ...]:
        """The statements of a batch with their vectors; those of the next few batches are begun.

        Args:
            left: what is left of the talk behind the batch.
        """
        if context.space.name != self._space:
            self.forget()  # a change of the model in between must not mix two vector spaces
            self._space = context.space.name
        if context.embed_later is not None:
            begun, self._begun = self._begun, {}
            for texts in _upcoming_texts(batch, left):
                self._begun[texts] = begun.pop(texts) if texts in begun else context.embed_later(texts)
            for future in begun.values():
                future.cancel()
        texts = _texts_of(batch)
        known = self._begun.pop(texts) if texts in self._begun else None
        vectors = embed_or_none(context, texts, known) if texts else None
        if vectors is None:
            return batch.statements
        return tuple(replace(one, vector=vector) for one, vector in zip(batch.statements, vectors, strict=True))


def _upcoming_texts(batch: TalkBatch, left: ReadTalk | None) -> Iterator[tuple[str, ...]]:
    """The texts of the statements of a batch, and of the next few."""
    for _ in range(1 + BATCHES_AHEAD):
        if texts := _texts_of(batch):
            yield texts
        if left is None:
            return
        batch, left = _split_talk_batch(left)


def _texts_of(batch: TalkBatch) -> tuple[str, ...]:
    return tuple(one.statement.text for one in batch.statements)


class GendersOfImports:
    """Which pronoun the talks of an import give to those who speak in them, read once an import."""

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, str], Mapping[str, str]] = {}

    def add_to(self, context: JobContext, talk: Sequence[QueuedEpisode]) -> tuple[QueuedEpisode, ...]:
        """The episodes of a talk, each with the gender of who speaks as far as it is told."""
        key = (talk[0].import_id, talk[0].space_id)
        if key not in self._known:
            self._known = {key: context.read(lambda rows: read_genders(rows, talk[0]))}  # of the import in hand alone
        known = self._known[key]
        return (
            tuple(replace(one, gender=known.get(one.author.casefold(), "")) for one in talk) if known else tuple(talk)
        )


def read_talk(reader: TalkReader, talk: Sequence[QueuedEpisode]) -> ReadTalk:
    """Read a talk; a statement of an episode that does not wait is left out.

    Raises:
        LociError: the reader does not answer.
    """
    found = reader.distill([one.turn for one in talk])
    by_episode: dict[str, list[Statement]] = {}
    for one in found.statements:
        by_episode.setdefault(one.episode_id, []).append(one)
    return ReadTalk(
        reader.version,
        tuple(one for one in talk if one.waits),
        {episode: tuple(some) for episode, some in by_episode.items()},
        frozenset(found.small_talk),
        dict(found.skipped),
    )


def preview_talk(
    context: JobContext, scope: TalkScope, report_progress: Callable[[int], object] = lambda _: None
) -> DistilledTalk:
    """What a run would make of what waits; nothing is written.

    Args:
        report_progress: hears how many episodes were looked at so far.
    """
    statements: list[ListedStatement] = []
    small: list[str] = []
    skipped: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for talk in _read_waiting_talks(context, scope):
        skipped.update(talk.skipped)
        small += [one.id for one in talk.left if one.id in talk.small and not talk.statements.get(one.id)]
        for one in (
            TalkStatement(statement, episode)
            for episode in talk.left
            for statement in talk.statements.get(episode.id, ())
        ):
            operation, reason = context.read(partial(_foresee_statement, one=one, seen=seen))
            if reason:
                skipped[reason] += 1
            else:
                statements.append(ListedStatement(None, one.statement, operation))
        report_progress(len(talk.left))
    return DistilledTalk(tuple(statements), tuple(small), dict(skipped))


def count_backlog(rows: Rows, context: JobContext, cursor: Mapping[str, Any]) -> int:
    """How many episodes wait for the reader; 0 where there is none."""
    return 0 if context.talk is None else count_waiting(rows, TalkScope.from_cursor(context.talk.version, cursor))


def _read_waiting_talks(context: JobContext, scope: TalkScope) -> Iterator[ReadTalk]:
    """Every talk that waits, read without writing anything: what was looked at is known by its id."""
    looked: set[str] = set()
    genders = GendersOfImports()
    while context.talk is not None and not context.is_stopped():
        waiting: WaitingTalk | None = context.read(lambda rows: next_talk(rows, scope, looked))
        if waiting is None:
            return
        looked.update(one.id for one in waiting.episodes if one.waits)
        yield read_talk(context.talk, genders.add_to(context, waiting.episodes))


def _foresee_statement(rows: Rows, one: TalkStatement, seen: set[tuple[str, str]]) -> tuple[str, str]:
    reason = reason_to_skip(rows, one.statement, one.episode)
    key = (one.episode.space_id, one.statement.text)
    is_known = key in seen or find_twin(rows, one.statement, one.episode) is not None
    seen.add(key)
    return ("NOOP" if is_known else "ADD"), reason


def _is_talk_unchanged(held: ReadTalk, waiting: WaitingTalk) -> bool:
    """Whether what is left of the talk in hand is just what waits of it: nothing came, went or changed."""
    left = [(one.id, one.content_hash) for one in held.left]
    now = [(one.id, one.content_hash) for one in waiting.episodes if one.waits]
    return left[: len(now)] == now[: len(left)]


def _split_talk_batch(held: ReadTalk) -> tuple[TalkBatch, ReadTalk | None]:
    """The next few episodes of a talk, at least one; and what is left."""
    some: list[QueuedEpisode] = []
    statements: list[TalkStatement] = []
    for one in held.left[:EPISODES_AT_ONCE]:
        own = [TalkStatement(statement, one) for statement in held.statements.get(one.id, ())]
        if some and len(statements) + len(own) > STATEMENTS_AT_ONCE:
            break
        some.append(one)
        statements += own
    batch = TalkBatch(held.version, tuple(some), tuple(statements), held.small, held.skipped)
    left = held.left[len(some) :]
    return batch, replace(held, left=left, skipped={}) if left else None


def _find_unchanged(rows: Rows, episodes: Sequence[QueuedEpisode]) -> frozenset[str]:
    asked = to_json([[one.id, one.content_hash.hex().upper()] for one in episodes])
    return frozenset(str(row[0]) for row in rows.all(_UNCHANGED, (asked,)))

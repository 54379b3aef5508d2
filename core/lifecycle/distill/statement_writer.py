"""A statement of an episode becomes a fact that rests on it, or another source of a fact that stands.

It has its episode's source, speaker and trust, and is no second source of it; the gate decides what becomes of it. What
the person erased, refused or forgot is not said again by it. Must not do: read a text, or let anything in whose span is
not in its episode.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.validity import classify_permanence
from core.errors import Code, LociError, UserError
from core.intake.claims import read_claims, sync_claims
from core.intake.store.store import StoreService, judge_by_claims
from core.intake.transaction.admission import erased_texts, was_disclosed
from core.intake.transaction.sources import (
    add_corroboration,
    add_source,
    find_active_duplicate,
    refresh_trust,
    waiting_twin,
)
from core.intake.transitions.transitions import SOURCE_GONE, Transitions, sync_statement, unlink_episodes
from core.lifecycle.distill.other_subjects import compare_by_subject
from core.lifecycle.distill.reader_queue import QueuedEpisode
from core.memory.write import Draft, content_hash, insert_memories, write_new_vectors
from core.score.decay import STANDARD
from core.talk.statement_types import is_pursuit
from core.talk.style.earlier_statements import content_words, find_pursued
from core.talk.vocabulary import tokenize_talk
from core.types.belief import ACTED_ON
from core.types.replies import StoreReply
from core.types.talk import Statement, StatementType
from core.types.values import Kind, Status
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import REFUSED

NO_SPAN, ERASED, REFUSED_BEFORE, WAITS, FAILED = "no_span", "erased", "refused", "waits", "failed"
"""Why a statement is left out (`skipped`)."""

_PASSING = "volatile"
_CHANGING = frozenset(StatementType) - {
    StatementType.NONE, StatementType.EVENT, StatementType.PLAN, StatementType.OPINION,
}  # fmt: skip
"""What one says of a state, which another state ends: a second happening or plan ends no first one."""

_TYPES_OF = "SELECT DISTINCT s.type FROM statements s WHERE s.memory_id IN (SELECT value FROM json_each(?))"
_TEXTS_OF = "SELECT text FROM memories WHERE id IN (SELECT value FROM json_each(?))"
_TURNED_DOWN = (
    "SELECT 1 FROM memories WHERE content_hash = :text AND space_id = :space AND kind = 'fact' "
    "AND coalesce(status_reason, '') <> :unsaid AND (status = 'deleted' "
    "OR (status = 'archived' AND status_reason IN (SELECT value FROM json_each(:refused)))) LIMIT 1"
)
# What a model made of the same text stands: the reader's word on it is not its.
_READ_BEFORE = (
    "SELECT s.episode_id, s.memory_id FROM json_each(?) w CROSS JOIN statements s "
    "ON s.episode_id = json_extract(w.value, '$[0]') LEFT JOIN readings r ON r.memory_id = s.episode_id "
    "WHERE s.made_by = 'reader' OR hex(r.content_hash) <> json_extract(w.value, '$[1]') ORDER BY w.key, 2"
)
_STATED = "SELECT DISTINCT s.episode_id FROM json_each(?) w CROSS JOIN statements s ON s.episode_id = w.value"
_NOTED = "SELECT r.memory_id FROM json_each(?) w CROSS JOIN readings r ON r.memory_id = w.value"
_OF_PLACE = (
    "SELECT s.memory_id, s.start_at, s.end_at, m.text FROM statements s JOIN memories m ON m.id = s.memory_id "
    "WHERE s.episode_id = ? AND s.about = ? COLLATE NOCASE AND s.made_by <> ? ORDER BY s.start_at, 1"
)
_MOST_PURSUITS = 300
_PURSUED = (
    "SELECT DISTINCT s.memory_id, m.text FROM statements s JOIN memories m ON m.id = s.memory_id "
    "WHERE s.about = ? COLLATE NOCASE AND m.space_id = ? AND m.import_id = ? AND m.status = 'active' "
    "ORDER BY m.n DESC LIMIT ?"
)
_SAID_ALREADY = (
    "SELECT s.memory_id FROM statements s JOIN memories m ON m.id = s.memory_id "
    "WHERE s.episode_id = ? AND m.content_hash = ? LIMIT 1"
)


@dataclass(frozen=True, slots=True, eq=False)
class TalkStatement:
    """A statement with its episode.

    Attributes:
        vector: of its text, (dims,); None where the embedder is away.
        made_by: `reader` or `model`.
    """

    statement: Statement
    episode: QueuedEpisode
    vector: NDArray[np.float32] | None = None
    made_by: str = "reader"


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """What became of a statement.

    Attributes:
        memory_id: the memory that says it; "" where it was left out.
        operation: what the gate made of it.
        skipped: why it was left out; "" where it was not.
        ids: memories that changed.
    """

    memory_id: str = ""
    operation: str = ""
    skipped: str = ""
    ids: tuple[str, ...] = ()


class AlreadyStandsError(UserError):
    """The gate found that it stands already: what was begun is taken back."""

    def __init__(self, memory_id: str) -> None:
        super().__init__(Code.INVALID_INPUT, "It stands already.")
        self.memory_id = memory_id


class _StandsBesideError(UserError):
    """The gate would unite it with another text, or end one of the two by wording alone: both stand instead.

    United it would not go with its episode any more. Of what wording and meaning took for a change between happenings
    and plans of the three LoCoMo conversations nothing was one (two parades, two shows): only claims end those.
    """

    def __init__(self) -> None:
        super().__init__(Code.INVALID_INPUT, "Both stand.")


def reason_to_skip(rows: Rows, statement: Statement, episode: QueuedEpisode) -> str:
    """Why a statement may not become a memory; "" where it may.

    Args:
        episode: the one it is of.
    """
    begin, end = statement.span
    if statement.type is StatementType.NONE or not (0 <= begin < end <= len(episode.text) and statement.text.strip()):
        return NO_SPAN
    if erased_texts(rows, [statement.text]):
        return ERASED
    asked = {"text": content_hash(statement.text), "space": episode.space_id}
    if rows.one(_TURNED_DOWN, {**asked, "unsaid": SOURCE_GONE, "refused": to_json(REFUSED)}) is not None:
        return REFUSED_BEFORE
    if waiting_twin(rows, [statement.text], Kind.FACT, episode.space_id, episode.client_id) is not None:
        return WAITS
    return ""


def find_twin(rows: Rows, statement: Statement, episode: QueuedEpisode) -> str | None:
    """The memory that says just that: made of this episode before, or standing in its space."""
    said = rows.value(_SAID_ALREADY, (episode.id, content_hash(statement.text)))
    return str(said) if said is not None else find_active_duplicate(rows, [statement.text], Kind.FACT, episode.space_id)


def _find_same_place(rows: Rows, one: TalkStatement) -> str | None:
    """What the other of reader and model made of the same words about the same: a model's wording is no second one."""
    begin, end = one.statement.span
    content = content_words(one.statement.text)
    for memory_id, start, stop, text in rows.all(_OF_PLACE, (one.episode.id, one.statement.about, one.made_by)):
        other = content_words(str(text))
        is_same = _strip_punctuation(one.episode.text[start:stop]) == _strip_punctuation(one.episode.text[begin:end])
        if start < end and begin < stop and (is_same or content <= other or other <= content):
            return str(memory_id)
    return None


def _find_pursuit(rows: Rows, one: TalkStatement) -> str | None:
    """What stands of the same import and says already what its person is after: said thrice it is one wish."""
    statement, episode = one.statement, one.episode
    if episode.import_id is None or not is_pursuit(tokenize_talk(statement.text)):
        return None
    asked = (statement.about, episode.space_id, episode.import_id, _MOST_PURSUITS)
    return find_pursued(statement.text, ((str(known), str(text)) for known, text in rows.all(_PURSUED, asked)))


def _strip_punctuation(text: str) -> str:
    return text.strip(" \t\r\n.!,;:")


def withdraw_others(
    tx: Tx, make_id: Callable[[], str], episodes: Sequence[QueuedEpisode], kept: Mapping[str, Collection[str]]
) -> tuple[str, ...]:
    """Take from episodes that were read again what they do not say any more.

    Args:
        make_id: makes an id.
        kept: the memories that each says.

    Returns:
        Memories that changed.
    """
    asked = to_json([[one.id, one.content_hash.hex().upper()] for one in episodes])
    others = [(str(of), str(said)) for of, said in tx.all(_READ_BEFORE, (asked,)) if said not in kept.get(of, ())]
    for episode_id, memory_id in others:
        unlink_episodes(tx, memory_id, [episode_id])
        sync_statement(tx, memory_id)
    ids = tuple(dict.fromkeys(memory_id for _, memory_id in others))
    if ids:
        sync_claims(tx, make_id, ids)
    return ids


def find_stated(rows: Rows, episodes: Sequence[QueuedEpisode]) -> frozenset[str]:
    """The episodes of which anything was made."""
    return frozenset(str(row[0]) for row in rows.all(_STATED, (to_json([one.id for one in episodes]),)))


def mark_read(tx: Tx, episodes: Sequence[QueuedEpisode], version: str, small: Collection[str]) -> None:
    """Note that episodes were read; part of the run's undo step.

    Args:
        version: of the reader.
        small: those that are small talk.
    """
    noted = {str(row[0]) for row in tx.all(_NOTED, (to_json([one.id for one in episodes]),))}
    rows: list[Mapping[str, object]] = []
    for one in episodes:
        row = {"version": version, "content_hash": one.content_hash, "small_talk": int(one.id in small)}
        if one.id in noted:
            tx.update("readings", {"memory_id": one.id}, {**row, "at": tx.now_ms})
        else:
            rows.append({"memory_id": one.id, **row, "at": tx.now_ms})
    tx.insert_many("readings", rows)


@dataclass
class StatementWriter:
    """Carries statements out within a transaction; each step whole or not at all.

    Attributes:
        transitions: the state changes of one step.
    """

    tx: Tx
    store_service: StoreService
    transitions: Transitions

    def __post_init__(self) -> None:
        readers = self.store_service.readers
        # Its claims tell how long a statement lasts, and then they are written: they are read once.
        once = replace(readers, extract_stored=lru_cache(maxsize=1)(readers.stored))
        self.store_service = replace(self.store_service, readers=once)

    def take(self, one: TalkStatement) -> StatementOutcome:
        """Let one statement in, as far as the gate lets it.

        Args:
            one: the statement; its episode stands as it was read.

        Raises:
            LociError: it cannot be written; nothing of it was.
        """
        skipped = reason_to_skip(self.tx, one.statement, one.episode)
        if skipped:
            return StatementOutcome(skipped=skipped)
        known = (
            find_twin(self.tx, one.statement, one.episode)
            or _find_same_place(self.tx, one)
            or _find_pursuit(self.tx, one)
        )
        if known is not None:
            return self._corroborate_statement(known, one)
        lines = self.transitions.verb.lines
        try:
            with self.tx.attempt():
                return self._let_in(one)
        except AlreadyStandsError as stands:
            self.transitions.verb.forget_lines(lines)
            return self._corroborate_statement(stands.memory_id, one)
        except _StandsBesideError:
            self.transitions.verb.forget_lines(lines)
            return self._let_stand(one)
        except LociError:
            self.transitions.verb.forget_lines(lines)
            raise

    def _corroborate_statement(self, known: str, one: TalkStatement) -> StatementOutcome:
        """What stands is said again: its episode is one more source, unless it is the same one or may echo it."""
        is_new = self.tx.row("statements", {"memory_id": known, "episode_id": one.episode.id}) is None
        self._note_statement(known, one, "NOOP")
        if is_new and not was_disclosed(self.tx, one.episode.client_id, known):
            add_corroboration(self.tx, known, one.episode.lineage, one.episode.source)
        return StatementOutcome(known, "NOOP", ids=(known,) if is_new else ())

    def _let_in(self, one: TalkStatement) -> StatementOutcome:
        memory_id = self._write_statement(one)
        reply = compare_by_subject(self.store_service).admit_memory(self.transitions, memory_id)
        if reply.deduplicated:
            raise AlreadyStandsError(reply.memory_id)
        if reply.operation == "MERGE" or self._is_ended_by_wording(one, memory_id, reply):
            raise _StandsBesideError
        self._note_statement(memory_id, one, reply.operation)
        ids = dict.fromkeys([memory_id, *self.transitions.touched])
        return StatementOutcome(memory_id, reply.operation, ids=tuple(ids))

    def _is_ended_by_wording(self, one: TalkStatement, memory_id: str, reply: StoreReply) -> bool:
        """Whether the gate ended one of two that wording may not end; what their claims end is ended all the same."""
        row = self.tx.row("memories", {"id": memory_id})
        is_ended = row is not None and row["status"] == Status.SUPERSEDED
        if not reply.superseded and not is_ended:
            return False
        ended = self.tx.all(_TYPES_OF, (to_json(reply.superseded),))
        types = {one.statement.type, *(StatementType(found) for (found,) in ended)}
        if types == {StatementType.PREFERENCE} and not self._shares_words(one.statement, reply.superseded):
            return True  # who is into art likes music still
        return is_ended or not types <= _CHANGING or reply.classification.confidence < ACTED_ON

    def _shares_words(self, statement: Statement, ended: Collection[str]) -> bool:
        """Whether a statement speaks of anything that each of those it ends speaks of, besides its person."""
        own = content_words(statement.text) - content_words(statement.about)
        texts = self.tx.all(_TEXTS_OF, (to_json(list(ended)),))
        return all(not own.isdisjoint(content_words(str(text))) for (text,) in texts)

    def _let_stand(self, one: TalkStatement) -> StatementOutcome:
        """Both stand; only what its claims say is held against what stands."""
        transitions = replace(self.transitions, weights={}, opened=[], touched=[])
        with self.tx.attempt():
            memory_id = self._write_statement(one)
            transitions.activate(memory_id)
            reply = judge_by_claims(self.store_service, transitions, memory_id)
            operation = "COEXIST" if reply.operation in ("ADD", "NOOP") else reply.operation
            self._note_statement(memory_id, one, operation)
        return StatementOutcome(memory_id, operation, ids=tuple(dict.fromkeys([memory_id, *transitions.touched])))

    def _note_statement(self, memory_id: str, one: TalkStatement, operation: str) -> None:
        statement, key = one.statement, {"memory_id": memory_id, "episode_id": one.episode.id}
        row: Mapping[str, object] = {
            "start_at": statement.span[0],
            "end_at": statement.span[1],
            "about": statement.about,
            "type": statement.type.value,
            "lasting": int(statement.is_lasting),
            "confidence": min(1.0, max(0.0, statement.confidence)),
        }
        noted = self.tx.row("statements", key)
        if noted is not None and noted["made_by"] != one.made_by:
            return  # who came first has noted where it stands
        if not self.tx.update("statements", key, row):
            self.tx.insert("statements", {**key, **row, "operation": operation, "made_by": one.made_by})

    def _write_statement(self, one: TalkStatement) -> str:
        """The row as one that waits, with all that its episode gives it."""
        tx, draft, episode = self.tx, self._draft_statement(one), one.episode
        labels = insert_memories(tx, [draft])
        vectors = None if one.vector is None else one.vector.reshape(1, -1)
        write_new_vectors(tx, labels, vectors, self.transitions.space, self.transitions.stored)
        add_source(tx, draft.id, episode.lineage, episode.source)
        link = {"derived_id": draft.id, "source_id": episode.id, "space_id": episode.space_id}
        tx.insert("derivations", {**link, "recorded_at": tx.now_ms})
        refresh_trust(tx, draft.id)
        return draft.id

    def _draft_statement(self, one: TalkStatement) -> Draft:
        statement, episode = one.statement, one.episode
        times = (None, None) if episode.said is None else (self.tx.now_ms, episode.said.ms)
        read = read_claims(self.store_service.readers.stored, statement.text, (), times)
        level = classify_permanence(statement.text, read, Kind.FACT)
        return Draft(
            id=self.store_service.make_id(),
            text=statement.text,
            kind=Kind.FACT,
            status=Status.QUARANTINED,
            space_id=episode.space_id,
            source=episode.source,
            role=episode.role,
            author=episode.author or None,
            lineage=episode.lineage.key,
            recorded_at=self.tx.now_ms,
            trust=episode.trust,  # at most; worked out when its source is written
            last_confirmed_at=self.tx.now_ms,
            client_id=episode.client_id,
            category=episode.category,
            session=episode.lineage.session,
            ref=episode.ref,
            import_id=episode.import_id,
            origin={"by": one.made_by, "job": "distill"},
            occurred=episode.said,
            permanence=_PASSING if level == STANDARD and not statement.is_lasting else level,
        )

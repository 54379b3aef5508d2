"""What is kept of a conversation: its messages word for word, and what the person says in them as facts (E17.5.1).

Messages are episodes of one conversation a session; a sentence of the person's from which the rules read a claim, or
that states something of the person, is a fact besides, and passes the gate like any other. A message of the role `user`
is the person's word through a client with the grant `speak_for_user`; else it is that client's account of it. A summary
(E13) is kept as the statements it is made of. A client that may only propose leaves its facts for review, and no
messages: they would be an item of review each. One that may not read is told of each piece the same, whatever is known
or was erased (`core.intake`).

What says nothing new is left out: contexts that come back inside a message are cut out of it (design section 4). A
statement repeats another by Jaccard of words, at least 0.6 (E13, X40), and must also say no word that the other lacks,
function words aside, in the same order, with the same numbers and denials: words in common alone would take "tea in the
morning" for "coffee in the morning".

Must not do: ask a model, trim or shorten a text, or make a fact of what an assistant or a tool said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.sentence import claim_word_lists
from core.config.options import SessionOptions
from core.errors import Code, UserError
from core.intake.claims import TextReaders
from core.intake.store.requests import (
    CheckedRequest,
    StoreContext,
    check_request,
    check_room,
    may_not_read,
    reply_for_skipped,
)
from core.intake.store.store import StoreService
from core.intake.transaction.admission import erased_texts, lift_tombstones, was_disclosed
from core.intake.transaction.question_quota import check_waiting
from core.intake.transaction.unit_of_work import Verb
from core.memory.write import Stored, content_hash
from core.text.sentences import extract_propositions, split_sentences
from core.text.terms import embedding_text, fold_case, stop_words, word_overlap
from core.types.clients import ClientRecord
from core.types.replies import StoreReply
from core.types.requests import StoreRequest
from core.types.sessions import Captured, CaptureRequest, Message, SummaryRequest
from core.types.values import PERSON_SOURCES, Actor, Grant, Kind, Source
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_OPEN, _CLOSE = "<memory ", "</memory>"


def strip_contexts(text: str, frame: frozenset[str]) -> str:
    """A message without the contexts in it.

    Args:
        frame: the lines that stand around the memories of a context.

    Returns:
        The text itself where there is no context in it; else what is left, "" where nothing is.
    """
    parts, at = [], 0
    while (start := text.find(_OPEN, at)) >= 0 and (end := text.find(_CLOSE, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(_CLOSE)
    if not at and not any(line in text for line in frame if line.startswith("# ")):
        return text
    parts.append(text[at:])
    lines = "".join(parts).split("\n")
    return "\n".join(line for line in lines if line.strip() not in frame).strip()


def is_echo(rows: Rows, client_id: str | None, text: str, waiting: frozenset[str]) -> bool:
    """Whether a text is, word for word, one that a client was given.

    Args:
        client_id: the client; None for the owner, who is never an echo.
        waiting: memories that were given to it and are not written down yet.

    Returns:
        Whether it came from Loci.
    """
    if client_id is None:
        return False
    same = rows.all("SELECT id FROM memories WHERE content_hash = ? ORDER BY n LIMIT 64", (content_hash(text),))
    return any(was_disclosed(rows, client_id, str(row[0]), waiting) for row in same)


_WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")


def compared_words(text: str) -> tuple[str, ...]:
    """The words of a statement as they are compared: small letters, marks off.

    Returns:
        Words in their order.
    """
    return tuple(fold_case(match.group()).replace("’", "'") for match in _WORD.finditer(text))


def is_repetition(new: tuple[str, ...], old: tuple[str, ...], least: float) -> bool:
    """Whether a statement says nothing that another has not said.

    Args:
        old: those of the other.
        least: the Jaccard similarity from which they are compared at all.

    Returns:
        False wherever that is not sure.
    """
    if word_overlap(new, old) < least:
        return False
    denials = claim_word_lists().sets["neg"]
    if [word for word in new if word in denials] != [word for word in old if word in denials]:
        return False
    idle = stop_words() - denials
    left = iter(old)
    return all(word in left for word in new if word not in idle)  # each found behind the one before


MOST_BYTES = 128 * 1024
"""Design section 8: so much may be brought in one call; each message is split at sentence bounds."""
MOST_FACTS = 32
"""Facts of one call; the lifecycle reads the messages again with a model, where there is one."""
MOST_STATEMENTS = 512
SUMMARY_CATEGORY = "context"
_FACTS, _SUMMARY, _TOOL = 0.6, 0.6, 0.4  # importance: Table A of engram-3 with X9, E13, E17b
_COMPARED = 2000
_WAITS = frozenset({"PROPOSED", "QUARANTINE"})
_NOT_YET = _WAITS | {"NOOP"}
_RECENT = (
    "SELECT m.id, m.text FROM memories m WHERE m.space_id = ? AND m.client_id IS ? AND m.kind = 'episode' "
    "AND m.category = ? AND m.scope_channel = ? AND m.status IN ('active', 'quarantined') AND m.recorded_at >= ? "
    "ORDER BY m.n DESC LIMIT ?"
)
_SAME = (
    "SELECT m.id FROM memories m WHERE m.content_hash = ? AND m.space_id = ? AND m.client_id IS ? "
    "AND m.kind = 'episode' AND m.category = ? AND m.scope_channel = ? AND m.status IN ('active', 'quarantined') "
    "ORDER BY m.n LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class CapturedPiece:
    """One text to be kept.

    Attributes:
        checked: the request, ready for the store path.
        is_fact: whether it is a fact beside the messages.
    """

    checked: CheckedRequest
    is_fact: bool = False


@dataclass(frozen=True, slots=True)
class PreparedCapture:
    """The checked texts of one capture; nothing is written yet.

    Attributes:
        session: the conversation.
        pieces: what is to be kept, messages before facts.
        skipped: what was empty, or came from Loci itself.
        left_out: messages that a client which may only propose cannot have kept.
        extracted: statements that were found.
        summary: whether the pieces are statements of a summary.
    """

    session: str
    pieces: tuple[CapturedPiece, ...] = ()
    skipped: int = 0
    left_out: int = 0
    extracted: int = 0
    summary: bool = False

    @property
    def texts(self) -> list[str]:
        """What is embedded: every part of every piece, in their order."""
        return [
            embedding_text(part, author=piece.checked.request.author)
            for piece in self.pieces
            for part in piece.checked.texts
        ]


@dataclass(frozen=True, slots=True)
class CaptureContext:
    """Who captures, and with what the texts are stored.

    Attributes:
        store_service: the store path.
        stored: told sequence, labels and vectors of new rows, for the index.
        handed: memories given to that client that are not written down yet.
        vectors: one unit row for each of `PreparedCapture.texts`; None where they are made later.
        options: of sessions.
        waits: so many of the client's questions may wait for the person.
    """

    actor: Actor
    client: ClientRecord | None
    store_service: StoreService
    stored: Stored
    handed: frozenset[str]
    vectors: NDArray[np.float32] | None
    options: SessionOptions
    waits: int


def prepare_messages(
    request: CaptureRequest,
    client: ClientRecord | None,
    readers: TextReaders,
    now_ms: int,
    frame: frozenset[str],
    channel: str = "",
) -> PreparedCapture:
    """Check messages and find the facts in what the person says.

    Args:
        client: who brings them; None for the owner.
        readers: read claims, and find statements, by rules.
        frame: lines around the memories of a context (`core.sessions.capture.strip_contexts`).
        channel: whom the client speaks for (`core.types.clients`).

    Returns:
        What is to be kept.

    Raises:
        UserError: ACCESS_DENIED without `write` or `propose`; TEXT_TOO_LARGE, INVALID_INPUT for a text.
    """
    keeps = _keeps_messages(client)
    if client is not None:  # the person's own are kept whole, as one step: only what comes over a socket is limited
        _check_size([message.text for message in request.messages])
    messages = [
        replace(one, text=strip_contexts(one.text, frame), source=_source_of_message(one, client))
        for one in request.messages
    ]
    with_text = [one for one in messages if one.text.strip()]
    episodes = (
        [CapturedPiece(_check_request(_make_episode_request(request, one), client, channel)) for one in with_text]
        if keeps
        else []
    )
    found = [
        CapturedPiece(_check_request(_make_fact_request(request, one, text), client, channel), is_fact=True)
        for one, text in _find_stated_sentences(with_text, readers, now_ms)[:MOST_FACTS]
    ]
    return PreparedCapture(
        request.session,
        (*episodes, *found),
        skipped=len(messages) - len(with_text),
        left_out=0 if keeps else len(with_text),
        extracted=len(found),
    )


def prepare_summary(
    request: SummaryRequest, client: ClientRecord | None, frame: frozenset[str], channel: str = ""
) -> PreparedCapture:
    """Cut a summary into statements (E13, step 1 without a model).

    Args:
        client: who brings it; None for the owner.
        frame: as in `prepare_messages`.
        channel: likewise.

    Returns:
        What is to be kept.

    Raises:
        UserError: ACCESS_DENIED without `write`; TEXT_TOO_LARGE, INVALID_INPUT for the text.
    """
    if not _keeps_messages(client):
        raise UserError(
            Code.ACCESS_DENIED, "A summary is kept only with the grant write; ask the person for it, or propose facts."
        )
    _check_size([request.text])
    found = list(dict.fromkeys(one.full_text for one in extract_propositions(strip_contexts(request.text, frame))))
    if len(found) > MOST_STATEMENTS:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The summary makes more than {MOST_STATEMENTS} statements; send it in parts."
        )
    pieces = [
        CapturedPiece(
            _check_request(
                StoreRequest(
                    text,
                    Kind.EPISODE,
                    category=SUMMARY_CATEGORY,
                    importance=_SUMMARY,
                    space=request.space,
                    session=request.session,
                    source=Source.INFERENCE,
                ),
                client,
                channel,
            )
        )
        for text in found
    ]
    return PreparedCapture(request.session, tuple(pieces), extracted=len(found), summary=True)


def _source_of_message(message: Message, client: ClientRecord | None) -> Source:
    """By what way a message came: what a client with `speak_for_user` brings as the person's is what they typed there.

    Without the grant it is the client's own account of what the person said in passing.
    """
    speaks = client is not None and Grant.SPEAK_FOR_USER.value in client.grants
    return Source.USER_EXPLICIT if speaks and message.source is Source.USER_IMPLICIT else message.source


def _keeps_messages(client: ClientRecord | None) -> bool:
    if client is None or Grant.WRITE.value in client.grants:
        return True
    if Grant.PROPOSE.value in client.grants:
        return False
    raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")


def _check_size(texts: Sequence[str]) -> None:
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if size > MOST_BYTES:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The texts have {size} bytes; one call takes {MOST_BYTES}, so send them in parts."
        )


def _check_request(request: StoreRequest, client: ClientRecord | None, channel: str) -> CheckedRequest:
    return check_request(replace(request, channel=channel), client, MOST_BYTES)


def _make_episode_request(request: CaptureRequest, message: Message) -> StoreRequest:
    return StoreRequest(
        message.text,
        Kind.EPISODE,
        importance=_TOOL if message.source is Source.TOOL_OUTPUT else None,
        space=request.space,
        session=request.session,
        occurred=message.occurred,
        source=message.source,
        ref=message.ref,
        author=message.author,
    )


def _make_fact_request(request: CaptureRequest, message: Message, text: str) -> StoreRequest:
    return StoreRequest(
        text,
        Kind.FACT,
        importance=_FACTS,
        space=request.space,
        session=request.session,
        occurred=message.occurred,
        source=message.source,
    )


def _find_stated_sentences(messages: Sequence[Message], readers: TextReaders, now_ms: int) -> list[tuple[Message, str]]:
    """The person's sentences that state something, each once; read in their surroundings, kept whole."""
    found: dict[str, Message] = {}
    for message in messages:
        if message.source not in PERSON_SOURCES:
            continue
        said_ms = now_ms if message.occurred is None else message.occurred.ms
        drafts = readers.extract(message.text, now_ms=now_ms, said_ms=said_ms)
        spans = [*((draft.start, draft.end) for draft in drafts), *readers.statements(message.text)]
        for start, end in split_sentences(message.text):
            if any(begin < end and start < stop for begin, stop in spans):
                found.setdefault(message.text[start:end].strip(), message)
    return [(message, text) for text, message in found.items() if text]


# ---- writing


def write_capture(tx: Tx, verb: Verb, prepared: PreparedCapture, by: CaptureContext) -> Captured:
    """Write a prepared capture within one verb.

    Args:
        prepared: what is to be kept.
        by: who brings it.

    Returns:
        What became of it, as its bringer may know it. The verb's audit line counts what was kept indeed. To who may
        not read the session's conversation is made even where nothing of it is kept: its id is told, and stays.

    Raises:
        UserError: ACCESS_DENIED for a space out of reach.
    """
    captured = Captured(skipped=prepared.skipped, left_out=prepared.left_out, extracted=prepared.extracted)
    untrue: Counter[str] = Counter()
    if prepared.pieces:
        space_id = by.store_service.space_of(tx, prepared.pieces[0].checked.request, by.client)
        kept = _choose_pieces(tx, verb, prepared, by, space_id)
        writing = _Writing(tx, verb, by, space_id, prepared)
        captured, untrue = writing.write_all(kept, captured), writing.untrue
    verb.detail.clear()  # of the last piece
    verb.object = ""
    verb.note_audit(
        captured.conversation,
        episodes=captured.episodes - untrue["episodes"],
        facts=captured.stored - untrue["episodes" if prepared.summary else "facts"],
        proposed=captured.proposed - untrue["proposed"],
        skipped=captured.skipped + untrue.total(),
    )
    return captured


def _choose_pieces(tx: Tx, verb: Verb, prepared: PreparedCapture, by: CaptureContext, space_id: str) -> list[bool]:
    """Which pieces are to be kept: not what was erased, is an echo, or was said in a summary just before."""
    texts = [["".join(piece.checked.texts), *piece.checked.texts] for piece in prepared.pieces]
    named = {text for one in texts for text in one}
    erased: set[str] = set()
    if by.actor.is_owner:
        lift_tombstones(tx, named)
    else:
        erased = erased_texts(tx, named)
    client_id = by.actor.client_id
    known = _Summary(tx, verb, by, space_id) if prepared.summary else None
    return [
        erased.isdisjoint(one)
        and not (_may_echo(piece) and is_echo(tx, client_id, one[0], by.handed))
        and not (known is not None and known.add_if_new(one[0]))
        for piece, one in zip(prepared.pieces, texts, strict=True)
    ]


def _may_echo(piece: CapturedPiece) -> bool:
    return not piece.is_fact and piece.checked.request.source not in PERSON_SOURCES


class _Summary:
    """Statements of summaries that were kept lately, in one space, of one client, channel and category (X40)."""

    def __init__(self, tx: Tx, verb: Verb, by: CaptureContext, space_id: str) -> None:
        self._tx, self._verb, self._by, self._space = tx, verb, by, space_id
        since = tx.now_ms - by.options.repeat_within_s * 1000
        rows = tx.all(_RECENT, (space_id, by.actor.client_id, SUMMARY_CATEGORY, by.actor.channel, since, _COMPARED))
        self._recent = [(str(row[0]), compared_words(str(row[1]))) for row in rows]

    def add_if_new(self, text: str) -> bool:
        """Whether a statement is there already; a new one is there from here on."""
        who = self._by.actor
        wanted = (content_hash(text), self._space, who.client_id, SUMMARY_CATEGORY, who.channel)
        same = self._tx.value(_SAME, wanted)
        if same is not None:
            self._verb.log_consolidation("NOOP", str(same), None, 1.0, "rules", 1.0)
            return True
        new, least = compared_words(text), self._by.options.repeat_from
        for memory_id, old in self._recent:
            if is_repetition(new, old, least):
                if memory_id:
                    self._verb.log_consolidation("NOOP", memory_id, None, None, "rules", word_overlap(new, old))
                return True
        self._recent.append(("", new))
        return False


class _Writing:
    """Hands pieces to the store path and counts.

    Attributes:
        untrue: how many of its counts are of pieces that were not kept, where that may not be told.
    """

    def __init__(self, tx: Tx, verb: Verb, by: CaptureContext, space_id: str, prepared: PreparedCapture) -> None:
        self._tx, self._verb, self._by, self._space, self._prepared = tx, verb, by, space_id, prepared
        self._is_blind = may_not_read(by.client)
        self.untrue: Counter[str] = Counter()

    def write_all(self, kept: Sequence[bool], captured: Captured) -> Captured:
        """Store every piece that is to be kept."""
        talk, place = "", 0
        episodes, held_back, again, at = 0, 0, 0, 0
        ids: list[str] = []
        facts: list[StoreReply] = []
        for piece, is_kept in zip(self._prepared.pieces, kept, strict=True):
            begin, at = at, at + len(piece.checked.texts)
            checked = piece.checked
            is_message = not piece.is_fact and not self._prepared.summary
            if is_message and not talk and (is_kept or self._is_blind):
                talk, place = self._next_place_in_conversation(checked)
            if is_message and is_kept:
                checked, place = replace(checked, talk=(talk, place)), place + 1
            reply = self._write_piece(piece, checked, begin, at) if is_kept else self._reply_for_unkept(piece)
            if reply is None:
                again += 1
                continue
            ids.append(reply.memory_id)
            if piece.is_fact:
                facts.append(reply)
            elif reply.operation in _WAITS:
                held_back += 1  # it reads like an instruction
            elif reply.operation == "NOOP":
                again += 1  # and waits already
            else:
                episodes += 1
        waits = sum(reply.operation in _WAITS for reply in facts)
        known = sum(reply.operation == "NOOP" for reply in facts)
        return replace(
            captured,
            conversation=talk,
            episodes=episodes,
            skipped=captured.skipped + known + again,
            stored=episodes if self._prepared.summary else len(facts) - waits - known,
            proposed=waits + held_back,
            ids=tuple(dict.fromkeys(ids)),
            facts=tuple(one.memory_id for one in facts if one.operation not in _NOT_YET),
        )

    def _reply_for_unkept(self, piece: CapturedPiece) -> StoreReply | None:
        """The answer to a piece that is not to be kept; None where that may be told."""
        reply = self._attempt_store(
            piece, lambda: reply_for_skipped(self._by.store_service.make_id, piece.checked, self._by.client)
        )
        if reply is not None:
            self._count_untrue(piece, reply)
        return reply

    def _count_untrue(self, piece: CapturedPiece, reply: StoreReply) -> None:
        kept_as = "facts" if piece.is_fact else "episodes"
        self.untrue["proposed" if reply.operation in _WAITS else kept_as] += 1

    def _write_piece(self, piece: CapturedPiece, checked: CheckedRequest, begin: int, end: int) -> StoreReply | None:
        """One piece that is to be kept; None for one that would have to wait behind as many as may."""
        by = self._by
        vectors = None if by.vectors is None else by.vectors[begin:end]
        arriving = StoreContext(checked, by.actor, by.client, self._space, vectors, by.stored, by.handed)
        reply = self._attempt_store(piece, lambda: by.store_service.store_text(self._tx, self._verb, arriving))
        is_reported = self._is_blind and reply is not None and reply.operation != "NOOP"
        if is_reported and reply is not None and self._tx.row("memories", {"id": reply.memory_id}) is None:
            self._count_untrue(piece, reply)  # it stands already: the answer is as if it were new
        return reply

    def _attempt_store(self, piece: CapturedPiece, do: Callable[[], StoreReply | None]) -> StoreReply | None:
        """Do it, unless more would wait than the person wants to see; who may not read is not told what would."""
        by, lines = self._by, self._verb.lines
        may_ask = piece.is_fact or piece.checked.waits
        try:
            with self._tx.attempt():
                if may_ask:
                    check_room(self._tx, by.actor, by.client, by.waits, self._tx.now_ms)
                reply = do()
                if reply is not None and (reply.conflict is not None or (may_ask and self._is_blind)):
                    check_waiting(self._tx, by.actor, by.waits, self._tx.now_ms)
                return reply
        except UserError as error:
            if error.code is not Code.RATE_LIMITED:
                raise
            self._verb.forget_lines(lines)
            return None

    def _next_place_in_conversation(self, checked: CheckedRequest) -> tuple[str, int]:
        """The session's conversation, and the next place in it."""
        tx, who = self._tx, self._by.actor.client_id
        named = to_json([self._by.actor.channel, self._prepared.session])
        identity = f"live:{who or self._by.actor.kind}:{self._space}:{named}"
        found = tx.value("SELECT id FROM conversations WHERE identity = ?", (identity,))
        if found is not None:
            next_place = tx.value(
                "SELECT coalesce(max(position) + 1, 0) FROM memories WHERE conversation_id = ?", (found,)
            )
            return str(found), int(next_place)
        occurred = checked.request.occurred
        row = {
            "id": self._by.store_service.make_id(),
            "identity": identity,
            "title": None,
            "space_id": self._space,
            "client_id": who,
            "started_at": tx.now_ms if occurred is None else occurred.ms,
            "recorded_at": tx.now_ms,
            "extra": to_json({}),
        }
        tx.insert("conversations", row)
        return str(row["id"]), 0

"""A conversation: its turns, and how one of them is asked, answered piece by piece, stopped and kept.

Must not do: know a widget, or keep a word anywhere before the person says so.
"""

from __future__ import annotations

import uuid
from asyncio import CancelledError
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from core.errors import Code, LociError
from core.types.sessions import TIERS, AskQuery, Captured, CaptureRequest, Exchange, Message, PreparedAnswer
from core.types.values import GLOBAL_SPACE, HOME_SPACE, OWNER_ACTOR, Source, Status, When
from core.types.views import MemoryRow
from ui.bridge import cited_sources, make_query, make_write, problem_of, remove_citations
from ui.context import Context
from ui.streams import Stream
from ui.strings import ask_strings

_AWAY = (Code.EMBEDDER_UNAVAILABLE, Code.MODEL_SERVER_FAILED)


class TurnState(StrEnum):
    """How far a turn is."""

    SEARCHING = "searching"
    WAITING = "waiting"
    ANSWERING = "answering"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    MEMORIES = "memories"


_OPEN = frozenset((TurnState.SEARCHING, TurnState.WAITING, TurnState.ANSWERING))


@dataclass(eq=False)
class AskTurn:
    """A question and what came of it.

    Attributes:
        question: as typed.
        query: what was asked of the engine.
        asked_at: epoch ms; `ended_at` likewise, 0 while it is open.
        state: how far it is.
        prepared: what the answer is made from; None until that is known.
        answer: the model's words so far.
        problem: what went wrong, a sentence; "" for nothing.
        kept: ids of the memories that hold it; empty while it is not kept.
    """

    question: str
    query: AskQuery
    asked_at: int
    state: TurnState = TurnState.SEARCHING
    prepared: PreparedAnswer | None = None
    answer: str = ""
    problem: str = ""
    ended_at: int = 0
    kept: tuple[str, ...] = ()
    number: int = field(default=0)

    @property
    def is_open(self) -> bool:
        """Whether it still waits for something."""
        return self.state in _OPEN

    @property
    def sources(self) -> frozenset[int]:
        """The numbers of its sources."""
        return frozenset(() if self.prepared is None else (one.number for one in self.prepared.sources))

    @property
    def cited(self) -> tuple[int, ...]:
        """The sources that the answer cites, in the order in which they come first."""
        return cited_sources(self.answer, self.sources)

    @property
    def tier(self) -> str:
        """The most sensitive of what the answer rests on: what it was given, and what was said before it."""
        given = () if self.prepared is None else tuple(one.tier for one in self.prepared.sources)
        before = tuple(one.tier for one in self.query.said)
        return max((*given, *before), key=TIERS.index, default=TIERS[0])

    @property
    def is_sealed(self) -> bool:
        """Whether the answer rests on memories that are more than ordinarily sensitive."""
        return self.tier != TIERS[0]

    def memory_of(self, number: int) -> str:
        """The id of the memory that a source is; "" for none."""
        sources = () if self.prepared is None else self.prepared.sources
        return next((one.memory.id for one in sources if one.number == number), "")


@dataclass(frozen=True, slots=True)
class AllowedScope:
    """What the person chose before asking.

    Attributes:
        model: who answers; "" for nobody.
        space: name of the space that may be used; "" for all.
        tier: the most sensitive that may be given.
    """

    model: str = ""
    space: str = ""
    tier: str = TIERS[0]


@dataclass(frozen=True, slots=True)
class KeptConversation:
    """What became of keeping it.

    Attributes:
        captured: what the engine kept.
        sealed: answers that were not kept because they were given sensitive memories.
        elsewhere: answers that were not kept because they rest on other spaces than the one it is kept in: who may
            read that space would read what others say.
        space: name of the space that it is kept in.
    """

    captured: Captured
    sealed: int
    elsewhere: int
    space: str


class AskConversation(QObject):
    """Turns in their order; one of them may be open.

    Signals:
        begun: a `AskTurn` that was just asked, or is asked once more.
        moved: a `AskTurn` that is farther: a state, or more words.
        ended: a `AskTurn` that is over, well or not.
        server_lost: the model server did not answer.
        kept: a `KeptConversation`.
        checked: it is known what of the turns is kept.
    """

    begun = Signal(object)
    moved = Signal(object)
    ended = Signal(object)
    server_lost = Signal()
    kept = Signal(object)
    checked = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._stream: Stream | None = None
        self._asked = 0
        self.turns: list[AskTurn] = []
        self._session = _new_session()

    @property
    def open_turn(self) -> AskTurn | None:
        """The one that waits for its answer."""
        return self.turns[-1] if self.turns and self.turns[-1].is_open else None

    @property
    def is_keepable(self) -> bool:
        """Whether there is something that is over and not kept yet."""
        return any(not one.kept and not one.is_open for one in self.turns)

    # ---- asking

    def ask(self, question: str, allowed: AllowedScope) -> None:
        """Ask; ignored while another question is open."""
        if self.open_turn is None and question.strip():
            turn = AskTurn(question, self._make_query(question, allowed, self.turns), self._now_ms())
            self.turns.append(turn)
            self._begin_turn(turn)

    def retry(self, allowed: AllowedScope) -> None:
        """Ask the last question once more, with what is allowed now; its answer is replaced."""
        if self.turns and self.open_turn is None:
            turn = self.turns[-1]
            turn.query = self._make_query(turn.question, allowed, self.turns[:-1])
            turn.prepared, turn.answer, turn.problem, turn.kept = None, "", "", ()
            turn.asked_at, turn.ended_at = self._now_ms(), 0
            self._begin_turn(turn)

    def stop(self) -> None:
        """Stop the open answer; what came of it stays."""
        turn, stream = self.open_turn, self._stream
        if turn is None:
            return
        if stream is not None:
            stream.stop()
        else:
            self._asked += 1  # what is still being looked for is nobody's any more
            self._end_turn(turn, TurnState.STOPPED)

    def clear(self) -> None:
        """Begin anew; nothing of the turns is left."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.arrived.disconnect(self._on_piece)
            stream.ended.disconnect(self._on_stream_end)
            stream.stop()
        self._asked += 1
        self.turns = []
        self._session = _new_session()

    def _make_query(self, question: str, allowed: AllowedScope, before: list[AskTurn]) -> AskQuery:
        tiers = TIERS[: TIERS.index(allowed.tier) + 1]
        # An answer that rests on more sensitive memories than may be given now says them in its words. Its citations
        # are left out: the same number means another memory in this turn.
        messages = tuple(
            Exchange(one.question, remove_citations(one.answer, one.sources), one.tier)
            for one in before
            if one.answer and one.tier in tiers
        )
        spaces = (allowed.space,) if allowed.space else None
        return AskQuery(question, allowed.model, messages, spaces, tiers, before[-1].question if before else "")

    def _begin_turn(self, turn: AskTurn) -> None:
        turn.state = TurnState.SEARCHING
        self._asked += 1
        number = turn.number = self._asked
        self.begun.emit(turn)
        engine, query = self._context.bridge.engine, turn.query
        asked = make_query(ask_strings()["tasks"]["look"], lambda: engine.conversations.prepare_answer(query))
        asked = asked.within(self).success(lambda prepared: self._on_prepared(turn, number, prepared))
        self._context.tasks.run(asked.failure(lambda error: self._on_not_prepared(turn, number, error)))

    def _on_prepared(self, turn: AskTurn, number: int, prepared: PreparedAnswer) -> None:
        if number != self._asked:
            return
        turn.prepared = prepared
        if not prepared.query.model:
            self._end_turn(turn, TurnState.MEMORIES)
            return
        turn.state = TurnState.WAITING
        self.moved.emit(turn)
        bridge = self._context.bridge
        stream = self._stream = bridge.open_stream(lambda: bridge.engine.conversations.stream_answer(prepared))
        # Bound, not lambdas: a page that a lock deletes is told nothing any more.
        stream.arrived.connect(self._on_piece)
        stream.ended.connect(self._on_stream_end)

    def _on_not_prepared(self, turn: AskTurn, number: int, error: BaseException) -> None:
        if number != self._asked:
            return
        if isinstance(error, LociError) and error.code in _AWAY and turn.query.model:
            self._answer_with_memories(turn)
            return
        problem = problem_of(error)
        turn.problem = str(ask_strings()["problems"]["undecided"]) if problem is None else problem.sentence
        self._end_turn(turn, TurnState.FAILED)

    def _answer_with_memories(self, turn: AskTurn) -> None:
        """The server is away and said nothing: the memories are the answer."""
        self.server_lost.emit()
        turn.problem = str(ask_strings()["problems"]["absent"])
        turn.query = AskQuery(turn.question, spaces=turn.query.spaces, before=turn.query.before)
        turn.prepared = None
        self._begin_turn(turn)

    def _on_piece(self, piece: str) -> None:
        turn = self.turns[-1]
        turn.answer += piece
        turn.state = TurnState.ANSWERING
        self.moved.emit(turn)

    def _on_stream_end(self, error: BaseException | None) -> None:
        turn, self._stream = self.turns[-1], None
        strings = ask_strings()["problems"]
        if isinstance(error, CancelledError):
            self._end_turn(turn, TurnState.STOPPED)
        elif error is None and turn.answer.strip():
            self._end_turn(turn, TurnState.DONE)
        elif isinstance(error, LociError) and error.code is Code.EMBEDDER_UNAVAILABLE and not turn.answer:
            self._answer_with_memories(turn)
        else:
            problem = None if error is None else problem_of(error)
            away = isinstance(error, LociError) and error.code in _AWAY
            turn.problem = str(strings["gone"] if away or problem is None else problem.sentence)
            turn.problem = str(strings["empty"]) if error is None else turn.problem
            self._end_turn(turn, TurnState.FAILED)

    def _end_turn(self, turn: AskTurn, state: TurnState) -> None:
        turn.state, turn.ended_at = state, self._now_ms()
        self.ended.emit(turn)

    def _now_ms(self) -> int:
        return self._context.clock.now_ms()

    # ---- keeping

    def keep(self) -> None:
        """Store what was said since it was kept last, as episodes: one undo step."""
        turns = [one for one in self.turns if not one.kept and not one.is_open]
        chosen = {one.query.spaces[0] if one.query.spaces else HOME_SPACE for one in turns}
        space = chosen.pop() if len(chosen) == 1 else HOME_SPACE
        sealed = [one for one in turns if one.answer and one.is_sealed]
        known = {space, GLOBAL_SPACE}
        elsewhere = [one for one in turns if one.answer and not one.is_sealed and not self._rests_on(one) <= known]
        left_out = [*sealed, *elsewhere]
        messages = tuple(message for turn in turns for message in _messages_of(turn, with_answer=turn not in left_out))
        request = CaptureRequest(self._session, messages, space)
        engine = self._context.bridge.engine
        task = make_write(
            ask_strings()["tasks"]["keep"], lambda: engine.sessions.capture_messages(request, OWNER_ACTOR)
        ).within(self)
        asked_as = [(turn, turn.number) for turn in turns]
        kept_counts = (len(sealed), len(elsewhere), space)
        self._context.tasks.run(
            task.success(lambda captured: self._on_kept(asked_as, KeptConversation(captured, *kept_counts)))
        )

    def _rests_on(self, turn: AskTurn) -> set[str]:
        """The spaces of what an answer was given, and of what was said before it."""
        before = self.turns[: self.turns.index(turn) + 1]
        given = [one for each in before if each.prepared is not None for one in each.prepared.sources]
        return {one.memory.space for one in given}

    def _on_kept(self, turns: list[tuple[AskTurn, int]], kept: KeptConversation) -> None:
        for turn, number in turns:
            if turn.number != number:
                continue  # it was asked again meanwhile: its new answer is not kept
            turn.kept = kept.captured.ids or (kept.captured.conversation,)
        self.kept.emit(kept)

    def check_kept(self) -> None:
        """Look whether what was kept is still there: what was undone can be kept again."""
        ids = tuple(one for turn in self.turns for one in turn.kept if one)
        if ids:
            library = self._context.bridge.engine.library
            task = make_query(ask_strings()["tasks"]["kept"], lambda: library.read_rows(ids)).within(self, "kept")
            self._context.tasks.run(task.success(self._forget_undone))

    def _forget_undone(self, rows: tuple[MemoryRow, ...]) -> None:
        there = {row.id for row in rows if row.status is not Status.DELETED}
        for turn in self.turns:
            if any(turn.kept) and there.isdisjoint(turn.kept):
                turn.kept = ()
        self.checked.emit()


def _new_session() -> str:
    return f"ask-{uuid.uuid4().hex}"


def _messages_of(turn: AskTurn, *, with_answer: bool) -> list[Message]:
    """What is kept of a turn."""
    made = [Message(turn.question, Source.USER_IMPLICIT, occurred=When(turn.asked_at))]
    if turn.answer.strip() and with_answer:
        made.append(Message(turn.answer, Source.INFERENCE, turn.query.model, When(turn.ended_at)))
    return made

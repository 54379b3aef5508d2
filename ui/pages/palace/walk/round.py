"""One round along landmarks: where one is, whether the words are hidden, what was recalled.

Must not do: know a widget, ask the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.types.views import Grade, GradeReply, WalkStop


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """What a round came to.

    Attributes:
        seen: landmarks whose words were shown.
        rooms: in how many rooms those are.
        graded: landmarks that were graded.
        recalled: those of them whose first grade was not `again`.
        next_due_at: epoch ms, when the first of the graded ones is to be recalled next; None where none was graded.
    """

    seen: int
    rooms: int
    graded: int
    recalled: int
    next_due_at: int | None


class WalkRound:
    """A round along some landmarks.

    Attributes:
        stops: in the order in which they are passed; one that was not recalled comes once more at the end.
        at: which of them one is at.
        is_rehearsal: whether words are hidden until they are asked for.
        is_hidden: whether those of the present stop are.
        is_over: whether one has gone past the last stop.
    """

    def __init__(self, stops: Sequence[WalkStop], *, is_rehearsal: bool = False) -> None:
        """Begin it.

        Args:
            stops: one or more.
        """
        self.stops = list(stops)
        self._first = tuple(stop.memory_id for stop in stops)
        self.is_rehearsal = is_rehearsal
        self._seen: dict[str, str] = {}
        self._grades: dict[str, Grade] = {}
        self._due_at: dict[str, int] = {}
        self.at, self.is_over, self.is_hidden = 0, False, is_rehearsal
        self._note_seen()

    @property
    def current(self) -> WalkStop:
        """The current position; at the end the last one."""
        return self.stops[self.at]

    @property
    def hidden_ids(self) -> frozenset[str]:
        """Landmarks whose words are still to be recalled."""
        if not self.is_rehearsal or self.is_over:
            return frozenset()
        shown = set() if self.is_hidden else {self.current.memory_id}
        return frozenset({stop.memory_id for stop in self.stops[self.at :]} - shown)

    @property
    def summary(self) -> RoundSummary:
        """What it came to so far."""
        return RoundSummary(
            seen=len(self._seen),
            rooms=len(set(self._seen.values())),
            graded=len(self._grades),
            recalled=sum(grade is not Grade.AGAIN for grade in self._grades.values()),
            next_due_at=min(self._due_at.values(), default=None),
        )

    def go_on(self) -> None:
        """To the next stop; past the last one the round is over."""
        if self.at + 1 < len(self.stops):
            self._stand_at(self.at + 1)
        else:
            self.is_over = True

    def go_back(self) -> None:
        """To the stop before; from the end to the last one."""
        self._stand_at(self.at if self.is_over else max(0, self.at - 1))

    def begin_again(self, *, is_rehearsal: bool) -> WalkRound:
        """Another round along the same landmarks."""
        by_id = {stop.memory_id: stop for stop in self.stops}
        return WalkRound([by_id[one] for one in self._first if one in by_id], is_rehearsal=is_rehearsal)

    def switch_rehearsal(self) -> None:
        """Hide the words from here on, or show them."""
        self.is_rehearsal = not self.is_rehearsal
        if not self.is_over:
            self._stand_at(self.at)

    def reveal_words(self) -> None:
        """Show the words of the present stop."""
        self.is_hidden = False
        self._note_seen()

    def note_grade(self, memory_id: str, grade: Grade, reply: GradeReply) -> None:
        """Take what a grade led to; a landmark that was not recalled comes once more at the end."""
        self._grades.setdefault(memory_id, grade)
        self._due_at[memory_id] = reply.due_at
        for at, stop in enumerate(self.stops):
            if stop.memory_id == memory_id:
                graded = replace(
                    stop, due_at=reply.due_at, is_due=False, times=stop.times + 1, intervals=reply.intervals
                )
                self.stops[at] = graded
        if grade is Grade.AGAIN:
            self.stops += [stop for stop in self.stops if stop.memory_id == memory_id][:1]

    def update_stops(self, found: Mapping[str, WalkStop]) -> bool:
        """Take the landmarks as they are now; those that are gone are passed over from here on.

        Returns:
            Whether any is left.
        """
        before = [stop.memory_id for stop in self.stops[: self.at + 1]]
        gone_before = sum(one not in found for one in before[:-1])
        self.stops = [found[stop.memory_id] for stop in self.stops if stop.memory_id in found]
        if not self.stops:
            return False
        self.at = min(self.at - gone_before, len(self.stops) - 1)
        if before[-1] not in found and not self.is_over:
            self._stand_at(self.at)
        return True

    def _stand_at(self, at: int) -> None:
        self.at, self.is_over, self.is_hidden = at, False, self.is_rehearsal
        self._note_seen()

    def _note_seen(self) -> None:
        if not self.is_hidden:
            self._seen[self.current.memory_id] = self.current.room_id

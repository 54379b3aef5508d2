"""When a landmark is to be recalled again: spaced repetition after FSRS 6, with the library's own weights.

Nothing here is left to chance: the same state, grade and time give the same next time. Must not do: read a clock or a
vault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fsrs import Card, Rating, Scheduler, State

from core.types.views import Grade

RETENTION = 0.9
"""The share of landmarks that shall be recalled when they are due; the library's own."""
FIRST_STEP = timedelta(minutes=10)
"""After how long a landmark that was not recalled is asked for again."""
MOST_DAYS = 5 * 365
"""No interval is longer."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_RATINGS = {
    Grade.AGAIN: Rating.Again,
    Grade.HARD: Rating.Hard,
    Grade.GOOD: Rating.Good,
    Grade.EASY: Rating.Easy,
}
# One short step, where the library has two: a walk is taken once a day at most, and a minute later it is over.
_SCHEDULER = Scheduler(
    desired_retention=RETENTION,
    learning_steps=(FIRST_STEP,),
    relearning_steps=(FIRST_STEP,),
    maximum_interval=MOST_DAYS,
    enable_fuzzing=False,
)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How well a landmark is recalled, once it was graded.

    Attributes:
        state: 1 is learnt, 2 is recalled from day to day, 3 is learnt again (FSRS).
        step: of the short steps within one day; None between days.
        stability: days after which it is recalled with a chance of 0.9.
        difficulty: 1 to 10.
        due_at: epoch ms, when it is to be recalled next.
        last_at: epoch ms, when it was graded last.
        times: how often it was graded.
    """

    state: int
    step: int | None
    stability: float
    difficulty: float
    due_at: int
    last_at: int
    times: int


def grade_rehearsal(was: Rehearsal | None, grade: Grade, now_ms: int) -> Rehearsal:
    """What a grade makes of a rehearsal.

    Args:
        was: None where the landmark was never graded.
        now_ms: epoch ms of the grade; where the clock was set back, the same day counts.
    """
    card, _ = _SCHEDULER.review_card(_to_card(was, now_ms), _RATINGS[grade], _to_time(now_ms))
    return Rehearsal(
        state=int(card.state),
        step=card.step,
        stability=float(card.stability or 0.0),
        difficulty=float(card.difficulty or 0.0),
        due_at=(card.due - _EPOCH) // _MS,
        last_at=now_ms,
        times=1 if was is None else was.times + 1,
    )


def forecast_intervals(was: Rehearsal | None, now_ms: int) -> Mapping[Grade, int]:
    """How long it would be until the next time, for each grade that can be given now.

    Returns:
        Grade to milliseconds.
    """
    return {grade: grade_rehearsal(was, grade, now_ms).due_at - now_ms for grade in Grade}


def _to_card(was: Rehearsal | None, now_ms: int) -> Card:
    # A card without an id would take one from the machine's clock.
    if was is None:
        return Card(card_id=0, due=_to_time(now_ms))
    return Card(
        card_id=0,
        state=State(was.state),
        step=was.step,
        stability=was.stability,
        difficulty=was.difficulty,
        due=_to_time(was.due_at),
        last_review=_to_time(was.last_at),
    )


def _to_time(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=ms)

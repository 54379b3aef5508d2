"""Whether the clock can be believed: what cannot be taken back must not follow from a leap of it.

A clock leaps where the machine's battery is dead, where somebody sets a wrong year, and where a laptop slept; the three
look alike at first. So the vault keeps the newest time that is believed, and a time more than two days away from it is
on trial: it is believed when Loci has run behind it for a week, on three days of it at least, without its going back.
A clock that is set right again ends the trial at once; a month of sleep ends it after a week, a person who opens Loci
once a week or a month ends it with the third time. A further leap of a habit like that (no longer than twice the first)
goes on with the trial, a longer one begins it anew.

During a trial erasing goes by the time believed last, and nothing expires; for its first day what archives by itself
(sweep, consolidation, notes of assistants) waits, so that its preview can be seen. What a person starts runs, but
erasing from the archive. Two days are let pass unseen: whoever lets the archive be erased after less than that is not
protected. A clock set back makes nothing due. Must not do: stop a job, or change any time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from core.types.lifecycle import JobType
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
LEAP_MS = 2 * DAY_MS
"""A time farther than this from what is believed is on trial."""
TRIAL_MS, TRIAL_DAYS = 7 * DAY_MS, 3
"""It is believed when it has gone on so long, and was seen on so many days."""
WAIT_MS = DAY_MS
"""So long what archives waits behind a leap."""
WAITING = frozenset({JobType.SWEEP, JobType.CONSOLIDATE, JobType.EPISODES, JobType.ERASE})
"""Work that takes memories out of what stands."""

_KEY = "clock_watch"
_HABIT = 2


@dataclass(frozen=True, slots=True)
class ClockWatch:
    """What is known of the wall clock; all times epoch ms.

    Attributes:
        believed: the newest time that is believed.
        at: where the time on trial began; None where there is none.
        last: when that was last seen.
        days: on how many days of it Loci ran.
    """

    believed: int
    at: int | None = None
    last: int = 0
    days: int = 0

    @property
    def is_ahead(self) -> bool:
        """Whether the clock leapt ahead, and that is on trial."""
        return self.at is not None and self.at > self.believed


def judge_clock(watch: ClockWatch, now_ms: int) -> ClockWatch:
    """Whether jobs may believe the wall clock, given the time it shows now: it may have leapt.

    Args:
        now_ms: the clock's time, epoch ms.
    """
    if abs(now_ms - watch.believed) <= LEAP_MS:
        return ClockWatch(max(watch.believed, now_ms))
    if watch.at is None or not _is_continuing(watch, watch.at, now_ms):
        return ClockWatch(watch.believed, now_ms, now_ms, 1)
    days = watch.days + (now_ms // DAY_MS != watch.last // DAY_MS)
    if now_ms - watch.at >= TRIAL_MS and days >= TRIAL_DAYS:
        return ClockWatch(now_ms)
    return ClockWatch(watch.believed, watch.at, max(watch.last, now_ms), days)


def _is_continuing(watch: ClockWatch, at: int, now_ms: int) -> bool:
    """Whether a time carries on the one that is on trial, or goes back behind it, or leaps much farther still."""
    is_same_side = (at > watch.believed) == (now_ms > watch.believed)
    return is_same_side and -HOUR_MS <= now_ms - watch.last <= max(LEAP_MS, _HABIT * abs(at - watch.believed))


def is_archiving_paused(watch: ClockWatch, now_ms: int) -> bool:
    """Whether what archives by itself waits: the clock leapt ahead within the last day.

    Args:
        watch: what was known.
        now_ms: the clock's time, epoch ms.
    """
    now = judge_clock(watch, now_ms)
    return now.at is not None and now.is_ahead and now_ms - now.at < WAIT_MS


def believed_ms(rows: Rows, now_ms: int) -> int:
    """The time by which something may be done that cannot be taken back.

    Args:
        now_ms: the clock's time, epoch ms.

    Returns:
        That time; while the clock is on trial for having leapt ahead, the last one that was believed.
    """
    watch = read_clock(rows)
    if watch is None:
        return now_ms
    now = judge_clock(watch, now_ms)
    return now.believed if now.is_ahead else now_ms


def read_clock(rows: Rows) -> ClockWatch | None:
    """What the vault knows of the clock; None for a vault in which no work was ever scheduled."""
    found = rows.value("SELECT value FROM settings WHERE key = ?", (_KEY,))
    return None if found is None else ClockWatch(**json.loads(str(found)))


def is_worth_keeping(stored: ClockWatch | None, now: ClockWatch) -> bool:
    """Whether what is known changed enough to be written: a beat each minute would be a write each minute.

    Args:
        stored: what the vault knows.
    """
    if stored is None or (stored.at, stored.days) != (now.at, now.days):
        return True
    return now.believed - stored.believed >= HOUR_MS or now.last - stored.last >= HOUR_MS


def keep_clock(tx: Tx, now: ClockWatch) -> None:
    """Write down what is known of the wall clock.

    Args:
        now: from `judge_clock`.
    """
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (_KEY, json.dumps(asdict(now)), tx.now_ms),
    )

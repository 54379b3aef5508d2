"""When each kind of scheduled work is due, from the options in force and when it last ended.

Must not do: run anything, or read the vault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.config.options import Options
from core.types.lifecycle import JobType

_HOUR_MS, _MINUTE_MS = 3_600_000, 60_000
_DISTIL_MS = 10 * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class JobWording:
    """The texts about a kind of work.

    Attributes:
        title: what it is; `running` while it runs; `step` names the undo step.
        about: what it does, in a sentence.
        heavy: whether it steps aside for a battery and for memory that is short.
    """

    title: str
    running: str
    step: str
    about: str
    heavy: bool


@cache
def job_wordings() -> Mapping[JobType, JobWording]:
    """How every kind of work is called; `resources/lifecycle/jobs.json`."""
    told = json.loads((files("resources") / "lifecycle" / "jobs.json").read_text(encoding="utf-8"))
    return {kind: JobWording(**told[kind.value]) for kind in JobType}


def interval_ms(kind: JobType, options: Options) -> int | None:
    """How often a kind of work is due by the clock.

    Args:
        options: in force.

    Returns:
        Milliseconds between the end of one run and the next; None for work that follows its backlog alone.
    """
    sweeping = options.sweep_hours * _HOUR_MS
    return {
        JobType.CONSOLIDATE: options.consolidate_hours * _HOUR_MS,
        JobType.GAPS: options.consolidate_hours * _HOUR_MS,
        JobType.SWEEP: sweeping,
        JobType.EPISODES: sweeping,
        JobType.ERASE: sweeping if options.erase_kinds.strip() else None,
        JobType.REPLAY: options.replay_minutes * _MINUTE_MS if options.replay_on else None,
        JobType.DISTILL: _DISTIL_MS,
    }.get(kind)


def next_at(kind: JobType, options: Options, last_at: int | None, made_at: int) -> int | None:
    """When a kind of work is due.

    Args:
        options: in force.
        last_at: when it last ended, epoch ms; None for never.
        made_at: when the vault was made: nothing is due in a vault that is younger than the interval.

    Returns:
        Epoch ms; None for work without a fixed time.
    """
    every = interval_ms(kind, options)
    return None if every is None else (made_at if last_at is None else last_at) + every


def is_due(kind: JobType, options: Options, last_at: int | None, made_at: int, now_ms: int) -> bool:
    """Whether a kind of work is due by the clock; a clock that was set back by more than an interval makes it due."""
    every, due = interval_ms(kind, options), next_at(kind, options, last_at, made_at)
    if every is None or due is None:
        return False
    return now_ms >= due or due - now_ms > 2 * every

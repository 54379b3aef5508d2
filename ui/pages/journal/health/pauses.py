"""What of the scheduled work rests: why, whether it comes back by itself, and what the person can do.

Must not do: decide what rests; the scheduler says it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.types.lifecycle import JobRow, Jobs, JobState
from ui.pages.journal.common.job_words import code_told, moment
from ui.pages.journal.common.local_model import NEED_MODEL, Model
from ui.strings import format_count, journal_strings

_PAUSED, _POISON, _LATER, _AWAY = "paused", "poison", "later", "model_away"
_UNDER_WAY = frozenset({JobState.QUEUED, JobState.RUNNING})


@dataclass(frozen=True, slots=True)
class Rest:
    """One thing that rests.

    Attributes:
        key: why: a key of `rests` in the page's words.
        says: why, as a sentence.
        back: whether it comes back by itself.
        do: what the person can do; "" for nothing.
        act: where that is done, as a button says it; "" for nowhere.
        page: where the button leads, and `wish` what is asked for there.
    """

    key: str
    says: str
    back: str
    do: str
    act: str
    page: str
    wish: str


@cache
def _keys() -> Mapping[str, str]:
    """The scheduler's sentences, each to its key."""
    told: Mapping[str, str] = json.loads(
        (files("resources") / "lifecycle" / "holds.json").read_text(encoding="utf-8")
    )  # fmt: skip
    return {sentence: key for key, sentence in told.items()}


def rests_of(jobs: Jobs, model: Model, now_ms: int) -> tuple[Rest, ...]:
    """What rests, that which concerns everything first; each reason once for all, or once for each job.

    Args:
        jobs: the scheduler as it stands.
        model: what is known of the local model.
        now_ms: the present.
    """
    found: dict[tuple[str, str], Rest] = {}
    for rest in (*_of_all(jobs), *_of_rows(jobs, now_ms), *_of_model(jobs, model, now_ms)):
        found.setdefault((rest.key, rest.says), rest)
    return tuple(found.values())


def _of_all(jobs: Jobs) -> Iterator[Rest]:
    if jobs.paused:
        yield _rest(_PAUSED)
    key = _keys().get(jobs.holds, "")
    if key in journal_strings()["health"]["rests"]:
        yield _rest(key)
    elif jobs.holds:
        yield Rest("", jobs.holds, "", "", "", "", "")


def _of_rows(jobs: Jobs, now_ms: int) -> Iterator[Rest]:
    for row in sorted(jobs.rows, key=lambda one: one.state is not JobState.POISON):  # what needs the person first
        if row.state is JobState.POISON:
            yield _rest(
                _POISON,
                row,
                tries=format_count(journal_strings()["runs"]["tries"], row.attempts),
                why=code_told(row.code),
            )
        elif row.state is JobState.QUEUED:
            key = _keys().get(row.waits_for, "")
            if key in journal_strings()["health"]["rests"]:
                when = moment(row.not_before, now_ms) if key == _LATER and row.not_before is not None else ""
                yield _rest(key, row, when=when)


def _of_model(jobs: Jobs, model: Model, now_ms: int) -> Iterator[Rest]:
    """What is not even queued while the chosen model is away, although its time has come; nobody misses another."""
    if model.is_ready or not model.is_chosen or any(_is_under_way(row) for row in jobs.rows):
        return
    for beat in jobs.calendar:
        if beat.type in NEED_MODEL and beat.next_at is not None and beat.next_at <= now_ms:
            yield _told(_AWAY, beat.title)


def _is_under_way(row: JobRow) -> bool:
    return row.type in NEED_MODEL and row.state in _UNDER_WAY


def _rest(key: str, row: JobRow | None = None, **more: str) -> Rest:
    return _told(key, "" if row is None else row.title, **more)


def _told(key: str, title: str, **more: str) -> Rest:
    said: Mapping[str, str] = journal_strings()["health"]["rests"][key]
    return Rest(
        key,
        said["says"].format(title=title, **more),
        said["back"].format(**more) if "when" in more else said["back"],
        said["do"],
        said["act"],
        said["page"],
        said["wish"],
    )

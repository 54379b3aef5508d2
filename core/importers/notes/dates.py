"""When a note was said: by its nearest dated heading, else by its front matter, else by its name.

A long log tells its days by headings, and its front matter only when it was begun. Must not do: take a file's date for
the time of what it tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.importers.front_matter import FrontMatter
from core.importers.records import Section
from core.text.markdown import headings_in
from core.text.times import find_labelled_date, is_within, parse_time
from core.types.values import Precision, When

# What the note is about, before when its file was made: a day is often written up on the next.
_DATED = (
    "date",
    "day",
    "datetime",
    "journaldate",
    "journalday",
    "created",
    "createdat",
    "datecreated",
    "creationdate",
    "createdon",
    "createddate",
    "createdtime",
    "creationtime",
    "ctime",
)
_BY_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{2})(?:[-_ ][^/\d]*)?/(\d{2})$")


def written_date(front: FrontMatter) -> tuple[When | None, bool]:
    """The first readable time of the front matter, as exactly as it tells that; and whether only unreadable ones."""
    given = [
        value.strip().removeprefix("[[").removesuffix("]]") for name in _DATED if (value := front.first_value(name))
    ]
    times = [when for value in given if (when := parse_time(value) or find_labelled_date(value)) is not None]
    found = _finest_date(times[0], times) if times else None
    return found, bool(given) and found is None


def _finest_date(date: When, others: Sequence[When]) -> When:
    """The date, or the most exact of the others that tells the same day, month or year more exactly."""
    order = list(Precision)
    same = [one for one in others if is_within(one, date)]
    return max([date, *same], key=lambda one: order.index(one.precision))


def named_date(path: str) -> When | None:
    """The date that a note's name bears, or its folders and name together (`2026/02/14.md`)."""
    stem = path.rpartition(".")[0] or path
    if folders := _BY_FOLDERS.search(stem):
        return find_labelled_date("-".join(folders.groups()))
    return find_labelled_date(stem.rpartition("/")[2])


def _has_words_before_mark(body: str, end: int) -> bool:
    """Whether there is anything but headings before a place."""
    kept, at = [], 0
    for heading in headings_in(body[:end]):
        kept.append(body[at : heading.start])
        at = heading.end
    return bool("".join([*kept, body[at:end]]).strip())


def dated_sections(front: FrontMatter, body: str, path: str) -> tuple[When | None, tuple[Section, ...]]:
    """When a note was said, and where in it another date begins.

    Args:
        front: its front matter.
        body: what follows it, after `blank_code`.
        path: its path.

    Returns:
        The date of its beginning, and each place behind that at which the date is another.
    """
    written, named = written_date(front)[0], named_date(path)
    whole = written or named
    dates = [when for when in (written, named) if when is not None]
    found = [Section(0, whole)]
    open_headings: list[tuple[int, When | None]] = []
    for heading in headings_in(body):
        while open_headings and open_headings[-1][0] >= heading.level:
            open_headings.pop()
        above = open_headings[-1][1] if open_headings else whole
        own = find_labelled_date(heading.words)
        open_headings.append((heading.level, above if own is None else _finest_date(own, dates)))
        if open_headings[-1][1] != found[-1].occurred:
            found.append(Section(front.body_at + heading.start, open_headings[-1][1]))
    if len(found) > 1 and not _has_words_before_mark(body, found[1].start - front.body_at):
        found = [Section(0, found[1].occurred), *found[2:]]
    return found[0].occurred, tuple(found[1:])

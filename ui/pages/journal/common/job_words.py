"""The lifecycle in words: deeds, reports of runs, codes, when something runs.

The sentences are `resources/help/journal_page.json`. Must not do: decide anything, or show a word of a memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from core.types.lifecycle import JobRow
from ui.strings import format_count, journal_strings
from ui.widgets.words import count_of, date_of, local

_MINUTE_MS = 60_000
_OF_THOSE = "source_memories"  # said with the digests they are of


def capital(told: str) -> str:
    """Words with a capital at their beginning, as a sentence has."""
    return told[:1].upper() + told[1:]


def deed_words(deed: str) -> Mapping[str, Any]:
    """Icon, word and sentences of a deed; of one without words of its own, its name.

    Args:
        deed: a value of `Deed`.
    """
    found: Mapping[str, Any] | None = journal_strings()["deeds"].get(deed)
    if found is not None:
        return found
    forms = {"one": f"{{count}} {deed}", "many": f"{{count}} {deed}"}
    return {"icon": "circle", "word": deed.capitalize(), "measure": "", "chip": forms, "would": forms, "run": forms}


def told_deeds(counts: Mapping[str, int], form: str) -> Iterator[tuple[str, str]]:
    """What a run would do, deed by deed, what takes most away first: the deed and its count in words.

    Args:
        counts: deed to how many.
        form: `chip` (`41 fade`), `would` (`41 would fade`), or `run` for a whole sentence.
    """
    known = list(journal_strings()["deeds"])
    for deed in sorted(counts, key=lambda one: known.index(one) if one in known else len(known)):
        if counts[deed]:
            yield deed, format_count(deed_words(deed)[form], counts[deed])


def report_told(report: Mapping[str, Any]) -> tuple[str, ...]:
    """What a run did: `2 united`, `1 digest of 5 memories`, `6 archived`; empty where it did nothing.

    Args:
        report: counts by name; the report of a consolidation has names within names.
    """
    told: list[str] = []
    for name, count in _flat(report):
        said = (
            format_count(journal_strings()["report"][name], count)
            if name in journal_strings()["report"]
            else _plainly(name, count)
        )
        if name.endswith(_OF_THOSE) and told:
            told[-1] = f"{told[-1]} {said}"
        else:
            told.append(said)
    return tuple(told)


def _flat(report: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, int]]:
    for name, value in report.items():
        if name in journal_strings()["silent"]:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        elif isinstance(value, int) and not isinstance(value, bool) and value:
            yield f"{above}{name}", value


def _plainly(name: str, count: int) -> str:
    return f"{count:,} {name.rpartition('.')[2].replace('_', ' ')}"


def report_line(job: JobRow) -> str:
    """What a run did, in one line."""
    return ", ".join(report_told(job.report)) or journal_strings()["runs"]["nothing_done"]


def code_told(code: str) -> str:
    """Why something failed: `the disk is full (E1003)`.

    Args:
        code: an E-code; "" where nobody knows.
    """
    why = journal_strings()["codes"].get(code, journal_strings()["code_unknown"])
    return journal_strings()["code"].format(why=why, code=code) if code else str(why)


def moment(ms: int, now_ms: int) -> str:
    """A moment near the present: `today at 14:05`, `tomorrow at 03:00`, else `3 Nov 2026, 14:05`."""
    at, today = local(ms), local(now_ms).date()
    names = {today: "today", today + timedelta(days=1): "tomorrow", today - timedelta(days=1): "yesterday"}
    name = names.get(at.date())
    return f"{name} at {at:%H:%M}" if name else f"{date_of(ms)}, {at:%H:%M}"


def day_told(ms: int, now_ms: int) -> str:
    """A day near the present: `today`, `yesterday`, else `3 Nov 2026`."""
    at, today = local(ms).date(), local(now_ms).date()
    return {today: "today", today - timedelta(days=1): "yesterday", today + timedelta(days=1): "tomorrow"}.get(
        at, date_of(ms)
    )


def lasted(begin: int | None, end: int | None) -> str:
    """How long a run took: `under a second`, `12 seconds`, `3 minutes`; "" where nobody knows."""
    if begin is None or end is None:
        return ""
    if end - begin < 1000:
        return "under a second"
    if end - begin < 2 * _MINUTE_MS:
        return count_of((end - begin) // 1000, "second")
    return count_of((end - begin) // _MINUTE_MS, "minute")

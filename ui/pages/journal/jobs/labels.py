"""Jobs in words: what a run would do and did, its report, how long it took, why it failed.

The sentences are `resources/help/journal_page.json`. Must not do: decide or judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.types.lifecycle import JobRow
from ui.strings import format_count, journal_strings

_MINUTE_MS = 60_000
_OF_THOSE = "source_memories"  # said with the digests they are of


def job_action_wording(action: str) -> Mapping[str, Any]:
    """Icon, word and sentences of an action; of one without words of its own, its name.

    Args:
        action: a value of `Deed`.
    """
    wording: Mapping[str, Any] | None = journal_strings()["deeds"].get(action)
    if wording is not None:
        return wording
    forms = {"one": f"{{count}} {action}", "many": f"{{count}} {action}"}
    return {"icon": "circle", "word": action.capitalize(), "measure": "", "chip": forms, "would": forms, "run": forms}


def describe_vault_changes(counts: Mapping[str, int], form: str) -> Iterator[tuple[str, str]]:
    """What a run would do, action by action, what takes most away first: the action and its count in words.

    Args:
        counts: action to how many.
        form: `chip` (`41 fade`), `would` (`41 would fade`), or `run` for a whole sentence.
    """
    known = list(journal_strings()["deeds"])
    for action in sorted(counts, key=lambda one: known.index(one) if one in known else len(known)):
        if counts[action]:
            yield action, format_count(job_action_wording(action)[form], counts[action])


def describe_report(report: Mapping[str, Any]) -> tuple[str, ...]:
    """What a run did: `2 merged`, `1 digest of 5 memories`, `6 archived`; empty where it did nothing.

    Args:
        report: counts by name; the report of a consolidation has names within names.
    """
    phrases: list[str] = []
    for name, count in _flatten_counts(report):
        phrase = (
            format_count(journal_strings()["report"][name], count)
            if name in journal_strings()["report"]
            else _format_plain_count(name, count)
        )
        if name.endswith(_OF_THOSE) and phrases:
            phrases[-1] = f"{phrases[-1]} {phrase}"
        else:
            phrases.append(phrase)
    return tuple(phrases)


def _flatten_counts(report: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, int]]:
    for name, value in report.items():
        if name in journal_strings()["silent"]:
            continue
        if isinstance(value, Mapping):
            yield from _flatten_counts(value, f"{above}{name}.")
        elif isinstance(value, int) and not isinstance(value, bool) and value:
            yield f"{above}{name}", value


def _format_plain_count(name: str, count: int) -> str:
    return f"{count:,} {name.rpartition('.')[2].replace('_', ' ')}"


_SKIPPED = "skipped_"
_SHOWN_REASONS = 2


def describe_reading(report: Mapping[str, Any], shown: int | None = None) -> tuple[str, ...]:
    """What a run that made statements did, and what it left out: one clause each.

    Args:
        report: counts by name, flat.
        shown: reasons that are named; the others are counted. None for all.

    Returns:
        Empty for the report of other work, or of a run that read nothing.
    """
    strings = journal_strings()["reading"]
    counts = {name: count for name, count in _flatten_counts(report) if name != "small_talk"}
    messages, made = counts.pop("episodes", 0), counts.pop("statements", 0)
    skipped = {name.removeprefix(_SKIPPED): counts.pop(name) for name in list(counts) if name.startswith(_SKIPPED)}
    if not messages or not (made or skipped or "repeated" in counts):
        return ()
    first = format_count(strings["made"], made) if made else str(strings["none"])
    clauses = [format_count(strings["from"], messages, made=first)]
    if skipped:
        ordered = sorted(skipped, key=lambda reason: (-skipped[reason], reason))
        named, others = ordered[:shown], ordered[len(ordered[:shown]) :]
        parts = [_describe_skipped(reason, skipped[reason]) for reason in named]
        parts += [format_count(strings["others"], sum(skipped[reason] for reason in others))] if others else []
        clauses.append(str(strings["left"]).format(what=", ".join(parts)))
    rest = describe_report(counts)
    return (*clauses, *([", ".join(rest)] if rest else []))


def _describe_skipped(reason: str, count: int) -> str:
    forms = journal_strings()["reading"]["skipped"].get(reason)
    return _format_plain_count(reason, count) if forms is None else format_count(forms, count)


def job_report_line(job: JobRow) -> str:
    """What a run did, in one line."""
    if reading := describe_reading(job.report, _SHOWN_REASONS):
        return ". ".join(reading[:2])
    return ", ".join(describe_report(job.report)) or journal_strings()["runs"]["nothing_done"]


def describe_code(code: str) -> str:
    """Why something failed: `the disk is full (E1003)`.

    Args:
        code: an E-code; "" where nobody knows.
    """
    why = journal_strings()["codes"].get(code, journal_strings()["code_unknown"])
    return journal_strings()["code"].format(why=why, code=code) if code else str(why)


def describe_duration(begin: int | None, end: int | None) -> str:
    """How long a run took: `under a second`, `12 seconds`, `3 minutes`; "" where nobody knows."""
    if begin is None or end is None:
        return ""
    strings = journal_strings()["durations"]
    if end - begin < 1000:
        return str(strings["moment"])
    if end - begin < 2 * _MINUTE_MS:
        return format_count(strings["seconds"], (end - begin) // 1000)
    return format_count(strings["minutes"], (end - begin) // _MINUTE_MS)

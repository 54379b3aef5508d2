"""The journal in words: actions, reports of runs, codes, who did what and when, the figures of health; icons of verbs.

The sentences are `resources/help/journal_page.json`. Must not do: decide or judge, or show a memory's text that is not
made visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from core.types.lifecycle import Health, JobRow
from core.types.replies import AuditRow, ImportRow, StepRow
from core.types.values import Pressure
from ui.strings import format_count, journal_strings
from ui.widgets.labels import (
    FORMAT_WORDS,
    count_memories,
    count_of,
    date_of,
    format_clock,
    name_space,
    skip_sentences,
    time_of,
    to_local,
)
from ui.widgets.plaintext import one_line

GROUPS: Mapping[str, tuple[str, ...]] = {
    "counts": ("counts",),
    "search": ("degradation", "performance"),
    "ram": ("ram",),
    "background": ("background",),
}
"""Groups of the page, and the members of `Health` whose figures are in them."""
_MEGA = "_mb"
_MILLI = "_ms"
_UNTOLD = frozenset({"warnings"})
_TIMES = frozenset({"last_consolidation", "last_sweep"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its key, its name, its value in words."""

    key: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What the person can do: a sentence, and where a button leads."""

    sentence: str
    act: str
    page: str
    wish: str


def figures_of(health: Health, group: str, now_ms: int) -> tuple[Figure, ...]:
    """The figures of a group in the order of their names; those without a name come last, by their key.

    Args:
        group: one of `GROUPS`.
    """
    names: Mapping[str, str] = journal_strings()["health"]["names"]
    found = {
        f"{member}.{key}": value
        for member in GROUPS[group]
        for key, value in getattr(health, member).items()
        if key not in _UNTOLD
    }
    order = [key for key in names if key in found] + [key for key in found if key not in names]
    return tuple(
        Figure(key, names.get(key, _plain_name(key)), format_journal_value(key.partition(".")[2], found[key], now_ms))
        for key in order
    )


def _plain_name(key: str) -> str:
    return key.partition(".")[2].replace("_", " ").capitalize()


def format_journal_value(key: str, value: Any, now_ms: int) -> str:
    """A value in words: `12 ms`, `120 MB`, `today at 03:00`, `3,214`.

    Args:
        key: its name; what it ends with is its unit.
        value: number, word, or None for what is not known.
    """
    strings = journal_strings()["health"]["values"]
    if isinstance(value, Mapping):
        value = value.get("sentence") or value.get("state") or None
    if value is None:
        return str(strings["never"] if key in _TIMES else strings.get(f"{key}.none", strings["unknown"]))
    if key in _TIMES:
        return format_near_moment(int(value), now_ms)
    if isinstance(value, str):
        return str(strings.get(f"{key}.{value}", value.replace("_", " ")))
    if key.endswith(_MEGA):
        return str(strings["mb"]).format(value=f"{value:,.0f}")
    if key.endswith(_MILLI):
        return str(strings["ms"]).format(value=f"{value:,.0f}" if value >= 10 else f"{value:.1f}")
    return f"{value:,}"


def advice_of(health: Health) -> tuple[Advice, ...]:
    """What the person can do, the most pressing first."""
    keys = []
    if str(health.ram.get("pressure", Pressure.NORMAL)) != Pressure.NORMAL:
        keys.append("pressure")
    keys.append(str(health.degradation.get("search_strategy", "")))
    keys += [key for key in ("pending_embeddings",) if health.counts.get(key)]
    keys += [key for key in ("archive_candidates",) if health.background.get(key)]
    known = journal_strings()["health"]["advice"]
    return tuple(Advice(**known[key]) for key in keys if key in known)


UNDO, REDO = "Undo: ", "Redo: "
_CLIENT = "client:"
_ABOUT_MEMORIES = frozenset({"store", "revise", "forget"})
_OPENING = 60
"""Characters of a memory beside who changed it."""
_ICONS: Mapping[str, str] = {
    "store": "plus",
    "revise": "pencil",
    "forget": "trash-2",
    "import": "import",
    "unimport": "undo-2",
    "undo": "undo-2",
    "arrange": "landmark",
    "move_locus": "move",
    "move_room": "move",
    "rename_room": "pencil",
    "merge_rooms": "git-merge",
    "make_room": "plus",
    "rehearse": "rotate-ccw",
    "settings": "settings-2",
    "save_view": "waypoints",
    "drop_view": "waypoints",
    "pair": "link",
    "revoke": "circle-x",
    "export": "upload",
    "spare": "timer",
    "accept_link": "link",
    "reject_link": "link",
}
_SINGULARS: Mapping[str, str] = {"loci": "locus", "memories": "memory"}
_SHOWN_SKIPS = 3
_SHORT = 8


def step_icon(step: StepRow) -> str:
    """The icon of a step's verb; of a run, that of its kind of work."""
    if step.label.startswith(REDO):
        return "redo-2"
    return str(_ICONS.get(step.verb) or journal_strings()["jobs"].get(step.verb, "history"))


def describe_author(actor: str, client: str | None = None) -> str:
    """Who did it, in words.

    Args:
        actor: `owner`, `client`, `scheduler`, or as the audit writes it: `client:editor`.
        client: the client's name, where it is distinguished.
    """
    name = client or actor.removeprefix(_CLIENT)
    names = journal_strings()["actors"]
    return one_line(name, 60) if client or actor.startswith(_CLIENT) else str(names.get(actor, names["client"]))


def describe_step_memories(step: StepRow, memories: int | None, openings: Mapping[str, str | None]) -> str:
    """The first words of the memory that a step is about: `“The shed is green.”`.

    Args:
        memories: how many it touched; None while that is counted.
        openings: the beginnings of memories as they came, by id; None for one that was erased.

    Returns:
        Words made visible, and short; "" for a step that is about no memory, or one that was not read yet.
    """
    strings = journal_strings()["changes"]
    if not step.memory_ids:
        return str(strings["erased"]) if step.verb in _ABOUT_MEMORIES else ""
    first = step.memory_ids[0]
    if first not in openings:
        return ""
    opening = openings[first]
    if opening is None:
        return str(strings["erased"])
    is_one = len(step.memory_ids) == 1 and memories == 1
    return str(strings["about"]["one" if is_one else "many"]).format(text=one_line(opening, _OPENING))


def describe_step_details(step: StepRow, memories: int | None, now_ms: int, about: str = "") -> str:
    """The second line of a step: what it is about, who, how much, and what became of it.

    Args:
        memories: how many it touched, which is not said of one: its words say enough; None while that is counted.
        about: what an import brought in is called, or the first words of a memory; "" for neither.
    """
    strings = journal_strings()["step"]
    parts = [describe_author(step.actor, step.client)]
    if memories is not None and memories > 1:
        parts.append(count_memories(memories))
    if about:
        parts.insert(0, about)
    if step.undone:
        at = None if step.undone_at is None else _format_moment(step.undone_at, step.at)
        parts.append(strings["undone"] if at is None else strings["undone_at"].format(when=at))
    elif not step.can_undo:
        parts.append(strings["expired" if step.expires_at < now_ms else "running"])
    return " · ".join(parts)


def _format_moment(ms: int, beside_ms: int) -> str:
    """The time of day; with the date where it is another one's."""
    return format_clock(ms) if to_local(ms).date() == to_local(beside_ms).date() else time_of(ms)


def step_action(step: StepRow) -> str:
    """What can be done with a step: `undo`, `redo`, or "" for nothing."""
    if step.undone:
        return "" if step.undone_by is None else "redo"
    if not step.can_undo:
        return ""
    return "redo" if step.label.startswith(UNDO) else "undo"


def import_format(imported: ImportRow) -> str:
    """An import's format in words."""
    return FORMAT_WORDS.get(imported.format, imported.format)


def import_state(imported: ImportRow) -> str:
    """What became of an import; "" where it is done."""
    return str(journal_strings()["import_states"].get(imported.state, ""))


def import_skips(imported: ImportRow) -> Mapping[str, int]:
    """What an import left out, by reason."""
    found = imported.summary.get("skipped", {})
    return {str(reason): int(count) for reason, count in found.items()} if isinstance(found, Mapping) else {}


def import_sentences(imported: ImportRow) -> tuple[str, ...]:
    """What an import brought and what it left out, one sentence a line."""
    strings = journal_strings()["import_told"]
    where = strings["where"].format(
        format=import_format(imported), space=name_space(imported.space), date=time_of(imported.started_at)
    )
    if imported.state == "running":
        return (where, strings["running"])
    stored, proposals = _summary_count(imported, "stored"), _summary_count(imported, "proposals")
    if imported.state == "undone":
        here = strings["undone"].format(memories=count_memories(stored))
    elif imported.memories == stored:
        here = format_count(strings["whole"], stored)
    else:
        here = format_count(strings["part"], imported.memories, memories=count_memories(stored))
    asked = (format_count(strings["asked"], proposals),) if proposals else ()
    skips = skip_sentences(import_skips(imported))
    more = len(skips) - _SHOWN_SKIPS
    rest = (format_count(strings["more"], more),) if more > 0 else ()
    return (where, here, *asked, *(strings["left_out"].format(reason=one) for one in skips[:_SHOWN_SKIPS]), *rest)


def _summary_count(imported: ImportRow, name: str) -> int:
    found = imported.summary.get(name, 0)
    return found if isinstance(found, int) else 0


def audit_verb(entry: AuditRow) -> str:
    """An audit row's verb in words."""
    return journal_strings()["verbs"].get(entry.verb) or entry.verb.replace("_", " ").capitalize()


def short_id(object_id: str) -> str:
    """The end of an id, by which rows of one object can be told to belong together."""
    return f"…{object_id[-_SHORT:]}" if len(object_id) > _SHORT + 4 else object_id


def audit_counts(entry: AuditRow) -> str:
    """What an audit row counts: `3 rows, 2 parts`."""
    order = sorted(entry.detail.items(), key=lambda item: item[0] != "rows")
    return ", ".join(text for name, value in order if (text := _format_detail(name.replace("_", " "), value)))


def _format_detail(name: str, value: Any) -> str:
    if isinstance(value, bool) or not value:
        return name if value else ""
    if isinstance(value, int):
        return _format_counted(name, value)
    return f"{name} {one_line(short_id(value), 24)}" if isinstance(value, str) else ""


def _format_counted(name: str, value: int) -> str:
    if name in _SINGULARS or (name.endswith("s") and not name.endswith("ss")):
        return count_of(value, _SINGULARS.get(name, name.removesuffix("s")), name)
    return f"{name} {value:,}"


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


def job_report_line(job: JobRow) -> str:
    """What a run did, in one line."""
    return ", ".join(describe_report(job.report)) or journal_strings()["runs"]["nothing_done"]


def describe_code(code: str) -> str:
    """Why something failed: `the disk is full (E1003)`.

    Args:
        code: an E-code; "" where nobody knows.
    """
    why = journal_strings()["codes"].get(code, journal_strings()["code_unknown"])
    return journal_strings()["code"].format(why=why, code=code) if code else str(why)


def format_near_moment(ms: int, now_ms: int) -> str:
    """A moment near the present: `today at 14:05`, `tomorrow at 03:00`, else `3 Nov 2026, 14:05`."""
    strings, at = journal_strings()["days"], to_local(ms)
    name = _near_days(now_ms).get(at.date())
    return str(strings["near" if name else "far"]).format(day=name or date_of(ms), time=f"{at:%H:%M}")


def format_day(ms: int, now_ms: int) -> str:
    """A day near the present: `today`, `yesterday`, else `3 Nov 2026`."""
    return _near_days(now_ms).get(to_local(ms).date(), date_of(ms))


def _near_days(now_ms: int) -> dict[date, str]:
    strings, today = journal_strings()["days"], to_local(now_ms).date()
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)
    return {today: strings["today"], tomorrow: strings["tomorrow"], yesterday: strings["yesterday"]}


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

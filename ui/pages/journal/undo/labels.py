"""Undo steps and imports in words: icon, what a step is about, what became of it, what an import brought.

The sentences are `resources/help/journal_page.json`. Must not do: decide or judge, or show a memory's text that is not
made visible.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.types.replies import ImportRow, StepRow
from ui.pages.journal.labels import describe_author
from ui.strings import format_count, journal_strings
from ui.widgets.labels import FORMAT_WORDS, count_memories, format_clock, name_space, skip_sentences, time_of, to_local
from ui.widgets.plaintext import one_line

UNDO, REDO = "Undo: ", "Redo: "
_VERSIONS = 2  # the new and the old
_ABOUT_MEMORIES = frozenset({"store", "revise", "forget"})
_OPENING = 60
"""Characters of a memory beside who changed it."""
_ICONS: Mapping[str, str] = {
    "store": "plus",
    "revise": "pencil",
    "forget": "trash-2",
    "erase": "circle-x",
    "seal": "key-round",
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
_SHOWN_SKIPS = 3


def step_icon(step: StepRow) -> str:
    """The icon of a step's verb; of a run, that of its kind of work."""
    if step.label.startswith(REDO):
        return "redo-2"
    return str(_ICONS.get(step.verb) or journal_strings()["jobs"].get(step.verb, "history"))


def describe_step(label: str) -> str:
    """What a step did, in the past tense: its label names the act, as the menu that undoes it needs it."""
    strings = journal_strings()
    for prefix, form in strings["undoing"].items():
        if label.startswith(f"{prefix}: "):
            return str(form).format(label=describe_step(label.partition(": ")[2]))
    verb, space, rest = label.partition(" ")
    return f"{strings['past'].get(verb, verb)}{space}{rest}"


def is_edit_of_one(step: StepRow) -> bool:
    """Whether a step gave one memory another text: it touched the new version first, then the old one."""
    return (
        step.verb == "revise" and step.label == journal_strings()["step"]["edit"] and len(step.memory_ids) == _VERSIONS
    )


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
    is_one = (len(step.memory_ids) == 1 and memories == 1) or is_edit_of_one(step)
    return str(strings["about"]["one" if is_one else "many"]).format(text=one_line(opening, _OPENING))


def describe_step_details(step: StepRow, memories: int | None, now_ms: int, about: str = "") -> str:
    """The second line of a step: what it is about, who, how much, and what became of it.

    Args:
        memories: how many it touched, which is not said of one: its words say enough; None while that is counted.
        about: what an import brought in is called, or the first words of a memory; "" for neither.
    """
    strings = journal_strings()["step"]
    parts = [describe_author(step.actor, step.client)]
    if memories is not None and memories > 1 and not is_edit_of_one(step):
        parts.append(count_memories(memories))
    if about:
        parts.insert(0, about)
    if step.undone:
        at = None if step.undone_at is None else _format_moment(step.undone_at, step.at)
        parts.append(strings["undone"] if at is None else strings["undone_at"].format(when=at))
    elif step.is_final:
        parts.append(strings["final"])
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
    elif imported.memories > stored:  # statements that were made of it count as its own
        here = format_count(strings["more_now"], imported.memories, memories=count_memories(stored))
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

"""Words of the journal: who did what, on which day, how much of it; and the icon of every verb."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from core.types.replies import AuditRow, ImportRow, StepRow
from ui.strings import journal_strings
from ui.widgets.plaintext import one_line
from ui.widgets.words import FORMAT_WORDS, count_of, local, memories, skip_sentences, time_of

UNDO, REDO = "Undo: ", "Redo: "
_CLIENT = "client:"
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
_VERBS: Mapping[str, str] = {
    "store": "Remember",
    "revise": "Change memories",
    "forget": "Forget",
    "import": "Import",
    "unimport": "Remove an import",
    "undo": "Undo or redo",
    "arrange": "Arrange the palace",
    "move_locus": "Move a locus",
    "move_room": "Move a room",
    "rename_room": "Rename a room",
    "merge_rooms": "Merge rooms",
    "make_room": "Make a room",
    "settings": "Change a setting",
    "save_view": "Save a view of the graph",
    "drop_view": "Drop a view of the graph",
    "pair": "Pair a client",
    "revoke": "Revoke a client",
    "export": "Export",
    "recall": "Recall",
    "context": "Give context",
    "refused": "Refused",
    "restore": "Restore a backup",
    "accept_older": "Accept an older copy of the vault",
    "spare": "Keep memories",
    "erase": "Erase for good",
    "sweep": "Look for fading memories",
    "consolidate": "Consolidate",
    "episodes": "Tidy assistants' notes",
    "replay": "Replay",
    "enrich": "Read names and things",
    "embed": "Index what has no vector",
    "gaps": "Look for open questions",
    "distill": "Learn from episodes",
    "migrate": "Change the embedding model",
}
_ACTORS: Mapping[str, str] = {"owner": "You", "scheduler": "Loci", "stranger": "A stranger"}
_STATES: Mapping[str, str] = {"running": "Running", "undone": "Removed"}
_SINGULARS: Mapping[str, str] = {"loci": "locus", "memories": "memory"}
_SHOWN_SKIPS = 3
_SHORT = 8


def icon_of(step: StepRow) -> str:
    """The icon of a step's verb; of a run, that of its kind of work."""
    if step.label.startswith(REDO):
        return "redo-2"
    return str(_ICONS.get(step.verb) or journal_strings()["jobs"].get(step.verb, "history"))


def who_did(actor: str, client: str | None = None) -> str:
    """Who did it, in words.

    Args:
        actor: `owner`, `client`, `scheduler`, or as the audit writes it: `client:editor`.
        client: the client's name, where it is told apart.
    """
    name = client or actor.removeprefix(_CLIENT)
    return one_line(name, 60) if client or actor.startswith(_CLIENT) else _ACTORS.get(actor, "A client")


def day_of(ms: int, now_ms: int) -> str:
    """The heading of a day: `Today`, `Yesterday`, `14 November 2026`, in the local zone."""
    at, today = local(ms).date(), local(now_ms).date()
    if at == today:
        return "Today"
    return "Yesterday" if at == today - timedelta(days=1) else f"{at.day} {at:%B} {at.year}"


def clock_of(ms: int) -> str:
    """`14:05`, in the local zone."""
    return f"{local(ms):%H:%M}"


def details_of(step: StepRow, now_ms: int, name: str = "") -> str:
    """The second line of a step: who, how much, and what became of it.

    Args:
        step: which.
        now_ms: the present.
        name: what an import brought in is called; "" for other steps.
    """
    parts = [who_did(step.actor, step.client), count_of(step.rows, "record")]
    if name:
        parts.insert(0, one_line(name, 80))
    if step.undone:
        parts.append("taken back" if step.undone_at is None else f"taken back at {_moment(step.undone_at, step.at)}")
    elif not step.can_undo:
        parts.append("too old to be undone" if step.expires_at < now_ms else "still running")
    return " · ".join(parts)


def _moment(ms: int, beside_ms: int) -> str:
    """The time of day; with the date where it is another one's."""
    return clock_of(ms) if local(ms).date() == local(beside_ms).date() else time_of(ms)


def act_of(step: StepRow) -> str:
    """What can be done with a step: `Undo`, `Redo`, or "" for nothing."""
    if step.undone:
        return "" if step.undone_by is None else "Redo"
    if not step.can_undo:
        return ""
    return "Redo" if step.label.startswith(UNDO) else "Undo"


def format_of(imported: ImportRow) -> str:
    """An import's format in words."""
    return FORMAT_WORDS.get(imported.format, imported.format)


def state_of(imported: ImportRow) -> str:
    """What became of an import; "" where it is done."""
    return _STATES.get(imported.state, "")


def skipped_of(imported: ImportRow) -> Mapping[str, int]:
    """What an import left out, by reason."""
    found = imported.summary.get("skipped", {})
    return {str(reason): int(count) for reason, count in found.items()} if isinstance(found, Mapping) else {}


def import_sentences(imported: ImportRow) -> tuple[str, ...]:
    """What an import brought and what it left out, one sentence a line."""
    where = f"{format_of(imported)}, into {one_line(imported.space, 60)} on {time_of(imported.started_at)}."
    if imported.state == "running":
        return (where, "It is still being read.")
    stored, proposals = _number(imported, "stored"), _number(imported, "proposals")
    if imported.state == "undone":
        here = f"It brought {memories(stored)}, which were removed again."
    elif imported.memories == stored:
        here = f"It brought {memories(stored)}; {'it is' if stored == 1 else 'all of them are'} still here."
    else:
        left = count_of(imported.memories, "is", "are")
        here = f"It brought {memories(stored)}, of which {left} here now."
    asked = (f"{count_of(proposals, 'statement')} wait to be looked at.",) if proposals else ()
    skips = skip_sentences(skipped_of(imported))
    more = len(skips) - _SHOWN_SKIPS
    rest = (f"And {count_of(more, 'more reason')} for leaving something out.",) if more > 0 else ()
    return (where, here, *asked, *(f"Left out: {one}" for one in skips[:_SHOWN_SKIPS]), *rest)


def _number(imported: ImportRow, name: str) -> int:
    found = imported.summary.get(name, 0)
    return found if isinstance(found, int) else 0


def verb_of(entry: AuditRow) -> str:
    """An audit row's verb in words."""
    return _VERBS.get(entry.verb) or entry.verb.replace("_", " ").capitalize()


def short_id(object_id: str) -> str:
    """The end of an id, by which rows of one object can be told to belong together."""
    return f"…{object_id[-_SHORT:]}" if len(object_id) > _SHORT + 4 else object_id


def counts_of(entry: AuditRow) -> str:
    """What an audit row counts: `3 rows, 2 parts`."""
    order = sorted(entry.detail.items(), key=lambda item: item[0] != "rows")
    return ", ".join(said for name, value in order if (said := _count(name.replace("_", " "), value)))


def _count(name: str, value: Any) -> str:
    if isinstance(value, bool) or not value:
        return name if value else ""
    if isinstance(value, int):
        return _counted(name, value)
    return f"{name} {one_line(short_id(value), 24)}" if isinstance(value, str) else ""


def _counted(name: str, value: int) -> str:
    if name in _SINGULARS or (name.endswith("s") and not name.endswith("ss")):
        return count_of(value, _SINGULARS.get(name, name.removesuffix("s")), name)
    return f"{name} {value:,}"

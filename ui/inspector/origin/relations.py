"""The part that says how a memory stands to others: what it supports, contradicts, replaces; its other parts.

Must not do: show an edge without the memory at its other end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from core.types.values import Status
from core.types.views import MemoryRow
from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.memory_link import MemoryLine
from ui.tasks import query
from ui.widgets.basics import button, clear, column, label
from ui.widgets.words import KIND_WORDS, STATUS_WORDS

_STEP = 12
_ORIGIN = "inspector"
PARTS_HEADING = "Parts of the whole text"
WORDS: Mapping[tuple[str, str], str] = {
    ("supports", "out"): "Supports",
    ("supports", "in"): "Supported by",
    ("contradicts", "out"): "Contradicts",
    ("contradicts", "in"): "Contradicts",
    ("supersedes", "out"): "Takes the place of",
    ("supersedes", "in"): "Replaced by",
    ("caused_by", "out"): "Came from",
    ("caused_by", "in"): "Led to",
    ("instance_of", "out"): "A case of",
    ("instance_of", "in"): "Has as a case",
    ("inferred_from", "out"): "Concluded from",
    ("inferred_from", "in"): "Led to the conclusion",
    ("related_to", "out"): "Related to",
    ("related_to", "in"): "Related to",
    ("coexists_with", "out"): "Both are true",
    ("coexists_with", "in"): "Both are true",
    ("example_of", "out"): "An example of",
    ("example_of", "in"): "Has as an example",
}


def grouped(inspected: Inspected) -> dict[str, tuple[str, ...]]:
    """The relations in words, each with the ids at the other end; contradictions first, parts last.

    Args:
        inspected: what is shown.
    """
    found: dict[str, list[str]] = {}
    for edge in inspected.detail.edges:
        words = WORDS.get((str(edge["type"]), str(edge["direction"])), "Related to")
        ids = found.setdefault(words, [])
        if edge["other"] not in ids:
            ids.append(str(edge["other"]))
    order = sorted(found, key=lambda words: (words != "Contradicts", list(WORDS.values()).index(words)))
    made = {words: tuple(found[words]) for words in order}
    if len(inspected.detail.parts) > 1:
        made[PARTS_HEADING] = inspected.detail.parts
    return made


class RelationsPart(Part):
    """Relations and parts, as lines that lead to them."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._groups: dict[str, tuple[str, ...]] = {}
        self._memory_id = ""
        self._most = _STEP
        self._inner = column(gap=2)
        layout = column(self, label("Relations", "label"), gap=8)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            Whether it has relations or parts.
        """
        if inspected.memory.id != self._memory_id:
            self._memory_id, self._most = inspected.memory.id, _STEP
            clear(self._inner)
        self._groups = grouped(inspected)
        if self._groups:
            self._read()
        return bool(self._groups)

    def _read(self) -> None:
        ids = list(dict.fromkeys(memory_id for group in self._groups.values() for memory_id in group[: self._most]))
        library = self.context.bridge.engine.library
        task = query("Reading relations", lambda: library.rows(ids)).within(self, "rows")
        self.context.tasks.run(task.success(self._show))

    def _show(self, found: Sequence[MemoryRow]) -> None:
        rows = {shown.id: shown for shown in found}
        clear(self._inner)
        for words, ids in self._groups.items():
            self._inner.addWidget(_heading(words, len(ids)))
            for number, memory_id in enumerate(ids[: self._most], 1):
                if memory_id in rows:
                    self._inner.addWidget(self._line(words, number, rows[memory_id]))
        hidden = sum(max(0, len(ids) - self._most) for ids in self._groups.values())
        if hidden:
            more = button(f"Show {min(hidden, _STEP)} more", self._more, kind="link")
            self._inner.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _line(self, words: str, number: int, shown: MemoryRow) -> MemoryLine:
        is_part = words == PARTS_HEADING
        above = f"Part {number}" if is_part else KIND_WORDS[shown.kind]
        if shown.status is not Status.ACTIVE:
            above = f"{above} · {STATUS_WORDS[shown.status].lower()}"
        is_current = shown.id == self._memory_id
        return MemoryLine(self.context.theme, shown, above, self._look_at, is_current=is_current)

    def _more(self) -> None:
        self._most += _STEP
        self._read()

    def _look_at(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)


def _heading(words: str, number: int) -> QWidget:
    return label(f"{words} · {number}" if number > 1 else words, "strong", wrap=True)


RELATIONS = PartSpec("relations", 40, RelationsPart)

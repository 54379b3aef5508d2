"""The part that says what rests on a memory and would fall with it, and holds a source back.

Must not do: hold anything by itself; the dialog lists it first.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt

from core.types.memory import Rests
from core.types.values import Kind, Memory, Status
from core.types.views import MemoryRow
from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.belief.source_hold import HoldDialog
from ui.inspector.memory_link import MemoryLine, flush
from ui.strings import belief_strings, format_count
from ui.tasks import query
from ui.undo import offer_undo
from ui.widgets.basics import button, clear, column, label
from ui.widgets.plaintext import one_line
from ui.widgets.words import KIND_WORDS, STATUS_WORDS

_STEP = 6
_ORIGIN = "inspector"
_HOLDABLE = frozenset({Status.ACTIVE, Status.DISPUTED, Status.CONSOLIDATED})


def rests_told(rests: Rests) -> tuple[str, ...]:
    """What rests on a memory, one sentence for each sort.

    Args:
        rests: of the memory.
    """
    said = belief_strings()["rests"]
    digests = sum(kind is Kind.DIGEST for _, kind in rests.derived)
    counts = (
        ("digests", digests),
        ("derived", len(rests.derived) - digests),
        ("rules", len(rests.rules)),
        ("alone", rests.alone),
    )
    told = [format_count(said[name], count) for name, count in counts if count]
    told += [format_count(said["given"], count, name=one_line(name, 40)) for name, count in rests.given]
    if rests.recalled and not rests.given:
        told.append(format_count(said["recalled"], rests.recalled))
    return tuple(told)


class RestsPart(Part):
    """What rests on it, and what was made of it as lines that lead there."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory: Memory | None = None
        self._client: str | None = None
        self._ids: tuple[str, ...] = ()
        self._most = _STEP
        self.sentences = label("", wrap=True)
        self._lines = column(gap=2)
        self.hold = button(belief_strings()["rests"]["hold"], self._hold, kind="link")
        layout = column(self, label("What rests on this", "label"), self.sentences, gap=8)
        layout.addLayout(self._lines)
        layout.addLayout(flush(self.hold, None))

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            Whether anything rests on it, or it could be held back.
        """
        memory, rests = inspected.memory, inspected.belief.rests
        if self._memory is None or self._memory.id != memory.id:
            self._most = _STEP
            clear(self._lines)
        self._memory, self._client = memory, inspected.belief.inputs.client
        told = rests_told(rests)
        self.sentences.setText("\n".join(f"{one}." for one in told) or belief_strings()["rests"]["nothing"])
        self._ids = (*(made for made, _ in rests.derived), *rests.rules)
        can_hold = memory.status in _HOLDABLE
        self.hold.setVisible(can_hold)
        if self._ids:
            self._read()
        else:
            clear(self._lines)
        return bool(told) or can_hold

    def _read(self) -> None:
        library, wanted = self.context.bridge.engine.library, self._ids[: self._most]
        task = query("Reading what rests on it", lambda: library.rows(wanted)).within(self, "rows")
        self.context.tasks.run(task.success(self._show))

    def _show(self, rows: Sequence[MemoryRow]) -> None:
        clear(self._lines)
        for shown in rows:
            above = KIND_WORDS[shown.kind]
            if shown.status is not Status.ACTIVE:
                above = f"{above} · {STATUS_WORDS[shown.status].lower()}"
            self._lines.addWidget(MemoryLine(self.context.theme, shown, above, self._look_at))
        hidden = len(self._ids) - self._most
        if hidden > 0:
            more = button(f"Show {min(hidden, _STEP)} more", self._more, kind="link")
            self._lines.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _more(self) -> None:
        self._most += _STEP
        self._read()

    def _look_at(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)

    def _hold(self) -> None:
        if self._memory is not None:
            dialog = HoldDialog(self.context, self._memory, self._client, self)
            dialog.held.connect(self._held)
            dialog.open()

    def _held(self, count: int, step_id: str) -> None:
        offer_undo(self.context, format_count(belief_strings()["hold"]["done"], count), step_id)


RESTS = PartSpec("rests", 45, RestsPart)

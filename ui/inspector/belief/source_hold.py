"""The dialog that holds back everything from one source: what it would hold is listed before it is done.

Must not do: hold anything that was not counted and shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from core.types.reviews import Held, HoldPreview, HoldRequest
from core.types.values import Memory
from core.types.views import MemoryRow
from ui.context import Context
from ui.strings import belief_strings, format_count
from ui.tasks import problem_of, query, write
from ui.widgets.basics import Segments, button, card, column, label, row
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KIND_TOKENS, kind_pixmap
from ui.widgets.words import KIND_WORDS

_LISTED = 200
_HEAD = 160


def sources_of(memory: Memory, client: str | None) -> dict[str, HoldRequest]:
    """What can be held back where a memory comes from.

    Args:
        memory: the memory.
        client: the name of the client that brought it; None where none did.

    Returns:
        The requests by what they are called in `HoldRequest.by`.
    """
    keys = {
        "memory": memory.id,
        "conversation": memory.conversation_id,
        "import": memory.import_id,
        "client": client if memory.client_id is not None else None,
    }
    return {by: HoldRequest(by, key) for by, key in keys.items() if key}


class HoldDialog(QDialog):
    """Asks which source, shows what it would hold, holds it.

    Signals:
        held: (how many, id of the undo step).
    """

    held = Signal(int, str)

    def __init__(self, context: Context, memory: Memory, client: str | None, parent: QWidget) -> None:
        """Make it.

        Args:
            context: what parts are given.
            memory: the memory whose source it is.
            client: the name of the client that brought it; None where none did.
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        said = belief_strings()["hold"]
        self.setWindowTitle(said["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._requests = context, sources_of(memory, client)
        self._preview: HoldPreview | None = None
        name = one_line(client or "", 24)
        choices = tuple((by, str(said["by"][by]).format(name=name)) for by in self._requests)
        self.sources = Segments(choices, "memory", "Which source")
        self.sources.chosen.connect(self._count)
        self.found = label("", "strong", wrap=True)
        self.list = QListWidget()
        self.list.setAccessibleName("What would be held back")
        self.list.setUniformItemSizes(True)
        self.note = label("", "muted", wrap=True)
        self.go_button = button("", self._go, kind="danger")
        self._build(said)
        self._count()

    def _build(self, said: dict[str, str]) -> None:
        frame, inside = card(margins=6)
        inside.addWidget(self.list)
        outer = column(self, label(said["title"], "section"), label(said["sentence"], "muted", wrap=True), gap=12)
        outer.setContentsMargins(20, 20, 20, 20)
        for widget in (self.sources, self.found, frame, self.note):
            outer.addWidget(widget)
        outer.addLayout(row(None, button("Cancel", self.reject), self.go_button))
        px = self._context.theme.px
        self.resize(px(480), px(480))

    # ---- what it would hold

    def _count(self, _by: str = "") -> None:
        self._preview = None
        self.list.clear()
        self._say("")
        self._say_button(0)
        self.found.setText(belief_strings()["hold"]["counting"])
        request, conflicts = self._requests[self.sources.current], self._context.bridge.engine.conflicts
        task = query("Looking through a source", lambda: conflicts.hold_preview(request)).within(self, "preview")
        self._context.tasks.run(task.success(self._counted).failure(self._failed))

    def _counted(self, preview: HoldPreview) -> None:
        said = belief_strings()["hold"]
        self._preview = preview
        parts = [format_count(said["found"], preview.memories)] if preview.memories else [said["nothing"].rstrip(".")]
        if preview.derived and preview.derived < preview.memories:
            parts.append(format_count(said["derived"], preview.derived))
        self.found.setText(". ".join(parts) + ".")
        shown = preview.ids[:_LISTED]
        more = preview.memories > len(shown)
        self._say(said["more"].format(count=len(shown)) if more else "")
        self._say_button(preview.memories)
        library = self._context.bridge.engine.library
        task = query("Reading what would be held", lambda: library.rows(shown)).within(self, "rows")
        self._context.tasks.run(task.success(self._list))

    def _list(self, rows: Sequence[MemoryRow]) -> None:
        theme = self._context.theme
        self.list.clear()
        for shown in rows:
            mark = kind_pixmap(shown.kind, theme.px(14), theme.colour(KIND_TOKENS[shown.kind]))
            item = QListWidgetItem(QIcon(mark), one_line(shown.head, _HEAD))
            item.setSizeHint(QSize(40, theme.px(30)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{KIND_WORDS[shown.kind]}: {item.text()}")
            self.list.addItem(item)

    def _say_button(self, count: int) -> None:
        text = format_count(belief_strings()["hold"]["button"], count) if count else belief_strings()["hold"]["title"]
        self.go_button.setText(text)
        self.go_button.setAccessibleName(text)
        self.go_button.setEnabled(count > 0)

    def _say(self, sentence: str) -> None:
        self.note.setText(sentence)
        self.note.setVisible(bool(sentence))

    def _failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.found.setText("")
        self._say("" if problem is None else problem.sentence)
        self._say_button(0)

    # ---- doing it

    def _go(self) -> None:
        if self._preview is None:
            return
        self._say_button(0)
        request, conflicts = self._requests[self.sources.current], self._context.bridge.engine.conflicts
        task = write("Holding back a source", lambda: conflicts.hold(request)).within(self)
        self._context.tasks.run(task.success(self._done).failure(self._failed))

    def _done(self, done: Held) -> None:
        self.held.emit(len(done.ids), done.step_id)
        self.accept()

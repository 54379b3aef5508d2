"""The dialog that attaches files: what was dropped or chosen, what the person says of it, and what came of each.

A file that is refused says why in one sentence and keeps the others from nothing. Must not do: read a file; the engine
does, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from core.types.files.attachments import AttachReply
from core.types.values import HOME_SPACE, OWNER_ACTOR
from core.types.views import Facets
from ui.bridge import make_query, make_write, problem_of
from ui.context import CLOSER, Context
from ui.strings import attach_strings, format_count
from ui.widgets.basics import (
    clear_layout,
    find_usual_folder,
    make_buddy_label,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
)
from ui.widgets.choices import ChoiceBox
from ui.widgets.labels import name_space
from ui.widgets.plaintext import one_line

_NAME = 120


class AttachDialog(QDialog):
    """Attaches files, one after the other.

    Attributes:
        replies: what came of those that are attached.
    """

    def __init__(self, context: Context, paths: Sequence[Path], parent: QWidget) -> None:
        """Make it.

        Args:
            paths: what was dropped or chosen; empty to ask.
            parent: the window; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        self._strings, self._context = attach_strings()["dialog"], context
        self.replies: list[AttachReply] = []
        self._paths: list[Path] = []
        self._waiting: list[int] = []
        self._refused = 0
        self.setWindowTitle(self._strings["title"])
        self._lines: list[QLabel] = []
        self._list = QWidget()
        self._list.setAccessibleName(self._strings["files"])
        self._rows = make_column(self._list, gap=4)
        self.caption = QLineEdit()
        self.caption.setAccessibleName(self._strings["caption"])
        self.caption.setPlaceholderText(self._strings["caption_hint"])
        self.caption.setMaxLength(4_000)
        self.space = ChoiceBox()
        self.space.setAccessibleName(self._strings["space"])
        self.space.addItem(name_space(HOME_SPACE), HOME_SPACE)
        self.note = make_label("", "muted", wrap=True)
        self.more_button = make_button(self._strings["more"], self.choose_files, theme=context.theme, icon="folder")
        self.import_button = make_button(self._strings["import"], self._import_instead, kind="link")
        self.import_button.setToolTip(self._strings["import_hint"])
        self.cancel_button = make_button(self._strings["cancel"], self.reject)
        self.attach_button = make_button(self._strings["attach"], self.attach_files, kind="primary")
        self._build_layout()
        self._request_spaces()
        self.add_files(paths)
        self.caption.setFocus()

    def _build_layout(self) -> None:
        strings, px = self._strings, self._context.theme.px
        outer = make_column(
            self, make_label(strings["title"], "section"), make_label(strings["sentence"], "muted", wrap=True), gap=12
        )
        outer.setContentsMargins(20, 20, 20, 20)
        area = make_scroll_area(self._list)
        area.setMinimumHeight(px(96))
        outer.addWidget(area, 1)
        outer.addLayout(make_row(self.more_button, self.import_button, None))
        form: QVBoxLayout = make_column(gap=4)
        form.addWidget(make_buddy_label(strings["caption"], self.caption))
        form.addWidget(self.caption)
        outer.addLayout(form)
        outer.addLayout(make_row(make_buddy_label(strings["space"], self.space), self.space, None, gap=8))
        outer.addWidget(self.note)
        outer.addLayout(make_row(None, self.cancel_button, self.attach_button))
        self.resize(px(520), px(440))

    def _request_spaces(self) -> None:
        library = self._context.bridge.engine.library
        task = make_query(self._strings["reading_spaces"], library.count_facets).within(self, "spaces")
        self._context.tasks.run(task.success(self._list_spaces).failure(lambda _: None))

    def _list_spaces(self, facets: Facets) -> None:
        for name in sorted(facets.spaces, key=str.casefold):
            if self.space.findData(name) < 0:
                self.space.addItem(name_space(name), name)

    # ---- which files

    def add_files(self, paths: Sequence[Path]) -> None:
        """Add files to those that are attached; each once."""
        self._paths += [path for path in dict.fromkeys(paths) if path not in self._paths]
        clear_layout(self._rows)
        self._lines = []
        for at in range(len(self._paths)):
            self._lines.append(make_label("", wrap=True))
            self._rows.addWidget(self._lines[at])
            self._show_state(at, self._strings["waits"])
        if not self._paths:
            self._rows.addWidget(make_label(self._strings["none"], "muted"))
        self._rows.addStretch(1)
        self.attach_button.setEnabled(bool(self._paths))
        self.import_button.setEnabled(bool(self._paths))

    def choose_files(self) -> None:
        """Ask for more files."""
        asking = QFileDialog(self, self._strings["choose"], find_usual_folder())
        asking.setFileMode(QFileDialog.FileMode.ExistingFiles)
        asking.setNameFilter(self._strings["filter"])
        asking.filesSelected.connect(lambda found: self.add_files([Path(one) for one in found]))
        asking.open()

    def _import_instead(self) -> None:
        paths = list(self._paths)
        self.reject()
        self._context.desk.import_paths.emit(paths)

    def _show_state(self, at: int, state: str) -> None:
        words = self._strings["row"].format(name=one_line(self._paths[at].name, _NAME), state=state)
        self._lines[at].setText(words)

    # ---- attaching

    def attach_files(self) -> None:
        """Attach them; the dialog stays open until that is done, and where something is refused."""
        if not self.attach_button.isEnabled():
            return
        self._waiting = list(range(len(self._paths)))
        self._set_busy(is_busy=True)
        self._attach_next()

    def done(self, result: int) -> None:
        """The dialog goes; what was not begun is not attached."""
        self._waiting.clear()
        super().done(result)

    def _attach_next(self) -> None:
        if not self._waiting:
            self._finish()
            return
        at = self._waiting.pop(0)
        progress = self._strings["reading"].format(done=at + 1, count=len(self._paths))
        self.note.setText(progress)
        self._show_state(at, progress)
        files, caption, space = self._context.bridge.engine.files, self.caption.text(), str(self.space.currentData())
        task = make_write(
            self._strings["task"], lambda: files.attach(self._paths[at], OWNER_ACTOR, caption=caption, space=space)
        ).within(self)
        self._context.tasks.run(task.success(partial(self._on_attached, at)).failure(partial(self._on_refused, at)))

    def _on_attached(self, at: int, reply: AttachReply) -> None:
        self.replies.append(reply)
        self._show_state(at, self._strings["states"].get(reply.operation, self._strings["states"]["ADD"]))
        self._attach_next()

    def _on_refused(self, at: int, error: BaseException) -> None:
        self._refused += 1
        problem = problem_of(error)
        self._show_state(at, "" if problem is None else problem.sentence)
        self._attach_next()

    def _set_busy(self, *, is_busy: bool) -> None:
        for one in (self.caption, self.space, self.more_button, self.import_button, self.attach_button):
            one.setEnabled(not is_busy)

    def _finish(self) -> None:
        self.note.setText("")
        if self.replies:
            self._say_done()
        if not self._refused:
            self.accept()
            return
        self._refused = 0
        self.cancel_button.setText(self._strings["close"])
        self.cancel_button.setAccessibleName(self._strings["close"])
        self.cancel_button.setEnabled(True)
        self.cancel_button.setFocus()

    def _say_done(self) -> None:
        last, context = self.replies[-1], self._context
        words = format_count(self._strings["done"], len(self.replies), name=one_line(last.file.name, _NAME))

        def show() -> None:
            context.desk.go.emit("library", "")
            context.selection.select(last.memory_id, CLOSER)

        context.desk.show_message(words, attach_strings()["show"], show)


def open_attach(context: Context, parent: QWidget, paths: Sequence[Path] = ()) -> None:
    """Open the dialog; where no file is named, ask for files at once.

    Args:
        parent: the window.
        paths: what was dropped.
    """
    if not context.bridge.is_open:
        return
    made = AttachDialog(context, list(paths), parent)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    made.open()
    if not paths:
        made.choose_files()

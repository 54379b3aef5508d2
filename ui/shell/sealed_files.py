"""The files of a sealed memory in the dialog of sealed memories: what they are, opening one, saving a copy.

Must not do: outlive what the dialog shows, or read a file that nobody asked for.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from core.types.files.attachments import AttachedFile
from ui.attachments import FileCard, OpenedCopies
from ui.bridge import make_query
from ui.context import Context
from ui.strings import attach_strings, seal_strings
from ui.widgets.basics import clear_layout, find_usual_folder, make_button, make_column, make_row
from ui.widgets.plaintext import one_line

_NAME = 80


class SealedFileList(QWidget):
    """The files of the sealed memory that is read; hidden where it has none.

    Attributes:
        copies: what was opened of them.
        cards: one a file.
        open_buttons: likewise.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._sealed = context.bridge.engine.seal.files
        self._memory_id = ""
        self.copies = OpenedCopies(
            context,
            self,
            lambda file, to: self._sealed.save_file(self._memory_id, file.id, to),
            str(seal_strings()["list"]["opened"]),
        )
        self.cards: list[FileCard] = []
        self.open_buttons: list[QPushButton] = []
        self._inner = make_column(self, gap=8)
        self.hide()

    def show_memory(self, memory_id: str) -> None:
        """Show the files of another memory.

        Args:
            memory_id: a sealed one whose key is in memory; "" for none.
        """
        self._memory_id = memory_id
        self._show_files("", ())
        if memory_id:
            task = make_query(seal_strings()["task"], lambda: self._sealed.list_files(memory_id)).within(self, "files")
            self._context.tasks.run(task.success(partial(self._show_files, memory_id)).failure(lambda _: None))

    def _show_files(self, memory_id: str, files: tuple[AttachedFile, ...]) -> None:
        if memory_id not in ("", self._memory_id):
            return
        clear_layout(self._inner)
        self.cards, self.open_buttons = [], []
        for file in files:
            self._add_file(file)
        self.setVisible(bool(files))

    def _add_file(self, file: AttachedFile) -> None:
        strings, theme = attach_strings()["section"], self._context.theme
        may_open = self.copies.may_open(file)
        card = FileCard(self._context, file)
        opening = make_button(
            strings["open"],
            lambda: self.copies.open_file(file),
            kind="link",
            hint=seal_strings()["list"]["open_hint"] if may_open else strings["unsafe"],
            theme=theme,
            icon="external-link",
        )
        opening.setEnabled(may_open)
        saving = make_button(strings["save"], lambda: self._ask_place(file), kind="link", theme=theme, icon="download")
        self.cards.append(card)
        self.open_buttons.append(opening)
        box = QWidget()
        layout = make_column(box, card, gap=4)
        layout.addLayout(make_row(opening, saving, None))
        self._inner.addWidget(box)

    def _ask_place(self, file: AttachedFile) -> None:
        asking = QFileDialog(self, attach_strings()["section"]["save_title"], find_usual_folder())
        asking.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        # What exists is not replaced: the engine says so.
        asking.setOption(QFileDialog.Option.DontConfirmOverwrite)
        asking.selectFile(file.name.replace("/", "_"))
        asking.fileSelected.connect(lambda path: self.save_to(file, Path(path)))
        asking.open()

    def save_to(self, file: AttachedFile, to: Path) -> None:
        """Save a copy.

        Args:
            to: a new file.
        """
        strings = attach_strings()["section"]
        begin = partial(self._sealed.save_file, self._memory_id, file.id, to)
        task = make_query(strings["save_task"], begin).within(self)
        self._context.tasks.run(task.success(self._say_saved))

    def _say_saved(self, saved: Path) -> None:
        words = attach_strings()["section"]["saved"].format(name=one_line(saved.name, _NAME))
        self._context.desk.show_message(words)

"""The section of a memory's file: its card, opening and saving it, and what was read out of it, page by page.

Must not do: show a text of it as anything but plain text, or give another program more than a private copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from core.types.files.attachments import AttachedFile, FileView, FileViewText, SourceRegion
from ui.attachments import FileCard, OpenedCopies, describe_pages
from ui.bridge import make_query
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.shared_widgets import DisclosureToggle, make_flush_row
from ui.strings import attach_strings, file_strings
from ui.widgets.basics import clear_layout, find_usual_folder, make_button, make_column, make_label
from ui.widgets.plaintext import MarkedText, one_line

_NAME = 80
_SHOWN = 20_000
"""Characters of a text that was read; more of it is in the file."""


class FileBox(QWidget):
    """One file: its card, what can be done with it, what was read out of it."""

    def __init__(self, context: Context, file: AttachedFile, copies: OpenedCopies) -> None:
        """Make it.

        Args:
            copies: opens it.
        """
        super().__init__()
        self._context, self._file, self._copies = context, file, copies
        strings = attach_strings()["section"]
        may_open = copies.may_open(file)
        self.open_button = make_button(
            strings["open"],
            self._open_file,
            kind="link",
            hint=strings["open_hint" if may_open else "unsafe"],
            theme=context.theme,
            icon="external-link",
        )
        self.open_button.setEnabled(may_open)
        self.save_button = make_button(
            strings["save"], self._ask_place, kind="link", theme=context.theme, icon="download"
        )
        layout = make_column(self, FileCard(context, file), gap=6)
        layout.addLayout(make_flush_row(self.open_button, self.save_button, None))
        if not may_open:
            layout.addWidget(make_label(strings["unsafe"], "small", wrap=True))
        if file.caption:
            layout.addWidget(make_label(one_line(file.caption, 400), "body", wrap=True))
        for view in file.views:
            layout.addWidget(make_label(_describe_view(view), "small", wrap=True))
        if not file.views:
            layout.addWidget(make_label(strings["nothing"], "small", wrap=True))
            return
        self._inside = QWidget()
        self._lines = make_column(self._inside, gap=6)
        self.toggle = DisclosureToggle(context.theme, strings["text"], strings["text_less"], self._inside)
        self.toggle.button.clicked.connect(self._read_views)
        layout.addWidget(self.toggle)

    def _open_file(self) -> None:
        self._copies.open_file(self._file)

    def _ask_place(self) -> None:
        asking = QFileDialog(self, attach_strings()["section"]["save_title"], find_usual_folder())
        asking.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        # What exists is not replaced: the engine says so.
        asking.setOption(QFileDialog.Option.DontConfirmOverwrite)
        asking.selectFile(self._file.name.replace("/", "_"))
        asking.fileSelected.connect(lambda path: self.save_to(Path(path)))
        asking.open()

    def save_to(self, to: Path) -> None:
        """Save a copy.

        Args:
            to: a new file.
        """
        strings, files = attach_strings()["section"], self._context.bridge.engine.files
        task = make_query(strings["save_task"], lambda: files.save_to(self._file.id, to)).within(self)
        self._context.tasks.run(task.success(self._say_saved))

    def _say_saved(self, saved: Path) -> None:
        words = attach_strings()["section"]["saved"].format(name=one_line(saved.name, _NAME))
        self._context.desk.show_message(words)

    def _read_views(self) -> None:
        if not self.toggle.is_open or self._lines.count():
            return
        files = self._context.bridge.engine.files
        task = make_query(attach_strings()["section"]["views"], lambda: files.read_views(self._file.id))
        self._context.tasks.run(task.within(self, "views").success(self._show_views))

    def _show_views(self, views: Sequence[FileViewText]) -> None:
        clear_layout(self._lines)
        for one in views:
            method = file_strings()["method"][one.view.method.value]
            title = attach_strings()["section"]["view_text"].format(method=method)
            for heading, text in split_view(one):
                if heading:
                    self._lines.addWidget(make_label(heading, "label"))
                shown = MarkedText(self._context.theme, f"{title}, {heading}" if heading else title, "accent")
                shown.show_text(text, (), "small")
                self._lines.addWidget(shown)


def split_view(view: FileViewText) -> list[tuple[str, str]]:
    """What was read, page by page: a heading ("" for none) and the words, as much as is shown."""
    pieces, left = [], _SHOWN
    for page, start, end in view.pages or ((None, 0, len(view.text)),):
        text = view.text[start:end][:left]
        left -= len(text)
        if text.strip():
            pieces.append(("" if page is None else str(attach_strings()["page"]).format(page=page), text))
    return pieces


def _describe_view(view: FileView) -> str:
    words = attach_strings()["section"]["view_cut" if view.is_cut else "view"]
    return str(words).format(method=file_strings()["method"][view.method.value], characters=f"{view.characters:,}")


class FilesSection(InspectorSection):
    """The files of the inspected memory.

    Attributes:
        boxes: one a file.
        copies: what was opened of them.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory_id = ""
        self._drawn: tuple[AttachedFile, ...] = ()
        self.copies = OpenedCopies(context, self)
        self.boxes: list[FileBox] = []
        self._title = make_label(attach_strings()["section"]["title"], "label")
        self.place = make_label("", "small", wrap=True)
        self._inner = make_column(gap=12)
        layout = make_column(self, self._title, self.place, gap=8)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether it is one of a file, or may have been.
        """
        origin = inspected.detail.origin
        if origin.get("by") != "file" and "edited" not in origin:
            self._memory_id = ""
            return False
        self._memory_id = inspected.memory.id
        self.reload()
        return True

    def reload(self) -> None:
        """Read the files again."""
        memory_id = self._memory_id
        if not memory_id:
            return
        files = self.context.bridge.engine.files
        task = make_query(attach_strings()["section"]["reading"], lambda: files.list_files(memory_id))
        self.context.tasks.run(
            task.within(self, "files").success(partial(self._show_files, memory_id)).failure(lambda _: None)
        )
        regions = make_query(attach_strings()["section"]["reading"], lambda: files.list_regions(memory_id))
        self.context.tasks.run(
            regions.within(self, "regions").success(partial(self._show_place, memory_id)).failure(lambda _: None)
        )

    def _show_files(self, memory_id: str, files: tuple[AttachedFile, ...]) -> None:
        if memory_id != self._memory_id:
            return
        self.setVisible(bool(files))
        if files == self._drawn:
            return
        self._drawn = files
        clear_layout(self._inner)
        title = attach_strings()["section"]["title" if len(files) == 1 else "many"]
        self._title.setText(str(title).upper())
        self.boxes = [FileBox(self.context, file, self.copies) for file in files]
        for box in self.boxes:
            self._inner.addWidget(box)

    def _show_place(self, memory_id: str, regions: tuple[SourceRegion, ...]) -> None:
        if memory_id != self._memory_id:
            return
        words = describe_pages(regions)
        self.place.setText(words)
        self.place.setVisible(bool(words))


FILES = InspectorSectionSpec("files", 13, FilesSection)

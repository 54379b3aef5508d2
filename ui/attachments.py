"""Files of memories as the window shows them: in words, as a card with a small picture, and as copies that are opened.

Names, captions and texts of files are strangers': plain text only, and no other program is given a file by the name it
came with. Must not do: read a file, or leave a copy behind.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from core.events import Changed
from core.types.files.attachments import AttachedFile, SourceRegion
from ui.bridge import make_query
from ui.context import Context
from ui.strings import attach_strings, format_count
from ui.theme.tokens import sizes
from ui.widgets.basics import Elided, make_column, make_label, make_row
from ui.widgets.labels import size_of
from ui.widgets.plaintext import one_line

ATTACHABLE = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pdf", ".docx", ".html", ".htm", ".txt"}
)
"""Endings of files that are attached when they are dropped; what is in them is told by their content."""

_MAY_BE_EXPORTS = frozenset({".html", ".htm", ".txt"})
"""Those of them in which programs export chats, highlights and bookmarks, too."""
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# By content, never by name: what is called a picture and is a program is opened by what shows pictures.
_OPENED = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/bmp": ".bmp",
    "image/tiff": ".tiff",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    _WORD: ".docx",
}
_NAME = 120
_STEM = re.compile(r"[^\w .()-]+")
_PREFIX = "loci-opened-"
_ADDING = frozenset({"attach", "import", "watched", "read_sealed", "search_sealed"})  # touches no memory that was there
SaveCopy = Callable[[AttachedFile, Path], Future[Path]]
"""Writes a file to a new place."""


def is_attachable(paths: Sequence[Path]) -> bool:
    """Whether dropped files are all pictures or documents by their names; a folder or an export is none."""
    return bool(paths) and all(path.suffix.lower() in ATTACHABLE for path in paths)


def offer_dropped(context: Context, paths: Sequence[Path], window: QObject) -> None:
    """Ask the person about what was dropped: pictures and documents are attached, everything else is imported.

    Args:
        context: tells where the dialogs are asked for.
        paths: what was dropped; a text or a page among it that is an export by its content is imported.
        window: in which it was dropped.
    """
    desk, files = context.desk, list(paths)
    unclear = [path for path in files if path.suffix.lower() in _MAY_BE_EXPORTS]
    if not is_attachable(files):
        desk.import_paths.emit(files)
    elif not unclear:
        desk.attach_paths.emit(files)
    else:
        imports = context.bridge.engine.imports
        task = make_query(attach_strings()["recognising"], lambda: imports.find_exports(unclear))
        offered = task.within(window, "dropped").success(
            lambda exports: (desk.import_paths if exports else desk.attach_paths).emit(files)
        )
        context.tasks.run(offered.failure(lambda _: desk.attach_paths.emit(files)))


def describe_type(file: AttachedFile) -> str:
    """What a file is, in words."""
    words = attach_strings()["types"]
    kind = "image" if file.media_type.startswith("image/") else file.media_type
    return str(words.get(kind, words["other"]))


def describe_file(file: AttachedFile) -> str:
    """What a file is, how large, and how many pages or pixels: `PDF document · 1.2 MB · 12 pages`."""
    strings, parts = attach_strings(), [describe_type(file), size_of(file.size)]
    if file.pages:
        parts.append(format_count(strings["pages"], file.pages))
    if file.width and file.height:
        parts.append(strings["pixels"].format(width=f"{file.width:,}", height=f"{file.height:,}"))
    return " · ".join(parts)


def describe_pages(regions: Sequence[SourceRegion]) -> str:
    """On which pages of its file a memory's text stands: `Pages 3–4`; "" where it is of none."""
    pages = sorted({region.page for region in regions if region.page is not None})
    if not pages:
        return ""
    strings = attach_strings()
    if len(pages) == 1:
        return str(strings["page"]).format(page=pages[0])
    return str(strings["page_span"]).format(first=pages[0], last=pages[-1])


class FileCard(QWidget):
    """A file: its small picture or an icon, its name, what it is."""

    def __init__(self, context: Context, file: AttachedFile) -> None:
        super().__init__()
        self._theme, self._file = context.theme, file
        self._side = context.theme.px(sizes().row * (2 if file.has_thumbnail else 1))
        self._picture: QPixmap | None = None
        self.picture = QLabel()
        self.picture.setFixedSize(self._side, self._side)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.name = Elided(one_line(file.name, _NAME))
        self.details = make_label(describe_file(file), "small", wrap=True)
        words = make_column(gap=2)
        words.addStretch(1)
        words.addWidget(self.name)
        words.addWidget(self.details)
        words.addStretch(1)
        layout = make_row(self.picture, parent=self, gap=10)
        layout.addLayout(words, 1)
        self.setAccessibleName(
            attach_strings()["section"]["card"].format(name=one_line(file.name, _NAME), details=describe_file(file))
        )
        self._paint()
        context.theme.changed.connect(self._paint)
        if file.has_thumbnail:
            files = context.bridge.engine.files
            task = make_query(attach_strings()["section"]["picture"], lambda: files.read_thumbnail(file.id))
            context.tasks.run(task.within(self).success(self._show_picture).failure(lambda _: None))

    def _show_picture(self, png: bytes | None) -> None:
        picture = QPixmap()
        if png is not None and picture.loadFromData(png, "PNG"):
            self._picture = picture
            self._paint()

    def _paint(self) -> None:
        if self._picture is None:
            side = self._side * 3 // 4
            self.picture.setPixmap(self._theme.icon("file", "muted").pixmap(QSize(side, side)))
            return
        ratio = self.devicePixelRatioF()
        side = round(self._side * ratio)
        shown = self._picture.scaled(
            side, side, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        shown.setDevicePixelRatio(ratio)
        self.picture.setPixmap(shown)


class HitPages(QObject):
    """On which pages of their files the memories of an answer stand.

    Signals:
        found: it is known for other memories than before.

    Attributes:
        words: memory ids to such as `Page 3`; those of no file, or of one without pages, are left out.
    """

    found = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.words: dict[str, str] = {}

    def request_pages(self, memory_ids: Sequence[str]) -> None:
        """Find them for other memories."""
        self.words = {}
        ids, files = tuple(memory_ids), self._context.bridge.engine.files
        if ids:
            task = make_query(attach_strings()["finding_pages"], lambda: files.count_files(ids)).within(self, "count")
            self._context.tasks.run(task.success(self._request_regions).failure(lambda _: None))

    def _request_regions(self, counts: Mapping[str, int]) -> None:
        files = self._context.bridge.engine.files
        for memory_id in counts:
            begin = partial(files.list_regions, memory_id)
            task = make_query(attach_strings()["finding_pages"], begin).within(self, memory_id)
            self._context.tasks.run(task.success(partial(self._note_pages, memory_id)).failure(lambda _: None))

    def _note_pages(self, memory_id: str, regions: Sequence[SourceRegion]) -> None:
        words = describe_pages(regions)
        if words:
            self.words[memory_id] = words
            self.found.emit()


class OpenedCopies(QObject):
    """Private copies of files that other programs show: gone when the palace is locked, and when Loci ends."""

    def __init__(
        self, context: Context, parent: QObject | None = None, save: SaveCopy | None = None, opened: str = ""
    ) -> None:
        """Begin without any.

        Args:
            save: writes one; None for files of memories that are not sealed.
            opened: what is said when one was opened; "" for what is true of those.
        """
        super().__init__(parent)
        self._context = context
        self._save = save or (lambda file, to: context.bridge.engine.files.save_to(file.id, to))
        self._opened = opened or str(attach_strings()["section"]["opened"])
        self._folders: dict[str, list[Path]] = {}
        self._root: Path | None = None
        self._forget: Callable[[], object] = lambda: None
        context.bridge.state.connect(self._on_vault_state)

    @property
    def is_empty(self) -> bool:
        """Whether no copy lies anywhere."""
        return not self._folders

    def may_open(self, file: AttachedFile) -> bool:
        """Whether other programs are given such a file: what only shows, by its content."""
        return file.media_type in _OPENED

    def open_file(self, file: AttachedFile) -> None:
        """Write a private copy and have the system show it; how it went is said."""
        folder = self._make_folder(file.memory_id)
        to = folder / f"{_plain_stem(file.name)}{_OPENED[file.media_type]}"
        strings = attach_strings()["section"]
        task = make_query(strings["open_task"], lambda: self._save(file, to)).within(self)
        self._context.tasks.run(task.success(self._show_copy))

    def _show_copy(self, path: Path) -> None:
        if not path.exists():
            return  # removed meanwhile, with what it was opened from
        is_shown = self._context.bridge.is_open and QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
        self._context.desk.show_message(self._opened if is_shown else attach_strings()["section"]["not_opened"])
        if not is_shown:
            self._remove_folder(path.parent)  # the others may be on the screen

    def _make_folder(self, memory_id: str) -> Path:
        if self._root is None:
            base = _private_base()
            _remove_stale(base)
            self._root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=base))
            # Runs at the end of the process, too, however it ends in good order.
            self._forget = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
            self._context.bridge.changed.connect(self._on_vault_changed)
        folder = Path(tempfile.mkdtemp(dir=self._root))
        self._folders.setdefault(memory_id, []).append(folder)
        return folder

    def _remove_folder(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        kept = {key: [one for one in some if one != folder] for key, some in self._folders.items()}
        self._folders = {key: some for key, some in kept.items() if some}

    def remove_copies(self) -> None:
        """Remove all of them."""
        self._folders.clear()
        if self._root is not None:
            self._context.bridge.changed.disconnect(self._on_vault_changed)
        self._root = None
        self._forget()

    def _on_vault_state(self, state: str) -> None:
        if state != "open":
            self.remove_copies()

    def _on_vault_changed(self, change: Changed) -> None:
        """A memory that was sealed, forgotten or erased leaves no copy of its file."""
        if not change.ids and change.verb in _ADDING:
            return
        for memory_id in change.ids or tuple(self._folders):
            for folder in self._folders.pop(memory_id, ()):
                shutil.rmtree(folder, ignore_errors=True)


def _plain_stem(name: str) -> str:
    stem = _STEM.sub("_", name.rpartition(".")[0] or name).strip(" .")
    return stem.encode("utf-8", "ignore")[:_NAME].decode("utf-8", "ignore") or "file"


def _private_base() -> Path:
    """A folder of this person alone, in memory where the system has one."""
    found = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.RuntimeLocation)
    return Path(found) if found and os.access(found, os.W_OK) else Path(tempfile.gettempdir())


def _remove_stale(base: Path) -> None:
    """Remove what a process that was killed left behind."""
    for folder in base.glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError):
            is_ours = folder.lstat().st_uid == os.getuid() if hasattr(os, "getuid") else True
            if pid.isdecimal() and is_ours and not folder.is_symlink() and not _is_running(int(pid)):
                shutil.rmtree(folder)


def _is_running(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, `os.kill` with 0 interrupts a process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

"""The section about Loci itself: its version, what it is made of, under which licences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from ui.context import Context
from ui.pages.settings.keys import ActionLine
from ui.pages.settings.rows import Section
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, label, row


@dataclass(frozen=True, slots=True)
class Part:
    """Something that comes from elsewhere.

    Attributes:
        title: what it is.
        description: by whom, under which licence.
        path: of its licence in `resources`.
    """

    title: str
    description: str
    path: tuple[str, ...]


PARTS: Sequence[Part] = (
    Part("Typeface", "Inter, by the Inter Project Authors: SIL Open Font License 1.1.", ("fonts", "LICENSE")),
    Part("Icons", "Lucide, by its contributors: ISC; some by Cole Bemis: MIT.", ("icons", "LICENSE")),
    Part(
        "Language model",
        "all-MiniLM-L6-v2, by sentence-transformers: Apache License 2.0. It runs on this computer.",
        ("model", "minilm", "LICENSE"),
    ),
)


class LicenceDialog(QDialog):
    """The words of a licence."""

    def __init__(self, theme: Theme, part: Part, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = f"Licence: {part.title.lower()}"
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.resize(theme.px(620), theme.px(480))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(title)
        self.text.setPlainText(files("resources").joinpath(*part.path).read_text(encoding="utf-8"))
        layout = column(self, label(title, "title"), self.text, margins=24, gap=12)
        layout.addLayout(row(None, button("Close", self.accept, kind="primary")))


class AboutSection(Section):
    """What Loci is."""

    def __init__(self, context: Context) -> None:
        super().__init__("About")
        self.context = context
        self.add(ActionLine(context, f"Loci {_version()}", "Free software: GNU General Public License 3 or later."))
        self.add(
            ActionLine(context, "Network", "Loci uses no network. Nothing leaves this computer.", "online private")
        )
        for part in PARTS:
            line = ActionLine(context, part.title, part.description, "licence license font")
            shown = line.offer("Read the licence", self._opener(part))
            shown.setAccessibleName(f"Read the licence: {part.title}")
            self.add(line)

    def _opener(self, part: Part) -> Callable[[], None]:
        return lambda: LicenceDialog(self.context.theme, part, self).open()


def _version() -> str:
    try:
        return version("loci-palace")
    except PackageNotFoundError:
        return ""

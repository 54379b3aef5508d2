"""What the Help menu opens: the manual, in the person's browser, and the terms of the window with their meanings.

Must not do: ask the engine, or open anything that is not on this machine; the terms are `resources/help/glossary.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from ui.strings import glossary_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row, make_scroll_area

_PAGES = Path("share") / "doc" / "loci-palace" / "manual" / "manual" / "index.html"


def list_manual_places(program: Path, prefix: Path, source: Path) -> Iterator[Path]:
    """Where the first page of the manual may lie, the likeliest first.

    Args:
        program: what runs: an interpreter, or the frozen program in `lib/loci` of what was installed.
        prefix: of the environment that a wheel was installed in.
        source: the checkout, if there is one.

    Yields:
        Files, whether they are there or not.
    """
    if program.parent.name == "loci" and program.parent.parent.name == "lib":
        yield program.parents[2] / _PAGES
    yield prefix / _PAGES
    yield source / "docs" / "manual" / "index.md"


def find_manual() -> Path | None:
    """The first page of the manual that came with this installation.

    Returns:
        None where none did.
    """
    places = list_manual_places(Path(sys.executable), Path(sys.prefix), Path(__file__).resolve().parents[2])
    return next((place for place in places if place.is_file()), None)


def open_manual(say: Callable[[str], None]) -> None:
    """Show the manual in the person's browser.

    Args:
        say: shows a sentence where no manual came along, or nothing here opens pages.
    """
    page, strings = find_manual(), window_strings()["manual"]
    if page is None:
        say(strings["none"])
    elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(page))):
        is_source = page.suffix == ".md"  # a checkout: no browser lays these pages out
        words = strings["not_opened_source" if is_source else "not_opened"]
        say(words.format(path=page.parent if is_source else page))


class GlossaryDialog(QDialog):
    """All terms in alphabetical order, and a field that narrows them."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        strings = glossary_strings()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.resize(theme.px(560), theme.px(560))
        self.search = QLineEdit()
        self.search.setPlaceholderText(strings["find"])
        self.search.setAccessibleName(strings["find"])
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self.show_matches)
        self.entries = [(entry, _make_entry(entry)) for entry in strings["terms"]]
        self.none = make_label(strings["none"], "muted")
        self.none.hide()
        inner = QWidget()
        column = make_column(inner, self.none, *(widget for _, widget in self.entries), gap=12)
        column.setContentsMargins(0, 0, 12, 0)
        column.addStretch(1)
        self.area = make_scroll_area(inner)
        self.area.setAccessibleName(strings["title"])
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # no entry takes the keyboard, and the list is long
        lead = make_label(strings["lead"], "muted", wrap=True)
        layout = make_column(self, make_label(strings["title"], "title"), lead, self.search, margins=24, gap=12)
        layout.addWidget(self.area, 1)
        layout.addLayout(make_row(None, make_button(strings["close"], self.accept, kind="primary")))

    def show_matches(self, typed: str) -> None:
        """Show the terms that contain some words, in their name or their meaning.

        Args:
            typed: the words; none shows all terms.
        """
        wanted = typed.casefold().split()
        matches = [
            all(word in f"{entry['term']} {entry['text']}".casefold() for word in wanted) for entry, _ in self.entries
        ]
        for (_, widget), is_match in zip(self.entries, matches, strict=True):
            widget.setVisible(is_match)
        self.none.setVisible(not any(matches))
        self.area.verticalScrollBar().setValue(0)

    @property
    def shown_terms(self) -> list[str]:
        """The terms that are visible."""
        return [str(entry["term"]) for entry, widget in self.entries if not widget.isHidden()]


def _make_entry(entry: Mapping[str, Any]) -> QWidget:
    made = QWidget()
    made.setAccessibleName(f"{entry['term']}: {entry['text']}")
    make_column(made, make_label(entry["term"], "strong"), make_label(entry["text"], wrap=True), gap=2)
    return made

"""The Help menu: the manual of this installation, and every term in order, narrowed by what is typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.registry import ROOMS
from ui.shell.help import GlossaryDialog, list_manual_places, open_manual
from ui.shell.window import MainWindow
from ui.strings import glossary_strings, window_strings


def test_every_term_is_shown_in_order_as_plain_text(context: Context, qtbot: QtBot) -> None:
    window = MainWindow(context, ROOMS)
    qtbot.addWidget(window)
    dialog = GlossaryDialog(context.theme, window)
    dialog.show()
    terms = [entry["term"] for entry in glossary_strings()["terms"]]
    assert dialog.shown_terms == terms == sorted(terms, key=str.casefold)
    assert {label.textFormat().name for label in dialog.findChildren(QLabel)} == {"PlainText"}
    assert all(widget.accessibleName() for _, widget in dialog.entries)
    dialog.close()
    window.close()


def test_what_is_typed_narrows_the_terms_by_name_and_meaning(context: Context, qtbot: QtBot) -> None:
    window = MainWindow(context, ROOMS)
    qtbot.addWidget(window)
    dialog = GlossaryDialog(context.theme, window)
    dialog.show()
    dialog.search.setText("outdat")
    assert dialog.shown_terms == ["Outdated"]
    dialog.search.setText("LATER replaced")
    assert dialog.shown_terms == ["Outdated"]
    dialog.search.setText("zeppelin")
    assert dialog.shown_terms == []
    assert dialog.none.isVisible()
    dialog.search.clear()
    assert len(dialog.shown_terms) == len(glossary_strings()["terms"])
    assert not dialog.none.isVisible()
    dialog.close()
    window.close()


def test_the_help_menu_opens_it(context: Context, qtbot: QtBot) -> None:
    window = MainWindow(context, ROOMS)
    qtbot.addWidget(window)
    window.show()
    context.commands.run("help.glossary")
    settle(qtbot, lambda: bool(window.findChildren(GlossaryDialog)))
    (dialog,) = window.findChildren(GlossaryDialog)
    assert dialog.isVisible()
    dialog.close()
    settle(qtbot, lambda: not window.findChildren(GlossaryDialog))
    window.close()


def test_the_help_menu_opens_the_manual_of_this_installation(
    context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    window = MainWindow(context, ROOMS)
    qtbot.addWidget(window)
    context.commands.run("help.manual")
    assert opened == [str(Path(__file__).resolve().parents[2] / "docs" / "manual" / "index.md")]
    window.close()


@pytest.mark.parametrize(
    ("found", "word", "named"),
    [
        (None, "none", ""),
        (Path("/manual/index.html"), "not_opened", "/manual/index.html"),
        (Path("/docs/manual/index.md"), "not_opened_source", "/docs/manual"),
    ],
)
def test_a_manual_that_cannot_be_shown_is_told(
    monkeypatch: pytest.MonkeyPatch, found: Path | None, word: str, named: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    monkeypatch.setattr("ui.shell.help.find_manual", lambda: found)
    open_manual(said.append)
    assert said == [window_strings()["manual"][word].format(path=named)]


def test_the_manual_lies_beside_the_program_or_in_the_checkout() -> None:
    pages = "share/doc/loci-palace/manual/manual/index.html"
    source = Path("/src")
    frozen = [*list_manual_places(Path("/m/usr/lib/loci/loci"), Path("/m/usr/lib/loci/_internal"), source)]
    assert frozen[0] == Path("/m/usr") / pages
    wheel = [*list_manual_places(Path("/venv/bin/python"), Path("/venv"), source)]
    assert wheel == [Path("/venv") / pages, source / "docs" / "manual" / "index.md"]

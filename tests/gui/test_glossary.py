"""The glossary: every term in order, narrowed by what is typed, reached from the Help menu."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.registry import ROOMS
from ui.shell.glossary import GlossaryDialog
from ui.shell.window import MainWindow
from ui.strings import glossary_strings


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

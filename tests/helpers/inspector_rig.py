"""Small deeds with the inspector, for its tests: select and wait, write, press, and what stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine_rig import Rig
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.inspector.panel import Inspector
from ui.inspector.text import TextSection
from ui.registry import INSPECTOR_SECTIONS
from ui.widgets.basics import KeyButton
from ui.widgets.memory_line import MemoryLine

TALK = ["Where do the boats go?", "To the boathouse.", "And in winter?", "Under the roof.", "Thank you.", "Gladly."]


def look(qtbot: QtBot, inspector: Inspector, context: Context, memory_id: str) -> None:
    """Select a memory and wait until it is shown."""
    context.selection.select(memory_id, "test")
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == memory_id)


def text_section(inspector: Inspector) -> TextSection:
    """The section of the text."""
    part = inspector.find_section("text")
    assert isinstance(part, TextSection)
    return part


def words_of(widget: QWidget) -> str:
    """Everything it says."""
    labels = [found.text() for found in widget.findChildren(QLabel) if not found.isHidden()]
    return " | ".join(labels)


def write_anew(context: Context, inspector: Inspector, words: str) -> None:
    """Open the editor and write."""
    context.commands.run("memory.edit")
    text_section(inspector).editor.field.setPlainText(words)


def press(part: QWidget, title: str) -> None:
    """Press the button of that title."""
    buttons = part.findChildren(QPushButton)
    found = [made for made in buttons if made.accessibleName() == title and made.isVisibleTo(part)]
    assert found, [made.accessibleName() for made in buttons]
    found[-1].click()


def edge(rig: Rig, from_id: str, to_id: str, kind: str) -> None:
    """A relation, as a later lifecycle makes it."""
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", from_id)
    row = {
        "id": f"{kind}-{from_id}", "from_id": from_id, "to_id": to_id, "type": kind, "space_id": space, "weight": 1.0,
        "made_by": "owner", "recorded_at": 0,
    }  # fmt: skip
    rig.write(lambda tx: tx.insert("edges", row))


def conversation(rig: Rig) -> list[str]:
    """A talk of six messages; their ids in order."""
    rows = [
        {
            "text": text,
            "session": "Boats",
            "author": ("user", "assistant")[n % 2],
            "time": f"2026-03-0{n + 1}T10:00:00Z",
        }
        for n, text in enumerate(TALK)
    ]
    rig.bring(rows)
    return [rig.value("SELECT id FROM memories WHERE text = ?", text) for text in TALK]


@contextmanager
def shown_inspector(qtbot: QtBot, context: Context) -> Iterator[Inspector]:
    """An inspector with all its sections, in a window of its own."""
    made = Inspector(context, INSPECTOR_SECTIONS)
    qtbot.addWidget(made)
    made.resize(360, 800)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()


def lines(widget: QWidget) -> list[MemoryLine]:
    """The lines that stand in it, from above."""
    found = [
        line for line in widget.findChildren(MemoryLine) if line.parentWidget() is not None and not line.isHidden()
    ]
    return sorted(found, key=lambda line: line.y())


def footer(inspector: Inspector) -> list[str]:
    """The titles of the footer's buttons."""
    return [made.title for made in inspector.actions_box.footer.findChildren(KeyButton) if not made.isHidden()]

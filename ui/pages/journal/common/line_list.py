"""The list of lines, and the buttons of what can be done with those that are chosen: each shows its key.

Must not do: ask the engine, or do anything itself; it tells what is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QSizePolicy, QWidget

from ui.lists.list_view import OPEN, Keep, ListKeys, ListView
from ui.pages.journal.common.lines import EntryRows
from ui.strings import journal_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout
from ui.widgets.keys import KeyButton

_NAMED = {"Enter": Qt.Key.Key_Return, "Del": Qt.Key.Key_Delete}


def key_of(act: str) -> Qt.Key:
    """The key of an act."""
    shown = str(journal_strings()["acts"][act]["key"])
    return _NAMED.get(shown) or Qt.Key(ord(shown))


class ActBar(QWidget):
    """Buttons of acts; those that make no sense now are hidden, or, where they stand for another choice, off.

    Signals:
        asked: an act.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, acts: Sequence[str]) -> None:
        """Make it.

        Args:
            theme: the theme.
            acts: keys of `acts` in the page's words.
        """
        super().__init__()
        self.setAccessibleName("What can be done with it")
        self.buttons: dict[str, KeyButton] = {}
        flow = FlowLayout(self, gap=8)
        for act in acts:
            said = journal_strings()["acts"][act]
            kind = "danger" if act == "erase" else "plain"
            made = KeyButton(theme, said["title"], said["key"], partial(self.asked.emit, act), kind)
            made.setToolTip(said["hint"])
            self.buttons[act] = made
            flow.addWidget(made)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def offer(self, acts: Collection[str], *, hides: bool = False) -> None:
        """Offer some of them.

        Args:
            acts: which.
            hides: whether the others go, and are not only off.
        """
        for name, made in self.buttons.items():
            made.setEnabled(name in acts)
            made.setVisible(not hides or name in acts)


def entry_list(theme: Theme, name: str, acts: Sequence[str], *, takes_many: bool = False) -> ListView:
    """A list of lines; letters act on what is chosen.

    Args:
        theme: the theme.
        name: for those who do not see it.
        acts: what can be done, with their keys.
        takes_many: whether several lines can be chosen.
    """
    by_key: dict[int, str] = {key_of(act): act for act in acts}
    if OPEN in acts:
        by_key[Qt.Key.Key_Enter] = OPEN
    keys = ListKeys(by_key, lets_go=True, searches=False)
    made = ListView(EntryRows(theme), name, keys, keep=Keep.BEFORE, takes_many=takes_many)
    made.setFrameShape(QFrame.Shape.NoFrame)
    made.offered = frozenset()
    made.menu = lambda: make_menu(made, acts) if made.offered else None
    return made


def make_menu(shown: ListView, acts: Sequence[str]) -> QMenu:
    """What can be done with what is chosen.

    Args:
        shown: the list.
        acts: keys of `acts` in the page's words.
    """
    made = QMenu(shown)
    made.setAccessibleName("What can be done with it")
    made.aboutToHide.connect(made.deleteLater)
    for act in (act for act in acts if act in (shown.offered or ())):
        said = journal_strings()["acts"][act]
        keys = QKeySequence(said["key"]).toString(QKeySequence.SequenceFormat.NativeText)
        made.addAction(f"{said['title']}\t{keys}").triggered.connect(lambda _checked=False, act=act: shown.act(act))
    return made


def lie_down(line: QBoxLayout, *, is_wide: bool) -> None:
    """Let what stands in a row lie below each other where it is narrow, from the left.

    Args:
        line: a row of widgets; the first takes what is left.
        is_wide: whether there is room for all of them beside each other.
    """
    way = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
    if line.direction() == way:
        return
    line.setDirection(way)
    for place in range(1, line.count()):
        found = line.itemAt(place)
        widget = None if found is None else found.widget()
        if widget is not None:
            line.setAlignment(widget, Qt.AlignmentFlag(0) if is_wide else Qt.AlignmentFlag.AlignLeft)

"""The recovery code: shown once, then checked.

Must not do: write it anywhere itself; the engine does, where the person says.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLineEdit, QWidget

from ui.context import Context
from ui.gate.sheet import Sheet
from ui.tasks import problem_of, write
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, label, row
from ui.widgets.secret import mark

_COLUMNS = 3
_LOOKALIKES = str.maketrans({"0": "O", "8": "B"})
_FILE = "Loci recovery code.txt"


def letters_of(typed: str) -> str:
    """What was typed of a code, as it is compared: capitals, without spaces and dashes, 0 for O, 8 for B.

    Args:
        typed: as a person types it.
    """
    return "".join(character for character in typed.upper().translate(_LOOKALIKES) if character.isalnum())


def fits(typed: str, wanted: str) -> bool:
    """Whether something typed is a part of the code; 1 stands for I or L.

    Args:
        typed: as a person types it.
        wanted: the part, or the code.
    """
    have, want = letters_of(typed), letters_of(wanted)
    return len(have) == len(want) and all(a == b or (a == "1" and b in "IL") for a, b in zip(have, want, strict=True))


class ShowCode(QWidget):
    """The code in groups, with ways to take it along."""

    def __init__(self, context: Context, code: str, onward: Callable[[], None]) -> None:
        """Make it.

        Args:
            context: the window's services.
            code: groups joined by hyphens.
            onward: goes on to the check.
        """
        super().__init__()
        theme = context.theme
        self._context = context
        self._code = code
        self.sheet = Sheet(
            theme,
            "Your recovery code",
            "If you ever forget the passphrase, this code is the only other way in. It is shown this once: write it "
            "down, or keep it in a password manager.",
            step="2 of 3",
            width=480,
        )
        grid = QGridLayout()
        grid.setContentsMargins(0, 8, 0, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        for nr, group in enumerate(code.split("-")):
            grid.addWidget(_group(nr + 1, group), nr // _COLUMNS, nr % _COLUMNS)
        self.sheet.add_row(grid)
        self.copy = button("Copy", self._copy, theme=theme, icon="copy")
        self.save = button("Save to a file …", self._ask_place, theme=theme, icon="save")
        self._note = label("", "small", wrap=True)
        self.sheet.space(4)
        self.sheet.add(self._note)
        self._note.hide()
        self.main = button("I have kept it", onward, kind="primary")
        self.sheet.close_with(self.copy, self.save, self.main)
        column(self, self.sheet)
        self.setFocusProxy(self.main)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self._say("Copied. Loci takes it off the clipboard when you are done here.")

    def _ask_place(self) -> None:
        asking = QFileDialog(self, "Save the recovery code", _FILE)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        asking.setNameFilter("Text (*.txt)")
        asking.setDefaultSuffix("txt")
        asking.fileSelected.connect(self.save_to)
        asking.open()

    def save_to(self, place: str) -> None:
        """Write the code into a file only this person may read.

        Args:
            place: the file; replaced if it exists, as the dialog has asked.
        """
        code, vault = self._code, self._context.bridge.engine.vault
        self.save.setEnabled(False)
        task = write("Saving the recovery code", lambda: vault.keep_recovery_code(code, Path(place))).within(self)
        self._context.tasks.run(task.success(self._saved).failure(self._not_saved))

    def _saved(self, _nothing: None) -> None:
        self.save.setEnabled(True)
        self.sheet.clear_trouble()
        self._say("Saved. Move the file to a place that is not this computer.")

    def _not_saved(self, error: BaseException) -> None:
        self.save.setEnabled(True)
        problem = problem_of(error)
        if problem is not None and problem.family == "user":
            self.sheet.refuse(problem.sentence)
        else:
            self.sheet.refuse("The code could not be written there; choose another place.")

    def _say(self, sentence: str) -> None:
        self._note.setText(sentence)
        self._note.setAccessibleName(sentence)
        self._note.show()


def _group(number: int, letters: str) -> QWidget:
    made = QWidget()
    words = label(letters)
    words.setObjectName("code")
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    words.setAccessibleName(f"Group {number}: {' '.join(letters)}")
    nr = label(str(number), "small")
    nr.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    nr.setFixedWidth(nr.fontMetrics().horizontalAdvance("00"))
    row(nr, words, None, gap=8, parent=made)
    return made


class CheckCode(QWidget):
    """Two groups of the code, typed back; the whole code in either field does as well."""

    def __init__(
        self,
        theme: Theme,
        code: str,
        back: Callable[[], None],
        onward: Callable[[], None],
        asked: tuple[int, int] | None = None,
    ) -> None:
        """Make it.

        Args:
            theme: the theme.
            code: groups joined by hyphens.
            back: shows the code once more.
            onward: is called once what was typed fits.
            asked: numbers of the groups from 1; None for any two.
        """
        super().__init__()
        self._code, self._groups, self._onward = code, code.split("-"), onward
        first, second = asked or sorted(random.SystemRandom().sample(range(1, len(self._groups) + 1), 2))
        self.sheet = Sheet(
            theme,
            "Is it safe?",
            f"Type groups {first} and {second} of the code you kept, or paste the whole of it into either field.",
            step="2 of 3",
            width=480,
        )
        self.fields = {number: self._field(number) for number in (first, second)}
        columns = [column(None, label(f"Group {number}", "strong"), line) for number, line in self.fields.items()]
        line = row(gap=16)
        for made in columns:
            line.addLayout(made)
        self.sheet.add_row(line)
        self.main = button("Check", self.check, kind="primary")
        self.back = button("Show the code again", back)
        self.sheet.close_with(self.back, self.main)
        column(self, self.sheet)
        self.setFocusProxy(self.fields[first])

    def _field(self, number: int) -> QLineEdit:
        made = QLineEdit()
        made.setObjectName("code")
        made.setAccessibleName(f"Group {number}")
        made.returnPressed.connect(self._enter)
        made.textEdited.connect(self._edited)
        return made

    def _edited(self) -> None:
        self.sheet.clear_trouble()
        for line in self.fields.values():
            mark(line, is_wrong=False)

    def _enter(self) -> None:
        empty = [line for line in self.fields.values() if not line.text().strip()]
        if empty and not self._has_whole():
            empty[0].setFocus()
        else:
            self.check()

    def _has_whole(self) -> bool:
        return any(fits(line.text(), self._code) for line in self.fields.values())

    def check(self) -> None:
        """Go on if what was typed fits."""
        wrong = [n for n, line in self.fields.items() if not fits(line.text(), self._groups[n - 1])]
        if self._has_whole() or not wrong:
            for line in self.fields.values():
                line.setText("")
            self.sheet.clear_trouble()
            self._onward()
            return
        for number in wrong:
            mark(self.fields[number], is_wrong=True)
        many = " and ".join(str(number) for number in wrong)
        self.sheet.refuse(
            f"Group {many} is another one." if len(wrong) == 1 else f"Groups {many} are other ones.",
        )
        self.fields[wrong[0]].setFocus()
        self.fields[wrong[0]].selectAll()


def clear_clipboard(code: str) -> None:
    """Take the code off the clipboard, if it is still there.

    Args:
        code: as it was copied.
    """
    clipboard = QGuiApplication.clipboard()
    if code and clipboard.text() == code:
        clipboard.clear()

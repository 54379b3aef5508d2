"""The one-time code, big and in groups of four, with its time and how to use it.

Must not do: open pairing; it tells what the person wants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QComboBox, QProgressBar, QVBoxLayout, QWidget

from core.config.grant_wording import describe_limits_of_grants, shell_quoted
from ui.strings import clients_strings, format_count
from ui.theme.theme import Theme
from ui.widgets.basics import button, card, column, label, row

_GROUP = 4
_LIFE_S = 120
_ASSISTANTS = "assistants.json"
_PLACE = "CODE"
_NAME = "NAME"
"""Where the code stands in the steps, and where the name."""


@cache
def assistants() -> Mapping[str, Sequence[str]]:
    """Name of an assistant to the steps that bring it here; empty where no help is shipped."""
    file = files("resources") / "help" / _ASSISTANTS
    if not file.is_file():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    known = found.get("assistants", found)
    return {str(name): tuple(steps) for name, steps in known.items() if isinstance(steps, list)}


def in_groups(code: str) -> str:
    """A code as it is read aloud: groups of four."""
    return " ".join(code[at : at + _GROUP] for at in range(0, len(code), _GROUP))


class CodeView(QWidget):
    """The code.

    Signals:
        again: a new one is wanted.
        closed: the person is done here.
        token_asked: a token is wanted instead.
    """

    again = Signal()
    closed = Signal()
    token_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        said = clients_strings()["pairing"]
        self._theme, self._code, self._name = theme, "", ""
        self.title = label(said["title"], "title", wrap=True)
        self.code = label(said["wait"])
        self.code.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.code.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.code.setMinimumHeight(theme.px(44))
        self.bar = QProgressBar()
        self.bar.setRange(0, _LIFE_S)
        self.bar.setTextVisible(False)
        self.left, self.missed = label("", "small"), label("", "warning", wrap=True)
        self.missed.hide()
        self.copy = button(said["copy"], self._copy, theme=theme, icon="copy")
        frame, inside = card("panel", margins=16, gap=8)
        inside.addWidget(self.code)
        inside.addWidget(self.bar)
        inside.addLayout(row(self.left, None, self.copy))
        inside.addWidget(self.missed)
        box = column(self, self.title, label(said["lead"], "muted", wrap=True), frame, gap=12)
        self._add_help(box)
        box.addWidget(label(describe_limits_of_grants(), "small", wrap=True))
        box.addStretch(1)
        self.token = button(said["token"], self.token_asked.emit, kind="link")
        self.cancel = button(clients_strings()["cancel"], self.closed.emit)
        box.addLayout(row(self.token, None, self.cancel))
        theme.changed.connect(self._restyle)
        self._restyle()

    def _add_help(self, box: QVBoxLayout) -> None:
        said = clients_strings()["pairing"]
        self.which = QComboBox()
        self.which.setAccessibleName(said["how"])
        self.steps = label(said["how_plain"], "body", wrap=True)
        self.steps.setTextInteractionFlags(self.code.textInteractionFlags())
        layout = column(None, label(said["how"], "label"), gap=6)
        if assistants():
            self.which.addItems(list(assistants()))
            self.which.currentTextChanged.connect(self._show_steps)
            self._show_steps(self.which.currentText())
            layout.addWidget(self.which)
        layout.addWidget(self.steps)
        box.addLayout(layout)

    def _show_steps(self, name: str) -> None:
        steps = assistants().get(name, ())
        told = "\n".join(f"{nr}. {step}" for nr, step in enumerate(steps, 1))
        if self._name:
            told = told.replace(_NAME, shell_quoted(self._name))
        self.steps.setText(told.replace(_PLACE, self._code) if self._code else told)

    def show_name(self, title: str, name: str | None) -> None:
        """Say for whom the code is.

        Args:
            title: what the person is about to do.
            name: the name the client must get; None to take its own.
        """
        self.title.setText(title)
        self.title.setAccessibleName(title)
        self._name = name or ""
        if name and assistants():
            is_its = f" {name} "
            known = [at for at, steps in enumerate(assistants().values()) if any(is_its in step for step in steps)]
            self.which.setCurrentIndex(known[0] if known else self.which.count() - 1)
            self._show_steps(self.which.currentText())

    def _restyle(self) -> None:
        font = self._theme.font("mono")
        font.setPixelSize(self._theme.px(26))
        font.setWeight(QFont.Weight.DemiBold)
        # The style sheet sets every label's font; only one of its own outdoes it.
        self.code.setStyleSheet(f'font-family: "{font.family()}"; font-size: {font.pixelSize()}px; font-weight: 600;')

    def wait(self) -> None:
        """No code yet."""
        self._code = ""
        self.code.setText("· · · ·")
        self.code.setAccessibleName(clients_strings()["pairing"]["wait"])
        self.left.setText("")
        self.missed.hide()
        self.copy.setEnabled(False)

    def show_code(self, code: str) -> None:
        """Show one.

        Args:
            code: 16 characters.
        """
        self._code = code
        self.code.setText(in_groups(code))
        self.code.setAccessibleName(f"{clients_strings()['pairing']['code']}: {', '.join(in_groups(code).split())}")
        self.copy.setText("\u2009" + clients_strings()["pairing"]["copy"])
        self.copy.setEnabled(True)
        self.copy.setFocus()
        if assistants():
            self._show_steps(self.which.currentText())

    def show_time(self, left: int) -> None:
        """Say how long it lives.

        Args:
            left: seconds.
        """
        if self._code:
            self.bar.setValue(min(left, _LIFE_S))
            self.left.setText(format_count(clients_strings()["pairing"]["left"], left))
            self.bar.setAccessibleName(self.left.text())

    def show_missed(self, count: int) -> bool:
        """Say how many wrong codes were given.

        Args:
            count: so far.

        Returns:
            Whether that is news.
        """
        told = format_count(clients_strings()["pairing"]["missed"], count) if count else ""
        is_new = bool(count) and (self.missed.isHidden() or told != self.missed.text())
        if is_new:
            self.missed.setText(told)
            self.missed.setAccessibleName(told)
            self.missed.show()
        return is_new

    def _copy(self) -> None:
        if self._code:  # it works once and for two minutes: it may stay on the clipboard
            QGuiApplication.clipboard().setText(self._code)
            self.copy.setText("\u2009" + clients_strings()["pairing"]["copied"])

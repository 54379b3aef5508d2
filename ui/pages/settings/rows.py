"""What a settings page is made of: sections, and in them a line for each option or action.

Must not do: know a single option, or ask the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QVBoxLayout, QWidget

from core.types.replies import OptionRow
from ui.pages.settings.controls import control_for, words_for
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, button, column, hairline, label, restyle

_CONTROL = 200
_MARGIN = 16
_LEAST = 96
_NOTE = 22


class Line(QWidget):
    """A title with what it means, and at its right what can be done about it.

    Attributes:
        words: what the search looks in, in small letters.
    """

    def __init__(self, theme: Theme, title: str, description: str, words: str = "") -> None:
        """Make it.

        Args:
            theme: the theme.
            title: what it is.
            description: one or two sentences.
            words: more words by which it is found.
        """
        super().__init__()
        self.theme = theme
        self.words = f"{title} {description} {words}".casefold()
        self.title = label(title, "strong", wrap=True)
        self.description = label(description, "muted", wrap=True)
        self.told = label("", "small", wrap=True)
        for words_shown in (self.title, self.description, self.told):
            words_shown.setMinimumWidth(theme.px(_LEAST))  # or Qt takes what suits it, and the page would not fit
        self.told.hide()
        self.texts = column(None, self.title, self.description, gap=2)
        self.texts.addWidget(self.told)
        self.side = QWidget()
        self.side_column = column(self.side, gap=6)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(_MARGIN, 12, _MARGIN, 12)
        self._layout.setSpacing(16)
        self._layout.addLayout(self.texts, 1)
        self._layout.addWidget(self.side, 0, Qt.AlignmentFlag.AlignVCenter)
        self._is_narrow = False

    def tell(self, sentence: str, tone: str = "small") -> None:
        """Say something in place.

        Args:
            sentence: what; "" to say nothing any more.
            tone: small, danger, warning or success.
        """
        restyle(self.told, "role", tone)
        self.told.setText(sentence)
        self.told.setAccessibleName(sentence)
        self.told.setVisible(bool(sentence))

    def fold(self, *, is_narrow: bool) -> None:
        """Stand below each other where there is no room beside each other.

        Args:
            is_narrow: whether there is none.
        """
        if self._is_narrow == is_narrow:
            return  # to say it again would lay out every line anew
        self._is_narrow = is_narrow
        ways = QBoxLayout.Direction
        self._layout.setDirection(ways.TopToBottom if is_narrow else ways.LeftToRight)
        self._layout.setSpacing(8 if is_narrow else 16)
        side = Qt.AlignmentFlag.AlignLeft if is_narrow else Qt.AlignmentFlag.AlignVCenter
        self._layout.setAlignment(self.side, side)


class OptionLine(Line):
    """An option with its control.

    Attributes:
        row: as it was shown last.

    Signals:
        wanted: (name, value) the person chose.
        reset: the name of the option that shall have its default.
    """

    wanted = Signal(str, object)
    reset = Signal(str)

    def __init__(self, theme: Theme, option: OptionRow) -> None:
        super().__init__(theme, option.title, option.description, f"{option.name} {option.group} {option.unit}")
        self.setAccessibleName(option.title)
        self.row = option
        self.control = control_for(theme, option)
        self.control.wanted.connect(self._tell_wanted)
        self.side_column.addWidget(self.control, 0, Qt.AlignmentFlag.AlignRight)
        self._notes = QWidget()
        self._flow = FlowLayout(self._notes, gap=4)
        self.reset_button = button("Reset", self._tell_reset, kind="link")
        self.reset_button.setAccessibleName(f"Reset {option.title}")
        self._parts = [label(note, "small") for note in self._notes_of(option)]
        for part in self._parts:
            self._flow.addWidget(part)
        self._flow.addWidget(self.reset_button)
        self.texts.insertWidget(2, self._notes)
        theme.changed.connect(self._measure)
        self._measure()
        self.show_option(option)

    def _measure(self) -> None:
        for part in self._parts:
            part.setMinimumHeight(self.theme.px(_NOTE))  # as high as the button beside them
        if self.row.kind == "bool":
            return
        self.control.setFixedWidth(self.theme.px(_CONTROL))

    def _tell_wanted(self, value: object) -> None:
        self.wanted.emit(self.row.name, value)

    def _tell_reset(self) -> None:
        self.reset.emit(self.row.name)

    def show_option(self, option: OptionRow) -> None:
        """Show how it is now."""
        self.row = option
        self.control.show_value(option.value)
        self.reset_button.setVisible(option.is_changed)
        self.reset_button.setToolTip(f"Back to {words_for(option, option.default)}")
        self.tell("")

    @property
    def note(self) -> str:
        """What stands below the description."""
        return " ".join(self._notes_of(self.row))

    @staticmethod
    def _notes_of(option: OptionRow) -> list[str]:
        notes = [f"Default{':' if option.choices else ''} {words_for(option, option.default)}"]
        if not option.choices and option.least is not None and option.most is not None:
            notes.append(f"· {option.least:,} to {option.most:,}")
        if option.needs_restart:
            notes.append("· from the next start on")
        return notes

    def refuse(self, sentence: str) -> None:
        """Show what is wrong with the value that was wanted, and the one that holds."""
        self.control.show_value(self.row.value)
        self.tell(sentence, "danger")


class Section(QWidget):
    """A heading and its lines on one card.

    Attributes:
        title: the heading.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.setAccessibleName(title)
        self._card = QFrame()
        self._card.setObjectName("card")
        self._column: QVBoxLayout = column(self._card, gap=0)
        self._lines: list[tuple[QWidget | None, Line]] = []
        column(self, label(title, "section"), self._card, gap=8)

    @property
    def lines(self) -> Sequence[Line]:
        """What is in it."""
        return tuple(line for _, line in self._lines)

    def add(self, line: Line) -> None:
        """Put a line below the others."""
        rule: QWidget | None = None
        if self._lines:
            rule = QWidget()
            inside = column(rule, hairline())
            inside.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
            self._column.addWidget(rule)
        self._column.addWidget(line)
        self._lines.append((rule, line))

    def fold(self, *, is_narrow: bool) -> None:
        """Fold or unfold all its lines."""
        for _, line in self._lines:
            line.fold(is_narrow=is_narrow)

    def sift(self, typed: str) -> int:
        """Show only lines that hold every word.

        Args:
            typed: words; the section's own title counts as words of every line.

        Returns:
            How many lines are left; without any the section is hidden.
        """
        wanted, found = typed.casefold().split(), 0
        for rule, line in self._lines:
            words = f"{self.title.casefold()} {line.words}"
            is_shown = all(word in words for word in wanted)
            _let_show(line, is_shown)
            if rule is not None:
                _let_show(rule, is_shown and found > 0)
            found += is_shown
        _let_show(self, found > 0)
        return found


def _let_show(widget: QWidget, is_shown: bool) -> None:
    """Hide or show it; to say again what is so would lay out everything anew."""
    if widget.isHidden() is is_shown:
        widget.setVisible(is_shown)

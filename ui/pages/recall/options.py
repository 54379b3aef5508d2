"""Every option of recall: groups, bounds, defaults; a change is tried at once and applied elsewhere.

Must not do: apply, or ask the engine but through the tuning desk.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QLineEdit, QPushButton, QWidget

from core.types.replies import OptionRow
from ui.context import Context
from ui.pages.recall.knobs import Knob, KnobChoice
from ui.pages.recall.tuner import TuningDesk
from ui.strings import recall_strings, window_strings
from ui.widgets.basics import make_button, make_column, make_hairline, make_label, make_row, make_scroll_area

_WIDTH, _HEIGHT = 620, 640
_KNOB = 230


class TrialOptionLine(QWidget):
    """One option: what it is, its bounds and default, and what turns it.

    Attributes:
        name: of the option.
        reset: back to its default.
    """

    def __init__(self, context: Context, desk: TuningDesk, option: OptionRow) -> None:
        super().__init__()
        self._desk, self.name = desk, option.name
        self.words = f"{option.title} {option.description} {option.group} {option.name}".casefold()
        strings = recall_strings()["options"]
        self.control: Knob | KnobChoice
        if option.kind in {"int", "float"}:
            self.control = Knob(context.theme, option, option.title, option.description, is_exact=True)
        else:
            self.control = KnobChoice(option)
        self.control.turned.connect(desk.try_value)
        self.control.setFixedWidth(context.theme.px(_KNOB))
        self._note = make_label("", "small", wrap=True)
        self.reset: QPushButton = make_button(
            strings["reset"], lambda: desk.try_value(self.name, option.default), kind="link"
        )
        self.reset.setProperty("flush", "true")
        self.reset.setAccessibleName(f"{strings['reset']} {option.title}")
        texts = make_column(None, make_label(option.description, "muted", wrap=True), gap=2)
        texts.addLayout(make_row(self._note, self.reset, gap=8))
        layout = QGridLayout(self)
        layout.setContentsMargins(16, 10, 16, 10)
        layout.setHorizontalSpacing(20)
        layout.addWidget(self.control, 0, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 0, 1)
        layout.setColumnStretch(1, 1)
        self.show_value(option)

    def show_value(self, option: OptionRow) -> None:
        """Show how it is now and what is tried."""
        strings, value = recall_strings()["options"], self._desk.trial_value(option.name)
        self.control.show_value(option, value)
        parts = [strings["default"].format(value=_format_value(option, option.default))]
        if option.least is not None and option.most is not None:
            parts.append(
                strings["bounds"].format(
                    least=_format_value(option, option.least), most=_format_value(option, option.most)
                )
            )
        if value != option.value:
            parts.append(strings["changed"].format(value=_format_value(option, option.value)))
        self._note.setText(" · ".join(parts))
        self.reset.setVisible(value != option.default)


class OptionsDialog(QDialog):
    """All of them."""

    def __init__(self, context: Context, desk: TuningDesk, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        strings = recall_strings()["options"]
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        px = context.theme.px
        self.resize(min(px(_WIDTH), max(400, parent.width() - 40)), min(px(_HEIGHT), max(320, parent.height() - 40)))
        self._context, self._desk = context, desk
        self.search = QLineEdit()
        self.search.setAccessibleName(strings["search"])
        self.search.setPlaceholderText(strings["search"])
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter_lines)
        self.lines: dict[str, TrialOptionLine] = {}
        self._sections: list[tuple[QWidget, list[TrialOptionLine]]] = []
        self._nothing = make_label(strings["none"], "muted")
        self._nothing.hide()
        inner = QWidget()
        self._column = make_column(inner, gap=16)
        self._column.setContentsMargins(0, 0, 8, 0)
        self._build_groups()
        self._column.addWidget(self._nothing)
        self._column.addStretch(1)
        self.apply = make_button(recall_strings()["tuner"]["apply"], self._apply_trial, kind="primary")
        self.apply.setDefault(False)
        self.apply.setAutoDefault(False)
        self.reset = make_button(recall_strings()["tuner"]["reset"], desk.reset_trial)
        self.close_button = make_button(window_strings()["buttons"]["close"], self.accept)
        for part in (self.reset, self.close_button):
            part.setAutoDefault(False)
        layout = make_column(
            self, make_label(strings["title"], "title"), make_label(strings["sentence"], "muted", wrap=True), margins=24
        )
        layout.setSpacing(12)
        layout.addWidget(self.search)
        layout.addWidget(make_scroll_area(inner), 1)
        layout.addLayout(make_row(self.apply, self.reset, None, self.close_button))
        desk.tried.connect(self._show_options)
        desk.read_done.connect(self._show_options)
        self._show_options()
        self.search.setFocus()

    def _build_groups(self) -> None:
        groups: dict[str, list[OptionRow]] = {}
        for option in self._desk.rows.values():
            groups.setdefault(option.group, []).append(option)
        for group, options in groups.items():
            card = QFrame()
            card.setObjectName("card")
            inside = make_column(card, gap=0)
            made: list[TrialOptionLine] = []
            for option in options:
                if made:
                    inside.addWidget(make_hairline())
                line = TrialOptionLine(self._context, self._desk, option)
                inside.addWidget(line)
                made.append(line)
                self.lines[option.name] = line
            section = QWidget()
            section.setAccessibleName(group)
            make_column(section, make_label(group, "section"), card, gap=8)
            self._column.addWidget(section)
            self._sections.append((section, made))

    def _show_options(self) -> None:
        for option in self._desk.rows.values():
            if option.name in self.lines:
                self.lines[option.name].show_value(option)
        for part in (self.apply, self.reset):
            part.setEnabled(bool(self._desk.trial))

    def _filter_lines(self, typed: str) -> None:
        wanted, found = typed.casefold().split(), 0
        for section, lines in self._sections:
            shown = 0
            for line in lines:
                fits = all(word in line.words for word in wanted)
                line.setVisible(fits)
                shown += fits
            section.setVisible(shown > 0)
            found += shown
        self._nothing.setVisible(not found)

    def _apply_trial(self) -> None:
        self._desk.apply_trial()
        self.accept()


def _format_value(option: OptionRow, value: object) -> str:
    if isinstance(value, bool):
        return str(recall_strings()["switch"]["on" if value else "off"])
    if isinstance(value, int | float):
        number = f"{value:,.0f}" if option.kind == "int" or float(value).is_integer() else f"{value:,.2f}"
        return f"{number} {option.unit}".strip()
    return option.choices.get(str(value), str(value))

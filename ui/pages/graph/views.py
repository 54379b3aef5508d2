"""What is shown: the line of the search syntax, switches, the minimum similarity, and the named views.

Must not do: read or save; it says what the person wants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QCompleter, QDialog, QLineEdit, QPushButton, QSlider, QWidget

from core.types.entities import EntityLine
from core.types.views import GraphView
from ui.context import Context
from ui.strings import graph_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import (
    FlowLayout,
    MenuChip,
    make_button,
    make_column,
    make_label,
    make_row,
    make_timer,
    set_style_property,
)
from ui.widgets.labels import name_space
from ui.widgets.plaintext import one_line

_PAUSE_MS = 250
_PAUSE_UNREAD_MS = 900  # somebody is in the middle of a word, such as `kind:`
_PAUSE_SLIDER_MS = 180
_LEAST, _MOST = 20, 95
_NAME = 64
_SAVE, _DROP, _VIEW = "save", "drop", "view:"
_SHORT = 22


class StartNameField(QLineEdit):
    """Takes a name to begin with; what is like it is offered below.

    Signals:
        asked: what was typed, once somebody pauses.
        chosen: the id of an entity.
        missed: a sentence: there is no such name.
    """

    asked = Signal(str)
    chosen = Signal(str)
    missed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        strings = graph_strings()["begin"]
        self.setAccessibleName(strings["name"])
        self.setPlaceholderText(strings["hint"])
        self.setMinimumWidth(1)
        self._ids: dict[str, str] = {}
        self._names = QStringListModel(self)
        offered = QCompleter(self._names, self)
        offered.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        offered.activated.connect(
            lambda picked: self._choose_name(picked if isinstance(picked, str) else picked.data())
        )
        self.setCompleter(offered)
        self._pause = make_timer(self, self._ask_names, _PAUSE_MS)
        self.textEdited.connect(lambda _: self._pause.start())
        self._is_sure = False
        self.returnPressed.connect(self._on_return)

    def _ask_names(self) -> None:
        typed = self.text().strip()
        if typed and typed not in self._ids:
            self.asked.emit(typed)

    def _on_return(self) -> None:
        self._is_sure = True
        if self.text().strip() in self._ids:
            self._choose_name(self.text().strip())
        else:
            self._ask_names()

    def offer_names(self, lines: Sequence[EntityLine]) -> None:
        """Offer names; after Enter the first of them is taken."""
        if not lines:
            self.missed.emit(graph_strings()["begin"]["none"].format(text=one_line(self.text(), _NAME)))
        form = graph_strings()["in_space"]
        names = [one_line(line.name, _NAME) for line in lines]
        shown = [
            form.format(name=name, space=name_space(line.space)) if names.count(name) > 1 else name
            for name, line in zip(names, lines, strict=True)
        ]
        self._ids = {name: line.id for name, line in zip(shown, lines, strict=True)}
        self._names.setStringList(shown)
        if self._is_sure and shown:
            self._choose_name(shown[0])
        elif shown and self.hasFocus():
            self.completer().complete()

    def _choose_name(self, name: str) -> None:
        self._is_sure = False
        if name in self._ids:
            self._pause.stop()
            self.setText("")
            popup = self.completer().popup()
            if popup is not None:
                popup.hide()
            self.chosen.emit(self._ids[name])


class FilterLine(QWidget):
    """A line of the library's search syntax.

    Attributes:
        trouble: a label for what was not understood; the page puts it below.

    Signals:
        changed: the search; only what is understood is told.
        left: Enter or the down key: on to the graph.
    """

    changed = Signal(str)
    left = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._applied_text = context, ""
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setPlaceholderText(graph_strings()["filter"]["hint"])
        self.field.setAccessibleName(graph_strings()["filter"]["name"])
        self.field.setAccessibleDescription(graph_strings()["filter"]["description"])
        self.field.setClearButtonEnabled(True)
        self._funnel = QAction(self)
        self.field.addAction(self._funnel, QLineEdit.ActionPosition.LeadingPosition)
        self.field.textEdited.connect(self._on_text_edited)
        self.field.textChanged.connect(self._on_text_changed)
        self.field.installEventFilter(self)
        self.trouble = make_label("", "danger", wrap=True)
        self.trouble.hide()
        make_row(self.field, parent=self)
        self._pause = make_timer(self, self.apply_typed)
        context.theme.changed.connect(self._restyle_icon)
        self._restyle_icon()

    def _restyle_icon(self) -> None:
        self._funnel.setIcon(self._context.theme.icon("filter", "muted"))

    @property
    def problem(self) -> str:
        """What is said about what was not understood; "" where all was."""
        return "" if self.trouble.isHidden() else self.trouble.text()

    def show_query(self, query: str) -> None:
        """Show a search without telling anybody."""
        self._applied_text = query
        if self.field.text().strip() != query:
            self.field.setText(query)
        self._pause.stop()
        self._show_problem("")

    def show_problem(self, sentence: str) -> None:
        """Say what the engine did not understand."""
        self._show_problem(sentence)

    def stop_timer(self) -> None:
        """Nobody types any more."""
        self._pause.stop()

    def _on_text_edited(self, text: str) -> None:
        wrong = self._context.bridge.engine.library.parse_search(text).problems
        self._pause.start(_PAUSE_UNREAD_MS if wrong else _PAUSE_MS)

    def _on_text_changed(self, text: str) -> None:
        if not text and self._applied_text:  # the cross in the field tells nobody that it was pressed
            self._pause.start(_PAUSE_MS)

    def apply_typed(self) -> None:
        """Take what is typed."""
        self._pause.stop()
        text = self.field.text().strip()
        wrong = self._context.bridge.engine.library.parse_search(text).problems
        form = graph_strings()["filter"]["problem"]
        self._show_problem(form.format(place=wrong[0].start + 1, problem=wrong[0].sentence) if wrong else "")
        if not wrong and text != self._applied_text:
            self._applied_text = text
            self.changed.emit(text)

    def _show_problem(self, sentence: str) -> None:
        set_style_property(self.field, "wrong", bool(sentence))
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Enter applies at once; Enter and the down key go on to the graph; Esc clears."""
        if watched is not self.field or event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down}:
            self.apply_typed()
            if not self.problem:
                self.left.emit()
            return True
        if event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
            self.apply_typed()
            return True
        return False


SWITCHES = ("meaning", "small_talk", "messages", "outdated")


class DisplaySwitches(QWidget):
    """What else is shown.

    Signals:
        switched: one of `SWITCHES`, and whether it is on now.
    """

    switched = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        flow = FlowLayout(self, gap=6)
        self._made: dict[str, QPushButton] = {}
        for name in SWITCHES:
            strings = graph_strings()["switches"][name]
            button = make_button(strings["name"], kind="chip", hint=strings["hint"])
            button.setCheckable(True)
            button.setAccessibleDescription(strings["hint"])
            button.clicked.connect(lambda checked, name=name: self.switched.emit(name, checked))
            self._made[name] = button
            flow.addWidget(button)
        self.setAccessibleName(graph_strings()["switches"]["label"])

    def find_switch(self, name: str) -> QPushButton:
        """The button of one of `SWITCHES`."""
        return self._made[name]

    def show_states(self, states: Mapping[str, bool]) -> None:
        """Show which are on, without telling anybody."""
        for name, is_on in states.items():
            self._made[name].setChecked(is_on)


class SimilaritySlider(QWidget):
    """How near in meaning two memories must be to be tied.

    Signals:
        changed: cosine, 0 to 1; a moment after the handle rests.
    """

    changed = Signal(float)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(_LEAST, _MOST)
        self._slider.setPageStep(5)
        self._slider.setAccessibleName(graph_strings()["similarity"]["accessible"])
        self.setToolTip(graph_strings()["similarity"]["hint"])
        self._value = make_label("")
        self._caption = make_label(graph_strings()["similarity"]["label"], "small")
        make_row(self._caption, self._slider, self._value, gap=8, parent=self)
        self._pause = make_timer(self, self._emit_value, _PAUSE_SLIDER_MS)
        self._slider.valueChanged.connect(self._on_slider_moved)
        theme.changed.connect(self._restyle_slider)
        self._restyle_slider()

    def _restyle_slider(self) -> None:
        self._slider.setFixedWidth(self._theme.px(104))
        self._slider.setMinimumHeight(self._theme.px(22))
        self._value.setFont(self._theme.font("number"))
        self._value.setMinimumWidth(self._theme.px(30))

    @property
    def value(self) -> float:
        """The least cosine."""
        return self._slider.value() / 100

    def show_value(self, value: float) -> None:
        """Show another one without telling anybody."""
        with QSignalBlocker(self._slider):
            self._slider.setValue(round(value * 100))
        self._value.setText(f"{self.value:.2f}")

    def stop_timer(self) -> None:
        """Nobody moves it any more."""
        self._pause.stop()

    def _on_slider_moved(self) -> None:
        self._value.setText(f"{self.value:.2f}")
        self._pause.start()

    def _emit_value(self) -> None:
        self.changed.emit(self.value)


class ViewsChip(MenuChip):
    """Named views: apply one, save what is shown, remove one.

    Signals:
        taken: a `GraphView`.
        save_asked: what is shown shall be kept.
        drop_asked: the `GraphView` that is shown shall go.
    """

    taken = Signal(object)
    save_asked = Signal()
    drop_asked = Signal(object)
    _name = ""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, graph_strings()["views"]["label"], {"": graph_strings()["views"]["none"]}, "")
        self.views: tuple[GraphView, ...] = ()
        self.chosen.connect(self._on_choice)
        self.show_views((), "")

    def show_views(self, views: Sequence[GraphView], name: str) -> None:
        """List the named views in the menu.

        Args:
            views: all there are.
            name: of the one that is shown; "" where what is shown has no name.
        """
        self.views, self._name = tuple(views), name
        choices = {_VIEW + view.name: view.name for view in views}
        choices[_SAVE] = graph_strings()["views"]["save"]
        if name:
            choices[_DROP] = graph_strings()["views"]["remove"].format(name=name)
        self.set_choices(choices, _VIEW + name)

    def show_name(self, name: str) -> None:
        """Show another view as the one in force; "" for none."""
        if name != self._name:
            self.show_views(self.views, name)

    def show_choice(self, value: str) -> None:  # noqa: ARG002 - the base's name
        """The chip says the name as it was written; what only acts is never shown as chosen."""
        name = self._name
        super().show_choice(_VIEW + name)
        short = name if len(name) <= _SHORT else name[: _SHORT - 1].rstrip() + "…"
        label, none = graph_strings()["views"]["label"], graph_strings()["views"]["none"]
        self.setText(f"{label}: {short or none}".replace("&", "&&"))
        self.setAccessibleName(f"{label}: {name or none}")
        self.setToolTip(name if short != name else "")

    def _on_choice(self, value: str) -> None:
        if value == _SAVE:
            self.save_asked.emit()
            return
        name = self._name if value == _DROP else value.removeprefix(_VIEW)
        found = next((view for view in self.views if view.name == name), None)
        if found is not None:
            (self.drop_asked if value == _DROP else self.taken).emit(found)


class NameDialog(QDialog):
    """Asks for a view's name.

    Args:
        taken: names there are already.
        agreed: called with the name.
    """

    def __init__(
        self, theme: Theme, taken: Collection[str], name: str, agreed: Callable[[str], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        strings = graph_strings()["views"]
        self.setWindowTitle(strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.px(380))
        self._taken, self._agreed = frozenset(taken), agreed
        self.field = QLineEdit(name)
        self.field.setMaxLength(_NAME)
        self.field.setAccessibleName(strings["name"])
        self.field.setPlaceholderText(strings["placeholder"])
        self.field.selectAll()
        self.hint = make_label(strings["hint"], "small", wrap=True)
        self.save = make_button(graph_strings()["views"]["act"], self._accept_name, kind="primary")
        self.save.setDefault(True)
        self.field.textChanged.connect(self._check_name)
        layout = make_column(self, make_label(strings["title"], "section"), self.field, self.hint, margins=24, gap=12)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.save))
        self._check_name(name)

    def _check_name(self, text: str) -> None:
        name = text.strip()
        self.save.setEnabled(bool(name) and name.isprintable())
        self.hint.setText(graph_strings()["views"]["taken" if name in self._taken else "hint"])

    def _accept_name(self) -> None:
        self.accept()
        self._agreed(self.field.text().strip())

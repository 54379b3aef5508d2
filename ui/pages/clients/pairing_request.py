"""Who asks to be paired: its name, process and code, what it would be allowed; and the names the person said no to.

The person may take from it what is more than a client usually gets, and tick the spaces it sees; a no can be taken
back, and the name is asked about again. Must not do: answer for the person. What comes from outside is plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QVBoxLayout, QWidget

from core.config.grant_wording import describe_limits_of_grants, describe_space_grant, is_beyond_default
from core.types.clients import Denied, PairingQuestion
from core.types.values import Grant
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.clients.labels import SPACE, grant_sentence, grant_word, visible_name
from ui.pages.clients.terms import SpaceBoxes
from ui.strings import clients_strings, format_count
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.undo import offer_undo
from ui.widgets.basics import (
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_scroll_area,
    make_timer,
)
from ui.widgets.labels import date_of
from ui.widgets.plaintext import one_line

_HEIGHT = 360


class DeniedNamesDialog(QDialog):
    """The list of denied names; each denial can be taken back.

    Signals:
        lifted: a denial was taken back.
    """

    lifted = Signal()

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        strings = clients_strings()["nos"]
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.resize(context.theme.px(sizes().dialog), context.theme.px(_HEIGHT))
        self._context = context
        self._note = make_label(strings["sentence"], "muted", wrap=True)
        inner = QWidget()
        self._lines: QVBoxLayout = make_column(inner, gap=8)
        self.close_button = make_button(clients_strings()["close"], self.accept, kind="primary")
        heading = make_label(strings["title"], "title")
        heading.setAccessibleDescription("heading")
        layout = make_column(self, heading, self._note, margins=24, gap=12)
        layout.addWidget(make_scroll_area(inner), 1)
        layout.addLayout(make_row(None, self.close_button))
        self.reload()

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def reload(self) -> None:
        """Read the names anew."""
        clients = self._context.bridge.engine.clients
        task = make_query(clients_strings()["nos"]["reading"], clients.list_denied).within(self, "nos")
        self._context.tasks.run(task.success(self._show_names).failure(self._show_failure))

    def _show_names(self, names: Sequence[Denied]) -> None:
        clear_layout(self._lines)
        strings = clients_strings()["nos"]
        self._note.setText(strings["sentence" if names else "none"])
        for one in names:
            name, texts = visible_name(one.name_key), QWidget()
            make_column(
                texts,
                make_label(name, wrap=True),
                make_label(strings["since"].format(when=date_of(one.denied_at)), "small"),
                gap=1,
            )
            lift = make_button(strings["lift"], partial(self._allow_again, one.name_key))
            lift.setAccessibleName(strings["lift_name"].format(name=name))
            line = QWidget()
            make_row(texts, lift, gap=12, parent=line).setStretch(0, 1)
            self._lines.addWidget(line)
            self._lines.addWidget(make_hairline())
        self._lines.addStretch(1)

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)

    def _allow_again(self, name: str) -> None:
        clients, strings = self._context.bridge.engine.clients, clients_strings()["nos"]

        def report_allowed(step_id: str) -> None:
            if step_id:
                offer_undo(self._context, strings["lifted"].format(name=visible_name(name)), step_id)
            self.lifted.emit()
            self.reload()

        task = make_write(strings["lifting"], lambda: clients.allow_again(name)).within(self)
        self._context.tasks.run(task.success(report_allowed).failure(self._show_failure))


class DeniedNamesLink(QObject):
    """Whether there are any, and the way to them."""

    def __init__(self, context: Context, page: QWidget) -> None:
        """Make it.

        Args:
            page: the page that shows the way.
        """
        super().__init__(page)
        self._context, self._page = context, page
        self.link = make_button("", self.open_list, kind="link", hint=clients_strings()["nos"]["hint"])
        self.link.hide()

    def reload(self) -> None:
        """Ask whether there are any; the link shows itself where there are."""
        clients = self._context.bridge.engine.clients
        task = make_query(clients_strings()["nos"]["reading"], clients.list_denied).within(self, "nos")
        self._context.tasks.run(task.success(self._show_link).failure(lambda _: self.link.hide()))

    def _show_link(self, names: Sequence[Denied]) -> None:
        self.link.setText(format_count(clients_strings()["nos"]["link"], len(names)))
        self.link.setVisible(bool(names))

    def open_list(self) -> None:
        """Show the list."""
        made = DeniedNamesDialog(self._context, self._page)
        made.lifted.connect(self.reload)
        made.open()


INERT_MS = 1_000
_PROCESS = 120
_ALL = Grant.ALL_SPACES.value


def _make_bullet_line(sentence: str) -> QWidget:
    widget, point = QWidget(), make_label("•")
    line = make_row(point, make_label(sentence, wrap=True), parent=widget)
    line.setAlignment(point, Qt.AlignmentFlag.AlignTop)
    line.setStretch(1, 1)
    return widget


class RequestedRights(QWidget):
    """What it would be allowed: the usual as sentences, what is more as boxes with a mark, ticked.

    Attributes:
        boxes: of what is more, by grant.

    Signals:
        changed: a box was ticked or cleared.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._usual: tuple[str, ...] = ()
        self.boxes: dict[str, QCheckBox] = {}
        self._box = make_column(self, gap=6)

    @property
    def grants(self) -> tuple[str, ...]:
        """What is left of it."""
        return (*self._usual, *(name for name, box in self.boxes.items() if box.isChecked()))

    def show_rights(self, rights: Sequence[str]) -> None:
        """Show other ones.

        Args:
            rights: grants, none of them a space.
        """
        clear_layout(self._box)
        self._usual = tuple(one for one in rights if not is_beyond_default(one))
        self.boxes = {}
        for one in self._usual:
            self._box.addWidget(_make_bullet_line(grant_sentence(one)))
        for one in rights:
            if is_beyond_default(one):
                self._add_box(one)
        if self.boxes:
            self._box.addWidget(make_label(clients_strings()["pairing"]["beyond"], "warning", wrap=True))

    def _add_box(self, grant: str) -> None:
        word = grant_word(grant)
        box = QCheckBox(f"!  {word[:1].upper()}{word[1:]}".replace("&", "&&"))
        box.setAccessibleName(f"{word[:1].upper()}{word[1:]}: {clients_strings()['pairing']['unusual']}")
        box.setAccessibleDescription(grant_sentence(grant))
        box.setChecked(True)
        box.toggled.connect(lambda _: self.changed.emit())
        self.boxes[grant] = box
        sentence = make_label(grant_sentence(grant), "small", wrap=True)
        sentence.setContentsMargins(self._theme.px(sizes().tick) + spacing().close, 0, 0, 0)
        widget = QWidget()
        make_column(widget, box, sentence, gap=2)
        self._box.addWidget(widget)


class QuestionBody(QWidget):
    """What scrolls: never higher than its words at the width it has.

    Trigger: a wrapped label's least height is that at its own favourite width. Why: a scroll area takes it for what is
    needed. Outcome: without this it scrolls through an empty end.
    """

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as its parts need; the area asks for the height that goes with a width."""
        return QSize(super().minimumSizeHint().width(), 0)


class QuestionView(QWidget):
    """The question who asks to be paired; it scrolls where there is no room for all of it, and its buttons do not.

    Signals:
        answered: whether it is allowed.
    """

    answered = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = clients_strings()["pairing"]
        self._question: PairingQuestion | None = None
        self._space_names: tuple[str, ...] = ()
        self._is_ripe = False
        self.title, self.other = make_label("", "title", wrap=True), make_label("", "warning", wrap=True)
        self.values = {
            name: make_label("", "strong", wrap=True) for name in ("calls_itself", "named", "process", "code_end")
        }
        self.name_note = make_label(strings["name_kept"], "small", wrap=True)
        self.former = make_label(strings["former"], "warning", wrap=True)
        self.rights = RequestedRights(theme)
        self.every = QCheckBox(describe_space_grant(_ALL))
        self.spaces = SpaceBoxes()
        self.time_left = make_label("", "small")
        self.allow = make_button(strings["allow"], lambda: self.answered.emit(True))  # noqa: FBT003 - Qt's signal
        self.deny = make_button(strings["deny"], lambda: self.answered.emit(False), kind="primary")  # noqa: FBT003
        self.allow.setAutoDefault(False)
        self._build_layout()
        self.rights.changed.connect(self._on_grants_changed)
        self.every.toggled.connect(lambda _: self._on_grants_changed())
        self._inert = make_timer(self, self._enable_answers, INERT_MS)
        self.setTabOrder(self.deny, self.allow)

    def _build_layout(self) -> None:
        strings = clients_strings()["pairing"]
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        for place, (name, value) in enumerate(self.values.items()):
            grid.addWidget(make_label(strings[name], "muted"), place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, place, 1)
        grid.setColumnStretch(1, 1)
        self._body, self._foot = QuestionBody(), QWidget()
        box = make_column(self._body, self.title, self.other, gap=10)
        box.setContentsMargins(0, 0, 6, 0)  # from the scroll bar
        box.addLayout(grid)
        for part in (
            self.name_note,
            make_label(strings["process_hint"], "small", wrap=True),
            self.former,
            make_label(strings["allowed"], "label"),
            self.rights,
            make_label(strings["sees"], "label"),
            self.every,
            self.spaces,
            make_label(strings["sees_own"], "small", wrap=True),
            make_label(describe_limits_of_grants(), "small", wrap=True),
        ):
            box.addWidget(part)
        box.addStretch(1)
        make_row(self.time_left, None, self.allow, self.deny, parent=self._foot)
        self.area = make_scroll_area(self._body)
        self.area.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # its arrow keys scroll
        self.area.setAccessibleName(strings["question"])
        make_column(self, self.area, self._foot, gap=spacing().m).setStretch(0, 1)

    def height_for_width(self, width: int) -> int:
        """How high it would be with nothing to scroll.

        Args:
            width: pixels it has.
        """
        box = self._body.layout()
        inside = self._body.sizeHint().height() if box is None else box.totalHeightForWidth(width)
        return inside + spacing().m + self._foot.sizeHint().height()

    def show_spaces(self, names: Iterable[str]) -> None:
        """Show the spaces there are; what is ticked stays so.

        Args:
            names: all of them.
        """
        self._space_names = tuple(names)
        ticked = self.spaces.grants
        self._list_spaces()
        self.spaces.tick_spaces(ticked)

    def _list_spaces(self) -> None:
        grants = () if self._question is None else self._question.grants
        requested = [one.removeprefix(SPACE) for one in grants if one.startswith(SPACE)]
        self.spaces.show_spaces(self._space_names, requested)

    @property
    def grants(self) -> tuple[str, ...]:
        """What it gets with a yes."""
        if self.every.isChecked():
            return (*self.rights.grants, _ALL)
        return (*self.rights.grants, *self.spaces.grants)

    def show_question(self, question: PairingQuestion, expected_name: str | None) -> None:
        """Show who asks; "Allow" takes no press for a second.

        Args:
            expected_name: the name pairing was opened for; None for whoever comes.
        """
        strings = clients_strings()["pairing"]
        client, name = visible_name(question.client), visible_name(question.name)
        is_same = question.client == question.name
        self._question = question
        self.title.setText(strings["asks" if is_same else "asks_as"].format(name=name, client=client))
        self.title.setAccessibleName(self.title.text())
        self.other.setText(strings["other"].format(name=name, client=client))
        self.other.setVisible(expected_name is not None and not is_same)
        self.name_note.setVisible(expected_name is None and not is_same)
        shown = {
            "calls_itself": client,
            "named": name,
            "process": one_line(question.asked_by, _PROCESS) or strings["unknown_process"],
            "code_end": visible_name(question.code_end),
        }
        for key, value in shown.items():
            self.values[key].setText(value)
            self.values[key].setAccessibleName(f"{strings[key]}: {value}")
        self.former.setVisible(question.former)
        self.rights.show_rights([one for one in question.grants if one != _ALL and not one.startswith(SPACE)])
        self.every.setChecked(_ALL in question.grants)
        self.every.setVisible(_ALL in question.grants)
        self._list_spaces()
        for widget in (self._body, self.deny):
            widget.setEnabled(True)
        self._is_ripe = False
        self._on_grants_changed()
        self._inert.start()
        self.area.verticalScrollBar().setValue(0)
        self.deny.setDefault(True)
        self.deny.setFocus()

    def _enable_answers(self) -> None:
        self._is_ripe = True
        self._on_grants_changed()

    def _on_grants_changed(self) -> None:
        self.spaces.setEnabled(not self.every.isChecked())
        self.allow.setEnabled(self._is_ripe and bool(self.rights.grants))

    def show_time(self, left: int) -> None:
        """Say how long there is to answer.

        Args:
            left: seconds.
        """
        self.time_left.setText(format_count(clients_strings()["pairing"]["answer_left"], left))

    def show_answered(self) -> None:
        """It was answered."""
        self._inert.stop()
        self._is_ripe = False
        for widget in (self._body, self.allow, self.deny):
            widget.setEnabled(False)

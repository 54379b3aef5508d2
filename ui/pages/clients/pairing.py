"""Pairing with a code: the code, big and with its time, then who asks, then how it ended.

The person starts it, so that no program can raise a question by itself (reliability study, D, P3 to P5). "Deny" is the
default, and "Allow" takes no press within its first second, so that nobody allows what he has not read. Must not do:
grant anything itself; the engine does, after the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QDialog, QProgressBar, QVBoxLayout, QWidget

from core.config.grant_wording import describe_limits_of_grants, shell_quoted
from core.types.clients import PairingCode, PairingEnd, PairingOutcome, PairingQuestion, PairingTurn
from core.types.values import Grant
from core.types.views import Facets
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.clients.labels import SPACE, join_client_names, visible_name
from ui.pages.clients.pairing_request import QuestionView
from ui.strings import assistants_strings, clients_strings, format_count
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.basics import make_button, make_card, make_column, make_label, make_row
from ui.widgets.choices import ChoiceBox

_GROUP = 4
_LIFE_S = 120
_PLACE = "CODE"
_NAME = "NAME"
"""Placeholders in the steps for the code and for the name."""


@cache
def read_assistant_steps() -> Mapping[str, Sequence[str]]:
    """Name of an assistant to the steps that bring it here."""
    return {name: tuple(steps) for name, steps in assistants_strings()["assistants"].items()}


def group_code(code: str) -> str:
    """A code as it is read aloud: groups of four."""
    return " ".join(code[at : at + _GROUP] for at in range(0, len(code), _GROUP))


class CodeView(QWidget):
    """The step that shows the one-time code and its time.

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
        strings = clients_strings()["pairing"]
        self._theme, self._code, self._name = theme, "", ""
        self.title = make_label(strings["title"], "title", wrap=True)
        self.code = make_label(strings["wait"])
        self.code.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.code.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.code.setMinimumHeight(theme.px(44))
        self.bar = QProgressBar()
        self.bar.setRange(0, _LIFE_S)
        self.bar.setTextVisible(False)
        self.time_left, self.missed = make_label("", "small"), make_label("", "warning", wrap=True)
        self.missed.hide()
        self.copy = make_button(strings["copy"], self._copy_code, theme=theme, icon="copy")
        frame, inside = make_card("panel", margins=16, gap=8)
        inside.addWidget(self.code)
        inside.addWidget(self.bar)
        inside.addLayout(make_row(self.time_left, None, self.copy))
        inside.addWidget(self.missed)
        box = make_column(self, self.title, make_label(strings["lead"], "muted", wrap=True), frame, gap=12)
        self._add_help(box)
        box.addWidget(make_label(describe_limits_of_grants(), "small", wrap=True))
        box.addStretch(1)
        self.token = make_button(strings["token"], self.token_asked.emit, kind="link")
        self.cancel = make_button(clients_strings()["cancel"], self.closed.emit)
        box.addLayout(make_row(self.token, None, self.cancel))
        theme.changed.connect(self._restyle_code)
        self._restyle_code()

    def _add_help(self, box: QVBoxLayout) -> None:
        strings = clients_strings()["pairing"]
        self.which = ChoiceBox()
        self.which.setAccessibleName(strings["how"])
        self.steps = make_label("", "body", wrap=True)
        self.steps.setTextInteractionFlags(self.code.textInteractionFlags())
        layout = make_column(None, make_label(strings["how"], "label"), gap=6)
        self.which.addItems(list(read_assistant_steps()))
        self.which.currentTextChanged.connect(self._show_steps)
        self._show_steps(self.which.currentText())
        layout.addWidget(self.which)
        layout.addWidget(self.steps)
        box.addLayout(layout)

    def _show_steps(self, name: str) -> None:
        steps = read_assistant_steps().get(name, ())
        text = "\n".join(f"{nr}. {step}" for nr, step in enumerate(steps, 1))
        if self._name:
            text = text.replace(_NAME, shell_quoted(self._name))
        self.steps.setText(text.replace(_PLACE, self._code) if self._code else text)

    def show_name(self, title: str, name: str | None) -> None:
        """Say for whom the code is.

        Args:
            title: what the person is about to do.
            name: the name the client must get; None to take its own.
        """
        self.title.setText(title)
        self.title.setAccessibleName(title)
        self._name = name or ""
        if name:
            is_its = f" {name} "
            known = [
                at for at, steps in enumerate(read_assistant_steps().values()) if any(is_its in step for step in steps)
            ]
            self.which.setCurrentIndex(known[0] if known else self.which.count() - 1)
            self._show_steps(self.which.currentText())

    def _restyle_code(self) -> None:
        font = self._theme.font("mono")
        font.setPixelSize(self._theme.px(26))
        font.setWeight(QFont.Weight.DemiBold)
        # The style sheet sets every label's font; only one of its own outdoes it.
        self.code.setStyleSheet(f'font-family: "{font.family()}"; font-size: {font.pixelSize()}px; font-weight: 600;')

    def show_waiting(self) -> None:
        """No code yet."""
        self._code = ""
        self.code.setText("· · · ·")
        self.code.setAccessibleName(clients_strings()["pairing"]["wait"])
        self.time_left.setText("")
        self.missed.hide()
        self.copy.setEnabled(False)

    def show_code(self, code: str) -> None:
        """Show a code and its time.

        Args:
            code: 16 characters.
        """
        self._code = code
        self.code.setText(group_code(code))
        self.code.setAccessibleName(f"{clients_strings()['pairing']['code']}: {', '.join(group_code(code).split())}")
        self.copy.setText("\u2009" + clients_strings()["pairing"]["copy"])
        self.copy.setEnabled(True)
        self.copy.setFocus()
        self._show_steps(self.which.currentText())

    def show_time(self, left: int) -> None:
        """Say how long it lives.

        Args:
            left: seconds.
        """
        if self._code:
            self.bar.setValue(min(left, _LIFE_S))
            self.time_left.setText(format_count(clients_strings()["pairing"]["left"], left))
            self.bar.setAccessibleName(self.time_left.text())

    def show_missed(self, count: int) -> bool:
        """Say how many wrong codes were given.

        Args:
            count: so far.

        Returns:
            Whether that is news.
        """
        warning = format_count(clients_strings()["pairing"]["missed"], count) if count else ""
        is_new = bool(count) and (self.missed.isHidden() or warning != self.missed.text())
        if is_new:
            self.missed.setText(warning)
            self.missed.setAccessibleName(warning)
            self.missed.show()
        return is_new

    def _copy_code(self) -> None:
        if self._code:  # it works once and for two minutes: it may stay on the clipboard
            QGuiApplication.clipboard().setText(self._code)
            self.copy.setText("\u2009" + clients_strings()["pairing"]["copied"])


_FORMER, _TAKEN, _GOOD = PairingOutcome.DENIED_BEFORE, PairingOutcome.TAKEN, PairingOutcome.PAIRED


class EndView(QWidget):
    """The step that says how the pairing ended.

    Signals:
        again: a new code is wanted.
        closed: the person is done here.
        grants_asked: the client's grants are to be looked at.
        looked_at: the client of that name is to be looked at.
    """

    again = Signal()
    closed = Signal()
    grants_asked = Signal(str)
    looked_at = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self.title, self.sentence = make_label("", "title", wrap=True), make_label("", wrap=True)
        self.only, self.new_code = (
            make_button("", self.again.emit),
            make_button(clients_strings()["pairing"]["fresh"], self.again.emit),
        )
        self.grants = make_button("", lambda: self.grants_asked.emit(self._name))
        self.look = make_button("", lambda: self.looked_at.emit(self._name))
        self.close_button = make_button(clients_strings()["close"], self.closed.emit, kind="primary")
        box = make_column(self, self.title, self.sentence, gap=12)
        box.addStretch(1)
        box.addLayout(make_row(None, self.only, self.look, self.new_code, self.grants, self.close_button))

    def show_end(self, ended: PairingEnd) -> None:
        """Show how the pairing ended."""
        strings, outcome = clients_strings()["pairing"], ended.outcome
        name, is_good = visible_name(ended.name), outcome is _GOOD
        self._name = ended.name
        text = strings["ends"][outcome.value].format(name=name)
        if outcome is PairingOutcome.EXPIRED and ended.missed:
            text = format_count(strings["ends_missed"], ended.missed)
        self._show_texts(
            strings["titles"]["paired" if is_good else "not"], f"{text} {describe_visible_spaces(ended.grants)}".strip()
        )
        self.only.setText(strings["only"].format(name=name).replace("&", "&&"))
        self.look.setText(strings["look_at"].format(name=name).replace("&", "&&"))
        self.grants.setText(strings["grants_none" if _space_access(ended.grants) == "none" else "grants"])
        shown = {self.only: outcome is _FORMER, self.look: outcome is _TAKEN, self.grants: is_good}
        for made, is_shown in {**shown, self.new_code: not is_good and outcome is not _FORMER}.items():
            made.setVisible(is_shown)
            made.setAccessibleName(made.text().replace("&&", "&"))

    def show_trouble(self, sentence: str) -> None:
        """Show why there is no code."""
        self._show_texts(clients_strings()["pairing"]["titles"]["not"], sentence)
        for made in (self.only, self.look, self.grants):
            made.hide()
        self.new_code.show()

    def _show_texts(self, title: str, sentence: str) -> None:
        for part, text in ((self.title, title), (self.sentence, sentence)):
            part.setText(text)
            part.setAccessibleName(text)


def _space_access(grants: Sequence[str]) -> str:
    if Grant.READ.value not in grants:
        return "blind"
    if Grant.ALL_SPACES.value in grants:
        return "all"
    return "some" if any(one.startswith(SPACE) for one in grants) else "none"


def describe_visible_spaces(grants: Sequence[str]) -> str:
    """What a client sees now of the person's spaces, in a sentence.

    Args:
        grants: what it got; nothing where it got none.
    """
    if not grants:
        return ""
    spaces = join_client_names([one.removeprefix(SPACE) for one in grants if one.startswith(SPACE)])
    return str(clients_strings()["pairing"]["sees_now"][_space_access(grants)]).format(spaces=spaces)


_FRAME = 40
_TICK_MS = 500


class PairDialog(QDialog):
    """The dialog; it does not keep the person from the rest of the window.

    Attributes:
        code: shows the code. `question`: who asks. `end`: how it ended. One of them is shown.

    Signals:
        paired: the name of the client that came of it.
        grants_asked: the name of a client whose grants are to be looked at.
        token_asked: the person wants a token instead.
    """

    paired = Signal(str)
    grants_asked = Signal(str)
    token_asked = Signal()

    def __init__(self, context: Context, parent: QWidget, name: str | None = None) -> None:
        """Make it and open pairing.

        Args:
            context: what pages are given; its pairing has a port.
            name: the name the client must get; None to take its own.
        """
        super().__init__(parent)
        strings = clients_strings()["pairing"]
        self.context = context
        self._turn: PairingTurn | None = None
        self._code: PairingCode | None = None
        self._until = 0.0
        self._name = name
        self._title = strings["title"] if name is None else strings["title_again"].format(name=visible_name(name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self.code, self.question, self.end = CodeView(context.theme), QuestionView(context.theme), EndView()
        # Not a stack of pages: its height would be that of the highest.
        self._views: tuple[QWidget, ...] = (self.code, self.question, self.end)
        make_column(self, *self._views, margins=spacing().xl)
        self._connect_signals()
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show_time)
        self.open_pairing()

    def _connect_signals(self) -> None:
        self.code.again.connect(self.open_pairing)
        self.code.closed.connect(self.reject)
        self.code.token_asked.connect(self._ask_token)
        self.question.answered.connect(self._answer_question)
        self.end.again.connect(self.open_pairing)
        self.end.closed.connect(self.accept)
        self.end.grants_asked.connect(self._ask_grants)
        self.end.looked_at.connect(self._show_client)

    # ---- a turn

    def open_pairing(self) -> None:
        """Open pairing, anew where it was open."""
        port = self.context.pairing.port
        if port is None:
            return
        self._set_question(None)
        self._show_view(self.code)
        self._code = None
        self.code.show_waiting()
        self.code.show_name(self._title, self._name)
        turn = self._turn = port.open_pairing(self._name, None)
        strings, run = clients_strings()["pairing"], self.context.tasks.run
        reading = make_query(strings["wait"].rstrip(" …"), lambda: turn.code).within(self, "code")
        run(reading.success(self._show_code).failure(self._show_failure))
        # A writing: when it is over, the rail counts anew who waits.
        run(make_write(strings["task"], lambda: turn.asked).within(self, "asked").success(self._show_question))
        run(make_write(strings["task"], lambda: turn.ended).within(self, "ended").success(self._show_end))
        self._read_spaces()

    def _read_spaces(self) -> None:
        library = self.context.bridge.engine.library

        def show_spaces(facets: Facets) -> None:
            self.question.show_spaces(facets.spaces)
            self._schedule_fit()

        task = make_query(clients_strings()["reading"], library.count_facets).within(self, "spaces")
        self.context.tasks.run(task.success(show_spaces).failure(lambda _: None))  # those it asks for are shown anyway

    def _show_code(self, code: PairingCode) -> None:
        self._code = code
        self._until = self.context.clock.monotonic() + code.expires_s
        self.code.show_code(code.code)
        self._tick.start()
        self._show_time()

    def _show_question(self, question: PairingQuestion) -> None:
        self._set_question(question)
        self._until = self.context.clock.monotonic() + question.answer_s
        self.question.show_question(question, self._name)
        self._show_view(self.question)
        self._show_time()
        self.raise_()
        self.activateWindow()
        parent = self.parentWidget()
        if parent is not None and not parent.isVisible():
            strings = clients_strings()["pairing"]
            self.context.desk.show_message(
                strings["toast"], strings["look"], lambda: self.context.desk.go.emit("clients", ""), stays=True
            )

    def _set_question(self, question: PairingQuestion | None) -> None:
        self.context.pairing.set_question(question)
        if question is None:
            self.context.desk.message_over.emit(clients_strings()["pairing"]["toast"])

    def _show_time(self) -> None:
        left = max(0, round(self._until - self.context.clock.monotonic()))
        if self.question.isVisibleTo(self):
            self.question.show_time(left)
            return
        self.code.show_time(left)
        if self._code is not None and self.code.show_missed(self._code.missed()):
            self._schedule_fit()

    def _answer_question(self, allow: bool) -> None:
        port, question = self.context.pairing.port, self.context.pairing.question
        if port is None or question is None:
            return
        grants = self.question.grants if allow else None
        self.question.show_answered()
        answering = make_write(
            clients_strings()["pairing"]["title"], lambda: port.answer_question(question.id, allow, grants)
        )
        self.context.tasks.run(answering.within(self).failure(self._show_failure))

    def _show_end(self, ended: PairingEnd) -> None:
        self._tick.stop()
        self._turn = None
        self._set_question(None)
        self.end.show_end(ended)
        if ended.outcome is PairingOutcome.DENIED_BEFORE:
            self._name = ended.name
            self._title = clients_strings()["pairing"]["title_for"].format(name=visible_name(ended.name))
        self._show_view(self.end)
        self.end.close_button.setDefault(True)
        self.end.close_button.setFocus()
        if ended.outcome is PairingOutcome.PAIRED:
            self.paired.emit(ended.name)

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._tick.stop()
        self._turn = None
        self.end.show_trouble("" if problem is None else problem.sentence)
        self._show_view(self.end)

    # ---- its size

    def _show_view(self, view: QWidget) -> None:
        for made in self._views:
            made.setVisible(made is view)
        self._schedule_fit()

    def _schedule_fit(self) -> None:
        """Later: what was just shown has not found its styles and fonts yet."""
        QTimer.singleShot(0, self, self._fit_to_screen)

    def _fit_to_screen(self) -> None:
        """As high as what is shown and no higher than the screen, and on it as a whole."""
        view, room = next(one for one in self._views if one.isVisibleTo(self)), self.screen().availableGeometry()
        width = max(self.width(), self.minimumWidth())
        box, inside = view.layout(), width - 2 * spacing().xl
        if isinstance(view, QuestionView):
            wanted = view.height_for_width(inside)
        else:
            wanted = view.sizeHint().height() if box is None else box.totalHeightForWidth(inside)
        around = self.frameGeometry().size() - self.size()
        high = min(wanted + 2 * spacing().xl, room.height() - max(_FRAME, around.height()))
        self.setMinimumHeight(high)
        self.resize(width, high)
        lowest = room.bottom() + 1 - high - around.height()
        furthest = room.right() + 1 - width - around.width()
        place = QPoint(max(room.left(), min(self.x(), furthest)), max(room.top(), min(self.y(), lowest)))
        if place != self.pos() and self.isVisible():
            self.move(place)

    # ---- away from here

    def _ask_token(self) -> None:
        self.reject()
        self.token_asked.emit()

    def _ask_grants(self, name: str) -> None:
        self.accept()
        self.grants_asked.emit(name)

    def _show_client(self, name: str) -> None:
        self.accept()
        self.context.desk.go.emit("clients", f"client:{name}")

    def done(self, result: int) -> None:
        """Closed: the code is dead, and an open question counts as not answered."""
        self._tick.stop()
        port = self.context.pairing.port
        if port is not None and self._turn is not None:
            self._turn = None
            self.context.tasks.run(
                make_write(clients_strings()["pairing"]["title"], port.cancel_pairing).failure(lambda _: None)
            )
        self._set_question(None)
        super().done(result)

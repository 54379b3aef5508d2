"""Pairing with a code: the code with its time, then who asks, then how it ended.

The person starts it, so that no program can raise a question by itself (reliability study, D, P3 to P5). "Deny" is the
default, and "Allow" takes no press within its first second, so that nobody allows what he has not read. Must not do:
grant anything itself; the engine does, after the answer.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QSizePolicy, QStackedWidget, QWidget

from core.types.clients import PairingCode, PairingEnd, PairingOutcome, PairingQuestion, PairingTurn
from ui.context import Context
from ui.pages.clients.asking import QuestionView
from ui.pages.clients.showing import CodeView
from ui.pages.clients.words import visible, words
from ui.tasks import problem_of, query, write
from ui.widgets.basics import button, column, label, row

_WIDTH = 520
_TICK_MS = 500
_CODE, _QUESTION, _END = range(3)
_FORMER = PairingOutcome.DENIED_BEFORE
_GOOD = PairingOutcome.PAIRED


class PairDialog(QDialog):
    """The dialog; it does not keep the person from the rest of the window.

    Signals:
        paired: the name of the client that came of it.
        token_asked: the person wants a token instead.
    """

    paired = Signal(str)
    token_asked = Signal()

    def __init__(self, context: Context, parent: QWidget, name: str | None = None) -> None:
        """Make it and open pairing.

        Args:
            context: what pages are given; its pairing has a port.
            parent: the page.
            name: the name the client must get; None to take its own.
        """
        super().__init__(parent)
        said = words()["pairing"]
        self.context = context
        self._turn: PairingTurn | None = None
        self._until = 0.0
        self._name = name
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.setMinimumWidth(context.theme.px(_WIDTH))
        self.code = CodeView(context.theme)
        self.question = QuestionView()
        self._views = QStackedWidget()
        self._each: tuple[QWidget, ...] = (self.code, self.question, self._end_view())
        for view in self._each:
            self._views.addWidget(view)
        column(self, self._views, margins=24)
        self.code.again.connect(self.begin)
        self.code.closed.connect(self.reject)
        self.code.token_asked.connect(self._want_token)
        self.question.answered.connect(self._answer)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show_time)
        self.begin()

    def _end_view(self) -> QWidget:
        made = QWidget()
        self.end_title, self.told = label("", "title", wrap=True), label("", "body", wrap=True)
        self.only = button("", self.begin)
        self.fresh = button(words()["pairing"]["fresh"], self.begin)
        self.close_button = button(words()["close"], self.accept, kind="primary")
        box = column(made, self.end_title, self.told, gap=12)
        box.addStretch(1)
        box.addLayout(row(None, self.only, self.fresh, self.close_button))
        return made

    # ---- a turn

    def begin(self) -> None:
        """Open pairing, anew where it was open."""
        port = self.context.pairing.port
        if port is None:
            return
        self.context.pairing.wait_for(None)
        self._show(_CODE)
        self.code.wait()
        turn = self._turn = port.open_pairing(self._name, None)
        said, run = words()["pairing"], self.context.tasks.run
        reading = query(said["wait"].rstrip(" …"), lambda: turn.code).within(self, "code")
        run(reading.success(self._show_code).failure(self._fail))
        # A writing: when it is over, the rail counts anew who waits.
        run(write(said["task"], lambda: turn.asked).within(self, "asked").success(self._show_question))
        run(write(said["task"], lambda: turn.ended).within(self, "ended").success(self._show_end))

    def _show_code(self, made: PairingCode) -> None:
        self._until = self.context.clock.monotonic() + made.expires_s
        self.code.show_code(made.code)
        self._tick.start()
        self._show_time()

    def _show_question(self, asked: PairingQuestion) -> None:
        self.context.pairing.wait_for(asked)
        self._until = self.context.clock.monotonic() + asked.answer_s
        self.question.show_question(asked)
        self._show(_QUESTION)
        self._show_time()
        self.raise_()
        self.activateWindow()
        parent = self.parentWidget()
        if parent is not None and not parent.isVisible():
            said = words()["pairing"]
            self.context.desk.say(
                said["toast"], said["look"], lambda: self.context.desk.go.emit("clients", ""), stays=True
            )

    def _show_time(self) -> None:
        left = max(0, round(self._until - self.context.clock.monotonic()))
        if self._views.currentIndex() == _QUESTION:
            self.question.show_time(left)
        else:
            self.code.show_time(left)

    def _answer(self, allow: bool) -> None:
        port, question = self.context.pairing.port, self.context.pairing.question
        if port is None or question is None:
            return
        self.question.wait()
        answering = write(words()["pairing"]["title"], lambda: port.answer(question.id, allow))
        self.context.tasks.run(answering.within(self).failure(self._fail))

    def _show_end(self, ended: PairingEnd) -> None:
        self._tick.stop()
        self._turn = None
        self.context.pairing.wait_for(None)
        said, name = words()["pairing"], visible(ended.name)
        is_good = ended.outcome is _GOOD
        self.end_title.setText(said["titles"]["paired" if is_good else "not"])
        self.told.setText(said["ends"][ended.outcome.value].format(name=name))
        self.told.setAccessibleName(self.told.text())
        self._name = ended.name if ended.outcome is _FORMER else self._name
        self.only.setText(said["only"].format(name=name).replace("&", "&&"))
        self.only.setVisible(ended.outcome is _FORMER)
        self.fresh.setVisible(not is_good and ended.outcome is not _FORMER)
        self._show(_END)
        self.close_button.setDefault(True)
        self.close_button.setFocus()
        if is_good:
            self.paired.emit(ended.name)

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._tick.stop()
        self._turn = None
        self.end_title.setText(words()["pairing"]["titles"]["not"])
        self.told.setText("" if problem is None else problem.sentence)
        self.only.hide()
        self._show(_END)

    def _show(self, view: int) -> None:
        policy = QSizePolicy.Policy
        for place, made in enumerate(self._each):  # as high as what is shown, not as the highest of all
            made.setSizePolicy(policy.Preferred, policy.Preferred if place == view else policy.Ignored)
        self._views.setCurrentIndex(view)
        QTimer.singleShot(0, self, self.adjustSize)

    def _want_token(self) -> None:
        self.reject()
        self.token_asked.emit()

    def done(self, result: int) -> None:
        """Closed: the code is dead, and a question that stands counts as not answered.

        Args:
            result: of the dialog.
        """
        self._tick.stop()
        port = self.context.pairing.port
        if port is not None and self._turn is not None:
            self._turn = None
            self.context.tasks.run(write(words()["pairing"]["title"], port.cancel).failure(lambda _: None))
        self.context.pairing.wait_for(None)
        super().done(result)

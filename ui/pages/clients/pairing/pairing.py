"""Pairing with a code: the code with its time, then who asks, then how it ended.

The person starts it, so that no program can raise a question by itself (reliability study, D, P3 to P5). "Deny" is the
default, and "Allow" takes no press within its first second, so that nobody allows what he has not read. Must not do:
grant anything itself; the engine does, after the answer.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from core.types.clients import PairingCode, PairingEnd, PairingOutcome, PairingQuestion, PairingTurn
from core.types.views import Facets
from ui.context import Context
from ui.pages.clients.common.words import visible
from ui.pages.clients.pairing.code_card import CodeView
from ui.pages.clients.pairing.outcome import EndView
from ui.pages.clients.pairing.pairing_request import QuestionView
from ui.strings import clients_strings
from ui.tasks import problem_of, query, write
from ui.widgets.basics import column

_WIDTH, _MARGIN, _FRAME = 520, 24, 40
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
            parent: the page.
            name: the name the client must get; None to take its own.
        """
        super().__init__(parent)
        said = clients_strings()["pairing"]
        self.context = context
        self._turn: PairingTurn | None = None
        self._code: PairingCode | None = None
        self._until = 0.0
        self._name = name
        self._title = said["title"] if name is None else said["title_again"].format(name=visible(name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.setMinimumWidth(context.theme.px(_WIDTH))
        self.code, self.question, self.end = CodeView(context.theme), QuestionView(context.theme), EndView()
        # Not a stack of pages: its height would be that of the highest.
        self._views: tuple[QWidget, ...] = (self.code, self.question, self.end)
        column(self, *self._views, margins=_MARGIN)
        self._connect()
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show_time)
        self.begin()

    def _connect(self) -> None:
        self.code.again.connect(self.begin)
        self.code.closed.connect(self.reject)
        self.code.token_asked.connect(self._want_token)
        self.question.answered.connect(self._answer)
        self.end.again.connect(self.begin)
        self.end.closed.connect(self.accept)
        self.end.grants_asked.connect(self._want_grants)
        self.end.looked_at.connect(self._look_at)

    # ---- a turn

    def begin(self) -> None:
        """Open pairing, anew where it was open."""
        port = self.context.pairing.port
        if port is None:
            return
        self._wait_for(None)
        self._show(self.code)
        self._code = None
        self.code.wait()
        self.code.show_name(self._title, self._name)
        turn = self._turn = port.open_pairing(self._name, None)
        said, run = clients_strings()["pairing"], self.context.tasks.run
        reading = query(said["wait"].rstrip(" …"), lambda: turn.code).within(self, "code")
        run(reading.success(self._show_code).failure(self._fail))
        # A writing: when it is over, the rail counts anew who waits.
        run(write(said["task"], lambda: turn.asked).within(self, "asked").success(self._show_question))
        run(write(said["task"], lambda: turn.ended).within(self, "ended").success(self._show_end))
        self._read_spaces()

    def _read_spaces(self) -> None:
        library = self.context.bridge.engine.library

        def show(facets: Facets) -> None:
            self.question.know_spaces(facets.spaces)
            self._fit_soon()

        asked = query(clients_strings()["reading"], library.facets).within(self, "spaces")
        self.context.tasks.run(asked.success(show).failure(lambda _: None))  # those it asks for are shown anyway

    def _show_code(self, made: PairingCode) -> None:
        self._code = made
        self._until = self.context.clock.monotonic() + made.expires_s
        self.code.show_code(made.code)
        self._tick.start()
        self._show_time()

    def _show_question(self, asked: PairingQuestion) -> None:
        self._wait_for(asked)
        self._until = self.context.clock.monotonic() + asked.answer_s
        self.question.show_question(asked, self._name)
        self._show(self.question)
        self._show_time()
        self.raise_()
        self.activateWindow()
        parent = self.parentWidget()
        if parent is not None and not parent.isVisible():
            said = clients_strings()["pairing"]
            self.context.desk.say(
                said["toast"], said["look"], lambda: self.context.desk.go.emit("clients", ""), stays=True
            )

    def _wait_for(self, asked: PairingQuestion | None) -> None:
        self.context.pairing.wait_for(asked)
        if asked is None:
            self.context.desk.hush.emit(clients_strings()["pairing"]["toast"])

    def _show_time(self) -> None:
        left = max(0, round(self._until - self.context.clock.monotonic()))
        if self.question.isVisibleTo(self):
            self.question.show_time(left)
            return
        self.code.show_time(left)
        if self._code is not None and self.code.show_missed(self._code.missed()):
            self._fit_soon()

    def _answer(self, allow: bool) -> None:
        port, question = self.context.pairing.port, self.context.pairing.question
        if port is None or question is None:
            return
        grants = self.question.grants if allow else None
        self.question.wait()
        answering = write(clients_strings()["pairing"]["title"], lambda: port.answer(question.id, allow, grants))
        self.context.tasks.run(answering.within(self).failure(self._fail))

    def _show_end(self, ended: PairingEnd) -> None:
        self._tick.stop()
        self._turn = None
        self._wait_for(None)
        self.end.show_end(ended)
        if ended.outcome is PairingOutcome.DENIED_BEFORE:
            self._name = ended.name
            self._title = clients_strings()["pairing"]["title_for"].format(name=visible(ended.name))
        self._show(self.end)
        self.end.close_button.setDefault(True)
        self.end.close_button.setFocus()
        if ended.outcome is PairingOutcome.PAIRED:
            self.paired.emit(ended.name)

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._tick.stop()
        self._turn = None
        self.end.show_trouble("" if problem is None else problem.sentence)
        self._show(self.end)

    # ---- its size

    def _show(self, view: QWidget) -> None:
        for made in self._views:
            made.setVisible(made is view)
        self._fit_soon()

    def _fit_soon(self) -> None:
        """Later: what was just shown has not found its styles and fonts yet."""
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        """As high as what is shown and no higher than the screen, and on it as a whole."""
        view, room = next(made for made in self._views if made.isVisibleTo(self)), self.screen().availableGeometry()
        width = max(self.width(), self.minimumWidth())
        box, inside = view.layout(), width - 2 * _MARGIN
        if isinstance(view, QuestionView):
            wanted = view.height_for(inside)
        else:
            wanted = view.sizeHint().height() if box is None else box.totalHeightForWidth(inside)
        around = self.frameGeometry().size() - self.size()
        high = min(wanted + 2 * _MARGIN, room.height() - max(_FRAME, around.height()))
        self.setMinimumHeight(high)
        self.resize(width, high)
        lowest = room.bottom() + 1 - high - around.height()
        furthest = room.right() + 1 - width - around.width()
        place = QPoint(max(room.left(), min(self.x(), furthest)), max(room.top(), min(self.y(), lowest)))
        if place != self.pos() and self.isVisible():
            self.move(place)

    # ---- away from here

    def _want_token(self) -> None:
        self.reject()
        self.token_asked.emit()

    def _want_grants(self, name: str) -> None:
        self.accept()
        self.grants_asked.emit(name)

    def _look_at(self, name: str) -> None:
        self.accept()
        self.context.desk.go.emit("clients", f"client:{name}")

    def done(self, result: int) -> None:
        """Closed: the code is dead, and a question that stands counts as not answered.

        Args:
            result: of the dialog.
        """
        self._tick.stop()
        port = self.context.pairing.port
        if port is not None and self._turn is not None:
            self._turn = None
            self.context.tasks.run(write(clients_strings()["pairing"]["title"], port.cancel).failure(lambda _: None))
        self._wait_for(None)
        super().done(result)

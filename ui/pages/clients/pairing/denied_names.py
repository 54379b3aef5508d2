"""The names the person said no to: a quiet list, and taking a no back, so that a name may ask again.

Must not do: pair anybody; a name that may ask again is asked about like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from core.types.clients import Denied
from ui.context import Context
from ui.pages.clients.common.words import visible
from ui.strings import clients_strings, format_count
from ui.tasks import problem_of, query, write
from ui.undo import offer_undo
from ui.widgets.basics import button, clear, column, hairline, label, row, scrolling
from ui.widgets.words import date_of

_WIDTH, _HEIGHT = 460, 360


class NosDialog(QDialog):
    """The list; each no can be taken back.

    Signals:
        lifted: a no was taken back.
    """

    lifted = Signal()

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = clients_strings()["nos"]
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.resize(context.theme.px(_WIDTH), context.theme.px(_HEIGHT))
        self._context = context
        self._note = label(said["sentence"], "muted", wrap=True)
        inner = QWidget()
        self._lines: QVBoxLayout = column(inner, gap=8)
        self.close_button = button(clients_strings()["close"], self.accept, kind="primary")
        heading = label(said["title"], "title")
        heading.setAccessibleDescription("heading")
        layout = column(self, heading, self._note, margins=24, gap=12)
        layout.addWidget(scrolling(inner), 1)
        layout.addLayout(row(None, self.close_button))
        self.read()

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def read(self) -> None:
        """Read the names anew."""
        clients = self._context.bridge.engine.clients
        asked = query(clients_strings()["nos"]["reading"], clients.denied).within(self, "nos")
        self._context.tasks.run(asked.success(self._show).failure(self._fail))

    def _show(self, found: Sequence[Denied]) -> None:
        clear(self._lines)
        said = clients_strings()["nos"]
        self._note.setText(said["sentence" if found else "none"])
        for one in found:
            name, told = visible(one.name_key), QWidget()
            column(
                told, label(name, wrap=True), label(said["since"].format(when=date_of(one.denied_at)), "small"), gap=1
            )
            lift = button(said["lift"], partial(self._lift, one.name_key))
            lift.setAccessibleName(said["lift_name"].format(name=name))
            line = QWidget()
            row(told, lift, gap=12, parent=line).setStretch(0, 1)
            self._lines.addWidget(line)
            self._lines.addWidget(hairline())
        self._lines.addStretch(1)

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)

    def _lift(self, name: str) -> None:
        clients, said = self._context.bridge.engine.clients, clients_strings()["nos"]

        def done(step_id: str) -> None:
            if step_id:
                offer_undo(self._context, said["lifted"].format(name=visible(name)), step_id)
            self.lifted.emit()
            self.read()

        task = write(said["lifting"], lambda: clients.allow_again(name)).within(self)
        self._context.tasks.run(task.success(done).failure(self._fail))


class DeniedNames(QObject):
    """Whether there are any, and the way to them."""

    def __init__(self, context: Context, page: QWidget) -> None:
        """Make it.

        Args:
            context: what pages are given.
            page: the page that shows the way.
        """
        super().__init__(page)
        self._context, self._page = context, page
        self.link = button("", self.open, kind="link", hint=clients_strings()["nos"]["hint"])
        self.link.hide()

    def read(self) -> None:
        """Ask whether there are any; the link shows itself where there are."""
        clients = self._context.bridge.engine.clients
        asked = query(clients_strings()["nos"]["reading"], clients.denied).within(self, "nos")
        self._context.tasks.run(asked.success(self._show).failure(lambda _: self.link.hide()))

    def _show(self, found: Sequence[Denied]) -> None:
        self.link.setText(format_count(clients_strings()["nos"]["link"], len(found)))
        self.link.setVisible(bool(found))

    def open(self) -> None:
        """Show the list."""
        made = NosDialog(self._context, self._page)
        made.lifted.connect(self.read)
        made.open()

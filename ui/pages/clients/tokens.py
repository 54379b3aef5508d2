"""A token made by hand: name, grants and spaces, then the token once, with a copy that leaves the clipboard by itself.

Must not do: keep the token, or show it a second time.
"""

from __future__ import annotations

import base64

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QStackedWidget, QWidget

from core.config.grant_wording import describe_limits_of_grants
from core.types.replies import Paired
from core.types.values import Grant
from core.types.views import Facets
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.clients.labels import visible_name
from ui.pages.clients.terms import GrantBoxes, SpaceBoxes
from ui.strings import clients_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row, make_scroll_area
from ui.widgets.secret import SecretClipboard

_HIGH = 470
_NAME = 40
_USUAL = ("read", "propose")


def token_text(token: bytes) -> str:
    """A token as it is written down: base64url without padding (design, section 8)."""
    return base64.urlsafe_b64encode(token).decode("ascii").rstrip("=")


class TokenDialog(QDialog):
    """Asks for a name and grants, makes the client, shows its token once.

    Signals:
        made: the name of the client.
    """

    made = Signal(str)

    def __init__(self, context: Context, parent: QWidget, name: str = "") -> None:
        """Make it.

        Args:
            name: to begin with.
        """
        super().__init__(parent)
        strings = clients_strings()["making"]
        self.context = context
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_middle))
        self._steps = QStackedWidget()
        self._steps.addWidget(self._make_name_step(name))
        self._steps.addWidget(self._show_step())
        make_column(self, make_label(strings["title"], "title"), self._steps, margins=24, gap=12).setStretch(1, 1)
        self.resize(context.theme.px(sizes().dialog_middle), context.theme.px(_HIGH))
        self.name.setFocus()

    def _make_name_step(self, name: str) -> QWidget:
        strings = clients_strings()["making"]
        widget = QWidget()
        self.name = QLineEdit(name)
        self.name.setMaxLength(_NAME)
        self.name.setAccessibleName(strings["name"])
        self.name.setPlaceholderText(strings["name_hint"])
        self.name.textChanged.connect(lambda _: self._check_form())
        self.grants = GrantBoxes(self.context.theme)
        self.grants.show_grants(_USUAL)
        self.grants.changed.connect(self._check_form)
        self.spaces = SpaceBoxes()
        asking, terms = QWidget(), clients_strings()["terms"]
        make_column(
            asking,
            make_label(strings["may"], "label"),
            self.grants,
            make_label(terms["spaces"], "label"),
            self.spaces,
            make_label(terms["spaces_hint"], "small", wrap=True),
            gap=8,
        ).addStretch(1)
        self.problem = make_label("", "danger", wrap=True)
        self.problem.hide()
        self.cancel = make_button(clients_strings()["cancel"], self.reject)
        self.act = make_button(strings["act"], self._make_token, kind="primary")
        box = make_column(
            widget,
            make_label(strings["lead"], "muted", wrap=True),
            make_label(strings["name"], "label"),
            self.name,
            gap=8,
        )
        box.addWidget(make_scroll_area(asking), 1)
        box.addWidget(self.problem)
        box.addLayout(make_row(None, self.cancel, self.act))
        self._check_form()
        self._read_spaces()
        return widget

    def _read_spaces(self) -> None:
        library = self.context.bridge.engine.library

        def show_spaces(facets: Facets) -> None:
            self.spaces.show_spaces(facets.spaces, ())

        task = make_query(clients_strings()["reading"], library.count_facets).within(self, "spaces")
        self.context.tasks.run(task.success(show_spaces).failure(self._show_failure))

    def _show_step(self) -> QWidget:
        strings = clients_strings()["making"]
        widget = QWidget()
        self.notice = make_label("", "body", wrap=True)
        self.token = QLineEdit()
        self.token.setReadOnly(True)
        self.token.setAccessibleName(strings["token"])
        self.copied = make_label("", "small")
        self.copy = make_button(strings["copy"], self._copy_token, theme=self.context.theme, icon="copy")
        self.finish = make_button(strings["done"], self.accept, kind="primary")
        line = make_row(self.token, self.copy, gap=8)
        line.setStretch(0, 1)
        box = make_column(widget, self.notice, gap=10)
        box.addLayout(line)
        box.addWidget(self.copied)
        box.addStretch(1)
        box.addWidget(make_label(describe_limits_of_grants(), "small", wrap=True))
        box.addLayout(make_row(None, self.finish))
        return widget

    def _check_form(self) -> None:
        self.act.setEnabled(bool(self.name.text().strip()) and bool(self.grants.grants))
        self.spaces.setEnabled(Grant.ALL_SPACES.value not in self.grants.grants)

    def _make_token(self) -> None:
        name = self.name.text().strip()
        grants = (*self.grants.grants, *(self.spaces.grants if self.spaces.isEnabled() else ()))
        clients = self.context.bridge.engine.clients
        self._set_busy(is_busy=True)
        task = make_write(clients_strings()["making"]["making"].rstrip(" …"), lambda: clients.pair(name, grants))
        self.context.tasks.run(task.within(self).success(self._show_token).failure(self._show_failure))

    def _set_busy(self, *, is_busy: bool) -> None:
        for part in (self.name, self.grants, self.spaces, self.act):
            part.setEnabled(not is_busy)
        if not is_busy:
            self._check_form()

    def _show_failure(self, error: BaseException) -> None:
        self._set_busy(is_busy=False)
        problem = problem_of(error)
        self.problem.setText("" if problem is None else problem.sentence)
        self.problem.setVisible(problem is not None)
        self.name.setFocus()

    def _show_token(self, paired: Paired) -> None:
        strings = clients_strings()["making"]
        self.notice.setText(strings["shown"].format(name=visible_name(paired.name)))
        self.token.setText(token_text(paired.token))
        self.token.setCursorPosition(0)
        self._steps.setCurrentIndex(1)
        self.finish.setDefault(True)
        self.copy.setFocus()
        self.made.emit(paired.name)

    def _copy_token(self) -> None:
        SecretClipboard(self.context.desk, self.context.bridge.state).copy_secret(self.token.text())
        self.copied.setText(clients_strings()["making"]["copied"])
        self.copied.setAccessibleName(self.copied.text())

    def done(self, result: int) -> None:
        """Closed: nothing of the token stays."""
        self.token.setText("")
        super().done(result)

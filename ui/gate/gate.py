"""What is shown while the vault is not open: the first run where there is none, else the page that unlocks it.

Must not do: keep a secret; show anything of the vault.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from core.errors import Code
from core.types.replies import Presence
from ui.bridge import OlderCopy, OpenInfo, Problem, make_query, problem_of
from ui.context import USUAL_PLACES, Context
from ui.gate.first_run import FirstRun
from ui.gate.sheet import GateSheet
from ui.gate.unlock import UnlockSheet, describe_problem
from ui.strings import format_count, gate_strings, window_strings
from ui.widgets.basics import make_button, make_column, make_row, make_scroll_area
from ui.widgets.labels import date_of
from ui.widgets.states import LoadingState

Opener = Callable[[str | None], "Future[OpenInfo]"]


class Gate(QWidget):
    """The pages shown while the vault is not open: first run, unlocking, trouble.

    Attributes:
        opener: opens the vault with a secret, None for the keyring; the window's maker may put another in its place.
        page: what is shown; None while the palace is open.
        note: a sentence instead of the usual one where the palace is locked, such as the sample's; "" for the usual.
    """

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("ground")
        self.setAccessibleName(gate_strings()["name"])
        self.context = context
        self.opener: Opener = context.bridge.engine.vault.open
        self.page: QWidget | None = None
        self.note = ""
        self._content = QWidget()
        self._area = make_scroll_area(self._content)
        self._centre = make_column(self._content, margins=12, gap=0)
        make_column(self, self._area)
        self._is_opening = False
        context.bridge.state.connect(self._on_vault_state)

    # ---- what there is

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Look what there is, as soon as somebody sees it."""
        super().showEvent(event)
        if self.page is None and not self.context.bridge.is_open:
            self.find_vault()

    def _on_vault_state(self, state: str) -> None:
        if state == "open" and not self._is_opening:
            self._forget_page()  # opened by another way, such as the command line
            older = self.context.bridge.engine.older
            if older is not None:
                _ask_older(self.context, _describe_doubts(older))
        elif state == "locked" and self.page is None and self.isVisible():
            self.find_vault()

    def find_vault(self) -> None:
        """Look whether there is a vault and how it may be opened."""
        strings = gate_strings()
        loading = LoadingState(strings["finding"])
        loading.show_soon()
        self._show_page(loading)
        vault = self.context.bridge.engine.vault
        task = make_query(strings["finding_palace"], vault.read_presence).within(self, "presence")
        self.context.tasks.run(task.success(self._on_presence_found).failure(self._on_look_failed))

    def _on_presence_found(self, presence: Presence) -> None:
        if self.context.bridge.is_open:
            self._forget_page()
        elif presence.problem is not None:
            self._show_trouble(Problem("integrity", presence.sentence, presence.problem))
        elif presence.exists:
            self._show_page(UnlockSheet(self.context.theme, presence, self._unlock_with, self.note))
        else:
            self._show_page(FirstRun(self.context, self._open_first, self.find_vault))

    def _on_look_failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._show_trouble(problem)

    def _show_trouble(self, problem: Problem) -> None:
        sheet = GateSheet(self.context.theme, gate_strings()["trouble"], describe_problem(problem))
        again = make_button(window_strings()["buttons"]["retry"], self.find_vault, kind="primary")
        sheet.add_footer(again)
        sheet.setFocusProxy(again)
        self._show_page(sheet)

    def _show_page(self, page: QWidget) -> None:
        self._remove_page()
        self.page = page
        self._centre.addStretch(2)
        # Not by alignment: then the height for a wrapped text would be asked for at the wrong width.
        line = _center_page(page)
        self._centre.addWidget(line)
        self._centre.addStretch(3)
        line.show()  # a layout shows it later, and what is not shown cannot take the keyboard
        page.setFocus()

    def _remove_page(self) -> None:
        while (item := self._centre.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.page = None

    def _forget_page(self) -> None:
        """Nothing that was typed or shown here outlives the opening."""
        if isinstance(self.page, FirstRun):
            self.page.forget_code()
        self._remove_page()

    # ---- opening

    def _unlock_with(self, secret: str | None) -> None:
        self._open_vault(secret, finds=False)

    def _open_first(self, code: str, finds: bool) -> None:
        self._open_vault(code, finds=finds)

    def _open_vault(self, secret: str | None, *, finds: bool) -> None:
        secrets = [secret]  # given away once; nothing of the task keeps it
        self._is_opening = True
        self.context.tasks.run(
            make_query(gate_strings()["unlock"]["busy"], lambda: self.opener(secrets.pop()))
            .within(self)
            .success(lambda info: self._on_vault_opened(info, finds=finds))
            .failure(self._on_opening_failed)
        )

    def _on_vault_opened(self, info: OpenInfo, *, finds: bool) -> None:
        self._is_opening = False
        brings_archive = isinstance(self.page, FirstRun) and self.page.brings_archive
        self._forget_page()
        announce_opening(self.context, info)
        if finds or brings_archive:
            # Later than this: the window first makes room for the palace.
            paths = [] if brings_archive else [USUAL_PLACES]
            QTimer.singleShot(0, self, lambda: self.context.desk.import_paths.emit(paths))

    def _on_opening_failed(self, error: BaseException) -> None:
        self._is_opening = False
        problem = problem_of(error)
        if problem is None and getattr(error, "code", None) is Code.VAULT_LOCKED:
            problem = Problem("user", gate_strings()["unlock"]["no_keyring"], "")
        if isinstance(self.page, (UnlockSheet, FirstRun)):
            self.page.show_failure(problem)


def _center_page(page: QWidget) -> QWidget:
    widget = QWidget()
    make_row(None, page, None, parent=widget)
    return widget


def announce_opening(context: Context, info: OpenInfo) -> None:
    """Tell the person what opening found; nothing where all is well.

    Args:
        info: as the engine tells it.
    """
    notes = opening_notes(info)
    if info.older_than_head is not None:
        _ask_older(context, notes)
    elif notes:
        context.desk.show_message(" ".join(notes), stays=True)


def _ask_older(context: Context, notes: list[str]) -> None:
    strings = gate_strings()["older"]

    def accept_vault() -> None:
        task = make_query(strings["accepting"], context.bridge.engine.accept_older)
        context.tasks.run(task.success(lambda retired: _show_accepted(context, retired)))

    context.desk.show_message(" ".join(notes), strings["accept"], accept_vault, stays=True)


def _show_accepted(context: Context, retired: int) -> None:
    strings = gate_strings()["older"]
    sentence = strings["accepted"]
    if retired:
        sentence = f"{sentence} {format_count(strings['unpaired'], retired)}"
    context.desk.show_message(sentence)


def opening_notes(info: OpenInfo) -> list[str]:
    """What opening found, as the person is told.

    Args:
        info: as the engine tells it.

    Returns:
        Sentences; none where all is well.
    """
    notes: list[str] = []
    strings = gate_strings()["opening"]
    if info.lost_commits:
        notes.append(format_count(strings["lost"], info.lost_commits))
    elif info.is_log_damaged:
        notes.append(strings["log_damaged"])
    elif info.recovered_from_crash:
        notes.append(strings["crashed"])
    older = info.older_than_head
    if older is not None:
        notes.extend(_describe_doubts(older))
    elif info.head_state != "ok":
        notes.append(strings["no_record"])
    return notes


def _describe_doubts(older: OlderCopy) -> list[str]:
    strings = gate_strings()["older"]
    if older.doubt == "older":
        seen = older.head_time_ms
        sentence = strings["older"] if seen is None else strings["older_on"].format(day=date_of(seen))
    else:
        sentence = strings["unknown"]
    return [sentence, strings["consequence"]]

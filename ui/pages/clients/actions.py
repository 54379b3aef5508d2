"""What can be done with clients: give, pause, resume, revoke, regrant, stop all, take back; most are one undoable step.

What destroys access asks before, with its numbers, and is never the default button. Must not do: show anything but
sentences and these dialogs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from PySide6.QtCore import QDate, QLocale, QObject, Qt, Signal
from PySide6.QtWidgets import QDateEdit, QDialog, QWidget

from core.types.clients import ClientCard, Removal, TakenBack, Terms, Undoable
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.clients.labels import (
    can_remove,
    describe_left_over,
    describe_removal,
    describe_take_back,
    describe_undo_remainder,
    join_client_names,
    visible_name,
)
from ui.strings import clients_strings, format_count
from ui.theme.tokens import sizes
from ui.undo import offer_undo
from ui.widgets.basics import Elided, Segments, make_button, make_column, make_label, make_row, make_timer
from ui.widgets.labels import to_local

DISCLOSED_MINUTES = 15
TODAY, YESTERDAY, WEEK, ALL, DATE = "today", "yesterday", "week", "all", "date"
PAUSE_MS = 250
"""So long the person may go on choosing before it is counted: counting holds up whoever writes."""
_BACK = {TODAY: 0, YESTERDAY: 1, WEEK: 7}


class AskDialog(QDialog):
    """Title, sentences, one button that agrees and one that does not; the latter is the default.

    Attributes:
        act: the button that agrees. `cancel`: the other one.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(
        self,
        context: Context,
        title: str,
        sentences: tuple[str, ...],
        act: str,
        parent: QWidget,
        cancel: str = "",
        *,
        kind: str = "danger",
    ) -> None:
        """Make it.

        Args:
            act: title of the button that agrees.
            cancel: title of the other one; "" for the usual.
            kind: of the button that agrees.
        """
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setMinimumWidth(context.theme.px(sizes().dialog))
        self.cancel = make_button(cancel or clients_strings()["cancel"], self.reject)
        self.act = make_button(act, self._on_agree_clicked, kind=kind)
        self.act.setAutoDefault(False)
        self.form = QWidget()
        self.form_box = make_column(self.form, gap=10)
        heading = Elided(title, "title")
        heading.setAccessibleDescription("heading")
        layout = make_column(self, heading, margins=24, gap=12)
        for sentence in sentences:
            layout.addWidget(make_label(sentence, "body", wrap=True))
        layout.addWidget(self.form)
        layout.addStretch(1)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.cancel.setDefault(True)
        self.cancel.setFocus()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


def stop_dialog(context: Context, count: int, parent: QWidget) -> AskDialog:
    """Before all clients are stopped.

    Args:
        count: how many are awake.
    """
    strings = clients_strings()["stop_dialog"]
    return AskDialog(context, strings["title"], (format_count(strings["sentence"], count),), strings["act"], parent)


def resume_dialog(context: Context, names: Sequence[str], parent: QWidget) -> AskDialog:
    """Before all that are paused are let in again; it says who they are, for one may have been paused for a reason."""
    strings = clients_strings()["resume_dialog"]
    who = format_count(strings["who"], len(names), names=join_client_names(names))
    return AskDialog(context, strings["title"], (strings["sentence"], who), strings["act"], parent, kind="plain")


def revoke_dialog(context: Context, client: ClientCard, parent: QWidget) -> AskDialog:
    """Before one is revoked."""
    strings = clients_strings()["revoke_dialog"]
    wrote = format_count(strings["wrote"], client.stands) if client.stands else strings["wrote_none"]
    title = strings["title"].format(name=visible_name(client.name))
    return AskDialog(context, title, (strings["sentence"], wrote), strings["act"], parent)


def disclose_dialog(context: Context, client: ClientCard, parent: QWidget) -> AskDialog:
    """Before a client gets what is sensitive for some minutes."""
    strings = clients_strings()["disclose_dialog"]
    title = strings["title"].format(name=visible_name(client.name))
    sentence = strings["sentence"].format(minutes=DISCLOSED_MINUTES)
    return AskDialog(context, title, (sentence,), strings["act"].format(minutes=DISCLOSED_MINUTES), parent)


class UndoSinceDialog(AskDialog):
    """Since when; what that would take back and what would stay is counted for each choice, before one can agree.

    Attributes:
        undoable: what was counted; None while it is not.
        since_ms: epoch ms of what is chosen.
    """

    def __init__(self, context: Context, name: str, parent: QWidget) -> None:
        """Make it."""
        strings = clients_strings()["undo_dialog"]
        title = strings["title"].format(name=visible_name(name))
        super().__init__(context, title, (strings["sentence"],), strings["act_none"], parent)
        self.context, self._name = context, name
        self.undoable: Undoable | None = None
        self.preview, self.stays = (
            make_label(strings["looking"], "strong", wrap=True),
            make_label("", "muted", wrap=True),
        )
        self.stays.hide()
        self.choices = Segments(tuple(strings["choices"].items()), TODAY, strings["since"], wraps=True)
        self.choices.chosen.connect(lambda _: self._on_time_chosen())
        today = to_local(context.clock.now_ms()).date()
        self.day = QDateEdit(QDate(today.year, today.month, today.day))
        self.day.setMaximumDate(QDate(today.year, today.month, today.day))
        self.day.setLocale(QLocale(QLocale.Language.English))
        self.day.setDisplayFormat("d MMM yyyy")
        self.day.setAccessibleName(strings["day"])
        self.day.lineEdit().setObjectName("inner")
        self.day.dateChanged.connect(lambda _: self._on_time_chosen())
        self.form_box.addWidget(make_label(strings["since"], "label"))
        self.form_box.addWidget(self.choices)
        self.form_box.addLayout(make_row(self.day, None))
        self.form_box.addWidget(self.preview)
        self.form_box.addWidget(self.stays)
        self._counting: Future[Undoable] | None = None
        self.pause = make_timer(self, self._request_count, PAUSE_MS)
        self.finished.connect(lambda _: self._cancel_count())
        self._clear_preview()
        self._request_count()

    @property
    def since_ms(self) -> int:
        """From when on, epoch ms: the beginning of a day in the local zone, or 0."""
        chosen = self.choices.current
        if chosen == ALL:
            return 0
        if chosen == DATE:
            picked = self.day.date()
            at = datetime(picked.year(), picked.month(), picked.day()).astimezone()
        else:
            at = to_local(self.context.clock.now_ms()).replace(hour=0, minute=0, second=0, microsecond=0)
            at -= timedelta(days=_BACK[chosen])
        return max(0, int(at.astimezone(UTC).timestamp() * 1000))

    def _on_time_chosen(self) -> None:
        """Another time: nothing can be agreed to until it is counted, once the person has stopped choosing."""
        self._cancel_count()
        self._clear_preview()
        self.pause.start()

    def _cancel_count(self) -> None:
        """What is counted is asked no more: it does not begin where it has not."""
        self.pause.stop()
        if self._counting is not None:
            self._counting.cancel()

    def _clear_preview(self) -> None:
        self.day.setVisible(self.choices.current == DATE)
        self.undoable = None
        self.act.setEnabled(False)
        self.preview.setText(clients_strings()["undo_dialog"]["looking"])
        self.adjustSize()

    def _request_count(self) -> None:
        clients, name, since = self.context.bridge.engine.clients, self._name, self.since_ms

        def start_count() -> Future[Undoable]:
            self._counting = clients.preview_undo(name, since)
            return self._counting

        task = make_query(clients_strings()["undo_dialog"]["looking"], start_count).within(self, "count")
        self.context.tasks.run(task.success(self._show_preview).failure(self._show_failure))

    def _show_preview(self, undoable: Undoable) -> None:
        strings, remainder = clients_strings()["undo_dialog"], describe_left_over(undoable)
        self.undoable = undoable
        self.preview.setText(describe_take_back(undoable))
        self.stays.setText(remainder)
        self.stays.setVisible(bool(remainder))
        act = strings["act_most"] if undoable.untried else strings["act"]
        self.act.setText(
            format_count(act, undoable.steps + undoable.untried) if undoable.steps else strings["act_none"]
        )
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(undoable.steps > 0)
        self.adjustSize()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.preview.setText("" if problem is None else problem.sentence)


class RemoveClientDialog(AskDialog):
    """After revoking: everything it wrote, to be taken back or left; what would become of it was counted before."""

    def __init__(self, context: Context, name: str, undoable: Undoable, parent: QWidget) -> None:
        """Make it.

        Args:
            undoable: what removing would do; something.
        """
        strings = clients_strings()["remove_dialog"]
        sentence = strings["sentence"].format(name=visible_name(name))
        super().__init__(context, strings["title"], (sentence,), strings["act"], parent, strings["cancel"])
        self.preview = make_label(describe_removal(undoable), "strong", wrap=True)
        self.form_box.addWidget(self.preview)
        self.form_box.addWidget(make_label(strings["rest"], "small", wrap=True))


T = TypeVar("T")


class ClientActions(QObject):
    """Carries out what is done with clients, after asking where access is destroyed.

    Signals:
        done: something was done or refused: read again.
        granted: the name of a client whose terms are others now.
    """

    done = Signal()
    granted = Signal(str)

    def __init__(self, context: Context, page: QWidget) -> None:
        """Make it.

        Args:
            page: parent of the dialogs.
        """
        super().__init__(page)
        self._context, self._page = context, page
        self._is_busy = False

    def run_action(self, action: str, client: ClientCard) -> None:
        """Do one thing, or ask before.

        Args:
            action: `disclose`, `conceal`, `pause`, `resume`, `wake`, `revoke` or `undo`.
        """
        clients, name = self._context.bridge.engine.clients, client.name
        if action == "disclose":
            asked = disclose_dialog(self._context, client, self._page)
            asked.agreed.connect(lambda: self._disclose(name, DISCLOSED_MINUTES))
            asked.open()
        elif action == "conceal":
            self._disclose(name, 0)
        elif action == "pause":
            self._run_undoable("pause", name, lambda: clients.pause(name))
        elif action in {"resume", "wake"}:
            self._run_undoable("resume", name, lambda: clients.resume(name))
        elif action == "revoke":
            asking = revoke_dialog(self._context, client, self._page)
            asking.agreed.connect(lambda: self._revoke_client(name))
            asking.open()
        elif action == "undo":
            since = UndoSinceDialog(self._context, name, self._page)
            since.agreed.connect(lambda: self._undo_since(name, since.since_ms))
            since.open()

    def change_terms(self, name: str, terms: Terms) -> None:
        """Let other terms hold from now on."""
        clients, message = (
            self._context.bridge.engine.clients,
            clients_strings()["done"]["regrant"].format(name=visible_name(name)),
        )

        def report_terms(step_id: str) -> None:
            self.granted.emit(name)
            self._report_step(message, step_id)

        self._run_write("regrant", lambda: clients.change_terms(name, terms), report_terms)

    def stop_all(self, count: int) -> None:
        """Stop all that are awake, after asking.

        Args:
            count: how many they are.
        """
        asking = stop_dialog(self._context, count, self._page)
        asking.agreed.connect(lambda: self._stop_clients(count))
        asking.open()

    def resume_all(self, names: Sequence[str]) -> None:
        """Let in again all that are paused, after asking."""
        asking = resume_dialog(self._context, names, self._page)
        asking.agreed.connect(lambda: self._resume_clients(len(names)))
        asking.open()

    # ---- doing

    def _disclose(self, name: str, minutes: int) -> None:
        clients, action = self._context.bridge.engine.clients, "disclose" if minutes else "conceal"
        message = clients_strings()["done"][action].format(name=visible_name(name), minutes=minutes)
        self._run_write(
            action, lambda: clients.disclose(name, minutes), lambda _: self._context.desk.show_message(message)
        )

    def _run_undoable(self, action: str, name: str, begin: Callable[[], Future[str]]) -> None:
        """A verb whose answer is its undo step."""
        message = clients_strings()["done"][action].format(name=visible_name(name))
        self._run_write(action, begin, lambda step_id: self._report_step(message, step_id))

    def _stop_clients(self, count: int) -> None:
        clients, message = self._context.bridge.engine.clients, format_count(clients_strings()["done"]["stop"], count)
        self._run_write("stop", clients.stop_all, lambda step_id: self._report_step(message, step_id))

    def _resume_clients(self, count: int) -> None:
        clients, message = (
            self._context.bridge.engine.clients,
            format_count(clients_strings()["done"]["resume_all"], count),
        )
        self._run_write("resume_all", clients.resume_all, lambda step_id: self._report_step(message, step_id))

    def _revoke_client(self, name: str) -> None:
        clients, message = (
            self._context.bridge.engine.clients,
            clients_strings()["done"]["revoke"].format(name=visible_name(name)),
        )

        def request_removal_count(_client_id: str) -> None:
            self._context.desk.show_message(message)
            counting = make_query(
                clients_strings()["undo_dialog"]["looking"], lambda: clients.preview_undo(name, 0)
            ).within(self)
            self._context.tasks.run(
                counting.success(lambda undoable: self._ask_removal(name, undoable)).failure(self._show_failure)
            )

        self._run_write("revoke", lambda: clients.revoke(name), request_removal_count)

    def _ask_removal(self, name: str, undoable: Undoable) -> None:
        """What a revoked client wrote is offered to be taken back, where there is any."""
        if can_remove(undoable):
            asking = RemoveClientDialog(self._context, name, undoable, self._page)
            asking.agreed.connect(lambda: self._remove_memories(name))
            asking.open()

    def _undo_since(self, name: str, since_ms: int) -> None:
        clients, strings = self._context.bridge.engine.clients, clients_strings()["done"]

        def report_undo(report: TakenBack) -> None:
            message = (
                format_count(strings["undo"], report.steps, name=visible_name(name))
                if report.steps
                else strings["nothing"]
            )
            self._report_step(message + describe_undo_remainder(report.left), report.step_id)

        self._run_write("undo", lambda: clients.undo_since(name, since_ms), report_undo)

    def _remove_memories(self, name: str) -> None:
        clients, strings = self._context.bridge.engine.clients, clients_strings()["done"]

        def report_removal(report: Removal) -> None:
            message = format_count(strings["remove"], report.steps, name=visible_name(name)) if report.steps else ""
            message += format_count(strings["archived"], report.archived) if report.archived else ""
            self._report_step(
                (message.strip() or strings["nothing"]) + describe_undo_remainder(report.left), report.step_id
            )

        self._run_write("remove", lambda: clients.remove_all(name), report_removal)

    def _run_write(self, action: str, begin: Callable[[], Future[T]], then: Callable[[T], None]) -> None:
        if self._is_busy:
            return  # a second press before the first is done would mean the same
        self._is_busy = True
        task = (
            make_write(clients_strings()["doing"][action], begin).within(self).success(then).failure(self._show_failure)
        )
        self._context.tasks.run(task).ended.connect(self._on_write_ended)

    def _on_write_ended(self) -> None:
        self._is_busy = False
        self.done.emit()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.show_message(problem.sentence)

    def _report_step(self, message: str, step_id: str) -> None:
        if step_id:
            offer_undo(self._context, message, step_id)
        else:
            self._context.desk.show_message(message)

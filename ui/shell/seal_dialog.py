"""The dialogs of sealed memories: the key, sealing, reading, putting back, erasing, and backups from before.

What is read is shown while the dialog is open and the key in memory, and nowhere else. Must not do: keep a secret
longer than the call that needs it, or put a text into a message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from core.types.memory import (
    CopiesBeforeSeal,
    CopyState,
    ErasePreview,
    ErasureRequest,
    ErasureSubject,
    SealedCopiesReport,
)
from core.types.sensitivity import SealedRow, SealedText, SealReport, SealState
from core.types.values import Precision, When
from ui.bridge import make_job, make_query, make_write, problem_of
from ui.context import Context
from ui.erasure import erase
from ui.lists.list_view import AfterRemoval, ListView
from ui.lists.row_spec import RowSpec, RowState
from ui.pages.settings.keys import SecretDialog
from ui.shell.sealed_files import SealedFileList
from ui.strings import format_count, seal_strings, secret_strings, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button, make_column, make_label, make_row, make_scroll_area
from ui.widgets.labels import format_said_at, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.secret import CodeCheck, SecretField, StrengthMeter

_WATCH_MS = 5_000
_LEAST, _NAME = 120, 200
"""Height that what scrolls may have, however small the screen; letters of a name at most."""


class SealedRows(RowSpec[SealedRow]):
    """How sealed memories look in a list: the label, and under it where and when."""

    def row_key(self, row: SealedRow) -> str:
        """The memory."""
        return row.id

    def accessible_text(self, row: SealedRow) -> str:
        """Label, space and day."""
        return f"{name_sealed(row, 400)}, {describe_sealed(row)}"

    def row_height(self, _row: SealedRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(sizes().row_two)

    def draw_row(self, painter: QPainter, rect: QRect, row: SealedRow, _state: RowState) -> None:
        """Its two lines."""
        inner = rect.adjusted(12, 5, -12, -5)
        upper = QRect(inner.x(), inner.y(), inner.width(), inner.height() // 2)
        self.draw_text(painter, upper, name_sealed(row, 160), "ink", self.theme.font("body"))
        lower = upper.translated(0, inner.height() // 2)
        self.draw_text(painter, lower, describe_sealed(row), "muted", self.theme.font("small"))


def name_sealed(row: SealedRow, most: int) -> str:
    """Its label, and what the person says of it in the clear."""
    return one_line(f"{row.label} · {row.summary}" if row.summary else row.label, most)


def describe_sealed(row: SealedRow) -> str:
    """Where it was and when it was sealed; or that another key opens it."""
    strings = seal_strings()["list"]
    if not row.can_open:
        return str(strings["other_key"])
    day = format_said_at(When(row.sealed_at, Precision.DAY))
    return str(strings["where"]).format(space=name_space(row.space), day=day)


class _StepBody(QWidget):
    """What scrolls: as high as its words and fields need at the width it has, and never higher.

    Signals:
        fitted: something in it came, went or has other words.
    """

    fitted = Signal()

    def event(self, event: QEvent) -> bool:
        """Tell when its parts need another height."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self.fitted.emit()
        return done

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as its parts need; the area asks for the height that goes with a width."""
        return QSize(super().minimumSizeHint().width(), 0)


@dataclass(frozen=True)
class Step:
    """One step of a dialog: what it asks or shows, which may scroll, and its buttons, which are always there."""

    body: QWidget
    foot: QWidget

    def hide(self) -> None:
        """Both."""
        self.body.hide()
        self.foot.hide()

    def show(self) -> None:
        """Both."""
        self.body.show()
        self.foot.show()

    def set_enabled(self, *, is_enabled: bool) -> None:
        """Both."""
        self.body.setEnabled(is_enabled)
        self.foot.setEnabled(is_enabled)


class SealKeyDialog(SecretDialog):
    """Sets the seal key up or opens it, then shows what it was opened for.

    Attributes:
        step: 0 sets up, 1 shows the code, 2 asks for the secret, 3 is what the key was opened for.
    """

    content = "list"
    """Name of the last step in `resources/help/seal.json`."""

    def __init__(self, context: Context, parent: QWidget | None) -> None:
        self._strings = seal_strings()
        title = self._strings[self.content].get("title", self._strings["title"])
        super().__init__(context, title, parent)
        self.setFixedWidth(context.theme.px(sizes().dialog_wide))
        self._engine = context.bridge.engine
        self.step = 0
        self._bodies, self._feet = _StepBody(), QWidget()
        make_column(self._bodies)
        make_column(self._feet)
        self._steps = (self._make_set_up(), self._make_code(), self._make_closed(), self._make_content())
        for one in self._steps:
            one.hide()
        self.area = make_scroll_area(self._bodies)
        self._bodies.fitted.connect(self.adjustSize)
        self._heading = make_label(title, "title", wrap=True)
        make_column(self, self._heading, self.area, self.trouble, self._feet, margins=24, gap=10)
        self._watch = QTimer(self)  # the key leaves memory by itself, and what was read goes with it
        self._watch.setInterval(_WATCH_MS)
        self._watch.timeout.connect(self.request_state)
        context.bridge.state.connect(self._on_vault_state)
        self.finished.connect(self._forget_everything)
        for field in (self.first, self.second, self.secret):
            field.textEdited.connect(lambda _, field=field: self.show_problem("", field))
        self.request_state()

    # ---- the steps

    def _make_step(self, name: str, *parts: QWidget, buttons: tuple[QWidget | None, ...]) -> Step:
        body, foot = QWidget(), QWidget()
        layout = make_column(body, make_label(self._strings[name]["sentence"], "muted", wrap=True), *parts, gap=8)
        layout.addStretch(1)
        make_row(*buttons, parent=foot)
        for part, parent in ((body, self._bodies), (foot, self._feet)):
            column = parent.layout()
            if column is not None:
                column.addWidget(part)
        return Step(body, foot)

    def _make_cancel(self) -> QWidget:
        return make_button(window_strings()["buttons"]["cancel"], self.reject)

    def _make_set_up(self) -> Step:
        strings, theme = self._strings["set_up"], self.context.theme
        self.first = SecretField(theme, strings["first"])
        self.second = SecretField(theme, strings["second_name"])
        self.meter = StrengthMeter(theme)
        self.first.textChanged.connect(lambda: self.meter.rate_passphrase(self.first.text()))
        self.set_up_button = make_button(strings["act"], self._set_up, kind="primary")
        step = self._make_step(
            "set_up",
            make_label(strings["first"], "strong"),
            self.first,
            self.meter,
            make_label(strings["second"], "strong"),
            self.second,
            buttons=(None, self._make_cancel(), self.set_up_button),
        )
        self.first.put_before(self.second)
        return step

    def _make_code(self) -> Step:
        self.code = self.make_code_view(opens_sealed=True)
        self.code.setAccessibleName(self._strings["code"]["name"])
        self.check, self.asked = CodeCheck(), make_label("", wrap=True)
        self.check.edited.connect(lambda: self.show_problem(""))
        self.check.submitted.connect(self._go_on)
        self.kept = make_button(secret_strings()["kept"], self._go_on, kind="primary")
        self.again = make_button(secret_strings()["check"]["back"], self._show_code_again)
        self._show_code_again()
        buttons = (None, self.again, self.code.copy, self.code.save, self.kept)
        return self._make_step("code", self.code, self.asked, self.check, buttons=buttons)

    def _show_code_again(self) -> None:
        self.check.forget_code()
        self._switch_code(is_checked=False)

    def _switch_code(self, *, is_checked: bool) -> None:
        for part in (self.asked, self.check, self.again):
            part.setVisible(is_checked)
        for shown in (self.code, self.code.copy, self.code.save):
            shown.setVisible(not is_checked)
        self.kept.setText(secret_strings()["check"]["act"] if is_checked else secret_strings()["kept"])

    def _make_closed(self) -> Step:
        strings = self._strings["closed"]
        self.secret = SecretField(self.context.theme, strings["field"])
        self.open_button = make_button(strings["act"], self._open_key, kind="primary")
        return self._make_step("closed", self.secret, buttons=(None, self._make_cancel(), self.open_button))

    def _make_content(self) -> Step:
        """The last step."""
        raise NotImplementedError  # each dialog has its own

    def _begin_content(self) -> None:
        """The key is in memory: fill the last step."""

    def _clear_content(self) -> None:
        """The key is not in memory any more, or the dialog closes."""

    def _show_step(self, step: int) -> None:
        if step == self.step and self._watch.isActive():
            return
        self._steps[self.step].hide()
        self.step = step
        self._steps[step].show()
        self.show_problem("")
        if step < len(self._steps) - 1:
            (self.first, self.kept, self.secret)[step].setFocus()
            (self.set_up_button, self.kept, self.open_button)[step].setDefault(True)
        else:
            self._begin_content()
        self._watch.start()
        self.adjustSize()

    # ---- how it is

    def request_state(self) -> None:
        """Ask whether the key is in memory, and show what follows."""
        if self.context.bridge.is_open and not self.is_busy:
            task = make_query(self._strings["task"], self._engine.seal.read_state).within(self, "state")
            self.context.tasks.run(task.success(self._show_state))

    def _show_state(self, state: SealState) -> None:
        if self.step == 1 and self.code.code:
            return  # the code is looked at; nothing else matters
        if not state.is_open:
            self._clear_content()
        self._show_step(0 if not state.is_set_up else 3 if state.is_open else 2)

    def _run(
        self, begin: Callable[[], Future[Any]], then: Callable[[Any], None], field: QLineEdit | None = None
    ) -> None:
        self._set_busy(is_busy=True)

        def succeed(result: Any) -> None:
            self._set_busy(is_busy=False)
            then(result)

        def fail(error: BaseException) -> None:
            self._set_busy(is_busy=False)
            problem = problem_of(error)
            if problem is not None:
                self.show_problem(problem.sentence, field)

        self.context.tasks.run(make_write(self._strings["task"], begin).within(self).success(succeed).failure(fail))

    def _set_busy(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        self._steps[self.step].set_enabled(is_enabled=not is_busy)
        for button, name in ((self.set_up_button, "set_up"), (self.open_button, "closed")):
            button.setText(self._strings["busy"] if is_busy else self._strings[name]["act"])

    def _set_up(self) -> None:
        if not self.first.text():
            self.show_problem(self._strings["set_up"]["empty"], self.first)
        elif self.first.text() != self.second.text():
            self.show_problem(secret_strings()["differ"], self.second)
        else:
            self.second.take_text()
            secrets = [self.first.take_text()]
            self._run(lambda: self._engine.seal.set_up(secrets.pop()), self._show_code, self.first)

    def _show_code(self, code: str) -> None:
        self.code.show_code(code)
        self._show_step(1)

    def _go_on(self) -> None:
        """Have two groups typed back, unless Loci wrote the code into a file itself; then the code is forgotten."""
        if not self.code.code:
            return  # it was forgotten by a press before
        if not self.check.fields and not self.code.is_saved:
            self.check.ask_groups(self.code.code)
            self.asked.setText(self.check.sentence)
            self._switch_code(is_checked=True)
            self.check.setFocus()
            return
        trouble = self.check.find_trouble()
        self.show_problem(trouble)
        if not trouble:
            self.check.forget_code()
            self.code.forget_code()
            self.request_state()

    def _open_key(self) -> None:
        if not self.secret.text():
            self.show_problem(self._strings["closed"]["empty"], self.secret)
            return
        secrets = [self.secret.take_text()]
        self._run(lambda: self._engine.seal.open(secrets.pop()), self._show_state, self.secret)

    # ---- its height, and the end

    def adjustSize(self) -> None:  # noqa: N802 - Qt's name
        """As high as its step needs, and no higher than the window or the screen: then the step scrolls."""
        inner, outer = self._bodies.layout(), self.layout()
        if inner is None or outer is None:
            return
        margin = outer.contentsMargins().left()
        width = self.width() - 2 * margin
        around = (self._heading, self.trouble, self._feet)
        shown = [one for one in around if not one.isHidden()]
        taken = 2 * margin + outer.spacing() * len(shown) + sum(_height_at(one, width) for one in shown)
        room = self.screen().availableGeometry().height() - self.context.theme.px(sizes().control)
        parent = self.parentWidget()
        if parent is not None and parent.window().isVisible():
            room = min(room, parent.window().height())
        self.area.setFixedHeight(max(0, min(inner.totalHeightForWidth(width), max(_LEAST, room - taken))))
        super().adjustSize()
        self._keep_on_screen()

    def _keep_on_screen(self) -> None:
        """It was placed by the height of its first step: a higher one must not end below the screen."""
        frame, screen = self.frameGeometry(), self.screen().availableGeometry()
        if self.isVisible() and frame.bottom() > screen.bottom():
            self.move(self.x(), max(screen.top(), screen.bottom() - frame.height() + 1))

    def reject(self) -> None:
        """Closed, unless keys are being worked on, or the code is shown: Escape must not lose it."""
        if not (self.step == 1 and self.code.code and self.context.bridge.is_open):
            super().reject()

    def _on_vault_state(self, state: str) -> None:
        if state == "locked":
            self.is_busy = False
            self.reject()

    def _forget_everything(self) -> None:
        """Nothing that was read or typed outlives the dialog."""
        self._watch.stop()
        self._clear_content()
        self.check.forget_code()
        self.code.forget_code()
        for field in (self.first, self.second, self.secret):
            field.take_text()


class SealDialog(SealKeyDialog):
    """Seals a memory, or several under one passphrase."""

    content = "confirm"

    def __init__(self, context: Context, parent: QWidget, ids: Sequence[str]) -> None:
        """Make it.

        Args:
            ids: the memories to seal, one at least.
        """
        self._ids = tuple(ids)
        super().__init__(context, parent)

    def _make_content(self) -> Step:
        strings = self._strings["confirm"]
        self.count = make_label(format_count(strings["count"], len(self._ids)), "strong")
        self.count.setVisible(len(self._ids) > 1)
        self.head = make_label("", "strong", wrap=True)
        self.head.hide()
        self.effects = make_label("", wrap=True)
        self.label = QLineEdit()
        self.label.setAccessibleName(strings["label"])
        self.label.setPlaceholderText(strings["placeholder"])
        self.label.setMaxLength(200)
        self.label.textEdited.connect(lambda _: self.show_problem("", self.label))
        self.summary = QLineEdit()
        self.summary.setAccessibleName(strings["summary"])
        self.summary.setPlaceholderText(strings["summary_placeholder"])
        self.summary.setMaxLength(1000)
        self.summary.textEdited.connect(lambda _: self.show_problem("", self.label))
        self.seal_button = make_button(strings["act"], self._seal_memory, kind="primary")
        return self._make_step(
            "confirm",
            self.count,
            self.head,
            self.effects,
            make_label(strings["label"], "strong"),
            self.label,
            make_label(strings["summary"], "strong"),
            self.summary,
            buttons=(None, self._make_cancel(), self.seal_button),
        )

    def _begin_content(self) -> None:
        self.label.setFocus()
        self.seal_button.setDefault(True)
        self._request_preview()

    def _request_preview(self) -> None:
        self.seal_button.setEnabled(False)
        task = make_query(self._strings["task"], lambda: self._engine.seal.preview(self._ids)).within(self)
        self.context.tasks.run(task.success(self._show_preview))

    def _clear_content(self) -> None:
        self.head.setText("")

    def _show_preview(self, found: ErasePreview) -> None:
        strings = self._strings["confirm"]
        named = [item.text for item in found.items if len(self._ids) == 1 and item.id == self._ids[0]]
        self.head.setText(strings["head"].format(head=one_line(named[0], _NAME)) if named else "")
        self.head.setVisible(bool(named))
        counts = {
            "made": sum(item.why == "made_of_it" for item in found.items),
            "same_words": found.same_words,
            "backups": len(found.backups),
        }
        self.effects.setText("\n".join(format_count(strings[name], count) for name, count in counts.items() if count))
        self.effects.setVisible(any(counts.values()))
        self.seal_button.setEnabled(True)
        self.adjustSize()

    def _seal_memory(self) -> None:
        label, summary = self.label.text(), self.summary.text()
        self._run(lambda: self._engine.seal.seal(self._ids, label, summary), self._on_sealed, self.label)

    def _on_sealed(self, done: SealReport) -> None:
        self.context.desk.show_message(format_count(self._strings["done"]["sealed"], len(done.ids)))
        self.accept()
        if done.backups:
            SealedCopiesDialog(self.context, self.parentWidget()).open()


class SealedListDialog(SealKeyDialog):
    """Shows the memories that are sealed: reads one, puts it back, erases it."""

    def _make_content(self) -> Step:
        strings, theme = self._strings["list"], self.context.theme
        self.list = ListView(SealedRows(theme), strings["name"], keep=AfterRemoval.AFTER)
        self.list.setObjectName("framed")
        self.list.setMinimumHeight(theme.px(sizes().row_two * 4) + 10)
        self.list.looked_at.connect(self._on_row_chosen)
        self.none = make_label(strings["none"], "muted", wrap=True)
        self.search = QLineEdit()
        self.search.setPlaceholderText(strings["search"])
        self.search.setAccessibleName(strings["search"])
        self.search.setClearButtonEnabled(True)
        self.search.returnPressed.connect(self._request_rows)
        self.search.textChanged.connect(lambda text: None if text else self._request_rows())
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(strings["text"])
        self.text.setMinimumHeight(theme.px(120))
        self.files = SealedFileList(self.context)
        self.back_button = make_button(strings["back"], self._put_back)
        self.erase_button = make_button(strings["erase"], self._erase_one, kind="danger")
        self.close_button = make_button(strings["close"], self._close_key, hint=strings["close_hint"])
        self.done_button = make_button(window_strings()["buttons"]["close"], self.accept, kind="primary")
        return self._make_step(
            "list",
            self.none,
            self.search,
            self.list,
            self.text,
            self.files,
            buttons=(self.erase_button, self.back_button, None, self.close_button, self.done_button),
        )

    def _begin_content(self) -> None:
        self.list.setFocus()
        self.done_button.setDefault(True)
        self._request_rows()

    def _clear_content(self) -> None:
        self._clear_text()
        self.files.copies.remove_copies()

    def _clear_text(self) -> None:
        self.text.setPlainText("")
        self.files.show_memory("")
        self._sure_of = ""
        self.erase_button.setText(self._strings["list"]["erase"])

    def _close_key(self) -> None:
        self._engine.seal.close()
        self.accept()

    def _request_rows(self) -> None:
        query = self.search.text().strip()
        seal = self._engine.seal
        begin = (lambda: seal.find(query)) if query else seal.list_rows
        task = make_query(self._strings["task"], begin).within(self, "rows")
        self.context.tasks.run(task.success(self._show_rows).failure(self._show_failure))

    def _show_rows(self, rows: tuple[SealedRow, ...]) -> None:
        self.list.show_lines(rows)
        is_searched = bool(self.search.text().strip())
        self.none.setText(self._strings["list"]["nothing_found" if is_searched else "none"])
        self.none.setVisible(not rows)
        self.search.setVisible(bool(rows) or is_searched)
        for part in (self.list, self.text, self.back_button, self.erase_button):
            part.setVisible(bool(rows))
        if not rows:
            self._clear_content()
        self.adjustSize()

    def _on_row_chosen(self, row: SealedRow | None) -> None:
        self._clear_text()
        self.back_button.setEnabled(row is not None and row.can_open)
        self.erase_button.setEnabled(row is not None)
        if row is not None and row.can_open:
            task = make_write(self._strings["task"], lambda: self._engine.seal.read_text(row.id)).within(self)
            self.context.tasks.run(task.success(self._show_text).failure(self._show_failure))

    def _show_text(self, found: SealedText) -> None:
        row = self.list.current
        if row is None or row.id != found.id or self.step != 3:
            return
        made = [format_count(self._strings["list"]["made"], len(found.made)), *found.made] if found.made else []
        self.text.setPlainText("\n\n".join([found.text, *made]))
        self.files.show_memory(found.id)

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence)

    def _put_back(self) -> None:
        row = self.list.current
        if row is not None:
            self._run(lambda: self._engine.seal.unseal([row.id]), lambda _: self._on_row_gone("back"))

    def _erase_one(self) -> None:
        row = self.list.current
        if row is None:
            return
        if self._sure_of != row.id:  # the second press of a button that says so by then
            self._sure_of = row.id
            self.erase_button.setText(self._strings["list"]["sure"])
            return
        if row.can_open:
            # Where its text can be read it goes as every other text does: searched for afterwards, and barred from
            # coming back with an archive. For that it is put back for as long as erasing takes.
            self._run(lambda: self._engine.seal.unseal([row.id]), lambda _: self._erase_for_good(row.id))
        else:
            self._run(lambda: self._engine.seal.discard([row.id]), lambda _: self._on_row_gone("erased"))

    def _erase_for_good(self, memory_id: str) -> None:
        request = ErasureRequest(ErasureSubject.MEMORY, (memory_id,), whole_chain=True)
        erase(self.context, request, self, lambda _: self._on_row_gone("erased"))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter in the search searches, and presses no button beside it."""
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if not (is_enter and self.search.hasFocus()):
            super().keyPressEvent(event)

    def _on_row_gone(self, done: str) -> None:
        self.context.desk.show_message(self._strings["done"][done])
        self._request_rows()


class SealedCopiesDialog(SealKeyDialog):
    """Tells which backups were made before memories were sealed, and rewrites them."""

    content = "copies"

    def _make_content(self) -> Step:
        strings = self._strings["copies"]
        self.found = make_label("", wrap=True)
        self.names = make_label("", "mono", wrap=True)
        self.share = make_label("", "muted", wrap=True)
        self.rewrite_button = make_button(strings["act"], self._rewrite, kind="primary")
        self.rewrite_button.setEnabled(False)
        self.later_button = make_button(strings["later"], self.reject)
        return self._make_step(
            "copies",
            self.found,
            self.names,
            self.share,
            buttons=(None, self.later_button, self.rewrite_button),
        )

    def _begin_content(self) -> None:
        self.share.hide()
        task = make_query(self._strings["task"], self._engine.seal.copies.list_older).within(self, "copies")
        self.context.tasks.run(task.success(self._show_older))

    def _show_older(self, found: CopiesBeforeSeal) -> None:
        strings = self._strings["copies"]
        names = (*found.names, *found.away)
        self.found.setText(format_count(strings["found"], len(names)) if names else strings["none"])
        self._show_names(names)
        self._offer(can_rewrite=bool(found.names))

    def _offer(self, *, can_rewrite: bool) -> None:
        self.rewrite_button.setVisible(can_rewrite)
        self.rewrite_button.setEnabled(can_rewrite)
        self.later_button.setText(self._strings["copies"]["later"] if can_rewrite else _close_word())
        default = self.rewrite_button if can_rewrite else self.later_button
        default.setDefault(True)
        default.setFocus()
        self.adjustSize()

    def _show_names(self, names: Sequence[str]) -> None:
        self.names.setText("\n".join(one_line(name, _NAME) for name in names))
        self.names.setVisible(bool(names))

    def _rewrite(self) -> None:
        copies = self._engine.seal.copies
        self._set_busy(is_busy=True)
        self.share.setText(self._strings["copies"]["working"])
        self.share.show()
        self.adjustSize()
        task = make_job(
            self._strings["copies"]["task"],
            lambda watch: copies.rewrite(lambda _, done, total: watch.progress(done, total), watch.cancelled),
        ).within(self)
        running = self.context.tasks.run(task.success(self._show_rewritten).failure(self._show_rewrite_failure))
        running.moved.connect(self._show_share)

    def _show_share(self, done: int, total: int) -> None:
        if total > 1:
            self.share.setText(self._strings["copies"]["share"].format(number=done + 1, total=total))

    def _show_rewritten(self, report: SealedCopiesReport) -> None:
        self._end_rewriting()
        self.found.setText("\n\n".join(describe_rewritten(report)))
        self._show_names(())
        self._offer(can_rewrite=False)
        self.context.desk.looked.emit()

    def _show_rewrite_failure(self, error: BaseException) -> None:
        self._end_rewriting()
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence)
        self.request_state()

    def _end_rewriting(self) -> None:
        self._set_busy(is_busy=False)
        self.share.hide()


def describe_rewritten(report: SealedCopiesReport) -> list[str]:
    """What was done with backups from before a seal: a paragraph for each way it went, with their names."""
    strings = seal_strings()["copies"]["states"]
    by_state = {
        state.value: [one.name for one in report.copies if one.state is state]
        for state in (
            CopyState.REWRITTEN,
            CopyState.HOLDS,
            CopyState.OTHER_KEYS,
            CopyState.DAMAGED,
            CopyState.NOT_CHECKED,
        )
    } | {"away": list(report.away)}
    told = [
        "\n".join([format_count(strings[state], len(names)), *(one_line(name, _NAME) for name in names)])
        for state, names in by_state.items()
        if names
    ]
    if report.unopened:
        told.append(format_count(strings["unopened"], report.unopened))
    return told or [str(seal_strings()["copies"]["none"])]


def _close_word() -> str:
    return str(window_strings()["buttons"]["close"])


def _height_at(widget: QWidget, width: int) -> int:
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()


def open_sealed_copies(context: Context, window: QWidget) -> None:
    """Show the backups from before memories were sealed; nothing while the vault is locked."""
    if context.bridge.is_open:
        SealedCopiesDialog(context, window).open()


def open_seal_dialog(context: Context, window: QWidget, ids: Sequence[str]) -> None:
    """Seal memories, or show those that are sealed; nothing while the vault is locked.

    Args:
        window: the dialog goes with it.
        ids: () to show them.
    """
    if context.bridge.is_open:
        (SealDialog(context, window, ids) if ids else SealedListDialog(context, window)).open()

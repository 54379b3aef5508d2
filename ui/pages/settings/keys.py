"""The section of the vault itself: where it lies, what opens it, whether it is whole; dialogs for secrets.

Must not do: keep a secret longer than the call that needs it, or show one that was not just made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLineEdit, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from core.types.replies import KeyRotationReport, Presence, StatusReport
from ui.bridge import Task, make_job, make_query, make_write, problem_of
from ui.context import Context
from ui.erasure import CertificatesDialog
from ui.pages.settings.rows import Line, SettingsSection
from ui.strings import format_count, secret_strings, settings_strings, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import Elided, make_button, make_column, make_label, make_row
from ui.widgets.check_report import CheckReportDialog, summarize_checks
from ui.widgets.labels import count_memories
from ui.widgets.secret import CodeCheck, RecoveryCode, SecretClipboard, SecretField, StrengthMeter, mark_field


class SecretDialog(QDialog):
    """What both have in common: a title, what is wrong, a button that waits while keys are worked on."""

    def __init__(self, context: Context, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.context = context
        self.setFixedWidth(context.theme.px(sizes().dialog))
        self.trouble = make_label("", "danger", wrap=True)
        self.trouble.hide()
        self.is_busy = False

    def show_problem(self, sentence: str, field: QLineEdit | None = None) -> None:
        """Say in place what is wrong.

        Args:
            sentence: what, and what to do; "" for nothing.
        """
        self.trouble.setText(sentence)
        self.trouble.setAccessibleName(sentence)
        self.trouble.setVisible(bool(sentence))
        if field is not None:
            mark_field(field, is_wrong=bool(sentence))
            if sentence:
                field.setFocus()
        self.adjustSize()

    def reject(self) -> None:
        """Closed, unless keys are being worked on."""
        if not self.is_busy:
            super().reject()

    def make_code_view(self, *, opens_sealed: bool = False) -> RecoveryCode:
        """The view of a recovery code, whose file this dialog has written.

        Args:
            opens_sealed: whether it is the code of the sealed memories, not of the vault.
        """
        clipboard = (self.context.desk, self.context.bridge.state, self.context.prefs.options.clipboard_s)
        made = RecoveryCode(self.context.theme, lambda: SecretClipboard(*clipboard), opens_sealed=opens_sealed)
        made.place_chosen.connect(lambda place: self.save_code(made, Path(place), opens_sealed=opens_sealed))
        return made

    def save_code(self, view: RecoveryCode, to: Path, *, opens_sealed: bool = False) -> None:
        """Write the code that is shown into a file that only this person may read.

        Args:
            to: the file; one that is there is replaced, as the person was asked.
            opens_sealed: as for `make_code_view`.
        """
        code, vault, strings = view.code, self.context.bridge.engine.vault, secret_strings()["code"]
        view.save.setEnabled(False)

        def end(_: object) -> None:
            view.save.setEnabled(True)
            view.is_saved = view.code == code
            self.show_problem("")
            view.show_note(strings["saved"])

        def fail(error: BaseException) -> None:
            view.save.setEnabled(True)
            problem = problem_of(error)
            is_plain = problem is not None and problem.family == "user"
            self.show_problem(problem.sentence if problem is not None and is_plain else strings["not_saved"])

        keep = partial(vault.keep_recovery_code, code, to, opens_sealed=opens_sealed)
        self.context.tasks.run(make_write(strings["saving"], keep).within(self, "code").success(end).failure(fail))


class PassphraseDialog(SecretDialog):
    """Asks for the old passphrase and a new one.

    Signals:
        changed: it holds now.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QWidget) -> None:
        strings = settings_strings()["passphrase"]
        super().__init__(context, strings["title"], parent)
        theme = context.theme
        self.old = SecretField(theme, strings["old_name"])
        self.first = SecretField(theme, strings["new"])
        self.second = SecretField(theme, strings["repeat_name"])
        self.meter = StrengthMeter(theme)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(strings["title"], self._submit_form, kind="primary")
        layout = make_column(self, make_label(strings["title"], "title"), margins=24, gap=8)
        layout.addWidget(make_label(strings["hint"], "muted", wrap=True))
        layout.addSpacing(4)
        for words, field in (
            (strings["old"], self.old),
            (strings["new"], self.first),
            (strings["repeat"], self.second),
        ):
            layout.addWidget(make_label(words, "strong"))
            layout.addWidget(field)
            if field is self.first:
                layout.addWidget(self.meter)
        layout.addWidget(self.trouble)
        layout.addSpacing(8)
        layout.addLayout(make_row(None, self.cancel, self.act))
        for field in (self.old, self.first, self.second):
            field.textChanged.connect(self._on_text_changed)
        self.old.put_before(self.first)
        self.first.put_before(self.second)
        self.old.setFocus()

    def _on_text_changed(self) -> None:
        for field in (self.old, self.first, self.second):
            mark_field(field, is_wrong=False)
        self.meter.rate_passphrase(self.first.text())
        if self.trouble.isVisible():
            self.show_problem("")

    def _submit_form(self) -> None:
        if self.is_busy:
            return
        strings = settings_strings()["passphrase"]
        if not self.old.text():
            self.show_problem(strings["no_old"], self.old)
        elif not self.first.text().strip():
            self.show_problem(strings["no_new"], self.first)
        elif self.first.text() != self.second.text():
            self.show_problem(secret_strings()["differ"], self.second)
        else:
            self._change_passphrase()

    def _change_passphrase(self) -> None:
        secrets = [
            self.first.take_text(),
            self.old.take_text(),
        ]  # given away once; nothing of the task or the fields keeps them
        self.second.take_text()
        vault = self.context.bridge.engine.vault
        self._set_busy(is_busy=True)
        task = make_write(
            settings_strings()["passphrase"]["task"], lambda: vault.change_passphrase(secrets.pop(), secrets.pop())
        ).within(self)
        self.context.tasks.run(task.success(self._on_passphrase_changed).failure(self._show_failure))

    def _set_busy(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        strings = settings_strings()["passphrase"]
        self.act.setText(strings["busy"] if is_busy else strings["title"])
        for part in (self.act, self.cancel, self.old, self.first, self.second):
            part.setEnabled(not is_busy)

    def _on_passphrase_changed(self, _nothing: None) -> None:
        self._set_busy(is_busy=False)
        self.changed.emit()
        self.accept()

    def _show_failure(self, error: BaseException) -> None:
        self._set_busy(is_busy=False)
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence, self.old)


class RecoveryDialog(SecretDialog):
    """Makes a new recovery code, shows it, and has two groups typed back; until then the old one holds."""

    topic = "recovery"

    def __init__(self, context: Context, parent: QWidget) -> None:
        strings = settings_strings()[self.topic]
        super().__init__(context, strings["title"], parent)
        self.code = ""
        self.secret = SecretField(context.theme, strings["secret"])
        self.typed = CodeCheck()
        self.groups = self.make_code_view()
        self._stack = QStackedWidget()
        for step in (self._make_secret_step(), self._make_code_step(), self._make_check_step()):
            self._stack.addWidget(step)
        layout = make_column(self, make_label(strings["title"], "title"), self._stack, self.trouble, margins=24, gap=10)
        layout.setStretch(1, 1)
        self.finished.connect(self._forget_code)
        context.bridge.state.connect(self._on_vault_state)
        self._switch_step(0)

    def _make_step(self, sentence: str, *widgets: QWidget, buttons: tuple[QPushButton, ...]) -> QWidget:
        widget = QWidget()
        layout: QVBoxLayout = make_column(widget, make_label(sentence, "muted", wrap=True), *widgets, gap=10)
        layout.addStretch(1)
        layout.addLayout(make_row(None, *buttons))
        return widget

    def _make_secret_step(self) -> QWidget:
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        strings = settings_strings()[self.topic]
        self.make = make_button(strings["make"], self._make_code, kind="primary")
        return self._make_step(strings["make_text"], self.secret, buttons=(self.cancel, self.make))

    def _make_code_step(self) -> QWidget:
        self.copy, strings = self.groups.copy, settings_strings()[self.topic]
        self.kept = make_button(secret_strings()["kept"], self._show_check, kind="primary")
        self.leave = make_button(window_strings()["buttons"]["cancel"], self.reject)
        return self._make_step(
            strings["code_text"], self.groups, buttons=(self.leave, self.copy, self.groups.save, self.kept)
        )

    def _make_check_step(self) -> QWidget:
        strings = settings_strings()[self.topic]
        self.again = make_button(secret_strings()["check"]["back"], lambda: self._switch_step(1))
        self.check = make_button(strings["check"], self._check_code, kind="primary")
        self.asked = make_label("", wrap=True)
        self.typed.edited.connect(lambda: self.show_problem(""))
        self.typed.submitted.connect(self._check_code)
        return self._make_step(strings["check_text"], self.asked, self.typed, buttons=(self.again, self.check))

    @property
    def step(self) -> int:
        """0 asks for a secret, 1 shows the code, 2 has two groups of it typed back."""
        return self._stack.currentIndex()

    def _switch_step(self, step: int) -> None:
        self._stack.setCurrentIndex(step)
        self.show_problem("")
        main = (self.make, self.kept, self.check)[step]
        # Each was made the default before it had a dialog, which therefore knows of none and would take the first
        # button, to leave: it is told by a change alone.
        main.setDefault(False)
        main.setDefault(True)
        (self.secret, self.kept, self.typed)[step].setFocus()

    def done(self, result: int) -> None:
        """Closed; a code that was made and not checked opens nothing."""
        if self.code:
            self.context.desk.show_message(settings_strings()[self.topic]["discarded"])
        super().done(result)

    def _forget_code(self) -> None:
        """Nothing of the code outlives the dialog."""
        self.code = ""
        self.groups.forget_code()
        self.typed.forget_code()
        self.secret.take_text()

    def _on_vault_state(self, state: str) -> None:
        if state != "locked" or (self.is_busy and self.step > 0):
            return  # whether a code that is being checked holds, its answer tells
        self.is_busy = False
        self.reject()

    def _make_code(self) -> None:
        if self.is_busy:
            return
        strings = settings_strings()[self.topic]
        if not self.secret.text():
            self.show_problem(strings["no_secret"], self.secret)
            return
        secrets = [self.secret.take_text()]
        self._set_busy(is_busy=True)
        task = make_write(strings["task"], lambda: self._begin_code(secrets.pop())).within(self)
        self.context.tasks.run(task.success(self._show_code).failure(self._show_failure))

    def _begin_code(self, secret: str) -> Future[str]:
        return self.context.bridge.engine.vault.new_recovery_code(secret)

    def _set_busy(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        for part in (self.make, self.cancel, self.secret):
            part.setEnabled(not is_busy)
        strings = settings_strings()[self.topic]
        self.make.setText(strings["busy"] if is_busy else strings["make"])

    def _show_failure(self, error: BaseException) -> None:
        self._set_busy(is_busy=False)
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence, self.secret)

    def _show_code(self, code: str) -> None:
        self._set_busy(is_busy=False)
        self.code = code
        self.groups.show_code(code)
        self._switch_step(1)

    def _show_check(self) -> None:
        """Have it typed back, unless Loci wrote it into a file itself: what is there is what was shown."""
        self.typed.ask_groups(self.code, () if self.groups.is_saved else None)
        self.asked.setText(self.typed.sentence)
        if self.typed.fields:
            self._switch_step(2)
        else:
            self._check_code()

    def _check_code(self) -> None:
        if self.is_busy:
            return
        trouble = self.typed.find_trouble()
        if trouble:
            self.show_problem(trouble)
            return
        self.show_problem("")
        self._set_checking(is_busy=True)
        self._confirm_code([self.code])

    def _confirm_code(self, codes: list[str]) -> None:
        """Put it in force.

        Args:
            codes: holds the code, to be taken out.
        """
        vault = self.context.bridge.engine.vault
        task = make_write(
            settings_strings()[self.topic]["checking"], lambda: vault.confirm_recovery_code(codes.pop())
        ).within(self)
        self.context.tasks.run(task.success(self._on_code_checked).failure(self._show_check_failure))

    def _set_checking(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        for part in (self.again, self.check, self.typed, self.kept, self.leave):
            part.setEnabled(not is_busy)

    def _on_code_checked(self, fits: bool) -> None:
        self._set_checking(is_busy=False)
        strings = settings_strings()[self.topic]
        if not fits:
            self.show_problem(strings["wrong"])
            return
        self._forget_code()
        self.context.desk.show_message(strings["done"])
        self.accept()

    def _show_check_failure(self, error: BaseException) -> None:
        self._set_checking(is_busy=False)
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence)


class RotationDialog(RecoveryDialog):
    """Puts the whole vault under new keys, once their recovery code was typed back; the vault is closed meanwhile.

    Its parent is the window: the page goes with the vault.
    """

    topic = "rotation"

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(context, parent)
        self.done_so_far = make_label("", "muted", wrap=True)
        self.done_so_far.hide()
        layout = self.layout()
        if layout is not None:
            layout.addWidget(self.done_so_far)

    def _begin_code(self, secret: str) -> Future[str]:
        return self.context.bridge.engine.keys.prepare_rotation(secret)

    def _confirm_code(self, codes: list[str]) -> None:
        keys = self.context.bridge.engine.keys
        task = make_job(
            settings_strings()[self.topic]["checking"],
            lambda watch: keys.rotate(codes.pop(), lambda _, done, total: watch.progress(done, total)),
        ).within(self)
        self.done_so_far.setText(settings_strings()[self.topic]["working"])
        self.done_so_far.show()
        running = self.context.tasks.run(task.success(self._on_rotated).failure(self._show_check_failure))
        running.moved.connect(self._show_share)

    def _show_share(self, done: int, total: int) -> None:
        if total > 1:
            share = settings_strings()[self.topic]["share"].format(percent=round(100 * done / total))
            self.done_so_far.setText(share)

    def _on_rotated(self, report: KeyRotationReport | None) -> None:
        self.done_so_far.hide()
        if report is None or not report.old_backups:
            self._on_code_checked(report is not None)
            return
        self._set_checking(is_busy=False)
        self._forget_code()
        self.context.desk.show_message(
            format_count(settings_strings()[self.topic]["backups"], len(report.old_backups)), stays=True
        )
        self.accept()

    def _show_check_failure(self, error: BaseException) -> None:
        self.done_so_far.hide()
        super()._show_check_failure(error)


class KeyringDialog(SecretDialog):
    """Asks for a secret and turns the keyring on or off.

    Signals:
        changed: "" or what was left undone, in a sentence.
    """

    changed = Signal(str)

    def __init__(self, context: Context, parent: QWidget, *, is_on: bool) -> None:
        strings = settings_strings()["keyring"]["off" if is_on else "on"]
        super().__init__(context, strings["title"], parent)
        self._is_on, self._strings = is_on, strings
        self.secret = SecretField(context.theme, settings_strings()["recovery"]["secret"])
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(strings["act"], self._submit_form, kind="primary")
        layout = make_column(self, make_label(strings["title"], "title"), margins=24, gap=10)
        layout.addWidget(make_label(strings["text"], "muted", wrap=True))
        layout.addWidget(self.secret)
        layout.addWidget(self.trouble)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.secret.setFocus()

    def _submit_form(self) -> None:
        if self.is_busy:
            return
        if not self.secret.text():
            self.show_problem(settings_strings()["passphrase"]["no_old"], self.secret)
            return
        secrets, keys = [self.secret.take_text()], self.context.bridge.engine.keys
        self._set_busy(is_busy=True)
        if self._is_on:
            off = make_write(self._strings["task"], lambda: keys.turn_keyring_off(secrets.pop())).within(self)
            self.context.tasks.run(off.success(self._on_turned_off).failure(self._show_failure))
        else:
            on = make_write(self._strings["task"], lambda: keys.turn_keyring_on(secrets.pop())).within(self)
            self.context.tasks.run(on.success(lambda _: self._end("")).failure(self._show_failure))

    def _set_busy(self, *, is_busy: bool) -> None:
        self.is_busy = is_busy
        for part in (self.act, self.cancel, self.secret):
            part.setEnabled(not is_busy)

    def _on_turned_off(self, is_removed: bool) -> None:
        self._end("" if is_removed else self._strings["left"])

    def _end(self, sentence: str) -> None:
        self._set_busy(is_busy=False)
        self.changed.emit(sentence)
        self.accept()

    def _show_failure(self, error: BaseException) -> None:
        self._set_busy(is_busy=False)
        problem = problem_of(error)
        if problem is not None:
            self.show_problem(problem.sentence, self.secret)


class ActionLine(Line):
    """Something that can be done, with its button; what came of it is said in place."""

    def __init__(self, context: Context, title: str, description: str, words: str = "") -> None:
        super().__init__(context.theme, title, description, words)
        self.button: QPushButton | None = None

    def add_button(self, action: str, run: Callable[[], None], hint: str = "") -> QPushButton:
        """Put a button at its right."""
        self.button = make_button(action, run, hint=hint)
        self.side_column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        return self.button

    def show_busy(self, words: str) -> None:
        """What its button began is under way."""
        self.show_note(words)
        if self.button is not None:
            self.button.setEnabled(False)

    def show_idle(self) -> None:
        """It has ended; the button can be pressed again."""
        if self.button is not None:
            self.button.setEnabled(True)

    def show_failure(self, error: BaseException) -> None:
        """It has failed: say why."""
        self.show_idle()
        problem = problem_of(error)
        self.show_note("" if problem is None else problem.sentence, "danger")


def make_action_line(context: Context, strings: Mapping[str, Any], run: Callable[[], None] | None = None) -> ActionLine:
    """A line by its words, with a button that runs something.

    Args:
        strings: `title`, `text`, `words`, and of the button `act` and perhaps `hint`.
    """
    made = ActionLine(context, strings["title"], strings["text"], strings["words"])
    if run is not None:
        button = made.add_button(strings["act"], run, strings.get("hint", ""))
        if "hint" not in strings:
            button.setAccessibleName(f"{strings['title']}: {strings['act'].removesuffix(' …')}")
    return made


class VaultSection(SettingsSection):
    """The vault and its keys.

    Signals:
        wiping: the person wants to remove everything from this computer.
    """

    wiping = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(settings_strings()["vault"]["title"])
        self.context = context
        place = str(context.bridge.engine.home.path)
        self.place = self._make_line("location", lambda: self._copy_path(place))
        self._path = Elided(shorten_path(place), "mono", Qt.TextElideMode.ElideMiddle)
        self.place.texts.insertWidget(2, self._path)
        self.state = self._make_line("state")
        self.passphrase = self._make_line("passphrase", self._change_passphrase)
        self.recovery = self._make_line("recovery", self._new_code)
        self.keyring = self._make_line("keyring", self._switch_keyring)
        self.rotation = self._make_line("rotation", self._rotate_keys)
        self._is_in_keyring = False
        self.certificates = self._make_line("certificates", lambda: CertificatesDialog(context, self.window()).open())
        self.verify = self._make_line("integrity", self._verify_vault)
        self.wipe = self._make_line("wipe", self.wiping.emit)
        for line in (
            self.place,
            self.state,
            self.passphrase,
            self.recovery,
            self.keyring,
            self.rotation,
            self.certificates,
            self.verify,
            self.wipe,
        ):
            self.add_line(line)

    def _make_line(self, name: str, run: Callable[[], None] | None = None) -> ActionLine:
        return make_action_line(self.context, settings_strings()["vault"][name], run)

    # ---- what there is

    def reload(self) -> None:
        """Ask how the vault is and what opens it."""
        vault = self.context.bridge.engine.vault
        strings = settings_strings()["vault"]
        self._run_query(make_query(strings["reading"], vault.read_status).success(self._show_status), "status")
        self._run_query(
            make_query(strings["reading_keys"], vault.read_presence).success(self._show_presence), "presence"
        )

    def _run_query(self, task: Task[Any], key: str) -> None:
        self.context.tasks.run(task.within(self, key).failure(lambda _: None))  # the page itself tells what is wrong

    def _show_status(self, report: StatusReport) -> None:
        values = report.values
        total, strings = count_memories(values["memories"]["total"]), settings_strings()["vault"]["state"]
        self.state.description.setText(format_count(strings["open"], len(values["spaces"]), memories=total))
        warnings = values["warnings"]
        self.state.show_note(" ".join(warnings), "warning" if warnings else "small")

    def _show_presence(self, presence: Presence) -> None:
        strings = settings_strings()["vault"]
        self._is_in_keyring = presence.in_keyring
        self.keyring.description.setText(strings["keyring"]["used" if presence.in_keyring else "unused"])
        if self.keyring.button is not None:
            words = strings["keyring"]["off" if presence.in_keyring else "act"]
            self.keyring.button.setText(words)
            self.keyring.button.setAccessibleName(f"{strings['keyring']['title']}: {words.removesuffix(' …')}")
        if not presence.has_passphrase:
            self.passphrase.description.setText(strings["passphrase"]["none"])
        if presence.sentence:
            self.state.show_note(presence.sentence, "warning")

    # ---- what can be done

    def _copy_path(self, place: str) -> None:
        QGuiApplication.clipboard().setText(place)
        self.context.desk.show_message(settings_strings()["vault"]["location"]["copied"])

    def _change_passphrase(self) -> None:
        dialog = PassphraseDialog(self.context, self)
        dialog.changed.connect(self._on_passphrase_changed)
        dialog.open()

    def _on_passphrase_changed(self) -> None:
        self.passphrase.show_note(settings_strings()["vault"]["passphrase"]["changed"], "success")
        self.reload()

    def _new_code(self) -> None:
        RecoveryDialog(self.context, self).open()

    def _switch_keyring(self) -> None:
        dialog = KeyringDialog(self.context, self, is_on=self._is_in_keyring)
        dialog.changed.connect(self._on_keyring_switched)
        dialog.open()

    def _on_keyring_switched(self, sentence: str) -> None:
        self.keyring.show_note(sentence, "warning" if sentence else "small")
        self.reload()

    def _rotate_keys(self) -> None:
        RotationDialog(self.context, self.window()).open()

    def _verify_vault(self) -> None:
        vault = self.context.bridge.engine.vault
        strings = settings_strings()["vault"]["integrity"]
        self.verify.show_busy(strings["busy"])
        task = make_query(strings["task"], vault.verify).within(self, "verify")
        self.context.tasks.run(task.success(self._on_vault_verified).failure(self.verify.show_failure))

    def _on_vault_verified(self, report: Mapping[str, Any]) -> None:
        self.verify.show_idle()
        verdict = summarize_checks(report)
        self.verify.show_note(f"{verdict.title}. {verdict.sentence}", verdict.tone)
        CheckReportDialog(self.context.theme, verdict, self).open()


def shorten_path(place: str) -> str:
    """A path with the person's own folder as `~`."""
    own = str(Path.home())
    return f"~{place.removeprefix(own)}" if place.startswith(own + "/") else place

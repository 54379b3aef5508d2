"""The first run: a passphrase, the recovery code shown once, and its check with how to begin.

Nothing is made before the first button. Must not do: keep the passphrase; the vault is opened with the recovery code,
which has been shown by then anyway. Must not do: write the code anywhere itself; the engine does, where one says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QWidget

from core.errors import Code
from ui.bridge import Problem, make_query, make_write, problem_of
from ui.context import Context
from ui.gate.sheet import GateSheet
from ui.gate.unlock import describe_problem
from ui.strings import gate_strings, secret_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.secret import CodeCheck, RecoveryCode, SecretClipboard, SecretField, StrengthMeter, mark_field


class Beginning(StrEnum):
    """What comes once the new palace is open: nothing, a look around for exports, or a file to be chosen."""

    EMPTY = "empty"
    SEARCH = "search"
    FILE = "file"


class ShowCodeStep(QWidget):
    """The code in groups, with ways to take it along.

    Attributes:
        is_saved: whether Loci wrote it into a file.
    """

    def __init__(self, context: Context, code: str, onward: Callable[[], None]) -> None:
        """Make it.

        Args:
            context: the window's services.
            code: groups joined by hyphens.
            onward: goes on to the last step.
        """
        super().__init__()
        theme = context.theme
        self._context = context
        self._code = code
        self.is_saved = False
        strings = gate_strings()
        self.sheet = GateSheet(
            theme,
            strings["code"]["title"],
            strings["code"]["text"],
            step=strings["steps"]["code"],
            width=480,
        )
        clipboard = (context.desk, context.bridge.state, context.prefs.options.clipboard_s)
        self._groups = RecoveryCode(theme, lambda: SecretClipboard(*clipboard))
        self._groups.show_code(code)
        self._groups.place_chosen.connect(self.save_to)
        self.copy, self.save = self._groups.copy, self._groups.save
        self.sheet.add_widgets(self._groups)
        self.main = make_button(secret_strings()["kept"], onward, kind="primary")
        self.sheet.add_footer(self.copy, self.save, self.main)
        make_column(self, self.sheet)
        # No button has the keyboard at first: a second Enter would say that the code is saved before anybody read it.
        self.setAccessibleName(strings["code"]["title"])
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def save_to(self, place: str) -> None:
        """Write the code into a file only this person may read.

        Args:
            place: the file; replaced if it exists, as the dialog has asked.
        """
        code, vault = self._code, self._context.bridge.engine.vault
        self.save.setEnabled(False)
        task = make_write(
            secret_strings()["code"]["saving"], lambda: vault.keep_recovery_code(code, Path(place))
        ).within(self)
        self._context.tasks.run(task.success(self._on_code_saved).failure(self._on_save_failed))

    def _on_code_saved(self, _nothing: None) -> None:
        self.is_saved = True
        self.save.setEnabled(True)
        self.sheet.clear_trouble()
        self._groups.show_note(secret_strings()["code"]["saved"])

    def _on_save_failed(self, error: BaseException) -> None:
        self.save.setEnabled(True)
        problem = problem_of(error)
        if problem is not None and problem.family == "user":
            self.sheet.show_problem(problem.sentence)
        else:
            self.sheet.show_problem(secret_strings()["code"]["not_saved"])


class BeginStep(QWidget):
    """The last step: two groups of the code, typed back, and how to begin; the whole code in either field does as well.

    Where Loci wrote the code into a file itself nothing is asked: what is there is what was shown.
    """

    def __init__(
        self,
        theme: Theme,
        code: str,
        back: Callable[[], None],
        begin: Callable[[Beginning], None],
        asked: Sequence[int] | None = None,
    ) -> None:
        """Make it.

        Args:
            code: groups joined by hyphens.
            back: shows the code once more.
            begin: opens the palace, once what was typed fits; is called with what comes then.
            asked: numbers of the groups from 1; None for any two, empty for none.
        """
        super().__init__()
        self._begin = begin
        self.check = CodeCheck()
        self.check.ask_groups(code, asked)
        self.fields = self.check.fields
        self._is_known = not self.fields  # the code was typed back, or need not be
        strings = gate_strings()
        words = strings["check" if self.fields else "begin"]
        self.sheet = GateSheet(
            theme, words["title"], self.check.sentence or words["text"], step=strings["steps"]["begin"], width=480
        )
        if self.fields:
            self.check.edited.connect(self.sheet.clear_trouble)
            self.check.submitted.connect(lambda: self.begin(Beginning.SEARCH))
            self.sheet.add_widgets(self.check, make_label(strings["begin"]["text"], "muted", wrap=True))
        self.finder = make_button(
            strings["begin"]["find"],
            lambda: self.begin(Beginning.SEARCH),
            kind="primary",
            theme=theme,
            icon="folder-search",
        )
        self.nothing = make_button(strings["begin"]["empty"], lambda: self.begin(Beginning.EMPTY))
        self.file = make_button(
            strings["begin"]["file"],
            lambda: self.begin(Beginning.FILE),
            kind="link",
            theme=theme,
            icon="import",
            hint=strings["begin"]["file_hint"],
        )
        self.sheet.add_row(make_row(self.file, None))
        self.back = make_button(strings["begin"]["back"], back, kind="ghost")
        self.sheet.add_footer(self.back, self.nothing, self.finder)
        make_column(self, self.sheet)
        self.setFocusProxy(next(iter(self.fields.values()), self.finder))

    def begin(self, way: Beginning) -> None:
        """Open the palace if what was typed fits; that the code opens the vault shows as it does.

        Args:
            way: what comes then.
        """
        trouble = "" if self._is_known else self.check.find_trouble()
        if trouble:
            self.sheet.show_problem(trouble)
            return
        self._is_known = True
        self.check.clear_fields()
        self.sheet.clear_trouble()
        self._set_free(is_free=False)
        self.sheet.show_busy(gate_strings()["begin"]["opening"])
        self._begin(way)

    def _set_free(self, *, is_free: bool) -> None:
        for part in (self.finder, self.file, self.nothing, self.back):
            part.setEnabled(is_free)
        for line in self.fields.values():
            line.setEnabled(is_free and not self._is_known)

    def show_failure(self, problem: Problem | None) -> None:
        """It was not opened; what was typed need not be typed again."""
        self._set_free(is_free=True)
        self.sheet.hide_busy()
        if problem is not None:
            self.sheet.show_problem(describe_problem(problem))
        self.finder.setFocus()


def clear_code_from_clipboard(code: str) -> None:
    """Take the code off the clipboard, if it is still there.

    Args:
        code: as it was copied.
    """
    clipboard = QGuiApplication.clipboard()
    if code and clipboard.text() == code:
        clipboard.clear()


class PassphraseStep(QWidget):
    """The first step."""

    def __init__(self, theme: Theme, make: Callable[[str, bool], None]) -> None:
        """Make it.

        Args:
            make: is given the passphrase, and whether the keyring shall open the vault too.
        """
        super().__init__()
        self._make = make
        strings = gate_strings()
        self.sheet = GateSheet(
            theme,
            strings["passphrase"]["title"],
            strings["passphrase"]["text"],
            step=strings["steps"]["passphrase"],
            width=480,
        )
        self.first = SecretField(theme, strings["passphrase"]["field"])
        self.second = SecretField(theme, strings["passphrase"]["repeat_name"])
        self.meter = StrengthMeter(theme)
        self._caps = make_label(strings["caps"], "warning")
        self._caps.hide()
        self._differ = make_label(strings["passphrase"]["differ"], "warning")
        self._differ.hide()
        self.ring = QCheckBox(strings["passphrase"]["keyring"])
        self.ring.setAccessibleDescription(strings["passphrase"]["keyring_hint"])
        self.ring.setToolTip(strings["passphrase"]["keyring_hint"])
        self.ring.hide()
        self.main = make_button(strings["passphrase"]["create"], self.submit_passphrase, kind="primary")
        self.sheet.add_widgets(make_label(strings["passphrase"]["choose"], "strong"), self.first, self.meter)
        self.sheet.add_widgets(
            make_label(strings["passphrase"]["repeat"], "strong"), self.second, self._differ, self._caps, self.ring
        )
        self.sheet.add_widgets(make_label(strings["passphrase"]["hint"], "small", wrap=True))
        self.sheet.add_footer(self.main)
        make_column(self, self.sheet)
        self.first.put_before(self.second)
        self.setFocusProxy(self.first)
        self.first.textChanged.connect(self._on_text_changed)
        self.second.textChanged.connect(self._on_text_changed)
        self.first.returnPressed.connect(self.second.setFocus)
        self.second.returnPressed.connect(self.submit_passphrase)
        for line in (self.first, self.second):
            line.caps.connect(self._caps.setVisible)

    def offer_ring(self, is_there: bool) -> None:
        """Whether the system has a keyring that works."""
        self.ring.setVisible(is_there)

    def _on_text_changed(self) -> None:
        self.sheet.clear_trouble()
        for line in (self.first, self.second):
            mark_field(line, is_wrong=False)
        self.meter.rate_passphrase(self.first.text())
        one, two = self.first.text(), self.second.text()
        self._differ.setVisible(bool(two) and not one.startswith(two))

    def submit_passphrase(self) -> None:
        """Make the vault, if both fields agree."""
        if not self.main.isEnabled():
            return
        strings = gate_strings()["passphrase"]
        if not self.first.text().strip():
            self._show_problem(self.first, strings["empty"])
        elif self.first.text() != self.second.text():
            self._differ.hide()
            self._show_problem(self.second, secret_strings()["differ"])
        else:
            self.second.take_text()
            typed = self.first.take_text()
            self._differ.hide()
            self._set_free(is_free=False)
            self.sheet.show_busy(strings["creating"])
            self._make(typed, self.ring.isChecked() and not self.ring.isHidden())

    def _show_problem(self, line: SecretField, sentence: str) -> None:
        mark_field(line, is_wrong=True)
        self.sheet.show_problem(sentence)
        line.setFocus()

    def _set_free(self, *, is_free: bool) -> None:
        for part in (self.first, self.second, self.ring, self.main):
            part.setEnabled(is_free)
        strings = gate_strings()["passphrase"]
        self.main.setText(strings["create"] if is_free else strings["busy"])

    def show_failure(self, sentence: str, action: str = "", run: Callable[[], None] | None = None) -> None:
        """It was not made."""
        self._set_free(is_free=True)
        self.sheet.show_problem(sentence, action, run)
        self.first.setFocus()


class FirstRun(QWidget):
    """The steps, one at a time."""

    def __init__(self, context: Context, unlock: Callable[[str, Beginning], None], again: Callable[[], None]) -> None:
        """Make it.

        Args:
            unlock: opens the vault with the code; is called with what comes then.
            again: looks anew what there is; for a vault that somebody else made meanwhile.
        """
        super().__init__()
        self._context, self._unlock, self._again = context, unlock, again
        self._code = ""
        self._pages = make_column(self, gap=0)
        self.passphrase: PassphraseStep | None = PassphraseStep(context.theme, self._create_vault)
        self.show_code: ShowCodeStep | None = None
        self.last: BeginStep | None = None
        self._show_page(self.passphrase)
        vault = context.bridge.engine.vault
        self._context.tasks.run(
            make_query(gate_strings()["passphrase"]["finding_keyring"], vault.keyring_available)
            .within(self, "keyring")
            .success(self._offer_ring)
            .failure(lambda _: None)
        )

    def _show_page(self, page: QWidget) -> None:
        for other in (self.passphrase, self.show_code, self.last):
            if other is not None and other is not page:
                other.hide()
        if self._pages.indexOf(page) < 0:
            self._pages.addWidget(page)
        page.show()
        page.setFocus()

    def _offer_ring(self, is_there: bool) -> None:
        if self.passphrase is not None:
            self.passphrase.offer_ring(is_there)

    def _remove_page(self, page: QWidget) -> None:
        self._pages.removeWidget(page)
        page.hide()
        page.deleteLater()

    def _create_vault(self, passphrase: str, use_keyring: bool) -> None:
        vault = self._context.bridge.engine.vault
        secrets = [passphrase]  # given away once; nothing of the task keeps it
        self._context.tasks.run(
            make_query(gate_strings()["passphrase"]["creating"], lambda: vault.create(secrets.pop(), use_keyring))
            .within(self)
            .success(self._on_vault_made)
            .failure(self._on_making_failed)
        )

    def _on_vault_made(self, code: str) -> None:
        self._code = code
        self.show_code = ShowCodeStep(self._context, code, self._show_begin)
        self._show_page(self.show_code)
        if self.passphrase is not None:
            self._remove_page(self.passphrase)
            self.passphrase = None

    def _on_making_failed(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None or self.passphrase is None:
            return
        if problem.code == Code.VAULT_EXISTS.value:
            self.passphrase.show_failure(problem.sentence, gate_strings()["passphrase"]["exists"], self._again)
        else:
            self.passphrase.show_failure(problem.sentence)

    def _show_begin(self) -> None:
        if self.last is not None:
            self._remove_page(self.last)
        is_saved = self.show_code is not None and self.show_code.is_saved
        self.last = BeginStep(
            self._context.theme, self._code, self._show_code_again, self._on_begin_clicked, () if is_saved else None
        )
        self._show_page(self.last)

    def _show_code_again(self) -> None:
        if self.show_code is not None:
            self._show_page(self.show_code)

    def _on_begin_clicked(self, way: Beginning) -> None:
        self._unlock(self._code, way)

    def show_failure(self, problem: Problem | None) -> None:
        """The vault was made but did not open."""
        if self.last is not None:
            self.last.show_failure(problem)

    def forget_code(self) -> None:
        """The code is not needed any more, here or on the clipboard."""
        clear_code_from_clipboard(self._code)
        self._code = ""

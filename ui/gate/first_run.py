"""The first run: a passphrase, the recovery code, and how to begin. Nothing is made before the first button.

Must not do: keep the passphrase; the vault is opened with the recovery code, which has been shown by then anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QCheckBox, QWidget

from core.errors import Code
from ui.context import Context
from ui.gate.recovery import CheckCode, ShowCode, clear_clipboard
from ui.gate.sheet import Sheet
from ui.gate.unlock import CAPS, said_of
from ui.tasks import Problem, problem_of, query
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, label
from ui.widgets.secret import SecretField, StrengthMeter, mark

_TITLE = "A palace for what you know"
_WHAT = (
    "Loci keeps what you told your assistants, and your notes, as a place you can walk through. It all stays on this "
    "computer, encrypted; only your passphrase opens it."
)
_FIND, _EMPTY = True, False  # whether to look for exports
_DIFFER = "The two are not the same."


class Passphrase(QWidget):
    """The first step."""

    def __init__(self, theme: Theme, make: Callable[[str, bool], None]) -> None:
        """Make it.

        Args:
            theme: the theme.
            make: is given the passphrase, and whether the keyring shall open the vault too.
        """
        super().__init__()
        self._make = make
        self.sheet = Sheet(theme, _TITLE, _WHAT, step="1 of 3", width=480)
        self.first = SecretField(theme, "Passphrase")
        self.second = SecretField(theme, "Passphrase again")
        self.meter = StrengthMeter(theme)
        self._caps = label(CAPS, "warning")
        self._caps.hide()
        self._differ = label(_DIFFER, "warning")
        self._differ.hide()
        self.ring = QCheckBox("Let this computer's keyring open it too")
        self.ring.setAccessibleDescription("Then you need the passphrase only where the keyring is not at hand.")
        self.ring.setToolTip("Then you need the passphrase only where the keyring is not at hand.")
        self.ring.hide()
        self.main = button("Make my palace", self.go, kind="primary")
        self.sheet.add(label("Choose a passphrase", "strong"), self.first, self.meter)
        self.sheet.add(label("Once more", "strong"), self.second, self._differ, self._caps, self.ring)
        self.sheet.add(label("Nobody can reset it for you; a recovery code comes next.", "small", wrap=True))
        self.sheet.close_with(self.main)
        column(self, self.sheet)
        self.setFocusProxy(self.first)
        self.first.textChanged.connect(self._typed)
        self.second.textChanged.connect(self._typed)
        self.first.returnPressed.connect(self.second.setFocus)
        self.second.returnPressed.connect(self.go)
        for line in (self.first, self.second):
            line.caps.connect(self._caps.setVisible)

    def offer_ring(self, is_there: bool) -> None:
        """Whether the system has a keyring that works."""
        self.ring.setVisible(is_there)

    def _typed(self) -> None:
        self.sheet.clear_trouble()
        for line in (self.first, self.second):
            mark(line, is_wrong=False)
        self.meter.rate(self.first.text())
        one, two = self.first.text(), self.second.text()
        self._differ.setVisible(bool(two) and not one.startswith(two))

    def go(self) -> None:
        """Make the vault, if both fields agree."""
        if not self.main.isEnabled():
            return
        if not self.first.text().strip():
            self._refuse(self.first, "Choose a passphrase first.")
        elif self.first.text() != self.second.text():
            self._differ.hide()
            self._refuse(self.second, f"{_DIFFER} Type it once more.")
        else:
            self.second.take()
            typed = self.first.take()
            self._differ.hide()
            self._let(is_free=False)
            self.sheet.busy("Making the palace")
            self._make(typed, self.ring.isChecked() and not self.ring.isHidden())

    def _refuse(self, line: SecretField, sentence: str) -> None:
        mark(line, is_wrong=True)
        self.sheet.refuse(sentence)
        line.setFocus()

    def _let(self, *, is_free: bool) -> None:
        for part in (self.first, self.second, self.ring, self.main):
            part.setEnabled(is_free)
        self.main.setText("Make my palace" if is_free else "Making it …")

    def failed(self, sentence: str, action: str = "", run: Callable[[], None] | None = None) -> None:
        """It was not made."""
        self._let(is_free=True)
        self.sheet.refuse(sentence, action, run)
        self.first.setFocus()


class Begin(QWidget):
    """The last step."""

    def __init__(self, theme: Theme, back: Callable[[], None], begin: Callable[[bool], None]) -> None:
        """Make it.

        Args:
            theme: the theme.
            back: goes back to the code.
            begin: opens the palace; is told whether to look for exports.
        """
        super().__init__()
        self.sheet = Sheet(
            theme,
            "Bring your history",
            "Loci reads what ChatGPT, Claude, Claude Code, Codex, Obsidian and others let you take along. It can look "
            "for exports in the usual places of this computer; nothing comes in before you have seen what it is.",
            step="3 of 3",
            width=480,
        )
        self.finder = button("Find my exports", lambda: begin(_FIND), kind="primary", theme=theme, icon="folder-search")
        self.nothing = button("Start empty", lambda: begin(_EMPTY))
        self.back = button("Back", back, kind="ghost")
        self.sheet.close_with(self.back, self.nothing, self.finder)
        column(self, self.sheet)
        self.setFocusProxy(self.finder)

    def busy(self) -> None:
        """The palace is being opened."""
        self._let(is_free=False)
        self.sheet.busy("Opening the palace")

    def _let(self, *, is_free: bool) -> None:
        for part in (self.finder, self.nothing, self.back):
            part.setEnabled(is_free)

    def failed(self, problem: Problem | None) -> None:
        """It was not opened."""
        self._let(is_free=True)
        self.sheet.settle()
        if problem is not None:
            self.sheet.refuse(said_of(problem))
        self.finder.setFocus()


class FirstRun(QWidget):
    """The steps, one at a time."""

    def __init__(self, context: Context, unlock: Callable[[str, bool], None], again: Callable[[], None]) -> None:
        """Make it.

        Args:
            context: the window's parts.
            unlock: opens the vault with the code; is told whether to look for exports then.
            again: looks anew what there is; for a vault that somebody else made meanwhile.
        """
        super().__init__()
        self._context, self._unlock, self._again = context, unlock, again
        self._code = ""
        self._pages = column(self, gap=0)
        self.passphrase: Passphrase | None = Passphrase(context.theme, self._make)
        self.show_code: ShowCode | None = None
        self.check_code: CheckCode | None = None
        self.last: Begin | None = None
        self._put(self.passphrase)
        vault = context.bridge.engine.vault
        self._context.tasks.run(
            query("Looking for a keyring", vault.keyring_available)
            .within(self, "keyring")
            .success(self._offer_ring)
            .failure(lambda _: None)
        )

    def _put(self, page: QWidget) -> None:
        for other in (self.passphrase, self.show_code, self.check_code, self.last):
            if other is not None and other is not page:
                other.hide()
        if self._pages.indexOf(page) < 0:
            self._pages.addWidget(page)
        page.show()
        page.setFocus()

    def _offer_ring(self, is_there: bool) -> None:
        if self.passphrase is not None:
            self.passphrase.offer_ring(is_there)

    def _remove(self, page: QWidget) -> None:
        self._pages.removeWidget(page)
        page.hide()
        page.deleteLater()

    def _make(self, passphrase: str, use_keyring: bool) -> None:
        vault = self._context.bridge.engine.vault
        held = [passphrase]  # given away once; nothing of the task keeps it
        self._context.tasks.run(
            query("Making the palace", lambda: vault.create(held.pop(), use_keyring))
            .within(self)
            .success(self._made)
            .failure(self._not_made)
        )

    def _made(self, code: str) -> None:
        self._code = code
        self.show_code = ShowCode(self._context, code, self._ask_code)
        self._put(self.show_code)
        if self.passphrase is not None:
            self._remove(self.passphrase)
            self.passphrase = None

    def _not_made(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is None or self.passphrase is None:
            return
        if problem.code == Code.VAULT_EXISTS.value:
            self.passphrase.failed(problem.sentence, "Unlock it", self._again)
        else:
            self.passphrase.failed(problem.sentence)

    def _ask_code(self) -> None:
        if self.check_code is not None:
            self._remove(self.check_code)
        self.check_code = CheckCode(self._context.theme, self._code, self._show_again, self._checked)
        self._put(self.check_code)

    def _show_again(self) -> None:
        if self.show_code is not None:
            self._put(self.show_code)

    def _checked(self) -> None:
        """What was typed is the code that was shown; now the vault's own slot is asked."""
        vault, page = self._context.bridge.engine.vault, self.check_code
        if page is None:
            return
        page.main.setEnabled(False)
        page.sheet.busy("Checking the code")
        self._context.tasks.run(
            query("Checking the recovery code", lambda: vault.check_recovery(self._code))
            .within(self)
            .success(self._proved)
            .failure(self._not_proved)
        )

    def _proved(self, fits: bool) -> None:
        if self.check_code is not None:
            self.check_code.main.setEnabled(True)
            self.check_code.sheet.settle()
            if not fits:
                self.check_code.sheet.refuse("The key file does not take this code. Show it again and compare.")
                return
        if self.last is None:
            self.last = Begin(self._context.theme, self._show_again, self._begin)
        self._put(self.last)

    def _not_proved(self, error: BaseException) -> None:
        problem = problem_of(error)
        if self.check_code is not None:
            self.check_code.main.setEnabled(True)
            self.check_code.sheet.settle()
            if problem is not None:
                self.check_code.sheet.refuse(said_of(problem))

    def _begin(self, finds: bool) -> None:
        if self.last is not None:
            self.last.busy()
        self._unlock(self._code, finds)

    def failed(self, problem: Problem | None) -> None:
        """The vault was made but did not open."""
        if self.last is not None:
            self.last.failed(problem)

    def forget(self) -> None:
        """The code is not needed any more, here or on the clipboard."""
        clear_clipboard(self._code)
        self._code = ""

"""The page that opens a vault: passphrase, recovery code or keyring.

Must not do: open anything itself; it hands the secret over and forgets it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from core.errors import Code
from core.types.replies import Presence
from ui.bridge import Problem
from ui.gate.sheet import GateSheet
from ui.strings import gate_strings
from ui.theme.theme import Theme
from ui.widgets.basics import add_hidden_children, make_button, make_column, make_hairline, make_label, make_row
from ui.widgets.secret import SecretField, mark_field


def describe_problem(problem: Problem) -> str:
    """A problem of opening, with what to do about it where the engine does not say so.

    Args:
        problem: as `problem_of` tells it.
    """
    more = gate_strings()["remedies"].get(problem.code, "")
    return f"{problem.sentence} {more}".strip()


class UnlockSheet(QWidget):
    """The page. Its fields are empty again before the vault is asked."""

    def __init__(self, theme: Theme, presence: Presence, unlock: Callable[[str | None], None], note: str = "") -> None:
        """Make it.

        Args:
            presence: how this vault may be opened.
            unlock: is given the secret; None for the keyring.
            note: a sentence instead of the usual one; "" for the usual.
        """
        super().__init__()
        self._presence, self._unlock, self._note = presence, unlock, note
        self._is_by_code = not presence.has_passphrase
        self._was_ring = False
        strings = gate_strings()["unlock"]
        self.sheet = GateSheet(theme, strings["title"], "")
        self._name = make_label("", "strong")
        self.field = SecretField(theme, strings["passphrase"])
        self.field.returnPressed.connect(self.submit_typed)
        self.field.textEdited.connect(self._on_text_edited)
        self.field.caps.connect(self._show_caps_warning)
        self.code = QLineEdit()
        self.code.setObjectName("code")
        self.code.setAccessibleName(strings["code"])
        self.code.setPlaceholderText(strings["code_form"])
        self.code.returnPressed.connect(self.submit_typed)
        self.code.textEdited.connect(self._on_text_edited)
        self._caps = make_label(gate_strings()["caps"], "warning")
        self._caps.hide()
        self.switch = make_button("", self._switch_field, kind="link")
        self.main = make_button(strings["unlock"], self.submit_typed, kind="primary")
        self.ring = make_button(strings["use_keyring"], self.open_by_keyring, theme=theme, icon="key-round")
        self._build_layout()
        self._show_way()

    def _build_layout(self) -> None:
        self.sheet.add_widgets(self._name, self.field, self.code, self._caps)
        self.sheet.add_row(make_row(self.switch, None))
        self.sheet.add_footer(self.main)
        if self._presence.in_keyring:
            self.sheet.add_space(4)
            self.sheet.add_widgets(make_hairline())
            self.sheet.add_space(4)
            self.sheet.add_widgets(self.ring)
        else:
            add_hidden_children(self, self.ring)
        make_column(self, self.sheet)
        self.setFocusProxy(self.code if self._is_by_code else self.field)

    def _show_way(self) -> None:
        by_code = self._is_by_code
        strings = gate_strings()["unlock"]
        self._name.setText(strings["code"] if by_code else strings["passphrase"])
        self.field.setVisible(not by_code)
        self.code.setVisible(by_code)
        self._caps.hide()
        self.switch.setText(strings["use_passphrase"] if by_code else strings["use_code"])
        self.switch.setAccessibleName(self.switch.text())
        self.switch.setVisible(self._presence.has_passphrase)
        usual = strings["text_code"] if by_code else strings["text_passphrase"]
        self.sheet.sentence.setText(self._note or usual)
        self._current_field.setFocus()

    @property
    def _current_field(self) -> QLineEdit:
        return self.code if self._is_by_code else self.field

    def _switch_field(self) -> None:
        self.code.setText("")
        self.field.take_text()
        self._on_text_edited()
        self._is_by_code = not self._is_by_code
        self._show_way()

    def _on_text_edited(self) -> None:
        self.sheet.clear_trouble()
        mark_field(self._current_field, is_wrong=False)

    def _show_caps_warning(self, is_on: bool) -> None:
        self._caps.setVisible(is_on and not self._is_by_code)

    # ---- opening

    def submit_typed(self) -> None:
        """Open it with what was typed."""
        if not self.main.isEnabled():
            return
        if not self._current_field.text().strip():
            self._refuse_line(gate_strings()["unlock"]["empty"].format(field=self._name.text().lower()))
            return
        if self._is_by_code:
            typed = self.code.text()
            self.code.setText("")
        else:
            typed = self.field.take_text()
        self._start_unlock(typed)

    def open_by_keyring(self) -> None:
        """Open it with the system's keyring."""
        self.field.take_text()
        self.code.setText("")
        self._start_unlock(None)

    def _start_unlock(self, secret: str | None) -> None:
        self._was_ring = secret is None
        self._set_free(is_free=False)
        self.sheet.show_busy(gate_strings()["unlock"]["busy"])
        self._unlock(secret)

    def _set_free(self, *, is_free: bool) -> None:
        for part in (self.field, self.code, self.switch, self.main, self.ring):
            part.setEnabled(is_free)
        strings = gate_strings()["unlock"]
        self.main.setText(strings["unlock"] if is_free else strings["unlocking"])

    def show_failure(self, problem: Problem | None) -> None:
        """It was not opened.

        Args:
            problem: why; None where nothing is to be said.
        """
        self._set_free(is_free=True)
        self.sheet.hide_busy()
        if problem is None:
            self._current_field.setFocus()
        elif problem.code == Code.WRONG_SECRET.value and not self._was_ring:
            self._refuse_line(gate_strings()["unlock"]["wrong_code" if self._is_by_code else "wrong_passphrase"])
        else:
            self.sheet.show_problem(describe_problem(problem))
            self._current_field.setFocus()

    def _refuse_line(self, sentence: str) -> None:
        mark_field(self._current_field, is_wrong=True)
        self.sheet.show_problem(sentence)
        self._current_field.setFocus(Qt.FocusReason.OtherFocusReason)

"""A field for a secret, hidden and forgotten once it is taken; how hard it is to guess; a secret on the clipboard.

A recovery code is shown in groups, with ways to take it along.

Must not do: keep, log or emit what is typed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QMimeData, QObject, QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QGridLayout, QLineEdit, QSizePolicy, QWidget

from ui.bridge import passphrase_strength
from ui.strings import secret_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import (
    clear_layout,
    find_usual_folder,
    make_button,
    make_column,
    make_label,
    make_row,
    make_timer,
    make_tool_button,
    set_style_property,
)

CLEAR_S = 30
_MARK = "application/x-loci-secret"
_NOT_KEPT = {
    "linux": (("x-kde-passwordManagerHint", b"secret"),),
    "darwin": (("org.nspasteboard.ConcealedType", b""),),
    "win32": (
        ('application/x-qt-windows-mime;value="ExcludeClipboardContentFromMonitorProcessing"', b"1"),
        ('application/x-qt-windows-mime;value="CanIncludeInClipboardHistory"', bytes(4)),
    ),
}
"""What tells a clipboard history to leave it out, by system."""
"""Managers of clipboards that keep a history leave out what carries this mark."""
_BARS = 4
_TOKENS = ("danger", "danger", "warning", "success", "success")


class _Bars(QWidget):
    """Bars that fill from the left."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._filled, self._token = 0, "line"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(self._theme.px(160), self._theme.px(6))

    def set_filled(self, filled: int, token: str) -> None:
        """Fill some of them."""
        self._filled, self._token = filled, token
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        gap = self._theme.px(4)
        width = (self.width() - gap * (_BARS - 1)) / _BARS
        for nr in range(_BARS):
            painter.setBrush(self._theme.colour(self._token if nr < self._filled else "line"))
            painter.drawRoundedRect(QRectF(nr * (width + gap), 0, width, self.height()), 2, 2)


class StrengthMeter(QWidget):
    """The estimate for what is typed so far.

    Attributes:
        score: 0 to 4; -1 while nothing is typed.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.score = -1
        self._bars = _Bars(theme)
        self._word = make_label("", "strong")
        self._word.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._sentence = make_label(secret_strings()["strength"]["advice"], "small", wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = make_column(self, self._bars, gap=6)  # as wide as the field above
        line = make_row(self._word, self._sentence, gap=8)
        line.setStretch(1, 1)
        layout.addLayout(line)
        self._sentence.setMinimumHeight(2 * self._sentence.fontMetrics().lineSpacing() + 4)
        self.rate_passphrase("")

    @property
    def words(self) -> str:
        """What is said."""
        return f"{self._word.text()}. {self._sentence.text()}".removeprefix(". ")

    def rate_passphrase(self, typed: str) -> None:
        """Rate a passphrase.

        Args:
            typed: as typed so far.
        """
        strings = secret_strings()["strength"]
        if not typed:
            self.score = -1
            self._bars.set_filled(0, "line")
            self._word.setText("")
            self._word.hide()
            self._sentence.setText(strings["advice"])
        else:
            found = passphrase_strength(typed)
            self.score = found.score
            self._bars.set_filled(max(1, found.score), _TOKENS[found.score])
            self._word.setText(strings["scores"][found.score])
            self._word.show()
            self._sentence.setText(found.sentence)
        self.setAccessibleName(strings["name"].format(words=self.words))


_SENSITIVE = (
    Qt.InputMethodHint.ImhSensitiveData
    | Qt.InputMethodHint.ImhNoAutoUppercase
    | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhHiddenText
)


class SecretField(QLineEdit):
    """A line whose text is shown as dots, with a button that shows it.

    Signals:
        caps: Caps Lock seems to be on, or off again; told by the letters that arrive.
    """

    caps = Signal(bool)

    def __init__(self, theme: Theme, name: str) -> None:
        """Make it.

        Args:
            name: what it asks for, such as `Passphrase`.
        """
        super().__init__()
        self._theme = theme
        self._caps = False
        self.setAccessibleName(name)
        self.setInputMethodHints(_SENSITIVE)
        what = name.lower()
        strings = secret_strings()
        self._show = make_tool_button(
            theme, "eye", strings["show"].format(what=what), lambda: self.reveal_text(is_shown=True), size=16
        )
        self._hide = make_tool_button(
            theme, "eye-off", strings["hide"].format(what=what), lambda: self.reveal_text(is_shown=False), size=16
        )
        for eye in (self._show, self._hide):
            eye.setParent(self)
        self.reveal_text(is_shown=False, takes_focus=False)
        theme.changed.connect(self._place_eyes)

    @property
    def is_revealed(self) -> bool:
        """Whether what is typed can be read."""
        return self.echoMode() is QLineEdit.EchoMode.Normal

    def reveal_text(self, *, is_shown: bool, takes_focus: bool = True) -> None:
        """Show what is typed, or dots.

        Args:
            is_shown: whether it can be read.
            takes_focus: whether the button that is there now takes the keyboard from the one that goes.
        """
        had_focus = takes_focus and (self._show.hasFocus() or self._hide.hasFocus())
        self.setEchoMode(QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password)
        self._show.setVisible(not is_shown)
        self._hide.setVisible(is_shown)
        if had_focus:
            (self._hide if is_shown else self._show).setFocus()

    def put_before(self, other: SecretField) -> None:
        """Let Tab lead from this field to the one where the same is typed again, then to the buttons of both.

        Args:
            other: of the same window, and in it already.
        """
        chain = (self, other, self._show, self._hide, other._show, other._hide)
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    def take_text(self) -> str:
        """What was typed; the field and its history hold nothing of it afterwards."""
        typed = self.text()
        self.setText("")
        self.reveal_text(is_shown=False)
        return typed

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Notice Caps Lock: Qt does not tell it, but the letters do."""
        typed = event.text()
        if event.key() == Qt.Key.Key_CapsLock:
            self._set_caps(is_on=not self._caps)
        elif len(typed) == 1 and typed.isalpha() and typed.upper() != typed.lower():
            is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._set_caps(is_on=typed.isupper() != is_shifted)
        super().keyPressEvent(event)

    def _set_caps(self, *, is_on: bool) -> None:
        if is_on != self._caps:
            self._caps = is_on
            self.caps.emit(is_on)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The hint belongs to the field that is typed in."""
        super().focusOutEvent(event)
        self._set_caps(is_on=False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the button at the end of the line."""
        super().resizeEvent(event)
        self._place_eyes()

    def _place_eyes(self) -> None:
        side = self.height() - 6
        for eye in (self._show, self._hide):
            eye.setGeometry(self.width() - side - 4, 3, side, side)
        self.setTextMargins(0, 0, side, 0)


def mark_field(line: QLineEdit, *, is_wrong: bool) -> None:
    """Mark a field as the one that is wrong; the words beside it say so too."""
    set_style_property(line, "wrong", is_wrong)


class NewPassphraseDialog(QDialog):
    """Asks for a new passphrase, twice.

    Signals:
        agreed: the passphrase; the dialog holds nothing of it any more.

    Attributes:
        trouble: says in place what is wrong with what was typed.
    """

    agreed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget, title: str, words: str, action: str, least: int) -> None:
        """Make it.

        Args:
            title: of the dialog.
            words: what the passphrase is for.
            action: on the button.
            least: characters it has at least.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setFixedWidth(theme.px(sizes().dialog))
        self._least = least
        strings = secret_strings()["new"]
        self.first = SecretField(theme, strings["first"])
        self.second = SecretField(theme, strings["second"])
        self.meter = StrengthMeter(theme)
        self.trouble = make_label("", "danger", wrap=True)
        self.trouble.hide()
        self.act = make_button(action, self._submit_form, kind="primary")
        layout = make_column(self, make_label(title, "title"), make_label(words, "muted", wrap=True), margins=24, gap=8)
        for name, field in ((strings["first"], self.first), (strings["repeat"], self.second)):
            layout.addWidget(make_label(name, "strong"))
            layout.addWidget(field)
            if field is self.first:
                layout.addWidget(self.meter)
            field.textChanged.connect(self._on_text_changed)
        layout.addWidget(self.trouble)
        layout.addSpacing(8)
        layout.addLayout(make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.act))
        self.first.put_before(self.second)
        self.first.setFocus()

    def _on_text_changed(self) -> None:
        self.meter.rate_passphrase(self.first.text())
        for field in (self.first, self.second):
            mark_field(field, is_wrong=False)
        self.trouble.hide()

    def _submit_form(self) -> None:
        if len(self.first.text()) < self._least:
            self._show_problem(secret_strings()["new"]["short"].format(least=self._least), self.first)
        elif self.first.text() != self.second.text():
            self._show_problem(secret_strings()["differ"], self.second)
        else:
            self.second.take_text()
            self.agreed.emit(self.first.take_text())
            self.accept()

    def _show_problem(self, sentence: str, field: SecretField) -> None:
        self.trouble.setText(sentence)
        self.trouble.setAccessibleName(sentence)
        self.trouble.show()
        mark_field(field, is_wrong=True)
        field.setFocus()
        self.adjustSize()


class SecretClipboard(QObject):
    """Puts something of the vault on the clipboard for a while; what is there carries a mark of this object.

    Clipboard histories are asked to leave it out.

    Holds no secret itself, and takes off nothing that somebody else has put there since.
    """

    def __init__(self, parent: QObject, vault_state: SignalInstance, clear_s: int = CLEAR_S) -> None:
        """Make one for one secret.

        Args:
            parent: what outlives the widget that shows the secret.
            vault_state: a state that is not `open` takes it off at once.
            clear_s: seconds it stays; 0 for no end but that.
        """
        super().__init__(parent)
        self._clear_s = clear_s
        self._timer = make_timer(self, self.clear_clipboard, clear_s * 1000)
        self._mark = str(id(self)).encode("ascii")
        vault_state.connect(self._on_vault_state)

    def copy_secret(self, secret: str) -> None:
        """Put it there.

        Args:
            secret: plain text.
        """
        copied = QMimeData()
        copied.setText(secret)
        copied.setData(_MARK, self._mark)
        for name, value in _NOT_KEPT.get(sys.platform, ()):
            copied.setData(name, value)
        QGuiApplication.clipboard().setMimeData(copied)
        if self._clear_s:
            self._timer.start()

    def clear_clipboard(self) -> None:
        """Take it off, if it is still there; this object has done its work then."""
        self._timer.stop()
        content: QMimeData | None = QGuiApplication.clipboard().mimeData()  # None where the clipboard is empty
        if content is not None and content.data(_MARK).data() == self._mark:
            QGuiApplication.clipboard().clear()
        self.deleteLater()

    def _on_vault_state(self, state: str) -> None:
        if state != "open":
            self.clear_clipboard()


_COLUMNS = 3


class RecoveryCode(QWidget):
    """A recovery code that is shown once: its groups, numbered, and below them what became of it.

    Signals:
        place_chosen: the file that it shall be written into.

    Attributes:
        code: groups joined by hyphens; "" while none is shown.
        copy: puts it on the clipboard; its place is the footer.
        save: asks for a file; likewise.
        is_saved: whether Loci wrote it into a file: then nobody need type it back.
    """

    place_chosen = Signal(str)

    def __init__(
        self, theme: Theme, make_clipboard: Callable[[], SecretClipboard], *, opens_sealed: bool = False
    ) -> None:
        """Make it, empty.

        Args:
            make_clipboard: makes one that outlives this widget.
            opens_sealed: whether it is the code of the sealed memories: saved under the name of the vault's own it
                would replace that.
        """
        super().__init__()
        self.code = ""
        self._file_name = secret_strings()["code"]["sealed_file" if opens_sealed else "file"]
        self.is_saved = False
        self._make_clipboard = make_clipboard
        strings = secret_strings()["code"]
        self.copy = make_button(window_strings()["buttons"]["copy"], self._copy_code, theme=theme, icon="copy")
        self.save = make_button(strings["save"], self._ask_place, theme=theme, icon="save")
        self.note = make_label("", "small", wrap=True)
        self.note.setMinimumHeight(
            self.note.fontMetrics().lineSpacing()
        )  # the dialog is no higher once it says something
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 8, 0, 8)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(8)
        layout = make_column(self, gap=4)
        layout.addLayout(self._grid)
        layout.addWidget(self.note)

    def show_code(self, code: str) -> None:
        """Show it.

        Args:
            code: groups joined by hyphens.
        """
        self.code, self.is_saved = code, False
        for nr, group in enumerate(code.split("-")):
            self._grid.addWidget(_make_group(nr + 1, group), nr // _COLUMNS, nr % _COLUMNS)

    def show_note(self, sentence: str) -> None:
        """Say what became of it; "" for nothing."""
        self.note.setText(sentence)
        self.note.setAccessibleName(sentence)

    def forget_code(self) -> None:
        """Nothing of it stays, here or on the clipboard."""
        clipboard = QGuiApplication.clipboard()
        if self.code and clipboard.text() == self.code:
            clipboard.clear()
        self.code = ""
        clear_layout(self._grid)
        self.show_note("")

    def _copy_code(self) -> None:
        self._make_clipboard().copy_secret(self.code)
        self.show_note(secret_strings()["code"]["copied"])

    def _ask_place(self) -> None:
        strings = secret_strings()["code"]
        asking = QFileDialog(self, strings["save_title"], find_usual_folder())
        asking.selectFile(self._file_name)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        asking.setNameFilter(strings["file_kinds"])
        asking.setDefaultSuffix("txt")
        asking.fileSelected.connect(self.place_chosen)
        asking.open()


def _make_group(number: int, letters: str) -> QWidget:
    widget = QWidget()
    words = make_label(letters)
    words.setObjectName("code")
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    words.setAccessibleName(secret_strings()["group"].format(number=number, letters=" ".join(letters)))
    nr = make_label(str(number), "small")
    nr.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    nr.setFixedWidth(nr.fontMetrics().horizontalAdvance("00"))
    make_row(nr, words, None, gap=8, parent=widget)
    return widget


_ASKED = 2  # groups of the code that are typed back
_LOOKALIKES = str.maketrans({"0": "O", "8": "B"})


def normalize_code(typed: str) -> str:
    """What was typed of a code, as it is compared: capitals, without spaces and dashes, 0 for O, 8 for B.

    Args:
        typed: as a person types it.
    """
    return "".join(character for character in typed.upper().translate(_LOOKALIKES) if character.isalnum())


def is_same_code(typed: str, wanted: str) -> bool:
    """Whether something typed is a part of the code; 1 represents I or L.

    Args:
        typed: as a person types it.
        wanted: the part, or the code.
    """
    have, want = normalize_code(typed), normalize_code(wanted)
    return len(have) == len(want) and all(a == b or (a == "1" and b in "IL") for a, b in zip(have, want, strict=True))


class CodeCheck(QWidget):
    """Has some groups of a recovery code typed back; the whole code in any of the fields does as well.

    Signals:
        edited: something was typed.
        submitted: Enter was pressed, and no field is empty.

    Attributes:
        fields: by the number of their group, from 1.
        sentence: what to type; "" where nothing is asked.
    """

    edited = Signal()
    submitted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[int, QLineEdit] = {}
        self.sentence = self._code = ""
        self._row = make_row(gap=16, parent=self)

    def ask_groups(self, code: str, asked: Sequence[int] | None = None) -> None:
        """Ask for groups of a code.

        Args:
            code: groups joined by hyphens.
            asked: numbers of the groups from 1; None for any two, empty for none.
        """
        self.forget_code()
        self._code = code
        if asked is None:
            asked = sorted(random.SystemRandom().sample(range(1, len(code.split("-")) + 1), _ASKED))
        strings = secret_strings()["check"]
        for number in asked:
            name = strings["group"].format(number=number)
            field = QLineEdit()
            field.setObjectName("code")
            field.setAccessibleName(name)
            field.returnPressed.connect(self._on_return_pressed)
            field.textEdited.connect(self._on_text_edited)
            self.fields[number] = field
            column = QWidget()
            make_column(column, make_label(name, "strong"), field)
            self._row.addWidget(column)
        self.sentence = strings["text"].format(*asked) if asked else ""
        if asked:
            self.setFocusProxy(self.fields[asked[0]])

    def find_trouble(self) -> str:
        """Mark what does not match; a sentence about it, "" where all of it is right."""
        if self._has_whole():
            return ""
        groups = self._code.split("-")
        wrong = [n for n, field in self.fields.items() if not is_same_code(field.text(), groups[n - 1])]
        if not wrong:
            return ""
        for number in wrong:
            mark_field(self.fields[number], is_wrong=True)
        self.fields[wrong[0]].setFocus()
        self.fields[wrong[0]].selectAll()
        strings = secret_strings()["check"]
        many = strings["and"].join(str(number) for number in wrong)
        return str(strings["wrong"]["one" if len(wrong) == 1 else "many"].format(groups=many))

    def clear_fields(self) -> None:
        """What was typed is not needed any more."""
        for field in self.fields.values():
            field.setText("")

    def forget_code(self) -> None:
        """Nothing of the code stays here, and nothing is asked."""
        self._code = self.sentence = ""
        self.fields.clear()
        clear_layout(self._row)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter was told by `submitted`; the default button of a dialog must not be pressed by it too."""
        if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            super().keyPressEvent(event)

    def _has_whole(self) -> bool:
        return any(is_same_code(field.text(), self._code) for field in self.fields.values())

    def _on_text_edited(self) -> None:
        for field in self.fields.values():
            mark_field(field, is_wrong=False)
        self.edited.emit()

    def _on_return_pressed(self) -> None:
        empty = [field for field in self.fields.values() if not field.text().strip()]
        if empty and not self._has_whole():
            empty[0].setFocus()
        else:
            self.submitted.emit()

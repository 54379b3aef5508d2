"""Where a memory's text is written anew. What is written lives in this widget alone and goes with it.

Must not do: ask the engine, or keep a word after `stop`.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, button, clear, column, label
from ui.widgets.keys import KeyButton
from ui.widgets.plaintext import has_marks, pieces
from ui.widgets.states import Banner

SAVE_KEYS = "Ctrl+Return"
_FEWEST, _MOST = 5, 22
_PARAGRAPH = "\u2029"
HIDDEN = "This text holds characters that cannot be seen."
ASK = "These words are not saved yet."


class Field(QPlainTextEdit):
    """A field of plain text as tall as its text, within bounds.

    Signals:
        asked_save: Ctrl+Enter.
        asked_cancel: Esc.
    """

    asked_save = Signal()
    asked_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Text of the memory")
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._fit)

    @property
    def words(self) -> str:
        """What stands in it; unlike `toPlainText` it keeps no-break spaces as they are."""
        return self.document().toRawText().replace(_PARAGRAPH, "\n")

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Ctrl+Enter saves, Esc leaves."""
        if (
            event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.asked_save.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.asked_cancel.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Its keys come before the window's."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_save = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
            if is_save or event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Its lines break anew."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _fit(self) -> None:
        lines = max(_FEWEST, min(_MOST, round(self.document().size().height()) + 1))
        height = lines * self.fontMetrics().lineSpacing() + 20
        if height != self.height():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its text."""
        return QSize(200, self.height())


class Editor(QWidget):
    """A field with Save and Cancel, a place for what is wrong, and a question before anything is lost.

    Signals:
        save: the words to save.
        cancel: leave it as it was.
    """

    save = Signal(str)
    cancel = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._before, self._line_end = "", "\n"
        self._first = ""
        self.field = Field()
        self.field.asked_save.connect(self._save)
        self.field.asked_cancel.connect(self.cancel)
        self.wrong = label("", "danger", wrap=True)
        self.wrong.hide()
        self.save_button = KeyButton(theme, "Save", _shown(SAVE_KEYS), self._save, "primary", is_tight=True)
        self.cancel_button = KeyButton(theme, "Cancel", "Esc", self.cancel.emit, is_tight=True)
        self._buttons = QWidget()
        flow = FlowLayout(self._buttons)
        flow.addWidget(self.save_button)
        flow.addWidget(self.cancel_button)
        self._notes = QWidget()
        self._notes_box: QVBoxLayout = column(self._notes)
        self._notes.hide()
        note = label("The old version stays in its history.", "small", wrap=True)
        column(self, self._notes, self.field, self.wrong, note, self._buttons, gap=8)

    def begin(self, text: str) -> None:
        """Write a text anew.

        Args:
            text: as it stands.
        """
        self._before = text
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        self.field.setPlainText(text)
        self._first = self.field.words
        self.say("")
        self._calm()
        self.show()
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def is_dirty(self) -> bool:
        """Whether something was written that is not saved."""
        return not self.isHidden() and self.field.words != self._first

    @property
    def written(self) -> str:
        """The text as it would be saved; the one it began with where nothing was changed."""
        words = self.field.words
        return self._before if words == self._first else words.replace("\n", self._line_end)

    def say(self, sentence: str) -> None:
        """Say what is wrong, below the field; "" for nothing."""
        self.wrong.setText(sentence)
        self.wrong.setVisible(bool(sentence))
        self.save_button.setEnabled(True)

    def busy(self) -> None:
        """It is being saved."""
        self.save_button.setEnabled(False)

    def ask(self, *answers: tuple[str, Callable[[], None]]) -> None:
        """Ask before anything is lost.

        Args:
            *answers: titles and what they do; the first is the main one.
        """
        banner = Banner(ASK, "warning")
        choices = QWidget()
        flow = FlowLayout(choices)
        for number, (title, run) in enumerate(answers):
            flow.addWidget(button(title, run, kind="plain" if number else "primary"))
        clear(self._notes_box)
        self._notes_box.addWidget(banner)
        self._notes_box.addWidget(choices)
        self._notes.show()
        self._buttons.hide()

    def _calm(self) -> None:
        """Nothing is asked; only what cannot be seen in the text is spoken of."""
        clear(self._notes_box)
        hidden = has_marks(self._before)
        if hidden:
            self._notes_box.addWidget(Banner(HIDDEN, "warning", "Remove them", self._remove_hidden))
        self._notes.setVisible(hidden)
        self._buttons.show()

    def calm(self) -> None:
        """Take a question back."""
        self._calm()

    def _remove_hidden(self) -> None:
        kept = "".join(piece.text for piece in pieces(self.field.words) if not piece.is_mark)
        cursor = self.field.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(kept)  # Ctrl+Z in the field brings them back
        clear(self._notes_box)
        self._notes.hide()

    def _save(self) -> None:
        if self.save_button.isEnabled():
            self.save.emit(self.written)

    def stop(self) -> None:
        """Forget every word of it."""
        self.hide()
        self._before = self._first = ""
        self.field.setPlainText("")
        self.field.document().clearUndoRedoStacks()


def _shown(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText).replace("Return", "Enter")

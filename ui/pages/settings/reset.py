"""Giving every setting its default again, and taking that back.

Must not do: know a single option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from core.config.window import WindowOptions
from core.types.replies import OptionRow, OptionsReset
from ui.context import Context
from ui.pages.settings.controls import words_for
from ui.tasks import write
from ui.undo import take_back
from ui.widgets.basics import button, column, label, row
from ui.widgets.words import count_of


class ResetDialog(QDialog):
    """Asks before everything has its default again.

    Signals:
        agreed: the person pressed the button.
    """

    agreed = Signal()

    def __init__(self, context: Context, changed: Sequence[OptionRow], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Reset all settings")
        self.setAccessibleName("Reset all settings")
        self.setFixedWidth(context.theme.px(440))
        layout = column(self, label("Reset all settings", "title"), margins=24, gap=12)
        self.cancel = button("Cancel", self.reject)
        self.act = button(f"Reset {count_of(len(changed), 'setting')}", self._agree, kind="primary")
        if changed:
            layout.addWidget(label("These have their defaults again. You can undo it.", "muted", wrap=True))
        else:
            layout.addWidget(label("Every setting has its default already.", "muted", wrap=True))
            self.act.hide()
        for one in changed:
            was, will = words_for(one, one.value), words_for(one, one.default)
            layout.addWidget(label(f"{one.title}: {was} → {will}", wrap=True))
        layout.addSpacing(4)
        layout.addLayout(row(None, self.cancel, self.act))

    def _agree(self) -> None:
        self.agreed.emit()
        self.accept()


class SettingsReset(QObject):
    """Carries it out.

    Signals:
        came: the vault's options as they are now.
    """

    came = Signal(object)

    def __init__(self, context: Context, page: QWidget, rows: Callable[[], Sequence[OptionRow]]) -> None:
        """Make it.

        Args:
            context: what the page was given.
            page: dialogs stand before it.
            rows: all options as they are shown.
        """
        super().__init__(page)
        self.context, self._page, self._rows = context, page, rows

    def ask(self) -> None:
        """Ask whether everything shall have its default."""
        dialog = ResetDialog(self.context, [row for row in self._rows() if row.is_changed], self._page)
        dialog.agreed.connect(self.do)
        dialog.open()

    def do(self) -> None:
        """Give everything its default; it can be undone as a whole."""
        before = self.context.prefs.options
        in_vault = any(row.is_changed and row.name not in WindowOptions.model_fields for row in self._rows())
        self.context.prefs.put(lambda _: WindowOptions())
        if not in_vault:
            self._say(before, None)
            return
        settings = self.context.bridge.engine.settings
        task = write("Resetting the settings", settings.reset_all).within(self)
        self.context.tasks.run(task.success(lambda told: self._done(before, told)))

    def _done(self, before: WindowOptions, told: OptionsReset) -> None:
        self.came.emit(told.rows)
        self._say(before, told.step_id)

    def _say(self, before: WindowOptions, step_id: str | None) -> None:
        context = self.context
        context.desk.say("All settings have their defaults again.", "Undo", lambda: undo(context, before, step_id))


def undo(context: Context, before: WindowOptions, step_id: str | None) -> None:
    """Take a reset of everything back.

    Args:
        context: what the page was given; nothing else is held, so it works when the page is gone.
        before: the window's options as they were.
        step_id: the step that reset those of the vault; None where none was changed.
    """
    context.prefs.put(lambda _: before)
    if step_id is not None:
        take_back(context, step_id)

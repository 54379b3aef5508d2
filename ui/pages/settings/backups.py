"""The section of backups: making one, where they lie, looking into one, and those from before a memory was sealed.

Must not do: restore a backup, or ask for a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices

from core.types.memory import CopiesBeforeSeal
from ui.bridge import make_query
from ui.context import Context
from ui.pages.settings.copies import CopiesDialog
from ui.pages.settings.keys import make_action_line, shorten_path
from ui.pages.settings.rows import SettingsSection
from ui.strings import format_count, settings_strings
from ui.widgets.basics import make_button
from ui.widgets.labels import size_of


class BackupsSection(SettingsSection):
    """Backups of the vault; the options of how often and how many stand below its lines."""

    def __init__(self, context: Context) -> None:
        strings = settings_strings()["backups"]
        super().__init__(strings["title"])
        self.context = context
        self.backup = make_action_line(context, strings["backup"], self._back_up_vault)
        self.show_folder = make_button(
            strings["backup"]["open"], self._open_folder, hint=strings["backup"]["open_hint"]
        )
        self.backup.side_column.addWidget(self.show_folder, 0, Qt.AlignmentFlag.AlignRight)
        self.copies = make_action_line(context, strings["copies"], lambda: CopiesDialog(context, self.window()).open())
        self.sealed = make_action_line(context, strings["sealed"], context.desk.sealed_copies.emit)
        context.desk.looked.connect(self.reload)
        for line in (self.backup, self.copies, self.sealed):
            self.add_line(line)

    def reload(self) -> None:
        """Ask which backups may hold a sealed memory as it was."""
        seal, tasks = self.context.bridge.engine.seal, self.context.tasks
        task = make_query(settings_strings()["backups"]["reading"], seal.copies.list_older).within(self, "older")
        tasks.run(task.success(self._show_older).failure(lambda _: None))  # the page itself tells what is wrong

    def _show_older(self, found: CopiesBeforeSeal) -> None:
        strings, count = settings_strings()["backups"]["sealed"], len(found.names) + len(found.away)
        self.sealed.description.setText(format_count(strings["older"], count) if count else strings["text"])
        if self.sealed.button is not None:
            self.sealed.button.setEnabled(bool(count))

    def _back_up_vault(self) -> None:
        strings = settings_strings()["backups"]["backup"]
        self.backup.show_busy(strings["busy"])
        task = make_query(strings["task"], self.context.bridge.engine.vault.backup).within(self, "backup")
        self.context.tasks.run(task.success(self._on_backed_up).failure(self.backup.show_failure))

    def _on_backed_up(self, made: Mapping[str, Any]) -> None:
        self.backup.show_idle()
        path = Path(str(made["path"]))
        form, folder = settings_strings()["backups"]["backup"]["saved"], shorten_path(str(path.parent))
        self.backup.show_note(form.format(name=path.name, size=size_of(int(made["bytes"])), folder=folder), "success")

    def _open_folder(self) -> None:
        folder = self.context.bridge.engine.home.backups
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            form = settings_strings()["backups"]["backup"]["not_opened"]
            self.backup.show_note(form.format(folder=shorten_path(str(folder))), "warning")

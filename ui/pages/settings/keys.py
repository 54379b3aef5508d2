"""The section of the vault itself: where it lies, what opens it, its backups, whether it is whole.

Must not do: keep a secret; the dialogs hand them on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from core.types.replies import Presence, StatusReport
from ui.context import Context
from ui.pages.settings.rows import Line, Section
from ui.pages.settings.secrets import PassphraseDialog, RecoveryDialog
from ui.tasks import Task, problem_of, query
from ui.widgets.basics import Elided, button
from ui.widgets.verdict import VerdictDialog, verdict_of
from ui.widgets.words import memories, size_of


class ActionLine(Line):
    """Something that can be done, with its button; what came of it is said in place."""

    def __init__(self, context: Context, title: str, description: str, words: str = "") -> None:
        super().__init__(context.theme, title, description, words)
        self.button: QPushButton | None = None

    def offer(self, action: str, run: Callable[[], None], hint: str = "") -> QPushButton:
        """Put a button at its right.

        Args:
            action: what it does.
            run: does it.
            hint: its tooltip.
        """
        self.button = button(action, run, hint=hint)
        self.side_column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        return self.button


class VaultSection(Section):
    """The vault and its keys."""

    def __init__(self, context: Context) -> None:
        super().__init__("Vault and keys")
        self.context = context
        place = str(context.bridge.engine.home.path)
        self.place = ActionLine(
            context, "Where it is", "Everything Loci knows is in this folder, encrypted.", "folder path"
        )
        self._path = Elided(_short(place), "mono", Qt.TextElideMode.ElideMiddle)
        self.place.texts.insertWidget(2, self._path)
        self.place.offer("Copy", lambda: self._copy(place), "Copy the folder's path")
        self.state = ActionLine(context, "State", "Open.", "status")
        self.passphrase = self._line(
            "Passphrase",
            "It opens the vault. Earlier backups keep the passphrase they were made with.",
            "Change …",
            self._change_passphrase,
            "password secret",
        )
        self.recovery = self._line(
            "Recovery code",
            "It opens the vault when the passphrase is forgotten.",
            "New code …",
            self._new_code,
            "secret lost",
        )
        self.keyring = ActionLine(context, "Keyring of this computer", "", "password secret")
        self.backup = self._line(
            "Backup",
            "Copies the whole vault, encrypted, and checks the copy by opening it.",
            "Back up now",
            self._back_up,
            "copy save",
        )
        self.verify = self._line(
            "Is it whole?",
            "Looks at every page, every link, the audit chain and both indexes. Nothing is changed.",
            "Verify now",
            self._verify,
            "check damaged integrity",
        )
        for line in (
            self.place,
            self.state,
            self.passphrase,
            self.recovery,
            self.keyring,
            self.backup,
            self.verify,
        ):
            self.add(line)

    def _line(self, title: str, description: str, action: str, run: Callable[[], None], words: str) -> ActionLine:
        made = ActionLine(self.context, title, description, words)
        made.offer(action, run).setAccessibleName(f"{title}: {action.removesuffix(' …')}")
        return made

    # ---- what there is

    def read(self) -> None:
        """Ask how the vault is and what opens it."""
        vault = self.context.bridge.engine.vault
        self._ask(query("Looking at the vault", vault.status).success(self._show_status), "status")
        self._ask(query("Looking at the keys", vault.presence).success(self._show_presence), "presence")

    def _ask(self, task: Task[Any], key: str) -> None:
        self.context.tasks.run(task.within(self, key).failure(lambda _: None))  # the page itself tells what is wrong

    def _show_status(self, report: StatusReport) -> None:
        values = report.values
        total = memories(values["memories"]["total"])
        self.state.description.setText(f"Open, with {total} in {_listed(len(values['spaces']), 'space')}.")
        warnings = values["warnings"]
        self.state.tell(" ".join(warnings), "warning" if warnings else "small")

    def _show_presence(self, presence: Presence) -> None:
        used = "It opens the vault too." if presence.in_keyring else "It does not open this vault."
        self.keyring.description.setText(f"{used} That is chosen when a vault is made.")
        if not presence.has_passphrase:
            self.passphrase.description.setText("There is none yet: the recovery code or the keyring open the vault.")
        if presence.sentence:
            self.state.tell(presence.sentence, "warning")

    # ---- what can be done

    def _copy(self, place: str) -> None:
        QGuiApplication.clipboard().setText(place)
        self.context.desk.say("The folder's path is on the clipboard.")

    def _change_passphrase(self) -> None:
        dialog = PassphraseDialog(self.context, self)
        dialog.changed.connect(self._passphrase_changed)
        dialog.open()

    def _passphrase_changed(self) -> None:
        self.passphrase.tell("The new passphrase holds.", "success")
        self.read()

    def _new_code(self) -> None:
        RecoveryDialog(self.context, self).open()

    def _back_up(self) -> None:
        vault = self.context.bridge.engine.vault
        self._begin(self.backup, "Backing up …")
        task = query("Backing up", vault.backup).within(self, "backup")
        self.context.tasks.run(task.success(self._backed_up).failure(lambda error: self._fail(self.backup, error)))

    def _backed_up(self, made: Mapping[str, Any]) -> None:
        self._end(self.backup)
        name = Path(str(made["path"])).name
        self.backup.tell(f"Saved and checked: {name}, {size_of(int(made['bytes']))}.", "success")

    def _verify(self) -> None:
        vault = self.context.bridge.engine.vault
        self._begin(self.verify, "Looking …")
        task = query("Checking the vault", vault.verify).within(self, "verify")
        self.context.tasks.run(task.success(self._verified).failure(lambda error: self._fail(self.verify, error)))

    def _verified(self, report: Mapping[str, Any]) -> None:
        self._end(self.verify)
        verdict = verdict_of(report)
        self.verify.tell(f"{verdict.title}. {verdict.sentence}", verdict.tone)
        VerdictDialog(self.context.theme, verdict, self).open()

    @staticmethod
    def _begin(line: ActionLine, words: str) -> None:
        line.tell(words)
        if line.button is not None:
            line.button.setEnabled(False)

    @staticmethod
    def _end(line: ActionLine) -> None:
        if line.button is not None:
            line.button.setEnabled(True)

    def _fail(self, line: ActionLine, error: BaseException) -> None:
        self._end(line)
        problem = problem_of(error)
        line.tell("" if problem is None else problem.sentence, "danger")


def _short(place: str) -> str:
    """A path with the person's own folder as `~`."""
    own = str(Path.home())
    return f"~{place.removeprefix(own)}" if place.startswith(own + "/") else place


def _listed(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

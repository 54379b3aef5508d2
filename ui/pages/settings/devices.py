"""The section of other devices: pairing, what each has taken, what in the folder is not as it should be, leaving.

Must not do: read the folder, or decide what is wrong with a file; the engine does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from core.types.folders.sync import RemovedDevice, SyncDevice, SyncProblem, SyncReport, SyncStatus
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.settings.device_dialogs import EndDialog, JoinDialog, PairDeviceDialog, RenameDialog, ask_folder
from ui.pages.settings.keys import ActionLine
from ui.pages.settings.rows import SettingsSection
from ui.strings import device_strings, format_count
from ui.widgets.basics import clear_layout, make_button, make_column, make_label, make_row
from ui.widgets.labels import date_of, time_of
from ui.widgets.plaintext import one_line

_NAME, _PATH, _SHOWN = 64, 200, 8


class DeviceList(ActionLine):
    """Which devices take part."""

    def __init__(
        self, context: Context, remove: Callable[[SyncDevice], None], rename: Callable[[SyncDevice], None]
    ) -> None:
        """Make it.

        Args:
            remove: called with a device that shall go.
            rename: called with this device, which shall have another name.
        """
        strings = device_strings()["list"]
        super().__init__(context, strings["title"], strings["text"], strings["words"])
        self._remove, self._rename = remove, rename
        self.devices = QWidget()
        self._rows = make_column(self.devices, gap=8)
        self._rows.setContentsMargins(0, 8, 0, 0)
        self.texts.insertWidget(2, self.devices)
        self.side.hide()  # each device has its own button

    def show_devices(self, status: SyncStatus) -> None:
        """Show them, this one first, those that left last."""
        clear_layout(self._rows)
        for one in sorted(status.devices, key=lambda found: (found.left_at is not None, not found.is_own, found.name)):
            words = QWidget()
            name = make_label(one_line(one.name, _NAME), "strong")
            make_column(words, name, make_label(describe_device(one), "muted", wrap=True), gap=2)
            row = QWidget()
            line = make_row(words, gap=12, parent=row)
            line.setStretch(0, 1)
            if one.left_at is None:
                line.addWidget(self._make_button(one), 0, Qt.AlignmentFlag.AlignVCenter)
            self._rows.addWidget(row)

    def _make_button(self, device: SyncDevice) -> QPushButton:
        strings = device_strings()["list"]
        if device.is_own:
            own = make_button(strings["rename"], partial(self._rename, device))
            own.setAccessibleName(strings["rename_named"].removesuffix(" …"))
            return own
        button = make_button(strings["remove"], partial(self._remove, device))
        button.setAccessibleName(strings["remove_named"].format(name=one_line(device.name, _NAME)).removesuffix(" …"))
        return button


def describe_device(device: SyncDevice) -> str:
    """How far a device has come, in sentences."""
    strings = device_strings()["list"]
    if device.is_own:
        return str(strings["own"])
    if device.left_at is not None:
        return str(strings["left"]).format(date=date_of(device.left_at))
    arrived = strings["arrived"].format(number=f"{device.number:,}") if device.number else strings["nothing"]
    level = format_count(strings["behind"], device.behind) if device.behind else strings["level"]
    return " ".join((strings["since"].format(date=date_of(device.added_at)), arrived, level))


def describe_problem(problem: SyncProblem) -> str:
    """What is not as it should be, and what to do."""
    form = str(device_strings()["problems"]["kind"][problem.kind])
    return form.format(
        file=one_line(problem.name, _NAME), device=one_line(problem.device, _NAME), number=f"{problem.number:,}"
    )


def describe_report(report: SyncReport) -> str:
    """What a round did, in a sentence or two."""
    strings = device_strings()["now"]
    counts = {"told": report.told, "taken": report.rows, "asked": report.asked}
    said = [format_count(strings[name], count) for name, count in counts.items() if count]
    admitted = [device_strings()["pair"]["admitted"].format(name=one_line(name, _NAME)) for name in report.admitted]
    return " ".join([*admitted, *said]) or str(strings["nothing"])


class DevicesSection(SettingsSection):
    """Other devices, and the folder between them.

    Signals:
        wiping: the person wants to remove everything from this computer.
    """

    wiping = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__(device_strings()["title"])
        self.context = context
        self.status = SyncStatus(is_on=False)
        self._is_troubled = False
        self.folder = self._make_line("folder", "off", self._choose_folder)
        self.pair = self._make_line("pair", "text", self._show_code)
        self.join = self._make_line("join", "text", self._enter_code)
        self.now = self._make_line("now", "never", self.synchronise)
        self.list = DeviceList(context, self._ask_remove, self._ask_name)
        self.problems = self._make_line("problems", "none")
        self.whole = self.problems.add_button(
            device_strings()["problems"]["whole"], self._tell_whole, device_strings()["problems"]["whole_hint"]
        )
        self.leave = self._make_line("leave", "text", self._ask_leave)
        self.retire = self._make_line("retire", "text")
        strings = device_strings()["retire"]
        self.export = self.retire.add_button(strings["export"], lambda: context.commands.run("file.export"))
        removing = self.retire.add_button(strings["act"], self.wiping.emit)
        removing.setAccessibleName(f"{strings['title']}: {strings['act'].removesuffix(' …')}")
        for line in (
            self.folder, self.pair, self.join, self.now, self.list, self.problems, self.leave, self.retire,
        ):  # fmt: skip
            self.add_line(line)
        self._chosen = QLineEdit(self)  # takes what the person chose; never shown
        self._chosen.hide()
        self._chosen.textChanged.connect(self._use_folder)
        self._show_status(self.status)

    def _make_line(self, name: str, text: str, run: Callable[[], None] | None = None) -> ActionLine:
        strings: Mapping[str, Any] = device_strings()[name]
        made = ActionLine(self.context, strings["title"], strings[text], strings["words"])
        if run is not None:
            button = made.add_button(strings["act"], run, strings.get("hint", ""))
            button.setAccessibleName(f"{strings['title']}: {strings['act'].removesuffix(' …')}")
        return made

    # ---- what there is

    def reload(self) -> None:
        """Ask how the devices are."""
        devices = self.context.bridge.engine.devices
        task = make_query(device_strings()["reading"], devices.read_status).within(self, "status")
        self.context.tasks.run(task.success(self._show_status).failure(lambda _: None))  # the page tells what is wrong

    def _show_status(self, status: SyncStatus) -> None:
        self.status = status
        strings = device_strings()
        folder = one_line(status.folder, _PATH)
        where = strings["folder"]["there" if status.is_there else "gone"].format(folder=folder)
        self.folder.description.setText(where if status.is_on else strings["folder"]["off"])
        if self.folder.button is not None:
            self.folder.button.setVisible(status.is_on)
        if self.join.button is not None:
            self.join.button.setEnabled(not status.is_on)
        for line in (self.now, self.leave):
            if line.button is not None:
                line.button.setEnabled(status.is_on)
        self.whole.setVisible(status.is_on)
        self._show_last_round(status)
        self.list.show_devices(status)
        self._show_problems(status)

    def _show_last_round(self, status: SyncStatus) -> None:
        strings = device_strings()["now"]
        if status.synced_at is None:
            self.now.description.setText(strings["never"])
        else:
            told = format_count(strings["pending"], status.pending) if status.pending else strings["all_told"]
            self.now.description.setText(f"{strings['last'].format(when=time_of(status.synced_at))} {told}")
        if status.trouble:
            self.now.show_note(strings["trouble"].format(sentence=status.trouble), "warning")
        elif self._is_troubled:
            self.now.show_note("")  # it went on since
        self._is_troubled = bool(status.trouble)

    def _show_problems(self, status: SyncStatus) -> None:
        strings = device_strings()["problems"]
        found = status.problems
        nothing = strings["none" if status.is_on else "off"]
        text = format_count(strings["text"], len(found)) if found else nothing
        lines = [describe_problem(one) for one in found[:_SHOWN]]
        if len(found) > _SHOWN:
            lines.append(format_count(strings["more"], len(found) - _SHOWN))
        if status.quarantine:
            lines.append(strings["quarantine"].format(folder=one_line(status.quarantine, _PATH)))
        self.problems.description.setText("\n".join([text, *lines]))

    # ---- what can be done

    def _show_code(self) -> None:
        dialog = PairDeviceDialog(self.context, self, self.status.folder if self.status.is_on else "")
        dialog.changed.connect(self.reload)
        dialog.open()

    def _enter_code(self) -> None:
        dialog = JoinDialog(self.context, self)
        dialog.joined.connect(self._on_joined)
        dialog.open()

    def _on_joined(self) -> None:
        self.join.show_note(device_strings()["join"]["done"], "success")
        self.reload()

    def synchronise(self) -> None:
        """Do a round now."""
        self._run_round(self.now, None, is_whole=False)

    def _tell_whole(self) -> None:
        self._run_round(self.now, None, is_whole=True)

    def _choose_folder(self) -> None:
        ask_folder(self, device_strings()["folder"]["ask"], self._chosen)

    def _use_folder(self, chosen: str) -> None:
        if chosen:
            self._chosen.clear()
            self._run_round(self.folder, Path(chosen), is_whole=False)

    def _run_round(self, line: ActionLine, folder: Path | None, *, is_whole: bool) -> None:
        strings, devices = device_strings()["now"], self.context.bridge.engine.devices
        line.show_note(strings["busy"])
        task = make_write(strings["task"], lambda: devices.run(folder, is_whole=is_whole)).within(self, "round")
        self.context.tasks.run(
            task.success(partial(self._on_round_done, line)).failure(partial(self._show_failure, line))
        )

    def _on_round_done(self, line: ActionLine, report: SyncReport) -> None:
        line.show_note(describe_report(report), "success")
        self.reload()

    def _show_failure(self, line: ActionLine, error: BaseException) -> None:
        problem = problem_of(error)
        line.show_note("" if problem is None else problem.sentence, "danger")
        self.reload()

    def _ask_name(self, device: SyncDevice) -> None:
        dialog = RenameDialog(self.context, device.name, self)
        dialog.renamed.connect(self._on_renamed)
        dialog.open()

    def _on_renamed(self, name: str) -> None:
        self.list.show_note(device_strings()["rename"]["done"].format(name=one_line(name, _NAME)), "success")
        self.reload()

    def _ask_remove(self, device: SyncDevice) -> None:
        strings = device_strings()["remove"]
        title = strings["title"].format(name=one_line(device.name, _NAME))
        dialog = EndDialog(self.context, title, (strings["text"], strings["others"]), strings["act"], self)
        dialog.agreed.connect(partial(self._remove, device))
        dialog.open()

    def _remove(self, device: SyncDevice) -> None:
        strings, devices = device_strings()["remove"], self.context.bridge.engine.devices
        self.list.show_note(strings["busy"])
        task = make_write(strings["task"], lambda: devices.remove(device.id)).within(self)
        self.context.tasks.run(task.success(self._on_removed).failure(partial(self._show_failure, self.list)))

    def _on_removed(self, done: RemovedDevice) -> None:
        form = device_strings()["remove"]["untold" if done.report is None else "done"]
        self.list.show_note(form.format(name=one_line(done.name, _NAME)), "success")
        self.reload()

    def _ask_leave(self) -> None:
        strings = device_strings()["leave"]
        dialog = EndDialog(self.context, strings["ask"], (strings["sure"],), strings["do"], self)
        dialog.agreed.connect(self._leave)
        dialog.open()

    def _leave(self) -> None:
        strings, devices = device_strings()["leave"], self.context.bridge.engine.devices
        self.leave.show_note(strings["busy"])
        task = make_write(strings["task"], devices.leave).within(self)
        self.context.tasks.run(task.success(self._on_left).failure(partial(self._show_failure, self.leave)))

    def _on_left(self, report: SyncReport) -> None:
        strings = device_strings()["leave"]
        self.leave.show_note(strings["done" if report.wrote else "untold"], "success" if report.wrote else "warning")
        self.reload()

"""Other devices in the settings: a code shown and entered, what each has taken, what is wrong, removing and leaving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from archive_rig import other_rig
from engine_rig import Rig
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.events import Stalled
from core.types.folders.sync import SyncDevice, SyncProblem, SyncReport, SyncStatus
from ui.context import Context
from ui.pages.settings.device_dialogs import EndDialog, JoinDialog, PairDeviceDialog, RenameDialog
from ui.pages.settings.devices import DevicesSection, describe_device, describe_problem, describe_report
from ui.strings import device_strings

T = TypeVar("T", PairDeviceDialog, JoinDialog, EndDialog, RenameDialog)
HOSTILE = "<b>bold</b>\u202e\nlaptop"


@pytest.fixture
def section(context: Context, qtbot: QtBot) -> Iterator[DevicesSection]:
    made = DevicesSection(context)
    qtbot.addWidget(made)
    made.resize(720, 800)
    made.show()
    yield made
    made.close()


@pytest.fixture
def laptop(tmp_path: Path, rig: Rig) -> Iterator[Rig]:
    with other_rig(tmp_path / "laptop", rig.clock) as made:
        yield made


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    made = tmp_path / "shared"
    made.mkdir()
    return made


def pair(section: DevicesSection, laptop: Rig, shared: Path, qtbot: QtBot) -> None:
    code = section.context.bridge.engine.devices.pair(shared, "desk").result(30).code
    laptop.engine.devices.join(code, shared, "laptop").result(60)
    section.synchronise()
    settle(qtbot, lambda: len(section.status.devices) == 2)


def dialog_of(section: DevicesSection, kind: type[T]) -> T:
    found = [one for one in section.findChildren(kind) if one.isVisible()]
    return found[-1]


def _says(dialog: RenameDialog, words: str) -> bool:
    return words in dialog.trouble.text() and not dialog.is_busy


def test_a_code_is_shown_and_the_dialog_says_who_came(
    section: DevicesSection, laptop: Rig, shared: Path, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.pages.settings.device_dialogs.LOOK_MS", 50)
    rig.store("Ada keeps bees")
    section.reload()
    assert "only on this device" in section.folder.description.text()
    assert section.pair.button is not None
    section.pair.button.click()
    dialog = dialog_of(section, PairDeviceDialog)
    dialog.make.click()
    assert "Choose the folder" in dialog.trouble.text()
    dialog.folder.setText(str(shared / "nowhere"))
    dialog.make.click()
    settle(qtbot, lambda: "is not there" in dialog.trouble.text())
    dialog.folder.setText(str(shared))
    dialog.name.setText("desk")
    dialog.make.click()
    settle(qtbot, lambda: bool(dialog.code))
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.code
    laptop.engine.devices.join(dialog.code, shared, HOSTILE.replace("\u202e\n", "")).result(60)
    settle(qtbot, lambda: "is paired" in dialog.state.text())
    dialog.reject()
    assert dialog.code == ""
    settle(qtbot, lambda: len(section.status.devices) == 2)
    laptop.engine.devices.run().result(60)
    assert laptop.texts() == ["Ada keeps bees"]


def test_another_device_is_joined_and_wrong_codes_are_told(
    section: DevicesSection, laptop: Rig, shared: Path, rig: Rig, qtbot: QtBot
) -> None:
    laptop.store("Ada keeps bees")
    code = laptop.engine.devices.pair(shared, "laptop").result(30).code
    assert section.join.button is not None
    section.join.button.click()
    dialog = dialog_of(section, JoinDialog)
    dialog.act.click()
    assert "Type the code" in dialog.trouble.text()
    dialog.typed.setText("ABCD")
    dialog.act.click()
    assert "Choose the folder" in dialog.trouble.text()
    dialog.folder.setText(str(shared))
    dialog.act.click()
    settle(qtbot, lambda: "no code" in dialog.trouble.text())
    dialog.typed.setText(code)
    dialog.act.click()
    settle(qtbot, lambda: section.status.is_on)
    laptop.engine.devices.run().result(60)
    assert section.now.button is not None
    section.now.button.click()
    settle(qtbot, lambda: "change received" in section.now.told.text() or "changes received" in section.now.told.text())
    assert rig.texts() == ["Ada keeps bees"]
    assert not section.join.button.isEnabled()


def test_a_device_is_removed_and_one_leaves(section: DevicesSection, laptop: Rig, shared: Path, qtbot: QtBot) -> None:
    pair(section, laptop, shared, qtbot)
    buttons = section.list.devices.findChildren(QPushButton)
    assert [one.accessibleName() for one in buttons] == ["Rename this device", "Remove laptop"]
    buttons[1].click()
    dialog = dialog_of(section, EndDialog)
    assert "laptop" in dialog.windowTitle()
    dialog.act.click()
    settle(qtbot, lambda: "was removed" in section.list.told.text())
    settle(qtbot, lambda: len(section.list.devices.findChildren(QPushButton)) == 1)
    assert section.leave.button is not None
    section.leave.button.click()
    dialog_of(section, EndDialog).act.click()
    settle(qtbot, lambda: not section.status.is_on)
    assert "only on this device" in section.folder.description.text()


def test_this_device_is_renamed_and_the_other_one_hears_of_it(
    section: DevicesSection, laptop: Rig, shared: Path, qtbot: QtBot
) -> None:
    pair(section, laptop, shared, qtbot)
    laptop.engine.devices.run().result(60)
    (own, _) = section.list.devices.findChildren(QPushButton)
    own.click()
    dialog = dialog_of(section, RenameDialog)
    for name, said in (("  ", "Type a name"), ("laptop", "Another device"), ("x" * 65, "1 to 64")):
        dialog.name.setText(name)
        dialog.act.click()
        settle(qtbot, partial(_says, dialog, said))
    dialog.name.setText("study")
    dialog.act.click()
    settle(qtbot, lambda: "called study" in section.list.told.text())
    laptop.engine.devices.run().result(60)
    assert {one.name for one in laptop.engine.devices.read_status().result(30).devices} == {"study", "laptop"}


def test_files_that_are_no_good_and_a_folder_that_is_gone_are_told(
    section: DevicesSection, laptop: Rig, shared: Path, qtbot: QtBot
) -> None:
    pair(section, laptop, shared, qtbot)
    assert "No problems" in section.problems.description.text()
    (shared / "<i>letter.loci-bundle").write_text("no bundle")
    section.synchronise()
    settle(qtbot, lambda: "<i>letter.loci-bundle is incomplete" in section.problems.description.text())
    assert "Copies of damaged" in section.problems.description.text()
    section.whole.click()
    settle(qtbot, lambda: "sent" in section.now.told.text() or "No new changes" in section.now.told.text())
    moved = shared.with_name("moved")
    shared.rename(moved)
    section.synchronise()
    settle(qtbot, lambda: "is not there" in section.now.told.text())
    settle(qtbot, lambda: "not available" in section.folder.description.text())
    section._chosen.setText(str(moved))
    settle(qtbot, lambda: section.status.folder == str(moved) and section.status.is_there)


@pytest.mark.parametrize("kind", sorted(device_strings()["problems"]["kind"]))
def test_every_problem_has_a_sentence_of_plain_text(kind: str) -> None:
    said = describe_problem(SyncProblem(kind, HOSTILE, HOSTILE, 3))
    assert said.endswith(".")
    assert "\n" not in said
    assert "\u202e" not in said


def test_how_far_a_device_is_and_what_a_round_did_is_said() -> None:
    known = SyncDevice("ab", "laptop", False, 1_700_000_000_000, None, 0, 2)  # noqa: FBT003 - of the engine
    assert describe_device(known).endswith("It has not fetched the latest changes of this device yet (2 files).")
    assert "Last file received: number 7." in describe_device(replace(known, number=7))
    assert describe_device(replace(known, left_at=1_700_000_000_000)).startswith("Left on")
    assert describe_device(replace(known, is_own=True)) == "This device."
    assert describe_report(SyncReport()) == "No new changes."
    assert describe_report(SyncReport(told=1, rows=2, asked=1, admitted=(HOSTILE,))).startswith("<b>bold</b>")


def test_many_problems_are_counted_and_trouble_is_said(section: DevicesSection) -> None:
    problems = tuple(SyncProblem("gap", "", "laptop", at) for at in range(1, 12))
    section._show_status(SyncStatus(is_on=True, folder="/there", problems=problems, trouble="It is full."))
    assert section.problems.description.text().splitlines()[-1] == "… and 3 more."
    assert section.now.told.text().endswith("It is full.")
    section._show_status(SyncStatus(is_on=True, folder="/there"))
    assert section.now.told.text() == ""


def test_the_window_says_once_what_cannot_go_on(context: Context, rig: Rig, qtbot: QtBot) -> None:
    told: list[Stalled] = []
    context.bridge.warned.connect(told.append)
    rig.engine.hub.publish(Stalled("devices", "The folder is not there."))
    settle(qtbot, lambda: len(told) == 1)
    assert told[0].sentence == "The folder is not there."

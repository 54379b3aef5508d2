"""What the door of the window is made of: one window a home, options in the home, the sample's calendar, idle, tray."""

from __future__ import annotations

import os
import signal
import socket
import stat
from collections.abc import Iterator
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from engine_rig import Rig
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid
from window_rig import hear, settle

from app.engine.service import Service
from app.sample.sample import BEGIN, END, SampleClock, read_sample_parts, sample_engine
from app.sample.screenshot import Shot, check_shot
from app.window.desktop import Desktop, HomeStore, build_desktop, make_fixed_store
from app.window.single_instance import StartListener, raise_running, window_socket_place
from app.window.window import NO_TRAY, Shown
from core.config.option_rows import replace_option
from core.errors import Code, LociError
from ui.context import Command, Context
from ui.shell.tray import Tray
from ui.shell.window import MainWindow

# ---- one window a home


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where a window listens; its folder does not exist yet."""
    return window_socket_place(tmp_path / "run" / "engine.sock")


def test_a_window_is_called_by_a_second_start_and_by_nobody_after_it_closed(qtbot: QtBot, place: str) -> None:
    called: list[Path | None] = []
    assert not raise_running(place)
    ear = StartListener(place, called.append)
    assert ear.is_listening
    assert raise_running(place)
    settle(qtbot, lambda: called == [None])
    assert raise_running(place, Path("/home/mara/sea chart \udcff \n.loci"))
    settle(qtbot, lambda: called == [None, Path("/home/mara/sea chart \udcff \n.loci")])
    ear.close()
    assert not Path(place).exists()
    assert not raise_running(place)


def test_only_its_own_user_may_call_it(place: str) -> None:
    ear = StartListener(place, lambda _: None)
    assert stat.S_IMODE(Path(place).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(place).stat().st_mode) & 0o077 == 0
    ear.close()


def test_the_place_a_crash_left_behind_is_taken_over(qtbot: QtBot, place: str) -> None:
    Path(place).parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(place)
    assert Path(place).exists()
    assert not raise_running(place)
    called: list[Path | None] = []
    ear = StartListener(place, called.append)
    assert raise_running(place)
    settle(qtbot, lambda: called == [None])
    ear.close()


def test_a_caller_without_an_end_is_not_listened_to(qtbot: QtBot, place: str) -> None:
    called: list[Path | None] = []
    ear = StartListener(place, called.append)
    with socket.socket(socket.AF_UNIX) as endless:
        endless.connect(place)
        endless.settimeout(0.02)

        def talk() -> bool:
            try:
                endless.sendall(b"x" * 8_192)
            except TimeoutError:
                return False
            except OSError:
                return True
            return False

        settle(qtbot, talk)
    assert called == []
    ear.close()


def test_it_listens_beside_the_engines_socket(tmp_path: Path) -> None:
    assert window_socket_place(tmp_path / "loci" / "abc.sock") == str(tmp_path / "loci" / "abc.window")


# ---- the window's options in the home


def test_the_home_keeps_options_and_state(qtbot: QtBot, rig: Rig) -> None:
    store = HomeStore(rig.engine)
    options, state = store.load()
    assert (store.note, dict(state)) == (None, {})
    kept = rig.engine.home.path / "window.json"
    store.save(replace_option(options, "text_size", 125), {"house.page": "library"})
    settle(qtbot, kept.exists)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    again, state = HomeStore(rig.engine).load()
    assert (again.text_size, dict(state)) == (125, {"house.page": "library"})


def test_a_damaged_file_of_options_is_put_aside_and_said(rig: Rig) -> None:
    (rig.engine.home.path / "window.json").write_text("{", encoding="utf-8")
    store = HomeStore(rig.engine)
    options, _ = store.load()
    assert options.text_size == 100
    assert store.note is not None
    assert store.note.endswith(".")


@pytest.mark.expected_logs("the window's options were not saved")
def test_options_that_cannot_be_written_are_logged_and_that_is_all(
    qtbot: QtBot, rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    store = HomeStore(rig.engine)
    options, _ = store.load()
    (rig.engine.home.path / "window.json").mkdir()
    store.save(options, {})
    settle(qtbot, lambda: "were not saved: E4001" in caplog.text)


def test_after_the_engine_has_ended_nothing_is_saved_and_nothing_breaks(rig: Rig) -> None:
    store = HomeStore(rig.engine)
    options, _ = store.load()
    rig.engine.close()
    store.save(options, {})
    assert not (rig.engine.home.path / "window.json").exists()


# ---- the sample


def test_the_samples_imports_happen_in_order_between_its_beginning_and_its_end() -> None:
    with as_file(files("resources") / "demo") as folder:
        parts = read_sample_parts(folder)
        assert all(part.path.exists() for part in parts)
    assert len(parts) > 12
    days = [BEGIN, *(part.on for part in parts), END]
    assert all(earlier <= later for earlier, later in pairwise(days))
    assert (END - BEGIN).days > 500
    assert len({part.space for part in parts}) > 4


def test_the_sample_that_was_locked_opens_again() -> None:
    with sample_engine() as (engine, _, passphrase):
        engine.vault.lock().result(30)
        assert engine.state == "locked"
        engine.vault.open(passphrase).result(30)
        assert engine.state == "open"


def test_the_samples_clock_stands_where_it_is_put() -> None:
    clock = SampleClock(BEGIN)
    assert clock.now_ms() == round(BEGIN.timestamp() * 1000) == clock.now_ms()
    clock.set_time(END)
    assert clock.now_ms() == round(END.timestamp() * 1000)
    assert clock.monotonic() <= clock.monotonic()


@pytest.mark.parametrize(
    ("shot", "code"),
    [
        (Shot("dungeon", Path("x.png")), Code.INVALID_INPUT),
        (Shot("palace", Path("x.png"), width=100), Code.INVALID_INPUT),
        (Shot("palace", Path("x.png"), height=9_000), Code.INVALID_INPUT),
        (Shot("palace", Path("nowhere") / "x.png"), Code.WRITE_FAILED),
    ],
)
def test_a_picture_that_cannot_be_made_is_refused(tmp_path: Path, shot: Shot, code: Code) -> None:
    given = Shot(shot.page, tmp_path / shot.out, width=shot.width, height=shot.height)
    with pytest.raises(LociError) as caught:
        check_shot(given)
    assert caught.value.code is code
    check_shot(Shot("palace", tmp_path / "x.png"))


# ---- a window that is shown


class PlainWindow(QWidget):
    """Stands in for the main window, with an open vault."""

    furnished = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.may_close = True
        self.locked = 0
        self.house = object()
        self.imported: list[list[Path]] = []

    def open_import(self, paths: list[Path]) -> None:
        """Take down."""
        self.imported.append(paths)

    def lock_vault(self) -> None:
        """Count."""
        self.locked += 1

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """As the main window's."""
        event.setAccepted(self.may_close)
        if not self.may_close:
            self.hide()


class PlainService:
    """Stands in for the socket."""

    def __init__(self) -> None:
        self.begun = 0

    def start_once(self) -> None:
        """Count."""
        self.begun += 1


class PlainKeeper:
    """Stands in for the watchdog and the collector."""

    def stop_watching(self) -> None:
        """Nothing to stop."""

    def stop_collector(self) -> None:
        """Nothing to stop."""


class Door:
    """A window that is shown, with stand-ins around it."""

    def __init__(self, rig: Rig, context: Context, app: QApplication) -> None:
        self.app, self.context, self.has_run = app, context, False
        self.window, self.service = PlainWindow(), PlainService()
        keeper = cast(Any, PlainKeeper())
        desktop = Desktop(rig.engine, context.bridge, context, cast(MainWindow, self.window), keeper, keeper)
        self.shown = Shown(app, desktop, cast(Service, self.service))

    def option(self, **change: object) -> None:
        """Change an option."""
        ((name, value),) = change.items()
        self.context.prefs.change_options(lambda options: replace_option(options, name, value))

    def run(self, meanwhile: Any, after_ms: int = 20) -> int:
        """Run until something ends it."""
        QTimer.singleShot(after_ms, meanwhile)
        self.has_run = True
        return self.shown.run()


@pytest.fixture
def door(rig: Rig, context: Context, qapp: QApplication) -> Iterator[Door]:
    """One whose parts are put away at the end."""
    quits = qapp.quitOnLastWindowClosed()
    context.commands.add(Command("file.quit", "Quit", QApplication.quit))  # as the main window's
    made = Door(rig, context, qapp)
    yield made
    if not made.has_run:
        made.run(qapp.exit)
    # A quit that comes after the loop has ended would let every later loop of this process end at once.
    qapp.setQuitOnLastWindowClosed(False)
    qapp.processEvents()
    QTimer.singleShot(0, qapp.exit)
    qapp.exec()
    made.shown.deleteLater()
    qapp.setQuitOnLastWindowClosed(quits)


def test_an_open_vault_lets_the_socket_appear(door: Door, rig: Rig, qtbot: QtBot) -> None:
    assert door.service.begun == 1
    rig.engine.vault.lock().result(30)
    settle(qtbot, lambda: rig.engine.state == "locked")
    assert door.service.begun == 1


def test_nobody_there_for_the_minutes_that_were_set_locks(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    idle, now = door.shown._idle, [1_000.0]
    monkeypatch.setattr(idle, "_monotonic", lambda: now[0])
    door.option(idle_lock_minutes=2)
    now[0] += 119.0
    idle.check_idle()
    assert door.window.locked == 0
    now[0] += 1.0
    idle.check_idle()
    assert door.window.locked == 1
    door.option(idle_lock_minutes=0)
    now[0] += 6_000.0
    idle.check_idle()
    assert door.window.locked == 1


def test_a_locked_screen_locks_unless_it_is_turned_off(door: Door) -> None:
    watch = door.shown._system_lock
    watch.locked.emit()
    assert door.window.locked == 1
    door.option(lock_with_system=False)
    assert watch.sources == 0


@pytest.mark.parametrize("has_tray", [True, False])
def test_closing_to_the_tray_needs_a_tray(door: Door, monkeypatch: pytest.MonkeyPatch, has_tray: bool) -> None:
    monkeypatch.setattr(Tray, "is_there", has_tray)
    assert door.window.may_close
    door.option(close_to_tray=True)
    assert door.window.may_close is not has_tray
    assert door.app.quitOnLastWindowClosed() is not has_tray
    door.option(close_to_tray=False)
    assert door.window.may_close
    assert door.app.quitOnLastWindowClosed()


def test_a_system_without_a_tray_is_told_of_once(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tray, "is_there", False)
    heard = hear(door.context)
    for is_wanted in (True, False, True):
        door.option(close_to_tray=is_wanted)
    assert heard.sentences == [NO_TRAY]


def test_nobody_is_told_of_a_tray_that_is_there(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tray, "is_there", True)
    heard = hear(door.context)
    door.option(close_to_tray=True)
    assert heard.sentences == []


def test_being_raised_brings_it_back_from_wherever_it_was(door: Door) -> None:
    door.shown.raise_window()
    assert door.window.isVisible()
    door.window.showMinimized()
    door.shown.raise_window()
    assert not door.window.isMinimized()
    door.window.hide()
    door.shown.raise_window()
    assert door.window.isVisible()


def test_a_second_start_raises_it_and_hands_its_file_over(door: Door) -> None:
    door.shown.answer_start(None)
    assert (door.window.isVisible(), door.window.imported) == (True, [])
    door.window.hide()
    door.shown.answer_start(Path("/home/mara/all.loci"))
    assert (door.window.isVisible(), door.window.imported) == (True, [[Path("/home/mara/all.loci")]])


def test_it_runs_until_something_ends_it_and_keeps_the_options(door: Door, context: Context) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    context.prefs.store_value("house.page", "journal")
    assert door.run(lambda: door.app.exit(7)) == 7
    assert not isValid(door.window)  # freed: what outlives the application may crash it
    assert context.prefs._store.load()[1]["house.page"] == "journal"
    assert {number: signal.getsignal(number) for number in before} == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well(door: Door, number: int) -> None:
    assert door.run(lambda: os.kill(os.getpid(), number)) == 0


def test_what_closes_to_the_tray_can_be_quit_all_the_same(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tray, "is_there", True)
    door.option(close_to_tray=True)
    door.window.show()
    assert door.window.close() is False
    assert door.run(lambda: door.context.commands.run("file.quit")) == 0


@pytest.mark.expected_logs("the window stood still for")  # a busy machine; test_gui_stall holds the bar
def test_a_built_window_shows_the_page_it_was_told(qtbot: QtBot, rig: Rig, qapp: QApplication) -> None:
    desktop = build_desktop(rig.engine, qapp, make_fixed_store("dark", 125, "library"))
    try:
        desktop.window.show()
        house = desktop.window.house
        assert house is not None
        assert house.current == "library"
        assert (desktop.context.theme.scale, desktop.context.prefs.options.theme) == (125, "dark")
        settle(qtbot, lambda: house.page is not None and house.page.is_settled())
    finally:
        desktop.window.close()
        desktop.free_window()

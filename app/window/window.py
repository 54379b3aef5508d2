"""`loci` without a verb: the window over an engine of its own, and the socket beside it.

A second start raises the first window and hands it the file it was given (`single_instance`). A headless engine that
owns the vault is asked to hand it over once the person has given the secret; its socket is bound anew here, and
clients reconnect.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.context import AppContext
from app.engine.compose import build_engine
from app.engine.connection import connect
from app.engine.service import Service
from app.engine.session import Tell
from app.window.application import StartedLook, make_application
from app.window.desktop import Desktop, HomeStore, build_desktop
from app.window.single_instance import StartListener, window_socket_place
from core.engine.facade import Engine, HomeKeys, OpenInfo, RootKey, read_secret_file, tidy_home
from core.errors import Code, EnvironmentFaultError, LociError
from ui.gate.gate import announce_opening
from ui.shell.idle import IdleWatch
from ui.shell.splash import SplashWindow
from ui.shell.system_lock import SystemLockWatch
from ui.shell.tray import Tray
from ui.shell.window import MainWindow
from ui.strings import window_strings
from ui.widgets.plaintext import one_line

NO_TRAY = "This system shows no tray: closing the window ends Loci."
_BREATHE_MS = 200
_NAME = 60
"""Characters of a file's name that are shown."""
_HANDOVER_S = 8.0
_STEP_S = 0.05


@contextmanager
def end_on_signals(leave: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM end the event loop, as closing the window does.

    Args:
        leave: ends it; called on the main thread.
    """
    handlers = {
        number: signal.signal(number, lambda _number, _frame: leave()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    breath = QTimer()  # lets Python run its signal handlers while Qt waits for events
    breath.timeout.connect(lambda: None)
    breath.start(_BREATHE_MS)
    try:
        yield
    finally:
        breath.stop()
        for number, handler in handlers.items():
            signal.signal(number, handler)


class GivenFile(QObject):
    """The file of a start, or of a second one: it waits until the palace is open. Who gives another means that one."""

    def __init__(self, window: MainWindow) -> None:
        """Wait for a file.

        Args:
            window: opens its import.
        """
        super().__init__(window)
        self._window = window
        self._path: Path | None = None
        self._sentence = ""
        window.furnished.connect(self._open_import)

    def take_file(self, path: Path) -> None:
        """Open the import of a file with its preview; where the palace is not open, say so and wait for it."""
        self._forget_sentence()
        self._path = path
        if self._window.house is not None:
            self._open_import()
            return
        self._sentence = window_strings()["given_file"]["waits"].format(name=one_line(path.name, _NAME))
        self._window.context.desk.show_message(self._sentence, stays=True)

    def _open_import(self) -> None:
        path, self._path = self._path, None
        self._forget_sentence()
        if path is not None:
            self._window.open_import([path])

    def _forget_sentence(self) -> None:
        if self._sentence:
            self._window.context.desk.message_over.emit(self._sentence)
            self._sentence = ""


class Shown(QObject):
    """A window that is shown, with what lives as long as it does."""

    def __init__(self, app: QApplication, desktop: Desktop, service: Service | None) -> None:
        super().__init__()
        self._app, self.desktop, self._service = app, desktop, service
        self._has_told = False
        context = desktop.context
        self._given = GivenFile(desktop.window)
        self._tray = Tray(context.theme, self.raise_window, desktop.window.lock_vault, self.quit_application)
        self._idle = IdleWatch(app, context.clock.monotonic, context.clock.now_ms)
        self._idle.idle.connect(desktop.window.lock_vault)
        self._idle.touched.connect(self._note_activity)
        self._idle.set_limit(context.prefs.options.idle_lock_minutes)
        self._system_lock = SystemLockWatch(self)
        self._system_lock.locked.connect(desktop.window.lock_vault)
        context.prefs.changed.connect(self._apply_option)
        context.bridge.state.connect(self._apply_state)
        self._apply_state(desktop.engine.state)
        self._apply_option("close_to_tray")
        self._apply_option("lock_with_system")
        for command in context.commands.list_commands():
            if command.id == "file.quit":
                context.commands.add(replace(command, run=self.quit_application))

    def _apply_option(self, name: str) -> None:
        options = self.desktop.context.prefs.options
        if name == "idle_lock_minutes":
            self._idle.set_limit(options.idle_lock_minutes)
        if name == "lock_with_system":
            self._system_lock.set_listening(is_on=options.lock_with_system)
        if name == "close_to_tray":
            stays = options.close_to_tray and self._tray.is_there
            if options.close_to_tray and not stays and not self._has_told:
                self._has_told = True
                self.desktop.context.desk.show_message(NO_TRAY)
            self.desktop.window.may_close = not stays
            self._app.setQuitOnLastWindowClosed(not stays)

    def _apply_state(self, state: str) -> None:
        self._tray.show_state(state)
        if state == "open" and self._service is not None:
            self._service.start_once()

    def _note_activity(self) -> None:
        """A hand on the window: what runs only while nobody is there waits."""
        engine = self.desktop.engine
        if engine.state == "open":
            with suppress(LociError):  # locked a moment ago: then nothing runs anyway
                engine.jobs.note_activity()

    def raise_window(self) -> None:
        """Bring the window to the front."""
        window = self.desktop.window
        window.showNormal() if window.isMinimized() else window.show()
        window.raise_()
        window.activateWindow()

    def answer_start(self, file: Path | None) -> None:
        """Loci was started, here or a second time: the window comes to the front, with the file it was given.

        Args:
            file: an absolute path; None for none.
        """
        self.raise_window()
        if file is not None:
            self._given.take_file(file)

    def quit_application(self) -> None:
        """End the program, whatever closing the window means: Qt asks every window first, and one may say no."""
        self.desktop.window.may_close = True
        self._app.quit()

    def run(self, splash: SplashWindow | None = None) -> int:
        """Show it until it is closed.

        Args:
            splash: what gives way to it.

        Returns:
            The exit code.
        """
        self.desktop.window.show()
        if splash is not None:
            splash.finish(self.desktop.window)
        try:
            with end_on_signals(self.quit_application):
                return self._app.exec()
        finally:
            self._idle.stop_watch()
            self._tray.remove_icon()
            self.desktop.window.hide()
            try:
                self.desktop.context.prefs.save_now()
            finally:
                self.desktop.free_window()


def run_window(app_context: AppContext, tell: Tell, file: Path | None, look: StartedLook) -> int:
    """Show the window of a home until it is closed.

    Args:
        tell: says what the person should know, on standard error.
        file: an absolute path, whose import is shown once the vault is open; None for none.

    Returns:
        The exit code.

    Raises:
        LociError: the home cannot be used at all, or the secret of a named file does not open it.
    """
    app = make_application()
    engine = build_engine(app_context, tell, take_over=partial(take_over, app_context))
    service = Service(app_context, engine, tell, gives_away=False)
    try:
        info = _open_by_file(app_context, engine)
        desktop = build_desktop(engine, app, HomeStore(engine, look.kept), service.pairing, look.theme)
        if info is not None:
            announce_opening(desktop.context, info)
        shown = Shown(app, desktop, service)
        if file is not None:
            shown.answer_start(file)
        ear = StartListener(window_socket_place(app_context.place.path), shown.answer_start)
        _claim_if_free(engine, service, tell)
        try:
            return shown.run(look.splash)
        finally:
            ear.close()
    finally:
        service.stop_service()
        if engine.is_wiped:
            tidy_home(engine.home)  # the sockets in it are gone now


def _open_by_file(app_context: AppContext, engine: Engine) -> OpenInfo | None:
    """Open the vault with the secret of a named file: as with every verb, nothing is asked then.

    Returns:
        What opening found; None where no file was named, or there is no vault yet.
    """
    file = app_context.environment.secret_file
    if file is None or not HomeKeys(engine.home).exists:
        return None
    try:
        return engine.vault.open(read_secret_file(file)).result()
    except LociError:
        engine.close()
        raise


def _claim_if_free(engine: Engine, service: Service, tell: Tell) -> None:
    """Own the home from the start where nobody else does; else it is asked for at unlocking."""
    try:
        if HomeKeys(engine.home).exists:
            engine.claim_home()
            service.start_once()
    except LociError as error:
        if error.code is not Code.VAULT_BUSY:
            tell(f"{error.code.value}: {error.sentence}")


def take_over(app_context: AppContext, root: RootKey) -> None:
    """Ask the engine that owns the vault to hand it over, and wait until it has.

    Args:
        root: opens the owner's channel.

    Raises:
        LociError: it does not answer, or keeps the vault.
    """
    keys = HomeKeys(app_context.home)
    remote = connect(app_context, root)
    if remote is None:
        raise EnvironmentFaultError(Code.VAULT_BUSY, "Another process has the vault and does not answer.")
    try:
        remote.client.call("owner.handover", {})
    finally:
        remote.close()
    until = time.monotonic() + _HANDOVER_S
    while keys.lock_holder() is not None:
        if time.monotonic() > until:
            raise EnvironmentFaultError(
                Code.VAULT_BUSY, "Loci in the background did not close the vault; try again in a moment."
            )
        time.sleep(_STEP_S)  # on the engine's control thread: the file lock tells nobody when it is free

"""The window's wiring: theme, options, context, main window, watchdog. Nothing else is decided here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtWidgets import QApplication

from app.window.application import free_widgets
from core.config.window import WindowOptions
from core.engine.facade import Engine, WindowFile, load_window, start_ticker
from core.errors import LociError
from ui.bridge import Bridge, TaskRunner
from ui.context import Commands, Context, Desk, PairingPort, Selection
from ui.prefs import InMemoryStore, Prefs, Store
from ui.registry import ROOMS, page_commands
from ui.shell.window import MainWindow
from ui.theme.theme import Theme
from ui.watchdog import Collector, Watchdog

_log = logging.getLogger("loci.ui.qt")


class HomeStore:
    """The window's options in `window.json` of the home; written on an engine thread."""

    def __init__(self, engine: Engine, kept: WindowFile | None = None) -> None:
        """Make it.

        Args:
            kept: what the file held when it was read a moment ago; None to read it.
        """
        self._engine, self._kept = engine, kept
        self.note: str | None = None

    def load(self) -> tuple[WindowOptions, Mapping[str, str]]:
        """What the file holds; defaults where there is none."""
        found, self._kept = self._kept or load_window(self._engine.home.path), None
        self.note = found.note
        return found.options, found.state

    def save(self, options: WindowOptions, state: Mapping[str, str]) -> None:
        """Write it; a failure is logged, for the window works without it. Nothing comes back into a wiped home."""
        if self._engine.is_wiped:
            return
        try:
            self._engine.vault.keep_window(options, dict(state)).add_done_callback(
                lambda done: _on_options_saved(done.exception())
            )
        except RuntimeError:  # the engine has ended; what was kept half a second ago stands
            _log.info("the window's options were not saved: the engine has ended")


def _on_options_saved(error: BaseException | None) -> None:
    if error is not None:
        code = error.code.value if isinstance(error, LociError) else type(error).__name__
        _log.warning("the window's options were not saved: %s", code)


@dataclass
class Desktop:
    """A window over an engine.

    Attributes:
        window: not shown yet.
        watchdog: notices stalls of the GUI thread.
        collector: collects garbage on the GUI thread alone.
    """

    engine: Engine
    bridge: Bridge
    context: Context
    window: MainWindow
    watchdog: Watchdog
    collector: Collector

    def free_window(self) -> None:
        """Let go of the engine and free the window with all it left behind.

        Trigger: the end of the window. Why: garbage with widgets in it, such as a closed dialog, crashes the process
        now and then where a thread of the engine collects it, or where it outlives the application. Outcome: nothing
        is delivered any more, and the window's own thread frees all of it here.
        """
        try:
            self.watchdog.stop_watching()
            self.context.tasks.cancel_all()
            self.bridge.close_bridge()
            self.window.deleteLater()
            free_widgets()
        finally:
            self.collector.stop_collector()


def build_desktop(
    engine: Engine,
    app: QApplication,
    store: Store | None = None,
    pairing: PairingPort | None = None,
    theme: Theme | None = None,
) -> Desktop:
    """Make a window.

    Args:
        engine: locked or open.
        store: where the window's options are kept; None for the home.
        pairing: the socket on which assistants redeem a code; None where none is open.
        theme: that of what was shown before; None for a new one.

    Returns:
        The window with what belongs to it; whoever asks shows it and shuts it.
    """
    kept = store or HomeStore(engine)
    prefs = Prefs(kept)
    theme = theme or Theme(app)
    options = prefs.options
    theme.apply_theme(options.theme, options.text_size, reduced_motion=options.reduced_motion)
    bridge = Bridge(engine)
    context = Context(bridge, TaskRunner(bridge), theme, Selection(), Commands(), prefs, Desk(), engine.clock)
    context.pairing.port = pairing
    window = MainWindow(context, ROOMS)
    for command in page_commands(context):
        context.commands.add(command)
    collector = Collector()  # looks through all there is once, before there is a window that could stand still
    watchdog = Watchdog(start_ticker, window)
    if isinstance(kept, HomeStore) and kept.note:
        context.desk.show_message(kept.note)
    return Desktop(engine, bridge, context, window, watchdog, collector)


def make_fixed_store(theme: str, text_size: int, page: str) -> InMemoryStore:
    """Options that are kept nowhere, for pictures.

    Args:
        theme: light or dark.
        text_size: percent.
        page: the page to show first.
    """
    options = WindowOptions().model_copy(
        update={"theme": theme, "text_size": text_size, "reduced_motion": True, "idle_lock_minutes": 0}
    )
    return InMemoryStore(options, {"house.page": page})

"""A context over a real engine for tests of the window: offscreen, nothing of the person's, shut at the end.

`window_context` opens an engine (tests/helpers/engine_rig.py) and everything a page is given; `settle` runs the event
loop until a condition holds. The fixture `context` of tests/gui/conftest.py wraps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from core.config.window import WindowOptions
from core.engine.facade import Engine
from core.types.replies import StoreReply
from core.types.requests import StoreRequest
from core.types.values import OWNER_ACTOR, Kind
from ui.bridge import Bridge, Problem, TaskRunner
from ui.context import Commands, Context, Desk, Selection
from ui.prefs import InMemoryStore, Prefs
from ui.strings import Strings
from ui.theme.theme import SystemLook, Theme


class Asked(SystemLook):
    """A system whose wish is the test's."""

    changed = Signal()

    def __init__(self) -> None:
        QObject.__init__(self)
        self.dark = False

    @property
    def is_dark(self) -> bool:
        """What the test wants."""
        return self.dark

    def ask(self, *, dark: bool) -> None:
        """Ask for another theme."""
        self.dark = dark
        self.changed.emit()


@dataclass
class Heard:
    """What was said to the person."""

    sentences: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def application() -> QApplication:
    """The one application of the test run."""
    found = QApplication.instance()
    assert isinstance(found, QApplication)
    return found


@contextmanager
def window_context(engine: Engine, *, theme: str = "light", scale: int = 100) -> Iterator[Context]:
    """Everything a page is given.

    Args:
        engine: locked or open; stays the caller's.
        theme: light or dark.
        scale: text size in percent.
    """
    bridge = Bridge(engine)
    look = Theme(application(), Asked())
    look.apply_theme(theme, scale)
    tasks = TaskRunner(bridge)
    prefs = Prefs(InMemoryStore(WindowOptions(), {}))
    context = Context(bridge, tasks, look, Selection(), Commands(), prefs, Desk(), engine.clock)
    try:
        yield context
    finally:
        tasks.cancel_all()
        bridge.close_bridge()
        prefs.save_now()
        for part in (tasks, prefs, bridge, look):
            part.deleteLater()


def hear(context: Context) -> Heard:
    """Listen to what is said to the person."""
    heard = Heard()
    context.desk.message_asked.connect(lambda sentence, *_: heard.sentences.append(sentence))
    context.tasks.problem.connect(heard.problems.append)
    return heard


def settle(qtbot: QtBot, holds: Callable[[], bool], timeout: int = 60_000) -> None:
    """Run the event loop until something holds; the time is what a busy machine may need, nothing is told by it."""
    qtbot.waitUntil(holds, timeout=timeout)


def remember(engine: Engine, text: str, **more: object) -> StoreReply:
    """Store one text as the owner and wait for it."""
    kind = more.pop("kind", Kind.FACT)
    request = StoreRequest(text=text, kind=Kind(str(kind)), **more)  # type: ignore[arg-type]  # a bag of fields
    return engine.memories.store(request, OWNER_ACTOR).result(30)


def save_picture(widget: QWidget, path: Path) -> None:
    """Render a widget as it is shown and keep it."""
    widget.grab().save(str(path))


def state_of(options: Mapping[str, object]) -> InMemoryStore:
    """A store of window options with some of them set."""
    return InMemoryStore(WindowOptions(**options), {})  # type: ignore[arg-type]  # a bag of fields


def rail_strings(title: str, words: str = "") -> Strings:
    """The sentences of a page that stands in for one of the window's.

    Args:
        words: by which the command palette finds it.
    """
    return lambda: {"rail": {"title": title, "words": words}}

"""`loci demo` with a display: the window on the sample palace; all of it is gone when the window is closed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QProgressBar, QWidget

from app.desktop import application, build, fixed
from app.sample import END, SampleClock, SamplePart, parts_in, sample_engine
from app.session import Tell
from app.window import Shown, ending_on_signals
from core.config.window import WindowOptions
from core.engine.facade import Engine
from core.types.values import OWNER_ACTOR
from ui.bridge import Bridge
from ui.theme.theme import Theme
from ui.widgets.basics import column, label


def open_sample(tell: Tell) -> int:
    """Open the window on the sample palace.

    Args:
        tell: says what the person should know, on standard error.

    Returns:
        The exit code.
    """
    app = application()
    tell("A sample palace: it lives in a temporary home and is gone when you close the window.")
    with ExitStack() as stack:
        stack.enter_context(ending_on_signals(app.quit))
        folder = stack.enter_context(as_file(files("resources") / "demo"))
        engine, clock = stack.enter_context(sample_engine())
        if not _fill(app, engine, clock, parts_in(folder)):
            return 0
        desktop = build(engine, app, fixed(WindowOptions().theme, 100, "palace"))
        return Shown(app, desktop, None).run()


def _fill(app: QApplication, engine: Engine, clock: SampleClock, parts: Sequence[SamplePart]) -> bool:
    """Bring the diary in while a small window says how far it is.

    Returns:
        False where the person closed it before the end.
    """
    theme = Theme(app)
    theme.use("system", 100)
    bridge = Bridge(engine)
    filling = _Filling(app, bridge, clock, parts)
    filling.begin()
    try:
        app.exec()
        if filling.error is not None:
            raise filling.error
        return filling.is_done
    finally:
        filling.splash.close()
        bridge.shut()


class _Filling(QObject):
    """One part after the other, each on its own day."""

    def __init__(self, app: QApplication, bridge: Bridge, clock: SampleClock, parts: Sequence[SamplePart]) -> None:
        super().__init__()
        self._app, self._bridge, self._clock, self._parts = app, bridge, clock, parts
        self._at = 0
        self.is_done = False
        self.error: BaseException | None = None
        self.splash, self._bar = _splash(len(parts))

    def begin(self) -> None:
        self.splash.show()
        self._import()

    def _import(self) -> None:
        if self._at == len(self._parts):
            self._clock.put(END)
            self._bridge.call(self._bridge.engine.palace.arrange, self._arranged)
            return
        part = self._parts[self._at]
        self._clock.put(part.on)
        imports = self._bridge.engine.imports
        self._bridge.call(lambda: imports.run(part.path, None, part.space, OWNER_ACTOR), self._imported)

    def _imported(self, _report: object, error: BaseException | None) -> None:
        if not self._failed(error):
            self._at += 1
            self._bar.setValue(self._at)
            self._import()

    def _arranged(self, _count: int | None, error: BaseException | None) -> None:
        if not self._failed(error):
            self.is_done = True
            self._app.exit()

    def _failed(self, error: BaseException | None) -> bool:
        if error is not None:
            self.error = error
            self._app.exit()
        return error is not None


def _splash(steps: int) -> tuple[QWidget, QProgressBar]:
    splash = QWidget()
    splash.setObjectName("page")
    splash.setWindowTitle("Loci")
    splash.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    splash.setFixedSize(460, 150)
    bar = QProgressBar()
    bar.setRange(0, steps)
    bar.setTextVisible(False)
    bar.setAccessibleName("Building the sample palace")
    column(
        splash,
        label("Building a sample palace", "title"),
        label("Eighteen months of Tove Marrowby, who draws maps. She is invented.", "muted", wrap=True),
        bar,
        margins=24,
        gap=12,
    )
    return splash, bar

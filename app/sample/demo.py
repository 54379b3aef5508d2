"""`loci demo` with a display: the window on the sample palace; all of it is gone when the window is closed."""

from __future__ import annotations

from contextlib import ExitStack

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QProgressBar, QWidget

from app.engine.session import Tell
from app.sample.sample import SampleClock, fill_sample, sample_engine
from app.window.application import free_widgets, make_application
from app.window.desktop import build_desktop, make_fixed_store
from app.window.window import Shown, end_on_signals
from core.config.window import WindowOptions
from core.engine.facade import Engine
from ui.bridge import POLL_MS, Bridge, Watch
from ui.gate.gate import Gate
from ui.theme.theme import Theme
from ui.widgets.basics import make_column, make_label


def open_sample(tell: Tell) -> int:
    """Open the window on the sample palace.

    Args:
        tell: says what the person should know, on standard error.

    Returns:
        The exit code.
    """
    app = make_application()
    tell("A sample palace: it lives in a temporary home and is gone when you close the window.")
    with ExitStack() as stack:
        stack.enter_context(end_on_signals(app.quit))
        engine, clock, passphrase = stack.enter_context(sample_engine())
        if not _import_diary(app, engine, clock):
            return 0
        desktop = build_desktop(engine, app, make_fixed_store(WindowOptions().theme, 100, "palace"))
        gate = desktop.window.gate
        if isinstance(gate, Gate):  # nobody knows the passphrase of this vault, which lives for minutes only
            gate.opener = lambda _typed: engine.vault.open(passphrase)
            gate.note = "This is the sample palace: whatever you type opens it again."
        return Shown(app, desktop, None).run()


def _import_diary(app: QApplication, engine: Engine, clock: SampleClock) -> bool:
    """Bring the diary in while a small window says how far it is.

    Returns:
        False where the person closed it before the end.
    """
    theme = Theme(app)
    theme.apply_theme("system", 100)
    bridge = Bridge(engine)
    splash, bar = _make_splash()
    watch = Watch()
    poll = QTimer(splash)

    def show_import() -> None:
        bar.setMaximum(watch.total or 1)
        bar.setValue(watch.done)

    poll.timeout.connect(show_import)
    poll.start(POLL_MS)
    ended: list[BaseException | None] = []

    def on_import_ended(_result: None, error: BaseException | None) -> None:
        ended.append(error)
        app.exit()

    bridge.run_call(lambda: engine.run_aside(lambda: fill_sample(engine, clock, watch.progress)), on_import_ended)
    splash.show()
    try:
        app.exec()
        if ended and ended[0] is not None:
            raise ended[0]
        return bool(ended)
    finally:
        poll.stop()
        splash.close()
        splash.deleteLater()
        bridge.close_bridge()
        free_widgets()


def _make_splash() -> tuple[QWidget, QProgressBar]:
    splash = QWidget()
    splash.setObjectName("page")
    splash.setWindowTitle("Loci")
    splash.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    splash.setFixedSize(460, 150)
    bar = QProgressBar()
    bar.setRange(0, 1)
    bar.setTextVisible(False)
    bar.setAccessibleName("Building the sample palace")
    make_column(
        splash,
        make_label("Building a sample palace", "title"),
        make_label("Eighteen months of Tove Marrowby, who draws maps. She is invented.", "muted", wrap=True),
        bar,
        margins=24,
        gap=12,
    )
    return splash, bar

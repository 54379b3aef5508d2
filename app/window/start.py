"""The start of the window: another one that runs is called; else a card stands on the screen while the rest is read.

Reading the engine and the pages takes most of a start. Must not do: import them before the card is shown.
"""

from __future__ import annotations

from pathlib import Path

from app.context import AppContext
from app.engine.session import Tell
from app.window.application import StartedLook, make_application
from app.window.single_instance import raise_running, window_socket_place
from core.engine.home.window_file import load_window
from ui.shell.splash import SplashWindow
from ui.theme.theme import Theme

_RAISED = "Loci is already open; its window was brought to the front."
_HANDED = "Loci is already open; its window shows the file."


def open_window(app_context: AppContext, tell: Tell, file: Path | None = None) -> int:
    """Open the window of a home.

    Args:
        tell: says what the person should know, on standard error.
        file: an absolute path, whose import is shown once the vault is open; None for none.

    Returns:
        The exit code.

    Raises:
        LociError: the home cannot be used at all, or the secret of a named file does not open it.
    """
    app = make_application()
    if raise_running(window_socket_place(app_context.place.path), file):
        tell(_RAISED if file is None else _HANDED)
        return 0
    kept, theme = load_window(app_context.home.path), Theme(app)
    options = kept.options
    theme.apply_theme(options.theme, options.text_size, reduced_motion=options.reduced_motion)
    splash = SplashWindow(theme)
    splash.show()
    app.processEvents()  # no loop runs yet: without it the card would come with the window
    try:
        from app.window.window import run_window  # what takes the time, while the card is there

        return run_window(app_context, tell, file, StartedLook(theme, kept, splash))
    finally:
        splash.close()

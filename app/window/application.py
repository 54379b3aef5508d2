"""The one application object of the process, where Qt's own messages go, and what is shown before there is a window.

Must not do: import a page or the engine; what is shown first is shown before they are read.
"""

from __future__ import annotations

import gc
import logging
import sys
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from core.engine.home.window_file import WindowFile
from ui.shell.splash import SplashWindow
from ui.theme.theme import Theme

_log = logging.getLogger("loci.ui.qt")
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
}


def _log_qt_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    _log.log(_LEVELS.get(kind, logging.ERROR), "%s", message)
    if kind is QtMsgType.QtFatalMsg:  # the process ends here, most often for want of a display: it says why
        sys.stderr.write(f"{message}\n")


@dataclass(frozen=True, slots=True)
class StartedLook:
    """What was there before the engine was read.

    Attributes:
        theme: in force.
        kept: the window's options and geometry, read once: a damaged file is put aside by reading it.
        splash: the card that goes when the window is there.
    """

    theme: Theme
    kept: WindowFile
    splash: SplashWindow


def make_application(arguments: list[str] | None = None) -> QApplication:
    """The one application object of this process.

    Args:
        arguments: for Qt; none of Loci's own.
    """
    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    # While no vault is open there is no file to log to; the terminal is not the place for it.
    logging.getLogger("loci").addHandler(logging.NullHandler())
    qInstallMessageHandler(_log_qt_message)
    made = QApplication(arguments or [sys.argv[0]])
    made.setApplicationName("loci")
    made.setApplicationDisplayName("Loci")
    made.setDesktopFileName("loci")
    made.setQuitOnLastWindowClosed(True)
    return made


def free_widgets() -> None:
    """Free widgets that wait for their deletion, and garbage with widgets in it; called when no event loop runs."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.unfreeze()  # of what was there when the window was made, some is garbage by now
    gc.collect()

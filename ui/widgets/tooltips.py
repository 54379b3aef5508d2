"""Tooltips as they are shown: in short lines, so that a sentence is no bar across the window.

Must not do: choose the words.
"""

from __future__ import annotations

import html
import textwrap

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget

LINE = 60
"""Characters of a line at most."""
_OPEN, _CLOSE = "<span>", "</span>"


def wrap_tooltip(text: str) -> str:
    """A tooltip in lines of at most `LINE` characters; its own line breaks stay.

    Args:
        text: plain, or as `escape_tooltip` made it.
    """
    if text.startswith(_OPEN) and text.endswith(_CLOSE):
        plain = html.unescape(text.removeprefix(_OPEN).removesuffix(_CLOSE))
        return f"{_OPEN}{'<br>'.join(html.escape(line) for line in _wrap_lines(plain))}{_CLOSE}"
    return "\n".join(_wrap_lines(text))


def _wrap_lines(text: str) -> list[str]:
    return [line for whole in text.split("\n") for line in textwrap.wrap(whole, LINE) or [""]]


def show_wrapped(watched: QObject, event: QEvent) -> bool:
    """Show the tooltip of a widget in short lines, for a filter of events that has seen that one is asked for.

    Returns:
        Whether it was shown; one that has none, or chooses it by the place of the pointer, is left to Qt.
    """
    if not isinstance(event, QHelpEvent) or not isinstance(watched, QWidget):
        return False
    text = watched.toolTip()
    if text:
        QToolTip.showText(event.globalPos(), wrap_tooltip(text), watched)
    return bool(text)

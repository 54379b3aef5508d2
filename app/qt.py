"""Qt's first import, before anything else of a window is loaded.

Must not do: draw, or keep anything; it is called by the doors that open a window.
"""

from __future__ import annotations

import importlib

_READER = "_mod_uses_pyside"


def load_qt() -> None:
    """Import Qt's bindings so that modules loaded later are not read a second time as source.

    Calling it twice changes nothing.
    """
    importlib.import_module("PySide6.QtCore")
    features = importlib.import_module("shibokensupport.feature")
    # Trigger: for `from __feature__ import ...` the bindings look through the source text of every module imported
    # after them, and keep it (napari met it in issue 8584). Why: a second of start, 30 MB, and an import on an engine
    # thread that holds the window up. Outcome: no module is searched; Loci uses none of those features.
    if hasattr(features, _READER):
        setattr(features, _READER, lambda _module: False)

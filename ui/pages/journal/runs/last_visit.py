"""How many runs changed memories since the person last looked at what happened: the count beside the Journal.

Must not do: count what the person or an assistant did; nothing of it is theirs to be told of here.
"""

from __future__ import annotations

from concurrent.futures import Future

from ui.context import Context

LISTED = frozenset({"changes", "runs"})
"""The tabs in which such a run stands."""
_LOOKED = "journal.looked"


def saw(context: Context) -> None:
    """The person looks at what happened."""
    context.prefs.keep(_LOOKED, str(context.clock.now_ms()))
    context.desk.looked.emit()


def unseen(context: Context) -> Future[int]:
    """How many runs the person has not seen; from the first time this is asked on."""
    looked = context.prefs.text(_LOOKED)
    if not (looked.isascii() and looked.isdigit()):
        looked = str(context.clock.now_ms())
        context.prefs.keep(_LOOKED, looked)
    return context.bridge.engine.jobs.unseen(int(looked))

"""The status bar says what model is there, in the engine's words."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from core.types.belief import ModelServerState, ModelState
from ui.context import Context
from ui.shell.status_bar import StatusBar


def told(state: ModelState) -> dict[str, object]:
    return {"index": {}, "model_server": {"state": state.server.value, "sentence": state.sentence}}


def test_the_status_bar_says_what_model_is_there(qtbot: QtBot, context: Context) -> None:
    status = StatusBar(context.theme)
    qtbot.addWidget(status)
    status.show_status(told(ModelState(ModelServerState.READY, "small:3b")))
    assert status._model.whole == "Local model: small:3b"
    status.show_status(told(ModelState(ModelServerState.FAILING, code="E3005")))
    assert status._model.whole == "The local model reports an error (E3005)"
    status.show_status(told(ModelState(ModelServerState.OFF)))
    assert status._model.whole == "Local model turned off"
    status.show_status(told(ModelState(ModelServerState.ABSENT)))
    assert status._model.whole == "No local model (Ollama) is running"


def test_the_status_bar_counts_all_memories_and_says_of_which_status(qtbot: QtBot, context: Context) -> None:
    status = StatusBar(context.theme)
    qtbot.addWidget(status)
    counts = {"active": 400, "superseded": 30, "archived": 8, "quarantined": 12}
    status.show_status({"index": {"state": "ready"}, "memories": {"total": 450, "by_status": counts}})
    assert status._index.whole == "Search ready · 400 active, 12 held back, 38 outdated or archived"
    hint = status._index.accessibleDescription()
    assert "400 active, 30 outdated, 12 held back, 8 archived" in hint
    assert hint in status._index.toolTip()
    status.show_status({"index": {"state": "warming", "loaded": 3, "total": 9}, "memories": {"total": 9}})
    assert status._index.whole == "Search loading, 3 of 9 · 9 memories"
    status.clear_status()
    assert status._index.accessibleDescription() == ""

"""Pictures of the window: any page, theme and size, offscreen, on the sample palace with a fixed clock.

Must not do: show anything on a screen, touch a person's vault.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.sample.sample import fill_sample, sample_engine
from app.window.application import make_application
from app.window.desktop import Desktop, build_desktop, make_fixed_store
from core.engine.facade import Engine
from core.errors import BugError, Code, EnvironmentFaultError, UserError
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR
from core.types.views import FindRequest
from ui.registry import PAGES

_LOOK_MS = 50
_QUIET = 8  # looks in a row at which nothing is under way
_MOST = 600
_ASK, _GO = "ask:", "go:"
_LABORATORY = "recall"
_WITHIN, _SILENT = 5, 3
_NO_PLACE = "The picture could not be written there; name a file in a folder that exists."


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture.

    Attributes:
        page: a page's id.
        out: the file.
        theme: light or dark.
        width: pixels.
        height: pixels.
        text_size: percent.
        query: selects the memory the inspector shows, in the search syntax; "" for the page's own choice. After
            `ask:` it is a question that is put to the page; after `go:` and a level of the palace, that level is shown.
    """

    page: str
    out: Path
    theme: str = "light"
    width: int = 1440
    height: int = 900
    text_size: int = 100
    query: str = ""


def check_shot(shot: Shot) -> None:
    """Refuse what cannot be drawn, before anything is built for it.

    Raises:
        UserError: INVALID_INPUT.
        EnvironmentFaultError: WRITE_FAILED.
    """
    pages = [page.id for page in PAGES]
    if shot.page not in pages:
        raise UserError(Code.INVALID_INPUT, f"There is no page of that name; there are: {', '.join(pages)}.")
    if not (400 <= shot.width <= 7680 and 300 <= shot.height <= 4320):
        raise UserError(Code.INVALID_INPUT, "A picture is from 400x300 to 7680x4320 pixels.")
    if not os.access(shot.out if shot.out.exists() else shot.out.parent, os.W_OK):
        raise EnvironmentFaultError(Code.WRITE_FAILED, _NO_PLACE)


def take_shots(shots: Sequence[Shot]) -> None:
    """Make pictures.

    Args:
        shots: what to draw, one after the other, on one sample palace.

    Raises:
        UserError: a picture that cannot be drawn; nothing was drawn then.
        EnvironmentFaultError: a file could not be written.
    """
    for shot in shots:
        check_shot(shot)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    app = make_application()
    with sample_engine() as (engine, clock, _):
        fill_sample(engine, clock)
        if any(shot.page == _LABORATORY for shot in shots):
            _save_questions(engine)
        for shot in shots:
            _Studio(engine, app, shot).take_picture()


class _Studio(QObject):
    """Waits until a window has come to rest and draws it."""

    def __init__(self, engine: Engine, app: QApplication, shot: Shot) -> None:
        super().__init__()
        self._engine, self._app, self._shot = engine, app, shot
        self._quiet = self._looks = 0
        self._desktop: Desktop
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._check_settled)
        self._is_selected = False

    def take_picture(self) -> None:
        shot = self._shot
        self._desktop = build_desktop(self._engine, self._app, make_fixed_store(shot.theme, shot.text_size, shot.page))
        window = self._desktop.window
        window.setMinimumSize(0, 0)
        window.resize(shot.width, shot.height)
        window.show()
        self._timer.start()
        self._app.exec()
        self._timer.stop()
        try:
            if self._looks > _MOST:
                raise BugError("a page that never came to rest")
            keyboard = self._app.focusWidget()
            if keyboard is not None:
                keyboard.clearFocus()  # a ring or a blinking mark would stand wherever the reading happened to end
            if not window.grab().save(str(shot.out), "PNG"):
                raise EnvironmentFaultError(Code.WRITE_FAILED, _NO_PLACE)
        finally:
            window.close()
            self._desktop.free_window()

    def _check_settled(self) -> None:
        self._looks += 1
        house = self._desktop.window.house
        page = None if house is None else house.page
        rests = not self._desktop.context.tasks.running and page is not None and page.is_settled()
        self._quiet = self._quiet + 1 if rests else 0
        if self._quiet >= _QUIET and not self._is_selected:
            self._is_selected = True
            self._quiet = 0
            self._select_memory()
        elif self._quiet >= _QUIET or self._looks > _MOST:
            self._app.exit()

    def _select_memory(self) -> None:
        query = self._shot.query or _load_choices().get(self._shot.page, "")
        if query.startswith(_ASK):
            self._desktop.context.desk.go.emit(self._shot.page, query)
            return
        go, _, rest = query.partition(" ") if query.startswith(_GO) else ("", "", query)
        if rest:
            found = self._engine.library.find_memories(FindRequest(rest)).result()
            if found.ids:
                self._desktop.context.selection.select(found.ids[0], "shot")
        if go:
            self._app.processEvents()  # the inspector takes its room before the level is fitted into the rest
            self._desktop.context.desk.go.emit(self._shot.page, go)


def _save_questions(engine: Engine) -> None:
    """Save questions on the diary of which the answer is known, so that the tuner has something to try weights on."""
    known = json.loads((files("resources") / "demo" / "queries.json").read_text(encoding="utf-8"))
    for asked in known["tour"]:
        if "as_of" not in asked:
            named = engine.memories.list(ListRequest(text=asked["expect"], limit=1), OWNER_ACTOR).result().items
            ids = tuple(one.id for one in named)
            engine.recall_trials.save_probe(asked["query"], "positive", ids, _WITHIN).result()
    for asked in known["unanswerable"][:_SILENT]:
        engine.recall_trials.save_probe(asked["query"], "negative", (), _WITHIN).result()


def _load_choices() -> dict[str, str]:
    """Page to the query of the memory that is looked at in its picture."""
    chosen: dict[str, str] = json.loads((files("resources") / "demo" / "pictures.json").read_text(encoding="utf-8"))
    return chosen

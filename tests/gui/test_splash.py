"""What stands on the screen while the engine and the pages are read, and what it hands on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.context import AppContext
from app.engine.session import Tell
from app.environment import Environment
from app.window import window
from app.window.application import StartedLook
from app.window.single_instance import StartListener, window_socket_place
from app.window.start import open_window
from ui.shell.splash import SplashWindow

WAITED_FOR = {
    "cryptography",
    "argon2",
    "core.engine.home.keys",
    "core.engine.facade",
    "numpy",
    "sqlcipher3",
    "onnxruntime",
    "hnswlib",
    "ui.registry",
    "ui.shell.window",
}


def make_context(folder: Path) -> AppContext:
    return AppContext(Environment(folder / "home", folder / "home", None, folder, None, None, has_display=True))


def visible_cards() -> list[SplashWindow]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, SplashWindow) and one.isVisible()]


def test_what_is_shown_first_loads_neither_engine_nor_pages_nor_what_opens_keys() -> None:
    code = "import sys, app.qt; app.qt.load_qt(); import app.window.start; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    found = set(done.stdout.split())
    assert "ui.shell.splash" in found
    assert not found & WAITED_FOR


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_card_in_the_persons_theme_stands_until_the_window_ends_it(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    body = {"v": 1, "options": {"theme": theme}, "state": {"house.page": "graph"}}
    (home / "window.json").write_text(json.dumps(body), encoding="ascii")
    seen: list[StartedLook] = []

    def show(_context: AppContext, _tell: Tell, file: Path | None, look: StartedLook) -> int:
        assert file == tmp_path / "sea.loci"
        assert visible_cards() == [look.splash]
        seen.append(look)
        return 7

    monkeypatch.setattr(window, "run_window", show)
    assert open_window(make_context(tmp_path), lambda _: None, tmp_path / "sea.loci") == 7
    look = seen[0]
    assert not visible_cards()
    assert look.theme.tokens.name == theme
    assert look.kept.state == {"house.page": "graph"}
    assert look.splash.accessibleName() == "Opening …"
    assert look.splash.pixmap().toImage().pixelColor(20, 20) == look.theme.colour("surface")
    look.theme.deleteLater()


def test_the_card_goes_where_the_start_fails(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> int:
        assert len(visible_cards()) == 1
        raise OSError

    monkeypatch.setattr(window, "run_window", fail)
    with pytest.raises(OSError):
        open_window(make_context(tmp_path), lambda _: None)
    assert not visible_cards()


def test_a_second_start_shows_no_card(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, told = make_context(tmp_path), list[str]()
    ear = StartListener(window_socket_place(context.place.path), lambda _: None)
    monkeypatch.setattr(SplashWindow, "show", lambda _: pytest.fail("a card was shown"))
    assert open_window(context, told.append) == 0
    assert told == ["Loci is already open; its window was brought to the front."]
    ear.close()

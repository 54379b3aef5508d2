"""No page makes a small window grow: what has no room is cut, wraps or scrolls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from engine_rig import Rig, rig_at
from PySide6.QtCore import QSize
from pytestqt.qtbot import QtBot
from window_rig import settle, window_context

from core.types.lifecycle import JobType
from ui.context import Context, WindowPage
from ui.registry import PAGES, ROOMS
from ui.shell.window import MainWindow

SMALL = QSize(1024, 700)
TEXTS = (
    "Rosa lives in Porto and works as a pilot of the harbour.",
    "Rosa's brother Tomas has moved to Porto with a very long list of reasons that nobody wanted to hear in full.",
    "Tomas works at the lighthouse, Rosa said, and Rosa brings him bread in the morning.",
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A vault with something on every page."""
    with rig_at(tmp_path_factory.mktemp("small")) as rig:
        for text in TEXTS:
            rig.store(text)
        rig.engine.jobs.run(JobType.ENRICH).result(60)
        rig.engine.palace.place_waiting().result(60)
        yield rig


def _is_at_rest(page: WindowPage, context: Context) -> bool:
    return page.is_settled() and not context.tasks.running


@pytest.mark.keeps_threads("the vault is open for the whole module")
@pytest.mark.parametrize("scale", [100, 150])
def test_no_page_makes_a_small_window_grow(small: Rig, qtbot: QtBot, scale: int) -> None:
    with window_context(small.engine, scale=scale) as context:
        window = MainWindow(context, ROOMS)
        window.setMinimumSize(0, 0)
        window.resize(SMALL)
        window.show()
        qtbot.waitExposed(window)
        grown = {}
        for page_id in [page.id for page in PAGES]:
            window.show_page(page_id)
            house = window.house
            assert house is not None
            page = house.page
            assert page is not None
            settle(qtbot, partial(_is_at_rest, page, context), 60_000)
            if window.size() != SMALL:
                grown[page_id] = window.size().toTuple()
                window.resize(SMALL)
        window.close()
        window.deleteLater()
    assert grown == {}

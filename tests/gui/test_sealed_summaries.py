"""What is said of sealed memories in the clear is shown by the library, by recall and by the inspector, as that."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from engine_rig import Rig, facts
from inspector_rig import words_of
from library_rig import put_away
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from window_rig import remember, settle

from core.types.sensitivity import SealedRow
from ui.bridge import make_query
from ui.context import Context
from ui.inspector.panel import Inspector
from ui.pages.library.page import LIBRARY, LibraryPage
from ui.pages.recall.page import RECALL, RecallPage
from ui.seal_summary import SealedStrip, SealedSummary
from ui.strings import seal_strings

SECRET = "a second secret"
TEXT = "The spare key hangs behind the water meter."
SUMMARY = "Where the <b>spare</b> thing of the boathouse hangs"


@pytest.fixture
def sealed(rig: Rig) -> str:
    """A sealed memory with a summary, and its key not in memory."""
    rig.engine.seal.set_up(SECRET).result(30)
    memory = remember(rig.engine, TEXT).memory_id
    rig.engine.seal.seal([memory], "boathouse", SUMMARY).result(30)
    rig.engine.seal.close()
    return memory


@pytest.fixture
def library(qtbot: QtBot, context: Context) -> Iterator[LibraryPage]:
    made = LIBRARY.make(context)
    assert isinstance(made, LibraryPage)
    made.resize(1000, 700)
    made.show()
    context.bridge.changed.connect(made.handle_change)
    yield made
    put_away(qtbot, made)


def labels(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def says_so(strip: SealedStrip, count: int = 1) -> bool:
    """Whether the lines say that they are summaries, and nothing of the text."""
    said = "\n".join(labels(line) for line in strip.lines())
    marks = said.count(seal_strings()["clear"]["summary_of"].split(" ·")[0])
    return not strip.isHidden() and marks == count and SUMMARY in said and "water meter" not in said


def test_what_is_found_for_a_question_that_was_taken_back_is_not_shown(
    qtbot: QtBot, context: Context, rig: Rig, sealed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: Future[tuple[SealedRow, ...]] = Future()
    monkeypatch.setattr(type(rig.engine), "find_sealed", lambda *_: late)
    strip = SealedStrip(context, "recall")
    qtbot.addWidget(strip)
    strip.ask("boathouse")
    strip.ask("")
    heard: list[object] = []
    rows = rig.engine.seal.list_rows().result(30)
    late.add_done_callback(lambda _: context.tasks.run(make_query("", rig.engine.seal.list_rows).success(heard.append)))
    late.set_result(rows)
    settle(qtbot, lambda: heard == [rows])
    assert (strip.rows, strip.isHidden()) == ((), True)


def test_the_library_shows_it_above_what_it_found(qtbot: QtBot, rig: Rig, sealed: str, library: LibraryPage) -> None:
    rig.bring(facts(3))
    library.activate()
    settle(qtbot, lambda: says_so(library.sealed))
    assert library.sealed.title.text() == "1 memory is sealed"
    library.query.set_text("boathouse")
    settle(qtbot, lambda: library.sealed.title.text() == "1 sealed memory matches")
    assert says_so(library.sealed)
    assert library.table.memories.ids == ()
    for other in ("jar", "kind:fact"):
        library.query.set_text(other)
        settle(qtbot, lambda: library.sealed.isHidden() and len(library.table.memories.ids) == 3)


def test_a_line_of_it_shows_it_in_the_inspector(
    qtbot: QtBot, rig: Rig, context: Context, sealed: str, library: LibraryPage, inspector: Inspector
) -> None:
    library.activate()
    settle(qtbot, lambda: says_so(library.sealed))
    (line,) = library.sealed.lines()
    line.click()
    assert context.selection.current == sealed
    settle(qtbot, lambda: inspector.findChild(SealedSummary) is not None)
    said = words_of(inspector)
    assert SUMMARY in said
    assert seal_strings()["clear"]["notice"]["summary"] in said
    (summary,) = inspector.findChildren(SealedSummary)
    assert summary.rewrite_button.isHidden()  # no backup is older than the seal
    assert "water meter" not in said
    opened: list[tuple[str, ...]] = []
    context.desk.seal.connect(opened.append)
    found = inspector.findChild(SealedSummary)
    assert found is not None
    found.open_button.click()
    library.sealed.more.click()
    assert opened == [(), ()]

    rig.engine.seal.open(SECRET).result(30)
    rig.engine.seal.unseal([sealed]).result(30)
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.text == TEXT)
    settle(qtbot, lambda: library.sealed.isHidden())


def test_what_was_looked_at_and_is_sealed_now_is_shown_by_its_summary(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    rig.engine.seal.set_up(SECRET).result(30)
    memory = remember(rig.engine, TEXT).memory_id
    context.selection.select(memory, "test")
    settle(qtbot, lambda: inspector.inspected is not None)
    rig.engine.seal.seal([memory], "", SUMMARY).result(30)
    settle(qtbot, lambda: inspector.findChild(SealedSummary) is not None)
    assert inspector.inspected is None
    assert "water meter" not in words_of(inspector)
    rig.engine.seal.discard([memory]).result(30)
    settle(qtbot, lambda: inspector.findChild(SealedSummary) is None)


def test_recall_shows_it_beside_the_answer(qtbot: QtBot, context: Context, rig: Rig, sealed: str) -> None:
    rig.store("The boathouse has a green door.")
    page = RECALL.make(context)
    assert isinstance(page, RecallPage)
    page.resize(1300, 800)
    page.show()
    page.activate("ask:Where is the spare thing of the boathouse?")
    settle(qtbot, lambda: says_so(page.pane.sealed))
    assert page.list.lines.rowCount() > 0
    page.ask_question("What colour is the door?")
    settle(qtbot, lambda: page.pane.sealed.isHidden())
    settle(qtbot, page.is_settled)
    put_away(qtbot, page)

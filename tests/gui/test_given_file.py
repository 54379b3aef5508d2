"""A file that Loci is started with: the line that hands it over, and the import that opens once the palace does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, Rig
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from window_rig import rail_strings, settle

from app.window.single_instance import read_request, write_request
from app.window.window import GivenFile
from ui.context import USUAL_PLACES, Context, InspectorSectionSpec, PageSpec, WindowPage
from ui.imports.wizard import ImportDialog
from ui.shell.window import MainWindow, WindowViews


@given(st.text(st.characters(exclude_characters="\0")))
def test_every_path_arrives_as_it_was(name: str) -> None:
    path = Path("/") / name
    line = write_request(path)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_request(line) == path


@given(
    st.binary() | st.just(b'{"open": "all.loci"}') | st.just(b'{"open": ["/a"]}') | st.just(b'{"open": "/a\\u0000b"}')
)
def test_what_is_no_request_opens_nothing(line: bytes) -> None:
    assert read_request(line) is None


def gate(_context: Context) -> QWidget:
    return QLabel("locked")


def inspector(_context: Context, _parts: Sequence[InspectorSectionSpec]) -> QWidget:
    return QLabel("inspector")


VIEWS = WindowViews(
    [PageSpec("palace", rail_strings("Palace"), "landmark", WindowPage)], [], gate, inspector, ImportDialog
)


@pytest.fixture
def window(context: Context, qtbot: QtBot) -> Iterator[MainWindow]:
    """One with the real import."""
    made = MainWindow(context, VIEWS)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
    made.deleteLater()


def lock(window: MainWindow, qtbot: QtBot) -> None:
    window.lock_vault()
    settle(qtbot, lambda: window.house is None and window.context.bridge.engine.state == "locked")


def opened(window: MainWindow) -> list[ImportDialog]:
    return [dialog for dialog in window.findChildren(ImportDialog) if dialog.isVisible()]


def test_a_file_waits_until_the_palace_is_open(window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    notes = tmp_path / "a <b>boat.jsonl"
    notes.write_text('{"text": "The boat is called Heron."}\n', encoding="utf-8")
    given_file = GivenFile(window)
    lock(window, qtbot)
    given_file.take_file(notes)
    assert window.toasts.sentence == "Once the palace is open, Loci shows what is in “a <b>boat.jsonl”."
    assert opened(window) == []
    rig.engine.vault.open(PASSPHRASE).result(30)
    settle(qtbot, lambda: bool(opened(window)))
    assert window.toasts.sentence == ""
    (dialog,) = opened(window)
    settle(qtbot, lambda: dialog.reader.is_done)
    assert [(source.path, source.new) for source in dialog.reader.sources] == [(notes, 1)]
    window.open_import([USUAL_PLACES])  # what the first run asks for by itself
    assert opened(window) == [dialog]


def test_it_is_opened_once(window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    notes = tmp_path / "boat.jsonl"
    notes.write_text('{"text": "The boat is called Heron."}\n', encoding="utf-8")
    given_file = GivenFile(window)
    given_file.take_file(notes)
    assert len(opened(window)) == 1
    lock(window, qtbot)
    with qtbot.waitSignal(window.furnished):
        rig.engine.vault.open(PASSPHRASE).result(30)
    assert opened(window) == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"%PDF-1.7 not an archive", "This archive cannot be used: it is another kind of file. Nothing was imported."),
        (b"", "This archive cannot be used: it was cut or changed. Nothing was imported."),
        (b"LOCI-ARCHIVE", "This archive cannot be used: it was cut or changed. Nothing was imported."),
        (None, "“all.loci” does not exist; nothing was imported."),
    ],
)
def test_a_file_that_is_no_archive_is_told_in_one_sentence(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    archive = tmp_path / "all.loci"
    if content is not None:
        archive.write_bytes(content)
    GivenFile(window).take_file(archive)
    (dialog,) = opened(window)
    settle(qtbot, lambda: dialog.reader.is_done)
    (problem,) = [source.problem for source in dialog.reader.sources]
    assert problem is not None
    assert problem.sentence == sentence

"""Files of memories in the window: attached by a dialog, shown beside their memory, opened as private copies, saved."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, Rig
from hypothesis import given
from hypothesis import strategies as st
from inspector_rig import look, press, shown_inspector, words_of
from PIL import Image
from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.files.attachments import AttachedFile, AttachReply, SourceRegion, ViewMethod
from core.types.values import OWNER_ACTOR
from ui.attachments import FileCard, HitPages, describe_file, describe_pages, is_attachable, offer_dropped
from ui.context import Context
from ui.inspector.files import FilesSection
from ui.inspector.panel import Inspector
from ui.pages.library import pictures as pictures_module
from ui.pages.library.model import PLACE, TEXT, MemoryTable
from ui.pages.library.pictures import RowPictures
from ui.pages.library.table import LibraryTable
from ui.shell.attach_dialog import AttachDialog, open_attach

RULES = Path(__file__).parents[1] / "fixtures" / "imports" / "pdf" / "input" / "Rules of the slip.pdf"


def png(folder: Path, name: str = "wall.png") -> Path:
    target = io.BytesIO()
    Image.new("RGB", (640, 320), (200, 30, 60)).save(target, "PNG")
    path = folder / name
    path.write_bytes(target.getvalue())
    return path


def attach(rig: Rig, path: Path, caption: str = "") -> AttachReply:
    return rig.engine.files.attach(path, OWNER_ACTOR, caption=caption).result(60)


@pytest.fixture
def inspector(qtbot: QtBot, context: Context) -> Iterator[Inspector]:
    with shown_inspector(qtbot, context) as made:
        yield made


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


# ---- attaching


def test_files_are_attached_and_what_is_refused_says_why(
    qtbot: QtBot, context: Context, rig: Rig, host: QWidget, tmp_path: Path
) -> None:
    empty = tmp_path / "empty <b>.txt"
    empty.write_bytes(b"")
    dialog = AttachDialog(context, [RULES, empty, RULES], host)
    dialog.open()
    heard = hear(context)
    dialog.caption.setText("Rules of the harbour")
    dialog.attach_files()
    settle(qtbot, lambda: dialog.cancel_button.text() == "Close")
    assert dialog.isVisible()
    assert len(dialog._lines) == 2
    assert [reply.file.name for reply in dialog.replies] == ["Rules of the slip.pdf"]
    assert "is empty" in dialog._lines[1].text()
    assert heard.sentences == ["Attached “Rules of the slip.pdf”."]
    assert rig.found("rules of the harbour")[0].startswith("Rules of the harbour")
    dialog.close()


def test_a_dialog_in_which_all_went_well_closes(
    qtbot: QtBot, context: Context, rig: Rig, host: QWidget, tmp_path: Path
) -> None:
    dialog = AttachDialog(context, [png(tmp_path), RULES], host)
    dialog.open()
    heard = hear(context)
    dialog.attach_files()
    settle(qtbot, lambda: not dialog.isVisible())
    assert heard.sentences == ["2 files were attached."]
    assert rig.value("SELECT count(*) FROM files") == 2


def test_a_dialog_that_is_closed_in_between_attaches_no_more(
    qtbot: QtBot, context: Context, rig: Rig, host: QWidget, tmp_path: Path
) -> None:
    dialog = AttachDialog(context, [png(tmp_path), RULES], host)
    dialog.open()
    dialog.attach_files()
    dialog.cancel_button.click()
    settle(qtbot, lambda: len(dialog.replies) == 1)
    assert [reply.file.name for reply in dialog.replies] == ["wall.png"]
    assert rig.value("SELECT count(*) FROM files") == 1


def test_nothing_chosen_attaches_nothing_and_import_takes_the_files(
    context: Context, host: QWidget, tmp_path: Path
) -> None:
    wishes: list[list[Path]] = []
    context.desk.import_paths.connect(wishes.append)
    dialog = AttachDialog(context, [], host)
    assert not dialog.attach_button.isEnabled()
    dialog.add_files([RULES])
    assert dialog.attach_button.isEnabled()
    dialog.import_button.click()
    assert wishes == [[RULES]]


def test_a_dialog_that_was_opened_for_a_drop_is_gone_once_it_is_closed(
    qtbot: QtBot, context: Context, rig: Rig, host: QWidget
) -> None:
    open_attach(context, host, [RULES])
    (dialog,) = host.findChildren(AttachDialog)
    heard = hear(context)
    with qtbot.waitSignal(dialog.destroyed):
        dialog.attach_files()
    assert heard.sentences == ["Attached “Rules of the slip.pdf”."]
    assert rig.value("SELECT count(*) FROM files") == 1


@given(st.lists(st.sampled_from(["a.pdf", "b.PNG", "c.docx", "d.html"]), min_size=1))
def test_pictures_and_documents_are_attached(names: list[str]) -> None:
    assert is_attachable([Path(name) for name in names])
    assert not is_attachable([*(Path(name) for name in names), Path("export.zip")])
    assert not is_attachable([])


# ---- beside the memory


def section(inspector: Inspector) -> FilesSection:
    found = inspector.find_section("files")
    assert isinstance(found, FilesSection)
    return found


def catch_opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What the system is asked to show; it shows nothing."""
    opened: list[Path] = []

    def show(url: QUrl) -> bool:
        opened.append(Path(url.toLocalFile()))
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    return opened


def test_a_file_is_shown_beside_its_memory_with_what_was_read(
    qtbot: QtBot, context: Context, rig: Rig, inspector: Inspector
) -> None:
    reply = attach(rig, RULES, "Rules of the harbour")
    look(qtbot, inspector, context, reply.memory_id)
    part = section(inspector)
    settle(qtbot, lambda: len(part.boxes) == 1 and part.boxes[0].isVisible() and not part.place.isHidden())
    words = words_of(part)
    assert "Rules of the slip.pdf" in words
    assert "PDF document · " in words
    assert " 3 pages" in words
    assert "text of its pages" in words
    assert part.place.text().startswith("Page")
    assert "From the file “Rules of the slip.pdf”, attached on " in words_of(inspector.find_section("provenance"))
    press(part, "Show what was read")
    box = part.boxes[0]
    settle(qtbot, lambda: "PAGE 1" in words_of(box) and "PAGE 3" in words_of(box))
    other = rig.store("The boat is called Heron.").memory_id
    look(qtbot, inspector, context, other)
    assert part.isHidden()


def test_a_picture_has_its_small_one(qtbot: QtBot, context: Context, rig: Rig, tmp_path: Path) -> None:
    card = FileCard(context, attach(rig, png(tmp_path)).file)
    qtbot.addWidget(card)
    settle(qtbot, lambda: card._picture is not None)
    assert card.accessibleName().startswith("wall.png, Picture · ")
    assert card.accessibleName().endswith("640 × 320 pixels")
    assert card.picture.pixmap().width() > card.picture.pixmap().height()


def test_a_copy_is_private_and_gone_when_the_palace_is_locked(
    qtbot: QtBot, context: Context, rig: Rig, inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = catch_opened(monkeypatch)
    reply = attach(rig, RULES)
    look(qtbot, inspector, context, reply.memory_id)
    part = section(inspector)
    settle(qtbot, lambda: len(part.boxes) == 1 and part.boxes[0].isVisible())
    copies = part.copies
    for _ in range(2):
        press(part, "Open file")
    settle(qtbot, lambda: len(opened) == 2)
    assert [path.read_bytes() for path in opened] == [RULES.read_bytes()] * 2
    for path in opened:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
    rig.engine.vault.lock().result(30)
    settle(qtbot, lambda: copies.is_empty)
    assert not any(path.exists() for path in opened)
    assert not opened[0].parent.parent.exists()
    rig.engine.vault.open(PASSPHRASE).result(30)


def test_a_copy_that_cannot_be_shown_goes_and_the_others_stay(
    qtbot: QtBot, context: Context, rig: Rig, inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = catch_opened(monkeypatch)
    look(qtbot, inspector, context, attach(rig, RULES).memory_id)
    part = section(inspector)
    settle(qtbot, lambda: len(part.boxes) == 1 and part.boxes[0].isVisible())
    press(part, "Open file")
    settle(qtbot, lambda: len(opened) == 1)
    refused: list[Path] = []

    def refuse(url: QUrl) -> bool:
        refused.append(Path(url.toLocalFile()))
        return False

    monkeypatch.setattr(QDesktopServices, "openUrl", refuse)
    press(part, "Open file")
    settle(qtbot, lambda: len(refused) == 1 and not refused[0].exists())
    assert opened[0].exists()
    assert not part.copies.is_empty


def test_a_memory_that_changes_leaves_no_copy(
    qtbot: QtBot, context: Context, rig: Rig, inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = catch_opened(monkeypatch)
    reply = attach(rig, RULES)
    look(qtbot, inspector, context, reply.memory_id)
    part = section(inspector)
    settle(qtbot, lambda: len(part.boxes) == 1 and part.boxes[0].isVisible())
    press(part, "Open file")
    settle(qtbot, lambda: len(opened) == 1)
    rig.forget(reply.memory_id)
    settle(qtbot, lambda: not opened[0].exists())


def test_what_is_called_a_picture_and_is_none_is_not_opened(
    qtbot: QtBot, context: Context, rig: Rig, inspector: Inspector, tmp_path: Path
) -> None:
    path = tmp_path / "holiday.png"
    path.write_bytes(b"\x7fELF" + bytes(range(256)) * 4)
    look(qtbot, inspector, context, attach(rig, path).memory_id)
    part = section(inspector)
    settle(qtbot, lambda: len(part.boxes) == 1 and part.boxes[0].isVisible())
    assert not part.boxes[0].open_button.isEnabled()
    assert "save a copy" in words_of(part)


def test_a_copy_is_saved_and_never_over_another_file(
    qtbot: QtBot, context: Context, rig: Rig, inspector: Inspector, tmp_path: Path
) -> None:
    look(qtbot, inspector, context, attach(rig, RULES).memory_id)
    part = section(inspector)
    settle(qtbot, lambda: len(part.boxes) == 1 and part.boxes[0].isVisible())
    heard = hear(context)
    part.boxes[0].save_to(tmp_path / "copy.pdf")
    settle(qtbot, lambda: heard.sentences == ["Saved as “copy.pdf”."])
    assert (tmp_path / "copy.pdf").read_bytes() == RULES.read_bytes()
    (tmp_path / "copy.pdf").write_bytes(b"mine")
    problems: list[str] = []
    context.tasks.problem.connect(lambda problem: problems.append(problem.sentence))
    part.boxes[0].save_to(tmp_path / "copy.pdf")
    settle(qtbot, lambda: bool(problems))
    assert (tmp_path / "copy.pdf").read_bytes() == b"mine"


def test_files_and_places_in_words() -> None:
    file = AttachedFile(
        id="f",
        memory_id="m",
        name="a.bin",
        media_type="application/x-odd",
        size=812,
        digest="00",
        has_thumbnail=False,
        attached_at=0,
    )
    assert describe_file(file) == "File · 812 bytes"

    def on(page: int | None) -> SourceRegion:
        return SourceRegion("f", "v", ViewMethod.PDF_TEXT, page, "m", 0, 1, 0)

    assert [describe_pages(found) for found in ([], [on(None)], [on(3)], [on(4), on(3)])] == [
        "", "", "Page 3", "Pages 3–4",
    ]  # fmt: skip


# ---- in lists


def test_the_pages_of_an_answer_are_found(qtbot: QtBot, context: Context, rig: Rig) -> None:
    reply = attach(rig, RULES)
    other = rig.store("The boat is called Heron.").memory_id
    pages = HitPages(context)
    with qtbot.waitSignal(pages.found):
        pages.request_pages([other, reply.memory_id])
    assert pages.words == {reply.memory_id: "Page 1"}


def test_the_library_marks_memories_with_files(qtbot: QtBot, context: Context, rig: Rig) -> None:
    reply = attach(rig, RULES)
    other = rig.store("The boat is called Heron.").memory_id
    table = MemoryTable(context)
    table.show_ids((reply.memory_id, other))
    table.load_lines(0, 1)
    settle(qtbot, lambda: table.count_files(reply.memory_id) == 1)
    spoken = [table.index(line, PLACE[TEXT]).data(Qt.ItemDataRole.AccessibleTextRole) for line in range(2)]
    assert spoken[0].startswith("1 file: ")
    assert not spoken[1].startswith("1 file")
    rig.engine.memories.erase([reply.memory_id], OWNER_ACTOR).result(30)


def test_the_library_shows_small_pictures_of_drawn_lines_alone(
    qtbot: QtBot, context: Context, rig: Rig, tmp_path: Path
) -> None:
    pictures = [attach(rig, png(tmp_path), caption=f"Wall {number}").memory_id for number in range(2)]
    rules = attach(rig, RULES).memory_id
    table = LibraryTable(context)
    qtbot.addWidget(table)
    table.resize(900, 400)
    table.show()
    table.memories.show_ids((pictures[0], rules))
    table.memories.load_lines(0, 1)
    settle(qtbot, lambda: table.pictures.picture_of(pictures[0]) is not None and table.pictures.reads == 2)
    assert table.pictures.picture_of(rules) is None
    cell = table.visualRect(table.memories.index(0, PLACE[TEXT]))
    shot = table.viewport().grab(cell).toImage()
    red = [at for at in range(shot.width()) if shot.pixelColor(at, shot.height() // 2).red() > 190
           and shot.pixelColor(at, shot.height() // 2).green() < 60]  # fmt: skip
    assert len(red) > context.theme.px(24) // 2
    table.viewport().grab()
    assert table.pictures.reads == 2  # drawn again, read once
    rig.lock()
    settle(qtbot, lambda: not table.pictures._kept)


def test_no_more_pictures_are_kept_than_allowed(
    qtbot: QtBot, context: Context, rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures_module, "MOST_KEPT", 1)
    ids = [attach(rig, png(tmp_path), caption=f"Wall {number}").memory_id for number in range(2)]
    host = QObject()
    pictures = RowPictures(context, host)
    for one in ids:
        settle(qtbot, lambda one=one: pictures.picture_of(one) is not None)  # type: ignore[misc]  # bound now
    assert list(pictures._kept) == [ids[1]]


CHAT = next((RULES.parents[2] / "whatsapp" / "input").glob("*crew*.txt"))


@pytest.mark.parametrize(
    ("names", "is_export"),
    [
        (("chat.txt",), True),
        (("letter.txt",), False),
        (("wall.png",), False),
        (("wall.png", "chat.txt"), True),
        (("notes.zip", "letter.txt"), True),
        (("letter.txt", "gone.html"), False),
    ],
)
def test_a_dropped_text_is_imported_where_it_is_an_export(
    qtbot: QtBot, context: Context, host: QWidget, tmp_path: Path, names: tuple[str, ...], is_export: bool
) -> None:
    (tmp_path / "chat.txt").write_bytes(CHAT.read_bytes())
    (tmp_path / "letter.txt").write_text("Dear Mara, the boat is sold.", encoding="utf-8")
    png(tmp_path)
    paths = [tmp_path / name for name in names]
    asked: list[tuple[str, list[Path]]] = []
    context.desk.import_paths.connect(lambda found: asked.append(("import", found)))
    context.desk.attach_paths.connect(lambda found: asked.append(("attach", found)))
    offer_dropped(context, paths, host)
    settle(qtbot, lambda: bool(asked))
    assert asked == [("import" if is_export else "attach", paths)]

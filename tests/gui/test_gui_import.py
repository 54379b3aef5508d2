"""The import dialog from choosing to removing, over the real importers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from archive_rig import PASSPHRASE, export_all
from engine_rig import Rig, talk
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from talk_rig import TALK, plain_reader
from window_rig import hear, settle

from core.types.lifecycle import DistilledTalk, JobType
from core.types.replies import Candidate, ImportFindings
from core.types.values import Kind
from ui.context import USUAL_PLACES, Context
from ui.imports.findings import FindingsPanel
from ui.imports.queue import ImportJob, ImportQueue, ProgressStep
from ui.imports.statements_offer import StatementsOffer
from ui.imports.wizard import ImportDialog
from ui.widgets.basics import find_usual_folder, make_column

FIXTURES = Path(__file__).parents[1] / "fixtures" / "imports"
CHATGPT = next((FIXTURES / "chatgpt").glob("20d*.zip"))
NOTES = FIXTURES / "obsidian" / "Harbour Notes"
HOSTILE = FIXTURES / "hostile"


@pytest.fixture
def opened(context: Context, window: QWidget) -> Iterator[_Opened]:
    """Opens dialogs as the main window does, and closes the last one."""
    made = _Opened(context, window)
    yield made
    if made.dialog is not None:
        made.dialog.close()


class _Opened:
    def __init__(self, context: Context, window: QWidget) -> None:
        self.context, self.window = context, window
        self.dialog: ImportDialog | None = None

    def __call__(self, *paths: Path) -> ImportDialog:
        if self.dialog is not None:
            self.dialog.close()
        made = ImportDialog(self.context, paths, self.window)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.destroyed.connect(self._gone)
        made.open()
        self.dialog = made
        return made

    def _gone(self) -> None:
        self.dialog = None


def read(qtbot: QtBot, dialog: ImportDialog) -> None:
    """Wait until everything was rehearsed."""
    settle(qtbot, lambda: dialog.reader.is_done and dialog.page is dialog.rehearse)


def finish(qtbot: QtBot, dialog: ImportDialog) -> None:
    """Press the main button and wait for what came of it."""
    assert dialog.main.isEnabled()
    dialog.main.click()
    settle(qtbot, lambda: dialog.page is dialog.outcome)


def column(dialog: ImportDialog, at: int) -> Sequence[str]:
    """A column of the conversations, as shown."""
    model = dialog.rehearse.content.model
    return [str(model.index(row, at).data()) for row in range(model.rowCount())]


def many(rig: Rig, count: int = 3_000) -> Path:
    """An export that takes a while."""
    return rig.write_rows(talk(count), "many.jsonl")


def test_an_archive_opens_with_its_passphrase(rig: Rig, qtbot: QtBot, opened: _Opened) -> None:
    rig.bring(talk(6))
    rig.bring([{"text": "The boat is blue.", "kind": "fact"}], name="kept.jsonl")
    path = export_all(rig, rig.folder / "all.loci")
    rig.unimport(str(rig.value("SELECT id FROM imports ORDER BY started_at, rowid LIMIT 1")))
    dialog = opened(path)
    read(qtbot, dialog)
    (source,) = dialog.reader.sources
    refused = dialog.rehearse.refused
    settle(qtbot, refused.secret.isVisible)
    assert not refused.open.isEnabled()
    refused.secret.setText("another passphrase")
    refused.open.click()
    settle(qtbot, lambda: source.problem is not None and source.problem.code == "E1006")
    assert refused.secret.isVisible()
    assert refused.secret.text() == ""
    refused.secret.setText(PASSPHRASE)
    QTest.keyClick(refused.secret, Qt.Key.Key_Return)
    settle(qtbot, lambda: source.report is not None)
    assert (source.new, dialog.main.text()) == (6, "Import 6 memories")
    assert dialog.rehearse.content._summary.text().startswith("Loci archive: 6 memories and 1 conversation")
    assert PASSPHRASE not in repr(source)
    finish(qtbot, dialog)
    assert dialog.outcome.title.text() == "6 memories imported."
    assert len(rig.texts()) == 7
    (brought,) = (one for one in rig.engine.history.list_imports().result(30) if one.id in dialog._ids)
    assert brought.memories == 6


def test_the_name_of_what_is_imported_stands_over_its_bar(context: Context, window: QWidget) -> None:
    step = ProgressStep(context)
    step.setParent(window)
    step.resize(760, 480)
    step._names = ["chats.json"]
    step._on_job_began(0)
    step.show()
    step.grab()
    assert abs(step._title.geometry().center().x() - step.bar.geometry().center().x()) <= 1


def test_files_are_looked_for_where_a_person_keeps_them(
    opened: _Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.imports.sources.find_usual_folder", lambda: str(tmp_path))
    dialog = opened()
    dialog.choose._ask_file()
    asking = dialog.choose.findChild(QFileDialog)
    assert asking is not None
    assert Path(asking.directory().absolutePath()) == tmp_path
    asking.close()
    assert Path(find_usual_folder()).is_dir()


def test_two_exports_from_looking_to_removing(rig: Rig, qtbot: QtBot, opened: _Opened, context: Context) -> None:
    before = rig.dump()
    dialog = opened(CHATGPT, NOTES)
    assert dialog.back.text() == "Stop"
    assert not dialog.main.isEnabled()
    read(qtbot, dialog)
    first, second = dialog.reader.sources
    assert rig.dump() == before, "a rehearsal stores nothing"
    assert (first.new, second.new) == (43, 14)
    assert dialog.main.text() == "Import 57 memories"
    content = dialog.rehearse.content
    assert content._summary.text() == (
        "ChatGPT export: 9 conversations with 41 messages, 8 Mar 2025 – 21 Oct 2025."
        " Contains 21 messages of yours and 20 of assistants."
    )
    assert any(title.startswith("“") for title in column(dialog, 0)), "one without a title is told by its first words"
    finish(qtbot, dialog)
    assert dialog.outcome.title.text() == "57 memories imported."
    assert len(rig.rows("SELECT id FROM imports WHERE state = 'done'")) == 2
    wishes: list[str] = []
    context.desk.search.connect(wishes.append)
    ids = [row[0] for row in rig.rows("SELECT id FROM imports ORDER BY started_at, rowid")]
    dialog.outcome.taken.click()
    settle(qtbot, lambda: dialog.outcome.taken.isHidden())
    assert dialog.outcome.title.text() == "The import was removed."
    assert rig.texts() == []
    assert {row[0] for row in rig.rows("SELECT state FROM imports")} == {"undone"}
    assert len(ids) == 2
    assert wishes == []


def test_what_was_imported_can_be_looked_at(qtbot: QtBot, opened: _Opened, context: Context, rig: Rig) -> None:
    wishes: list[tuple[str, ...]] = []
    context.desk.search.connect(lambda typed: wishes.append(("search", typed)))
    context.desk.go.connect(lambda page, wish: wishes.append((page, wish)))
    dialog = opened(NOTES)
    read(qtbot, dialog)
    finish(qtbot, dialog)
    import_id = rig.value("SELECT id FROM imports")
    dialog.other.click()
    assert wishes == [("search", f"import:{import_id}")]
    settle(qtbot, lambda: opened.dialog is None)
    dialog = opened(CHATGPT)
    read(qtbot, dialog)
    finish(qtbot, dialog)
    dialog.main.click()
    assert wishes[1:] == [("palace", "")]


def test_statements_are_offered_with_their_number_and_made_on_a_press(
    qtbot: QtBot, opened: _Opened, rig: Rig, tmp_path: Path
) -> None:
    rig.opened.talk = plain_reader()
    path = tmp_path / "talk.jsonl"
    rows = [{"text": text, "author": who, "session": "s1"} for who, text in TALK]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    dialog = opened(path)
    read(qtbot, dialog)
    finish(qtbot, dialog)
    offer = dialog.outcome.statements
    settle(qtbot, lambda: "can be made" in offer.sentence.text())
    assert offer.sentence.text() == (
        "About 2 statements can be made from what was said: short facts, each with its source. "
        "3 messages are small talk."
    )
    assert rig.texts(kind=Kind.FACT) == [], "nothing is made before the press"
    offer.make.click()
    settle(qtbot, lambda: "Ctrl+Z" in offer.sentence.text())
    assert offer.sentence.text().startswith("2 statements were made; 3 messages are small talk.")
    assert len(rig.texts(kind=Kind.FACT)) == 2
    assert not offer.make.isVisible()


def test_only_the_chosen_conversations_come_in_and_the_rest_later(qtbot: QtBot, opened: _Opened, rig: Rig) -> None:
    dialog = opened(CHATGPT)
    read(qtbot, dialog)
    content = dialog.rehearse.content
    content.filter.setText("celadon")
    assert column(dialog, 0) == ["Celadon glaze for the tall vase ✨"]
    content.all.click()
    content.filter.setText("")
    content.none.click()
    assert dialog.main.text() == "Nothing new to import"
    assert not dialog.main.isEnabled()
    content.table.selectRow(0)
    QTest.keyClick(content.table, Qt.Key.Key_Space)
    assert dialog.main.text() == "Import 6 memories"
    finish(qtbot, dialog)
    assert rig.value("SELECT count(*) FROM memories") == 6
    dialog.back.click()
    assert dialog.page is dialog.choose
    dialog.rehearse_paths([CHATGPT])
    read(qtbot, dialog)
    assert dialog.main.text() == "Import 37 memories"
    assert column(dialog, 1)[0] == "0", "the column of what is new appears where it tells something"
    assert not content.table.isColumnHidden(1)


def test_all_of_it_known_says_so(qtbot: QtBot, opened: _Opened, rig: Rig) -> None:
    rig.bring(NOTES)
    dialog = opened(NOTES)
    read(qtbot, dialog)
    assert dialog.main.text() == "Nothing new to import"
    assert not dialog.main.isEnabled()


def test_what_is_left_out_is_told_with_its_reason(qtbot: QtBot, opened: _Opened) -> None:
    dialog = opened(CHATGPT)
    read(qtbot, dialog)
    content = dialog.rehearse.content
    content.show_part("left")
    said = [words.text() for words in content._left.findChildren(QWidget) if hasattr(words, "text")]
    assert "Messages on abandoned branches" in said
    assert "Edited or answered again; only the last version comes in." in said


def test_problems_are_listed_by_line(qtbot: QtBot, opened: _Opened) -> None:
    dialog = opened(FIXTURES / "generic" / "lighthouse-notes.jsonl")
    read(qtbot, dialog)
    table = dialog.rehearse.content.problems
    where = [table.item(row, 0).text() for row in range(table.rowCount())]  # type: ignore[union-attr]
    assert "lighthouse-notes.jsonl:4" in where


def test_a_refused_file_says_why_and_the_others_go_on(qtbot: QtBot, opened: _Opened, rig: Rig) -> None:
    dialog = opened(HOSTILE / "truncated.zip", FIXTURES / "mem0" / "list.json")
    read(qtbot, dialog)
    refused = dialog.rehearse.refused
    assert refused.isVisible()
    assert "damaged or cut-off" in refused._sentence.text()
    assert "mem0" in refused._hint.text()
    assert dialog.main.text() == "Import 7 memories"
    finish(qtbot, dialog)
    assert rig.value("SELECT count(*) FROM imports") == 1


def test_an_unknown_file_can_be_read_as_what_the_person_says(qtbot: QtBot, opened: _Opened, tmp_path: Path) -> None:
    odd = tmp_path / "notes.odd"
    odd.write_bytes(bytes(range(256)))
    dialog = opened(odd)
    read(qtbot, dialog)
    refused = dialog.rehearse.refused
    assert refused.isVisible()
    assert dialog.main.isHidden()
    assert "--format" not in refused._sentence.text(), "nobody types options here"
    refused._form.chosen.emit("jsonl")
    read(qtbot, dialog)
    assert dialog.reader.sources[0].form == "jsonl"
    dialog.back.click()
    assert dialog.page is dialog.choose


def test_stopping_takes_everything_back(qtbot: QtBot, opened: _Opened, rig: Rig, context: Context) -> None:
    heard, before = hear(context), rig.dump()
    dialog = opened(NOTES, many(rig))
    read(qtbot, dialog)
    queue_at: list[int] = []
    dialog.main.click()
    queue = dialog.queue
    assert queue is not None
    queue.began.connect(queue_at.append)
    settle(qtbot, lambda: queue_at == [1])  # the first is stored, the second on its way
    assert dialog.back.text() == "Stop and undo"
    assert dialog.focusWidget() is dialog.other, "Enter that is pressed twice takes nothing back"
    dialog.back.click()
    assert not dialog.back.isEnabled()
    settle(qtbot, lambda: dialog.queue is None)
    assert dialog.page is dialog.rehearse
    assert heard.sentences == ["The import was stopped. Nothing was kept."]
    rig.settle()
    after = rig.dump()
    assert after["memories"] == before["memories"]
    assert rig.texts() == []


def test_an_import_goes_on_when_the_dialog_closes(qtbot: QtBot, opened: _Opened, rig: Rig, context: Context) -> None:
    heard = hear(context)
    dialog = opened(many(rig, 400))
    read(qtbot, dialog)
    dialog.main.click()
    dialog.other.click()
    assert heard.sentences == ["The import continues. The status bar shows its progress."]
    settle(qtbot, lambda: len(heard.sentences) == 2)
    assert heard.sentences[1] == "400 memories imported."
    settle(qtbot, lambda: context.desk.findChild(ImportQueue) is None)


def test_locking_ends_it_without_a_word(qtbot: QtBot, opened: _Opened, rig: Rig, context: Context) -> None:
    heard = hear(context)
    queue = ImportQueue(context, [ImportJob(many(rig), "many")], None)
    queue.is_watched = False
    began: list[int] = []
    queue.began.connect(began.append)
    queue.start_first()
    rig.lock()
    settle(qtbot, lambda: context.desk.findChild(ImportQueue) is None)
    assert (heard.sentences, heard.problems) == ([], [])


def test_another_space_is_another_question(qtbot: QtBot, opened: _Opened, rig: Rig) -> None:
    rig.bring(NOTES, "harbour")
    dialog = opened(NOTES)
    settle(qtbot, lambda: dialog.rehearse.space.count() == 3)
    read(qtbot, dialog)
    assert dialog.main.text() == "Import 14 memories"
    dialog.rehearse.space.setCurrentText("harbour")
    settle(qtbot, lambda: dialog.main.text() == "Nothing new to import")
    last = dialog.rehearse.space.count() - 1
    dialog.rehearse.space.setCurrentIndex(last)
    dialog.rehearse.space.activated.emit(last)
    assert (dialog.rehearse.space.currentText(), dialog.rehearse.space.space) == ("", ""), "asks for the name"
    dialog.rehearse.space.setCurrentText("x" * 500)
    settle(qtbot, lambda: dialog.rehearse.refused.isVisible())
    dialog.rehearse.space.setCurrentText("jetty")
    settle(qtbot, lambda: dialog.main.isEnabled())
    finish(qtbot, dialog)
    whole = "m.part_index IS NULL OR m.part_index = 0"
    held = f"SELECT count(*) FROM memories m JOIN spaces s ON s.id = m.space_id WHERE s.name = 'jetty' AND ({whole})"  # noqa: S608 - a constant
    assert rig.value(held) == 14


def test_exports_are_looked_for_where_they_usually_lie(
    qtbot: QtBot, opened: _Opened, rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = tmp_path / "person"
    (person / "Downloads").mkdir(parents=True)
    shutil.copy(CHATGPT, person / "Downloads" / "chats.zip")
    shutil.copytree(NOTES, person / "Documents" / "Harbour Notes")
    monkeypatch.setattr(rig.engine.imports, "_person_home", person)
    dialog = opened(USUAL_PLACES)
    assert dialog.main.isHidden()
    settle(qtbot, lambda: dialog.choose.model.rowCount() == 2)
    assert dialog.main.text() == "Preview 2"
    assert dialog.choose.table.hasFocus() or not dialog.isActiveWindow()
    row = next(n for n, line in enumerate(dialog.choose.model.lines) if line.key.endswith("Harbour Notes"))
    dialog.choose.model.toggle_ticks([row])
    assert dialog.main.text() == "Preview"
    dialog.main.click()
    read(qtbot, dialog)
    assert [source.name for source in dialog.reader.sources] == ["chats.zip"]


def test_finding_nothing_says_where_it_looked(qtbot: QtBot, opened: _Opened) -> None:
    dialog = opened()
    dialog.choose.finder.click()
    settle(qtbot, lambda: dialog.choose.finder.isEnabled())
    assert dialog.choose._found.text().startswith("No exports were found in Downloads")
    assert dialog.choose.table.isHidden()
    assert dialog.main.isHidden()


def test_a_hostile_name_stands_as_plain_text(qtbot: QtBot, opened: _Opened) -> None:
    dialog = opened()
    name = "/x/<b>bold</b>\u202egpj.zip"
    dialog.choose.show_found([Candidate(name, "chatgpt", "ChatGPT export", 10, 0, 1)])
    shown = dialog.choose.model.index(0, 0).data()
    assert shown == "<b>bold</b>‹U+202E›gpj.zip".rpartition("/")[2] or "‹U+202E›" in shown


def test_titles_of_an_export_stand_as_plain_text(qtbot: QtBot, opened: _Opened, tmp_path: Path) -> None:
    rows = [{"text": f"Note {n}", "author": "user", "session": "<img src=x>\u202e", "ref": str(n)} for n in range(2)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    dialog = opened(path)
    read(qtbot, dialog)
    assert all("\u202e" not in title for title in column(dialog, 0))


def test_what_is_dropped_is_looked_into(qtbot: QtBot, opened: _Opened) -> None:
    dialog = opened()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(NOTES))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), copy, data, left, none)
    dialog.dragEnterEvent(enter)
    assert enter.isAccepted()
    assert dialog.choose._drop.property("over") == "true"
    dialog.dropEvent(QDropEvent(QPointF(5, 5), copy, data, left, none))
    assert dialog.choose._drop.property("over") == "false"
    read(qtbot, dialog)
    assert dialog.reader.new == 14


def test_an_export_that_is_a_text_may_be_attached_instead(
    qtbot: QtBot, opened: _Opened, context: Context, tmp_path: Path
) -> None:
    wishes: list[list[Path]] = []
    context.desk.attach_paths.connect(wishes.append)
    chats = sorted((FIXTURES / "whatsapp" / "input").glob("*.txt"))
    dialog = opened(*chats)
    read(qtbot, dialog)
    assert dialog.other.text() == "Attach as 2 files instead"
    dialog = opened(chats[0])
    read(qtbot, dialog)
    assert (dialog.other.text(), dialog.main.isEnabled()) == ("Attach as file instead", True)
    dialog.other.click()
    assert wishes == [[chats[0]]]
    settle(qtbot, lambda: opened.dialog is None)
    dialog = opened(CHATGPT)
    read(qtbot, dialog)
    assert dialog.other.isHidden()


def test_esc_closes_it_and_it_can_be_opened_again_and_again(qtbot: QtBot, opened: _Opened, context: Context) -> None:
    for _ in range(4):
        dialog = opened(CHATGPT, NOTES)
        settle(qtbot, lambda: dialog.reader.sources[0].report is not None)  # noqa: B023
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        settle(qtbot, lambda: opened.dialog is None)
    settle(qtbot, lambda: not context.tasks.running)


def test_what_was_found_is_shown_as_names_are_read(rig: Rig, qtbot: QtBot, opened: _Opened, context: Context) -> None:
    wishes: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, wish: wishes.append((page, wish)))
    rows = [
        {"text": "Nora's bakery in Lisbon opens at six.", "author": "Mara", "session": "s1", "role": "user"},
        {"text": "<b>Nora</b> moved to Lisbon.", "author": "Tom", "session": "s1", "role": "assistant"},
    ]
    dialog = opened(rig.write_rows(rows, "talk.jsonl"))
    read(qtbot, dialog)
    finish(qtbot, dialog)
    findings = dialog.outcome.findings
    settle(qtbot, lambda: findings.found is not None)
    assert findings.found is not None
    assert (findings.found.unread, findings.found.readable) == (2, 2)
    assert findings.reading.text() == "Reading names, 0 of 2"
    assert not findings.reading.isHidden()
    rig.engine.jobs.run(JobType.ENRICH).result(60)
    settle(qtbot, lambda: findings.found is not None and not findings.found.unread and bool(findings.found.names))
    words = [label.text() for label in findings.findChildren(QLabel)]
    assert "1 place" in words
    assert "Lisbon" in words
    assert findings._wait.isHidden()
    places = next(one for one in findings.findChildren(QPushButton) if one.accessibleName() == "Show: 1 place")
    messages: list[tuple[str, object]] = []
    context.desk.message_asked.connect(lambda _, action, run, __: messages.append((action, run)))
    places.click()
    assert wishes == [("entities", "type:place")]
    # The result is put aside, not closed: it can be come back to.
    assert dialog.is_put_aside
    ((action, back),) = messages
    assert action == "Back to the result"
    assert callable(back)
    back()
    assert (dialog.isVisible(), dialog.is_put_aside) == (True, False)
    places.click()
    dialog.close()
    settle(qtbot, lambda: opened.dialog is None)
    _, late = messages[-1]
    assert callable(late)
    late()  # what is offered still does nothing once it is closed
    assert opened.dialog is None


def test_names_that_wait_for_other_work_are_said_to_wait(context: Context, qtbot: QtBot) -> None:
    panel = FindingsPanel(context)
    qtbot.addWidget(panel)
    for waits, words in (("", "Reading names, 3 of 9"), ("turn", "Names wait for other work to end, 3 of 9 read")):
        panel._show_findings(ImportFindings({}, {}, 0, 0, 0, 0, 6, 9, waits))
        assert panel.reading.text() == words
    panel._again.stop()


def test_the_statements_of_an_import_are_shown_in_the_library(context: Context, qtbot: QtBot) -> None:
    panel = FindingsPanel(context)
    qtbot.addWidget(panel)
    asked: list[tuple[str, str]] = []
    panel.asked.connect(lambda page, target: asked.append((page, target)))
    panel._ids = ("one", "two")
    panel._show_findings(ImportFindings({}, {}, 63, 0, 0, 0, 0, 9))
    shown = next(one for one in panel.findChildren(QPushButton) if one.accessibleName() == "Show: 63 statements")
    shown.click()
    assert asked == [("library", "import:one,two kind:fact")]


def test_statements_are_offered_only_where_some_can_be_made(context: Context, qtbot: QtBot) -> None:
    host = QWidget()
    offer = StatementsOffer(context)
    make_column(host, offer)
    qtbot.addWidget(host)
    host.show()
    for small, is_shown in (((), False), (("one",), True)):
        offer._ids = ["import"]
        offer._reset_counts()
        offer.show()
        offer._on_previewed(DistilledTalk((), small, {}))
        assert offer.isVisible() is is_shown


def test_making_statements_leaves_the_focus_on_its_line_and_not_on_the_removal(
    context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = QWidget()
    offer, remove = StatementsOffer(context), QPushButton("Remove")
    make_column(host, offer, remove)
    qtbot.addWidget(host)
    host.show()
    offer.show()
    monkeypatch.setattr(offer, "_make_next", lambda: None)
    offer.make.setFocus()
    offer.make.click()
    assert host.focusWidget() is offer.sentence


def test_one_export_that_was_found_is_looked_into_at_once_and_of_several_one_chooses(
    qtbot: QtBot, opened: _Opened, tmp_path: Path
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({"text": "The weir closes at dusk.", "ref": "1"}) + "\n", "utf-8")
    dialog = opened()
    found = [Candidate(str(path), "jsonl", "JSONL", 1, 10, 1), Candidate(str(tmp_path / "b"), "text", "Text", 1, 10, 1)]
    pages: list[QWidget | None] = []
    for some in (found, found[:1]):
        dialog.choose.show_found(some)
        pages.append(dialog.page)
    assert pages == [dialog.choose, dialog.rehearse]
    settle(qtbot, lambda: dialog.reader.is_done)
    assert dialog.reader.new == 1


def dropped_folder(folder: Path) -> Path:
    """Three sources one program each, one file nobody knows, and a broken archive."""
    made = folder / "Downloads"
    made.mkdir()
    shutil.copy(CHATGPT, made)
    (made / "plan.md").write_text("<b>Buy</b> rope for the stern line before Friday.", encoding="utf-8")
    (made / "plan2.md").write_text("Short.", encoding="utf-8")
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Ana Quay\nEND:VCARD\n"
    (made / "card.vcf").write_text(card, encoding="utf-8")
    (made / "holiday.raw").write_bytes(b"\x00\x01\x02\x03")
    (made / "broken.zip").write_bytes(b"PK\x03\x04 nothing")
    return made


def test_one_drop_lists_its_sources_and_each_can_be_left_out(
    rig: Rig, qtbot: QtBot, opened: _Opened, tmp_path: Path
) -> None:
    dialog = opened(dropped_folder(tmp_path))
    read(qtbot, dialog)
    content, (source,) = dialog.rehearse.content, dialog.reader.sources
    assert source.report is not None
    listed = content.sources.model
    assert [row.cells[:3] for row in listed.lines] == [
        (CHATGPT.name, "ChatGPT export", "43"),
        ("card.vcf", "Address book", "1"),
        ("*.md", "Markdown notes", "2"),
    ]
    assert dialog.main.text() == "Import 46 memories"
    content.sources.table.selectRow(2)
    assert [label.whole for label in content.sources.samples[:2]] == [
        "“<b>Buy</b> rope for the stern line before Friday.”",
        "“Short.”",
    ]
    assert content.sources.samples[0].textFormat() is Qt.TextFormat.PlainText
    table = content.problems.model()
    problems = [table.index(row, 0).data() for row in range(content.problems.rowCount())]
    assert problems == ["broken.zip", "holiday.raw"]
    listed.toggle_ticks([0])
    assert source.without == frozenset({CHATGPT.name})
    assert (source.new, dialog.main.text()) == (3, "Import 3 memories")
    # Nothing of a conversation is chosen either; what is outside of any stays.
    source.only = frozenset({""})
    assert source.new == 3
    source.only = None
    finish(qtbot, dialog)
    assert len(rig.texts()) == 3
    assert rig.rows("SELECT count(*) FROM imports") == [(1,)]
    dialog.outcome.taken.click()
    settle(qtbot, lambda: rig.texts() == [])

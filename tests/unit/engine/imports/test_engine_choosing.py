"""A rehearsal's plan by conversation, importing only some of them, and finding exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archive_rig import PASSPHRASE, export_all
from engine_rig import START_MS, HandClock, Rig, WordEmbedder, error_of, facts, new_home, talk
from importer_checks import zip_bytes

from core.config.options import Options
from core.engine.facade import Engine, RootKey, Setup
from core.errors import Code, UserError
from core.importers import plan
from core.intake.store.import_batch import ImportRun
from core.ipc.methods.memory_json import import_json
from core.types.replies import ConversationPlan, ImportReport
from core.types.requests import Choice
from core.types.values import OWNER_ACTOR

ROWS = [*talk(4, "first"), *facts(3), *talk(5, "second"), *talk(3, "third")]


def rehearse(rig: Rig, path: Path) -> ImportReport:
    return rig.engine.imports.rehearse(path, None, OWNER_ACTOR).result(30)


def key_of(rig: Rig, path: Path, session: str) -> str:
    found = [row.key for row in rehearse(rig, path).plan if session in row.key or session in row.title]
    assert len(found) == 1, found
    return found[0]


def choose(rig: Rig, path: Path, *keys: str) -> ImportReport:
    return rig.engine.imports.run(path, None, None, OWNER_ACTOR, choice=Choice(frozenset(keys))).result(60)


def chatgpt(folder: Path) -> Path:
    def node(key: str, parent: str | None, children: list[str], text: str | None, role: str = "user") -> dict[str, Any]:
        message = None
        if text is not None:
            message = {
                "id": key, "author": {"role": role}, "create_time": 1_700_000_000.0 + len(key),
                "content": {"content_type": "text", "parts": [text]},
            }  # fmt: skip
        return {"id": key, "message": message, "parent": parent, "children": children}

    mapping = {
        "r": node("r", None, ["q"], None),
        "q": node("q", "r", ["a1", "a22"], "Which kettle?"),
        "a1": node("a1", "q", [], "The old one.", "assistant"),
        "a22": node("a22", "q", [], "The blue one.", "assistant"),
    }
    talk = {"id": "c-1", "title": "Kettles", "create_time": 1_700_000_000.0, "current_node": "a22", "mapping": mapping}
    path = folder / "conversations.json"
    path.write_text(json.dumps([talk]), encoding="utf-8")
    return path


def test_a_rehearsal_lists_conversations_in_the_order_of_the_file(rig: Rig) -> None:
    path = rig.write_rows(ROWS)
    report = rehearse(rig, path)
    assert [(row.messages, row.new) for row in report.plan] == [(4, 4), (3, 3), (5, 5), (3, 3)]
    assert [row.key == "" for row in report.plan] == [False, True, False, False]
    assert report.plan[0].earliest == 1_709_287_200_000
    assert report.plan[1].earliest is None
    assert report.plan_more == 0
    rig.bring([*talk(2, "first")], name="rows.jsonl")
    rig.write_rows(ROWS)
    first = rehearse(rig, path).plan[0]
    assert (first.messages, first.new) == (4, 2)


def test_the_plan_is_no_part_of_the_commands_json(rig: Rig) -> None:
    report = rehearse(rig, rig.write_rows(ROWS))
    assert report.plan
    assert set(import_json(report)) == {
        "import_id", "format", "conversations", "messages", "stored", "proposals", "skipped", "errors", "earliest",
        "latest",
    }  # fmt: skip
    assert rig.bring(ROWS).plan == ()


def test_answers_that_were_written_anew_are_counted(rig: Rig, tmp_path: Path) -> None:
    report = rehearse(rig, chatgpt(tmp_path))
    (row,) = report.plan
    expected = ConversationPlan("c-1", "Kettles", 2, 2, 1, row.earliest, row.latest, opening="Which kettle?")
    assert row == expected
    assert report.plan[0].earliest is not None


def test_a_plan_is_capped_and_says_how_many_there_are_more(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PLANNED", 2)
    rows = [*talk(1, "a"), *talk(1, "b"), *talk(2, "c"), *talk(1, "d"), *facts(1)]
    report = rehearse(rig, rig.write_rows(rows))
    assert [row.key == "" for row in report.plan] == [False, False, True]
    assert report.plan_more == 2


def test_only_what_was_chosen_comes_and_the_rest_can_come_later(rig: Rig) -> None:
    path = rig.write_rows(ROWS)
    report = choose(rig, path, key_of(rig, path, "second"))
    assert (report.stored, report.conversations, report.skipped) == (5, 1, {"not_chosen": 10})
    assert report.messages == {"user": 3, "assistant": 2, "other": 0}
    assert all("second" in text for text in rig.texts())
    assert rig.rows("SELECT count(*) FROM settings") == [(0,)], "the choice is forgotten with the import's end"

    rest = rig.bring(path)
    assert (rest.stored, rest.skipped["known"]) == (10, 5)
    rig.unimport(report.import_id)
    assert sum("second" in text for text in rig.texts()) == 0
    assert len(rig.texts()) == 10


def test_what_stands_outside_conversations_is_chosen_by_an_empty_key(rig: Rig) -> None:
    report = choose(rig, rig.write_rows(ROWS), "")
    assert (report.stored, report.conversations) == (3, 0)
    assert rig.texts() == [row["text"] for row in facts(3)]


@pytest.mark.parametrize("keys", [(), ("no such conversation",)])
def test_choosing_nothing_is_refused(rig: Rig, keys: tuple[str, ...]) -> None:
    path = rig.write_rows(ROWS)
    future = rig.engine.imports.run(path, None, None, OWNER_ACTOR, choice=Choice(frozenset(keys)))
    assert error_of(future).code is Code.INVALID_INPUT
    assert rig.rows("SELECT count(*) FROM imports") == [(0,)]


@pytest.mark.parametrize("position", [1, 4, 7])
def test_an_interrupted_choice_is_finished_as_chosen(rig: Rig, position: int) -> None:
    path = rig.write_rows(ROWS)
    chosen = frozenset({key_of(rig, path, "second"), key_of(rig, path, "third")})
    rig.opened.options = Options(import_batch=2)
    writing = rig.opened.search.import_writer.store_batch

    def batch(tx: Any, run: ImportRun, items: Any, at: int, *rest: Any) -> None:
        writing(tx, run, items, at, *rest)
        if at >= position:
            tx.after_commit(rig.opened.storage.closing.set)

    object.__setattr__(rig.opened.search.import_writer, "store_batch", batch)
    assert (
        error_of(rig.engine.imports.run(path, None, None, OWNER_ACTOR, choice=Choice(chosen))).code is Code.VAULT_LOCKED
    )
    rig.lock()
    rig.unlock()
    assert rig.engine.imports.finish_interrupted().result(30) == 1
    assert sorted(rig.texts()) == sorted(row["text"] for row in ROWS if row.get("session") in ("second", "third"))
    ((state, at, total, summary),) = rig.rows("SELECT state, position, total, summary FROM imports")
    assert (state, at, total) == ("done", 8, 8)
    assert json.loads(summary) == {"stored": 8, "proposals": 0, "skipped": {"not_chosen": 7, "duplicate_text": 0}}
    assert rig.rows("SELECT count(*) FROM settings WHERE key LIKE 'import_choice:%'") == [(0,)]


def test_a_choice_whose_file_is_gone_leaves_nothing(rig: Rig) -> None:
    path = rig.write_rows(ROWS)
    rig.opened.options = Options(import_batch=2)
    chosen = frozenset({key_of(rig, path, "second")})
    writing = rig.opened.search.import_writer.store_batch

    def batch(*given: Any) -> None:
        writing(*given)
        given[0].after_commit(rig.opened.storage.closing.set)

    object.__setattr__(rig.opened.search.import_writer, "store_batch", batch)
    error_of(rig.engine.imports.run(path, None, None, OWNER_ACTOR, choice=Choice(chosen)))
    rig.lock()
    path.unlink()
    rig.unlock()
    rig.engine.imports.finish_interrupted().result(30)
    assert rig.texts(None) == []
    assert rig.rows("SELECT count(*) FROM settings WHERE key LIKE 'import_choice:%'") == [(0,)]


def test_exports_are_found_in_named_places_and_in_the_persons_home(rig: Rig, tmp_path: Path) -> None:
    place = tmp_path / "person" / "Downloads"
    place.mkdir(parents=True)
    path = chatgpt(place)
    (found,) = rig.engine.imports.find_candidates([place]).result(30)
    assert (found.path, found.format, found.label, found.count) == (str(path), "chatgpt", "ChatGPT export", 1)
    assert rig.engine.imports.find_candidates().result(30) == (), "no home was given"
    assert rig.engine.imports.find_candidates([place], lambda: True).result(30) == ()

    home, root = new_home(tmp_path / "second")
    setup = Setup(home, HandClock(START_MS), WordEmbedder(), background=False, person_home=tmp_path / "person")
    engine = Engine(setup)
    try:
        engine.unlock(RootKey(root, engine.vault_id))
        assert [one.path for one in engine.imports.find_candidates().result(30)] == [str(path)]
    finally:
        engine.close()


def drop(folder: Path) -> Path:
    """A folder with a chat, a calendar and something nobody knows, and the calendar in an archive in an archive."""
    event = "BEGIN:VEVENT\nSUMMARY:Low tide at the quay\nDTSTART:20240301T090000Z\nEND:VEVENT\n"
    event = f"BEGIN:VCALENDAR\n{event}END:VCALENDAR\n"
    dropped = folder / "Downloads"
    dropped.mkdir()
    (dropped / "_chat.txt").write_text("25/2/2024, 9:41 - Ana: The mooring is paid for.\n", encoding="utf-8")
    (dropped / "outer.zip").write_bytes(zip_bytes({"deep/inner.zip": zip_bytes({"tides.ics": event})}))
    (dropped / "photo.raw").write_bytes(b"\x00\x01\x02")
    return dropped


def test_a_rehearsal_names_every_source_with_how_it_begins(rig: Rig, tmp_path: Path) -> None:
    report = rehearse(rig, drop(tmp_path))
    told = [(one.name, one.format, one.records, one.new, one.samples) for one in report.sources]
    assert told == [
        ("_chat.txt", "whatsapp", 1, 1, ("The mooring is paid for.",)),
        ("outer.zip/deep/inner.zip", "calendar", 1, 1, ("Low tide at the quay 2024-03-01 09:00",)),
        ("photo.raw", "", 0, 0, ()),
    ]
    assert report.sources[2].left_out == 1
    assert {row.source for row in report.plan if row.key} == {"_chat.txt"}


@pytest.mark.parametrize(
    ("choice", "want"),
    [
        (Choice(None, frozenset({"calendar"})), ["Low tide"]),
        (Choice(None, frozenset({"_chat.txt"})), ["The mooring"]),
        (Choice(None, None, frozenset({"outer.zip/deep/inner.zip"})), ["The mooring"]),
        (Choice(None, None, frozenset({"whatsapp"})), ["Low tide"]),
    ],
)
def test_a_source_can_be_chosen_or_left_out_and_all_is_one_undo(
    rig: Rig, tmp_path: Path, choice: Choice, want: list[str]
) -> None:
    path = drop(tmp_path)
    report = rig.engine.imports.run(path, None, None, OWNER_ACTOR, choice=choice).result(60)
    assert [text[: len(one)] for text, one in zip(rig.texts(), want, strict=True)] == want
    assert report.skipped["not_chosen"] == 1
    rest = rig.engine.imports.run(path, None, None, OWNER_ACTOR).result(60)
    assert (rest.stored, rest.skipped["known"]) == (1, 1)
    rig.unimport(rest.import_id)
    rig.unimport(report.import_id)
    assert rig.texts() == []


@pytest.mark.parametrize("choice", [Choice(None, frozenset({"no such"})), Choice(None, None, frozenset({"no such"}))])
def test_a_source_that_is_not_there_is_told(rig: Rig, tmp_path: Path, choice: Choice) -> None:
    future = rig.engine.imports.run(drop(tmp_path), None, None, OWNER_ACTOR, choice=choice)
    assert error_of(future).code is Code.INVALID_INPUT
    assert rig.texts() == []


def test_an_archive_has_no_sources_to_choose_from(rig: Rig, tmp_path: Path) -> None:
    rig.bring(facts(2))
    path = export_all(rig, tmp_path / "all.loci")
    with pytest.raises(UserError) as error:
        rig.engine.imports.run(
            path, None, None, OWNER_ACTOR, choice=Choice(None, frozenset({"mail"})), passphrase=PASSPHRASE
        ).result(60)
    assert error.value.code is Code.INVALID_INPUT


@pytest.mark.parametrize(
    "choice", [Choice(), Choice(frozenset({"a", ""})), Choice(None, frozenset({"x"}), frozenset({"y"}))]
)
def test_a_choice_is_kept_as_it_was(choice: Choice) -> None:
    assert choice.is_all or Choice.from_json(json.loads(json.dumps(choice.to_json()))) == choice


def test_an_interrupted_drop_is_finished_without_what_was_left_out(rig: Rig, tmp_path: Path) -> None:
    path = drop(tmp_path)
    (path / "rows.jsonl").write_text('{"text": "Not chosen."}\n', encoding="utf-8")
    rig.opened.options = Options(import_batch=1)
    writing = rig.opened.search.import_writer.store_batch

    def batch(*given: Any) -> None:
        writing(*given)
        given[0].after_commit(rig.opened.storage.closing.set)

    object.__setattr__(rig.opened.search.import_writer, "store_batch", batch)
    choice = Choice(None, None, frozenset({"rows.jsonl"}))
    assert error_of(rig.engine.imports.run(path, None, None, OWNER_ACTOR, choice=choice)).code is Code.VAULT_LOCKED
    rig.lock()
    rig.unlock()
    assert rig.engine.imports.finish_interrupted().result(30) == 1
    assert sorted(text[:8] for text in rig.texts()) == ["Low tide", "The moor"]
    ((state, at, total),) = rig.rows("SELECT state, position, total FROM imports")
    assert (state, at, total) == ("done", 2, 2)


def test_exports_are_told_from_texts_and_pages_by_their_content(rig: Rig, tmp_path: Path) -> None:
    fixtures = Path(__file__).parents[3] / "fixtures" / "imports"
    chat = next((fixtures / "whatsapp" / "input").glob("*crew*.txt"))
    exports = [chat, fixtures / "kindle/input/My Clippings.txt", fixtures / "bookmarks/input/bookmarks.html"]
    (letter := tmp_path / "letter.txt").write_text("Dear Mara,\n\nthe boat is sold.\n", encoding="utf-8")
    (outline := tmp_path / "outline.txt").write_text("#+TITLE: Boat\n* Sails\n* Hull\n", encoding="utf-8")
    (empty := tmp_path / "empty.txt").touch()
    others = [letter, outline, empty, fixtures / "html/input/page.html", tmp_path / "gone.txt"]
    asked = [path for pair in zip(others, [*exports, *exports], strict=False) for path in pair]
    found = rig.engine.imports.find_exports(asked).result(30)
    assert found == tuple(path for path in asked if path in exports)
    assert rig.engine.imports.find_exports(others).result(30) == ()

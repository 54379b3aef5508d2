"""The library's group: futures, events, the file an export writes, and what locking does to all of it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, differences, error_of, rig_at, talk
from entity_rig import named

from core.engine.library import Library
from core.errors import Code, LociError
from core.events import Changed, Event
from core.types.values import OWNER_ACTOR, Kind, Precision, Status, When
from core.types.views import FindRequest, Revision


def ids_of(rig: Rig, query: str = "") -> tuple[str, ...]:
    return rig.engine.library.find_memories(FindRequest(query, descending=False)).result(30).ids


@pytest.mark.parametrize(
    "call",
    [
        lambda library: library.find_memories(FindRequest()),
        lambda library: library.read_rows(["x"]),
        lambda library: library.count_facets(),
        lambda library: library.preview_revision(["x"], Revision(pinned=True)),
        lambda library: library.revise_memories(["x"], Revision(pinned=True)),
        lambda library: library.revise_memories(["x"], Revision(text="y")),
        lambda library: library.export_memories(["x"], Path("x"), "json"),
    ],
)
def test_a_locked_vault_answers_nothing(tmp_path: Path, call: Callable[[Library], Any]) -> None:
    with rig_at(tmp_path, is_open=False) as closed, pytest.raises(LociError) as caught:
        call(closed.engine.library)
    assert caught.value.code is Code.VAULT_LOCKED


def test_a_search_is_read_without_a_vault() -> None:
    assert [term.key for term in Library.parse_search("garden kind:fact").terms] == ["word", "kind"]
    assert Library.with_term("garden", "tag", "to do") == 'garden tag:"to do"'
    assert Library.without_term("garden kind:fact", Library.parse_search("garden kind:fact").terms[0]) == "kind:fact"


def test_a_change_is_announced_once_after_it_is_saved(rig: Rig) -> None:
    first, second = rig.store("One").memory_id, rig.store("Two").memory_id
    heard: list[Event] = []
    stop = rig.engine.hub.subscribe(heard.append)
    rig.engine.library.revise_memories([first, second], Revision(pinned=True)).result(30)
    rig.engine.library.revise_memories([first, second], Revision(pinned=True)).result(30)  # nothing left to change
    edited = rig.engine.library.revise_memories([first], Revision(text="One and a half")).result(30)
    stop()
    changes = [event for event in heard if isinstance(event, Changed)]
    assert [(change.verb, change.ids, change.origin) for change in changes] == [
        ("revise", (first, second), OWNER_ACTOR),
        ("revise", edited.ids, OWNER_ACTOR),
    ]
    assert rig.found("One and a half")[0] == "One and a half"


def test_the_new_text_is_found_after_a_lock(rig: Rig) -> None:
    memory_id = rig.store("The kiln is red").memory_id
    rig.engine.library.revise_memories([memory_id], Revision(text="The kiln is green")).result(30)
    rig.lock()
    rig.unlock()
    assert rig.found("kiln", mode="semantic") == ["The kiln is green"]


def test_what_is_brought_back_gets_the_vector_it_lacks(rig: Rig) -> None:
    memory_id = rig.store("The kiln is red").memory_id
    rig.forget(memory_id)
    rig.write(lambda tx: tx.run("DELETE FROM embeddings WHERE owner = 'memory'"))
    rig.engine.library.revise_memories([memory_id], Revision(status=Status.ACTIVE)).result(30)
    rig.opened.storage.threads.jobs.submit(lambda: None).result(30)
    assert rig.value("SELECT count(*) FROM embeddings") == 1


@pytest.mark.slow
def test_more_than_a_thousand_change_in_one_step_and_back(rig: Rig) -> None:
    rig.bring([{"text": f"Fact {n}", "kind": "fact"} for n in range(1_200)])
    ids = ids_of(rig)
    assert len(ids) == 1_200
    report = rig.engine.library.revise_memories(ids, Revision(space="work", pinned=True)).result(60)
    assert (report.changed, report.label) == (1_200, "Change 1,200 memories")
    assert rig.engine.library.count_facets().result(30).spaces == {"work": 1_200}
    rig.engine.memories.undo_step(report.step_id, OWNER_ACTOR).result(60)
    assert rig.engine.library.count_facets().result(30).spaces == {"home": 1_200}
    assert ids_of(rig, "is:pinned") == ()


# Export -------------------------------------------------------------------------------------------


def export(rig: Rig, ids: tuple[str, ...], name: str, format_name: str) -> tuple[int, str]:
    path = rig.folder / name
    count = rig.engine.library.export_memories(ids, path, format_name).result(30)
    assert path.stat().st_mode & 0o777 == 0o600
    return count, path.read_text(encoding="utf-8")


def fill(rig: Rig) -> None:
    rig.bring(talk(4, "kitchen plans"))
    rig.store(
        "Ada said \"no\", twice;\n=SUM(A1)", kind=Kind.RULE, importance=0.9, tags=("a b", "c"), category="plan",
        occurred=When(1_709_251_200_000, Precision.MONTH), author="Ada", space="work", ref="r1",
        claim={"subject": "Ada", "predicate": "said", "value": "no", "valid_from": "2024-03"},
    )  # fmt: skip
    rig.store("A long text. " * 1500)


FIELDS = (
    "text, kind, category, importance, tags, author, occurred_at, occurred_prec, ref, session, position, "
    "(SELECT name FROM spaces s WHERE s.id = m.space_id)"
)


@pytest.mark.slow
def test_json_lines_come_back_through_the_importer(rig: Rig, tmp_path: Path) -> None:
    fill(rig)
    whole = ids_of(rig)
    count, text = export(rig, whole, "out.jsonl", "jsonl")
    assert count == len(text.splitlines()) == 6
    assert max(len(json.loads(line)["text"]) for line in text.splitlines()) == len("A long text. " * 1500)
    (tmp_path / "other").mkdir()
    with rig_at(tmp_path / "other") as other:
        report = other.engine.imports.run(rig.folder / "out.jsonl", None, None, OWNER_ACTOR).result(60)
        assert (report.stored, report.errors, report.format) == (6, (), "jsonl")
        sql = f"SELECT {FIELDS} FROM memories m WHERE coalesce(part_index, 0) = 0 ORDER BY text"  # noqa: S608
        there, here = other.rows(sql), rig.rows(sql)
        told = [row if row[5] else (*row[:5], "user", *row[6:]) for row in here]  # the owner's words get their role
        assert there == told
        assert other.rows("SELECT subject, predicate, value, valid_from FROM claims") == rig.rows(
            "SELECT subject, predicate, value, valid_from FROM claims"
        )


def test_messages_stay_in_the_order_of_their_conversation(rig: Rig) -> None:
    fill(rig)
    _, text = export(rig, tuple(reversed(ids_of(rig, "has:conversation"))), "out.json", "json")
    assert [row["ref"] for row in json.loads(text)] == [f"kitchen plans-{n}" for n in range(4)]


def test_csv_and_markdown_hold_the_text_as_it_is(rig: Rig) -> None:
    fill(rig)
    ids = ids_of(rig, "kind:rule")
    (row,) = csv.DictReader(io.StringIO(export(rig, ids, "out.csv", "csv")[1], newline=""))
    assert (row["text"], row["tags"], row["time"]) == ('Ada said "no", twice;\n=SUM(A1)', "a b, c", "2024-03")
    _, text = export(rig, ids, "out.md", "markdown")
    assert '## 2024-03 · Ada · rule · work\n\nAda said "no", twice;\n=SUM(A1)\n' in text


def test_what_mem0_reads_comes_back_as_what_mem0_wrote(rig: Rig, tmp_path: Path) -> None:
    fill(rig)
    count, text = export(rig, ids_of(rig), "out.json", "mem0")
    items = json.loads(text)["results"]
    assert count == len(items) == 6
    (rule,) = (one for one in items if one["metadata"]["kind"] == "rule")
    assert (rule["categories"], rule["created_at"], rule["metadata"]["space"]) == (["a b", "c"], "2024-03", "work")
    with rig_at(tmp_path / "other") as other:
        report = other.engine.imports.run(rig.folder / "out.json", None, None, OWNER_ACTOR).result(60)
        assert (report.stored, report.errors, report.format) == (6, (), "mem0")
        texts = "SELECT text FROM memories ORDER BY text"
        assert other.rows(texts) == rig.rows(texts)


def test_notes_name_whom_a_memory_mentions_and_what_it_was_made_of(rig: Rig) -> None:
    rig.bring(talk(3, "kitchen plans"))
    said = ids_of(rig, "has:conversation")[0]
    named(rig, "Ada likes blue tiles.", "Ada")
    (made,) = set(ids_of(rig)) - set(ids_of(rig, "has:conversation"))
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", made)
    row = {"derived_id": made, "source_id": said, "space_id": space, "recorded_at": 0}
    rig.write(lambda tx: tx.insert("derivations", row))
    to = rig.folder / "out.zip"
    assert rig.engine.library.export_memories(ids_of(rig), to, "obsidian").result(30) == 4
    assert to.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(to) as packed:
        notes = {name: packed.read(name).decode() for name in packed.namelist()}
    (statement,) = (text for name, text in notes.items() if "Ada likes blue tiles" in name)
    (conversation,) = (name for name in notes if name.startswith("Conversations/"))
    assert "Mentions: [[People/Ada|Ada]]" in statement
    assert f"From: [[{conversation.removesuffix('.md')}#^" in statement
    assert "[[Memories/" in notes["People/Ada.md"]
    refused = error_of(rig.engine.library.record_export(ids_of(rig), "obsidian"))
    assert (refused.code, "zip" in refused.sentence) == (Code.INVALID_INPUT, True)


TEXTS = (
    '=HYPERLINK("http://x","y")', "+1", "-1 is cold", "@Ada", "\t=1", "\r=1", "'=1", "''-x", "'tis",
    "' =1", " =1", "plain",
)  # fmt: skip


def test_no_cell_of_a_csv_begins_a_formula_and_every_text_comes_back(rig: Rig, tmp_path: Path) -> None:
    rig.bring([{"text": text, "author": "=Ada"} for text in TEXTS])
    count, text = export(rig, ids_of(rig), "out.csv", "csv")
    assert count == len(TEXTS)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert not [cell for row in rows for cell in row.values() if cell[:1] in set("=+-@\t\r")]
    with rig_at(tmp_path / "other") as other:
        other.bring(rig.folder / "out.csv")
        found = "SELECT text, author FROM memories ORDER BY text"
        assert other.rows(found) == rig.rows(found)


def test_an_export_says_where_a_memory_stands_that_does_not(rig: Rig) -> None:
    memory_id = rig.store("Old news").memory_id
    rig.engine.library.revise_memories([memory_id], Revision(status=Status.ARCHIVED)).result(30)
    assert json.loads(export(rig, (memory_id, "nobody"), "out.jsonl", "jsonl")[1])["status"] == "archived"


def test_an_export_leaves_only_an_audit_row(rig: Rig) -> None:
    fill(rig)
    before, steps = rig.dump(), rig.value("SELECT count(*) FROM undo_steps")
    export(rig, ids_of(rig), "out.json", "json")
    assert not differences(before, rig.dump())
    assert rig.value("SELECT count(*) FROM undo_steps") == steps
    (row,) = rig.rows("SELECT object, detail FROM audit WHERE verb = 'export'")
    assert row[0] == ""
    assert json.loads(row[1]) == {"format": "json", "memories": 6, "rows": 0}


def test_an_export_goes_only_where_it_may(rig: Rig) -> None:
    memory_id = rig.store("x").memory_id
    for path, format_name in ((rig.home.path / "vault.db", "json"), (rig.folder / "x", "xml")):
        assert error_of(rig.engine.library.export_memories([memory_id], path, format_name)).code is Code.INVALID_INPUT
    missing = error_of(rig.engine.library.export_memories([memory_id], rig.folder / "no" / "x", "json"))
    assert missing.code is Code.WRITE_FAILED
    assert "home" not in missing.sentence
    assert rig.verify()["status"] == "ok"


def test_an_older_edit_cannot_be_undone_under_a_newer_one(rig: Rig) -> None:
    first = rig.store("The heron nests on the east bank.").memory_id
    older = rig.engine.library.revise_memories((first,), Revision(text="The heron nests on the west bank.")).result(30)
    newer = rig.engine.library.revise_memories(older.ids, Revision(text="The heron nests on the north bank.")).result(
        30
    )
    report = rig.undo(older.step_id)
    assert report.left
    assert [text for text in rig.texts() if "heron" in text] == ["The heron nests on the north bank."]
    rig.undo(newer.step_id)
    assert [text for text in rig.texts() if "heron" in text] == ["The heron nests on the west bank."]


def test_a_corrected_text_does_not_come_back_as_of_an_earlier_day(rig: Rig) -> None:
    first = rig.store("The heron nests on the east bank.").memory_id
    rig.engine.library.revise_memories((first,), Revision(text="The heron nests on the west bank.")).result(30)
    found = rig.found("Where does the heron nest?", as_of_ms=rig.clock.now_ms() + 1000)
    assert found == ["The heron nests on the west bank."]


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        ("when is the kiln fired?", "kiln fired"),
        ("what does the dog not eat", "dog eat"),
        ("kind:fact the dog", "kind:fact the dog"),
        ('"the dog" eats', '"the dog" eats'),
        ("-dog the cat", "-dog the cat"),
        ("is the", "is the"),
        ("", ""),
    ],
)
def test_a_question_is_searched_for_by_its_telling_words(typed: str, searched: str) -> None:
    assert Library.remove_stop_words(typed) == searched

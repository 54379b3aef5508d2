"""The words and the tables of the import dialog."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester

from core.types.replies import ConversationPlan, ImportReport
from ui.imports.sources import (
    ImportSource,
    describe_parts,
    describe_stored,
    format_date_span,
    format_duration,
    import_title,
    summarize_import_report,
)
from ui.lists.tick_table import TickModel, TickRow
from ui.widgets.labels import describe_omissions, skip_reasons

ROOT = Path(__file__).parents[2]
DAY = 86_400_000


def report(**more: object) -> ImportReport:
    """A report of an import."""
    values: dict[str, object] = {
        "import_id": None,
        "format": "chatgpt",
        "conversations": 2,
        "messages": {"user": 3, "assistant": 2, "other": 0},
        "stored": 5,
        "proposals": 0,
        "skipped": {},
        "errors": (),
        "earliest": "2025-03-08T12:00:00.000Z",
        "latest": "2025-10-21T12:00:00.000Z",
    }
    return ImportReport(**{**values, **more})  # type: ignore[arg-type]  # a bag of fields


def plan(key: str, new: int, title: str = "") -> ConversationPlan:
    """A conversation."""
    return ConversationPlan(key, title, 4, new, 0, None, None)


def test_every_reason_an_importer_gives_has_its_words() -> None:
    given: set[str] = set()
    for file in (ROOT / "core" / "importers").rglob("*.py"):
        text = file.read_text("utf-8")
        given |= set(re.findall(r'SkippedPart\(\s*"([a-z_]+)"', text))
        given |= set(re.findall(r'UnreadablePart\([^)]*?,\s*"([a-z_]+)"\s*\)', text))
    given |= {"known", "erased", "duplicate_text", "not_chosen", "repeated", "bad_line", "unreadable"}
    assert len(given) > 30
    assert given <= skip_reasons().keys()


def test_the_reasons_are_whole() -> None:
    kept = json.loads((files("resources") / "help" / "skips.json").read_text("utf-8"))["reasons"]
    for words in kept.values():
        assert set(words) == {"one", "many", "why"}
        assert all(text and text == text.strip() and not text.endswith(".") for text in words.values())


def test_what_is_left_out_stands_with_the_most_first() -> None:
    found = describe_omissions({"trash": 1, "known": 12, "a_new_reason": 3})
    assert [(one.count, one.what) for one in found] == [
        (12, "entries you have already"),
        (3, "a new reason"),
        (1, "note in the trash"),
    ]
    assert found[2].why == "Thrown away by you"


def test_a_rehearsal_is_one_sentence() -> None:
    assert (
        summarize_import_report(report())
        == "ChatGPT export: 2 conversations with 5 messages, 8 Mar 2025 – 21 Oct 2025."
    )
    alone = report(format="obsidian", conversations=0, messages={"other": 1}, earliest=None, latest=None)
    assert summarize_import_report(alone) == "Obsidian vault: 1 entry."
    assert summarize_import_report(report(conversations=0, messages={}, earliest=None)) == "ChatGPT export."


def test_who_wrote_is_said_only_where_it_differs() -> None:
    mixed = report(messages={"user": 2, "assistant": 3})
    assert describe_parts(mixed) == "Contains 2 messages of yours and 3 of assistants."
    assert describe_parts(report(messages={"user": 0, "other": 419})) == ""


def test_an_archive_says_what_it_holds() -> None:
    whole = report(
        format="archive",
        stored=415,
        conversations=19,
        others={"people": 12, "files": 1},
        messages={"user": 1, "other": 414},
    )
    told = "Loci archive: 415 memories, 19 conversations, 12 people and 1 file, 8 Mar 2025 – 21 Oct 2025."
    assert summarize_import_report(whole) == told
    assert describe_parts(whole) == ""
    nothing = report(format="archive", stored=0, conversations=0, messages={}, earliest=None)
    assert summarize_import_report(nothing) == "Loci archive."


def test_what_came_in_is_one_sentence() -> None:
    assert describe_stored([report(stored=1)]) == "1 memory imported."
    assert describe_stored([report(stored=0)]) == "Nothing new: everything was imported before."


def test_days_are_said_once_where_they_are_the_same() -> None:
    noon = DAY // 2
    assert format_date_span(None, noon) == ""
    assert format_date_span(noon, noon + 60_000) == "1 Jan 1970"
    assert format_date_span(noon, noon + DAY) == "1 Jan 1970 – 2 Jan 1970"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 second"), (7.4, "7 seconds"), (42, "40 seconds"), (200, "3 minutes"), (9000, "2 hours")],
)
def test_a_stretch_of_time_is_rough(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


def test_titles_are_plain_and_never_empty() -> None:
    assert import_title(plan("", 1)) == "Entries outside conversations"
    assert import_title(plan("a", 1)) == "Untitled conversation"
    talk = replace(plan("a", 1), speakers=("Ines", "Tom"), opening="Hey Tom!\nBack from Porto?")
    assert import_title(talk) == "Ines, Tom: “Hey Tom! Back from Porto?”"
    assert import_title(replace(talk, speakers=())) == "“Hey Tom! Back from Porto?”"
    assert import_title(replace(talk, speakers=("A", "B", "C", "D"), opening="")) == "A, B, C and others"
    assert import_title(plan("a", 1, "Two\nlines \u202eof it")) == "Two lines ‹U+202E›of it"


def test_what_is_new_follows_the_choice() -> None:
    source = ImportSource(Path("/tmp/x.zip"))
    assert source.new == 0
    source.report = report(stored=9, plan=(plan("a", 4), plan("b", 3)), plan_more=1)
    assert source.new == 9
    source.only = frozenset({"b"})
    assert source.new == 3
    assert source.name == "x.zip"


# ---- the table


@pytest.fixture
def model() -> TickModel:
    """Three rows."""
    made = TickModel(("Name", "Size"), (1,))
    rows = [("c", "Ferry timetable", 3), ("a", "Apple tree", 20), ("b", "Boat and ferry", 1)]
    made.show_lines([TickRow(key, (name, str(size)), (name.casefold(), size), name) for key, name, size in rows], ["a"])
    return made


def names(model: TickModel) -> list[str]:
    """The first column."""
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_the_model_keeps_qts_rules(model: TickModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    model.filter_rows("ferry")
    model.sort(1)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types


def test_rows_are_sorted_by_value_and_back_to_the_files_order(model: TickModel) -> None:
    model.sort(1)
    assert names(model) == ["Boat and ferry", "Ferry timetable", "Apple tree"]
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert names(model)[0] == "Ferry timetable"
    model.sort(-1)
    assert names(model) == ["Ferry timetable", "Apple tree", "Boat and ferry"]


def test_a_filter_hides_rows_but_keeps_their_ticks(model: TickModel) -> None:
    model.filter_rows("FERRY boat")
    assert names(model) == ["Boat and ferry"]
    model.tick_shown(is_on=True)
    assert model.ticked == {"a", "b"}
    model.tick_shown(is_on=False)
    model.filter_rows("")
    assert model.ticked == {"a"}


def test_ticking_several_rows_ticks_all_before_it_unticks_all(model: TickModel) -> None:
    told: list[int] = []
    model.ticks.connect(lambda: told.append(1))
    model.toggle_ticks([0, 1])
    assert model.ticked == {"a", "c"}
    model.toggle_ticks([0, 1])
    assert model.ticked == set()
    assert len(told) == 2


def test_a_tick_can_be_set_by_the_view(model: TickModel) -> None:
    role = Qt.ItemDataRole.CheckStateRole
    assert model.setData(model.index(0, 0), Qt.CheckState.Checked, role)
    assert not model.setData(model.index(0, 1), Qt.CheckState.Checked, role)
    assert model.ticked == {"a", "c"}
    assert model.data(model.index(0, 0), role) is Qt.CheckState.Checked
    assert model.setData(model.index(0, 0), Qt.CheckState.Unchecked.value, role)
    assert model.ticked == {"a"}

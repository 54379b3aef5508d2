"""Words of the lifecycle: reports of any shape, deeds, codes, moments; a list of lines that keeps what is chosen."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.lifecycle.distill.statement_writer import ERASED, FAILED, NO_SPAN, REFUSED_BEFORE, WAITS
from core.types.lifecycle import Consolidated, JobAction, JobType
from core.types.values import Kind
from ui.context import Context
from ui.lists.row_spec import Heading, wrap_text
from ui.pages.journal.jobs.labels import (
    describe_code,
    describe_duration,
    describe_reading,
    describe_report,
    describe_vault_changes,
    job_action_wording,
)
from ui.pages.journal.labels import format_day, format_near_moment
from ui.pages.journal.rows import NARROW, EntryActionBar, JournalEntry, entry_action_key, entry_list
from ui.strings import journal_strings
from ui.widgets.labels import describe_reason, describe_reasons, lower_sentence

DAY_MS = 86_400_000
COUNTS = st.dictionaries(st.text("abcdef_", min_size=1), st.integers(0, 10**9) | st.booleans() | st.none(), max_size=5)


def test_every_deed_and_every_kind_of_work_has_words_and_an_icon() -> None:
    icons = {path.name.removesuffix(".svg") for path in (files("resources") / "icons").iterdir()}
    for deed in JobAction:
        said = job_action_wording(deed.value)
        assert said["icon"] in icons
        for form in ("chip", "would", "run"):
            assert "{count}" in said[form]["one"]
            assert "{count}" in said[form]["many"]
    assert set(journal_strings()["jobs"]) == {kind.value for kind in JobType}
    assert set(journal_strings()["jobs"].values()) <= icons
    assert job_action_wording("new_one")["word"] == "New_one"


def test_every_act_has_a_key_of_its_own_where_it_stands() -> None:
    for acts in (
        ("spare", "pin", "confirm", "open"),
        ("stop", "retry", "undo"),
        ("restore", "open", "erase"),
        ("run",),
    ):
        assert len({entry_action_key(act) for act in acts}) == len(acts)


def test_what_takes_most_away_is_told_first() -> None:
    told = [deed for deed, _ in describe_vault_changes({"recover": 2, "fade": 41, "archive": 1, "ask": 0}, "would")]
    assert told == ["archive", "fade", "recover"]
    assert dict(describe_vault_changes({"fade": 1412}, "would")) == {"fade": "1,412 would fade"}


def test_a_report_is_told_in_words() -> None:
    report = Consolidated(deduplicated=2, resolved=1, pending=3, clusters=2, source_memories=9, dry_run=True)
    assert describe_report(report.to_json()) == (
        "2 merged", "1 disagreement settled", "3 for you to decide", "2 digests of 9 memories",
    )  # fmt: skip
    assert describe_report({"source_memories": 3}) == ("of 3 memories",)
    assert describe_report({}) == ()


def test_a_run_that_made_statements_is_told_in_sentences() -> None:
    report = {
        "episodes": 369, "repeated": 1, "small_talk": 159, "statements": 45, "skipped_fragment": 10,
        "skipped_question": 97, "skipped_small_talk": 958, "skipped_unsure": 1, "skipped_odd": 2,
    }  # fmt: skip
    doubtful = "1 sentence of doubtful meaning"
    assert describe_reading(report) == (
        "45 statements made from 369 messages",
        f"Left out: 958 sentences of small talk, 97 questions, 10 incomplete sentences, 2 odd, {doubtful}",
        "1 already known",
    )
    assert describe_reading(report, 2)[1] == "Left out: 958 sentences of small talk, 97 questions, 13 others"
    assert describe_reading({"episodes": 1, "skipped_question": 1}) == (
        "no new statement from 1 message",
        "Left out: 1 question",
    )
    assert describe_reading({"fading": 2}) == ()
    assert describe_reading({"episodes": 3, "dead": 1}) == ()


def test_every_reason_that_is_counted_has_words() -> None:
    known = set(journal_strings()["reading"]["skipped"])
    written = {NO_SPAN, ERASED, REFUSED_BEFORE, WAITS, FAILED}
    assert written <= known


@given(COUNTS | st.dictionaries(st.text("ghi", min_size=1), COUNTS, max_size=3))
def test_any_report_can_be_told(report: dict[str, object]) -> None:
    told = describe_report(report)
    assert all(part for part in told)
    assert len(told) <= sum(len(value) if isinstance(value, dict) else 1 for value in report.values())


def test_codes_and_reasons_nobody_has_words_for() -> None:
    assert describe_code("E1003") == "the disk is full (E1003)"
    assert describe_code("E0000") == "an error ended it (E0000)"
    assert describe_code("") == "the reason is unknown"
    assert (describe_reason("nobody_knows_this"), describe_reason("")) == ("Nobody knows this.", "")
    known = json.loads((files("resources") / "help" / "lifecycle.json").read_text(encoding="utf-8"))
    assert all(describe_reason(key) == sentence for key, sentence in known.items())
    assert describe_reasons(("pinned", "xy")) == "you pinned it; xy"
    assert lower_sentence("ANN is slow.") == "ANN is slow"


def test_moments_near_the_present() -> None:
    now = 1_795_000_000_000
    assert format_near_moment(now, now).startswith("today at ")
    assert format_near_moment(now + DAY_MS, now).startswith("tomorrow at ")
    assert format_near_moment(now - DAY_MS, now).startswith("yesterday at ")
    assert " 2026, " in format_near_moment(now - 40 * DAY_MS, now)
    assert [format_day(now + days * DAY_MS, now) for days in (-1, 0, 1)] == ["yesterday", "today", "tomorrow"]


@pytest.mark.parametrize(
    ("ms", "told"), [(4, "under a second"), (1_000, "1 second"), (90_000, "90 seconds"), (600_000, "10 minutes")]
)
def test_how_long_a_run_took(ms: int, told: str) -> None:
    assert describe_duration(10, 10 + ms) == told
    assert describe_duration(None, ms) == ""


# ---- lines


@given(st.text(max_size=200), st.integers(1, 3), st.integers(60, 400))
def test_wrapped_lines_fit_and_lose_nothing_but_the_end(text: str, most: int, width: int) -> None:
    line = " ".join(text.split())
    font = QFont()
    made = wrap_text(line, font, width, most)
    assert len(made) <= most
    measure = QFontMetrics(font)
    if measure.horizontalAdvance(line) <= width and line.isascii():
        assert made in ([line], [] if not line else [line])


def entries(*ids: str) -> list[JournalEntry | Heading]:
    return [Heading("NOW"), *(JournalEntry(one, f"Jar {one}", value=one) for one in ids)]


def test_a_list_keeps_what_is_chosen_and_else_its_neighbour(qtbot: QtBot, context: Context) -> None:
    shown = entry_list(context.theme, "Jars", ("open", "erase"), takes_many=True)
    qtbot.addWidget(shown)
    shown.show_lines(entries("a", "b", "c", "d"))
    shown.select_rows("b", "c")
    shown.show_lines(entries("x", "b", "d"))
    assert [entry.id for entry in shown.chosen] == ["b"]
    assert shown.current is not None
    assert shown.current.id == "b"
    shown.show_lines(entries("x", "d"))
    assert [entry.id for entry in shown.chosen] == ["d"]
    shown.show_lines([])
    assert shown.chosen == ()
    assert shown.current is None


def test_keys_act_only_where_the_act_makes_sense(qtbot: QtBot, context: Context) -> None:
    shown = entry_list(context.theme, "Jars", ("open", "erase"))
    qtbot.addWidget(shown)
    asked: list[str] = []
    shown.asked.connect(asked.append)
    shown.show_lines(entries("a"))
    shown.select_rows("a")
    QTest.keyClick(shown, Qt.Key.Key_Delete)
    assert asked == []
    shown.offered = frozenset({"erase", "open"})
    QTest.keyClick(shown, Qt.Key.Key_Delete)
    QTest.keyClick(shown, Qt.Key.Key_Enter)
    assert asked == ["erase", "open"]


def test_buttons_name_their_keys_and_are_off_or_hidden(qtbot: QtBot, context: Context) -> None:
    bar = EntryActionBar(context.theme, ("restore", "erase"))
    qtbot.addWidget(bar)
    bar.show()
    bar.enable_actions({"restore"})
    assert [made.isEnabled() for made in bar.buttons.values()] == [True, False]
    assert bar.buttons["erase"].accessibleName() == "Erase for good"
    assert bar.buttons["erase"].accessibleDescription() == "Key Del"
    bar.enable_actions({"erase"}, hides=True)
    assert [made.isVisible() for made in bar.buttons.values()] == [False, True]


@pytest.mark.parametrize("scale", [100, 150])
def test_lines_are_drawn_wide_and_narrow(qtbot: QtBot, context: Context, scale: int) -> None:
    context.theme.apply_theme("dark", scale)
    shown = entry_list(context.theme, "Jars", ())
    qtbot.addWidget(shown)
    long = "Jar 4 holds quinces and stands behind the others on the upper shelf of the cold pantry. " * 3
    full = JournalEntry(
        "a",
        long,
        "It fades.",
        "With another",
        word="Fades",
        aside_note="confidence",
        lines=2,
        icon="moon",
        kind=Kind.FACT,
        aside="0.18",
    )
    busy = JournalEntry("b", "Consolidate", "30 of 120", icon="clock", progress=0.25)
    dots = JournalEntry("c", "Replay", icon="clock", progress=-1.0, is_struck=True)
    shown.show_lines([Heading("NOW"), full, busy, dots, JournalEntry("d", "The shed is green.", kind=Kind.RULE)])
    shown.resize(context.theme.px(NARROW) + 200, 400)
    shown.show()
    qtbot.waitExposed(shown)
    wide = [shown.sizeHintForRow(at) for at in range(5)]
    wide_picture = shown.grab().toImage()
    assert full.description.startswith("Fades. Jar 4 holds")
    shown.resize(context.theme.px(NARROW) - 100, 400)
    settle(qtbot, lambda: shown.viewport().width() < context.theme.px(NARROW))
    narrow = [shown.sizeHintForRow(at) for at in range(5)]
    assert wide[1] > wide[4]
    assert wide[2] > wide[4]  # the bar needs room
    assert narrow[4] >= wide[4]
    assert shown.grab().toImage() != wide_picture

"""What the inspector says and shows of a text: runs, differences, sentences of provenance. No window is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.types.replies import MemoryDetail
from core.types.values import Kind, Memory, Precision, Role, Source, Status, When
from ui.inspector.history import COMPARED, compare_words
from ui.inspector.provenance import describe_file_place, describe_import, describe_origin
from ui.inspector.text_view import marked_runs_of_text, plain_runs_of_text, shown_span
from ui.widgets.labels import describe_date, name_space, read_space_name
from ui.widgets.plaintext import original_of

DAY = When(1_793_664_000_000, Precision.DAY, 0)  # 3 Nov 2026
HIDDEN = st.text(st.sampled_from("ab \n\r\u202e\u200b\u00a0😀\u2028é\t"), max_size=40)


def memory(**more: Any) -> Memory:
    made = Memory(
        n=1, id="m", kind=Kind.FACT, status=Status.ACTIVE, text="t", space="home", source=Source.USER_EXPLICIT,
        role=Role.USER, author=None, category="general", importance=0.5, tags=(), client_id=None, conversation_id=None,
        position=None, session=None, ref=None, import_id=None, occurred=DAY, recorded_at=DAY.ms, retired_at=None,
        valid_from=None, valid_to=None, trust=1.0, confidence=1.0, corroboration=1, reinforcements=0, disputes=0,
        last_confirmed_at=0, access_count=0, last_accessed_at=None, supersedes_id=None, superseded_by_id=None,
        chain_id="m", part_of=None, part_index=None, pinned=False, version=1,
    )  # fmt: skip
    return replace(made, **more)


def detail(
    shown: Memory, origin: Mapping[str, Any], title: str | None = None, client: str | None = None
) -> MemoryDetail:
    sources = ({"lineage": "x", "source": shown.source.value, "client": client, "at": 0},)
    conversation = {} if shown.conversation_id is None else {"id": shown.conversation_id, "title": title}
    return MemoryDetail(shown, sources, conversation, origin, (), (), ())


IMPORT = {"by": "import", "format": "chatgpt", "file": "export", "where": "conversations.json:5:4"}


@pytest.mark.parametrize(
    ("shown", "origin", "title", "client", "sentence"),
    [
        (memory(conversation_id="c"), IMPORT, "Planning with Claude", None,
         "You said so on 3 Nov 2026, in “Planning with Claude”."),
        (memory(conversation_id="c", role=Role.ASSISTANT, source=Source.INFERENCE, author="Claude"), IMPORT, "Boats",
         None,
         "Claude said so on 3 Nov 2026, in “Boats”."),
        (memory(conversation_id="c", role=Role.TOOL, source=Source.TOOL_OUTPUT), IMPORT, None, None,
         "A tool reported it on 3 Nov 2026, in a conversation."),
        (memory(source=Source.DOCUMENT, role=Role.SOURCE),
         {"by": "import", "format": "obsidian", "where": "maps/rivers.md"}, None, None,
         "From the note maps/rivers.md, written on 3 Nov 2026."),
        (memory(), {"by": "owner"}, None, None, "You wrote it down on 3 Nov 2026."),
        (memory(), {"by": "owner", "edited": "old"}, None, None, "You wrote this version on 3 Nov 2026."),
        (memory(source=Source.INFERENCE, role=Role.OTHER, occurred=None), {"by": "client"}, None, "Claude Code",
         "Claude Code wrote it down on 3 Nov 2026."),
        (memory(occurred=When(DAY.ms, Precision.MONTH, 0), source=Source.USER_EXPLICIT), {"by": "client"}, None,
         "Claude Code",
         "You said so to Claude Code in November 2026."),
        (memory(occurred=When(DAY.ms, Precision.MONTH, 0), source=Source.USER_IMPLICIT), {"by": "client"}, None,
         "Claude Code",
         "Claude Code says that you said so in November 2026."),
        (memory(source=Source.USER_IMPLICIT, role=Role.OTHER, author="Caroline"), {"by": "reader", "job": "distill"},
         None, None,
         "Loci made this statement from what Caroline said on 3 Nov 2026."),
        (memory(source=Source.USER_IMPLICIT), {"by": "reader", "job": "distill"}, None, None,
         "Loci made this statement from what you said on 3 Nov 2026."),
        (memory(source=Source.USER_IMPLICIT, role=Role.OTHER, author="Caroline", conversation_id="c"), IMPORT, None,
         None,
         "Caroline said so on 3 Nov 2026, in a conversation."),
        (memory(source=Source.INFERENCE, role=Role.OTHER, occurred=None),
         {"by": "import", "format": "mem0", "where": "m.json:item 3"}, None, None, "An assistant noted it."),
    ],
)  # fmt: skip
def test_where_it_comes_from_is_a_sentence(
    shown: Memory, origin: Mapping[str, Any], title: str | None, client: str | None, sentence: str
) -> None:
    assert describe_origin(detail(shown, origin, title, client)) == sentence


def test_names_in_a_sentence_are_made_visible_and_cut() -> None:
    said = describe_origin(detail(memory(conversation_id="c"), IMPORT, "a\u202eb" + "x" * 500))
    assert "‹U+202E›" in said
    assert len(said) < 160


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("diary.jsonl:6", "diary.jsonl, line 6"),
        ("conversations.json:5:4", "conversations.json, conversation 5, message 4"),
        ("a.csv:record 12", "a.csv, record 12"),
        ("maps/rivers.md", "maps/rivers.md"),
        ("", ""),
    ],
)
def test_the_place_in_a_file_in_words(where: str, words: str) -> None:
    assert describe_file_place({"where": where}) == words


def test_the_way_of_an_import_names_format_place_and_day() -> None:
    words = describe_import(detail(memory(), IMPORT))
    assert words == "ChatGPT export · conversations.json, conversation 5, message 4 · imported 3 Nov 2026"


@given(HIDDEN)
def test_runs_stand_for_the_whole_text(text: str) -> None:
    runs = marked_runs_of_text(text)
    assert "".join(run.original for run in runs) == text
    shown = "".join(run.displayed_text for run in runs)
    assert original_of(runs, 0, len(shown.encode("utf-16-le")) // 2) == text
    assert "\u202e" not in shown
    assert "\r" not in shown


MARKED = "---\ntags: [dog]\n---\n# Moss\n**Moss** is *old* \ue200cite\ue202turn0search1\ue201."


@given(HIDDEN | st.text(st.sampled_from("a *_#-\n:\u202e"), max_size=40) | st.just(MARKED))
def test_runs_without_marks_stand_for_the_whole_text_too(text: str) -> None:
    runs = plain_runs_of_text(text)
    assert "".join(run.original for run in runs) == text
    shown = "".join(run.displayed_text for run in runs)
    if shown:
        assert original_of(runs, 0, len(shown.encode("utf-16-le")) // 2) == text, "a copy is what was stored"


def test_a_place_is_found_beside_marks_that_are_not_shown() -> None:
    runs = plain_runs_of_text(MARKED)
    assert "".join(run.displayed_text for run in runs) == "Moss\nMoss is old."
    at = MARKED.index("is")
    assert shown_span(runs, at, at + 2) == (10, 12)
    assert original_of(runs, 5, 9) == "**Moss**"


def test_a_part_of_a_selection_is_exact_beside_wide_characters() -> None:
    runs = marked_runs_of_text("a😀b\u200bc")
    assert original_of(runs, 1, 3) == "😀"
    assert original_of(runs, 3, 4) == "b"
    assert original_of(runs, 5, 6) == "\u200b"  # a mark is taken whole


@given(HIDDEN, HIDDEN)
def test_differences_hold_both_texts(old: str, new: str) -> None:
    runs = compare_words(old, new)
    assert "".join(run.original for run in runs if run.style != "removed") == new
    assert "".join(run.original for run in runs if run.style != "added") == old


def test_numbers_differ_as_wholes() -> None:
    changed = [
        (run.original, run.style)
        for run in compare_words("costs £2,400 now", "costs £3,100 now")
        if run.style != "plain"
    ]
    assert changed == [("2,400", "removed"), ("3,100", "added")]


def test_texts_too_long_to_compare_are_shown_plainly() -> None:
    assert {run.style for run in compare_words("a " * COMPARED, "b " * COMPARED)} == {"plain"}


def test_words_that_repeat_without_end_are_compared_too() -> None:
    runs = compare_words("a " * 999, "b a " * 490)  # without care for popular words this would take minutes
    assert "".join(run.original for run in runs if run.style != "removed") == "b a " * 490


def test_the_date_of_a_memory_is_said_in_words() -> None:
    noon = 1_746_273_600_000  # 3 May 2025
    assert describe_date(When(noon, Precision.DAY), 0) == "Said 3 May 2025"
    assert describe_date(When(noon, Precision.YEAR), 0) == "Said 2025"
    assert describe_date(None, noon) == "Recorded 3 May 2025"


def test_the_space_of_all_is_not_told_by_its_name_on_the_wire() -> None:
    assert name_space("GLOBAL") == "Shared by all spaces"
    assert name_space("home") == "home"
    assert name_space("a\u202eb" * 40, 20).endswith("…")
    assert [read_space_name(name_space(name)) for name in ("GLOBAL", "home")] == ["GLOBAL", "home"]

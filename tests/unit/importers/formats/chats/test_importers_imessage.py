"""iMessage: times, speakers, replies that stand twice, edits, what the program says; pages of HTML cut at any place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import FIXTURES, items_of, memory_bundle, reasons, records

from core.importers.formats.chats import imessage_page
from core.importers.formats.chats.imessage import IMessageImporter
from core.importers.records import Record
from core.types.values import Role

IMESSAGE = IMessageImporter()
PAGE = (FIXTURES / "imessage" / "input" / "Ivo & Maja.html").read_bytes()
AT = "May 17, 2022  5:29:42 PM"


def chat(*lines: str) -> list[Any]:
    return items_of(IMESSAGE, {"Ana.txt": "\n".join(lines) + "\n"})


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("May 17, 2022  5:29:42 PM", 1_652_808_582_000),
        ("May 17, 2022 12:00:00 AM", 1_652_745_600_000),
        ("May 17, 2022 12:00:00 PM", 1_652_788_800_000),
        ("May 17, 2022  5:29:42 PM (Read by you after 1 hour, 49 seconds)", 1_652_808_582_000),
    ],
)
def test_times_are_read_as_the_exporter_writes_them(written: str, want: int) -> None:
    (record,) = records(chat(written, "Ana", "words"))
    assert record.occurred is not None
    assert record.occurred.ms == want


@pytest.mark.parametrize(
    ("lines", "want", "extra"),
    [
        (("one", "", "two"), "one\n\ntwo", {}),
        (("words", "Tapbacks:", "    Loved by Ivo", ""), "words", {}),
        (("words", "This message responded to an earlier message."), "words", {"is_reply": True}),
        (("words", f"    {AT}", "    Ivo", "    answer"), "words", {}),
        ((f"{AT} first", "Edited 3 seconds later: second", "Edited 1 minute later: last"), "last", {"edited": True}),
        (("words", "attachments/1/a b.jpeg"), "words", {"attachments": ["a b.jpeg"]}),
        (("Sent with Confetti", "words"), "words", {}),
        (("May 17 was great",), "May 17 was great", {}),
        (("1. x", "    indented code"), "1. x", {}),
    ],
)
def test_words_are_told_from_what_the_program_says(lines: tuple[str, ...], want: str, extra: dict[str, Any]) -> None:
    (record,) = records(chat(AT, "Ana", *lines))
    assert (record.text, dict(record.extra)) == (want, extra)
    assert record.author == "Ana"


def test_the_owner_speaks_as_me_and_notices_have_no_speaker() -> None:
    items = chat(AT, "Me", "mine", "", f"{AT} Ivo left the conversation.", "", AT, "Ivo", "his")
    assert [(one.text, one.role, one.author) for one in records(items)] == [
        ("mine", Role.USER, None),
        ("his", Role.OTHER, "Ivo"),
    ]
    assert reasons(items) == {"chat_event": 1}


@pytest.mark.parametrize("text", ["", AT, "words\n" + AT, "Ana\nwords", f"{AT}\n\nwords", f"{AT}\n{'x' * 300}\n"])
def test_other_texts_are_no_chats(text: str) -> None:
    assert not IMESSAGE.detects(memory_bundle({"a.txt": text}))


def test_of_many_texts_at_least_half_are_chats() -> None:
    one = f"{AT}\nAna\nwords\n"
    assert IMESSAGE.detects(memory_bundle({"a.txt": one, "b.txt": "x"}, "folder"))
    assert not IMESSAGE.detects(memory_bundle({"a.txt": one, "b.txt": "x", "c.txt": "y"}, "folder"))


@pytest.mark.parametrize("chunk", [1, 7, 64, 4_096])
def test_a_page_gives_the_same_however_it_is_cut(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = items_of(IMESSAGE, {"a.html": PAGE})
    monkeypatch.setattr(imessage_page, "_CHUNK", chunk)
    assert items_of(IMESSAGE, {"a.html": PAGE}) == whole
    assert len([one for one in whole if isinstance(one, Record)]) == 3


def test_an_edited_message_of_a_page_has_its_last_words() -> None:
    body = b'<div class="edited"><table><tr><td>first</td></tr><tr><td>last</td></tr></table></div>'
    found = records(
        items_of(IMESSAGE, {"a.html": PAGE.replace(b'<span class="bubble">Found it, thank you.</span>', body)})
    )
    assert ("last", True) in [(one.text, one.extra.get("edited")) for one in found]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([AT, "Me", "Ana", "", "    x", "Tapbacks:", f"{AT} left", "Edited 1 second later: e"])))
def test_any_text_is_survived(lines: list[str]) -> None:
    items = chat(AT, "Ana", "words", *lines)
    assert isinstance(items[0], Record)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(PAGE) - 1), st.integers(0, 200))
def test_any_cut_page_is_survived(at: int, size: int) -> None:
    cut = PAGE[:at] + PAGE[at + size :]
    assert len(items_of(IMESSAGE, {"a.html": cut})) <= 8

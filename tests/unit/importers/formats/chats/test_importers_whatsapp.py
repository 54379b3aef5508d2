"""WhatsApp: the many fashions of its first lines, whose words they are, and files that are cut, joined or damaged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.importers.formats.chats.whatsapp import WhatsAppImporter
from core.importers.formats.chats.whatsapp_lines import read_opening
from core.types.values import Role, Source

WHATSAPP = WhatsAppImporter()
NARROW, MARK, RTL = "\u202f", "\u200e", "\u200f"


def chat(*lines: str, name: str = "c.txt") -> list[Any]:
    return items_of(WHATSAPP, {name: "\n".join(lines) + "\n"})


def texts(items: list[Any]) -> list[str]:
    return [record.text for record in records(items)]


@pytest.mark.parametrize(
    ("line", "numbers", "clock", "sender"),
    [
        (f"12/31/23, 9:41{NARROW}PM - Ana: x", (12, 31, 23), (21, 41, None), "Ana"),
        ("31/12/2023, 21:41 - Ana: x", (31, 12, 2023), (21, 41, None), "Ana"),
        ("31/12/2023 21:41 - Ana: x", (31, 12, 2023), (21, 41, None), "Ana"),
        ("31.12.23, 00:05 - Ana: x", (31, 12, 23), (0, 5, None), "Ana"),
        ("31.12.2023 klo 21.41 - Ana: x", (31, 12, 2023), (21, 41, None), "Ana"),
        ("31/12/23 à 21:41 - Ana: x", (31, 12, 23), (21, 41, None), "Ana"),
        ("31-12-2023 21:41 - Ana: x", (31, 12, 2023), (21, 41, None), "Ana"),
        ("2023-12-31, 21:41 - Ana: x", (2023, 12, 31), (21, 41, None), "Ana"),
        ("31/12/2023, 9:41 p.\xa0m. - Ana: x", (31, 12, 2023), (21, 41, None), "Ana"),
        ("2023/12/31 下午9:41 - Ana: x", (2023, 12, 31), (21, 41, None), "Ana"),
        ("2023. 12. 31. 오전 12:41 - Ana: x", (2023, 12, 31), (0, 41, None), "Ana"),
        ("٣١/١٢/٢٠٢٣، ٩:٤١ م - علي: x", (31, 12, 2023), (21, 41, None), "علي"),
        ("[31.12.23, 21:41:05] Ana: x", (31, 12, 23), (21, 41, 5), "Ana"),
        (f"{MARK}[2023-12-31, 9:41:05{NARROW}PM] Ana: x", (2023, 12, 31), (21, 41, 5), "Ana"),
        (f"[31{RTL}/12{RTL}/2023, 9:41:05 م] Ana: x", (31, 12, 2023), (21, 41, 5), "Ana"),
        ("12/31/23, 12:05 AM - ~\u202fAna B.: x", (12, 31, 23), (0, 5, None), "Ana B."),
        ("12/31/23, 12:05 PM - \u202a+49 170 1234567\u202c: x", (12, 31, 23), (12, 5, None), "+49 170 1234567"),
        ("31/12/2023, 21:41 - Ana joined using this group's invite link", (31, 12, 2023), (21, 41, None), None),
    ],
)
def test_a_first_line_is_read_in_every_fashion(
    line: str, numbers: tuple[int, int, int], clock: tuple[int, int, int | None], sender: str | None
) -> None:
    opening = read_opening(line)
    assert opening is not None
    assert (opening.numbers, opening.clock, opening.sender) == (numbers, clock, sender)


@pytest.mark.parametrize(
    "line",
    [
        "[2026-02-03 07:10:22] INFO: started",
        "2024-01-01 10:00:00 - root: message",
        "2024-01-01 10:00:00,123 - root - INFO - message",
        "10:41 - we left",
        "Ana: 12/31/23, 9:41 PM - quoted",
        "1.2.3, 4:5 - x: y",
        "",
    ],
)
def test_other_lines_begin_no_message(line: str) -> None:
    assert read_opening(line) is None


@pytest.mark.parametrize(
    "text", ["A log.\n31/12/2023, 21:41 - Ana: x\n", "31/12/2023, 21:41 - Nobody speaks here\n", ""]
)
def test_a_text_that_is_no_chat_is_left_to_others(text: str) -> None:
    assert not WHATSAPP.detects(memory_bundle({"a.txt": text}))


def test_a_folder_of_notes_with_one_chat_in_it_stays_a_folder_of_notes() -> None:
    line = "31/12/2023, 21:41 - Ana: x\n"
    assert not WHATSAPP.detects(memory_bundle({"a.md": "# Note", "chat.txt": line}, "folder"))
    assert WHATSAPP.detects(memory_bundle({"b.txt": line, "chat.txt": line, "p.jpg": b"\xff"}, "folder"))


def test_the_person_is_who_is_told_so_and_nobody_else() -> None:
    told = chat(
        "1/2/24, 9:41 - Ana: a",
        "1/2/24, 9:42 - Bo: You deleted this message",
        "1/2/24, 9:43 - Bo: b",
        "1/2/24, 9:44 - Cy: c",
    )
    assert [(r.role, r.source) for r in records(told)] == [
        (Role.OTHER, Source.DOCUMENT),
        (Role.USER, Source.USER_IMPLICIT),
        (Role.OTHER, Source.DOCUMENT),
    ]
    of_two = chat("1/2/24, 9:41 - Ana: a", "1/2/24, 9:42 - Bo: b", name="WhatsApp Chat with Ana.txt")
    assert [r.role for r in records(of_two)] == [Role.OTHER, Role.USER]
    unnamed = chat("1/2/24, 9:41 - Ana: a", "1/2/24, 9:42 - Bo: b", name="WhatsApp Chat with Someone.txt")
    assert {r.role for r in records(unnamed)} == {Role.OTHER}


def test_lines_before_the_first_message_and_damaged_dates_are_told() -> None:
    items = chat(
        "…rest of something",
        "31/13/2024, 9:41 - Ana: impossible",
        "32/12/2024, 9:41 - Ana: too",
        "1/2/2024, 25:99 - Ana: x",
    )
    assert reasons(items) == {"half_message": 1}
    assert texts(items) == ["impossible", "too", "x"]
    assert all(r.occurred is None and "time_unreadable" in r.flags for r in records(items))


def test_an_export_that_grew_keeps_its_identities_and_equal_messages_stay_apart() -> None:
    first = ["1/2/2024, 9:41 - Ana: ok", "1/2/2024, 9:41 - Ana: ok", "13/2/2024, 9:41 - Bo: yes"]
    name = "WhatsApp Chat with Ana.txt"
    before = [r.identity for r in records(chat(*first, name=name))]
    after = [
        r.identity for r in records(chat(*first, "14/2/2024, 1:00 - Ana: more", name="WhatsApp Chat with Ana (2).txt"))
    ]
    assert after[:3] == before
    assert len(set(after)) == 4


@pytest.mark.parametrize(
    ("text", "want", "names"),
    [
        (f"{MARK}<attached: 0012-PHOTO.jpg>", None, None),
        (f"Look {MARK}<Anhang: a.jpg>", "Look", ["a.jpg"]),
        (f"{MARK}<附件：a.jpg>\nwords", "words", ["a.jpg"]),
        ("IMG-20240101-WA0001.jpg (Dosya ekli)\nwords", "words", ["IMG-20240101-WA0001.jpg"]),
        ("see plan.txt (very nice)", "see plan.txt (very nice)", None),
        ("<b>not media</b>", "<b>not media</b>", None),
        ("<Media omitted>\nwords", "words", ["media omitted"]),
        ("  indented\n\n  stays  ", "  indented\n\n  stays  ", None),
    ],
)
def test_what_stands_for_things_sent_is_taken_out_and_nothing_else(
    text: str, want: str | None, names: list[str] | None
) -> None:
    items = chat("25/2/2024, 9:41 - Ana: said", *f"25/2/2024, 9:42 - Ana: {text}".split("\n"))
    found = records(items)[1:]
    assert [r.text for r in found] == ([] if want is None else [want])
    assert [r.extra.get("attachments") for r in found] == ([] if want is None else [names])
    assert reasons(items) == ({"media_only": 1} if want is None else {})


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=MARK + "<>"), max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Ana", "Bo", "علي"]), st.lists(WORDS, min_size=1, max_size=3)),
        min_size=1,
        max_size=8,
    )
)
def test_every_line_that_was_said_comes_back(said: list[tuple[str, list[str]]]) -> None:
    lines = []
    for number, (name, words) in enumerate(said):
        lines += [f"25/{number % 12 + 1}/2024, 9:41 - {name}: *{words[0]}*", *(f"*{word}*" for word in words[1:])]
    items = chat(*lines)
    assert texts(items) == ["\n".join(f"*{word}*" for word in words) for _, words in said]
    assert [r.author for r in records(items)] == [name for name, _ in said]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_other_encodings_are_read(encoding: str) -> None:
    text = "25/2/2024, 9:41 - Åse: Smørbrød på bordet\r\n"
    (record,) = records(items_of(WHATSAPP, {"c.txt": text.encode(encoding)}))
    assert (record.author, record.text) == ("Åse", "Smørbrød på bordet")

"""Telegram: texts of pieces, control characters that are no JSON, whose words, streams, and entries that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.chats.telegram import TelegramImporter
from core.importers.input import strict_json
from core.types.values import Role

TELEGRAM = TelegramImporter()


def message(number: int = 1, text: Any = "words", **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "type": "message",
        "date": "2024-02-03T10:00:00",
        "date_unixtime": "1706954400",
        "from": "Bo",
        "from_id": "user5",
        "text": text,
    } | more


def export(*messages: Any, **more: Any) -> str:
    return json.dumps({"name": "Bo", "type": "personal_chat", "id": 7, "messages": list(messages)} | more)


def read(text: str) -> list[Any]:
    return items_of(TELEGRAM, {"result.json": text})


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("plain", ["plain"]),
        (["a ", {"type": "bold", "text": "b"}, " c"], ["a b c"]),
        ([{"type": "link"}, 5, None, "x"], ["x"]),
        ([], []),
        (None, []),
        ({"text": "no"}, []),
    ],
)
def test_a_text_is_put_together_of_its_pieces(text: Any, want: list[str]) -> None:
    items = read(export(message(text=text)))
    assert [record.text for record in records(items)] == want
    assert reasons(items) == ({} if want else {"no_text": 1})


@pytest.mark.parametrize(
    ("written", "meant"),
    [(r"a\x0Bb", "a\x0bb"), (r"a\\x0Bb", r"a\x0Bb"), (r"a\\\x1fb", "a\\\x1fb"), (r"\"\u0041", '"A'), (r"\\", "\\")],
)
def test_control_characters_are_mended_and_other_escapes_left(written: str, meant: str) -> None:
    (record,) = records(read(export(message(text="HERE")).replace("HERE", written)))
    assert record.text == meant


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["\\", '"', "x0B", "\x0b", "a", "é", "\n"]), max_size=12), st.integers(1, 6))
def test_mending_does_not_depend_on_where_a_piece_ends(parts: list[str], size: int) -> None:
    from core.importers.formats.chats import telegram

    text = "".join(parts)
    written = json.dumps(text, ensure_ascii=False).replace("\\u000b", "\\x0B")
    raw = export(message(text="HERE")).replace('"HERE"', written)
    before, telegram._CHUNK = telegram._CHUNK, size
    try:
        found = [record.text for record in records(read(raw))]
    finally:
        telegram._CHUNK = before
    assert found == ([text] if text.strip() else [])


def test_an_account_names_the_person_and_a_single_chat_does_not() -> None:
    chats = {"list": [json.loads(export(message(), message(2, from_id="user9")))]}
    account = {"personal_information": {"user_id": 5, "first_name": "Bo"}, "chats": chats}
    assert [r.role for r in records(read(json.dumps(account)))] == [Role.USER, Role.OTHER]
    assert [r.role for r in records(read(export(message())))] == [Role.OTHER]


def test_chats_without_a_name_or_with_one_name_stay_apart() -> None:
    chats = [{"name": None, "type": "personal_chat", "id": n, "messages": [message()]} for n in (1, 2)]
    found = records(
        read(json.dumps({"personal_information": {"user_id": 5, "first_name": "B"}, "chats": {"list": chats}}))
    )
    assert len({r.identity for r in found}) == 2
    assert [r.position for r in found] == [0, 0]


def test_entries_that_are_no_messages_are_told() -> None:
    items = read(
        export(3, None, message(), {"type": "service", "action": "x"}, message(2, date="soon", date_unixtime=None))
    )
    assert reasons(items) == {"not_an_object": 2, "chat_event": 1}
    assert records(items)[1].flags == ("time_unreadable",)


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [], "type": "x"},
        {"messages": [{"role": "user", "content": "x"}], "type": "chat"},
        {"chats": [{"id": 1}]},
        [message()],
    ],
)
def test_other_json_is_left_to_others(value: Any) -> None:
    assert not TELEGRAM.detects(memory_bundle({"result.json": json.dumps(value)}))


@pytest.mark.parametrize("cut", [10, 60, 150])
def test_a_cut_export_is_refused_whole(cut: int) -> None:
    with pytest.raises(UserError) as error:
        read(export(message(), message(2))[:-cut])
    assert error.value.code is Code.IMPORT_REFUSED


PATHS = st.recursive(
    st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["list", "messages", "chats", "id"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(PATHS, st.integers(1, 9))
def test_a_path_leads_to_what_the_whole_parser_finds(value: Any, chunk: int) -> None:
    def walk(node: Any, path: tuple[str, ...]) -> list[Any]:
        if not path:
            return [node]
        if path[0] == strict_json.EACH:
            return [x for one in node for x in walk(one, path[1:])] if isinstance(node, list) else []
        keys = path[0].split("|")
        return [x for key in node if key in keys for x in walk(node[key], path[1:])] if isinstance(node, dict) else []

    raw = json.dumps(value).encode()
    chunks = (raw[at : at + chunk] for at in range(0, len(raw), chunk))
    path = ("chats|messages", "list", strict_json.EACH)
    assert [parsed.value for _, parsed in strict_json.path_elements(chunks, path)] == walk(value, path)

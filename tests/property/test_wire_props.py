"""Laws of the client's half of the wire: however the bytes are cut, the same messages come out, each to its call."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, LociError
from core.ipc.client.wire import Answer, Message, Notice, Pages, Report, Wire
from core.ipc.protocol.messages import LINE_BYTES

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
OBJECT = st.dictionaries(TEXT, TEXT | st.integers(-9, 9) | st.none(), max_size=3)
IDENT = st.integers(1, 6)
ANSWER = st.builds(lambda ident, result: {"id": ident, "result": result}, IDENT, OBJECT)
REFUSAL = st.builds(
    lambda ident: {"id": ident, "error": {"code": -32000, "message": "No.", "data": {"code": "E2005"}}}, IDENT
)
REPORT = st.builds(
    lambda ident, done: {"method": "progress", "params": {"id": ident, "label": "x", "done": done, "total": None}},
    IDENT,
    st.integers(0, 9),
)
NOTICE = st.builds(lambda name, params: {"method": f"n{name}", "params": params}, TEXT, OBJECT)
MESSAGES = st.lists(ANSWER | REFUSAL | REPORT | NOTICE, max_size=8)
CUTS = st.lists(st.integers(0, 4000), max_size=30)


def lines(messages: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps({"jsonrpc": "2.0", **one}, ensure_ascii=False).encode() + b"\n" for one in messages)


def pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    """The bytes cut at those places; no piece is empty."""
    places = sorted({cut % (len(raw) + 1) for cut in cuts} | {0, len(raw)})
    return [raw[start:end] for start, end in itertools.pairwise(places)]


def plain(message: Message) -> Any:
    if isinstance(message, Answer):
        return ("answer", message.ident, message.result, message.error and message.error.code)
    if isinstance(message, Report):
        return ("report", message.ident, message.label, message.done, message.total)
    return ("notice", message.name, message.params)


def heard(chunks: list[bytes]) -> tuple[list[Any], Code | None]:
    """What comes out, taken after each piece, and what it ended with."""
    wire, found = Wire(), []
    try:
        for chunk in chunks:
            wire.feed_bytes(chunk)
            while (message := wire.next_message()) is not None:
                found.append(plain(message))
    except LociError as error:
        return found, error.code
    return found, None


def expected(message: dict[str, Any]) -> Any:
    if "result" in message:
        return ("answer", message["id"], message["result"], None)
    if "error" in message:
        return ("answer", message["id"], None, Code.NOT_FOUND)
    said = message["params"]
    if message["method"] == "progress":
        return ("report", said["id"], said["label"], said["done"], said["total"])
    return ("notice", message["method"], said)


@given(MESSAGES, CUTS)
def test_however_the_bytes_are_cut_each_message_comes_once_and_in_order(
    messages: list[dict[str, Any]], cuts: list[int]
) -> None:
    raw = lines(messages)
    assert heard(pieces(raw, cuts)) == ([expected(one) for one in messages], None)
    assert heard([bytes([octet]) for octet in raw]) == heard([raw] if raw else [])


@given(MESSAGES, st.binary(max_size=60), CUTS)
def test_nonsense_ends_alike_however_it_is_cut_and_what_was_whole_is_heard(
    messages: list[dict[str, Any]], nonsense: bytes, cuts: list[int]
) -> None:
    raw = lines(messages) + nonsense + b"\n"
    found, ended = heard([raw])
    assert heard(pieces(raw, cuts)) == (found, ended)
    assert found[: len(messages)] == [expected(one) for one in messages]


@given(MESSAGES, CUTS, st.integers(0, 4000))
def test_an_end_in_the_middle_is_told_after_what_was_whole(
    messages: list[dict[str, Any]], cuts: list[int], end: int
) -> None:
    raw = lines(messages)
    raw = raw[: end % (len(raw) + 1)]
    found, ended = heard([*pieces(raw, cuts), b""])
    assert found == [expected(one) for one in messages][: raw.count(b"\n")]
    assert ended is Code.NOT_HERE


@pytest.mark.parametrize("ended", [b"", b"\n"])
@given(CUTS)
def test_a_line_that_is_too_long_is_refused_before_it_is_read(ended: bytes, cuts: list[int]) -> None:
    raw = lines([{"id": 1, "result": {}}]) + b"x" * LINE_BYTES + ended
    assert heard(pieces(raw, cuts)) == ([("answer", 1, {}, None)], Code.MALFORMED_MESSAGE)


def test_the_longest_line_is_read() -> None:
    frame = len(lines([{"id": 1, "result": {"t": ""}}]))
    raw = lines([{"id": 1, "result": {"t": "x" * (LINE_BYTES - frame)}}])
    assert len(raw) == LINE_BYTES
    ((_, ident, _, _),), ended = heard([raw])
    assert (ident, ended) == (1, None)


def test_a_word_without_an_id_ends_it_with_its_reason() -> None:
    refusal = {"id": None, "error": {"code": -32000, "message": "Full.", "data": {"code": "E5004"}}}
    found, ended = heard([lines([{"id": 1, "result": {}}, refusal, {"id": 2, "result": {}}])])
    assert ([one[1] for one in found], ended) == ([1], Code.BUSY)


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_every_call_has_an_id_of_its_own_and_is_one_line(methods: list[str]) -> None:
    wire = Wire()
    calls = [wire.make_call(method, {"text": method}) for method in methods]
    assert len({ident for ident, _ in calls}) == len(calls)
    for (ident, line), method in zip(calls, methods, strict=True):
        assert line.count(b"\n") == 1
        assert json.loads(line)["id"] == ident
        assert json.loads(line)["method"] == method


@given(st.lists(st.integers(0, 99), max_size=20), st.integers(1, 7), st.none() | st.integers(1, 25))
def test_pages_together_are_the_whole_or_as_much_as_was_asked_for(
    items: list[int], room: int, limit: int | None
) -> None:
    pages = Pages("memory_list", {} if limit is None else {"limit": limit})
    asked = 0
    while pages.params is not None:
        start, most = int(pages.params.get("after", 0)), min(room, pages.params.get("limit", room))
        page: dict[str, Any] = {"items": items[start : start + most], "of": asked}
        if start + most < len(items):
            page["next"] = start + most
        pages.add(page)
        asked += 1
    whole = pages.join_pages()
    assert whole["items"] == (items if limit is None else items[:limit])
    assert whole["of"] == 0
    assert "next" not in whole
    assert asked <= -(-len(items) // room) + 1


def test_a_notice_is_not_a_report() -> None:
    wire = Wire()
    wire.feed_bytes(lines([{"method": "changed", "params": {"seq": 1}}]))
    assert wire.next_message() == Notice("changed", {"seq": 1})
    assert wire.next_message() is None

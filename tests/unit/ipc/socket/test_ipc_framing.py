"""Lines in, lines out, and answers that keep the cap."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.errors import Code, LociError
from core.ipc.protocol.messages import LINE_BYTES
from core.ipc.socket.line_stream import LineReader, LineTooLongError, LineWriter, StreamEndedError, fit_reply


def fed(*chunks: bytes, end: bool = True) -> asyncio.StreamReader:
    stream = asyncio.StreamReader(limit=64 * 1024)
    for chunk in chunks:
        stream.feed_data(chunk)
    if end:
        stream.feed_eof()
    return stream


async def test_glued_and_split_lines() -> None:
    reader = LineReader(fed(b"one\ntwo\nth", b"ree\n", b"rest"), line_s=5)
    assert [await reader.next_line(None) for _ in range(3)] == [b"one", b"two", b"three"]
    with pytest.raises(StreamEndedError):
        await reader.next_line(None)


async def test_the_cap_counts_before_parsing() -> None:
    reader = LineReader(fed(b"x" * 10 + b"\n"), line_s=5, cap=10)
    assert await reader.next_line(None) == b"x" * 10
    with pytest.raises(LineTooLongError):
        await LineReader(fed(b"x" * 11 + b"\n"), line_s=5, cap=10).next_line(None)
    with pytest.raises(LineTooLongError):
        await LineReader(fed(b"x" * 11, end=False), line_s=5, cap=10).next_line(None)


async def test_an_endless_line_is_given_up() -> None:
    stream = fed(b"x" * 4096, end=False)
    reader = LineReader(stream, line_s=60, cap=100, discard=10_000)
    with pytest.raises(LineTooLongError):
        await reader.next_line(None)
    feeding = asyncio.create_task(_feed(stream))
    await reader.discard_line()
    feeding.cancel()


async def _feed(stream: asyncio.StreamReader) -> None:
    while True:
        stream.feed_data(b"y" * 1000)
        await asyncio.sleep(0)


async def test_the_rest_of_a_long_line_is_swallowed() -> None:
    reader = LineReader(fed(b"x" * 500, b"\n"), line_s=5, cap=100)
    with pytest.raises(LineTooLongError):
        await reader.next_line(None)
    await reader.discard_line()


async def test_idle_and_slow_peers_are_cut() -> None:
    with pytest.raises(StreamEndedError):
        await LineReader(fed(end=False), line_s=5).next_line(0.01)
    with pytest.raises(StreamEndedError):
        await LineReader(fed(b"never done", end=False), line_s=0.01).next_line(None)


@pytest.fixture
async def pipe() -> AsyncIterator[tuple[asyncio.StreamWriter, socket.socket]]:
    ours, theirs = socket.socketpair()
    _, writer = await asyncio.open_connection(sock=ours)
    yield writer, theirs
    theirs.close()
    writer.transport.abort()


async def test_a_peer_that_does_not_read_is_cut_off(pipe: tuple[asyncio.StreamWriter, socket.socket]) -> None:
    writer, _ = pipe
    lines = LineWriter(writer, drain_s=0.05)
    with pytest.raises(StreamEndedError):  # noqa: PT012 - how many lines fit is the kernel's matter
        for _ in range(64):
            await lines.send_line(b"x" * LINE_BYTES)
    assert writer.is_closing()
    with pytest.raises(StreamEndedError):
        await lines.send_line(b"more")


async def test_reports_are_dropped_when_there_is_no_room(pipe: tuple[asyncio.StreamWriter, socket.socket]) -> None:
    writer, _ = pipe
    lines = LineWriter(writer, drain_s=5)
    for _ in range(2000):
        lines.post_message({"label": "x" * 1000})
    assert writer.transport.get_write_buffer_size() < 128 * 1024


def many(count: int, size: int) -> dict[str, Any]:
    return {"items": [{"id": f"i{n}", "text": "x" * size} for n in range(count)], "total": count}


def test_an_answer_that_fits_is_whole() -> None:
    line, kept = fit_reply(1, many(3, 10))
    assert kept is None
    assert "next" not in json.loads(line)["result"]


def test_an_answer_is_cut_at_whole_items() -> None:
    line, kept = fit_reply("a", many(200, 8192))
    body = json.loads(line)["result"]
    assert len(line) <= LINE_BYTES
    assert kept == len(body["items"]) == 31
    assert body["next"] == body["items"][-1]["id"] == "i30"
    assert all(len(item["text"]) == 8192 for item in body["items"])
    assert body["total"] == 200


def test_one_item_that_is_too_long_is_shortened_and_says_so() -> None:
    line, kept = fit_reply(1, many(2, LINE_BYTES * 2))
    body = json.loads(line)["result"]
    assert len(line) <= LINE_BYTES
    assert (kept, body["next"]) == (1, "i0")
    assert body["items"][0]["text_cut"] is True
    only, kept = fit_reply(1, many(1, LINE_BYTES * 2))
    assert kept is None
    assert "next" not in json.loads(only)["result"]


def test_other_long_lists_are_cut_and_named() -> None:
    errors = [{"where": f"line {n}", "message": "m" * 60} for n in range(10_000)]
    body = json.loads(fit_reply(1, {"stored": 5, "errors": errors})[0])["result"]
    assert body["cut"] == ["errors"]
    assert 1000 < len(body["errors"]) < 10_000
    assert body["stored"] == 5


def test_long_near_misses_do_not_starve_the_items() -> None:
    misses = [{"id": f"m{n}", "sentence": "m" * 100} for n in range(5000)]
    line, kept = fit_reply(1, {**many(100, 1000), "near_misses": misses})
    body = json.loads(line)["result"]
    assert len(line) <= LINE_BYTES
    assert kept is None
    assert len(body["items"]) == 100
    assert body["cut"] == ["near_misses"]


def test_what_cannot_be_cut_is_refused() -> None:
    with pytest.raises(LociError) as caught:
        fit_reply(1, {"blob": "x" * LINE_BYTES})
    assert caught.value.code is Code.TEXT_TOO_LARGE


def test_the_names_of_what_was_cut_are_not_cut_themselves() -> None:
    with pytest.raises(LociError) as caught:
        fit_reply(1, {"blob": "x" * LINE_BYTES, "errors": ["e"] * 100, "left": ["l"]})
    assert caught.value.code is Code.TEXT_TOO_LARGE


LONG: list[dict[str, Any]] = [
    {"ref": "r" * 300_000},
    {"extra": {"blob": "z" * 400_000}},
    {"extra": {f"key {n}": n for n in range(40_000)}},
    {"tags": ["t" * 400_000], "flags": []},
    {"ref": "r" * 300_000, "text": "\x01" * 300_000, "extra": {"a": "x" * 300_000}},
    {"provenance": {"sources": [{"session": "s" * 400_000}], "origin": {"file": "f"}}},
    {"provenance": {"origin": {f"o{n}": "v" * 100 for n in range(5_000)}}},
]


@pytest.mark.parametrize("members", LONG)
def test_a_row_with_any_long_member_is_shown_with_a_mark(members: dict[str, Any]) -> None:
    row = {"id": "i0", "text": "short", "score": 0.5, **members}
    single = fit_reply(1, row)[0]
    page, kept = fit_reply(1, {"items": [row, {"id": "i1", "text": "next"}], "total": 2})
    assert max(len(single), len(page)) <= LINE_BYTES
    body = json.loads(page)["result"]
    assert (kept, body["next"], body["total"]) == (1, "i0", 2)
    for shown in (json.loads(single)["result"], body["items"][0]):
        assert shown["cut"] == sorted(name for name, value in members.items() if value)
        assert (shown["id"], shown["score"]) == ("i0", 0.5)
        assert shown.get("text_cut", False) is ("text" in members)
        if "text" not in members:
            assert shown["text"] == "short"


def test_a_long_extra_is_left_out_before_anything_is_shortened() -> None:
    row = {"id": "i0", "text": "t" * 200_000, "extra": {"blob": "z" * 100_000}}
    shown = json.loads(fit_reply(1, row)[0])["result"]
    assert (shown["extra"], len(shown["text"]), shown["cut"]) == ({}, 200_000, ["extra"])

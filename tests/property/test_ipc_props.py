"""Laws of the socket's parser, requests, framing and limits."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable
from datetime import date
from typing import Any

from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ipc_peers import REGISTRY

from core.errors import Code, LociError
from core.ipc.methods.searches import FAR_DAYS, RecallParams, plan_change
from core.ipc.protocol.contract import Method, format_wire_time
from core.ipc.protocol.messages import (
    LINE_BYTES,
    MAX_DEPTH,
    BadMessage,
    RateLimitedError,
    check_message_text,
    escape_text,
    parse_message,
    parse_request_line,
)
from core.ipc.socket.limits import SearchLimits
from core.ipc.socket.line_stream import LineReader, LineTooLongError, StreamEndedError, fit_reply
from core.types.clock import ManualClock
from core.types.recall import PlanChange
from core.types.values import band_word

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NUMBER = st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
LEAF = st.none() | st.booleans() | NUMBER | TEXT
TREE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))
OBJECT = st.dictionaries(TEXT, TREE, max_size=5)
PLANTED = "quinquagesima"


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((depth(v) for v in value.values()), default=0)
    return 1 + max((depth(v) for v in value), default=0) if isinstance(value, list) else 0


@given(OBJECT, st.booleans())
def test_what_is_sound_comes_back(value: dict[str, Any], ascii_only: bool) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only).encode()
    if depth(value) > MAX_DEPTH:
        try:
            parse_message(line)
        except BadMessage:
            return
        raise AssertionError("too deep, and taken")
    assert parse_message(line) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_bad_message(line: bytes) -> None:
    try:
        found = parse_message(line)
    except BadMessage:
        return
    assert isinstance(found, dict)
    check_message_text(found)
    json.dumps(found, allow_nan=False).encode()


SHARDS = ['"', "\\", '\\"', "[", "]", "{", "}", ":", ",", "1", "a", " ", "\\u00", "\\ud83d"]


def refusal(call: Callable[[], object]) -> LociError | None:
    """What a call is refused with; None when it is not."""
    try:
        call()
    except LociError as error:
        return error
    return None


@given(st.lists(st.sampled_from(SHARDS), max_size=200))
def test_brackets_and_quotes_in_any_order(pieces: list[str]) -> None:
    bad = refusal(lambda: parse_message("".join(pieces).encode()))
    assert bad is None or (bad.code is Code.MALFORMED_MESSAGE and bad.__cause__ is None)


def test_mutants_of_a_request() -> None:
    """A seeded walk: only BadMessage leaves the reader, and never with any of the text."""
    chance = random.Random(20240611)
    base = json.dumps(
        {"jsonrpc": "2.0", "id": 7, "method": "memory_store", "params": {"text": PLANTED, "tags": ["a", 1.5, None]}}
    ).encode()
    pieces = [shard.encode() for shard in SHARDS]
    pieces += [b"\\u0000", b"\\ud800", b"NaN", b"1e999", b"\xff", b"\0", b"9" * 20]
    taken = 0
    for _ in range(5_000):
        line = bytearray(base)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(line) + 1)
            action = chance.randrange(4)
            if action == 0:
                line[at:at] = chance.choice(pieces)
            elif action == 1:
                del line[at : at + chance.randint(1, 8)]
            elif action == 2:
                line[at : at + 1] = bytes([chance.randrange(256)])
            else:
                line[at:at] = line[: chance.randint(0, 30)]
        bad = refusal(lambda: parse_request_line(bytes(line)))  # noqa: B023 - called at once
        if bad is None:
            taken += 1
            continue
        assert bad.code is Code.MALFORMED_MESSAGE
        assert PLANTED not in str(bad)
        assert bad.__cause__ is None
    assert 0 < taken < 2_500


KEYS = TEXT | st.sampled_from(["text", "id", "query", "claim", "limit"])


@given(st.sampled_from(sorted(REGISTRY.methods)), st.dictionaries(KEYS, TREE, max_size=5))
def test_parameters_are_taken_or_refused_in_one_sentence(name: str, params: dict[str, Any]) -> None:
    method: Method = REGISTRY.find_method(name)
    error = refusal(lambda: method.check_params(params))
    if error is None:
        assert method.check_params(params).keys() <= method.params["properties"].keys()
        return
    assert error.code is Code.INVALID_INPUT
    assert len(error.sentence) < 600
    assert "\n" not in error.sentence


@given(
    st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")), max_size=8), st.lists(st.integers(0, 200))
)
def test_lines_survive_any_cutting(lines: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    bounds = [0, *sorted({min(cut, len(whole)) for cut in cuts}), len(whole)]

    async def read() -> list[bytes]:
        stream = asyncio.StreamReader(limit=1 << 16)
        for start, end in itertools.pairwise(bounds):
            stream.feed_data(whole[start:end])
        stream.feed_eof()
        reader, found = LineReader(stream, line_s=5, cap=20), []
        try:
            while True:
                found.append(await reader.next_line(None))
        except StreamEndedError:
            return found
        except LineTooLongError:
            return [*found, b"too long"]

    found = asyncio.run(read())
    first_long = next((n for n, line in enumerate(lines) if len(line) > 20), None)
    assert found == (lines if first_long is None else [*lines[:first_long], b"too long"])


@settings(max_examples=count_examples(30))
@given(st.lists(st.integers(0, 60_000), max_size=60), st.booleans())
def test_an_answer_never_passes_the_cap(sizes: list[int], wide: bool) -> None:
    letter = "\U0001f600" if wide else "\\"
    items = [{"id": f"i{n}", "text": letter * (size // 4)} for n, size in enumerate(sizes)]
    line, kept = fit_reply("x", {"items": items, "total": len(items)})
    body = json.loads(line)["result"]
    assert len(line) <= LINE_BYTES
    assert body["items"] == items[: len(body["items"])]
    assert (kept is None) == (len(body["items"]) == len(items))
    if kept is not None:
        assert body["next"] == items[kept - 1]["id"]


@given(st.lists(st.integers(0, 20_000), max_size=80), st.integers(1, 6))
def test_never_more_than_the_limit_in_any_minute(pauses: list[int], limit: int) -> None:
    clock = ManualClock(10**12)
    limits, allowed = SearchLimits(clock), []
    for pause in pauses:
        clock.advance(pause)
        wait = refusal(lambda: limits.spend_search("a", limit, None))
        if wait is None:
            allowed.append(clock.at_ms)
        else:
            assert isinstance(wait, RateLimitedError)
            assert 0 < wait.retry_after <= 60
    for start in allowed:
        assert sum(start <= at < start + 60_000 for at in allowed) <= limit


@given(st.text(max_size=200), st.integers(2, 60))
def test_shown_names_are_one_short_plain_line(text: str, limit: int) -> None:
    found = escape_text(text, limit)
    assert len(found) <= limit
    assert found.isprintable()
    assert not set(found) & set("<>&")


NOW = 1_779_000_000_000  # 17 May 2026
DAYS = st.dates(FAR_DAYS.first, FAR_DAYS.last)


def planned(params: dict[str, str] | dict[str, float]) -> PlanChange | None:
    return plan_change(RecallParams.read({"query": "tea", **params}), NOW)


@given(DAYS, DAYS)
def test_two_days_are_a_range_or_refused(one: date, other: date) -> None:
    params = {"from": one.isoformat(), "to": other.isoformat()}
    if one > other:
        bad = refusal(lambda: planned(params))
        assert bad is not None
        assert bad.code is Code.INVALID_INPUT
        return
    change = planned(params)
    assert change is not None
    assert change.time is not None
    assert (change.time.first_day, change.time.last_day, change.time.words) == (params["from"], params["to"], "")
    days = (change.time.to_ms - change.time.from_ms) / 86_400_000
    assert abs(days - (other - one).days - 1) < 0.2  # the clocks are put forward and back


@given(DAYS)
def test_a_range_that_is_open_holds_the_day_that_is_named(day: date) -> None:
    for name in ("from", "to"):
        change = planned({name: day.isoformat()})
        assert change is not None
        assert change.time is not None
        assert change.time.first_day <= day.isoformat() <= change.time.last_day
        assert change.time.from_ms < change.time.to_ms


@given(
    st.text(max_size=20) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True), st.sampled_from(["from", "to"])
)
def test_any_text_is_a_day_or_refused_in_one_sentence(text: str, field: str) -> None:
    bad = refusal(lambda: planned({field: text}))
    if bad is None:
        assert date.fromisoformat(text).isoformat() == text
        return
    assert bad.code is Code.INVALID_INPUT
    assert bad.sentence.startswith(f"`{field}` ")
    assert len(text) < 5 or text not in bad.sentence.replace("2026-01-31", "")
    assert bad.__cause__ is None


@given(st.floats())
def test_a_weight_is_a_share_or_refused(weight: float) -> None:
    bad = refusal(lambda: planned({"text_weight": weight}))
    assert (bad is None) == (0 <= weight <= 1)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_times_keep_their_order(ms: int) -> None:
    text = format_wire_time(ms)
    assert text is not None
    assert text.endswith("Z")
    later = format_wire_time(min(ms + 86_400_000, 253_402_300_799_999))
    assert later is not None
    assert later[:10] >= text[:10]


@given(st.floats(0, 1), st.floats(0, 1))
def test_bands_rise_with_the_score(one: float, other: float) -> None:
    order = ["minimal", "low", "medium", "high"]
    low, high = sorted((one, other))
    assert order.index(band_word(low)) <= order.index(band_word(high))

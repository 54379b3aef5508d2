"""An answer that is too long is cut as by the plain way, which encodes everything anew at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, UserError
from core.ipc.protocol.messages import encode_message
from core.ipc.socket import line_stream

KEPT = {"id", "cut"}

names = st.sampled_from(["id", "text", "extra", "tags", "claim", "cut", "é", 'a"b', ""])
texts = st.text(max_size=80) | st.integers(0, 900).map(lambda count: "ü" * count) | st.just("\ud800\udc00x")
plain = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(names, inner, max_size=5), max_leaves=12
)
cuts = st.lists(st.sampled_from(["text", "tags"]), max_size=2)
items = st.dictionaries(names.filter(lambda name: name != "cut"), values, max_size=6).flatmap(
    lambda item: cuts.map(lambda cut: {**item, "cut": cut} if cut else item)
)
rooms = st.integers(2, 1200)


def outcome(cut: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any] | Code:
    try:
        return cut()
    except UserError as error:
        return error.code


@given(items, rooms)
def test_a_memory_is_shortened_as_by_the_plain_way(item: dict[str, Any], room: int) -> None:
    before = encode_message(item)
    assert outcome(lambda: line_stream._shorten_item(item, room)) == outcome(lambda: shortened(item, room))
    assert encode_message(item) == before


@given(items, rooms)
def test_lists_are_cut_as_by_the_plain_way(result: dict[str, Any], room: int) -> None:
    found = outcome(lambda: line_stream._cut_lists(result, room - 1))
    assert found == outcome(lambda: cut_lists(result, lambda smaller: len(encode_message(smaller)) <= room))


@given(items)
def test_a_measured_object_is_as_long_as_it_is_written(item: dict[str, Any]) -> None:
    assert line_stream._Measured(item).length == len(encode_message(item)) - 1


# The plain way, as it stood before each member was measured once.


def shortened(item: Mapping[str, Any], room: int) -> Mapping[str, Any]:
    """Make one memory fit: `extra` goes first where it is long, then the longest members shrink; `cut` names them.

    A text that was shortened is marked with `text_cut` too.
    """
    shorter = dict(item)
    steps = 0
    while len(encode_message(shorter)) > room:
        sizes = {key: size(value) for key, value in shorter.items() if key not in KEPT and shrinks(value)}
        if not sizes:
            raise UserError(Code.TEXT_TOO_LARGE, "too large")
        name = "extra" if sizes.get("extra", 0) > 1024 else max(sizes, key=lambda key: sizes[key])
        steps += 1
        shorter[name] = type(item[name])() if name == "extra" or steps > 64 else less(shorter[name])
        shorter["cut"] = sorted({*shorter.get("cut", ()), name})
        if name == "text":
            shorter["text_cut"] = True
    return shorter


def less(value: Any) -> Any:
    """A text, list or object that is shorter than it was; `value` is not empty."""
    if not isinstance(value, dict):
        return value[: len(value) // 2]
    longest = max(value, key=lambda key: size(value[key]))
    if size(value[longest]) <= 64 or not shrinks(value[longest]):
        return {}
    return {**value, longest: less(value[longest])}


def size(value: object) -> int:
    return len(encode_message({"": value}))


def shrinks(value: object) -> bool:
    return isinstance(value, str | list | dict) and bool(value)


def cut_lists(result: Mapping[str, Any], fits: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
    shorter = dict(result)
    while not fits(shorter):
        lists = {
            key: size(value) for key, value in shorter.items() if key != "cut" and isinstance(value, list) and value
        }
        if not lists:
            raise UserError(Code.TEXT_TOO_LARGE, "too large")
        longest = max(lists, key=lambda key: lists[key])
        shorter[longest] = shorter[longest][: len(shorter[longest]) // 2]
        shorter["cut"] = sorted({*shorter.get("cut", ()), longest})
    return shorter

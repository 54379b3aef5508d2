"""What an assistant reads of a result: memory text fenced, an element each, nothing that acts, and never too much.

Every text of a result passes `core.text.screening.fences`, as in a packed context, so none can close its element
(E10.14.2). In a list a text has at most `SHOWN` characters, a result at most `TOKENS` tokens; what was left out is
told with the way to it. Must not do: leave a text unfenced, cut one after it was fenced, shorten anything without
saying so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from app.mcp.messages import format_sentence
from core.text.screening.fences import escape_fenced

TOKENS = 8_000
"""Of a whole result."""

SHOWN = 500
"""Characters of a text in a list, as they are read: after fencing."""

_LABELS = ("id", "kind", "status", "score", "trust", "space", "said_by", "contradicts")
_VERSION = ("version", "valid_from", "valid_to", "retired_at", "superseded_by")
_TURN = ("turn", "at_hand", "resumed", "clarifying")
_LISTS = ("items", "versions", "conflicts")  # each goes on behind `after`
_LABEL = 128
_RESERVE = 200  # tokens of the sentences round a list
_MARK = "…"
_END = "</memory>\n"
# What a vocabulary of byte pairs makes one token of at most; a sign beyond ASCII may cost two, an emoji three.
_PIECES = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]|\n")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_UPPER_PLANES = re.compile(r"[^\x00-\uffff]")
_DAY = 10  # characters of an ISO 8601 moment
_LENGTHS = {"year": 4, "month": 7, "day": _DAY}


def estimate_tokens(text: str) -> int:
    """A high estimate of a text's tokens, for a process that must not load a tokenizer.

    Against the engine's own estimate (`core.embed.embedder`) it is 0.9 to 2.2 times as much.
    """
    return sum(len(found.findall(text)) for found in (_PIECES, _BEYOND_ASCII, _UPPER_PLANES))


def format_result(result: Mapping[str, Any], whole: str = "", offset: int = 0) -> str:
    """A result as text.

    Args:
        result: of any client method.
        whole: where the whole of a text is found that was cut.
        offset: characters of one memory's text that the call passed over.

    Returns:
        A packed context as it is; memories as elements; anything else as JSON whose texts are fenced.
    """
    if _is_packed(result):
        return _format_context_for_model(result)
    for name in ("items", "versions"):
        items = result.get(name)
        if isinstance(items, list) and all(_is_memory(item) for item in items):
            return _format_memories_for_model(result, items, whole)
    if _is_memory(result):
        return _format_single(result, offset)
    return json.dumps(_fit_result(_format_result(result)), ensure_ascii=False)


def _is_packed(result: Mapping[str, Any]) -> bool:
    return isinstance(result.get("text"), str) and "included" in result


def _is_memory(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("text"), str) and "id" in value and "kind" in value


def _format_context_for_model(result: Mapping[str, Any]) -> str:
    """The engine fenced it; where it is too long it is cut behind a memory."""
    text = str(result["text"]) or format_sentence("no_context")
    beside = _fit_result(_format_result({name: result[name] for name in _TURN if result.get(name)}), TOKENS // 8)
    told = json.dumps(beside, ensure_ascii=False) if beside else ""
    room = TOKENS - estimate_tokens(told) - _RESERVE
    if estimate_tokens(text) > room:
        kept = list[str]()
        for part in text.split(_END)[:-1]:
            room -= estimate_tokens(part + _END)
            if room < 0:
                break
            kept.append(part + _END)
        text = "".join(kept) + format_sentence("context_cut")
    return f"{text}\n{told}" if told else text


def _is_named(value: object) -> bool:
    return isinstance(value, Mapping) and "id" in value


def _format_memories_for_model(result: Mapping[str, Any], items: list[Mapping[str, Any]], whole: str) -> str:
    if not items:
        return escape_fenced(format_sentence("nothing", reason=str(result.get("reason") or "")))
    elements, any_cut, room = list[str](), False, TOKENS - _RESERVE
    for item in items:
        text, cut = _fence_text(str(item["text"]), SHOWN)
        element = _format_memory_for_model(item, text, cut)
        room -= estimate_tokens(element) + 1
        if room < 0:
            break
        elements.append(element)
        any_cut = any_cut or cut is not None
    lines = [format_sentence("data"), *elements, whole if any_cut else ""]
    following = result.get("next") if len(elements) == len(items) else items[len(elements) - 1]["id"]
    if following is not None:
        lines.append(format_sentence("more", next=_escape_label(following)))
    if _is_memory(result.get("current")):
        lines.append(format_sentence("current", id=_escape_label(result["current"]["id"])))
    return "\n".join(line for line in lines if line)


def _format_single(item: Mapping[str, Any], offset: int) -> str:
    text, room = str(item["text"]), TOKENS - _RESERVE - estimate_tokens(_format_memory_for_model(item, "", None))
    shown, kept = escape_fenced(text), len(text)
    while estimate_tokens(shown) > room:
        kept = min(kept - 1, int(kept * room / estimate_tokens(shown)))
        shown = escape_fenced(text[:kept])
    lines = [
        format_sentence("data"),
        _format_memory_for_model(item, shown, None if kept == len(text) else (kept, len(text))),
    ]
    if kept < len(text) or item.get("text_cut"):
        lines.append(format_sentence("text_goes_on", offset=str(offset + kept), id=_escape_label(item["id"])))
    return "\n".join(lines)


def _format_memory_for_model(item: Mapping[str, Any], shown: str, cut: tuple[int, int] | None) -> str:
    """A memory's element.

    Args:
        shown: its text, fenced.
        cut: characters of it that are shown, and that it has; None where it is whole.
    """
    given = {name: item[name] for name in (*_LABELS, *_VERSION) if item.get(name) not in (None, "")}
    given |= _moment_attributes(item)
    marks = [f'{name}="{_escape_label(value)}"' for name, value in given.items()]
    if cut is not None:
        marks.append(f'cut="{cut[0]} of {cut[1]} characters"')
    return f"<memory {' '.join(marks)}>{shown}</memory>"


def _moment_attributes(item: Mapping[str, Any]) -> dict[str, str]:
    """When a memory was said, with no more of it than is known; else, as nobody knows that, when it came in."""
    if item.get("occurred_at"):
        moment = str(item["occurred_at"])
        return {"when": moment[: _LENGTHS.get(str(item.get("occurred_precision") or ""), len(moment))]}
    return {"noted": str(item.get("created_at") or "")[:_DAY]}


def _escape_label(value: object) -> str:
    return _fence_text(str(value), _LABEL)[0]


def _fence_text(text: str, room: int) -> tuple[str, tuple[int, int] | None]:
    """A text fenced, in as many characters as there is room for.

    It is cut before it is fenced, so that no escape is cut in two.

    Returns:
        The text, and how many of its characters are shown of how many; None where it is whole.
    """
    head = text[: 8 * room]  # enough to look at: fencing takes away only what has no face
    shown = escape_fenced(head)
    if len(shown) <= room and len(head) == len(text):
        return shown, None
    low, high = 0, len(head)
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(escape_fenced(head[:middle])) < room
        low, high = (middle, high) if fits else (low, middle - 1)
    return escape_fenced(head[:low]) + _MARK, (low, len(text))


def _format_result(value: Any, *, in_list: bool = False) -> Any:
    """A result as JSON: texts fenced, those of memories and in lists cut, a memory with what it is known by alone."""
    if isinstance(value, str):
        return _fence_text(value, SHOWN)[0] if in_list else escape_fenced(value)
    if _is_memory(value):
        return _brief_memory(value)
    if isinstance(value, Mapping):
        return {_escape_label(key): _format_result(part, in_list=in_list) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_format_result(part, in_list=True) for part in value]
    return value


def _brief_memory(item: Mapping[str, Any]) -> dict[str, Any]:
    text, cut = _fence_text(str(item["text"]), SHOWN)
    found = {name: _format_result(item[name], in_list=True) for name in _LABELS if item.get(name) not in (None, "")}
    found |= {"text": text} | {name: _escape_label(value) for name, value in _moment_attributes(item).items()}
    return found if cut is None else {**found, "cut": f"{cut[0]} of {cut[1]} characters"}


def _fit_result(result: dict[str, Any], room: int = TOKENS - _RESERVE) -> dict[str, Any]:
    """A result within its tokens; what it lost is told, with the way on where it has one."""
    found = result
    while estimate_tokens(json.dumps(found, ensure_ascii=False)) > room:
        found = _shorten_value(found)
    for name in _LISTS:
        entries = found.get(name)
        if isinstance(entries, list) and entries and len(entries) < len(result[name]) and _is_named(entries[-1]):
            return {**found, "next": entries[-1]["id"], "note": format_sentence("more", next=entries[-1]["id"])}
    return found if found is result else {**found, "note": format_sentence("result_cut")}


def _shorten_value(value: Any) -> Any:
    """About a quarter less: a text or list loses its end, an object some of its largest member or its last members.

    No escape of a fenced text is cut in two.
    """
    if isinstance(value, str):
        kept = value[: len(value) * 3 // 4]
        at = kept.rfind("&")
        return kept if at < 0 or ";" in kept[at:] else kept[:at]
    if isinstance(value, list):
        return value[: len(value) * 3 // 4] if len(value) > 1 else [_shorten_value(part) for part in value]
    if not isinstance(value, dict) or not value:
        return None
    sizes = {key: len(json.dumps(part, ensure_ascii=False)) for key, part in value.items()}
    largest = max(sizes, key=lambda key: sizes[key])
    if 4 * sizes[largest] < sum(sizes.values()):
        return dict(list(value.items())[: len(value) * 3 // 4])
    return {**value, largest: _shorten_value(value[largest])}

"""What an assistant reads of a result, as text and as object: memory text fenced, an element each, nothing that acts.

Every text of a result passes `core.text.fencing`, as in a packed context, so none can close its element (E10.14.2).
Must not do: shorten a text, leave one unfenced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.mcp.words import sentence
from core.text.fencing import fenced

_SHOWN = ("id", "kind", "status", "score", "trust", "space", "author")
_DAY = 10  # characters of an ISO 8601 moment
_LENGTHS = {"year": 4, "month": 7, "day": _DAY}


def readable(result: Mapping[str, Any]) -> str:
    """A result as text.

    Args:
        result: of any client method.

    Returns:
        A packed context as it is; memories as elements; anything else as JSON whose texts are fenced.
    """
    items = result.get("items")
    if _is_packed(result):
        return str(result["text"]) or sentence("no_context")  # fenced by the engine that packed it
    if isinstance(items, list) and all(_is_memory(item) for item in items):
        return _listed(result, items)
    if _is_memory(result):
        return "\n".join((sentence("data"), _element(result)))
    return json.dumps(_fenced(result), ensure_ascii=False)


def structured(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result as the object beside its text, for an assistant that hands its model this part instead.

    Args:
        result: of any client method.

    Returns:
        The same members, every text fenced as in `readable`; the text of a packed context as it is.
    """
    found = {fenced(str(key)): _fenced(part) for key, part in result.items()}
    return {**found, "text": result["text"]} if _is_packed(result) else found


def _is_packed(result: Mapping[str, Any]) -> bool:
    return isinstance(result.get("text"), str) and "included" in result


def _is_memory(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("text"), str) and "id" in value and "kind" in value


def _listed(result: Mapping[str, Any], items: list[Mapping[str, Any]]) -> str:
    if not items:
        return fenced(sentence("nothing", reason=str(result.get("reason") or "")))
    lines = [sentence("data"), *(_element(item) for item in items)]
    if "next" in result:
        lines.append(sentence("more", next=fenced(str(result["next"]))))
    return "\n".join(lines)


def _element(item: Mapping[str, Any]) -> str:
    given = {name: item[name] for name in _SHOWN if item.get(name) not in (None, "")}
    if item.get("occurred_at"):
        given["when"] = _known(str(item["occurred_at"]), str(item.get("occurred_precision") or ""))
    else:  # nobody knows when it was said: only when it came in
        given["noted"] = str(item.get("created_at") or "")[:_DAY]
    marks = " ".join(f'{name}="{fenced(str(value))}"' for name, value in given.items())
    return f"<memory {marks}>{fenced(str(item['text']))}</memory>"


def _known(moment: str, precision: str) -> str:
    """An ISO 8601 moment with no more of it than is known."""
    return moment[: _LENGTHS.get(precision, len(moment))]


def _fenced(value: Any) -> Any:
    if isinstance(value, str):
        return fenced(value)
    if isinstance(value, Mapping):
        return {fenced(str(key)): _fenced(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_fenced(part) for part in value]
    return value

"""The health of the palace in words: names and values of its figures, and what the person can do.

Must not do: judge a figure; the engine's warnings do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.types.lifecycle import Health, Pressure
from ui.pages.journal.common.job_words import moment
from ui.strings import journal_strings

GROUPS: Mapping[str, tuple[str, ...]] = {
    "counts": ("counts",),
    "search": ("degradation", "performance"),
    "ram": ("ram",),
    "background": ("background",),
}
"""Groups of the page, and the members of `Health` whose figures stand in them."""
_MEGA = "_mb"
_MILLI = "_ms"
_UNTOLD = frozenset({"warnings"})
_TIMES = frozenset({"last_consolidation", "last_sweep"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its key, its name, its value in words."""

    key: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What the person can do: a sentence, and where a button leads."""

    sentence: str
    act: str
    page: str
    wish: str


def figures_of(health: Health, group: str, now_ms: int) -> tuple[Figure, ...]:
    """The figures of a group in the order of their names; those without a name come last, by their key.

    Args:
        health: from the engine.
        group: one of `GROUPS`.
        now_ms: the present.
    """
    names: Mapping[str, str] = journal_strings()["health"]["names"]
    found = {
        f"{member}.{key}": value
        for member in GROUPS[group]
        for key, value in getattr(health, member).items()
        if key not in _UNTOLD
    }
    order = [key for key in names if key in found] + [key for key in found if key not in names]
    return tuple(
        Figure(key, names.get(key, _plain(key)), value_told(key.partition(".")[2], found[key], now_ms)) for key in order
    )


def _plain(key: str) -> str:
    return key.partition(".")[2].replace("_", " ").capitalize()


def value_told(key: str, value: Any, now_ms: int) -> str:
    """A value in words: `12 ms`, `120 MB`, `today at 03:00`, `3,214`.

    Args:
        key: its name; what it ends with is its unit.
        value: number, word, or None for what is not known.
        now_ms: the present.
    """
    said = journal_strings()["health"]["values"]
    if isinstance(value, Mapping):
        value = value.get("sentence") or value.get("state") or None
    if value is None:
        return str(said["never"] if key in _TIMES else said.get(f"{key}.none", said["unknown"]))
    if key in _TIMES:
        return moment(int(value), now_ms)
    if isinstance(value, str):
        return str(said.get(f"{key}.{value}", value.replace("_", " ")))
    if key.endswith(_MEGA):
        return f"{value:,.0f} MB"
    if key.endswith(_MILLI):
        return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"
    return f"{value:,}"


def advice_of(health: Health) -> tuple[Advice, ...]:
    """What the person can do, the most pressing first.

    Args:
        health: from the engine.
    """
    keys = []
    if str(health.ram.get("pressure", Pressure.NORMAL)) != Pressure.NORMAL:
        keys.append("pressure")
    keys.append(str(health.degradation.get("search_strategy", "")))
    keys += [key for key in ("pending_embeddings",) if health.counts.get(key)]
    keys += [key for key in ("archive_candidates",) if health.background.get(key)]
    known = journal_strings()["health"]["advice"]
    return tuple(Advice(**known[key]) for key in keys if key in known)

"""The figures of the vault's health in words, and what the person can do about them.

The sentences are `resources/help/journal_page.json`. Must not do: measure anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.types.lifecycle import Health
from core.types.values import Pressure
from ui.pages.journal.labels import format_near_moment
from ui.strings import journal_strings

GROUPS: Mapping[str, tuple[str, ...]] = {
    "counts": ("counts",),
    "search": ("degradation", "performance"),
    "ram": ("ram",),
    "background": ("background",),
}
"""Groups of the page, and the members of `Health` whose figures are in them."""
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
        group: one of `GROUPS`.
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
        Figure(key, names.get(key, _plain_name(key)), format_journal_value(key.partition(".")[2], found[key], now_ms))
        for key in order
    )


def _plain_name(key: str) -> str:
    return key.partition(".")[2].replace("_", " ").capitalize()


def format_journal_value(key: str, value: Any, now_ms: int) -> str:
    """A value in words: `12 ms`, `120 MB`, `today at 03:00`, `3,214`.

    Args:
        key: its name; what it ends with is its unit.
        value: number, word, or None for what is not known.
    """
    strings = journal_strings()["health"]["values"]
    if isinstance(value, Mapping):
        value = value.get("sentence") or value.get("state") or None
    if value is None:
        return str(strings["never"] if key in _TIMES else strings.get(f"{key}.none", strings["unknown"]))
    if key in _TIMES:
        return format_near_moment(int(value), now_ms)
    if isinstance(value, str):
        return str(strings.get(f"{key}.{value}", value.replace("_", " ")))
    if key.endswith(_MEGA):
        return str(strings["mb"]).format(value=f"{value:,.0f}")
    if key.endswith(_MILLI):
        return str(strings["ms"]).format(value=f"{value:,.0f}" if value >= 10 else f"{value:.1f}")
    return f"{value:,}"


def advice_of(health: Health) -> tuple[Advice, ...]:
    """What the person can do, the most pressing first."""
    keys = []
    if str(health.ram.get("pressure", Pressure.NORMAL)) != Pressure.NORMAL:
        keys.append("pressure")
    keys.append(str(health.degradation.get("search_strategy", "")))
    keys += [key for key in ("pending_embeddings",) if health.counts.get(key)]
    keys += [key for key in ("archive_candidates",) if health.background.get(key)]
    known = journal_strings()["health"]["advice"]
    return tuple(Advice(**known[key]) for key in keys if key in known)

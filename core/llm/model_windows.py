"""How many tokens a model reads at once, by its name (E17.5.2), and what of that memory may take (E15.5c, X21).

Asked with every call, so that another model has its own budget at once (E17.5.7). Must not do: know a model that is
not in `resources/models.json`, or count tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.config.options import SessionOptions

MOST_TOKENS = 100_000
"""No context is larger, whatever a model can read; the same bound as a caller's own number has."""

_SAME = re.compile(r"[._\s]+")


@dataclass(frozen=True, slots=True)
class _Table:
    windows: Mapping[str, int]
    by_length: tuple[str, ...]
    before: tuple[str, ...]


@cache
def _load_table() -> _Table:
    read = json.loads((files("resources") / "models.json").read_text("utf-8"))
    windows = {_SAME.sub("-", name): int(size) for name, size in read["windows"].items()}
    before = [f"{word}." for word in (*read["makers"], *read["hosts"])] + [f"{word}:" for word in read["hosts"]]
    return _Table(windows, tuple(sorted(windows, key=lambda name: (-len(name), name))), tuple(before))


def normal_name(model: str) -> str:
    """A model's name as it is looked up: without its maker, host and tag; dots and dashes are one sign (E17.5.2).

    Args:
        model: as a caller writes it, such as `openai/gpt-4o-2024-08-06` or `llama3.1:8b`.

    Returns:
        The bare name in small letters.
    """
    name = model.strip().lower().rsplit("/", 1)[-1].split("@", 1)[0]
    shortened = True
    while shortened:  # `us.anthropic.claude-…` has two
        shortened = False
        for word in _load_table().before:
            if name.startswith(word) and name != word:
                name, shortened = name[len(word) :], True
    return _SAME.sub("-", name.split(":", 1)[0].strip())


def window_of(model: str | None) -> int | None:
    """How many tokens a model reads at once.

    Args:
        model: its name as the caller knows it; None where none is named.

    Returns:
        Tokens; None for a model that is not known. Of several names the longest counts (X18).
    """
    if model is None:
        return None
    name, table = normal_name(model), _load_table()
    for known in table.by_length:
        if name == known or (name.startswith(known) and not name[len(known)].isalnum()):
            return table.windows[known]
    return None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a turn may take.

    Attributes:
        window: tokens the model reads at once.
        budget: tokens the context may have.
        known: whether the model is in the table.
    """

    window: int
    budget: int
    known: bool


def turn_allowance(model: str | None, asked: int | None, options: SessionOptions) -> Allowance:
    """The budget of a chat turn: its share of what the model reads, or what the caller asks up to the ceiling (X21).

    Args:
        model: the model's name; None where none is named.
        asked: tokens the caller wants; None for the share.
        options: shares, and the window of a model that is not known.

    Returns:
        Window and budget; the budget is at most `MOST_TOKENS`.
    """
    found = window_of(model)
    window = options.context_window_tokens if found is None else found
    budget = (
        _share_of_window(window, options.recall_budget_ratio)
        if asked is None
        else min(asked, memory_ceiling(window, options))
    )
    return Allowance(window, min(budget, MOST_TOKENS), found is not None)


def memory_ceiling(window: int, options: SessionOptions) -> int:
    """The most that memory may take of a window (E15.5c: 35 %, whole tokens).

    Args:
        window: tokens the model reads at once.

    Returns:
        Tokens, 0 or more.
    """
    return _share_of_window(window, options.memory_share_ceiling)


def _share_of_window(window: int, ratio: float) -> int:
    return int(window * ratio + 1e-6)  # 0.12 of a round number is that number, not one less

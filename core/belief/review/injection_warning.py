"""Whether what waits reads like an instruction to an assistant, and what letting it in would then mean.

The scan is done anew at each look, so that texts of older vaults are seen too. Must not do: decide anything, or quote.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from core.belief.review.wording import review_strings
from core.text.screening.injection import ALLOWED, FLAG, current_limits, scan
from core.types.memory import Warned
from core.types.values import Memory

DISGUISED = "injection"
"""Kind of an item that asks just that already; who accepts it lets it through."""
_TOLD = 2


def injection_reasons(memory: Memory) -> Warned | None:
    """Why a memory is kept out of what assistants are given by themselves (E10.14.3).

    Returns:
        Why; None where it is not, or the person let it through.
    """
    found = scan(memory.text)
    is_meant = FLAG in memory.flags or found.score > current_limits().flag
    if ALLOWED in memory.flags or not is_meant:
        return None
    return Warned(found.families, found.score > current_limits().block)


def describe_injection(kind: str, memory: Memory) -> str:
    """What the person is warned of before letting a memory in.

    Args:
        kind: of the item.
        memory: the newcomer.

    Returns:
        A sentence or more; "" where there is nothing to warn of, or the item itself asks about it.
    """
    warned = None if kind == DISGUISED else injection_reasons(memory)
    if warned is None:
        return ""
    said: Mapping[str, Any] = review_strings()["warned"]
    what = [str(_families()[name]) for name in warned.families if name in _families()][:_TOLD]
    seems = [str(said["seems"]).format(what=said["and"].join(what))] if what else []
    return " ".join([str(said["sentence"]), *seems, str(said["then"])])


@cache
def _families() -> Mapping[str, str]:
    held: dict[str, Any] = json.loads(files("resources").joinpath("help", "injection.json").read_text("utf-8"))
    found: Mapping[str, str] = held["families"]
    return found

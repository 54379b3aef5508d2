"""The words of `loci chat`, from `resources/chat`.

Must not do: hold a sentence of its own.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def words() -> dict[str, Any]:
    """What the model is told and what the person reads."""
    return dict(json.loads(files("resources").joinpath("chat", "words.json").read_text("utf-8")))


def sentence(name: str, /, **given: object) -> str:
    """A sentence for the person.

    Args:
        name: which one.
        given: what stands in its braces.

    Returns:
        One or two sentences, or a question with a blank behind it.
    """
    return str(words()["sentences"][name]).format(**given)


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"

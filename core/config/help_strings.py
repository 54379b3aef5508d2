"""The sentences a person reads, of `resources/help`: one file a page or a subject, each read once.

Must not do: choose a sentence, or fill one in but with a count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_help_strings(name: str) -> Any:
    """The sentences of one file.

    Args:
        name: without its ending.
    """
    return json.loads((files("resources") / "help" / f"{name}.json").read_text(encoding="utf-8"))


def format_count(forms: Mapping[str, str], count: int, **more: object) -> str:
    """A count in the right number: `1 memory`, `1,204 memories`.

    Args:
        forms: `one` and `many`, with `{count}` in them.
        **more: what else the form names.
    """
    return forms["one" if count == 1 else "many"].format(count=f"{count:,}", **more)

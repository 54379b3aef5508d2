"""What a model is asked: instructions from `resources/prompts`, and memory text as data within fences.

Must not do: let memory text stand outside a fence, or close one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.text.times import format_time
from core.types.belief import Told
from core.types.values import Precision, When

TEXT_CHARACTERS = 4_000
"""A longer text is not asked about: cut, it could mean something else."""

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Chat templates mark turns in square brackets too, an instruction's begin and end for one.
_BRACKETED = re.compile(r"\[(?=\s*/?\s*[A-Z][A-Z_ ]*\s*/?\s*\])")
_UNSENT = re.compile("[\ud800-\udfff\0]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model.

    Attributes:
        schema: name of the JSON Schema its answer shall follow (`core.llm.schema.answer_schema`).
        system: instructions; the same for every memory.
        user: the memories, each in its fence, and nothing that a memory says outside of one.
    """

    schema: str
    system: str
    user: str


def escape_fences(text: str) -> str:
    """Write a text so that it holds no mark of a fence or of a chat template.

    Returns:
        The text with `&`, `<`, `>` and bracketed marks as character references.
    """
    return _BRACKETED.sub("&#91;", _UNSENT.sub("\ufffd", text).translate(_MARKUP))


def relation_prompt(existing: Told, incoming: Told) -> Prompt:
    """Ask how a newcomer relates to what stands.

    Args:
        existing: what stands.
        incoming: the newcomer.

    Returns:
        The question; both texts fenced.
    """
    return Prompt(
        "relation",
        instructions("relation"),
        f"{_fenced('existing', existing.text, existing.at_ms)}\n{_fenced('new', incoming.text, incoming.at_ms)}",
    )


def claims_prompt(told: Told, predicates: Sequence[str]) -> Prompt:
    """Ask what a text claims.

    Args:
        told: the text.
        predicates: the closed list the answer may use.

    Returns:
        The question; the text fenced.
    """
    system = instructions("claims").replace("{predicates}", ", ".join(predicates))
    return Prompt("claims", system, _fenced("memory", told.text, told.at_ms))


@cache
def instructions(name: str) -> str:
    """The instructions of one kind of question (`resources/prompts`).

    Args:
        name: `relation`, `claims`, `distill` or `reword`.

    Returns:
        The text that stands before all memory text.
    """
    return (files("resources") / "prompts" / f"{name}.txt").read_text("utf-8").strip()


def _fenced(name: str, text: str, at_ms: int | None) -> str:
    day = None if at_ms is None else format_time(When(at_ms, Precision.DAY))
    said = "" if day is None else f' said="{day}"'
    return f"<{name}{said}>\n{escape_fences(text)}\n</{name}>"

"""The part that says how often a memory was given to assistants, when last and to whom.

Must not do: hold the memory up; it is asked for once the memory is shown, and comes a moment later.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from core.types.recall import Given
from ui.context import Context, Inspected, Part, PartSpec
from ui.strings import recall_strings
from ui.tasks import query
from ui.widgets.basics import column, label
from ui.widgets.plaintext import one_line
from ui.widgets.words import date_of

_NAME = 60


@cache
def _words() -> Mapping[str, Any]:
    found: Mapping[str, Any] = recall_strings()["given"]
    return found


def given_told(given: Given) -> str:
    """How often and to whom, such as "Given 14 times, last to Claude Code on 3 Nov 2026".

    Args:
        given: from the engine.

    Returns:
        One or two sentences.
    """
    said = _words()
    yours = said["yours_one"] if given.yours == 1 else said["yours"].format(count=f"{given.yours:,}")
    mine = [yours] if given.yours else []
    if not given.count:
        return " ".join([said["never"], *mine])
    if given.last_at is None or not given.to:
        return " ".join([said["nobody"].format(count=f"{given.count:,}"), *mine])
    sentence = said["once" if given.count == 1 else "many"]
    told = sentence.format(count=f"{given.count:,}", who=one_line(given.to, _NAME), when=date_of(given.last_at))
    return " ".join([told, *mine])


class GivenPart(Part):
    """A sentence."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.sentence = label("", "muted", wrap=True)
        column(self, label(_words()["title"], "label"), self.sentence, gap=6)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            True.
        """
        memory_id = inspected.memory.id
        laboratory = self.context.bridge.engine.laboratory
        asked = query("Reading whom it was given to", lambda: laboratory.given(memory_id)).within(self, "given")
        self.context.tasks.run(asked.success(self._show).failure(lambda _: self.sentence.setText("")))
        return True

    def _show(self, given: Given) -> None:
        self.sentence.setText(given_told(given))


GIVEN = PartSpec("given", 47, GivenPart)

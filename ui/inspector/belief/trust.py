"""The part that says how far a memory is trusted and what made that number, and lets a person say right or wrong.

Must not do: change a trust; the engine works it out anew.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from ui.context import Context, Inspected, Part, PartSpec
from ui.inspector.belief.belief_words import score, terms_told, voice_told
from ui.inspector.belief.verdicts import JUDGED, VERDICTS
from ui.inspector.belief.waterfall import TermTable, Waterfall
from ui.inspector.memory_link import Disclosure
from ui.strings import belief_strings
from ui.widgets.basics import FlowLayout, clear, column, label
from ui.widgets.keys import KeyButton

_VOICES = 3


class TrustPart(Part):
    """The waterfall, who said right or wrong, and three buttons."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.waterfall = Waterfall(context.theme)
        self.table = TermTable(context.theme)
        self.as_table = Disclosure(context.theme, "As a table", "As a table", self.table)
        self.voices = label("", "small", wrap=True)
        self.verdicts = QWidget()
        self._buttons = FlowLayout(self.verdicts, gap=4)
        parts = (self.waterfall, self.as_table, self.voices, self.verdicts)
        column(self, label("Trust", "label"), *parts, gap=10)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it.

        Args:
            inspected: what.

        Returns:
            True.
        """
        belief = inspected.belief
        terms = terms_told(belief)
        self.waterfall.show_terms(terms, belief.trust)
        self.table.show_terms(terms, belief.trust)
        said = [voice_told(voice) for voice in belief.voices[:_VOICES]]
        self.voices.setText("\n".join(said))
        self.voices.setVisible(bool(said))
        self._show_buttons(can_judge=inspected.memory.status in JUDGED)
        self.setAccessibleName(f"Trust {score(belief.trust)}")
        return True

    def _show_buttons(self, *, can_judge: bool) -> None:
        self.verdicts.setVisible(can_judge)
        if can_judge == bool(self._buttons.count()):
            return
        clear(self._buttons)
        if can_judge:
            for verdict, letter in VERDICTS:
                told = belief_strings()["acts"][verdict]
                made = KeyButton(self.context.theme, told["title"], letter, self._judge(verdict), is_tight=True)
                made.setToolTip(told["hint"])
                self._buttons.addWidget(made)

    def _judge(self, verdict: str) -> Callable[[], None]:
        return lambda: self.context.commands.run(f"memory.{verdict}")


TRUST = PartSpec("trust", 15, TrustPart)

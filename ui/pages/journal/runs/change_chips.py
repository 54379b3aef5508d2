"""How many of each deed there would be: chips of which one can be pressed, or one menu where there is little room.

Must not do: know the deeds themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from ui.pages.journal.common.job_words import deed_words, told_deeds
from ui.pages.journal.runs.change_lines import ALL
from ui.strings import journal_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, MenuChip, button, clear


class DeedChips(QWidget):
    """How many of each deed; pressing one lists these alone.

    Signals:
        chosen: a value of `Deed`, `ALL` for all.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.current = ALL
        self.setAccessibleName(journal_strings()["next"]["list"])
        self._group = QButtonGroup(self)
        self._flow = FlowLayout(self, gap=6)
        self._shown: Mapping[str, int] | None = None
        self.is_tight = False

    def tighten(self, *, is_tight: bool) -> None:
        """Stand as one menu, or as chips again.

        Args:
            is_tight: whether there is little room.
        """
        if is_tight != self.is_tight:
            self.is_tight = is_tight
            shown, self._shown = self._shown, None
            self.show_counts(shown or {})

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Offer the deeds there are.

        Args:
            counts: deed to how many.
        """
        if counts == self._shown:
            return
        self._shown = dict(counts)
        clear(self._flow)
        if not counts.get(self.current):
            self.current = ALL
        total = sum(counts.values())
        kinds, spoken = list(told_deeds(counts, "chip")), dict(told_deeds(counts, "would"))
        shown = (
            [(ALL, journal_strings()["next"]["all"].format(count=f"{total:,}")), *kinds] if len(kinds) > 1 else kinds
        )
        if self.is_tight and len(kinds) > 1:
            menu = MenuChip(self._theme, journal_strings()["next"]["show"], dict(shown), self.current)
            menu.chosen.connect(self._take)
            self._flow.addWidget(menu)
        else:
            for deed, told in shown:
                self._add(deed, told, spoken.get(deed, ""), is_choice=len(kinds) > 1)
        self.updateGeometry()

    def _add(self, deed: str, told: str, spoken: str, *, is_choice: bool) -> None:
        icon = deed_words(deed)["icon"] if deed else ""
        made = button(told, kind="chip", theme=self._theme, icon=icon, hint=spoken)
        made.setAccessibleName(spoken or told)
        made.setCheckable(is_choice)
        made.setChecked(deed == self.current)
        made.clicked.connect(partial(self._take, deed))
        self._group.addButton(made)
        self._flow.addWidget(made)

    def _take(self, deed: str, _checked: bool = False) -> None:
        self.current = deed if self._shown is not None and len(self._shown) > 1 else ALL
        self.chosen.emit(self.current)

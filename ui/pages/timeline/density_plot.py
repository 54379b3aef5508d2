"""The density of the timeline as a plot: how many memories were said in each period, with axes, values and a table.

Must not do: ask the engine.
"""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from core.types.views import Density
from ui.context import Context
from ui.pages.timeline.labels import period_name
from ui.pages.timeline.strip import Strip
from ui.plots.specification import PlotSpec, Series, make_count_spec
from ui.plots.view import PlotView
from ui.strings import timeline_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import make_button
from ui.widgets.labels import count_memories


def make_density_spec(density: Density, chosen: tuple[int, int] | None) -> PlotSpec:
    """A bar a period, in its middle.

    Args:
        density: the counts; none are drawn where there is no period.
        chosen: the first and the last chosen period; None for everything.
    """
    said, starts = timeline_strings()["density"], density.starts
    middles = tuple((first + after) / 2 for first, after in pairwise(starts))
    names = tuple(period_name(density.grain, first) for first in starts[:-1])
    told = said["none"]
    if density.totals:
        most = max(density.totals)
        busiest = names[len(names) - 1 - density.totals[::-1].index(most)]
        told = said["told"].format(all=count_memories(sum(density.totals)), period=busiest, most=f"{most:,}")
    counts = tuple(float(count) for count in density.totals)
    return make_count_spec(
        said["name"],
        Series(said["series"], middles, counts, is_bars=True, name_of_one=said["one"]),
        said,
        told,
        place_names=names,
        band=None if chosen is None else (float(starts[chosen[0]]), float(starts[chosen[1] + 1])),
    )


class DensityPlot(PlotView):
    """The plot, which stands in the place of the strip while its chip is pressed; a bar that is pressed is chosen.

    Attributes:
        chip: shows the plot, or the strip again.

    Signals:
        switched: the other of the two is shown.
    """

    switched = Signal()

    def __init__(self, context: Context, strip: Strip) -> None:
        """Make it, hidden.

        Args:
            strip: whose counts are plotted, and on which a period is chosen.
        """
        super().__init__(context, sizes().plot_small, is_bare=True)
        words = timeline_strings()["density"]
        self._strip = strip
        self.chip = make_button(words["chip"], self._switch_view, kind="chip", hint=words["hint"])
        self.chip.setCheckable(True)
        self.picked.connect(lambda place: strip.choose_periods(place, place))
        for widget in (self, self.toggle):
            widget.hide()

    def show_density(self) -> None:
        """Plot the counts of the strip, where the plot stands in its place."""
        if self.chip.isChecked():
            self.show_plot(make_density_spec(self._strip.density, self._strip.chosen))

    @property
    def front(self) -> QWidget:
        """What takes the keyboard: the strip, or the plot in its place."""
        return self if self.chip.isChecked() else self._strip

    def go_back(self) -> bool:
        """Show all of it; where all is in sight, the strip of the page again."""
        if not super().go_back():
            self.chip.click()
        return True

    def _switch_view(self) -> None:
        is_plot = self.chip.isChecked()
        self.show_density()
        self.setVisible(is_plot)
        self.toggle.setVisible(is_plot)
        self._strip.setVisible(not is_plot)
        self.switched.emit()
        self.front.setFocus()

"""How the saved questions stand over the values of one weight: a plot, worked out when it is asked for.

Must not do: apply anything, or judge a question; the engine's tallies say what holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from PySide6.QtWidgets import QWidget

from core.types.recall import Sensitivity, Tally
from core.types.replies import OptionRow
from ui.bridge import make_query
from ui.context import Context
from ui.pages.recall.knobs import KnobScale, knob_scale
from ui.pages.recall.question import Weights
from ui.plots.specification import Axis, PlotSpec, ReferenceLine, Series
from ui.plots.view import PlotView
from ui.strings import recall_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import MenuChip, make_column, make_label, make_row

_POINTS = 11


@dataclass(frozen=True, slots=True)
class Swept:
    """The weight whose values are tried.

    Attributes:
        row: its option.
        title: what it is called here.
        value: its value in the trial.
        turned: whether more of what is shown is less of the option.
        also: other options that turning it sets.
    """

    row: OptionRow
    title: str
    value: float
    turned: bool
    also: Weights = field(default_factory=dict)

    @property
    def value_now(self) -> float:
        """Its value in force."""
        return float(self.row.value)

    @property
    def scale(self) -> KnobScale:
        """Between its values and what is shown."""
        return knob_scale(self.row, turned=self.turned)

    def as_on_axis(self, value: float) -> float:
        """A value as it stands on the axis."""
        return round(1 - value, 4) if self.turned else round(value, 4)

    @property
    def values(self) -> tuple[float, ...]:
        """The values that are tried, from one bound to the other, ascending as they are shown."""
        scale = self.scale
        steps = [round(scale.steps * nr / (_POINTS - 1)) for nr in range(_POINTS)]
        return tuple(dict.fromkeys(scale.value_of(step) for step in steps))


def _held(tally: Tally) -> int:
    """Saved questions that hold."""
    return sum(one.passed for one in tally.outcomes)


def make_sensitivity_spec(swept: Swept, found: Sensitivity) -> PlotSpec:
    """The saved questions that hold, over the values of a weight.

    Args:
        found: of `swept.values`.
    """
    said = recall_strings()["sensitivity"]
    points = sorted(
        (swept.as_on_axis(value), float(_held(tally))) for value, tally in zip(found.values, found.tallies, strict=True)
    )
    total = max((len(tally.outcomes) for tally in found.tallies), default=0)
    most = max((held for _, held in points), default=0.0)
    best = [x for x, held in points if held == most]
    told = said["flat"] if len({held for _, held in points}) < 2 else said["told"]
    sentence = told.format(
        title=swept.title, most=f"{most:.0f}", total=total, first=f"{best[0]:.2f}", last=f"{best[-1]:.2f}"
    )
    lines = [ReferenceLine(swept.as_on_axis(swept.value_now), said["now"], across="x", ink="muted")]
    if swept.value != swept.value_now:
        lines.append(ReferenceLine(swept.as_on_axis(swept.value), said["tried"], across="x", ink="accent"))
    return PlotSpec(
        name=said["name"].format(title=swept.title),
        sentence=sentence,
        x=Axis(swept.title, kind="share", least=points[0][0], most=points[-1][0]),
        y=Axis(said["unit"], kind="count", least=0.0, most=float(total)),
        series=(Series(said["series"], tuple(x for x, _ in points), tuple(held for _, held in points)),),
        lines=tuple(lines),
        caption=sentence,
    )


class SensitivityPlot(QWidget):
    """The saved questions over the values of a weight that is chosen.

    Attributes:
        choice: the chip that says which weight.
        plot: the plot.
    """

    def __init__(self, context: Context, trial: Callable[[], Weights]) -> None:
        """Make it; nothing is worked out before a weight is chosen.

        Args:
            trial: the weights that are tried now.
        """
        super().__init__()
        said = recall_strings()["sensitivity"]
        self._context, self._trial = context, trial
        self._known: dict[str, Swept] = {}
        self.choice = MenuChip(context.theme, said["choice"], {"": said["nothing"]}, "")
        self.choice.chosen.connect(lambda _: self.reload())
        self.plot = PlotView(context, sizes().plot_small, is_bare=True)
        self._note = make_label(said["note"], "muted", wrap=True)
        self._unit = make_label(said["unit"], "small", wrap=True)
        head = make_row(self.choice, None, self.plot.toggle)
        layout = make_column(self, make_label(said["title"], "label"), gap=8)
        layout.addLayout(head)
        layout.addWidget(self._note)
        layout.addWidget(self._unit)
        layout.addWidget(self.plot)
        self._show_plot(is_shown=False)

    @property
    def is_open(self) -> bool:
        """Whether a weight is chosen."""
        return bool(self.choice.current)

    def offer_weights(self, weights: Mapping[str, Swept]) -> None:
        """Offer weights; the one that is chosen stays.

        Args:
            weights: name of the option to it.
        """
        said = recall_strings()["sensitivity"]
        self._known = dict(weights)
        current = self.choice.current if self.choice.current in weights else ""
        self.choice.set_choices({"": said["nothing"]} | {name: one.title for name, one in weights.items()}, current)

    def reload(self) -> None:
        """Try the values of the chosen weight."""
        swept = self._known.get(self.choice.current)
        if swept is None:
            self._show_plot(is_shown=False)
            return
        name, values, laboratory = swept.row.name, swept.values, self._context.bridge.engine.recall_trials
        trial = {option: value for option, value in {**self._trial(), **swept.also}.items() if option != name}
        asked = make_query(
            recall_strings()["sensitivity"]["label"], lambda: laboratory.sweep_option(name, values, trial)
        ).within(self, "sweep")
        self._context.tasks.run(asked.success(lambda found: self._show_found(swept, found)))

    def _show_found(self, swept: Swept, found: Sensitivity) -> None:
        if self.choice.current == swept.row.name:
            self.plot.show_plot(make_sensitivity_spec(swept, found))
            self._show_plot(is_shown=True)

    def _show_plot(self, *, is_shown: bool) -> None:
        self.plot.setVisible(is_shown)
        self.plot.toggle.setVisible(is_shown)
        self._unit.setVisible(is_shown)
        self._note.setVisible(not is_shown)

"""How the saved questions stand over the values of one weight: a plot, worked out when it is asked for.

Must not do: apply anything, or judge a question; the engine's tallies say what holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from PySide6.QtWidgets import QWidget

from core.types.recall import Probe, Sensitivity, Tally
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


def _count_held(tally: Tally) -> int:
    """Saved questions that hold."""
    return sum(one.passed for one in tally.outcomes)


def _describe_best(points: Sequence[tuple[float, float]], most: float) -> str:
    """The runs of neighbouring values at which most hold: `from 0.10 to 0.30 and at 0.70`."""
    said = recall_strings()["sensitivity"]
    runs = [[x for x, _ in run] for is_best, run in groupby(points, lambda point: point[1] == most) if is_best]
    told = [
        said["run" if len(run) > 1 else "single"].format(first=f"{run[0]:.2f}", last=f"{run[-1]:.2f}") for run in runs
    ]
    return str(said["and"]).join(part for part in (", ".join(told[:-1]), *told[-1:]) if part)


def make_sensitivity_spec(swept: Swept, found: Sensitivity) -> PlotSpec:
    """The saved questions that hold, over the values of a weight.

    Args:
        found: of `swept.values`.
    """
    said = recall_strings()["sensitivity"]
    points = sorted(
        (swept.as_on_axis(value), float(_count_held(tally)))
        for value, tally in zip(found.values, found.tallies, strict=True)
    )
    total = max((len(tally.outcomes) for tally in found.tallies), default=0)
    most = max((held for _, held in points), default=0.0)
    told = said["flat"] if len({held for _, held in points}) < 2 else said["told"]
    sentence = told.format(title=swept.title, most=f"{most:.0f}", total=total, runs=_describe_best(points, most))
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


@dataclass(frozen=True, slots=True)
class _Sweep:
    """What a sweep depends on: where it is the same, so is what comes of it.

    Attributes:
        name: of the weight; `values` those that are tried.
        options: every other option as it is in the trial.
        questions: the saved questions: id, words, kind, memories, depth.
    """

    name: str
    values: tuple[float, ...]
    options: Weights
    questions: tuple[tuple[object, ...], ...]


class SensitivityPlot(QWidget):
    """The saved questions over the values of a weight that is chosen.

    Attributes:
        choice: the chip that says which weight.
        plot: the plot.
        note: what is said in its place: what can be chosen, that it is worked out, or that it failed.
    """

    def __init__(self, context: Context, trial: Callable[[], Weights], options: Callable[[], Weights]) -> None:
        """Make it; nothing is worked out before a weight is chosen.

        Args:
            trial: the weights that are tried now.
            options: all options as they are in the trial.
        """
        super().__init__()
        said = recall_strings()["sensitivity"]
        self._context, self._trial, self._options = context, trial, options
        self._known: dict[str, Swept] = {}
        self._questions: tuple[tuple[object, ...], ...] = ()
        self._wanted: _Sweep | None = None
        self._found: Sensitivity | None = None
        self._is_stopped = False
        self.choice = MenuChip(context.theme, said["choice"], {"": said["nothing"]}, "")
        self.choice.chosen.connect(lambda _: self.reload())
        self.plot = PlotView(context, sizes().plot_small, is_bare=True)
        self.note = make_label(said["note"], "muted", wrap=True)
        self._unit = make_label(said["unit"], "small", wrap=True)
        head = make_row(self.choice, None, self.plot.toggle)
        layout = make_column(self, make_label(said["title"], "label"), gap=8)
        layout.addLayout(head)
        layout.addWidget(self.note)
        layout.addWidget(self._unit)
        layout.addWidget(self.plot)
        self._show_note("note")

    # ---- what is offered

    def offer_weights(self, weights: Mapping[str, Swept]) -> None:
        """Offer weights; the one that is chosen stays.

        Args:
            weights: name of the option to it.
        """
        said = recall_strings()["sensitivity"]
        self._known = dict(weights)
        current = self.choice.current if self.choice.current in weights else ""
        self.choice.set_choices({"": said["nothing"]} | {name: one.title for name, one in weights.items()}, current)
        # Other trial options wait for the comparison: while a knob is turned nothing is swept.
        if self._wanted is not None and self._plan_sweep() in (None, self._wanted):
            self.reload()

    def show_questions(self, questions: Sequence[Probe]) -> None:
        """Try the values again, where the saved questions or the options of the trial are others.

        Args:
            questions: all saved questions.
        """
        self._questions = tuple((one.id, one.query, one.kind, one.memory_ids, one.within) for one in questions)
        self.setVisible(bool(questions))
        self.reload()

    # ---- trying

    def reload(self) -> None:
        """Try the values of the chosen weight, unless they were tried or are being tried."""
        wanted = self._plan_sweep()
        if wanted is None:
            self._cancel_sweep()
            self._wanted = self._found = None
            self._show_note("note")
        elif wanted != self._wanted:
            self._cancel_sweep()
            self._start_sweep(wanted)
        elif self._found is not None:
            self._show_found(self._found)

    def stop_sweep(self) -> None:
        """Try no values until `resume_sweep`: nobody looks. What was worked out stays."""
        self._is_stopped = True
        self._cancel_sweep()

    def resume_sweep(self) -> None:
        """Somebody looks again: try what was not tried yet."""
        self._is_stopped = False
        self.reload()

    def _cancel_sweep(self) -> None:
        if self._wanted is not None and self._found is None:
            self._wanted = None
            self._context.bridge.engine.recall_trials.stop_sweep()

    def _plan_sweep(self) -> _Sweep | None:
        swept = self._known.get(self.choice.current)
        if swept is None or not self._questions:
            return None
        others = {name: value for name, value in {**self._options(), **swept.also}.items() if name != swept.row.name}
        return _Sweep(swept.row.name, swept.values, others, self._questions)

    def _start_sweep(self, wanted: _Sweep) -> None:
        self._wanted = self._found = None
        self._show_note("working")
        if self._is_stopped:
            return
        self._wanted = wanted
        laboratory, also = self._context.bridge.engine.recall_trials, self._known[wanted.name].also
        trial = {option: value for option, value in {**self._trial(), **also}.items() if option != wanted.name}
        asked = make_query(
            recall_strings()["sensitivity"]["label"], lambda: laboratory.sweep_option(wanted.name, wanted.values, trial)
        ).within(self, "sweep")

        def keep_found(found: Sensitivity) -> None:
            if wanted is self._wanted:
                self._found = found
                self._show_found(found)

        def show_failure(_error: BaseException) -> None:
            if wanted is self._wanted:
                self._wanted = None
                self._show_note("failed")

        self._context.tasks.run(asked.success(keep_found).failure(show_failure))

    def _show_found(self, found: Sensitivity) -> None:
        self.plot.show_plot(make_sensitivity_spec(self._known[found.name], found))
        self._show_plot(is_shown=True)

    def _show_note(self, name: str) -> None:
        self.note.setText(recall_strings()["sensitivity"][name])
        self._show_plot(is_shown=False)

    def _show_plot(self, *, is_shown: bool) -> None:
        self.plot.setVisible(is_shown)
        self.plot.toggle.setVisible(is_shown)
        self._unit.setVisible(is_shown)
        self.note.setVisible(not is_shown)

"""The tuner at the right: a preset, the weights that matter most, what a change does to the saved questions; its use.

Trying changes nothing. Must not do: apply anything the person did not press, or undo anything but by its step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.types.recall import Applied, Comparison, Tally, Tuning
from core.types.replies import OptionRow
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.pages.recall.knobs import Knob
from ui.pages.recall.labels import count_gains, describe_losses, describe_weight_change
from ui.pages.recall.question import PAUSE_MS, Weights
from ui.pages.recall.sensitivity import SensitivityPlot, Swept
from ui.strings import format_count, recall_strings, window_strings
from ui.theme.theme import Theme
from ui.undo import offer_undo, undo_step
from ui.widgets.basics import (
    MenuChip,
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_scroll_area,
    make_timer,
)
from ui.widgets.labels import time_of


class TuningDesk(QObject):
    """Holds the trial.

    Attributes:
        tuning: the options as they are in force; None before they were read.
        trial: option to the value that is tried; only what differs from what is in force.
        comparison: the saved questions now and under the trial; None before it came.

    Signals:
        read_done: `tuning` is new.
        tried: `trial` is another one.
        compared: `comparison` is new.
        applied: weights were put in force.
        failed: the error.
    """

    read_done = Signal()
    tried = Signal()
    compared = Signal()
    applied = Signal()
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.tuning: Tuning | None = None
        self.trial: dict[str, float | str | bool] = {}
        self.comparison: Comparison | None = None
        self._is_busy = False
        self._pause = make_timer(self, self.compare_trial, PAUSE_MS)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not self._is_busy and not self._pause.isActive()

    @property
    def rows(self) -> Mapping[str, OptionRow]:
        """All options by name."""
        return {} if self.tuning is None else {one.name: one for one in self.tuning.rows}

    def trial_value(self, name: str) -> float | str | bool:
        """The value an option has in the trial."""
        found: float | str | bool = self.trial[name] if name in self.trial else self.rows[name].value
        return found

    @property
    def trial_options(self) -> Weights:
        """All options as they are in the trial."""
        return {name: self.trial_value(name) for name in self.rows}

    def stop_pending(self) -> None:
        """Nobody looks any more."""
        self._pause.stop()

    # ---- reading

    def read_tuning(self) -> None:
        """Read the options and how the saved questions stand."""
        self._is_busy = True
        laboratory = self._context.bridge.engine.recall_trials
        asked = make_query(recall_strings()["tasks"]["weights"], laboratory.read_tuning).within(self, "tuning")
        self._context.tasks.run(asked.success(self._on_tuning_read).failure(self._on_read_failed))

    def _on_tuning_read(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self._is_busy = False
        rows = self.rows
        kept = {name: value for name, value in self.trial.items() if name in rows and rows[name].value != value}
        was, self.trial = self.trial, kept
        self.read_done.emit()
        if was != kept:
            self.tried.emit()
        self.compare_trial()

    def _on_read_failed(self, error: BaseException) -> None:
        self._is_busy = False
        self.failed.emit(error)

    # ---- trying

    def try_value(self, name: str, value: float | str | bool) -> None:
        """Try a value.

        Args:
            name: the option.
            value: within its bounds.
        """
        self.try_values({name: value})

    def try_values(self, values: Weights) -> None:
        """Try several values at once."""
        rows, before = self.rows, dict(self.trial)
        for name, value in values.items():
            if name in rows and rows[name].value != value:
                self.trial[name] = value
            else:
                self.trial.pop(name, None)
        if self.trial != before:
            self._emit_trial()

    def reset_trial(self) -> None:
        """Try nothing any more."""
        if self.trial:
            self.trial = {}
            self._emit_trial()

    def try_preset(self, name: str) -> None:
        """Try what a preset says; options it does not name stay."""
        if self.tuning is not None:
            self.try_values(self.tuning.preset_values.get(name, {}))

    @property
    def preset(self) -> str:
        """The preset the trial is that of; "" for none's."""
        if self.tuning is None:
            return ""
        known = self.tuning.preset_values
        rows = self.rows
        fits = (
            name
            for name in self.tuning.presets
            if name in known and all(self.trial_value(one) == known[name][one] for one in known[name] if one in rows)
        )
        return next(fits, "")

    def _emit_trial(self) -> None:
        self.tried.emit()
        self._pause.start()

    # ---- the saved questions

    def compare_trial(self) -> None:
        """Work out what the trial does to the saved questions."""
        self._pause.stop()
        trial = dict(self.trial)
        laboratory = self._context.bridge.engine.recall_trials
        asked = make_query(recall_strings()["tasks"]["try"], lambda: laboratory.preview_weights(trial)).within(
            self, "preview"
        )
        self._is_busy = True
        self._context.tasks.run(asked.success(self._on_compared).failure(self._on_read_failed))

    def _on_compared(self, comparison: Comparison) -> None:
        self._is_busy = False
        self.comparison = comparison
        self.compared.emit()

    # ---- applying

    def apply_trial(self) -> None:
        """Put the trial in force: one step, which can be undone."""
        trial = dict(self.trial)
        if not trial or self._is_busy:
            return
        self._is_busy = True
        laboratory = self._context.bridge.engine.recall_trials
        asked = make_write(recall_strings()["tasks"]["apply"], lambda: laboratory.apply_weights(trial)).within(
            self, "apply"
        )
        self._context.tasks.run(asked.success(self._on_weights_applied).failure(self._on_read_failed))

    def _on_weights_applied(self, applied: Applied) -> None:
        self._is_busy = False
        self.trial = {}
        offer_undo(self._context, recall_strings()["tuner"]["applied"], applied.step_id)
        self.tried.emit()
        self.applied.emit()


_WIDTH, _HEIGHT = 540, 460
_MOST = 6


class AppliedDialog(QDialog):
    """The list of what was applied, each with an Undo."""

    def __init__(self, context: Context, options: Mapping[str, OptionRow], parent: QWidget) -> None:
        """Make it.

        Args:
            options: all options by name.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = recall_strings()["history"]
        self._context, self._options = context, options
        self.setWindowTitle(said["title"])
        self.setAccessibleName(said["title"])
        self.resize(context.theme.px(_WIDTH), context.theme.px(_HEIGHT))
        self._note = make_label(said["sentence"], "muted", wrap=True)
        inner = QFrame()
        self._column: QVBoxLayout = make_column(inner, gap=10)
        self._column.setContentsMargins(0, 0, 8, 0)
        self.close_button = make_button(window_strings()["buttons"]["close"], self.accept, kind="primary")
        self.undo_buttons: list[QWidget] = []
        self.lines: list[str] = []
        layout = make_column(self, make_label(said["title"], "title"), self._note, margins=24, gap=12)
        layout.addWidget(make_scroll_area(inner), 1)
        layout.addLayout(make_row(None, self.close_button))
        self._read_applications()
        context.tasks.settled.connect(self._read_applications)

    def _read_applications(self) -> None:
        laboratory = self._context.bridge.engine.recall_trials
        asked = make_query(recall_strings()["tasks"]["applied"], laboratory.list_applications).within(self, "applied")
        self._context.tasks.run(asked.success(self._show_applications).failure(self._show_failure))

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def _show_applications(self, applied: Sequence[Applied]) -> None:
        clear_layout(self._column)
        self.undo_buttons, self.lines = [], []
        said = recall_strings()["history"]
        self._note.setText(said["sentence"] if applied else said["none"])
        card = QFrame()
        card.setObjectName("card")
        inside = make_column(card, gap=0)
        for one in applied:
            if self.lines:
                inside.addWidget(make_hairline())
            inside.addWidget(self._make_line(one))
        if applied:
            self._column.addWidget(card)
        self._column.addStretch(1)

    def _make_line(self, one: Applied) -> QWidget:
        said, made = recall_strings()["history"], QWidget()
        found = "" if one.found is None else said["found"].format(count=one.found[0], total=one.found[1])
        head = " · ".join(part for part in (time_of(one.at), said["undone"] if one.undone else "", found) if part)
        changes = [self._describe_change(name, pair) for name, pair in one.changes.items()]
        more = [f"+{len(changes) - _MOST}"] if len(changes) > _MOST else []
        told = ", ".join([*changes[:_MOST], *more])
        texts = make_column(
            None, make_label(told, "muted" if one.undone else "body", wrap=True), make_label(head, "small"), gap=2
        )
        layout = make_row(parent=made, gap=12)
        layout.setContentsMargins(16, 12, 12, 12)
        layout.addLayout(texts, 1)
        self.lines.append(f"{told}. {head}")
        made.setAccessibleName(self.lines[-1])
        if not one.undone:
            undo = make_button(said["undo"], lambda: undo_step(self._context, one.step_id))
            undo.setAccessibleName(f"{said['undo']}: {told}")
            undo.setAutoDefault(False)
            layout.addWidget(undo, 0, Qt.AlignmentFlag.AlignTop)
            self.undo_buttons.append(undo)
        return made

    def _describe_change(self, name: str, pair: tuple[object, object]) -> str:
        option = self._options.get(name)
        title = name if option is None else option.title
        return describe_weight_change(name, title, pair)

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)


_LOSSES = 3
_OWN = ""


class Tuner(QFrame):
    """The tuner at the right of the page.

    Attributes:
        knobs: place in the page's words to the knob; `apply`, `reset`, `history`, `all`: buttons.

    Signals:
        all_asked: the person wants every option.
        history_asked: the person wants to see what was applied.
        look: a saved question to look at.
    """

    all_asked = Signal()
    history_asked = Signal()
    look = Signal(str)

    def __init__(self, context: Context, desk: TuningDesk) -> None:
        """Make it, empty.

        Args:
            desk: what is tried.
        """
        super().__init__()
        self._context, self._theme, self._desk = context, context.theme, desk
        self._intent = "lookup"
        self.setAccessibleName(recall_strings()["tuner"]["title"])
        self.knobs: list[Knob] = []

    def build_layout(self) -> None:
        """Fill it once it stands in its place."""
        desk, said = self._desk, recall_strings()["tuner"]
        inner = QWidget()
        self.area = make_scroll_area(inner)
        outer = make_column(self, self.area, gap=0)
        outer.setStretch(0, 1)
        outer.setContentsMargins(1, 0, 0, 0)
        self._build_inner(inner)
        self.apply = make_button(said["apply"], desk.apply_trial, kind="primary")
        self.apply.setDefault(False)
        self.reset = make_button(said["reset"], desk.reset_trial)
        self.history = make_button(said["history"], self.history_asked.emit)
        foot = make_row(self.apply, self.reset, self.history, None, gap=8)
        foot.setContentsMargins(20, 10, 16, 14)
        for part in (self.apply, self.reset, self.history):
            part.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        outer.addWidget(make_hairline())
        outer.addLayout(foot)
        desk.read_done.connect(self._show_tuning)
        desk.tried.connect(self._show_tuning)
        desk.compared.connect(self._on_weights_compared)
        self._theme.changed.connect(self.update)
        self._show_buttons()

    def _build_inner(self, inner: QWidget) -> None:
        desk, said, auto = self._desk, recall_strings()["tuner"], recall_strings()["auto"]
        self.preset = MenuChip(self._theme, said["preset"], {}, "")
        self.preset.chosen.connect(self._on_preset_chosen)
        self._knob_box = QWidget()
        self._knob_column = make_column(self._knob_box, gap=8)
        self.auto = QCheckBox(auto["title"])
        self.auto.setToolTip(auto["hint"])
        self.auto.clicked.connect(lambda checked: desk.try_value(auto["name"], checked))
        self.all = make_button(said["all"], self.all_asked.emit, kind="link")
        self.all.setProperty("flush", "true")
        self.effect = TrialEffect(self._theme)
        self.effect.look.connect(self.look)
        self.sensitivity = SensitivityPlot(self._context, lambda: desk.trial, lambda: desk.trial_options)
        self.sensitivity.hide()
        layout = make_column(inner, gap=12)
        layout.setContentsMargins(20, 18, 16, 12)
        layout.addLayout(make_row(make_label(said["title"], "section"), None, self.preset))
        layout.addWidget(make_label(said["note"], "muted", wrap=True))
        layout.addWidget(make_hairline())
        layout.addWidget(self._knob_box)
        layout.addLayout(make_row(self.all, None))
        layout.addWidget(make_hairline())
        layout.addWidget(self.effect)
        layout.addWidget(self.sensitivity)
        layout.addStretch(1)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """A surface with a line at its left."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.colour("surface"))
        painter.fillRect(QRectF(0, 0, 1, self.height()), self._theme.colour("line"))

    # ---- what is shown

    def show_intent(self, intent: str) -> None:
        """Turn the diversity of the kind of question that is asked.

        Args:
            intent: a value of `core.types.values.Intent`.
        """
        if intent != self._intent:
            self._intent = intent
            self._show_tuning()

    def _show_tuning(self) -> None:
        if self._desk.tuning is None:
            return
        rows = self._desk.rows
        specs = [(spec, str(spec["name"]).format(intent=self._intent)) for spec in recall_strings()["knobs"]]
        specs = [(spec, name) for spec, name in specs if name in rows]
        if len(self.knobs) != len(specs):
            self._build_knobs(specs)
        for knob, (spec, name) in zip(self.knobs, specs, strict=True):
            knob.show_value(rows[name], self._desk.trial_value(name))
            knob.set_title(spec["title"], self._describe_knob(spec))
        self.sensitivity.offer_weights(dict(map(self._make_swept, specs)))
        auto = recall_strings()["auto"]["name"]
        self.auto.setVisible(auto in rows)
        self.auto.setChecked(auto in rows and bool(self._desk.trial_value(auto)))
        presets = self._desk.tuning.presets
        current = self._desk.preset
        own = {} if current else {_OWN: recall_strings()["tuner"]["own"]}
        known: Mapping[str, str] = recall_strings()["tuner"]["presets"]
        titles = {name: known.get(name, told.partition(":")[0]) for name, told in presets.items()}
        self.preset.set_choices({**titles, **own}, current)
        self.preset.setToolTip(presets.get(current, ""))
        self._show_buttons()

    def _make_swept(self, spec: tuple[Mapping[str, Any], str]) -> tuple[str, Swept]:
        words, name = spec
        value = self._desk.trial_value(name)
        return name, Swept(
            self._desk.rows[name], words["title"], float(value), bool(words.get("turned")), words.get("also", {})
        )

    def _describe_knob(self, spec: Mapping[str, Any]) -> str:
        return str(spec["hint"]).format(intent=recall_strings()["intents"][self._intent].lower())

    def _build_knobs(self, specs: list[tuple[Mapping[str, Any], str]]) -> None:
        self._knob_column.removeWidget(self.auto)
        self.auto.setParent(None)
        clear_layout(self._knob_column)
        self.knobs = []
        for spec, name in specs:
            knob = Knob(
                self._theme,
                self._desk.rows[name],
                spec["title"],
                self._describe_knob(spec),
                spec.get("signal", ""),
                turned=bool(spec.get("turned")),
            )
            knob.turned.connect(lambda name, value, spec=spec: self._on_knob_turned(name, value, spec))
            self._knob_column.addWidget(knob)
            self.knobs.append(knob)
            if spec.get("also"):
                self._knob_column.addWidget(self.auto)
                self._knob_column.addSpacing(6)

    def _on_knob_turned(self, name: str, value: float, spec: Mapping[str, Any]) -> None:
        self._desk.try_values({name: value, **spec.get("also", {})})

    def _on_preset_chosen(self, name: str) -> None:
        if name == _OWN:
            self._show_tuning()
        else:
            self._desk.try_preset(name)
            self._show_tuning()

    def _show_buttons(self) -> None:
        is_tried = bool(self._desk.trial)
        self.apply.setEnabled(is_tried)
        self.reset.setEnabled(is_tried)
        self.effect.show_trying(is_tried=is_tried and not self._desk.is_settled)

    def _on_weights_compared(self) -> None:
        if self._desk.comparison is not None:
            self.effect.show_comparison(self._desk.comparison, is_tried=bool(self._desk.trial))
            self.sensitivity.show_questions(self._desk.comparison.probes)
        self._show_buttons()


class TrialEffect(QWidget):
    """What trial weights do to the saved questions.

    Signals:
        look: a question to look at.
    """

    look = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        said = recall_strings()["tuner"]
        self._title = make_label("", "label")
        self._none = make_label(said["none"], "muted", wrap=True)
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(0, 1)
        self._trying = make_label("", "small")
        self._told = QWidget()
        self._told_column = make_column(self._told, gap=6)
        make_column(self, self._title, self._none, self._table, self._trying, self._told, gap=8)
        self.lines: list[str] = []

    def show_trying(self, *, is_tried: bool) -> None:
        """Say that it is being worked out."""
        self._trying.setText(recall_strings()["tuner"]["trying"] if is_tried else "")
        self._trying.setVisible(is_tried)

    def show_comparison(self, comparison: Comparison, *, is_tried: bool) -> None:
        """Show what the trial does to the saved questions.

        Args:
            comparison: now and as it would be.
            is_tried: whether the two differ in anything.
        """
        said = recall_strings()["tuner"]
        count = len(comparison.probes)
        self._title.setText((said["question"] if count == 1 else said["questions"].format(count=f"{count:,}")).upper())
        self._none.setVisible(not count)
        self._table.setVisible(count > 0)
        self._told.setVisible(count > 0)
        self._title.setVisible(count > 0)
        self._fill_tallies(comparison, is_tried=is_tried)
        self._show_losses(comparison, is_tried=is_tried)

    def _fill_tallies(self, comparison: Comparison, *, is_tried: bool) -> None:
        while self._grid.count():
            taken = self._grid.takeAt(0)
            widget = None if taken is None else taken.widget()
            if widget is not None:
                widget.deleteLater()
        said = recall_strings()["tuner"]
        now, then = comparison.now, comparison.would_be
        self._grid.addWidget(_make_right_label(said["now"], "small"), 0, 1)
        if is_tried:
            self._grid.addWidget(_make_right_label(said["would_be"], "small"), 0, 2)
        self.lines = []
        for at, (title, was, would, better) in enumerate(_tally_rows(comparison, now, then), 1):
            self._grid.addWidget(make_label(title), at, 0)
            self._grid.addWidget(_make_right_label(was), at, 1)
            self.lines.append(f"{title}: {said['now']} {was}" + (f", {said['would_be']} {would}" if is_tried else ""))
            if is_tried:
                self._grid.addWidget(_make_weight_change_label(would, better), at, 2)
        self._table.setAccessibleName("; ".join(self.lines))

    def _show_losses(self, comparison: Comparison, *, is_tried: bool) -> None:
        clear_layout(self._told_column)
        if not is_tried:
            return
        said = recall_strings()["tuner"]
        lost, gained = describe_losses(comparison), count_gains(comparison)
        for sentence, question in lost[:_LOSSES]:
            link = make_button(said["look"], partial(self.look.emit, question), kind="link")
            link.setAccessibleName(f"{said['look']}: {sentence}")
            line = QWidget()
            made = make_row(make_label(sentence, "muted", wrap=True), link, parent=line, gap=6)
            made.setStretch(0, 1)
            made.setAlignment(link, Qt.AlignmentFlag.AlignTop)
            self._told_column.addWidget(line)
        if len(lost) > _LOSSES:
            self._told_column.addWidget(make_label(said["more"].format(count=len(lost) - _LOSSES), "muted"))
        if gained:
            self._told_column.addWidget(make_label(format_count(said["rises"], gained), "success", wrap=True))
        if not lost and not gained and comparison.probes:
            self._told_column.addWidget(make_label(said["nothing_moves"], "muted", wrap=True))


def _tally_rows(comparison: Comparison, now: Tally, then: Tally) -> list[tuple[str, str, str, int]]:
    """Title, now, would be, whether that is better (1), worse (-1) or neither."""
    said = recall_strings()["tuner"]
    depths = {probe.within for probe in comparison.probes if probe.kind == "positive"}
    found = said["found"].format(within=next(iter(depths))) if len(depths) == 1 else said["found_any"]

    def format_share(count: int, total: int) -> str:
        return str(said["of"].format(count=count, total=total))

    made = []
    if now.found_of:
        made.append(
            (
                found,
                format_share(now.found, now.found_of),
                format_share(then.found, then.found_of),
                _sign_of(then.found - now.found),
            )
        )
    if now.empty_of:
        made.append(
            (
                said["empty"],
                format_share(now.empty, now.empty_of),
                format_share(then.empty, then.empty_of),
                _sign_of(then.empty - now.empty),
            )
        )
    made.append((said["stale"], str(now.stale), str(then.stale), _sign_of(now.stale - then.stale)))
    made.append((said["tokens"], f"{now.tokens:,.0f}", f"{then.tokens:,.0f}", 0))
    return made


def _sign_of(number: int) -> int:
    return (number > 0) - (number < 0)


def _make_weight_change_label(text: str, better: int) -> QLabel:
    made = _make_right_label(text, {1: "success", -1: "danger"}.get(better, "body"))
    if better:  # bold beside the colour
        font = made.font()
        font.setBold(True)
        made.setFont(font)
    return made


def _make_right_label(text: str, role: str = "body") -> QLabel:
    made = make_label(text, role)
    made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return made

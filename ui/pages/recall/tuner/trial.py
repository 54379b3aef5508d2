"""What the tuner does: trial weights, their effect on the saved questions, applying them, taking that back.

Nothing is applied before `apply`. Must not do: show.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from core.types.recall import Applied, Comparison, Tuning
from core.types.replies import OptionRow
from ui.context import Context
from ui.pages.recall.query import PAUSE_MS, Weights
from ui.strings import recall_strings
from ui.tasks import query, write
from ui.undo import offer_undo


class TuningDesk(QObject):
    """Holds the trial.

    Attributes:
        tuning: the options as they are in force; None before they were read.
        trial: option to the value that is tried; only what differs from what is in force.
        comparison: the saved questions now and under the trial; None before it came.

    Signals:
        read: `tuning` is new.
        tried: `trial` is another one.
        compared: `comparison` is new; it is None while it is being worked out.
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
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.compare)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not self._is_busy and not self._pause.isActive()

    @property
    def rows(self) -> Mapping[str, OptionRow]:
        """All options by name."""
        return {} if self.tuning is None else {one.name: one for one in self.tuning.rows}

    def value(self, name: str) -> float | str | bool:
        """The value an option has in the trial."""
        found: float | str | bool = self.trial[name] if name in self.trial else self.rows[name].value
        return found

    def rest(self) -> None:
        """Nobody looks any more."""
        self._pause.stop()

    # ---- reading

    def read(self) -> None:
        """Read the options and how the saved questions stand."""
        self._is_busy = True
        laboratory = self._context.bridge.engine.laboratory
        asked = query("Reading the weights", laboratory.tuning).within(self, "tuning")
        self._context.tasks.run(asked.success(self._take).failure(self._fail))

    def _take(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self._is_busy = False
        rows = self.rows
        kept = {name: value for name, value in self.trial.items() if name in rows and rows[name].value != value}
        was, self.trial = self.trial, kept
        self.read_done.emit()
        if was != kept:
            self.tried.emit()
        self.compare()

    def _fail(self, error: BaseException) -> None:
        self._is_busy = False
        self.failed.emit(error)

    # ---- trying

    def put(self, name: str, value: float | str | bool) -> None:
        """Try a value.

        Args:
            name: the option.
            value: within its bounds.
        """
        self.put_all({name: value})

    def put_all(self, values: Weights) -> None:
        """Try several values at once."""
        rows, before = self.rows, dict(self.trial)
        for name, value in values.items():
            if name in rows and rows[name].value != value:
                self.trial[name] = value
            else:
                self.trial.pop(name, None)
        if self.trial != before:
            self._tell()

    def reset(self) -> None:
        """Try nothing any more."""
        if self.trial:
            self.trial = {}
            self._tell()

    def take_preset(self, name: str) -> None:
        """Try what a preset says; options it does not name stay.

        Args:
            name: of a preset.
        """
        if self.tuning is not None:
            self.put_all(self.tuning.preset_values.get(name, {}))

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
            if name in known and all(self.value(one) == known[name][one] for one in known[name] if one in rows)
        )
        return next(fits, "")

    def _tell(self) -> None:
        self.tried.emit()
        self._pause.start()

    # ---- the saved questions

    def compare(self) -> None:
        """Work out what the trial does to the saved questions."""
        self._pause.stop()
        trial = dict(self.trial)
        laboratory = self._context.bridge.engine.laboratory
        asked = query("Trying it on your saved questions", lambda: laboratory.preview(trial)).within(self, "preview")
        self._is_busy = True
        self._context.tasks.run(asked.success(self._take_comparison).failure(self._fail))

    def _take_comparison(self, comparison: Comparison) -> None:
        self._is_busy = False
        self.comparison = comparison
        self.compared.emit()

    # ---- applying

    def apply(self) -> None:
        """Put the trial in force: one step, which can be undone."""
        trial = dict(self.trial)
        if not trial or self._is_busy:
            return
        self._is_busy = True
        laboratory = self._context.bridge.engine.laboratory
        asked = write("Applying the weights", lambda: laboratory.apply(trial)).within(self, "apply")
        self._context.tasks.run(asked.success(self._applied).failure(self._fail))

    def _applied(self, applied: Applied) -> None:
        self._is_busy = False
        self.trial = {}
        offer_undo(self._context, recall_strings()["tuner"]["applied"], applied.step_id)
        self.tried.emit()
        self.applied.emit()

"""The section of the model of meaning: which is in use, what another takes, the change, and what is kept of others.

Must not do: measure or embed; the engine does, and search goes on all the while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QProgressBar, QPushButton

from core.types.lifecycle import ChangeCost, Embedding, Jobs, JobState, JobType, KeptSpace, Offers
from ui.bridge import Task, make_query, make_write, problem_of
from ui.context import Context
from ui.pages.settings.keys import ActionLine
from ui.pages.settings.rows import SettingsSection
from ui.strings import embedder_strings
from ui.widgets.basics import clear_layout, make_button
from ui.widgets.choices import ChoiceBox
from ui.widgets.labels import date_of
from ui.widgets.plaintext import one_line

POLL_MS = 2_000
_NAME, _BAR_HIGH = 60, 6
_OLLAMA, _LATEST, _MARK = "ollama:", ":latest", "#"
_MINUTE_S, _HOUR_S, _DAY_S = 60.0, 3_600.0, 86_400.0
_OPEN = frozenset({JobState.QUEUED, JobState.RUNNING})


@cache
def section_strings() -> Mapping[str, Any]:
    """The sentences, read once."""
    found: Mapping[str, Any] = embedder_strings()["section"]
    return found


def describe_model(name: str) -> str:
    """A model, or the model of a space, in words: `the built-in model`, `embed-small (Ollama)`.

    Args:
        name: of a wish or of a space; hostile.
    """
    if not name.startswith(_OLLAMA):
        return str(section_strings()["built_in"])
    return str(section_strings()["served"]).format(model=_shorten_model(name))


def _shorten_model(name: str) -> str:
    """A served model as it is called in a list of nothing but such models."""
    return one_line(name.removeprefix(_OLLAMA).partition(_MARK)[0].removesuffix(_LATEST), _NAME)


def format_time_needed(seconds: float) -> str:
    """A length of time in words: `about 12 minutes`.

    Args:
        seconds: 0 or more.
    """
    strings = section_strings()["times"]
    if seconds < 1.5 * _MINUTE_S:
        return str(strings["minute"])
    for name, unit, below in (("minutes", _MINUTE_S, 1.5 * _HOUR_S), ("hours", _HOUR_S, 2 * _DAY_S)):
        if seconds < below:
            return str(strings[name]).format(count=max(2, round(seconds / unit)))
    return str(strings["days"]).format(count=f"{round(seconds / _DAY_S):,}")


def describe_cost(cost: ChangeCost) -> str:
    """What a change takes, and what one should know of that model."""
    strings = section_strings()["other"]
    form = strings["cost"]["one" if cost.memories == 1 else "many"] if cost.memories else strings["cost_none"]
    first = str(form).format(count=f"{cost.memories:,}", time=format_time_needed(cost.seconds))
    return " ".join(part for part in (first, strings["goes_on"], cost.note) if part)


def describe_stored_model(space: KeptSpace) -> str:
    """What is kept of a model that is not used any more.

    Args:
        space: from the engine; an `until` of long ago is one that was given up.
    """
    strings = section_strings()["old"]["kept" if space.until > _GIVEN_UP_MS else "going"]
    form = strings["one" if space.vectors == 1 else "many"]
    return str(form).format(model=describe_model(space.name), count=f"{space.vectors:,}", when=date_of(space.until))


_GIVEN_UP_MS = 366 * 86_400_000
"""Vectors that were given up have an end thirty days after 1970."""


class StoredModelLine(ActionLine):
    """What is kept of models that are not used any more, and giving it up."""

    def __init__(self, context: Context, then: Callable[[Embedding], None]) -> None:
        """Make it.

        Args:
            then: called with its state when something was given up.
        """
        super().__init__(context, section_strings()["old"]["title"], "", section_strings()["words"])
        self._context, self._then = context, then

    def show_kept(self, state: Embedding) -> None:
        """Show what is kept."""
        strings = section_strings()["old"]
        lines = [*map(describe_stored_model, state.kept), *([strings["why"]] if state.kept else [])]
        text = "\n".join(lines) or strings["none"]
        if text == self.description.text():
            return
        self.description.setText(text)
        self.show_note("")
        clear_layout(self.side_column)
        for space in state.kept:
            if space.until > _GIVEN_UP_MS:
                button = make_button(strings["forget"], partial(self._ask_confirmation, space))
                button.setAccessibleName(strings["forget_named"].format(model=describe_model(space.name)))
                self.side_column.addWidget(button)

    def _ask_confirmation(self, space: KeptSpace) -> None:
        """Say what it means, and ask once more with the same button's place."""
        strings = section_strings()["old"]
        self.show_note(strings["sure"].format(model=describe_model(space.name)), "warning")
        clear_layout(self.side_column)
        button = make_button(strings["really"], partial(self._forget_vectors, space.name), kind="danger")
        self.side_column.addWidget(button)
        button.setFocus()

    def _forget_vectors(self, name: str) -> None:
        spaces = self._context.bridge.engine.embedding_models
        task = make_write(section_strings()["tasks"]["deleting"], lambda: spaces.forget_vectors(name)).within(self)
        self._context.tasks.run(task.success(self._on_forgotten))

    def _on_forgotten(self, state: Embedding) -> None:
        self._then(state)
        self.show_note(section_strings()["old"]["done"], "success")


class MeaningSection(SettingsSection):
    """The model of meaning."""

    def __init__(self, context: Context) -> None:
        super().__init__(str(section_strings()["title"]))
        self.context = context
        self.embedding: Embedding | None = None
        self._cost: ChangeCost | None = None
        self._offers: Offers | None = None
        self._is_shown = self._is_paused = False
        self.now = self._make_line("now")
        self.other = self._make_line("other")
        self.old = StoredModelLine(context, self._show_state)
        self.other.description.setText(section_strings()["other"]["text"])
        self._build_current_line()
        self._make_other()
        for line in (self.now, self.other, self.old):
            self.add_line(line)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self.reload)

    def _make_line(self, name: str) -> ActionLine:
        return ActionLine(self.context, section_strings()[name]["title"], "", section_strings()["words"])

    def _build_current_line(self) -> None:
        strings = section_strings()["now"]
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(_BAR_HIGH)
        self.bar.setAccessibleName(strings["bar"])
        self.now.texts.addWidget(self.bar)
        self.stop = self._add_button(self.now, strings["stop"], self._stop_change)
        self.pause = self._add_button(self.now, strings["pause"], self._toggle_pause)
        for widget in (self.bar, self.stop, self.pause):
            widget.hide()

    def _make_other(self) -> None:
        strings = section_strings()["other"]
        self.models = ChoiceBox()
        self.models.setAccessibleName(strings["choice"])
        self.models.setFixedWidth(self.context.theme.px(200))
        self.models.currentIndexChanged.connect(self._on_model_chosen)
        self.other.side_column.addWidget(self.models, 0, Qt.AlignmentFlag.AlignRight)
        self.measure = self._add_button(self.other, strings["measure"], self._measure_cost)
        self.begin = self._add_button(self.other, strings["begin"], self._begin_change, kind="primary")
        self.again = self._add_button(self.other, strings["again"], self.request_models)
        for widget in (self.models, self.measure, self.begin, self.again):
            widget.hide()

    def _add_button(self, line: ActionLine, title: str, run: Callable[[], None], kind: str = "plain") -> QPushButton:
        button = make_button(title, run, kind=kind)
        button.setDefault(False)
        line.side_column.addWidget(button)
        return button

    # ---- what there is

    def activate(self) -> None:
        """The page is shown: ask how it is, and what the server has."""
        self._is_shown = True
        self.reload()
        self.request_models()

    def deactivate(self) -> None:
        """Another page is shown: nothing is asked any more."""
        self._is_shown = False
        self._poll.stop()

    def reload(self) -> None:
        """Ask which model is in use, and how far a change is."""
        engine = self.context.bridge.engine
        self._run_query(
            make_query(section_strings()["tasks"]["reading"], engine.embedding_models.read_state).success(
                self._show_state
            ),
            "state",
        )
        self._run_query(
            make_query(section_strings()["tasks"]["reading_jobs"], engine.jobs.read_state).success(self._show_jobs),
            "jobs",
        )

    def request_models(self) -> None:
        """Ask what the model server has."""
        spaces = self.context.bridge.engine.embedding_models
        self._run_query(
            make_query(section_strings()["tasks"]["checking_server"], spaces.list_models).success(self._show_models),
            "offers",
        )

    def _run_query(self, task: Task[Any], key: str) -> None:
        self.context.tasks.run(task.within(self, key).failure(lambda _: None))  # the page itself tells what is wrong

    def _show_state(self, state: Embedding) -> None:
        before, self.embedding = self.embedding, state
        strings = section_strings()["now"]
        self.now.description.setText(strings["text"].format(model=describe_model(state.model), dims=f"{state.dims:,}"))
        for widget in (self.bar, self.stop, self.pause):
            widget.setVisible(state.is_changing)
        if state.is_changing:
            self._show_change(state)
        else:
            self.now.show_note(strings["away"] if state.code else "", "warning" if state.code else "small")
        self.old.show_kept(state)
        if before is not None and (before.model, before.wished) != (state.model, state.wished):
            self._forget_cost()
            self.request_models()
        if self._offers is not None:
            self._show_models(self._offers)
        if state.is_changing and self._is_shown:
            self._poll.start()
        else:
            self._poll.stop()

    def _show_change(self, state: Embedding) -> None:
        strings = section_strings()["now"]
        share = state.done / state.total if state.total else 0.0
        self.bar.setRange(0, max(1, state.total))
        self.bar.setValue(state.done)
        form = strings["changing"] if state.total else strings["starting"]
        sentence = form.format(
            model=describe_model(state.wished),
            done=f"{state.done:,}",
            total=f"{state.total:,}",
            percent=int(100 * share),
        )
        self.now.show_note(f"{sentence} {strings['paused']}" if self._is_paused else sentence)

    def _show_jobs(self, jobs: Jobs) -> None:
        self._is_paused = jobs.paused
        strings = section_strings()["now"]
        title = strings["go_on"] if jobs.paused else strings["pause"]
        self.pause.setText(title)
        self.pause.setAccessibleName(title)
        waits = [row.waits_for for row in jobs.rows if row.type is JobType.MIGRATE and row.state in _OPEN]
        hint = next((one for one in (*waits, jobs.holds) if one), "")
        self.bar.setToolTip(hint)
        self.bar.setAccessibleDescription(hint)
        if self.embedding is not None and self.embedding.is_changing:
            self._show_change(self.embedding)
            if hint and not jobs.paused:
                self.now.show_note(f"{self.now.told.text()} {hint}")

    # ---- another model

    def _show_models(self, offers: Offers) -> None:
        self._offers = offers
        strings, state = section_strings()["other"], self.embedding
        is_changing, used = state is not None and state.is_changing, "" if state is None else state.model
        names = [name for name in ("", *(one.wish for one in offers.models)) if not _is_same(name, used)]
        if names != [self.models.itemData(at) for at in range(self.models.count())]:
            self._fill_models(names)
        has_any = bool(names) and not is_changing
        self.models.setVisible(has_any)
        self.measure.setVisible(has_any and self._cost is None)
        self.again.setVisible(not names)
        self.other.description.setText(
            strings["text"] if names else strings["absent"] if offers.code else strings["alone"]
        )

    def _fill_models(self, names: Sequence[str]) -> None:
        chosen = self.models.currentData()
        self.models.blockSignals(True)  # noqa: FBT003 - Qt's signature
        self.models.clear()
        for name in names:
            title = _shorten_model(name) if name else section_strings()["built_in_title"]
            self.models.addItem(title, name)
        self.models.setCurrentIndex(max(0, self.models.findData(chosen)))
        self.models.blockSignals(False)  # noqa: FBT003 - Qt's signature
        if self._cost is not None and self._cost.wish != self.models.currentData():
            self._forget_cost()

    def _on_model_chosen(self, _index: int) -> None:
        self._forget_cost()

    def _forget_cost(self) -> None:
        self._cost = None
        self.begin.hide()
        is_changing = self.embedding is not None and self.embedding.is_changing
        self.measure.setVisible(self.models.count() > 0 and not is_changing)
        self.measure.setEnabled(True)
        self.other.show_note("")

    def _measure_cost(self) -> None:
        spaces, name = self.context.bridge.engine.embedding_models, str(self.models.currentData())
        self.measure.setEnabled(False)
        self.other.show_note(section_strings()["other"]["measuring"])
        task = make_query(section_strings()["tasks"]["trying"], lambda: spaces.estimate_change(name)).within(
            self, "cost"
        )
        self.context.tasks.run(task.success(self._on_cost_measured).failure(self._show_refusal))

    def _on_cost_measured(self, cost: ChangeCost) -> None:
        self.measure.setEnabled(True)
        if cost.wish != self.models.currentData():
            return
        self._cost = cost
        self.other.show_note(describe_cost(cost))
        had_keyboard = self.measure.hasFocus()
        self.measure.hide()
        self.begin.show()
        if had_keyboard:
            self.begin.setFocus()

    def _begin_change(self) -> None:
        if self._cost is None:
            return
        spaces, name = self.context.bridge.engine.embedding_models, self._cost.wish
        self.begin.setEnabled(False)
        task = make_write(section_strings()["tasks"]["changing"], lambda: spaces.begin_change(name)).within(self)
        self.context.tasks.run(task.success(self._on_change_begun).failure(self._show_refusal))

    def _on_change_begun(self, state: Embedding) -> None:
        self.begin.setEnabled(True)
        self._show_state(state)
        self._forget_cost()
        self.other.show_note(section_strings()["other"]["begun"], "success")
        self.reload()

    def _show_refusal(self, error: BaseException) -> None:
        self.begin.setEnabled(True)
        self._forget_cost()
        problem = problem_of(error)
        self.other.show_note("" if problem is None else problem.sentence, "danger")

    # ---- the change that is under way

    def _stop_change(self) -> None:
        spaces = self.context.bridge.engine.embedding_models
        task = make_write(section_strings()["tasks"]["stopping"], spaces.cancel_change).within(self)
        self.context.tasks.run(task.success(self._on_change_stopped))

    def _on_change_stopped(self, state: Embedding) -> None:
        self._show_state(state)
        self.context.desk.show_message(section_strings()["now"]["stopped"].format(model=describe_model(state.model)))

    def _toggle_pause(self) -> None:
        jobs, wanted = self.context.bridge.engine.jobs, not self._is_paused
        task = make_write(section_strings()["tasks"]["pausing"], lambda: jobs.set_paused(wanted)).within(self)
        self.context.tasks.run(task.success(self._show_jobs))


def _is_same(name: str, used: str) -> bool:
    """Whether a model is the one in use; a server lists `name:latest` for what is wished as `name`."""
    return name.removesuffix(_LATEST) == used.removesuffix(_LATEST)

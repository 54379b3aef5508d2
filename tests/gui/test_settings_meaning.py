"""The settings' section of the model of meaning: what is in use, what another takes, the change, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

import pytest
from engine_rig import Rig, facts
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.engine.jobs.scheduler import SchedulerPacing
from core.errors import Code, EnvironmentFaultError
from core.types.lifecycle import ChangeCost, Embedding, JobType, KeptSpace, Offered, Offers
from ui.context import Context
from ui.pages.settings.meaning import (
    MeaningSection,
    describe_cost,
    describe_model,
    describe_stored_model,
    format_time_needed,
)
from ui.pages.settings.page import SettingsPage

T = TypeVar("T")
SMALL, LARGE = "ollama:embed-small:latest", "ollama:embed-large:latest"
LATER = 1_790_000_000_000


def done(value: T) -> Future[T]:
    future: Future[T] = Future()
    future.set_result(value)
    return future


class FakeSpaces:
    """Models of a server in the test's hand."""

    def __init__(self) -> None:
        self.now = Embedding("", "words", 384, "")
        self.offered = Offers((Offered(SMALL, 300_000_000), Offered(LARGE, 900_000_000)))
        self.fails: Exception | None = None
        self.asked: list[tuple[str, str]] = []

    def _say(self, verb: str, name: str, value: T) -> Future[T]:
        self.asked.append((verb, name))
        if self.fails is None:
            return done(value)
        future: Future[T] = Future()
        future.set_exception(self.fails)
        return future

    def read_state(self) -> Future[Embedding]:
        return done(self.now)

    def list_models(self) -> Future[Offers]:
        return done(self.offered)

    def estimate_change(self, model: str) -> Future[ChangeCost]:
        return self._say("cost", model, ChangeCost(model, 8, 12_400, 9_000.0, "Lines were set elsewhere."))

    def begin_change(self, model: str) -> Future[Embedding]:
        if self.fails is None:
            self.now = replace(self.now, wished=model, done=310, total=12_400)
        return self._say("begin", model, self.now)

    def cancel_change(self) -> Future[Embedding]:
        self.now = replace(self.now, wished=self.now.model, done=0, total=0)
        return self._say("cancel", "", self.now)

    def forget_vectors(self, name: str) -> Future[Embedding]:
        kept = tuple(replace(one, until=0) if one.name == name else one for one in self.now.kept)
        self.now = replace(self.now, kept=kept)
        return self._say("forget", name, self.now)


@pytest.fixture
def spaces(context: Context) -> Iterator[FakeSpaces]:
    made, engine = FakeSpaces(), context.bridge.engine
    real = engine.embedding_models
    engine.embedding_models = made  # type: ignore[assignment]  # stands for the engine's group
    yield made
    engine.embedding_models = real


@pytest.fixture
def section(qtbot: QtBot, context: Context, spaces: FakeSpaces) -> Iterator[MeaningSection]:
    assert spaces is not None
    made = MeaningSection(context)
    qtbot.addWidget(made)
    made.resize(720, 500)
    made.show()
    qtbot.waitExposed(made)
    made.activate()
    settle(qtbot, lambda: made.models.count() > 0)
    yield made
    made.deactivate()
    made.close()


def buttons(widget: QWidget) -> list[str]:
    return [made.text() for made in widget.findChildren(QPushButton) if made.isVisibleTo(widget)]


def press(widget: QWidget, title: str) -> None:
    found = [made for made in widget.findChildren(QPushButton) if made.isVisibleTo(widget) and made.text() == title]
    assert found, buttons(widget)
    found[0].click()


def settled(qtbot: QtBot, told: Callable[[], str], words: str) -> None:
    settle(qtbot, lambda: words in told())


def test_what_is_in_use_and_what_there_is(section: MeaningSection) -> None:
    assert section.now.description.text() == ("Search by meaning uses the built-in model.")
    assert [section.models.itemText(at) for at in range(section.models.count())] == [
        "embed-small",
        "embed-large",
    ]
    assert buttons(section.other) == ["Estimate"]
    assert buttons(section.now) == []
    assert section.old.description.text() == "No earlier model is kept."


def test_nothing_changes_before_the_cost_was_told(qtbot: QtBot, section: MeaningSection, spaces: FakeSpaces) -> None:
    press(section.other, "Estimate")
    settled(qtbot, section.other.told.text, "12,400 memories are read again: about 2 hours")
    assert "Lines were set elsewhere." in section.other.told.text()
    assert spaces.asked == [("cost", SMALL)]
    section.models.setCurrentIndex(1)  # another model: what was told holds no more
    assert section.other.told.text() == ""
    press(section.other, "Estimate")
    settle(qtbot, section.begin.isVisible)
    press(section.other, "Change to it")
    settled(qtbot, section.now.told.text, "310 of 12,400 memories done (2 %)")
    assert spaces.asked[-1] == ("begin", LARGE)
    assert section.bar.value() == 310
    assert "Stop the change" in buttons(section.now)
    assert buttons(section.other) == []


def test_a_change_can_be_paused_and_stopped(
    qtbot: QtBot, context: Context, section: MeaningSection, spaces: FakeSpaces
) -> None:
    spaces.now = replace(spaces.now, wished=SMALL, done=5, total=10)
    section.reload()
    settle(qtbot, section.stop.isVisible)
    press(section.now, "Pause")
    settled(qtbot, section.now.told.text, "Background work is paused")
    assert context.bridge.engine.jobs.read_state().result(30).paused
    press(section.now, "Resume")
    settle(qtbot, lambda: not context.bridge.engine.jobs.read_state().result(30).paused)
    heard = hear(context)
    press(section.now, "Stop the change")
    settle(qtbot, lambda: heard.sentences == ["Stopped: the built-in model stays in use."])
    assert not section.bar.isVisible()
    assert not section._poll.isActive()


def test_progress_is_asked_for_while_somebody_looks_and_no_longer(
    qtbot: QtBot, section: MeaningSection, spaces: FakeSpaces
) -> None:
    spaces.now = replace(spaces.now, wished=SMALL, done=5, total=10)
    section.reload()
    settle(qtbot, section._poll.isActive)
    section.deactivate()
    assert not section._poll.isActive()
    section.reload()
    settle(qtbot, lambda: not section.context.tasks.running)
    assert not section._poll.isActive()


def test_a_model_that_cannot_be_used_says_why(qtbot: QtBot, section: MeaningSection, spaces: FakeSpaces) -> None:
    spaces.fails = EnvironmentFaultError(Code.EMBEDDING_FAILED, "The model gave no vectors.")
    press(section.other, "Estimate")
    settled(qtbot, section.other.told.text, "The model gave no vectors.")
    assert section.measure.isEnabled()
    assert not section.begin.isVisible()


def test_without_a_server_it_says_so_and_can_look_again(
    qtbot: QtBot, section: MeaningSection, spaces: FakeSpaces
) -> None:
    spaces.offered = Offers((), "E3001")
    section.request_models()
    settled(qtbot, section.other.description.text, "No model server answers")
    assert buttons(section.other) == ["Try again"]
    spaces.offered = Offers((Offered(SMALL, 1),))
    press(section.other, "Try again")
    settle(qtbot, section.models.isVisible)


def test_a_served_model_that_is_away_is_told_and_the_built_in_is_offered(
    qtbot: QtBot, section: MeaningSection, spaces: FakeSpaces
) -> None:
    spaces.now = Embedding(SMALL, SMALL, 8, SMALL, code="E3001")
    section.activate()
    settled(qtbot, section.now.told.text, "found by their words only")
    assert section.models.itemText(0) == "Built-in model"
    assert section.models.itemData(0) == ""
    assert section.models.findData(SMALL) == -1


def test_giving_up_old_vectors_asks_once_more(qtbot: QtBot, section: MeaningSection, spaces: FakeSpaces) -> None:
    spaces.now = replace(spaces.now, kept=(KeptSpace(SMALL, 12_400, LATER),))
    section.reload()
    settled(qtbot, section.old.description.text, "embed-small (Ollama): 12,400 memories, kept until ")
    press(section.old, "Delete …")
    assert "as long as the first time" in section.old.told.text()
    assert spaces.asked == []
    settle(qtbot, lambda: buttons(section.old) == ["Delete"])
    press(section.old, "Delete")
    settled(qtbot, section.old.description.text, "to be deleted")
    assert spaces.asked == [("forget", SMALL)]
    settle(qtbot, lambda: buttons(section.old) == [])


def test_words() -> None:
    assert describe_model("all-minilm") == "the built-in model"
    assert "\u202e" not in describe_model("ollama:evil\u202e")
    assert format_time_needed(20) == "about a minute"
    assert format_time_needed(600) == "about 10 minutes"
    assert format_time_needed(3 * 86_400) == "about 3 days"
    assert describe_cost(ChangeCost("", 384, 0, 0.0, "")).startswith("All memories were already read")
    assert describe_stored_model(KeptSpace("words", 1, LATER)).startswith("the built-in model: 1 memory, kept until")


def test_the_page_makes_the_section_in_a_turn_of_its_own(qtbot: QtBot, context: Context, spaces: FakeSpaces) -> None:
    assert spaces is not None
    page = SettingsPage(context)
    page.show()
    assert not page.sections
    page.activate("Search by meaning")
    settle(qtbot, page.is_settled)
    titles = [section.title for section in page.sections]
    assert titles[-4:] == ["Search by meaning", "Watched folders", "Vault and keys", "About"]
    settle(qtbot, lambda: (item := page.groups.currentItem()) is not None and item.text() == "Search by meaning")
    page.search.setText("ollama vectors")
    assert page.meaning is not None
    assert page.meaning.now.isVisibleTo(page)
    page.deactivate()
    page.close()
    page.deleteLater()


def test_with_the_real_engine_a_change_goes_through(
    qtbot: QtBot, rig: Rig, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = context.bridge.engine
    engine.scheduler.beats = SchedulerPacing(pause_s=0.0, quiet_s=0.0)
    rig.bring(facts(5))
    real = type(engine.embedding_models)
    monkeypatch.setattr(real, "_embed_on_server", lambda _, __, texts: [[1.0, len(text) / 100] for text in texts])
    monkeypatch.setattr(real, "_read_model_version", lambda _, __: "aaaa")
    monkeypatch.setattr(engine.embedding_models, "list_models", lambda: done(Offers((Offered(SMALL, 1),))))
    section = MeaningSection(context)
    qtbot.addWidget(section)
    section.show()
    section.activate()
    settle(qtbot, section.measure.isVisible)
    section.measure.click()
    settled(qtbot, section.other.told.text, "5 memories are read again")
    section.begin.click()
    settle(qtbot, lambda: section.embedding is not None and section.embedding.is_changing)
    assert engine.jobs.run(JobType.MIGRATE).result(60).state.value == "done"
    section.reload()
    settled(qtbot, section.now.description.text, "uses embed-small (Ollama)")
    settled(qtbot, section.old.description.text, "the built-in model: 5 memories")
    section.deactivate()
    section.close()

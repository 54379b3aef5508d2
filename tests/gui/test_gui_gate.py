"""The gate: first run, unlocking by passphrase, recovery code and keyring, and what it says when something is wrong."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from answered import finished
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, WordEmbedder, new_home
from memory_ring import Ring
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from window_rig import hear, settle, window_context

from core.engine.facade import Engine, Home, OpenInfo, Setup
from core.errors import Code, UserError
from core.security.keyring_client import KeyringCause
from core.security.passphrase import KdfCost
from core.vault.bootstrap import OlderCopy
from ui.context import USUAL_PLACES, Context
from ui.gate.first_run import Beginning, BeginStep, FirstRun, ShowCodeStep
from ui.gate.gate import Gate, opening_notes
from ui.gate.sheet import GateSheet
from ui.gate.unlock import UnlockSheet
from ui.widgets.secret import SecretField, StrengthMeter, is_same_code

CODE = "ABCD-EFGH-JKLM-NOPQ-RSTU-VWXY-Z234-5672-IL7A"
FINE = OpenInfo(1, 1, False, 0, False, None, "ok", None, 0)  # noqa: FBT003
W = TypeVar("W", bound=QWidget)


@dataclass
class Door:
    """A gate over a locked engine."""

    qtbot: QtBot
    context: Context
    gate: Gate

    def page(self, kind: type[W]) -> W:
        """The page, once it is of a kind."""
        settle(self.qtbot, lambda: isinstance(self.gate.page, kind))
        assert isinstance(self.gate.page, kind)
        return self.gate.page

    def open(self) -> None:
        """Wait until the vault is open and the gate empty."""
        settle(self.qtbot, lambda: self.context.bridge.is_open and self.gate.page is None)


def door(qtbot: QtBot, home: Home, ring: Ring) -> Iterator[Door]:
    setup = Setup(home, HandClock(START_MS), WordEmbedder(), False, keyring=ring, kdf_cost=KdfCost.lowest())  # noqa: FBT003
    engine = Engine(setup)
    try:
        with window_context(engine) as context:
            gate = Gate(context)
            qtbot.addWidget(gate)
            gate.resize(1000, 700)
            gate.show()
            yield Door(qtbot, context, gate)
    finally:
        engine.close()


@pytest.fixture
def ring() -> Ring:
    """The system's keyring."""
    return Ring()


@pytest.fixture
def new(qtbot: QtBot, tmp_path: Path, ring: Ring) -> Iterator[Door]:
    """Before a home with no vault."""
    yield from door(qtbot, Home(tmp_path / "home", reserve_bytes=RESERVE), ring)


@pytest.fixture
def there(qtbot: QtBot, tmp_path: Path, ring: Ring) -> Iterator[Door]:
    """Before a home with a vault."""
    yield from door(qtbot, new_home(tmp_path / "home")[0], ring)


def make(new: Door, *, keyring: bool = False) -> FirstRun:
    """Go through the first step."""
    page = new.page(FirstRun)
    first = page.passphrase
    assert first is not None
    settle(new.qtbot, lambda: not new.context.tasks.running)
    first.first.setText("lantern osprey quilt harbour")
    first.second.setText("lantern osprey quilt harbour")
    first.ring.setChecked(keyring)
    first.second.returnPressed.emit()
    settle(new.qtbot, lambda: page.show_code is not None)
    return page


def type_back(page: FirstRun, code: str) -> BeginStep:
    """Go on to the last step and type the groups that are asked for."""
    assert page.show_code is not None
    page.show_code.main.click()
    last = page.last
    assert last is not None
    assert len(last.fields) == 2
    for number, line in last.fields.items():
        line.setText(code.split("-")[number - 1])
    return last


def code_of(page: FirstRun) -> str:
    """The code as it stands on the page."""
    assert page.show_code is not None
    shown = [label.text() for label in page.show_code.findChildren(QWidget, "code")]  # type: ignore[attr-defined]
    return "-".join(shown)


def test_the_first_run_makes_a_vault_only_when_asked_and_opens_it(new: Door) -> None:
    page = new.page(FirstRun)
    first, home = page.passphrase, new.context.bridge.engine.home.path
    assert first is not None
    first.submit_passphrase()
    assert first.sheet.problem == "Choose a passphrase first."
    first.first.setText("lantern osprey quilt")
    first.second.setText("lantern ospray")
    first.submit_passphrase()
    assert "do not match" in first.sheet.problem
    assert not home.exists(), "nothing is made before both agree"
    wishes: list[list[Path]] = []
    new.context.desk.import_paths.connect(wishes.append)
    page = make(new)
    assert home.exists()
    assert new.context.bridge.engine.state == "locked"
    code = code_of(page)
    assert len(code) == 44
    check = type_back(page, code)
    assert not check.isHidden()
    assert page.show_code is not None
    assert page.show_code.isHidden()
    check.finder.click()
    new.open()
    settle(new.qtbot, lambda: bool(wishes))
    assert wishes == [[USUAL_PLACES]]


def test_a_file_can_be_chosen_at_once(new: Door) -> None:
    page = make(new)
    wishes: list[list[Path]] = []
    new.context.desk.import_paths.connect(wishes.append)
    type_back(page, code_of(page)).file.click()
    new.open()
    settle(new.qtbot, lambda: bool(wishes))
    assert wishes == [[]]


def test_enter_does_not_say_that_the_code_is_saved(new: Door) -> None:
    page = make(new)
    assert page.show_code is not None
    QTest.keyClick(page.show_code, Qt.Key.Key_Return)
    assert page.last is None
    QTest.keyClick(page.show_code.main, Qt.Key.Key_Return)
    assert page.last is not None


def test_starting_empty_asks_for_nothing_more(new: Door) -> None:
    page = make(new)
    last = type_back(page, code_of(page))
    wishes: list[list[Path]] = []
    new.context.desk.import_paths.connect(wishes.append)
    last.back.click()
    assert last.isHidden()
    assert page.show_code is not None
    assert not page.show_code.isHidden()
    type_back(page, code_of(page)).nothing.click()
    new.open()
    new.qtbot.wait(10)
    assert wishes == []


def test_a_code_that_loci_wrote_into_a_file_need_not_be_typed_back(new: Door, tmp_path: Path) -> None:
    page = make(new)
    shown = page.show_code
    assert shown is not None
    shown.save_to(str(tmp_path / "code.txt"))
    settle(new.qtbot, lambda: shown.is_saved)
    shown.main.click()
    assert page.last is not None
    assert page.last.fields == {}
    page.last.nothing.click()
    new.open()


def test_what_was_typed_back_is_typed_once_though_opening_failed(new: Door) -> None:
    page = make(new)
    right, secrets = new.gate.opener, list[str | None]()

    def fail(secret: str | None) -> Future[OpenInfo]:
        secrets.append(secret)
        if len(secrets) > 1:
            return right(secret)
        refused: Future[OpenInfo] = Future()
        refused.set_exception(UserError(Code.DISK_FULL, "The disk is full."))
        return refused

    new.gate.opener = fail
    last = type_back(page, code_of(page))
    last.finder.click()
    settle(new.qtbot, lambda: bool(last.sheet.problem))
    assert [line.isEnabled() for line in last.fields.values()] == [False, False]
    last.nothing.click()
    new.open()
    assert secrets == [secrets[0]] * 2


def test_the_code_is_checked_and_leaves_the_clipboard(new: Door) -> None:
    page = make(new)
    code = code_of(page)
    assert page.show_code is not None
    page.show_code.copy.click()
    assert QGuiApplication.clipboard().text() == code
    page.show_code.main.click()
    last = page.last
    assert last is not None
    for way in (last.nothing, last.finder):
        way.click()
        assert last.sheet.problem.startswith("Groups "), "the check cannot be skipped"
    next(iter(last.fields.values())).setText(code.lower().replace("-", " "))
    last.nothing.click()
    new.open()
    assert QGuiApplication.clipboard().text() == ""


def test_tab_leads_from_a_new_passphrase_to_its_repetition_and_then_to_the_buttons_that_show_them(new: Door) -> None:
    first = new.page(FirstRun).passphrase
    assert first is not None
    first.first.setFocus()
    names = []
    for _ in range(4):
        at = first.window().focusWidget()
        assert at is not None
        names.append(at.accessibleName())
        QTest.keyClick(at, Qt.Key.Key_Tab)
    assert names == ["Passphrase", "Repeated passphrase", "Show the passphrase", "Show the repeated passphrase"]


def test_the_keyring_is_offered_where_there_is_one_and_opens_the_vault(new: Door, ring: Ring) -> None:
    first = new.page(FirstRun).passphrase
    assert first is not None
    settle(new.qtbot, lambda: not first.ring.isHidden())
    make(new, keyring=True)
    assert len(ring.kept) == 1
    new.gate.find_vault()
    page = new.page(UnlockSheet)
    assert not page.ring.isHidden()
    page.ring.click()
    new.open()


@pytest.mark.parametrize("ring", [Ring(KeyringCause.NO_BACKEND)])
def test_no_keyring_is_offered_where_there_is_none(new: Door, ring: Ring) -> None:
    first = new.page(FirstRun).passphrase
    assert first is not None
    settle(new.qtbot, lambda: not new.context.tasks.running)
    assert first.ring.isHidden()
    first.ring.setChecked(True)
    make(new, keyring=True)
    assert ring.kept == {}, "what is not offered is not asked for"
    new.gate.find_vault()
    assert new.page(UnlockSheet).ring.isHidden()


def test_a_vault_made_meanwhile_is_left_as_it_is_and_can_be_unlocked(new: Door) -> None:
    page = new.page(FirstRun)
    new.context.bridge.engine.vault.create("somebody else").result(30)
    first = page.passphrase
    assert first is not None
    first.first.setText("lantern")
    first.second.setText("lantern")
    first.submit_passphrase()
    settle(new.qtbot, lambda: bool(first.sheet.problem))
    assert "was not changed" in first.sheet.problem
    first.sheet._action.click()
    new.page(UnlockSheet)


def test_a_wrong_passphrase_is_told_in_place_and_the_right_one_opens(there: Door) -> None:
    page = there.page(UnlockSheet)
    page.submit_typed()
    assert page.sheet.problem == "Type your passphrase first."
    page.field.setText("not it")
    page.field.returnPressed.emit()
    assert page.field.text() == ""
    assert not page.main.isEnabled()
    assert page.main.text() == "Unlocking …"
    assert not page.sheet.bar.isHidden()
    settle(there.qtbot, page.main.isEnabled)
    assert page.sheet.problem == "That passphrase does not open this vault."
    assert page.field.property("wrong") is True
    QTest.keyClicks(page.field, "q")
    assert page.sheet.problem == ""
    assert page.field.property("wrong") is False
    page.field.setText(PASSPHRASE)
    page.main.click()
    there.open()


def test_the_recovery_code_opens_it_too(new: Door) -> None:
    code = code_of(make(new))
    new.gate.find_vault()
    page = new.page(UnlockSheet)
    page.switch.click()
    assert page.field.isHidden()
    assert not page.code.isHidden()
    page.code.setText(code[:-1] + ("A" if code[-1] != "A" else "B"))
    page.submit_typed()
    settle(new.qtbot, page.main.isEnabled)
    assert page.sheet.problem.startswith("That code does not open this vault.")
    page.code.setText(code.lower().replace("-", " "))
    page.submit_typed()
    assert page.code.text() == ""
    new.open()


def test_another_opener_is_given_the_secret(there: Door) -> None:
    given: list[str | None] = []

    def opener(secret: str | None) -> Future[OpenInfo]:
        given.append(secret)
        refused: Future[OpenInfo] = Future()
        refused.set_exception(UserError(Code.VAULT_BUSY, "Another Loci has this vault open."))
        return refused

    there.gate.opener = opener
    page = there.page(UnlockSheet)
    page.field.setText("anything")
    page.submit_typed()
    settle(there.qtbot, lambda: bool(page.sheet.problem))
    assert given == ["anything"]
    assert page.sheet.problem == "Another Loci has this vault open."
    assert page.main.isEnabled()


def test_locking_brings_the_gate_back(there: Door) -> None:
    page = there.page(UnlockSheet)
    page.field.setText(PASSPHRASE)
    page.submit_typed()
    there.open()
    there.context.bridge.engine.lock()
    again = there.page(UnlockSheet)
    assert again is not page
    assert again.field.text() == ""


def test_opening_by_another_way_empties_the_gate(there: Door) -> None:
    there.page(UnlockSheet).field.setText("half ty")
    there.context.bridge.engine.vault.open(PASSPHRASE)
    there.open()


def test_a_damaged_key_file_is_told_with_a_way_to_look_again(qtbot: QtBot, tmp_path: Path, ring: Ring) -> None:
    home = new_home(tmp_path / "home")[0]
    for file in home.path.glob("vault.keys*"):
        file.write_bytes(b"nothing of it is left")
    for there in door(qtbot, home, ring):
        sheet = there.page(GateSheet)
        assert "key file" in sheet.sentence.text()
        assert "Your passphrase was not checked" in sheet.sentence.text()


def test_caps_lock_is_noticed_by_the_letters(there: Door) -> None:
    page = there.page(UnlockSheet)
    QTest.keyClicks(page.field, "q")
    assert page._caps.isHidden()
    QTest.keyClick(page.field, Qt.Key.Key_Q, Qt.KeyboardModifier.NoModifier)
    page.field._set_caps(is_on=True)
    assert not page._caps.isHidden()
    QTest.keyClicks(page.field, "b")
    assert page._caps.isHidden()


def test_a_secret_can_be_shown_and_is_gone_once_taken(there: Door) -> None:
    field_ = SecretField(there.context.theme, "Passphrase")
    there.qtbot.addWidget(field_)
    field_.show()
    QTest.keyClicks(field_, "lantern")
    field_.reveal_text(is_shown=True)
    assert field_.is_revealed
    assert field_.displayText() == "lantern"
    assert field_.take_text() == "lantern"
    field_.undo()
    assert field_.text() == ""
    assert not field_.is_revealed


def test_the_meter_says_in_words_what_it_shows(there: Door) -> None:
    meter = StrengthMeter(there.context.theme)
    there.qtbot.addWidget(meter)
    assert meter.score == -1
    meter.rate_passphrase("password")
    assert meter.score == 0
    assert meter.words.startswith("Very weak. It contains a common password.")
    meter.rate_passphrase("lantern osprey quilt harbour mist")
    assert meter.score == 4
    assert "Very strong" in meter.accessibleName()
    meter.rate_passphrase("")
    assert meter.score == -1
    assert "Strength" in meter.accessibleName()


def test_the_code_can_be_saved_for_this_person_alone(there: Door, tmp_path: Path) -> None:
    page = ShowCodeStep(there.context, CODE, lambda: None)
    there.qtbot.addWidget(page)
    page.save_to(str(tmp_path / "no such folder" / "code.txt"))
    settle(there.qtbot, lambda: "could not be saved" in page.sheet.problem)
    (tmp_path / "code.txt").write_text("old")
    (tmp_path / "code.txt").chmod(0o644)
    page.save_to(str(tmp_path / "code.txt"))
    assert not page.save.isEnabled()
    settle(there.qtbot, page.save.isEnabled)
    assert CODE in (tmp_path / "code.txt").read_text("utf-8")
    assert stat.S_IMODE((tmp_path / "code.txt").stat().st_mode) == 0o600
    assert page.sheet.problem == ""


@pytest.mark.parametrize(
    ("typed", "wanted", "does"),
    [
        ("abcd", "ABCD", True),
        (" A B-c d ", "ABCD", True),
        ("O8CD", "OBCD", True),
        ("0BCD", "OBCD", True),
        ("1L7A", "IL7A", True),
        ("I17A", "IL7A", True),
        ("ABC", "ABCD", False),
        ("ABCE", "ABCD", False),
        ("", "ABCD", False),
    ],
)
def test_what_is_typed_of_a_code_is_read_kindly(typed: str, wanted: str, does: bool) -> None:
    assert is_same_code(typed, wanted) is does


def test_whoever_has_an_archive_is_asked_for_it_once_the_palace_is_open(new: Door) -> None:
    wishes: list[list[Path]] = []
    new.context.desk.import_paths.connect(wishes.append)
    page = make(new)
    last = type_back(page, code_of(page))
    (number, field), *_ = last.fields.items()
    kept = field.text()
    field.setText("XXXX")
    last.file.click()
    assert last.sheet.problem == f"Group {number} does not match."
    field.setText(kept)
    last.file.click()
    settle(new.qtbot, lambda: bool(wishes))
    assert wishes == [[]]


def test_only_the_wrong_group_is_named(there: Door) -> None:
    went: list[object] = []
    page = BeginStep(there.context.theme, CODE, lambda: went.append("back"), went.append, (2, 5))
    there.qtbot.addWidget(page)
    page.fields[2].setText("EFGH")
    page.fields[5].setText("XXXX")
    page.begin(Beginning.SEARCH)
    assert page.sheet.problem == "Group 5 does not match."
    page.fields[5].setText("rstu")
    page.begin(Beginning.SEARCH)
    page.back.click()
    assert went == [Beginning.SEARCH]
    page.show_failure(None)
    page.back.click()
    assert went == [Beginning.SEARCH, "back"]
    assert [line.text() for line in page.fields.values()] == ["", ""]


def _info(**more: object) -> OpenInfo:
    values = {name: getattr(FINE, name) for name in FINE.__dataclass_fields__}
    return OpenInfo(**{**values, **more})


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (_info(recovered_from_crash=True), "not closed properly"),
        (_info(lost_commits=3), "3 recent changes"),
        (_info(is_log_damaged=True), "nothing seems to be lost"),
        (_info(head_state="missing"), "cannot tell"),
        (_info(older_than_head=OlderCopy(1, 5, START_MS)), "older than the one last seen here on 14 Nov 2023"),
    ],
)
def test_what_opening_found_is_told(info: OpenInfo, words: str) -> None:
    assert words in " ".join(opening_notes(info))
    assert opening_notes(FINE) == []


def test_an_older_copy_can_be_gone_on_with(there: Door) -> None:
    acts: list[tuple[str, Callable[[], None]]] = []
    heard = hear(there.context)
    there.context.desk.message_asked.connect(lambda _, action, run: acts.append((action, run)))
    there.gate._on_vault_opened(_info(older_than_head=OlderCopy(1, 5, START_MS)), Beginning.EMPTY)
    assert len(heard.sentences) == 1
    assert acts[0][0] == "Use this copy"
    engine = there.context.bridge.engine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "accept_older", lambda: finished(2))
        acts[0][1]()
        settle(there.qtbot, lambda: len(heard.sentences) == 2)
    assert "2 assistants must be paired again" in heard.sentences[1]

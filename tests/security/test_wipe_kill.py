"""A wipe that is killed at any change leaves a vault that opens, or one whose wipe the next start finishes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import wipe_child
from engine_rig import PASSPHRASE, RESERVE, START_MS, HandClock, Rig, WordEmbedder, rig_at
from killed_process import run_child

from core.engine.facade import Engine, Home, HomeKeys, Setup
from core.errors import Code
from core.intake.claims import TextReaders

TEXT = "The brass plate is under the third stair."


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        made.store(TEXT)
        made.engine.vault.backup().result(60)
        made.engine.close()
        (made.home.path / "notes.txt").write_text("mine", encoding="utf-8")
        yield made


def _wipe_killed(rig: Rig, number: int) -> int | None:
    """Wipe and die; how many changes a whole wipe makes, where it came to its end."""
    order = {"home": str(rig.home.path), "vault": HomeKeys(rig.home).vault_id.hex(), "number": number}
    child = run_child(wipe_child, order)
    if child.returncode == -signal.SIGKILL:
        return None
    assert child.returncode == 0, child.stderr
    return int(child.stdout.split()[1])


def _opens(home: Home) -> bool:
    engine = Engine(
        Setup(
            Home(home.path, reserve_bytes=RESERVE),
            HandClock(START_MS + 9000),
            WordEmbedder(),
            background=False,
            readers=TextReaders(),
        )
    )
    try:
        engine.vault.open(PASSPHRASE).result(60)
        return bool(engine.vault.read_status().result(30).values["memories"]["total"] == 1)
    finally:
        engine.close()


@pytest.mark.starts_process
@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 6, 8, 11, 14, 17, 20, 23, 26, 30])
def test_a_kill_leaves_a_vault_that_opens_or_a_wipe_that_is_finished(home: Rig, number: int) -> None:
    changes = _wipe_killed(home, number)
    assert changes is None or changes <= number
    path = home.home.path
    if not (path / "wipe.next").exists() and (path / "vault.db").exists():
        assert _opens(home.home)
        return
    presence = HomeKeys(home.home)
    presence.finish_replacement()
    assert sorted(one.name for one in path.iterdir()) == ["notes.txt"]
    assert (path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert presence.finish_wipe() is None


@pytest.mark.starts_process
@pytest.mark.slow
def test_the_kills_above_reach_the_end(home: Rig) -> None:
    changes = _wipe_killed(home, 1000)
    assert changes is not None
    assert 15 < changes <= 30


def test_a_start_finishes_it_and_finds_no_vault(home: Rig) -> None:
    assert _wipe_killed(home, 8) is None
    engine = Engine(Setup(home.home, HandClock(START_MS), WordEmbedder(), background=False, readers=TextReaders()))
    try:
        assert not engine.vault.read_presence().result(30).exists
        with pytest.raises(Exception, match="no vault") as refused:
            engine.vault.open(PASSPHRASE).result(30)
        assert getattr(refused.value, "code", None) is Code.NO_VAULT
    finally:
        engine.close()
    assert [one.name for one in home.home.path.iterdir()] == ["notes.txt"]
